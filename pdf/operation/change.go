package operation

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf"
	"example.com/quire/pdf/crypt"
)

// number reads a whole number; def where there is none.
func (c *call) number(name string, def int) (int, error) {
	s := c.in.Values[name]
	if s == "" {
		return def, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, &pdf.OptionError{Field: name, Got: strconv.Quote(s), Want: "a whole number"}
	}
	return n, nil
}

// on reads a switch.
func (c *call) on(name string) (bool, error) {
	switch s := c.in.Values[name]; s {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, &pdf.OptionError{Field: name, Got: strconv.Quote(s), Want: "true or false"}
	}
}

// decimal reads a number with a point; 0 where there is none.
func (c *call) decimal(name string) (float64, error) {
	s := c.in.Values[name]
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v != v || v > 1e6 || v < -1e6 {
		return 0, &pdf.OptionError{Field: name, Got: strconv.Quote(s), Want: "a number"}
	}
	return v, nil
}

// edit writes the first file with changes.
func (c *call) edit(ops ...pdf.Op) error {
	o := pdf.EditOptions{Progress: c.in.Progress}
	return c.rewrite(func(w io.Writer, d *pdf.Document) (*pdf.Summary, error) { return c.e.Edit(c.ctx, w, d, o, ops...) })
}

// rewrite writes what f makes of the first file.
func (c *call) rewrite(f func(io.Writer, *pdf.Document) (*pdf.Summary, error)) error {
	d, err := c.open(0)
	if err != nil {
		return err
	}
	return c.write(func(w io.Writer) (*pdf.Summary, error) {
		s, err := f(w, d)
		err = named(c.in.Files[0].Name, err)
		if e, ok := errors.AsType[*pdf.DiagnosticError](err); ok {
			for i := range e.Diagnostics {
				if e.Diagnostics[i].File == "with" && c.in.Uploads["with"].Name != "" {
					e.Diagnostics[i].File = c.in.Uploads["with"].Name
				}
			}
		}
		return s, err
	})
}

// write writes the one file that an operation makes.
func (c *call) write(f func(io.Writer) (*pdf.Summary, error)) error {
	var s *pdf.Summary
	if err := c.writeTo(func(w io.Writer) (err error) {
		s, err = f(w)
		return err
	}); err != nil {
		return err
	}
	if s != nil {
		c.told(s)
	}
	return nil
}

// writeTo writes it by f.
func (c *call) writeTo(f func(io.Writer) error) error {
	w, err := c.in.Create(1)
	if err != nil {
		return err
	}
	if err := f(w); err != nil {
		if a, ok := w.(Aborter); ok {
			a.Abort(err)
		} else {
			_ = w.Close() // err is what is told
		}
		return err
	}
	return w.Close()
}

// told makes the report of what was written.
func (c *call) told(s *pdf.Summary) {
	var b strings.Builder
	if s.Parts > 0 {
		b.WriteString(counted(s.Parts, "part", "parts") + ", ")
	}
	b.WriteString(counted(s.Pages, "page", "pages") + ", " + strconv.FormatInt(s.Size, 10) + " bytes\n")
	if s.Field != "" {
		b.WriteString("signature field " + s.Field + "\n")
	}
	if s.Message != nil {
		b.WriteString("message " + base64.StdEncoding.EncodeToString(s.Message) + "\ndigest " + s.Digest + "\n")
	}
	for _, name := range s.VoidSignatures {
		b.WriteString("void: the signature " + name + "\n")
	}
	s.Warnings = append(c.repairs(), s.Warnings...)
	for _, w := range s.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	c.out.Report, c.out.Text = s, b.String()
}

func split(c *call) error {
	o := pdf.SplitOptions{EditOptions: pdf.EditOptions{Progress: c.in.Progress}}
	var err error
	if o.Every, err = c.number("every", 0); err != nil {
		return err
	}
	if o.Bookmark, err = c.on("bookmark"); err != nil {
		return err
	}
	size, err := c.number("size", 0)
	if err != nil {
		return err
	}
	o.MaxBytes = int64(size)
	for name, n := range map[string]int{"every": o.Every, "size": size} {
		if c.in.Values[name] != "" && n < 1 {
			return &pdf.OptionError{Field: name, Got: strconv.Itoa(n), Want: "1 or more"}
		}
	}
	if s := c.in.Values["pages"]; s != "" {
		o.Ranges = strings.Split(s, ";")
	}
	d, err := c.open(0)
	if err != nil {
		return err
	}
	s, err := c.e.Split(c.ctx, d, o, c.in.Create)
	if err != nil {
		return named(c.in.Files[0].Name, err)
	}
	c.told(s)
	return nil
}

func merge(c *call) error {
	var in []pdf.MergeInput
	var lists []string
	if s := c.in.Values["pages"]; s != "" {
		if lists = strings.Split(s, ";"); len(lists) != len(c.in.Files) {
			return &pdf.OptionError{Field: "pages", Got: strconv.Itoa(len(lists)) + " lists", Want: "one for each of the files, with semicolons between them"}
		}
	}
	for i, f := range c.in.Files {
		d, err := c.open(i)
		if err != nil {
			return err
		}
		x := pdf.MergeInput{Doc: d, Name: strings.TrimSuffix(base(f.Name), ".pdf")}
		if lists != nil {
			x.Pages = lists[i]
		}
		in = append(in, x)
	}
	return c.write(func(w io.Writer) (*pdf.Summary, error) {
		s, err := c.e.Merge(c.ctx, w, in, pdf.EditOptions{Progress: c.in.Progress})
		if e, ok := errors.AsType[*pdf.DiagnosticError](err); ok {
			for i, x := range in { // which Merge knows by the titles of their bookmarks
				for k := range e.Diagnostics {
					if e.Diagnostics[k].File == x.Name {
						e.Diagnostics[k].File = c.in.Files[i].Name
					}
				}
			}
		}
		return s, err
	})
}

