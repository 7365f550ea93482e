//go:build !race

package operation_test

import (
	"bytes"
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
