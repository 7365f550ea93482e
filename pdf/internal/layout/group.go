package layout

import (
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// group is one table row, or the rows that row spans tie together. It is also
// what Beside is made of: one row without lines.
type group struct {
	t       *table // nil for Beside
	section section
	first   bool // the first of its section: the foot has a heavier line above it
	last    bool // the last of the head: it has a heavier line below
	starts  bool // nothing of the table is above
	ends    bool // nothing of the table is below
	keep    bool
	even    bool // the cells begin at the top, wherever their first lines stand
	once    bool // it is drawn once, and then its memory is another's
	lined   bool // some row or cell has a border of its own
	rows    []groupRow
	cells   []groupCell
	words   []Word     // in the place of cells, of a row that has nothing else; see table.words
	art     Artifact   // of words
	elem    *tag.Elem  // that of the row, when it is one
	elems   []tag.Elem // of the row of words, if that is drawn once
	least   doc.Length // that the row of words is high for its texts
}

type groupRow struct {
	h      doc.Length
	y      doc.Length // where it is drawn
	base   doc.Length // the lowest of the first baselines
	least  doc.Length // it is at least as high
	back   doc.Color
	border *doc.Border
}

type groupCell struct {
	row, col, rows, cols int
	x, w                 doc.Length // of the whole cell
	left, top, bottom    doc.Length // padding
	body                 block
	back                 doc.Color
	border               *doc.Border
	valign               doc.VAlign
	drop                 doc.Length // to the common baseline of the row
	based                bool       // its first line stands there
	elem                 *tag.Elem
	src                  *doc.Source
}

// settle finds the heights. The first lines of a row stand on one baseline,
// whatever their sizes.
func (g *group) settle() {
	rows, cells := g.rows, g.cells
	for r := range rows {
		rows[r].h, rows[r].base = rows[r].least, 0
	}
	for i := range cells {
		c := &cells[i]
		c.drop, c.based = 0, false
		if c.valign == doc.VAlignTop && !g.even {
			if c.drop, c.based = c.body.baseline(); c.based {
				row := &rows[c.row]
				row.base = max(row.base, c.top+c.drop)
			}
		}
	}
	spans := false
	for i := range cells {
		c := &cells[i]
		row := &rows[c.row]
		if c.based {
			c.drop = row.base - c.top - c.drop
		} else {
			c.drop = 0
		}
		if c.rows == 1 {
			row.h = max(row.h, c.high())
		} else {
			spans = true
		}
	}
	if !spans {
		return
	}
	// A cell over several rows widens the last of them when it needs more.
	for i := range g.cells {
		c := &g.cells[i]
		if c.rows < 2 {
			continue
		}
		need := c.high()
		if have := g.height(c.row, c.rows); have < need {
			g.rows[c.row+c.rows-1].h += need - have
		}
	}
}

// high is the height of a cell with its padding.
func (c *groupCell) high() doc.Length { return c.top + c.drop + c.body.size() + c.bottom }

func (g *group) height(from, n int) (h doc.Length) {
	for i := range g.rows[from : from+n] {
		h += g.rows[from+i].h
	}
	return h
}

func (g *group) size() doc.Length { return g.height(0, len(g.rows)) }

func (g *group) baseline() (doc.Length, bool) {
	if len(g.words) > 0 {
		return g.t.pad.Top + g.rows[0].base, true
	}
	if len(g.cells) == 0 {
		return 0, false
	}
	c := &g.cells[0]
	b, ok := c.body.baseline()
	return c.top + c.drop + b, ok
}

func (g *group) split(avail doc.Length, force bool) (block, block) {
	if g.size() <= avail {
		return g, nil
	}
	if g.keep || !force && len(g.rows) > 1 && g.size() <= g.t.tall {
		return nil, g
	}
	if len(g.words) > 0 {
		return g.cutWords(avail, force)
	}
	// Inside the row that does not fit, else above it.
	var y doc.Length
	row := 0
	for row < len(g.rows) && y+g.rows[row].h <= avail {
		y += g.rows[row].h
		row++
	}
	if row == 0 {
		return g.cutAt(0, avail, true, force)
	}
	if head, tail := g.cutAt(row, avail, true, false); head != nil {
		return head, tail
	}
	return g.cutAt(row, y, false, force)
}

// cutAt splits the group at height h: before row, or inside it. Cells that the
// cut goes through are split; what does not fit above moves below.
func (g *group) cutAt(row int, h doc.Length, inside, force bool) (block, block) {
	if inside && !force && len(g.rows) == 1 && g.wordsAlone() {
		return nil, g // they cannot be cut
	}
	head, tail := *g, *g
	head.cells, tail.cells, head.words, tail.words = nil, nil, nil, nil
	head.ends, tail.first, tail.starts = false, false, false
	rowsAbove := row
	if inside {
		rowsAbove = row + 1
	}
	head.rows = append([]groupRow(nil), g.rows[:rowsAbove]...)
	tail.rows = append([]groupRow(nil), g.rows[row:]...)
	moved := false
	for i := range g.cells {
		c := g.cells[i]
		switch {
		case c.row+c.rows <= row:
			head.cells = append(head.cells, c)
		case c.row > row || !inside && c.row >= row:
			c.row -= row
			tail.cells = append(tail.cells, c)
		default:
			a, b := c, c
			a.rows = rowsAbove - c.row
			b.row, b.rows = 0, c.row+c.rows-row
			y := g.height(0, c.row) + c.top + c.drop
			one, two := c.body.split(h-y-c.bottom, force)
			if two == nil {
				two = space{}
			} else {
				b.valign = doc.VAlignTop
			}
			if one == nil {
				if c.body.size() > 0 && c.rows == 1 {
					return nil, g // its row cannot begin here
				}
				one = space{}
			} else if one.size() > 0 {
				moved = true
			}
			a.valign = doc.VAlignTop
			a.body, b.body = one, two
			head.cells, tail.cells = append(head.cells, a), append(tail.cells, b)
		}
	}
	if inside && !moved {
		return nil, g
	}
	if inside && len(g.rows) == 1 && tail.empty() { // it is high by what was asked for alone
		if !force {
			return nil, g
		}
		head = *g
		head.rows, head.cells, head.words = []groupRow{g.rows[0]}, slices.Clone(g.cells), nil
		head.rows[0].least = h
		head.settle()
		return &head, nil
	}
	if inside {
		above := h - g.height(0, row)
		head.rows[row].least = min(head.rows[row].least, above)
		tail.rows[0].least = max(tail.rows[0].least-above, 0)
	}
	head.settle()
	tail.settle()
	return &head, &tail
}

// wordsAlone reports whether every cell is one word.
func (g *group) wordsAlone() bool {
	for i := range g.cells {
		if _, ok := g.cells[i].body.(*word); !ok {
			return false
		}
	}
	return true
}

// empty reports whether nothing is left in any cell.
func (g *group) empty() bool {
	return !slices.ContainsFunc(g.cells, func(c groupCell) bool { return c.body.size() > 0 })
}

func (g *group) draw(p *painter, x, y doc.Length) {
	var left, w doc.Length
	if g.t != nil {
		left, w = x+g.t.x[0], g.t.x[len(g.t.x)-1]+g.t.w[len(g.t.w)-1]-g.t.x[0]
	}
	ry := y
	for r := range g.rows {
		row := &g.rows[r]
		row.y = ry
		p.fill(left, ry, w, row.h, row.back)
		ry += row.h
	}
	if len(g.words) > 0 {
		words := p.words.Take(len(g.words))
		copy(words, g.words)
		p.wordsAt(x, y+g.t.pad.Top+g.rows[0].base, words, g.art)
	}
	for i := range g.cells {
		c := &g.cells[i]
		cy, ch := g.rows[c.row].y, g.rows[c.row].h
		if c.rows > 1 {
			ch = g.height(c.row, c.rows)
		}
		back := c.back
		if back.None() && c.rows > 1 {
			back = g.rows[c.row].back // one colour over all its rows
		}
		if !back.None() {
			p.fill(x+c.x, cy, c.w, ch, back)
		}
		dy := c.top + c.drop
		switch c.valign {
		case doc.VAlignMiddle:
			dy = max(c.top, (ch-c.body.size())/2)
		case doc.VAlignBottom:
			dy = max(c.top, ch-c.bottom-c.body.size())
		}
		c.body.draw(p, x+c.x+c.left, cy+dy)
		if p.trace && c.src != nil {
			p.page.Areas = append(p.page.Areas, Area{Rect{X: x + c.x, Y: cy, W: c.w, H: ch}, c.src})
		}
	}
	if g.t != nil {
		g.lines(p, x, y, left, w)
	}
	if g.lined {
		g.borders(p, x, y, left, left+w)
	}
}

// lines draws those of the table: none at the sides when it has no border of its own.
func (g *group) lines(p *painter, x, y, left, w doc.Length) {
	if b := g.t.n.Border; b != nil {
		g.grid(p, x, y, left, left+w, b)
		return
	}
	rules := &g.t.m.rules
	h := g.size()
	across := func(y doc.Length, l doc.Line) { p.level(left, y, w, l, rankTable) }
	if g.starts && g.rows[0].border == nil {
		across(y, rules.Top)
	}
	if g.ends && g.rows[len(g.rows)-1].border == nil {
		across(y+h, rules.Bottom)
	}
	if g.section == sectionFoot {
		switch {
		case g.rows[0].border != nil:
		case g.first:
			across(y, rules.Head)
		default:
			across(y, rules.Rows)
		}
		return
	}
	ry := y
	for r := range g.rows {
		ry += g.rows[r].h
		last := r == len(g.rows)-1
		switch {
		case g.rows[r].border != nil: // it has its own
		case last && g.section == sectionHead && g.last:
			across(ry, rules.Head)
		case !last:
			g.between(p, x, ry, r)
		case !g.ends || rules.Bottom.Width == 0:
			across(y+h, rules.Rows)
		}
	}
}

// between draws the line below row r, but through no cell.
func (g *group) between(p *painter, x, y doc.Length, r int) {
	for i := range g.cells {
		if c := &g.cells[i]; c.row+c.rows == r+1 {
			p.level(x+c.x, y, c.w, g.t.m.rules.Rows, rankTable)
		}
	}
}

// grid draws the lines around the cells. They stand centred on the cell edges,
// so neighbours share them.
func (g *group) grid(p *painter, x, y, left, right doc.Length, b *doc.Grid) {
	for i := range g.cells {
		c := &g.cells[i]
		around := doc.Border{Top: b.Rows, Right: b.Columns, Bottom: b.Rows, Left: b.Columns}
		if g.starts && c.row == 0 {
			around.Top = b.Top
		}
		if g.ends && c.row+c.rows == len(g.rows) {
			around.Bottom = b.Bottom
		}
		if x+c.x == left {
			around.Left = b.Left
		}
		if x+c.x+c.w == right {
			around.Right = b.Right
		}
		p.around(x+c.x, y+g.height(0, c.row), c.w, g.height(c.row, c.rows), &around, rankTable)
	}
}

// borders draws those that rows and cells have of their own. A row that a cell from above reaches
// into has no line through it.
func (g *group) borders(p *painter, x, y, left, right doc.Length) {
	for i := range g.cells {
		c := &g.cells[i]
		if c.border == nil && g.rows[c.row].border == nil && g.rows[c.row+c.rows-1].border == nil {
			continue
		}
		cy, ch := y+g.height(0, c.row), g.height(c.row, c.rows)
		var of doc.Border
		if b := g.rows[c.row].border; b != nil {
			of.Top = b.Top
			if x+c.x == left {
				of.Left = b.Left
			}
			if x+c.x+c.w == right {
				of.Right = b.Right
			}
		}
		if b := g.rows[c.row+c.rows-1].border; b != nil {
			of.Bottom = b.Bottom
		}
		p.around(x+c.x, cy, c.w, ch, &of, rankRow)
		if c.border != nil {
			p.around(x+c.x, cy, c.w, ch, c.border, rankCell)
		}
	}
}

// beside lays out cells side by side.
func (m *maker) beside(n *doc.Beside, en env) (block, error) {
	cols := n.Widths
	if len(cols) != len(n.Cells) {
		cols = m.mem.widths.Take(len(n.Cells))
		copy(cols, n.Widths)
	}
	total := en.width - n.Gap*doc.Length(max(len(cols)-1, 0))
	least, most := m.mem.lengths.Take(len(cols)), m.mem.lengths.Take(len(cols))
	for i, w := range cols {
		if w.Kind == doc.WidthAuto {
			if err := m.extent(n.Cells[i], en, &least[i], &most[i]); err != nil {
				return nil, err
			}
		}
	}
	g := m.mem.groups.One()
	g.rows, g.cells = m.mem.rows.Take(1), m.mem.cells.Take(len(cols))[:0]
	var x doc.Length
	for i, w := range widths(m.mem.lengths.Take(len(cols)), cols, total, least, most) {
		blank := cols[i].Kind == doc.WidthAuto && most[i] == 0 // its text is empty
		if w <= 0 && len(n.Cells[i]) > 0 && !blank || x+w > en.width+doc.Length(len(cols)) {
			return nil, failed(at(n.Src, "L306", "no width is left for cell %d", i+1))
		}
		st, err := m.stack(n.Cells[i], env{style: en.style, elem: en.elem, width: w, lang: en.lang, room: oneCell})
		if err != nil {
			return nil, err
		}
		left := x
		if text.RightToLeft(en.lang) {
			left = en.width - x - w
		}
		g.cells = append(g.cells, groupCell{col: i, rows: 1, cols: 1, x: left, w: w, body: st, valign: n.VAlign})
		x += w + n.Gap
	}
	g.even = n.Stretch
	if g.settle(); n.Stretch {
		g.stretch()
	}
	return g, nil
}

// stretch makes the boxes that end the cells of a row as high as fills the row.
func (g *group) stretch() {
	for i := range g.cells {
		c := &g.cells[i]
		st := c.body.(*stack) //nolint:forcetypeassert // those of Beside hold nothing else
		if len(st.entries) == 0 {
			continue
		}
		if b, ok := st.entries[len(st.entries)-1].b.(*box); ok {
			b.least = b.size() + g.rows[0].h - st.size()
		}
	}
	g.settle()
}

// extent measures the nodes of an auto-wide cell: texts, images and barcodes.
func (m *maker) extent(nodes []doc.Node, en env, least, most *doc.Length) error {
	numbers := m.numbers
	defer func() { m.numbers = numbers }() // nothing is counted yet
	for _, n := range nodes {
		var spans []doc.Span
		style := en.style
		switch n := n.(type) {
		case *doc.Text:
			spans = n.Spans
		case *doc.Heading:
			spans = m.withNumber(n).Spans
			if n.Style == nil {
				style = m.heading(en.style, n.Level)
			}
		case *doc.Image:
			_, iw, ih, err := m.open(n)
			if err != nil {
				return err
			}
			w, _ := shown(n, iw, ih)
			if n.Width > 0 || n.Height > 0 { // others are made smaller where there is less room
				*least = max(*least, w)
			}
			*most = max(*most, w)
			continue
		case *doc.Barcode:
			_, w, err := m.symbol(n)
			if err != nil {
				return err
			}
			*least, *most = max(*least, w), max(*most, w)
			continue
		default:
			d := at(n.Common().Src, "L306", "the width auto holds texts, images and barcodes only")
			d.Suggestion = "give a width, as in 30mm or 1fr"
			return failed(d)
		}
		if s := n.Common().Style; s != nil {
			style = s
		}
		f, err := m.face(style, n.Common().Src)
		if err != nil {
			return err
		}
		if err := m.spans(&para{face: f}, spans, en, nil, n.Common().Src, ""); err != nil {
			return err
		}
		lo, hi, err := m.set.Measure(m.pieces)
		if err != nil {
			return m.setError(err, n.Common().Src, en, spans)
		}
		beside := style.MarginLeft + style.MarginRight + max(style.Indent, -style.Indent)
		*least, *most = max(*least, lo+beside), max(*most, hi+beside)
	}
	return nil
}
