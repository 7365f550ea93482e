package strictyaml_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"example.com/quire/internal/strictyaml"
)

var wide = strictyaml.Limits{Depth: 64, Nodes: 20_000}

// plain turns a tree into the values that an ordinary decoder returns.
func plain(n *strictyaml.Node) any {
	switch n.Kind {
	case strictyaml.Mapping:
		m := map[string]any{}
		for i, k := range n.Keys {
			m[k.Text] = plain(n.Values[i])
		}
		return m
	case strictyaml.Sequence:
		l := []any{}
		for _, v := range n.Items {
			l = append(l, plain(v))
		}
		return l
	case strictyaml.Null:
		return nil
	case strictyaml.Bool:
		return strings.EqualFold(n.Text, "true")
	case strictyaml.Int:
		v, err := strconv.ParseInt(n.Text, 0, 64)
		if err != nil {
			return n.Text
		}
		return v
	case strictyaml.Float:
		v, err := strconv.ParseFloat(n.Text, 64)
		if err != nil {
			return n.Text
		}
		return v
	}
	return n.Text
}

// normal makes the numbers of the other decoder comparable.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k])
		}
		return v
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
		return v
	case uint64:
		return int64(v) //nolint:gosec // test values are small
	}
	return v
}

var samples = []string{
	"a: 1\nb: [x, \"y\\tz\", 'it''s']  # c\nc: {d: e f, \"g\":h}\n",
	"a:\n  - b: c\n    d: e\n  - f\n  - {x: \"é: ${a}\", y: zé}\n",
	"a:\n- b\n- c\nd: e\n",
	"- - a\n  - b\n-   x: y\n    z: w\n-\n- ''\n",
	"a: |\n  line1\n   line2\n\n  line3\nb: >-\n  folded\n  text\n\nc: multi\n  line plain\n  x\n",
	"a: \"multi\n  line \\\n  quoted\n\n  end\"\nb: 'x\n\n\n  y  \n  z'\n",
	"{\"a\": [1, 2.5, null, true, \"\\ud83d\\ude00 \\/\"], \"b\":{}, \"c\": []}",
	"{\n\t\"a\": 1,\n\t\"b\": [\n\t\t2,\n\t\t\"x\"\n\t]\n}\n",
	"a:   # c\n  b: c # d\n# e\n  d: |  # head\n   t\n  # comment\n",
	"a: b\r\nc: |\r\n  d\r\n  e\r\nf: g\r\n",
	"x:\n  a: |2\n      q\n    z\n  b: |-\n   r\n\n\n  c: >\n   f1\n   f2\n\n   f3\n     more\n   f4\n",
	"a: |\n\n\n  x\nb: >\n\n  y\n",
	"a: |+\n  x\n\n\nb: c\n",
	"a: |\nb: c\n",
	"a: [x,\n  y]\nb: {\n  k: v,\n}\n",
	"a: 12:30\nb: http://x/y\nc: -1\nd: ~\ne: a#b\nf:\ng: True\n",
	"---\na: b\n",
	"a: \"\\x41\\u00e9\\U0001F600\\0\\a\\b\\e\\_\\N\\L\\P\\\"\\ \"\n",
	"a: ${x}\nb: \"${a ? b : c}\"\n",
	"just text\n",
	"\"k k\": v\n'q': w\n",
	"a:\n\n\n  - |\n    one\n    two\n  - >\n    three\n\n    four\n  - end\n",
}

// TestAgainstDecoder holds the tree against an independent reading.
func TestAgainstDecoder(t *testing.T) {
	t.Parallel()
	for _, src := range samples {
		n, problems := strictyaml.Parse([]byte(src), wide)
		if problems != nil {
			t.Errorf("%q: %v", src, problems)
			continue
		}
		var want any
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(src, "\r\n", "\n")), &want); err != nil {
			t.Errorf("%q: oracle: %v", src, err)
			continue
		}
		if got := plain(n); !reflect.DeepEqual(got, normal(want)) {
			t.Errorf("%q\n got %#v\nwant %#v", src, got, want)
		}
	}
}

