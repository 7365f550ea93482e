//go:build judges

package pdf_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// wrong is a template, or a document made in Go where the language itself refuses it, that
// a standard does not allow.
type wrong struct {
	name, code, flavour string
	claims              []standard.ID
	title, body, head   string // of the template; body is a list of blocks
	data                string // of the field s, as JSON
	build               func(*doc.Builder)
	protect             *crypt.Options
}

// wrongs returns 60 of them: each rule in every place where it can be broken, under every
// standard that has it and whose breach a validator can see.
func wrongs(tb testing.TB) (all []wrong) {
	tb.Helper()
	ua1, ua2 := []standard.ID{standard.PDFUA1}, []standard.ID{standard.PDFUA2}
	both1, both3 := claimable[1], claimable[2]
	add := func(w wrong) {
		if w.title == "" {
			w.title = "T"
		}
		if w.data == "" {
			w.data = `"x"`
		}
		all = append(all, w)
	}
	accessible := []struct {
		flavour string
		claims  []standard.ID
	}{{"ua1", ua1}, {"ua2", ua2}}

	places := map[string]string{
		"in the body": "[%s]",
		"in a box":    "[{box: {do: [%s]}}]",
		"in a cell":   "[{table: {columns: [{head: A}, {head: B}], rows: [[a, {do: [%s]}]]}}]",
		"in a row":    "[{row: {cells: [left, %s]}}]",
		"in a switch": "[{switch: s, cases: [{is: none, do: [{text: none}]}], else: [%s]}]",
		"in a branch": `[{if: "s != 'none'", do: [%s]}]`,
	}
	for place, body := range places {
		for _, a := range accessible {
			add(wrong{name: "image without alt " + place, code: "S028", flavour: a.flavour, claims: a.claims, body: fmt.Sprintf(body, `{image: red.png, width: 10mm, alt: "${s}"}`), data: `""`})
		}
		add(wrong{name: "private use text " + place, code: "S030", flavour: "ua2", claims: ua2, body: fmt.Sprintf(body, `{text: "${s}"}`), data: `"\uF001"`})
		add(wrong{name: "private use alt " + place, code: "S030", flavour: "ua2", claims: compliant, body: fmt.Sprintf(body, `{image: red.png, width: 10mm, alt: "${s}"}`), data: `"\uE000"`})
		add(wrong{name: "level skipped " + place, code: "S020", flavour: "ua1", claims: both1, body: strings.TrimSuffix(fmt.Sprintf(body, "{heading: Two, level: 2}"), "]") + ", {text: x}]"})
	}
	for _, a := range accessible {
		add(wrong{name: "barcode without alt", code: "S028", flavour: a.flavour, claims: a.claims, body: `[{barcode: qr, value: x, size: 25mm, alt: "${s}"}]`, data: `""`})
		for name, lang := range map[string]string{"no language": "", "language with an underscore": "en_US", "language of nine letters": "abcdefghi", "language with a space": "en US"} {
			add(wrong{name: name, code: "S002", flavour: a.flavour, claims: a.claims, build: func(b *doc.Builder) { b.Title("T").Lang(lang).Text("x") }})
		}
	}
	for i, claims := range [][]standard.ID{ua1, ua2, both1, both3, compliant} {
		flavour := []string{"ua1", "ua2", "ua1", "ua1", "ua2"}[i]
		add(wrong{name: "no title", code: "S001", flavour: flavour, claims: claims, title: "${s}", data: `""`, body: "[{text: x}]"})
	}
	add(wrong{name: "private use item", code: "S030", flavour: "ua2", claims: ua2, data: `"\uF001"`, body: `[{list: {items: ["${s}"]}}]`})
	add(wrong{name: "private use cell", code: "S030", flavour: "ua2", claims: compliant, data: `"\uF001"`, body: `[{table: {columns: [{head: A}], rows: [["${s}"]]}}]`})
	add(wrong{name: "private use bookmark", code: "S030", flavour: "ua2", claims: ua2, data: `"\uE000"`, body: `[{text: x, bookmark: "${s}"}]`})
	add(wrong{name: "level skipped between two", code: "S020", flavour: "ua1", claims: ua1, body: "[{heading: One}, {heading: Two, level: 2}, {heading: Four, level: 4}]"})
	add(wrong{name: "span in no language", code: "S031", flavour: "ua1", claims: ua1, build: func(b *doc.Builder) {
		b.Title("T").Lang("en").Spans([]doc.Span{{Text: "x", Lang: "not a tag"}})
	}})
	for flavour, claims := range map[string][]standard.ID{"2b": {standard.PDFA2b}, "3b": both3, "4": {standard.PDFA4}} {
		add(wrong{name: "encrypted", code: "S003", flavour: flavour, claims: claims, body: "[{text: x}]", protect: &crypt.Options{Owner: "owner"}})
	}
	for flavour, claims := range map[string][]standard.ID{"2b": {standard.PDFA2b}, "3b": {standard.PDFA3b}} {
		add(wrong{name: "page of six metres", code: "S048", flavour: flavour, claims: claims, head: "page: {size: [6000mm, 200mm]}", body: "[{text: x}]"})
	}
	for flavour, pair := range map[string][]standard.ID{
		"2b": {standard.PDFA2b, standard.PDFA3b}, "3b": {standard.PDFA3b, standard.PDFA4}, "4": {standard.PDFA2b, standard.PDFA4},
		"ua1": {standard.PDFA4, standard.PDFUA1}, "ua2": {standard.PDFA2b, standard.PDFUA2},
	} {
		add(wrong{name: "standards that exclude each other", code: "S004", flavour: flavour, claims: pair, body: "[{text: x}]"})
	}
	return all
}

