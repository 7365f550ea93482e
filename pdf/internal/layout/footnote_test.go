package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// cite is a line with a footnote.
func cite(s string, note ...string) *doc.Text {
	t := para(s)
	for _, n := range note {
		t.Spans = append(t.Spans, doc.Footnote(doc.Span{Text: n}))
	}
	return t
}

// footRule is where the rule above the notes of a page stands; 0: there is none.
func footRule(r *record, page int) doc.Length {
	for _, it := range r.rects[page] {
		if it.Rule && it.W == 200*doc.Pt/3 {
			return it.Y
		}
	}
	return 0
}

// TestFootnotesStandOnThePageOfTheirNumbers: below a rule at the foot of the page, in order, and
// the line whose note has no room goes to the next page with it.
func TestFootnotesStandOnThePageOfTheirNumbers(t *testing.T) {
	all := []doc.Node{cite("first", "one"), cite("second", "two")}
	for i := range 5 {
		all = append(all, para(fmt.Sprintf("a%d", i)))
	}
	all = append(all, cite("third", "three"), para("end"))
	r := place(t, all...)
	if r.pages != 2 {
		t.Fatalf("%d pages: %v", r.pages, r.lines)
	}
	for note, page := range map[string]int{"one": 1, "two": 1, "three": 2} {
		l := r.find(t, note)
		rule := footRule(r, page)
		if l.page != page || rule == 0 || l.y < rule {
			t.Errorf("note %q on page %d at %d, the rule at %d", note, l.page, l.y, rule)
		}
		for _, other := range r.lines {
			if other.page == page && strings.HasPrefix(other.text, "a") && other.y > rule {
				t.Errorf("%q stands below the rule", other.text)
			}
		}
	}
	if r.find(t, "one").y >= r.find(t, "two").y || r.find(t, "third3").page != 2 {
		t.Error("the order of the notes, or of the line that has no room for its note")
	}
	// The last line of the notes stands at the foot of the body.
	if last := 140*doc.Pt - r.find(t, "two").y; last > 6*doc.Pt {
		t.Errorf("the last note ends %d above the foot", last)
	}
	if n := len(slices.DeleteFunc(slices.Clone(r.done), func(e *tag.Elem) bool { return e.Type != tag.FENote })); n != 3 {
		t.Errorf("%d notes are complete", n)
	}
}

// TestFootnotesAreCountedAsAsked: through the document, or anew in each section or on each page.
func TestFootnotesAreCountedAsAsked(t *testing.T) {
	for restart, want := range map[doc.Restart][]string{
		doc.RestartNever:   {"xi", "yii", "ziii", "wiv"},
		doc.RestartSection: {"xi", "yi", "zii", "wii"},
		doc.RestartPage:    {"xi", "yi", "zi", "wi"},
	} {
		d := tenLines()
		d.Footnotes = doc.Footnotes{Restart: restart, Numbering: doc.NumberingRoman}
		d.Body = doc.Nodes(cite("x", "note"), &doc.Section{Body: doc.Nodes(cite("y", "note"), &doc.PageBreak{}, cite("z", "note"))}, cite("w", "note"))
		r, sum, err := run(t, d, true)
		if err != nil || len(sum.Warnings) > 0 {
			t.Fatal(err, sum)
		}
		for _, s := range want {
			r.find(t, s)
		}
	}
}

