package layout

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// word is a paragraph of one plain word or number, as most cells of long tables are. It is its text
// until it is written, a fraction of what its glyphs and its line would take.
type word struct {
	face   *face
	text   string
	x      doc.Length // where it begins, as it is aligned
	elem   *tag.Elem
	art    Artifact
	kerned bool
}

// word finds where the cell of spans, which is a word, begins, and whether it is kerned; ok is
// false when it is none: it is set as a paragraph then, which looks the same.
func (m *maker) word(spans []doc.Span, f *face, width doc.Length) (x doc.Length, kerned, ok bool) {
	if len(spans) != 1 || !f.simple {
		return 0, false, false
	}
	s := &spans[0]
	if s.Kind != doc.SpanText || s.Bold || s.Italic || s.Code || s.Style != nil || s.Link != "" || s.Lang != "" {
		return 0, false, false
	}
	w, kerned, ok := f.chains[0].WordWidth(s.Text, f.size)
	if !ok || w > width {
		return 0, false, false
	}
	switch f.align {
	case doc.AlignRight:
		x = width - w
	case doc.AlignCenter:
		x = (width - w) / 2
	}
	return x, kerned, true
}

// simple reports whether the words of a style, from left to right, need what word does alone.
func simple(s *doc.Style) bool {
	return s.MarginLeft == 0 && s.MarginRight == 0 && s.Indent == 0 && s.Align != doc.AlignDecimal && s.Breaking != doc.BreakingTotal
}

func (b *word) size() doc.Length { return b.face.lead }

func (b *word) baseline() (doc.Length, bool) { return b.face.base, true }

func (b *word) split(avail doc.Length, _ bool) (block, block) { return whole(b, avail) }

func (b *word) draw(p *painter, x, y doc.Length) {
	w := p.words.One()
	w.X, w.Y, w.Text, w.Chain = x+b.x, y+b.face.base, b.text, b.face.chains[0]
	w.Size, w.Color, w.Elem, w.Artifact, w.Kerned = b.face.size, b.face.color, b.elem, b.art, b.kerned
	p.page.Items = append(p.page.Items, Item{Word: w})
}
