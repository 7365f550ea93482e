package layout_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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

// TestBodyLiesBetweenItsOwnHeaderAndFooter: the body of each page begins as far below the header of
// that page as of every other, and ends as far above its footer, whatever the heights of the
// others.
func TestBodyLiesBetweenItsOwnHeaderAndFooter(t *testing.T) {
	node := func(prefix string, n int) []doc.Node { return []doc.Node{lines(prefix, n)} }
	d := tenLines()
	d.Page.Height = 300 * doc.Pt
	d.Header = doc.Running{First: node("first", 5), Odd: node("odd", 3), Even: node("even", 1)}
	d.Footer = doc.Running{First: []doc.Node{}, Other: node("foot", 4)}
	var all []doc.Node
	for i := range 60 {
		all = append(all, para(fmt.Sprintf("line %d", i)))
	}
	d.Body = doc.Nodes(all...)
	r, sum, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Pages < 4 {
		t.Fatalf("%d pages", sum.Pages)
	}
	seen := map[doc.Length]bool{}
	for p := 1; p < sum.Pages; p++ {
		var above, first, last, below doc.Length
		for _, l := range r.lines {
			switch {
			case l.page != p:
			case l.artifact == layout.ArtifactHeader:
				above = max(above, l.y)
			case l.artifact == layout.ArtifactFooter && below == 0:
				below = l.y
			case l.artifact == layout.ArtifactNone && first == 0:
				first, last = l.y, l.y
			case l.artifact == layout.ArtifactNone:
				last = l.y
			}
		}
		if first-above != 24*doc.Pt { // 12 pt, and the height of a line
			t.Errorf("page %d: the body begins %d below the header", p, first-above)
		}
		if room := below - last; p > 1 && (room < 24*doc.Pt || room >= 36*doc.Pt) {
			t.Errorf("page %d: the body ends %d above the footer", p, room)
		}
		if bottom := 280*doc.Pt - last; p == 1 && bottom >= 15*doc.Pt {
			t.Errorf("page 1: %d are left above the margin", bottom)
		}
		seen[first] = true
	}
	if len(seen) != 3 {
		t.Errorf("bodies begin at %v", seen)
	}
}

// TestWhatFirstPagesHaveNoRoomForGoesToTheNext: a high header of the first page is no reason to
// refuse what later pages hold, nor to tear it.
func TestWhatFirstPagesHaveNoRoomForGoesToTheNext(t *testing.T) {
	d := tenLines()
	d.Header = doc.Running{First: []doc.Node{lines("head", 5)}}
	whole := lines("a", 9)
	whole.KeepTogether = true
	for _, n := range []doc.Node{
		whole, &doc.Image{Data: pngOf(t, 10, 10), Alt: "x", Width: 100 * doc.Pt, Height: 100 * doc.Pt, Fit: doc.FitStretch},
	} {
		d.Body = doc.Nodes(n, para("after"))
		r, sum, err := run(t, d, true)
		if err != nil {
			t.Fatal(err)
		}
		if sum.Pages != 2 || r.find(t, "after").page != 2 {
			t.Errorf("%d pages: %v", sum.Pages, r.lines)
		}
	}
}

// TestHeightsOfRunningContentAreThoseOfItsIdentity: content of an identity is measured once in a
// memory, for each style and width that it is laid out in. A footer that is not what its identity
// says shows which height was taken.
func TestHeightsOfRunningContentAreThoseOfItsIdentity(t *testing.T) {
	memory, base, same := &layout.Memory{}, tenLines().BaseStyle, &doc.Identity{}
	lay := func(of *doc.Identity, change func(*doc.Document), footer ...doc.Node) error {
		defer memory.Reset()
		d := tenLines()
		d.BaseStyle, d.Body = base, doc.Nodes(para("x"))
		d.Footer = doc.Running{All: footer, Identity: of}
		if change != nil {
			change(d)
		}
		_, err := layout.Run(t.Context(), d, layout.Options{Memory: memory, Typesetter: typesetter, Images: images.Session(diag.Limits{})}, &record{})
		return err
	}
	if err := lay(same, nil, para("one")); err != nil {
		t.Fatal(err)
	}
	two := []doc.Node{para("one"), para("two")}
	var de *diag.DiagnosticError
	if err := lay(same, nil, two...); !errors.As(err, &de) || de.Diagnostics[0].Code != "L309" {
		t.Errorf("a footer that is higher than that of its identity: %v", err)
	}
	for what, err := range map[string]error{
		"no identity":      lay(nil, nil, two...),
		"another identity": lay(&doc.Identity{}, nil, two...),
		"another width":    lay(same, func(d *doc.Document) { d.Page.Width += doc.Pt }, two...),
		"another style":    lay(same, func(d *doc.Document) { d.BaseStyle = tenLines().BaseStyle }, two...),
		"another language": lay(same, func(d *doc.Document) { d.Lang = "de" }, two...),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	// What is wrong is told of every document.
	wrong := &doc.Identity{}
	narrow := &doc.Beside{
		Widths: []doc.Width{doc.Fr(1), doc.Fixed(2 * doc.Pt)},
		Cells:  [][]doc.Node{{para("x")}, {&doc.Text{Spans: []doc.Span{{Kind: doc.SpanPage}}}}},
	}
	for range 2 {
		if err := lay(wrong, nil, narrow); !errors.As(err, &de) || de.Diagnostics[0].Code != "L312" {
			t.Errorf("a number without room: %v", err)
		}
	}
}

// TestRunningContentInColumns shows titles and the number of pages, as it does elsewhere.
func TestRunningContentInColumns(t *testing.T) {
	d := tenLines()
	d.Header = doc.Running{All: []doc.Node{&doc.Columns{Count: 2, Nodes: []doc.Node{
		&doc.Text{Spans: []doc.Span{{Text: "in"}, {Kind: doc.SpanTitle}}},
		&doc.Text{Spans: []doc.Span{{Text: "of"}, {Kind: doc.SpanPages}}},
	}}}}
	d.Body = doc.Nodes(head(1, "Fees"), para("x"))
	r, _, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	r.find(t, "inFees")
	r.find(t, "of1")
}

// TestHeaderTooHighForASection says how to keep it within a line.
func TestHeaderTooHighForASection(t *testing.T) {
	d := tenLines()
	d.Header = doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Kind: doc.SpanTitle}}}}}
	d.Body = doc.Nodes(head(1, strings.Repeat("seven ", 20)))
	_, _, err := run(t, d, true)
	if err == nil || !strings.Contains(err.Error(), "L309") || !strings.Contains(err.Error(), "max-lines: 1") {
		t.Errorf("got %v", err)
	}
}
