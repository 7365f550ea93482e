package layout

import (
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// stops are the tab stops of a paragraph of the given width, in the order of their places.
func (m *maker) stops(tabs []doc.Tab, width doc.Length, src *doc.Source) ([]text.TabStop, error) {
	if len(tabs) == 0 {
		return nil, nil
	}
	out := make([]text.TabStop, len(tabs))
	for i, t := range tabs {
		x := t.At.Value
		switch t.At.Kind {
		case doc.WidthFixed:
		case doc.WidthPercent:
			x = width * t.At.Value / (100 * 1024)
		default:
			return nil, failed(at(src, "L306", "the position of a tab stop is a length or a percentage"))
		}
		if x > width {
			return nil, failed(at(src, "L306", "the tab stop at %s lies beyond the text, which is %s wide", mm(x), mm(width)))
		}
		out[i] = text.TabStop{At: x, Align: t.Align, Leader: t.Leader}
	}
	slices.SortStableFunc(out, func(a, b text.TabStop) int { return int(a.At - b.At) })
	return out, nil
}

// leaders prepares those of a paragraph.
func (m *maker) leaders(b *para, tabs []doc.Tab, src *doc.Source) error {
	for _, t := range tabs {
		b.leaders = b.leaders || t.Leader != doc.TabLeaderNone
		if t.Leader != doc.TabLeaderDots || b.face.dot != nil {
			continue
		}
		c, err := m.chain(b.face, 0, src)
		if err != nil {
			return err
		}
		lines, err := m.set.Set([]text.Piece{{Text: ".", Chain: c, Size: b.face.size}}, text.Unlimited, doc.AlignLeft)
		if err != nil {
			return m.setError(err, src, env{}, nil)
		}
		b.face.dot = &lines[0].Items[0]
	}
	return nil
}

// drawLeaders fills the room that tabs leave on a line. The dots of all lines in one size stand
// below each other, wherever their lines begin and end.
func (b *para) drawLeaders(p *painter, line *text.Line, x, base doc.Length) {
	size := b.face.size
	for i := range line.Items {
		it := &line.Items[i]
		from, to := x+it.X, x+it.X+it.W
		switch it.Leader {
		case doc.TabLeaderNone:
		case doc.TabLeaderLine:
			p.rule(from+size/4, base+size/10, to-from-size/2, max(size/24, doc.Pt/4), b.face.color)
		case doc.TabLeaderDots:
			step, apart := size/2, size/4 // from dot to dot, and from the text
			var dots []text.Item
			for at := (from + apart + step - 1) / step * step; at+b.face.dot.W <= to-apart; at += step {
				dot := *b.face.dot
				dot.X, dot.Piece = at-x, 0
				dots = append(dots, dot)
			}
			if len(dots) == 0 {
				continue
			}
			art := b.art
			if art == ArtifactNone {
				art = ArtifactLayout
			}
			t := p.texts.One()
			*t = TextItem{X: x, Y: base, Line: &text.Line{Items: dots}, Pieces: []PieceStyle{{Size: size, Color: b.face.color}}, Artifact: art}
			p.page.Items = append(p.page.Items, Item{Text: t})
		}
	}
}
