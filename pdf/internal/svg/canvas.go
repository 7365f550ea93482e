package svg

import (
	"math"
	"slices"
	"strconv"

	"example.com/quire/pdf/cos"
)

// canvas collects the content of a form.
type canvas struct {
	form  *Form
	b     []byte
	now   pen
	saved []pen
}

// pen is what the graphics state has: operators that need not be written again.
type pen struct{ fill, stroke, line string }

func newCanvas(bbox [4]float64) *canvas { return &canvas{form: &Form{BBox: bbox}} }

// finish closes the form.
func (c *canvas) finish() *Form {
	c.flush()
	return c.form
}

func (c *canvas) flush() {
	if len(c.b) > 0 {
		c.form.Ops = append(c.form.Ops, Op{Code: c.b})
		c.b = nil
	}
}

func (c *canvas) save() {
	c.b = append(c.b, "q\n"...)
	c.saved = append(c.saved, c.now)
}

func (c *canvas) restore() {
	c.b = append(c.b, "Q\n"...)
	c.now = c.saved[len(c.saved)-1]
	c.saved = c.saved[:len(c.saved)-1]
}

// text shows a text in the colours set before.
func (c *canvas) text(t *Text) {
	c.flush()
	c.form.Ops = append(c.form.Ops, Op{Text: t})
}

// use sets a part of the graphics state unless it is set already.
func (c *canvas) use(part *string, ops string) {
	if *part != ops {
		*part = ops
		c.b = append(c.b, ops...)
	}
}

// decimals is the precision of coordinates, and most of numbers below one.
const (
	decimals = 3
	fine     = 6
)

// appendNumber appends a number and a space. What has no number is nowhere.
func appendNumber(b []byte, v float64, decimals int) []byte {
	const most = 1e7 // beyond all that viewers can take
	if math.IsNaN(v) {
		v = 0
	}
	v = min(max(v, -most), most)
	return append(cos.AppendDecimal(b, int64(math.Round(v*math.Pow10(decimals))), decimals), ' ')
}

// path appends the construction of a path in form space.
func (c *canvas) path(p path, decimals int) {
	for i := range p {
		s := &p[i]
		for k := range s.points() {
			c.b = appendNumber(c.b, s.p[k].x, decimals)
			c.b = appendNumber(c.b, s.p[k].y, decimals)
		}
		op := s.op
		if op == 'z' {
			op = 'h'
		}
		c.b = append(c.b, op, '\n')
	}
}

// matrix changes the space.
func (c *canvas) matrix(m matrix) {
	for i, v := range m {
		if i < 4 {
			c.b = appendNumber(c.b, v, fine)
		} else {
			c.b = appendNumber(c.b, v, decimals)
		}
	}
	c.b = append(c.b, "cm\n"...)
}

// clip narrows what is painted to a path in form space.
func (c *canvas) clip(o outline) {
	c.path(o.path, decimals)
	if len(o.path) == 0 {
		c.b = append(c.b, "0 0 0 0 re "...)
	}
	if o.evenOdd {
		c.b = append(c.b, "W* n\n"...)
	} else {
		c.b = append(c.b, "W n\n"...)
	}
}

// resource names the i-th resource of a kind.
func resource(kind byte, i int) string { return "/" + string(kind) + strconv.Itoa(i) + " " }

// state sets alpha, blend mode and mask.
func (c *canvas) state(s State) {
	i := slices.Index(c.form.States, s)
	if i < 0 {
		i = len(c.form.States)
		c.form.States = append(c.form.States, s)
	}
	c.b = append(c.b, resource('S', i)+"gs\n"...)
}

// show paints a form in a state.
func (c *canvas) show(f *Form, s State) {
	c.save()
	c.state(s)
	c.form.Forms = append(c.form.Forms, f)
	c.b = append(c.b, resource('X', len(c.form.Forms)-1)+"Do\n"...)
	c.restore()
}

// colorOps are the operators of a colour; of strokes they are in capitals.
func colorOps(v color, gray, stroke bool) string {
	op := "rg\n"
	if gray {
		op = "g\n"
	}
	if stroke {
		op = map[string]string{"rg\n": "RG\n", "g\n": "G\n"}[op]
	}
	b := appendNumber(nil, v.r, decimals)
	if !gray {
		b = appendNumber(b, v.g, decimals)
		b = appendNumber(b, v.b, decimals)
	}
	return string(b) + op
}

// patternOps choose a gradient.
func (c *canvas) patternOps(g *Gradient, stroke bool) string {
	name := resource('P', len(c.form.Gradients))
	c.form.Gradients = append(c.form.Gradients, g)
	if stroke {
		return "/Pattern CS " + name + "SCN\n"
	}
	return "/Pattern cs " + name + "scn\n"
}
