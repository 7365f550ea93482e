package text_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/text"
)

// TestLettersAreSpaced: each letter of a spaced piece takes its spacing, marks take none, and a
// line holds fewer of them.
func TestLettersAreSpaced(t *testing.T) {
	ts := typesetter(t, 1<<20)
	set := text.NewSetter(t.Context(), ts)
	defer set.Close()
	width := func(s string, spacing doc.Length) doc.Length {
		t.Helper()
		p := piece(t, ts, s)
		p[0].Spacing = spacing
		lines, err := set.Set(p, text.Unlimited, doc.AlignLeft)
		if err != nil {
			t.Fatal(err)
		}
		return lines[0].Width
	}
	for s, letters := range map[string]doc.Length{"HIH": 3, "a b": 3, "o\u0323y": 2, "": 0} {
		if s == "" {
			continue
		}
		if got := width(s, 2*doc.Pt) - width(s, 0); got != letters*2*doc.Pt {
			t.Errorf("%q is wider by %d of %d", s, got, letters*2*doc.Pt)
		}
	}
	p := piece(t, ts, "Donaudampfschiff")
	p[0].Spacing = 4 * doc.Pt
	lines, err := set.Set(p, 60*doc.Pt, doc.AlignLeft)
	if err != nil || strings.Join(texts(lines), "") != "Donaudampfschiff" {
		t.Errorf("%q, %v", texts(lines), err)
	}
	for i := range lines {
		if lines[i].Width > 60*doc.Pt {
			t.Errorf("line %d is %d wide", i, lines[i].Width)
		}
	}
}

// TestSmallCapitalsSayWhatIsWritten: the glyphs are those of capitals, the text is the writer's,
// whatever the lengths of both in bytes.
func TestSmallCapitalsSayWhatIsWritten(t *testing.T) {
	ts := typesetter(t, 1<<20)
	set := text.NewSetter(t.Context(), ts)
	defer set.Close()
	for _, s := range []string{"abc", "ärger", "ıſß", "e\u0301x", "ɐy"} {
		p := piece(t, ts, s)
		p[0].SmallCaps = true
		lines, err := set.Set(p, text.Unlimited, doc.AlignLeft)
		if err != nil {
			t.Fatal(s, err)
		}
		if got := lineText(&lines[0]); got != s {
			t.Errorf("%q says %q", s, got)
		}
		for _, it := range lines[0].Items {
			for _, g := range it.Part.Glyphs {
				if int(g.Cluster) >= len(it.Part.Text) {
					t.Errorf("%q: a glyph of byte %d of %q", s, g.Cluster, it.Part.Text)
				}
			}
		}
	}
	for _, c := range []struct{ lang, small, large string }{
		{"en", "abc", "ABC"}, {"de", "straße", "STRASSE"}, {"tr", "iki", "İKİ"}, {"en", "iki", "IKI"},
	} {
		p := piece(t, ts, c.small)
		p[0].SmallCaps, p[0].Lang = true, c.lang
		small, err := set.Set(p, text.Unlimited, doc.AlignLeft)
		if err != nil {
			t.Fatal(err)
		}
		large, err := set.Set(piece(t, ts, c.large), text.Unlimited, doc.AlignLeft)
		if err != nil || small[0].Width != large[0].Width {
			t.Errorf("%s: small capitals of %q are %d wide, %q is %d: %v", c.lang, c.small, small[0].Width, c.large, large[0].Width, err)
		}
	}
}

// TestObjectsStandInTheLine: a thing takes its width, a line may end before and behind it, and one
// that is wider than the line is an error.
func TestObjectsStandInTheLine(t *testing.T) {
	ts := typesetter(t, 1<<20)
	set := text.NewSetter(t.Context(), ts)
	defer set.Close()
	c := chain(t, ts, text.Query{})
	pieces := func(w doc.Length) []text.Piece {
		return []text.Piece{
			{Text: "before ", Chain: c, Size: 10 * doc.Pt},
			{Text: "\uFFFC", Chain: c, Size: 10 * doc.Pt, Object: w},
			{Text: ", after", Chain: c, Size: 10 * doc.Pt},
		}
	}
	for width, want := range map[doc.Length]string{200 * doc.Pt: "before \uFFFC, after", 60 * doc.Pt: "before|\uFFFC, after", 35 * doc.Pt: "before|\uFFFC,|after"} {
		lines, err := set.Set(pieces(30*doc.Pt), width, doc.AlignLeft)
		if got := strings.Join(texts(lines), "|"); err != nil || got != want {
			t.Errorf("in %d pt: %q, %v", width/doc.Pt, got, err)
		}
	}
	_, err := set.Set(pieces(80*doc.Pt), 60*doc.Pt, doc.AlignLeft)
	if e, ok := errors.AsType[*text.NarrowError](err); !ok || e.Need != 80*doc.Pt {
		t.Errorf("too wide a thing: %v", err)
	}
	for indent, of := range map[doc.Length][]text.Piece{
		20 * doc.Pt:  pieces(50 * doc.Pt)[1:], // on the first line
		-20 * doc.Pt: pieces(50 * doc.Pt),     // on the second
	} {
		_, err := set.SetParagraph(of, 60*doc.Pt, text.Options{Indent: indent})
		if e, ok := errors.AsType[*text.NarrowError](err); !ok || e.Need != 50*doc.Pt || e.Width != 40*doc.Pt {
			t.Errorf("a thing too wide for a line with an indent of %d: %v", indent, err)
		}
	}
	least, most, err := set.Measure(pieces(80 * doc.Pt))
	if err != nil || least < 80*doc.Pt || most < 110*doc.Pt {
		t.Errorf("least %d, most %d, %v", least, most, err)
	}
}
