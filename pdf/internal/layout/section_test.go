package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
)

// sheets keeps what differs from page to page.
type sheets struct {
	record
	sizes   [][2]doc.Length
	labels  []layout.PageLabel
	grounds []doc.Color
	anchors map[int][]string
}

func (s *sheets) Page(p *layout.Page) error {
	s.sizes = append(s.sizes, [2]doc.Length{p.Width, p.Height})
	s.labels = append(s.labels, p.Label)
	s.grounds = append(s.grounds, p.Background)
	for _, m := range p.Marks {
		if s.anchors == nil {
			s.anchors = map[int][]string{}
		}
		s.anchors[p.Number] = append(s.anchors[p.Number], m.Anchor)
	}
	return s.record.Page(p)
}

func number() []doc.Node {
	return []doc.Node{&doc.Text{Spans: []doc.Span{{Text: "p"}, {Kind: doc.SpanPage}, {Text: "of"}, {Kind: doc.SpanPages}}}}
}

// TestSectionsHaveTheirOwnPages: size, background, running content and numbers are those of the
// section, and what follows it has those of before.
func TestSectionsHaveTheirOwnPages(t *testing.T) {
	d := tenLines()
	d.Header = doc.Running{First: []doc.Node{para("cover")}, Other: []doc.Node{para("book")}}
	d.Footer = doc.Running{All: number()}
	wide := doc.Master{Width: 300 * doc.Pt, Height: 160 * doc.Pt, Margins: doc.Same(30 * doc.Pt), Background: doc.RGB(1, 2, 3)}
	d.Body = doc.Nodes(
		para("before"),
		&doc.Section{NumberFrom: 1, Numbering: doc.NumberingRoman, Body: doc.Nodes(lines("r", 12))},
		&doc.Section{}, // nothing in it: no page
		&doc.Section{
			Page: &wide, NumberFrom: 7, Header: &doc.Running{First: []doc.Node{para("opening")}, Odd: []doc.Node{para("odd")}, Even: []doc.Node{para("even")}},
			Body: doc.Nodes(&doc.PageBreak{}, lines("w", 16), &doc.PageBreak{}),
		},
		para("after"),
	)
	s := &sheets{}
	if _, err := layout.Run(t.Context(), d, layout.Options{Typesetter: typesetter, Tagged: true}, s); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, l := range s.labels {
		got = append(got, fmt.Sprintf("%d/%d %d %x", l.Number, l.Numbering, s.sizes[i][0]/doc.Pt, uint32(s.grounds[i])))
	}
	want := []string{"1/0 240 0", "1/1 240 0", "2/1 240 0", "7/0 300 ff010203", "8/0 300 ff010203", "9/0 300 ff010203", "10/0 240 0"}
	if !slices.Equal(got, want) {
		t.Fatalf("pages %q\nwant  %q", got, want)
	}
	for page, heads := range map[int]string{1: "cover before", 2: "cover r1", 3: "book", 4: "opening w1", 5: "even", 6: "odd", 7: "book after"} {
		all := strings.Join(s.on(page), " ")
		for h := range strings.FieldsSeq(heads) {
			if !strings.Contains(" "+all+" ", " "+h+" ") {
				t.Errorf("page %d: no %q in %q", page, h, all)
			}
		}
	}
	for i, want := range []string{"p1of7", "piof7", "piiof7", "p7of7", "p8of7", "p9of7", "p10of7"} {
		if l := s.find(t, want); l.page != i+1 {
			t.Errorf("%s stands on page %d", want, l.page)
		}
	}
	if w1, after := s.find(t, "w1"), s.find(t, "after"); w1.x != 30*doc.Pt || after.x != 20*doc.Pt {
		t.Errorf("w1 at %d, after at %d", w1.x, after.x)
	}
}

