package strictyaml

import (
	"encoding/binary"
	"hash"
)

// Digest writes the content of n to h and, with places, the source position of each part: nodes
// with equal output are equal.
func (n *Node) Digest(h hash.Hash, places bool) {
	if n == nil {
		h.Write([]byte{0xFF})
		return
	}
	b := make([]byte, 0, 64)
	number := func(v int) { b = binary.AppendUvarint(b, uint64(v)) } //nolint:gosec // G115: none is below 0
	quoted := byte(0)
	if n.Quoted {
		quoted = 1
	}
	b = append(b, byte(n.Kind), quoted)
	if places {
		number(n.Line)
		number(n.Col)
		number(len(n.marks))
		for _, m := range n.marks {
			number(m.off)
			number(m.line)
			number(m.col)
		}
	}
	number(len(n.Text))
	number(len(n.Keys))
	number(len(n.Items))
	h.Write(append(b, n.Text...))
	for i, k := range n.Keys {
		k.Digest(h, places)
		n.Values[i].Digest(h, places)
	}
	for _, item := range n.Items {
		item.Digest(h, places)
	}
}
