// Package content interprets the content of pages (ISO 32000-2, clauses 8, 9 and 14.6). An
// [Interpreter] follows operators, graphics state, forms and fonts, and reports what each operator
// draws and where. Text extraction, search, redaction and comparison use it.
//
// Content is hostile input: operators, nested forms, saved states and glyphs are limited, and a
// form that draws itself is followed once.
package content

import (
	"context"
	"fmt"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
)

// Source is where objects come from. What cannot be read is nil.
type Source interface {
	// Resolve follows references; a stream is some object of which Dict and Data tell.
	Resolve(o cos.Object) cos.Object
	// Dict is Resolve for a dictionary or that of a stream.
	Dict(o cos.Object) cos.Dict
	// Data returns the decoded data of a stream, nil for anything else and for formats of images.
	Data(o cos.Object) []byte
}

// The limits of one Interpreter.
const (
	mostOperators = 20_000_000 // in all, those of a form each time that it is drawn
	mostGlyphs    = 20_000_000
	// So many bytes of content count as an operator, for content may be nothing but white space.
	bytesOfOperator = 32
	// What many fonts share is read for each of them: so many bytes of their programs and maps
	// count as an operator, and an entry of their arrays as several.
	bytesOfFont      = 2
	operatorsOfEntry = 4
	mostForms        = 12 // forms that draw forms
	mostStates       = 1 << 10
	mostMarks        = 1 << 10
	mostPoints       = 1 << 20 // of one path
)

var fontLimits = diag.DefaultLimits()

// Kind tells what an Event is.
type Kind uint8

// The kinds of events.
const (
	Operator  Kind = iota // any operator that is none of the others
	Show                  // text is shown: Glyphs
	Paint                 // a path is painted or ended: Points
	DrawImage             // an image, of an XObject or inline: Image, Object
	FormBegin             // what follows, as far as FormEnd, is of the form Object
	FormEnd
)

// Event is one operator as it is followed. It and what it holds are valid during the call only.
type Event struct {
	Kind      Kind
	Op        string
	Args      []cos.Object
	State     *State
	Marks     []Mark     // the marked content it is in, the outermost first
	Glyphs    []Glyph    // of Show
	Points    []Point    // of Paint: those of the path, on the page
	Image     cos.Dict   // of DrawImage: its dictionary, with the full names of keys
	Inline    []byte     // of DrawImage: the data of an inline one
	Object    cos.Object // of DrawImage, FormBegin and FormEnd: as the resources name it; nil: inline
	Form      cos.Dict   // of FormBegin and FormEnd
	Resources cos.Dict   // those of the stream that the operator stands in
}

// Mark is a sequence of marked content (14.6).
type Mark struct {
	Tag   cos.Name
	Props cos.Dict // nil: none
	ID    int64    // of the structure element's content (MCID); -1: none
	Start int      // which of the marks of the page it is, from 0
}

// State is the part of the graphics state that text and images need.
type State struct {
	CTM                                        Matrix
	Font                                       *Font
	Size                                       float64
	CharSpace, WordSpace, Scale, Leading, Rise float64
	Mode                                       int64 // of rendering; 3 and 7 show nothing
}

// Glyph is one character of a font that is shown.
type Glyph struct {
	Text     string
	Known    bool // that Text is what it stands for; a glyph may stand for nothing
	Code     []byte
	Arg      int     // of TJ: the element of the array that it is of
	Offset   int     // of Code in its string
	Quad     Quad    // on the page, from descent to ascent
	Origin   Point   // on the page
	Size     float64 // on the page
	Advance  float64 // in units of text space before scaling: width times size, and spacing
	Vertical bool
	Place    Matrix // the text matrix where it is shown (9.4.2)
}

// Interpreter follows contents. It is not safe for concurrent use.
type Interpreter struct {
	src    Source
	fonts  map[string]*Font // by what names them
	left   int
	glyphs int
	// Skipped says that a form was not followed, since it draws itself or lies too deep.
	Skipped bool
	// Drawn makes Read tell the characters that are drawn where ActualText says others.
	Drawn bool
}

// New returns an Interpreter, whose limits are for all pages that it follows.
func New(src Source) *Interpreter {
	return &Interpreter{src: src, fonts: map[string]*Font{}, left: mostOperators, glyphs: mostGlyphs}
}

// Again returns an Interpreter with limits of its own for the same objects: fonts that in has read
// are known to it.
func (in *Interpreter) Again() *Interpreter {
	return &Interpreter{src: in.src, fonts: in.fonts, left: mostOperators, glyphs: mostGlyphs}
}

