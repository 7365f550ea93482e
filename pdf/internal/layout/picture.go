package layout

import (
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/image"
	"example.com/quire/pdf/internal/svg"
	"example.com/quire/pdf/internal/tag"
)

// imageKey names image data within one render, which keeps the data alive.
type imageKey struct {
	data          *byte
	bytes         int
	width, height int // that it may have at most; 0: as it is
}

// image reads the picture and finds its size.
func (m *maker) image(n *doc.Image, en env) (block, *tag.Elem, error) {
	item, iw, ih, err := m.open(n)
	if err != nil {
		return nil, nil, err
	}
	w, h := shown(n, iw, ih)
	if n.Fit == doc.FitCover && n.Width > 0 && n.Height > 0 {
		if full := w * ih / iw; w*ih > h*iw { // what is above and below is cut off
			item.Full = &Rect{Y: (h - full) / 2, W: w, H: full}
		} else {
			full = h * iw / ih
			item.Full = &Rect{X: (w - full) / 2, W: full, H: h}
		}
	}
	if n.Width == 0 && n.Height == 0 && w > en.width {
		w, h = en.width, en.width*ih/iw
	}
	// Sums of lengths that are rounded may differ by some 1/1024 point.
	if w > en.width && w-en.width <= doc.Pt/100 && en.width > 0 {
		w, h = en.width, en.width*ih/iw
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
	if n.Link != "" && m.inArtifact() {
		return nil, nil, neverArtifact("a link", n.Src)
	}
	item.Artifact, item.Src = m.art, n.Src
	b := m.mem.pictures.One()
	b.w, b.h, b.item = w, h, item
	switch en.align() {
	case doc.AlignRight:
		b.dx = en.width - w
	case doc.AlignCenter:
		b.dx = (en.width - w) / 2
	}
	return b, m.pictureElem(b, n, en), nil
}

// shown is the size at which an image of natural size iw by ih is shown where there is room.
func shown(n *doc.Image, iw, ih doc.Length) (w, h doc.Length) {
	w, h = n.Width, n.Height
	switch {
	case w > 0 && h > 0 && n.Fit == doc.FitContain && w*ih > h*iw, w == 0 && h > 0:
		w = h * iw / ih
	case w > 0 && h > 0 && n.Fit == doc.FitContain, w > 0 && h == 0:
		h = w * ih / iw
	case w == 0 && h == 0:
		w, h = iw, ih
	}
	return w, h
}

// open reads image data, each once, and returns the natural size at 96 pixels per inch.
func (m *maker) open(n *doc.Image) (it ImageItem, w, h doc.Length, err error) {
	const pixel = doc.Inch / 96
	if len(n.Data) == 0 {
		return it, 0, 0, failed(at(n.Src, "L307", "image %s: no data", n.Name))
	}
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

// openWithin reads an image that is printed so large, with no more pixels than its resolution
// allows.
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
	d, err := m.opt.Drawings.Draw(m.ctx, n.Data, m.limits, svg.Fonts{Typesetter: m.opt.Typesetter, Setter: m.set})
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

// picture is an image.
type picture struct {
	item ImageItem
	dx   doc.Length // from the left edge of its place
	w, h doc.Length
	link *Link
}

func (b *picture) size() doc.Length { return b.h }

func (b *picture) baseline() (doc.Length, bool) { return 0, false }

func (b *picture) split(avail doc.Length, _ bool) (block, block) { return whole(b, avail) }

func (b *picture) draw(p *painter, x, y doc.Length) {
	it := p.images.One()
	*it = b.item
	it.X, it.Y, it.W, it.H = x+b.dx, y, b.w, b.h
	p.page.Items = append(p.page.Items, Item{Image: it})
	if b.link != nil {
		p.page.Links = append(p.page.Links, LinkArea{X: it.X, Y: y, W: b.w, H: b.h, Link: b.link})
	}
}
