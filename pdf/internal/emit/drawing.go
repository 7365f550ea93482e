package emit

import (
	"math"
	"slices"
	"strconv"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/svg"
	"example.com/quire/pdf/internal/text"
)

// drawingOf embeds an SVG drawing where it is first drawn; files of equal bytes are one object.
func (e *Emitter) drawingOf(d *svg.Drawing, pi *pageInfo) (*imageRes, error) {
	if r, ok := e.byHash[d.Hash]; ok {
		return r, nil
	}
	ref, err := e.form(d.Form, pi)
	if err != nil {
		return nil, err
	}
	if e.judge != nil { // who sees the forms' dictionaries, but not the colours in them
		e.judge.Content(pi.ref, opColor, nil)
	}
	r := &imageRes{name: "I" + strconv.Itoa(len(e.images)+1), ref: ref}
	e.images = append(e.images, r)
	e.byHash[d.Hash] = r
	return r, nil
}

// number is v with at most the given number of decimals.
func number(v float64, decimals int) cos.Decimal {
	return cos.Decimal{Mantissa: int64(math.Round(min(max(v, -1e9), 1e9) * math.Pow10(decimals))), Scale: decimals}
}

func numbers(decimals int, v ...float64) cos.Array {
	a := make(cos.Array, len(v))
	for i := range v {
		a[i] = number(v[i], decimals)
	}
	return a
}

// form writes a form XObject with all that it draws (8.10).
func (e *Emitter) form(f *svg.Form, pi *pageInfo) (cos.Ref, error) {
	var resources cos.Dict
	for _, kind := range []struct {
		key    cos.Name
		letter string
		n      int
		object func(i int) (cos.Object, error)
	}{
		{"ExtGState", "S", len(f.States), func(i int) (cos.Object, error) { return e.graphicsState(&f.States[i], pi) }},
		{"Pattern", "P", len(f.Gradients), func(i int) (cos.Object, error) {
			ref := e.w.Reserve()
			return ref, e.w.Put(ref, pattern(f.Gradients[i]))
		}},
		{"XObject", "X", len(f.Forms), func(i int) (cos.Object, error) { return e.form(f.Forms[i], pi) }},
	} {
		d := make(cos.Dict, kind.n)
		for i := range d {
			o, err := kind.object(i)
			if err != nil {
				return cos.Ref{}, err
			}
			d[i] = cos.E(cos.Name(kind.letter+strconv.Itoa(i)), o)
		}
		if kind.n > 0 {
			resources = append(resources, cos.E(kind.key, d))
		}
	}
	var code []byte
	if f.Packed == nil {
		var fonts cos.Dict
		var err error
		if code, fonts, err = e.formContent(f, pi); err != nil {
			return cos.Ref{}, err
		}
		if len(fonts) > 0 {
			resources = append(resources, cos.E("Font", fonts))
		}
	}
	d := cos.Dict{
		cos.E("Type", cos.Name("XObject")), cos.E("Subtype", cos.Name("Form")),
		cos.E("BBox", numbers(3, f.BBox[:]...)), cos.E("Resources", resources),
	}
	if f.Group {
		d = append(d, cos.E("Group", cos.Dict{
			cos.E("S", cos.Name("Transparency")), cos.E("CS", deviceSpace(f.Gray)), cos.E("I", cos.Bool(true)),
		}))
	}
	ref := e.w.Reserve()
	if f.Packed != nil {
		return ref, e.w.EncodedStream(ref, d, cos.FlateDecode, f.Packed)
	}
	return ref, e.w.Stream(ref, d, code)
}

func deviceSpace(gray bool) cos.Name {
	if gray {
		return "DeviceGray"
	}
	return "DeviceRGB"
}

// formContent writes the operators of a form and names the fonts of its texts.
func (e *Emitter) formContent(f *svg.Form, pi *pageInfo) ([]byte, cos.Dict, error) {
	c := &content{e: e, pi: pi, bare: true}
	var fonts cos.Dict
	for i := range f.Ops {
		op := &f.Ops[i]
		c.b = append(c.b, op.Code...)
		if op.Text == nil {
			continue
		}
		for k := range op.Text.Items {
			r := e.fontOf(op.Text.Items[k].Part.Face)
			if entry := cos.E(cos.Name(r.name), r.ref); !slices.Contains(fonts, entry) {
				fonts = append(fonts, entry)
			}
		}
		// Each text stands in a graphics state of its own; the colour is that of the operators
		// before it.
		c.font, c.color = nil, doc.Black
		style := layout.PieceStyle{Size: doc.Length(op.Text.Size), Color: doc.Black}
		if err := c.text(&layout.TextItem{Line: &text.Line{Items: op.Text.Items}, Pieces: []layout.PieceStyle{style}}); err != nil {
			return nil, nil, err
		}
		c.endText()
	}
	return c.b, fonts, nil
}

