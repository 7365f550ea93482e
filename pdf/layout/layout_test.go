package layout_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/diag"
	"example.com/quire/pdf/draw"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/layout"
	"example.com/quire/pdf/text"
	"example.com/quire/pdf/text/gotext"
)

// placed is a line of text as it stands on a page.
type placed struct {
	page     int
	x, y     layout.Length // left end of the first word, baseline
	text     string
	artifact layout.Artifact
}

// record keeps what a layout hands over.
type record struct {
	lines  []placed
	late   []placed
	rects  map[int][]layout.RectItem
	images []layout.ImageItem
	marks  []layout.Mark
	begun  []*layout.Elem
	done   []*layout.Elem
	pages  int
	under  *layout.UnderItem
	links  int
	pieces []layout.PieceStyle
}

func (r *record) Page(p *layout.Page) error {
	r.pages++
	r.take(p, &r.lines)
	return nil
}

func (r *record) Late(p *layout.Page) error {
	r.take(p, &r.late)
	return nil
}

func (r *record) take(p *layout.Page, lines *[]placed) {
	for _, it := range p.Items {
		if it.Image != nil {
			r.images = append(r.images, *it.Image)
			continue
		}
		var b strings.Builder
		for i := range it.Text.Line.Items {
			b.WriteString(it.Text.Line.Items[i].Part.Text)
		}
		r.pieces = append(r.pieces, it.Text.Pieces...)
		art := it.Text.Artifact
		if it.Text.Pieces[0].Elem != nil {
			art = layout.ArtifactNone
		}
		*lines = append(*lines, placed{p.Number, it.Text.X + it.Text.Line.Items[0].X, it.Text.Y, strings.TrimRight(b.String(), " "), art})
	}
	if r.rects == nil {
		r.rects = map[int][]layout.RectItem{}
	}
	r.rects[p.Number] = append(r.rects[p.Number], p.Back...)
	r.marks = append(r.marks, p.Marks...)
	r.begun, r.done = append(r.begun, p.Begun...), append(r.done, p.Done...)
	r.under = p.Under
	r.links += len(p.Links)
}

// on returns the lines of a page.
func (r *record) on(page int) []string {
	var out []string
	for _, l := range r.lines {
		if l.page == page {
			out = append(out, l.text)
		}
	}
	return out
}

// find returns the first line with the given text.
func (r *record) find(tb testing.TB, s string) placed {
	tb.Helper()
	for _, l := range append(slices.Clip(r.lines), r.late...) {
		if l.text == s {
			return l
		}
	}
	tb.Fatalf("no line %q", s)
	return placed{}
}

var typesetter = text.NewTypesetter(liberation.New(), text.Latin{}, &gotext.Segmenter{}, 1<<20)

func run(tb testing.TB, doc *layout.Document, tagged bool) (*record, *layout.Summary, error) {
	tb.Helper()
	r := &record{}
	sum, err := layout.Run(tb.Context(), doc, layout.Options{
		Typesetter: typesetter, Tagged: tagged, Mono: liberation.Mono,
		Image: func(b []byte) (*draw.Image, error) { return draw.Open(b, diag.Limits{}) },
	}, r)
	return r, sum, err
}

// tenLines is a page whose body is 200 pt wide and ten lines of 12 pt high.
func tenLines() *layout.Document {
	return &layout.Document{
		Page:      layout.Master{Width: 240 * layout.Pt, Height: 160 * layout.Pt, Margins: layout.Same(20 * layout.Pt)},
		BaseStyle: &layout.Style{Size: 10 * layout.Pt, Leading: 12 * layout.Pt},
	}
}

