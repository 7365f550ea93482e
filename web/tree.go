package web

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// The look-up works in two steps. A path that some pattern spells out whole is
// found in a map. Every other path walks a radix tree of literal bytes in which
// a node that ends at a slash may also have parameter edges and a rest.
//
// At such a node the alternatives are tried in order of specificity: literal,
// suffix (longer first), constraint, plain parameter, rest; the first leaf that
// takes the method ends the walk. As specificity is decided at the first
// differing segment from the left, this depth-first order is the order of
// specificity. The surprising case: with /a/b/c and /a/{p}/x, the path /a/b/x
// goes down the literal b, fails, comes back and reaches {p}.
//
// The cost is bounded by the size of the tree: a node has one parent, and a
// node is reached with one offset only, since every edge consumes a known
// number of segments. So no node is entered twice in one look-up.

// methodSet is a set of methods, one bit each. The bits from customMethods on
// are given out by the App for methods the package does not know.
type methodSet uint32

const (
	mGet methodSet = 1 << iota
	mHead
	mPost
	mPut
	mPatch
	mDelete
	mOptions
	mConnect
	mTrace
	mQuery
	firstCustomMethod
)

var knownMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "QUERY"}

func knownMethod(method string) methodSet {
	switch method {
	case "GET":
		return mGet
	case "HEAD":
		return mHead
	case "POST":
		return mPost
	case "PUT":
		return mPut
	case "PATCH":
		return mPatch
	case "DELETE":
		return mDelete
	case "OPTIONS":
		return mOptions
	case "CONNECT":
		return mConnect
	case "TRACE":
		return mTrace
	case "QUERY":
		return mQuery
	}
	return 0
}

// slots is the number of known methods; a method beyond them has the slot slots.
const slots = 10

// leaf is where patterns of one shape end.
type leaf struct {
	known [slots + 1]*Route // by slot, HEAD by GET included; the last is nil
	more  []*Route          // of other methods, in the order of their bits
	any   *Route
	mask  methodSet // methods with a route
}

// find returns the route for the method looked for.
func (l *leaf) find(m *match) *Route {
	if r := l.known[m.slot]; r != nil {
		return r
	}
	if l.mask&m.bit != 0 {
		return l.more[bits.OnesCount32(uint32(l.mask&(m.bit-1)>>slots))]
	}
	return l.any
}

// first returns a route of the leaf.
func (l *leaf) first() *Route {
	for _, r := range l.known {
		if r != nil {
			return r
		}
	}
	if len(l.more) > 0 {
		return l.more[0]
	}
	return l.any
}

type span struct{ lo, hi uint32 }

// match is the state and result of one look-up. It lives in the Context.
type match struct {
	bit   methodSet // 0 for a method nobody registered
	slot  uint8     // of bit in a leaf
	slash bool      // look up path + "/" instead of path
	loose bool      // a rest may hold empty segments (Options.NoRedirectClean)
	rest  bool      // a rest was taken
	n     int
	offs  [maxParams]span

	allow methodSet // methods of the leaves that matched the path only
	miss  *Route    // a route of the first such leaf
}

func (m *match) reset(bit methodSet) {
	m.bit, m.slot = bit, uint8(min(bits.TrailingZeros32(uint32(bit)), slots)) //nolint:gosec // at most slots
	m.slash, m.rest, m.n, m.allow, m.miss = false, false, 0, 0, nil
}

// take returns the leaf's route for the method, or notes what it would allow.
func (m *match) take(l *leaf) *Route {
	if r := l.find(m); r != nil {
		return r
	}
	m.allow |= l.mask
	if m.miss == nil {
		m.miss = l.first()
	}
	return nil
}

type edge struct {
	suffix string
	constr *constraint
	next   int32
}

// node fills one cache line.
type node struct {
	prefix string
	first  string // first bytes of the literal children, those with the most leaves first
	kids   int32  // index of the first literal child; the others follow it
	plain  int32  // index of the child of a plain parameter; 0 is none
	edge   int32  // index of the first other parameter, most specific first
	edges  int32  // how many of them there are
	leaf   *leaf
	rest   *leaf
}

// forks reports whether a look-up may have to come back to the node.
func (n *node) forks() bool { return n.plain|n.edges != 0 || n.rest != nil }

// child returns the place of the literal child that begins with c, -1 for none.
func (n *node) child(c byte) int {
	for i := range len(n.first) {
		if n.first[i] == c {
			return i
		}
	}
	return -1
}

// table holds the routes of one host.
type table struct {
	static  map[string]*leaf
	lengths [4]uint64 // lengths of static paths below 256, to skip the map for most others
	long    bool      // there is a static path of 256 bytes or more
	escapes bool      // there is a static path with a percent sign
	nodes   []node    // nodes[0] is the root; empty when every route is static
	edges   []edge
	slashes uint64 // depths (at most 63) of the patterns that match a trailing slash
}

