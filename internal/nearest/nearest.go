// Package nearest finds the known name that is closest to a misspelt one. Every `did you mean`
// uses this one rule.
package nearest

import "unicode/utf8"

// maxLen bounds the work: a longer name was not mistyped, it is something else.
const maxLen = 128

// Name returns the one of known that differs least from got, or "" when none is near. Case costs
// nothing; inserting, deleting or changing a letter, or swapping two neighbours, costs one, and at
// most one in three letters (at least one) may differ. Of several that differ as little, those with
// the same first letter come first, for the first is seldom mistyped, then those first in the order
// of the alphabet. Of a single letter nothing can be said.
func Name(got string, known []string) string {
	if len(got) > maxLen {
		return ""
	}
	a := []rune(got)
	best, least, first := "", max(1, (len(a)+1)/3), false // the letters of best's first and got's are the same
	for _, k := range known {
		if k == "" || utf8.RuneCountInString(k) > maxLen {
			continue
		}
		r := []rune(k)
		d, same := distance(a, r, least), len(a) > 0 && lower(a[0]) == lower(r[0])
		if d <= least && d < len(a) && (best == "" || d < least || same && !first || same == first && k < best) {
			best, least, first = k, d, same
		}
	}
	return best
}

// distance counts the edits from a to b (optimal string alignment). What is more than limit is told
// as some number above it.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	older, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if lower(a[i-1]) == lower(b[j-1]) {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && lower(a[i-1]) == lower(b[j-2]) && lower(a[i-2]) == lower(b[j-1]) {
				cur[j] = min(cur[j], older[j-2]+1)
			}
		}
		older, prev, cur = prev, cur, older
	}
	return prev[len(b)]
}

func lower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}
