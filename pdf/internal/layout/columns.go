package layout

import (
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// columns are blocks in columns. They are balanced when their height is asked for: as low as
// leaves the blocks in as many columns as there are.
type columns struct {
	n      int
	w, gap doc.Length
	rtl    bool
	uneven bool    // each column is filled before the next
	body   *stack  // what is not yet in columns
	parts  []block // the columns; nil: not balanced
	h      doc.Length
}

// tallestPage is the height of the highest page (ISO 32000-1, annex C). What is higher need not be
// balanced to know that it has to be split.
const tallestPage = 14_400 * doc.Pt

func (m *maker) columns(n *doc.Columns, en env) (block, error) {
	count := max(n.Count, 2)
	b := &columns{n: count, gap: n.Gap, rtl: text.RightToLeft(en.lang), uneven: n.Uneven}
	b.w = columnWidth(count, n.Gap, en.width)
	if err := wideEnough(count, b.w, n.Src); err != nil {
		return nil, err
	}
	en.around, en.width, en.columns = 0, b.w, true
	var err error
	b.body, err = m.stack(n.Nodes, en)
	return b, err
}

// columnWidth is the width of each of count columns.
func columnWidth(count int, gap, width doc.Length) doc.Length {
	return (width - gap*doc.Length(count-1)) / doc.Length(count)
}

func wideEnough(count int, w doc.Length, src *doc.Source) error {
	if w < 20*doc.Pt {
		return failed(at(src, "L306", "%d columns are %s wide each", count, mm(w)))
	}
	return nil
}

func (b *columns) size() doc.Length {
	if b.parts == nil {
		total := b.body.size()
		if low := total / doc.Length(b.n); low > tallestPage && !b.uneven {
			return low
		}
		parts, rest := b.fill(total, false) // no column is higher
		switch {
		case rest != nil: // breaks make more columns than there are
			return tallestPage + 1
		case b.uneven:
			b.set(parts)
		default:
			b.balance(total)
		}
	}
	return b.h
}

// balance finds the least height, to a quarter of a point.
func (b *columns) balance(total doc.Length) {
	low, high := total/doc.Length(b.n), total
	for high-low > doc.Pt/4 {
		middle := (low + high) / 2
		if _, rest := b.fill(middle, false); rest == nil {
			high = middle
		} else {
			low = middle
		}
	}
	parts, _ := b.fill(high, false)
	b.set(parts)
}

// set makes parts the columns.
func (b *columns) set(parts []block) {
	b.parts, b.h = parts, 0
	for _, p := range parts {
		b.h = max(b.h, p.size())
	}
}

// fill sets the body in columns of a height. rest is what they do not hold.
func (b *columns) fill(h doc.Length, force bool) (parts []block, rest block) {
	rest = b.body
	for len(parts) < b.n && rest != nil {
		head, tail := rest.split(h, force)
		if head == nil {
			return parts, rest
		}
		parts, rest = append(parts, head), tail
	}
	return parts, rest
}

func (b *columns) baseline() (doc.Length, bool) { return b.body.baseline() }

func (b *columns) split(avail doc.Length, force bool) (block, block) {
	if b.size() <= avail {
		return b, nil
	}
	parts, rest := b.fill(avail, force)
	if len(parts) == 0 {
		return nil, b
	}
	head := *b
	head.set(parts)
	if rest == nil {
		return &head, nil
	}
	tail := *b
	tail.body, tail.parts = rest.(*stack), nil //nolint:forcetypeassert // a stack is split into stacks
	return &head, &tail
}

func (b *columns) draw(p *painter, x, y doc.Length) {
	b.size()
	for i, part := range b.parts {
		if b.rtl {
			i = b.n - 1 - i
		}
		part.draw(p, x+doc.Length(i)*(b.w+b.gap), y)
	}
}
