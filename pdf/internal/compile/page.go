package compile

import (
	"regexp"
	"slices"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
)

var (
	reTemplateName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	reTag          = regexp.MustCompile(`^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$`)
)

// paper is a page format: ISO 216 and 269 in millimetres, the American ones in
// points.
type paper struct {
	name          string
	width, height doc.Length
}

func papers() []paper {
	mm := func(name string, w, h float64) paper { return paper{name, doc.MM(w), doc.MM(h)} }
	pt := func(name string, w, h doc.Length) paper { return paper{name, w * doc.Pt, h * doc.Pt} }
	return []paper{
		mm("A0", 841, 1189), mm("A1", 594, 841), mm("A2", 420, 594), mm("A3", 297, 420), mm("A4", 210, 297),
		mm("A5", 148, 210), mm("A6", 105, 148), mm("B4", 250, 353), mm("B5", 176, 250),
		pt("Letter", 612, 792), pt("Legal", 612, 1008), pt("Tabloid", 792, 1224),
	}
}

// page reads a page master on top of p.
func (c *compiler) page(n *strictyaml.Node, path string, p *doc.Master) {
	o, ok := c.object(n, path, "page")
	if !ok {
		return
	}
	if v := o.get("size"); v != nil {
		p.Width, p.Height = c.pageSize(v, o.at("size"))
	}
	if v := o.get("orientation"); v != nil {
		if i, ok := c.choice(v, o.at("orientation"), "portrait", "landscape"); ok && (i == 1) == (p.Width < p.Height) {
			p.Width, p.Height = p.Height, p.Width
		}
	}
	c.pageLooks(o, p)
	mayHave(o, "valign", &p.VAlign, c.valign)
	mayHave(o, "columns", &p.Columns, c.pageColumns)
	o.done()
}

// pageLooks reads margins, border and background of pages, and those of the first, the odd and the
// even ones. What a section gives for its pages holds for all of them.
func (c *compiler) pageLooks(o *object, p *doc.Master) {
	all := doc.PageLook{Margins: p.Margins, Border: p.Border, Background: p.Background}
	c.pageLook(o, p, &all)
	p.Margins, p.Border, p.Background = all.Margins, all.Border, all.Background
	for _, k := range [...]struct {
		key string
		of  **doc.PageLook
	}{{"first", &p.First}, {"odd", &p.Odd}, {"even", &p.Even}} {
		own := all
		if around := *k.of; around != nil {
			if o.n.Get("margin") == nil {
				own.Margins = around.Margins
			}
			if o.n.Get("border") == nil {
				own.Border = around.Border
			}
			if o.n.Get("background") == nil {
				own.Background = around.Background
			}
			*k.of = &own
		}
		at := o.n
		if v := o.get(k.key); v != nil {
			at = v
			if in, ok := c.object(v, o.at(k.key), "pages of a kind"); ok {
				c.pageLook(in, p, &own)
				if in.done(); len(v.Keys) == 0 {
					c.bad(v, o.at(k.key), codeWrong, "", "%q changes nothing without a margin, border or background", k.key)
				}
				*k.of = &own
			}
		}
		if of := *k.of; of != nil && of.Margins.Left+of.Margins.Right != p.Margins.Left+p.Margins.Right {
			const hint = "left and right margins add up to those of the page"
			c.bad(at, o.at(k.key), codeWrong, hint, "the body of %s pages is not as wide as that of the others", k.key)
		}
	}
}

// pageLook reads what may differ from page to page.
func (c *compiler) pageLook(o *object, p *doc.Master, l *doc.PageLook) {
	if v := o.get("margin"); v != nil {
		l.Margins = c.edges(v, o.at("margin"))
		sized := p.Width > 0 && p.Height > 0
		if sized && (l.Margins.Left+l.Margins.Right >= p.Width || l.Margins.Top+l.Margins.Bottom >= p.Height) {
			c.bad(v, o.at("margin"), codeWrong, "", "the margins leave no room on the page")
		}
	}
	mayHave(o, "border", &l.Border, c.border)
	mayHave(o, "background", &l.Background, c.color)
}

// pageColumns reads the columns of pages: their number, or a mapping.
func (c *compiler) pageColumns(n *strictyaml.Node, path string) doc.PageColumns {
	out := doc.PageColumns{Gap: columnGap()}
	if n.Kind != strictyaml.Mapping {
		if out.Count = c.integer(n, path, 1, 20); out.Count == 1 {
			out = doc.PageColumns{}
		}
		return out
	}
	o, _ := c.object(n, path, "columns of pages")
	even := true
	mustHave(o, "count", &out.Count, c.integerIn(2, 20))
	mayHave(o, "gap", &out.Gap, c.lengthFrom(0))
	mayHave(o, "balance", &even, c.flag)
	out.Uneven = !even
	o.done()
	return out
}

