package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// name makes a name of a fixed length from a number, so that two documents
// differ in nothing but letters, none of which are kerned with each other.
func name(n int) string {
	b := make([]byte, 8)
	for i := range b {
		b[i] = "ehmnu"[n%5]
		n /= 5
	}
	return string(b)
}

// codes returns the bytes that show a name in Liberation Sans: fonts keep their
// glyph ids.
func codes(tb testing.TB, who string) []byte {
	tb.Helper()
	m, err := liberation.New().Match(liberation.Sans, font.Style{})
	if err != nil {
		tb.Fatal(err)
	}
	var b []byte
	for _, r := range who {
		g := m.Face.GlyphIndex(r)
		b = append(b, byte(g>>8), byte(g&0xFF))
	}
	return b
}

// TestIsolation: hundreds of pairs of documents that differ in one name of equal
// length, made one after the other by an engine that concurrent workers share,
// caches and pooled buffers in use: each holds its own name and not the other. The
// documents of a worker are a chain: each but the ends is the second of one pair
// and the first of the next. TestIsolationOfManyPairs has thousands of them.
func TestIsolation(t *testing.T) { isolated(t, 500) }

// isolated makes documents at once, of which none may name those before and after it.
func isolated(t *testing.T, pairs int) {
	t.Helper()
	e := newEngine(t, pdf.Config{})
	letters := map[byte][]byte{}
	for _, c := range []byte("ehmnu") {
		letters[c] = codes(t, string(c))
	}
	shown := func(who string) []byte {
		var b []byte
		for i := range len(who) {
			b = append(b, letters[who[i]]...)
		}
		return b
	}
	const workers = 4
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w))) //nolint:gosec // G404: a test wants the same names every time
			next := random.IntN(390_000)
			var before string
			var read inflater
			var buf bytes.Buffer
			for range pairs/workers + 1 {
				who := name(next)
				next = (next + 1 + random.IntN(600)) % 390_000
				after := name(next)
				buf.Reset()
				if _, err := e.Build(t.Context(), &buf, pdf.RenderOptions{}, func(b *doc.Builder) error {
					b.Title(who).Text("For " + who + ".")
					return nil
				}); err != nil {
					t.Error(err)
					return
				}
				plain := read.unpack(buf.Bytes())
				if !bytes.Contains(plain, shown(who)) || !bytes.Contains(plain, []byte(who)) {
					t.Errorf("the document of %s does not name it", who)
				}
				for _, other := range []string{before, after} {
					if other != "" && (bytes.Contains(plain, shown(other)) || bytes.Contains(plain, []byte(other))) {
						t.Errorf("the document of %s names %s", who, other)
					}
				}
				before = who
			}
		})
	}
	wg.Wait()
}

// TestIsolationOfText: by what a reader extracts.
func TestIsolationOfText(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for i := range 6 {
		who := name(i)
		body, _ := render(t, e, pdf.RenderOptions{}, note(who, 3))
		got := pdftest.Text(t, pdftest.Write(t, "f.pdf", body))
		for k := range 6 {
			if want := k == i; strings.Contains(got, name(k)) != want {
				t.Errorf("document of %s: contains %s is %v", who, name(k), !want)
			}
		}
	}
}

// TestFailClosed: what is missing is an error, never a lesser file.
func TestFailClosed(t *testing.T) {
	e := newEngine(t, pdf.Config{Fonts: unjoined(t)})
	style := func(s doc.Style) func(*doc.Builder) error {
		return func(b *doc.Builder) error { b.Style(&s).Text("x"); return nil }
	}
	for _, c := range []struct {
		name, code string
		is         error
		f          func(*doc.Builder) error
	}{
		{"font family", "F403", pdf.ErrFont, style(doc.Style{Family: "Nope"})},
		{"italic face", "F403", pdf.ErrFont, style(doc.Style{Family: "DejaVu Sans", Italic: true})},
		{"glyph", "F401", pdf.ErrFont, func(b *doc.Builder) error { b.Text("\u4E00"); return nil }},
		{"script", "F402", pdf.ErrFont, func(b *doc.Builder) error { b.Text("سلام"); return nil }},
		{"image", "L307", pdf.ErrLayout, func(b *doc.Builder) error {
			b.Image(doc.Image{Name: "a.png", Data: []byte("no image"), Alt: "a"})
			return nil
		}},
		{"no image", "L307", pdf.ErrLayout, func(b *doc.Builder) error { b.Image(doc.Image{Name: "a.png", Alt: "a"}); return nil }},
		{"anchor", "L308", pdf.ErrLayout, func(b *doc.Builder) error { b.Text("x", doc.LinkTo("#nowhere")); return nil }},
		{"script in a link", "L310", pdf.ErrLayout, func(b *doc.Builder) error { b.Text("x", doc.LinkTo("javascript:alert(1)")); return nil }},
		{"file link", "L310", pdf.ErrLayout, func(b *doc.Builder) error { b.Text("x", doc.LinkTo("file:///etc/passwd")); return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var buf bytes.Buffer
			res, err := e.Build(t.Context(), &buf, pdf.RenderOptions{}, c.f)
			wantCode(t, err, c.code)
			if !errors.Is(err, c.is) || res != nil {
				t.Errorf("error %v, result %v", err, res)
			}
			if bytes.Contains(buf.Bytes(), []byte("%%EOF")) {
				t.Error("what was written is a finished file")
			}
		})
	}
}

