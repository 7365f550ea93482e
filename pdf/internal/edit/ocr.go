package edit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
	"example.com/quire/pdf/internal/diag"
)

// OCR reads text in pictures.
type OCR interface {
	// Read returns the words that stand upright in a picture, in the order of reading. It is
	// called from one goroutine at a time and must not keep the picture. Its errors end what
	// asked for it.
	Read(ctx context.Context, p *Picture) ([]PictureWord, error)
}

// PictureWord is a word in a picture.
type PictureWord struct {
	Text       string
	Box        image.Rectangle // in pixels, from the left upper corner of the picture
	Line       int             // words that follow each other on one line have the same number
	Confidence float64         // 0 to 100: how sure it is
}

// The limits of reading text in images.
const (
	mostDraws  = 10_000     // images that a page draws
	mostLayers = 24         // pictures of a page
	mostCanvas = 25_000_000 // pixels of one picture
	mostSide   = 32_000     // pixels of its longer side: programs count them in 16 bits
	mostAgain  = 6          // readings of one picture in which text is found
	mostDPI    = 400
	leastDPI   = 150
	seam       = 2 // points by which strips of a scan may lie over each other
	// around is how many pixels of white stand around images, which OCR wants.
	around = 16
)

// imageReader reads the text in the pixels of the images of a draft. Images are drawn as pages draw
// them, so that a text that runs over several, such as the strips of a scan, is found, and one that
// stands on its side. One that covers another is drawn in a layer of its own, and so is each mask:
// what they cover is in the file too. What lies over each other is drawn as a page shows it, too,
// and what a page shows mirrored is drawn as it is stored.
type imageReader struct {
	ocr    OCR
	e      *Draft
	known  map[[sha256.Size]byte][]PictureWord // of pictures, by their pixels
	seen   map[cos.Ref]bool                    // images that were read, masks too
	recent map[cos.Ref]*samples                // that were decoded last
	held   int64                               // bytes of recent
	read   int                                 // images that were read
}

func newImageReader(ocr OCR, e *Draft, known map[[sha256.Size]byte][]PictureWord) *imageReader {
	return &imageReader{ocr: ocr, e: e, known: known, seen: map[cos.Ref]bool{}, recent: map[cos.Ref]*samples{}}
}

// drawnImage is an image where a page draws it: the unit square, through m.
type drawnImage struct {
	ref    cos.Ref
	stream *stream
	inline *cos.InlineImage
	dict   cos.Dict
	part   bool           // a mask, or an image that has one: not all of its square is painted
	page   content.Quad   // on the page
	m      content.Matrix // to the page; in a layer, to its frame
}

// mirrored reports whether the image is drawn as a mirror shows it.
func (o *drawnImage) mirrored() bool { return o.m[0]*o.m[3]-o.m[1]*o.m[2] < 0 }

