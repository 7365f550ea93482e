package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// find is where one path leads below the value at at, said as plainly as can be:
// what places has to agree with.
func find(l locator, at int, path string) (int, bool) {
	if path == "" {
		return at, true
	}
	best, exact := at, false
	var err error
	switch l.text[at] {
	case '{':
		_, err = l.members(at, func(name string, value int) (int, error) {
			if rest, ok := cutName(path, name); ok && !exact {
				found, whole := find(l, value, rest)
				if exact = whole; whole {
					best = found
				}
				best = max(best, found)
			}
			return l.end(value), nil
		})
	case '[':
		index, rest, ok := cutIndex(path)
		i := 0
		_, err = l.elements(at, func(value int) (int, error) {
			if ok && i == index {
				best, exact = find(l, value, rest)
			}
			i++
			return l.end(value), nil
		})
	}
	if err != nil {
		panic(err) // the callbacks give none
	}
	return best, exact
}

func TestManyPathsInOnePass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few letters, so that names fit the paths in more than one way.
		name := rapid.SampledFrom([]string{"a", "b", "a.b", "a.a", "a[0]", "b.a[0].a", `["a"]`, "[0]", `q"x`, "é", "", ".a", "a."})
		var value func(depth int) any
		value = func(depth int) any {
			switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
			case depth == 0 || kind == 0:
				return rapid.SampledFrom([]any{1, "x,]}\\\"", nil, true, []any{}, map[string]any{}}).Draw(t, "leaf")
			case kind < 3:
				m := map[string]any{}
				for range rapid.IntRange(1, 4).Draw(t, "members") {
					m[name.Draw(t, "name")] = value(depth - 1)
				}
				return m
			default:
				var a []any
				for range rapid.IntRange(1, 3).Draw(t, "elements") {
					a = append(a, value(depth-1))
				}
				return a
			}
		}
		text, err := json.Marshal(value(4))
		if err != nil {
			t.Fatal(err)
		}
		segment := rapid.SampledFrom([]string{"a", ".a", ".b", ".a.b", "[0]", "[1]", `["a"]`, `["a.b"]`, `["q\"x"]`, "é", ".é", `[""]`, ".", "..a", "[", "[x]", "[+1]", `["a`, `["\u0061"]`})
		paths := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(segment, 0, 5).Draw(t, "segments"), "")
		}), 1, 12).Draw(t, "paths")
		found, err := places(t.Context(), text, paths)
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range paths {
			at, exact := find(locator{text}, 0, path)
			line, column := position(text, at)
			if want := (place{at, line, column, exact}); found[i] != want {
				t.Errorf("%s in %s: %+v, want %+v", path, text, found[i], want)
			}
		}
	})
}

// A text costs the same however many paths lead into it and however deep they go.
func TestPlacesReadATextOnce(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 60) + `{"items":[{},{}],"pad":"` + strings.Repeat("x", 1<<20) + `"}` + strings.Repeat("}", 60)
	rows := `{"rows":[{"n":0}` + strings.Repeat(`,{"n":1}`, 99_999) + `]}`
	for name, c := range map[string]struct {
		text string
		path func(i int) string
	}{
		"deep":      {deep, func(i int) string { return strings.Repeat("a.", 60) + fmt.Sprintf("items[%d].price%d", i%2, i) }},
		"one place": {deep, func(int) string { return strings.Repeat("a.", 60) + "items[0].price" }},
		"rows":      {rows, func(i int) string { return fmt.Sprintf("rows[%d].price", 999*i) }},
		"nowhere":   {rows, func(i int) string { return fmt.Sprintf("none%d.price", i) }},
	} {
		var once int
		for _, n := range []int{1, 100, 1000} {
			paths := make([]string, n)
			for i := range paths {
				paths[i] = c.path(i)
			}
			w := newWalk(t.Context(), []byte(c.text), paths)
			if err := w.run(); err != nil {
				t.Fatal(err)
			}
			if n == 1 {
				once = w.read
			}
			if w.read > len(c.text) || w.read > once+8*n {
				t.Errorf("%s: %d paths read %d, one read %d, of %d bytes", name, n, w.read, once, len(c.text))
			}
		}
	}
}

func TestPlacesStopWithTheirContext(t *testing.T) {
	text := []byte(`{"rows":[0` + strings.Repeat(",1", 1<<20) + `]}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := places(ctx, text, []string{"rows[9].x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context has ended", err)
	}
	// One that ends on the way stops the walk soon after.
	w := newWalk(t.Context(), text, []string{"rows[9].x", "rows[999999]"})
	ctx, cancel = context.WithCancel(t.Context())
	w.ctx = &countdown{Context: ctx, cancel: cancel, left: 3}
	if err := w.run(); !errors.Is(err, context.Canceled) || w.read > 4*checkEvery {
		t.Errorf("%v after %d, want an end after three looks", err, w.read)
	}
}

// countdown is a context that ends when it has been looked at a few times.
type countdown struct {
	context.Context
	cancel context.CancelFunc
	left   int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// The place of an offset is the same whether the way there was one step or many.
func TestPositionsInOnePass(t *testing.T) {
	text := []byte("a\r\nbé\rc\n\n😀x\xffy\r")
	c := cursor{text: text}
	for at := range len(text) + 1 {
		if at < len(text) && text[at]&0xC0 == 0x80 {
			continue // inside of a character no value begins
		}
		line, column := c.move(at)
		if wantLine, wantColumn := position(text, at); line != wantLine || column != wantColumn {
			t.Errorf("at %d: line %d column %d, want %d, %d", at, line, column, wantLine, wantColumn)
		}
	}
}
