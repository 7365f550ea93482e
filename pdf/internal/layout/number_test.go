package layout_test

import (
	"slices"
	"testing"

	"example.com/quire/pdf/doc"
)

// TestHeadingsAreNumbered by their levels: below the heading that they belong to, each way of
// writing by itself. Those without a number do not count, and those below them start again.
func TestHeadingsAreNumbered(t *testing.T) {
	t.Parallel()
	on := func(level int, s string, change ...func(*doc.Heading)) *doc.Heading {
		h := head(level, s)
		h.Numbered = doc.NumberedOn
		for _, f := range change {
			f(h)
		}
		return h
	}
	off := func(h *doc.Heading) { h.Numbered = doc.NumberedOff }
	upper := func(h *doc.Heading) { h.Numbering = doc.NumberingUpperAlpha }
	from := func(n int) func(*doc.Heading) { return func(h *doc.Heading) { h.NumberFrom = n } }
	for name, c := range map[string]struct {
		levels int
		nodes  []doc.Node
		want   []string
	}{
		"levels": {
			nodes: []doc.Node{on(1, "a"), on(2, "b"), on(3, "c"), on(3, "d"), on(2, "e"), on(3, "f"), on(1, "g"), on(2, "h")},
			want:  []string{"1 a", "1.1 b", "1.1.1 c", "1.1.2 d", "1.2 e", "1.2.1 f", "2 g", "2.1 h"},
		},
		"all of a document": {
			levels: 2,
			nodes:  []doc.Node{head(1, "a"), head(2, "b"), head(3, "c"), on(1, "d", off), head(2, "e"), head(1, "f")},
			want:   []string{"1 a", "1.1 b", "c", "d", "1 e", "2 f"},
		},
		"a title": {
			nodes: []doc.Node{head(1, "t"), on(2, "a"), on(3, "b"), on(2, "c")},
			want:  []string{"t", "1 a", "1.1 b", "2 c"},
		},
		"appendices": {
			nodes: []doc.Node{on(1, "a"), on(1, "b"), on(1, "c", upper), on(2, "d"), on(1, "e", upper), on(2, "f"), on(1, "g")},
			want:  []string{"1 a", "2 b", "A c", "A.1 d", "B e", "B.1 f", "1 g"},
		},
		"restarts": {
			nodes: []doc.Node{on(1, "a"), on(1, "b"), on(1, "c", from(1)), on(2, "d", from(7)), on(2, "e"), on(1, "f", from(3), upper), on(1, "g", upper)},
			want:  []string{"1 a", "2 b", "1 c", "1.7 d", "1.8 e", "C f", "D g"},
		},
		"levels that are left out": {
			nodes: []doc.Node{on(3, "a"), on(3, "b"), on(1, "c"), on(4, "d")},
			want:  []string{"1 a", "2 b", "1 c", "1.1 d"},
		},
		"within blocks": {
			nodes: []doc.Node{
				on(1, "a"), &doc.Box{Nodes: []doc.Node{on(2, "b")}}, &doc.Columns{Count: 2, Nodes: []doc.Node{on(2, "c")}},
				&doc.Table{Columns: []doc.Column{{}}, Rows: doc.Rows(doc.Row{Cells: []doc.Cell{{Nodes: []doc.Node{on(2, "d")}}}})},
				&doc.Box{Turn: doc.TurnLeft, Nodes: []doc.Node{on(2, "e")}}, on(2, "f"),
				&doc.Section{Body: doc.Nodes(on(2, "g"), on(1, "h"))}, on(2, "i"),
			},
			want: []string{"1 a", "1.1 b", "1.2 c", "1.3 d", "1.5 f", "1.6 g", "2 h", "2.1 i"},
		},
	} {
		d := tenLines()
		d.NumberHeadings = c.levels
		d.Body = doc.Nodes(c.nodes...)
		r, _, err := run(t, d, true)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, l := range r.lines {
			got = append(got, l.text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestAHeadingInARepeatedHeadKeepsItsNumber: what is printed again is not counted again, nor are
// headings in headers.
func TestAHeadingInARepeatedHeadKeepsItsNumber(t *testing.T) {
	t.Parallel()
	d := tenLines()
	d.NumberHeadings = 1
	d.Header = doc.Running{All: []doc.Node{head(1, "top")}}
	var rows []doc.Row
	for range 12 {
		rows = append(rows, doc.Row{Cells: []doc.Cell{{Spans: spans("x")}}})
	}
	d.Body = doc.Nodes(head(1, "a"),
		&doc.Table{Columns: []doc.Column{{}}, Head: []doc.Row{{Cells: []doc.Cell{{Nodes: []doc.Node{head(1, "b")}}}}}, Rows: doc.Rows(rows...)},
		head(1, "c"))
	r, sum, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, l := range r.lines {
		count[l.text]++
	}
	if sum.Pages < 2 || count["1 a"] != 1 || count["2 b"] < 2 || count["3 c"] != 1 || count["top"] != sum.Pages || len(count) != 5 {
		t.Errorf("%d pages, %v", sum.Pages, count)
	}
}

// TestReferencesToNumbersOfHeadings: before and behind the heading; what has no number is an error.
func TestReferencesToNumbersOfHeadings(t *testing.T) {
	t.Parallel()
	ref := func(anchor string) *doc.Text {
		return &doc.Text{Spans: []doc.Span{{Text: "see "}, {Kind: doc.SpanNumber, Text: anchor}}}
	}
	h := head(2, "b")
	h.Anchor = "b"
	d := tenLines()
	d.NumberHeadings, d.References = 2, true
	d.Body = doc.Nodes(ref("b"), head(1, "a"), h, ref("b"), &doc.Toc{}, head(1, "c"))
	r, sum, err := run(t, d, true)
	if err != nil || len(sum.Warnings) > 0 {
		t.Fatal(err, sum)
	}
	count := map[string]int{}
	for _, l := range r.lines {
		count[l.text]++
	}
	if count["see 1.1"] != 2 || count["1.1 b"] != 1 || count["2 c"] != 2 { // the last one is in the table, too
		t.Errorf("%v", count)
	}
	for _, wrong := range []string{"x", "c"} {
		plain := para("p")
		plain.Anchor = "c"
		d.Body = doc.Nodes(plain, ref(wrong))
		if _, _, err := run(t, d, true); err == nil {
			t.Errorf("no error for %q", wrong)
		}
	}
}
