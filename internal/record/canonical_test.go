package record_test

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

	"example.com/quire/internal/record"
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
		got, err := record.Canonical([]byte(c.in), record.Limits{})
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
	got, err := record.Canonical([]byte(in), record.Limits{})
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
		got, err := record.Canonical(in, record.Limits{})
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

func TestCanonicalRefuses(t *testing.T) {
	for _, c := range []struct {
		name, in     string
		line, column int
		path, text   string
	}{
		{"nothing", "", 1, 1, "", "want a value, got the end of the text"},
		{"white space", " \n ", 2, 2, "", "want a value"},
		{"two values", "{} {}", 1, 4, "", "want the end of the text, got '{'"},
		{"trailing comma", "[1,]", 1, 4, "[1]", "want a value, got ']'"},
		{"trailing comma in object", "{\"a\":1,}", 1, 8, "", "want a member name in double quotes, got '}'"},
		{"name without quotes", "{\n  a: 1}", 2, 3, "", "want a member name"},
		{"no colon", `{"a" 1}`, 1, 6, "a", "want ':', got '1'"},
		{"no comma", `{"a":1 "b":2}`, 1, 8, "a", "want ',' or '}'"},
		{"no comma in array", "[1 2]", 1, 4, "[0]", "want ',' or ']'"},
		{"open object", `{"a":1`, 1, 7, "a", "got the end of the text"},
		{"open array", `[1`, 1, 3, "[0]", "got the end of the text"},
		{"open string", `["abc`, 1, 6, "[0]", "want the end of the string"},
		{"open string with escape", `["a\n`, 1, 6, "[0]", "want the end of the string"},
		{"leading zero", "[01]", 1, 3, "[0]", "want ',' or ']', got '1'"},
		{"plus", "[+1]", 1, 2, "[0]", "want a value"},
		{"no digit", "[-]", 1, 3, "[0]", "want a digit"},
		{"no fraction", "[1.]", 1, 4, "[0]", "want a digit"},
		{"no exponent", "[1e]", 1, 4, "[0]", "want a digit"},
		{"no exponent after sign", "[1e+]", 1, 5, "[0]", "want a digit"},
		{"infinity", "[Infinity]", 1, 2, "[0]", "want a value, got 'I'"},
		{"half a word", "[tru]", 1, 2, "[0]", "want a value"},
		{"comment", "[1] // one", 1, 5, "", "want the end of the text"},
		{"byte order mark", "\ufeff{}", 1, 1, "", "got a byte order mark"},
		{"control character", "{\"a\":\"x\ty\"}", 1, 8, "a", "control character in a string must be escaped: got U+0009"},
		{"control character behind an escape", "{\"a\":\"\\n\ty\"}", 1, 9, "a", "control character"},
		{"unknown escape", `["\x"]`, 1, 4, "[0]", "want one of"},
		{"open escape", `["\`, 1, 4, "[0]", "want one of"},
		{"short \\u", `["\u12"]`, 1, 7, "[0]", "want a hexadecimal digit"},
		{"open \\u", `["\u12`, 1, 7, "[0]", "want a hexadecimal digit"},
		{"high surrogate alone", `{"a":"\ud83d"}`, 1, 7, "a", `surrogate escape stands alone: got \ud83d`},
		{"low surrogate alone", `{"a":"\ude00"}`, 1, 7, "a", "surrogate escape stands alone"},
		{"two high surrogates", `{"a":"\ud83d\ud83d"}`, 1, 7, "a", "surrogate escape stands alone"},
		{"surrogate and bad escape", `{"a":"\ud83d\uzzzz"}`, 1, 15, "a", "want a hexadecimal digit"},
		{"not UTF-8", "{\"a\":\"x\xff\"}", 1, 8, "a", "the text is not UTF-8: got byte 0xFF"},
		{"not UTF-8 behind an escape", "{\"a\":\"\\n\xc3\"}", 1, 9, "a", "not UTF-8"},
		{"not UTF-8 outside", "{}\xff", 1, 3, "", "got byte 0xFF"},
		{"encoded surrogate", "[\"\xed\xa0\x80\"]", 1, 3, "[0]", "not UTF-8"},
		{"overlong", "[\"\xc0\x80\"]", 1, 3, "[0]", "not UTF-8"},
		{"name twice", "{\"a\":1,\n \"b\":2,\n \"a\":3}", 3, 2, "a", `the name "a" occurs twice`},
		{"name twice in a row", `{"a":1,"a":3}`, 1, 8, "a", "occurs twice"},
		{"name twice, spelled otherwise", `{"a":1,"\u0061":3}`, 1, 8, "a", "occurs twice"},
		{"name twice, deep", `{"x":[0,{"b":1,"a":2,"b":3}]}`, 1, 22, "x[1].b", "occurs twice"},
		{"empty name twice", `{"":1,"":2}`, 1, 7, `[""]`, "occurs twice"},
		{"columns count characters", "{\"é€😀\":1,x}", 1, 10, "", "want a member name"},
		{"lines end with LF, CR LF and CR", "[1,\n2,\r\n3,\r4,x]", 4, 3, "[4]", "want a value"},
		{"a path with an odd name", `{"unit price":[{"q\"":x}]}`, 1, 23, `["unit price"][0]["q\""]`, "want a value"},
	} {
		_, err := record.Canonical([]byte(c.in), record.Limits{})
		var wrong *record.DataError
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v, want a data error", c.name, err)
			continue
		}
		if wrong.Line != c.line || wrong.Column != c.column || wrong.Path != c.path || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v (line %d column %d path %s), want line %d column %d path %s: %s",
				c.name, err, wrong.Line, wrong.Column, wrong.Path, c.line, c.column, c.path, c.text)
		}
	}
}

