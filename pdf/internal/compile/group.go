package compile

import (
	"strings"

	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/internal/compile/exprlang"
)

// rowGroups gathers the items of a loop by a key. The groups stand in the order in which their
// keys come first, the items of each in their own.
type rowGroups struct {
	by         *programAt
	slot       int // of `group`
	head, foot []rowSource
}

// groupType is the type of `group`.
func groupType(key, item *exprlang.Type) *exprlang.Type {
	rows := &exprlang.Type{Kind: exprlang.ListKind, Elem: item}
	return &exprlang.Type{Kind: exprlang.RecordKind, Fields: []*exprlang.Field{{Name: "key", Type: key}, {Name: "rows", Type: rows}}}
}

// groups compiles `group`, whose head and foot see what is around the loop and `group`, and opens
// the scope of that name for the cells; the caller ends it. outer is how many names are around.
func (p *rowsReader) groups(l *loop, n *strictyaml.Node, path string, outer int) *rowGroups {
	c := p.c
	key, item := invalidType, invalidType
	g := &rowGroups{slot: c.slot(slotInfo{name: "group"})}
	o, ok := c.object(n, path, "group")
	if ok {
		if v := o.need("by"); v != nil {
			g.by = c.expr(v, o.at("by"))
		}
	}
	if g.by != nil {
		switch key = g.by.prog.Type; key.Kind {
		case exprlang.StringKind, exprlang.EnumKind, exprlang.BooleanKind, exprlang.DateKind, exprlang.DateTimeKind,
			exprlang.IntegerKind, exprlang.DecimalKind, exprlang.NumberKind:
			if key.Optional {
				c.bad(o.n.Get("by"), o.at("by"), exprlang.CodeType, "write "+g.by.at.text()+" | default(...)", "the key of a group may be missing: %s", key)
			}
		default:
			c.bad(o.n.Get("by"), o.at("by"), exprlang.CodeType, "", "the key of a group is a text, a number, a date or a condition, got %s", key)
			key = invalidType
		}
	}
	if l.list != nil {
		item = l.list.prog.Type.Elem
	}
	name := local{"group", groupType(key, item), g.slot, ""}
	if ok {
		all := c.locals
		c.locals = append(all[:outer:outer], name)
		if v := o.get("head"); v != nil {
			g.head = p.entries(v, o.at("head"))
		}
		if v := o.get("foot"); v != nil {
			g.foot = p.entries(v, o.at("foot"))
		}
		c.locals = all
		if g.head == nil && g.foot == nil {
			c.bad(n, path, codeNoKey, "", "a group has a head, a foot or both: lists of rows")
		}
		o.done()
	}
	c.locals = append(c.locals, name)
	return g
}

// text is the expression as it is written.
func (at *place) text() string {
	s := at.node.Text
	if wrapped(s) {
		s = s[2 : len(s)-1]
	}
	return strings.TrimSpace(s)
}

// gathered is one group: the places of its items in the list.
type gathered struct {
	key   exprlang.Value
	items []int
}

// rows gives the rows of each group: its head, which stays with the first row, its items, and its
// foot, which stays with the last one.
func (g *rowGroups) rows(r *render, l *rowLoop, give func(*row) error) error {
	list, err := r.eval(l.loop.list)
	if err != nil {
		return err
	}
	around := r.at
	defer func() { r.at = around }()
	if list.Stream() != nil {
		return r.fault(&exprlang.Error{Code: codeStream, Message: "rows that are streamed cannot be grouped: that takes all of them"}, l.loop.list.at)
	}
	if r.static == reachable {
		list = exprlang.List(make([]exprlang.Value, 1))
	}
	groups, err := g.gather(r, l, list, around)
	if err != nil {
		return err
	}
	with := func(t *row) error {
		kept := *t
		kept.with = true
		return give(&kept)
	}
	for _, one := range groups {
		rows := make([]exprlang.Value, len(one.items))
		for i, at := range one.items {
			rows[i] = list.At(at)
		}
		r.at = around
		group := exprlang.Record([]exprlang.Value{one.key, exprlang.List(rows)})
		r.m.Slots[g.slot] = group
		if err := r.rows(g.head, with); err != nil {
			return err
		}
		for i, at := range one.items {
			if err := r.enter(l.loop, list.At(at), at, list.Len(), around); err != nil {
				return err
			}
			r.m.Slots[l.loop.at] = loopPlace(i, len(one.items))
			if err := l.carried(r); err != nil {
				return err
			}
			next := give
			if i == len(one.items)-1 && len(g.foot) > 0 {
				next = with
			}
			if err := r.rows(l.body, next); err != nil {
				return err
			}
		}
		r.at = around
		if err := r.rows(g.foot, give); err != nil {
			return err
		}
	}
	return nil
}

// gather sorts the items into their groups.
func (g *rowGroups) gather(r *render, l *rowLoop, list exprlang.Value, around *frame) ([]gathered, error) {
	var all []gathered
	places := map[string]int{}
	for i := range list.Len() {
		if err := r.enter(l.loop, list.At(i), i, list.Len(), around); err != nil {
			return nil, err
		}
		if l.filter != nil {
			holds, _, err := r.branches(l.filter)
			if err != nil {
				return nil, err
			}
			if !holds {
				continue
			}
		}
		key, err := r.eval(g.by)
		if err != nil {
			return nil, err
		}
		name := groupName(key, g.by.prog.Type.Kind)
		at, seen := places[name]
		if !seen {
			at = len(all)
			places[name] = at
			all = append(all, gathered{key: key})
		}
		all[at].items = append(all[at].items, i)
	}
	return all, nil
}

// groupName is equal for equal keys, however many zeros their decimals end with.
func groupName(key exprlang.Value, kind exprlang.Kind) string {
	s := string(key.AppendText(nil))
	switch kind {
	case exprlang.IntegerKind, exprlang.DecimalKind, exprlang.NumberKind:
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		if s == "-0" {
			s = "0"
		}
	}
	return s
}
