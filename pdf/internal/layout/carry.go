package layout

import (
	"slices"

	"example.com/quire/pdf/doc"
)

// carried makes the rows that stand where a page ends behind a row of a table: out below it, in on
// the next page below the head. They are laid out when a page comes to its end, once for each row
// that may be its last. The reader finds in them what the rows above come to, not a part of the
// table: they are artifacts.
type carried struct {
	t       *table
	make    func() (out, in *doc.Row, err error)
	made    bool
	out, in *group
}

// rows lays them out.
func (c *carried) rows() (out, in *group) {
	if c.made {
		return c.out, c.in
	}
	c.made = true
	t, m := c.t, c.t.m
	art, section := m.art, t.section
	if art == ArtifactNone {
		m.art = ArtifactRepeat
	}
	defer func() { m.art, t.section = art, section }()
	lay := func(r *doc.Row) *group {
		if r == nil {
			return nil
		}
		g, err := t.add(r, sectionCarry, nil)
		if err == nil && g == nil {
			err = failed(at(t.src, "L303", "a row span reaches beyond the row that is carried"))
		}
		if err != nil {
			t.group = nil // the rows of the table go on
			clear(t.open)
			m.fail(err)
			return nil
		}
		return g
	}
	first, second, err := c.make()
	if err != nil {
		m.fail(err)
		return nil, nil
	}
	c.out, c.in = lay(first), lay(second)
	if c.out != nil {
		t.carry = c.out.size()
	}
	return c.out, c.in
}

// reserve is what the page has to keep free below an entry for the row that is carried out, when it
// ends with that: 0 unless less than room is left.
func (e *entry) reserve(room doc.Length) doc.Length {
	if e.carry == nil || e.carry.t.carry > 0 && room > 4*e.carry.t.carry {
		return 0
	}
	out, _ := e.carry.rows()
	if out == nil {
		return 0
	}
	return out.size()
}

// carryOut ends the page with the row that its last row carries out.
func (f *flow) carryOut() {
	f.in = nil
	if f.carry == nil {
		return
	}
	out, in := f.carry.rows()
	if out != nil && f.y+out.size() <= f.bottom {
		out.draw(&f.painter, f.left, f.y)
		f.y += out.size()
	}
	f.carry, f.in = nil, in
}

// repeated is what the open page begins with: the head of a table and the row that is carried in;
// nil: nothing.
func (f *flow) repeated() *stack {
	switch {
	case f.in == nil:
		return f.again
	case f.again == nil:
		f.in.starts = true
		return &stack{[]entry{{b: f.in}}}
	default:
		return &stack{append(slices.Clip(f.again.entries), entry{b: f.in})}
	}
}