func (t *table) lookup(path string, m *match) *Route {
	if r := t.literal(path, m); r != nil {
		return r
	}
	return t.variable(path, m)
}

// literal looks among the paths that are spelled out.
func (t *table) literal(path string, m *match) *Route {
	if n := len(path); (n < 256 && t.lengths[n>>6]&(1<<(n&63)) != 0) || (n >= 256 && t.long) {
		if l := t.static[path]; l != nil {
			return m.take(l)
		}
	}
	return nil
}

// variable looks among the patterns with parameters.
func (t *table) variable(path string, m *match) *Route {
	if len(t.nodes) == 0 {
		return nil
	}
	return t.walk(&t.nodes[0], path, 0, m)
}

// lookupSlash is lookup of path + "/", without making that text.
func (t *table) lookupSlash(path string, m *match) *Route {
	var buf [256]byte
	if l := t.static[string(append(append(buf[:0], path...), '/'))]; l != nil {
		if r := m.take(l); r != nil {
			return r
		}
	}
	if len(t.nodes) == 0 {
		return nil
	}
	m.slash = true
	r := t.walk(&t.nodes[0], path, 0, m)
	m.slash = false
	return r
}

// walk matches path[i:] below n. The path is path + "/" when m.slash is set:
// then its length is one more than len(path).
func (t *table) walk(n *node, path string, i int, m *match) *Route {
	total := len(path)
	if m.slash {
		total++
	}
	for {
		end := i + len(n.prefix)
		switch {
		case end <= len(path):
			// Mostly the prefix is one slash, or its first byte has been compared already.
			if end > i && (path[i] != n.prefix[0] || (end-i > 1 && path[i+1:end] != n.prefix[1:])) {
				return nil
			}
		case end > total || path[i:] != n.prefix[:len(n.prefix)-1] || n.prefix[len(n.prefix)-1] != '/':
			return nil
		}
		i = end
		if i == total {
			if n.leaf != nil {
				if r := m.take(n.leaf); r != nil {
					return r
				}
			}
			return t.takeRest(n, path, i, m)
		}
		next := byte('/')
		if i < len(path) {
			next = path[i]
		}
		if k := n.child(next); k >= 0 {
			kid := &t.nodes[int(n.kids)+k]
			if !n.forks() {
				n = kid
				continue
			}
			depth := m.n
			if r := t.walk(kid, path, i, m); r != nil {
				return r
			}
			m.n = depth
		}
		if n.plain|n.edges == 0 {
			return t.takeRest(n, path, i, m)
		}
		stop := len(path)
		if k := strings.IndexByte(path[i:], '/'); k >= 0 {
			stop = i + k
		}
		seg := path[i:stop]
		if seg == "" || isDot(seg) {
			return t.takeRest(n, path, i, m)
		}
		depth := m.n
		for k := n.edge; k < n.edge+n.edges; k++ {
			e := &t.edges[k]
			cut := len(seg) - len(e.suffix)
			if cut <= 0 || seg[cut:] != e.suffix || !e.constr.match(seg[:cut]) {
				continue
			}
			m.offs[depth] = span{uint32(i), uint32(i + cut)} //nolint:gosec // a path is far below 4 GiB
			m.n = depth + 1
			if r := t.walk(&t.nodes[e.next], path, stop, m); r != nil {
				return r
			}
			m.n = depth
		}
		if n.plain == 0 {
			return t.takeRest(n, path, i, m)
		}
		m.offs[depth] = span{uint32(i), uint32(stop)} //nolint:gosec // as above
		m.n = depth + 1
		if n.rest == nil {
			n, i = &t.nodes[n.plain], stop
			continue
		}
		if r := t.walk(&t.nodes[n.plain], path, stop, m); r != nil {
			return r
		}
		m.n = depth
		return t.takeRest(n, path, i, m)
	}
}

// takeRest gives path[i:] to the node's rest. Paths that are not clean never
// reach a rest: the App redirects them or answers 404.
func (t *table) takeRest(n *node, path string, i int, m *match) *Route {
	if n.rest == nil {
		return nil
	}
	rest := ""
	if i < len(path) {
		rest = path[i:]
	}
	if dotSegment(rest) || (!m.loose && emptySegment(rest)) {
		return nil
	}
	r := m.take(n.rest)
	if r != nil {
		m.offs[m.n] = span{uint32(i), uint32(i + len(rest))} //nolint:gosec // a path is far below 4 GiB
		m.n++
		m.rest = true
	}
	return r
}

// exact reports whether the match took no rest that holds something.
func (m *match) exact() bool {
	if !m.rest {
		return true
	}
	s := m.offs[m.n-1]
	return s.lo == s.hi
}

