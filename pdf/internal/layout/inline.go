package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// What is smaller than the text around it, in percent of its size.
const (
	scriptSize    = 65 // raised and lowered text
	smallCapsSize = 80
	superRise     = 34
	subRise       = -14
)

// laidOver is a style laid over another one.
type laidOver struct{ over, under *doc.Style }

// spanFace is the face of a span: that of the block, with the style of the span laid over it.
func (m *maker) spanFace(f *face, s *doc.Span, src *doc.Source) (*face, error) {
	if s.Style == nil {
		return f, nil
	}
	key := laidOver{s.Style, f.style}
	made := m.inlineStyles[key]
	if made == nil {
		made = overlaid(f.style, s.Style)
		if m.inlineStyles == nil {
			m.inlineStyles = map[laidOver]*doc.Style{}
		}
		m.inlineStyles[key] = made
	}
	return m.face(made, src)
}

// overlaid is under with what over says of text.
func overlaid(under, over *doc.Style) *doc.Style {
	s := *under
	if over.Family != "" {
		s.Family = over.Family
	}
	if over.Size > 0 {
		s.Size = over.Size
	}
	if over.Weight > 0 {
		s.Weight = over.Weight
	}
	s.Italic = s.Italic || over.Italic
	if !over.Color.None() {
		s.Color = over.Color
	}
	if over.KeepFigures != doc.KeepFiguresAuto {
		s.KeepFigures = over.KeepFigures
	}
	s.TabularFigures = s.TabularFigures || over.TabularFigures
	if over.Features != "" {
		s.Features = over.Features
	}
	if over.Underline != nil {
		s.Underline = over.Underline
	}
	if over.Strike != nil {
		s.Strike = over.Strike
	}
	if over.LetterSpacing != 0 {
		s.LetterSpacing = over.LetterSpacing
	}
	s.SmallCaps = s.SmallCaps || over.SmallCaps
	if over.Position != doc.PositionBase {
		s.Position = over.Position
	}
	return &s
}

// inlineOf says how text in the style of f differs from plain text; size is that of the letters.
func (f *face) inlineOf(size doc.Length) (*Inline, doc.Length) {
	st := f.style
	if !marksText(st) {
		return nil, size
	}
	in := &Inline{Spacing: st.LetterSpacing, Rise: f.rise()}
	if in.Rise != 0 {
		size = size * scriptSize / 100
	}
	first := f.chains[0].Face()
	met := first.Metrics()
	// The position of a line is its top.
	in.Underline, in.UnderlineY = f.textLine(st.Underline, met.UnderlinePosition, met.UnderlineThickness)
	in.Strike, in.StrikeY = f.textLine(st.Strike, met.StrikePosition, met.StrikeThickness)
	in.StrikeY += in.Rise
	return in, size
}

// marksText reports whether text in the style is drawn or placed in another way than plain text.
func marksText(s *doc.Style) bool {
	return s.Underline != nil || s.Strike != nil || s.LetterSpacing != 0 || s.Position != doc.PositionBase
}

// textLine is a line of the text with everything filled in, and where its middle stands.
func (f *face) textLine(l *doc.Line, position, thickness int) (*doc.Line, doc.Length) {
	if l == nil {
		return nil, 0
	}
	first := f.chains[0].Face()
	own := text.Scale(int64(thickness), f.size, first)
	if own <= 0 {
		own = f.size / 20
	}
	made := *l
	if made.Width <= 0 {
		made.Width = own
	}
	return &made, text.Scale(int64(position), f.size, first) - own/2
}

// addPieces appends the pieces of a span in the face f, each like p and ps, which have what is the
// same for all of them: one, or in small capitals one for each run of letters of a size.
func (m *maker) addPieces(b *para, f *face, p text.Piece, ps PieceStyle) {
	add := func(t string, small bool) {
		p, ps := p, ps
		p.Text, p.Size = t, f.size
		if p.SmallCaps = small; small {
			p.Size = f.size * smallCapsSize / 100
		}
		image := ps.Inline
		ps.Inline, p.Size = f.inlineOf(p.Size)
		if image != nil {
			if ps.Inline != nil {
				image.Rise = ps.Inline.Rise
			}
			ps.Inline = image
		}
		if ps.Inline != nil {
			p.Spacing = ps.Inline.Spacing
			b.inline = true
		}
		ps.Size = p.Size
		m.pieces = append(m.pieces, p)
		b.styles = append(b.styles, ps)
	}
	if !f.style.SmallCaps || p.Object > 0 {
		add(p.Text, false)
		return
	}
	for t := p.Text; t != ""; {
		r, _ := utf8.DecodeRuneInString(t)
		small := unicode.IsLower(r)
		n := strings.IndexFunc(t, func(r rune) bool {
			return !unicode.Is(unicode.M, r) && unicode.IsLower(r) != small
		})
		if n < 0 {
			n = len(t)
		}
		add(t[:n], small)
		t = t[n:]
	}
}

