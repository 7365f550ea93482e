package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
)

// turns returns what is turned on the pages of a document.
type turns struct {
	record
	all            []layout.TurnItem
	beneath, above int
	areas          []layout.LinkArea
}

func (s *turns) Page(p *layout.Page) error {
	for _, it := range p.Items {
		if it.Turn != nil {
			s.all = append(s.all, *it.Turn)
		}
	}
	s.beneath, s.above = s.beneath+len(p.Beneath), s.above+len(p.Above)
	s.areas = append(s.areas, p.Links...)
	return nil
}

func turnsOf(tb testing.TB, nodes ...doc.Node) (*turns, error) {
	tb.Helper()
	d := tenLines()
	d.Body = doc.Nodes(nodes...)
	s := &turns{}
	_, err := layout.Run(tb.Context(), d, layout.Options{Typesetter: typesetter, Tagged: true, Images: images.Session(diag.Limits{})}, s)
	return s, err
}

// TestTurnedContentStandsInItsPlace: content at a quarter of a turn is as high as its lines are
// long, stands where the style and the box align it, and takes its links along.
func TestTurnedContentStandsInItsPlace(t *testing.T) {
	text := &doc.Text{Spans: []doc.Span{{Text: "a longer line", Link: "https://example.com/"}}}
	for _, turn := range []doc.Turn{doc.TurnLeft, doc.TurnRight} {
		for align, x := range map[doc.Align]doc.Length{doc.AlignLeft: 20, doc.AlignCenter: 114, doc.AlignRight: 208} {
			s, err := turnsOf(t, &doc.Box{
				Block: doc.Block{Style: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Align: align}}, Turn: turn, Nodes: []doc.Node{text},
			}, para("below"))
			if err != nil || len(s.all) != 1 {
				t.Fatal(err, len(s.all))
			}
			it := s.all[0]
			if it.X != x*doc.Pt || it.Y != 20*doc.Pt || it.W != 12*doc.Pt || it.H < 50*doc.Pt || it.H > 70*doc.Pt {
				t.Errorf("%d, align %d: %+v", turn, align, it)
			}
			a := s.areas[0]
			if a.W > a.H || a.X < it.X || a.X+a.W > it.X+it.W || a.Y < it.Y-doc.Pt || a.Y+a.H > it.Y+it.H+doc.Pt {
				t.Errorf("%d: the link takes %+v of %+v", turn, a, it)
			}
		}
	}
	s, err := turnsOf(t, &doc.Box{Turn: doc.TurnLeft, Height: 100 * doc.Pt, VAlign: doc.VAlignBottom, Nodes: []doc.Node{para("foot")}})
	if err != nil {
		t.Fatal(err)
	}
	if it := s.all[0]; it.Y+it.H != 120*doc.Pt {
		t.Errorf("at the foot of its box: %+v", it)
	}
	// Lines are broken at the height that a box has.
	s, err = turnsOf(t, &doc.Box{Turn: doc.TurnRight, Height: 60 * doc.Pt, Nodes: []doc.Node{para(strings.Repeat("word ", 9))}})
	if err != nil {
		t.Fatal(err)
	}
	if it := s.all[0]; it.W < 36*doc.Pt || it.H != 60*doc.Pt {
		t.Errorf("broken lines: %+v", it)
	}
}

// TestTurnedCells: a row is as high as its turned cell, and an auto column as wide as its lines are
// high.
func TestTurnedCells(t *testing.T) {
	head := doc.Row{Cells: []doc.Cell{{Spans: spans("A")}, {Spans: spans("a long head"), Turn: doc.TurnLeft}, {Nodes: []doc.Node{para("another")}, Turn: doc.TurnLeft}}}
	d := tenLines()
	d.Body = doc.Nodes(&doc.Table{
		Columns: []doc.Column{{}, {Width: doc.Auto()}, {Width: doc.Auto()}}, Head: []doc.Row{head},
		Rows: doc.Rows(doc.Row{Cells: []doc.Cell{{Spans: spans("row")}, {Spans: spans("1")}, {Spans: spans("2")}}}),
	})
	r, _, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	row, one := r.find(t, "row"), r.find(t, "1")
	if row.y < 70*doc.Pt || one.x < 180*doc.Pt {
		t.Errorf("the row %+v, its second cell %+v", row, one)
	}
}