func place(tb testing.TB, nodes ...layout.Node) *record {
	tb.Helper()
	d := tenLines()
	d.Body = layout.Nodes(nodes...)
	r, _, err := run(tb, d, true)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func fails(tb testing.TB, code string, nodes ...layout.Node) diag.Diagnostic {
	tb.Helper()
	d := tenLines()
	d.Body = layout.Nodes(nodes...)
	_, _, err := run(tb, d, true)
	var de *diag.DiagnosticError
	if !errors.As(err, &de) || de.Diagnostics[0].Code != code {
		tb.Fatalf("want %s, got %v", code, err)
	}
	return de.Diagnostics[0]
}

func spans(s string) []layout.Span { return []layout.Span{{Text: s}} }

func para(s string) *layout.Text { return &layout.Text{Spans: spans(s)} }

// lines is a paragraph of n one-word lines.
func lines(prefix string, n int) *layout.Text {
	var s []string
	for i := range n {
		s = append(s, fmt.Sprintf("%s%d", prefix, i+1))
	}
	return para(strings.Join(s, "\n"))
}

func TestBaselines(t *testing.T) {
	r := place(t, lines("a", 2), para("b"))
	a1, a2, b := r.find(t, "a1"), r.find(t, "a2"), r.find(t, "b")
	if a1.x != 20*layout.Pt || a2.y-a1.y != 12*layout.Pt || b.y-a2.y != 12*layout.Pt {
		t.Errorf("%+v %+v %+v", a1, a2, b)
	}
	// Ascent 0.905 and descent 0.212 em, centred in 12 pt: 9.46 pt from the top.
	if y := a1.y - 20*layout.Pt; y < layout.Points(9.4) || y > layout.Points(9.55) {
		t.Errorf("first baseline at %d", y)
	}
}

func TestWidowsAndOrphans(t *testing.T) {
	// 8 lines stand; a paragraph of 3 has room for 2, which would leave a widow.
	r := place(t, lines("a", 8), lines("b", 3))
	if got := r.on(1); len(got) != 8 {
		t.Errorf("a paragraph of three is torn to 2 + 1: %v", got)
	}
	// Of four, two go and two stay.
	r = place(t, lines("a", 8), lines("b", 4))
	if got := r.on(1); len(got) != 10 {
		t.Errorf("got %v", got)
	}
	// Nine stand: a single orphan does not.
	r = place(t, lines("a", 9), lines("b", 5))
	if got := r.on(1); len(got) != 9 {
		t.Errorf("an orphan stands: %v", got)
	}
	// Asked for, it does.
	one := lines("b", 5)
	one.Style = &layout.Style{Size: 10 * layout.Pt, Leading: 12 * layout.Pt, Orphans: 1, Widows: 1}
	r = place(t, lines("a", 9), one)
	if got := r.on(1); len(got) != 10 {
		t.Errorf("got %v", got)
	}
}

func TestKeep(t *testing.T) {
	kept := lines("b", 4)
	kept.KeepTogether = true
	r := place(t, lines("a", 8), kept)
	if got := r.on(1); len(got) != 8 {
		t.Errorf("what is kept together is torn: %v", got)
	}
	plain := &layout.Style{Size: 10 * layout.Pt, Leading: 12 * layout.Pt}
	h := &layout.Heading{Level: 1, Block: layout.Block{Style: plain}, Spans: spans("head")}
	r = place(t, lines("a", 8), h, lines("b", 3))
	if got := r.on(2); len(got) != 4 || got[0] != "head" {
		t.Errorf("the heading stays behind: %v", got)
	}
	// A chain higher than a page lets go of its first.
	var chain []layout.Node
	for i := range 14 {
		p := para(fmt.Sprint("c", i))
		p.KeepWithNext = true
		chain = append(chain, p)
	}
	r = place(t, chain...)
	if len(r.lines) != 14 || r.pages != 2 {
		t.Errorf("%d lines on %d pages", len(r.lines), r.pages)
	}
}

func TestBreaks(t *testing.T) {
	before := para("second")
	before.BreakBefore = true
	r := place(t, &layout.PageBreak{}, para("first"), before, &layout.PageBreak{}, para("third"))
	for i, want := range []string{"first", "second", "third"} {
		if got := r.on(i + 1); len(got) != 1 || got[0] != want {
			t.Errorf("page %d: %v", i+1, got)
		}
	}
	fails(t, "L305", &layout.Box{Nodes: []layout.Node{&layout.PageBreak{}}})
}

// TestSpacerVanishes: empty space does not begin a page.
func TestSpacerVanishes(t *testing.T) {
	r := place(t, lines("a", 9), &layout.Spacer{Height: 40 * layout.Pt}, para("b"))
	b := r.find(t, "b")
	first := r.find(t, "a1")
	if b.page != 2 || b.y != first.y {
		t.Errorf("%+v", b)
	}
	// Inside a block too.
	r = place(t, &layout.Box{Nodes: []layout.Node{lines("a", 9), &layout.Spacer{Height: 40 * layout.Pt}, para("b")}})
	if b = r.find(t, "b"); b.page != 2 || b.y != first.y {
		t.Errorf("%+v", b)
	}
}

func TestSpaces(t *testing.T) {
	with := func(before, after layout.Length, s string) *layout.Text {
		p := para(s)
		p.Style = &layout.Style{Size: 10 * layout.Pt, Leading: 12 * layout.Pt, SpaceBefore: before, SpaceAfter: after}
		return p
	}
	r := place(t, with(9*layout.Pt, 4*layout.Pt, "a"), with(6*layout.Pt, 0, "b"), para("c"))
	a, b, c := r.find(t, "a"), r.find(t, "b"), r.find(t, "c")
	top := place(t, para("a")).find(t, "a")
	if a.y != top.y {
		t.Error("space at the top of a page")
	}
	if b.y-a.y != 18*layout.Pt || c.y-b.y != 12*layout.Pt {
		t.Errorf("the larger space holds: %d %d", b.y-a.y, c.y-b.y)
	}
}

func TestLists(t *testing.T) {
	r := place(t, &layout.List{Marker: layout.MarkerDecimal, Start: 9, Items: []layout.ListItem{
		{Nodes: []layout.Node{lines("a", 2)}}, {Nodes: []layout.Node{para("b"), &layout.List{Items: []layout.ListItem{{Nodes: []layout.Node{para("c")}}}}}},
	}})
	nine, ten, a, b, c := r.find(t, "9."), r.find(t, "10."), r.find(t, "a1"), r.find(t, "b"), r.find(t, "c")
	if nine.y != a.y || ten.y != b.y || a.x != b.x || nine.x <= ten.x || c.x <= b.x {
		t.Errorf("labels %+v %+v, bodies %+v %+v %+v", nine, ten, a, b, c)
	}
	var roles []layout.Role
	for _, e := range r.begun {
		roles = append(roles, e.Role)
	}
	want := []layout.Role{
		layout.RoleL, layout.RoleLI, layout.RoleLbl, layout.RoleLBody, layout.RoleP, layout.RoleLI, layout.RoleLbl, layout.RoleLBody,
		layout.RoleP, layout.RoleL, layout.RoleLI, layout.RoleLbl, layout.RoleLBody, layout.RoleP,
	}
	if !slices.Equal(roles, want) {
		t.Errorf("got %v", roles)
	}
}

func TestColumnWidths(t *testing.T) {
	cell := func(s string) layout.Cell { return layout.Cell{Spans: spans(s)} }
	r := place(t, &layout.Table{
		Padding: &layout.Edges{}, HeadOnce: true,
		Columns: []layout.Column{{Width: layout.Fixed(30 * layout.Pt)}, {Width: layout.Percent(20)}, {Width: layout.Auto()}, {Width: layout.Fr(1)}, {Width: layout.Fr(2)}},
		Rows:    layout.Rows(layout.Row{Cells: []layout.Cell{cell("a"), cell("b"), cell("long"), cell("d"), cell("e")}}),
	})
	x := func(s string) layout.Length { return r.find(t, s).x - 20*layout.Pt }
	auto := x("d") - x("long")
	left := 200*layout.Pt - 70*layout.Pt - auto
	if x("b") != 30*layout.Pt || x("long") != 70*layout.Pt || auto < 15*layout.Pt || auto > 25*layout.Pt || x("e")-x("d") != left/3 {
		t.Errorf("b %d long %d d %d e %d", x("b"), x("long"), x("d"), x("e"))
	}
	// More text than room: autos share what there is.
	wide := strings.Repeat("word ", 30)
	r = place(t, &layout.Table{
		Columns: []layout.Column{{Width: layout.Auto()}, {Width: layout.Auto()}},
		Rows: layout.Rows(layout.Row{Cells: []layout.Cell{cell(wide), cell("short")}},
			layout.Row{Cells: []layout.Cell{{Spans: spans("spans both"), Colspan: 2}}}),
	})
	if r.find(t, "short").x < 120*layout.Pt {
		t.Error("the long column does not get most of the width")
	}
	fails(t, "L306", &layout.Table{Columns: []layout.Column{{Width: layout.Fixed(150 * layout.Pt)}, {Width: layout.Fixed(150 * layout.Pt)}}})
	fails(t, "L306", &layout.Table{Columns: []layout.Column{{Width: layout.Fixed(250 * layout.Pt)}, {}}})
	fails(t, "L306", &layout.Beside{Widths: []layout.Width{layout.Fixed(250 * layout.Pt)}, Cells: [][]layout.Node{{para("x")}, {para("y")}}})
	fails(t, "L306", &layout.Beside{Widths: []layout.Width{layout.Auto()}, Cells: [][]layout.Node{{&layout.Rule{}}}})
	fails(t, "L303", &layout.Table{})
}

// TestRowBaselines: cells of different sizes stand on one line; the vertical
// alignments do not move the others.
func TestRowBaselines(t *testing.T) {
	big := &layout.Style{Size: 20 * layout.Pt}
	r := place(t, &layout.Table{Columns: make([]layout.Column, 4), Rows: layout.Rows(layout.Row{Cells: []layout.Cell{
		{Spans: spans("small")}, {Spans: spans("big"), Style: big}, {Spans: spans("low"), VAlign: layout.VAlignBottom}, {Spans: spans("mid"), VAlign: layout.VAlignMiddle},
	}})})
	small, large, low, mid := r.find(t, "small"), r.find(t, "big"), r.find(t, "low"), r.find(t, "mid")
	if small.y != large.y || low.y <= mid.y {
		t.Errorf("%+v %+v %+v %+v", small, large, low, mid)
	}
	r = place(t, &layout.Beside{Cells: [][]layout.Node{{para("small")}, {&layout.Text{Block: layout.Block{Style: big}, Spans: spans("big")}}, {&layout.Box{Nodes: []layout.Node{para("boxed")}}}, {&layout.Rule{}}}})
	if r.find(t, "small").y != r.find(t, "big").y || r.find(t, "boxed").y != r.find(t, "big").y {
		t.Error("blocks side by side stand on different lines")
	}
}

// TestHeadRepeats: on every page of the table, as an artifact after the first,
// and with the first row.
func TestHeadRepeats(t *testing.T) {
	rows := make([]layout.Row, 20)
	for i := range rows {
		rows[i] = layout.Row{Cells: []layout.Cell{{Spans: spans(fmt.Sprint("r", i))}}}
	}
	table := &layout.Table{
		Block: layout.Block{Anchor: "t", Bookmark: "Table"}, Caption: spans("caption"),
		Columns: []layout.Column{{Head: spans("head")}}, Rows: layout.Rows(rows...),
		Foot: []layout.Row{{Cells: []layout.Cell{{Spans: spans("foot1")}}}, {Cells: []layout.Cell{{Spans: spans("foot2")}}}},
	}
	r := place(t, lines("a", 8), table, para("after"))
	if got := r.on(2); got[0] != "caption" || got[1] != "head" || got[2] != "r0" {
		t.Errorf("page 2 begins %v", got[:3])
	}
	for p := 2; p <= r.pages; p++ {
		n := 0
		for _, l := range r.lines {
			if l.page == p && l.text == "head" {
				n++
				if (l.artifact == layout.ArtifactRepeat) != (p > 2) {
					t.Errorf("page %d: the head is artifact %d", p, l.artifact)
				}
			}
		}
		if n != 1 {
			t.Errorf("page %d has %d heads", p, n)
		}
	}
	last := r.on(r.pages)
	if !slices.Contains(last, "foot1") || !slices.Contains(last, "r19") || last[len(last)-1] != "after" {
		t.Errorf("the foot stands without a row: %v", last)
	}
	if len(r.marks) != 1 || r.marks[0].Anchor != "t" || r.marks[0].Bookmark != "Table" {
		t.Errorf("%+v", r.marks)
	}
	// A head as high as half the page is printed once; a table kept together moves.
	table.Columns[0].Head = spans("h\nh\nh\nh\nh")
	table.Caption, table.Foot, table.Bookmark = nil, nil, ""
	r = place(t, table)
	if n := strings.Count(strings.Join(r.on(2), " "), "h"); n != 0 {
		t.Errorf("%d head lines on page 2", n)
	}
	kept := &layout.Table{Block: layout.Block{KeepTogether: true, BreakBefore: true}, Columns: []layout.Column{{}}, Rows: layout.Rows(rows[:4]...)}
	r = place(t, lines("a", 6), kept)
	if len(r.on(1)) != 6 || len(r.on(2)) != 4 {
		t.Errorf("%v %v", r.on(1), r.on(2))
	}
	// Without rows there is a head, and an end.
	r = place(t, &layout.Table{Columns: []layout.Column{{Head: spans("head")}}}, para("after"))
	if got := r.on(1); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// TestRepeatGivesWay: a row that fits an empty page but not below a repeated
// head gets the page alone.
func TestRepeatGivesWay(t *testing.T) {
	tall := layout.Row{Keep: true, Cells: []layout.Cell{{Spans: spans("1\n2\n3\n4\n5\n6\n7\n8\n9")}}}
	short := layout.Row{Cells: []layout.Cell{{Spans: spans("short")}}}
	r := place(t, &layout.Table{Columns: []layout.Column{{Head: spans("head")}}, Rows: layout.Rows(short, short, short, tall, short)})
	if got := r.on(2); got[0] != "1" || len(got) != 9 {
		t.Errorf("page 2: %v", got)
	}
	if got := r.on(3); got[0] != "head" {
		t.Errorf("page 3: %v", got)
	}
}

// TestTableInBlock: a nested table repeats its head where its block is split.
func TestTableInBlock(t *testing.T) {
	rows := make([]layout.Row, 14)
	for i := range rows {
		rows[i] = layout.Row{Cells: []layout.Cell{{Spans: spans(fmt.Sprint("r", i))}}}
	}
	box := &layout.Box{Padding: layout.Same(2 * layout.Pt), Nodes: []layout.Node{
		para("intro"), &layout.Table{Columns: []layout.Column{{Head: spans("head")}}, Rows: layout.Rows(rows...)},
	}}
	r := place(t, box)
	if got := r.on(2); got[0] != "head" || r.pages < 2 {
		t.Errorf("%v on %d pages", got, r.pages)
	}
	seen := strings.Join(append(r.on(1), append(r.on(2), r.on(3)...)...), " ")
	for i := range rows {
		if !strings.Contains(seen, fmt.Sprint("r", i)) {
			t.Errorf("row %d is lost", i)
		}
	}
	small := &layout.Table{Block: layout.Block{KeepTogether: true}, Columns: []layout.Column{{}}, Rows: layout.Rows(rows[:3]...)}
	r = place(t, lines("a", 8), &layout.Box{Nodes: []layout.Node{small}})
	if len(r.on(1)) != 8 {
		t.Errorf("%v", r.on(1))
	}
}

// TestSplitInsideKeep: nested blocks that keep with their next move together.
func TestSplitInsideKeep(t *testing.T) {
	plain := &layout.Style{Size: 10 * layout.Pt, Leading: 12 * layout.Pt}
	head := &layout.Heading{Level: 2, Block: layout.Block{Style: plain}, Spans: spans("head")}
	r := place(t, &layout.Box{Nodes: []layout.Node{lines("a", 8), head, lines("b", 3)}})
	if got := r.on(2); len(got) != 4 || got[0] != "head" {
		t.Errorf("%v", got)
	}
	// A label stays with its item.
	r = place(t, lines("a", 9), &layout.List{Items: []layout.ListItem{{Nodes: []layout.Node{lines("b", 4)}}}})
	if got := r.on(1); len(got) != 9 {
		t.Errorf("%v", got)
	}
}

func TestRowSpansSplit(t *testing.T) {
	c := func(s string, rows int) layout.Cell { return layout.Cell{Spans: spans(s), Rowspan: rows} }
	r := place(t, &layout.Table{
		Columns: make([]layout.Column, 2), Border: &layout.Border{Width: layout.Pt},
		Rows: layout.Rows(
			layout.Row{Cells: []layout.Cell{c("s1\ns2\ns3\ns4\ns5\ns6\ns7\ns8\ns9", 4), c("r1", 1)}},
			layout.Row{Cells: []layout.Cell{c("r2", 1)}},
			layout.Row{Cells: []layout.Cell{c("r3\nx\nx\nx\nx", 1)}},
			layout.Row{Cells: []layout.Cell{c("r4\ny\ny\ny\ny", 1)}},
		),
	})
	var all []string
	for p := range r.pages {
		all = append(all, r.on(p+1)...)
	}
	for _, want := range []string{"s1", "s9", "r1", "r2", "r3", "r4"} {
		if n := len(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s != want })); n != 1 {
			t.Errorf("%s comes %d times", want, n)
		}
	}
	if r.pages < 2 {
		t.Error("nothing was split")
	}
	r = place(t, &layout.Table{Columns: make([]layout.Column, 2), Rows: layout.Rows(
		layout.Row{Cells: []layout.Cell{c("a", 2), c("b", 1)}}, layout.Row{Cells: []layout.Cell{c("c", 1)}},
	)})
	for _, rect := range r.rects[1] {
		// The hairline between the two rows leaves out the cell that spans them.
		if rect.Y > 20*layout.Pt+10*layout.Pt && rect.Y < 45*layout.Pt && rect.X < 100*layout.Pt {
			t.Errorf("a line through the spanning cell: %+v", rect)
		}
	}
}

