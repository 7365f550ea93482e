//go:build !race

package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/standard"
)

// archive1 are the sets of standards with part 1 of PDF/A.
var archive1 = [][]standard.ID{{standard.PDFA1b}, {standard.PDFA1a}, {standard.PDFA1b, standard.PDFUA1}}

// square is a drawing; inside is what it has within a square.
func square(inside string) doc.Image {
	return doc.Image{Name: "s.svg", Width: doc.MM(20), Alt: "A square", Data: []byte(
		`<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="90" height="90" fill="#224466"/>` + inside + `</svg>`)}
}

func dusk(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, sunset(60, 40)); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// opaque are the samples without transparency, and what PDF/A-1 takes of drawings, images and
// watermarks.
func opaque(tb testing.TB) map[string]func(*doc.Builder) error {
	tb.Helper()
	all := samples(tb)
	out := map[string]func(*doc.Builder) error{"fields": everyField, "solid": func(b *doc.Builder) error {
		b.Title("Solid").Lang("en").Text("Solid things")
		b.Image(square(`<circle cx="50" cy="50" r="20" fill="none" stroke="#fff"/>`))
		b.Image(doc.Image{Name: "red.png", Data: picture(tb, false), Alt: "red", Width: doc.MM(10)})
		b.Image(doc.Image{Name: "p.png", Data: withProfile(dusk(tb), standard.SRGBProfile2()), Alt: "a sunset", Width: doc.MM(10)})
		b.Watermark(doc.Watermark{Text: "DRAFT", Angle: 45, Opacity: 1, Style: &doc.Style{Color: doc.RGB(0xEE, 0xEE, 0xEE)}})
		return nil
	}}
	for _, name := range []string{"empty", "hello", "note", "long", "nesting", "marks", "barcodes", "arabic", "hebrew", "book", "footnotes"} {
		out[name] = all[name]
	}
	return out
}

// refused1 are documents that part 1 of PDF/A does not take, each with its code; the others do.
func refused1(tb testing.TB) map[string]negative {
	tb.Helper()
	of := func(code string, f func(*doc.Builder)) negative {
		return negative{code, "1b", archive1[0], func(b *doc.Builder) { b.Title("T").Lang("en").Text("x"); f(b) }}
	}
	return map[string]negative{
		"watermark": of("S055", func(b *doc.Builder) { b.Watermark(doc.Watermark{Text: "DRAFT"}) }),
		"alpha": of("S055", func(b *doc.Builder) {
			b.Image(doc.Image{Name: "a.png", Data: picture(tb, true), Alt: "a"})
		}),
		"opacity of a drawing":  of("S055", func(b *doc.Builder) { b.Image(square(`<circle r="40" fill-opacity=".5"/>`)) }),
		"group of a drawing":    of("S055", func(b *doc.Builder) { b.Image(square(`<g opacity=".5"><circle r="40"/><circle r="9"/></g>`)) }),
		"blending of a drawing": of("S055", func(b *doc.Builder) { b.Image(square(`<circle r="40" style="mix-blend-mode:multiply"/>`)) }),
		"profile of version 4":  of("S054", func(b *doc.Builder) { b.Image(doc.Image{Name: "p.png", Data: formats(tb)["a.png"], Alt: "p"}) }),
		"an attached file":      of("S049", func(b *doc.Builder) { b.Attach(doc.Attachment{Name: "a.txt", Type: "text/plain", Data: []byte("a")}) }),
		"a deeply nested drawing": of("S056", func(b *doc.Builder) {
			const deep = 40
			b.Image(square(strings.Repeat(`<g clip-path="url(#c)">`, deep) + `<circle r="40"/>` + strings.Repeat("</g>", deep) +
				`<clipPath id="c"><rect width="50" height="50"/></clipPath>`))
		}),
	}
}

