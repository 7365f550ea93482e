//go:build !race

package arena

import (
	"runtime"
	"testing"
)

// TestValuesAreZeroAndApart: values are zero, also those that were used before, and appending to
// some changes no other.
func TestValuesAreZeroAndApart(t *testing.T) {
	var a Of[int]
	for round := range 5 {
		var all []*int
		for n := range 1000 {
			s := a.Take(n % 7)
			for i := range s {
				if s[i] != 0 {
					t.Fatalf("round %d: a value is %d", round, s[i])
				}
				s[i] = n
				all = append(all, &s[i])
			}
			_ = append(s, -1)
		}
		for _, p := range all {
			if *p < 0 {
				t.Fatal("a value was changed by another")
			}
		}
		list := a.Take(0)
		for i := range 100 {
			list = a.Add(list, i)
		}
		for i := range list {
			if list[i] != i {
				t.Fatalf("a list has %d at %d", list[i], i)
			}
		}
		a.Reset()
	}
}

// TestResetKeepsALittle: after a document of any size, one block is kept, and is empty.
func TestResetKeepsALittle(t *testing.T) {
	var a Of[*int]
	for range 10_000 {
		*a.One() = new(int)
	}
	a.Reset()
	if len(a.first) != largeBlock || len(a.free) != largeBlock {
		t.Errorf("%d values kept", len(a.first))
	}
	for range 10_000 {
		*a.One() = new(int)
	}
	a.Reset()
	for i, p := range a.first {
		if p != nil {
			t.Fatalf("value %d is kept", i)
		}
	}
}

// TestDocumentsOfOneSizeTakeNoMemory: the second needs none.
func TestDocumentsOfOneSizeTakeNoMemory(t *testing.T) {
	var a Of[[4]int]
	use := func() {
		for range 100 {
			a.One()
		}
		a.Reset()
	}
	use()
	if n := testing.AllocsPerRun(100, use); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestNumbersTakeABlockAtATime: a list that grows holds little more than what it has.
func TestNumbersTakeABlockAtATime(t *testing.T) {
	const n = 1 << 20
	var l Numbers
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		l.Add(4)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > n+n/16 {
		t.Errorf("%d numbers near zero take %d bytes", n, after.TotalAlloc-before.TotalAlloc)
	}
}

// TestRewind: what is taken back is taken again and empty, what was taken before Mark stays,
// however many blocks there are.
func TestRewind(t *testing.T) {
	for before := range 40 {
		var a Of[int]
		kept := a.Take(before)
		for i := range kept {
			kept[i] = 7
		}
		a.Mark()
		for round := range 100 {
			if round == 50 {
				a.Part()
			}
			for n := range 1 + round%5*20 {
				for _, s := range [2][]int{a.Take(n % 4), a.Take(1)} {
					for i := range s {
						if s[i] != 0 {
							t.Fatalf("%d before, round %d: a value is %d", before, round, s[i])
						}
						s[i] = 9
					}
				}
			}
			a.Rewind()
		}
		for i := range kept {
			if kept[i] != 7 {
				t.Fatalf("%d before: a value became %d", before, kept[i])
			}
		}
	}
	var a Of[[4]int]
	a.Mark()
	round := func() {
		for range 10 {
			a.One()
		}
		a.Rewind()
	}
	round()
	if n := testing.AllocsPerRun(100, round); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