func TestBoxFragments(t *testing.T) {
	r := place(t, &layout.Box{
		Padding: layout.Same(4 * layout.Pt), Border: &layout.Border{Width: layout.Pt}, Background: layout.RGB(1, 2, 3),
		Nodes: []layout.Node{lines("a", 14)},
	})
	for p := 1; p <= 2; p++ {
		if n := len(r.rects[p]); n != 5 {
			t.Errorf("page %d: %d rectangles, want a background and four sides", p, n)
		}
	}
}

func pngOf(tb testing.TB, w, h int) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestImageSizes(t *testing.T) {
	data := pngOf(t, 96, 48)
	pt := layout.Pt
	for _, c := range []struct {
		name  string
		img   layout.Image
		align layout.Align
		x     layout.Length
		w, h  layout.Length
	}{
		{"natural", layout.Image{}, 0, 20 * pt, 72 * pt, 36 * pt},
		{"width", layout.Image{Width: 50 * pt}, 0, 20 * pt, 50 * pt, 25 * pt},
		{"height", layout.Image{Height: 50 * pt}, 0, 20 * pt, 100 * pt, 50 * pt},
		{"contain, wide", layout.Image{Width: 40 * pt, Height: 40 * pt}, 0, 20 * pt, 40 * pt, 20 * pt},
		{"contain, high", layout.Image{Width: 90 * pt, Height: 20 * pt}, 0, 20 * pt, 40 * pt, 20 * pt},
		{"stretch", layout.Image{Width: 40 * pt, Height: 40 * pt, Fit: layout.FitStretch}, 0, 20 * pt, 40 * pt, 40 * pt},
		{"right", layout.Image{Width: 50 * pt}, layout.AlignRight, 170 * pt, 50 * pt, 25 * pt},
		{"center", layout.Image{Width: 50 * pt}, layout.AlignCenter, 95 * pt, 50 * pt, 25 * pt},
		{"too wide", layout.Image{Width: 400 * pt}, 0, 20 * pt, 200 * pt, 100 * pt},
	} {
		t.Run(c.name, func(t *testing.T) {
			img := c.img
			img.Data, img.Alt, img.Style = data, "grey", &layout.Style{Align: c.align}
			d := tenLines()
			d.Body = layout.Nodes(&img)
			r, sum, err := run(t, d, true)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.images[0]; got.X != c.x || got.W != c.w || got.H != c.h {
				t.Errorf("x %d w %d h %d", got.X, got.W, got.H)
			}
			if warned := len(sum.Warnings) == 1 && sum.Warnings[0].Severity == diag.SeverityWarning; warned != (c.name == "too wide") {
				t.Errorf("warnings %v", sum.Warnings)
			}
		})
	}
	big := place(t, &layout.Image{Data: pngOf(t, 960, 10), Decorative: true})
	if got := big.images[0]; got.W != 200*pt || got.Elem != nil || got.Artifact != layout.ArtifactLayout {
		t.Errorf("%+v", got)
	}
}

