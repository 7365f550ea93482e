package content

import (
	"cmp"
	"math"
	"slices"
)

// Indices are smaller characters that are raised or lowered beside others, such as exponents, the
// digits of formulas and the marks of footnotes. In parts of the size of the others:
const (
	leastIndex = 0.45 // else the others are an initial
	mostIndex  = 0.85
	indexDown  = 0.3  // how far the baseline of an index may lie below
	indexUp    = 0.7  // and above
	indexInto  = 0.25 // how far it may reach into the character beside it
)

// withIndices returns words with their indices joined to them, and whether there are some.
func withIndices(words []word) (joined []word, some bool) {
	for range 4 { // of indices, and behind each other
		groups, on := beside(words)
		if groups == nil {
			break
		}
		words, some = grouped(words, groups, on), true
	}
	return words, some
}

// grouped joins the words of each group, which has the number of its first word, and puts what goes
// on with an index onto the line of the word that the index belongs to.
func grouped(words []word, group, on []int) []word {
	members := make([][]word, len(words))
	for i, w := range words {
		if group[i] == i && on[i] > 0 {
			w.v = words[on[i]-1].v
		}
		members[group[i]] = append(members[group[i]], w)
	}
	out := words[:0:0]
	for _, list := range members {
		if len(list) < 2 {
			out = append(out, list...)
			continue
		}
		slices.SortStableFunc(list, func(a, b word) int { return cmp.Or(cmp.Compare(a.u, b.u), cmp.Compare(a.v, b.v)) })
		w := slices.MaxFunc(list, func(a, b word) int { return cmp.Compare(a.size, b.size) })
		w.Parts = nil
		for _, x := range list {
			w.Parts = append(w.Parts, x.Parts...)
			w.n, w.u = min(w.n, x.n), min(w.u, x.u)
			if x.end >= w.end {
				w.end, w.spaceAfter = x.end, x.spaceAfter
			}
		}
		w.finish()
		out = append(out, w)
	}
	slices.SortStableFunc(out, inLines)
	return out
}

// beside returns for each word the first of those that it belongs to as their index, or as which
// they belong to it, and the word that it is an index of, + 1; nil: there are no indices.
func beside(words []word) (group, on []int) {
	smallest, largest := math.Inf(1), 0.0
	for i := range words {
		smallest, largest = min(smallest, words[i].size), max(largest, words[i].size)
	}
	if !(smallest > 0 && smallest <= mostIndex*largest && largest < math.MaxInt32) {
		return nil, nil
	}
	ends, begins := edges{}, edges{}
	for i := range words {
		if w := &words[i]; w.size*mostIndex >= smallest {
			begins.add(w, w.u, i)
			if !w.spaceAfter {
				ends.add(w, w.end, i)
			}
		}
	}
	on = make([]int, len(words))
	first := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	join := func(a, b int) {
		if group == nil {
			group = make([]int, len(words))
			for i := range group {
				group[i] = i
			}
		}
		a, b = first(a), first(b)
		group[max(a, b)] = min(a, b)
	}
	for i := range words {
		s := &words[i]
		before, ok := ends.near(words, s, s.u, func(b *word) float64 { return s.u - b.end })
		if ok {
			join(i, before)
			on[i] = before + 1
		} else if i > 0 && s.goesOn(&words[i-1]) {
			on[i] = on[i-1]
		}
		if s.spaceAfter {
			continue
		}
		after, goesOn := begins.near(words, s, s.end, func(b *word) float64 { return b.u - s.end })
		if goesOn && (!ok || math.Abs(words[before].v-words[after].v) < 0.25*words[after].size) {
			join(i, after)
			on[i] = after + 1
		}
	}
	for i := len(words) - 2; i >= 0; i-- {
		if on[i] == 0 && words[i+1].goesOn(&words[i]) {
			on[i] = on[i+1]
		}
	}
	for i := range group {
		group[i] = group[group[i]] // numbers only fall, so that of the one before is final
	}
	return group, on
}

// goesOn reports whether a word follows another on its baseline, in letters of its size.
func (w *word) goesOn(o *word) bool {
	gap := (w.u - o.end) / w.size
	return w.angle == o.angle && math.Abs(w.v-o.v) < 0.1*w.size && math.Abs(w.size-o.size) < 0.1*w.size && gap > -0.1 && gap < 0.6
}

// edges finds words by where they begin or end, in squares of the page that grow with their size.
type edges map[square][]int

// square is one of those with sides of 2^exponent.
type square struct{ angle, exponent, u, v int }

// mostOfSquare bounds the words of a square.
const mostOfSquare = 64

func step(at float64, exponent int) int {
	return int(math.Floor(max(math.MinInt32, min(math.MaxInt32, math.Ldexp(at, -exponent)))))
}

func (e edges) add(w *word, u float64, i int) {
	_, exponent := math.Frexp(w.size)
	at := square{w.angle, exponent, step(u, exponent), step(w.v, exponent)}
	if list := e[at]; len(list) < mostOfSquare {
		e[at] = append(list, i)
	}
}

// near returns the word of which s is an index that begins or ends at u, the one with the smallest
// gap.
func (e edges) near(words []word, s *word, u float64, gap func(*word) float64) (best int, ok bool) {
	least := math.Inf(1)
	_, from := math.Frexp(s.size / mostIndex)
	_, to := math.Frexp(s.size / leastIndex)
	for exponent := from; exponent <= to; exponent++ {
		size := math.Ldexp(1, exponent) // at most
		u0, u1 := step(u-indexInto*size, exponent), step(u+indexInto*size, exponent)
		v0, v1 := step(s.v-indexUp*size, exponent), step(s.v+indexDown*size, exponent)
		for at := (square{s.angle, exponent, u0, v0}); at.u <= u1; at.u++ {
			for at.v = v0; at.v <= v1; at.v++ {
				for _, i := range e[at] {
					b := &words[i]
					g, up := gap(b)/b.size, (s.v-b.v)/b.size
					if s.size >= leastIndex*b.size && s.size <= mostIndex*b.size && up >= -indexDown && up <= indexUp &&
						g >= -indexInto && g <= wordGap && math.Abs(g) < least {
						best, least, ok = i, math.Abs(g), true
					}
				}
			}
		}
	}
	return best, ok
}
