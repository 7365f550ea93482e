package operation

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
)

// MostAttachedBytes bounds a file that is attached.
const MostAttachedBytes = 64 << 20

func attachments(c *call) error {
	d, err := c.open(0)
	if err != nil {
		return err
	}
	list, err := d.Attachments()
	if err != nil {
		return named(c.in.Files[0].Name, err)
	}
	c.out.Report = struct {
		Attachments []pdf.Attachment `json:"attachments"`
		Warnings    []pdf.Diagnostic `json:"warnings,omitempty"`
	}{list, d.Warnings()}
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "%s: %d bytes, %s, %s", a.Name, a.Size, cmp.Or(a.Type, "no type"), cmp.Or(a.Relationship, "Unspecified"))
		if a.Description != "" && a.Description != a.Name {
			b.WriteString(": " + a.Description)
		}
		b.WriteByte('\n')
	}
	if len(list) == 0 {
		b.WriteString("no attached files\n")
	}
	c.out.Text = b.String() + warned(d)
	return nil
}

func attach(c *call) (op pdf.Op, err error) {
	f := c.in.Uploads["attachment"]
	b, err := read("attachment", f, MostAttachedBytes)
	if err != nil {
		return op, err
	}
	v := c.in.Values
	a := pdf.Attachment{Name: cmp.Or(v["name"], base(f.Name)), Description: v["description"], Relationship: v["relationship"]}
	a.Type = cmp.Or(v["type"], doc.MediaType(a.Name))
	return pdf.Attach(a, b, c.in.Time), nil
}

// base is the last part of the name of a file.
func base(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }

func extract(c *call) error {
	d, err := c.open(0)
	if err != nil {
		return err
	}
	name := c.in.Values["name"]
	list, err := d.Attachments()
	if err != nil {
		return named(c.in.Files[0].Name, err)
	}
	if err := c.write(func(w io.Writer) (*pdf.Summary, error) { return nil, named(c.in.Files[0].Name, d.Extract(w, name)) }); err != nil {
		return err
	}
	for _, a := range list {
		if a.Name == name {
			c.out.Report, c.out.Text = a, fmt.Sprintf("%s: %s\n", a.Name, cmp.Or(a.Type, "no type"))
		}
	}
	return nil
}
