package layout

import (
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
)

// rowsPerBody bounds a TBody element, so that no element's list of children
// grows with the table. A body is cut only where no row span is open.
const rowsPerBody = 512

// sampleRows is how many rows are read ahead to size auto columns, and to find the place of the
// decimal signs of a column.
const sampleRows = 100

// table is a table being laid out.
type table struct {
	m      *maker
	n      *doc.Table
	src    *doc.Source
	en     env
	elem   *tag.Elem
	w      []doc.Length // of the columns
	x      []doc.Length // of their left edges
	signs  []doc.Length // of decimal columns: where the signs stand in their cells; 0: nowhere
	styles []*doc.Style // of the body cells
	heads  []*doc.Style // of the head cells
	feet   []*doc.Style // of the foot cells
	faces  []*face      // of the cells that were laid out last; nil: none was
	tall   doc.Length   // rows up to this height, or that together are no higher, are short ones
	dx     doc.Length   // of the table in the width it is given
	pad    doc.Edges
	flush  bool // no padding at the outer edges
	rtl    bool // its columns stand from right to left
	stripe int
	body   *tag.Elem // open TBody
	inBody int
	once   bool         // its rows are drawn as they come: their memory is used again
	listed [][]tag.Elem // then, the elements of words in the open body
	free   []tag.Elem   // the last of them, which no word has yet

	plain   bool         // its rows may be rows of words, see words
	columns []wordColumn // then
	odd     int          // the column whose cell there was no word; 0: there was none, or it was the first
	base    doc.Length   // of a row of words: the height of its texts above the baseline
	below   doc.Length   // and below it

	group   *group     // rows that open row spans join
	open    []int      // rows that a span still covers, by column
	carry   doc.Length // the height of the row carried out that was laid out last
	section section    // of the group laid out last
	begun   bool
	headers headers // that its cells name
}

func (m *maker) table(n *doc.Table, en env) (*table, error) {
	en.lang = firstOf(n.Lang, en.lang)
	t := m.mem.tables.One()
	*t = table{m: m, n: n, src: n.Src, en: en}
	if len(n.Columns) == 0 {
		return nil, failed(at(n.Src, "L303", "a table needs columns"))
	}
	if n.Style != nil {
		t.en.style = m.derive(n.Style, derivedPlain)
	}
	var err error
	if t.dx, t.en.width, err = t.en.part(n.Width, n.Align, "the table", t.src); err != nil {
		return nil, err
	}
	switch {
	case n.Padding != nil:
		t.pad = *n.Padding
	default:
		t.pad = doc.CellPadding()
		t.flush = n.Border == nil && len(n.Stripe) == 0 && n.HeadBackground.None() &&
			!slices.ContainsFunc(n.Columns, func(c doc.Column) bool { return !c.Background.None() })
	}
	t.rtl = text.RightToLeft(t.en.lang)
	t.elem = m.elem(en.elem, tag.Table, n.Src, n.Lang)
	t.styles, t.heads = m.mem.columns.Take(len(n.Columns))[:0], m.mem.columns.Take(len(n.Columns))[:0]
	for i := range n.Columns {
		c := &n.Columns[i]
		s := c.Style
		if s == nil {
			s = t.en.style
		}
		h := c.HeadStyle
		if h == nil {
			h = m.derive(s, derivedHead)
		}
		t.styles, t.heads = append(t.styles, s), append(t.heads, h)
	}
	t.feet = t.styles
	if m.theme.TableFoot != nil && len(n.Foot) > 0 {
		t.feet = m.mem.columns.Take(len(t.styles))
		for i, s := range t.styles {
			t.feet[i] = m.derive(s, derivedFoot)
		}
	}
	t.open, t.faces = m.mem.ints.Take(len(n.Columns)), m.mem.columnFaces.Take(len(n.Columns))
	return t, nil
}

// headRows are the rows printed at the top: that of the columns' heads, if any,
// and those of Head.
func (t *table) headRows() []doc.Row {
	rows := t.m.mem.heads.Take(1 + len(t.n.Head))[:0]
	if slices.ContainsFunc(t.n.Columns, func(c doc.Column) bool { return len(c.Head) > 0 }) {
		r := doc.Row{
			Src: t.src, Cells: t.m.mem.headOf.Take(len(t.n.Columns)),
			Background: t.n.HeadBackground, Border: t.n.HeadBorder,
		}
		for i := range t.n.Columns {
			c := &t.n.Columns[i]
			r.Cells[i] = doc.Cell{Src: c.Src, Style: c.HeadStyle, Spans: c.Head, Header: true, VAlign: doc.VAlignBottom}
			if c.ID != "" {
				r.Cells[i].Names = &doc.CellNames{ID: c.ID, IDFrom: c.IDFrom}
			}
		}
		rows = append(rows, r)
	}
	return append(rows, t.n.Head...)
}

