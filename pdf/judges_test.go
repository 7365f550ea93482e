package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// samples are the documents that every judge sees.
func samples(tb testing.TB) map[string]func(*doc.Builder) error {
	tb.Helper()
	return map[string]func(*doc.Builder) error{
		"empty":      func(b *doc.Builder) error { b.Title("Empty").Lang("en"); return nil },
		"hello":      func(b *doc.Builder) error { b.Title("Hello").Lang("en").Text("Hello, world"); return nil },
		"note":       note("Zoë Müller", 2),
		"active":     note("A. N. Other", 40),
		"long":       note("Many trades", 150),
		"everything": everything(tb),
		"nesting":    nesting(tb),
		"marks":      marks,
		"barcodes":   barcodes,
		"arabic":     rightToLeft("ar"),
		"hebrew":     rightToLeft("he"),
	}
}

// marks has letters with combining marks, and ligatures, in every family and weight.
func marks(b *doc.Builder) error {
	b.Title("Marks").Lang("yo")
	for _, family := range []string{"Liberation Sans", "Liberation Serif", "Liberation Mono", "DejaVu Sans"} {
		for _, weight := range []int{400, 700} {
			b.Text("o\u0323\u0300jo\u0323 e\u0323\u0301 g\u0303uarani G\u0303 \u0254\u0303 n\u0329 Vie\u0323\u0302t i\u0307\u0301 за\u0301мок office",
				doc.In(&doc.Style{Family: family, Weight: weight}))
		}
	}
	return nil
}

func TestQPDFAndFonts(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for name, f := range samples(t) {
		for _, ids := range [][]standard.ID{nil, compliant} {
			t.Run(fmt.Sprintf("%s claims %d", name, len(ids)), func(t *testing.T) {
				body, res := render(t, e, pdf.RenderOptions{Standards: ids}, f)
				file := pdftest.Write(t, "f.pdf", body)
				if err := pdftest.QPDF(t, file); err != nil {
					t.Fatal(err)
				}
				fonts := pdftest.Fonts(t, file)
				if len(fonts) != len(res.Fonts) {
					t.Errorf("pdffonts sees %d fonts, the result names %d", len(fonts), len(res.Fonts))
				}
				for _, f := range fonts {
					if !f.Embedded || !f.Subset || !f.ToUnicode {
						t.Errorf("font %s: %+v", f.Name, f)
					}
				}
				if pages := len(pdftest.Raster(t, file, 30)); pages != res.Pages {
					t.Errorf("poppler draws %d pages, the result says %d", pages, res.Pages)
				}
			})
		}
	}
	t.Run("qpdf can fail", func(t *testing.T) {
		body, _ := render(t, e, pdf.RenderOptions{}, note("X", 2))
		broken := bytes.Replace(body, []byte("/Length "), []byte("/Length 9"), 1)
		if pdftest.QPDF(t, pdftest.Write(t, "f.pdf", broken)) == nil {
			t.Error("qpdf finds nothing wrong with a wrong Length")
		}
	})
}

// negative is a document that a standard does not allow: we refuse it, and
// veraPDF refuses what the refusal would have let out.
type negative struct {
	code    string
	flavour string // that fails
	claims  []standard.ID
	doc     func(*doc.Builder)
}

func negatives(tb testing.TB) map[string]negative {
	tb.Helper()
	red := picture(tb, false)
	return map[string]negative{
		"no title": {"S001", "ua2", compliant, func(b *doc.Builder) { b.Lang("en").Text("x") }},
		"no lang":  {"S002", "ua2", compliant, func(b *doc.Builder) { b.Title("T").Text("x") }},
		"wrong lang": {"S002", "ua2", compliant, func(b *doc.Builder) {
			b.Title("T").Lang("en_US!").Text("x")
		}},
		"figure without alt": {"S028", "ua2", compliant, func(b *doc.Builder) {
			b.Title("T").Lang("en").Image(doc.Image{Name: "red.png", Data: red})
		}},
		"private use bookmark": {"S030", "ua2", compliant, func(b *doc.Builder) {
			b.Title("T").Lang("en").Text("x", doc.Bookmark("\uE000"))
		}},
		"private use alt": {"S030", "ua2", compliant, func(b *doc.Builder) {
			b.Title("T").Lang("en").Image(doc.Image{Name: "red.png", Data: red, Alt: "\uE000"})
		}},
		"private use text": {"S030", "ua2", compliant, func(b *doc.Builder) {
			b.Title("T").Lang("en").Text("\uF001")
		}},
	}
}