// images returns what a page draws of images, with the masks of each behind it.
func (s *imageReader) images(ctx context.Context, in *content.Interpreter, place string, contents []content.Content) (out []drawnImage, err error) {
	add := func(o cos.Object, m content.Matrix, mask bool) {
		if v, ok := s.e.resolve(o).(*stream); ok {
			out = append(out, drawnImage{ref: refOf(o), stream: v, dict: v.dict, part: mask || s.e.masked(v.dict), page: m.Quad(unit), m: m})
		}
	}
	for _, c := range contents {
		err := in.Run(ctx, c, place, func(ev *content.Event) error {
			if ev.Kind != content.DrawImage {
				return nil
			}
			m := ev.State.CTM
			if ev.Object != nil {
				add(ev.Object, m, false)
				for _, key := range [...]cos.Name{"SMask", "Mask"} {
					add(ev.Image.Get(key), m, true)
				}
			} else if i, ok := ev.Args[0].(cos.InlineImage); ok {
				d := ev.Image
				if n, named := d.Get("ColorSpace").(cos.Name); named {
					if space := s.e.dict(ev.Resources.Get("ColorSpace")).Get(n); space != nil {
						d = with(d, "ColorSpace", space)
					}
				}
				out = append(out, drawnImage{inline: &i, dict: d, part: s.e.masked(d), page: m.Quad(unit), m: m})
			}
			if len(out) > mostDraws {
				return &diag.LimitError{Name: "Images", Value: int64(len(out)), Limit: mostDraws, Place: place}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

var unit = content.Rect{0, 0, 1, 1}

// layer is images that do not cover each other, in a frame that is turned by an angle against the
// page.
type layer struct {
	angle  int             // in degrees; 0: as the page
	flip   *content.Matrix // of the frame, by which mirrored images are as they are stored; nil: none
	again  bool            // of images that are in other layers, too
	images []drawnImage
	areas  []content.Rect // of them, in the frame
	all    content.Rect   // around them
}

// layers puts images into layers. Those whose place is no area are left out. Behind them come
// layers of what is drawn over each other and of what is drawn mirrored.
func layers(images []drawnImage, place string) (out []*layer, err error) {
	var whole []imageInLayer // whole ones, in the order in which they are drawn
	for _, o := range images {
		angle := int(math.Round(math.Atan2(o.m[1], o.m[0]) * 180 / math.Pi))
		if rest := (angle%90 + 90) % 90; rest <= 3 || rest >= 87 {
			angle = 0
		}
		o.m = o.m.Mul(turn(angle))
		area := o.m.Quad(unit).Bounds()
		w, h := area[2]-area[0], area[3]-area[1]
		if _, ok := o.m.Inverse(); !ok || !(w > 0 && h > 0 && w < 1e6 && h < 1e6) {
			continue
		}
		i := slices.IndexFunc(out, func(l *layer) bool {
			all := l.all.Union(area)
			return l.angle == angle && (all[2]-all[0])*(all[3]-all[1]) < mostCanvas/4 && !slices.ContainsFunc(l.areas, func(a content.Rect) bool {
				return min(a[2], area[2])-max(a[0], area[0]) > seam && min(a[3], area[3])-max(a[1], area[1]) > seam
			})
		})
		if i < 0 {
			if len(out) == mostLayers {
				return nil, &diag.LimitError{Name: "Layers", Value: mostLayers + 1, Limit: mostLayers, Place: place}
			}
			i = len(out)
			out = append(out, &layer{angle: angle, all: area})
		}
		l := out[i]
		l.images, l.areas, l.all = append(l.images, o), append(l.areas, area), l.all.Union(area)
		if !o.part {
			whole = append(whole, imageInLayer{o, area, l, 0})
		}
	}
	out = append(out, over(whole)...)
	for _, l := range out { // as it is now
		if m := l.mirrored(); m != nil {
			out = append(out, m)
		}
	}
	return out, nil
}

// imageInLayer is a drawn image with the layer that it is in.
type imageInLayer struct {
	drawnImage
	area  content.Rect
	in    *layer
	group int // the first of the images that it touches, directly or by others
}

// over returns layers of images that touch each other and are not all in one layer: of what a page
// shows where images lie over each other. images are in the order in which they are drawn.
func over(images []imageInLayer) (out []*layer) {
	if !slices.ContainsFunc(images, func(p imageInLayer) bool { return p.in != images[0].in }) {
		return nil
	}
	first := func(i int) int {
		for images[i].group != i {
			images[i].group = images[images[i].group].group
			i = images[i].group
		}
		return i
	}
	for i := range images {
		images[i].group = i
		a := &images[i]
		for k := range images[:i] {
			b := &images[k]
			if a.in.angle == b.in.angle && min(a.area[2], b.area[2])-max(a.area[0], b.area[0]) > -seam && min(a.area[3], b.area[3])-max(a.area[1], b.area[1]) > -seam {
				g, h := first(i), first(k)
				images[max(g, h)].group = min(g, h)
			}
		}
	}
	groups, mixed := map[int]*layer{}, map[int]bool{}
	for i, p := range images {
		g := first(i)
		l := groups[g]
		if l == nil {
			l = &layer{angle: p.in.angle, again: true, all: p.area}
			groups[g] = l
		}
		l.images, l.all = append(l.images, p.drawnImage), l.all.Union(p.area)
		mixed[g] = mixed[g] || p.in != images[g].in
	}
	for g := range images {
		if mixed[g] {
			out = append(out, groups[g])
		}
	}
	return out
}

// mirrored is a layer of the images that are drawn mirrored, in a frame that is mirrored, too; nil:
// there are none.
func (l *layer) mirrored() *layer {
	var images []drawnImage
	for _, o := range l.images {
		if o.mirrored() {
			images = append(images, o)
		}
	}
	if len(images) == 0 {
		return nil
	}
	flip := content.Matrix{-1, 0, 0, 1, l.all[0] + l.all[2], 0}
	for i := range images {
		images[i].m = images[i].m.Mul(flip)
	}
	return &layer{angle: l.angle, flip: &flip, again: true, images: images, all: l.all}
}

// toFrame is the matrix from the page.
func (l *layer) toFrame() content.Matrix {
	m := turn(l.angle)
	if l.flip != nil {
		m = m.Mul(*l.flip)
	}
	return m
}

// turn returns the matrix from the page to a frame.
func turn(angle int) content.Matrix {
	sin, cosine := math.Sincos(-float64(angle) * math.Pi / 180)
	return content.Matrix{cosine, sin, -sin, cosine, 0, 0}
}

// unread is told of an image that cannot be read, and says whether that is an error.
type unread func(o *drawnImage, err error) error

// find returns where the images that contents draw show what matches, as boxes on the page.
func (s *imageReader) find(ctx context.Context, in *content.Interpreter, re *regexp.Regexp, place string, contents []content.Content, other unread) ([]area, error) {
	images, err := s.images(ctx, in, place, contents)
	if err != nil {
		return nil, err
	}
	return s.within(ctx, images, re, place, other)
}

func (s *imageReader) within(ctx context.Context, images []drawnImage, re *regexp.Regexp, place string, other unread) ([]area, error) {
	all, err := layers(images, place)
	if err != nil {
		return nil, err
	}
	var boxes []area
	for _, l := range all {
		p, to, err := s.picture(ctx, l, place, other)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		// From pixels to the page.
		back, _ := l.toFrame().Mul(to).Inverse()
		found, err := s.matches(ctx, p, re, back, place)
		if err != nil {
			return nil, err
		}
		boxes = append(boxes, found...)
	}
	return boxes, nil
}

// alone is find for an image that no page draws.
func (s *imageReader) alone(ctx context.Context, ref cos.Ref, re *regexp.Regexp, place string, other unread) ([]area, error) {
	o, ok := s.e.object(ref).(*stream)
	if !ok {
		return nil, nil
	}
	w, h := float64(s.e.integer(o.dict.Get("Width"), 1)), float64(s.e.integer(o.dict.Get("Height"), 1))
	return s.within(ctx, []drawnImage{{ref: ref, stream: o, dict: o.dict, m: content.Matrix{w, 0, 0, h, 0, 0}}}, re, place, other)
}

// picture draws a layer; to is the matrix from its frame to pixels. It is nil where nothing can be
// seen.
func (s *imageReader) picture(ctx context.Context, l *layer, place string, other unread) (p *Picture, to content.Matrix, err error) {
	density := 0.0 // pixels for each point
	for _, o := range l.images {
		w, h := float64(s.e.integer(o.dict.Get("Width"), 0)), float64(s.e.integer(o.dict.Get("Height"), 0))
		density = max(density, w/math.Hypot(o.m[0], o.m[1]), h/math.Hypot(o.m[2], o.m[3]))
	}
	w, h := l.all[2]-l.all[0], l.all[3]-l.all[1]
	scale := min(max(density, 1e-6), mostDPI/72.0)
	if most := min(math.Sqrt(mostCanvas/(w*h)), mostSide/max(w, h)); scale > most {
		scale = most
		if scale < leastDPI/72.0 && scale < 0.7*density { // letters would be lost
			return nil, to, &diag.LimitError{Name: "OCRPixels", Value: int64(min(w*h*density*density, 1e15)), Limit: mostCanvas, Place: place}
		}
	}
	for scale < mostDPI/72.0/2 && w*h*scale*scale*4 <= 10_000_000 && max(w, h)*scale*2 <= mostSide { // small letters are read better when they are larger
		scale *= 2
	}
	p = &Picture{Width: int(math.Ceil(w*scale)) + 2*around, Height: int(math.Ceil(h*scale)) + 2*around}
	if err := diag.Check("OCRPixels", int64(p.Width)*int64(p.Height), 2*mostCanvas, place); err != nil {
		return nil, to, err
	}
	p.RGB = bytes.Repeat([]byte{0xff}, 3*p.Width*p.Height)
	to = content.Matrix{scale, 0, 0, -scale, around - l.all[0]*scale, around + l.all[3]*scale}
	for i := range l.images {
		o := &l.images[i]
		if err := ctx.Err(); err != nil {
			return nil, to, err
		}
		v, err := s.samples(o)
		switch {
		case errors.Is(err, errFormat) || errors.Is(err, diag.ErrDamaged):
			if l.again { // told already
				continue
			}
			if err := other(o, err); err != nil {
				return nil, to, err
			}
			continue
		case err != nil:
			return nil, to, err
		}
		t := newTexture(s.e, v)
		if !t.plain(s.e) {
			if l.again {
				continue
			}
			if err := other(o, fmt.Errorf("%w: colours of more than one ink, or Decode", errFormat)); err != nil {
				return nil, to, err
			}
			continue
		}
		if l.again {
			t.draw(p, o.m.Mul(to))
			continue
		}
		switch s.read++; {
		case !s.reduced(o, scale):
			s.seen[o.ref] = true
		case o.ref.IsZero(): // one that is drawn small is read by itself, at its own size, if it is an object
			return nil, to, &diag.LimitError{Name: "OCRPixels", Value: s.e.integer(o.dict.Get("Width"), 0), Limit: leastSide, Place: place}
		}
		t.draw(p, o.m.Mul(to))
	}
	if p.blank() {
		return nil, to, nil
	}
	return p, to, nil
}

// leastSide is how many pixels of a picture the longer side of an image must take when it has fewer
// there than it has itself: a page of A4 at 200 dpi.
const leastSide = 2_300

// reduced reports whether an image is drawn so small that letters which it shows may be lost.
func (s *imageReader) reduced(o *drawnImage, scale float64) bool {
	w, h := float64(s.e.integer(o.dict.Get("Width"), 0)), float64(s.e.integer(o.dict.Get("Height"), 0))
	across, down := scale*math.Hypot(o.m[0], o.m[1]), scale*math.Hypot(o.m[2], o.m[3])
	return (across < 0.7*w || down < 0.7*h) && max(across, down) < leastSide
}

// samples returns the samples of an image; those of the last ones are kept.
func (s *imageReader) samples(o *drawnImage) (*samples, error) {
	if o.inline != nil {
		return s.e.inline(*o.inline, o.dict)
	}
	if v, ok := s.recent[o.ref]; ok && !o.ref.IsZero() {
		return v, nil
	}
	v, err := s.e.image(o.stream)
	if err != nil {
		return nil, err
	}
	if o.ref.IsZero() {
		return v, nil
	}
	if s.held += int64(len(v.data)); s.held > mostPixels/4 {
		clear(s.recent)
		s.held = int64(len(v.data))
	}
	s.recent[o.ref] = v
	return v, nil
}

// matches returns where a picture shows what matches, upright, upside down or on its side. What was
// found is made black, and the picture read again until nothing is found.
func (s *imageReader) matches(ctx context.Context, p *Picture, re *regexp.Regexp, back content.Matrix, place string) ([]area, error) {
	var boxes []area
	rest := p // without the words that are known
	for turns := range 4 {
		for again := 0; ; again++ {
			view, from := rest.turned(turns)
			words, err := s.words(ctx, view, place)
			if err != nil {
				return nil, err
			}
			found := found(flowing(words, from), re, false)
			for _, m := range found {
				for _, b := range m.Boxes {
					p.fill(b, 0)
					rest.fill(b, 0)
					boxes = append(boxes, areaOf(back.Quad(b)))
				}
			}
			if len(found) == 0 {
				if certain(words) {
					if rest == p {
						rest = &Picture{p.Width, p.Height, bytes.Clone(p.RGB)}
					}
					for _, w := range words {
						if sure(w) {
							rest.fill(from.Quad(rectOf(w.Box)).Bounds(), 0xff)
						}
					}
				}
				break
			}
			if again == mostAgain || len(boxes) > mostMatches {
				return nil, notProvable(place, "OCR goes on to find the text in what is left of an image")
			}
		}
	}
	return boxes, nil
}

// certain reports whether a picture was read the right way up: most words of one that was not are
// nonsense, of which OCR is not sure.
func certain(words []PictureWord) bool {
	n := 0
	for _, w := range words {
		if w.Confidence >= 80 {
			n++
		}
	}
	return n >= 10 && n*10 >= len(words)*7
}

// sure reports whether a word is none that letters on their side make.
func sure(w PictureWord) bool {
	n := 0
	for _, r := range w.Text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n >= 3 && w.Confidence >= 85
}

func rectOf(r image.Rectangle) content.Rect {
	return content.Rect{float64(r.Min.X), float64(r.Min.Y), float64(r.Max.X), float64(r.Max.Y)}
}

// words reads a picture that was not read before.
func (s *imageReader) words(ctx context.Context, p *Picture, place string) ([]PictureWord, error) {
	if p.blank() {
		return nil, nil
	}
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, [2]int64{int64(p.Width), int64(p.Height)}) // a hash takes all
	h.Write(p.RGB)
	key := [sha256.Size]byte(h.Sum(nil))
	if words, ok := s.known[key]; ok {
		return words, nil
	}
	words, err := s.ocr.Read(ctx, p)
	if err != nil {
		if e, ok := errors.AsType[*diag.LimitError](err); ok && e.Place == "" {
			e.Place = place
		}
		return nil, err
	}
	s.known[key] = words
	return words, nil
}

// flowing is words as text that is searched, each character in the place of its whole word, with
// some of what stands around it: boxes of OCR are not exact. Their places are those that m gives.
func flowing(words []PictureWord, m content.Matrix) *content.Text {
	t := &content.Text{}
	last := 0
	for i, w := range words {
		b := rectOf(w.Box)
		by := 0.15*min(b[3]-b[1], b[2]-b[0]) + 1
		q := m.Quad(content.Rect{b[0] - by, b[1] - by, b[2] + by, b[3] + by})
		word := content.Word{Text: w.Text, Quad: q}
		for r := range strings.SplitSeq(w.Text, "") {
			word.Parts = append(word.Parts, content.Part{Text: r, Quad: q})
		}
		if i == 0 || w.Line != last {
			t.Lines, last = append(t.Lines, content.Line{}), w.Line
		}
		l := &t.Lines[len(t.Lines)-1]
		l.Words = append(l.Words, word)
	}
	return t
}

// blank reports whether all pixels are nearly the same.
func (p *Picture) blank() bool {
	const little = 2
	low, high := [3]byte{0xff, 0xff, 0xff}, [3]byte{}
	for i := 0; i+2 < len(p.RGB); i += 3 {
		for k := range 3 {
			v := p.RGB[i+k]
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
		if high[0]-low[0] > little || high[1]-low[1] > little || high[2]-low[2] > little {
			return false
		}
	}
	return true
}

// fill gives the pixels of an area one shade.
func (p *Picture) fill(r content.Rect, shade byte) {
	x0, x1 := clamp(math.Floor(r[0]), int64(p.Width)), clamp(math.Ceil(r[2]), int64(p.Width))
	y0, y1 := clamp(math.Floor(r[1]), int64(p.Height)), clamp(math.Ceil(r[3]), int64(p.Height))
	for y := y0; y < y1; y++ {
		row := p.RGB[3*(y*int64(p.Width)+x0) : 3*(y*int64(p.Width)+x1)]
		for i := range row {
			row[i] = shade
		}
	}
}

// turned returns the picture turned clockwise by quarters, and the matrix from its pixels to those
// of p.
func (p *Picture) turned(quarters int) (*Picture, content.Matrix) {
	w, h := float64(p.Width), float64(p.Height)
	q := &Picture{Width: p.Width, Height: p.Height}
	var m content.Matrix
	switch quarters {
	case 0:
		return p, content.Identity
	case 1:
		q.Width, q.Height, m = p.Height, p.Width, content.Matrix{0, -1, 1, 0, 0, h}
	case 2:
		m = content.Matrix{-1, 0, 0, -1, w, h}
	default:
		q.Width, q.Height, m = p.Height, p.Width, content.Matrix{0, 1, -1, 0, w, 0}
	}
	q.RGB = make([]byte, len(p.RGB))
	at := 0
	for y := range q.Height {
		c := m.At(0.5, float64(y)+0.5)
		from := 3 * (int(c.Y)*p.Width + int(c.X))
		step := 3 * (int(m[1])*p.Width + int(m[0]))
		for range q.Width {
			copy(q.RGB[at:at+3], p.RGB[from:from+3])
			at += 3
			from += step
		}
	}
	return q, m
}