func TestRunning(t *testing.T) {
	node := func(s string) []layout.Node { return []layout.Node{para(s)} }
	d := tenLines()
	d.Header = layout.Running{First: node("first"), Odd: node("odd"), Even: node("even")}
	d.Footer = layout.Running{Other: node("other"), All: []layout.Node{&layout.List{Items: []layout.ListItem{{Nodes: []layout.Node{
		&layout.Box{Nodes: []layout.Node{&layout.Text{Spans: []layout.Span{{Kind: layout.SpanPage}, {Text: "/"}, {Kind: layout.SpanPages}}}}},
	}}}}}}
	d.Page.Border = &layout.Border{Width: layout.Pt}
	d.Body = layout.Nodes(lines("a", 25))
	r, sum, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Pages < 4 {
		t.Fatalf("%d pages", sum.Pages)
	}
	for p, want := range map[int][]string{1: {"first"}, 2: {"even", "other"}, 3: {"odd", "other"}} {
		for _, s := range want {
			if !slices.Contains(r.on(p), s) {
				t.Errorf("page %d: no %q in %v", p, s, r.on(p))
			}
		}
	}
	if l := r.find(t, fmt.Sprintf("1/%d", sum.Pages)); l.artifact != layout.ArtifactFooter || l.page != 1 {
		t.Errorf("%+v", l)
	}
	if h := r.find(t, "first"); h.artifact != layout.ArtifactHeader || h.y > r.find(t, "a1").y {
		t.Errorf("%+v", h)
	}
	// The cell of a page number need not hold numbers that no page has.
	d.Footer = layout.Running{All: []layout.Node{&layout.Beside{
		Widths: []layout.Width{layout.Fr(1), layout.Fixed(8 * layout.Pt)},
		Cells:  [][]layout.Node{{para("x")}, {&layout.Text{Spans: []layout.Span{{Kind: layout.SpanPage}}}}},
	}}}
	if _, _, err := run(t, d, true); err != nil {
		t.Error(err)
	}
	d.Body = layout.Nodes(lines("a", 120))
	var de *diag.DiagnosticError
	if _, _, err := run(t, d, true); !errors.As(err, &de) || de.Diagnostics[0].Code != "L312" {
		t.Errorf("page 10: %v", err)
	}
	// Running content that leaves no body is an error.
	d.Header.First = []layout.Node{lines("h", 9)}
	if _, _, err := run(t, d, true); err == nil {
		t.Error("a header as high as the page")
	}
}

