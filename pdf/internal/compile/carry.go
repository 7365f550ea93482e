package compile

import (
	"slices"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile/decimal"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// rowCarry sums a value over the items of a loop, and prints the sum where a page ends.
type rowCarry struct {
	sum     *programAt
	slot    int // of `carry`
	out, in []row
}

// carrying is a rowCarry with the sum of the items so far.
type carrying struct {
	of    *rowCarry
	total decimal.Decimal
}

// carry compiles `carry`: its sum sees the item, its rows see what is around the loop and `carry`.
// outer is how many names are around.
func (p *rowsReader) carry(n *strictyaml.Node, path string, outer int) *rowCarry {
	c := p.c
	o, ok := c.object(n, path, "carry")
	if !ok {
		return nil
	}
	k := &rowCarry{slot: c.slot(slotInfo{name: "carry"})}
	if v := o.need("sum"); v != nil {
		if k.sum = c.expr(v, o.at("sum")); k.sum != nil {
			switch t := k.sum.prog.Type; {
			case t.Kind != exprlang.IntegerKind && t.Kind != exprlang.DecimalKind && t.Kind != exprlang.NumberKind:
				c.bad(v, o.at("sum"), exprlang.CodeType, "", "what is carried is a number, got %s", t)
			case t.Optional:
				c.bad(v, o.at("sum"), exprlang.CodeType, "write "+k.sum.at.text()+" | default(0)", "what is carried may be missing: %s", t)
			}
		}
	}
	typ, _ := exprlang.Basic("decimal")
	all, known := c.locals, c.exprOptions.Known
	c.locals = append(all[:outer:outer], local{"carry", typ, k.slot, ""})
	defer func() { c.locals, c.exprOptions.Known = all, known }()
	for _, e := range [...]struct {
		key string
		to  *[]row
	}{{"out", &k.out}, {"in", &k.in}} {
		if v := o.get(e.key); v != nil {
			p.carried = true
			r := p.literal(v, o.at(e.key))
			p.carried = false
			p.last = &r
			p.end(v)
			*e.to = []row{r}
		}
	}
	if k.out == nil && k.in == nil {
		c.bad(n, path, codeNoKey, "", "carry has out, in or both: a row each")
	}
	o.done()
	return k
}

// add adds the item that the slots hold.
func (k *carrying) add(r *render) error {
	v, err := r.eval(k.of.sum)
	if err == nil {
		k.total = k.total.Add(v.Dec())
	}
	return err
}

// rows returns what makes the rows for the sum as it is now. They are made between others, so they
// have a render of their own.
func (k *carrying) rows(r *render, slots []exprlang.Value) func() (out, in *doc.Row, err error) {
	of, total := k.of, k.total
	return func() (out, in *doc.Row, err error) {
		own := r.own()
		around := own.m.Slots
		defer func() { own.m.Slots = around }()
		own.m.Slots = slices.Clone(slots)
		own.m.Slots[of.slot] = exprlang.Number(total)
		for _, e := range [...]struct {
			from []row
			to   **doc.Row
		}{{of.out, &out}, {of.in, &in}} {
			made, err := own.keptRows(e.from)
			if err != nil {
				return nil, nil, err
			}
			if len(made) > 0 {
				*e.to = &made[0]
			}
		}
		return out, in, nil
	}
}
