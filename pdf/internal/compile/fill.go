package compile

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/exprlang"
	"example.com/quire/pdf/internal/diag"
)

// batch gathers the texts of a row in one piece of memory: one string is made of
// them all, whatever the count of cells.
type batch struct {
	spans []doc.Span
	cells []doc.Cell
	buf   []byte
	fixes []fix
	row   *row     // whose cells these are, when its texts alone change from one time to the next; else nil
	texts []filled // then, the texts of the row
}

// keptTexts gathers the strings of a document: many share one piece of memory, which lives as long
// as any of them.
type keptTexts struct{ piece strings.Builder }

// leastTexts and mostTexts bound a piece of memory for texts.
const leastTexts, mostTexts = 512, 4096

// filled is a span whose text is made of data, of a row that is made again and again.
type filled struct {
	to    *doc.Span
	parts []part // none: the layout knows its text
	end   int    // of its text in the buffer
}

// fix is a text of the batch that waits for its string.
type fix struct {
	to         *string
	start, end int
}

func (b *batch) reset() {
	b.spans, b.cells, b.buf, b.fixes, b.row, b.texts = b.spans[:0], b.cells[:0], b.buf[:0], b.fixes[:0], nil, b.texts[:0]
}

// poison overwrites what the batch has with a marker, and forgets it.
func (b *batch) poison() {
	const marker = "POISON"
	for i := range b.spans {
		b.spans[i] = doc.Span{Text: marker, Link: marker}
	}
	for i := range b.cells {
		b.cells[i] = doc.Cell{Spans: []doc.Span{{Text: marker}}}
	}
	*b = batch{}
}

// clear forgets the rows of a document.
func (b *batch) clear() {
	if cap(b.spans)+cap(b.cells)+cap(b.fixes)+cap(b.texts) > mostKept || cap(b.buf) > 64*mostKept {
		*b = batch{}
	}
	clear(b.spans[:cap(b.spans)])
	clear(b.cells[:cap(b.cells)])
	clear(b.fixes[:cap(b.fixes)])
	clear(b.texts[:cap(b.texts)])
	clear(b.buf[:cap(b.buf)])
	b.reset()
}

// finish gives the waiting texts their strings.
func (r *render) finish() {
	b := r.batch
	s := r.mem.kept.text(b.buf)
	for _, f := range b.fixes {
		*f.to = s[f.start:f.end]
	}
	clear(b.fixes)
	b.buf, b.fixes = b.buf[:0], b.fixes[:0]
}

// text returns what buf holds as a string.
func (k *keptTexts) text(buf []byte) string {
	p := &k.piece
	if p.Cap()-p.Len() < len(buf) {
		size := min(max(2*p.Cap(), leastTexts), mostTexts)
		*p = strings.Builder{}
		p.Grow(max(size, len(buf)))
	}
	from := p.Len()
	p.Write(buf)
	return p.String()[from:]
}

// parts appends the text of parts to the batch. What a block that waits in
// memory holds is bounded with it.
func (r *render) parts(parts []part) error {
	b := r.batch
	before := len(b.buf)
	for i := range parts {
		switch p := &parts[i]; {
		case p.prog == nil:
			b.buf = append(b.buf, p.lit...)
		case r.blank(p.prog):
			b.buf = append(b.buf, ' ') // so that what is around it is not one word
		default:
			buf, err := p.prog.Append(r.m, b.buf)
			if err != nil {
				return r.fault(err, p.at)
			}
			b.buf = buf
		}
	}
	r.held += int64(len(b.buf) - before)
	if r.held <= r.most {
		return nil
	}
	for _, p := range parts {
		if p.at != nil {
			return r.fault(&exprlang.Error{Code: exprlang.CodeMemory, Message: "the blocks take too much memory"}, p.at)
		}
	}
	return r.limit(nil, exprlang.CodeMemory, "the blocks take too much memory")
}

// plain returns the text of a plainText.
func (r *render) plain(t *plainText) (string, error) {
	if t == nil {
		return "", nil
	}
	if s, ok := t.known(); ok {
		return s, nil
	}
	start := len(r.batch.buf)
	err := r.parts(t.parts)
	s := string(r.batch.buf[start:])
	r.batch.buf = r.batch.buf[:start]
	return s, err
}

