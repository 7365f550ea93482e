package layout

import (
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

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
	b := m.mem.paras.One()
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
	b.styles = m.mem.styles.Take(len(spans))[:0]
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
			if m.inArtifact() {
				return neverArtifact("a link", src)
			}
			if last == nil || last.Target != target {
				last = m.mem.links.One()
				last.Target, last.Src, last.From = target, src, s.From
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

// para is a paragraph of lines at one leading.
type para struct {
	lines          []text.Line
	styles         []PieceStyle
	face           *face
	art            Artifact
	widow, orphans int
	links          bool       // some piece is a link
	place          string     // an anchor where it begins; empty: none
	inline         bool       // some piece is not plain text
	leaders        bool       // some tab has one
	cites          bool       // it is to be drawn: its notes are
	notes          []*note    // whose numbers stand in it
	dx             doc.Length // the margin at the left
}

func (b *para) size() doc.Length { return doc.Length(len(b.lines)) * b.face.lead }

func (b *para) baseline() (doc.Length, bool) { return b.face.base, len(b.lines) > 0 }

func (b *para) split(avail doc.Length, force bool) (block, block) {
	n := len(b.lines)
	fit := int(min(avail/b.face.lead, doc.Length(n)))
	if fit >= n {
		return b, nil
	}
	if !force {
		if n-fit < b.widow {
			fit = n - b.widow
		}
		if fit < min(b.orphans, n) {
			return nil, b
		}
	}
	if fit <= 0 {
		return nil, b
	}
	head, tail := *b, *b
	head.lines, tail.lines = b.lines[:fit], b.lines[fit:]
	tail.place = ""
	return &head, &tail
}

func (b *para) draw(p *painter, x, y doc.Length) {
	if b.place != "" {
		p.page.Marks = append(p.page.Marks, Mark{Anchor: b.place, Y: y})
	}
	x += b.dx
	for i := range b.lines {
		line := &b.lines[i]
		base := y + b.face.base
		if b.inline {
			b.drawInline(p, line, x, base)
		} else if len(line.Items) > 0 {
			t := p.texts.One()
			*t = TextItem{X: x, Y: base, Line: line, Pieces: b.styles, Artifact: b.art}
			p.page.Items = append(p.page.Items, Item{Text: t})
		}
		if b.leaders {
			b.drawLeaders(p, line, x, base)
		}
		if b.links {
			b.areas(p, line, x, base)
		}
		if b.notes != nil {
			b.citations(p, line, y)
		}
		y += b.face.lead
	}
}

// citations marks the places of the numbers of notes on a line, which the notes lead back to.
func (b *para) citations(p *painter, line *text.Line, y doc.Length) {
	for i := range line.Items {
		if n := b.styles[line.Items[i].Piece].note; n != nil {
			p.page.Marks = append(p.page.Marks, Mark{Anchor: hidden("cite", n.index), Y: y, Elem: n.cite.Elem, Src: n.src})
		}
	}
}

// areas adds the rectangles of the links on a line, one per link.
func (b *para) areas(p *painter, line *text.Line, x, base doc.Length) {
	for i := 0; i < len(line.Items); {
		l := b.styles[line.Items[i].Piece].Link
		j := i + 1
		for j < len(line.Items) && b.styles[line.Items[j].Piece].Link == l {
			j++
		}
		if l != nil {
			k := j
			for k > i+1 && line.Items[k-1].Space {
				k--
			}
			from, to := extent(line.Items[i:k])
			p.page.Links = append(p.page.Links, LinkArea{
				X: x + from, Y: base - b.face.ascent, W: to - from, H: b.face.ascent + b.face.descent, Link: l,
			})
		}
		i = j
	}
}

// extent returns where items begin and end on their line.
func extent(items []text.Item) (from, to doc.Length) {
	from, to = items[0].X, items[0].X+items[0].W
	for i := range items[1:] {
		it := &items[i+1]
		from, to = min(from, it.X), max(to, it.X+it.W)
	}
	return from, to
}