// TestBeyondTheLexer: YAML that the lexer alone gets wrong, and so the decoder.
func TestBeyondTheLexer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, src string
		want      any
	}{
		{"tab in a plain scalar", "k: x\ty\n", map[string]any{"k": "x\ty"}},
		{"quoted key behind an empty block text", "a: |-\n\n'q': [x,\n\n  y]\n\n \n", map[string]any{"a": "", "q": []any{"x", "y"}}},
		{"less-than signs", "<<<: a\nb<<: <\nc: << d\n\"<<\": e\n", map[string]any{"<<<": "a", "b<<": "<", "c": "<< d", "<<": "e"}},
		{"blank lines in a plain scalar", "a: x\n\n -y\n\n\t\n  z\n", map[string]any{"a": "x\n-y\n\nz"}},
		{"minus in a plain scalar", "a: x\n -y # c\n# d\nb: -1\n-2:\n  -3", map[string]any{"a": "x -y", "b": int64(-1), "-2": int64(-3)}},
		{"blank line behind an escaped line break", "a: \"x \\\n \n  y\"\n", map[string]any{"a": "x \ny"}},
	}
	for _, tt := range tests {
		n, problems := strictyaml.Parse([]byte(tt.src), wide)
		if problems != nil {
			t.Errorf("%s: %v", tt.name, problems)
		} else if got := plain(n); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %#v, want %#v", tt.name, got, tt.want)
		}
	}
}

