package pdf_test

import (
	"bytes"
	"errors"
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
		"drawings":   gallery(drawings(tb), false),
		"book":       book,
		"footnotes":  footnotes,
		"flow":       flowing,
		"names":      named,
		"looks":      inlineLooks(tb),
		"pictures":   pictures(tb),
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
		"no title in 1.7": {"S001", "ua1", claimable[1], func(b *doc.Builder) { b.Lang("en").Text("x") }},
		"no lang in 1.7":  {"S002", "ua1", claimable[1], func(b *doc.Builder) { b.Title("T").Text("x") }},
		"heading level skipped in 1.7": {"S020", "ua1", claimable[1], func(b *doc.Builder) {
			b.Title("T").Lang("en").Heading(1, "One").Heading(3, "Three")
		}},
		"figure without alt in 1.7": {"S028", "ua1", claimable[2], func(b *doc.Builder) {
			b.Title("T").Lang("en").Image(doc.Image{Name: "red.png", Data: red})
		}},
		"page of six metres": {"S048", "2b", claimable[1], func(b *doc.Builder) {
			b.Title("T").Lang("en").Page(doc.Master{Width: doc.MM(6000), Height: doc.MM(297), Margins: doc.Same(doc.MM(20))}).Text("x")
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

// veraFolders gathers files by the flavours that veraPDF judges them by, so that each is
// one start of it.
type veraFolders map[string]string

func (v veraFolders) put(tb testing.TB, flavour, name string, body []byte) {
	tb.Helper()
	name = fileName(name)
	if v[flavour] == "" {
		v[flavour] = tb.TempDir()
	}
	if err := os.WriteFile(filepath.Join(v[flavour], name+".pdf"), body, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// fileName makes a name of the names of standards, which have strokes.
func fileName(name string) string { return strings.ReplaceAll(name, "/", "") }

// verdicts judges all files: by flavour, then by name.
func (v veraFolders) verdicts(tb testing.TB) map[string]map[string]pdftest.Verdict {
	tb.Helper()
	out := map[string]map[string]pdftest.Verdict{}
	for flavour, verdicts := range pdftest.VeraPDF(tb, v) {
		out[flavour] = map[string]pdftest.Verdict{}
		for file, verdict := range verdicts {
			out[flavour][strings.TrimSuffix(file, ".pdf")] = verdict
		}
	}
	return out
}

// TestNegativesAreRefused: with the code and the place.
func TestNegativesAreRefused(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	all := negatives(t)
	all["heading level skipped"] = negative{"S020", "", compliant, func(b *doc.Builder) {
		b.Title("T").Lang("en").Heading(1, "One").Heading(3, "Three").Text("x")
	}}
	all["heading of level 7 in 1.7"] = negative{"S021", "", claimable[1], func(b *doc.Builder) {
		b.Title("T").Lang("en")
		for level := range 7 {
			b.Heading(level+1, "x")
		}
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
