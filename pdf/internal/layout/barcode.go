package layout

import (
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/barcode"
	"example.com/quire/pdf/internal/tag"
)

// symbol is a barcode: its rectangles and the value that people read below them.
type symbol struct {
	code   *barcode.Symbol
	dx     doc.Length // from the left edge of its place to the quiet zone
	module [2]doc.Length
	w, h   doc.Length // of the dark modules and what lies between them
	cross  bool       // the Swiss cross in the middle
	text   *para      // nil: none
	textX  doc.Length // from the quiet zone's left edge to where the lines count from
	elem   *tag.Elem
	art    Artifact
}

// symbol encodes a value and finds the size of its symbol, and its width with the quiet zone.
func (m *maker) symbol(n *doc.Barcode) (b *symbol, wide doc.Length, err error) {
	code, err := barcode.Encode(n.Symbology, n.Value, n.Correction)
	if err != nil {
		d := at(n.Src, codeBarcode, "barcode %s: %s", n.Symbology, err)
		if n.From.Frame != nil {
			d.DataPath = n.From.Frame.DataPath(n.From.Part, n.Value, n.Value)
		}
		return nil, 0, failed(d)
	}
	b = &symbol{code: code, art: m.art, cross: n.Symbology == doc.SwissQR}
	cols, rows := doc.Length(code.Cols), doc.Length(code.Rows*code.Tall)
	module := n.Module
	switch {
	case n.Size > 0:
		b.w = n.Size
	case module > 0:
		b.w = module * cols
	case b.cross:
		b.w = doc.MM(46) // Implementation Guidelines QR-bill, section 6.4
	default:
		module = doc.MM(0.5)
		if retailCode(n.Symbology) {
			module = doc.MM(0.33) // GS1 General Specifications, figure 5.2.3.1-1
		}
		b.w = module * cols
	}
	module = b.w / cols
	b.h = b.w * rows / cols
	if n.Symbology.Linear() {
		b.h = barHeight(n, module)
	}
	b.module = [2]doc.Length{module, module}
	return b, b.w + doc.Length(code.Quiet.Left+code.Quiet.Right)*module, nil
}

// barcode lays out a symbol. It is never made smaller than was asked: what no reader can resolve is
// lost without anybody seeing it.
func (m *maker) barcode(n *doc.Barcode, en env) (block, *tag.Elem, error) {
	b, wide, err := m.symbol(n)
	if err != nil {
		return nil, nil, err
	}
	if wide > en.width {
		d := at(n.Src, codeBarcode, "barcode %s: with its quiet zone it needs %s, there are %s", n.Symbology, mm(wide), mm(en.width))
		d.Suggestion = "give it a smaller module: or size:, or more room"
		return nil, nil, failed(d)
	}
	switch en.align() {
	case doc.AlignRight:
		b.dx = en.width - wide
	case doc.AlignCenter:
		b.dx = (en.width - wide) / 2
	}
	if n.Decorative {
		if b.art == ArtifactNone {
			b.art = ArtifactLayout
		}
	} else if b.elem = m.elem(en.elem, tag.Figure, n.Src, n.Lang); b.elem != nil {
		b.elem.Alt = strings.TrimSpace(n.Alt)
	}
	if b.code.Text != "" && n.Readable != doc.SwitchOff {
		if err := m.readable(b, n, en, wide); err != nil {
			return nil, nil, err
		}
	}
	return b, b.elem, nil
}

func retailCode(s doc.Symbology) bool { return s == doc.EAN13 || s == doc.EAN8 || s == doc.UPCA }

// barHeight is the height of bars: what was asked, else that of the standard, which shrinks and
// grows with the module of retail codes.
func barHeight(n *doc.Barcode, module doc.Length) doc.Length {
	switch {
	case n.Height > 0:
		return n.Height
	case n.Symbology == doc.EAN8:
		return module * 1823 / 33
	case retailCode(n.Symbology):
		return module * 2285 / 33
	}
	return doc.MM(15)
}

// readable sets the value below the bars, in the middle.
func (m *maker) readable(b *symbol, n *doc.Barcode, en env, wide doc.Length) error {
	en.width = wide
	art := m.art
	m.art = b.art
	defer func() { m.art = art }()
	text, err := m.text([]doc.Span{{Text: b.code.Text, From: n.From}}, en, b.elem, n.Src, "")
	if err != nil {
		return err
	}
	b.text = text.(*para) //nolint:forcetypeassert // m.text makes no other block
	from, to := wide, doc.Length(0)
	for _, l := range b.text.lines {
		if len(l.Items) > 0 {
			a, b := extent(l.Items)
			from, to = min(from, a), max(to, b)
		}
	}
	b.textX = (wide-max(0, to-from))/2 - from
	return nil
}

func (b *symbol) quiet() (top, bottom doc.Length) {
	return doc.Length(b.code.Quiet.Top) * b.module[1], doc.Length(b.code.Quiet.Bottom) * b.module[1]
}

func (b *symbol) size() doc.Length {
	top, bottom := b.quiet()
	h := top + b.h + bottom
	if b.text != nil {
		h += b.text.size()
	}
	return h
}

func (b *symbol) baseline() (doc.Length, bool)                  { return 0, false }
func (b *symbol) split(avail doc.Length, _ bool) (block, block) { return whole(b, avail) }

func (b *symbol) draw(p *painter, x, y doc.Length) {
	top, bottom := b.quiet()
	left := x + b.dx + doc.Length(b.code.Quiet.Left)*b.module[0]
	it := &ShapeItem{X: left, Y: y + top, W: b.w, H: b.h, Elem: b.elem, Artifact: b.art}
	cols, rows := doc.Length(b.code.Cols), doc.Length(b.code.Rows)
	// Edges are computed from the whole, so that what is rounded does not add up.
	col := func(i int) doc.Length { return it.X + b.w*doc.Length(i)/cols }
	row := func(i int) doc.Length { return it.Y + b.h*doc.Length(i)/rows }
	dark := b.code.Rects()
	it.Rects = make([]RectItem, 0, len(dark)+4)
	for _, r := range dark {
		it.Rects = append(it.Rects, RectItem{X: col(r.X), Y: row(r.Y), W: col(r.X+r.W) - col(r.X), H: row(r.Y+r.H) - row(r.Y), Color: doc.Black})
	}
	if b.cross {
		it.Rects = appendCross(it.Rects, it.X+b.w/2, it.Y+b.h/2, b.w*7/46)
	}
	p.page.Items = append(p.page.Items, Item{Shape: it})
	if b.text != nil {
		b.text.draw(p, x+b.dx+b.textX, y+top+b.h+bottom)
	}
}

// appendCross draws the Swiss cross with its white border, w wide, around a point: 7 mm on a code
// of 46 mm (Implementation Guidelines QR-bill, section 6.4.2). Readers mend what it covers.
func appendCross(rects []RectItem, x, y, w doc.Length) []RectItem {
	centred := func(cw, ch doc.Length, c doc.Color) RectItem {
		return RectItem{X: x - cw/2, Y: y - ch/2, W: cw, H: ch, Color: c}
	}
	white := doc.RGB(255, 255, 255)
	return append(rects,
		centred(w, w, white),
		centred(w*184/198, w*184/198, doc.Black),
		centred(w*33/198, w*110/198, white),
		centred(w*110/198, w*33/198, white))
}