// Run follows content and calls f for each operator, until it returns an error. Other errors are
// those of ctx and *diag.LimitError with place.
func (in *Interpreter) Run(ctx context.Context, c Content, place string, f func(*Event) error) error {
	r := &run{in: in, ctx: ctx, f: f, place: place, drawn: map[cos.Ref]bool{}}
	return r.stream(c.Data, c.Resources, State{CTM: c.Matrix, Scale: 1}, 0)
}

type run struct {
	in    *Interpreter
	ctx   context.Context //nolint:containedctx // of one call
	f     func(*Event) error
	place string
	drawn map[cos.Ref]bool // forms that are being drawn
	marks []Mark
	count int // marks begun
	buf   []Glyph
}

func (r *run) limit(name string, most int) error {
	return &diag.LimitError{Name: name, Value: int64(most) + 1, Limit: int64(most), Place: r.place}
}

// page is one content stream while it is followed.
type page struct {
	*run
	state     State
	saved     []State
	resources cos.Dict
	kinds     map[cos.Name]cos.Dict // of resources
	named     map[cos.Name]*Font    // fonts of resources that were chosen
	tm, lm    Matrix
	path      []Point
	open      int // marks that were open before
	depth     int
	event     Event // the one that is told
}

func (r *run) stream(data []byte, resources cos.Dict, s State, depth int) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	r.in.left -= len(data) / bytesOfOperator
	p := &page{run: r, state: s, resources: resources, kinds: map[cos.Name]cos.Dict{}, named: map[cos.Name]*Font{}, tm: Identity, lm: Identity, open: len(r.marks), depth: depth}
	err := cos.Operators(data, p.operator)
	r.marks = r.marks[:min(p.open, len(r.marks))]
	return err
}

// resource returns what the resources name.
func (p *page) resource(kind, n cos.Name) cos.Object {
	d, ok := p.kinds[kind]
	if !ok {
		d = dict(p.in.src, p.resources.Get(kind))
		p.kinds[kind] = d
	}
	return d.Get(n)
}

// nums returns the last n arguments, six at the most, as numbers, 0 where they are none.
func nums(args []cos.Object, n int) (out [6]float64) {
	if len(args) > n {
		args = args[len(args)-n:]
	}
	for i, a := range args {
		out[n-len(args)+i] = plain(a, 0)
	}
	return out
}

func (p *page) tell(e Event) error {
	e.State, e.Marks, e.Resources = &p.state, p.marks, p.resources
	p.event = e
	return p.f(&p.event)
}

func (p *page) operator(op []byte, args []cos.Object) error {
	if p.in.left--; p.in.left < 0 {
		return p.limit("Operators", mostOperators)
	}
	if p.in.left%4096 == 0 {
		if err := p.ctx.Err(); err != nil {
			return err
		}
	}
	s := &p.state
	e := Event{Op: string(op), Args: args}
	switch e.Op {
	case "q":
		if len(p.saved) == mostStates {
			return p.limit("Depth", mostStates)
		}
		p.saved = append(p.saved, *s)
	case "Q":
		if n := len(p.saved); n > 0 {
			*s, p.saved = p.saved[n-1], p.saved[:n-1]
		}
	case "cm":
		s.CTM = Matrix(nums(args, 6)).Mul(s.CTM)
	case "gs":
		p.extended(args)
	case "BT":
		p.tm, p.lm = Identity, Identity
	case "Tc":
		s.CharSpace = nums(args, 1)[0]
	case "Tw":
		s.WordSpace = nums(args, 1)[0]
	case "Tz":
		s.Scale = nums(args, 1)[0] / 100
	case "TL":
		s.Leading = nums(args, 1)[0]
	case "Ts":
		s.Rise = nums(args, 1)[0]
	case "Tr":
		s.Mode = int64(nums(args, 1)[0])
	case "Tf":
		if len(args) >= 2 {
			n, _ := args[len(args)-2].(cos.Name)
			f, ok := p.named[n]
			if !ok {
				f = p.font(p.resource("Font", n))
				p.named[n] = f
			}
			s.Font, s.Size = f, nums(args, 1)[0]
		}
	case "Td", "TD":
		v := nums(args, 2)
		if e.Op == "TD" {
			s.Leading = -v[1]
		}
		p.line(v[0], v[1])
	case "Tm":
		p.lm = Matrix(nums(args, 6))
		p.tm = p.lm
	case "T*":
		p.line(0, -s.Leading)
	case "Tj", "'", "\"", "TJ":
		return p.show(e)
	case "m", "l":
		return p.points(e, 1)
	case "c":
		return p.points(e, 3)
	case "v", "y":
		return p.points(e, 2)
	case "re":
		v := nums(args, 4)
		p.path = append(p.path, s.CTM.At(v[0], v[1]), s.CTM.At(v[0]+v[2], v[1]), s.CTM.At(v[0]+v[2], v[1]+v[3]), s.CTM.At(v[0], v[1]+v[3]))
		if len(p.path) > mostPoints {
			return p.limit("PathPoints", mostPoints)
		}
	case "S", "s", "f", "F", "f*", "B", "B*", "b", "b*", "n":
		e.Kind, e.Points = Paint, p.path
		err := p.tell(e)
		p.path = p.path[:0]
		return err
	case "BMC", "BDC":
		if len(p.marks) == mostMarks {
			return p.limit("Depth", mostMarks)
		}
		p.marks = append(p.marks, p.mark(args))
	case "EMC":
		err := p.tell(e) // of what it ends
		if len(p.marks) > p.open {
			p.marks = p.marks[:len(p.marks)-1]
		}
		return err
	case "EI":
		if len(args) == 1 {
			i, _ := args[0].(cos.InlineImage)
			e.Kind, e.Image, e.Inline = DrawImage, fullKeys(i.Dict), i.Data
		}
	case "Do":
		return p.do(e)
	}
	return p.tell(e)
}

