package layout

import (
	"cmp"
	"context"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
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
	mem           *blocks
	depth         int64
	problems      []diag.Diagnostic // that did not end the layout
	omitted       int
	failed        error // see fail
	anchors       map[string]*doc.Source
	ids           map[string]identified
	tables        int                    // that have cells with an ID, so far
	heights       map[runningKey]heights // those that are known, of all documents

	outline   int // levels of headings that are bookmarks
	numbered  int // levels of headings that have numbers
	numbers   numbers
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
	// columns says that the blocks stand in columns, which may end between them.
	columns bool
	// box is what the blocks stand in, and places among them; nil: it is none.
	box *box
}

// What a template calls the places that it gives a width.
const (
	oneCell     = "the cell"
	oneColumn   = "the column"
	oneTurned   = "the turned content"
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

// part returns the place and the width of what takes a part of the width of en: all of it, unless
// w is a length or a share.
func (en env) part(w doc.Width, align doc.Align, what string, src *doc.Source) (dx, wide doc.Length, err error) {
	wide = en.width
	switch w.Kind {
	case doc.WidthFixed:
		wide = w.Value
	case doc.WidthPercent:
		wide = en.width * w.Value / (100 * 1024)
	}
	if wide > en.width {
		return 0, 0, failed(at(src, "L306", "%s is %s wide in a place of %s", what, mm(wide), mm(en.width)))
	}
	if align == doc.AlignStart && text.RightToLeft(en.lang) {
		align = doc.AlignRight
	}
	switch align {
	case doc.AlignRight:
		dx = en.width - wide
	case doc.AlignCenter:
		dx = (en.width - wide) / 2
	}
	return dx, wide, nil
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
	if !m.tagged() {
		return nil
	}
	return m.begin(m.mem.elems.One(), parent, typ, src, lang)
}

// begin makes e an element of a block.
func (m *maker) begin(e *tag.Elem, parent *tag.Elem, typ tag.Type, src *doc.Source, lang string) *tag.Elem {
	e.Type, e.Parent, e.Src, e.Lang = typ, parent, src, lang
	m.begun = append(m.begun, e)
	return e
}

// inArtifact reports whether what is being made is an artifact of the body.
func (m *maker) inArtifact() bool { return m.art == ArtifactLayout }

// inBody reports whether what is being made is of the body, not printed on several pages.
func (m *maker) inBody() bool { return m.art == ArtifactNone || m.inArtifact() }

// isolated makes blocks, which are artifacts if c says so.
func (m *maker) isolated(c *doc.Block, f func() error) error {
	if c.Artifact && m.art == ArtifactNone {
		m.art = ArtifactLayout
		defer func() { m.art = ArtifactNone }()
	}
	return f()
}

// tagged reports whether what is being made has elements.
func (m *maker) tagged() bool { return m.opt.Tagged && m.art == ArtifactNone }

// spoken makes an element around a block that has none of its own, where it has a language or an
// ID; nil: it has neither.
func (m *maker) spoken(en *env, c *doc.Block) *tag.Elem {
	if c.Lang == "" && c.ID == "" {
		return nil
	}
	el := m.elem(en.elem, tag.Div, c.Src, c.Lang)
	if el != nil {
		en.elem = el
	}
	return el
}

// inline makes an element within a line.
func (m *maker) inline(parent *tag.Elem, typ tag.Type, src *doc.Source, lang string) *tag.Elem {
	if !m.opt.Tagged || parent == nil {
		return nil
	}
	e := m.mem.elems.One()
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
	out := m.mem.entries.Take(len(nodes))[:0]
	columns, box := en.columns, en.box
	en.columns, en.box = false, nil // of the blocks themselves
	ended := false                  // a column is, before the next block
	for _, n := range nodes {
		if err := m.deep(n); err != nil {
			return nil, err
		}
		if s, ok := n.(*doc.Spacer); ok && s.Fill {
			return nil, failed(at(s.Src, "L305", "a space that fills the page is allowed in the body or a section only"))
		}
		if t, ok := n.(*doc.Toc); ok && t.Reserve > 0 {
			return nil, failed(at(t.Src, "L305", "pages are reserved for a table of contents in the body or in a section"))
		}
		switch to := breakBefore(n); {
		case to == doc.BreakNone:
		case to != doc.BreakColumn:
			return nil, failed(at(n.Common().Src, "L305", "a page cannot end inside a block"))
		case !columns:
			return nil, failed(at(n.Common().Src, "L305", "a column cannot end inside a block"))
		default:
			ended = true
		}
		if _, ok := n.(*doc.PageBreak); ok {
			continue
		}
		if p, ok := n.(*doc.Place); ok && box != nil {
			if err := m.survive(m.placeIn(box, p, en)); err != nil {
				return nil, err
			}
			continue
		}
		before := len(out)
		if t, ok := n.(*doc.Table); ok {
			var es []entry
			err := m.isolated(&t.Block, func() (err error) {
				es, err = m.nestedTable(t, en)
				return err
			})
			if err := m.survive(err); err != nil {
				return nil, err
			}
			out = append(out, es...)
		} else {
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
		if ended && len(out) > before {
			out[before].breakBefore, ended = doc.BreakColumn, false
		}
	}
	return out, nil
}

// breakBefore is the break before a node, or that which it is.
func breakBefore(n doc.Node) doc.Break {
	if b, ok := n.(*doc.PageBreak); ok {
		return cmp.Or(b.To, doc.BreakPage)
	}
	return n.Common().BreakBefore
}

func (m *maker) deep(n doc.Node) error {
	if m.depth <= m.limits.BoxDepth {
		return nil
	}
	place := ""
	if src := n.Common().Src; src != nil {
		place = position(src)
	}
	return diag.Check("BoxDepth", m.depth, m.limits.BoxDepth, place)
}

func (m *maker) stack(nodes []doc.Node, en env) (*stack, error) {
	es, err := m.entries(nodes, en)
	if err != nil {
		return nil, err
	}
	st := m.mem.stacks.One()
	st.entries = es
	return st, nil
}

// entry turns any node but a table into an entry. A nil block draws nothing.
func (m *maker) entry(n doc.Node, en env) (e entry, err error) {
	c := n.Common()
	if c.Artifact && m.art == ArtifactNone {
		err = m.isolated(c, func() error {
			e, err = m.entry(n, en)
			return err
		})
		return e, err
	}
	e = entry{keepNext: c.KeepWithNext, keep: c.KeepTogether, breakBefore: c.BreakBefore, src: c.Src}
	spaced := spaced(c)
	if c.Style != nil {
		en.style = c.Style
	}
	if !spaced {
		e.before, e.after = c.Style.SpaceBefore, c.Style.SpaceAfter
	}
	en.lang = firstOf(c.Lang, en.lang)
	var el *tag.Elem
	if h, ok := n.(*doc.Heading); ok {
		n = m.withNumber(h)
	}
	switch n := n.(type) {
	case *doc.Text:
		if spaced && en.room == "" && !en.item && m.inBody() {
			e.after = m.theme.ParagraphGap
		}
		el = m.elem(en.elem, tag.P, c.Src, c.Lang)
		e.b, err = m.bounded(n.Spans, n.Tabs, n.Most, en, el, c.Src)
	case *doc.Heading:
		e.keepNext = true
		if c.Style == nil {
			en.style = m.heading(en.style, n.Level)
			e.before, e.after = en.style.SpaceBefore, en.style.SpaceAfter
		}
		if el = m.elem(en.elem, tag.H, c.Src, c.Lang); el != nil {
			el.Level = n.Level
		}
		e.b, err = m.bounded(n.Spans, n.Tabs, n.Most, en, el, c.Src)
	case *doc.List:
		if spaced {
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
		el = m.spoken(&en, c)
		e.b, err = m.beside(n, en)
	case *doc.Box:
		if spaced {
			e.before, e.after = m.halfLine(en.style), m.halfLine(en.style)
		}
		el = m.spoken(&en, c)
		e.b, err = m.box(n, en)
	case *doc.Columns:
		if spaced {
			e.before, e.after = m.halfLine(en.style), m.halfLine(en.style)
		}
		el = m.spoken(&en, c)
		e.b, err = m.columns(n, en)
	case *doc.Image:
		if spaced && m.inBody() {
			e.before, e.after = m.halfLine(en.style)/2, m.halfLine(en.style)/2
		}
		e.b, el, err = m.image(n, en)
	case *doc.Barcode:
		if spaced && m.inBody() {
			e.before, e.after = m.halfLine(en.style)/2, m.halfLine(en.style)/2
		}
		e.b, el, err = m.barcode(n, en)
	case *doc.Field:
		if spaced {
			e.before, e.after = fieldGap, fieldGap
		}
		e.keep = true
		if c.ID != "" { // its buttons have elements of their own, with the language
			one := doc.Block{Src: c.Src, ID: c.ID}
			el = m.spoken(&en, &one)
		}
		e.b, err = m.field(n, en)
	case *button:
		e.b, el, err = m.widget(n, en)
	case *doc.Rule:
		l := line{Line: doc.Line{Width: n.Thickness, Color: n.Color, Dash: n.Dash}}
		if n.Thickness <= 0 {
			l.Width = doc.Pt / 2
		}
		l.dx, l.w, err = en.part(n.Width, n.Align, "the rule", n.Src)
		e.b = l
		if spaced {
			e.before, e.after = m.halfLine(en.style)/2, m.halfLine(en.style)/2
		}
	case *doc.Spacer:
		if n.Fill {
			e.b = fill{}
		} else {
			e.b = space{n.Height}
		}
	case *doc.Toc:
		if m.inArtifact() {
			return e, neverArtifact("a table of contents", c.Src)
		}
		if n.Title != "" {
			e.before = max(e.before, m.heading(en.style, 2).SpaceBefore)
		}
		e.b, el, err = m.toc(n, en)
	case *doc.Section:
		return e, failed(at(c.Src, "L305", "a section is allowed in the body or another section only"))
	case *doc.Place:
		return e, failed(at(c.Src, "L305", "a place is allowed in the body, in a section, and among the blocks of a box"))
	default:
		return e, failed(at(c.Src, "L305", "%T is not allowed here", n))
	}
	if err != nil {
		return e, err
	}
	if err := m.identify(c, el); err != nil {
		return e, err
	}
	e.done = el
	return e, m.mark(&e, n, el)
}

// spaced reports whether the spaces above and below a block are those that its kind has by itself.
func spaced(c *doc.Block) bool { return c.Style == nil || c.DefaultSpace }

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
	if h != nil && m.art == ArtifactNone {
		title = m.title(h, e.b)
	}
	bookmark := c.Bookmark
	if h != nil && bookmark == "" && m.art == ArtifactNone && (h.InOutline || max(h.Level, 1) <= m.outline) {
		bookmark = title
	}
	if m.inArtifact() && (c.Anchor != "" || bookmark != "" || h != nil && h.InOutline) {
		return neverArtifact("a block with an anchor or a bookmark", c.Src)
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
	if h != nil && m.found != nil && c.Anchor != "" {
		if number := m.numbers[headingLevel(h)].text; number != "" {
			m.found.numbers[c.Anchor] = number
		}
	}
	level := c.BookmarkLevel
	if level == 0 {
		level = 1
		if h != nil {
			level = max(h.Level, 1)
		}
	}
	e.mark = m.mem.marks.One()
	*e.mark = Mark{Anchor: c.Anchor, Bookmark: bookmark, Level: level, Elem: el, Src: c.Src}
	if title != "" {
		e.mark.Title, e.mark.TitleLevel = title, max(h.Level, 1)
		if m.headed++; m.found != nil && c.Anchor == "" {
			e.mark.Anchor = hidden("heading", m.headed)
		}
	}
	return nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