// TestPagesStandInTheMiddleOrAtTheFoot: all that is on the page, but for its running content.
func TestPagesStandInTheMiddleOrAtTheFoot(t *testing.T) {
	body := func() doc.Node {
		return &doc.Box{Border: doc.Around(doc.Line{Width: doc.Pt}), Nodes: []doc.Node{
			&doc.Text{Block: doc.Block{Anchor: "a"}, Spans: []doc.Span{{Text: "x", Link: "https://example.com"}}},
		}}
	}
	at := map[doc.VAlign][3]doc.Length{}
	for _, v := range []doc.VAlign{doc.VAlignTop, doc.VAlignMiddle, doc.VAlignBottom} {
		d := tenLines()
		d.Header = doc.Running{All: []doc.Node{para("head")}}
		d.Page.VAlign = v
		d.Body = doc.Nodes(body())
		r, _, err := run(t, d, false)
		if err != nil {
			t.Fatal(err)
		}
		at[v] = [3]doc.Length{r.find(t, "x").y, r.rects[1][0].Y, r.marks[0].Y}
		if h := r.find(t, "head").y; h > 40*doc.Pt {
			t.Errorf("the header moved to %d", h)
		}
	}
	top, middle, bottom := at[doc.VAlignTop], at[doc.VAlignMiddle], at[doc.VAlignBottom]
	for i := range top {
		if low := bottom[i] - top[i]; low < 50*doc.Pt || middle[i]-top[i] != (bottom[0]-top[0])/2 || low != bottom[0]-top[0] {
			t.Errorf("%d: top %d, middle %d, bottom %d", i, top[i], middle[i], bottom[i])
		}
	}
}

// TestSectionsStandInTheBodyOnly: within a block they are refused, and so are margins without room.
func TestSectionsStandInTheBodyOnly(t *testing.T) {
	for code, n := range map[string]doc.Node{
		"L305": &doc.Box{Nodes: []doc.Node{&doc.Section{}}},
		"L306": &doc.Section{Page: &doc.Master{Width: 30 * doc.Pt, Height: 100 * doc.Pt, Margins: doc.Same(10 * doc.Pt)}, Body: doc.Nodes(para("x"))},
	} {
		d := tenLines()
		d.Body = doc.Nodes(n)
		if _, _, err := run(t, d, false); err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("want %s, got %v", code, err)
		}
	}
}

