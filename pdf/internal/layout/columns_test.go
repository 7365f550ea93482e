package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
)

func tall(height int) *doc.Document {
	d := tenLines()
	d.Page.Height = doc.Length(height) * doc.Pt
	return d
}

// TestColumnsAreBalanced: they differ by a line at most, go on on the next page, and lose nothing.
func TestColumnsAreBalanced(t *testing.T) {
	for _, n := range []int{1, 2, 7, 12, 20, 37, 100} {
		for _, count := range []int{2, 3} {
			d := tenLines()
			d.Body = doc.Nodes(&doc.Columns{Count: count, Gap: 10 * doc.Pt, Nodes: []doc.Node{
				&doc.Text{Block: doc.Block{Style: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Widows: 1, Orphans: 1}}, Spans: lines("a", n).Spans},
			}}, para("end"))
			r, sum, err := run(t, d, true)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			high := map[string]int{} // lines by page and column
			for _, l := range r.lines {
				if l.text != "end" {
					got = append(got, l.text)
					high[fmt.Sprint(l.page, " ", l.x)]++
				}
			}
			if want := strings.Fields(strings.ReplaceAll(lines("a", n).Spans[0].Text, "\n", " ")); !slices.Equal(got, want) {
				t.Errorf("%d lines in %d columns: %q", n, count, got)
			}
			end := r.find(t, "end")
			least, most := n, 0
			for key, lines := range high {
				if strings.HasPrefix(key, fmt.Sprint(end.page)+" ") || sum.Pages == 1 {
					least, most = min(least, lines), max(most, lines)
				}
			}
			if n > 2*count && most-least > 1+count && len(high) > 1 {
				t.Errorf("%d lines in %d columns: %v", n, count, high)
			}
			for _, l := range r.lines {
				if l.page == end.page && l.text != "end" && l.y >= end.y {
					t.Errorf("%s stands beneath what follows", l.text)
				}
			}
		}
	}
	d := tenLines()
	d.Body = doc.Nodes(&doc.Columns{Count: 12, Nodes: []doc.Node{para("x")}})
	if _, _, err := run(t, d, true); err == nil || !strings.Contains(err.Error(), "L306") {
		t.Errorf("columns without width: %v", err)
	}
}

// TestColumnsHoldTables: and what cannot be split moves to the next column.
func TestColumnsHoldTables(t *testing.T) {
	var rows []doc.Row
	for i := range 9 {
		rows = append(rows, doc.Row{Cells: []doc.Cell{{Spans: spans(fmt.Sprintf("r%d", i+1))}}})
	}
	d := tall(400)
	d.Body = doc.Nodes(&doc.Columns{Count: 2, Nodes: []doc.Node{
		&doc.Table{Columns: []doc.Column{{Head: spans("H")}}, Rows: doc.Rows(rows...)},
		&doc.Box{Block: doc.Block{KeepTogether: true}, Nodes: []doc.Node{lines("k", 4)}},
	}})
	r, _, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	left, right := 0, 0
	for _, l := range r.lines {
		if l.x < 120*doc.Pt {
			left++
		} else {
			right++
		}
	}
	if left < 5 || right < 5 {
		t.Errorf("%d lines at the left, %d at the right", left, right)
	}
	if k1, k4 := r.find(t, "k1"), r.find(t, "k4"); k1.x != k4.x {
		t.Error("what is kept together is torn")
	}
}