// size finds the column widths; sample holds body rows for auto columns.
func (t *table) size(head, sample []doc.Row) error {
	cols := t.m.mem.widths.Take(len(t.n.Columns))
	auto := false
	for i := range cols {
		cols[i] = t.n.Columns[i].Width
		auto = auto || cols[i].Kind == doc.WidthAuto
	}
	lengths := &t.m.mem.lengths
	least, most := lengths.Take(len(cols)), lengths.Take(len(cols))
	if t.decimal() {
		t.signs = lengths.Take(2 * len(cols)) // before and behind the signs, for now
	}
	if auto || t.signs != nil {
		for _, set := range []struct {
			rows []doc.Row
			sec  section
		}{{head, sectionHead}, {sample, sectionBody}, {t.n.Foot, sectionFoot}} {
			open := t.m.mem.ints.Take(len(cols))
			for i := range set.rows {
				if err := t.measure(&set.rows[i], set.sec, open, least, most); err != nil {
					return err
				}
			}
		}
		for i := range cols {
			if t.signs != nil {
				most[i] = max(most[i], t.signs[2*i]+t.signs[2*i+1]+t.side(i, 1))
				if t.signs[2*i] > 0 {
					least[i] = most[i]
				}
			}
			// A column without content has some width all the same.
			least[i] = max(least[i], t.side(i, 1)+doc.Pt)
			most[i] = max(most[i], least[i])
		}
	}
	t.w = widths(lengths.Take(len(cols)), cols, t.en.width, least, most)
	t.x = lengths.Take(len(cols))
	var x doc.Length
	for i, w := range t.w {
		t.x[i] = t.dx + x
		x += w
		if w <= t.side(i, 1) {
			return failed(at(t.src, "L306", "no width is left for column %d: the columns before ask for more than %s", i+1, mm(t.en.width)))
		}
	}
	if x > t.en.width+doc.Length(len(t.w)) {
		d := at(t.src, "L306", "the columns are %s wide in a place of %s", mm(x), mm(t.en.width))
		d.Suggestion = "make them narrower, or give one of them a share, as in 1fr"
		return failed(d)
	}
	t.plain = !t.rtl && t.signs == nil && t.n.Border == nil && !t.m.opt.Trace &&
		!slices.ContainsFunc(t.n.Columns, func(c doc.Column) bool { return !c.Background.None() })
	if t.plain {
		t.columns = t.m.mem.wordColumns.Take(len(cols))
		for i := range t.columns {
			left, right := t.padAt(i, 1)
			t.columns[i] = wordColumn{x: t.x[i] + left, width: t.w[i] - left - right}
		}
	}
	for i := range t.signs[:len(t.signs)/2] {
		before, behind := t.signs[2*i], t.signs[2*i+1]
		if t.signs[i] = 0; before > 0 {
			t.signs[i] = max(t.w[i]-t.side(i, 1)-behind, 1)
		}
	}
	return nil
}

// side is the horizontal padding of a cell from column i over n columns.
func (t *table) side(i, n int) doc.Length {
	l, r := t.padAt(i, n)
	return l + r
}

func (t *table) padAt(i, n int) (left, right doc.Length) {
	left, right = t.pad.Left, t.pad.Right
	if t.flush && i == 0 {
		left = 0
	}
	if t.flush && i+n == len(t.n.Columns) {
		right = 0
	}
	return left, right
}

// padding is that of a cell from column i over n columns.
func (t *table) padding(c *doc.Cell, i, n int) doc.Edges {
	if c.Padding != nil {
		return *c.Padding
	}
	pad := t.pad
	pad.Left, pad.Right = t.padAt(i, n)
	return pad
}

// sign is where the decimal signs of a column stand behind the padding of a cell; 0: nowhere.
func (t *table) sign(col int, padding doc.Length) doc.Length {
	if t.signs[col] == 0 {
		return 0
	}
	left, _ := t.padAt(col, 1)
	return max(t.signs[col]+left-padding, 1)
}