// TestPos finds the letter X of each text where it stands in the source.
func TestPos(t *testing.T) {
	t.Parallel()
	sources := []string{
		"k: aXb",
		"ké: éaX",
		"k: \"a\\tXb\"",
		"k: \"\\u00e9\\U0001F600 😀X\"",
		"k: 'it''s X'",
		"k: one\n  two\n\n  éX three",
		"k: \"one \\\n   two\n\n   X\"",
		"k: |\n  a\n   b\n\n  éX c\n",
		"k: >-\n\n  a\n  b\n\n  c\n    d\n  eX\n",
		"k: |2\n    a X\n",
		"k: [a, {b: \"é X\"}]",
		"- a: |\n    bX\n",
		"{\"a\": \"b\\\"X\"}",
	}
	for _, src := range sources {
		n, problems := strictyaml.Parse([]byte(src), wide)
		if problems != nil {
			t.Errorf("%q: %v", src, problems)
			continue
		}
		want := ""
		for i, l := range strings.Split(src, "\n") {
			if before, _, ok := strings.Cut(l, "X"); ok {
				want = fmt.Sprintf("%d:%d", i+1, len([]rune(before))+1)
			}
		}
		var walk func(n *strictyaml.Node)
		found := ""
		walk = func(n *strictyaml.Node) {
			if off := strings.Index(n.Text, "X"); off >= 0 {
				line, col := n.Pos(off)
				found = fmt.Sprintf("%d:%d", line, col)
			}
			for _, v := range append(n.Values, n.Items...) {
				walk(v)
			}
		}
		walk(n)
		if found != want {
			t.Errorf("%q: X at %s, want %s", src, found, want)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	n, problems := strictyaml.Parse([]byte("[1, -2, 0o17, 0x1F, 1.5, .5, 1e3, .inf, true, null, ~, '', \"1\", 1_0, yes, 0b1]"), wide)
	if problems != nil {
		t.Fatal(problems)
	}
	want := "whole number,whole number,whole number,whole number,number,number,number,number,boolean,null,null,text,text,text,text,text"
	got := make([]string, len(n.Items))
	for i, v := range n.Items {
		got[i] = v.Kind.String()
		if !v.IsScalar() {
			t.Errorf("%d is no scalar", i)
		}
	}
	if strings.Join(got, ",") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ","), want)
	}
	if n.IsScalar() || n.Get("a") != nil || n.Key("a") != nil {
		t.Error("a list has scalar traits")
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, src, want string }{
		{"anchor and alias", "a: &x 1\nb: *x\n", "1:4 anchors are not part of the language; 2:4 aliases are not part of the language"},
		{"text in stars", "a: **bold**\n", "1:4 aliases are not part"},
		{"tag", "a: !!str 1\n", "1:4 tags are not part"},
		{"merge key", "a:\n  <<: b\n", "2:3 merge keys are not part"},
		{"complex key", "? a\n: b\n", "1:1 complex keys are not part"},
		{"directive", "%YAML 1.2\n---\na: b\n", "1:1 directives are not part"},
		{"second document", "a: b\n---\nc: d\n", "2:1 second document"},
		{"after the end", "a: b\n...\nc: d\n", "3:1 text behind the end"},
		{"byte-order mark", "\ufeffa: b\n", "1:1 byte-order mark"},
		{"control character", "a: b\x00\n", "1:5 control character U+0000"},
		{"not UTF-8", "a: \xff\n", "1:4 text is not UTF-8"},
		{"empty", "# nothing\n", "1:1 the document is empty"},
		{"duplicate key", "a: 1\nb: 2\na: 3\n", `3:1 key "a" is repeated`},
		{"duplicate key in flow", "{a: 1, b: 2, 'a': 3, b: 1}\n", `1:14 key "a" is repeated; 1:22 key "b" is repeated`},
		{"colon in text", "a: ${x ? 1 : 2}\n", "1:12 a mapping value is not allowed here"},
		{"colon after text", "a: x\n\nb: y: z\n", "3:5 a mapping value is not allowed here"},
		{"list behind a key", "a: - x\n", `1:4 unexpected "-"`},
		{"list below a text", "a: x\n  - y\nb: z\n\n - y # c", "2:3 a text goes on in a line that starts with a dash; 5:2 a text goes on in"},
		{"dash in a text of a list", "[x\n  - y]", "2:3 a text goes on in a line that starts with a dash"},
		{"indentation", "a:\n    b: c\n  d: e\n", "3:3 wrong indentation"},
		{"indentation of a list", "a:\n  - b\n - c\n", "3:2 "},
		{"braces in a flow list", "a: [${t.x}]\n", `1:6 unexpected "{"`},
		{"pair in a flow list", "a: [b: c]\n", "1:6 a mapping value is not allowed here"},
		{"key without value", "a: {b, c: d}\n", `1:5 key "b" has no value`},
		{"open list", "a: [1, 2\n", "1:4 [ without ]"},
		{"open mapping", "a: {b: 1,\n", "1:4 { without }"},
		{"open mapping after colon", "a: {b:", "1:4 { without }"},
		{"closing alone", "a: ]\n", `1:4 unexpected "]"`},
		{"wrong bracket", "a: [b}\n", "1:"},
		{"text behind quotes", "a: 'x' y\n", "1:8 unexpected \"y\""},
		{"open quotes", "a: \"x\n", "1:4 syntax error"},
		{"escape", "a: \"\\q\"\n", "1:"},
		{"lone surrogate", "a: \"\\ud800\"\n", "1:5 "},
		{"merge key in a flow mapping", "a: {<<: b}\n", "1:5 merge keys are not part"},
		{"option of a block text", "a: |<<\n", "1:4 syntax error: unknown option in the header of a block text"},
		{"reserved", "a: @x\n", "1:4 syntax error"},
		{"block text less indented", "a:\n  b: |\n      x\n    y\n", "4:5 wrong indentation"},
		{"mapping in flow key", "{[a]: b}\n", `1:2 unexpected "["`},
		{"tag without a name", "a: ! b\n", "1:4 tags are not part"},
		{"line separator", "a: b\u2028c\n", "1:5 line separator U+2028"},
		{"carriage return alone", "a: b\rc\n", "1:5 control character U+000D"},
		{"complex key in a flow mapping", "{? a : b}\n", "1:2 complex keys are not part"},
		{"complex key behind others", "a: b\n? c\n: d\n", "2:1 complex keys are not part"},
		{"duplicate keys of JSON", "{\"a\": 1,\n \"a\": 2, \"a\": 3}", `2:2 key "a" is repeated; 2:10 key "a" is repeated`},
		{"nesting of JSON", strings.Repeat("[", 65) + strings.Repeat("]", 65), "1:65 nested deeper than 64 levels"},
		{"tab indentation", "a:\n\tb: c\n", "2:1 a tab in the indentation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n, problems := strictyaml.Parse([]byte(tt.src), wide)
			if n != nil {
				t.Fatalf("read as %v", plain(n))
			}
			var got []string
			for _, p := range problems {
				got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Col, p.Message))
			}
			if !strings.HasPrefix(strings.Join(got, "; "), tt.want) {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), tt.want)
			}
		})
	}
}