func TestWatermark(t *testing.T) {
	for _, w := range []layout.Watermark{{Text: "DRAFT"}, {Text: "DRAFT", Angle: 45}, {Text: "DRAFT", Style: &layout.Style{Size: 20 * layout.Pt}, Opacity: 0.5}} {
		d := tenLines()
		d.Watermark = &w
		d.Body = layout.Nodes(para("x"))
		r, _, err := run(t, d, true)
		if err != nil {
			t.Fatal(err)
		}
		u := r.under
		if u == nil || u.X != 120*layout.Pt || u.Y != 80*layout.Pt || u.Opacity <= 0 || u.Text.Line.Width > 240*layout.Pt {
			t.Errorf("%+v", u)
		}
		if w.Style != nil && u.Text.Pieces[0].Size != 20*layout.Pt {
			t.Error("the size that was asked for does not hold")
		}
	}
	d := tenLines()
	d.Watermark = &layout.Watermark{Text: "\u4E00"}
	if _, _, err := run(t, d, true); err == nil {
		t.Error("a watermark without glyphs")
	}
}

func TestErrors(t *testing.T) {
	src := &layout.Source{File: "t.yaml", Line: 3, Col: 5, Path: "body[0]"}
	at := layout.Block{Src: src}
	for _, c := range []struct {
		code string
		node layout.Node
	}{
		{"F401", &layout.Text{Block: at, Spans: spans("\u4E00")}},
		{"F402", &layout.Heading{Block: at, Level: 1, Spans: spans("שלום")}},
		{"F403", &layout.Text{Block: layout.Block{Src: src, Style: &layout.Style{Family: "Nope"}}, Spans: spans("x")}},
		{"L302", &layout.Table{Block: at, Padding: &layout.Edges{}, Columns: []layout.Column{{Width: layout.Fixed(3 * layout.Pt)}}, Rows: layout.Rows(layout.Row{Src: src, Cells: []layout.Cell{{Spans: spans("MM")}}})}},
		{"L307", &layout.Image{Block: at, Data: []byte("GIF89a")}},
		{"F401", &layout.List{Block: at, Items: []layout.ListItem{{Src: src, Nodes: []layout.Node{&layout.Text{Block: at, Spans: spans("\u4E00")}}}}}},
		{"F401", &layout.Table{Block: at, Columns: []layout.Column{{Width: layout.Auto(), Src: src, Head: spans("\u4E00")}}}},
		{"F401", &layout.Table{Block: at, Columns: []layout.Column{{}}, Caption: spans("\u4E00")}},
		{"F401", &layout.Table{Block: at, Columns: []layout.Column{{}}, Foot: []layout.Row{{Src: src, Cells: []layout.Cell{{Spans: spans("\u4E00")}}}}}},
		{"L303", &layout.Table{Block: at, Columns: []layout.Column{{}}, Foot: []layout.Row{{Src: src, Cells: []layout.Cell{{Rowspan: 2}}}}}},
		{"L303", &layout.Table{Block: at, Columns: []layout.Column{{}}, Head: []layout.Row{{Src: src, Cells: []layout.Cell{{Rowspan: 2}}}}}},
		{"F401", &layout.Beside{Block: at, Widths: []layout.Width{layout.Auto()}, Cells: [][]layout.Node{{&layout.Text{Block: at, Spans: spans("\u4E00")}}}}},
		{"F401", &layout.Beside{Block: at, Cells: [][]layout.Node{{&layout.Text{Block: at, Spans: spans("\u4E00")}}}}},
	} {
		d := fails(t, c.code, c.node)
		if d.File != "t.yaml" || d.Line != 3 || d.Path != "body[0]" {
			t.Errorf("%s stands at %s:%d %s", c.code, d.File, d.Line, d.Path)
		}
	}
	dup := layout.Block{Src: src, Anchor: "a"}
	fails(t, "L311", &layout.Text{Block: dup, Spans: spans("x")}, &layout.Text{Block: dup, Spans: spans("y")})
	fails(t, "L305", oddNode{})
}

// oddNode is a node that layout does not know.
type oddNode struct{ layout.Block }

// Common implements layout.Node.
func (oddNode) Common() *layout.Block { return &layout.Block{} }

func TestUnits(t *testing.T) {
	if layout.MM(25.4) != 72*layout.Pt || layout.Points(0.5) != 512 || layout.Inch != 73728 {
		t.Error("units")
	}
	r, g, b := layout.RGB(1, 2, 3).RGB()
	if r != 1 || g != 2 || b != 3 || !layout.Color(0).None() || layout.Black.None() {
		t.Error("colours")
	}
}
