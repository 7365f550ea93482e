package layout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
)

// TestCellsWithThePaddingOfTheirTableLookAlike: any table looks the same when its cells say
// themselves what padding they have.
func TestCellsWithThePaddingOfTheirTableLookAlike(t *testing.T) {
	t.Parallel()
	padding := doc.Edges{Top: 2 * doc.Pt, Right: 5 * doc.Pt, Bottom: 3 * doc.Pt, Left: 7 * doc.Pt}
	for seed := range uint64(200) {
		set := func(own bool) (string, error) {
			r := rand.New(rand.NewPCG(seed, 9)) //nolint:gosec // G404: test data
			d := randomTable(r)
			for n, err := range d.Body {
				if err != nil {
					t.Fatal(err)
				}
				if n, ok := n.(*doc.Table); ok {
					n.Padding = &padding
					if own {
						n.Rows = padded(r, n.Rows, &padding)
					}
				}
			}
			s := &rowSink{elems: map[*tag.Elem]int{}}
			_, err := layout.Run(t.Context(), d, layout.Options{Typesetter: typesetter, Tagged: true, Memory: &layout.Memory{}}, s)
			return s.b.String(), err
		}
		want, wantErr := set(false)
		if got, err := set(true); got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("table %d: got\n%s%v\nwant\n%s%v", seed, got, err, want, wantErr)
		}
	}
}

// padded gives some cells of rows a padding of their own.
func padded(r *rand.Rand, rows func(func(doc.Row, error) bool), p *doc.Edges) func(func(doc.Row, error) bool) {
	return func(yield func(doc.Row, error) bool) {
		for row, err := range rows {
			row.Cells = slices.Clone(row.Cells)
			for i := range row.Cells {
				if r.IntN(2) == 0 {
					row.Cells[i].Padding = p
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// TestCellsHavePaddingOfTheirOwn: it replaces that of the table on all sides, also at the edges of
// a table, and the first lines of a row stand on one baseline all the same.
func TestCellsHavePaddingOfTheirOwn(t *testing.T) {
	t.Parallel()
	row := func(cells ...doc.Cell) doc.Row { return doc.Row{Cells: cells} }
	cell := func(s string, p *doc.Edges) doc.Cell { return doc.Cell{Spans: spans(s), Padding: p} }
	wide := &doc.Edges{Top: 8 * doc.Pt, Right: 3 * doc.Pt, Bottom: 6 * doc.Pt, Left: 11 * doc.Pt}
	r := place(t, &doc.Table{
		Columns: []doc.Column{{Width: doc.Fixed(60 * doc.Pt)}, {Width: doc.Fixed(80 * doc.Pt), Style: &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Align: doc.AlignRight}}},
		Rows: doc.Rows(
			row(cell("plain", nil), cell("333", nil)),
			row(cell("beside", nil), cell("222", wide)),
			row(cell("none", &doc.Edges{}), doc.Cell{Spans: spans("low"), VAlign: doc.VAlignBottom, Padding: &doc.Edges{Bottom: 20 * doc.Pt}}),
			row(doc.Cell{Spans: spans("both"), Padding: wide, Colspan: 2}),
			row(cell("last", nil), cell("end", nil)),
		),
	})
	y := func(s string) doc.Length { return r.find(t, s).y }
	x := func(s string) doc.Length { return r.find(t, s).x }
	const std = 5 * doc.Pt / 2 // above and below of a table
	for _, c := range []struct {
		what      string
		got, want doc.Length
	}{
		{"flush", x("plain"), 20 * doc.Pt},
		{"no padding", x("none"), 20 * doc.Pt},
		{"over both columns", x("both"), 31 * doc.Pt},
		{"right of its own", x("333") - x("222"), 3 * doc.Pt},
		{"one baseline", y("beside"), y("222")},
		{"above", y("222") - y("333"), 12*doc.Pt + std + 8*doc.Pt},
		{"below", y("none") - y("222"), 12*doc.Pt + 6*doc.Pt},
		{"at the foot", y("low"), y("none")},
		{"below at the foot", y("both") - y("low"), 12*doc.Pt + 20*doc.Pt + 8*doc.Pt},
		{"after all", y("last") - y("both"), 12*doc.Pt + 6*doc.Pt + std},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
		}
	}
	fails(t, "L306", &doc.Table{Columns: []doc.Column{{}}, Rows: doc.Rows(row(cell("a", &doc.Edges{Left: 100 * doc.Pt, Right: 100 * doc.Pt})))})
}

// TestSignsAndWidthsMindThePaddingOfCells: a column of the width auto holds its widest cell with
// its padding, and figures stand on their signs in cells of any padding.
func TestSignsAndWidthsMindThePaddingOfCells(t *testing.T) {
	t.Parallel()
	decimal := &doc.Style{Size: 10 * doc.Pt, Leading: 12 * doc.Pt, Align: doc.AlignDecimal}
	cell := func(s string, left, right doc.Length) doc.Cell {
		return doc.Cell{Spans: spans(s), Padding: &doc.Edges{Left: left, Right: right}}
	}
	r := place(t, &doc.Table{
		Columns: []doc.Column{{Width: doc.Auto()}, {Width: doc.Auto(), Style: decimal}, {Width: doc.Fr(1)}},
		Rows: doc.Rows(
			doc.Row{Cells: []doc.Cell{cell("3333", 9*doc.Pt, 9*doc.Pt), cell("1.25", 20*doc.Pt, 0), {Spans: spans("x")}}},
			doc.Row{Cells: []doc.Cell{cell("ef", 0, 0), cell("1.5", 0, 15*doc.Pt), {Spans: spans("y")}}},
		),
	})
	x := func(s string) doc.Length { return r.find(t, s).x }
	digit := doc.Points(5.56)
	if x("1.25") != x("1.5") {
		t.Errorf("the signs stand at %d and %d", x("1.25"), x("1.5"))
	}
	if got, want := x("1.25")-x("3333"), 4*digit+9*doc.Pt+20*doc.Pt; max(got-want, want-got) > doc.Pt/10 {
		t.Errorf("figures stand %d behind the first column, want %d", got, want)
	}
	if got, least := x("x")-x("1.5"), 3*digit+15*doc.Pt; got < least {
		t.Errorf("the next column stands %d behind them, want %d at least", got, least)
	}
}
