//go:build !race

package operation_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// utf16Hex is a hexadecimal string of UTF-16.
func utf16Hex(s string) string {
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04X", c)
	}
	return b.String()
}

// ofCharacters is a page with content in a font whose codes are the characters that they stand for.
func ofCharacters(content string) []byte {
	stream := func(data string) string {
		return fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(data), data)
	}
	return raw(
		`<</Type/Catalog/Pages 2 0 R>>`,
		`<</Type/Pages/Kids[3 0 R]/Count 1>>`,
		`<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>`,
		stream(content),
		`<</Type/Font/Subtype/Type0/BaseFont/Own/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>`,
		`<</Type/Font/Subtype/CIDFontType2/BaseFont/Own/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/DW 600/FontDescriptor 8 0 R>>`,
		stream("/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Own def /CMapType 2 def 1 begincodespacerange <0000><FFFF> endcodespacerange 1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap end end"),
		`<</Type/FontDescriptor/FontName/Own/Flags 4/FontBBox[0 -200 1000 800]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>`,
	)
}

func reversed(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// TestTextFromRightToLeftIsFoundAndRedacted by what was written, in the order of writing, however
// the file has it: words as they stand or as they are read, letters in their forms, brackets as
// they are seen or as they are meant, and in ActualText. No reader finds it afterwards, either way
// round.
func TestTextFromRightToLeftIsFoundAndRedacted(t *testing.T) {
	e := engine(t)
	show := func(s string) string {
		return "BT /F 12 Tf 20 100 Td <" + utf16Hex(s) + "> Tj 0 -40 Td <" + utf16Hex("kept") + "> Tj ET"
	}
	own := func(text string) []byte {
		var b bytes.Buffer
		if _, err := e.Build(t.Context(), &b, pdf.RenderOptions{Standards: []standard.ID{standard.PDFA4, standard.PDFUA2}}, func(b *doc.Builder) error {
			b.Title("T").Lang("he").Text(text).Text("kept")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, x := range map[string]struct {
		needle string
		file   []byte
	}{
		"Hebrew":                        {"שלום עולם", ofCharacters(show("םלוע םולש"))},
		"digits in a word":              {"קומה12", ofCharacters(show("אל 12המוק ןכ"))},
		"a number with a prefix":        {"ב-2024", ofCharacters(show("היה 2024-ב הז"))},
		"numbers behind each other":     {"12 34 שקל", ofCharacters(show("לקש 34 12 הז"))},
		"Latin words":                   {"חברת ACME Ltd. היא", ofCharacters(show("איה .ACME Ltd תרבח"))},
		"brackets as they are seen":     {"(דוד) כאן", ofCharacters(show("ןאכ (דוד) הז"))},
		"brackets as they are meant":    {"(דוד) כאן", ofCharacters(show("ןאכ )דוד( הז"))},
		"one bracket, seen":             {"א) סעיף", ofCharacters(show("ףיעס (א"))},
		"one bracket, meant":            {"א) סעיף", ofCharacters(show("ףיעס )א"))},
		"drawn as it is read":           {"כמות מחיר", ofCharacters(show("כמות מחיר"))},
		"letters in their forms":        {"مرحبا لا", ofCharacters(show("\uFEFB \uFE8E\uFE92\uFEA3\uFEAE\uFEE3"))},
		"Arabic numbers":                {"٤ مايو ٢٠٢٦", ofCharacters(show("٢٠٢٦ ويام ٤"))},
		"ActualText":                    {"שלום ב-2024", ofCharacters("/Span<</ActualText<FEFF" + utf16Hex("שלום ב-2024") + ">>>BDC " + show("xxxxxx") + " EMC")},
		"letters from the right, drawn": {"שלום", ofCharacters("BT /F 12 Tf 60 100 Td <" + utf16Hex("ש") + "> Tj -7.2 0 Td <" + utf16Hex("ל") + "> Tj -7.2 0 Td <" + utf16Hex("ו") + "> Tj -7.2 0 Td <" + utf16Hex("ם") + "> Tj ET")},
		"of this engine":                {"חשבונית (מס) ב-2024", own("הנה חשבונית (מס) ב-2024 של ACME")},
	} {
		matches, err := open(t, e, x.file, "").Search(t.Context(), pdf.SearchOptions{Text: x.needle})
		if err != nil || len(matches) != 1 {
			t.Errorf("%s: search: %v, %v", name, matches, err)
		}
		_, out, err := run(t, e, "redact", map[string]string{"text": x.needle}, x.file)
		if err != nil {
			t.Errorf("%s: redact: %v", name, err)
			continue
		}
		path := pdftest.Write(t, "out.pdf", out[0])
		for reader, text := range map[string]string{"poppler": pdftest.Text(t, path), "mupdf": pdftest.MuPDFText(t, path), "bytes": string(out[0])} {
			for word := range strings.FieldsSeq(x.needle) {
				if reader != "bytes" && strings.Contains(text, word) || len(word) > 2 && strings.Contains(text, reversed(word)) || strings.Contains(text, utf16Hex(word)) {
					t.Errorf("%s: %s still has %q", name, reader, word)
				}
			}
			if reader == "poppler" && strings.Contains(string(x.file), utf16Hex("kept")) && !strings.Contains(text, "kept") {
				t.Errorf("%s: other text went too: %q", name, text)
			}
		}
	}
}