// TestPlacesStandWhereTheyAreSaid: beside the flow, and what they do not hold is an error.
func TestPlacesStandWhereTheyAreSaid(t *testing.T) {
	at := func(n *doc.Place) *doc.Place {
		n.Nodes = []doc.Node{lines("p", 3)}
		return n
	}
	good := at(&doc.Place{X: 100 * doc.Pt, Y: 5 * doc.Pt, Width: 80 * doc.Pt, Height: 36 * doc.Pt})
	r := place(t, para("a"), good, para("b"))
	a, b, p := r.find(t, "a"), r.find(t, "b"), r.find(t, "p1")
	if b.y-a.y != 12*doc.Pt || p.x != 100*doc.Pt || p.y < 5*doc.Pt || p.y > 17*doc.Pt {
		t.Errorf("a %+v, b %+v, p %+v", a, b, p)
	}
	r = place(t, para("a"), &doc.PageBreak{}, good)
	if r.pages != 2 || r.find(t, "p1").page != 2 {
		t.Errorf("%d pages, the place on page %d", r.pages, r.find(t, "p1").page)
	}
	for name, n := range map[string]doc.Node{
		"low":     at(&doc.Place{Width: 80 * doc.Pt, Height: 35 * doc.Pt}),
		"narrow":  at(&doc.Place{X: 200 * doc.Pt, Width: 80 * doc.Pt}),
		"beneath": at(&doc.Place{Y: 150 * doc.Pt, Width: 80 * doc.Pt}),
	} {
		d := tenLines()
		d.Body = doc.Nodes(n)
		if _, _, err := run(t, d, true); err == nil || !strings.Contains(err.Error(), "L317") {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := tenLines()
	d.Body = doc.Nodes(&doc.Box{Nodes: []doc.Node{&doc.Beside{Cells: [][]doc.Node{{good}}}}})
	if _, _, err := run(t, d, true); err == nil || !strings.Contains(err.Error(), "L305") {
		t.Errorf("in a row: %v", err)
	}
}

// TestPlacesInBoxesCountFromTheBox: they take no room in it, a box that has some is not split, and
// what the box does not hold is an error.
func TestPlacesInBoxesCountFromTheBox(t *testing.T) {
	t.Parallel()
	in := func(x, y, w doc.Length, nodes ...doc.Node) *doc.Place {
		return &doc.Place{X: x * doc.Pt, Y: y * doc.Pt, Width: w * doc.Pt, Nodes: nodes}
	}
	box := &doc.Box{
		Block: doc.Block{Style: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Align: doc.AlignRight}},
		Width: 150 * doc.Pt, Height: 60 * doc.Pt, Padding: doc.Same(8 * doc.Pt), Border: doc.Around(doc.Line{Width: 2 * doc.Pt}),
		Nodes: []doc.Node{
			in(30, 40, 50, &doc.Text{Block: doc.Block{Style: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt}}, Spans: spans("in")}),
			&doc.Text{Block: doc.Block{Style: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, SpaceAfter: 5 * doc.Pt}}, Spans: spans("one")},
			in(0, 0, 10, &doc.Box{Background: doc.RGB(1, 2, 3), Height: 60 * doc.Pt}),
			&doc.Text{Block: doc.Block{Style: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, SpaceBefore: 5 * doc.Pt}}, Spans: spans("two")},
		},
	}
	r := place(t, lines("a", 6), box)
	if r.pages != 2 {
		t.Fatalf("%d pages", r.pages)
	}
	placed, one, two := r.find(t, "in"), r.find(t, "one"), r.find(t, "two")
	top := one.y - 10*doc.Pt - (r.find(t, "a1").y - 20*doc.Pt)
	if placed.x != 70*doc.Pt+30*doc.Pt || placed.y-one.y != 30*doc.Pt || two.y-one.y != 17*doc.Pt || top != 20*doc.Pt || placed.page != 2 {
		t.Errorf("%+v, %+v, %+v; box at %d", placed, one, two, top)
	}
	if back := r.rects[2]; !slices.ContainsFunc(back, func(it layout.RectItem) bool {
		return it.X == 70*doc.Pt && it.Y == 20*doc.Pt && it.W == 10*doc.Pt && it.H == 60*doc.Pt
	}) {
		t.Errorf("%+v", back)
	}
	for _, c := range []struct {
		code string
		n    *doc.Place
	}{
		{"L317", in(100, 0, 51, para("x"))},
		{"L325", in(0, 50, 20, para("x"))},
		{"L325", &doc.Place{Y: 40 * doc.Pt, Width: 20 * doc.Pt, Height: 21 * doc.Pt}},
		{"L317", &doc.Place{Width: 20 * doc.Pt, Height: 5 * doc.Pt, Nodes: []doc.Node{para("x")}}},
		{"L317", in(0, 0, 0, para("x"))},
		{"L305", &doc.Place{Width: 20 * doc.Pt, Layer: doc.LayerOver}},
		{"L305", in(0, 0, 20, in(0, 0, 20, para("x")))},
	} {
		fails(t, c.code, &doc.Box{Width: 150 * doc.Pt, Height: 60 * doc.Pt, Nodes: []doc.Node{c.n}})
	}
}

