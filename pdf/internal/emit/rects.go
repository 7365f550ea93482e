package emit

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
)

// rects fills rectangles. Adjacent ones of one colour are one path, so that no viewer shows a seam
// between them; rules are a path each, which viewers fit to their pixels.
func (c *content) rects(rects []layout.RectItem) {
	for i := range rects {
		r := &rects[i]
		if r.Dash[0] > 0 {
			c.dashes(r)
			continue
		}
		if r.Round != nil {
			c.round(r)
			continue
		}
		c.fill(r.Color)
		x, y := hundredths(r.X), hundredths(c.height-r.Y-r.H)
		// Both edges are rounded, so that neighbours meet.
		w, h := hundredths(r.X+r.W)-x, hundredths(c.height-r.Y)-y
		c.num(x)
		c.b = append(c.b, ' ')
		c.num(y)
		c.b = append(c.b, ' ')
		c.repeat(c.lastRect)
		c.lastRect = len(c.b)
		c.num(max(w, 1))
		c.b = append(c.b, ' ')
		c.num(max(h, 1))
		c.b = append(c.b, " re\n"...)
		if i+1 == len(rects) || r.Rule || rects[i+1].Color != r.Color || rects[i+1].Rule || rects[i+1].Dash[0] > 0 || rects[i+1].Round != nil {
			c.show(opFill)
			c.b = append(c.b, "f\n"...)
		}
	}
}

// dashes strokes a dashed line. Its graphics state is its own.
func (c *content) dashes(r *layout.RectItem) {
	width := min(r.W, r.H)
	from, to := [2]doc.Length{r.X + r.W/2, r.Y}, [2]doc.Length{r.X + r.W/2, r.Y + r.H}
	if r.W >= r.H {
		from, to = [2]doc.Length{r.X, r.Y + r.H/2}, [2]doc.Length{r.X + r.W, r.Y + r.H/2}
	}
	c.b = append(c.b, "q "...)
	c.judge(opStrokeColor)
	c.rgb(r.Color, "RG ")
	c.num(max(hundredths(width), 1))
	c.b = append(c.b, " w ["...)
	c.num(max(hundredths(r.Dash[0]), 1))
	c.b = append(c.b, ' ')
	c.num(max(hundredths(r.Dash[1]), 1))
	c.b = append(c.b, "] 0 d "...)
	for i, p := range [2][2]doc.Length{from, to} {
		c.num(hundredths(p[0]))
		c.b = append(c.b, ' ')
		c.num(hundredths(c.height - p[1]))
		c.b = append(c.b, [2]string{" m ", " l "}[i]...)
	}
	c.show(opStroke)
	c.b = append(c.b, "S Q\n"...)
}

// round fills a rectangle with round corners, or a frame.
func (c *content) round(r *layout.RectItem) {
	c.fill(r.Color)
	c.roundPath(r.X, c.height-r.Y-r.H, r.X+r.W, c.height-r.Y, r.Round.Radius)
	line, inner := r.Round.Line, r.Round.Radius
	c.show(opFill)
	if line == 0 || 2*line >= min(r.W, r.H) {
		c.b = append(c.b, "f\n"...)
		return
	}
	for i := range inner {
		inner[i] = max(inner[i]-line, 0)
	}
	c.roundPath(r.X+line, c.height-r.Y-r.H+line, r.X+r.W-line, c.height-r.Y-line, inner)
	c.b = append(c.b, "f*\n"...)
}

// roundPath appends the path of a rectangle with round corners, whose bottom left is x0, y0. The
// control points of a quarter of a circle lie at 0.5523 of its radius.
func (c *content) roundPath(x0, y0, x1, y1 doc.Length, radius [4]doc.Length) {
	point := func(x, y doc.Length) {
		c.num(hundredths(x))
		c.b = append(c.b, ' ')
		c.num(hundredths(y))
		c.b = append(c.b, ' ')
	}
	const most, circle = 10_000, 10_000 - 5523
	corner := func(r, x, y, fromX, fromY, toX, toY doc.Length) { // from and to are directions
		point(x+fromX*r, y+fromY*r)
		c.b = append(c.b, "l\n"...)
		if r == 0 {
			return
		}
		in := r * circle / most
		point(x+fromX*in, y+fromY*in)
		point(x+toX*in, y+toY*in)
		point(x+toX*r, y+toY*r)
		c.b = append(c.b, "c\n"...)
	}
	point(x0+radius[0], y1)
	c.b = append(c.b, "m\n"...)
	corner(radius[1], x1, y1, -1, 0, 0, -1)
	corner(radius[2], x1, y0, 0, 1, -1, 0)
	corner(radius[3], x0, y0, 1, 0, 0, 1)
	corner(radius[0], x0, y1, 0, -1, 1, 0)
	c.b = append(c.b, "h\n"...)
}
