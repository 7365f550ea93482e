package operation

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.com/quire/pdf"
	"example.com/quire/pdf/form"
)

// Listed is the report of fields.
type Listed struct {
	Fields   []form.Field     `json:"fields"`
	Warnings []pdf.Diagnostic `json:"warnings,omitempty"`
}

func fields(c *call) error {
	d, err := c.open(0)
	if err != nil {
		return err
	}
	r := Listed{Fields: d.Fields(), Warnings: d.Warnings()}
	var b strings.Builder
	for _, f := range r.Fields {
		fmt.Fprintf(&b, "%s: %s", f.Name, f.Kind)
		for _, s := range f.Flags {
			b.WriteString(", " + s)
		}
		switch {
		case len(f.Values) > 0:
			fmt.Fprintf(&b, " = %q", f.Values)
		case f.Kind != form.Button && f.Kind != form.Signature:
			fmt.Fprintf(&b, " = %q", f.Value)
		}
		b.WriteByte('\n')
		if f.Label != "" && f.Label != f.Name {
			fmt.Fprintf(&b, "  label %q\n", f.Label)
		}
		for _, o := range f.Options {
			fmt.Fprintf(&b, "  option %q", o.Value)
			if o.Text != "" {
				fmt.Fprintf(&b, ", shown as %q", o.Text)
			}
			b.WriteByte('\n')
		}
		for _, w := range f.Widgets {
			fmt.Fprintf(&b, "  page %d: %g,%g,%g,%g\n", w.Page, w.Rect[0], w.Rect[1], w.Rect[2], w.Rect[3])
		}
	}
	if len(r.Fields) == 0 {
		b.WriteString("no fields\n")
	}
	c.out.Report, c.out.Text = r, b.String()+warned(d)
	return nil
}

// filling is the change alone; how the file is written then is that of fill.
func filling(c *call) (op pdf.Op, err error) {
	b, err := c.uploadOf("data", form.MostBytes)
	if err != nil {
		return op, err
	}
	values, err := form.Parse(b)
	if e, ok := errors.AsType[*form.DataError](err); ok {
		return op, &pdf.OptionError{Field: "data", Got: strings.TrimPrefix(e.Error(), "form: "), Want: "values of fields as JSON, FDF or XFDF"}
	}
	fonts, err := c.fonts()
	return pdf.Fill(values, fonts), err
}

func flattening(c *call) (pdf.Op, error) {
	fonts, err := c.fonts()
	return pdf.Flatten(fonts), err
}

func fill(c *call) error {
	op, err := filling(c)
	if err != nil {
		return err
	}
	ops := []pdf.Op{op}
	var o pdf.EditOptions
	if o.Incremental, err = c.on("incremental"); err != nil {
		return err
	}
	flat, err := c.on("flatten")
	if err != nil {
		return err
	}
	if flat {
		op, err := flattening(c)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	o.Progress = c.in.Progress
	return c.rewrite(func(w io.Writer, d *pdf.Document) (*pdf.Summary, error) { return c.e.Edit(c.ctx, w, d, o, ops...) })
}

func export(c *call) error {
	f := form.JSON
	if s := c.in.Values["format"]; s != "" {
		var err error
		if f, err = form.ParseFormat(s); err != nil {
			e, _ := errors.AsType[*form.DataError](err)
			return &pdf.OptionError{Field: "format", Got: strconv.Quote(s), Want: strings.Join(form.Formats(), ", "), Nearest: e.Nearest}
		}
	}
	d, err := c.open(0)
	if err != nil {
		return err
	}
	var n int64
	if err := c.writeTo(func(w io.Writer) error {
		return d.Export(&counting{w, &n}, f, c.in.Files[0].Name)
	}); err != nil {
		return named(c.in.Files[0].Name, err)
	}
	c.out.Report = struct {
		Size   int64       `json:"size"`
		Format form.Format `json:"format"`
	}{n, f}
	c.out.Text = fmt.Sprintf("%d bytes\n", n)
	return nil
}

// counting counts what is written.
type counting struct {
	io.Writer
	n *int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	*c.n += int64(n)
	return n, err
}
