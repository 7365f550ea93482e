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

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/emit/kflate"
	pdfimage "example.com/quire/pdf/internal/image"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// placed is a line of text as it stands on a page.
type placed struct {
	page     int
	x, y     doc.Length // left end of the first word, baseline
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
	begun  []*tag.Elem
	done   []*tag.Elem
	pages  int
	labels []layout.PageLabel
	under  *layout.UnderItem
	links  int
	pieces []layout.PieceStyle
}

func (r *record) Page(p *layout.Page) error {
	r.pages++
	r.labels = append(r.labels, p.Label)
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
		if it.Turn != nil || it.Shape != nil {
			continue
		}
		if words := it.Words; words != nil {
			for _, w := range words.Words {
				r.pieces = append(r.pieces, layout.PieceStyle{Size: w.Style.Size, Color: w.Style.Color, Elem: w.Elem})
				art := words.Artifact
				if w.Elem != nil {
					art = layout.ArtifactNone
				}
				*lines = append(*lines, placed{p.Number, words.X + w.X, words.Y, w.Text, art})
			}
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
	for _, e := range p.Begun { // as they are now: the memory of rows is used again
		now := *e
		r.begun = append(r.begun, &now)
	}
	r.done = append(r.done, p.Done...)
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

var images = pdfimage.NewStore(pdfimage.Options{Deflate: kflate.New().Writer})

var typesetter = text.NewTypesetter(liberation.New(), text.Latin{}, &gotext.Segmenter{}, 1<<20)

func run(tb testing.TB, d *doc.Document, tagged bool) (*record, *layout.Summary, error) {
	tb.Helper()
	r := &record{}
	sum, err := layout.Run(tb.Context(), d, layout.Options{
		Typesetter: typesetter, Tagged: tagged, Mono: liberation.Mono,
		Images: images.Session(diag.Limits{}),
	}, r)
	return r, sum, err
}

// tenLines is a page whose body is 200 pt wide and ten lines of 12 pt high.
func tenLines() *doc.Document {
	return &doc.Document{
		Page:      doc.Master{Width: 240 * doc.Pt, Height: 160 * doc.Pt, Margins: doc.Same(20 * doc.Pt)},
		BaseStyle: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt},
	}
}

func place(tb testing.TB, nodes ...doc.Node) *record {
	tb.Helper()
	d := tenLines()
	d.Body = doc.Nodes(nodes...)
	r, _, err := run(tb, d, true)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func fails(tb testing.TB, code string, nodes ...doc.Node) diag.Diagnostic {
	tb.Helper()
	d := tenLines()
	d.Body = doc.Nodes(nodes...)
	_, _, err := run(tb, d, true)
	var de *diag.DiagnosticError
	if !errors.As(err, &de) || de.Diagnostics[0].Code != code {
		tb.Fatalf("want %s, got %v", code, err)
	}
	return de.Diagnostics[0]
}

func spans(s string) []doc.Span { return []doc.Span{{Text: s}} }

func para(s string) *doc.Text { return &doc.Text{Spans: spans(s)} }

// lines is a paragraph of n one-word lines.
func lines(prefix string, n int) *doc.Text {
	var s []string
	for i := range n {
		s = append(s, fmt.Sprintf("%s%d", prefix, i+1))
	}
	return para(strings.Join(s, "\n"))
}

// TestWhatIsTooHighIsNamed: what no page holds is told at the block that is not split, in whatever
// it stands.
func TestWhatIsTooHighIsNamed(t *testing.T) {
	of := func() doc.Node {
		return &doc.Text{Block: doc.Block{KeepTogether: true, Src: &doc.Source{Line: 7}}, Spans: lines("b", 11).Spans}
	}
	src := doc.Block{Src: &doc.Source{Line: 1}}
	first := []doc.Node{para("a"), para("b")}
	for name, n := range map[string]doc.Node{
		"body":    of(),
		"box":     &doc.Box{Block: src, Nodes: append(first, of())},
		"list":    &doc.List{Block: src, Items: []doc.ListItem{{Nodes: first}, {Nodes: append(first, of())}}},
		"row":     &doc.Beside{Block: src, Cells: [][]doc.Node{first, {of()}}},
		"columns": &doc.Columns{Block: src, Count: 2, Nodes: append(first, of())},
		"table": &doc.Table{Block: src, Columns: make([]doc.Column, 2), Rows: doc.Rows(
			doc.Row{Src: src.Src, Cells: []doc.Cell{{Nodes: first}, {Nodes: []doc.Node{of()}}}},
		)},
		"table in a box": &doc.Box{Block: src, Nodes: []doc.Node{&doc.Table{Block: src, Columns: make([]doc.Column, 1), Rows: doc.Rows(
			doc.Row{Src: src.Src, Cells: []doc.Cell{{Nodes: append(first, of())}}},
		)}}},
	} {
		if d := fails(t, "L301", n); d.Line != 7 || !strings.HasPrefix(d.Message, "kept together, ") {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestBaselines(t *testing.T) {
	r := place(t, lines("a", 2), para("b"))
	a1, a2, b := r.find(t, "a1"), r.find(t, "a2"), r.find(t, "b")
	if a1.x != 20*doc.Pt || a2.y-a1.y != 12*doc.Pt || b.y-a2.y != 12*doc.Pt {
		t.Errorf("%+v %+v %+v", a1, a2, b)
	}
	// Ascent 0.905 and descent 0.212 em, centred in 12 pt: 9.46 pt from the top.
	if y := a1.y - 20*doc.Pt; y < doc.Points(9.4) || y > doc.Points(9.55) {
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
	one.Style = &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Orphans: 1, Widows: 1}
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
	plain := &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt}
	h := &doc.Heading{Level: 1, Block: doc.Block{Style: plain}, Spans: spans("head")}
	r = place(t, lines("a", 8), h, lines("b", 3))
	if got := r.on(2); len(got) != 4 || got[0] != "head" {
		t.Errorf("the heading stays behind: %v", got)
	}
	// A chain higher than a page lets go of its first.
	var chain []doc.Node
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
	before.BreakBefore = doc.BreakPage
	r := place(t, &doc.PageBreak{}, para("first"), before, &doc.PageBreak{}, para("third"))
	for i, want := range []string{"first", "second", "third"} {
		if got := r.on(i + 1); len(got) != 1 || got[0] != want {
			t.Errorf("page %d: %v", i+1, got)
		}
	}
	fails(t, "L305", &doc.Box{Nodes: []doc.Node{&doc.PageBreak{}}})
}

// TestSpacerVanishes: empty space does not begin a page.
func TestSpacerVanishes(t *testing.T) {
	r := place(t, lines("a", 9), &doc.Spacer{Height: 40 * doc.Pt}, para("b"))
	b := r.find(t, "b")
	first := r.find(t, "a1")
	if b.page != 2 || b.y != first.y {
		t.Errorf("%+v", b)
	}
	// Inside a block too.
	r = place(t, &doc.Box{Nodes: []doc.Node{lines("a", 9), &doc.Spacer{Height: 40 * doc.Pt}, para("b")}})
	if b = r.find(t, "b"); b.page != 2 || b.y != first.y {
		t.Errorf("%+v", b)
	}
}

func TestSpaces(t *testing.T) {
	with := func(before, after doc.Length, s string) *doc.Text {
		p := para(s)
		p.Style = &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, SpaceBefore: before, SpaceAfter: after}
		return p
	}
	r := place(t, with(9*doc.Pt, 4*doc.Pt, "a"), with(6*doc.Pt, 0, "b"), para("c"))
	a, b, c := r.find(t, "a"), r.find(t, "b"), r.find(t, "c")
	top := place(t, para("a")).find(t, "a")
	if a.y != top.y {
		t.Error("space at the top of a page")
	}
	if b.y-a.y != 18*doc.Pt || c.y-b.y != 12*doc.Pt {
		t.Errorf("the larger space holds: %d %d", b.y-a.y, c.y-b.y)
	}
}

func TestLists(t *testing.T) {
	r := place(t, &doc.List{Marker: doc.MarkerDecimal, Start: 9, Items: []doc.ListItem{
		{Nodes: []doc.Node{lines("a", 2)}}, {Nodes: []doc.Node{para("b"), &doc.List{Items: []doc.ListItem{{Nodes: []doc.Node{para("c")}}}}}},
	}})
	nine, ten, a, b, c := r.find(t, "9."), r.find(t, "10."), r.find(t, "a1"), r.find(t, "b"), r.find(t, "c")
	if nine.y != a.y || ten.y != b.y || a.x != b.x || nine.x <= ten.x || c.x <= b.x {
		t.Errorf("labels %+v %+v, bodies %+v %+v %+v", nine, ten, a, b, c)
	}
	var roles []tag.Type
	for _, e := range r.begun {
		roles = append(roles, e.Type)
	}
	want := []tag.Type{
		tag.L, tag.LI, tag.Lbl, tag.LBody, tag.P, tag.LI, tag.Lbl, tag.LBody,
		tag.P, tag.L, tag.LI, tag.Lbl, tag.LBody, tag.P,
	}
	if !slices.Equal(roles, want) {
		t.Errorf("got %v", roles)
	}
}

func TestColumnWidths(t *testing.T) {
	cell := func(s string) doc.Cell { return doc.Cell{Spans: spans(s)} }
	r := place(t, &doc.Table{
		Padding: &doc.Edges{}, HeadOnce: true,
		Columns: []doc.Column{{Width: doc.Fixed(30 * doc.Pt)}, {Width: doc.Percent(20)}, {Width: doc.Auto()}, {Width: doc.Fr(1)}, {Width: doc.Fr(2)}},
		Rows:    doc.Rows(doc.Row{Cells: []doc.Cell{cell("a"), cell("b"), cell("long"), cell("d"), cell("e")}}),
	})
	x := func(s string) doc.Length { return r.find(t, s).x - 20*doc.Pt }
	auto := x("d") - x("long")
	left := 200*doc.Pt - 70*doc.Pt - auto
	if x("b") != 30*doc.Pt || x("long") != 70*doc.Pt || auto < 15*doc.Pt || auto > 25*doc.Pt || x("e")-x("d") != left/3 {
		t.Errorf("b %d long %d d %d e %d", x("b"), x("long"), x("d"), x("e"))
	}
	// More text than room: autos share what there is.
	wide := strings.Repeat("word ", 30)
	r = place(t, &doc.Table{
		Columns: []doc.Column{{Width: doc.Auto()}, {Width: doc.Auto()}},
		Rows: doc.Rows(doc.Row{Cells: []doc.Cell{cell(wide), cell("short")}},
			doc.Row{Cells: []doc.Cell{{Spans: spans("spans both"), Colspan: 2}}}),
	})
	if r.find(t, "short").x < 120*doc.Pt {
		t.Error("the long column does not get most of the width")
	}
	fails(t, "L306", &doc.Table{Columns: []doc.Column{{Width: doc.Fixed(150 * doc.Pt)}, {Width: doc.Fixed(150 * doc.Pt)}}})
	fails(t, "L306", &doc.Table{Columns: []doc.Column{{Width: doc.Fixed(250 * doc.Pt)}, {}}})
	fails(t, "L306", &doc.Beside{Widths: []doc.Width{doc.Fixed(250 * doc.Pt)}, Cells: [][]doc.Node{{para("x")}, {para("y")}}})
	fails(t, "L306", &doc.Beside{Widths: []doc.Width{doc.Auto()}, Cells: [][]doc.Node{{&doc.Rule{}}}})
	fails(t, "L303", &doc.Table{})
}

// TestRowBaselines: cells of different sizes stand on one line; the vertical
// alignments do not move the others.
func TestRowBaselines(t *testing.T) {
	big := &doc.Style{Size: 20 * doc.Pt}
	r := place(t, &doc.Table{Columns: make([]doc.Column, 4), Rows: doc.Rows(doc.Row{Cells: []doc.Cell{
		{Spans: spans("small")}, {Spans: spans("big"), Style: big}, {Spans: spans("low"), VAlign: doc.VAlignBottom}, {Spans: spans("mid"), VAlign: doc.VAlignMiddle},
	}})})
	small, large, low, mid := r.find(t, "small"), r.find(t, "big"), r.find(t, "low"), r.find(t, "mid")
	if small.y != large.y || low.y <= mid.y {
		t.Errorf("%+v %+v %+v %+v", small, large, low, mid)
	}
	r = place(t, &doc.Beside{Cells: [][]doc.Node{{para("small")}, {&doc.Text{Block: doc.Block{Style: big}, Spans: spans("big")}}, {&doc.Box{Nodes: []doc.Node{para("boxed")}}}, {&doc.Rule{}}}})
	if r.find(t, "small").y != r.find(t, "big").y || r.find(t, "boxed").y != r.find(t, "big").y {
		t.Error("blocks side by side stand on different lines")
	}
}

// TestHeadRepeats: on every page of the table, as an artifact after the first,
// and with the first row.
func TestHeadRepeats(t *testing.T) {
	rows := make([]doc.Row, 20)
	for i := range rows {
		rows[i] = doc.Row{Cells: []doc.Cell{{Spans: spans(fmt.Sprint("r", i))}}}
	}
	table := &doc.Table{
		Block: doc.Block{Anchor: "t", Bookmark: "Table"}, Caption: spans("caption"),
		Columns: []doc.Column{{Head: spans("head")}}, Rows: doc.Rows(rows...),
		Foot: []doc.Row{{Cells: []doc.Cell{{Spans: spans("foot1")}}}, {Cells: []doc.Cell{{Spans: spans("foot2")}}}},
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
	kept := &doc.Table{Block: doc.Block{KeepTogether: true, BreakBefore: doc.BreakPage}, Columns: []doc.Column{{}}, Rows: doc.Rows(rows[:4]...)}
	r = place(t, lines("a", 6), kept)
	if len(r.on(1)) != 6 || len(r.on(2)) != 4 {
		t.Errorf("%v %v", r.on(1), r.on(2))
	}
	// Without rows there is a head, and an end.
	r = place(t, &doc.Table{Columns: []doc.Column{{Head: spans("head")}}}, para("after"))
	if got := r.on(1); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// TestRepeatGivesWay: a row that fits an empty page but not below a repeated
// head gets the page alone.
func TestRepeatGivesWay(t *testing.T) {
	tall := doc.Row{Keep: true, Cells: []doc.Cell{{Spans: spans("1\n2\n3\n4\n5\n6\n7\n8\n9")}}}
	short := doc.Row{Cells: []doc.Cell{{Spans: spans("short")}}}
	r := place(t, &doc.Table{Columns: []doc.Column{{Head: spans("head")}}, Rows: doc.Rows(short, short, short, tall, short)})
	if got := r.on(2); got[0] != "1" || len(got) != 9 {
		t.Errorf("page 2: %v", got)
	}
	if got := r.on(3); got[0] != "head" {
		t.Errorf("page 3: %v", got)
	}
}

// TestTableInBlock: a nested table repeats its head where its block is split.
func TestTableInBlock(t *testing.T) {
	rows := make([]doc.Row, 14)
	for i := range rows {
		rows[i] = doc.Row{Cells: []doc.Cell{{Spans: spans(fmt.Sprint("r", i))}}}
	}
	box := &doc.Box{Padding: doc.Same(2 * doc.Pt), Nodes: []doc.Node{
		para("intro"), &doc.Table{Columns: []doc.Column{{Head: spans("head")}}, Rows: doc.Rows(rows...)},
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
	small := &doc.Table{Block: doc.Block{KeepTogether: true}, Columns: []doc.Column{{}}, Rows: doc.Rows(rows[:3]...)}
	r = place(t, lines("a", 8), &doc.Box{Nodes: []doc.Node{small}})
	if len(r.on(1)) != 8 {
		t.Errorf("%v", r.on(1))
	}
}

// TestSplitInsideKeep: nested blocks that keep with their next move together.
func TestSplitInsideKeep(t *testing.T) {
	plain := &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt}
	head := &doc.Heading{Level: 2, Block: doc.Block{Style: plain}, Spans: spans("head")}
	r := place(t, &doc.Box{Nodes: []doc.Node{lines("a", 8), head, lines("b", 3)}})
	if got := r.on(2); len(got) != 4 || got[0] != "head" {
		t.Errorf("%v", got)
	}
	// A label stays with its item.
	r = place(t, lines("a", 9), &doc.List{Items: []doc.ListItem{{Nodes: []doc.Node{lines("b", 4)}}}})
	if got := r.on(1); len(got) != 9 {
		t.Errorf("%v", got)
	}
}

func TestRowSpansSplit(t *testing.T) {
	c := func(s string, rows int) doc.Cell { return doc.Cell{Spans: spans(s), Rowspan: rows} }
	r := place(t, &doc.Table{
		Columns: make([]doc.Column, 2), Border: doc.Lattice(doc.Line{Width: doc.Pt}),
		Rows: doc.Rows(
			doc.Row{Cells: []doc.Cell{c("s1\ns2\ns3\ns4\ns5\ns6\ns7\ns8\ns9", 4), c("r1", 1)}},
			doc.Row{Cells: []doc.Cell{c("r2", 1)}},
			doc.Row{Cells: []doc.Cell{c("r3\nx\nx\nx\nx", 1)}},
			doc.Row{Cells: []doc.Cell{c("r4\ny\ny\ny\ny", 1)}},
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
	r = place(t, &doc.Table{Columns: make([]doc.Column, 2), Rows: doc.Rows(
		doc.Row{Cells: []doc.Cell{c("a", 2), c("b", 1)}}, doc.Row{Cells: []doc.Cell{c("c", 1)}},
	)})
	for _, rect := range r.rects[1] {
		// The hairline between the two rows leaves out the cell that spans them.
		if rect.Y > 20*doc.Pt+10*doc.Pt && rect.Y < 45*doc.Pt && rect.X < 100*doc.Pt {
			t.Errorf("a line through the spanning cell: %+v", rect)
		}
	}
}

// TestRowsOfARowSpanAtTheEndOfAPage: a high one is split inside its row there, so that the cell
// beside it begins on the page; short ones go to the next page together.
func TestRowsOfARowSpanAtTheEndOfAPage(t *testing.T) {
	c := func(s string, rows int) doc.Cell { return doc.Cell{Spans: spans(s), Rowspan: rows} }
	table := func(side, second string) *doc.Table {
		return &doc.Table{
			Block: doc.Block{Style: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt}}, Columns: make([]doc.Column, 2), Padding: &doc.Edges{},
			Rows: doc.Rows(doc.Row{Cells: []doc.Cell{c(side, 2), c("r1", 1)}}, doc.Row{Cells: []doc.Cell{c(second, 1)}}),
		}
	}
	r := place(t, lines("a", 5), table("s1\ns2\ns3\ns4\ns5\ns6\ns7\ns8\ns9", "t1\nt2\nt3\nt4\nt5\nt6\nt7\nt8"))
	for _, s := range []string{"s1", "s5", "r1", "t1", "t4"} {
		if l := r.find(t, s); l.page != 1 {
			t.Errorf("%s stands on page %d", s, l.page)
		}
	}
	if first, second := r.on(1), r.on(2); len(first) != 15 || len(second) != 8 {
		t.Errorf("%q and %q", first, second)
	}
	for above, page := range map[int]int{8: 1, 9: 2} {
		r := place(t, lines("a", above), table("s1", "t1"))
		for _, s := range []string{"s1", "r1", "t1"} {
			if l := r.find(t, s); l.page != page {
				t.Errorf("below %d lines, %s stands on page %d, want %d", above, s, l.page, page)
			}
		}
	}
}

func TestBoxFragments(t *testing.T) {
	r := place(t, &doc.Box{
		Padding: doc.Same(4 * doc.Pt), Border: doc.Around(doc.Line{Width: doc.Pt}), Background: doc.RGB(1, 2, 3),
		Nodes: []doc.Node{lines("a", 14)},
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
	pt := doc.Pt
	for _, c := range []struct {
		name  string
		img   doc.Image
		align doc.Align
		x     doc.Length
		w, h  doc.Length
	}{
		{"natural", doc.Image{}, 0, 20 * pt, 72 * pt, 36 * pt},
		{"width", doc.Image{Width: 50 * pt}, 0, 20 * pt, 50 * pt, 25 * pt},
		{"height", doc.Image{Height: 50 * pt}, 0, 20 * pt, 100 * pt, 50 * pt},
		{"contain, wide", doc.Image{Width: 40 * pt, Height: 40 * pt}, 0, 20 * pt, 40 * pt, 20 * pt},
		{"contain, high", doc.Image{Width: 90 * pt, Height: 20 * pt}, 0, 20 * pt, 40 * pt, 20 * pt},
		{"stretch", doc.Image{Width: 40 * pt, Height: 40 * pt, Fit: doc.FitStretch}, 0, 20 * pt, 40 * pt, 40 * pt},
		{"right", doc.Image{Width: 50 * pt}, doc.AlignRight, 170 * pt, 50 * pt, 25 * pt},
		{"center", doc.Image{Width: 50 * pt}, doc.AlignCenter, 95 * pt, 50 * pt, 25 * pt},
		{"too wide", doc.Image{Width: 400 * pt}, 0, 20 * pt, 200 * pt, 100 * pt},
	} {
		t.Run(c.name, func(t *testing.T) {
			img := c.img
			img.Data, img.Alt, img.Style = data, "grey", &doc.Style{Align: c.align}
			d := tenLines()
			d.Body = doc.Nodes(&img)
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
	big := place(t, &doc.Image{Data: pngOf(t, 960, 10), Decorative: true})
	if got := big.images[0]; got.W != 200*pt || got.Elem != nil || got.Artifact != layout.ArtifactLayout {
		t.Errorf("%+v", got)
	}
}

// TestAutoIsAsWideAsImages: an image in a place of the width auto has the size that it has
// elsewhere, and stays within the page.
func TestAutoIsAsWideAsImages(t *testing.T) {
	data, pt := pngOf(t, 96, 48), doc.Pt
	auto := []doc.Width{doc.Fr(1), doc.Auto()}
	for _, c := range []struct {
		name string
		img  doc.Image
		w, h doc.Length
	}{
		{"natural", doc.Image{}, 72 * pt, 36 * pt},
		{"width", doc.Image{Width: 50 * pt}, 50 * pt, 25 * pt},
		{"height", doc.Image{Height: 50 * pt}, 100 * pt, 50 * pt},
		{"contain", doc.Image{Width: 90 * pt, Height: 20 * pt}, 40 * pt, 20 * pt},
		{"cover", doc.Image{Width: 90 * pt, Height: 20 * pt, Fit: doc.FitCover}, 90 * pt, 20 * pt},
	} {
		t.Run(c.name, func(t *testing.T) {
			img := c.img
			img.Data, img.Alt = data, "grey"
			d := tenLines()
			d.Body = doc.Nodes(
				&doc.Beside{Widths: auto, Cells: [][]doc.Node{{para("a")}, {&img}}},
				&doc.Table{
					Padding: &doc.Edges{}, Columns: []doc.Column{{Width: auto[0]}, {Width: auto[1]}},
					Rows: doc.Rows(doc.Row{Cells: []doc.Cell{{Spans: spans("a")}, {Nodes: []doc.Node{&img}}}}),
				},
			)
			r, sum, err := run(t, d, true)
			if err != nil || len(sum.Warnings) > 0 || len(r.images) != 2 {
				t.Fatal(err, sum, r.images)
			}
			for i, got := range r.images {
				if got.X != 220*pt-c.w || got.W != c.w || got.H != c.h {
					t.Errorf("%d: x %d w %d h %d", i, got.X, got.W, got.H)
				}
			}
		})
	}
}

func TestErrors(t *testing.T) {
	src := &doc.Source{File: "t.yaml", Line: 3, Col: 5, Path: "body[0]"}
	at := doc.Block{Src: src}
	for _, c := range []struct {
		code string
		node doc.Node
	}{
		{"F401", &doc.Text{Block: at, Spans: spans("\u4E00")}},
		{"F402", &doc.Heading{Block: at, Level: 1, Spans: spans("שלום")}},
		{"F403", &doc.Text{Block: doc.Block{Src: src, Style: &doc.Style{Family: "Nope"}}, Spans: spans("x")}},
		{"L302", &doc.Table{Block: at, Padding: &doc.Edges{}, Columns: []doc.Column{{Width: doc.Fixed(3 * doc.Pt)}}, Rows: doc.Rows(doc.Row{Src: src, Cells: []doc.Cell{{Spans: spans("MM")}}})}},
		{"L307", &doc.Image{Block: at, Data: []byte("GIF89a")}},
		{"F401", &doc.List{Block: at, Items: []doc.ListItem{{Src: src, Nodes: []doc.Node{&doc.Text{Block: at, Spans: spans("\u4E00")}}}}}},
		{"F401", &doc.Table{Block: at, Columns: []doc.Column{{Width: doc.Auto(), Src: src, Head: spans("\u4E00")}}}},
		{"F401", &doc.Table{Block: at, Columns: []doc.Column{{}}, Caption: spans("\u4E00")}},
		{"F401", &doc.Table{Block: at, Columns: []doc.Column{{}}, Foot: []doc.Row{{Src: src, Cells: []doc.Cell{{Spans: spans("\u4E00")}}}}}},
		{"L303", &doc.Table{Block: at, Columns: []doc.Column{{}}, Foot: []doc.Row{{Src: src, Cells: []doc.Cell{{Rowspan: 2}}}}}},
		{"L303", &doc.Table{Block: at, Columns: []doc.Column{{}}, Head: []doc.Row{{Src: src, Cells: []doc.Cell{{Rowspan: 2}}}}}},
		{"F401", &doc.Beside{Block: at, Widths: []doc.Width{doc.Auto()}, Cells: [][]doc.Node{{&doc.Text{Block: at, Spans: spans("\u4E00")}}}}},
		{"F401", &doc.Beside{Block: at, Cells: [][]doc.Node{{&doc.Text{Block: at, Spans: spans("\u4E00")}}}}},
	} {
		d := fails(t, c.code, c.node)
		if d.File != "t.yaml" || d.Line != 3 || d.Path != "body[0]" {
			t.Errorf("%s stands at %s:%d %s", c.code, d.File, d.Line, d.Path)
		}
	}
	dup := doc.Block{Src: src, Anchor: "a"}
	fails(t, "L311", &doc.Text{Block: dup, Spans: spans("x")}, &doc.Text{Block: dup, Spans: spans("y")})
	fails(t, "L305", oddNode{})
}

// oddNode is a node that layout does not know.
type oddNode struct{ doc.Block }

// Common implements layout.Node.
func (oddNode) Common() *doc.Block { return &doc.Block{} }

func TestUnits(t *testing.T) {
	if doc.MM(25.4) != 72*doc.Pt || doc.Points(0.5) != 512 || doc.Inch != 73728 {
		t.Error("units")
	}
	r, g, b := doc.RGB(1, 2, 3).RGB()
	if r != 1 || g != 2 || b != 3 || !doc.Color(0).None() || doc.Black.None() {
		t.Error("colours")
	}
}