// TestNegatives: what a standard forbids is refused by us with its code; forced out, it is
// failed by the validator, which has judged it: a file that it cannot read proves nothing.
func TestNegatives(t *testing.T) {
	e := newEngine(t, pdf.Config{Files: fstest.MapFS{"red.png": {Data: picture(t, false)}}})
	all, files := wrongs(t), veraFolders{}
	refused, failed := 0, 0
	for i, w := range all {
		var forced bytes.Buffer
		o := pdf.RenderOptions{Standards: w.claims, Protect: w.protect}
		var err error
		if w.build != nil {
			_, err = e.Build(t.Context(), &bytes.Buffer{}, o, func(b *doc.Builder) error { w.build(b); return nil })
			b := doc.NewBuilder()
			w.build(b)
			if err := e.BuildForced(t.Context(), &forced, w.claims, b.Document()); err != nil {
				t.Fatalf("%s, forced: %v", w.name, err)
			}
		} else {
			text := fmt.Sprintf("quire: 1\nname: n\nlang: en\ntitle: %q\n%s\ndata: {s: string}\nbody: %s\n", w.title, w.head, w.body)
			plan, fault := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(text)})
			if fault != nil {
				t.Fatalf("%s: %v", w.name, fault)
			}
			data := template.JSON([]byte(`{"s": ` + w.data + `}`))
			_, err = e.Render(t.Context(), &bytes.Buffer{}, plan, data, o)
			if err := e.RenderForced(t.Context(), &forced, plan, data, o); err != nil {
				t.Fatalf("%s, forced: %v", w.name, err)
			}
		}
		if slices.ContainsFunc(diagnosticsOf(err), func(d pdf.Diagnostic) bool { return d.Code == w.code }) {
			refused++
		} else {
			t.Errorf("%s under %v: want %s, got %v", w.name, w.claims, w.code, err)
		}
		files.put(t, w.flavour, fmt.Sprint(i), forced.Bytes())
	}
	verdicts := files.verdicts(t)
	for i, w := range all {
		switch v, ok := verdicts[w.flavour][fmt.Sprint(i)]; {
		case ok && !v.Compliant && len(v.Clauses) > 0:
			failed++
		default:
			t.Errorf("%s under %v: veraPDF %s says %+v", w.name, w.claims, w.flavour, v)
		}
	}
	t.Logf("negative %d/%d refused by us, %d/%d failed by veraPDF", refused, len(all), failed, len(all))
	if len(all) < 60 {
		t.Errorf("only %d negatives", len(all))
	}
}

// languages are those of the matrix: a text with accents, other scripts and both directions.
var languages = map[string]string{
	"en": "The quick brown fox", "de": "Größe und Übermaß", "pl": "Zażółć gęślą jaźń", "el": "Καλημέρα κόσμε",
	"ru": "Съешь ещё этих булок", "vi": "Tiếng Việt", "he": "שלום עולם", "ar": "مرحبا بالعالم",
}

