package pdf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/form"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/internal/emit"
)

// Fields returns the fields of the document's form, in order: names, types, values, options, and
// positions.
func (d *Document) Fields() []form.Field { return edit.NewDraft(d.d).Fields() }

// Export writes the field values of the document's form, except passwords, signatures, push buttons
// and fields that are marked as not exported. file is the name of the document, which FDF and XFDF
// contain; it may be empty.
func (d *Document) Export(w io.Writer, f form.Format, file string) error {
	e := edit.NewDraft(d.d)
	values := e.FieldValues()
	if err := e.Err(); err != nil {
		return told(err)
	}
	_, err := w.Write(form.Append(nil, f, path.Base(strings.ReplaceAll(file, `\`, "/")), values))
	return err
}

// Fill sets fields by their full names and generates their appearances, with the font, size, colour
// and alignment of the field: on one line or several, in the cells of a comb, or as large as fits.
// Other fields are not changed. Check boxes and radio buttons use the appearances that the file has
// for them. Characters that the engine's fonts lack are set in those of fonts, which may be nil.
//
// A character that no font has, an unknown field, another value for a read-only field, an option
// that the field does not have and a value that is too long are *OptionError that name the field;
// several are joined. Scripts are not run. With EditOptions.Incremental, signatures remain valid.
func Fill(values []form.Value, fonts *doc.Fonts) Op {
	return Op{apply: func(ctx context.Context, c *change) error {
		looks, warnings, err := c.d.Fill(values)
		if err != nil {
			return err
		}
		c.summary.Warnings = append(c.summary.Warnings, warnings...)
		return c.e.show(ctx, c.d, looks, fonts, c.summary)
	}}
}

// Flatten draws the fields as content of their pages and removes the form. Fields with a value and
// no appearance get one, with fonts as in Fill. In a tagged document their structure elements keep
// their content.
func Flatten(fonts *doc.Fonts) Op {
	return Op{apply: func(ctx context.Context, c *change) error {
		if err := c.e.show(ctx, c.d, c.d.Unshown(), fonts, c.summary); err != nil {
			return err
		}
		return c.d.Flatten()
	}}
}

// show makes appearances: all are fields of one document, which share its fonts.
func (e *Engine) show(ctx context.Context, d *edit.Draft, looks []edit.FieldLook, fonts *doc.Fonts, s *Summary) error {
	if len(looks) == 0 {
		return nil
	}
	b := doc.NewBuilder().Fonts(fonts)
	b.Page(doc.Master{Width: doc.Points(14400), Height: doc.Points(14400)})
	families := e.fonts.Families()
	for i := range looks {
		l := &looks[i]
		if !slices.Contains(families, l.Style.Family) {
			l.Style.Family = families[0]
		}
		n := l.Field
		n.Name, n.Label, n.Caption, n.Style, n.Src = strconv.Itoa(i), l.Name, doc.CaptionNone, &l.Style, &doc.Source{Path: l.Name}
		if strings.TrimSpace(n.Label) == "" {
			n.Label = n.Name
		}
		b.Field(n)
	}
	var out bytes.Buffer
	res, err := e.emit(ctx, &out, b.Document(), emit.Options{Limits: e.limits, Listed: d.Part1()})
	if err != nil {
		return ofFields(err)
	}
	for _, w := range res.Warnings {
		said := "field " + strconv.Quote(w.Path) + ": its value is larger than the field, which cuts it off"
		if !slices.Contains(s.Warnings, said) {
			s.Warnings = append(s.Warnings, said)
		}
	}
	made, err := edit.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), edit.Options{Pages: int(e.limits.Pages)})
	if err != nil {
		return err
	}
	return d.Show(looks, made)
}

// ofFields tells the errors of appearances, such as a character that no font has, as those of the
// values of fields.
func ofFields(err error) error {
	de, ok := errors.AsType[*diag.DiagnosticError](err)
	if !ok {
		return err
	}
	var list []error
	for _, d := range de.Diagnostics {
		fault := textFault("field "+strconv.Quote(d.Path), d, "a value that can be shown")
		if fault.Field == fontOption {
			return fault // it is that of all fields
		}
		list = append(list, fault)
	}
	if len(list) == 1 {
		return list[0]
	}
	return errors.Join(list...)
}

// editIncremental appends the changes of a draft to its file. What an earlier signature does not
// allow is an error.
func (e *Engine) editIncremental(ctx context.Context, w io.Writer, d *Document, draft *edit.Draft, s *Summary) error {
	p, err := draft.Update(ctx, e.deflater, e.limits.OutputBytes)
	if err != nil {
		return err
	}
	before, err := e.Verify(ctx, d, VerifyOptions{})
	if err != nil {
		return err
	}
	o := edit.Options{Pages: int(e.limits.Pages), Limits: ReadLimits{FileBytes: max(p.Size(), 64<<20)}}
	changed, err := p.Reopen(o)
	if err != nil {
		return err
	}
	after, err := changed.Verify(ctx, edit.Trust{}, o)
	if err != nil {
		return err
	}
	forbidden := func(v Verdict) (list []Change) {
		for _, c := range v.Changes {
			if !c.Allowed {
				list = append(list, c)
			}
		}
		return list
	}
	for i, v := range after {
		if list := forbidden(v); i < len(before) && len(list) > len(forbidden(before[i])) {
			return &OptionError{Field: "incremental", Got: list[len(list)-1].What, Want: "a change that the signature " + strconv.Quote(v.Field) + " allows; written anew, the file can be changed, and the signature is void"}
		}
	}
	s.Size, s.Pages, s.Claims = p.Size(), d.Pages(), append([]string{}, draft.Claims()...)
	if err := e.mayClaim(ctx, d, p, s); err != nil {
		return err
	}
	_, err = p.WriteTo(w)
	return err
}
