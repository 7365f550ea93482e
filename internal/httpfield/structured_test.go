package httpfield

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
)

// TestRFC9651_4_2_Items is the syntax of bare items and parameters.
func TestRFC9651_4_2_Items(t *testing.T) {
	for s, want := range map[string]any{
		"1": int64(1), "-0": int64(0), "999999999999999": int64(999999999999999), "1.5": 1.5, "-999999999999.999": -999999999999.999,
		`"a\"b\\"`: `a"b\`, `""`: "", "*a": Token("*a"), "text/html:x": Token("text/html:x"), "?1": true, "?0": false,
		":aGk=:": []byte("hi"), ":aGk:": []byte("hi"), "::": []byte{}, "@0": time.Unix(0, 0).UTC(), "@-1": time.Unix(-1, 0).UTC(), `%"f%c3%bc"`: DisplayString("fü"),
	} {
		it, err := ParseItem([]string{" " + s + " "})
		if err != nil || !reflect.DeepEqual(it.Value, want) || it.Params != nil {
			t.Errorf("%s: %#v, %v", s, it, err)
		}
	}
	it, err := ParseItem([]string{`a; b ;c="d"`})
	if err == nil {
		t.Errorf("space before a semicolon was taken: %v", it)
	}
	it, err = ParseItem([]string{`a;b;c="d"; e=?0;b=2`})
	if want := (Item{Token("a"), []Param{{"b", int64(2)}, {"c", "d"}, {"e", false}}}); err != nil || !reflect.DeepEqual(it, want) {
		t.Errorf("%v, %v", it, err)
	}
	if it.Param("c") != "d" || it.Param("x") != nil {
		t.Error("Param")
	}
	for _, s := range []string{
		"", "1000000000000000", "1.", ".5", "1.2345", "1234567890123.0", "-", "--1", "1e5", "+1", `"a`, `"a\`, `"a\n"`, "\"\x7f\"", `"é"`, "?2", "?", ":a=b:", ":aGk=", ":a\nGk=:", "@1.5", "@", `%"%C3"`, `%"%c"`, `%"%ff"`, `%a`, `%"`,
		"a b", "a,", "()", "a;B", "a;", "1;=2", "é", "\t1",
	} {
		if it, err := ParseItem([]string{s}); err == nil {
			t.Errorf("%q was taken as %#v", s, it)
		}
	}
}

// TestRFC9651_4_2_ListsAndDictionaries is the syntax of both, over several lines.
func TestRFC9651_4_2_ListsAndDictionaries(t *testing.T) {
	list, err := ParseList([]string{`a;x=1 ,	(b "c";y );z`, "()"})
	want := []Item{{Token("a"), []Param{{"x", int64(1)}}}, {[]Item{{Token("b"), nil}, {"c", []Param{{"y", true}}}}, []Param{{"z", true}}}, {[]Item{}, nil}}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("%#v, %v", list, err)
	}
	dict, err := ParseDictionary([]string{"max-age=60, Public"})
	if err == nil {
		t.Errorf("an upper-case key was taken: %v", dict)
	}
	dict, err = ParseDictionary([]string{"a=1, b;x=2, c=(1 2)", "a=?0"})
	if len(dict) != 3 || err != nil || dict[0].Value != false {
		t.Errorf("%#v, %v", dict, err)
	}
	if it, ok := dict.Get("b"); !ok || it.Value != true || it.Param("x") != int64(2) {
		t.Errorf("%#v", it)
	}
	if _, ok := dict.Get("d"); ok {
		t.Error("Get of what is not there")
	}
	for _, lines := range [][]string{nil, {""}, {"  "}} {
		if list, err := ParseList(lines); err != nil || len(list) != 0 {
			t.Errorf("%q: %v, %v", lines, list, err)
		}
	}
	for _, s := range []string{"a,", ",a", "a,,b", "(a", "(a,b)", "(a(b))", "a b", `(a"b")`, "a;x=(1)"} {
		if list, err := ParseList([]string{s}); err == nil {
			t.Errorf("%q was taken as %#v", s, list)
		}
	}
	for _, s := range []string{"a=", "=1", "a=1;", "a 1", "a=(1", "1=a"} {
		if d, err := ParseDictionary([]string{s}); err == nil {
			t.Errorf("%q was taken as %#v", s, d)
		}
	}
}