// link returns the target of a link. One that is a single missing value is no
// link; one that is made of data leads where links may.
func (r *render) link(t *plainText) (string, error) {
	if t == nil {
		return "", nil
	}
	s, known := t.known()
	if known || r.static != withData {
		return s, nil
	}
	if len(t.parts) == 1 {
		p := t.parts[0]
		v, err := p.prog.Eval(r.m)
		if err != nil {
			return "", r.fault(err, p.at)
		}
		if s = v.Str(); s == "" {
			s = string(v.AppendText(nil))
		}
		if s == "" {
			return "", nil
		}
	} else {
		var err error
		if s, err = r.plain(t); err != nil {
			return "", err
		}
	}
	if !MayLead(s) {
		at := t.parts[0].at
		for _, p := range t.parts {
			if p.at != nil {
				at = p.at
				break
			}
		}
		err := r.fault(&exprlang.Error{Code: exprlang.CodeValue, Message: quoted(s) + " is not a valid link"}, at)
		if de, ok := err.(*diag.DiagnosticError); ok { //nolint:errorlint // made above
			de.Diagnostics[0].Suggestion = linkHint
		}
		return "", err
	}
	return s, nil
}

// rich returns the spans of a text, ready to keep.
func (r *render) rich(t *richText) ([]doc.Span, error) {
	if t == nil || t.static != nil {
		return t.fixed(), nil
	}
	spans := r.mem.spans.Take(len(t.spans))
	for i := range t.spans {
		s := &t.spans[i]
		spans[i] = s.fixed
		var err error
		if spans[i].Link, err = r.link(s.link); err != nil {
			return nil, err
		}
		spans[i].From = r.from(s)
		if err := r.note(&spans[i], s); err != nil {
			return nil, err
		}
		if len(s.parts) == 0 {
			continue // the layout knows its text
		}
		start := len(r.batch.buf)
		if err := r.parts(s.parts); err != nil {
			return nil, err
		}
		spans[i].Text = r.mem.kept.text(r.batch.buf[start:])
		r.batch.buf = r.batch.buf[:start]
	}
	return spans, nil
}

// note gives a span its footnote, if it is one's number.
func (r *render) note(to *doc.Span, s *span) error {
	if s.note == nil {
		return nil
	}
	spans, err := r.rich(s.note)
	to.Note = &doc.Note{Spans: spans}
	return err
}

func (t *richText) fixed() []doc.Span {
	if t == nil {
		return nil
	}
	return t.static
}

// batched is rich for texts that live until the next reset; they have no string
// before finish.
func (r *render) batched(t *richText) ([]doc.Span, error) {
	if t == nil || t.static != nil {
		return t.fixed(), nil
	}
	b := r.batch
	var spans []doc.Span
	if r.keeps {
		spans = r.mem.spans.Take(len(t.spans))
	} else {
		from := len(b.spans)
		b.spans = slices.Grow(b.spans, len(t.spans))[:from+len(t.spans)]
		spans = b.spans[from:len(b.spans):len(b.spans)]
	}
	for i := range t.spans {
		s := &t.spans[i]
		spans[i] = s.fixed
		var err error
		if spans[i].Link, err = r.link(s.link); err != nil {
			return nil, err
		}
		spans[i].From = r.from(s)
		if err := r.note(&spans[i], s); err != nil {
			return nil, err
		}
		if len(s.parts) == 0 {
			continue // the layout knows its text
		}
		start := len(b.buf)
		if err := r.parts(s.parts); err != nil {
			return nil, err
		}
		b.fixes = append(b.fixes, fix{&spans[i].Text, start, len(b.buf)})
	}
	return spans, nil
}

type column struct {
	out  doc.Column
	head *richText
	id   *plainText // of the head; nil: out.ID
	back paint
	cond *programAt // nil: it is always there
	loop *loop      // nil: one column; else one for each item
}

// varies reports whether data decide how many columns there are of it.
func (c *column) varies() bool { return c.cond != nil || c.loop != nil }