// unjoined is a library whose Arabic letters have no tables that join them.
func unjoined(tb testing.TB) *font.Library {
	tb.Helper()
	m, err := liberation.New().Match("DejaVu Sans", font.Style{})
	if err != nil {
		tb.Fatal(err)
	}
	data := bytes.Replace(m.Face.Data(), []byte("GSUB"), []byte("GSUX"), 1)
	lib, err := liberation.New().With(font.Options{Families: []font.Family{{Name: "DejaVu Sans", Faces: []font.Source{{Data: data}}}}})
	if err != nil {
		tb.Fatal(err)
	}
	return lib
}

// TestPlace: a problem of layout names file, line, column and node path.
func TestPlace(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: n\nlang: en\ntitle: T\ndata: {who: string}\nbody:\n  - text: fine\n  - text: \"${who}\"\n")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Render(t.Context(), io.Discard, plan, template.JSON([]byte(`{"who": "x \u4e00 y"}`)), pdf.RenderOptions{})
	want := `t.yaml:8:5: body[1].text: no glyph for U+4E00 in "一"; tried LiberationSans, DejaVuSans; add a font that has it, under fonts (data who)  [F401]`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestClaims: a standard is claimed where it was asked for
// and its rules ran clean, and nowhere else; it decides the version of the file.
func TestClaims(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for _, ids := range append([][]standard.ID{nil}, claimable...) {
		body, res := render(t, e, pdf.RenderOptions{Standards: ids, DocumentID: "doc-42"}, note("X", 2))
		for _, c := range []struct {
			claim string
			want  bool
		}{
			{"<pdfaid:part>2</pdfaid:part>\n<pdfaid:conformance>B</pdfaid:conformance>", slices.Contains(ids, standard.PDFA2b)},
			{"<pdfaid:part>3</pdfaid:part>\n<pdfaid:conformance>B</pdfaid:conformance>", slices.Contains(ids, standard.PDFA3b)},
			{"<pdfaid:part>4</pdfaid:part>\n<pdfaid:rev>2020</pdfaid:rev>", slices.Contains(ids, standard.PDFA4)},
			{"<pdfuaid:part>1</pdfuaid:part>", slices.Contains(ids, standard.PDFUA1)},
			{"<pdfuaid:part>2</pdfuaid:part>\n<pdfuaid:rev>2024</pdfuaid:rev>", slices.Contains(ids, standard.PDFUA2)},
			{"<xmpMM:DocumentID>doc-42</xmpMM:DocumentID>", true},
			{"xmp:CreateDate", false}, // no time was given
		} {
			if got := bytes.Contains(body, []byte(c.claim)); got != c.want {
				t.Errorf("claims %v: %q found is %v", ids, c.claim, got)
			}
		}
		if !slices.Equal(res.Standards, ids) {
			t.Errorf("result says %v of %v", res.Standards, ids)
		}
		header := "%PDF-" + standard.Version(ids).String() + "\n%\xE2\xE3\xCF\xD3\n"
		if !bytes.HasPrefix(body, []byte(header)) || !bytes.HasSuffix(body, []byte("%%EOF\n")) && !bytes.HasSuffix(body, []byte("%%EOF")) {
			t.Errorf("claims %v: header or end of file", ids)
		}
		for _, not := range []string{"/Info", "LZWDecode", "/JavaScript", "/NeedAppearances"} {
			if bytes.Contains(body, []byte(not)) {
				t.Errorf("the file names %s", not)
			}
		}
	}
	timed, _ := render(t, e, pdf.RenderOptions{Time: frozen}, note("X", 2))
	if !bytes.Contains(timed, []byte("<xmp:CreateDate>2026-01-31T18:30:00+05:30</xmp:CreateDate>")) {
		t.Error("the date of the options is not in the metadata")
	}
}

