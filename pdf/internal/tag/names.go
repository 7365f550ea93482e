package tag

import (
	"fmt"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
)

// Names tell an element from all others, and which header cells a cell has.
type Names struct {
	ID      string   // unique in the document; empty: it has none
	Headers []string // IDs of TH elements of the same table (ISO 32000-2, 14.8.5.7)
}

// identified is an element with an ID.
type identified struct {
	id  string
	ref cos.Ref
}

const noteName = "note"

// noteID is the identifier of a note of PDF 1.7; identifiers stand in the order of their numbers.
func noteID(n int) string { return fmt.Sprintf(noteName+"%08d", n) }

// IsNoteID reports whether an identifier is one that notes have.
func IsNoteID(id string) bool {
	number, ok := strings.CutPrefix(id, noteName)
	return ok && len(number) >= 8 && strings.Trim(number, "0123456789") == ""
}

// identify takes down the ID of an element. A footnote of PDF 1.7, a Note, gets one (ISO 14289-1,
// 7.9).
func (t *Tree) identify(e *Elem) {
	if e.Type == FENote {
		if t.notes++; t.w.Version() != cos.V20 {
			e.Names = &Names{ID: noteID(t.notes)}
		}
	}
	if e.Names != nil && e.Names.ID != "" {
		t.ids = append(t.ids, identified{e.Names.ID, e.ref})
	}
}

// idTree writes the name tree (7.9.6) of the identifiers, in leaves of bounded size.
func (t *Tree) idTree() (cos.Ref, error) {
	slices.SortFunc(t.ids, func(a, b identified) int { return strings.Compare(a.id, b.id) })
	var leaves cos.Array
	for leaf := range slices.Chunk(t.ids, leafKeys) {
		b := append(t.buf[:0], "<</Limits["...)
		b = cos.AppendLiteral(b, leaf[0].id)
		b = cos.AppendLiteral(b, leaf[len(leaf)-1].id)
		b = append(b, "]/Names["...)
		for _, x := range leaf {
			b = cos.AppendLiteral(b, x.id)
			b = cos.AppendRef(append(b, ' '), x.ref)
		}
		t.buf = append(b, "]>>"...)
		ref := t.w.Reserve()
		if err := t.w.PutRaw(ref, t.buf); err != nil {
			return ref, err
		}
		leaves = append(leaves, ref)
	}
	ref := t.w.Reserve()
	return ref, t.w.Put(ref, cos.Dict{cos.E("Kids", leaves)})
}
