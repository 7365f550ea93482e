package emit

import (
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
)

// pageLabel begins a range of pages that are counted on in one way (12.4.2).
type pageLabel struct {
	page int // from 0
	layout.PageLabel
}

// sheet judges the size of a page that differs from the one before, and notes where pages are
// numbered anew.
func (e *Emitter) sheet(p *layout.Page) error {
	n := e.pages.n
	if n > 0 && !e.o.Force && (e.pages.last.w != p.Width || e.pages.last.h != p.Height) {
		if err := e.check.PageSize(p.Width, p.Height).Err(); err != nil {
			return err
		}
	}
	if k := len(e.labels); k > 0 {
		last := e.labels[k-1]
		if last.Numbering == p.Label.Numbering && last.Number+n-last.page == p.Label.Number {
			return nil
		}
	}
	e.labels = append(e.labels, pageLabel{n, p.Label})
	return nil
}

var numberingStyles = [...]cos.Name{
	doc.NumberingDecimal: "D", doc.NumberingRoman: "r", doc.NumberingUpperRoman: "R",
	doc.NumberingAlpha: "a", doc.NumberingUpperAlpha: "A",
}

// pageLabels is the entry of the catalog that says what numbers pages show, empty when these are
// 1, 2, 3.
func (e *Emitter) pageLabels() cos.Dict {
	if len(e.labels) == 1 && e.labels[0].PageLabel == (layout.PageLabel{Number: 1}) {
		return nil
	}
	var nums cos.Array
	for _, l := range e.labels {
		d := cos.Dict{cos.E("S", numberingStyles[l.Numbering])}
		if l.Number != 1 {
			d = append(d, cos.E("St", cos.Int(l.Number)))
		}
		nums = append(nums, cos.Int(l.page), d)
	}
	return cos.Dict{cos.E("PageLabels", cos.Dict{cos.E("Nums", nums)})}
}

// paper covers the sheet with its background.
func (c *content) paper(p *layout.Page) error {
	if p.Background.None() {
		return nil
	}
	return c.back([]layout.RectItem{{W: p.Width, H: p.Height, Color: p.Background}})
}
