package layout

import "example.com/quire/pdf/doc"

// numbers are those of the last headings, by level.
type numbers [10]struct {
	count int
	way   doc.Numbering
	text  string // empty: it has none
}

// withNumber returns the heading with its number as the beginning of its text. One without a number
// is returned as it is. Running content and what is repeated from the body count nothing.
func (m *maker) withNumber(h *doc.Heading) *doc.Heading {
	if m.art != ArtifactNone && (m.art != ArtifactRepeat || !m.headAgain) {
		return h
	}
	level := headingLevel(h)
	clear(m.numbers[level+1:])
	own := &m.numbers[level]
	if h.Numbered == doc.NumberedOff || h.Numbered == doc.NumberedAuto && level > m.numbered {
		own.text = ""
		return h
	}
	switch {
	case h.NumberFrom > 0:
		own.count = h.NumberFrom
	case own.way != h.Numbering:
		own.count = 1
	default:
		own.count++
	}
	own.way, own.text = h.Numbering, numeral(own.count, h.Numbering)
	for above := level - 1; above > 0; above-- {
		if of := m.numbers[above].text; of != "" {
			own.text = of + "." + own.text
			break
		}
	}
	out := *h
	out.Spans = append([]doc.Span{{Text: own.text + " "}}, h.Spans...)
	return &out
}

// headingLevel is the level of a heading, within those that are counted.
func headingLevel(h *doc.Heading) int { return min(max(h.Level, 1), len(numbers{})-1) }
