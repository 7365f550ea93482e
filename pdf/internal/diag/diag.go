// Package diag has the types with which every part of the document engine reports problems:
// diagnostics with a position in the template or the data, the error that collects them, the input
// limits and the sentinel errors. It imports nothing of the engine, so every package may import
// it. Package pdf aliases its names.
package diag

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Severity tells whether a diagnostic stops the work.
type Severity uint8

// The severities. The zero value is the strict one.
const (
	SeverityError   Severity = iota // no document is made
	SeverityWarning                 // the document is made; Result.Warnings lists it
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == SeverityWarning {
		return "warning"
	}
	return "error"
}

// MarshalText writes the name of the severity.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name of a severity.
func (s *Severity) UnmarshalText(b []byte) error {
	switch string(b) {
	case "error":
		*s = SeverityError
	case "warning":
		*s = SeverityWarning
	default:
		return fmt.Errorf("diag severity: unknown name %q", b)
	}
	return nil
}

// Kind tells what a finding is about: whom to turn to. Callers need not know codes.
type Kind uint8

// The kinds.
const (
	KindTemplate Kind = iota // the template, or the document built in Go
	KindData                 // the data; also what layout cannot do for a value of it
	KindLimit                // a limit was passed
	KindInput                // a PDF that was given
)

// String returns "template", "data", "limit" or "input".
func (k Kind) String() string {
	switch k {
	case KindData:
		return "data"
	case KindLimit:
		return "limit"
	case KindInput:
		return "input"
	}
	return "template"
}

// MarshalText writes the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name of a kind.
func (k *Kind) UnmarshalText(b []byte) error {
	for *k = range KindInput + 1 {
		if k.String() == string(b) {
			return nil
		}
	}
	return fmt.Errorf("diag kind: unknown name %q", b)
}

// Diagnostic is one finding at one place. The zero values of Line, Col and Page mean "not known".
// Columns count Unicode code points from 1.
type Diagnostic struct {
	// Code is a stable name: a letter and three digits. T template, D data,
	// L layout, F font, S standard, R reader, G signature, X limit.
	Code string `json:"code"`
	// Kind says what the finding is about. List.Add and Fail set it.
	Kind Kind `json:"kind"`
	// File is the name of the template or data text that the place lies in.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
	// Path is the node path in the template, as in body[5].table.rows.cells[3].
	Path string `json:"path,omitempty"`
	// DataPath is the path of the value in the data, as in trades[17].price.
	DataPath string `json:"dataPath,omitempty"`
	// Object is the number of an object of a PDF that was given, Offset the place in it where the
	// fault lies, from 1; 0: not known.
	Object uint32 `json:"object,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	// Message says what is wrong, without a full stop.
	Message string `json:"message"`
	// Suggestion says what to do, as a phrase: did you mean "qty"?
	Suggestion string `json:"suggestion,omitempty"`
	// Clause names the clause of a standard that is not met.
	Clause string `json:"clause,omitempty"`
	// Page is the page, counted from 1, when layout knows it.
	Page     int      `json:"page,omitempty"`
	Severity Severity `json:"severity"`
}

// String returns the diagnostic on one line:
//
//	file:line:col: path: message; suggestion (clause)  [CODE]
func (d Diagnostic) String() string {
	return d.text() + "  [" + d.Code + "]"
}

// text is the line without its code, which lists align in a column.
func (d Diagnostic) text() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File)
		if d.Line > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(d.Line))
			if d.Col > 0 {
				b.WriteByte(':')
				b.WriteString(strconv.Itoa(d.Col))
			}
		}
		b.WriteString(": ")
	}
	if d.Object > 0 {
		b.WriteString("object " + strconv.FormatUint(uint64(d.Object), 10) + ": ")
	}
	if d.Offset > 0 {
		b.WriteString("offset " + strconv.FormatInt(d.Offset, 10) + ": ")
	}
	subject, aside := d.Path, d.DataPath
	if subject == "" {
		subject, aside = d.DataPath, ""
	}
	if subject != "" {
		b.WriteString(subject)
		b.WriteString(": ")
	}
	if d.Severity == SeverityWarning {
		b.WriteString("warning: ")
	}
	b.WriteString(d.Message)
	if d.Suggestion != "" {
		b.WriteString("; ")
		b.WriteString(d.Suggestion)
	}
	if aside != "" {
		b.WriteString(" (data " + aside + ")")
	}
	if d.Clause != "" {
		b.WriteString(" (" + d.Clause + ")")
	}
	return b.String()
}

// DiagnosticError carries all problems that were found, in the order of their
// places, not only the first. errors.Is finds the sentinel of every code letter
// in it, and errors.As finds it behind wrapping errors.
type DiagnosticError struct {
	Diagnostics []Diagnostic
	Omitted     int // problems beyond those told
}

// Error returns the plain form: one line per diagnostic, the codes aligned.
func (e *DiagnosticError) Error() string {
	lines := make([]string, len(e.Diagnostics))
	width := 0
	for i, d := range e.Diagnostics {
		lines[i] = d.text()
		width = max(width, utf8.RuneCountInString(lines[i]))
	}
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l)
		b.WriteString(strings.Repeat(" ", width-utf8.RuneCountInString(l)+2))
		b.WriteString("[" + e.Diagnostics[i].Code + "]")
	}
	if e.Omitted > 0 {
		fmt.Fprintf(&b, "\nand %d more", e.Omitted)
	}
	return b.String()
}

// MarshalJSON returns the JSON form: {"diagnostics": [...]}.
func (e *DiagnosticError) MarshalJSON() ([]byte, error) {
	list := e.Diagnostics
	if list == nil {
		list = []Diagnostic{}
	}
	return json.Marshal(struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
		Omitted     int          `json:"omitted,omitempty"`
	}{list, e.Omitted})
}

// Unwrap returns the sentinels that the codes stand for, each once.
func (e *DiagnosticError) Unwrap() []error {
	var out []error
	for _, d := range e.Diagnostics {
		if err := sentinelOf(d.Code); err != nil && !slices.Contains(out, err) {
			out = append(out, err)
		}
	}
	return out
}

// List collects diagnostics. The zero value is empty and ready. It is not safe
// for concurrent use.
type List []Diagnostic

// Add appends d, whose Kind follows from the rest of it.
func (l *List) Add(d Diagnostic) {
	switch {
	case strings.HasPrefix(d.Code, "X"):
		d.Kind = KindLimit
	case strings.HasPrefix(d.Code, "D"), d.DataPath != "":
		d.Kind = KindData
	case strings.HasPrefix(d.Code, "R"):
		d.Kind = KindInput
	}
	*l = append(*l, d)
}

// Fail returns the error of one problem, with its Kind.
func Fail(d Diagnostic) *DiagnosticError {
	var l List
	l.Add(d)
	return &DiagnosticError{Diagnostics: l}
}

// Err returns a *DiagnosticError with all diagnostics when at least one of them
// is an error, and nil otherwise.
func (l List) Err() error { return l.ErrAnd(0) }

// ErrAnd is Err of a list beside which so many more problems were found.
func (l List) ErrAnd(omitted int) error {
	for _, d := range l {
		if d.Severity == SeverityError {
			return &DiagnosticError{Diagnostics: l, Omitted: omitted}
		}
	}
	return nil
}

// Quote quotes a text of the data or the template for a message; of a long one its
// first characters.
func Quote(s string) string {
	const most = 64
	n := 0
	for i := range s {
		if n++; n > most {
			return strconv.Quote(s[:i] + "…")
		}
	}
	return strconv.Quote(s)
}
