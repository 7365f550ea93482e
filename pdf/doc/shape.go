package doc

import (
	"fmt"
	"strconv"
	"strings"
)

// Shape is a line, a rectangle, an ellipse or a path, which is drawn as vectors.
type Shape struct {
	Kind ShapeKind
	// Width and Height are the size of the whole, lines included. A line leads from the top left
	// corner to the bottom right one; without a height it is horizontal, without a width vertical.
	Width, Height Length
	Radius        Length // of the corners of a rectangle
	// Path is the data of a path (SVG 1.1, 8.3) in points from the top left corner. What of it lies
	// outside of Width and Height is not drawn.
	Path string
	Fill Color // none: it is not filled
	Line Line  // the zero Line draws nothing, but for a line, which is 0.5 pt thick then
}

// ShapeKind is the kind of a Shape.
type ShapeKind uint8

// The kinds.
const (
	ShapeLine ShapeKind = iota
	ShapeRect
	ShapeEllipse
	ShapePath
)

// Image returns the shape as a drawing. alt is the alternative text; empty: the shape is an
// artifact.
func (s Shape) Image(alt string) *Image {
	if s.Kind == ShapeLine {
		if s.Fill = 0; s.Line.Width == 0 {
			s.Line.Width = Pt / 2
		}
	}
	t := s.Line.Width
	x, y, w, h := Length(0), Length(0), s.Width, s.Height // of the drawing, in its own coordinates
	var body string
	switch s.Kind {
	case ShapeLine:
		if s.Width > 0 { // as thick as the line, half of it on each side
			y, h = -t/2, s.Height+t
		}
		if s.Height > 0 {
			x, w = -t/2, s.Width+t
		}
		body = fmt.Sprintf(`<line x2="%s" y2="%s"`, points(s.Width), points(s.Height))
	case ShapeRect:
		body = fmt.Sprintf(`<rect x="%s" y="%s" width="%s" height="%s" rx="%s"`, points(t/2), points(t/2), points(w-t), points(h-t), points(max(s.Radius-t/2, 0)))
	case ShapeEllipse:
		body = fmt.Sprintf(`<ellipse cx="%s" cy="%s" rx="%s" ry="%s"`, points(w/2), points(h/2), points((w-t)/2), points((h-t)/2))
	case ShapePath:
		body = `<path d="` + attribute(s.Path) + `"`
	}
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="%s %s %s %s">%s fill="%s"%s/></svg>`,
		points(x), points(y), points(w), points(h), body, hex(s.Fill), s.stroke())
	return &Image{Name: "shape", Data: []byte(svg), Alt: alt, Decorative: alt == "", Width: w, Height: h}
}

// stroke returns the attributes of the line.
func (s *Shape) stroke() string {
	l := s.Line
	if l.Width == 0 {
		return ""
	}
	if l.Color.None() {
		l.Color = Black
	}
	out := fmt.Sprintf(` stroke="%s" stroke-width="%s"`, hex(l.Color), points(l.Width))
	if l.Dash != [2]Length{} {
		out += fmt.Sprintf(` stroke-dasharray="%s %s"`, points(l.Dash[0]), points(l.Dash[1]))
	}
	return out
}

func points(l Length) string { return strconv.FormatFloat(float64(l)/float64(Pt), 'f', -1, 64) }

func hex(c Color) string {
	if c.None() {
		return "none"
	}
	r, g, b := c.RGB()
	return fmt.Sprintf("#%02x%02x%02x", r, g, b)
}

// attribute writes a text as the value of an XML attribute.
func attribute(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(s)
}
