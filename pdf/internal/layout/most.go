package layout

import (
	"slices"
	"strings"
	"unicode"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// bounded is a paragraph of no more lines than it may have. One that has more is cut where it asks
// for an ellipsis: behind the last word that leaves room for it.
func (m *maker) bounded(spans []doc.Span, tabs []doc.Tab, most doc.Most, en env, el *tag.Elem, src *doc.Source) (block, error) {
	before := m.places
	b, err := m.paragraph(spans, tabs, en, el, src, "")
	if err != nil || most.Lines <= 0 || lines(b) <= most.Lines {
		return b, err
	}
	if !most.Ellipsis {
		d := at(src, "L320", "the text takes %d lines, max-lines is %d", lines(b), most.Lines)
		d.Suggestion = "shorten it, give it more room, or write overflow: ellipsis"
		if i := slices.IndexFunc(spans, func(s doc.Span) bool { return s.From.Frame != nil }); i >= 0 {
			from := &spans[i].From
			d.DataPath = from.Frame.DataPath(from.Part, spans[i].Text, spans[i].Text)
		}
		return b, failed(d)
	}
	if slices.ContainsFunc(spans, func(s doc.Span) bool { return s.Kind == doc.SpanNote }) {
		return b, failed(at(src, "L318", "a footnote in a text that may be cut"))
	}
	spans = m.withTitles(spans)
	var whole []rune // one for each span that is no text
	for i := range spans {
		if spans[i].Kind == doc.SpanText {
			whole = append(whole, []rune(spans[i].Text)...)
		} else {
			whole = append(whole, unicode.ReplacementChar)
		}
	}
	set := func(n int) (block, bool, error) {
		m.places = before // no try is drawn but the last
		b, err := m.paragraph(cutSpans(spans, n), tabs, en, el, src, "")
		return b, err == nil && lines(b) <= most.Lines, err
	}
	low, high := 0, len(whole) // low fits, high does not
	for high-low > 1 {
		middle := (low + high) / 2
		_, ok, err := set(middle)
		if err != nil {
			return nil, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	for n := wordEnd(whole, low); ; n = wordEnd(whole, n-1) { // fewer words may be set in more lines, once in a while
		if b, ok, err := set(n); err != nil || ok || n == 0 {
			return b, err
		}
	}
}

// withTitles is spans with the headings that they show as texts, which may be cut.
func (m *maker) withTitles(spans []doc.Span) []doc.Span {
	out := slices.Clone(spans)
	for i := range out {
		if s := &out[i]; s.Kind == doc.SpanTitle {
			s.Kind, s.Text = doc.SpanText, m.titles.of(max(int(s.Level), 1))
		}
	}
	return out
}

// lines counts those of a paragraph.
func lines(b block) int { return len(b.(*para).lines) } //nolint:forcetypeassert // paragraph makes no other block

// wordEnd returns where the last word ends that text[:n] holds whole; n itself, but for marks of a
// letter that is cut off, when there is none in its second half.
func wordEnd(text []rune, n int) int {
	if n <= 0 {
		return 0
	}
	if n < len(text) && unicode.IsSpace(text[n]) {
		return n
	}
	for k := n; k > n/2; k-- {
		if unicode.IsSpace(text[k-1]) {
			return k - 1
		}
	}
	for n > 0 && (unicode.Is(unicode.M, text[n]) || text[n-1] == '\u200d' || text[n] == '\u200d') {
		n--
	}
	return n
}

// cutSpans is the first n characters of spans, and an ellipsis.
func cutSpans(spans []doc.Span, n int) []doc.Span {
	var out []doc.Span
	for i := range spans {
		s := spans[i]
		if s.Kind != doc.SpanText {
			if n--; n < 0 {
				break
			}
			out = append(out, s)
			continue
		}
		text := []rune(s.Text)
		s.Text = string(text[:min(n, len(text))])
		out = append(out, s)
		if n -= len(text); n <= 0 {
			break
		}
	}
	last := len(out) - 1
	if last < 0 || out[last].Kind != doc.SpanText {
		return append(out, doc.Span{Text: "…"})
	}
	out[last].Text = strings.TrimRightFunc(out[last].Text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;:–—-(", r)
	}) + "…"
	return out
}