// TestFootnotesOfTables: of rows and list items too; those of a head stand where it stands first.
func TestFootnotesOfTables(t *testing.T) {
	var rows []doc.Row
	for i := range 12 {
		rows = append(rows, doc.Row{Cells: []doc.Cell{{Spans: []doc.Span{{Text: fmt.Sprintf("r%d", i)}, doc.Footnote(doc.Span{Text: fmt.Sprintf("note %d", i)})}}}})
	}
	table := func(once bool) *doc.Table {
		return &doc.Table{
			Columns:  []doc.Column{{Head: []doc.Span{{Text: "head"}, doc.Footnote(doc.Span{Text: "of the head"})}}},
			HeadOnce: once, Rows: doc.Rows(rows...),
		}
	}
	r := place(t, table(false), &doc.List{Items: []doc.ListItem{{Nodes: []doc.Node{cite("item", "of the item")}}}})
	for i := range 12 {
		row, note := r.find(t, fmt.Sprintf("r%d%d", i, i+2)), r.find(t, fmt.Sprintf("note %d", i))
		if row.page != note.page {
			t.Errorf("row %d stands on page %d, its note on %d", i, row.page, note.page)
		}
	}
	heads := 0
	for _, l := range r.lines {
		if l.text == "head1" {
			heads++
		}
	}
	if heads < 2 || r.find(t, "of the head").page != 1 || r.find(t, "of the item").page != r.find(t, "item14").page {
		t.Errorf("%d heads", heads)
	}
	d := tenLines()
	d.Footnotes.Restart = doc.RestartPage
	d.Body = doc.Nodes(table(false))
	if _, _, err := run(t, d, true); err == nil || !strings.Contains(err.Error(), "L318") {
		t.Errorf("the number of a page in a repeated head: %v", err)
	}
	d.Body = doc.Nodes(table(true))
	if _, _, err := run(t, d, true); err != nil {
		t.Error(err)
	}
}

// TestFootnotesWhereNoneCanStand are errors with their place.
func TestFootnotesWhereNoneCanStand(t *testing.T) {
	note := doc.Footnote(doc.Span{Text: "x"})
	fails(t, "L318", cite("within", "x"), &doc.Text{Spans: []doc.Span{{Text: "y"}, doc.Footnote(note)}})
	fails(t, "L318", &doc.Place{X: 30 * doc.Pt, Y: 30 * doc.Pt, Width: 50 * doc.Pt, Nodes: []doc.Node{cite("y", "x")}})
	fails(t, "L318", &doc.Text{Spans: []doc.Span{{Kind: doc.SpanNote}}})
	d := tenLines()
	d.Header = doc.Running{All: []doc.Node{cite("head", "x")}}
	d.Body = doc.Nodes(para("x"))
	if _, _, err := run(t, d, true); err == nil || !strings.Contains(err.Error(), "L318") {
		t.Errorf("in a header: %v", err)
	}
	tall := doc.Document{
		Page:      doc.Master{Width: 240 * doc.Pt, Height: 160 * doc.Pt, Margins: doc.Same(20 * doc.Pt)},
		Footnotes: doc.Footnotes{Style: &doc.Style{Size: 10 * doc.Pt, Leading: 200 * doc.Pt}},
		Body:      doc.Nodes(cite("x", "higher than a page"), para("after")),
	}
	if _, _, err := run(t, &tall, true); err == nil || !strings.Contains(err.Error(), "L301") {
		t.Errorf("a line higher than a page: %v", err)
	}
}

// TestFootnotesThatPagesDoNotHold: one that is longer than pages is split, and of a line that has a
// hundred, what its page does not hold follows on the next ones.
func TestFootnotesThatPagesDoNotHold(t *testing.T) {
	var long []string
	for i := range 40 {
		long = append(long, fmt.Sprintf("n%d", i))
	}
	r := place(t, para("before"), cite("x", strings.Join(long, "\n")), para("after"))
	at := 1
	for _, s := range long {
		l := r.find(t, s)
		if l.page < at || l.page > at+1 {
			t.Fatalf("%s stands on page %d behind page %d", s, l.page, at)
		}
		at = l.page
	}
	if at < 3 || r.find(t, "x1").page != 1 || r.find(t, "after").page > 2 {
		t.Errorf("the last line on page %d, what follows on %d", at, r.find(t, "after").page)
	}
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf("m%d", i)
	}
	r = place(t, &doc.Section{Body: doc.Nodes(cite("y", many...))}, para("behind"))
	at = 0
	for _, s := range many {
		l := r.find(t, s)
		if l.page < at {
			t.Errorf("%s stands on page %d", s, l.page)
		}
		at = max(at, l.page)
	}
	if b := r.find(t, "behind"); b.page != at+1 {
		t.Errorf("the notes of the section end on page %d, what follows stands on %d", at, b.page)
	}
}

