package compile

import (
	"slices"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

// lineKeys are those of one line of a border.
var lineKeys = []string{"width", "color", "dash"}

// hairline is the line that tables have between their rows.
var hairline = doc.Line{Width: doc.Pt * 3 / 10, Color: doc.RGB(0xC4, 0xC8, 0xCE)}

// line reads {width, color, dash}, hairline or none.
func (c *compiler) line(n *strictyaml.Node, path string) doc.Line {
	if n.IsScalar() {
		if _, unit := splitUnit(n.Text); slices.Contains(unitNames, unit) {
			c.bad(n, path, codeWrong, "write {width: "+n.Text+"}", "want none, hairline or a mapping, got %s", quoted(n.Text))
			return doc.Line{}
		}
		if i, _ := c.choice(n, path, "none", "hairline"); i == 1 {
			return hairline
		}
		return doc.Line{}
	}
	o, ok := c.object(n, path, "a line of a border")
	if !ok {
		return doc.Line{}
	}
	l := c.lineOf(o)
	o.done()
	return l
}

func (c *compiler) lineOf(o *object) doc.Line {
	l := doc.Line{Width: doc.Pt / 2}
	mayHave(o, "width", &l.Width, c.lengthFrom(0))
	mayHave(o, "color", &l.Color, c.color)
	mayHave(o, "dash", &l.Dash, c.dash)
	return l
}

// dash reads the lengths of a dash and of the gap behind it.
func (c *compiler) dash(n *strictyaml.Node, path string) (d [2]doc.Length) {
	if n.Kind != strictyaml.Sequence || len(n.Items) != 2 {
		c.bad(n, path, codeWrong, "as in [2pt, 1pt]", "want the lengths of a dash and of the gap behind it")
		return d
	}
	const least = doc.Pt / 10
	for i, item := range n.Items {
		d[i] = c.length(item, index(path, i), least)
	}
	return d
}

// border reads the lines around something: one line for all sides, or lines by side.
func (c *compiler) border(n *strictyaml.Node, path string) *doc.Border {
	g := c.lines(n, path, nil)
	return &g.Border
}

// grid reads the lines of a table.
func (c *compiler) grid(n *strictyaml.Node, path string) *doc.Grid {
	return c.lines(n, path, []string{"rows", "columns"})
}

// lines reads a border; within are the keys of the lines between parts.
func (c *compiler) lines(n *strictyaml.Node, path string, within []string) *doc.Grid {
	if n.IsScalar() {
		return doc.Lattice(c.line(n, path))
	}
	o, ok := c.object(n, path, "a border")
	if !ok {
		return &doc.Grid{}
	}
	if within != nil {
		o.of = language()["a border of a table"]
	}
	g := &doc.Grid{}
	sides := map[string]*doc.Line{
		"top": &g.Top, "right": &g.Right, "bottom": &g.Bottom, "left": &g.Left, "rows": &g.Rows, "columns": &g.Columns,
	}
	bySide := false
	if v := o.get("all"); v != nil {
		bySide = true
		*g = *doc.Lattice(c.line(v, o.at("all")))
	}
	for _, side := range append([]string{"top", "right", "bottom", "left"}, within...) {
		if v := o.get(side); v != nil {
			bySide = true
			*sides[side] = c.line(v, o.at(side))
		}
	}
	if !bySide {
		g = doc.Lattice(c.lineOf(o))
	}
	if k := o.n.Key("radius"); k != nil {
		c.bad(k, path, codeKey, "a box has it beside its border, as in box: {border: hairline, radius: 2mm}", "unknown key %q", "radius")
		o.told = append(o.told, "radius")
	}
	for _, k := range lineKeys {
		if bySide && o.n.Key(k) != nil {
			c.bad(o.n.Key(k), path, codeKey, "write all: {"+k+": ...}", "%q together with lines of single sides", k)
			o.get(k)
		}
	}
	o.done()
	return g
}
