package edit

import (
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/cos"
)

// label is a range of page labels (ISO 32000-2, 12.4.2).
type label struct {
	from   int64 // page, from 0
	style  cos.Name
	prefix cos.Object // nil: none
	text   string     // of prefix
	start  int64
}

// labelRanges are those of a document, in order; none: the pages have no labels.
type labelRanges []label

// labels reads the page labels.
func (e *Draft) labels() labelRanges {
	var out labelRanges
	for _, x := range e.numbers(e.catalog().Get("PageLabels")) {
		d := e.dict(x.value)
		if len(out) > 0 && x.key <= out[len(out)-1].from || x.key < 0 {
			continue
		}
		p := e.resolve(d.Get("P"))
		out = append(out, label{from: x.key, style: e.name(d.Get("S")), prefix: p, text: e.text(p), start: max(e.integer(d.Get("St"), 1), 1)})
	}
	return out
}

// at returns the range of one page, starting at it.
func (l labelRanges) at(page int) (label, bool) {
	for _, x := range slices.Backward(l) {
		if x.from <= int64(page) {
			x.start += int64(page) - x.from
			x.from = int64(page)
			return x, true
		}
	}
	return label{}, false
}

// of returns the label of a page, empty for none.
func (l labelRanges) of(page int) string {
	x, ok := l.at(page)
	if !ok {
		return ""
	}
	return x.text + Numeral(string(x.style), x.start)
}

// Numeral writes a number as page labels have it: D as 12, R as XII, r as xii, A as L, a as l; of
// another style it is empty.
func Numeral(style string, n int64) string {
	switch style {
	case "D":
		return strconv.FormatInt(n, 10)
	case "R", "r":
		return cased(roman(n), style == "R")
	case "A", "a":
		return cased(letters(n), style == "A")
	}
	return ""
}

func cased(s string, upper bool) string {
	if upper {
		return strings.ToUpper(s)
	}
	return s
}

func roman(n int64) string {
	if n < 1 || n > 4999 {
		return strconv.FormatInt(n, 10)
	}
	var b strings.Builder
	for _, x := range [...]struct {
		value int64
		text  string
	}{{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}} {
		for ; n >= x.value; n -= x.value {
			b.WriteString(x.text)
		}
	}
	return b.String()
}

// letters is a to z, then aa to zz and so on.
func letters(n int64) string {
	if n < 1 || n > 26*100 {
		return strconv.FormatInt(n, 10)
	}
	return strings.Repeat(string(rune('a'+(n-1)%26)), int((n-1)/26)+1)
}

// setLabels gives each page the label it had: from[i] is the range that begins at the page now at
// i, and whether it had one.
func (e *Draft) setLabels(from []label, had []bool) {
	var entries []numbered
	some := false
	for i, x := range from {
		if had[i] {
			some = true
		} else {
			x = label{style: "D", start: int64(i) + 1} // as a page without labels is called
		}
		if i > 0 {
			before := from[i-1]
			if !had[i-1] {
				before = label{style: "D", start: int64(i)}
			}
			if before.style == x.style && before.text == x.text && (x.style == "" || before.start+1 == x.start) {
				continue
			}
		}
		d := cos.Dict{}
		if x.style != "" {
			d = append(d, cos.E("S", x.style))
		}
		if x.prefix != nil {
			d = append(d, cos.E("P", x.prefix))
		}
		if x.start != 1 {
			d = append(d, cos.E("St", cos.Int(x.start)))
		}
		entries = append(entries, numbered{int64(i), d})
	}
	if !some {
		e.change("PageLabels", nil)
		return
	}
	e.change("PageLabels", e.numberTree(entries))
}
