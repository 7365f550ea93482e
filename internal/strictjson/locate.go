package strictjson

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Place is where a pointer leads in a text.
type Place struct {
	Offset       int // of the value, in bytes from 0
	Line, Column int // of Offset, as Position counts them
	// Exact is false if the pointer leads beyond the text's values. The position is then that of
	// the last value on its way.
	Exact bool
}

// Locate finds the positions of pointers (RFC 6901) in a text that [Check] has passed, in one pass.
// Values without a pointer are skipped as a whole, so the time depends on the text and not on the
// number of pointers. In a text that is not JSON, the positions before the fault are found.
func Locate(text []byte, pointers ...string) []Place {
	root := &node{}
	ends := make([]*node, len(pointers))
	for i, p := range pointers {
		ends[i] = root.reach(p)
	}
	// Names that stand twice have been refused, or lead to the last of them.
	r := newReader(text, jsontext.AllowDuplicateNames(true))
	_ = r.locate(root) // a fault ends the pass; what was found until then is so
	places := make([]Place, len(pointers))
	order := make([]int, len(pointers))
	for i, n := range ends {
		order[i] = i
		places[i].Exact = n.found
		for !n.found && n.above != nil {
			n = n.above
		}
		places[i].Offset = n.offset
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(places[a].Offset, places[b].Offset) })
	c := cursor{text: text}
	for _, i := range order {
		places[i].Line, places[i].Column = c.move(places[i].Offset)
	}
	return places
}

// node is a value that pointers lead to or through.
type node struct {
	above  *node
	below  map[string]*node // by name or index
	offset int
	found  bool
}

// reach returns the node of a pointer.
func (n *node) reach(pointer string) *node {
	if pointer == "" {
		return n
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		next := n.below[token]
		if next == nil {
			next = &node{above: n}
			if n.below == nil {
				n.below = map[string]*node{}
			}
			n.below[token] = next
		}
		n = next
	}
	return n
}

// locate notes in n where the next value begins, and so for what is below it.
func (r *reader) locate(n *node) error {
	kind := r.d.PeekKind()
	if kind == 0 { // no value begins here
		_, err := r.d.ReadToken()
		return err
	}
	n.offset, n.found = r.skip(int(r.d.InputOffset()), separates), true
	if len(n.below) == 0 || kind != '{' && kind != '[' {
		return r.d.SkipValue()
	}
	if _, err := r.d.ReadToken(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if end := r.d.PeekKind(); end == '}' || end == ']' {
			_, err := r.d.ReadToken()
			return err
		}
		token := strconv.Itoa(i)
		if kind == '{' {
			name, err := r.d.ReadToken()
			if err != nil {
				return err
			}
			token = Token(name.String())
		}
		next := n.below[token]
		if next == nil {
			if err := r.d.SkipValue(); err != nil {
				return err
			}
		} else if err := r.locate(next); err != nil {
			return err
		}
	}
}