// TestArchivesOfPDF14RefuseTransparency: what PDF/A-1 does not take is refused with its place and a
// remedy, and PDF/A-3 takes it.
func TestArchivesOfPDF14RefuseTransparency(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for name, n := range refused1(t) {
		t.Run(name, func(t *testing.T) {
			for _, ids := range archive1 {
				var out bytes.Buffer
				_, err := e.Build(t.Context(), &out, pdf.RenderOptions{Standards: ids}, func(b *doc.Builder) error { n.doc(b); return nil })
				wantCode(t, err, n.code)
				if !errors.Is(err, pdf.ErrStandard) {
					t.Errorf("%v is no ErrStandard", err)
				}
				for _, d := range diagnosticsOf(err) {
					if d.Suggestion == "" || !strings.HasPrefix(d.Clause, "ISO 19005-1, 6.") {
						t.Errorf("%+v", d)
					}
				}
			}
			if _, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{Standards: []standard.ID{standard.PDFA3b}}, func(b *doc.Builder) error { n.doc(b); return nil }); err != nil {
				t.Errorf("pdf/a-3b: %v", err)
			}
		})
	}
	_, err := renderText(t, e, "quire: 1\nname: n\nlang: en\ntitle: T\nstandard: pdf/a-1b\nwatermark: {text: DRAFT}\nbody: [{text: x}]\n", "{}")
	if d := diagnosticsOf(err); len(d) != 1 || d[0].Code != "S055" || d[0].Path != "watermark" {
		t.Errorf("%v", err)
	}
}

// TestStructureOfArchivesOfPDF14IsBounded: an array of PDF 1.4 has at most 8,191 elements.
func TestStructureOfArchivesOfPDF14IsBounded(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	many := func(b *doc.Builder) error {
		b.Title("T").Lang("en")
		for range 8_200 {
			b.Text("x")
		}
		return nil
	}
	_, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{Standards: archive1[0]}, many)
	if limit, ok := errors.AsType[*pdf.LimitError](err); !ok || limit.Name != "ArrayLen" || limit.Limit != 8_191 {
		t.Errorf("got %v", err)
	}
	if _, err := e.Build(t.Context(), &bytes.Buffer{}, pdf.RenderOptions{Standards: []standard.ID{standard.PDFA2b}}, many); err != nil {
		t.Error(err)
	}
}

// spoilt1 are changes of a file of PDF/A-1a that break it: what stands in the file, and what takes
// its place, which is as long.
var spoilt1 = map[string][3]string{ // by the clause of veraPDF
	"6.1.13 optional content":  {"1b", "/PageMode/UseOutlines", "/OCProperties<<    >>"},
	"6.2.3.3 output intent":    {"1b", "/GTS_PDFA1", "/GTS_PDFX1"},
	"6.3.3.2 glyphs of CIDs":   {"1b", "/CIDToGIDMap", "/CIDToGIDMop"},
	"6.3.4 font program":       {"1b", "/FontFile2 ", "/FontFile9 "},
	"6.3.5 no CIDSet":          {"1b", "/CIDSet ", "/CIDSot "},
	"6.5.2 annotation":         {"1b", "/Subtype/Link", "/Subtype/Lunk"},
	"6.5.3 not printed":        {"1b", "/F 4", "/F 0"},
	"6.6.1 action":             {"1b", "/S/URI", "/S/ARI"},
	"6.7.2 no metadata":        {"1b", "/Metadata ", "/Metodata "},
	"6.7.11 part":              {"1b", "<pdfaid:part>1", "<pdfaid:part>2"},
	"6.8.2.2 not marked":       {"1a", "/Marked true", "/Marked null"},
	"6.8.3.3 no structure":     {"1a", "/StructTreeRoot ", "/StructTreeRoof "},
	"6.3.8 text of the glyphs": {"1a", "/ToUnicode ", "/ToUnicade "},
}

// spoil returns a file of PDF/A-1a with one of the changes.
func spoil(tb testing.TB, e *pdf.Engine, change [3]string) []byte {
	tb.Helper()
	ids := archive1[0]
	if change[0] == "1a" {
		ids = archive1[1]
	}
	body, _ := render(tb, e, pdf.RenderOptions{Standards: ids}, func(b *doc.Builder) error {
		b.Title("T").Lang("en").Heading(1, "One", doc.Bookmark("One")).Spans([]doc.Span{{Text: "See "}, {Text: "there", Link: "https://example.com/", Style: &doc.Style{Color: doc.RGB(0x22, 0x44, 0x66)}}})
		return nil
	})
	if !bytes.Contains(body, []byte(change[1])) {
		tb.Fatalf("no %s in the file", change[1])
	}
	return bytes.ReplaceAll(body, []byte(change[1]), []byte(change[2]))
}