// extended takes the font of a graphics state parameter dictionary (8.4.5).
func (p *page) extended(args []cos.Object) {
	if len(args) == 0 {
		return
	}
	n, _ := args[len(args)-1].(cos.Name)
	d := dict(p.in.src, p.resource("ExtGState", n))
	if f := array(p.in.src, d.Get("Font")); len(f) == 2 {
		p.state.Font, p.state.Size = p.font(f[0]), number(p.in.src, f[1], 0)
	}
}

func (p *page) line(x, y float64) {
	p.lm = Matrix{1, 0, 0, 1, x, y}.Mul(p.lm)
	p.tm = p.lm
}

func (p *page) points(e Event, n int) error {
	v := nums(e.Args, 2*n)
	for i := range n {
		p.path = append(p.path, p.state.CTM.At(v[2*i], v[2*i+1]))
	}
	if len(p.path) > mostPoints {
		return p.limit("PathPoints", mostPoints)
	}
	return p.tell(e)
}

func (p *page) mark(args []cos.Object) Mark {
	m := Mark{ID: -1, Start: p.count}
	p.count++
	if len(args) == 0 {
		return m
	}
	m.Tag, _ = args[0].(cos.Name)
	if len(args) > 1 {
		o := args[1]
		if n, ok := o.(cos.Name); ok {
			o = p.resource("Properties", n)
		}
		m.Props = dict(p.in.src, o)
		if id, ok := p.in.src.Resolve(m.Props.Get("MCID")).(cos.Int); ok {
			m.ID = int64(id)
		}
	}
	return m
}

// ofFont is a Source that counts what is read for a font, as readFont does its widths.
type ofFont struct{ in *Interpreter }

func (s *ofFont) Resolve(o cos.Object) cos.Object {
	v := s.in.src.Resolve(o)
	if a, ok := v.(cos.Array); ok {
		s.in.left -= operatorsOfEntry * len(a)
	}
	return v
}

func (s *ofFont) Dict(o cos.Object) cos.Dict {
	d := s.in.src.Dict(o)
	s.in.left -= len(d)
	return d
}

func (s *ofFont) Data(o cos.Object) []byte {
	b := s.in.src.Data(o)
	s.in.left -= len(b) / bytesOfFont
	return b
}

// font returns a font of the resources; each is read once.
func (p *page) font(o cos.Object) *Font {
	if o == nil {
		return nil
	}
	key := string(o.AppendPDF(nil)) // of one that stands in the resources itself, what it is
	p.in.left -= len(key) / bytesOfOperator
	f, ok := p.in.fonts[key]
	if !ok {
		if d := dict(p.in.src, o); d != nil {
			f = readFont(&ofFont{p.in}, d)
			f.Object = o
		}
		p.in.fonts[key] = f
	}
	return f
}

// show follows an operator that shows text (9.4.3).
func (p *page) show(e Event) error {
	s := &p.state
	e.Kind = Show
	args := e.Args
	switch e.Op {
	case "'":
		p.line(0, -s.Leading)
	case "\"":
		if len(args) >= 3 {
			v := nums(args[:len(args)-1], 2)
			s.WordSpace, s.CharSpace = v[0], v[1]
		}
		p.line(0, -s.Leading)
	}
	p.buf = p.buf[:0]
	if len(args) > 0 {
		last := args[len(args)-1]
		list, ok := last.(cos.Array)
		if !ok || e.Op != "TJ" {
			list = cos.Array{last}
		}
		for i, o := range list {
			if b, isText := cos.Bytes(o); isText {
				if err := p.glyphsOf(b, i); err != nil {
					return err
				}
				continue
			}
			by := -plain(o, 0) / 1000 * s.Size
			if s.Font != nil && s.Font.vertical {
				p.tm = Matrix{1, 0, 0, 1, 0, by}.Mul(p.tm)
			} else {
				p.tm = Matrix{1, 0, 0, 1, by * s.Scale, 0}.Mul(p.tm)
			}
		}
	}
	e.Glyphs = p.buf
	return p.tell(e)
}