// measure widens least and most by the cells of a row that stand in one auto
// column. open holds the rows that spans from above still cover, by column.
func (t *table) measure(r *doc.Row, sec section, open []int, least, most []doc.Length) error {
	col := 0
	for i := range r.Cells {
		for col < len(open) && open[col] > 0 {
			open[col]--
			col++
		}
		c := &r.Cells[i]
		n := max(c.Colspan, 1)
		if col+n > len(open) {
			return nil // add says what is wrong with the row
		}
		for k := col; k < col+n; k++ {
			open[k] = max(c.Rowspan, 1) - 1
		}
		if n == 1 && t.signs != nil && sec != sectionHead {
			if err := t.measureSigns(c, col, sec); err != nil {
				return err
			}
		}
		if n == 1 && t.n.Columns[col].Width.Kind == doc.WidthAuto {
			if err := t.measureCell(c, col, sec, &least[col], &most[col]); err != nil {
				return err
			}
		}
		col += n
	}
	for ; col < len(open); col++ {
		open[col] = max(open[col]-1, 0)
	}
	return nil
}

func (t *table) measureCell(c *doc.Cell, col int, sec section, least, most *doc.Length) error {
	en := env{style: t.cellStyle(c, col, sec), lang: t.en.lang}
	var lo, hi doc.Length
	if c.Turn != 0 { // as wide as its lines are high
		en.width = t.en.width
		b, err := t.turned(c, en, nil, c.Src)
		if err != nil {
			return err
		}
		lo = b.(*turned).body.size() //nolint:forcetypeassert // it makes no other block
		hi = lo
	} else if err := t.m.extent(nodesOf(c), en, &lo, &hi); err != nil {
		return err
	}
	pad := t.padding(c, col, 1)
	side := pad.Left + pad.Right
	*least, *most = max(*least, lo+side), max(*most, hi+side)
	return nil
}

// nodesOf are the blocks of a cell, or its text as one.
func nodesOf(c *doc.Cell) []doc.Node {
	if len(c.Nodes) > 0 {
		return c.Nodes
	}
	return []doc.Node{&doc.Text{Block: doc.Block{Src: c.Src}, Spans: c.Spans}}
}

// turned lays out a cell whose content is turned.
func (t *table) turned(c *doc.Cell, en env, el *tag.Elem, src *doc.Source) (block, error) {
	return t.m.turned(nodesOf(c), c.Turn, 0, en, src, func(en env) (*stack, error) {
		if len(c.Nodes) > 0 {
			return t.m.stack(c.Nodes, en)
		}
		b, err := t.m.text(c.Spans, en, el, src, c.Link)
		return &stack{[]entry{{b: b, src: src}}}, err
	})
}

// decimal reports whether the numbers of some column stand on their decimal signs.
func (t *table) decimal() bool {
	return slices.ContainsFunc(t.styles, func(s *doc.Style) bool { return s.Align == doc.AlignDecimal })
}

// measureSigns widens what is kept before and behind the decimal signs of a column by a cell.
func (t *table) measureSigns(c *doc.Cell, col int, sec section) error {
	style := t.cellStyle(c, col, sec)
	if style.Align != doc.AlignDecimal || len(c.Nodes) > 0 {
		return nil
	}
	f, err := t.m.face(style, c.Src)
	if err != nil {
		return err
	}
	en := env{style: style, lang: t.en.lang}
	if err := t.m.spans(&para{face: f}, c.Spans, en, nil, c.Src, ""); err != nil {
		return err
	}
	before, behind, err := t.m.set.AroundSign(t.m.pieces, t.m.decimal)
	if err != nil {
		return t.m.setError(err, c.Src, en, c.Spans)
	}
	left, right := t.padAt(col, 1)
	pad := t.padding(c, col, 1)
	t.signs[2*col] = max(t.signs[2*col], before+max(pad.Left-left, 0))
	t.signs[2*col+1] = max(t.signs[2*col+1], behind+max(pad.Right-right, 0))
	return nil
}

func (t *table) cellStyle(c *doc.Cell, col int, sec section) *doc.Style {
	switch {
	case c.Style != nil:
		return t.m.derive(c.Style, derivedPlain)
	case sec == sectionHead:
		return t.heads[col]
	case sec == sectionFoot:
		return t.feet[col]
	default:
		return t.styles[col]
	}
}