func rotate(c *call) (pdf.Op, error) {
	n, err := c.number("degrees", 0)
	return pdf.Rotate(c.in.Values["pages"], n), err
}

func crop(c *call) (pdf.Op, error) {
	box, err := boxOf(c.in.Values["box"])
	return pdf.Crop(c.in.Values["pages"], box), err
}

// boxOf reads a rectangle.
func boxOf(s string) (box [4]float64, err error) {
	fields := strings.Split(s, ",")
	for i := range box {
		if len(fields) == len(box) {
			box[i], err = strconv.ParseFloat(strings.TrimSpace(fields[i]), 64)
		}
		if len(fields) != len(box) || err != nil || box[i] != box[i] || box[i] > 1e6 || box[i] < -1e6 {
			return box, &pdf.OptionError{Field: "box", Got: strconv.Quote(s), Want: "left,bottom,right,top in points"}
		}
	}
	return box, nil
}

func redact(c *call) error {
	search, err := c.searched()
	if err != nil {
		return err
	}
	o := pdf.RedactOptions{Text: search.Text, Regexp: search.Regexp, Case: search.Case, Pages: search.Pages}
	if o.Unmarked, err = c.on("unmarked"); err != nil {
		return err
	}
	if s := c.in.Values["box"]; s != "" {
		for part := range strings.SplitSeq(s, ";") {
			box, err := boxOf(part)
			if err != nil {
				return err
			}
			o.Boxes = append(o.Boxes, box)
		}
	}
	if languages := strings.FieldsFunc(c.in.Values["ocr"], func(r rune) bool { return strings.ContainsRune(",+ ", r) }); len(languages) > 0 {
		if c.in.OCR == nil {
			return &pdf.OptionError{Field: "ocr", Got: strconv.Quote(c.in.Values["ocr"]), Want: "nothing: no text in images is read here"}
		}
		if o.OCR, err = c.in.OCR(c.ctx, languages); err != nil {
			return err
		}
	} else if v := c.in.Values["ocr"]; v != "" {
		return &pdf.OptionError{Field: "ocr", Got: strconv.Quote(v), Want: "languages, such as eng or eng+deu"}
	}
	var s *pdf.RedactSummary
	if err := c.rewrite(func(w io.Writer, d *pdf.Document) (_ *pdf.Summary, err error) {
		if s, err = c.e.Redact(c.ctx, w, d, o); err != nil {
			return nil, err
		}
		return &s.Summary, nil
	}); err != nil {
		return err
	}
	r := s.Removed
	c.out.Report = s
	c.out.Text += fmt.Sprintf("source sha256 %s\nresult sha256 %s\n", s.Record.SourceSHA256, s.Record.ResultSHA256)
	for _, p := range s.Record.Pages {
		c.out.Text += fmt.Sprintf("page %d: %d characters, %d images, %d parts of images, %d paths, %d annotations\n", p.Page, p.Removed.Characters, p.Removed.Images, p.Removed.ImageParts, p.Removed.Paths, p.Removed.Annotations)
	}
	if o.OCR != nil {
		c.out.Text += fmt.Sprintf("ocr: %d matches in pixels; in %d images of the new file none is read\n", r.Pixels, s.Record.Proof.Images)
	}
	c.out.Text += fmt.Sprintf("removed: %d matches, %d characters, %d images, %d parts of images, %d paths, %d annotations, %d strings, %d attachments; %d pages and %d objects of the new file were searched and have none of it\n",
		r.Matches, r.Characters, r.Images, r.ImageParts, r.Paths, r.Annotations, r.Strings, r.Attachments, s.Record.Proof.Pages, s.Record.Proof.Objects)
	return nil
}

func encrypt(c *call) (op pdf.Op, err error) {
	o := crypt.Options{Owner: c.in.Values["owner"], User: c.in.Values["user"], Permissions: crypt.All}
	if list := c.list("allow"); len(list) > 0 {
		o.Permissions = 0
		for _, name := range list {
			p, ok := crypt.ParsePermission(name)
			if !ok && (name != "none" || len(list) > 1) {
				known := append(crypt.PermissionNames(), "none")
				return op, &pdf.OptionError{Field: "allow", Got: strconv.Quote(name), Want: strings.Join(known, ", "), Nearest: nearest.Name(name, known)}
			}
			o.Permissions |= p
		}
	}
	return pdf.Encrypt(o), nil
}

func metadata(c *call) (op pdf.Op, err error) {
	var m pdf.Metadata
	some := false
	for name, to := range map[string]**string{"title": &m.Title, "author": &m.Author, "subject": &m.Subject, "keywords": &m.Keywords} {
		if v, ok := c.in.Values[name]; ok {
			*to = &v
			some = true
		}
	}
	if !some {
		return op, &pdf.OptionError{Field: "title", Got: "nothing to change", Want: "title, author, subject or keywords"}
	}
	return pdf.SetMetadata(m), nil
}
