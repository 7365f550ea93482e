package layout

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// entry is a block in a flow, with the space around it and the rules that keep
// it together with others.
type entry struct {
	b             block
	before, after doc.Length
	keepNext      bool // the next entry starts on the same page
	keep          bool // not split
	breakBefore   doc.Break
	mark          *Mark        // where it starts
	done          *tag.Elem    // complete once all of the entry is drawn
	words         [][]tag.Elem // beneath it, by rows, which nothing else leads to
	row           []tag.Elem   // likewise, of this row
	repeat        *stack       // from here on, new pages start with this table head
	ends          bool         // new pages start with no head any more
	carry         *carried     // of a row: what is printed where a page ends behind it; nil: nothing
	src           *doc.Source
}

// gap is the space between two entries: the larger one of the two asked for.
func gap(after, before doc.Length) doc.Length { return max(after, before) }

// visible reports whether the entry puts anything on a page.
func (e *entry) visible() bool {
	switch b := e.b.(type) {
	case space:
		return false
	case *absolute:
		return true
	case *columns:
		return b.size() > 0 || b.stands()
	}
	return e.b.size() > 0
}

func (e *entry) draw(p *painter, x, y doc.Length) {
	if e.mark != nil {
		m := *e.mark
		m.Y = y
		p.page.Marks = append(p.page.Marks, m)
	}
	var from spot
	if p.trace {
		from = p.now()
	}
	e.b.draw(p, x, y)
	p.area(e.src, from, y, e.b.size())
	if e.done != nil {
		p.page.Done = append(p.page.Done, e.done)
		p.written = append(p.written, e.words...)
		if e.row != nil {
			p.written = append(p.written, e.row)
		}
	}
}

// split cuts the entry's block. The mark stays with the head, the end with the
// tail.
func (e *entry) split(avail doc.Length, force bool) (head, tail entry, ok bool) {
	if e.keep {
		return head, tail, false
	}
	h, t := e.b.split(avail, force)
	if h == nil {
		return head, tail, false
	}
	head, tail = *e, *e
	head.b, tail.b = h, t
	head.keepNext = false
	if t != nil {
		head.done, head.words, head.row, tail.mark = nil, nil, nil, nil
		head.ends, head.carry = false, nil
		head.after, tail.before = 0, 0
	}
	return head, tail, true
}

// stack is a column of entries.
type stack struct{ entries []entry }

func (b *stack) size() doc.Length {
	var h doc.Length
	for i := range b.entries {
		if i > 0 {
			h += gap(b.entries[i-1].after, b.entries[i].before)
		}
		h += b.entries[i].b.size()
	}
	return h
}

func (b *stack) baseline() (doc.Length, bool) {
	if len(b.entries) == 0 {
		return 0, false
	}
	return b.entries[0].b.baseline()
}

func (b *stack) draw(p *painter, x, y doc.Length) {
	for i := range b.entries {
		e := &b.entries[i]
		if i > 0 {
			y += gap(b.entries[i-1].after, e.before)
		}
		e.draw(p, x, y)
		y += e.b.size()
	}
}

func (b *stack) split(avail doc.Length, force bool) (block, block) {
	var y doc.Length
	shown := false // something can be seen
	for i := range b.entries {
		e := &b.entries[i]
		if shown && e.breakBefore != doc.BreakNone {
			return &stack{b.entries[:i:i]}, &stack{b.entries[i:]}
		}
		shown = shown || e.visible()
		if i > 0 {
			y += gap(b.entries[i-1].after, e.before)
		}
		h := e.b.size()
		if y+h <= avail {
			y += h
			continue
		}
		if head, tail, ok := e.split(avail-y, force && i == 0); ok {
			return b.cut(i, &head, &tail)
		}
		// The page ends before entry i, and before those that must stay with it.
		at := i
		for at > 0 && b.entries[at-1].keepNext {
			at--
		}
		if at == 0 {
			if !force || i == 0 {
				return nil, b
			}
			at = i // the page is empty and all before i belongs together: tear it
		}
		return &stack{b.entries[:at:at]}, &stack{b.entries[at:]}
	}
	return b, nil
}

// cut splits the stack inside entry i.
func (b *stack) cut(i int, head, tail *entry) (block, block) {
	first := append(b.entries[:i:i], *head)
	if tail.b == nil {
		if i+1 == len(b.entries) {
			return &stack{first}, nil
		}
		return &stack{first}, &stack{b.entries[i+1:]}
	}
	rest := make([]entry, 0, len(b.entries)-i)
	rest = append(rest, *tail)
	return &stack{first}, &stack{append(rest, b.entries[i+1:]...)}
}
