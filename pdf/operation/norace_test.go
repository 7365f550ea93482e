//go:build !race

package operation_test

import (
	"bytes"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// The tests of this file compute for long in one goroutine, where the race detector takes ten times
// as long and finds nothing.

// TestOptimisedFilesAreSmallerAndLookTheSame: what is equal is there once, what is not used goes,
// and every pixel and claim stays.
func TestOptimisedFilesAreSmallerAndLookTheSame(t *testing.T) {
	e := engine(t)
	_, merged, err := run(t, e, "merge", nil, sample(t, e, "First"), sample(t, e, "First"))
	if err != nil {
		t.Fatal(err)
	}
	done, out, err := run(t, e, "optimise", nil, merged[0])
	if err != nil {
		t.Fatal(err)
	}
	if 4*len(out[0]) > 3*len(merged[0]) {
		t.Errorf("%d bytes of %d", len(out[0]), len(merged[0]))
	}
	s, ok := done.Report.(*pdf.Summary)
	if !ok || strings.Join(s.Claims, ", ") != "pdf/a-4, pdf/ua-2" || s.Pages != 8 || s.Size != int64(len(out[0])) {
		t.Errorf("%s", done.Text)
	}
	before, after := pdftest.Write(t, "in.pdf", merged[0]), pdftest.Write(t, "out.pdf", out[0])
	if err := pdftest.QPDF(t, after); err != nil {
		t.Error(err)
	}
	if pdftest.Text(t, before) != pdftest.Text(t, after) {
		t.Error("another text")
	}
	from, to := pdftest.Raster(t, before, 40), pdftest.Raster(t, after, 40)
	for i := range from {
		if len(from) != len(to) || !samePixels(from[i], to[i]) {
			t.Fatalf("page %d of %d and %d looks different", i+1, len(from), len(to))
		}
	}
	_, again, err := run(t, e, "optimise", nil, out[0])
	if err != nil || len(again[0]) > len(out[0]) {
		t.Errorf("a second time: %d bytes of %d, %v", len(again[0]), len(out[0]), err)
	}
}

// TestMergedWithItselfAFileIsTwiceTheFile for qpdf, poppler and mupdf: twice the pages, with
// bookmarks and fields; and a page that is split off has the same pixels.
func TestMergedWithItselfAFileIsTwiceTheFile(t *testing.T) {
	e := engine(t)
	for name, b := range map[string][]byte{"tagged with bookmarks": sample(t, e, "Sample"), "form": application(t, e), "everything": rich("One")} {
		if wrong, ok := doubled(t, e, b); wrong != nil || !ok {
			t.Errorf("%s: read %t, %q", name, ok, wrong)
		}
		if name == "everything" {
			continue // mupdf draws signatures that are void otherwise than those that are not
		}
		if wrong := splitOff(t, e, b); wrong != nil {
			t.Errorf("%s: %q", name, wrong)
		}
	}
	path := pdftest.Write(t, "sample.pdf", sample(t, e, "Sample"))
	if found, ok := read(t, path); !ok || found["qpdf"] != (counts{4, 4, 0}) || found["mupdf"] != (counts{4, 4, 0}) || found["poppler"].pages != 4 {
		t.Errorf("the readers find %+v", found)
	}
	form := pdftest.Write(t, "form.pdf", bytes.Clone(application(t, e)))
	if found, ok := read(t, form); !ok || found["qpdf"].fields < 10 || found["mupdf"].fields < 10 {
		t.Errorf("the readers find %+v", found)
	}
}

// TestFilledFilesKeepOrLoseTheirClaims: what was sound stays so, by check; a claim that did not
// hold goes with a warning.
func TestFilledFilesKeepOrLoseTheirClaims(t *testing.T) {
	e := engine(t)
	for _, ids := range [][]standard.ID{{standard.PDFA4, standard.PDFUA2}, {standard.PDFA2b, standard.PDFUA1}, {standard.PDFA3b}} {
		for _, incremental := range []string{"false", "true"} {
			done, full, err := fill(t, e, application(t, e, ids...), filledIn, map[string]string{"incremental": incremental})
			if err != nil {
				t.Fatal(err)
			}
			s, _ := done.Report.(*pdf.Summary)
			if found, err := e.Check(t.Context(), open(t, e, full, "")); err != nil || len(found) > 0 || s == nil || len(s.Claims) != len(ids) || len(s.Warnings) > 0 {
				t.Errorf("%v, incremental %s: %v, %v, %s", ids, incremental, found, err, done.Text)
			}
		}
	}
	packet := `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/"><pdfaid:part>2</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance></rdf:Description></rdf:RDF></x:xmpmeta>`
	b := raw(`<</Type/Catalog/Pages 2 0 R/Metadata 5 0 R/AcroForm<</Fields[4 0 R]/DA(/Helv 10 Tf)/DR<</Font<</Helv<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>>>`,
		`<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Annots[4 0 R]>>`,
		`<</Type/Annot/Subtype/Widget/F 4/Rect[10 10 100 30]/FT/Tx/T(name)/P 3 0 R>>`, stream("/Type/Metadata/Subtype/XML", packet))
	if claims := open(t, e, b, "").Info().Claims; !slices.Equal(claims, []string{"pdf/a-2b"}) {
		t.Fatalf("claims %v", claims)
	}
	done, full, err := fill(t, e, b, `{"name": "x"}`, nil)
	if err != nil || !strings.Contains(done.Text, "warning: the claim of pdf/a-2b was dropped: ") || len(open(t, e, full, "").Info().Claims) > 0 {
		t.Errorf("%v: %+v", err, done)
	}
}

// TestOptionsAndFilesOfOneNameTakeLinearWork: a field of very many equal options is filled in, and
// a file with very many attachments of one name compared, in seconds; one by one against all before
// it they took minutes.
func TestOptionsAndFilesOfOneNameTakeLinearWork(t *testing.T) {
	e, many := engine(t), 100_000
	begun := time.Now()
	choice := raw(
		"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]/DA(/F 9 Tf)>>>>", "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]>>",
		"<</Type/Page/Parent 2 0 R/Annots[4 0 R]>>",
		"<</Type/Annot/Subtype/Widget/Rect[10 10 200 60]/T(a)/FT/Ch/Opt["+strings.Repeat("(x)", many)+"]>>",
	)
	_, out, err := fill(t, e, choice, `{"a": "x"}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := held(t, e, out)["a"]; f.Value != "x" {
		t.Errorf("%d equal options: the field has %q", many, f.Value)
	}
	files := raw(
		"<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names["+strings.Repeat("(a)<</Type/Filespec/F(a)/EF<</F 4 0 R>>>>", many/2)+"]>>>>>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]>>", "<</Type/Page/Parent 2 0 R>>", stream("/Type/EmbeddedFile", "text"),
	)
	if c, _ := compared(t, nil, files, twoPages()); len(c.Differences) == 0 {
		t.Errorf("%d attachments make no difference", many/2)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("%d options and attachments took %v", many, took)
	}
}

// TestTextThatOCRFindsIsBlack: whatever turns, mirrors or cuts an image, what is found in its
// pixels is black in the file where it stood, on each page that draws it.
func TestTextThatOCRFindsIsBlack(t *testing.T) {
	gray := stream(grayImage, string(marked()))
	for name, c := range map[string]struct {
		images   []string
		contents []string
		black    image.Point // on each page, in points from the left upper corner
		white    image.Point
	}{
		"upright":            {[]string{gray}, []string{"q 100 0 0 100 50 50 cm /I Do Q"}, image.Pt(120, 65), image.Pt(70, 65)},
		"on two pages":       {[]string{gray}, []string{"q 100 0 0 100 50 50 cm /I Do Q", "q 100 0 0 100 50 50 cm /I Do Q"}, image.Pt(120, 65), image.Pt(70, 65)},
		"on its side":        {[]string{gray}, []string{"q 0 100 -100 0 150 50 cm /I Do Q"}, image.Pt(65, 80), image.Pt(65, 130)},
		"upside down":        {[]string{gray}, []string{"q -100 0 0 -100 150 150 cm /I Do Q"}, image.Pt(80, 135), image.Pt(130, 135)},
		"by thirty degrees":  {[]string{gray}, []string{"q 86.6 50 -50 86.6 100 30 cm /I Do Q"}, image.Pt(118, 61), image.Pt(80, 84)},
		"in a form":          {[]string{gray, stream("/Subtype/Form/BBox[0 0 1 1]/Resources<</XObject<</I 3 0 R>>>>", "/I Do")}, []string{"q 100 0 0 100 50 50 cm /J Do Q"}, image.Pt(120, 65), image.Pt(70, 65)},
		"under another":      {[]string{gray, stream(strings.ReplaceAll(grayImage, "100", "1"), "\xff")}, []string{"q 100 0 0 100 50 50 cm /I Do /J Do Q"}, image.Pt(120, 65), image.Pt(20, 20)},
		"in a mask":          {[]string{stream(strings.ReplaceAll(grayImage, "100", "1")+"/SMask 4 0 R", "\x00"), gray}, []string{"q 100 0 0 100 50 50 cm /I Do Q"}, image.Pt(120, 65), image.Pt(20, 20)},
		"inline":             {nil, []string{"q 100 0 0 100 50 50 cm BI /W 100/H 100/BPC 8/CS/G/F/AHx ID " + fmt.Sprintf("%X", marked()) + "> EI Q"}, image.Pt(120, 65), image.Pt(20, 20)},
		"of an indexed base": {[]string{stream(strings.ReplaceAll(grayImage, "/DeviceGray", "[/Indexed/DeviceRGB 2<000000808080FFFFFF>]"), strings.NewReplacer("\xff", "\x02", "\x80", "\x01").Replace(string(marked())))}, []string{"q 100 0 0 100 50 50 cm /I Do Q"}, image.Pt(120, 65), image.Pt(70, 65)},
	} {
		ocr := &grayOCR{word: "Zanzibar"}
		s, out, err := redacted(t, drawing(c.images, c.contents...), pdf.RedactOptions{Text: "zanzibar", OCR: ocr})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Removed.Pixels < len(c.contents) || s.Removed.ImageParts+s.Removed.Images < len(c.contents) || s.Removed.Unsearched != 0 || len(s.Warnings) > 0 || len(s.Record.Pages) != len(c.contents) {
			t.Errorf("%s: %+v", name, s)
		}
		for _, img := range pdftest.Raster(t, pdftest.Write(t, "out.pdf", out), 72) {
			black, _, _, _ := img.At(c.black.X, c.black.Y).RGBA()
			white, _, _, _ := img.At(c.white.X, c.white.Y).RGBA()
			if black > 0x0800 || white < 0xf000 {
				t.Errorf("%s: %#x where the text stood, %#x beside it", name, black, white)
			}
		}
		// Without the black boxes of the page the pixels are black in the image itself.
		_, out, err = redacted(t, drawing(c.images, c.contents...), pdf.RedactOptions{Text: "zanzibar", OCR: ocr, Unmarked: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, img := range pdftest.Raster(t, pdftest.Write(t, "out.pdf", out), 72) {
			if v, _, _, _ := img.At(c.black.X, c.black.Y).RGBA(); v > 0x0800 && name != "inline" && name != "in a mask" && name != "under another" {
				t.Errorf("%s, unmarked: %#x where the text stood", name, v)
			}
		}
	}
}

// TestTextOfImagesOverEachOther: a text of which each image has a part is found where they lie over
// each other, and one that the page shows mirrored is found as it is stored.
func TestTextOfImagesOverEachOther(t *testing.T) {
	word := bytes.Repeat([]byte{0xff}, 100*100)
	for y := 40; y < 60; y++ {
		for x := 20; x < 80; x++ {
			word[100*y+x] = 0x80
			if x < 30 {
				word[100*y+x] = 0xc8
			}
		}
	}
	whole := stream(grayImage, string(word))
	part := func(from, to int) string {
		var b []byte
		for y := range 100 {
			b = append(b, word[100*y+from:100*y+to]...)
		}
		return stream(strings.Replace(grayImage, "Width 100", fmt.Sprintf("Width %d", to-from), 1), string(b))
	}
	masked := strings.Replace(whole, "<<", "<</Mask[1 1]", 1)
	for name, c := range map[string]struct {
		images  []string
		content string
		black   image.Point
	}{
		"tiles":          {[]string{part(0, 60), part(40, 100)}, "q 60 0 0 100 50 50 cm /I Do Q q 60 0 0 100 90 50 cm /J Do Q", image.Pt(110, 100)},
		"turned tiles":   {[]string{part(0, 60), part(40, 100)}, "0 1 -1 0 200 0 cm q 60 0 0 100 50 50 cm /I Do Q q 60 0 0 100 90 50 cm /J Do Q", image.Pt(100, 90)},
		"mirrored":       {[]string{whole}, "q -100 0 0 100 150 50 cm /I Do Q", image.Pt(90, 100)},
		"head over foot": {[]string{whole}, "q 100 0 0 -100 50 150 cm /I Do Q", image.Pt(110, 100)},
		"mirrored strips": {
			[]string{part(0, 50), part(50, 100)}, "q -50 0 0 100 150 50 cm /I Do Q q -50 0 0 100 100 50 cm /J Do Q", image.Pt(90, 100),
		},
		"mirrored tiles": {
			[]string{part(0, 60), part(40, 100)}, "-1 0 0 1 200 0 cm q 60 0 0 100 50 50 cm /I Do Q q 60 0 0 100 90 50 cm /J Do Q", image.Pt(90, 100),
		},
		"mirrored, with a mask": {[]string{masked}, "q -100 0 0 100 150 50 cm /I Do Q", image.Pt(90, 100)},
	} {
		ocr := &wholeOCR{grayOCR{word: "Zanzibar"}, 50}
		s, out, err := redacted(t, drawing(c.images, c.content), pdf.RedactOptions{Text: "zanzibar", OCR: ocr, Unmarked: true})
		if err != nil || s.Removed.Pixels == 0 {
			t.Errorf("%s: %+v, %v", name, s, err)
			continue
		}
		img := pdftest.Raster(t, pdftest.Write(t, "out.pdf", out), 72)[0]
		if v, _, _, _ := img.At(c.black.X, c.black.Y).RGBA(); v > 0x0800 {
			t.Errorf("%s: %#x where the text stood", name, v)
		}
	}
	// Strips of a long scan, a few of which lie over each other, make no picture beyond the limits.
	content := ""
	for i := range 40 {
		content += fmt.Sprintf("q 100 0 0 100 50 %d cm /I Do Q ", 50+120*i)
	}
	content += "q 100 0 0 100 60 60 cm /I Do Q"
	if _, _, err := redacted(t, drawing([]string{whole}, content), pdf.RedactOptions{Text: "zanzibar", OCR: &wholeOCR{grayOCR{word: "Zanzibar"}, 50}}); err != nil {
		t.Errorf("strips: %v", err)
	}
}

func TestContentThatComesAgainCounts(t *testing.T) {
	e, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b := repeated(t, 20_000, strings.Repeat(" ", 1<<20)) // 20 GB in all
	for _, name := range []string{"text", "optimise", "compare"} {
		files := [][]byte{b}
		if name == "compare" {
			files = append(files, repeated(t, 20_000, strings.Repeat("\n", 1<<20)))
		}
		if _, _, err := run(t, e, name, nil, files...); err == nil || !strings.Contains(err.Error(), "DecodedBytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
