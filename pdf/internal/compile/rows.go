package compile

import (
	"fmt"
	"slices"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

// rowSource gives rows of a table: one row, or what a loop or a condition makes.
type rowSource interface {
	rows(r *render, give func(*row) error) error
}

// row is one row.
type row struct {
	src    *doc.Source
	cells  []cellTemplate
	back   paint
	border *doc.Border
	with   bool // on the page of the next row
	height doc.Length
	anchor *plainText
}

// rowLoop gives its rows for each item.
type rowLoop struct {
	loop   *loop
	filter *programAt // nil: every item
	groups *rowGroups // nil: one row after the other
	carry  *rowCarry  // nil: nothing is carried over page breaks
	body   []rowSource
	empty  *row // when there were no rows
}

// rowChoice gives its rows when the condition holds.
type rowChoice struct {
	cond        *programAt
	then, other []rowSource
}

// rowsReader compiles the rows of one part of a table. It lays them out: each takes the columns
// that row spans from above leave.
type rowsReader struct {
	c     *compiler
	t     *tableNode
	part  tablePart
	taken []int // rows that a cell from above still covers, by column
	stop  bool  // a row was wrong: those after it would be, too
	last  *row
	// carried says that the row is printed where a page ends.
	carried bool
}

func (c *compiler) reader(t *tableNode, part tablePart) *rowsReader {
	return &rowsReader{c: c, t: t, part: part, taken: make([]int, len(t.columns))}
}

// rows compiles rows that are written out.
func (c *compiler) rows(t *tableNode, n *strictyaml.Node, path string, part tablePart) []row {
	if n.Kind != strictyaml.Sequence {
		c.bad(n, path, codeWrong, "", "want a list of rows, got %s", n.Kind)
		return nil
	}
	p := c.reader(t, part)
	out := make([]row, 0, len(n.Items))
	for i, v := range n.Items {
		r := p.literal(v, index(path, i))
		p.last = &r
		out = append(out, r)
	}
	p.end(n)
	return out
}

// literal compiles a list of cells, or a mapping with cells and how the row looks.
func (p *rowsReader) literal(n *strictyaml.Node, path string) row {
	if n.Kind != strictyaml.Mapping {
		return p.cells(n, path, rowLook{})
	}
	o, _ := p.c.object(n, path, "a row")
	r := p.row(o)
	o.done()
	return r
}

// row compiles the cells of a mapping and how the row looks.
func (p *rowsReader) row(o *object) row {
	c := p.c
	l := c.rowLook(o)
	var back paint
	if v := o.get("background"); v != nil {
		back = c.paint(v, o.at("background"))
		p.t.painted = true
	}
	var border *doc.Border
	mayHave(o, "border", &border, c.border)
	with := false
	mayHave(o, "keep-with-next", &with, c.flag)
	var height doc.Length
	mayHave(o, "height", &height, c.lengthFrom(1))
	var anchor *plainText
	mayHave(o, "anchor", &anchor, c.anchor)
	r := row{src: c.source(o.n, o.path)}
	if v := o.need("cells"); v != nil {
		r = p.cells(v, o.at("cells"), l)
	}
	r.back, r.border, r.with, r.height, r.anchor = back, border, with, height, anchor
	return r
}

// cells compiles a list of cells and checks that they fill the columns.
func (p *rowsReader) cells(n *strictyaml.Node, path string, l rowLook) row {
	r := row{src: p.c.source(n, path)}
	if n.Kind != strictyaml.Sequence {
		p.c.bad(n, path, codeWrong, "", "a row is a list of cells, got %s", n.Kind)
		p.stop = true
		return r
	}
	at, over, spans := 0, false, 0
	for k := range p.taken {
		spans += min(p.taken[k], 1) // of cells of the rows above
	}
	for i, v := range n.Items {
		for at < len(p.taken) && p.taken[at] > 0 {
			at++
		}
		cell := p.cell(v, index(path, i), at, &l)
		cell.col = at
		span := max(cell.out.Colspan, 1)
		for k := at; k < at+span; k++ {
			if k >= len(p.taken) || p.taken[k] > 0 {
				over = true
				break
			}
			p.taken[k] = max(cell.out.Rowspan, 1)
		}
		at += span
		spans += span
		r.cells = append(r.cells, cell)
	}
	filled := true
	for k := range p.taken {
		filled = filled && p.taken[k] > 0
		p.taken[k] = max(p.taken[k]-1, 0)
	}
	if (over || !filled) && !p.stop && len(p.taken) > 0 {
		hint := "its cells lie on each other"
		if spans != len(p.taken) {
			hint = fmt.Sprintf("its cells take %d", spans)
		}
		p.c.bad(n, path, codeWrong, hint, "the row does not fill the %d columns of the table", len(p.taken))
		p.stop = true
	}
	return r
}

// end ends a run of rows: no span may reach beyond it.
func (p *rowsReader) end(n *strictyaml.Node) {
	if !p.stop && p.last != nil && slices.ContainsFunc(p.taken, func(left int) bool { return left > 0 }) {
		p.c.bad(n, p.last.src.Path, codeWrong, "", "a rowspan reaches below the last row")
	}
	clear(p.taken)
	p.stop, p.last = false, nil
}

// bodyRows reads `rows`: a list of entries, or one entry with how all rows are set.
func (c *compiler) bodyRows(t *tableNode, n *strictyaml.Node, path string) {
	p := c.reader(t, partBody)
	if n.Kind == strictyaml.Sequence {
		t.rows = p.entries(n, path)
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
	if o.n.Get("for") == nil && o.n.Get("if") == nil && o.n.Get("rows") != nil {
		// rows: {rows: [[...]], stripe: ...} is rows: [[...]] with options.
		t.rows = p.entries(o.get("rows"), o.at("rows"))
	} else if o.n.Get("for") == nil && o.n.Get("if") == nil {
		o.need("for")
		o.get("cells")
		o.get("empty")
	} else {
		t.rows = []rowSource{p.entry(o)}
	}
	o.done()
}

// entries compiles a list of rows, loops and conditions.
func (p *rowsReader) entries(n *strictyaml.Node, path string) []rowSource {
	if n.Kind != strictyaml.Sequence {
		p.c.bad(n, path, codeWrong, "", "want a list of rows, got %s", n.Kind)
		return nil
	}
	out := make([]rowSource, 0, len(n.Items))
	for i, v := range n.Items {
		if v.Kind == strictyaml.Mapping && (v.Get("for") != nil || v.Get("if") != nil) {
			p.end(n)
			o, _ := p.c.object(v, index(path, i), "a row")
			out = append(out, p.entry(o))
			o.done()
			continue
		}
		r := p.literal(v, index(path, i))
		p.last = &r
		out = append(out, &r)
	}
	p.end(n)
	return out
}

// entry compiles a mapping with for, if or both.
func (p *rowsReader) entry(o *object) rowSource {
	c := p.c
	loop := o.get("for")
	if loop == nil {
		choice := &rowChoice{cond: c.condition(o.get("if"), o.at("if"))}
		end := c.given(choice.cond.holds())
		choice.then = p.body(o)
		end()
		if v := o.get("else"); v != nil {
			defer c.given(choice.cond.fails())()
			choice.other = p.entries(v, o.at("else"))
		}
		return choice
	}
	outer := len(c.locals)
	l := &rowLoop{loop: c.loop(loop, o.at("for"))}
	mayHave(o, "if", &l.filter, c.condition)
	end := c.given(l.filter.holds())
	if v := o.get("group"); v != nil {
		l.groups = p.groups(l.loop, v, o.at("group"), outer)
	}
	if v := o.get("carry"); v != nil {
		l.carry = p.carry(v, o.at("carry"), outer)
	}
	l.body = p.body(o)
	end()
	if l.groups != nil {
		c.locals = c.locals[:len(c.locals)-1]
	}
	c.endLoop(l.loop)
	if v := o.get("empty"); v != nil {
		cell := p.cell(v, o.at("empty"), 0, &rowLook{})
		if cell.loop != nil {
			c.bad(v, o.at("empty"), codeWrong, "", "the row for an empty table has one cell")
		}
		if cell.out.Colspan == 0 {
			cell.out.Colspan = max(len(p.t.columns), 1)
		}
		l.empty = &row{src: c.source(v, o.at("empty")), cells: []cellTemplate{cell}}
	}
	return l
}

// body compiles `cells`, one row, or `rows`, several.
func (p *rowsReader) body(o *object) []rowSource {
	if v := o.get("rows"); v != nil {
		if o.n.Get("cells") != nil {
			p.c.bad(o.n.Key("cells"), o.path, codeKey, "", "give cells or rows, not both")
			o.get("cells")
		}
		return p.entries(v, o.at("rows"))
	}
	r := p.row(o)
	p.last = &r
	p.end(o.n)
	return []rowSource{&r}
}

// headRow reads how the row of the columns' heads looks.
func (c *compiler) headRow(t *tableNode, n *strictyaml.Node, path string) {
	o, ok := c.object(n, path, "head-row")
	if !ok {
		return
	}
	l := c.rowLook(o)
	if l.prog != nil || l.over.paint != nil {
		c.bad(n, path, codeWrong, "", "the style of the head does not come from data")
	}
	for i := range t.columns {
		if col := &t.columns[i].out; col.HeadStyle == nil && l.restyles() {
			col.HeadStyle = l.look(c.cellStyle(t, i, partHead)).fixed
		}
	}
	mayHave(o, "background", &t.out.HeadBackground, c.color)
	mayHave(o, "border", &t.out.HeadBorder, c.border)
	o.done()
}

// tablePart is a part of a table.
type tablePart uint8

const (
	partBody tablePart = iota
	partHead
	partFoot
)

// cellStyle is that of the cells of a column: the column's, else the table's; of head cells the
// column's for them, else what the theme makes of it, or bold; of foot cells what the theme makes.
func (c *compiler) cellStyle(n *tableNode, col int, part tablePart) *doc.Style {
	s, head := n.base, (*doc.Style)(nil)
	if col < len(n.columns) {
		if of := &n.columns[col].out; of.Style != nil {
			s = of.Style
		}
		head = n.columns[col].out.HeadStyle
	}
	switch theme := c.plan.theme; {
	case part == partHead && head != nil:
		return head
	case part == partHead && theme != nil:
		made := theme.TableHead(*s)
		return &made
	case part == partHead:
		bold := *s
		bold.Weight = 700
		return &bold
	case part == partFoot && theme != nil:
		made := theme.TableFoot(*s)
		return &made
	}
	return s
}

// rowLook is how a row changes the styles of its columns.
type rowLook struct {
	over  overlay
	style *styleDef
	prog  *programAt // gives the name of a style; nil: style
}

func (c *compiler) rowLook(o *object) (l rowLook) {
	l.over = c.overlay(o, true)
	v := o.get("style")
	if v == nil {
		return l
	}
	p, ok := c.choices(v, o.at("style"))
	switch {
	case ok:
		l.prog = p
	case c.styleRef(v, o.at("style")) != nil:
		l.style = c.styles[v.Text]
	}
	return l
}

func (l *rowLook) restyles() bool {
	return len(l.over.set) > 0 || l.over.paint != nil || l.style != nil || l.prog != nil
}

// look lays the row's style over that of a column.
func (l *rowLook) look(column *doc.Style) look {
	return look{fixed: l.over.on(l.style.laid(column), column), color: l.over.paint}
}

// laid lays the keys of a named style, and of those that it extends, over another style.
func (d *styleDef) laid(s *doc.Style) *doc.Style {
	if d == nil {
		return s
	}
	return d.over.on(d.from.laid(s), s)
}

// cell compiles a cell that begins in a column: a text, or a mapping with text or do.
func (p *rowsReader) cell(n *strictyaml.Node, path string, col int, l *rowLook) cellTemplate {
	c := p.c
	if col < len(p.t.columns) {
		defer c.given(p.t.columns[col].cond.holds())()
	}
	t := cellTemplate{out: doc.Cell{Src: c.source(n, path)}}
	if n.Kind != strictyaml.Mapping {
		if n.Kind != strictyaml.Null { // an empty cell
			t.text = c.rich(n, path)
		}
		p.restyle(&t, nil, col, l)
		return t
	}
	o, _ := c.object(n, path, "a cell")
	if v := o.get("for"); v != nil {
		t.loop = c.loop(v, o.at("for"))
		defer c.endLoop(t.loop)
		switch {
		case col >= len(p.t.columns) || p.t.columns[col].loop == nil:
			c.bad(v, o.at("for"), codeWrong, "give the column a for, too", "a cell with for must be in a column with for")
		case o.n.Get("colspan") != nil:
			c.bad(o.n.Key("colspan"), path, codeKey, "", "a cell has for or colspan, not both")
		}
	}
	style := p.restyle(&t, o, col, l)
	text, do := o.get("text"), o.get("do")
	switch {
	case text != nil && do != nil:
		c.bad(o.n.Key("do"), path, codeKey, "", "a cell has text or do, not both")
	case text != nil:
		t.text = c.rich(text, o.at("text"))
	case do != nil:
		around := c.around
		c.around = style
		t.body = c.blocks(do, o.at("do"))
		c.around = around
	default:
		c.bad(n, path, codeNoKey, "", "a cell has text or do")
	}
	if v := o.get("colspan"); v != nil {
		if v.Text == "all" {
			t.out.Colspan = max(len(p.t.columns)-col, 1)
		} else {
			t.out.Colspan = c.integer(v, o.at("colspan"), 1, 1000)
		}
	}
	mayHave(o, "rowspan", &t.out.Rowspan, c.integerIn(1, 1000))
	if v := o.get("background"); v != nil {
		t.back = c.paint(v, o.at("background"))
		p.t.painted = true
	}
	mayHave(o, "border", &t.out.Border, c.border)
	mayHave(o, "valign", &t.out.VAlign, c.valign)
	mayHave(o, "header", &t.out.Header, c.flag)
	mayHave(o, "rotate", &t.out.Turn, c.turn)
	if v := o.get("padding"); v != nil {
		e := c.edges(v, o.at("padding"))
		t.out.Padding = &e
	}
	p.names(o, &t)
	if v := o.get("link"); v != nil {
		link := c.link(v, o.at("link"))
		if t.text != nil && link != nil {
			t.text.linkTo(link)
		}
	}
	o.done()
	return t
}

// restyle gives a cell its style: that of its column, changed by the row, and then by the keys of
// the cell; a style that the cell names stands in place of both. It returns that style as far as it
// is known without data.
func (p *rowsReader) restyle(t *cellTemplate, o *object, col int, l *rowLook) *doc.Style {
	c := p.c
	column := c.cellStyle(p.t, col, p.part)
	made := l.look(column)
	if l.prog != nil {
		made.name = l.prog
		made.named = c.styleLeaves(l.prog, func(d *styleDef) *doc.Style { return l.over.on(d.laid(column), column) })
	}
	var own look
	if o != nil {
		own = c.ownLook(o, column)
		switch over := own.over; {
		case o.n.Get("style") != nil:
			made = own
		case len(over.set) > 0 || own.color != nil:
			made.fixed = over.on(made.fixed, column)
			for name, s := range made.named {
				made.named[name] = over.on(s, column)
			}
			if own.color != nil || over.colored {
				made.color = own.color
			}
		}
	}
	switch {
	case made.name != nil || made.color != nil:
		t.look = &made
	case made.fixed != column:
		t.out.Style = made.fixed
	}
	if made.fixed != c.base || c.around != nil {
		t.around = made.fixed
	}
	return made.fixed
}
