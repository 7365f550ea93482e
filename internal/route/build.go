package route

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// draft is a tree node while the table is built.
type draft[V any] struct {
	prefix string
	kids   []*draft[V]
	edges  []draftEdge[V]
	leaf   *leaf[V]
	rest   *leaf[V]
	leaves int // at the node and below it, after weigh
}

type draftEdge[V any] struct {
	suffix string
	constr *Constraint
	next   *draft[V]
}

// literal returns the node reached from d by text, splitting nodes as needed.
func (d *draft[V]) literal(text string) *draft[V] {
	for text != "" {
		k := slices.IndexFunc(d.kids, func(kid *draft[V]) bool { return kid.prefix[0] == text[0] })
		if k < 0 {
			kid := &draft[V]{prefix: text}
			d.kids = append(d.kids, kid)
			return kid
		}
		kid := d.kids[k]
		n := commonPrefix(kid.prefix, text)
		if n < len(kid.prefix) {
			upper := &draft[V]{prefix: kid.prefix[:n], kids: []*draft[V]{kid}}
			kid.prefix = kid.prefix[n:]
			d.kids[k] = upper
			kid = upper
		}
		d, text = kid, text[n:]
	}
	return d
}

func (d *draft[V]) edge(s Segment) *draft[V] {
	for _, e := range d.edges {
		if e.suffix == s.Text && e.constr.key() == s.Constraint.key() {
			return e.next
		}
	}
	e := draftEdge[V]{suffix: s.Text, constr: s.Constraint, next: &draft[V]{}}
	d.edges = append(d.edges, e)
	return e.next
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Entry is a route to be looked up.
type Entry[V any] struct {
	Pattern *Pattern
	Method  Methods // one bit; 0 for any method
	Route   *V
}

// New builds the look-up of routes that do not conflict.
func New[V any](routes []Entry[V]) *Table[V] {
	t := &Table[V]{static: map[string]*leaf[V]{}}
	root := &draft[V]{}
	dynamic := false
	for _, r := range routes {
		if last := r.Pattern.Segs[len(r.Pattern.Segs)-1]; last.Kind == Rest || (last.Kind == Literal && last.Text == "") {
			t.slashes |= 1 << min(len(r.Pattern.Segs), 63)
		}
		if path, ok := r.Pattern.static(); ok {
			l := t.static[path]
			if l == nil {
				l = &leaf[V]{}
				t.static[path] = l
				t.Escapes = t.Escapes || strings.Contains(path, "%")
				if len(path) < 256 {
					t.lengths[len(path)>>6] |= 1 << (len(path) & 63)
				} else {
					t.long = true
				}
			}
			l.add(r)
			continue
		}
		dynamic = true
		root.insert(r)
	}
	for _, l := range t.static {
		l.seal()
	}
	if dynamic {
		t.flatten(root)
	}
	return t
}

func (d *draft[V]) insert(r Entry[V]) {
	run := ""
	for _, s := range r.Pattern.Segs {
		run += "/"
		switch s.Kind {
		case Literal:
			run += s.Text
		case Param:
			d, run = d.literal(run).edge(s), ""
		case Rest:
			d = d.literal(run)
			if d.rest == nil {
				d.rest = &leaf[V]{}
			}
			d.rest.add(r)
			return
		}
	}
	d = d.literal(run)
	if d.leaf == nil {
		d.leaf = &leaf[V]{}
	}
	d.leaf.add(r)
}

func (l *leaf[V]) add(r Entry[V]) {
	switch slot := bits.TrailingZeros32(uint32(r.Method)); {
	case r.Method == 0:
		l.any = r.Route
		return
	case slot < slots:
		l.known[slot] = r.Route
	default:
		l.more = slices.Insert(l.more, l.place(r.Method), r.Route)
	}
	l.mask |= r.Method
}

// seal lets GET answer HEAD.
func (l *leaf[V]) seal() {
	get, head := &l.known[bits.TrailingZeros32(uint32(Get))], &l.known[bits.TrailingZeros32(uint32(Head))]
	if *get != nil && *head == nil {
		*head = *get
		l.mask |= Head
	}
}

// flatten lays the drafts out in one slice, literal siblings side by side.
func (t *Table[V]) flatten(root *draft[V]) {
	root.weigh()
	t.nodes = append(t.nodes, node[V]{})
	type job struct {
		d  *draft[V]
		at int
	}
	for queue := []job{{root, 0}}; len(queue) > 0; queue = queue[1:] {
		d, at := queue[0].d, queue[0].at
		n := node[V]{prefix: d.prefix, leaf: d.leaf, rest: d.rest}
		for _, l := range []*leaf[V]{d.leaf, d.rest} {
			if l != nil {
				l.seal()
			}
		}
		add := func(d *draft[V]) int32 {
			queue = append(queue, job{d, len(t.nodes)})
			t.nodes = append(t.nodes, node[V]{})
			return int32(len(t.nodes) - 1) //nolint:gosec // bounded by the bytes of all patterns
		}
		slices.SortFunc(d.kids, func(a, b *draft[V]) int {
			return cmp.Or(cmp.Compare(b.leaves, a.leaves), cmp.Compare(a.prefix, b.prefix))
		})
		n.kids = int32(len(t.nodes)) //nolint:gosec // as above
		for _, kid := range d.kids {
			n.first += kid.prefix[:1]
			add(kid)
		}
		slices.SortFunc(d.edges, func(a, b draftEdge[V]) int {
			return cmp.Or(cmp.Compare(len(b.suffix), len(a.suffix)),
				cmp.Compare(a.suffix, b.suffix),
				cmp.Compare(a.constr.order(), b.constr.order()),
				cmp.Compare(a.constr.key(), b.constr.key()))
		})
		n.edge = int32(len(t.edges)) //nolint:gosec // as above
		for _, e := range d.edges {
			next := add(e.next.skip())
			if e.suffix == "" && e.constr == nil {
				n.plain = next
				continue
			}
			t.edges = append(t.edges, edge{e.suffix, e.constr, next})
			n.edges++
		}
		t.nodes[at] = n
	}
}

// weigh counts the leaves at and below the draft.
func (d *draft[V]) weigh() int {
	for _, l := range []*leaf[V]{d.leaf, d.rest} {
		if l != nil {
			d.leaves++
		}
	}
	for _, kid := range d.kids {
		d.leaves += kid.weigh()
	}
	for _, e := range d.edges {
		d.leaves += e.next.weigh()
	}
	return d.leaves
}

// skip returns the draft's only child when the draft itself is nothing more than
// the end of a parameter.
func (d *draft[V]) skip() *draft[V] {
	if d.prefix == "" && d.leaf == nil && d.rest == nil && len(d.edges) == 0 && len(d.kids) == 1 {
		return d.kids[0]
	}
	return d
}