type cellTemplate struct {
	out  doc.Cell
	col  int   // the column, as written, that it begins in
	loop *loop // nil: one cell; else one for each item, in a column with a loop
	text *richText
	body []block
	look *look // nil: out.Style
	back paint
	// names are made of data; nil: out.Names.
	names *cellNames
	// around is the style of body where out has none; nil: that around the table.
	around *doc.Style
}

type tableNode struct {
	common
	out     doc.Table  // what needs no data
	base    *doc.Style // of cells whose column has none
	caption *richText
	columns []column
	head    []row
	foot    []row
	rows    []rowSource
	keep    bool
	painted bool // some row or cell has a background
	varies  bool // data decide which columns there are
}

func (n *tableNode) emit(r *render, out sink) error {
	t := r.mem.tables.One()
	*t = n.out
	var err error
	if t.Block, err = n.fill(r); err != nil {
		return err
	}
	if t.Caption, err = r.rich(n.caption); err != nil {
		return err
	}
	around := r.counts
	defer func() { r.counts = around }()
	if t.Columns, r.counts, err = n.made(r); err != nil {
		return err
	}
	if t.Head, err = r.keptRows(n.head); err != nil {
		return err
	}
	if t.Foot, err = r.keptRows(n.foot); err != nil {
		return err
	}
	t.Rows = n.iterate(r)
	return out(t)
}

// made makes the columns. counts says how many there are of each as it is written, nil when there
// is one of each.
func (n *tableNode) made(r *render) (all []doc.Column, counts []int, err error) {
	all = r.mem.columns.Take(len(n.columns))[:0]
	if n.varies {
		counts = r.mem.counts.Take(len(n.columns))
	}
	for i := range n.columns {
		c := &n.columns[i]
		from := len(all)
		switch {
		case r.static != withData && c.varies(): // the table is as wide as its other columns at least
		case c.loop != nil:
			all, err = n.repeated(r, c, all)
		case c.cond != nil:
			var v exprlang.Value
			if v, err = r.eval(c.cond); err == nil && v.True() {
				all, err = n.column(r, c, all)
			}
		default:
			all, err = n.column(r, c, all)
		}
		if err != nil {
			return nil, nil, err
		}
		if counts != nil {
			counts[i] = len(all) - from
		}
	}
	return all, counts, nil
}

// column adds a column.
func (*tableNode) column(r *render, c *column, all []doc.Column) ([]doc.Column, error) {
	out := c.out
	var err error
	if out.Head, err = r.rich(c.head); err != nil {
		return all, err
	}
	if out.Background, err = r.paint(c.back); err != nil {
		return all, err
	}
	if c.id != nil {
		if out.ID, out.IDFrom, err = r.id(c.id); err != nil {
			return all, err
		}
	}
	if all = append(all, out); len(all) > maxColumns {
		return all, r.limit(c.out.Src, codeColumns, tooManyColumns)
	}
	return all, nil
}

// repeated adds a column for each item of a loop.
func (n *tableNode) repeated(r *render, c *column, all []doc.Column) ([]doc.Column, error) {
	_, err := r.each(c.loop, func() (err error) {
		all, err = n.column(r, c, all)
		return err
	})
	return all, err
}

// keptRows returns rows that stay valid.
func (r *render) keptRows(rows []row) ([]doc.Row, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	around, kept := r.batch, r.keeps // those of the row whose cell this table stands in
	r.batch, r.keeps = r.mem.batch(), true
	defer func() {
		r.mem.release(r.batch)
		r.batch, r.keeps = around, kept
	}()
	out := r.mem.rows.Take(len(rows))
	for i := range rows {
		made, err := r.row(&rows[i])
		if err != nil {
			return nil, err
		}
		out[i] = made
	}
	return out, nil
}

// row makes a row, whose cells live in the batch.
func (r *render) row(t *row) (doc.Row, error) {
	cells, err := r.cells(t)
	if err != nil {
		return doc.Row{}, err
	}
	out := doc.Row{Src: t.src, Cells: cells, Border: t.border, KeepWithNext: t.with, Height: t.height}
	if t.anchor != nil && len(cells) > 0 {
		if err := r.rowAnchor(&cells[0], t); err != nil {
			return out, err
		}
	}
	if out.Background, err = r.paint(t.back); err != nil {
		r.batch.row = nil // nobody gets the cells
	}
	return out, err
}

