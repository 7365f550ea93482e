package layout

import (
	"iter"
	"slices"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// rowRun lays out the rows of one table and emits them as entries.
type rowRun struct {
	t    *table
	n    *doc.Table
	emit func(entry) error
	// held are the groups laid out last, at most widows of them: they wait to learn
	// whether the foot or nothing follows.
	held            []entry
	count           int     // of groups
	orphans, widows int     // the fewest groups on the first page and on the last one
	next            doc.Row // being laid out
	before          doc.Length
	after           doc.Length
	mark            *Mark
	marked          bool
	again           *stack    // the head that new pages repeat; nil: none
	ahead           bool      // rows are read ahead
	sample          []doc.Row // those
	err             error     // what ended the rows
}

// tallRow is the height, in lines of the table's style, from which on a row may
// stand alone: it is no stray one, and tying it to others would leave a hole. Lower rows that a
// row span ties together stay together.
const tallRow = 6

// rows prepares a table whose entries go to emit.
func (m *maker) rows(n *doc.Table, en env, emit func(entry) error) (*rowRun, error) {
	t, err := m.table(n, en)
	if err != nil {
		return nil, err
	}
	f, err := m.face(t.en.style, n.Src)
	if err != nil {
		return nil, err
	}
	r := m.mem.runs.One()
	*r = rowRun{t: t, n: n, emit: emit, orphans: t.en.style.Orphans, widows: t.en.style.Widows}
	t.tall = tallRow * f.lead
	if r.orphans <= 0 {
		r.orphans = 2
	}
	if r.widows <= 0 {
		r.widows = 2
	}
	r.held = m.mem.entries.Take(r.widows + len(n.Foot))[:0]
	if !spaced(&n.Block) {
		r.before, r.after = n.Style.SpaceBefore, n.Style.SpaceAfter
	} else {
		r.before, r.after = m.halfLine(t.en.style), m.halfLine(t.en.style)
		if m.theme.Rules != nil {
			r.after *= 2 // the rule below a table stands apart from what follows
		}
	}
	if err := m.identify(&n.Block, t.elem); err != nil {
		return nil, err
	}
	var e entry
	if err := m.mark(&e, n, t.elem); err != nil {
		return nil, err
	}
	r.mark = e.mark
	return r, nil
}

// send emits an entry of the table, the first one with the table's mark and the
// space before it.
func (r *rowRun) send(e entry) error {
	if !r.marked {
		r.marked = true
		e.mark = r.mark
		e.before = max(e.before, r.before)
	}
	if e.src == nil {
		e.src = r.t.src
	}
	return r.emit(e)
}

// run lays out the whole table. Rows are read ahead when a column is sized by its content, or its
// numbers stand on their signs.
func (r *rowRun) run() error {
	r.ahead = r.t.decimal()
	for i := range r.n.Columns {
		r.ahead = r.ahead || r.n.Columns[i].Width.Kind == doc.WidthAuto
	}
	if !r.ahead {
		if err := r.begin(); err != nil {
			return err
		}
	}
	r.source()(r.take)
	if r.err != nil {
		return r.err
	}
	if r.ahead {
		if err := r.begin(); err != nil {
			return err
		}
	}
	return r.finish()
}

// take takes a row from the source. What it returns, and false, ends the source.
func (r *rowRun) take(x doc.Row, err error) bool {
	switch {
	case r.err != nil: // the source goes on all the same
	case err != nil:
		r.err = r.t.m.survive(err)
	case r.ahead:
		if r.sample = append(r.sample, cloneRow(&x)); len(r.sample) == sampleRows {
			r.err = r.begin()
		}
	default:
		if r.err = r.t.m.ended(); r.err == nil {
			r.next = x
			r.err = r.row(&r.next)
		}
	}
	return r.err == nil
}

// begin lays out what comes before the rows, and those that were read ahead.
func (r *rowRun) begin() error {
	r.ahead = false
	head := r.t.headRows()
	if err := r.t.size(head, r.sample); err != nil {
		return err
	}
	if err := r.start(head); err != nil {
		return err
	}
	for i := range r.sample {
		if err := r.row(&r.sample[i]); err != nil {
			return err
		}
	}
	r.sample = nil
	return nil
}

func (r *rowRun) source() iter.Seq2[doc.Row, error] {
	if r.n.Rows == nil {
		return doc.Rows()
	}
	return r.n.Rows
}

// start emits caption and head.
func (r *rowRun) start(head []doc.Row) error {
	caption, err := r.t.caption()
	if err != nil {
		return err
	}
	if caption != nil {
		if err := r.send(*caption); err != nil {
			return err
		}
	}
	first, again, err := r.t.head(head)
	if err != nil {
		return err
	}
	if first != nil {
		first.entries[len(first.entries)-1].repeat = again
		r.again = again
		for _, e := range first.entries {
			if err := r.send(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// row lays out one body row and emits the one before it.
func (r *rowRun) row(x *doc.Row) error {
	t := r.t
	g, err := t.add(x, sectionBody, t.bodyElem())
	if err != nil {
		return err
	}
	t.inBody++
	if g == nil {
		return nil
	}
	if len(r.held) == r.widows {
		first := r.held[0]
		r.held = append(r.held[:0], r.held[1:]...)
		if err := r.send(first); err != nil {
			return err
		}
	}
	r.count++
	e := entry{b: g, keep: g.keep, src: x.Src}
	if x.Carry != nil {
		e.carry = &carried{t: t, make: x.Carry}
	}
	e.keepNext = x.KeepWithNext || r.count < r.orphans && g.size() <= t.tall
	e.done, e.row = g.elem, g.elems
	if t.inBody >= rowsPerBody {
		e.done, t.body = t.body, nil
		e.words, t.listed, t.free = t.listed, nil, nil
	}
	r.held = append(r.held, e)
	return nil
}

// tail makes the rows that are held the last of the table: they stay together,
// and with the foot.
func (r *rowRun) tail(foot bool) {
	for i := range r.held {
		e := &r.held[i]
		e.keepNext = e.keepNext || e.b.size() <= r.t.tall
		if i == len(r.held)-1 {
			e.keepNext = foot
		}
	}
}

// finish emits the last rows, and the foot on the same page.
func (r *rowRun) finish() error {
	t := r.t
	if t.group != nil {
		return failed(at(t.src, "L303", "a row span reaches beyond the last row"))
	}
	foot := t.m.mem.entries.Take(len(r.n.Foot))[:0]
	if len(r.n.Foot) > 0 {
		el := t.m.elem(t.elem, tag.TFoot, t.src, "")
		for i := range r.n.Foot {
			g, err := t.add(&r.n.Foot[i], sectionFoot, el)
			if err != nil {
				return err
			}
			if g != nil {
				foot = append(foot, entry{b: g, keep: g.keep, keepNext: true, src: r.n.Foot[i].Src})
			}
		}
		if t.group != nil {
			return failed(at(t.src, "L303", "a row span reaches beyond the foot rows"))
		}
	}
	if err := t.judgeHeaders(); err != nil {
		return err
	}
	r.tail(len(foot) > 0)
	t.listed, t.free = nil, nil // of the last body, which the table ends with
	rest := append(r.held, foot...)
	if len(rest) == 0 {
		rest = append(rest, entry{b: space{}}) // a head without rows ends here
	}
	last := &rest[len(rest)-1]
	if g, ok := last.b.(*group); ok {
		g.ends = true
	}
	if len(foot) > 0 {
		last.keepNext = false
	}
	last.carry = nil // nothing follows
	for _, e := range rest[:len(rest)-1] {
		if err := r.send(e); err != nil {
			return err
		}
	}
	last.after = max(last.after, r.after)
	last.keepNext = last.keepNext || r.n.KeepWithNext
	last.done = t.elem
	last.ends = true
	return r.send(*last)
}

// nestedTable lays out a table inside a block, or one that is kept together.
func (m *maker) nestedTable(n *doc.Table, en env) ([]entry, error) {
	if n.KeepTogether {
		one := *n
		one.KeepTogether = false
		es, err := m.nestedTable(&one, en)
		if err != nil || len(es) == 0 {
			return nil, err
		}
		e := entry{
			b: &stack{es}, keep: true, before: es[0].before, after: es[len(es)-1].after,
			keepNext: n.KeepWithNext, src: n.Src,
		}
		return []entry{e}, nil
	}
	tb := &nested{}
	r, err := m.rows(n, en, func(x entry) error {
		tb.entries = append(tb.entries, x)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.run(); err != nil {
		return nil, err
	}
	tb.again = r.again
	return []entry{{b: tb, before: r.before, after: r.after, keepNext: n.KeepWithNext, src: n.Src}}, nil
}

// carry is the height of what is kept for a row that is carried out.
func (b *nested) carry() doc.Length {
	for i := range b.entries {
		if c := b.entries[i].carry; c != nil {
			if out, _ := c.rows(); out != nil {
				return out.size()
			}
		}
	}
	return 0
}

// nested is a table within a block: a stack that repeats its head where it is
// split.
type nested struct {
	stack
	again    *stack
	repeated int // entries that it begins with: the head, and the row that is carried in
}

func (b *nested) split(avail doc.Length, force bool) (block, block) {
	if b.size() <= avail {
		return b, nil
	}
	out := b.carry() // of all rows alike
	head, tail := b.stack.split(avail-out, force)
	if h, _ := head.(*stack); force && b.repeated > 0 && (h == nil || len(h.entries) <= b.repeated) {
		// What is repeated takes the place that the row needs: this page goes without it.
		bare := &nested{stack: stack{b.entries[b.repeated:]}, again: b.again}
		return bare.split(avail, force)
	}
	if head == nil {
		return nil, b
	}
	if tail == nil {
		return b, nil
	}
	rest := tail.(*stack)
	first := *head.(*stack)
	repeated := 0
	if c := first.entries[len(first.entries)-1].carry; c != nil {
		below, above := c.rows()
		if above != nil {
			rest = &stack{append([]entry{{b: above, keepNext: true}}, rest.entries...)}
			repeated++
		}
		if below != nil && first.size()+below.size() <= avail {
			first.entries = append(slices.Clip(first.entries), entry{b: below})
		}
	}
	if b.again != nil && b.again.size() <= avail/2 {
		rest = &stack{append(append([]entry(nil), b.again.entries...), rest.entries...)}
		repeated += len(b.again.entries)
	}
	return &nested{stack: first, again: b.again}, &nested{stack: *rest, again: b.again, repeated: repeated}
}
