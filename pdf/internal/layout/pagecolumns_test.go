package layout_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
)

// columned is a document whose pages have columns.
func columned(c doc.PageColumns, nodes ...doc.Node) *doc.Document {
	d := tenLines()
	d.Page.Columns = c
	d.Body = doc.Nodes(nodes...)
	return d
}

// TestColumnsOfPagesAreThoseOfABlock around the body: whatever stands in them, line by line.
func TestColumnsOfPagesAreThoseOfABlock(t *testing.T) {
	t.Parallel()
	noted := func(i int) doc.Span {
		return doc.Span{Kind: doc.SpanNote, Note: &doc.Note{Spans: spans(fmt.Sprintf("note%d", i))}}
	}
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
		var nodes []doc.Node
		notes := seed%2 == 0
		if notes { // from the first page on, as pages are filled in another way where there are some
			nodes = append(nodes, &doc.Text{Spans: []doc.Span{{Text: "a"}, noted(0)}})
		}
		for i := range 1 + rnd.IntN(60) {
			text := lines(fmt.Sprintf("%d.", i), 1+rnd.IntN(6))
			var n doc.Node = text
			switch rnd.IntN(12) {
			case 0:
				n = head(2, fmt.Sprintf("head%d", i))
			case 1:
				n = &doc.Box{Padding: doc.Same(3 * doc.Pt), Nodes: []doc.Node{text}}
			case 2:
				text.KeepTogether = true
			case 3:
				text.BreakBefore = doc.BreakColumn
			case 4:
				nodes = append(nodes, to(doc.BreakColumn))
			case 5:
				text.KeepWithNext = true
			case 6:
				n = &doc.Table{Columns: []doc.Column{{Head: spans("top")}}, Rows: doc.Rows(rowOf("x"), rowOf("y"), rowOf("z"))}
			case 7:
				n = &doc.Spacer{Height: 20 * doc.Pt}
			case 8:
				if notes {
					text.Spans = append(text.Spans, noted(i))
				}
			}
			nodes = append(nodes, n)
		}
		c := doc.PageColumns{Count: 2 + rnd.IntN(2), Gap: 10 * doc.Pt, Uneven: rnd.IntN(3) == 0}
		all := func(d *doc.Document) []placed {
			r, _, err := run(t, d, true)
			if err != nil {
				t.Fatal(seed, err)
			}
			return r.lines
		}
		d := tenLines()
		d.Body = doc.Nodes(&doc.Columns{Count: c.Count, Gap: c.Gap, Uneven: c.Uneven, Nodes: nodes})
		want, got := all(d), all(columned(c, nodes...))
		if !slices.Equal(got, want) {
			for i := range got {
				if i >= len(want) || got[i] != want[i] {
					t.Fatalf("seed %d: line %d of %d: %v, want %v of %d", seed, i, len(got), got[i], want[min(i, len(want)-1)], len(want))
				}
			}
			t.Fatalf("seed %d: %d lines, want %d", seed, len(got), len(want))
		}
	}
}

// TestPagesHaveColumns: until their section ends, where they are balanced, as before a page break.
func TestPagesHaveColumns(t *testing.T) {
	t.Parallel()
	two := doc.PageColumns{Count: 2, Gap: 10 * doc.Pt}
	some := func(s string, n int) (all []doc.Node) {
		for i := range n {
			all = append(all, para(fmt.Sprint(s, i+1)))
		}
		return all
	}
	one := tenLines().Page
	many := one
	many.Columns = two
	for name, c := range map[string]struct {
		columns doc.PageColumns
		nodes   []doc.Node
		want    []string
	}{
		"balanced":     {two, some("a", 4), []string{"1:a1 a2|a3 a4"}},
		"uneven":       {doc.PageColumns{Count: 2, Uneven: true}, some("a", 4), []string{"1:a1 a2 a3 a4"}},
		"a page break": {two, append(some("a", 2), append([]doc.Node{to(doc.BreakPage)}, some("b", 2)...)...), []string{"1:a1|a2", "2:b1|b2"}},
		"an odd one":   {two, append(some("a", 2), append([]doc.Node{to(doc.BreakOdd)}, some("b", 2)...)...), []string{"1:a1|a2", "2:", "3:b1|b2"}},
		"a section":    {two, append(some("a", 2), &doc.Section{Body: doc.Nodes(some("b", 2)...)}, para("c")), []string{"1:a1|a2", "2:b1|b2", "3:c"}},
		"a section without": {
			two, append(some("a", 2), &doc.Section{Page: &one, Body: doc.Nodes(some("b", 2)...)}, para("c"), para("d")), []string{"1:a1|a2", "2:b1 b2", "3:c|d"},
		},
		"a section with": {
			doc.PageColumns{}, append(some("a", 2), &doc.Section{Page: &many, Body: doc.Nodes(some("b", 2)...)}, para("c"), para("d")), []string{"1:a1 a2", "2:b1|b2", "3:c d"},
		},
		"a place": {
			two, append(some("a", 25), &doc.Place{X: 100 * doc.Pt, Y: 2 * doc.Pt, Width: 50 * doc.Pt, Nodes: []doc.Node{para("p")}}, para("b")),
			[]string{"1:a1 a2 a3 a4 a5 a6 a7 a8 a9 a10|a11 a12 a13 a14 a15 a16 a17 a18 a19 a20", "2:a21 a22 a23|a24 a25|p b"},
		},
		"a place alone": {
			two,
			[]doc.Node{para("a"), to(doc.BreakPage), &doc.Place{X: 100 * doc.Pt, Y: 2 * doc.Pt, Width: 50 * doc.Pt, Nodes: []doc.Node{para("p")}}, to(doc.BreakPage), para("b")},
			[]string{"1:a", "2:p", "3:b"},
		},
	} {
		if got := shown(t, columned(c.columns, c.nodes...)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for code, d := range map[string]*doc.Document{
		"L306": columned(doc.PageColumns{Count: 20}, para("a")),
		"L305": columned(two, &doc.Spacer{Fill: true}),
		"L301": columned(two, append(some("a", 30), &doc.Text{Block: doc.Block{KeepTogether: true}, Spans: lines("b", 11).Spans})...),
	} {
		_, _, err := run(t, d, true)
		if de, ok := errors.AsType[*diag.DiagnosticError](err); !ok || de.Diagnostics[0].Code != code {
			t.Errorf("want %s, got %v", code, err)
		}
	}
}

// TestPagesWithColumnsCloseEarly: a page is handed over long before the end of the body is read.
func TestPagesWithColumnsCloseEarly(t *testing.T) {
	t.Parallel()
	const all = 10_000
	given, most := 0, 0
	d := columned(doc.PageColumns{Count: 3, Gap: 10 * doc.Pt})
	d.Body = func(yield func(doc.Node, error) bool) {
		for given < all && yield(para("x"), nil) {
			given++
		}
	}
	s := &ahead{given: &given, most: &most}
	if _, err := layout.Run(t.Context(), d, layout.Options{Typesetter: typesetter, Tagged: true}, s); err != nil {
		t.Fatal(err)
	}
	if s.lines != all || most > 50 { // a page of 30 lines, a column more, and one
		t.Errorf("%d lines, up to %d nodes ahead of their page", s.lines, most)
	}
}

// ahead counts the nodes that are read before the page that they are on is handed over.
type ahead struct {
	given, most *int
	lines       int
}

func (a *ahead) Page(p *layout.Page) error {
	*a.most = max(*a.most, *a.given-a.lines)
	a.lines += len(p.Items)
	return nil
}

func (*ahead) Late(*layout.Page) error { return nil }
