package route

import (
	"math/bits"
	"net/url"
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

// slots is the number of known methods; a method beyond them has the slot slots.
const slots = 10

// leaf is where patterns of one shape end.
type leaf[V any] struct {
	known [slots + 1]*V // by slot, HEAD by GET included; the last is nil
	more  []*V          // of other methods, in the order of their bits
	any   *V
	mask  Methods // methods with a route
}

// find returns the route for the method looked for.
func (l *leaf[V]) find(m *Match[V]) *V {
	if r := l.known[m.slot]; r != nil {
		return r
	}
	if l.mask&m.Bit != 0 {
		return l.more[l.place(m.Bit)]
	}
	return l.any
}

// place returns where the route of a method beyond the known ones stands in more.
func (l *leaf[V]) place(bit Methods) int {
	return bits.OnesCount32(uint32(l.mask & (bit - 1) >> slots))
}

// first returns a route of the leaf.
func (l *leaf[V]) first() *V {
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

// Match is the state and result of one look-up. Its
// values are offsets into the path, so that a look-up allocates nothing.
type Match[V any] struct {
	Bit   Methods // 0 for a method nobody registered
	slot  uint8   // of Bit in a leaf
	slash bool    // look up path + "/" instead of path
	Loose bool    // a rest may hold empty segments
	Rest  bool    // a rest was taken
	N     int     // values
	offs  [MaxParams]span

	Allow Methods // methods of the leaves that matched the path only
	Miss  *V      // a route of the first such leaf
}

// Reset readies m for a look-up by the method of bit. Loose stays.
func (m *Match[V]) Reset(bit Methods) {
	m.Bit, m.slot = bit, uint8(min(bits.TrailingZeros32(uint32(bit)), slots)) //nolint:gosec // at most slots
	m.slash, m.Rest, m.N, m.Allow, m.Miss = false, false, 0, 0, nil
}

// Value returns the i-th value of the match, a part of the path looked up.
func (m *Match[V]) Value(path string, i int) string {
	s := m.offs[i]
	return path[s.lo:s.hi]
}

// take returns the leaf's route for the method, or notes what it would allow.
func (m *Match[V]) take(l *leaf[V]) *V {
	if r := l.find(m); r != nil {
		return r
	}
	m.Allow |= l.mask
	if m.Miss == nil {
		m.Miss = l.first()
	}
	return nil
}

type edge struct {
	suffix string
	constr *Constraint
	next   int32
}

// node fills one cache line.
type node[V any] struct {
	prefix string
	first  string // first bytes of the literal children, those with the most leaves first
	kids   int32  // index of the first literal child; the others follow it
	plain  int32  // index of the child of a plain parameter; 0 is none
	edge   int32  // index of the first other parameter, most specific first
	edges  int32  // how many of them there are
	leaf   *leaf[V]
	rest   *leaf[V]
}

// forks reports whether a look-up may have to come back to the node.
func (n *node[V]) forks() bool { return n.plain|n.edges != 0 || n.rest != nil }

// child returns the place of the literal child that begins with c, -1 for none.
func (n *node[V]) child(c byte) int {
	for i := range len(n.first) {
		if n.first[i] == c {
			return i
		}
	}
	return -1
}

// Table has routes of type V. It is immutable.
type Table[V any] struct {
	static  map[string]*leaf[V]
	lengths [4]uint64 // lengths of static paths below 256, to skip the map for most others
	long    bool      // there is a static path of 256 bytes or more
	Escapes bool      // there is a static path with a percent sign
	nodes   []node[V] // nodes[0] is the root; empty when every route is static
	edges   []edge
	slashes uint64 // depths (at most 63) of the patterns that match a trailing slash
}

// Lookup returns the route of a path in canonical form.
func (t *Table[V]) Lookup(path string, m *Match[V]) *V {
	if r := t.Literal(path, m); r != nil {
		return r
	}
	return t.Variable(path, m)
}

// Find returns the route of a URL, with the canonical form of its path: the values of m are
// parts of that. escaped says that they need DecodeValue.
func (t *Table[V]) Find(u *url.URL, m *Match[V]) (r *V, path string, escaped bool) {
	plain := u.RawPath == "" && !t.Escapes
	if plain {
		// A path that equals one without escapes is canonical.
		if r = t.Literal(u.Path, m); r != nil {
			return r, u.Path, false
		}
	}
	path, escaped = Canonical(u)
	switch {
	case path == "" || path[0] != '/':
		return nil, path, escaped
	case plain && path == u.Path:
		return t.Variable(path, m), path, escaped
	}
	return t.Lookup(path, m), path, escaped
}

// Literal looks among the paths that are spelled out.
func (t *Table[V]) Literal(path string, m *Match[V]) *V {
	if n := len(path); (n < 256 && t.lengths[n>>6]&(1<<(n&63)) != 0) || (n >= 256 && t.long) {
		if l := t.static[path]; l != nil {
			return m.take(l)
		}
	}
	return nil
}

// Variable looks among the patterns with parameters.
func (t *Table[V]) Variable(path string, m *Match[V]) *V {
	if len(t.nodes) == 0 {
		return nil
	}
	return t.walk(&t.nodes[0], path, 0, m)
}

// LookupSlash is lookup of path + "/", without making that text.
func (t *Table[V]) LookupSlash(path string, m *Match[V]) *V {
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
func (t *Table[V]) walk(n *node[V], path string, i int, m *Match[V]) *V {
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
			depth := m.N
			if r := t.walk(kid, path, i, m); r != nil {
				return r
			}
			m.N = depth
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
		depth := m.N
		for k := n.edge; k < n.edge+n.edges; k++ {
			e := &t.edges[k]
			cut := len(seg) - len(e.suffix)
			if cut <= 0 || seg[cut:] != e.suffix || !e.constr.match(seg[:cut]) {
				continue
			}
			m.offs[depth] = span{uint32(i), uint32(i + cut)} //nolint:gosec // a path is far below 4 GiB
			m.N = depth + 1
			if r := t.walk(&t.nodes[e.next], path, stop, m); r != nil {
				return r
			}
			m.N = depth
		}
		if n.plain == 0 {
			return t.takeRest(n, path, i, m)
		}
		m.offs[depth] = span{uint32(i), uint32(stop)} //nolint:gosec // as above
		m.N = depth + 1
		if n.rest == nil {
			n, i = &t.nodes[n.plain], stop
			continue
		}
		if r := t.walk(&t.nodes[n.plain], path, stop, m); r != nil {
			return r
		}
		m.N = depth
		return t.takeRest(n, path, i, m)
	}
}

// takeRest gives path[i:] to the node's rest. Paths that are not clean never
// reach a rest.
func (t *Table[V]) takeRest(n *node[V], path string, i int, m *Match[V]) *V {
	if n.rest == nil {
		return nil
	}
	rest := ""
	if i < len(path) {
		rest = path[i:]
	}
	if dotSegment(rest) || (!m.Loose && emptySegment(rest)) {
		return nil
	}
	r := m.take(n.rest)
	if r != nil {
		m.offs[m.N] = span{uint32(i), uint32(i + len(rest))} //nolint:gosec // a path is far below 4 GiB
		m.N++
		m.Rest = true
	}
	return r
}

// EndsInSlash reports whether a pattern of the depth, in segments, matches a
// trailing slash: if not, LookupSlash need not be tried.
func (t *Table[V]) EndsInSlash(depth int) bool { return t.slashes&(1<<min(depth, 63)) != 0 }

// Exact reports whether the match has no rest, or an empty one.
func (m *Match[V]) Exact() bool {
	if !m.Rest {
		return true
	}
	s := m.offs[m.N-1]
	return s.lo == s.hi
}
