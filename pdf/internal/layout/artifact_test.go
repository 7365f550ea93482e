package layout_test

import (
	"slices"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
)

// TestArtifactsLookAsTheyWould: nothing stands elsewhere for being an artifact, and no element is
// made of it.
func TestArtifactsLookAsTheyWould(t *testing.T) {
	t.Parallel()
	nodes := func(b doc.Block) []doc.Node {
		var rows []doc.Row
		for range 12 {
			rows = append(rows, rowOf("x"), doc.Row{Cells: []doc.Cell{{Nodes: []doc.Node{para("y"), head(1, "z")}}}})
		}
		text := lines("a", 3)
		text.Block = b
		return []doc.Node{
			text, &doc.Heading{Block: b, Spans: spans("h")}, &doc.List{Block: b, Items: []doc.ListItem{{Nodes: []doc.Node{para("i")}}}},
			&doc.Table{Block: b, Columns: []doc.Column{{Head: spans("t")}}, Rows: doc.Rows(rows...)},
			&doc.Box{Block: b, Nodes: []doc.Node{para("b")}}, &doc.Columns{Block: b, Count: 2, Nodes: []doc.Node{para("l"), para("r")}},
			&doc.Beside{Block: b, Cells: [][]doc.Node{{para("c")}, {para("d")}}}, &doc.Rule{Block: b},
			&doc.Image{Block: b, Data: pngOf(t, 40, 20), Alt: "alt"}, &doc.Barcode{Block: b, Symbology: doc.Code128, Value: "A1", Alt: "alt"},
			&doc.Place{Block: b, X: doc.Pt, Y: doc.Pt, Width: 50 * doc.Pt, Nodes: []doc.Node{para("p")}},
		}
	}
	lay := func(b doc.Block) *record {
		d := tenLines()
		d.Theme = doc.DefaultTheme(*d.BaseStyle)
		d.Header = doc.Running{All: []doc.Node{para("top")}}
		d.Body = doc.Nodes(append(nodes(b), para("end"))...)
		r, _, err := run(t, d, true)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want, got := lay(doc.Block{}), lay(doc.Block{Artifact: true})
	kinds := map[layout.Artifact]int{}
	for i := range got.lines {
		kinds[got.lines[i].artifact]++
		got.lines[i].artifact, want.lines[i].artifact = 0, 0
	}
	if !slices.Equal(got.lines, want.lines) || len(got.images) != 1 || got.images[0].X != want.images[0].X || got.images[0].Y != want.images[0].Y {
		t.Errorf("%v, want %v", got.lines, want.lines)
	}
	if len(got.begun) != 1 || got.begun[0].Type != tag.P { // that of the end
		t.Errorf("%d elements", len(got.begun))
	}
	if kinds[layout.ArtifactNone] != 1 || kinds[layout.ArtifactHeader] != got.pages || kinds[layout.ArtifactRepeat] != 0 {
		t.Errorf("%v", kinds)
	}
}

// TestWhatIsNeverAnArtifact is an error with its place.
func TestWhatIsNeverAnArtifact(t *testing.T) {
	t.Parallel()
	field := doc.NewField(doc.FieldText, "a", "A")
	for name, n := range map[string]doc.Node{
		"link":         &doc.Text{Spans: []doc.Span{{Text: "a", Link: "https://example.com/"}}},
		"image link":   &doc.Image{Data: pngOf(t, 4, 2), Alt: "a", Link: "https://example.com/"},
		"cell link":    &doc.Table{Columns: []doc.Column{{}}, Rows: doc.Rows(doc.Row{Cells: []doc.Cell{{Spans: spans("a"), Link: "https://example.com/"}}})},
		"anchor":       &doc.Text{Block: doc.Block{Anchor: "a"}, Spans: spans("a")},
		"table anchor": &doc.Table{Block: doc.Block{Anchor: "a"}, Columns: []doc.Column{{}}, Rows: doc.Rows(rowOf("a"))},
		"bookmark":     &doc.Text{Block: doc.Block{Bookmark: "a"}, Spans: spans("a")},
		"heading":      &doc.Heading{InOutline: true, Spans: spans("a")},
		"note":         &doc.Text{Spans: []doc.Span{{Kind: doc.SpanNote, Note: &doc.Note{Spans: spans("a")}}}},
		"field":        &field,
		"contents":     &doc.Toc{},
	} {
		fails(t, "L305", &doc.Box{Block: doc.Block{Artifact: true}, Nodes: []doc.Node{n}})
		n.Common().Artifact = true
		if d := fails(t, "L305", n); d.Message == "" {
			t.Error(name)
		}
	}
	fails(t, "L305", &doc.Section{Block: doc.Block{Artifact: true}, Body: doc.Nodes(para("a"))})
	fails(t, "L305", &doc.Place{Block: doc.Block{Artifact: true, Anchor: "a"}, Width: doc.Pt, Nodes: []doc.Node{}})
}
