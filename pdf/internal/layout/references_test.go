package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
)

func head(level int, s string) *doc.Heading { return &doc.Heading{Level: level, Spans: spans(s)} }

// TestContentsNameThePagesOfTheHeadings: behind the table, down to its levels, with links to them,
// and dots that end at one place.
func TestContentsNameThePagesOfTheHeadings(t *testing.T) {
	d := tenLines()
	d.References = true
	body := []doc.Node{head(1, "Contents"), &doc.Toc{Levels: 2}, &doc.PageBreak{}}
	for i := range 6 {
		body = append(body, head(1, fmt.Sprintf("Chapter %d", i+1)), lines("a", 4), head(2, "Part"), lines("b", 4), head(3, "deep"))
	}
	d.Body = doc.Nodes(body...)
	r, sum, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Warnings) > 0 {
		t.Errorf("warnings %v", sum.Warnings)
	}
	pages := map[string]string{} // of the chapters, as they stand there
	tocEnds := 0
	for _, l := range r.lines {
		if strings.HasPrefix(l.text, "Chapter") {
			pages[l.text] = fmt.Sprint(l.page)
		}
	}
	var dots []doc.Length
	for i, l := range r.lines {
		if strings.HasPrefix(l.text, "Chapter") && r.lines[i+1].text != "a1" {
			if tocEnds++; r.lines[i+1].text != pages[l.text] {
				t.Errorf("%s on page %s, the table says %s", l.text, pages[l.text], r.lines[i+1].text)
			}
		}
		if strings.Contains(l.text, ". .") {
			dots = append(dots, l.x)
		}
		if strings.HasPrefix(l.text, "Contents . ") || strings.HasPrefix(l.text, "deep .") {
			t.Errorf("in the table: %s", l.text)
		}
	}
	if tocEnds != 6 || len(dots) != 12 || r.links != 24 {
		t.Errorf("%d chapters in the table, %d leaders, %d link areas", tocEnds, len(dots), r.links)
	}
	types := map[tag.Type]int{}
	for _, e := range r.begun {
		types[e.Type]++
	}
	if types[tag.TOC] != 2 && types[tag.TOC] != 7 || types[tag.TOCI] != 12 {
		t.Errorf("%d TOC, %d TOCI", types[tag.TOC], types[tag.TOCI])
	}
}

// TestReferencesToPagesHold: forward, backward, to the own page and to the last, in texts and
// cells.
func TestReferencesToPagesHold(t *testing.T) {
	ref := func(anchor string) doc.Span { return doc.Span{Kind: doc.SpanReference, Text: anchor} }
	d := tenLines()
	d.References = true
	d.Body = doc.Nodes(
		&doc.Text{Block: doc.Block{Anchor: "start"}, Spans: []doc.Span{{Text: "f"}, ref("end"), {Text: "t"}, {Kind: doc.SpanPages}}},
		&doc.Table{Columns: []doc.Column{{}}, Rows: doc.Rows(doc.Row{Cells: []doc.Cell{{Spans: []doc.Span{{Text: "c"}, {Kind: doc.SpanPage}}}}})},
		lines("a", 22),
		&doc.Text{Block: doc.Block{Anchor: "end"}, Spans: []doc.Span{{Text: "b"}, ref("start"), {Text: "o"}, {Kind: doc.SpanPage}}},
	)
	r, sum, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	last := fmt.Sprint(sum.Pages)
	for page, want := range map[int]string{1: "f" + last + "t" + last, sum.Pages: "b1o" + last} {
		if !slices.Contains(r.on(page), want) {
			t.Errorf("page %d: no %q in %q", page, want, r.on(page))
		}
	}
	if !slices.Contains(r.on(1), "c1") {
		t.Errorf("page 1: %q", r.on(1))
	}
	d.Body = doc.Nodes(&doc.Text{Spans: []doc.Span{ref("nowhere")}})
	if _, _, err := run(t, d, true); err == nil || !strings.Contains(err.Error(), "L308") {
		t.Errorf("a reference to nowhere: %v", err)
	}
	d.References = false
	for _, n := range []doc.Node{&doc.Toc{}, &doc.Text{Spans: []doc.Span{ref("x")}}, &doc.Text{Spans: []doc.Span{{Kind: doc.SpanPages}}}} {
		d.Body = doc.Nodes(n)
		if _, _, err := run(t, d, true); err == nil || !strings.Contains(err.Error(), "L316") {
			t.Errorf("without References: %v", err)
		}
	}
}

