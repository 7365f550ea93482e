package layout

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/quire/pdf/doc"
)

// TestEdgesApartAreJoinedAsAllOthers: lines that stand below each other are drawn as those among
// which others may cross them.
func TestEdgesApartAreJoinedAsAllOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // G404: test data
	for range 1000 {
		var edges []edge
		at, widths := doc.Length(0), 1+r.IntN(8)
		for range r.IntN(30) {
			at += doc.Length(1 + r.IntN(10))
			edges = append(edges, edge{
				rank: []rank{rankTable, rankRow, rankCell}[r.IntN(3)], at: at, from: doc.Length(r.IntN(5)), to: doc.Length(6 + r.IntN(5)),
				line: doc.Line{Width: doc.Length(1 + r.IntN(widths)), Color: doc.Color(r.Uint32())},
			})
		}
		if !apart(edges) {
			t.Fatalf("%+v", edges)
		}
		one, other := painter{edges: slices.Clone(edges)}, painter{edges: slices.Clone(edges)}
		if got, want := one.joined(), other.crossed(); !slices.Equal(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	}
}