// draft is a tree node while the table is built.
type draft struct {
	prefix string
	kids   []*draft
	edges  []draftEdge
	leaf   *leaf
	rest   *leaf
	leaves int // at the node and below it, after weigh
}

type draftEdge struct {
	suffix string
	constr *constraint
	next   *draft
}

// literal returns the node reached from d by text, splitting nodes as needed.
func (d *draft) literal(text string) *draft {
	for text != "" {
		k := slices.IndexFunc(d.kids, func(kid *draft) bool { return kid.prefix[0] == text[0] })
		if k < 0 {
			kid := &draft{prefix: text}
			d.kids = append(d.kids, kid)
			return kid
		}
		kid := d.kids[k]
		n := commonPrefix(kid.prefix, text)
		if n < len(kid.prefix) {
			upper := &draft{prefix: kid.prefix[:n], kids: []*draft{kid}}
			kid.prefix = kid.prefix[n:]
			d.kids[k] = upper
			kid = upper
		}
		d, text = kid, text[n:]
	}
	return d
}

func (d *draft) edge(s segment) *draft {
	for _, e := range d.edges {
		if e.suffix == s.text && e.constr.key() == s.constr.key() {
			return e.next
		}
	}
	e := draftEdge{suffix: s.text, constr: s.constr, next: &draft{}}
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

// newTable builds the look-up of routes that share a host and do not conflict.
func newTable(routes []*Route) *table {
	t := &table{static: map[string]*leaf{}}
	root := &draft{}
	dynamic := false
	for _, r := range routes {
		if last := r.pattern.segs[len(r.pattern.segs)-1]; last.kind == segRest || (last.kind == segLiteral && last.text == "") {
			t.slashes |= 1 << min(len(r.pattern.segs), 63)
		}
		if path, ok := r.pattern.static(); ok {
			l := t.static[path]
			if l == nil {
				l = &leaf{}
				t.static[path] = l
				t.escapes = t.escapes || strings.Contains(path, "%")
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

func (d *draft) insert(r *Route) {
	run := ""
	for _, s := range r.pattern.segs {
		run += "/"
		switch s.kind {
		case segLiteral:
			run += s.text
		case segParam:
			d, run = d.literal(run).edge(s), ""
		case segRest:
			d = d.literal(run)
			if d.rest == nil {
				d.rest = &leaf{}
			}
			d.rest.add(r)
			return
		}
	}
	d = d.literal(run)
	if d.leaf == nil {
		d.leaf = &leaf{}
	}
	d.leaf.add(r)
}

func (l *leaf) add(r *Route) {
	switch slot := bits.TrailingZeros32(uint32(r.bit)); {
	case r.bit == 0:
		l.any = r
		return
	case slot < slots:
		l.known[slot] = r
	default:
		l.more = append(l.more, r)
	}
	l.mask |= r.bit
}

// seal orders the routes and lets GET answer HEAD.
func (l *leaf) seal() {
	get, head := &l.known[bits.TrailingZeros32(uint32(mGet))], &l.known[bits.TrailingZeros32(uint32(mHead))]
	if *get != nil && *head == nil {
		*head = *get
		l.mask |= mHead
	}
	slices.SortFunc(l.more, func(a, b *Route) int { return cmp.Compare(a.bit, b.bit) })
}

// flatten lays the drafts out in one slice, literal siblings side by side.
func (t *table) flatten(root *draft) {
	root.weigh()
	t.nodes = append(t.nodes, node{})
	type job struct {
		d  *draft
		at int
	}
	for queue := []job{{root, 0}}; len(queue) > 0; queue = queue[1:] {
		d, at := queue[0].d, queue[0].at
		n := node{prefix: d.prefix, leaf: d.leaf, rest: d.rest}
		for _, l := range []*leaf{d.leaf, d.rest} {
			if l != nil {
				l.seal()
			}
		}
		add := func(d *draft) int32 {
			queue = append(queue, job{d, len(t.nodes)})
			t.nodes = append(t.nodes, node{})
			return int32(len(t.nodes) - 1) //nolint:gosec // bounded by the bytes of all patterns
		}
		slices.SortFunc(d.kids, func(a, b *draft) int {
			return cmp.Or(cmp.Compare(b.leaves, a.leaves), cmp.Compare(a.prefix, b.prefix))
		})
		n.kids = int32(len(t.nodes)) //nolint:gosec // as above
		for _, kid := range d.kids {
			n.first += kid.prefix[:1]
			add(kid)
		}
		slices.SortFunc(d.edges, func(a, b draftEdge) int {
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
func (d *draft) weigh() int {
	for _, l := range []*leaf{d.leaf, d.rest} {
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
func (d *draft) skip() *draft {
	if d.prefix == "" && d.leaf == nil && d.rest == nil && len(d.edges) == 0 && len(d.kids) == 1 {
		return d.kids[0]
	}
	return d
}
