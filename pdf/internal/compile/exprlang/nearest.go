package exprlang

// Nearest returns the suggestion for a name that does not exist, `did you mean
// "x"?`, or "" when nothing is near enough.
func Nearest(name string, names []string) string {
	if best := NearestName(name, names); best != "" {
		return `did you mean "` + best + `"?`
	}
	return ""
}

// NearestName returns the name with the fewest edits, at most one in three
// letters, ties going to the first; or "".
func NearestName(name string, names []string) string {
	best, least := "", (len([]rune(name))+1)/3
	for _, n := range names {
		if d := distance([]rune(name), []rune(n), least); d <= least && (best == "" || d < least) && n != name {
			best, least = n, d
		}
	}
	return best
}

// distance counts insertions, deletions, replacements and swaps of neighbours
// (optimal string alignment). It stops with a larger number once limit is
// passed.
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
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
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
