package content

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"example.com/quire/pdf/internal/text/bidi"
)

// shownAs returns text as it stands by UAX #9, from left to right; mirror gives brackets the
// characters that are seen.
func shownAs(text string, base bidi.Base, mirror bool) string {
	var p bidi.Paragraph
	levels := p.Levels(text, base)
	var runes []rune
	var of []bidi.Level // of each rune
	for at, r := range text {
		runes, of = append(runes, r), append(of, levels[at])
	}
	var b strings.Builder
	for _, i := range bidi.Order(nil, of) {
		if s := string(runes[i]); mirror && of[i].RTL() {
			b.WriteString(mirrored(s))
		} else {
			b.WriteString(s)
		}
	}
	return b.String()
}

// everyCharacter is a CMap of codes that are the characters that they stand for.
const everyCharacter = `begincmap 1 begincodespacerange <0000><FFFF> endcodespacerange 1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap`

// drawn is content that draws characters from left to right.
func drawn(text string) string {
	var b strings.Builder
	b.WriteString("BT /C 10 Tf <")
	for _, c := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, "%04X", c)
	}
	return b.String() + "> Tj ET"
}

// TestTextIsReadInItsOrder: what UAX #9 shows of a text is read as that text.
func TestTextIsReadInItsOrder(t *testing.T) {
	f, resources := fonts(everyCharacter)
	for _, want := range []string{
		"שלום עולם", "ב-2024", "קומה12", "(שלום)", "שלום (עולם)", "מחיר 12.50 ₪", "מחיר ₪750,000.00", "12 34 שקל", "הנחה של 50% היום", "טלפון 03-1234567",
		"שלום ABC def עולם", "שלום ABC (def) עולם", "קובץ report-2024.pdf נשלח", "Hello שלום עולם, and goodbye", "Hello שלום 12 עולם and more words",
		"Quote \"שלום (עולם)\" ends here", "[א] סעיף {ב}", "\u0645\u0631\u062D\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "التاريخ 2024-01-02 في",
		"في ٤ مايو ٢٠٢٦", "٢٠٢٦-٠٣١٧", "خصم 50% اليوم", "المادة 1.", "عملاء ACME Ltd. (مصر)", "No. ٢٠٢٦-٠٣ of all", "שלום: ABC, 12; דוד!", "No, 2.Jun 2026 at 12:30 :שלום", "Hello 12 שלום, a",
	} {
		base := bidi.LeftToRight
		if !strings.ContainsAny(want[:1], "HQN") {
			base = bidi.RightToLeft
		}
		seen := shownAs(want, base, true)
		if got := said(textOf(t, f, resources, drawn(seen))); got != want {
			t.Errorf("%q is seen as %q, read as %q", want, seen, got)
		}
		if got := said(textOf(t, f, resources, drawn(shownAs(want, base, false)))); strings.ContainsAny(want, "([") && got != want {
			t.Errorf("%q with brackets as they are meant is read as %q", want, got)
		}
	}
}

// TestReadTextIsSeenAsItStands: whatever words stand on a line, what is read of it would be seen
// so, where one direction has more words than the other, and but for four lines in a thousand.
func TestReadTextIsSeenAsItStands(t *testing.T) {
	f, resources := fonts(everyCharacter)
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same words each time
	wrong := 0
	all := []string{"שלום", "עולם", "ב-2024", "(דוד)", "כן,", "לא.", "שם:", "report", "ACME", "file.pdf", "12", "1,250.50", "50%", "₪7", "(see)", "«הנה»", "-"}
	for range 5000 {
		var words []string
		for n := 1 + r.IntN(7); n > 0; n-- {
			words = append(words, all[r.IntN(len(all))])
		}
		text := strings.Join(words, " ")
		by := 0
		for _, w := range words {
			if strings.ContainsAny(w, "abcdefghijklmnopqrstuvwxyzACME") {
				by--
			} else if strings.ContainsFunc(w, func(r rune) bool { return r >= 0x590 && r < 0x600 }) {
				by++
			}
		}
		for _, base := range []bidi.Base{bidi.LeftToRight, bidi.RightToLeft} {
			if by == 0 || by > 0 != (base == bidi.RightToLeft) {
				continue
			}
			seen := shownAs(text, base, true)
			got := said(textOf(t, f, resources, drawn(seen)))
			if again := [...]string{shownAs(got, bidi.LeftToRight, true), shownAs(got, bidi.RightToLeft, true)}; again[0] != seen && again[1] != seen {
				wrong++
				t.Logf("%q is seen as %q, read as %q, which is seen as %q", text, seen, got, again)
			}
		}
	}
	if wrong > 20 { // numbers beside brackets with Latin letters
		t.Errorf("%d lines are read as what would not be seen so", wrong)
	}
}

// FuzzLogical: whatever stands on a line, each of its characters is read once in either direction.
func FuzzLogical(f *testing.F) {
	for _, s := range []string{"שלום (ABC) 12-34% {א", "))((א", "\u0301א\u05B8 ab\u0301", "٤-٥ (٦) a", "א 1) ( b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var line []word
		n := 0
		for w := range strings.FieldsSeq(s) {
			var x word
			for _, r := range w {
				x.Parts = append(x.Parts, Part{Text: string(r)})
				n++
			}
			line = append(line, x)
		}
		read, other := logical(line, 0)
		for _, list := range [...][]word{read, other} {
			got := 0
			for _, w := range list {
				got += len(w.Parts)
			}
			if got != n && list != nil {
				t.Errorf("%q: %d characters of %d are read", s, got, n)
			}
		}
	})
}