func TestCanonicalLimits(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	for _, c := range []struct {
		name, in string
		limits   record.Limits
		limit    string
	}{
		{"depth reached", deep(64), record.Limits{}, ""},
		{"depth passed", deep(65), record.Limits{}, "data depth"},
		{"depth of objects reached", objects(64), record.Limits{}, ""},
		{"depth of objects passed", objects(65), record.Limits{}, "data depth"},
		{"a bomb of depth", strings.Repeat("[", 1_000_000), record.Limits{}, "data depth"},
		{"nodes reached", "[1,2,3]", record.Limits{Nodes: 4}, ""},
		{"nodes passed", "[1,2,3,4]", record.Limits{Nodes: 4}, "data nodes"},
		{"default of nodes reached", "[" + strings.Repeat("0,", 999_998) + "0]", record.Limits{}, ""},
		{"default of nodes passed", "[" + strings.Repeat("0,", 999_999) + "0]", record.Limits{}, "data nodes"},
		{"bytes reached", `"abc"`, record.Limits{Bytes: 5}, ""},
		{"bytes passed", `"abcd"`, record.Limits{Bytes: 5}, "data bytes"},
		{"default of bytes reached", `"` + strings.Repeat("x", 8<<20-2) + `"`, record.Limits{}, ""},
		{"default of bytes passed", `"` + strings.Repeat("x", 8<<20-1) + `"`, record.Limits{}, "data bytes"},
	} {
		_, err := record.Canonical([]byte(c.in), c.limits)
		var over *record.LimitError
		switch {
		case c.limit == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.limit != "" && (!errors.As(err, &over) || over.Name != c.limit):
			t.Errorf("%s: %v, want limit %s", c.name, err, c.limit)
		}
	}
	_, err := record.Canonical([]byte("{\"a\":\n [1,2,3]}"), record.Limits{Nodes: 4})
	if want := "limit data nodes: at most 4 at line 2, column 7: a[2]"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
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
		out, err := record.Canonical(in, record.Limits{})
		if !bytes.Equal(in, was) {
			t.Fatal("the text was changed")
		}
		if err != nil {
			var wrong *record.DataError
			var over *record.LimitError
			switch {
			case errors.As(err, &wrong):
				if wrong.Line < 1 || wrong.Column < 1 {
					t.Fatalf("no place: %v", err)
				}
			case !errors.As(err, &over):
				t.Fatalf("error of another type: %v", err)
			}
			return
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
		again, err := record.Canonical(out, record.Limits{})
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("not a fixed point: %s, then %s, %v", out, again, err)
		}
	})
}