// section tells which part of the table a row belongs to.
type section uint8

const (
	sectionHead section = iota
	sectionBody
	sectionFoot
	sectionCarry // what is printed where a page ends
)

// add lays out a row. It returns the group that the row completes, nil while a
// row span is open.
func (t *table) add(r *doc.Row, sec section, parent *tag.Elem) (*group, error) {
	src := r.Src
	if src == nil {
		src = t.src
	}
	if t.group != nil && len(r.Cells) == 0 && !slices.Contains(t.open, 0) {
		return t.fold(r), nil
	}
	plain := t.plain && t.group == nil && sec == sectionBody
	if t.group == nil {
		t.beginGroup(sec)
	}
	g := t.group
	g.keep = g.keep || r.Keep
	back := r.Background
	if sec == sectionBody && len(t.n.Stripe) > 0 {
		if back.None() {
			back = t.n.Stripe[t.stripe%len(t.n.Stripe)]
		}
		t.stripe++
	}
	row := len(g.rows)
	g.rows = append(g.rows, groupRow{least: r.Height, back: back, border: r.Border})
	if plain && t.words(g, r) {
		if t.m.tagged() {
			t.wordElems(g, r, parent, src)
		}
		t.group = nil
		return g, nil
	}
	tr := t.m.elem(parent, tag.TR, src, "")
	if g.elem = tr; row > 0 {
		g.elem = nil
	}
	g.lined = g.lined || r.Border != nil
	if len(g.cells) == 0 && cap(g.cells) < len(r.Cells) {
		g.cells = t.cells(sec, len(r.Cells))
	}
	col := 0
	for i := range r.Cells {
		for col < len(t.open) && t.open[col] > 0 {
			col++
		}
		n := max(r.Cells[i].Colspan, 1)
		if col+n > len(t.open) {
			return nil, failed(at(src, "L303", "the row has more cells than the table has columns (%d)", len(t.open)))
		}
		if slices.ContainsFunc(t.open[col:col+n], func(k int) bool { return k > 0 }) {
			return nil, failed(at(src, "L303", "cell %d spans columns that a cell above spans already", i+1))
		}
		if err := t.cell(g, &r.Cells[i], row, col, n, sec, tr, src); err != nil {
			return nil, err
		}
		col += n
	}
	return t.closeRow(g, src, col)
}

// beginGroup begins a group of rows.
func (t *table) beginGroup(sec section) {
	var g *group
	switch {
	case t.once && sec == sectionBody:
		g = t.m.mem.again.group()
	case sec == sectionCarry:
		g = &group{}
	default:
		g = t.m.mem.groups.One()
		g.rows = t.m.mem.rows.Take(1)[:0]
	}
	g.t, g.section, g.first, g.starts = t, sec, sec != t.section || !t.begun, !t.begun
	t.section, t.begun, t.group = sec, true, g
}

// cells returns memory for the n cells of a row.
func (t *table) cells(sec section, n int) []groupCell {
	switch {
	case t.once && sec == sectionBody:
		return t.m.mem.again.cells.Take(n)[:0]
	case sec == sectionCarry: // few and far between: in a block they would keep what lies beside their texts
		return make([]groupCell, 0, n)
	default:
		return t.m.mem.cells.Take(n)[:0]
	}
}

// closeRow checks that the row covers every column and closes the group when no
// span is open.
func (t *table) closeRow(g *group, src *doc.Source, col int) (*group, error) {
	for col < len(t.open) && t.open[col] > 0 {
		col++
	}
	if col < len(t.open) {
		return nil, failed(at(src, "L303", "the row covers %d of the table's %d columns", col, len(t.open)))
	}
	for i := range t.open {
		if t.open[i] < 0 {
			t.open[i] = -t.open[i] // spans that begin in this row
		}
	}
	return t.pass(g), nil
}

// pass takes one row off the open spans, and closes g, which it returns, when that was the
// last row of all of them.
func (t *table) pass(g *group) *group {
	rest := 0
	for i := range t.open {
		t.open[i] = max(t.open[i]-1, 0)
		rest = max(rest, t.open[i])
	}
	if rest > 0 {
		return nil
	}
	t.group = nil
	g.settle()
	return g
}

