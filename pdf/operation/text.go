package operation

import (
	"fmt"
	"strings"

	"example.com/quire/pdf"
)

func text(c *call) error {
	d, err := c.open(0)
	if err != nil {
		return err
	}
	p, err := d.Text(c.ctx, pdf.TextOptions{Pages: c.in.Values["pages"]})
	if err != nil {
		return named(c.in.Files[0].Name, err)
	}
	c.out.Report = struct {
		Pages    []pdf.TextPage   `json:"pages"`
		Warnings []pdf.Diagnostic `json:"warnings,omitempty"`
	}{p, d.Warnings()}
	var b strings.Builder
	for _, page := range p {
		for _, l := range page.Lines {
			b.WriteString(l.Text + "\n")
		}
		b.WriteByte('\f')
	}
	c.out.Text = b.String()
	return nil
}

// searched reads what an operation searches for.
func (c *call) searched() (o pdf.SearchOptions, err error) {
	o = pdf.SearchOptions{Text: c.in.Values["text"], Regexp: c.in.Values["regexp"], Pages: c.in.Values["pages"]}
	o.Case, err = c.on("case")
	return o, err
}

func search(c *call) error {
	o, err := c.searched()
	if err != nil {
		return err
	}
	d, err := c.open(0)
	if err != nil {
		return err
	}
	found, err := d.Search(c.ctx, o)
	if err != nil {
		return named(c.in.Files[0].Name, err)
	}
	c.out.Report = struct {
		Matches  []pdf.Match      `json:"matches"`
		Warnings []pdf.Diagnostic `json:"warnings,omitempty"`
	}{found, d.Warnings()}
	var b strings.Builder
	for _, m := range found {
		for _, box := range m.Boxes {
			fmt.Fprintf(&b, "page %d: %g,%g,%g,%g: %s\n", m.Page, box[0], box[1], box[2], box[3], m.Text)
		}
	}
	b.WriteString(counted(len(found), "match", "matches") + "\n")
	c.out.Text = b.String()
	return nil
}