// TestCheckFindsWhatBreaksPart1: each rule by a file that breaks it.
func TestCheckFindsWhatBreaksPart1(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for name, change := range spoilt1 {
		id := standard.PDFA1b
		if change[0] == "1a" {
			id = standard.PDFA1a
		}
		found, err := e.Check(t.Context(), opened(t, e, spoil(t, e, change)), id)
		want, _, _ := strings.Cut(name, " ")
		if err != nil || !slices.ContainsFunc(found, func(f standard.Finding) bool { return f.Clause == "ISO 19005-1, "+want }) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	// Files of later parts have cross-reference streams, and profiles of ICC version 4.
	body, _ := render(t, e, pdf.RenderOptions{Standards: []standard.ID{standard.PDFA2b}}, note("X", 2))
	found, err := e.Check(t.Context(), opened(t, e, body), standard.PDFA1b)
	got := fmt.Sprint(found)
	for _, want := range []string{"6.1.4", "6.2.2", "6.3.5", "6.7.11"} {
		if err != nil || !strings.Contains(got, "ISO 19005-1, "+want) {
			t.Errorf("no %s in %v, %v", want, found, err)
		}
	}
}

// TestEditedArchivesOfPDF14KeepTheirClaim: what operations write of a file of PDF/A-1 is one; what
// would break it drops the claim with a warning.
func TestEditedArchivesOfPDF14KeepTheirClaim(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for _, ids := range archive1 {
		for name, body := range edited1(t, e, ids) {
			if !bytes.HasPrefix(body, []byte("%PDF-1.4")) {
				t.Errorf("%s %v: %.8s", name, ids, body)
			}
			if got := opened(t, e, body).Info().Claims; len(got) != len(ids) {
				t.Errorf("%s %v: claims %v", name, ids, got)
			}
		}
	}
	body, _ := render(t, e, pdf.RenderOptions{Standards: archive1[0]}, note("X", 2))
	var out bytes.Buffer
	s, err := e.Edit(t.Context(), &out, opened(t, e, body), pdf.EditOptions{}, pdf.Watermark(pdf.Stamping{Text: "DRAFT", Placing: pdf.Placing{Opacity: 0.2}}))
	if err != nil || len(s.Claims) > 0 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "ISO 19005-1, 6.4") {
		t.Errorf("%+v, %v", s, err)
	}
}

// edited1 are files that operations made of some with a claim.
func edited1(tb testing.TB, e *pdf.Engine, ids []standard.ID) map[string][]byte {
	tb.Helper()
	all := map[string][]byte{}
	form, _ := render(tb, e, pdf.RenderOptions{Standards: ids, Time: frozen}, everyField)
	for name, ops := range map[string][]pdf.Op{"filled": {pdf.Fill(everyValue, nil)}, "flattened": {pdf.Fill(everyValue, nil), pdf.Flatten(nil)}} {
		var out bytes.Buffer
		if s, err := e.Edit(tb.Context(), &out, opened(tb, e, form), pdf.EditOptions{}, ops...); err != nil || len(s.Warnings) > 0 {
			tb.Fatal(s, err)
		}
		all[name] = out.Bytes()
	}
	one, _ := render(tb, e, pdf.RenderOptions{Standards: ids, Time: frozen}, note("X", 2))
	var out bytes.Buffer
	if _, err := e.Merge(tb.Context(), &out, []pdf.MergeInput{{Doc: opened(tb, e, one), Name: "a"}, {Doc: opened(tb, e, one), Name: "b"}}, pdf.EditOptions{}); err != nil {
		tb.Fatal(err)
	}
	all["merged"] = out.Bytes()
	return all
}
