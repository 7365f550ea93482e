package operation

import (
	"fmt"
	"strings"

	"example.com/quire/pdf"
)

func compare(c *call) error {
	var o pdf.CompareOptions
	var err error
	if o.DPI, err = c.number("dpi", 0); err != nil {
		return err
	}
	pixels, err := c.on("pixels")
	if err != nil {
		return err
	}
	if o.DPI != 0 && !pixels {
		return &pdf.OptionError{Field: "dpi", Got: "a number without pixels", Want: "pixels too, or none"}
	}
	if pixels {
		if o.Raster, err = pdf.Poppler(); err != nil {
			return err
		}
	}
	a, err := c.open(0)
	if err != nil {
		return err
	}
	b, err := c.open(1)
	if err != nil {
		return err
	}
	r, err := c.e.Compare(c.ctx, a, b, o)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, d := range r.Differences {
		text.WriteString(difference(d) + "\n")
	}
	names := c.in.Files[0].Name + " and " + c.in.Files[1].Name
	switch n := len(r.Differences) + r.More; {
	case r.Identical:
		text.WriteString(names + ": the same bytes\n")
	case r.Equal:
		text.WriteString(names + ": no difference in what they say and show; their bytes differ\n")
	default:
		if r.More > 0 {
			fmt.Fprintf(&text, "and %d more\n", r.More)
		}
		fmt.Fprintf(&text, "%s: %d differences\n", names, n)
	}
	c.out.Report, c.out.Text, c.out.Failed = r, text.String(), !r.Equal
	return nil
}

// difference is one for people: where, what, and from what to what.
func difference(d pdf.Difference) string {
	var where string
	switch {
	case d.Page == d.OtherPage && d.Page > 0:
		where = fmt.Sprintf("page %d: ", d.Page)
	case d.Page > 0 && d.OtherPage > 0:
		where = fmt.Sprintf("page %d (%d in the second): ", d.Page, d.OtherPage)
	case d.Page > 0:
		where = fmt.Sprintf("page %d of the first: ", d.Page)
	case d.OtherPage > 0:
		where = fmt.Sprintf("page %d of the second: ", d.OtherPage)
	}
	s := where + d.Kind
	if d.Part != "pages" {
		s = where + d.Part + " " + d.Kind
	}
	if d.Name != "" {
		s += ": " + brief(d.Name)
	}
	before, after := brief(d.Before), brief(d.After)
	if before != "" && after != "" {
		s += ": " + before + " -> " + after
	} else if before+after != "" {
		s += ": " + before + after
	}
	switch {
	case d.Box != nil && d.OtherBox != nil && *d.Box != *d.OtherBox:
		s += " at " + boxText(*d.Box) + " -> " + boxText(*d.OtherBox)
	case d.Box != nil:
		s += " at " + boxText(*d.Box)
	case d.OtherBox != nil:
		s += " at " + boxText(*d.OtherBox)
	}
	return s
}

func boxText(b [4]float64) string { return fmt.Sprintf("%g,%g,%g,%g", b[0], b[1], b[2], b[3]) }

// brief is a text in one line that is not long.
func brief(s string) string {
	const most = 100
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > most {
		return string(r[:most]) + "..."
	}
	return string(r)
}
