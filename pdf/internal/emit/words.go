package emit

import (
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// words builds the operand of one TJ or Tj. The pen is tracked in thousandths of
// a font unit's em share, exactly, so a line never drifts: an adjustment is
// written only where the glyphs' own widths do not lead to the place wanted.
type words struct {
	b     []byte
	font  *fontRes
	size  int64
	upem  int64
	pen   int64  // where a viewer stands, in 1/1000 font units
	want  int64  // where the next glyph belongs
	codes []byte // of the open string
	array bool   // "[" is written

	spacing int64 // behind each letter, as pen
}

func (w *words) begin(f *fontRes, size doc.Length, b []byte) {
	w.b, w.font, w.size, w.upem = b, f, int64(size), int64(f.face.UnitsPerEm())
	w.pen, w.want, w.codes, w.array = 0, 0, w.codes[:0], false
}

// space sets what stands between letters beside their advances.
func (w *words) space(l doc.Length) {
	w.spacing = 0
	if l != 0 {
		w.spacing = int64(l) * 1000 * w.upem / w.size
	}
}

// moveTo states where the next part begins, from the origin of the run.
func (w *words) moveTo(x doc.Length) {
	v := int64(x) * 1000 * w.upem
	if v < 0 {
		w.want = -((-v + w.size/2) / w.size)
		return
	}
	w.want = (v + w.size/2) / w.size
}

func (w *words) glyph(g text.Glyph) {
	if g.X|g.Y != 0 {
		w.placed(g)
		return
	}
	w.adjust()
	w.codes = append(w.codes, byte(g.ID>>8), byte(g.ID&0xFF))
	w.pen += int64(w.font.face.Advance(g.ID)) * 1000
	w.want += int64(g.Advance) * 1000
}

// placed shows a glyph beside where the advances put it, by the pen and the text rise (9.3.7).
func (w *words) placed(g text.Glyph) {
	rise := int64(text.Scale(int64(g.Y), doc.Length(w.size), w.font.face))
	if rise != 0 {
		w.show()
		w.b = cos.AppendFixed(w.b, rise, 3)
		w.b = append(w.b, " Ts\n"...)
	}
	w.want += int64(g.X) * 1000
	x := g.X
	g.X, g.Y = 0, 0
	w.glyph(g)
	w.want -= int64(x) * 1000
	if rise != 0 {
		w.show()
		w.b = append(w.b, "0 Ts\n"...)
	}
}

// plain shows the glyphs of a part that say themselves what they stand for.
func (w *words) plain(p *text.Part) {
	if p.Kerned {
		for i := range p.Glyphs {
			w.font.use.Draw(p.Glyphs[i].ID)
			w.glyph(p.Glyphs[i])
		}
		return
	}
	if len(p.Glyphs) == 0 {
		return
	}
	w.adjust() // pen and place wanted go on side by side from here
	codes, use := w.codes, w.font.use
	for i := range p.Glyphs {
		g := p.Glyphs[i].ID
		use.Draw(g)
		codes = append(codes, byte(g>>8), byte(g&0xFF))
	}
	w.codes = codes
	w.pen += p.Units * 1000
	w.want += p.Units * 1000
}

// adjust moves the pen by whole thousandths of an em.
func (w *words) adjust() {
	diff := w.pen - w.want
	half := w.upem / 2
	if diff < half && diff > -half {
		return
	}
	var n int64
	if diff < 0 {
		n = -((-diff + half) / w.upem)
	} else {
		n = (diff + half) / w.upem
	}
	if n == 0 {
		return
	}
	w.pen -= n * w.upem
	w.flush(true)
	w.b = cos.AppendInt(w.b, n)
}

// flush writes the open string, into an array when more follows.
func (w *words) flush(array bool) {
	if array && !w.array {
		w.b = append(w.b, '[')
		w.array = true
	}
	if len(w.codes) > 0 {
		w.b = cos.AppendLiteral(w.b, w.codes)
		w.codes = w.codes[:0]
	}
}

// show ends the operand and shows it.
func (w *words) show() {
	switch {
	case w.array:
		w.flush(true)
		w.b = append(w.b, "]TJ\n"...)
	case len(w.codes) > 0:
		w.flush(false)
		w.b = append(w.b, "Tj\n"...)
	}
	w.array = false
}

// actual shows glyphs as a Span that states their text.
func (w *words) actual(glyphs []text.Glyph, s string) {
	w.show()
	w.b = append(w.b, "/Span<</ActualText"...)
	w.b = cos.AppendText(w.b, s)
	w.b = append(w.b, ">>BDC\n"...)
	for i := range glyphs {
		if i > 0 && glyphs[i].Cluster != glyphs[i-1].Cluster {
			w.want += w.spacing
		}
		w.glyph(glyphs[i])
	}
	w.show()
	w.b = append(w.b, "EMC\n"...)
}

func (w *words) end() []byte {
	w.show()
	b := w.b
	w.b = nil
	return b
}
