package strictjson_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"example.com/quire/internal/strictjson"
)

func TestLocateFindsValuesAndWhatShouldHaveHeldThem(t *testing.T) {
	const text = `{
  "client": {"name": "Ana", "a.b": {"c": 1}},
  "trades": [
    {"price": 1.50, "unit price": 2},
    {"price": "n/a", "\u0070ath": [[1, [2, 3]], {"x": {}}]}
  ],
  "": 7, "é": "ü", "a/b~c": 1, "0": {"0": 5}
}`
	for _, c := range []struct {
		pointer string
		at      string // what stands there, from the offset on
		exact   bool
	}{
		{"", "{\n  \"client\"", true},
		{"/client", `{"name"`, true},
		{"/client/name", `"Ana"`, true},
		{"/client/a.b/c", `1}},`, true},
		{"/trades", "[\n", true},
		{"/trades/0", `{"price": 1.50`, true},
		{"/trades/0/unit price", "2}", true},
		{"/trades/1/price", `"n/a"`, true},
		{"/trades/1/path/0/1/1", "3]", true}, // the name is spelled with an escape
		{"/trades/1/path/1/x", "{}}", true},
		{"/", "7,", true},
		{"/é", `"ü"`, true},
		{"/a~1b~0c", `1, "0"`, true},
		{"/0/0", "5}", true},
		// What is not there: the place of what should have held it.
		{"/client/code", `{"name"`, false},
		{"/client/name/first", `"Ana"`, false},
		{"/trades/2/price", "[\n", false},
		{"/trades/00", "[\n", false},
		{"/trades/-", "[\n", false},
		{"/trades/0/qty/x/y", `{"price": 1.50`, false},
		{"/nothing", "{\n", false},
	} {
		p := strictjson.Locate([]byte(text), c.pointer)[0]
		if p.Exact != c.exact || !strings.HasPrefix(text[p.Offset:], c.at) {
			t.Errorf("%s: %.12q exact %v, want %.12q %v", c.pointer, text[p.Offset:], p.Exact, c.at, c.exact)
		}
		if got := pointerAt([]byte(text), p.Offset); c.exact && got != c.pointer {
			t.Errorf("what stands at %s is %s", c.pointer, got)
		}
	}
	if p := strictjson.Locate([]byte(`{"a":[1,`), "/a/0", "/a/1", "/b"); !p[0].Exact || p[0].Offset != 6 || p[1].Exact || p[2].Exact {
		t.Errorf("in a text that breaks off: %v", p)
	}
}

// Every value of a text is found by its pointer, many at once, and its offset leads back to it.
func TestPointersAndOffsetsLeadToOneAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.SampledFrom([]rune(`ab/~.[]"\ é😀0`)), 0, 3, -1)
		var pointers []string
		var value func(pointer string, depth int) any
		value = func(pointer string, depth int) any {
			pointers = append(pointers, pointer)
			switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
			case depth == 0 || kind == 0:
				return rapid.SampledFrom([]any{1.5, "x,]}\\\"", nil, true, []any{}, map[string]any{}}).Draw(t, "leaf")
			case kind == 1:
				m := map[string]any{}
				for range rapid.IntRange(1, 4).Draw(t, "members") {
					n := name.Draw(t, "name")
					if _, twice := m[n]; !twice {
						m[n] = value(pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(n), depth-1)
					}
				}
				return m
			default:
				var a []any
				for i := range rapid.IntRange(1, 3).Draw(t, "elements") {
					a = append(a, value(pointer+"/"+strconv.Itoa(i), depth-1))
				}
				return a
			}
		}
		text, err := json.MarshalIndent(value("", 4), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		places := strictjson.Locate(text, pointers...)
		for i, p := range places {
			if back := pointerAt(text, p.Offset); !p.Exact || back != pointers[i] {
				t.Errorf("%s in %s: offset %d exact %v, which is %s", pointers[i], text, p.Offset, p.Exact, back)
			}
			if line, column := strictjson.Position(text, p.Offset); p.Line != line || p.Column != column {
				t.Errorf("%s in %s: %d:%d, want %d:%d", pointers[i], text, p.Line, p.Column, line, column)
			}
		}
	})
}

// pointerAt asks jsontext which value begins at an offset.
func pointerAt(text []byte, offset int) string {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	for int(d.InputOffset()) <= offset {
		if _, err := d.ReadToken(); err != nil {
			break
		}
	}
	return string(d.StackPointer())
}

func TestPositionCountsCodePointsAndEveryLineEnd(t *testing.T) {
	text := []byte("a\r\nbé\rc\n\n😀x\xffy\r")
	for _, c := range []struct{ offset, line, column int }{
		{0, 1, 1},
		{1, 1, 2},
		{2, 1, 3},
		{3, 2, 1},
		{4, 2, 2},
		{6, 2, 3},
		{7, 3, 1},
		{9, 4, 1},
		{10, 5, 1},
		{14, 5, 2},
		{15, 5, 3},
		{16, 5, 4},
		{17, 5, 5},
		{18, 6, 1},
		{99, 6, 1},
	} {
		if line, column := strictjson.Position(text, c.offset); line != c.line || column != c.column {
			t.Errorf("offset %d: %d:%d, want %d:%d", c.offset, line, column, c.line, c.column)
		}
	}
}

func TestPathsAndPointersSayTheSame(t *testing.T) {
	for pointer, path := range map[string]string{
		"":                     "",
		"/a":                   "a",
		"/trades/17/price":     "trades[17].price",
		"/unit price/0":        `["unit price"][0]`,
		"/a/b.c/q\"/x~1y~0z/é": `a["b.c"]["q\""]["x/y~z"]["é"]`,
		"/":                    `[""]`,
		"/a//b":                `a[""].b`,
		"/x-1/_y":              "x-1._y",
	} {
		if got := strictjson.Path(pointer); got != path {
			t.Errorf("path of %s: %s, want %s", pointer, got, path)
		}
		if got := strictjson.Pointer(path); got != pointer {
			t.Errorf("pointer of %s: %s, want %s", path, got, pointer)
		}
	}
	for path, pointer := range map[string]string{"a b.c": "/a b/c", `["x`: `/"x`, "a[": "/a/", ".a": "/a", "[x]": "/x"} {
		if got := strictjson.Pointer(path); got != pointer {
			t.Errorf("pointer of %s, which is no path: %s, want %s", path, got, pointer)
		}
	}
}