// TestListsAreNumberedInManyWays: letters, Roman numerals, and the numbers of legal texts.
func TestListsAreNumberedInManyWays(t *testing.T) {
	items := func(n int, in ...doc.Node) (out []doc.ListItem) {
		for range n {
			out = append(out, doc.ListItem{Nodes: append([]doc.Node{para("x")}, in...)})
		}
		return out
	}
	for _, c := range []struct {
		list *doc.List
		want string
	}{
		{&doc.List{Marker: doc.MarkerAlpha, Start: 25, Items: items(3)}, "y. z. aa."},
		{&doc.List{Marker: doc.MarkerUpperAlpha, Items: items(2)}, "A. B."},
		{&doc.List{Marker: doc.MarkerRoman, Items: items(4)}, "i. ii. iii. iv."},
		{&doc.List{Marker: doc.MarkerUpperRoman, Start: 1994, Items: items(1)}, "MCMXCIV."},
		{&doc.List{Marker: doc.MarkerRoman, Start: 4000, Items: items(1)}, "4000."},
		{
			&doc.List{Marker: doc.MarkerLegal, Start: 3, Items: items(2, &doc.List{Marker: doc.MarkerLegal, Items: items(2, &doc.List{Marker: doc.MarkerLegal, Items: items(1)})})},
			"3. 3.1 3.1.1 3.2 3.2.1 4. 4.1 4.1.1 4.2 4.2.1",
		},
		{&doc.List{Marker: doc.MarkerLegal, Items: items(1, &doc.List{Marker: doc.MarkerDecimal, Items: items(1, &doc.List{Marker: doc.MarkerLegal, Items: items(1)})})}, "1. 1. 1."},
	} {
		var labels []string
		for _, l := range place(t, c.list).lines {
			if l.text != "x" {
				labels = append(labels, l.text)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestPageNumbersOfSectionsThatBeginWithSections: the first page of a section has the number that
// the section says, also when it is that of a section within it, which may say another.
func TestPageNumbersOfSectionsThatBeginWithSections(t *testing.T) {
	t.Parallel()
	own := func(from int, nodes ...doc.Node) *doc.Section {
		return &doc.Section{NumberFrom: from, Body: doc.Nodes(nodes...)}
	}
	odd := func(s *doc.Section) *doc.Section {
		s.BreakBefore = doc.BreakOdd
		return s
	}
	a, b, c, d := para("a"), para("b"), para("c"), para("d")
	for name, of := range map[string]struct {
		nodes []doc.Node
		want  []string
	}{
		"first in the document":   {[]doc.Node{own(5, own(0, a), own(0, b), c), d}, []string{"5:a", "6:b", "7:c", "8:d"}},
		"behind a page":           {[]doc.Node{a, own(5, own(0, b), c)}, []string{"1:a", "5:b", "6:c"}},
		"three deep":              {[]doc.Node{a, own(5, own(0, own(0, b), c), d)}, []string{"1:a", "5:b", "6:c", "7:d"}},
		"the inner one says":      {[]doc.Node{own(5, own(9, a), b)}, []string{"9:a", "10:b"}},
		"the second one says":     {[]doc.Node{own(5, own(0, a), own(9, b), c)}, []string{"5:a", "9:b", "10:c"}},
		"behind an empty section": {[]doc.Node{own(5, own(7), own(0, a)), b}, []string{"5:a", "6:b"}},
		"of an empty section":     {[]doc.Node{a, own(5, own(0)), b}, []string{"1:a", "2:b"}},
		"an odd page of the file": {[]doc.Node{a, odd(own(6, own(0, b)))}, []string{"1:a", "2:", "6:b"}},
		"of the inner one":        {[]doc.Node{a, own(6, odd(own(0, b)))}, []string{"1:a", "2:", "6:b"}},
	} {
		if got := shownOn(t, of.nodes...); !slices.Equal(got, of.want) {
			t.Errorf("%s: %q, want %q", name, got, of.want)
		}
	}
}

// TestAnchorsOfSectionsThatBeginWithSections stand on the page that both begin with.
func TestAnchorsOfSectionsThatBeginWithSections(t *testing.T) {
	t.Parallel()
	inner := &doc.Section{Block: doc.Block{Anchor: "inner"}, Body: doc.Nodes(para("b"))}
	for name, nodes := range map[string][]doc.Node{
		"behind a page":    {para("a"), &doc.Section{Block: doc.Block{Anchor: "outer"}, Body: doc.Nodes(inner, para("c"))}},
		"behind a section": {&doc.Section{Body: doc.Nodes(para("a"))}, &doc.Section{Block: doc.Block{Anchor: "outer"}, Body: doc.Nodes(inner)}},
		"behind breaks":    {para("a"), to(doc.BreakPage), &doc.Spacer{Block: doc.Block{Anchor: "outer"}, Height: 50 * doc.Pt}, to(doc.BreakPage), inner},
	} {
		d := tenLines()
		d.Body = doc.Nodes(nodes...)
		s := &sheets{}
		if _, err := layout.Run(t.Context(), d, layout.Options{Typesetter: typesetter, Tagged: true}, s); err != nil {
			t.Fatal(err)
		}
		if got := s.anchors[2]; !slices.Equal(got, []string{"outer", "inner"}) || len(s.anchors[1]) > 0 {
			t.Errorf("%s: anchors by page %v", name, s.anchors)
		}
		if l := s.find(t, "b"); l.page != 2 || l.y > 35*doc.Pt {
			t.Errorf("%s: the section begins at %+v", name, l)
		}
	}
}
