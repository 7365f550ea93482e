//go:build !race

package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/standard"
)

func streamOf(dict string, data []byte) string {
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
}

// withFont is a file of one page that shows something in the font F of its resources; objects begin
// at number 5.
func withFont(f, show string, objects ...string) []byte {
	s := "%PDF-1.7\n"
	for i, o := range append([]string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F " + f + ">>>>>>",
		streamOf("", []byte("BT /F 9 Tf "+show+" Tj ET")),
	}, objects...) {
		s += fmt.Sprintf("%d 0 obj %s endobj\n", i+1, o)
	}
	return []byte(s + "trailer<</Root 1 0 R>>")
}

// fontFindings returns what check finds of the characters of fonts.
func fontFindings(t *testing.T, b []byte) (found []standard.Finding) {
	t.Helper()
	d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.Check(t.Context(), []standard.ID{standard.PDFA2b})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(f standard.Finding) bool { return f.Rule != "S053" })
}

// TestCheckFindsNothingWhereGlyphsAreNotKnown: what a code shows is told only where the way to its
// glyph is read as a whole; the same fonts with a way that is read have a finding.
func TestCheckFindsNothingWhereGlyphsAreNotKnown(t *testing.T) {
	t.Parallel()
	sans := sansFace(t)
	otf, err := os.ReadFile(filepath.Join("font", "testdata", "SampleText.otf"))
	if err != nil {
		t.Fatal(err)
	}
	sample, err := font.Parse(otf, diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	trueType, cff := streamOf("", sans.Data()), streamOf("/Subtype/CIDFontType0C", sample.Table("CFF "))
	// The widths are wrong for every glyph.
	composite := func(encoding, subtype, descriptor string, more ...string) []byte {
		return withFont("5 0 R", "<0041>", append([]string{
			"<</Type/Font/Subtype/Type0/BaseFont/Sample/Encoding " + encoding + "/DescendantFonts[6 0 R]>>",
			"<</Type/Font/Subtype/" + subtype + "/BaseFont/Sample/DW 77/FontDescriptor 7 0 R>>",
			"<</Type/FontDescriptor/FontName/Sample/Flags 4" + descriptor + ">>",
			trueType, cff,
		}, more...)...)
	}
	simple := func(subtype, encoding, descriptor string, more ...string) []byte {
		return withFont("5 0 R", "(A)", append([]string{
			"<</Type/Font/Subtype/" + subtype + "/BaseFont/Sample/FirstChar 65/LastChar 65/Widths[77]/Encoding " + encoding + "/FontDescriptor 7 0 R>>", "null",
			"<</Type/FontDescriptor/FontName/Sample/Flags 32" + descriptor + ">>",
			trueType, cff,
		}, more...)...)
	}
	const two, three = "/FontFile2 8 0 R", "/FontFile3 9 0 R"
	cmap := func(body string) string {
		return streamOf("/Type/CMap", []byte("1 begincodespacerange <0000><FFFF> endcodespacerange 1 begincidrange <0000><FFFF> 0 endcidrange "+body))
	}
	inline := "<</Type/Font/Subtype/TrueType/BaseFont/Sample/FirstChar 65/LastChar 65/Widths[77]/Encoding/WinAnsiEncoding/FontDescriptor<</Type/FontDescriptor/FontName/Sample/Flags 32/FontFile2 5 0 R>>>>"
	for _, x := range []struct {
		name  string
		body  []byte
		found bool
	}{
		{"Identity", composite("/Identity-H", "CIDFontType2", two), true},
		{"Identity of CFF", composite("/Identity-V", "CIDFontType0", three), true},
		{"a CMap of its own", composite("10 0 R", "CIDFontType2", two, cmap("")), true},
		{"one that is built on another", composite("10 0 R", "CIDFontType2", two, cmap("/Other usecmap")), false},
		{"one that says so in its dictionary", composite("10 0 R", "CIDFontType2", two, streamOf("/Type/CMap/UseCMap/Other", []byte("1 begincidchar <0041> 65 endcidchar"))), false},
		{"one that is built on one that is built on another", composite("10 0 R", "CIDFontType2", two, streamOf("/Type/CMap/UseCMap 11 0 R", []byte("1 begincidchar <0041> 65 endcidchar")), cmap("/Other usecmap")), false},
		{"one that is built on one that is there", composite("10 0 R", "CIDFontType2", two, streamOf("/Type/CMap/UseCMap 11 0 R", []byte("begincmap")), cmap("")), true},
		{"one that is built on one that is predefined", composite("10 0 R", "CIDFontType2", two, streamOf("/Type/CMap/UseCMap/GBK-EUC-H", []byte("1 begincidchar <0041> 65 endcidchar"))), true},
		{"one with what is not defined", composite("10 0 R", "CIDFontType2", two, cmap("1 beginnotdefrange <0000><0020> 1 endnotdefrange")), true},
		{"one of Japan", composite("/H", "CIDFontType2", two), true},
		{"another one", composite("/90ms-RKSJ-H", "CIDFontType2", two), true},
		{"one of Taiwan", composite("/CNS-EUC-H", "CIDFontType2", two), true},
		{"one of Unicode", composite("/UniJIS-UTF32-H", "CIDFontType2", two), false},
		{"one nobody knows", composite("/Nonsense", "CIDFontType2", two), false},
		{"none", composite("null", "CIDFontType2", two), false},
		{"two programs", composite("/Identity-H", "CIDFontType2", two+three), false},
		{"TrueType in a CIDFont of CFF", composite("/Identity-H", "CIDFontType0", two), false},
		{"CFF in a CIDFont of TrueType", composite("/Identity-H", "CIDFontType2", three), false},
		{"glyphs by a map", composite("/Identity-H", "CIDFontType2/CIDToGIDMap 10 0 R", two, streamOf("", bytes.Repeat([]byte{0, 36}, 100))), true},
		{"by one that cannot be decoded", composite("/Identity-H", "CIDFontType2/CIDToGIDMap 10 0 R", two, streamOf("/Filter/DCTDecode", []byte("x"))), false},
		{"simple", simple("TrueType", "/WinAnsiEncoding", two), true},
		{"simple CFF", simple("Type1", "/WinAnsiEncoding", three), true},
		{"glyphs by CIDs", simple("Type1", "/WinAnsiEncoding", "/FontFile3 10 0 R", streamOf("/Subtype/Type1C", keyedCFF(t))), false},
		{"in the resources", withFont(inline, "(A)", trueType), true},
	} {
		if found := fontFindings(t, x.body); len(found) > 0 != x.found {
			t.Errorf("%s: %v", x.name, found)
		}
	}
}

// keyedCFF is a program whose glyphs have CIDs.
func keyedCFF(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("font", "testdata", "SampleCJK.ttc"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := font.ParseFace(data, 1, diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f.Table("CFF ")
}

// TestFontsOfManyWidthsAreReadOnce: widths that an array has for the same CIDs again and again, and
// a font that stands in the resources and is chosen for each character.
func TestFontsOfManyWidthsAreReadOnce(t *testing.T) {
	t.Parallel()
	widths := strings.Repeat("500 ", 60_000)
	again := strings.Repeat("0 8 0 R ", 60_000)
	b := withFont("5 0 R", "<0041>", "<</Type/Font/Subtype/Type0/BaseFont/Sample/Encoding/Identity-H/DescendantFonts[6 0 R]>>",
		"<</Type/Font/Subtype/CIDFontType2/BaseFont/Sample/W["+again+"]/DW2[0 0]/FontDescriptor 7 0 R>>",
		"<</Type/FontDescriptor/FontName/Sample/Flags 4>>", "["+widths+"]")
	inline := "<</Type/Font/Subtype/TrueType/BaseFont/Sample/FirstChar 0/Widths[" + widths + "]>>"
	for name, b := range map[string][]byte{"an array of widths": b, "a font of the resources": withFont(inline, strings.Repeat("/F 9 Tf (A) Tj ", 100_000))} {
		start := time.Now()
		fontFindings(t, b)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

// TestWhatManyFontsShareIsBounded: widths, maps and programs that thousands of fonts share end in a
// limit, whoever reads them.
func TestWhatManyFontsShareIsBounded(t *testing.T) {
	t.Parallel()
	const fonts = 2000
	file := func(font, shared string) []byte {
		var names, show, objects strings.Builder
		for i := range fonts {
			fmt.Fprintf(&names, "/F%d %d 0 R", i, 6+2*i)
			fmt.Fprintf(&show, "/F%d 9 Tf <0041> Tj ", i)
			fmt.Fprintf(&objects, "%d 0 obj %s endobj\n", 6+2*i, strings.ReplaceAll(font, "OWN", fmt.Sprintf("%d 0 R", 7+2*i)))
			fmt.Fprintf(&objects, "%d 0 obj <</Type/Font/Subtype/CIDFontType2/BaseFont/Sample/W[0 5 0 R]/FontDescriptor<</FontName/Sample/Flags 4>>>> endobj\n", 7+2*i)
		}
		return []byte("%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n" +
			"3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<<" + names.String() + ">>>>>> endobj\n" +
			"4 0 obj " + streamOf("", []byte("BT "+show.String()+" ET")) + " endobj\n5 0 obj " + shared + " endobj\n" + objects.String() + "trailer<</Root 1 0 R>>")
	}
	widths := "[" + strings.Repeat("500 ", 20_000) + "]"
	cmap := streamOf("", []byte(strings.Repeat("1 beginbfchar <0041> <0042> endbfchar\n", 2000)))
	simple := "<</Type/Font/Subtype/TrueType/BaseFont/Sample/FirstChar 0/Widths 5 0 R>>"
	composite := "<</Type/Font/Subtype/Type0/BaseFont/Sample/Encoding/Identity-H/DescendantFonts[OWN]"
	for name, b := range map[string][]byte{
		"widths of CIDs": file(composite+">>", widths),
		"widths":         file(simple, widths),
		"ToUnicode":      file(composite+"/ToUnicode 5 0 R>>", cmap),
		"a CMap":         file(strings.Replace(composite, "/Identity-H", " 5 0 R", 1)+">>", cmap),
		"differences":    file("<</Type/Font/Subtype/Type1/BaseFont/Sample/Encoding<</Differences 5 0 R>>>>", "["+strings.Repeat("/A ", 20_000)+"]"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, do := range map[string]func(*edit.Document) error{
				"check": func(d *edit.Document) error {
					_, err := d.Check(t.Context(), []standard.ID{standard.PDFA2b})
					return err
				},
				"text": func(d *edit.Document) error {
					_, err := d.Text(t.Context(), edit.TextOptions{})
					return err
				},
				"redact": func(d *edit.Document) error {
					_, err := edit.NewDraft(d).Redact(t.Context(), edit.RedactOptions{Text: "secret"})
					return err
				},
			} {
				if what != "check" && name != "widths of CIDs" {
					continue // they read fonts as check does
				}
				d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := do(d); !errors.Is(err, diag.ErrLimit) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestCheckFindsWhatASpoiltFormBreaks: a sound form with one thing changed, by each standard that
// has a rule of it; and fonts and headings.
func TestCheckFindsWhatASpoiltFormBreaks(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	// of changes the dictionaries that f picks.
	of := func(f func(cos.Dict) bool, key cos.Name, v cos.Object) func(cos.Ref, cos.Dict) cos.Dict {
		return func(_ cos.Ref, d cos.Dict) cos.Dict {
			if !f(d) {
				return d
			}
			return append(slices.DeleteFunc(slices.Clone(d), func(x cos.Entry) bool { return x.Key == key }), cos.E(key, v))
		}
	}
	has := func(key cos.Name, is cos.Object) func(cos.Dict) bool {
		return func(d cos.Dict) bool { return d.Get(key) == is }
	}
	widget, element := has("Subtype", cos.Name("Widget")), has("S", cos.Name("Form"))
	for _, ids := range [][]standard.ID{{standard.PDFA2b, standard.PDFUA1}, compliant} {
		body, _ := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen}, everyField)
		sound, err := edit.Open(bytes.NewReader(body), int64(len(body)), edit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			spoil func(cos.Ref, cos.Dict) cos.Dict
			rules [2]string // of 1.7 and of 2.0
		}{
			"no appearance":      {of(widget, "AP", nil), [2]string{"S044 ISO 19005-2, 6.3.3", "S044 ISO 19005-4, 6.3.3"}},
			"two appearances":    {of(widget, "AP", cos.Dict{cos.E("N", cos.Ref{Num: 1}), cos.E("D", cos.Ref{Num: 1})}), [2]string{"S044 ISO 19005-2, 6.3.3", "S044 ISO 19005-4, 6.3.3"}},
			"states of a text":   {of(has("FT", cos.Name("Tx")), "AP", cos.Dict{cos.E("N", cos.Dict{})}), [2]string{"S044 ISO 19005-2, 6.3.3", "S044 ISO 19005-4, 6.3.3"}},
			"an action":          {of(widget, "A", cos.Dict{cos.E("S", cos.Name("URI"))}), [2]string{"S044 ISO 19005-2, 6.4.1", "S044 ISO 19005-4, 6.4.1"}},
			"other element":      {of(element, "S", cos.Name("P")), [2]string{"S044 ISO 14289-1, 7.18.4", "S044 ISO 14289-2, 8.10.1"}},
			"two in an element":  {of(element, "K", cos.Array{cos.Dict{cos.E("Type", cos.Name("OBJR")), cos.E("Obj", cos.Ref{Num: 1})}, cos.Dict{cos.E("Type", cos.Name("OBJR")), cos.E("Obj", cos.Ref{Num: 2})}}), [2]string{"S041 ISO 14289-1, 7.18.4", "S041 ISO 14289-2, 8.10.1"}},
			"no label":           {of(func(d cos.Dict) bool { return d.Get("TU") != nil }, "TU", nil), [2]string{"S044 ISO 14289-1, 7.18.1", ""}},
			"no contents":        {of(widget, "Contents", nil), [2]string{"", "S044 ISO 14289-2, 8.10.2.3"}},
			"made by programs":   {of(func(d cos.Dict) bool { return d.Get("Fields") != nil }, "NeedAppearances", cos.Bool(true)), [2]string{"S045 ISO 19005-2, 6.4.1", "S045 ISO 19005-4, 6.4.1"}},
			"level of a heading": {of(has("S", cos.Name("H1")), "S", cos.Name("H3")), [2]string{"S020 ISO 14289-1, 7.4.2", ""}},
			"no level":           {of(has("S", cos.Name("H1")), "S", cos.Name("H")), [2]string{"", "S020 ISO 14289-2, 8.2.5.12"}},
			"no glyph map":       {of(has("Subtype", cos.Name("CIDFontType2")), "CIDToGIDMap", nil), [2]string{"S051 ISO 19005-2, 6.2.11.3.2", "S051 ISO 19005-4, 6.2.10.3.2"}},
		} {
			want := c.rules[0]
			if ids[0] == standard.PDFA4 {
				want = c.rules[1]
			}
			var out bytes.Buffer
			copyFile(t, sound, &out, c.spoil)
			d, err := edit.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), edit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found, err := d.Check(t.Context(), ids)
			var all []string
			for _, f := range found {
				all = append(all, f.Rule+" "+f.Clause)
			}
			if err != nil || want != "" && !slices.Contains(all, want) {
				t.Errorf("%v, %s: want %s: %q, %v", ids, name, want, all, err)
			}
		}
	}
}