// TestNoFootnoteIsLost: in any flow of paragraphs, lists, boxes and tables each note stands once,
// no earlier than the page of its number and, unless it is split or one of many, on it; notes come
// in their order, and nothing of the text stands beneath the rule.
func TestNoFootnoteIsLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count, table := 0, false
		text := func() *doc.Text {
			p := lines(fmt.Sprintf("t%d-", rapid.IntRange(0, 999).Draw(rt, "name")), rapid.IntRange(1, 14).Draw(rt, "lines"))
			for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 5}).Draw(rt, "notes") {
				high := rapid.SampledFrom([]int{1, 1, 2, 3, 12}).Draw(rt, "high")
				var s []string
				for i := range high {
					s = append(s, fmt.Sprintf("note-%d-%d", count, i))
				}
				count++
				p.Spans = append(p.Spans, doc.Footnote(doc.Span{Text: strings.Join(s, "\n")}), doc.Span{Text: rapid.SampledFrom([]string{"", "\nmore"}).Draw(rt, "behind")})
			}
			return p
		}
		var body []doc.Node
		for range rapid.IntRange(1, 8).Draw(rt, "blocks") {
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				body = append(body, &doc.Box{Padding: doc.Same(2 * doc.Pt), Nodes: []doc.Node{text(), text()}})
			case 1:
				body = append(body, &doc.List{Items: []doc.ListItem{{Nodes: []doc.Node{text()}}, {Nodes: []doc.Node{text()}}}})
			case 2:
				table = true // a row that is split has notes of its second cell before those of the first
				var rows []doc.Row
				for range rapid.IntRange(1, 3).Draw(rt, "rows") {
					rows = append(rows, doc.Row{Cells: []doc.Cell{{Nodes: []doc.Node{text()}}, {Nodes: []doc.Node{text()}}}})
				}
				body = append(body, &doc.Table{Columns: make([]doc.Column, 2), Rows: doc.Rows(rows...)})
			case 3:
				body = append(body, &doc.Columns{Gap: 10 * doc.Pt, Nodes: []doc.Node{text()}})
			default:
				body = append(body, text())
			}
		}
		d := tenLines()
		d.Body = doc.Nodes(body...)
		r, _, err := run(t, d, true)
		if err != nil {
			rt.Fatal(err)
		}
		var order []string
		for _, l := range r.lines {
			note := strings.HasPrefix(l.text, "note-")
			if note {
				order = append(order, l.text)
			}
			if rule := footRule(r, l.page); l.text != "" && rule > 0 && (strings.HasPrefix(l.text, "t") || l.text == "more") && l.y > rule {
				rt.Fatalf("%q stands beneath the rule of page %d", l.text, l.page)
			}
			if l.y > 140*doc.Pt {
				rt.Fatalf("%q stands at %d, below the body", l.text, l.y)
			}
		}
		seen := map[string]bool{}
		last := [2]int{-1, -1}
		for _, s := range order {
			var at [2]int
			if _, err := fmt.Sscanf(s, "note-%d-%d", &at[0], &at[1]); err != nil {
				rt.Fatal(err)
			}
			if seen[s] || !table && slices.Compare(at[:], last[:]) <= 0 {
				rt.Fatalf("%s stands twice, or out of order: %v", s, order)
			}
			seen[s], last = true, at
		}
		for i := range count {
			if !seen[fmt.Sprintf("note-%d-0", i)] {
				rt.Fatalf("note %d of %d is lost", i, count)
			}
		}
	})
}
