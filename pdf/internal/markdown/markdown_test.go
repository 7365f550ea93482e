package markdown

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
)

func options() Options {
	return Options{Level: 1, Text: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt}, Link: func(s string) bool { return strings.HasPrefix(s, "https:") || strings.HasPrefix(s, "mailto:") }}
}

// dump writes nodes as a person reads them.
func dump(nodes []doc.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		switch n := n.(type) {
		case *doc.Heading:
			fmt.Fprintf(&b, "h%d(%s)", n.Level, inline(n.Spans))
		case *doc.Text:
			fmt.Fprintf(&b, "p(%s)", inline(n.Spans))
		case *doc.List:
			fmt.Fprintf(&b, "list%d/%d(", n.Marker, n.Start)
			for _, it := range n.Items {
				fmt.Fprintf(&b, "item(%s)", dump(it.Nodes))
			}
			b.WriteString(")")
		case *doc.Box:
			fmt.Fprintf(&b, "box(%s)", dump(n.Nodes))
		case *doc.Rule:
			b.WriteString("rule")
		case *doc.Table:
			b.WriteString("table(")
			for _, c := range n.Columns {
				align := doc.AlignStart
				if c.Style != nil {
					align = c.Style.Align
				}
				fmt.Fprintf(&b, "[%s %d]", inline(c.Head), align)
			}
			for r, err := range n.Rows {
				if err != nil {
					b.WriteString(err.Error())
				}
				b.WriteString("/")
				for _, c := range r.Cells {
					fmt.Fprintf(&b, "[%s]", inline(c.Spans))
				}
			}
			b.WriteString(")")
		default:
			fmt.Fprintf(&b, "%T", n)
		}
	}
	return b.String()
}

func inline(spans []doc.Span) string {
	var b strings.Builder
	for _, s := range spans {
		open := ""
		if s.Bold {
			open += "*"
		}
		if s.Italic {
			open += "/"
		}
		if s.Code {
			open += "`"
		}
		b.WriteString(open + s.Text)
		if s.Link != "" {
			b.WriteString("->" + s.Link)
		}
		b.WriteString(open)
	}
	return b.String()
}

func TestBlocksAndSpans(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"# One\n\nTwo\nthree  \nfour\\\nfive", "h1(One)p(Two three\nfour\nfive)"},
		{"a *b* **c** ***d*** `e *f*`", "p(a /b/ *c* */d*/ `e *f*`)"},
		{"[a *b*](https://x.org 'T') <https://y.org> <me@x.org>", "p(a ->https://x.org/b->https://x.org/ https://y.org->https://y.org me@x.org->mailto:me@x.org)"},
		{"[a][1]\n\n[1]: https://x.org", "p(a->https://x.org)"},
		{"![A cat](cat.png) sat", "p(A cat sat)"},
		{"- a\n- b\n  1. c\n  2. d", "list0/0(item(p(a))item(p(b)list1/1(item(p(c))item(p(d)))))"},
		{"3. a\n\n4. b", "list1/3(item(p(a))item(p(b)))"},
		{"> a\n>\n> > b", "box(p(a)box(p(b)))"},
		{"```go\nif x {\n\treturn  1\n}\n```", "box(p(`if x {\n\u00A0\u00A0\u00A0\u00A0return\u00A0\u00A01\n}`))"},
		{"    a\n     b", "box(p(`a\n\u00A0b`))"},
		{"a\n\n---\n\nb", "p(a)rulep(b)"},
		{"| a | b | c |\n|---|:-:|--:|\n| 1 | *2* |\n| 1 | 2 | 3 | 4 |", "table([a 0][b 2][c 1]/[1][/2/][]/[1][2][3])"},
		{"<div onclick='x'>\na\n</div>\n\nb <b>c</b>", "p(`<div onclick='x'>\na\n</div>`)p(b <b>c</b>)"},
		{"AT&amp;T &copy; &#8364; \\*a\\*", "p(AT&T © € *a*)"},
		{"Setext\n===\n\n###### Six", "h1(Setext)h6(Six)"},
		{"", ""},
	} {
		nodes, err := Nodes(c.src, options())
		if got := dump(nodes); err != nil || got != c.want {
			t.Errorf("%q:\n got %q, %v\nwant %q", c.src, got, err, c.want)
		}
	}
}

func TestHeadingsBeginAtTheLevelAsked(t *testing.T) {
	o := options()
	o.Level = 3
	nodes, err := Nodes("# a\n\n## b\n\n###### c", o)
	if got := dump(nodes); err != nil || got != "h3(a)h4(b)h8(c)" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestWhatCannotBeSetIsRefused(t *testing.T) {
	for src, want := range map[string]string{
		"[a](javascript:alert(1))":      `"javascript:alert(1)" is not a valid link`,
		"[a]()":                         "a link leads nowhere",
		strings.Repeat(">", 40) + " a":  "nested more than 16 deep",
		strings.Repeat("x", maxBytes+1): "bytes",
	} {
		if nodes, err := Nodes(src, options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, %s", src, err, dump(nodes))
		}
	}
}

// TestEscapedTextStandsForItself: no value of the data is markup, whatever it is and wherever it
// stands.
func TestEscapedTextStandsForItself(t *testing.T) {
	for _, s := range []string{"# a", "*a*", "1. a", "- a", "    a", "> a", "[a](https://x.org)", "`a`", "a | b", "<b>", "&amp;", "a\\", "+ x", "---", "===", "~~~", "https://x.org"} {
		for _, around := range []string{"%s", "%s b", "b %s", "- %s", "| a |\n|---|\n| %s |"} {
			src := fmt.Sprintf(around, Escape(nil, []byte(s)))
			nodes, err := Nodes(src, options())
			if err != nil {
				t.Fatalf("%q: %v", src, err)
			}
			plain, err := Nodes(fmt.Sprintf(around, "WORD"), options())
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(dump(plain), "WORD", strings.TrimSpace(s))
			if got := dump(nodes); got != want && got != strings.ReplaceAll(dump(plain), "WORD", s) {
				t.Errorf("%q: got %q, want %q", src, got, want)
			}
		}
	}
}

func FuzzNodes(f *testing.F) {
	for _, s := range []string{"# a\n\n- b\n  - c\n\n| a |\n|---|\n| 1 |", "> ```\n> a", "[a][b]\n\n[b]: https://x.org", "<!-- a", "a  \nb\\\nc", "&#0;"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		nodes, err := Nodes(s, options())
		if err == nil {
			dump(nodes)
		}
	})
}
