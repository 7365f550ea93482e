package text_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// TestFiguresStayWhole: each half of a torn amount would read as
// another amount; a word that is too long is another matter.
func TestFiguresStayWhole(t *testing.T) {
	for _, cache := range []int64{1 << 20, 0} {
		figuresStayWhole(t, typesetter(t, cache))
	}
}

func figuresStayWhole(t *testing.T, ts *text.Typesetter) {
	t.Helper()
	plain, tabular := chain(t, ts, text.Query{}), chain(t, ts, text.Query{TabularFigures: true})
	one := func(s string) []text.Piece { return []text.Piece{{Text: s, Chain: plain, Size: 10 * doc.Pt}} }
	fig := func(s string) []text.Piece {
		return []text.Piece{{Text: s, Chain: plain, Size: 10 * doc.Pt, Figure: true}}
	}
	tab := func(s string) []text.Piece { return []text.Piece{{Text: s, Chain: tabular, Size: 10 * doc.Pt}} }
	marked := func(before, figure, after string) []text.Piece {
		p := append(one(before), one(figure)...)
		p[1].Figure = true
		return append(p, one(after)...)
	}
	for name, c := range map[string]struct {
		in    []text.Piece
		width doc.Length // in points
		want  string     // the lines; "!" and a figure: it does not fit
	}{
		"amount":                    {fig("€1,234,567.89"), 60, "!€1,234,567.89"},
		"amount that fits":          {fig("€1,234,567.89"), 70, "€1,234,567.89"},
		"amount in lakhs":           {fig("₹1,25,00,000"), 50, "!₹1,25,00,000"},
		"amount in French":          {fig("130\u202f246\u202f911\u202f500,90\u00a0€"), 80, "!130\u202f246\u202f911\u202f500,90\u00a0€"},
		"amount in Danish":          {fig("1.234.567,89\u00a0kr."), 60, "!1.234.567,89\u00a0kr."},
		"amount with a code":        {fig("CHF\u00a01,234,567"), 60, "!CHF\u00a01,234,567"},
		"code and sign":             {fig("EUR\u00a0-1,234,567"), 60, "!EUR\u00a0-1,234,567"},
		"sign and currency":         {marked("of ", "-£1,234", ""), 35, "of|-£1,234"},
		"minus and currency":        {marked("of ", "\u2212€1,234", ""), 38, "of|\u2212€1,234"},
		"sign alone":                {marked("of ", "\u22121,234", ""), 31, "of|\u22121,234"},
		"brackets":                  {fig("(1,234,567)"), 40, "!(1,234,567)"},
		"per cent":                  {fig("1234567,5\u00a0%"), 40, "!1234567,5\u00a0%"},
		"date":                      {fig("2026-01-31"), 40, "!2026-01-31"},
		"time":                      {fig("06:30:15\u202fPM"), 30, "!06:30:15\u202fPM"},
		"number of digits alone":    {fig("1100000048213"), 50, "!1100000048213"},
		"with its unit":             {fig("1234567.89kg"), 50, "!1234567.89kg"},
		"unit further on":           {marked("", "123456\u00a0ex.", " of it"), 40, "!123456\u00a0ex."},
		"label before":              {marked("Total:", "1234567", ""), 45, "Total:|1234567"},
		"label before, too narrow":  {marked("Total:", "1234567", ""), 35, "!1234567"},
		"word tied to it":           {marked("Bezirkshauptort\u00a0", "12", ""), 40, "Bezirksh|auptort\u00a0|12"},
		"ends a sentence":           {marked("it is ", "1234567", "."), 42, "it is|1234567."},
		"sign of another piece":     {marked("of -", "1234567", ""), 30, "!-1234567"},
		"marks of another piece":    {marked("(€", "1234567", "%), x"), 42, "!(€1234567%),"},
		"hyphen before a figure":    {marked("abc-", "1234567", ""), 40, "abc-|1234567"},
		"text in tabular figures":   {tab("MB/2026/018842"), 50, "MB/|2026/0188|42"},
		"word in tabular figures":   {tab("Bezirkshauptort"), 40, "Bezirksh|auptort"},
		"marked":                    {marked("USD", "1234567.89", ""), 60, "USD|1234567.89"},
		"marked, too narrow":        {marked("USD", "1234567.89", "Z"), 40, "!1234567.89"},
		"marked keeps its own sign": {marked("", "-€12.00-", "x"), 30, "!-€12.00-"},
		"marked at its spaces":      {marked("", "31 January 2026", ""), 40, "31|January|2026"},
		"marked without a digit":    {marked("", "unbezahlbar", ""), 40, "unbezah|lbar"},

		"string of digits":                 {one("1100000048213"), 50, "110000004|8213"},
		"string that looks like an amount": {one("€1,234,567.89"), 60, "€1,234,567.8|9"},
		"hash":                             {one("9f86d081884c7d659a2feaa0"), 40, "9f86d08|1884c7d|659a2fe|aa0"},
		"address":                          {one("host/orders/110000004821399"), 50, "host/|orders/|110000004|821399"},
		"name":                             {one("ABC-1234567890"), 40, "ABC-12|3456789|0"},
		"universal id":                     {one("55008400-e29b-41d4-a716-446655440000"), 40, "5500840|0-|e29b-41|d4-|a716-44|6655440|000"},
		"account":                          {one("FR7630004028379876"), 40, "FR7630|0040283|79876"},
		"moment":                           {one("2026-01-31T18:30:00Z"), 40, "2026-01|-31T18:|30:00Z"},
		"word":                             {one("Bezirkshauptort"), 40, "Bezirksh|auptort"},
		"address with query":               {one("x.example/?id=123456789"), 50, "x.example/|?|id=123456|789"},
	} {
		t.Run(name, func(t *testing.T) {
			lines, err := text.NewSetter(t.Context(), ts).Set(c.in, c.width*doc.Pt, doc.AlignLeft)
			if want, fails := strings.CutPrefix(c.want, "!"); fails {
				e, ok := errors.AsType[*text.FigureError](err)
				if !ok || e.Text != want || e.Need <= e.Width || e.Width != c.width*doc.Pt || !strings.Contains(e.Error(), " pt wide") {
					t.Fatalf("lines %q, error %v", texts(lines), err)
				}
				// What it says it needs is what it needs.
				if again, err := text.NewSetter(t.Context(), ts).Set(c.in, e.Need, doc.AlignLeft); err != nil {
					t.Errorf("at %d: %q, %v", e.Need, texts(again), err)
				}
				return
			}
			if got := strings.Join(texts(lines), "|"); err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestFiguresBesideAnIndent need the room of both.
func TestFiguresBesideAnIndent(t *testing.T) {
	ts := typesetter(t, 1<<20)
	one := []text.Piece{{Text: "1,234.50", Chain: chain(t, ts, text.Query{}), Size: 10 * doc.Pt, Figure: true}}
	set := func(width doc.Length) error {
		_, err := text.NewSetter(t.Context(), ts).SetParagraph(one, width, text.Options{Indent: 20 * doc.Pt})
		return err
	}
	e, ok := errors.AsType[*text.FigureError](set(50 * doc.Pt))
	if !ok || e.Need <= 50*doc.Pt {
		t.Fatalf("%v", e)
	}
	if err := set(e.Need); err != nil {
		t.Errorf("in the width that it needs: %v", err)
	}
}

// TestFiguresAtAnyWidth: whatever stands around it and however wide the line is,
// a figure is on one line or is an error, and no text is lost.
func TestFiguresAtAnyWidth(t *testing.T) {
	ts := typesetter(t, 1<<20)
	c := chain(t, ts, text.Query{})
	s := text.NewSetter(t.Context(), ts)
	rapid.Check(t, func(rt *rapid.T) {
		amount := rapid.StringMatching(`(-|€|-€|\()?[1-9][0-9]{0,2}(,[0-9]{3}){0,3}(\.[0-9]{2})?(\x{a0}€|%| kg)?`).Draw(rt, "amount")
		pieces := []text.Piece{
			{Text: rapid.StringMatching(`[a-zäß /.(:-]{0,20}`).Draw(rt, "before"), Chain: c, Size: 10 * doc.Pt},
			{Text: amount, Chain: c, Size: 10 * doc.Pt, Figure: true},
			{Text: rapid.StringMatching(`( [a-z ]{0,20})?`).Draw(rt, "after"), Chain: c, Size: 10 * doc.Pt},
		}
		lines, err := s.Set(pieces, doc.Length(rapid.IntRange(15, 120).Draw(rt, "width"))*doc.Pt, doc.AlignLeft)
		if _, wide := errors.AsType[*text.FigureError](err); wide {
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		number, _, _ := strings.Cut(amount, " ")
		whole, all := false, ""
		for i := range lines {
			whole = whole || strings.Contains(lineText(&lines[i]), number)
			all += lineText(&lines[i])
		}
		if !whole {
			rt.Errorf("%q is torn: %q", number, texts(lines))
		}
		if got, want := strings.ReplaceAll(all, " ", ""), strings.ReplaceAll(pieces[0].Text+amount+pieces[2].Text, " ", ""); got != want {
			rt.Errorf("got %q, want %q", got, want)
		}
	})
}