// TestVeraPDF judges every sample against what it claims, shows for every
// negative that both we and the validator refuse it, and that a claim flipped in
// the file is found.
func TestVeraPDF(t *testing.T) {
	pdftest.Need(t, "verapdf")
	e := newEngine(t, pdf.Config{})
	dir := t.TempDir()
	put := func(name string, body []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name+".pdf"), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := samples(t)
	for name, f := range good {
		body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: frozen, DocumentID: "id-1"}, f)
		put(name, body)
	}
	claimed := slices.Collect(maps.Keys(good))
	for name, body := range templateSamples(t) {
		put(name, body)
		claimed = append(claimed, name)
	}
	body, err := markdownSample(t, e, markdownData, pdf.RenderOptions{Standards: compliant, Time: frozen})
	if err != nil {
		t.Fatal(err)
	}
	put("markdown", body)
	body, _ = openType(t, pdf.RenderOptions{Standards: compliant, Time: frozen})
	put("opentype", body)
	claimed = append(claimed, "markdown", "opentype")
	body, _ = render(t, e, pdf.RenderOptions{Standards: compliant}, note("Flip", 2))
	put("flipped a", bytes.Replace(body, []byte("<pdfaid:part>4<"), []byte("<pdfaid:part>3<"), 1))
	put("flipped ua", bytes.Replace(body, []byte("<pdfuaid:part>2<"), []byte("<pdfuaid:part>1<"), 1))
	for name, n := range negatives(t) {
		b := doc.NewBuilder()
		n.doc(b)
		var forced bytes.Buffer
		if err := e.BuildForced(t.Context(), &forced, n.claims, b.Document()); err != nil {
			t.Fatalf("%s, forced: %v", name, err)
		}
		put(name, forced.Bytes())
	}
	verdicts := map[string]map[string]pdftest.Verdict{
		"4": pdftest.VeraPDF(t, "4", dir), "ua2": pdftest.VeraPDF(t, "ua2", dir),
	}
	for _, name := range claimed {
		for flavour, files := range verdicts {
			if v := files[name+".pdf"]; !v.Compliant {
				t.Errorf("%s is not %s: %s", name, flavour, strings.Join(v.Messages, "\n\t"))
			}
		}
	}
	if verdicts["4"]["flipped a.pdf"].Compliant || verdicts["ua2"]["flipped ua.pdf"].Compliant {
		t.Error("veraPDF does not see a flipped claim")
	}
	refused, failed := 0, 0
	for name, n := range negatives(t) {
		if v := verdicts[n.flavour][name+".pdf"]; v.Compliant {
			t.Errorf("%s: veraPDF finds nothing", name)
		} else {
			failed++
		}
		refused++
	}
	t.Logf("negative %d/%d refused by us, %d/%d failed by veraPDF", refused, len(negatives(t)), failed, len(negatives(t)))
}

// TestNegativesAreRefused: with the code and the place.
func TestNegativesAreRefused(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	all := negatives(t)
	all["heading level skipped"] = negative{"S020", "", compliant, func(b *doc.Builder) {
		b.Title("T").Lang("en").Heading(1, "One").Heading(3, "Three").Text("x")
	}}
	all["span in no language"] = negative{"S031", "", compliant, func(b *doc.Builder) {
		b.Title("T").Lang("en").Spans([]doc.Span{{Text: "x", Lang: "not a tag"}})
	}}
	for name, n := range all {
		t.Run(name, func(t *testing.T) {
			var buf bytes.Buffer
			_, err := e.Build(t.Context(), &buf, pdf.RenderOptions{Standards: n.claims}, func(b *doc.Builder) error { n.doc(b); return nil })
			wantCode(t, err, n.code)
			if _, err := e.Build(t.Context(), &buf, pdf.RenderOptions{}, func(b *doc.Builder) error { n.doc(b); return nil }); err != nil {
				t.Errorf("without a claim: %v", err)
			}
		})
	}
}

func wantCode(tb testing.TB, err error, code string) {
	tb.Helper()
	d := diagnosticsOf(err)
	if !slices.ContainsFunc(d, func(d pdf.Diagnostic) bool { return d.Code == code }) {
		tb.Errorf("want %s, got %v", code, err)
	}
}

func diagnosticsOf(err error) []pdf.Diagnostic {
	if de, ok := errors.AsType[*pdf.DiagnosticError](err); ok {
		return de.Diagnostics
	}
	return nil
}
