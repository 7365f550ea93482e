package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"example.com/quire/internal/strictjson"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"white space goes", " {\t\"a\" : [ 1 ,\r\n2 ] } \n", `{"a":[1,2]}`},
		{"empty", " [ { } , [ ] , \"\" ] ", `[{},[],""]`},
		{"words", `[true,false,null]`, `[true,false,null]`},
		{"members are sorted at every level", `{"b":{"z":1,"y":2},"a":[{"d":1,"c":2}]}`, `{"a":[{"c":2,"d":1}],"b":{"y":2,"z":1}}`},
		{"a prefix comes first", `{"ab":1,"a":2,"":3}`, `{"":3,"a":2,"ab":1}`},
		{"names are sorted by their value, not their spelling", `{"b":1,"\u0061":2}`, `{"a":2,"b":1}`},
		{"numbers keep their text", `[0,-0,1.0,1.00,1e2,1E+2,0.10,123456789012345678901234567890]`, `[0,-0,1.0,1.00,1e2,1E+2,0.10,123456789012345678901234567890]`},
		// RFC 8785 section 3.2.2.2.
		{"escapes", `"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`, `"€$\u000f\nA'B\"\\\\\"/"`},
		{"short escapes", `"\u0008\u0009\u000a\u000c\u000d\b\t\n\f\r"`, `"\b\t\n\f\r\b\t\n\f\r"`},
		{"other controls in lower case", `"\u0000\u001F\u007f"`, "\"\\u0000\\u001f\x7f\""},
		{"surrogate pairs", `"\uD83D\uDE02\ud834\udd1e"`, `"😂𝄞"`},
		{"nothing else is escaped", `"\u003c\u003e\u0026\u2028\u2029\u00e9"`, "\"<>&\u2028\u2029é\""},
		{"noncharacters are characters", `"\uffff\ufffe\ufffd"`, "\"\uffff\ufffe\ufffd\""},
	} {
		got, _, err := strictjson.Canonical([]byte(c.in), strictjson.Limits{})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s\n got %s, %v\nwant %s", c.name, c.in, got, err, c.want)
		}
	}
}