// TestStandardsOfPDF17: their files have nothing that came with PDF 2.0, namespaces and
// structure destinations among it, and everything else as the others have it.
func TestStandardsOfPDF17(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	body, _ := render(t, e, pdf.RenderOptions{Standards: []standard.ID{standard.PDFUA1, standard.PDFA3b}}, note("X", 1))
	plain := unpack(t, body)
	for _, want := range []string{"%PDF-1.7", "/S/Aside/P ", "/Aside/Div", "/S/Link/P ", "/S/GoTo/D[", "/GTS_PDFA1", "/Tabs/S", "/Scope/Column", "/Type/OBJR"} {
		if !strings.Contains(plain, want) {
			t.Errorf("no %s in the file", want)
		}
	}
	for _, not := range []string{"/SD[", "/NS ", "/Namespace", "iso.org"} {
		if strings.Contains(plain, not) {
			t.Errorf("%s in the file", not)
		}
	}
	words := func(ids []standard.ID) []string {
		t.Helper()
		body, _ := render(t, e, pdf.RenderOptions{Standards: ids}, note("X", 20))
		return pdftest.Words(t, pdftest.Write(t, "f.pdf", body))
	}
	if old, late := words([]standard.ID{standard.PDFA2b}), words([]standard.ID{standard.PDFA4}); !slices.Equal(old, late) {
		t.Errorf("the text differs: %q and %q", old, late)
	}
}

// TestStandardsThatExcludeEachOther: those of the options are judged with those of the
// template, before the first byte.
func TestStandardsThatExcludeEachOther(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	const head = "quire: 1\nname: n\nlang: en\ntitle: T\nbody: [{text: x}]\n"
	_, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(head + "standard: [pdf/ua-1, pdf/a-4]\n")})
	if want := "t.yaml:6:22: standard[1]: pdf/a-4 and pdf/ua-1: pdf/a-4 is of PDF 2.0, pdf/ua-1 of PDF 1.7"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(head + "standard: pdf/a-2b\n")})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	_, err = e.Render(t.Context(), &out, plan, template.JSON([]byte("{}")), pdf.RenderOptions{Standards: []standard.ID{standard.PDFUA2}})
	wantCode(t, err, "S004")
	if !errors.Is(err, pdf.ErrStandard) || out.Len() > 0 {
		t.Errorf("%v after %d bytes", err, out.Len())
	}
	res, err := e.Render(t.Context(), &out, plan, template.JSON([]byte("{}")), pdf.RenderOptions{Standards: []standard.ID{standard.PDFUA1}})
	if err != nil || !slices.Equal(res.Standards, []standard.ID{standard.PDFA2b, standard.PDFUA1}) {
		t.Errorf("%v, %v", res, err)
	}
}

// TestTextExtracts: tagged and plain.
func TestTextExtracts(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	const typed = "₹12 €3 → ﬁ fi caf\u0065\u0301 naïve Ω \U0001D538 A\u00A0B ‘quoted’ — x\u00B2" +
		" o\u0323\u0300jo\u0323 g\u0303ua \u0254\u0303 Vie\u0323\u0302t за\u0301мок"
	for _, ids := range [][]standard.ID{nil, compliant} {
		body, res := render(t, e, pdf.RenderOptions{Standards: ids}, func(b *doc.Builder) error {
			b.Title("T").Lang("en").Spans([]doc.Span{{Text: typed + " "}, {Text: "Bold words", Bold: true}})
			return nil
		})
		got := strings.Join(strings.Split(pdftest.Text(t, pdftest.Write(t, "f.pdf", body)), "\n"), " ")
		// pdftotext itself turns a no-break space into a space.
		if !strings.Contains(got, strings.ReplaceAll(typed, "\u00A0", " ")+" Bold words") {
			t.Errorf("got %+q", got)
		}
		if !slices.ContainsFunc(res.Fonts, func(f pdf.FontUse) bool { return strings.HasSuffix(f.Name, "+LiberationSans-Bold") }) {
			t.Errorf("no bold font among %v", res.Fonts)
		}
	}
}

