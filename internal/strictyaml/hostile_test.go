//go:build !race

package strictyaml_test

import (
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/strictyaml"
)

// TestHostileInput ends within the limits, in a time that the size bounds: that
// of a plain text of the same size and in the same minute, thirty times over.
// (A parser that is quadratic in the depth takes a thousand times as long.)
// It is about time and has one goroutine, so it is not built with the race
// detector, which slows the lexer more than the rest.
func TestHostileInput(t *testing.T) {
	// The least time of three, or the first that is short enough.
	least := func(src string, enough time.Duration) (took time.Duration, problems []strictyaml.Problem) {
		for i := range 3 {
			start := time.Now()
			_, problems = strictyaml.Parse([]byte(src), wide)
			if d := time.Since(start); i == 0 || d < took {
				took = d
			}
			if took <= enough {
				break
			}
		}
		return took, problems
	}
	plainText := strings.Repeat("- some words\n", 8_000)
	unit, problems := least(plainText, 0)
	if len(problems) != 0 {
		t.Fatalf("plain text: %v", problems)
	}
	var deep strings.Builder
	for i := range 200 {
		deep.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for _, tt := range []struct {
		name, src string
		limit     bool // that ends it
	}{
		{"flow lists", strings.Repeat("[", 100_000), true},
		{"flow mappings", strings.Repeat("{a: ", 50_000), true},
		{"block lists", strings.Repeat("- ", 100_000), true},
		{"many items", "[" + strings.Repeat("a, ", 30_000) + "]", true},
		{"long text", "[\"" + strings.Repeat("\\t", 250_000) + "\"" + strings.Repeat(",a", 30_000) + "]", true},
		{"deep block", deep.String(), true},
		{"line feeds behind a block text", "a: |\n x" + strings.Repeat("\n", 50_000), false},
		{"line feeds inside a block text", "a: |\n x" + strings.Repeat("\n", 50_000) + " y\n", false},
		{"commas", "[" + strings.Repeat(",", 500_000), true},
		{"short items", strings.Repeat("-\n", 250_000), true},
		{"nested JSON", "{\"a\":" + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", true},
		{"less-than signs", strings.Repeat("<", 50_000), false},
	} {
		bound := 30 * unit * time.Duration(len(tt.src)/len(plainText)+1)
		took, problems := least(tt.src, bound)
		switch {
		case tt.limit && (len(problems) != 1 || !problems[0].Limit):
			t.Errorf("%s: %v", tt.name, problems)
		case !tt.limit && len(problems) != 0:
			t.Errorf("%s: %v", tt.name, problems)
		}
		if took > bound {
			t.Errorf("%s: %v for %d bytes; plain text: %v for %d", tt.name, took, len(tt.src), unit, len(plainText))
		}
	}
}
