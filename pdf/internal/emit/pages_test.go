package emit

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
)

// TestPagesAreReadAsTheyWereKept: all of them, and some of them in their order, in the memory of
// documents before.
func TestPagesAreReadAsTheyWereKept(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: test data
	var kept pages
	var memory []cos.Ref
	for round := range 50 {
		ref := func() cos.Ref { return cos.Ref{Num: 1 + r.Uint32()>>r.IntN(31)} }
		want := make([]pageInfo, r.IntN(400))
		for i := range want {
			p := &want[i]
			*p = pageInfo{ref: ref(), contents: ref(), key: i, w: 100 * doc.Pt, h: 50 * doc.Pt, annots: []cos.Ref{}}
			if r.IntN(4) == 0 {
				p.key, p.mcids = r.IntN(1<<31), r.IntN(1<<20)
				p.w, p.h = doc.Length(r.Int64()), doc.Length(r.Int64())
			}
			for range r.IntN(2) * r.IntN(5) {
				p.annots = append(p.annots, ref())
			}
			kept.add(p)
		}
		if kept.n != len(want) {
			t.Fatalf("round %d: %d pages, want %d", round, kept.n, len(want))
		}
		for _, every := range []int{1, 7} {
			read := kept.reader(memory)
			for i := r.IntN(every); i < len(want); i += 1 + r.IntN(every) {
				got := read.to(i)
				if !reflect.DeepEqual(*got, want[i]) {
					t.Fatalf("round %d: page %d is %v, want %v", round, i, *got, want[i])
				}
				got.annots = append(got.annots, ref()) // as one that waited may
			}
			memory = read.page.annots
		}
		kept.reset()
	}
}

// TestRangesAreReadAsTheyWereKept: pages that waited come again, and the file may be very long.
func TestRangesAreReadAsTheyWereKept(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // G404: test data
	var kept Ranges
	for round := range 50 {
		var want []Range
		at := int64(0)
		for range 1 + r.IntN(2) {
			for page := range r.IntN(300) {
				from := at + r.Int64N(1<<r.IntN(40))
				at = from + r.Int64N(1<<r.IntN(40))
				of := Range{Page: page + 1, From: from, To: at}
				want = append(want, of)
				kept.add(of)
			}
		}
		taken := kept.take()
		kept.add(Range{Page: 1, From: 1, To: 2}) // in the memory that is left
		if got := slices.Collect(taken.All()); !slices.Equal(got, want) {
			t.Fatalf("round %d: %d ranges, want %d: %v", round, len(got), len(want), got)
		}
		for of := range taken.All() {
			if of != want[0] {
				t.Fatalf("round %d: it begins with %v", round, of)
			}
			break
		}
		kept.reset()
	}
}
