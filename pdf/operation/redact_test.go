//go:build !race

package operation_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// secretive has the word in every place where a file can hold it.
func secretive(word string) []byte {
	hex := fmt.Sprintf("FEFF%X", utf16be(word))
	page := "BT /F 12 Tf 20 150 Td (The ) Tj /Span<</MCID 0/ActualText(" + word + ")>>BDC [(" + word[:3] + ")-20(" + word[3:] + ")] TJ EMC ( word) Tj 0 -20 Td (kept) Tj ET /X Do\n" +
		"q 80 0 0 40 20 20 cm /I Do Q 44 148 m 60 160 l S"
	form := "BT /F 10 Tf 0 0 Td (in a form " + word + ") Tj ET"
	look := "BT /F 10 Tf 2 2 Td (" + word + ") Tj ET"
	image := strings.Repeat("\xff", 8*4)
	stream := func(dict, data string) string {
		return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
	}
	return raw(
		`<</Type/Catalog/Pages 2 0 R/Outlines 9 0 R/AcroForm<</Fields[8 0 R]>>/Names<</EmbeddedFiles<</Names[(a)15 0 R]>>/Dests<</Names[(`+word+`)[3 0 R/Fit]]>>/JavaScript<</Names[(j)<</S/JavaScript/JS(`+word+`)>>]>>>>/StructTreeRoot 12 0 R/MarkInfo<</Marked true>>/PieceInfo<</A<</B(`+word+`)>>>>>>`,
		`<</Type/Pages/Kids[3 0 R 14 0 R]/Count 2/MediaBox[0 0 300 200]/Resources<</Font<</F 11 0 R>>/XObject<</X 5 0 R/I 6 0 R>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R/Annots[7 0 R 8 0 R]/StructParents 0>>`,
		stream("", page),
		stream("/Type/XObject/Subtype/Form/BBox[0 0 300 200]/Matrix[1 0 0 1 20 100]/Resources<</Font<</F 11 0 R>>>>", form),
		stream("/Type/XObject/Subtype/Image/Width 8/Height 4/BitsPerComponent 8/ColorSpace/DeviceGray", image),
		`<</Type/Annot/Subtype/Text/Rect[250 20 270 40]/Contents<`+hex+`>>>`,
		`<</Type/Annot/Subtype/Widget/FT/Tx/T(field)/V(`+word+`)/DA(/F 10 Tf)/Rect[200 100 280 120]/AP<</N 16 0 R>>>>`,
		`<</First 10 0 R/Last 10 0 R/Count 1>>`,
		`<</Title(About `+word+`)/Parent 9 0 R/Dest(`+word+`)>>`,
		`<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`,
		`<</Type/StructTreeRoot/K 13 0 R/ParentTree<</Nums[0[13 0 R]]>>>>`,
		`<</S/P/P 12 0 R/Pg 3 0 R/Alt(say `+strings.ToLower(word)+`)/K 0>>`,
		`<</Type/Page/Parent 2 0 R>>`,
		`<</Type/Filespec/F(a)/EF<</F 17 0 R>>>>`,
		stream("/Type/XObject/Subtype/Form/BBox[0 0 80 20]/Resources<</Font<</F 11 0 R>>>>", look),
		stream("/Type/EmbeddedFile", word),
	)
}

func utf16be(s string) (b []byte) {
	for _, c := range []byte(s) {
		b = append(b, 0, c)
	}
	return b
}

// finders are the readers that find a word, in any encoding of strings.
func finders(t *testing.T, b []byte, word string) (list []string) {
	t.Helper()
	for name, text := range extracted(t, b) {
		low := strings.ToLower(text)
		if strings.Contains(low, strings.ToLower(word)) || strings.Contains(low, strings.ToLower(fmt.Sprintf("%X", word))) || strings.Contains(low, strings.ToLower(fmt.Sprintf("%X", utf16be(word)))) {
			list = append(list, name)
		}
	}
	return list
}