// TestNoTextIsLost: words in are words out, each exactly as often,
// whatever is split: paragraphs, lists, boxes, rows, cells side by side.
func TestNoTextIsLost(t *testing.T) {
	n := 0
	var want []string
	words := func(k int) string {
		s := make([]string, k)
		for i := range s {
			s[i] = fmt.Sprintf("w%05d", n)
			n++
		}
		want = append(want, s...)
		return strings.Join(s, " ")
	}
	e := newEngine(t, pdf.Config{})
	body, res := render(t, e, pdf.RenderOptions{Standards: compliant}, func(b *doc.Builder) error {
		b.Title("T").Lang("en").Style(baseStyle)
		b.Page(doc.Master{Width: doc.MM(105), Height: doc.MM(74), Margins: doc.Same(doc.MM(10))})
		b.Heading(1, words(40))
		for range 6 {
			b.Text(words(120))
		}
		b.List(doc.MarkerDisc, words(200), words(3), words(150))
		b.Add(&doc.Box{Padding: doc.Same(8 * doc.Pt), Border: doc.Around(doc.Line{Width: doc.Pt}), Nodes: []doc.Node{
			para(words(100)), &doc.Box{Padding: doc.Same(4 * doc.Pt), Nodes: []doc.Node{para(words(150))}},
		}})
		b.Add(&doc.Beside{Gap: 6 * doc.Pt, Cells: [][]doc.Node{{para(words(90))}, {para(words(30)), para(words(60))}}})
		head := words(2)
		want = want[:len(want)-2] // repeated on every page: counted below
		b.Table([]doc.Column{{Head: txt(head)}, {}, {}}, func(tb *doc.Table) {
			tb.Rows = doc.Rows(
				doc.Row{Cells: []doc.Cell{{Spans: txt(words(200))}, {Spans: txt(words(3)), VAlign: doc.VAlignMiddle}, {Nodes: []doc.Node{para(words(40)), para(words(80))}}}},
				doc.Row{Cells: []doc.Cell{{Spans: txt(words(180)), Rowspan: 3}, {Spans: txt(words(60))}, {Spans: txt(words(70))}}},
				doc.Row{Cells: []doc.Cell{{Spans: txt(words(60)), Colspan: 2}}},
				doc.Row{Cells: []doc.Cell{{Spans: txt(words(30))}, {Spans: txt(words(9)), Rowspan: 1}}},
			)
		})
		b.Add(&doc.Box{Nodes: []doc.Node{&doc.Table{Columns: []doc.Column{{}, {}}, HeadOnce: true, Rows: doc.Rows(
			doc.Row{Cells: []doc.Cell{{Spans: txt(words(100))}, {Spans: txt(words(10))}}},
			doc.Row{Cells: []doc.Cell{{Spans: txt(words(100))}, {Spans: txt(words(10))}}},
		)}}})
		return nil
	})
	if res.Pages < 15 {
		t.Errorf("only %d pages: little was split", res.Pages)
	}
	count := map[string]int{}
	for _, w := range pdftest.Words(t, pdftest.Write(t, "f.pdf", body)) {
		count[w]++
	}
	for _, w := range want {
		if count[w] != 1 {
			t.Errorf("%s comes %d times", w, count[w])
		}
		delete(count, w)
	}
	for w, k := range count {
		if w != "•" && k < 2 {
			t.Errorf("%q comes %d times, it was to repeat", w, k)
		}
	}
}

