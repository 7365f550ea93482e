package record

import "fmt"

// Space is the name of a tenant. Every question to the store carries one, and
// what belongs to another space is not found.
type Space string

// Local is the space that is there from the start.
const Local Space = "local"

// maxName bounds the names of spaces, templates, sources and reports, in bytes.
const maxName = 64

// CheckName returns a *RequestError unless name can name a space, template,
// source or report: 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a
// letter or a digit. Names stand in paths, URLs and logs, hence the narrow set.
func CheckName(field, name string) error {
	const want = "1 to 64 of a-z, 0-9, '.', '_' and '-', first a letter or digit"
	if name == "" {
		return &RequestError{Field: field, Got: "nothing", Want: want}
	}
	if len(name) > maxName {
		return &RequestError{Field: field, Got: fmt.Sprintf("%d characters", len(name)), Want: want}
	}
	for i := range len(name) {
		c := name[i]
		alnum := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return &RequestError{Field: field, Got: fmt.Sprintf("%q", name), Want: want}
		}
	}
	return nil
}

// CheckKey returns a *RequestError unless key can be the key of a source in the
// data: an identifier of the template language, so that expressions can reach
// it, and not the reserved key [SourcesKey].
func CheckKey(field, key string) error {
	const want = "an identifier: 1 to 64 of letters, digits and '_', first not a digit"
	if key == SourcesKey {
		return &RequestError{Field: field, Got: fmt.Sprintf("%q", key), Want: "a key that is not reserved"}
	}
	if key == "" || len(key) > maxName {
		return &RequestError{Field: field, Got: fmt.Sprintf("%d characters", len(key)), Want: want}
	}
	for i := range len(key) {
		c := key[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return &RequestError{Field: field, Got: fmt.Sprintf("%q", key), Want: want}
		}
	}
	return nil
}

// Nearest returns the one of known that differs least from name, the first by
// the alphabet where there are several, or "" when none is near: at most a third
// of name's characters (and at least one) may have to be changed.
func Nearest(name string, known []string) string {
	best, bestAt := "", max(1, len(name)/3)+1
	for _, k := range known {
		if d := distance(name, k, bestAt+1); d < bestAt || d == bestAt && best != "" && k < best {
			best, bestAt = k, d
		}
	}
	return best
}

// distance is the number of bytes to insert, delete, change or swap with their
// neighbour to turn a into b (optimal string alignment), or limit when it is
// limit or more.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(b)], limit)
}
