package layout_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/layout"
)

func TestRunning(t *testing.T) {
	node := func(s string) []doc.Node { return []doc.Node{para(s)} }
	d := tenLines()
	d.Header = doc.Running{First: node("first"), Odd: node("odd"), Even: node("even")}
	d.Footer = doc.Running{Other: node("other"), All: []doc.Node{&doc.List{Items: []doc.ListItem{{Nodes: []doc.Node{
		&doc.Box{Nodes: []doc.Node{&doc.Text{Spans: []doc.Span{{Kind: doc.SpanPage}, {Text: "/"}, {Kind: doc.SpanPages}}}}},
	}}}}}}
	d.Page.Border = doc.Around(doc.Line{Width: doc.Pt})
	d.Body = doc.Nodes(lines("a", 25))
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
	d.Footer = doc.Running{All: []doc.Node{&doc.Beside{
		Widths: []doc.Width{doc.Fr(1), doc.Fixed(8 * doc.Pt)},
		Cells:  [][]doc.Node{{para("x")}, {&doc.Text{Spans: []doc.Span{{Kind: doc.SpanPage}}}}},
	}}}
	if _, _, err := run(t, d, true); err != nil {
		t.Error(err)
	}
	d.Body = doc.Nodes(lines("a", 120))
	var de *diag.DiagnosticError
	if _, _, err := run(t, d, true); !errors.As(err, &de) || de.Diagnostics[0].Code != "L312" {
		t.Errorf("page 10: %v", err)
	}
	// Running content that leaves no body is an error.
	d.Header.First = []doc.Node{lines("h", 9)}
	if _, _, err := run(t, d, true); err == nil {
		t.Error("a header as high as the page")
	}
}

func TestWatermark(t *testing.T) {
	for _, w := range []doc.Watermark{{Text: "DRAFT"}, {Text: "DRAFT", Angle: 45}, {Text: "DRAFT", Style: &doc.Style{Size: 20 * doc.Pt}, Opacity: 0.5}} {
		d := tenLines()
		d.Watermark = &w
		d.Body = doc.Nodes(para("x"))
		r, _, err := run(t, d, true)
		if err != nil {
			t.Fatal(err)
		}
		u := r.under
		if u == nil || u.X != 120*doc.Pt || u.Y != 80*doc.Pt || u.Opacity <= 0 || u.Text.Line.Width > 240*doc.Pt {
			t.Errorf("%+v", u)
		}
		if w.Style != nil && u.Text.Pieces[0].Size != 20*doc.Pt {
			t.Error("the size that was asked for does not hold")
		}
	}
	d := tenLines()
	d.Watermark = &doc.Watermark{Text: "\u4E00"}
	if _, _, err := run(t, d, true); err == nil {
		t.Error("a watermark without glyphs")
	}
}