// columnGap is the space between columns that name none.
func columnGap() doc.Length { return doc.MM(6) }

func (c *compiler) pageSize(n *strictyaml.Node, path string) (width, height doc.Length) {
	a4 := doc.A4()
	if n.Kind == strictyaml.Sequence {
		if len(n.Items) != 2 {
			c.bad(n, path, codeWrong, "", "want [width, height], got %d lengths", len(n.Items))
			return a4.Width, a4.Height
		}
		const least = 72 * doc.Pt / 4
		return c.length(n.Items[0], path+"[0]", least), c.length(n.Items[1], path+"[1]", least)
	}
	name, ok := c.word(n, path)
	if !ok {
		return a4.Width, a4.Height
	}
	all := papers()
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.name
	}
	i := slices.Index(names, name)
	if i < 0 {
		c.bad(n, path, codeWrong, exprlang.Nearest(name, names), "no page size %q", name)
		return a4.Width, a4.Height
	}
	return all[i].width, all[i].height
}

// watermark reads one; null is none.
func (c *compiler) watermark(n *strictyaml.Node, path string) *watermark {
	w := &watermark{out: doc.Watermark{Angle: 45}}
	if n.Kind == strictyaml.Null {
		return w
	}
	o, ok := c.object(n, path, "a watermark")
	if !ok {
		return w
	}
	if v := o.get("if"); v != nil {
		w.cond = c.condition(v, o.at("if"))
		defer c.given(w.cond.holds())()
	}
	mayHave(o, "angle", &w.out.Angle, c.floatIn(-360, 360))
	mayHave(o, "opacity", &w.out.Opacity, c.floatIn(0, 1))
	if v := o.get("layer"); v != nil {
		i, _ := c.choice(v, o.at("layer"), "under", "over")
		w.out.Over = i == 1
	}
	if v := o.get("image"); v != nil {
		w.image = c.watermarkImage(o, v)
		o.done()
		return w
	}
	// Without a size it fills the page, so the size of the text does not count.
	from := &doc.Style{Family: c.base.Family, Weight: 700}
	if v := o.get("style"); v != nil {
		if s := c.styleRef(v, o.at("style")); s != nil {
			from = s
		}
	}
	over := c.overlay(o, false)
	w.out.Style = over.on(from, from)
	mustHave(o, "text", &w.text, c.plain)
	o.done()
	return w
}

// watermarkImage reads the image of a watermark.
func (c *compiler) watermarkImage(o *object, v *strictyaml.Node) *imageNode {
	n := &imageNode{out: doc.Image{Decorative: true}}
	n.out.Src = c.source(v, o.at("image"))
	c.imageSource(v, o.at("image"), n)
	mayHave(o, "width", &n.out.Width, c.lengthFrom(1))
	mayHave(o, "height", &n.out.Height, c.lengthFrom(1))
	n.common = common{block: n.out.Block}
	return n
}

// runningContent reads the value of a header or a footer.
func (c *compiler) runningContent(n *strictyaml.Node, path, what string) (r running) {
	if n == nil {
		return r
	}
	o, ok := c.object(n, path, "a "+what)
	if !ok {
		return r
	}
	around := c.around
	c.running, c.around = true, nil
	defer func() { c.running, c.around = false, around }()
	for _, e := range [...]struct {
		key string
		to  *[]block
	}{{"first", &r.first}, {"odd", &r.odd}, {"even", &r.even}, {"other", &r.other}, {"all", &r.all}} {
		if v := o.get(e.key); v != nil {
			if *e.to = c.blocks(v, o.at(e.key)); *e.to == nil {
				*e.to = []block{} // an empty header is one, too
			}
		}
	}
	o.done()
	if fixed(r.first) && fixed(r.odd) && fixed(r.even) && fixed(r.other) && fixed(r.all) {
		r.identity = &doc.Identity{}
	}
	return r
}

// fixed reports whether blocks are texts, one below or beside the other, that are the same in all
// documents but for numbers of pages.
func fixed(blocks []block) bool {
	return !slices.ContainsFunc(blocks, func(b block) bool {
		switch b := b.(type) {
		case *textNode:
			return b.needsData() || !b.text.same()
		case *besideNode:
			return b.needsData() || slices.ContainsFunc(b.cells, func(c []block) bool { return !fixed(c) })
		}
		return true
	})
}

// needsData reports whether some of the common keys do.
func (n *common) needsData() bool {
	return n.look != nil || n.mark != nil || n.anchor != nil || n.id != nil
}

// same reports whether a text is plain and the same in all documents but for numbers of pages.
func (t *richText) same() bool {
	return t == nil || t.static != nil && !slices.ContainsFunc(t.static, func(s doc.Span) bool {
		return s.Link != "" || s.Kind != doc.SpanText && s.Kind != doc.SpanPage && s.Kind != doc.SpanPages
	})
}
