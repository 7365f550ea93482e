package operation

import (
	"slices"
	"strconv"
	"strings"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
)

// with opens the other file of an operation; nil where there is none.
func (c *call) with() (*pdf.Document, error) {
	f, ok := c.in.Uploads["with"]
	if !ok {
		return nil, nil //nolint:nilnil // it may be missing
	}
	d, err := c.e.Open(c.ctx, f.Data, f.Size, pdf.OpenOptions{Password: c.in.Values["with-password"], Limits: c.in.Limits})
	if err == nil {
		c.opened = append(c.opened, opened{base(f.Name), d})
	}
	return d, named(f.Name, err)
}

// reader reads parameters one after the other, until one is wrong.
type reader struct {
	c   *call
	err error
}

func (r *reader) decimal(name string) (v float64) {
	if r.err == nil {
		v, r.err = r.c.decimal(name)
	}
	return v
}

func (r *reader) number(name string, def int) (v int) {
	if r.err == nil {
		v, r.err = r.c.number(name, def)
	}
	return v
}

func (r *reader) on(name string) (v bool) {
	if r.err == nil {
		v, r.err = r.c.on(name)
	}
	return v
}

// placing reads where something is drawn.
func (r *reader) placing() pdf.Placing {
	p := pdf.Placing{
		Position: r.c.in.Values["position"], Margin: r.decimal("margin"), Scale: r.decimal("scale"), Angle: r.decimal("angle"),
		Opacity: r.decimal("opacity"), Under: r.on("under"),
	}
	if v := r.c.in.Values["opacity"]; v != "" && p.Opacity <= 0 && r.err == nil {
		r.err = &pdf.OptionError{Field: "opacity", Got: strconv.Quote(v), Want: "more than 0, up to 1"}
	}
	return p
}

// ownFont is the family of the parameter font-file, and mostFontBytes bounds the file.
const (
	ownFont       = "font-file"
	mostFontBytes = 32 << 20
)

// fonts reads the parameter font-file; nil where it is not given.
func (c *call) fonts() (*doc.Fonts, error) {
	b, err := c.uploadOf("font-file", mostFontBytes)
	if err != nil || b == nil {
		return nil, err
	}
	return doc.NewFonts(doc.FontOptions{Families: []doc.FontFamily{{Name: ownFont, Regular: b}}, Fallback: []string{ownFont}, Synthetic: true, Once: true}), nil
}

// look reads how a text is set.
func (r *reader) look() pdf.TextLook {
	l := pdf.TextLook{Family: r.c.in.Values["font"], Size: r.decimal("size"), Bold: r.on("bold"), Italic: r.on("italic")}
	if r.err == nil {
		l.Fonts, r.err = r.c.fonts()
	}
	if l.Family == "" && l.Fonts != nil {
		l.Family = ownFont
	}
	if s := r.c.in.Values["color"]; s != "" && r.err == nil {
		h := strings.TrimPrefix(s, "#")
		if len(h) == 3 {
			h = string([]byte{h[0], h[0], h[1], h[1], h[2], h[2]})
		}
		v, err := strconv.ParseUint(h, 16, 24)
		if err != nil || len(h) != 6 || s[0] != '#' {
			r.err = &pdf.OptionError{Field: "color", Got: strconv.Quote(s), Want: "#rgb or #rrggbb"}
		}
		l.Color = doc.Black | doc.Color(v)
	}
	return l
}

func overlay(c *call) (op pdf.Op, err error) {
	r := &reader{c: c}
	p := r.placing()
	repeat := r.on("repeat")
	if r.err != nil {
		return op, r.err
	}
	d, err := c.with()
	return pdf.Overlay(pdf.Overlaying{Doc: d, From: c.in.Values["from"], Pages: c.in.Values["pages"], Repeat: repeat, Under: p.Under, Opacity: p.Opacity}), err
}

// stamping reads what is put on pages.
func (c *call) stamping() (s pdf.Stamping, err error) {
	r := &reader{c: c}
	s = pdf.Stamping{Text: c.in.Values["text"], Pages: c.in.Values["pages"], Page: r.number("page", 0), Look: r.look(), Placing: r.placing()}
	if r.err != nil {
		return s, r.err
	}
	s.Doc, err = c.with()
	return s, err
}

func stamp(c *call) (pdf.Op, error) {
	s, err := c.stamping()
	return pdf.Stamp(s), err
}

func watermark(c *call) (pdf.Op, error) {
	s, err := c.stamping()
	if c.in.Values["angle"] == "" {
		s.Angle = 45
	}
	return pdf.Watermark(s), err
}

func number(c *call) (op pdf.Op, err error) {
	r := &reader{c: c}
	n := pdf.Numbers{Format: c.in.Values["format"], Pages: c.in.Values["pages"], Start: r.number("start", 0), Look: r.look(), Placing: r.placing()}
	if r.err != nil {
		return op, r.err
	}
	if s := c.in.Values["numbers"]; s != "" {
		i := slices.Index(numberings, s)
		if i < 0 {
			return op, &pdf.OptionError{Field: "numbers", Got: strconv.Quote(s), Want: strings.Join(numberings, ", "), Nearest: nearest.Name(s, numberings)}
		}
		n.Numbering = doc.Numbering(i) //nolint:gosec // G115: one of five
	}
	return pdf.Number(n), nil
}

func nup(c *call) (op pdf.Op, err error) {
	r := &reader{c: c}
	s := pdf.Sheets{Pages: r.number("per-sheet", 2), Booklet: r.on("booklet"), Border: r.on("border"), Margin: r.decimal("margin"), Gap: r.decimal("gap")}
	if r.err != nil {
		return op, r.err
	}
	if v := c.in.Values["sheet"]; v != "" {
		size, ok := pdf.SheetSize(strings.ToLower(v))
		s.Turn = ok
		if w, h, two := strings.Cut(v, "x"); !ok && two {
			var bad, worse error
			size[0], bad = strconv.ParseFloat(w, 64)
			size[1], worse = strconv.ParseFloat(h, 64)
			ok = bad == nil && worse == nil && size[0] > 0 && size[1] > 0
		}
		if !ok {
			return op, &pdf.OptionError{Field: "sheet", Got: strconv.Quote(v), Want: "a3, a4, a5, letter, legal or WIDTHxHEIGHT in points"}
		}
		s.Size = size
	}
	return pdf.NUp(s), nil
}