// glyphsOf adds the glyphs of a string and moves on.
func (p *page) glyphsOf(b []byte, arg int) error {
	s := &p.state
	f := s.Font
	if f == nil {
		f = &Font{Ascent: 0.75, Descent: -0.25, missing: 0.5, known: map[code]glyph{}}
		s.Font = f
	}
	offset := 0
	for rest := b; len(rest) > 0; {
		if p.in.glyphs--; p.in.glyphs < 0 {
			return p.limit("Glyphs", mostGlyphs)
		}
		c, g := f.next(rest)
		spacing := s.CharSpace
		if g.space {
			spacing += s.WordSpace
		}
		m := Matrix{s.Size * s.Scale, 0, 0, s.Size, 0, s.Rise}.Mul(p.tm).Mul(s.CTM)
		x := Glyph{Text: g.text, Known: g.known, Code: rest[:c.n], Arg: arg, Offset: offset, Vertical: f.vertical, Place: p.tm}
		if f.vertical {
			x.Quad = m.Quad(Rect{-g.vx, g.rise, g.width - g.vx, 0})
			x.Origin = m.At(0, 0)
			x.Advance = g.rise*s.Size - spacing
			p.tm = Matrix{1, 0, 0, 1, 0, x.Advance}.Mul(p.tm)
		} else {
			x.Quad = m.Quad(Rect{0, f.Descent, g.width, f.Ascent})
			x.Origin = m.At(0, 0)
			x.Advance = g.width*s.Size + spacing
			p.tm = Matrix{1, 0, 0, 1, x.Advance * s.Scale, 0}.Mul(p.tm)
		}
		x.Size = length(m[2], m[3])
		p.buf = append(p.buf, x)
		offset += c.n
		rest = rest[c.n:]
	}
	return nil
}

// do draws an XObject.
func (p *page) do(e Event) error {
	if len(e.Args) == 0 {
		return p.tell(e)
	}
	n, _ := e.Args[len(e.Args)-1].(cos.Name)
	e.Object = p.resource("XObject", n)
	d := dict(p.in.src, e.Object)
	switch name(p.in.src, d.Get("Subtype")) {
	case "Image":
		e.Kind, e.Image = DrawImage, d
		return p.tell(e)
	case "Form":
	default:
		return p.tell(e)
	}
	r, _ := e.Object.(cos.Ref)
	if p.drawn[r] || p.depth >= mostForms {
		p.in.Skipped = true
		return nil // it draws itself, or lies deeper than readers follow
	}
	p.drawn[r] = true
	defer delete(p.drawn, r)
	e.Kind, e.Form = FormBegin, d
	if err := p.tell(e); err != nil {
		return err
	}
	own := dict(p.in.src, d.Get("Resources"))
	if own == nil {
		own = p.resources
	}
	s := p.state
	if m := array(p.in.src, d.Get("Matrix")); len(m) == 6 {
		var by Matrix
		for i := range m {
			by[i] = number(p.in.src, m[i], 0)
		}
		s.CTM = by.Mul(s.CTM)
	}
	if err := p.stream(p.in.src.Data(e.Object), own, s, p.depth+1); err != nil {
		return err
	}
	e.Kind = FormEnd
	return p.tell(e)
}

// fullKeys gives the entries of an inline image the names that they have in others (8.9.7).
func fullKeys(d cos.Dict) cos.Dict {
	out := make(cos.Dict, 0, len(d))
	for _, x := range d {
		if full, ok := inlineKeys[x.Key]; ok {
			x.Key = full
		}
		if n, isName := x.Value.(cos.Name); isName && x.Key == "ColorSpace" {
			if full, ok := inlineSpaces[n]; ok {
				x.Value = full
			}
		}
		out = append(out, x)
	}
	return out
}

var (
	inlineKeys = map[cos.Name]cos.Name{
		"BPC": "BitsPerComponent", "CS": "ColorSpace", "D": "Decode", "DP": "DecodeParms", "F": "Filter", "H": "Height", "IM": "ImageMask",
		"I": "Interpolate", "L": "Length", "W": "Width",
	}
	inlineSpaces = map[cos.Name]cos.Name{"G": "DeviceGray", "RGB": "DeviceRGB", "CMYK": "DeviceCMYK", "I": "Indexed"}
)

// Place names a page in errors.
func Place(n int) string { return fmt.Sprintf("page %d", n) }
