package layout

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/doc"
)

// Numbers of pages in the body are known when the body has been laid out, and laying it out needs
// them. So it is laid out until they settle, without a sink, each time with the numbers of the
// time before, and then for good. A table of contents of a hundred headings settles in three
// passes: one finds the headings, one the pages that they stand on behind the table, one that
// nothing moves any more. What never settles, such as a number that is wider on the page it moves
// its own line to, ends after mostDry passes with a warning.

// mostDry is the most passes before the last.
const mostDry = 3

// findings is what a pass learns about the pages.
type findings struct {
	pages map[string]string // what the pages of anchors show
	heads []foundHead
	// numbers are those of headings with an anchor of their own.
	numbers map[string]string
	notes   []int // the numbers that footnotes have on their pages
	total   int
}

// foundHead is a heading in the document.
type foundHead struct {
	level        int
	title, label string
	anchor       string
}

func newFindings() *findings {
	return &findings{pages: map[string]string{}, numbers: map[string]string{}}
}

func (f *findings) equal(g *findings) bool {
	return f.total == g.total && slices.Equal(f.heads, g.heads) && slices.Equal(f.notes, g.notes) &&
		maps.Equal(f.pages, g.pages) && maps.Equal(f.numbers, g.numbers)
}

// dryPasses lays the document out until what it refers to settles.
func dryPasses(ctx context.Context, d *doc.Document, o Options) (known *findings, err error) {
	for range mostDry {
		found := newFindings()
		if _, err := pass(ctx, d, o, Nowhere{}, known, found); err != nil {
			return nil, err
		}
		if known != nil && known.equal(found) {
			break
		}
		known = found
	}
	return known, nil
}

// Nowhere is the Sink of a layout whose pages nobody needs.
type Nowhere struct{}

// Page implements Sink.
func (Nowhere) Page(*Page) error { return nil }

// Late implements Sink.
func (Nowhere) Late(*Page) error { return nil }

// hidden is an anchor that no document can name.
func hidden(what string, n int) string { return "\x00" + what + strconv.Itoa(n) }

// ofPages returns the text of a span that depends on pages.
func (m *maker) ofPages(b *para, s *doc.Span, src *doc.Source) (string, error) {
	anchor := s.Text
	switch s.Kind {
	case doc.SpanTitle:
		return m.titles.of(max(int(s.Level), 1)), nil
	case doc.SpanPage:
		if m.page != "" || !m.inBody() {
			return m.page, nil
		}
		if b.place == "" && m.found != nil {
			m.places++
			b.place = hidden("place", m.places)
		}
		anchor = b.place
	case doc.SpanPages:
		if m.total != "" || !m.inBody() {
			return m.total, nil
		}
	}
	switch {
	case m.found == nil:
		return "", failed(at(src, "L316", "a number of a page or heading in a document that does not say References"))
	case m.known == nil:
		return "00", nil // about as wide
	case s.Kind == doc.SpanPages:
		return strconv.Itoa(m.known.total), nil
	}
	label, ok := m.known.pages[anchor]
	what := "no anchor %q in the document"
	if ok && s.Kind == doc.SpanNumber {
		label, ok = m.known.numbers[anchor]
		what = "no heading with a number has the anchor %q"
	}
	if !ok && anchor != b.place {
		d := at(src, "L308", what, anchor)
		if s.From.Frame != nil {
			d.DataPath = s.From.Frame.DataPath(s.From.Part, anchor, anchor)
		}
		return "", failed(d)
	}
	return label, nil
}

// reserved lays out a table of contents on pages that are kept for it: what follows does not move
// with the number of its entries.
func (f *flow) reserved(n *doc.Toc) error {
	if err := f.breakPage(n.BreakBefore); err != nil {
		return err
	}
	if f.broken {
		if err := f.begun(); err != nil {
			return err
		}
	}
	first := f.number
	e, err := f.m.entry(n, f.inner())
	if err == nil {
		err = f.add(e)
	}
	if err == nil {
		err = f.flush()
	}
	if err != nil {
		return err
	}
	if used := f.number - first + 1; used > n.Reserve {
		return failed(at(n.Src, "L319", "the table of contents takes %d pages, %d are reserved", used, n.Reserve))
	}
	for f.number-first+1 < n.Reserve {
		if err := f.next(); err != nil {
			return err
		}
	}
	f.blank, f.broken = false, true
	return nil
}

// titles are the headings that a page is beneath, by level.
type titles [10]string

// sampleTitles are as high as titles of one line.
var sampleTitles = titles{"X", "X", "X", "X", "X", "X", "X", "X", "X", "X"}

func (t *titles) of(level int) string {
	if t == nil {
		return ""
	}
	return t[level]
}

// title is the text of a heading, which was laid out as of.
func (m *maker) title(h *doc.Heading, of block) string {
	if len(h.Spans) == 1 && h.Spans[0].Kind == doc.SpanText {
		return h.Spans[0].Text
	}
	var b strings.Builder
	for i := range h.Spans {
		switch s := &h.Spans[i]; s.Kind {
		case doc.SpanText:
			b.WriteString(s.Text)
		case doc.SpanPage, doc.SpanPages, doc.SpanReference, doc.SpanNumber:
			if p, ok := of.(*para); ok {
				shown, _ := m.ofPages(p, s, h.Src) // an error was told of the heading
				b.WriteString(shown)
			}
		}
	}
	return b.String()
}

// note takes down what stands on the page that closes: its anchors and headings.
func (f *flow) note() {
	m := f.m
	label := ""
	if m.found != nil {
		label = numeral(f.label, f.numbering)
	}
	shown := f.heads // the first heading of each level that begins here, else that of the page before
	var begun [len(shown)]bool
	for i := range f.page.Marks {
		mk := &f.page.Marks[i]
		if m.found != nil && mk.Anchor != "" {
			m.found.pages[mk.Anchor] = label
		}
		if mk.Title == "" {
			continue
		}
		level := min(mk.TitleLevel, len(shown)-1)
		if m.found != nil {
			m.found.heads = append(m.found.heads, foundHead{mk.TitleLevel, mk.Title, label, mk.Anchor})
		}
		if !begun[level] {
			begun[level], shown[level] = true, mk.Title
		}
		f.heads[level] = mk.Title
		for k := level + 1; k < len(shown); k++ {
			if f.heads[k] = ""; !begun[k] {
				shown[k] = ""
			}
		}
	}
	if m.titled && (m.titles == nil || *m.titles != shown) { // pages under the same headings share them
		own := shown
		m.titles = &own
	}
}
