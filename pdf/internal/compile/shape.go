package compile

import (
	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

// shapeNode is a line, a rectangle, an ellipse or a path. Its colours may come from the data.
type shapeNode struct {
	common
	shape       doc.Shape
	fill, color paint
	alt         *plainText
	fixed       string // alt that is known
}

func (c *compiler) shapeBlock(b *blockSource) block {
	o := b.fields
	n := &shapeNode{}
	found := 0
	for _, x := range [...]struct {
		key   string
		kind  doc.ShapeKind
		least doc.Length
	}{{"line", doc.ShapeLine, 0}, {"rect", doc.ShapeRect, 1}, {"ellipse", doc.ShapeEllipse, 1}, {"path", doc.ShapePath, 0}} {
		v := o.get(x.key)
		if v == nil {
			continue
		}
		if found++; found > 1 {
			c.bad(v, o.at(x.key), codeWrong, "make two blocks of it", "a shape is one of line, rect, ellipse and path")
			continue
		}
		if n.shape.Kind = x.kind; x.kind == doc.ShapePath {
			n.shape.Path, _ = c.word(v, o.at(x.key))
			mustHave(o, "width", &n.shape.Width, c.lengthFrom(1))
			mustHave(o, "height", &n.shape.Height, c.lengthFrom(1))
			continue
		}
		n.shape.Width, n.shape.Height = c.pair(v, o.at(x.key), x.least)
	}
	if found == 0 {
		c.bad(b.value, b.path, codeNoKey, "as in shape: {rect: [40mm, 12mm]}", "a shape has a line, rect, ellipse or path")
	}
	mayHave(o, "fill", &n.fill, c.paint)
	mayHave(o, "color", &n.color, c.paint)
	mayHave(o, "dash", &n.shape.Line.Dash, c.dash)
	if n.fill == (paint{}) || o.n.Get("color") != nil || o.n.Get("dash") != nil {
		n.shape.Line.Width = doc.Pt / 2
	}
	mayHave(o, "thickness", &n.shape.Line.Width, c.lengthFrom(1))
	for _, x := range [...]struct {
		key, of string
		has     bool
	}{
		{"radius", "a rectangle", n.shape.Kind == doc.ShapeRect},
		{"fill", "a shape that is no line", n.shape.Kind != doc.ShapeLine},
		{"width", "a path", n.shape.Kind == doc.ShapePath},
		{"height", "a path", n.shape.Kind == doc.ShapePath},
	} {
		if v := o.n.Get(x.key); v != nil && !x.has && found > 0 {
			c.bad(o.n.Key(x.key), o.at(x.key), codeWrong, "", "%q is a key of %s", x.key, x.of)
			o.get(x.key)
		}
	}
	mayHave(o, "radius", &n.shape.Radius, c.lengthFrom(1))
	if n.shape.Kind != doc.ShapeLine && n.shape.Kind != doc.ShapePath && found > 0 && min(n.shape.Width, n.shape.Height) <= n.shape.Line.Width {
		c.bad(b.value, b.path, codeWrong, "", "the shape is no larger than its line is thick")
	}
	if n.shape.Kind == doc.ShapeLine && found > 0 && n.shape.Width+n.shape.Height == 0 {
		c.bad(b.value, b.path, codeWrong, "", "the line leads nowhere")
	}
	n.alt, n.fixed, _ = c.alternative(b, o)
	n.common = b.done()
	return n
}

// pair reads [width, height].
func (c *compiler) pair(n *strictyaml.Node, path string, least doc.Length) (w, h doc.Length) {
	if n.Kind != strictyaml.Sequence || len(n.Items) != 2 {
		c.bad(n, path, codeWrong, "", "want [width, height], as in [40mm, 12mm]")
		return least, least
	}
	return c.length(n.Items[0], index(path, 0), least), c.length(n.Items[1], index(path, 1), least)
}

func (n *shapeNode) emit(r *render, out sink) error {
	shape, alt := n.shape, n.fixed
	var err error
	if shape.Fill, err = r.paint(n.fill); err != nil {
		return err
	}
	if shape.Line.Color, err = r.paint(n.color); err != nil {
		return err
	}
	if n.alt != nil {
		if alt, err = r.plain(n.alt); err != nil {
			return err
		}
	}
	img := shape.Image(alt)
	img.Decorative = alt == "" && n.alt == nil
	if img.Block, err = n.common.fill(r); err != nil {
		return err
	}
	return out(img)
}
