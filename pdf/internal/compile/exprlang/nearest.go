package exprlang

import "example.com/quire/internal/nearest"

// Nearest returns the suggestion for a name that does not exist, `did you mean "x"?`, or "" when
// nothing is near enough.
func Nearest(name string, names []string) string {
	if best := nearest.Name(name, names); best != "" && best != name {
		return `did you mean "` + best + `"?`
	}
	return ""
}