// fold leaves out row r, which cells from above cover wholly: each of them spans one row
// less. A row without cells may not be written (ISO 14289-2, 8.2.5.26; ISO 32000-2,
// 14.8.4.8.3), and it would have no height of its own.
func (t *table) fold(r *doc.Row) *group {
	g := t.group
	g.keep = g.keep || r.Keep
	for i := range g.cells {
		if c := &g.cells[i]; c.row+c.rows > len(g.rows) {
			c.rows--
			if c.elem != nil {
				c.elem.Rowspan--
			}
		}
	}
	return t.pass(g)
}

func (t *table) cell(g *group, c *doc.Cell, row, col, n int, sec section, tr *tag.Elem, src *doc.Source) error {
	if c.Src != nil {
		src = c.Src
	}
	rows := max(c.Rowspan, 1)
	for i := col; i < col+n; i++ {
		t.open[i] = -rows
	}
	g.cells = slices.Grow(g.cells, 1)[:len(g.cells)+1]
	gc := &g.cells[len(g.cells)-1]
	*gc = groupCell{row: row, col: col, rows: rows, cols: n, back: c.Background, border: c.Border, valign: c.VAlign, src: c.Src}
	if gc.back.None() && g.rows[row].back.None() && sec == sectionBody && n == 1 {
		gc.back = t.n.Columns[col].Background
	}
	g.lined = g.lined || c.Border != nil
	gc.x = t.x[col]
	gc.w = t.x[col+n-1] + t.w[col+n-1] - gc.x
	pad := t.padding(c, col, n)
	gc.left, gc.top, gc.bottom = pad.Left, pad.Top, pad.Bottom
	if t.rtl {
		gc.x, gc.left = t.x[0]+t.x[len(t.x)-1]+t.w[len(t.w)-1]-gc.x-gc.w, pad.Right
	}
	width := gc.w - pad.Left - pad.Right
	if width <= 0 {
		return failed(at(src, "L306", "the padding of the cell leaves no width of %s", mm(gc.w)))
	}
	signs := t.signs != nil && n == 1 && sec != sectionHead
	style := t.cellStyle(c, col, sec)
	if len(c.Nodes) == 0 && c.Turn == 0 && c.Link == "" && !t.rtl && !signs {
		f, err := t.face(style, col, src)
		if err != nil {
			return err
		}
		var one Word
		in := wordColumn{face: f, width: width}
		if f.simple && len(c.Spans) == 1 && plainText(&c.Spans[0]) && in.word(&one, c.Spans[0].Text) {
			w := t.wordBody(sec)
			w.face, w.art = f, t.m.art
			if w.Word = one; t.m.tagged() {
				w.Elem = t.wordElem(sec)
				t.begin(w.Elem, c, col, n, rows, sec, tr, src)
			}
			gc.body, gc.elem = w, w.Elem
			return t.name(c, col, n, sec, w.Elem, src)
		}
	}
	var el *tag.Elem
	if t.m.tagged() {
		el = t.m.mem.elems.One()
		t.begin(el, c, col, n, rows, sec, tr, src)
	}
	gc.elem = el
	if err := t.name(c, col, n, sec, el, src); err != nil {
		return err
	}
	en := env{style: style, elem: el, width: width, lang: t.en.lang, room: oneColumn, around: pad.Left + pad.Right}
	switch {
	case n > 1:
		en.room = manyColumns
	case signs:
		en.sign = t.sign(col, pad.Left)
	}
	var err error
	switch {
	case c.Turn != 0:
		gc.body, err = t.turned(c, en, el, src)
	case len(c.Nodes) > 0:
		gc.body, err = t.m.stack(c.Nodes, en)
	default:
		gc.body, err = t.m.text(c.Spans, en, el, src, c.Link)
	}
	return err
}

// face returns the face of a style, as it was asked for last in a column.
func (t *table) face(style *doc.Style, col int, src *doc.Source) (*face, error) {
	if f := t.faces[col]; f != nil && f.style == style {
		return f, nil
	}
	f, err := t.m.face(style, src)
	t.faces[col] = f
	return f, err
}

// wordBody returns the memory of a cell of one word.
func (t *table) wordBody(sec section) *word {
	if t.once && sec == sectionBody {
		return t.m.mem.again.word()
	}
	return t.m.mem.words.One()
}

// wordElem returns an element for a cell of one word.
func (t *table) wordElem(sec section) *tag.Elem {
	if !t.once || sec != sectionBody {
		return t.m.mem.elems.One()
	}
	if len(t.free) == 0 {
		t.free = t.rowElems(1 + len(t.open))
	}
	el := &t.free[0]
	t.free = t.free[1:]
	return el
}

