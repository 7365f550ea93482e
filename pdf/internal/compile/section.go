package compile

import (
	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

type sectionNode struct {
	common
	page           *doc.Master // nil: that around
	header, footer *running    // nil: those around
	background     *running    // nil: that around
	watermark      *watermark  // nil: that around
	from           int
	numbering      doc.Numbering
	part           bool
	body           []block
}

func (c *compiler) sectionBlock(b *blockSource) block {
	o := b.fields
	n := &sectionNode{}
	page := c.plan.page
	if v := o.get("page"); v != nil {
		c.page(v, o.at("page"), &page)
		n.page = &page
	}
	if v := o.get("valign"); v != nil {
		page.VAlign = c.valign(v, o.at("valign"))
		n.page = &page
	}
	if v := o.get("columns"); v != nil {
		page.Columns = c.pageColumns(v, o.at("columns"))
		n.page = &page
	}
	for _, r := range [...]struct {
		key string
		to  **running
	}{{"header", &n.header}, {"footer", &n.footer}, {"background", &n.background}} {
		if v := o.get(r.key); v != nil {
			content := c.runningContent(v, o.at(r.key), r.key)
			*r.to = &content
		}
	}
	mayHave(o, "watermark", &n.watermark, c.watermark)
	mayHave(o, "number-from", &n.from, c.integerIn(1, 1_000_000))
	mayHave(o, "number-format", &n.numbering, c.numbering)
	mayHave(o, "part", &n.part, c.flag)
	mustHave(o, "do", &n.body, c.blocks)
	n.common = b.done()
	return n
}

// numbering reads a way to write numbers.
func (c *compiler) numbering(n *strictyaml.Node, path string) doc.Numbering {
	i, _ := c.choice(n, path, "decimal", "roman", "upper-roman", "alpha", "upper-alpha")
	return doc.Numbering(i) //nolint:gosec // one of five
}

func (n *sectionNode) emit(r *render, out sink) error {
	s := &doc.Section{Page: n.page, NumberFrom: n.from, Numbering: n.numbering, Part: n.part}
	var err error
	if s.Block, err = n.fill(r); err != nil {
		return err
	}
	for _, side := range [...]struct {
		from *running
		to   **doc.Running
	}{{n.header, &s.Header}, {n.footer, &s.Footer}, {n.background, &s.Background}} {
		if side.from == nil {
			continue
		}
		made, err := r.running(*side.from)
		if err != nil {
			return err
		}
		*side.to = &made
	}
	if n.watermark != nil {
		if s.Watermark, err = r.watermark(n.watermark); err != nil {
			return err
		}
		if s.Watermark == nil {
			s.Watermark = &doc.Watermark{} // its condition does not hold: none
		}
	}
	s.Body = r.stream(n.body, s.Style)
	return out(s)
}
