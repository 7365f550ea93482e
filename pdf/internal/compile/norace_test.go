//go:build !race

package compile_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/quire/pdf/internal/compile"
)

// The tests of this file compute for long in one goroutine, where the race detector takes ten times
// as long and finds nothing.

// TestKeptComponentsAreBounded: templates compiled long ago give way to those compiled last, and a
// template that was changed ever so often takes no more and more numbers.
func TestKeptComponentsAreBounded(t *testing.T) {
	template := func(i int) []byte {
		return fmt.Appendf(nil, "quire: 1\nname: x\nlang: en\ntitle: T\ndata: {list: [string]}\ncomponents:\n  a: {do: [{for: x in list, do: [{text: \"${x} %04d\"}]}]}\n  b: {do: [{text: b}]}\nbody: [{use: a}, {use: b}]\n", i)
	}
	kept := compile.NewComponents(int64(3 * len(template(0))))
	compiled := func(name string, i int) int64 {
		before := kept.Compiled()
		if _, err := compile.Compile(t.Context(), template(i), compile.Options{File: name, Components: kept}); err != nil {
			t.Fatal(err)
		}
		return kept.Compiled() - before
	}
	var got []int64
	for _, name := range []string{"a", "b", "c", "a", "b", "c", "d", "a"} {
		got = append(got, compiled(name, 0))
	}
	if want := []int64{2, 2, 2, 0, 0, 0, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("compiled %v, want %v", got, want)
	}
	anew := 0
	for i := range 1000 {
		if compiled("d", i+1) == 2 {
			anew++
		}
	}
	if anew == 0 || anew > 100 {
		t.Errorf("%d of 1000 compilations began anew", anew)
	}
	if compile.NewComponents(0) != nil {
		t.Error("0 bytes keep components")
	}
}