// TestRoundBoxesAreCutStraight: corners are round but at a page break, and the border goes round
// each part.
func TestRoundBoxesAreCutStraight(t *testing.T) {
	box := &doc.Box{Radius: 6 * doc.Pt, Border: doc.Around(doc.Line{Width: doc.Pt}), Background: doc.RGB(1, 2, 3), Nodes: []doc.Node{lines("a", 22)}}
	r := place(t, box)
	if r.pages != 3 {
		t.Fatalf("%d pages", r.pages)
	}
	round, flat := 6*doc.Pt, doc.Length(0)
	for page, want := range map[int][4]doc.Length{1: {round, round, flat, flat}, 2: {}, 3: {flat, flat, round, round}} {
		var lines []doc.Length
		for _, it := range r.rects[page] {
			if it.Round == nil || it.Round.Radius != want {
				t.Errorf("page %d: %+v", page, it)
				continue
			}
			lines = append(lines, it.Round.Line)
		}
		if !slices.Equal(lines, []doc.Length{0, doc.Pt}) {
			t.Errorf("page %d: lines %v", page, lines)
		}
	}
	d := tenLines()
	box.Border = &doc.Border{Top: doc.Line{Width: doc.Pt}}
	d.Body = doc.Nodes(box)
	if _, _, err := run(t, d, true); err == nil || !strings.Contains(err.Error(), "L305") {
		t.Errorf("sides that differ: %v", err)
	}
}

// TestWatermarksOfSections: each section has its own, of its own sheet, an image or none.
func TestWatermarksOfSections(t *testing.T) {
	wide := doc.Master{Width: 400 * doc.Pt, Height: 200 * doc.Pt, Margins: doc.Same(20 * doc.Pt)}
	d := tenLines()
	d.Watermark = &doc.Watermark{Text: "DRAFT"}
	logo := &doc.Image{Name: "x.png", Data: pngOf(t, 8, 8)}
	d.Body = doc.Nodes(
		para("a"),
		&doc.Section{Page: &wide, Body: doc.Nodes(para("b"))},
		&doc.Section{Watermark: &doc.Watermark{Image: logo, Over: true, Angle: 30, Opacity: 0.5}, Body: doc.Nodes(para("c"))},
		&doc.Section{Watermark: &doc.Watermark{}, Body: doc.Nodes(para("d"))},
		&doc.Section{Body: doc.Nodes(para("e"))},
	)
	u := &unders{}
	if _, err := layout.Run(t.Context(), d, layout.Options{Typesetter: typesetter, Tagged: true, Images: images.Session(diag.Limits{})}, u); err != nil {
		t.Fatal(err)
	}
	if len(u.all) != 5 || u.all[0] == nil || u.all[0] != u.all[4] || u.all[3] != nil {
		t.Fatalf("watermarks %v", u.all)
	}
	if b := u.all[1]; b.X != 200*doc.Pt || b.Y != 100*doc.Pt || b.Image != nil {
		t.Errorf("%+v", b)
	}
	if c := u.all[2]; c.Image == nil || !c.Over || c.Angle != 30 || c.Opacity != 0.5 || c.Image.X != -c.Image.W/2 || c.Image.W > 128*doc.Pt {
		t.Errorf("%+v", c)
	}
}

type unders struct{ all []*layout.UnderItem }

func (u *unders) Page(p *layout.Page) error { u.all = append(u.all, p.Under); return nil }
func (u *unders) Late(*layout.Page) error   { return nil }