// TestRedactedTextIsFoundByNoReader, wherever the file had it; what stands beside it stays in its
// place.
func TestRedactedTextIsFoundByNoReader(t *testing.T) {
	e := engine(t)
	const word = "Zanzibar"
	b := secretive(word)
	if n := finders(t, b, word); len(n) < 4 {
		t.Fatalf("before: found by %q only", n)
	}
	for name, values := range map[string]map[string]string{
		"text":   {"text": "zanzibar"},
		"regexp": {"regexp": `Z\w+r`},
	} {
		done, out, err := run(t, e, "redact", values, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := finders(t, out[0], word); len(n) > 0 {
			t.Errorf("%s: still found by %q", name, n)
		}
		file := pdftest.Write(t, "out.pdf", out[0])
		if err := pdftest.QPDF(t, file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		before, after := pdftest.Boxes(t, pdftest.Write(t, "in.pdf", b)), pdftest.Boxes(t, file)
		for _, w := range []string{"The", "word", "kept", "form"} {
			var from, to []pdftest.Word
			for _, x := range before {
				if x.Text == w {
					from = append(from, x)
				}
			}
			for _, x := range after {
				if x.Text == w {
					to = append(to, x)
				}
			}
			// What follows a redacted text on its line moves by less than the size of its letters.
			most := map[string]float64{"word": 12}[w]
			if len(from) != len(to) || len(to) > 0 && (to[0].XMin < from[0].XMin-0.05 || to[0].XMin > from[0].XMin+most+0.05) {
				t.Errorf("%s: %q was at %+v, is at %+v", name, w, from, to)
			}
		}
		i := open(t, e, out[0], "").Info()
		if len(i.Attachments) > 0 || len(i.Active) > 0 || i.Bookmarks != 1 || len(i.Fields) > 0 || !strings.Contains(done.Text, "1 attachments") {
			t.Errorf("%s: %+v\n%s", name, i, done.Text)
		}
	}
}

// TestRedactedTextDoesNotTellHowWideItWas: two names of other widths leave the same bytes on their
// page, however their letters were placed; what follows them on the line stands behind the space,
// and what stands elsewhere where it stood.
func TestRedactedTextDoesNotTellHowWideItWas(t *testing.T) {
	e := engine(t)
	for name, page := range map[string]func(word string) string{
		"one string": func(w string) string { return "BT /F 12 Tf 20 150 Td (Dear " + w + ", hello) Tj 0 -20 Td (kept) Tj ET" },
		"kerned": func(w string) string {
			s := "BT /F 12 Tf 20 150 Td [(Dear )"
			for i, c := range w {
				s += fmt.Sprintf("%d(%c)", 10+3*i, c)
			}
			return s + "(, hello)] TJ 0 -20 Td (kept) Tj ET"
		},
		"strings": func(w string) string {
			return "BT /F 12 Tf 20 150 Td (Dear ) Tj (" + w[:2] + ") Tj (" + w[2:] + ") Tj (, hello) Tj 0 -20 Td (kept) Tj ET"
		},
	} {
		var contents []string
		for _, word := range []string{"Willow", "Walter"} { // 35 and 37 points wide
			b := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
				`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`, stream("", page(word)))
			_, out, err := run(t, e, "redact", map[string]string{"text": word}, b)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			path := pdftest.Write(t, "out.pdf", out[0])
			qdf, _ := pdftest.Run(t, "qpdf", "--qdf", "--object-streams=disable", "--static-id", path, "-")
			_, content, _ := strings.Cut(qdf, "\nstream\n")
			content, _, _ = strings.Cut(content, "endstream")
			contents = append(contents, content)
			at := map[string]pdftest.Word{}
			for _, w := range pdftest.Boxes(t, path) {
				at[w.Text] = w
			}
			if at["hello"].XMin < 91 || at["kept"].XMin < 19.5 || at["kept"].XMin > 20.5 {
				t.Errorf("%s, %s: %+v", name, word, at)
			}
		}
		if contents[0] != contents[1] || !strings.Contains(contents[0], "TJ") {
			t.Errorf("%s: the pages differ:\n%s\n%s", name, contents[0], contents[1])
		}
	}
}

// TestTextMovesToWhereOtherTextWas: on a line of which several words go, what stays between them is
// moved, and is neither refused where another word was nor covered by a black box.
func TestTextMovesToWhereOtherTextWas(t *testing.T) {
	e := engine(t)
	var in bytes.Buffer
	if _, err := e.Build(t.Context(), &in, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Title("Minutes").Lang("en")
		for _, s := range []string{"Then on the pier in the rain of the year", "The cost of the roof is in the plan", "the m", "the n in the n the m the i the l the w"} {
			b.Text(strings.Repeat(s+" and ", 8))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s, err := e.Redact(t.Context(), &out, open(t, e, in.Bytes(), ""), pdf.RedactOptions{Text: "the"})
	if err != nil {
		t.Fatal(err)
	}
	// Boxes of words that begin a line stand where it begins.
	found, err := open(t, e, in.Bytes(), "").Search(t.Context(), pdf.SearchOptions{Text: "the"})
	if err != nil {
		t.Fatal(err)
	}
	left, begin, begun := found[0].Boxes[0][0], 0, 0
	for _, m := range found {
		left = min(left, m.Boxes[0][0])
	}
	for _, m := range found {
		if m.Boxes[0][0] < left+0.1 {
			begin++
		}
	}
	for _, b := range s.Record.Pages[0].Boxes {
		if b[0] < left+0.1 {
			begun++
		}
	}
	if begin < 3 || begun != begin {
		t.Errorf("%d lines begin with a word that goes, %d with a box", begin, begun)
	}
	stays := 0
	for _, w := range pdftest.Boxes(t, pdftest.Write(t, "out.pdf", out.Bytes())) {
		stays++
		x, y := (w.XMin+w.XMax)/2, 841.89-(w.YMin+w.YMax)/2
		for _, b := range s.Record.Pages[0].Boxes {
			if x > b[0] && x < b[2] && y > b[1] && y < b[3] {
				t.Errorf("%q lies under a black box", w.Text)
			}
		}
	}
	if s.Removed.Matches < 70 || stays < 120 {
		t.Errorf("%d matches, %d words stay", s.Removed.Matches, stays)
	}
}

// TestBlackBoxIsNoRedaction: readers find the text under one, and not where a box was redacted.
func TestBlackBoxIsNoRedaction(t *testing.T) {
	e := engine(t)
	const word = "Zanzibar"
	b := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`,
		"<</Length 90>>stream\nBT /F 12 Tf 20 150 Td (Zanzibar) Tj 0 -50 Td (open) Tj ET 0 g 10 140 100 30 re f         \nendstream")
	under := finders(t, b, word)
	if len(under) < 4 {
		t.Fatalf("under the box: found by %q only", under)
	}
	_, out, err := run(t, e, "redact", map[string]string{"box": "10,140,110,170"}, b)
	if err != nil {
		t.Fatal(err)
	}
	if n := finders(t, out[0], word); len(n) > 0 {
		t.Errorf("still found by %q", n)
	} else {
		slices.Sort(under)
		t.Logf("a text under a black box is found by %s, a redacted one by none of them", strings.Join(under, ", "))
	}
	if n := finders(t, out[0], "open"); len(n) < 3 {
		t.Errorf("what stood beside it is found by %q only", n)
	}
	img := pdftest.Raster(t, pdftest.Write(t, "out.pdf", out[0]), 72)[0]
	if r, _, _, _ := img.At(50, 45).RGBA(); r != 0 {
		t.Error("no black box")
	}
}

// TestRedactedPixelsAreBlack: those of an image in a box, in the file and not under a black box
// only.
func TestRedactedPixelsAreBlack(t *testing.T) {
	e := engine(t)
	b := secretive("Zanzibar")
	done, out, err := run(t, e, "redact", map[string]string{"box": "20,20,60,40", "unmarked": "true", "pages": "1"}, b)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(done.Text, "1 parts of images") {
		t.Error(done.Text)
	}
	img := pdftest.Raster(t, pdftest.Write(t, "out.pdf", out[0]), 72)[0]
	at := func(x, y int) bool { r, _, _, _ := img.At(x, y).RGBA(); return r < 0x8000 }
	if !at(30, 170) || !at(50, 165) || at(90, 145) {
		t.Errorf("black at the left below %t, %t, at the right above %t", at(30, 170), at(50, 165), at(90, 145))
	}
}

// TestRedactionThatCannotBeProved is refused, and nothing is written.
func TestRedactionThatCannotBeProved(t *testing.T) {
	e := engine(t)
	page := func(font, content string) []byte {
		return raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F `+font+`>>/XObject<</X 5 0 R>>>>>>`,
			`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`, fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content),
			"<</Subtype/Form/BBox[0 0 9 9]/Length 5>>stream\n/X Do\nendstream")
	}
	helvetica := `<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`
	for name, c := range map[string]struct {
		file []byte
		text string
		want error
	}{
		"no meaning":        {page(`<</Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[<</Subtype/CIDFontType2>>]>>`, "BT /F 9 Tf <0001> Tj ET"), "word", pdf.ErrNotProvable},
		"damaged":           {raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page/Contents 4 0 R>>`, "<</Length 3/Filter/FlateDecode>>stream\nabc\nendstream"), "word", pdf.ErrNotProvable},
		"itself":            {page(helvetica, "/X Do"), "word", pdf.ErrNotProvable},
		"key":               {raw(`<</Type/Catalog/Pages 2 0 R/Private<</Zanzibar 1>>>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page>>`), "zanzibar", pdf.ErrNotProvable},
		"resource":          {raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page/Resources<</Properties<</Zanzibar<<>>>>>>>>`), "zanzibar", pdf.ErrNotProvable},
		"state":             {raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page/Annots[<</Subtype/Widget/FT/Btn/T(x)/Rect[0 0 9 9]/AP<</N 4 0 R>>>>]>>`, `<</Zanzibar null/Zanzibars 1>>`), "zanzibar", pdf.ErrNotProvable},
		"name of a type":    {raw(`<</Type/Catalog/Pages 2 0 R/Private<</Type/Zanzibar>>>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page>>`), "zanzibar", pdf.ErrNotProvable},
		"name of its own":   {raw(`<</Type/Catalog/Pages 2 0 R/Private 4 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page>>`, `/Zanzibar`), "zanzibar", pdf.ErrNotProvable},
		"array of its own":  {raw(`<</Type/Catalog/Pages 2 0 R/Private 4 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page>>`, `[/Zanzibar]`), "zanzibar", pdf.ErrNotProvable},
		"stream of its own": {raw(`<</Type/Catalog/Pages 2 0 R/Private 4 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page>>`, "<</Length 11>>stream\nto Zanzibar\nendstream"), "zanzibar", pdf.ErrNotProvable},
		"in UTF-16":         {raw(`<</Type/Catalog/Pages 2 0 R/Private 4 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page>>`, fmt.Sprintf("<</Length 32/Filter/ASCIIHexDecode>>stream\n%X\nendstream", utf16be("Zanzibar"))), "zanzibar", pdf.ErrNotProvable},
		"at an odd place":   {raw(`<</Type/Catalog/Pages 2 0 R/Private 4 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page>>`, fmt.Sprintf("<</Length 34/Filter/ASCIIHexDecode>>stream\n58%X\nendstream", utf16be("Zanzibar"))), "zanzibar", pdf.ErrNotProvable},
		"tag of content":    {page(helvetica, "/Zanzibar BMC BT /F 9 Tf (Zanzibar) Tj ET EMC"), "zanzibar", pdf.ErrNotProvable},
		"name elsewhere":    {raw(`<</Type/Catalog/Pages 2 0 R/Private/Table>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page>>`), "table", pdf.ErrNotProvable},
		"name":              {raw(`<</Type/Catalog/Pages 2 0 R/Private/Zanzibar>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page>>`), "zanzibar", pdf.ErrNotProvable},
	} {
		_, out, err := run(t, e, "redact", map[string]string{"text": c.text}, c.file)
		if !errors.Is(err, c.want) || len(out) > 0 && len(out[0]) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, private := range map[string]string{"key": "<</Zanzibar 1>>", "name": "/Zanzibar"} { // of what stood in a box
		file := raw(`<</Type/Catalog/Pages 2 0 R/Private`+private+`>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F `+helvetica+`>>>>>>`,
			`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`, "<</Length 37>>stream\nBT /F 12 Tf 20 150 Td (Zanzibar) Tj ET\nendstream")
		if _, out, err := run(t, e, "redact", map[string]string{"box": "0,140,200,170"}, file); !errors.Is(err, pdf.ErrNotProvable) || len(out) > 0 && len(out[0]) > 0 {
			t.Errorf("box, %s: %v", name, err)
		}
	}
	var option *pdf.OptionError
	for name, values := range map[string]map[string]string{
		"nothing": {}, "both": {"text": "a", "regexp": "b"}, "box": {"box": "1,2,3"}, "empty box": {"box": "9,9,9,9"}, "pages": {"box": "0,0,9,9", "pages": "7"}, "second box": {"box": "0,0,9,9;x"},
	} {
		if _, _, err := run(t, e, "redact", values, page(helvetica, "")); !errors.As(err, &option) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRedactedFilesKeepTheirClaims: a tagged file of ours goes on to hold what it claims.
func TestRedactedFilesKeepTheirClaims(t *testing.T) {
	e := engine(t)
	done, out, err := run(t, e, "redact", map[string]string{"text": "Zanzibar"}, sampleOf(t, e, "Zanzibar"))
	if err != nil {
		t.Fatal(err)
	}
	if n := finders(t, out[0], "Zanzibar"); len(n) > 0 {
		t.Errorf("still found by %q", n)
	}
	s, ok := done.Report.(*pdf.RedactSummary)
	if !ok || strings.Join(s.Claims, ", ") != "pdf/a-4, pdf/ua-2" || len(s.Warnings) > 0 {
		t.Errorf("%s", done.Text)
	}
	file := pdftest.Write(t, "out.pdf", out[0])
	if err := pdftest.QPDF(t, file); err != nil {
		t.Error(err)
	}
}

// TestRedactedTextIsFoundByNoOtherExtractor: pdfminer and pdfium, which share nothing with poppler
// and us, find the word before, under a black box too, and nowhere after.
func TestRedactedTextIsFoundByNoOtherExtractor(t *testing.T) {
	t.Parallel()
	e := engine(t)
	const word = "Zanzibar"
	find := func(b []byte) (list []string) {
		for name, text := range pdftest.Extract(t, pdftest.Write(t, "in.pdf", b)) {
			if strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
				list = append(list, name)
			}
		}
		return list
	}
	covered := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`,
		"<</Length 90>>stream\nBT /F 12 Tf 20 150 Td (Zanzibar) Tj 0 -50 Td (open) Tj ET 0 g 10 140 100 30 re f         \nendstream")
	var under []string
	for name, c := range map[string]struct {
		file   []byte
		values map[string]string
	}{
		"hidden copies":     {secretive(word), map[string]string{"text": word}},
		"under a black box": {covered, map[string]string{"box": "10,140,110,170"}},
		"ours":              {sampleOf(t, e, word), map[string]string{"text": word}},
	} {
		// The files of the tests are written without a cross-reference table, which pdfminer wants.
		_, whole, err := run(t, e, "rotate", map[string]string{"degrees": "360"}, c.file)
		if err != nil {
			t.Fatal(err)
		}
		if under = find(whole[0]); len(under) != 3 {
			t.Fatalf("%s, before: found by %q only", name, under)
		}
		_, out, err := run(t, e, "redact", c.values, whole[0])
		if err != nil {
			t.Fatal(err)
		}
		if n := find(out[0]); len(n) > 0 {
			t.Errorf("%s: still found by %q", name, n)
		}
	}
	if !t.Failed() {
		slices.Sort(under)
		t.Logf("a text under a black box is found by %s, a redacted one by none of them", strings.Join(under, ", "))
	}
}