// rowAnchor makes the anchor of a row that of what its first cell begins with.
func (r *render) rowAnchor(c *doc.Cell, t *row) error {
	var b doc.Block
	if err := r.anchor(&b, t.anchor); err != nil {
		return err
	}
	if len(c.Nodes) == 0 {
		b.Src = c.Src
		c.Nodes = []doc.Node{&doc.Text{Block: b, Spans: slices.Clone(c.Spans)}}
		return nil
	}
	first := c.Nodes[0].Common()
	if first.Anchor != "" {
		return diag.Fail(first.Src.Place(diag.Diagnostic{Code: codeWrong, Message: "the row and its first block have an anchor each"}))
	}
	first.Anchor, first.AnchorFrom = b.Anchor, b.AnchorFrom // the nodes of this row are its own
	return nil
}

// cells fills the cells of a row; they live in the batch.
func (r *render) cells(t *row) ([]doc.Cell, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.mem.poisons {
		r.batch.poison()
	}
	if r.batch.row == t {
		return r.batch.cells, r.texts()
	}
	r.batch.reset()
	if r.counts != nil {
		return r.variedCells(t)
	}
	var cells []doc.Cell
	if r.keeps {
		cells = r.mem.cells.Take(len(t.cells))
	} else {
		cells = slices.Grow(r.batch.cells, len(t.cells))[:len(t.cells)]
		r.batch.cells = cells
	}
	for i := range t.cells {
		if err := r.cell(&t.cells[i], &cells[i]); err != nil {
			return nil, err
		}
	}
	r.finish()
	if !r.keeps && t.textsAlone() {
		r.batch.again(t)
	}
	return cells, nil
}

// again makes the cells of a row those whose texts alone change from now on.
func (b *batch) again(t *row) {
	b.row, b.texts = t, b.texts[:0]
	for i := range t.cells {
		text := t.cells[i].text
		if text == nil || text.static != nil {
			continue
		}
		for k := range text.spans {
			b.texts = append(b.texts, filled{to: &b.cells[i].Spans[k], parts: text.spans[k].parts})
		}
	}
}

// texts gives the cells that the batch has of a row their texts of now.
func (r *render) texts() error {
	b := r.batch
	b.buf = b.buf[:0]
	for i := range b.texts {
		t := &b.texts[i]
		t.to.From.Frame = r.at
		if len(t.parts) > 0 {
			if err := r.parts(t.parts); err != nil {
				b.row = nil
				return err
			}
		}
		t.end = len(b.buf)
	}
	all, start := r.mem.kept.text(b.buf), 0
	for i := range b.texts {
		t := &b.texts[i]
		if len(t.parts) > 0 {
			t.to.Text = all[start:t.end]
		}
		start = t.end
	}
	b.buf = b.buf[:0]
	return nil
}

// textsAlone reports whether of the cells of a row nothing but their texts is made of data.
func (t *row) textsAlone() bool {
	for i := range t.cells {
		c := &t.cells[i]
		if c.look != nil || c.back.prog != nil || c.body != nil || c.loop != nil || c.names != nil || c.text != nil && !c.text.plain() {
			return false
		}
	}
	return t.anchor == nil
}

// plain reports whether no span of a text has a link or a note.
func (t *richText) plain() bool {
	for i := range t.spans {
		if t.spans[i].link != nil || t.spans[i].note != nil {
			return false
		}
	}
	return true
}

// variedCells is cells for a table whose columns data decide: a cell spans the columns that there
// are of those it was written for, and is left out when there are none.
func (r *render) variedCells(t *row) ([]doc.Cell, error) {
	cells := r.batch.cells
	for i := range t.cells {
		c := &t.cells[i]
		span := 0
		for _, n := range r.counts[c.col : c.col+max(c.out.Colspan, 1)] {
			span += n
		}
		one := func() error {
			cells = append(cells, doc.Cell{})
			return r.cell(c, &cells[len(cells)-1])
		}
		switch {
		case r.static != withData && span == 0:
		case c.loop != nil:
			n, err := r.each(c.loop, one)
			if err != nil {
				return nil, err
			}
			if n != span {
				message := fmt.Sprintf("%d cells for %d columns", n, span)
				return nil, r.fault(&exprlang.Error{Code: codeRagged, Message: message}, c.loop.list.at)
			}
		case span > 0:
			if err := one(); err != nil {
				return nil, err
			}
			cells[len(cells)-1].Colspan = span
		}
	}
	r.batch.cells = cells
	if r.keeps {
		cells = r.mem.cells.Take(len(cells))
		copy(cells, r.batch.cells)
	}
	r.finish()
	return cells, nil
}

