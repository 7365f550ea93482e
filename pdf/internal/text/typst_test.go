package text_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// TestParagraphsAreAsEvenAsThoseOfTypst holds 200 paragraphs against the lines that Typst 0.15.2
// breaks them into (par.linebreaks "optimized", justified, no hyphenation, Liberation Sans of 10
// pt): testdata/typst-paragraphs.txt has the width in points and the lines.
func TestParagraphsAreAsEvenAsThoseOfTypst(t *testing.T) {
	file, err := os.ReadFile("testdata/typst-paragraphs.txt")
	if err != nil {
		t.Fatal(err)
	}
	ts := typesetter(t, 1<<20)
	var ours, theirs float64
	same, n := 0, 0
	for row := range strings.Lines(string(file)) {
		fields := strings.Split(strings.TrimSpace(row), "|")
		points, err := strconv.Atoi(fields[0])
		if err != nil {
			t.Fatal(err)
		}
		width, lines := doc.Length(points)*doc.Pt, fields[1:]
		got := texts(paragraph(t, ts, strings.Join(lines, " "), "", width, text.Options{Align: doc.AlignJustify, Total: true}))
		a, aWorst := stretch(t, ts, got, width)
		b, bWorst := stretch(t, ts, lines, width)
		ours, theirs = ours+a, theirs+b
		if strings.Join(got, "|") == strings.Join(lines, "|") {
			same++
		}
		// The tolerance of TeX: a badness of 200, spaces wider by 0.63 of themselves.
		if aWorst > 0.63 && bWorst <= 0.63 {
			t.Errorf("width %d: a line is loose by %.2f where Typst's loosest is %.2f:\n%q\n%q", points, aWorst, bWorst, got, lines)
		}
		n++
	}
	if ours > theirs {
		t.Errorf("the squared stretch of all spaces is %.0f, of Typst's %.0f", ours, theirs)
	}
	t.Logf("%d paragraphs, %d broken alike; squared stretch %.1f, of Typst's %.1f", n, same, ours, theirs)
}

// stretch is the sum of squared stretches of the spaces of all lines but the last, in shares of
// a space, and the loosest line's.
func stretch(t *testing.T, ts *text.Typesetter, lines []string, width doc.Length) (sum, worst float64) {
	t.Helper()
	space := float64(widthOf(t, ts, " "))
	for _, l := range lines[:len(lines)-1] {
		gaps := float64(strings.Count(l, " "))
		if gaps == 0 {
			continue
		}
		r := float64(width-widthOf(t, ts, l)) / gaps / space
		sum += gaps * r * r
		worst = max(worst, r)
	}
	return sum, worst
}