// TestTurnedContentThatCannotBe: too high, too wide, of no height, of another angle, within itself.
func TestTurnedContentThatCannotBe(t *testing.T) {
	list := &doc.List{Items: []doc.ListItem{{Nodes: []doc.Node{para("x")}}}}
	for name, n := range map[string]struct {
		code string
		node doc.Node
	}{
		"high":   {"L301", &doc.Box{Turn: doc.TurnLeft, Nodes: []doc.Node{para(strings.Repeat("far too long ", 9))}}},
		"wide":   {"L306", &doc.Box{Turn: doc.TurnLeft, Width: 20 * doc.Pt, Nodes: []doc.Node{lines("l", 3)}}},
		"list":   {"L306", &doc.Box{Turn: doc.TurnLeft, Nodes: []doc.Node{list}}},
		"angle":  {"L305", &doc.Box{Turn: 45, Nodes: []doc.Node{para("x")}}},
		"within": {"L305", &doc.Box{Turn: doc.TurnLeft, Height: 50 * doc.Pt, Nodes: []doc.Node{&doc.Box{Turn: doc.TurnLeft, Nodes: []doc.Node{para("x")}}}}},
		"note": {"L318", &doc.Box{Turn: doc.TurnLeft, Height: 50 * doc.Pt, Nodes: []doc.Node{
			&doc.Text{Spans: []doc.Span{{Kind: doc.SpanNote, Note: &doc.Note{Spans: spans("n")}}}},
		}}},
	} {
		if d := fails(t, n.code, n.node); d.Message == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	s, err := turnsOf(t, &doc.Box{Turn: doc.TurnLeft, Height: 50 * doc.Pt, Nodes: []doc.Node{list}})
	if err != nil || len(s.all) != 1 {
		t.Error("a list that is turned, with a height:", err)
	}
}

// TestLayersOfPlaces: a place lies beneath or above all else with its backgrounds, its links are
// found, and it does not move with what stands at the foot of the page.
func TestLayersOfPlaces(t *testing.T) {
	at := func(l doc.Layer) doc.Node {
		return &doc.Place{X: 10 * doc.Pt, Y: 10 * doc.Pt, Width: 60 * doc.Pt, Layer: l, Nodes: []doc.Node{
			&doc.Box{Background: doc.RGB(200, 0, 0), Nodes: []doc.Node{&doc.Text{Spans: []doc.Span{{Text: "x", Link: "https://example.com/"}}}}},
		}}
	}
	s, err := turnsOf(t, at(doc.LayerUnder), para("a"), &doc.Spacer{Fill: true}, at(doc.LayerOver), para("b"))
	if err != nil || s.beneath != 2 || s.above != 2 || len(s.areas) != 2 {
		t.Fatalf("%v: %d beneath, %d above, %d links", err, s.beneath, s.above, len(s.areas))
	}
	for _, a := range s.areas {
		if a.Y > 25*doc.Pt {
			t.Errorf("a link moved to %v", a.Y)
		}
	}
	s, err = turnsOf(t, &doc.Place{X: 5 * doc.Pt, Y: 5 * doc.Pt, Width: 12 * doc.Pt, Height: 100 * doc.Pt, Turn: doc.TurnLeft, Nodes: []doc.Node{para("side note")}})
	if err != nil || len(s.all) != 1 || s.all[0].X != 5*doc.Pt {
		t.Errorf("a turned place: %v %+v", err, s.all)
	}
}

// TestUnevenColumns: without balance the first column takes all that the page holds.
func TestUnevenColumns(t *testing.T) {
	for n, want := range map[int][]int{4: {4}, 10: {10}, 13: {10, 3}, 25: {10, 10, 5}} {
		d := tenLines()
		d.Body = doc.Nodes(&doc.Columns{Count: 2, Gap: 10 * doc.Pt, Uneven: true, Nodes: []doc.Node{
			&doc.Text{Block: doc.Block{Style: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Widows: 1, Orphans: 1}}, Spans: lines("a", n).Spans},
		}}, para("end"))
		r, _, err := run(t, d, true)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		last := ""
		if end, before := r.lines[n], r.lines[min(n, want[len(want)-1])-1]; end.page == before.page && end.y <= before.y {
			t.Errorf("%d lines: what follows stands at %v, beside %v", n, end.y, before.y)
		}
		for _, l := range r.lines[:n] {
			if key := fmt.Sprint(l.page, l.x); key != last {
				got, last = append(got, 0), key
			}
			got[len(got)-1]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d lines: %v", n, got)
		}
	}
}

