package edit

import (
	"errors"
	"fmt"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/internal/diag"
)

// OptionError is an option of an operation that cannot be, for any file or for the one given.
type OptionError struct {
	Field, Got, Want string
	Nearest          string // what was probably meant; may be empty
}

// Error implements error.
func (e *OptionError) Error() string {
	s := "pdf: " + e.Field + ": got " + e.Got + ", want " + e.Want
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return s
}

// Told returns the error of a file that is read as a diagnostic, with object, offset and remedy:
// damage, a wrong password, encryption that is not known. Other errors are returned as they are.
func Told(err error) error {
	d := diag.Diagnostic{}
	if e, ok := errors.AsType[*cos.ReadError](err); ok {
		d.Code, d.Object, d.Offset = diag.CodeDamaged, e.Ref.Num, max(e.Offset, 0)
		d.Message = e.Reason
		d.Suggestion = "the file cannot be repaired; get another copy of it"
		if e.NotPDF {
			d.Suggestion = "give a PDF file"
		}
		return diag.Fail(d)
	}
	if errors.Is(err, crypt.ErrPassword) {
		d.Code, d.Message, d.Suggestion = diag.CodePassword, "the file is encrypted and the password does not open it", "give the password of its user or its owner"
		return diag.Fail(d)
	}
	if e, ok := errors.AsType[*crypt.ConfigError](err); ok && (e.Field == "Encrypt" || strings.HasPrefix(e.Field, "crypt filter")) {
		d.Code, d.Message, d.Suggestion = diag.CodeUnsupported, "the file is encrypted by "+e.Got, "want "+e.Want
		return diag.Fail(d)
	}
	return err
}

// Told returns the warnings of reading as diagnostics.
func (d *Document) Told() (l []diag.Diagnostic) {
	var list diag.List
	for _, w := range d.Warnings() {
		list.Add(diag.Diagnostic{
			Code: diag.CodeDamaged, Severity: diag.SeverityWarning, Object: w.Ref.Num, Offset: max(w.Offset, 0), Message: w.Message,
		})
	}
	return list
}