// The example of RFC 8785 section 3.2.3: U+1F600 is D83D DE00 in UTF-16 and so
// stands before U+FB33.
func TestCanonicalSortsByUTF16(t *testing.T) {
	in := `{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
		`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`
	want := "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\"," +
		"\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"
	got, _, err := strictjson.Canonical([]byte(in), strictjson.Limits{})
	if err != nil || string(got) != want {
		t.Errorf(" got %s, %v\nwant %s", got, err, want)
	}
}

func TestCanonicalOrderIsThatOfCodeUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few characters from around the places where the orders of UTF-8 and UTF-16 part.
		letters := []rune{'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xee00, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff}
		names := rapid.SliceOfNDistinct(rapid.StringOfN(rapid.SampledFrom(letters), 0, 4, -1), 0, 12, rapid.ID).Draw(t, "names")
		object := map[string]int{}
		for i, name := range names {
			object[name] = i
		}
		in, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := strictjson.Canonical(in, strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(names, func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		at := 0
		for _, name := range names {
			next := bytes.Index(got[at:], []byte(fmt.Sprintf(":%d", object[name])))
			if next < 0 {
				t.Fatalf("%s: %q is not in its place among %q", got, name, names)
			}
			at += next
		}
	})
}

func TestFaultsNameKindAndPlace(t *testing.T) {
	for _, c := range []struct {
		name, in     string
		line, column int
		path         string
		kind         strictjson.Kind
		text         string
	}{
		{"nothing", "", 1, 1, "", strictjson.Missing, "want a value, got the end of the text"},
		{"white space", " \n ", 2, 2, "", strictjson.Missing, "want a value"},
		{"two values", "{} {}", 1, 4, "", strictjson.Trailing, "want the end of the text, got '{'"},
		{"trailing comma", "[1,]", 1, 4, "[1]", strictjson.Syntax, "want a value, got ']'"},
		{"trailing comma in object", "{\"a\":1,}", 1, 8, "", strictjson.Syntax, "want a member name in double quotes, got '}'; take out the comma before it"},
		{"comma in a number", "{\"a\":36,50}", 1, 9, "", strictjson.Syntax, "want a member name in double quotes, got '5'; numbers have a point, as in 36.5"},
		{"single quotes", "{\"a\":'x'}", 1, 6, "a", strictjson.Syntax, `want a value, got '\''; texts are written in straight double quotes, "`},
		{"typographic quotes", "{\"a\":\u201cx\u201d}", 1, 6, "a", strictjson.Syntax, `want a value, got '“'; texts are written in straight double quotes, "`},
		{"name without quotes", "{\n  a: 1}", 2, 3, "", strictjson.Syntax, "want a member name"},
		{"no colon", `{"a" 1}`, 1, 6, "a", strictjson.Syntax, "want ':', got '1'"},
		{"no comma", `{"a":1 "b":2}`, 1, 8, "a", strictjson.Syntax, "want ',' or '}'"},
		{"no comma in array", "[1 2]", 1, 4, "[0]", strictjson.Syntax, "want ',' or ']'"},
		{"open object", `{"a":1`, 1, 7, "a", strictjson.Syntax, "got the end of the text"},
		{"open array", `[1`, 1, 3, "[0]", strictjson.Syntax, "got the end of the text"},
		{"open string", `["abc`, 1, 6, "[0]", strictjson.Syntax, "want the end of the string"},
		{"open string with escape", `["a\n`, 1, 6, "[0]", strictjson.Syntax, "want the end of the string"},
		{"leading zero", "[01]", 1, 3, "[0]", strictjson.Syntax, "want ',' or ']', got '1'"},
		{"plus", "[+1]", 1, 2, "[0]", strictjson.Syntax, "want a value"},
		{"no digit", "[-]", 1, 3, "[0]", strictjson.Syntax, "want a digit"},
		{"no fraction", "[1.]", 1, 4, "[0]", strictjson.Syntax, "want a digit"},
		{"no exponent", "[1e]", 1, 4, "[0]", strictjson.Syntax, "want a digit"},
		{"no exponent after sign", "[1e+]", 1, 5, "[0]", strictjson.Syntax, "want a digit"},
		{"infinity", "[Infinity]", 1, 2, "[0]", strictjson.Syntax, "want a value, got 'I'"},
		{"half a word", "[tru]", 1, 5, "[0]", strictjson.Syntax, "want true, got ']'"},
		{"comment", "[1] // one", 1, 5, "", strictjson.Trailing, "want the end of the text"},
		{"byte order mark", "\ufeff{}", 1, 1, "", strictjson.Syntax, "got a byte order mark"},
		{"control character", "{\"a\":\"x\ty\"}", 1, 8, "a", strictjson.Syntax, "control character in a string must be escaped"},
		{"control character behind an escape", "{\"a\":\"\\n\ty\"}", 1, 9, "a", strictjson.Syntax, "control character"},
		{"unknown escape", `["\x"]`, 1, 4, "[0]", strictjson.Syntax, "want one of"},
		{"open escape", `["\`, 1, 4, "[0]", strictjson.Syntax, "want the end of the string"},
		{"short \\u", `["\u12"]`, 1, 7, "[0]", strictjson.Syntax, "want a hexadecimal digit"},
		{"open \\u", `["\u12`, 1, 7, "[0]", strictjson.Syntax, "want the end of the string"},
		{"high surrogate alone", `{"a":"\ud83d"}`, 1, 7, "a", strictjson.UTF8, "surrogate escape without its other half"},
		{"low surrogate alone", `{"a":"\ude00"}`, 1, 7, "a", strictjson.UTF8, "surrogate escape without its other half"},
		{"two high surrogates", `{"a":"\ud83d\ud83d"}`, 1, 7, "a", strictjson.UTF8, "surrogate escape without its other half"},
		{"surrogate and bad escape", `{"a":"\ud83d\uzzzz"}`, 1, 7, "a", strictjson.UTF8, "surrogate escape without its other half"},
		{"not UTF-8", "{\"a\":\"x\xff\"}", 1, 8, "a", strictjson.UTF8, "the text is not UTF-8"},
		{"not UTF-8 behind an escape", "{\"a\":\"\\n\xc3\"}", 1, 9, "a", strictjson.UTF8, "not UTF-8"},
		{"not UTF-8 outside", "{}\xff", 1, 3, "", strictjson.Trailing, "got byte 0xFF"},
		{"encoded surrogate", "[\"\xed\xa0\x80\"]", 1, 3, "[0]", strictjson.UTF8, "not UTF-8"},
		{"overlong", "[\"\xc0\x80\"]", 1, 3, "[0]", strictjson.UTF8, "not UTF-8"},
		{"name twice", "{\"a\":1,\n \"b\":2,\n \"a\":3}", 3, 2, "a", strictjson.Duplicate, `the name "a" occurs twice`},
		{"name twice in a row", `{"a":1,"a":3}`, 1, 8, "a", strictjson.Duplicate, "occurs twice"},
		{"name twice, spelled otherwise", `{"a":1,"\u0061":3}`, 1, 8, "a", strictjson.Duplicate, "occurs twice"},
		{"name twice, deep", `{"x":[0,{"b":1,"a":2,"b":3}]}`, 1, 22, "x[1].b", strictjson.Duplicate, "occurs twice"},
		{"empty name twice", `{"":1,"":2}`, 1, 7, `[""]`, strictjson.Duplicate, "occurs twice"},
		{"columns count characters", "{\"é€😀\":1,x}", 1, 10, "", strictjson.Syntax, "want a member name"},
		{"lines end with LF, CR LF and CR", "[1,\n2,\r\n3,\r4,x]", 4, 3, "[4]", strictjson.Syntax, "want a value"},
		{"a path with an odd name", `{"unit price":[{"q\"":x}]}`, 1, 23, `["unit price"][0]["q\""]`, strictjson.Syntax, "want a value"},
	} {
		_, _, err := strictjson.Canonical([]byte(c.in), strictjson.Limits{})
		var f *strictjson.Fault
		if !errors.As(err, &f) {
			t.Errorf("%s: %v, want a fault", c.name, err)
			continue
		}
		line, column := strictjson.Position([]byte(c.in), f.Offset)
		if line != c.line || column != c.column || strictjson.Path(f.Pointer) != c.path || f.Kind != c.kind || !strings.Contains(f.Message(), c.text) {
			t.Errorf("%s: %v (%s, line %d column %d path %s), want %s, line %d column %d path %s: %s",
				c.name, err, f.Kind, line, column, f.Pointer, c.kind, c.line, c.column, c.path, c.text)
		}
	}
}

func TestLimitsAreReachedAndNotPassed(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	for _, c := range []struct {
		name, in string
		limits   strictjson.Limits
		limit    strictjson.Kind
		pointer  string
		offset   int
	}{
		{"depth reached", deep(64), strictjson.Limits{Depth: 64}, "", "", 0},
		{"depth passed", deep(65), strictjson.Limits{Depth: 64}, strictjson.Depth, strings.Repeat("/0", 64), 64},
		{"depth of objects reached", objects(3), strictjson.Limits{Depth: 3}, "", "", 0},
		{"depth of objects passed", objects(4), strictjson.Limits{Depth: 3}, strictjson.Depth, "/a/a/a", 15},
		{"a bomb of depth", strings.Repeat("[", 1_000_000), strictjson.Limits{Depth: 64}, strictjson.Depth, strings.Repeat("/0", 64), 64},
		{"depth 10,000 where no limit is set", deep(10_001), strictjson.Limits{}, strictjson.Syntax, strings.Repeat("/0", 10_000), 10_000},
		{"nodes reached", "[1,2,3]", strictjson.Limits{Nodes: 4}, "", "", 0},
		{"nodes passed", "[1,2,3, 4]", strictjson.Limits{Nodes: 4}, strictjson.Nodes, "/3", 8},
		{"nodes passed by an object", `{"a":{"b":{}}}`, strictjson.Limits{Nodes: 2}, strictjson.Nodes, "/a/b", 10},
		{"names are no nodes", `{"a":1,"b":2}`, strictjson.Limits{Nodes: 3}, "", "", 0},
		{"bytes reached", `"abc"`, strictjson.Limits{Bytes: 5}, "", "", 0},
		{"bytes passed", `"abcd"`, strictjson.Limits{Bytes: 5}, strictjson.Bytes, "", 5},
		{"less than zero is no limit", `[[1]]`, strictjson.Limits{Bytes: -1, Depth: -1, Nodes: -1}, "", "", 0},
	} {
		_, err := strictjson.Check([]byte(c.in), c.limits)
		var f *strictjson.Fault
		switch {
		case c.limit == "":
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		case !errors.As(err, &f) || f.Kind != c.limit || f.Pointer != c.pointer || f.Offset != c.offset:
			t.Errorf("%s: %#v, want limit %s at %s, offset %d", c.name, err, c.limit, c.pointer, c.offset)
		}
	}
	if n, err := strictjson.Check([]byte(`{"a":[1,{"b":null}],"c":""}`), strictjson.Limits{}); n != 6 || err != nil {
		t.Errorf("%d values, %v, want 6", n, err)
	}
}

// jsonValue decodes like encoding/json, with numbers as their text.
func jsonValue(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		`{"b":1,"a":[true,null,"\ud83d\ude00\u0000"]}`, `[1e5,-0,0.10]`, "\"\xff\"", `{"a":1,"a":2}`, " [ ] ", `{"\ufb33":1,"\ud83d\ude00":2}`, `"\ud800"`, "[[[[", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		was := bytes.Clone(in)
		out, _, err := strictjson.Canonical(in, strictjson.Limits{})
		if !bytes.Equal(in, was) {
			t.Fatal("the text was changed")
		}
		if err != nil {
			f, ok := errors.AsType[*strictjson.Fault](err)
			if !ok || f.Kind == "" || f.Message() == "" || f.Offset < 0 || f.Offset > len(in) {
				t.Fatalf("no fault with a kind, a message and a place: %#v", err)
			}
			if line, column := strictjson.Position(in, f.Offset); line < 1 || column < 1 {
				t.Fatalf("no place: %v", err)
			}
			return
		}
		if line, column := strictjson.Position(in, len(in)); line < 1 || column < 1 {
			t.Fatalf("the end is at %d:%d", line, column)
		}
		for offset := range in {
			pointer := pointerAt(in, offset)
			if p := strictjson.Locate(in, pointer)[0]; !p.Exact {
				t.Fatalf("offset %d lies in %q, which is not there", offset, pointer)
			}
			if offset > 50 {
				break
			}
		}
		want, err := jsonValue(in)
		if err != nil {
			t.Fatalf("taken, but encoding/json says %v", err)
		}
		got, err := jsonValue(out)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("value %v became %v, %v", want, got, err)
		}
		if len(out) > len(in) {
			t.Fatalf("%d bytes grew to %d", len(in), len(out))
		}
		again, _, err := strictjson.Canonical(out, strictjson.Limits{})
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("not a fixed point: %s, then %s, %v", out, again, err)
		}
	})
}