// graphicsState writes an extended graphics state (8.4.5).
func (e *Emitter) graphicsState(s *svg.State, pi *pageInfo) (cos.Object, error) {
	d := cos.Dict{cos.E("Type", cos.Name("ExtGState")), cos.E("ca", number(s.Fill, 4)), cos.E("CA", number(s.Stroke, 4))}
	if s.Blend != "" {
		d = append(d, cos.E("BM", cos.Name(s.Blend)))
	}
	if s.Mask != nil {
		mask, err := e.form(s.Mask, pi)
		if err != nil {
			return nil, err
		}
		d = append(d, cos.E("SMask", cos.Dict{
			cos.E("Type", cos.Name("Mask")), cos.E("S", cos.Name("Luminosity")), cos.E("G", mask),
		}))
	}
	return d, nil
}

// pattern is a shading pattern (8.7.4.3).
func pattern(g *svg.Gradient) cos.Dict {
	kind, coords := 2, g.Coords[:4]
	if g.Radial {
		kind, coords = 3, g.Coords[:]
	}
	shading := cos.Dict{
		cos.E("ShadingType", cos.Int(kind)), cos.E("ColorSpace", deviceSpace(g.Gray)), cos.E("Coords", numbers(6, coords...)),
		cos.E("Function", gradientFunction(g)), cos.E("Extend", cos.Array{cos.Bool(true), cos.Bool(true)}),
	}
	return cos.Dict{
		cos.E("Type", cos.Name("Pattern")), cos.E("PatternType", cos.Int(2)),
		cos.E("Matrix", numbers(6, g.Matrix[:]...)), cos.E("Shading", shading),
	}
}

// gradientFunction goes through the stops: exponential functions of exponent 1 (7.10.3), stitched
// where there are several (7.10.4). What lies between two stops at one place is left out, so that
// the colour changes there at once.
func gradientFunction(g *svg.Gradient) cos.Dict {
	space := cos.E("Domain", cos.Array{cos.Int(0), cos.Int(1)})
	components := 3
	if g.Gray {
		components = 1
	}
	between := func(a, b *svg.Stop) cos.Dict {
		return cos.Dict{
			cos.E("FunctionType", cos.Int(2)), space, cos.E("N", cos.Int(1)),
			cos.E("C0", numbers(4, a.Color[:components]...)), cos.E("C1", numbers(4, b.Color[:components]...)),
		}
	}
	const apart = 1e-6 // stops nearer than this are at one place
	var parts, bounds, encode cos.Array
	at := 0.0
	add := func(a, b *svg.Stop, to float64) {
		if to-at < apart {
			return
		}
		if len(parts) > 0 {
			bounds = append(bounds, number(at, 6))
		}
		parts = append(parts, between(a, b))
		encode = append(encode, cos.Int(0), cos.Int(1))
		at = to
	}
	first, last := &g.Stops[0], &g.Stops[len(g.Stops)-1]
	add(first, first, first.Offset)
	for i := range g.Stops[1:] {
		add(&g.Stops[i], &g.Stops[i+1], g.Stops[i+1].Offset)
	}
	add(last, last, 1)
	if len(parts) == 1 {
		return parts[0].(cos.Dict) //nolint:forcetypeassert // made above
	}
	return cos.Dict{
		cos.E("FunctionType", cos.Int(3)), space, cos.E("Functions", parts),
		cos.E("Bounds", bounds), cos.E("Encode", encode),
	}
}

// drawing draws an SVG image.
func (c *content) drawing(it *layout.ImageItem) error {
	if err := c.e.opaqueDrawing(it.Drawing.Form, it.Src); err != nil {
		return err
	}
	res, err := c.e.drawingOf(it.Drawing, c.pi)
	if err != nil {
		return err
	}
	box := it.Drawing.Form.BBox
	c.b = append(c.b, "q "...)
	for _, v := range [...]struct {
		to doc.Length
		of float64
	}{{it.W, box[2]}, {}, {}, {it.H, box[3]}} {
		scale := 0.0
		if v.of > 0 {
			scale = float64(v.to) / float64(doc.Pt) / v.of
		}
		c.b = number(scale, 8).AppendPDF(c.b)
		c.b = append(c.b, ' ')
	}
	c.num(hundredths(it.X))
	c.b = append(c.b, ' ')
	c.num(hundredths(c.height - it.Y - it.H))
	c.b = append(c.b, " cm "...)
	c.show(opDraw)
	c.b = cos.AppendName(c.b, res.name)
	c.b = append(c.b, " Do Q\n"...)
	return nil
}