// cell fills a cell, which lives in the batch.
func (r *render) cell(c *cellTemplate, out *doc.Cell) (err error) {
	*out = c.out
	if c.look != nil {
		if out.Style, err = r.look(c.look); err != nil {
			return err
		}
	}
	if out.Background, err = r.paint(c.back); err != nil {
		return err
	}
	if c.names != nil {
		if out.Names, err = r.names(c.names); err != nil {
			return err
		}
	}
	if c.body != nil {
		out.Nodes, err = r.collect(c.body, cmp.Or(out.Style, c.around))
	} else {
		out.Spans, err = r.batched(c.text)
	}
	return err
}

// iterate returns the body rows. They are made while layout asks for them,
// perhaps when loops around the table have gone on, so they see the slots as
// they are now.
func (n *tableNode) iterate(r *render) iter.Seq2[doc.Row, error] {
	own := r.own()
	slots := r.mem.values.Take(len(r.m.Slots))
	copy(slots, r.m.Slots)
	return func(yield func(doc.Row, error) bool) {
		own.batch = r.mem.batch()
		defer func() { r.mem.release(own.batch) }()
		given := 0
		give := func(t *row) error {
			own.m.Slots, own.held = slots, 0
			made, err := own.row(t)
			if err != nil {
				if !goesOn(err) {
					return err
				}
				if !yield(doc.Row{Src: t.src}, err) {
					return errStop
				}
				own.m.Slots = slots
				return nil // the rows that follow are made too, so that all wrong ones are told
			}
			made.Keep = n.keep
			if own.carry != nil {
				made.Carry = own.carry.rows(own, slots)
			}
			if !yield(made, nil) {
				return errStop
			}
			own.m.Slots = slots
			if given++; given%parting == 0 {
				r.mem.part()
			}
			return nil
		}
		outer := own.m.Slots
		own.m.Slots = slots
		err := own.rows(n.rows, give)
		own.m.Slots = outer
		if err != nil && err != errStop { //nolint:errorlint // made above, never wrapped
			yield(doc.Row{}, err)
		}
	}
}

func (r *render) rows(all []rowSource, give func(*row) error) error {
	for _, s := range all {
		if err := s.rows(r, give); err != nil {
			return err
		}
	}
	return nil
}

func (t *row) rows(_ *render, give func(*row) error) error { return give(t) }

func (l *rowLoop) rows(r *render, give func(*row) error) error {
	given := 0
	count := func(t *row) error {
		given++
		return give(t)
	}
	if l.carry != nil {
		around := r.carry
		r.carry = &carrying{of: l.carry}
		defer func() { r.carry = around }()
	}
	if l.groups != nil {
		if err := l.groups.rows(r, l, count); err != nil {
			return err
		}
		return l.without(r, given, give)
	}
	_, err := r.each(l.loop, func() error {
		if l.filter != nil {
			if holds, _, err := r.branches(l.filter); err != nil || !holds {
				return err
			}
		}
		if err := l.carried(r); err != nil {
			return err
		}
		return r.rows(l.body, count)
	})
	if err != nil {
		return err
	}
	return l.without(r, given, give)
}

// without gives what stands there when no row was given.
func (l *rowLoop) without(r *render, given int, give func(*row) error) error {
	if l.empty != nil && (given == 0 && r.static == withData || r.static == reachable) {
		return give(l.empty)
	}
	return nil
}

// carried adds the item to what is carried over page breaks.
func (l *rowLoop) carried(r *render) error {
	if l.carry == nil {
		return nil
	}
	return r.carry.add(r)
}

func (n *rowChoice) rows(r *render, give func(*row) error) error {
	then, other, err := r.branches(n.cond)
	if err == nil && then {
		err = r.rows(n.then, give)
	}
	if err == nil && other {
		err = r.rows(n.other, give)
	}
	return err
}