// TestRFC9651_4_1_Write writes what can be said and refuses the rest.
func TestRFC9651_4_1_Write(t *testing.T) {
	d := Dictionary{
		{"a", Item{true, []Param{{"p", Token("x")}, {"q", true}}}},
		{"b", Item{[]Item{{int64(1), nil}, {"c\"", nil}}, []Param{{"r", false}}}},
		{"c", Item{2.0, nil}},
		{"d", Item{-1.2345, nil}},
		{"e", Item{[]byte("hi"), nil}},
		{"f", Item{time.Unix(5, 0), nil}},
		{"g", Item{DisplayString(`ü%"`), nil}},
	}
	b, err := AppendDictionary(nil, d)
	if want := `a;p=x;q, b=(1 "c\"");r=?0, c=2.0, d=-1.234, e=:aGk=:, f=@5, g=%"%c3%bc%25%22"`; err != nil || string(b) != want {
		t.Errorf("%s, %v\nwant %s", b, err, want)
	}
	for _, it := range []Item{
		{"é", nil},
		{Token("1a"), nil},
		{Token(""), nil},
		{Token("a b"), nil},
		{int64(1e15), nil},
		{1e12, nil},
		{math.NaN(), nil},
		{1, nil},
		{nil, nil},
		{DisplayString("\xff"), nil},
		{true, []Param{{"A", true}}},
		{true, []Param{{"a", nil}}},
		{[]Item{{[]Item{}, nil}}, nil},
		{time.Unix(1e15, 0), nil},
	} {
		if b, err := AppendList(nil, []Item{it}); err == nil {
			t.Errorf("%#v was written as %s", it, b)
		}
	}
	if b, err := AppendDictionary(nil, Dictionary{{"A", Item{true, nil}}}); err == nil {
		t.Errorf("a key in upper case was written: %s", b)
	}
}

// FuzzStructured holds the reader against another one, and against the writer.
func FuzzStructured(f *testing.F) {
	for _, s := range []string{`a;x=1, (b "c";y );z`, "a=1, b;x=2, c=(1 2), a=?0", `:aGk=:, @5, %"f%c3%bc", -1.5, ?1`, "()", "a,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Count(s, ":") > 1 {
			// Padding of byte sequences is where readers may differ.
			if list, err := ParseList([]string{s}); err == nil {
				roundTrip(t, s, list)
			}
			return
		}
		list, err := ParseList([]string{s})
		_, other := httpsfv.UnmarshalList([]string{s})
		if (err == nil) != (other == nil) {
			t.Fatalf("list %q: %v, the other reader says %v", s, err, other)
		}
		if err == nil {
			roundTrip(t, s, list)
		}
		dict, err := ParseDictionary([]string{s})
		theirs, other := httpsfv.UnmarshalDictionary([]string{s})
		if (err == nil) != (other == nil) {
			t.Fatalf("dictionary %q: %v, the other reader says %v", s, err, other)
		}
		if err == nil {
			ours, err := AppendDictionary(nil, dict)
			text, other := httpsfv.Marshal(theirs)
			if err != nil || other != nil || string(ours) != text {
				t.Fatalf("%q is written %s (%v), by the other %s (%v)", s, ours, err, text, other)
			}
		}
	})
}

func roundTrip(t *testing.T, s string, list []Item) {
	t.Helper()
	b, err := AppendList(nil, list)
	if err != nil {
		t.Fatalf("%q: %#v cannot be written: %v", s, list, err)
	}
	again, err := ParseList([]string{string(b)})
	if err != nil {
		t.Fatalf("%q: written as %s: %v", s, b, err)
	}
	if b2, err := AppendList(nil, again); err != nil || !bytes.Equal(b, b2) {
		t.Fatalf("%q: written as %s, then as %s (%v)", s, b, b2, err)
	}
}
