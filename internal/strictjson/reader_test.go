package strictjson_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/quire/internal/strictjson"
)

// spell reads the next value and writes it without white space.
func spell(r *strictjson.Reader, to []byte) []byte {
	kind := r.Kind()
	switch kind {
	case '"':
		return strictjson.AppendString(to, string(r.Text()))
	case '{', '[':
		to = append(to, kind)
		r.Each(func(i int) {
			if i > 0 {
				to = append(to, ',')
			}
			if kind == '{' {
				to = append(strictjson.AppendString(to, string(r.Text())), ':')
			}
			to = spell(r, to)
		})
		return append(to, kind+2) // ASCII has the closing bracket two behind the opening one
	}
	return append(to, r.Value()...)
}

func TestWhatIsReadHasItsPlace(t *testing.T) {
	const text = ` {"a/b": [ 10, "x\u00e9", {"~":null} ,[] ], "z" :true}`
	var places []string
	note := func(r *strictjson.Reader, what string) {
		places = append(places, fmt.Sprintf("%s %s %d", what, r.Pointer(), r.Start()))
	}
	err := strictjson.Read([]byte(text), strictjson.Limits{}, func(r *strictjson.Reader) {
		r.Each(func(int) {
			name := r.Text()
			note(r, string(name))
			if r.Kind() != '[' {
				note(r, string(r.Value()))
				return
			}
			r.Each(func(i int) {
				switch i {
				case 1:
					note(r, string(r.Text()))
				case 3:
					r.Each(func(int) { t.Error("an empty array has a member") })
					note(r, "empty")
				default:
					note(r, string(r.Value()))
				}
			})
			note(r, "list")
		})
		note(r, "all")
	})
	want := []string{
		"a/b /a~1b 2", "10 /a~1b/0 11", "xé /a~1b/1 15", `{"~":null} /a~1b/2 26`, "empty /a~1b/3 38", "list /a~1b 9",
		"z /z 44", "true /z 49", "all  1",
	}
	if err != nil || !slices.Equal(places, want) {
		t.Errorf("%v\n got %q\nwant %q", err, places, want)
	}
}

func TestTextThatIsNotInOrderIsNotRead(t *testing.T) {
	for _, text := range []string{"", `{"a":1,"a":2}`, `["\ud800"]`, "1 2", "[[[1]]]", `{"a":1`} {
		if err := strictjson.Read([]byte(text), strictjson.Limits{Depth: 2}, func(*strictjson.Reader) { t.Errorf("%s is read", text) }); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// FuzzRead: a text is read when Canonical takes it, whole, and what is read is the same value.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,-0e9,{"\u0061\n":"\ud83d\ude00"}],"":null}`, ` [ ] `, "true", `"\/"`, "[", `{"a":1,"a":2}`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want, _, wrong := strictjson.Canonical(text, strictjson.Limits{})
		var read []byte
		err := strictjson.Read(text, strictjson.Limits{}, func(r *strictjson.Reader) { read = spell(r, nil) })
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%q: %v, Canonical: %v", text, err, wrong)
		}
		if err != nil {
			return
		}
		if got, _, err := strictjson.Canonical(read, strictjson.Limits{}); err != nil || string(got) != string(want) {
			t.Errorf("%q: read as %q, %v, want %q", text, got, err, want)
		}
	})
}
