package layout

import (
	"context"
	"strconv"
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/image"
	"example.com/quire/pdf/internal/svg"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// maker turns nodes into blocks. It belongs to one render.
type maker struct {
	ctx           context.Context
	opt           Options
	limits        diag.Limits
	set           *text.Setter
	faces         map[*doc.Style]*face
	derivedStyles map[derived]*doc.Style
	inlineStyles  map[laidOver]*doc.Style
	images        map[imageKey]ImageItem // without their places
	begun         []*tag.Elem
	warnings      []diag.Diagnostic
	pieces        []text.Piece
	mem           memory
	depth         int64
	problems      []diag.Diagnostic // that did not end the layout
	omitted       int
	failed        error // see fail
	anchors       map[string]*doc.Source

	outline   int    // levels of headings that are bookmarks
	decimal   string // the decimal sign
	theme     *doc.Theme
	rules     doc.Rules // of tables without a border
	baseColor doc.Color // of the document's own style

	known  *findings // what the pass before found; nil: this is the first, or the only one
	found  *findings // nil: nobody asks
	headed int       // headings so far
	places int       // hidden anchors of paragraphs so far
	titled bool      // running content asks for titles
	labels string    // of the list around, when its labels begin those of lists within it

	// of footnotes:
	footnotes *doc.Footnotes
	around    func() env // of what is laid out, at the width of the page
	notes     int        // so far
	number    int        // of the last one
	noted     bool       // one is being laid out
	headAgain bool       // the head of a table is, a second time
	noNotes   string     // where none can stand; empty: they can

	// of running content:
	art         Artifact
	page, total string    // what page() and pages() print
	titles      *titles   // what section() prints
	aside       *tag.Elem // made when a link needs it
	asideP      *tag.Elem // its paragraph, the parent of the links
}

// imageKey names image data within one render, which keeps the data alive.
type imageKey struct {
	data          *byte
	bytes         int
	width, height int // that it may have at most; 0: as it is
}

// env is what a node takes over from its parent.
type env struct {
	style *doc.Style
	elem  *tag.Elem // parent of the elements
	width doc.Length
	lang  string // BCP 47, of the nearest block that names one
	item  bool   // within a list item
	// room is the place whose width decides, one of the constants below; empty: the
	// page. It is wider than width by around.
	room   string
	around doc.Length
	sign   doc.Length // of a decimal column: where decimal signs stand; 0: nowhere
}

// What a template calls the places that it gives a width.
const (
	oneCell     = "the cell"
	oneColumn   = "the column"
	manyColumns = "the columns"
)

// align is where things without lines stand: at the right or the left edge, or in the middle.
func (en env) align() doc.Align {
	switch a := en.style.Align; {
	case a == doc.AlignStart && text.RightToLeft(en.lang), a == doc.AlignDecimal:
		return doc.AlignRight
	default:
		return a
	}
}

// narrow is en with less width in the same room.
func (en env) narrow(by doc.Length) env {
	en.width -= by
	en.around += by
	return en
}

// elem makes a block element, nil when the document is not tagged or the
// content is an artifact.
func (m *maker) elem(parent *tag.Elem, typ tag.Type, src *doc.Source, lang string) *tag.Elem {
	if !m.opt.Tagged || m.art != ArtifactNone {
		return nil
	}
	e := m.mem.elems.one()
	e.Type, e.Parent, e.Src, e.Lang = typ, parent, src, lang
	m.begun = append(m.begun, e)
	return e
}

// inline makes an element within a line.
func (m *maker) inline(parent *tag.Elem, typ tag.Type, src *doc.Source, lang string) *tag.Elem {
	if !m.opt.Tagged || parent == nil {
		return nil
	}
	e := m.mem.elems.one()
	e.Type, e.Parent, e.Src, e.Lang = typ, parent, src, lang
	return e
}

// linkParent is the element that a link hangs in: that of its block, or for
// running content an Aside, since a link is never an artifact (ISO 14289-2,
// 8.2.5.20).
func (m *maker) linkParent(parent *tag.Elem, src *doc.Source) *tag.Elem {
	if !m.opt.Tagged || parent != nil || m.art == ArtifactNone {
		return parent
	}
	if m.art == ArtifactRepeat {
		return nil
	}
	if m.aside == nil {
		m.aside = &tag.Elem{Type: tag.Aside, Src: src}
		m.asideP = &tag.Elem{Type: tag.P, Parent: m.aside, Src: src}
		m.begun = append(m.begun, m.aside, m.asideP)
	}
	return m.asideP
}

// entries turns nodes into entries of the given width.
func (m *maker) entries(nodes []doc.Node, en env) ([]entry, error) {
	m.depth++
	defer func() { m.depth-- }()
	out := m.mem.entries.take(len(nodes))[:0]
	for _, n := range nodes {
		if err := m.deep(n); err != nil {
			return nil, err
		}
		if s, ok := n.(*doc.Spacer); ok && s.Fill {
			return nil, failed(at(s.Src, "L305", "a space that fills the page stands in the body or in a section"))
		}
		if _, ok := n.(*doc.PageBreak); ok || n.Common().BreakBefore {
			return nil, failed(at(n.Common().Src, "L305", "a page cannot end inside a block"))
		}
		if t, ok := n.(*doc.Table); ok {
			es, err := m.nestedTable(t, en)
			if err := m.survive(err); err != nil {
				return nil, err
			}
			out = append(out, es...)
			continue
		}
		e, err := m.entry(n, en)
		if failed := err != nil; failed {
			if err := m.survive(err); err != nil {
				return nil, err
			}
			continue
		}
		if e.b != nil {
			out = append(out, e)
		}
	}
	return out, nil
}

func (m *maker) deep(n doc.Node) error {
	if m.depth <= m.limits.BoxDepth {
		return nil
	}
	place := ""
	if src := n.Common().Src; src != nil {
		place = src.File + ":" + strconv.Itoa(src.Line) + ":" + strconv.Itoa(src.Col)
	}
	return diag.Check("BoxDepth", m.depth, m.limits.BoxDepth, place)
}

func (m *maker) stack(nodes []doc.Node, en env) (*stack, error) {
	es, err := m.entries(nodes, en)
	if err != nil {
		return nil, err
	}
	st := m.mem.stacks.one()
	st.entries = es
	return st, nil
}

// entry turns any node but a table into an entry. A nil block draws nothing.
func (m *maker) entry(n doc.Node, en env) (entry, error) {
	c := n.Common()
	e := entry{keepNext: c.KeepWithNext, keep: c.KeepTogether, breakBefore: c.BreakBefore, src: c.Src}
	if c.Style != nil {
		en.style = c.Style
		e.before, e.after = c.Style.SpaceBefore, c.Style.SpaceAfter
	}
	en.lang = firstOf(c.Lang, en.lang)
	var el *tag.Elem
	var err error
	switch n := n.(type) {
	case *doc.Text:
		if c.Style == nil && en.room == "" && !en.item && m.art == ArtifactNone {
			e.after = m.theme.ParagraphGap
		}
		el = m.elem(en.elem, tag.P, c.Src, c.Lang)
		e.b, err = m.paragraph(n.Spans, n.Tabs, en, el, c.Src, "")
	case *doc.Heading:
		e.keepNext = true
		if c.Style == nil {
			en.style = m.heading(en.style, n.Level)
			e.before, e.after = en.style.SpaceBefore, en.style.SpaceAfter
		}
		if el = m.elem(en.elem, tag.H, c.Src, c.Lang); el != nil {
			el.Level = n.Level
		}
		e.b, err = m.paragraph(n.Spans, n.Tabs, en, el, c.Src, "")
	case *doc.List:
		if c.Style == nil {
			e.before, e.after = m.halfLine(en.style), m.halfLine(en.style)
			if en.item {
				e.before, e.after = e.before/3, e.after/3
			}
		}
		if el = m.elem(en.elem, tag.L, c.Src, c.Lang); el != nil {
			el.Marker = n.Marker
		}
		en.elem = el
		e.b, err = m.list(n, en)
	case *doc.Beside:
		e.b, err = m.beside(n, en)
	case *doc.Box:
		if c.Style == nil {
			e.before, e.after = m.halfLine(en.style), m.halfLine(en.style)
		}
		e.b, err = m.box(n, en)
	case *doc.Columns:
		if c.Style == nil {
			e.before, e.after = m.halfLine(en.style), m.halfLine(en.style)
		}
		e.b, err = m.columns(n, en)
	case *doc.Image:
		if c.Style == nil && m.art == ArtifactNone {
			e.before, e.after = m.halfLine(en.style)/2, m.halfLine(en.style)/2
		}
		e.b, el, err = m.image(n, en)
	case *doc.Barcode:
		if c.Style == nil && m.art == ArtifactNone {
			e.before, e.after = m.halfLine(en.style)/2, m.halfLine(en.style)/2
		}
		e.b, el, err = m.barcode(n, en)
	case *doc.Rule:
		e.b = line{w: en.width, thick: n.Thickness, color: n.Color}
		if n.Thickness <= 0 {
			e.b = line{w: en.width, thick: doc.Pt / 2, color: n.Color}
		}
		if c.Style == nil {
			e.before, e.after = m.halfLine(en.style)/2, m.halfLine(en.style)/2
		}
	case *doc.Spacer:
		if n.Fill {
			e.b = fill{}
		} else {
			e.b = space{n.Height}
		}
	case *doc.Toc:
		e.b, el, err = m.toc(n, en)
	default:
		return e, failed(at(c.Src, "L305", "%T cannot stand here", n))
	}
	if err != nil {
		return e, err
	}
	e.done = el
	return e, m.mark(&e, n, el)
}

// halfLine is half the leading of a style: the space around blocks that ask for
// none.
func (m *maker) halfLine(s *doc.Style) doc.Length {
	if s.Leading > 0 {
		return s.Leading / 2
	}
	return max(s.Size, 0) * 5 / 8
}

// mark notes the anchor and the outline item of a node.
func (m *maker) mark(e *entry, n doc.Node, el *tag.Elem) error {
	c := n.Common()
	title := ""
	h, _ := n.(*doc.Heading)
	if h != nil && m.art == ArtifactNone && (m.found != nil || m.titled) {
		title = m.title(h)
	}
	bookmark := c.Bookmark
	if h != nil && bookmark == "" && m.art == ArtifactNone && max(h.Level, 1) <= m.outline {
		bookmark = m.title(h)
	}
	if m.art != ArtifactNone || c.Anchor == "" && bookmark == "" && title == "" {
		return nil
	}
	if c.Anchor != "" {
		if _, dup := m.anchors[c.Anchor]; dup {
			d := at(c.Src, "L311", "anchor %q is given twice", c.Anchor)
			if from := c.AnchorFrom; from.Frame != nil {
				d.DataPath = from.Frame.DataPath(from.Part, c.Anchor, c.Anchor)
			}
			return failed(d)
		}
		m.anchors[c.Anchor] = c.Src
	}
	level := c.BookmarkLevel
	if level == 0 {
		level = 1
		if h != nil {
			level = max(h.Level, 1)
		}
	}
	e.mark = &Mark{Anchor: c.Anchor, Bookmark: bookmark, Level: level, Elem: el, Src: c.Src}
	if title != "" {
		e.mark.Title, e.mark.TitleLevel = title, max(h.Level, 1)
		if m.headed++; m.found != nil && c.Anchor == "" {
			e.mark.Anchor = hidden("heading", m.headed)
		}
	}
	return nil
}

// text breaks spans into a paragraph. Every span without a link of its own has
// the link of the block.
func (m *maker) text(spans []doc.Span, en env, el *tag.Elem, src *doc.Source, link string) (block, error) {
	return m.paragraph(spans, nil, en, el, src, link)
}

// paragraph is text with tab stops.
func (m *maker) paragraph(spans []doc.Span, tabs []doc.Tab, en env, el *tag.Elem, src *doc.Source, link string) (block, error) {
	f, err := m.face(en.style, src)
	if err != nil {
		return nil, err
	}
	b := m.mem.paras.one()
	*b = para{face: f, art: m.art, widow: f.style.Widows, orphans: f.style.Orphans, dx: f.style.MarginLeft, cites: true}
	if beside := f.style.MarginLeft + f.style.MarginRight; beside != 0 {
		if en = en.narrow(beside); en.width <= 0 {
			return nil, failed(at(src, "L306", "the margins of the text leave no width of %s", mm(en.width+beside)))
		}
	}
	if b.widow <= 0 {
		b.widow = 2
	}
	if b.orphans <= 0 {
		b.orphans = 2
	}
	if err := m.spans(b, spans, en, el, src, link); err != nil {
		return nil, err
	}
	if m.art == ArtifactNone && m.opt.Tagged && el == nil {
		b.art = ArtifactLayout
	}
	o := f.breaking(en)
	o.Decimal, o.Sign = m.decimal, en.sign
	if o.Tabs, err = m.stops(tabs, en.width, src); err != nil {
		return nil, err
	}
	b.lines, err = m.set.SetParagraph(m.pieces, en.width, o)
	if err != nil {
		if err := m.survive(m.setError(err, src, en, spans)); err != nil {
			return nil, err
		}
		b.lines = nil // what cannot be set takes no room
	}
	if err := m.compose(b.notes); err != nil {
		return nil, err
	}
	return b, m.leaders(b, tabs, src)
}

// spans fills m.pieces and the styles of b.
func (m *maker) spans(b *para, spans []doc.Span, en env, el *tag.Elem, src *doc.Source, link string) error {
	m.pieces = m.pieces[:0]
	b.styles = m.mem.styles.take(len(spans))[:0]
	var last *Link
	var before *doc.Span // the one that the last piece is from
	for i := range spans {
		s := &spans[i]
		t := s.Text
		switch s.Kind {
		case doc.SpanText:
			t = text.Clean(t)
		case doc.SpanImage:
			t = text.Object
		case doc.SpanNote:
			last, before = nil, nil
			if err := m.citation(b, s, en, el, src); err != nil {
				return err
			}
			continue
		default:
			var err error
			if t, err = m.ofPages(b, s, src); err != nil {
				return err
			}
		}
		if t == "" {
			continue
		}
		f, err := m.spanFace(b.face, s, src)
		if err != nil {
			return err
		}
		ps := PieceStyle{Size: b.face.size, Color: b.face.color, Elem: el}
		if target := firstOf(s.Link, link); target != "" {
			if last == nil || last.Target != target {
				last = &Link{Target: target, Src: src, From: s.From}
				last.Elem = m.inline(m.linkParent(el, src), tag.Link, src, "")
			}
			if last.Text += t; s.Kind == doc.SpanImage {
				last.Text = strings.TrimSuffix(last.Text, t) + s.Image.Alt
			}
			if m.art != ArtifactRepeat {
				ps.Link = last
				b.links = true
			}
			if link := m.theme.Link; !link.None() && b.face.style.Color == m.baseColor {
				ps.Color = link
			}
			ps.Elem = last.Elem
		} else {
			last = nil
		}
		if before != nil && sameMarks(before, s) && before.Link == s.Link {
			ps.Elem = b.styles[len(b.styles)-1].Elem // one emphasis, whatever it is made of
		} else {
			ps.Elem = m.marked(ps.Elem, s, f, src)
		}
		before = s
		if f != b.face {
			if ps.Size = f.size; ps.Color == b.face.color {
				ps.Color = f.color
			}
		}
		c, err := m.chain(f, variantOf(s), src)
		if err != nil {
			return err
		}
		p := text.Piece{Text: t, Chain: c, Size: f.size, Figure: f.figure(s), Lang: firstOf(s.Lang, en.lang)}
		if !f.special && s.Kind != doc.SpanImage {
			m.pieces, b.styles = append(m.pieces, p), append(b.styles, ps)
			continue
		}
		if s.Kind == doc.SpanImage {
			img, err := m.spanImage(s, f, en, src)
			if err != nil {
				return err
			}
			m.inlineFigure(img, s.Image, ps.Elem, src)
			p.Object, ps.Inline = img.W, &Inline{Image: img}
		}
		m.addPieces(b, f, p, ps)
	}
	return nil
}

func sameMarks(a, b *doc.Span) bool {
	return a.Bold == b.Bold && a.Italic == b.Italic && a.Code == b.Code && a.Lang == b.Lang && a.Style == b.Style
}

// marked wraps the element of a span in those that its markup means.
func (m *maker) marked(el *tag.Elem, s *doc.Span, f *face, src *doc.Source) *tag.Elem {
	if el == nil {
		return nil
	}
	if s.Lang != "" {
		el = m.inline(el, tag.Span, src, s.Lang)
	}
	if s.Bold {
		el = m.inline(el, tag.Strong, src, "")
	}
	if s.Italic {
		el = m.inline(el, tag.Em, src, "")
	}
	if s.Code {
		el = m.inline(el, tag.Code, src, "")
	}
	if s.Style != nil {
		if look, shift := lookOf(s.Style), f.rise(); look != 0 || shift != 0 {
			el = m.inline(el, tag.Span, src, "")
			el.Look, el.Shift = look, shift
		}
	}
	return el
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// list lays out the items with their labels right-aligned before them.
func (m *maker) list(n *doc.List, en env) (block, error) {
	f, err := m.face(en.style, n.Src)
	if err != nil {
		return nil, err
	}
	start := n.Start
	if start == 0 {
		start = 1
	}
	around := m.labels
	defer func() { m.labels = around }()
	label := func(i int) string { return label(n.Marker, around, start+i) }
	wide, err := m.labelsWidth(f, n, label, en)
	if err != nil {
		return nil, err
	}
	wide = max(wide, f.size*3/5)
	indent := wide + f.size/2
	out := &stack{entries: make([]entry, 0, len(n.Items))}
	list := en.elem
	for i := range n.Items {
		item := &n.Items[i]
		src := item.Src
		if src == nil {
			src = n.Src
		}
		li := m.elem(list, tag.LI, src, "")
		lbl := m.elem(li, tag.Lbl, src, "")
		lp, err := m.label(label(i), f, env{width: wide, lang: en.lang}, lbl, src)
		if err != nil {
			return nil, err
		}
		body := m.elem(li, tag.LBody, src, "")
		within := en.narrow(indent)
		within.style, within.elem, within.item = m.derive(en.style, derivedItem), body, true
		m.labels = ""
		if n.Marker == doc.MarkerLegal {
			m.labels = strings.TrimSuffix(label(i), ".") + "."
		}
		st, err := m.stack(item.Nodes, within)
		if err != nil {
			return nil, err
		}
		b := &labelled{label: lp, bodyX: indent, body: st}
		if text.RightToLeft(en.lang) {
			b.labelX, b.bodyX = en.width-wide, 0
		}
		after := f.lead / 6
		out.entries = append(out.entries, entry{b: b, before: after, after: after, src: src})
	}
	return out, nil
}

// label is that of item number n of a list. around is the label of the item that the list is in,
// when that is one of a legal list.
func label(marker doc.Marker, around string, n int) string {
	switch marker {
	case doc.MarkerDisc:
		return "\u2022"
	case doc.MarkerAlpha:
		return numeral(n, doc.NumberingAlpha) + "."
	case doc.MarkerUpperAlpha:
		return numeral(n, doc.NumberingUpperAlpha) + "."
	case doc.MarkerRoman:
		return numeral(n, doc.NumberingRoman) + "."
	case doc.MarkerUpperRoman:
		return numeral(n, doc.NumberingUpperRoman) + "."
	case doc.MarkerLegal:
		if around != "" {
			return around + strconv.Itoa(n)
		}
	}
	return strconv.Itoa(n) + "."
}

// labelsWidth returns a width that no label of a list is wider than.
func (m *maker) labelsWidth(f *face, n *doc.List, label func(int) string, en env) (doc.Length, error) {
	last := max(len(n.Items)-1, 0)
	switch n.Marker {
	case doc.MarkerDisc, doc.MarkerDecimal, doc.MarkerLegal:
		return m.labelWidth(f, label(0), label(last), n.Src, en)
	}
	var most doc.Length // letters and Roman numerals differ in width as they come
	for i := range last + 1 {
		w, err := m.labelWidth(f, label(i), label(i), n.Src, en)
		if err != nil {
			return 0, err
		}
		most = max(most, w)
	}
	return most, nil
}

// labelWidth returns a width that no label between first and last is wider than: each
// digit is taken for the widest one, and no pair of characters stands closer than alone.
// No label has more characters than the longer of the two.
func (m *maker) labelWidth(f *face, first, last string, src *doc.Source, en env) (doc.Length, error) {
	c, err := m.chain(f, 0, src)
	if err != nil {
		return 0, err
	}
	width := func(s string) (doc.Length, error) {
		_, w, err := m.set.Measure([]text.Piece{{Text: s, Chain: c, Size: f.size}})
		if err != nil {
			return 0, m.setError(err, src, en, nil)
		}
		return w, nil
	}
	if first == last {
		return width(first)
	}
	var digit, most doc.Length
	for _, d := range "0123456789" {
		w, err := width(string(d))
		if err != nil {
			return 0, err
		}
		digit = max(digit, w)
	}
	apart := m.apart(c, f.size)
	for _, label := range [2]string{first, last} {
		var sum doc.Length
		for _, r := range label {
			w := digit
			if r < '0' || r > '9' {
				if w, err = width(string(r)); err != nil {
					return 0, err
				}
			}
			sum += w + apart
		}
		most = max(most, sum)
	}
	return most, nil
}

// apart is the most that kerning moves two characters of a label apart, and a unit for
// what rounding adds.
func (m *maker) apart(c *text.Chain, size doc.Length) doc.Length {
	const characters = "0123456789.-"
	var most int64
	face := c.Face()
	for _, a := range characters {
		for _, b := range characters {
			most = max(most, int64(face.Kern(face.GlyphIndex(a), face.GlyphIndex(b))))
		}
	}
	return text.Scale(most, size, face) + 1
}

func (m *maker) label(s string, f *face, en env, el *tag.Elem, src *doc.Source) (*para, error) {
	c, err := m.chain(f, 0, src)
	if err != nil {
		return nil, err
	}
	b := &para{face: f, art: m.art, widow: 1, orphans: 1}
	b.styles = []PieceStyle{{Size: f.size, Color: f.color, Elem: el}}
	m.pieces = append(m.pieces[:0], text.Piece{Text: s, Chain: c, Size: f.size, Lang: en.lang})
	towards := doc.AlignRight // the body
	if text.RightToLeft(en.lang) {
		towards = doc.AlignLeft
	}
	if b.lines, err = m.set.Set(m.pieces, en.width, towards); err != nil {
		return nil, m.setError(err, src, en, nil)
	}
	return b, nil
}

func (m *maker) box(n *doc.Box, en env) (block, error) {
	b := &box{w: en.width, pad: n.Padding, border: n.Border, back: n.Background, radius: n.Radius, least: n.Height, valign: n.VAlign}
	if n.Width > en.width {
		return nil, failed(at(n.Src, "L306", "the box is %s wide in a place of %s", mm(n.Width), mm(en.width)))
	}
	if n.Width > 0 {
		switch b.w = n.Width; en.align() {
		case doc.AlignRight:
			b.dx = en.width - b.w
		case doc.AlignCenter:
			b.dx = (en.width - b.w) / 2
		}
		en.width = b.w
	}
	if l := n.Border; n.Radius > 0 && l != nil && (*l != *doc.Around(l.Top) || l.Top.Dash[0] > 0) {
		return nil, failed(at(n.Src, "L305", "a box with round corners has one solid line on all sides"))
	}
	e := b.edges()
	st, err := m.stack(n.Nodes, en.narrow(e.Left+e.Right))
	if err != nil {
		return nil, err
	}
	b.body = st
	return b, nil
}

// image reads the picture and finds its size.
func (m *maker) image(n *doc.Image, en env) (block, *tag.Elem, error) {
	if len(n.Data) == 0 {
		return nil, nil, failed(at(n.Src, "L307", "image %s: no data", n.Name))
	}
	item, iw, ih, err := m.open(n)
	if err != nil {
		return nil, nil, err
	}
	w, h := n.Width, n.Height
	switch {
	case w > 0 && h > 0:
		switch wide := w*ih > h*iw; {
		case n.Fit == doc.FitContain && wide:
			w = h * iw / ih
		case n.Fit == doc.FitContain:
			h = w * ih / iw
		case n.Fit == doc.FitCover && wide: // what is above and below is cut off
			full := w * ih / iw
			item.Full = &Rect{Y: (h - full) / 2, W: w, H: full}
		case n.Fit == doc.FitCover:
			full := h * iw / ih
			item.Full = &Rect{X: (w - full) / 2, W: full, H: h}
		}
	case w > 0:
		h = w * ih / iw
	case h > 0:
		w = h * iw / ih
	default:
		w, h = iw, ih
		if w > en.width {
			w, h = en.width, en.width*ih/iw
		}
	}
	if w > en.width && en.width > 0 {
		m.warnings = append(m.warnings, warning(at(n.Src, "L304", "image %s is %s wide in a place of %s and was made smaller", n.Name, mm(w), mm(en.width))))
		if f := item.Full; f != nil {
			item.Full = &Rect{X: f.X * en.width / w, Y: f.Y * en.width / w, W: f.W * en.width / w, H: f.H * en.width / w}
		}
		w, h = en.width, en.width*h/w
	}
	if n.MaxDPI > 0 && item.Drawing == nil {
		full := Rect{W: w, H: h}
		if item.Full != nil {
			full = *item.Full
		}
		if item.Image, err = m.openWithin(n, full.W, full.H); err != nil {
			return nil, nil, err
		}
	}
	item.Artifact, item.Src = m.art, n.Src
	b := &picture{w: w, h: h, item: item}
	switch en.align() {
	case doc.AlignRight:
		b.dx = en.width - w
	case doc.AlignCenter:
		b.dx = (en.width - w) / 2
	}
	return b, m.pictureElem(b, n, en), nil
}

// open reads image data, each once, and returns the natural size at 96 pixels per inch.
func (m *maker) open(n *doc.Image) (it ImageItem, w, h doc.Length, err error) {
	const pixel = doc.Inch / 96
	key := imageKey{data: &n.Data[0], bytes: len(n.Data)}
	it, ok := m.images[key]
	if !ok {
		switch {
		case svg.Is(n.Data):
			it.Drawing, err = m.drawing(n)
		case n.MaxDPI > 0: // how large it is printed says what is read of it
			var width, height int
			if width, height, err = m.opt.Images.Size(n.Data); err == nil {
				return it, doc.Length(width) * pixel, doc.Length(height) * pixel, nil
			}
		default:
			it.Image, err = m.opt.Images.Open(m.ctx, n.Data)
		}
		if err != nil {
			return it, 0, 0, m.imageError(err, n)
		}
		m.images[key] = it
	}
	if d := it.Drawing; d != nil {
		return it, max(1, doc.Points(d.Width*72/96)), max(1, doc.Points(d.Height*72/96)), nil
	}
	return it, doc.Length(it.Image.Width()) * pixel, doc.Length(it.Image.Height()) * pixel, nil
}

// openWithin reads an image that is printed so large, with no more pixels than its resolution allows.
func (m *maker) openWithin(n *doc.Image, w, h doc.Length) (*image.Image, error) {
	pixels := func(l doc.Length) int { return int((l*doc.Length(n.MaxDPI) + doc.Inch - 1) / doc.Inch) }
	key := imageKey{data: &n.Data[0], bytes: len(n.Data), width: pixels(w), height: pixels(h)}
	it, ok := m.images[key]
	if !ok {
		var err error
		if it.Image, err = m.opt.Images.OpenWithin(m.ctx, n.Data, key.width, key.height); err != nil {
			return nil, m.imageError(err, n)
		}
		m.images[key] = it
	}
	return it.Image, nil
}

// drawing reads an SVG file. What it has and is not drawn is told.
func (m *maker) drawing(n *doc.Image) (*svg.Drawing, error) {
	f, err := svg.Read(n.Data, m.limits)
	if err != nil {
		return nil, err
	}
	d, err := f.Draw(svg.Fonts{Typesetter: m.opt.Typesetter, Setter: m.set})
	if err != nil {
		return nil, err
	}
	for _, w := range d.Warnings {
		m.warnings = append(m.warnings, warning(at(n.Src, "L315", "image %s:%d:%d: %s", n.Name, w.Line, w.Col, w.Message)))
	}
	return d, nil
}

// pictureElem tags a picture: a Figure, in a Link when it has one. It returns
// the block element.
func (m *maker) pictureElem(b *picture, n *doc.Image, en env) *tag.Elem {
	parent := en.elem
	var top *tag.Elem
	if n.Link != "" && m.art != ArtifactRepeat {
		b.link = &Link{Target: n.Link, Src: n.Src, Text: n.Alt, From: n.From}
		hang := m.linkParent(parent, n.Src)
		if m.opt.Tagged && m.art == ArtifactNone {
			// A Link stands within a line of text: give it a paragraph.
			hang = m.elem(parent, tag.P, n.Src, n.Lang)
			top = hang
		}
		b.link.Elem = m.inline(hang, tag.Link, n.Src, "")
		parent = b.link.Elem
	}
	switch {
	case n.Decorative && b.link == nil:
		if m.art == ArtifactNone {
			b.item.Artifact = ArtifactLayout
		}
	case b.link != nil:
		b.item.Elem = m.inline(parent, tag.Figure, n.Src, n.Lang)
	default:
		b.item.Elem = m.elem(parent, tag.Figure, n.Src, n.Lang)
		top = b.item.Elem
	}
	if b.item.Elem != nil {
		b.item.Elem.Alt = strings.TrimSpace(n.Alt)
	}
	return top
}

func warning(d diag.Diagnostic) diag.Diagnostic {
	d.Severity = diag.SeverityWarning
	return d
}