// blockTypes are the blocks of the matrix; each shows %s once.
var blockTypes = map[string]string{
	"text":     `[{text: "%s"}]`,
	"heading":  `[{heading: "%s", level: 1, bookmark: true}, {text: x}]`,
	"list":     `[{list: {marker: decimal, items: ["%s", two]}}]`,
	"table":    `[{table: {caption: Cap, columns: [{head: A}, {head: B}], rows: [["%s", b]], foot: [[{text: all, colspan: 2}]]}}]`,
	"row":      `[{row: {cells: ["%s", right]}}]`,
	"box":      `[{box: {padding: 4pt, border: {width: 0.5pt, color: "#000"}, background: "#eef1f7", do: [{text: "%s"}]}}]`,
	"link":     `[{text: "%s", anchor: here}, {text: "[back](#here) and [out](https://example.com/)"}]`,
	"markup":   `[{text: "**bold** *italic* %s"}]`,
	"markdown": `[{markdown: "# %s\n\n- one\n- two\n"}]`,
	"image":    `[{image: red.png, width: 10mm, alt: "red"}, {text: "%s"}]`,
	"barcode":  `[{barcode: qr, value: x, size: 25mm, alt: "code"}, {text: "%s"}]`,
	"break":    `[{text: one}, {page-break: true}, {text: "%s"}]`,
}

// TestMatrix: every block in every language under every set of standards, and every sample
// under every set, is what it claims by veraPDF, sound by qpdf, and gives its words back.
func TestMatrix(t *testing.T) {
	e := newEngine(t, pdf.Config{Files: fstest.MapFS{"red.png": {Data: picture(t, false)}}})
	files, claimed, words := veraFolders{}, map[string]string{}, 0
	put := func(name string, ids []standard.ID, body []byte) string {
		t.Helper()
		for _, id := range ids {
			files.put(t, flavours[id], name, body)
			claimed[flavours[id]+" "+fileName(name)] = name
		}
		file := pdftest.Write(t, "f.pdf", body)
		if err := pdftest.QPDF(t, file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return file
	}
	for name, f := range samples(t) {
		for _, ids := range claimable {
			body, _ := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen}, f)
			put(fmt.Sprintf("sample %s %v", name, ids), ids, body)
		}
	}
	for lang, text := range languages {
		for kind, block := range blockTypes {
			src := fmt.Sprintf("quire: 1\nname: n\nlang: %s\nlocale: en\ntitle: T\nbody: %s\nfooter: {all: [{text: \"${page()}\"}]}\n", lang, fmt.Sprintf(block, text))
			plan, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(src)})
			if err != nil {
				t.Fatalf("%s %s: %v", lang, kind, err)
			}
			for _, ids := range claimable {
				var out bytes.Buffer
				if _, err := e.Render(t.Context(), &out, plan, template.JSON([]byte("{}")), pdf.RenderOptions{Standards: ids, Time: frozen}); err != nil {
					t.Fatalf("%s %s %v: %v", lang, kind, ids, err)
				}
				file := put(fmt.Sprintf("%s %s %v", lang, kind, ids), ids, out.Bytes())
				got := apart(pdftest.Words(t, file))
				for word := range strings.FieldsSeq(text) {
					if words++; count(got, word) != 1 {
						t.Errorf("%s %s %v: %q comes %d times in %q", lang, kind, ids, word, count(got, word), got)
					}
				}
			}
		}
	}
	good := 0
	verdicts := files.verdicts(t)
	for c, name := range claimed {
		flavour, file, _ := strings.Cut(c, " ")
		if v := verdicts[flavour][file]; v.Compliant {
			good++
		} else {
			t.Errorf("%s is not %s: %v %s", name, flavour, v.Clauses, strings.Join(v.Messages, "\n\t"))
		}
	}
	t.Logf("veraPDF %d/%d claims hold; pdftotext %d words, each once; qpdf finds nothing", good, len(claimed), words)
}

// apart puts spaces for the controls of direction, by which pdftotext joins words.
func apart(words []string) []string {
	return strings.FieldsFunc(strings.Join(words, " "), func(r rune) bool {
		return r == ' ' || r == '\u200E' || r == '\u200F' || r >= '\u202A' && r <= '\u202E'
	})
}

func count(words []string, want string) (n int) {
	for _, w := range words {
		if w == want {
			n++
		}
	}
	return n
}