// TestNumbersInHeadingsStandWhereverTheirTextIsShown: those of pages and of other headings, in
// tables of contents, bookmarks and headers.
func TestNumbersInHeadingsStandWhereverTheirTextIsShown(t *testing.T) {
	d := tenLines()
	d.References, d.NumberHeadings = true, 1
	d.Header = doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Text: "in "}, {Kind: doc.SpanTitle}}}}}
	first := head(1, "First")
	first.Anchor = "first"
	d.Body = doc.Nodes(&doc.Toc{Leader: doc.LeaderNone}, &doc.PageBreak{}, first, &doc.PageBreak{}, &doc.Heading{
		Level: 1, InOutline: true, Spans: []doc.Span{
			{Text: "As "},
			{Kind: doc.SpanNumber, Text: "first"},
			{Text: ", p. "},
			{Kind: doc.SpanReference, Text: "first"},
			{Text: ", of "},
			{Kind: doc.SpanPages},
			{Text: ", here "},
			{Kind: doc.SpanPage},
		},
	})
	r, sum, err := run(t, d, true)
	if err != nil || len(sum.Warnings) > 0 {
		t.Fatalf("%v, %v", err, sum)
	}
	const want = "2 As 1, p. 2, of 3, here 3"
	for page, line := range map[int]string{1: want, 3: "in " + want} {
		if !slices.Contains(r.on(page), line) {
			t.Errorf("page %d: no %q in %q", page, line, r.on(page))
		}
	}
	if !slices.ContainsFunc(r.marks, func(m layout.Mark) bool { return m.Bookmark == want }) {
		t.Errorf("bookmarks %+v", r.marks)
	}
}

// TestReferencesThatNeverSettleEnd: a reference that pushes its own target to and fro ends with a
// warning, after a number of passes that is the same each time.
func TestReferencesThatNeverSettleEnd(t *testing.T) {
	d := tenLines()
	d.References = true
	passes := 0
	d.Body = func(yield func(doc.Node, error) bool) {
		passes++
		// The line breaks when the number has two digits, and then the target moves back.
		n := 5
		if passes%2 == 0 {
			n = 25
		}
		_ = yield(&doc.Text{Spans: []doc.Span{{Kind: doc.SpanReference, Text: "x"}}}, nil) &&
			yield(lines("a", n), nil) &&
			yield(&doc.Text{Block: doc.Block{Anchor: "x"}, Spans: spans("target")}, nil)
	}
	_, sum, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	if passes != 4 || len(sum.Warnings) != 1 || sum.Warnings[0].Code != "L316" {
		t.Errorf("%d passes, %v", passes, sum.Warnings)
	}
}

// TestHeaderOfASectionKnowsTheHeadingsBefore: also where none of the pages before shows one.
func TestHeaderOfASectionKnowsTheHeadingsBefore(t *testing.T) {
	shows := &doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Text: "in "}, {Kind: doc.SpanTitle}}}}}
	r := place(t, head(1, "Fees"), &doc.Section{Header: shows, Body: doc.Nodes(para("x"))})
	if l := r.find(t, "in Fees"); l.page != 2 {
		t.Errorf("it stands on page %d", l.page)
	}
}

// TestHeadersShowTheSection: the heading that begins on the page, else that of the pages before.
func TestHeadersShowTheSection(t *testing.T) {
	title := func(level uint8) doc.Span { return doc.Span{Kind: doc.SpanTitle, Level: level} }
	d := tenLines()
	d.Header = doc.Running{All: []doc.Node{&doc.Text{Spans: []doc.Span{{Text: "in "}, title(0), {Text: "/"}, title(2), {Text: "/"}, {Kind: doc.SpanPages}}}}}
	d.Body = doc.Nodes(
		para("x"), &doc.PageBreak{},
		head(1, "One"), head(2, "One A"), head(2, "One B"), &doc.PageBreak{},
		para("y"), &doc.PageBreak{},
		para("z"), head(1, "Two"), &doc.PageBreak{},
		para("end"),
	)
	r, _, err := run(t, d, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"in //5", "in One/One A/5", "in One/One B/5", "in Two//5", "in Two//5"} {
		if l := r.find(t, want); !slices.ContainsFunc(r.late, func(p placed) bool { return p.page == i+1 && p.text == want }) {
			t.Errorf("page %d: no %q, found %+v", i+1, want, l)
		}
	}
}