// sampleOf is a file with an embedded font that says a word in its text, its title and its
// bookmarks.
func sampleOf(t *testing.T, e *pdf.Engine, word string) []byte {
	t.Helper()
	var in bytes.Buffer
	if _, err := e.Build(t.Context(), &in, pdf.RenderOptions{Standards: []standard.ID{standard.PDFA4, standard.PDFUA2}}, func(b *doc.Builder) error {
		b.Title("Report on " + word).Lang("en")
		b.Heading(1, "About "+word, doc.Bookmark(word))
		b.Text("What " + word + " is and what it is not.")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return in.Bytes()
}

// TestRecordOfARedaction has the hashes of both files and what went from which page, and not a word
// of what was taken out.
func TestRecordOfARedaction(t *testing.T) {
	e := engine(t)
	b := secretive("Zanzibar")
	done, out, err := run(t, e, "redact", map[string]string{"text": "Zanzibar"}, b)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := done.Report.(*pdf.RedactSummary)
	if !ok {
		t.Fatalf("%T", done.Report)
	}
	r := s.Record
	if r.SourceSHA256 != fmt.Sprintf("%x", sha256.Sum256(b)) || r.ResultSHA256 != fmt.Sprintf("%x", sha256.Sum256(out[0])) || r.SourceSize != int64(len(b)) || r.Engine == "" {
		t.Errorf("%+v", r)
	}
	if len(r.Pages) != 1 || r.Pages[0].Page != 1 || r.Pages[0].Removed.Characters == 0 || len(r.Pages[0].Boxes) == 0 || r.Proof.Pages != 2 || r.Proof.Objects < 5 {
		t.Errorf("%+v", r)
	}
	text, err := json.Marshal(s)
	if err != nil || bytes.Contains(bytes.ToLower(text), []byte("zanzibar")) || strings.Contains(strings.ToLower(done.Text), "zanzibar") || !strings.Contains(done.Text, "source sha256 "+r.SourceSHA256) {
		t.Errorf("%v: %s\n%s", err, text, done.Text)
	}
}

// TestEmbeddedFontsStayAsTheyWere: what takes glyphs out of a font can take those that are shown
// elsewhere, in ways that are not followed. Programs, widths, names and meanings stay, whatever the
// kind of font.
func TestEmbeddedFontsStayAsTheyWere(t *testing.T) {
	otf, err := os.ReadFile(filepath.Join("..", "font", "testdata", "SampleText.otf"))
	if err != nil {
		t.Fatal(err)
	}
	sample, err := font.Parse(otf, diag.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	chain, err := liberation.New().Chain(liberation.Sans, font.Style{Weight: 400})
	if err != nil {
		t.Fatal(err)
	}
	sans, err := chain.Pick("Q")
	if err != nil {
		t.Fatal(err)
	}
	stream := func(dict string, data []byte) string {
		return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
	}
	// file shows a text with a font whose objects begin at number 5.
	file := func(show string, font ...string) []byte {
		return raw(append([]string{
			`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F 5 0 R>>>>>>`,
			`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`, stream("", []byte("BT /F 12 Tf 20 150 Td "+show+" Tj ET")),
		}, font...)...)
	}
	composite := func(face *font.Face, encoding, subtype, program string, more ...string) []byte {
		show, unicode := "", ""
		for _, r := range "Quartz stays" {
			show += fmt.Sprintf("%04X", face.GlyphIndex(r))
			unicode += fmt.Sprintf("<%04X><%04X>\n", face.GlyphIndex(r), r)
		}
		return file("<"+show+">", append([]string{
			`<</Type/Font/Subtype/Type0/BaseFont/Sample/Encoding ` + encoding + `/DescendantFonts[6 0 R]/ToUnicode 9 0 R>>`,
			`<</Type/Font/Subtype/` + subtype + `/BaseFont/Sample/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/W[0[500 501 502] 3 400 503]/FontDescriptor 7 0 R>>`,
			`<</Type/FontDescriptor/FontName/Sample/Flags 4/` + program + ` 8 0 R>>`,
			map[string]string{
				"FontFile2": stream("", face.Data()), "FontFile3": stream("/Subtype/CIDFontType0C", face.Table("CFF ")),
			}[program],
			stream("", []byte("1 begincodespacerange <0000><FFFF> endcodespacerange 12 beginbfchar\n"+unicode+"endbfchar")),
		}, more...)...)
	}
	simple := func(kind, program, data string) []byte {
		return file("(Quartz stays)",
			`<</Type/Font/Subtype/`+kind+`/BaseFont/Sample/FirstChar 32/LastChar 126/Widths[`+strings.Repeat("500 ", 95)+`]/Encoding<</Differences[81/Q 113/q/r]>>/FontDescriptor 6 0 R>>`,
			`<</Type/FontDescriptor/FontName/Sample/Flags 32/CharSet(/Q/q)/`+program+` 7 0 R>>`, data)
	}
	links := regexp.MustCompile(`\d+ 0 R`)
	// parts are the fonts of a file, without the numbers of objects, and the data of what they
	// refer to.
	parts := func(b []byte) (all []string) {
		r, err := cos.NewReader(bytes.NewReader(b), int64(len(b)), cos.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for ref := range r.Refs() {
			o, err := r.Object(ref)
			if err != nil {
				t.Fatal(err)
			}
			d, _ := o.(cos.Dict)
			if kind, _ := d.Get("Type").(cos.Name); kind != "Font" && kind != "FontDescriptor" {
				continue
			}
			all = append(all, links.ReplaceAllString(string(d.AppendPDF(nil)), "R"))
			for _, x := range d {
				v, err := r.Resolve(x.Value)
				if err != nil {
					t.Fatal(err)
				}
				if s, ok := v.(*cos.Stream); ok {
					data, _, err := r.Decode(s)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, fmt.Sprintf("%s %x", x.Key, sha256.Sum256(data)))
				}
			}
		}
		slices.Sort(all)
		return all
	}
	for name, b := range map[string][]byte{
		"CFF with names in a CIDFont":     composite(sample, "/Identity-H", "CIDFontType0", "FontFile3"),
		"TrueType in a CIDFont":           composite(sans, "/Identity-H", "CIDFontType2", "FontFile2"),
		"a CMap that is built on another": composite(sans, "10 0 R", "CIDFontType2", "FontFile2", stream("/Type/CMap/CMapName/X/UseCMap/Identity-H", []byte("/Identity-H usecmap"))),
		"simple TrueType":                 simple("TrueType", "FontFile2", stream("", sans.Data())),
		"TrueType that has the word":      simple("TrueType", "FontFile2", stream("", slices.Concat(sans.Data(), []byte(" by Quartz")))),
		"simple CFF":                      simple("Type1", "FontFile3", stream("/Subtype/Type1C", sample.Table("CFF "))),
	} {
		_, out, err := run(t, engine(t), "redact", map[string]string{"text": "Quartz", "unmarked": "true"}, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		before, after := parts(b), parts(out[0])
		if len(before) < 3 || !slices.Equal(before, after) {
			t.Errorf("%s: before\n%s\nafter\n%s", name, strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
		if text := strings.Join(pdftest.Words(t, pdftest.Write(t, "out.pdf", out[0])), ""); text != "stays" {
			t.Errorf("%s: text %q", name, text)
		}
	}
}

// TestAddressesAreReadAsPeopleReadThem: the target of a link has the text also where it is escaped.
func TestAddressesAreReadAsPeopleReadThem(t *testing.T) {
	e := engine(t)
	for _, target := range []string{"http://a/Secret%20Plan/x", "http://a/%53ecret%20%70lan", "mailto:secret%20plan@a", "http://a/?q=secret+plan", "http://a/secret plan", "http://100%/secret%20plan"} {
		b := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]>>`,
			`<</Type/Page/Parent 2 0 R/Annots[<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(`+target+`)>>>><</Subtype/Link/Rect[9 9 20 20]/A<</S/URI/URI(http://kept/100%)>>>>]>>`)
		_, out, err := run(t, e, "redact", map[string]string{"text": "secret plan"}, b)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		text, _ := pdftest.Run(t, "qpdf", "--qdf", "--object-streams=disable", pdftest.Write(t, "out.pdf", out[0]), "-")
		if low := strings.ToLower(text); strings.Contains(low, "ecret") || !strings.Contains(low, "(http://kept/100%)") {
			t.Errorf("%s: %s", target, text)
		}
	}
}

// TestFormsInTheStructureTreeAreRedacted: an element whose content stands in a form refers to the
// form that the page draws now, on each page to its own.
func TestFormsInTheStructureTreeAreRedacted(t *testing.T) {
	e := engine(t)
	b := raw(`<</Type/Catalog/Pages 2 0 R/StructTreeRoot 7 0 R/MarkInfo<</Marked true>>>>`,
		`<</Type/Pages/Kids[3 0 R 11 0 R]/Count 2/MediaBox[0 0 300 200]/Resources<</Font<</F 6 0 R>>/XObject<</X 5 0 R>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`, stream("", "/X Do"),
		stream("/Type/XObject/Subtype/Form/BBox[0 0 300 200]/StructParents 0", "/P<</MCID 0>>BDC BT /F 12 Tf 20 150 Td (about Zanzibar) Tj ET EMC"), `<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`,
		`<</Type/StructTreeRoot/K[8 0 R]/ParentTree<</Nums[0[9 0 R]]>>>>`, `<</S/Document/P 7 0 R/K[9 0 R 10 0 R]>>`,
		`<</S/P/P 8 0 R/Pg 3 0 R/K<</Type/MCR/MCID 0/Stm 5 0 R>>>>`, `<</S/P/P 8 0 R/K[<</Type/MCR/Pg 11 0 R/MCID 0/Stm 5 0 R>>]>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`)
	_, out, err := run(t, e, "redact", map[string]string{"text": "Zanzibar"}, b)
	if err != nil {
		t.Fatal(err)
	}
	if n := finders(t, out[0], "Zanzibar"); len(n) > 0 {
		t.Errorf("still found by %q", n)
	}
	text, _ := pdftest.Run(t, "qpdf", "--qdf", "--object-streams=disable", "--no-original-object-ids", pdftest.Write(t, "out.pdf", out[0]), "-")
	drawn, tagged := regexp.MustCompile(`/Redacted1 (\d+) 0 R`).FindAllStringSubmatch(text, -1), regexp.MustCompile(`/Stm (\d+) 0 R`).FindAllStringSubmatch(text, -1)
	if len(drawn) != 2 || len(tagged) != 2 || drawn[0][1] == drawn[1][1] || tagged[0][1] == tagged[1][1] || tagged[0][1] != drawn[0][1] && tagged[0][1] != drawn[1][1] {
		t.Errorf("drawn %q, in the tree %q", drawn, tagged)
	}
}

// TestTextWithoutAFontIsRedacted: content that shows text before it has set a font.
func TestTextWithoutAFontIsRedacted(t *testing.T) {
	b := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R>>`, "<</Length 40>>stream\nBT 20 150 Td (Quartz) Tj ET              \nendstream")
	if _, _, err := run(t, engine(t), "redact", map[string]string{"box": "0,100,300,200"}, b); err != nil {
		t.Error(err)
	}
}

// TestSpacedOutTextIsFoundAndRedacted: letters between which a maker put space are one word to
// other readers, whether by character spacing or by the place of each.
func TestSpacedOutTextIsFoundAndRedacted(t *testing.T) {
	e := engine(t)
	const word = "ZANZIBAR"
	apart := func(between string) string {
		return "[(" + strings.Join(strings.Split("my "+word+" home", ""), ")"+between+"(") + ")]TJ"
	}
	for name, show := range map[string]string{
		"character spacing": "3 Tc (my " + word + " home) Tj", "scaled": "200 Tz 1.5 Tc (my " + word + " home) Tj", "by a quote": "0 3 (my " + word + " home) \"",
		"turned": ".8 .6 -.6 .8 30 30 Tm 3 Tc (my " + word + " home) Tj", "adjusted": apart("-250"), "adjusted more": apart("-300"),
	} {
		b := raw(
			`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 400 200]>>`,
			`<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
			stream("", "BT /F 12 Tf 30 99 Td "+show+" ET"),
		)
		if n := finders(t, b, word); len(n) == 0 {
			t.Errorf("%s: no other reader finds it", name)
		}
		done, out, err := run(t, e, "redact", map[string]string{"text": "zanzibar"}, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := finders(t, out[0], word); len(n) > 0 || !strings.Contains(done.Text, "removed: 1 matches") {
			t.Errorf("%s: still found by %q\n%s", name, n, done.Text)
		}
	}
}

// TestIndicesAreFoundWithTheirWordsAndApart: a number with the mark of a footnote is found as the
// number and as what other readers make of both.
func TestIndicesAreFoundWithTheirWordsAndApart(t *testing.T) {
	e := engine(t)
	b := raw(
		`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 400 200]>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
		stream("", "BT /F 12 Tf 30 99 Td (Agent CX) Tj /F 7 Tf -3 Ts (4) Tj /F 12 Tf 0 Ts (Y paid 7788) Tj /F 7 Tf 4 Ts (3) Tj /F 12 Tf 0 Ts ( in May) Tj ET"),
	)
	done, _, err := run(t, e, "text", nil, b)
	if err != nil || done.Text != "Agent CX4Y paid 77883 in May\n\f" {
		t.Errorf("%v: %q", err, done.Text)
	}
	for _, c := range []struct{ option, value, left string }{
		{"text", "cx4y", "Agent paid 77883 in May"},
		{"regexp", `\b7788\b`, "Agent CX4Y paid 3 in May"},
		{"text", "7788 in", "Agent CX4Y paid May"},
		{"regexp", `\b77883\b`, "Agent CX4Y paid in May"},
		// What matches in both readings is found once, and goes as a whole.
		{"regexp", `\b7\d+`, "Agent CX4Y paid in May"},
		{"regexp", `7788( in May)?`, "Agent CX4Y paid"},
		{"regexp", `c\S+|\b[4y]\b`, "Agent paid 77883 in May"},
	} {
		found, err := open(t, e, b, "").Search(t.Context(), searched(c.option, c.value))
		if err != nil || len(found) != 1 || len(found[0].Boxes) != 1 {
			t.Errorf("%s: %v, %+v", c.value, err, found)
		}
		_, out, err := run(t, e, "redact", map[string]string{c.option: c.value}, b)
		if err != nil {
			t.Errorf("%s: %v", c.value, err)
			continue
		}
		left := strings.Join(strings.Fields(pdftest.Text(t, pdftest.Write(t, "out.pdf", out[0]))), " ")
		if left != c.left {
			t.Errorf("%s: %q is left, want %q", c.value, left, c.left)
		}
	}
}

func searched(option, value string) pdf.SearchOptions {
	if option == "text" {
		return pdf.SearchOptions{Text: value}
	}
	return pdf.SearchOptions{Regexp: value}
}

// TestRedactionOfTurnedTextLeavesItsNeighbours, also what else stands in the upright box around it.
func TestRedactionOfTurnedTextLeavesItsNeighbours(t *testing.T) {
	e := engine(t)
	for name, matrix := range map[string]string{
		"turned": ".8 .6 -.6 .8", "steep": ".6 -.8 .8 .6", "sheared": "1 0 .3 1", "turned and sheared": ".8 .6 -.4 .9",
	} {
		y := 40
		if strings.Contains(matrix, "-.8") {
			y = 250
		}
		b := raw(
			`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 400 300]>>`,
			`<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/Annots[<</Subtype/Link/Rect[60 100 70 110]/A<</S/URI/URI(http://kept)>>>>]>>`,
			stream("", fmt.Sprintf("BT /F 12 Tf 13 TL %s 60 %d Tm (the first line of these) Tj T* (this line has a Zanzibar in it) Tj T* (and another below it) Tj ET", matrix, y)),
		)
		done, out, err := run(t, e, "redact", map[string]string{"text": "zanzibar"}, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := open(t, e, out[0], "").Text(t.Context(), pdf.TextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, l := range text[0].Lines {
			left = append(left, strings.Fields(l.Text)...)
		}
		slices.Sort(left)
		if got := strings.Join(left, " "); got != "a and another below first has in it it line line of the these this" || !strings.Contains(done.Text, "removed: 1 matches, 8 characters, 0 images, 0 parts of images, 0 paths, 0 annotations") {
			t.Errorf("%s: %q is left\n%s", name, got, done.Text)
		}
		if n := finders(t, out[0], "Zanzibar"); len(n) > 0 {
			t.Errorf("%s: still found by %q", name, n)
		}
	}
}
