package compile

import (
	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

func (c *compiler) tableBlock(b *blockSource) block {
	o := b.fields
	t := &tableNode{}
	if v := o.get("caption"); v != nil {
		t.caption = c.rich(v, o.at("caption"))
	}
	if v := o.need("columns"); v != nil {
		c.columns(t, v, o.at("columns"))
	}
	if v := o.get("head"); v != nil {
		t.head = c.rows(t, v, o.at("head"))
	}
	if v := o.need("rows"); v != nil {
		c.bodyRows(t, v, o.at("rows"))
	}
	if v := o.get("foot"); v != nil {
		t.foot = c.rows(t, v, o.at("foot"))
	}
	if v := o.get("header-repeat"); v != nil {
		t.out.HeadOnce = !c.flag(v, o.at("header-repeat"))
	}
	if v := o.get("border"); v != nil {
		t.out.Border = c.border(v, o.at("border"))
	}
	if v := o.get("padding"); v != nil {
		e := c.edges(v, o.at("padding"))
		t.out.Padding = &e
	}
	t.common = b.done()
	return t
}

func (c *compiler) columns(t *tableNode, n *strictyaml.Node, path string) {
	if !c.filled(n, path, "columns") {
		return
	}
	for i, v := range n.Items {
		at := index(path, i)
		o, ok := c.object(v, at, "a column")
		if !ok {
			continue
		}
		col := column{out: doc.Column{Src: c.source(v, at)}}
		if v := o.get("head"); v != nil {
			col.head = c.rich(v, o.at("head"))
		}
		if v := o.get("width"); v != nil {
			col.out.Width = c.width(v, o.at("width"))
		}
		if v := o.get("scope"); v != nil {
			if _, ok := c.choice(v, o.at("scope"), "row"); ok {
				col.out.RowHeader = true
			}
		}
		if v := o.get("head-style"); v != nil {
			col.out.HeadStyle = c.styleRef(v, o.at("head-style"))
		}
		col.out.Style = c.ownStyle(o, nil)
		o.done()
		t.columns = append(t.columns, col)
	}
}

// rows compiles rows that are written out, and checks that their cells fill the
// table: spans never overlap, every row has the same columns.
func (c *compiler) rows(t *tableNode, n *strictyaml.Node, path string) []row {
	if n.Kind != strictyaml.Sequence {
		c.bad(n, path, codeWrong, "", "want a list of rows, got %s", n.Kind)
		return nil
	}
	out := make([]row, 0, len(n.Items))
	for i, v := range n.Items {
		out = append(out, c.row(v, index(path, i)))
	}
	c.grid(t, out, n)
	return out
}

func (c *compiler) row(n *strictyaml.Node, path string) row {
	r := row{src: c.source(n, path)}
	if n.Kind != strictyaml.Sequence {
		c.bad(n, path, codeWrong, "", "a row is a list of cells, got %s", n.Kind)
		return r
	}
	for i, v := range n.Items {
		r.cells = append(r.cells, c.cell(v, index(path, i)))
	}
	return r
}

// grid lays the rows out: each takes the columns that row spans from above leave.
func (c *compiler) grid(t *tableNode, rows []row, n *strictyaml.Node) {
	if len(t.columns) == 0 || n.Kind != strictyaml.Sequence {
		return
	}
	taken := make([]int, len(t.columns)) // rows that a cell from above still covers
	for i, r := range rows {
		if i >= len(n.Items) || n.Items[i].Kind != strictyaml.Sequence {
			return
		}
		at, over := 0, false
		for _, cell := range r.cells {
			for at < len(taken) && taken[at] > 0 {
				at++
			}
			span := max(cell.out.Colspan, 1)
			for k := at; k < at+span; k++ {
				if k >= len(taken) || taken[k] > 0 {
					over = true
					break
				}
				taken[k] = max(cell.out.Rowspan, 1)
			}
			at += span
		}
		filled := true
		for k := range taken {
			filled = filled && taken[k] > 0
			taken[k] = max(taken[k]-1, 0)
		}
		if over || !filled {
			c.bad(n.Items[i], r.src.Path, codeWrong, "", "the row does not fill the %d columns of the table", len(t.columns))
			return
		}
	}
	for _, left := range taken {
		if left > 0 {
			c.bad(n, rows[len(rows)-1].src.Path, codeWrong, "", "a rowspan reaches below the last row")
			return
		}
	}
}

// bodyRows reads `rows`: a list of rows, or a loop that makes them.
func (c *compiler) bodyRows(t *tableNode, n *strictyaml.Node, path string) {
	if n.Kind == strictyaml.Sequence {
		t.rows = c.rows(t, n, path)
		return
	}
	o, ok := c.object(n, path, "rows")
	if !ok {
		return
	}
	if v := o.get("stripe"); v != nil {
		if v.Kind != strictyaml.Sequence {
			c.bad(v, o.at("stripe"), codeWrong, "", "want a list of colours, got %s", v.Kind)
		}
		for i, s := range v.Items {
			t.out.Stripe = append(t.out.Stripe, c.color(s, index(o.at("stripe"), i)))
		}
	}
	if v := o.get("split"); v != nil {
		t.keep = !c.flag(v, o.at("split"))
	}
	o.later("group", "carry")
	if list := o.get("rows"); list != nil {
		// rows: {rows: [[...]], stripe: ...} is rows[][] with options.
		t.rows = c.rows(t, list, o.at("rows"))
		o.done()
		return
	}
	loop := o.need("for")
	if loop == nil {
		o.get("cells")
		o.get("empty")
		o.done()
		return
	}
	t.loop = c.loop(loop, o.at("for"))
	if v := o.get("if"); v != nil {
		t.filter = c.condition(v, o.at("if"))
	}
	if v := o.need("cells"); v != nil {
		r := row{src: c.source(v, o.at("cells"))}
		if v.Kind != strictyaml.Sequence {
			c.bad(v, o.at("cells"), codeWrong, "", "want a list of cells, got %s", v.Kind)
		} else {
			for i, cell := range v.Items {
				r.cells = append(r.cells, c.cell(cell, index(o.at("cells"), i)))
			}
			c.grid(t, []row{r}, &strictyaml.Node{Kind: strictyaml.Sequence, Items: []*strictyaml.Node{v}, Line: v.Line, Col: v.Col})
		}
		t.rows = []row{r}
	}
	c.endLoop(t.loop)
	if v := o.get("empty"); v != nil {
		cell := c.cell(v, o.at("empty"))
		if cell.out.Colspan == 0 {
			cell.out.Colspan = max(len(t.columns), 1)
		}
		t.empty = &row{src: c.source(v, o.at("empty")), cells: []cellTemplate{cell}}
		c.grid(t, []row{*t.empty}, &strictyaml.Node{Kind: strictyaml.Sequence, Items: []*strictyaml.Node{{Kind: strictyaml.Sequence, Line: v.Line, Col: v.Col}}})
	}
	o.done()
}

// cell compiles a cell: a text, or a mapping with text or do.
func (c *compiler) cell(n *strictyaml.Node, path string) cellTemplate {
	t := cellTemplate{out: doc.Cell{Src: c.source(n, path)}}
	if n.Kind != strictyaml.Mapping {
		if n.Kind == strictyaml.Null {
			return t // an empty cell
		}
		t.text = c.rich(n, path)
		return t
	}
	o, _ := c.object(n, path, "a cell")
	text, do := o.get("text"), o.get("do")
	switch {
	case text != nil && do != nil:
		c.bad(o.n.Key("do"), path, codeKey, "", "a cell has text or do, not both")
	case text != nil:
		t.text = c.rich(text, o.at("text"))
	case do != nil:
		t.body = c.blocks(do, o.at("do"))
	default:
		c.bad(n, path, codeNoKey, "", "a cell has text or do")
	}
	if v := o.get("colspan"); v != nil {
		t.out.Colspan = c.integer(v, o.at("colspan"), 1, 1000)
	}
	if v := o.get("rowspan"); v != nil {
		t.out.Rowspan = c.integer(v, o.at("rowspan"), 1, 1000)
	}
	t.out.Style = c.ownStyle(o, nil)
	if v := o.get("background"); v != nil {
		t.out.Background = c.color(v, o.at("background"))
	}
	if v := o.get("valign"); v != nil {
		t.out.VAlign = c.valign(v, o.at("valign"))
	}
	if v := o.get("header"); v != nil {
		t.out.Header = c.flag(v, o.at("header"))
	}
	if v := o.get("link"); v != nil {
		link := c.link(v, o.at("link"))
		if t.text != nil && link != nil {
			t.text.linkTo(link)
		}
	}
	o.later("border", "headers", "padding")
	o.done()
	return t
}