// TestHintsSayWhatToDo about the mistakes that people make who do not know YAML.
func TestHintsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, src, want string }{
		{"byte-order mark", "\ufeffa: b\n", "1:1 byte-order mark; save the file as UTF-8 without it"},
		{"indentation", "a:\n    b: c\n  d: e\n", "3:3 wrong indentation; begin the line in the column of those that it belongs with"},
		{"one space more", "a:\n  b: c\n   d: e\n", "3:5 a mapping value is not allowed here; indent the line as the one above it, or put a text that holds `: `, braces or brackets in quotes"},
		{"colon after text", "a: x\n\nb: y: z\n", "3:5 a mapping value is not allowed here; put a text that holds `: `, braces or brackets in quotes"},
		{"colour in a flow mapping", "a:\n  - {b: c, color: #ff0000}\n  - d\n", "2:19 a comment begins here; put a text that begins with # in quotes"},
		{"colour in a list", "a: [#fff, #000]\nb: c\n", "1:5 a comment begins here; put a text that begins with # in quotes"},
		{"colour behind a key", "a:\n  b: #ff0000\nc: d\n", "2:6 a comment begins here; put a text that begins with # in quotes"},
		{"apostrophe", "a: 'It's fine'\n", "1:8 unexpected \"s\"; write '' for an apostrophe between single quotes, or put the text in double quotes"},
		{"colour at the end", "a: {b: #ff0000}\n", "1:8 a comment begins here; put a text that begins with # in quotes"},
	} {
		_, problems := strictyaml.Parse([]byte(tt.src), wide)
		if len(problems) == 0 {
			t.Errorf("%s: no problem", tt.name)
			continue
		}
		p := problems[0]
		if got := fmt.Sprintf("%d:%d %s; %s", p.Line, p.Col, p.Message, p.Hint); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Add([]byte("a: |\n\n b\n  c: >2+\n"))
	f.Add([]byte("- ? a\n- !<x> b\n- {a, b: [c: d]}\n"))
	f.Add([]byte("a: &x [*x, !!str y]\n--- # c\n%d\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		n, problems := strictyaml.Parse(src, wide)
		if (n == nil) == (len(problems) == 0) {
			t.Fatalf("tree %v with problems %v", n, problems)
		}
		lines := strings.Count(string(src), "\n") + 1
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines || p.Col < 1 {
				t.Fatalf("problem outside the text: %+v", p)
			}
		}
		text := strings.Split(string(src), "\n")
		var walk func(n *strictyaml.Node)
		walk = func(n *strictyaml.Node) {
			for off, r := range n.Text {
				line, col := n.Pos(off)
				if line < 1 || line > lines || col < 1 {
					t.Fatalf("%q at %d: place %d:%d", n.Text, off, line, col)
				}
				if strings.ContainsRune(" \t\n", r) {
					continue // of a folded line, or an escape
				}
				if at := []rune(text[line-1]); col > len(at) || at[col-1] != r && at[col-1] != '\\' {
					t.Fatalf("%q at %d: place %d:%d, where %q does not stand", n.Text, off, line, col, r)
				}
			}
			for _, v := range append(append([]*strictyaml.Node{}, n.Values...), n.Items...) {
				walk(v)
			}
		}
		if n != nil {
			walk(n)
		}
	})
}
