package operation

import (
	"fmt"
	"strings"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf"
	"example.com/quire/pdf/standard"
)

// The parameters that several operations have.
var (
	password = Parameter{Name: "password", Kind: Secret, Doc: "the password of the file's user or owner"}
)

// All returns the operations, in the order in which they are shown.
func All() []Operation {
	return []Operation{
		{
			Name: "info", Summary: "Tell what a PDF says of itself",
			Description: "Version, metadata, claims, encryption, form fields, signatures, attachments, what could run, and size, rotation, fonts and images of each page. Nothing is verified, and nothing that could run is run.",
			Go:          (*pdf.Document).Info, Most: 1, Gives: Report, Parameters: []Parameter{password}, run: info,
		},
		{
			Name: "check", Summary: "Judge a PDF of any maker against standards",
			Description: "The rules are those that hold for the files Quire writes. Without a standard those that the file claims are judged. The first 20 findings are told.",
			Go:          (*pdf.Engine).Check, Most: 1, Gives: Report,
			Parameters: []Parameter{
				{Name: "standard", Doc: "judge against these `STANDARDS`: " + strings.Join(standard.Names(), ", "), Example: "pdf/a-2b"},
				password,
			},
			run: check,
		},
	}
}

func info(c *call) error {
	d, err := c.open(0)
	if err != nil {
		return err
	}
	i := d.Info()
	c.out.Report = struct {
		*pdf.Info
		Warnings []pdf.Diagnostic `json:"warnings,omitempty"`
	}{i, d.Warnings()}
	c.out.Text = describe(i) + warned(d)
	return nil
}

// describe is Info for people.
func describe(i *pdf.Info) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, value)
		}
	}
	line("version", i.Version)
	line("size", fmt.Sprintf("%d bytes, revision %d", i.Size, i.Revisions))
	line("pages", fmt.Sprint(len(i.Pages)))
	line("title", i.Title)
	line("author", i.Author)
	line("subject", i.Subject)
	line("keywords", i.Keywords)
	line("creator", i.Creator)
	line("producer", i.Producer)
	line("created", i.Created)
	line("modified", i.Modified)
	line("language", i.Language)
	line("claims", strings.Join(i.Claims, ", "))
	if i.Tagged {
		line("tagged", "yes")
	}
	if e := i.Encryption; e != nil {
		who := "user"
		if e.Owner {
			who = "owner"
		}
		line("encrypted", fmt.Sprintf("%s, opened as %s, allowed: %s", e.Method, who, strings.Join(e.Allowed, ", ")))
	}
	if i.Bookmarks > 0 {
		line("bookmarks", fmt.Sprint(i.Bookmarks))
	}
	line("fields", strings.Join(i.Fields, ", "))
	line("signed", strings.Join(i.Signatures, ", "))
	for _, a := range i.Attachments {
		line("attachment", a.Name)
	}
	line("active", strings.Join(i.Active, ", "))
	for _, p := range i.Pages {
		box := p.MediaBox
		if p.CropBox != nil {
			box = *p.CropBox
		}
		s := fmt.Sprintf("%g x %g pt", box[2]-box[0], box[3]-box[1])
		if p.Rotate != 0 {
			s += fmt.Sprintf(", turned by %d", p.Rotate)
		}
		s += fmt.Sprintf(", %d fonts, %d images, %d annotations", len(p.Fonts), p.Images, p.Annotations)
		if p.Label != "" {
			s += fmt.Sprintf(", label %q", p.Label)
		}
		line(fmt.Sprintf("page %d", p.Page), s)
	}
	return b.String()
}

// warned lists what was wrong with a file.
func warned(d *pdf.Document) string {
	var b strings.Builder
	for _, w := range d.Warnings() {
		b.WriteString(w.String() + "\n")
	}
	return b.String()
}

// Checked is the report of check.
type Checked struct {
	Standards []string         `json:"standards"`
	Conforms  bool             `json:"conforms"`
	Findings  []Finding        `json:"findings"`
	Warnings  []pdf.Diagnostic `json:"warnings,omitempty"`
}

// Finding is a rule that the file breaks.
type Finding struct {
	Rule    string `json:"rule"`
	Clause  string `json:"clause"`
	Object  uint32 `json:"object,omitempty"`
	Message string `json:"message"`
}

func check(c *call) error {
	var ids []standard.ID
	for _, name := range c.list("standard") {
		id, err := standard.Parse(name)
		if err != nil {
			return &pdf.OptionError{Field: "standard", Got: fmt.Sprintf("%q", name), Want: strings.Join(standard.Names(), ", "), Nearest: nearest.Name(name, standard.Names())}
		}
		ids = append(ids, id)
	}
	d, err := c.open(0)
	if err != nil {
		return err
	}
	found, err := c.e.Check(c.ctx, d, ids...)
	if err != nil {
		return named(c.in.Files[0].Name, err)
	}
	r := Checked{Standards: []string{}, Conforms: len(found) == 0, Findings: []Finding{}, Warnings: d.Warnings()}
	for _, id := range ids {
		r.Standards = append(r.Standards, id.String())
	}
	if len(ids) == 0 {
		r.Standards = d.Info().Claims
	}
	var text strings.Builder
	for _, f := range found {
		r.Findings = append(r.Findings, Finding{f.Rule, f.Clause, f.Object.Num, f.Message})
		if f.Object.Num > 0 {
			fmt.Fprintf(&text, "object %d: ", f.Object.Num)
		}
		fmt.Fprintf(&text, "%s (%s)  [%s]\n", f.Message, f.Clause, f.Rule)
	}
	verdict := "conforms"
	if !r.Conforms {
		verdict = "does not conform"
	}
	fmt.Fprintf(&text, "%s: %s to %s\n", c.in.Files[0].Name, verdict, strings.Join(r.Standards, " and "))
	c.out.Report, c.out.Text, c.out.Failed = r, text.String(), !r.Conforms
	return nil
}