// TestTooLargeIsNamed: what cannot be split and fits no page is an
// error that names it.
func TestTooLargeIsNamed(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	src := &doc.Source{File: "t.yaml", Line: 7, Col: 3, Path: "body[1]"}
	long := strings.Repeat("word ", 3000)
	for n, c := range map[string]struct {
		node doc.Node
		want string
	}{
		"image":         {&doc.Image{Block: doc.Block{Src: src}, Data: picture(t, false), Decorative: true, Width: doc.MM(100), Height: doc.MM(300), Fit: doc.FitStretch}, "the image"},
		"keep-together": {&doc.Text{Block: doc.Block{Src: src, KeepTogether: true}, Spans: txt(long)}, "kept together"},
		"row": {&doc.Table{Block: doc.Block{Src: src}, Columns: []doc.Column{{}}, Rows: doc.Rows(
			doc.Row{Src: src, Keep: true, Cells: []doc.Cell{{Spans: txt(long)}}})}, "the row"},
	} {
		t.Run(n, func(t *testing.T) {
			_, err := e.Build(t.Context(), io.Discard, pdf.RenderOptions{}, func(b *doc.Builder) error {
				b.Text("before").Add(c.node)
				return nil
			})
			d := diagnosticsOf(err)
			if len(d) != 1 || d[0].Code != "L301" || d[0].Line != 7 || d[0].Path != "body[1]" || !strings.Contains(d[0].Message, c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestHeaderRepeat: the head of a table is on every page it goes over, in the
// structure tree once.
func TestHeaderRepeat(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	body, res := render(t, e, pdf.RenderOptions{Standards: compliant}, func(b *doc.Builder) error {
		// A low sheet: pdfinfo reads a page anew for every element on it.
		b.Page(doc.Master{Width: doc.MM(148), Height: doc.MM(80), Margins: doc.Same(doc.MM(10))})
		return note("X", 20)(b)
	})
	file := pdftest.Write(t, "f.pdf", body)
	pages := strings.Split(strings.TrimSuffix(pdftest.Text(t, file), "\f"), "\f")
	if len(pages) != res.Pages || res.Pages < 3 {
		t.Fatalf("%d pages of text, %d in all", len(pages), res.Pages)
	}
	for i, p := range pages {
		if !strings.Contains(p, "Quantity") {
			t.Errorf("page %d has no table head", i+1)
		}
		if want := fmt.Sprintf("Page %d of %d", i+1, res.Pages); !strings.Contains(p, want) {
			t.Errorf("page %d does not say %q", i+1, want)
		}
		if strings.Contains(p, "continued") != (i > 0) {
			t.Errorf("page %d: header of the first page or of the others", i+1)
		}
	}
	if n := strings.Count(pdftest.StructText(t, file), `"Quantity"`); n != 1 {
		t.Errorf("the head is %d times in the tree", n)
	}
}

// TestInternalMarkersPrintAsThemselves: nothing is found by searching
// bytes, so no text can be taken for a mark of ours.
func TestInternalMarkersPrintAsThemselves(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	odd := []string{"${pages()}", "{{pages}}", "%%EOF", "endstream", "(x)Tj", "BT", "/Artifact", "\\)", "<</MCID", "0000000000"}
	body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Footer(pageOf())
		for _, s := range odd {
			b.Text(s)
		}
		return nil
	})
	got := pdftest.Words(t, pdftest.Write(t, "f.pdf", body))
	for _, s := range odd {
		if !slices.Contains(got, s) {
			t.Errorf("%q is not among %q", s, got)
		}
	}
	if !strings.Contains(strings.Join(got, " "), "Page 1 of 1") {
		t.Error("no page number")
	}
}

// TestRegularTables: rows that do not cover every column once are refused.
func TestRegularTables(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	cell := func(col, row int) doc.Cell { return doc.Cell{Colspan: col, Rowspan: row, Spans: txt("x")} }
	row := func(c ...doc.Cell) doc.Row { return doc.Row{Cells: c} }
	for n, rows := range map[string][]doc.Row{
		"too few cells":       {row(cell(1, 1))},
		"too many cells":      {row(cell(1, 1), cell(1, 1), cell(1, 1))},
		"span too wide":       {row(cell(3, 1))},
		"overlap":             {row(cell(1, 1), cell(1, 2)), row(cell(2, 1))},
		"span over the end":   {row(cell(1, 2), cell(1, 1))},
		"too many below span": {row(cell(1, 2), cell(1, 1)), row(cell(1, 1), cell(1, 1))},
	} {
		t.Run(n, func(t *testing.T) {
			_, err := e.Build(t.Context(), io.Discard, pdf.RenderOptions{}, func(b *doc.Builder) error {
				b.Table([]doc.Column{{}, {}}, func(tb *doc.Table) { tb.Rows = doc.Rows(rows...) })
				return nil
			})
			wantCode(t, err, "L303")
		})
	}
}

// TestLimits: the limits of a render are typed errors.
func TestLimits(t *testing.T) {
	e := newEngine(t, pdf.Config{Limits: pdf.Limits{Pages: 3}})
	_, err := e.Build(t.Context(), io.Discard, pdf.RenderOptions{}, note("X", 400))
	var le *pdf.LimitError
	if !errors.As(err, &le) || le.Name != "Pages" || !errors.Is(err, pdf.ErrLimit) {
		t.Errorf("pages: %v", err)
	}
	p, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte("quire: 1\nname: t\nlang: en\ntitle: T\ndata: {xs: [string]}\nbody:\n  - {for: x in xs, do: [{text: a, break-after: page}]}\n")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Render(t.Context(), io.Discard, p, template.JSON([]byte(`{"xs": ["", "", "", "", ""]}`)), pdf.RenderOptions{})
	if le = nil; !errors.As(err, &le) || !strings.HasPrefix(le.Place, "t.yaml:7:") {
		t.Errorf("pages of a template: %v, want the place of the block", err)
	}
	if _, err = e.Build(t.Context(), io.Discard, pdf.RenderOptions{Limits: &pdf.Limits{Pages: 4}}, note("X", 1)); !errors.Is(err, pdf.ErrLimit) {
		t.Errorf("a render raises the engine's limit: %v", err)
	}
	_, err = e.Build(t.Context(), io.Discard, pdf.RenderOptions{Limits: &pdf.Limits{OutputBytes: 5000}}, note("X", 40))
	if !errors.As(err, &le) || le.Name != "OutputBytes" {
		t.Errorf("output: %v", err)
	}
	_, err = e.Build(t.Context(), io.Discard, pdf.RenderOptions{Limits: &pdf.Limits{BoxDepth: 5}}, func(b *doc.Builder) error {
		var n doc.Node = para("x")
		for range 10 {
			n = &doc.Box{Nodes: []doc.Node{n}}
		}
		b.Add(n)
		return nil
	})
	if !errors.As(err, &le) || le.Name != "BoxDepth" {
		t.Errorf("depth: %v", err)
	}
	_, err = e.Build(t.Context(), io.Discard, pdf.RenderOptions{Limits: &pdf.Limits{ImagePixels: 100}}, func(b *doc.Builder) error {
		b.Image(doc.Image{Data: picture(t, true), Alt: "x"})
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "ImagePixels") {
		t.Errorf("pixels: %v", err)
	}
}

// failing is a writer that fails after n bytes.
type failing struct{ n int }

var errDisk = errors.New("disk full")

func (w *failing) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

// TestWriteErrorStops: a failing writer ends the render: no further
// row is asked for, and no goroutine stays.
func TestWriteErrorStops(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	e := newEngine(t, pdf.Config{})
	asked := 0
	_, err := e.Build(t.Context(), &failing{100_000}, pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Table([]doc.Column{{}}, func(tb *doc.Table) {
			tb.Rows = func(yield func(doc.Row, error) bool) {
				for asked = 1; asked < 1_000_000; asked++ {
					if !yield(doc.Row{Cells: []doc.Cell{{Spans: txt("row " + strconv.Itoa(asked*7919))}}}, nil) {
						return
					}
				}
			}
		})
		return nil
	})
	if !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	if asked > 200_000 {
		t.Errorf("%d rows were asked for", asked)
	}
}

// TestCancel: after cancellation no further row and no block is
// begun.
func TestCancel(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	e := newEngine(t, pdf.Config{})
	for _, inTable := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		_, err := e.Build(ctx, io.Discard, pdf.RenderOptions{}, func(b *doc.Builder) error {
			if !inTable {
				cancel()
				b.Text("x")
				return nil
			}
			b.Table([]doc.Column{{}}, func(tb *doc.Table) {
				tb.Rows = func(yield func(doc.Row, error) bool) {
					for asked = 1; ; asked++ {
						if asked == 100 {
							cancel()
						}
						if !yield(doc.Row{Cells: []doc.Cell{{Spans: txt("x")}}}, nil) {
							return
						}
					}
				}
			})
			return nil
		})
		cancel()
		if !errors.Is(err, context.Canceled) || asked > 101 {
			t.Errorf("error %v after %d rows", err, asked)
		}
	}
}

// TestRowErrorIsPassedOn: what the source of the rows says is what the caller
// gets.
func TestRowErrorIsPassedOn(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	want := errors.New("row 3 is gone")
	for _, w := range []doc.Width{doc.Fr(1), doc.Auto()} {
		_, err := e.Build(t.Context(), io.Discard, pdf.RenderOptions{}, func(b *doc.Builder) error {
			b.Table([]doc.Column{{Width: w}}, func(tb *doc.Table) {
				tb.Rows = func(yield func(doc.Row, error) bool) { yield(doc.Row{}, want) }
			})
			return nil
		})
		if !errors.Is(err, want) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := e.Build(t.Context(), io.Discard, pdf.RenderOptions{}, func(*doc.Builder) error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}
