package layout

import (
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// Footnotes stand at the foot of the page on which their numbers stand, in the order of these,
// below a short rule. A page keeps room for the notes of what is drawn on it: a line whose notes
// have none goes to the next page. What must be split is: a note higher than a third of a page, and
// the notes of a line that has more of them than a page holds. Their rest stands on the next pages,
// above the notes of these. None is ever lost: at the end of a section and of the document pages
// are added for them.

// note is a footnote.
type note struct {
	index  int // in the document, from 1
	number string
	of     *doc.Note
	src    *doc.Source
	lang   string
	cite   *Link     // from the number in the text
	elem   *tag.Elem // nil: the document is not tagged
	b      block     // what is not yet drawn; nil: nothing
	marked bool      // its beginning is drawn
}

// What is around notes.
const (
	noteAbove   = 8 * doc.Pt // the least room above the rule
	noteRule    = doc.Pt / 2
	noteBelow   = 4 * doc.Pt
	noteBetween = 2 * doc.Pt
	noteSize    = 85 // in percent of the text, without a theme
)

// raised is the style of the numbers of notes, laid over that of the text.
var raised = doc.Style{Position: doc.PositionSuper}

// cited returns a note and the number that a note shows. A paragraph that is only measured takes
// none.
func (m *maker) cited(b *para, s *doc.Span, src *doc.Source) (*note, string, error) {
	const wide = "00"
	switch {
	case !b.cites:
		return nil, wide, nil
	case s.Note == nil:
		return nil, "", failed(at(src, "L318", "a footnote without a text"))
	case m.noted:
		return nil, "", failed(at(src, "L318", "a footnote within a footnote"))
	case m.noNotes != "":
		return nil, "", failed(at(src, "L318", "a footnote in %s", m.noNotes))
	case m.inArtifact():
		return nil, "", neverArtifact("a footnote", src)
	case m.art != ArtifactNone && !m.headAgain:
		return nil, "", failed(at(src, "L318", "a footnote is allowed in the body, not in content that is repeated on pages"))
	case m.headAgain && m.footnotes.Restart == doc.RestartPage:
		d := at(src, "L318", "a footnote whose number is that of a page, in a head that is repeated")
		d.Suggestion = "write header-repeat: false, or number footnotes by section or document"
		return nil, "", failed(d)
	}
	m.notes++
	m.number++
	number := m.number
	if m.footnotes.Restart == doc.RestartPage {
		if number = 1; m.known != nil && m.notes <= len(m.known.notes) {
			number = m.known.notes[m.notes-1]
		}
	}
	shown := numeral(number, m.footnotes.Numbering)
	if m.headAgain {
		return nil, shown, nil
	}
	return &note{index: m.notes, number: shown, of: s.Note, src: src}, shown, nil
}

// citation appends the number of a note to the pieces of a paragraph.
func (m *maker) citation(b *para, s *doc.Span, en env, el *tag.Elem, src *doc.Source) error {
	n, shown, err := m.cited(b, s, src)
	if err != nil {
		return err
	}
	f, err := m.spanFace(b.face, &doc.Span{Style: &raised}, src)
	if err != nil {
		return err
	}
	c, err := m.chain(f, 0, src)
	if err != nil {
		return err
	}
	ps := PieceStyle{Size: f.size, Color: f.color, Elem: el}
	if n != nil {
		n.lang = en.lang
		n.cite = &Link{Target: "#" + hidden("note", n.index), Src: src, Text: shown}
		n.cite.Elem = m.inline(el, tag.Link, src, "")
		if n.cite.Elem != nil {
			n.elem = m.elem(m.around().elem, tag.FENote, src, "")
			n.elem.Counterpart, n.cite.Elem.Counterpart = n.cite.Elem, n.elem
			if n.lang != m.around().lang {
				n.elem.Lang = n.lang
			}
		}
		ps.Elem, ps.Link, ps.note = n.cite.Elem, n.cite, n
		b.links = true
		b.notes = append(b.notes, n)
	}
	m.addPieces(b, f, text.Piece{Text: shown, Chain: c, Size: f.size, Lang: en.lang}, ps)
	return nil
}

// compose lays out the notes of a paragraph.
func (m *maker) compose(notes []*note) error {
	if len(notes) == 0 {
		return nil
	}
	m.noted = true
	defer func() { m.noted = false }()
	for _, n := range notes {
		if err := m.survive(m.composeOne(n)); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) composeOne(n *note) error {
	en := m.around()
	en.style, en.lang = m.noteStyle(), n.lang
	f, err := m.face(en.style, n.src)
	if err != nil {
		return err
	}
	wide, err := m.labelWidth(f, "88", n.number, n.src, en)
	if err != nil {
		return err
	}
	label := m.elem(n.elem, tag.Lbl, n.src, "")
	back := &Link{Target: "#" + hidden("cite", n.index), Src: n.src, Text: n.number}
	back.Elem = m.inline(label, tag.Link, n.src, "")
	b := &labelled{bodyX: wide + f.size/2}
	if b.label, err = m.label(n.number, f, env{width: wide, lang: en.lang}, back.Elem, n.src); err != nil {
		return err
	}
	b.label.styles[0].Link, b.label.links = back, true
	within := en.narrow(b.bodyX)
	if text.RightToLeft(en.lang) {
		b.labelX, b.bodyX = en.width-wide, 0
	}
	p := m.elem(n.elem, tag.P, n.src, "")
	body, err := m.text(n.of.Spans, within, p, n.src, "")
	if err != nil {
		return err
	}
	b.body = &stack{[]entry{{b: body, src: n.src}}}
	n.b = b
	return nil
}

// noteStyle is the style of footnotes.
func (m *maker) noteStyle() *doc.Style {
	switch {
	case m.footnotes.Style != nil:
		return m.derive(m.footnotes.Style, derivedPlain)
	case m.theme.Footnote != nil:
		return m.derive(m.theme.Footnote, derivedPlain)
	default:
		return m.derive(m.around().style, derivedNote)
	}
}

// notesIn appends the notes whose numbers stand in a block.
func notesIn(of block, to []*note) []*note {
	switch b := of.(type) {
	case *para:
		if b.notes == nil {
			return to
		}
		for i := range b.lines {
			for k := range b.lines[i].Items {
				if n := b.styles[b.lines[i].Items[k].Piece].note; n != nil && !slices.Contains(to, n) {
					to = append(to, n)
				}
			}
		}
	case *stack:
		for i := range b.entries {
			to = notesIn(b.entries[i].b, to)
		}
	case *nested:
		to = notesIn(&b.stack, to)
	case *labelled:
		to = notesIn(b.body, to)
	case *box:
		to = notesIn(b.body, to)
	case *columns:
		if b.parts == nil {
			return notesIn(b.body, to)
		}
		for _, part := range b.parts {
			to = notesIn(part, to)
		}
	case *group:
		for i := range b.cells {
			to = notesIn(b.cells[i].body, to)
		}
	}
	return to
}

// cites returns the notes of a group of entries, in their order.
func (f *flow) cites(group []entry) []*note {
	if f.m.notes == 0 {
		return nil
	}
	var ns []*note
	for i := range group {
		ns = notesIn(group[i].b, ns)
	}
	slices.SortFunc(ns, func(a, b *note) int { return a.index - b.index })
	return ns
}

// limit is how far down what has the given notes may reach on the open page.
func (f *flow) limit(ns []*note) doc.Length {
	if len(ns) == 0 {
		return f.bottom
	}
	h := noteAbove + noteRule + noteBelow - noteBetween
	for _, n := range f.queue {
		h += n.size() + noteBetween
	}
	for _, n := range ns[:len(ns)-1] {
		h += n.size() + noteBetween
	}
	h += min(ns[len(ns)-1].size(), (f.foot-f.top)/3) + noteBetween
	return min(f.bottom, f.foot-h)
}

func (n *note) size() doc.Length {
	if n.b == nil {
		return 0
	}
	return n.b.size()
}

// cut is entry.split for a page that keeps room for the notes of the head; before are those of what
// stands above it. The block begins at y.
func (f *flow) cut(e *entry, y doc.Length, before []*note, alone bool) (head, tail entry, ok bool) {
	avail := f.limit(before) - y
	if f.m.notes == 0 {
		return e.split(avail, alone)
	}
	fit := func(force bool) bool {
		for room := avail; ; room = head.b.size() - 1 {
			h, t, fits := e.split(room, force)
			if !fits || h.b.size() > room {
				return false
			}
			head, tail, ok = h, t, true
			if y+h.b.size() <= f.limit(slices.Concat(before, f.cites([]entry{h}))) {
				return true
			}
		}
	}
	switch {
	case fit(false):
		return head, tail, true
	case !alone:
		return head, tail, false
	case fit(true), ok: // the least of it, though its notes take more than the page has
		return head, tail, true
	}
	return *e, entry{}, e.b.size() <= f.bottom-y
}

// cite has the notes of what was drawn set at the foot of the page.
func (f *flow) cite(ns []*note) {
	for _, n := range ns {
		f.onPage++
		if found := f.m.found; found != nil {
			for len(found.notes) < n.index {
				found.notes = append(found.notes, 0)
			}
			found.notes[n.index-1] = f.onPage
		}
	}
	limit := f.limit(ns)
	f.queue = append(f.queue, ns...)
	f.bottom = max(limit, f.y)
}

// continueNotes keeps room at the foot of a page that begins for notes of the pages before.
func (f *flow) continueNotes() {
	f.foot, f.kept, f.onPage = f.bottom, 0, 0
	if len(f.queue) == 0 {
		return
	}
	h := noteAbove + noteRule + noteBelow - noteBetween
	for _, n := range f.queue {
		h += n.size() + noteBetween
	}
	f.kept = min(h, (f.bottom-f.top)*3/4)
	f.bottom -= f.kept
}

// setNotes draws the notes of the page that closes, as many as it has room for.
func (f *flow) setNotes() error {
	if len(f.queue) == 0 {
		return nil
	}
	const around = noteAbove + noteRule + noteBelow
	room := f.foot - f.y - around
	var parts []block
	var height doc.Length
	set := 0 // of the queue
	for _, n := range f.queue {
		if n.b == nil { // it could not be laid out, which was told
			set++
			parts = append(parts, space{})
			continue
		}
		between := noteBetween
		if height == 0 {
			between = 0
		}
		head, tail := n.b.split(room-height-between, false)
		if head == nil && height == 0 {
			head, tail = n.b.split(room, true)
		}
		if head == nil {
			break
		}
		height += between + head.size()
		parts = append(parts, head)
		if tail != nil {
			n.b = tail
			break
		}
		n.b = nil
		set++
	}
	if height == 0 && set == 0 {
		if !f.blankBody {
			return nil // the next page has more room
		}
		n := f.queue[0]
		f.queue = slices.Delete(f.queue, 0, 1)
		return f.m.survive(failed(at(n.src, "L301", "a line of the footnote is higher than the page")))
	}
	y := f.foot - height
	x, w := f.left, min(f.width/3, doc.MM(50))
	if text.RightToLeft(f.doc.Lang) {
		x += f.width - w
	}
	f.painter.rule(x, y-noteBelow-noteRule, w, noteRule, doc.Black)
	for i, part := range parts {
		n := f.queue[i]
		if !n.marked {
			n.marked = true
			f.page.Marks = append(f.page.Marks, Mark{Anchor: hidden("note", n.index), Y: y, Elem: n.elem, Src: n.src})
		}
		if h := part.size(); h > 0 {
			part.draw(&f.painter, f.left, y)
			y += h + noteBetween
		}
		if i < set && n.elem != nil {
			f.page.Done = append(f.page.Done, n.elem)
		}
	}
	f.queue = slices.Delete(f.queue, 0, set)
	return nil
}