// TestLinesOfATextAreBounded: one line more than may be is an error that says so, or the text ends
// with an ellipsis behind a whole word; one that fits is left alone.
func TestLinesOfATextAreBounded(t *testing.T) {
	long := func(words int, most doc.Most) *doc.Text {
		return &doc.Text{Spans: spans(strings.TrimSpace(strings.Repeat("seven, ", words))), Most: most}
	}
	for words := 1; words < 40; words++ {
		r := place(t, long(words, doc.Most{Lines: 2, Ellipsis: true}))
		if len(r.lines) > 2 {
			t.Fatalf("%d words: %d lines", words, len(r.lines))
		}
		end := r.lines[len(r.lines)-1].text
		if cut := words > 12; strings.HasSuffix(end, "seven…") != cut || !cut && !strings.HasSuffix(end, "seven,") {
			t.Errorf("%d words end with %q", words, end)
		}
	}
	r := place(t, &doc.Text{Spans: spans(strings.Repeat("x", 300)), Most: doc.Most{Lines: 1, Ellipsis: true}})
	if end := r.lines[0].text; len(r.lines) != 1 || !strings.HasSuffix(end, "x…") || len(end) < 30 {
		t.Errorf("a long word: %q", end)
	}
	d := fails(t, "L320", long(40, doc.Most{Lines: 2}))
	if !strings.Contains(d.Message, "max-lines is 2") || d.Suggestion == "" {
		t.Errorf("%+v", d)
	}
	if d := fails(t, "L320", &doc.Heading{Level: 1, Spans: spans("a\nb"), Most: doc.Most{Lines: 1}}); d.Code == "" {
		t.Error(d)
	}
}

// TestSectionsInABoundedHeaderAreCut: the heading that a header shows ends behind a whole word.
func TestSectionsInABoundedHeaderAreCut(t *testing.T) {
	d := tenLines()
	d.Header = doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Text: "in "}, {Kind: doc.SpanTitle}}, Most: doc.Most{Lines: 1, Ellipsis: true}}}}
	d.Body = doc.Nodes(&doc.Heading{Level: 1, Spans: spans(strings.Repeat("seven, ", 20))})
	r, _, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.lines[len(r.lines)-1].text; !strings.HasPrefix(got, "in seven, seven, ") || !strings.HasSuffix(got, "seven…") {
		t.Errorf("%q", got)
	}
}

// TestPagesAreReservedForContents: what follows a table of contents begins behind the pages it was
// given, and more entries than they hold are an error.
func TestPagesAreReservedForContents(t *testing.T) {
	book := func(reserve, heads int) *doc.Document {
		d := tenLines()
		d.References = true
		nodes := []doc.Node{para("cover"), &doc.Toc{Levels: 1, Title: "Contents", Reserve: reserve}}
		for i := range heads {
			nodes = append(nodes, &doc.Heading{Level: 1, Spans: spans(fmt.Sprint("H", i))}, para("text"))
		}
		d.Body = doc.Nodes(nodes...)
		return d
	}
	r, _, err := run(t, book(3, 2), true)
	if err != nil {
		t.Fatal(err)
	}
	if title, first := r.find(t, "Contents"), r.lines[len(r.lines)-2]; title.page != 2 || first.page != 5 {
		t.Errorf("the title on page %d, %q on page %d", title.page, first.text, first.page)
	}
	if _, _, err := run(t, book(1, 40), true); err == nil || !strings.Contains(err.Error(), "L319") {
		t.Errorf("40 entries on a page: %v", err)
	}
}

// TestLabelsOfListsAreTheirOwn: each item has its label, and the bodies stand below each other.
func TestLabelsOfListsAreTheirOwn(t *testing.T) {
	r := place(t, &doc.List{Marker: doc.MarkerText, Items: []doc.ListItem{
		{Label: "§ 1", Nodes: []doc.Node{para("one")}}, {Label: "§ 12 a", Nodes: []doc.Node{para("two")}},
	}})
	one, two := r.find(t, "one"), r.find(t, "two")
	if one.x != two.x || r.find(t, "§ 12 a").x >= two.x {
		t.Errorf("%+v %+v", one, two)
	}
}