// spanImage opens the image of a span and finds how large it is.
func (m *maker) spanImage(s *doc.Span, f *face, en env, src *doc.Source) (*ImageItem, error) {
	img := *s.Image
	img.MaxDPI = 0
	if img.Src == nil {
		img.Src = src
	}
	item, iw, ih, err := m.open(&img)
	if err != nil {
		return nil, err
	}
	first := f.chains[0].Face()
	w, h := img.Width, img.Height
	switch {
	case w > 0 && h > 0:
	case w > 0:
		h = w * ih / iw
	default:
		if h <= 0 {
			h = text.Scale(int64(first.Metrics().CapHeight), f.size, first)
		}
		w = h * iw / ih
	}
	if w > en.width && en.width > 0 {
		m.warnings = append(m.warnings, warning(at(img.Src, "L304", "image %s is %s wide in a place of %s and was made smaller", img.Name, mm(w), mm(en.width))))
		w, h = en.width, en.width*h/w
	}
	item.W, item.H, item.Artifact, item.Inline = max(w, 1), max(h, 1), m.art, true
	return &item, nil
}

// figure tags an image within a line.
func (m *maker) inlineFigure(item *ImageItem, img *doc.Image, parent *tag.Elem, src *doc.Source) {
	if img.Decorative {
		if m.art == ArtifactNone {
			item.Artifact = ArtifactLayout
		}
		return
	}
	if item.Elem = m.inline(parent, tag.Figure, src, img.Lang); item.Elem != nil {
		item.Elem.Alt = strings.TrimSpace(img.Alt)
	}
}

// lookOf is what the style of a span means.
func lookOf(s *doc.Style) (l tag.TextLook) {
	if s.Underline != nil {
		l |= tag.Underlined
	}
	if s.Strike != nil {
		l |= tag.Struck
	}
	return l
}

// rise is how far text in the style of f stands above the line.
func (f *face) rise() doc.Length {
	switch f.style.Position {
	case doc.PositionSuper:
		return f.size * superRise / 100
	case doc.PositionSub:
		return f.size * subRise / 100
	default:
		return 0
	}
}

// drawInline draws a line with pieces that are not plain: the stretches of text and the images
// between them in the order of the text, then the lines.
func (b *para) drawInline(p *painter, line *text.Line, x, base doc.Length) {
	items := line.Items
	style := func(i int) *PieceStyle { return &b.styles[items[i].Piece] }
	image := func(i int) *ImageItem {
		if in := style(i).Inline; in != nil {
			return in.Image
		}
		return nil
	}
	for i := 0; i < len(items); {
		if img := image(i); img != nil {
			it := *img
			it.X, it.Y = x+items[i].X, base-style(i).Inline.Rise-it.H
			p.page.Items = append(p.page.Items, Item{Image: &it})
			i++
			continue
		}
		j := i + 1
		for j < len(items) && image(j) == nil {
			j++
		}
		t := p.texts.One()
		*t = TextItem{X: x, Y: base, Line: &text.Line{Items: items[i:j:j], Width: line.Width}, Pieces: b.styles, Artifact: b.art}
		p.page.Items = append(p.page.Items, Item{Text: t})
		i = j
	}
	under := func(s *PieceStyle) (*doc.Line, doc.Length) { return s.Inline.Underline, s.Inline.UnderlineY }
	b.textLines(line, under, func(from, to, y doc.Length, l doc.Line) {
		p.across(x+from, base-y, to-from, l)
	})
	var struck []RectItem
	strike := func(s *PieceStyle) (*doc.Line, doc.Length) { return s.Inline.Strike, s.Inline.StrikeY }
	b.textLines(line, strike, func(from, to, y doc.Length, l doc.Line) {
		struck = append(struck, RectItem{X: x + from, Y: base - y - l.Width/2, W: to - from, H: l.Width, Color: l.Color, Dash: l.Dash})
	})
	if len(struck) > 0 { // over the text
		art := b.art
		if art == ArtifactNone {
			art = ArtifactLayout
		}
		p.page.Items = append(p.page.Items, Item{Shape: &ShapeItem{X: x, Y: base, W: line.Width, H: b.face.descent, Rects: struck, Artifact: art}})
	}
}

// textLines finds the lines of one kind on a line of text: one for each stretch of pieces that have
// the same.
func (b *para) textLines(line *text.Line, kind func(*PieceStyle) (*doc.Line, doc.Length), draw func(from, to, y doc.Length, l doc.Line)) {
	items := line.Items
	n := len(items)
	for n > 0 && items[n-1].Space {
		n--
	}
	at := func(i int) (l doc.Line, y doc.Length, ok bool) {
		s := &b.styles[items[i].Piece]
		if s.Inline == nil {
			return l, 0, false
		}
		of, y := kind(s)
		if of == nil {
			return l, 0, false
		}
		if l = *of; l.Color.None() {
			l.Color = s.Color
		}
		return l, y, true
	}
	for i := 0; i < n; {
		l, y, ok := at(i)
		j := i + 1
		for ; ok && j < n; j++ {
			if next, y2, ok := at(j); !ok || next != l || y2 != y {
				break
			}
		}
		if ok {
			from, to := extent(items[i:j])
			draw(from, to, y, l)
		}
		i = j
	}
}