// begin makes el the element of a cell.
func (t *table) begin(el *tag.Elem, c *doc.Cell, col, cols, rows int, sec section, tr *tag.Elem, src *doc.Source) {
	role, scope := t.role(c, col, cols, sec)
	t.m.begin(el, tr, role, src, "")
	el.Scope, el.Colspan, el.Rowspan = scope, cols, rows
}

// role is what the element of a cell is.
func (t *table) role(c *doc.Cell, col, cols int, sec section) (tag.Type, tag.Scope) {
	switch {
	case sec == sectionHead:
		return tag.TH, tag.ScopeColumn
	case c.Header || sec == sectionBody && t.n.Columns[col].RowHeader && cols == 1:
		return tag.TH, tag.ScopeRow
	default:
		return tag.TD, tag.ScopeNone
	}
}

// bodyElem returns the TBody that the next row belongs to.
func (t *table) bodyElem() *tag.Elem {
	if t.body == nil {
		t.body = t.m.elem(t.elem, tag.TBody, t.src, "")
		t.inBody = 0
	}
	return t.body
}

// head lays out the head rows. It returns the head as a block and how to print
// it again, nil when it is printed once or there is none.
func (t *table) head(rows []doc.Row) (first, again *stack, err error) {
	if len(rows) == 0 {
		return nil, nil, nil
	}
	lay := func(parent *tag.Elem) (*stack, error) {
		st := t.m.mem.stacks.One()
		st.entries = t.m.mem.entries.Take(len(rows))[:0]
		for i := range rows {
			g, err := t.add(&rows[i], sectionHead, parent)
			if err != nil {
				return nil, err
			}
			if g != nil {
				st.entries = append(st.entries, entry{b: g, keepNext: true})
			}
		}
		if t.group != nil {
			return nil, failed(at(t.src, "L303", "a row span reaches beyond the head rows"))
		}
		if n := len(st.entries); n > 0 {
			st.entries[n-1].b.(*group).last = true
		}
		return st, nil
	}
	notes, number, numbers := t.m.notes, t.m.number, t.m.numbers
	if first, err = lay(t.m.elem(t.elem, tag.THead, t.src, "")); err != nil || t.n.HeadOnce {
		return first, nil, err
	}
	// The notes of the head are those of its first time, and so are their numbers and those of
	// headings.
	lastNote, lastNumber := t.m.notes, t.m.number
	t.m.notes, t.m.number, t.m.numbers, t.m.headAgain = notes, number, numbers, true
	defer func() { t.m.notes, t.m.number, t.m.headAgain = lastNote, lastNumber, false }()
	// Printed again, the head is an artifact: its cells are in the tree once.
	art := t.m.art
	if art == ArtifactNone {
		t.m.art = ArtifactRepeat
	}
	again, err = lay(nil)
	t.m.art = art
	if again != nil && len(again.entries) > 0 {
		again.entries[0].b.(*group).starts = true // a new part of the table
	}
	return first, again, err
}

// caption lays out the caption; nil when there is none.
func (t *table) caption() (*entry, error) {
	if len(t.n.Caption) == 0 {
		return nil, nil
	}
	s := t.n.CaptionStyle
	if s == nil {
		s = t.m.theme.Caption
	}
	if s == nil {
		s = t.m.derive(t.en.style, derivedCaption)
	}
	el := t.m.elem(t.elem, tag.Caption, t.src, "")
	b, err := t.m.text(t.n.Caption, env{style: s, elem: el, width: t.en.width, lang: t.en.lang}, el, t.src, "")
	if err != nil {
		return nil, err
	}
	if t.dx > 0 {
		b = &labelled{bodyX: t.dx, body: &stack{entries: []entry{{b: b}}}}
	}
	return &entry{b: b, before: s.SpaceBefore, after: s.SpaceAfter, keepNext: true, src: t.src}, nil
}

// cloneRow copies a row that has to outlive the next one.
func cloneRow(r *doc.Row) doc.Row {
	c := *r
	c.Cells = slices.Clone(r.Cells)
	for i := range c.Cells {
		c.Cells[i].Spans = slices.Clone(c.Cells[i].Spans)
		c.Cells[i].Nodes = slices.Clone(c.Cells[i].Nodes)
	}
	return c
}
