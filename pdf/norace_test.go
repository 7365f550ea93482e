//go:build !race

package pdf_test

import (
	"bytes"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/form"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
	"example.com/quire/pdf/template"
)

// The tests of this file compute for long, where the race detector takes ten times as long: in one
// goroutine, where it finds nothing, or what a shorter test does under it.

// TestFeaturesOfFontsAreDrawnAndExtract: a feature draws other glyphs, whose text extracts as it
// was written.
func TestFeaturesOfFontsAreDrawnAndExtract(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	const words = "Hamburg 1234567890 office AVATAR"
	seen := map[string]string{}
	for _, features := range []string{"", "features: [smcp]", "features: [onum]", "features: [-liga]", "features: [-kern]", "features: [c2sc, smcp, onum]"} {
		body := "- {text: '" + words + "', font: Text, size: 20pt, " + features + "}"
		file, _, err := withFonts(t, e, "standard: [pdf/a-4, pdf/ua-2]\n"+family, body)
		if err != nil {
			t.Fatalf("%s: %v", features, err)
		}
		name := pdftest.Write(t, "f.pdf", file)
		if got := strings.Join(pdftest.Words(t, name), " "); got != words {
			t.Errorf("%s: extracts as %q", features, got)
		}
		drawn := pdftest.Raster(t, name, 100)[0]
		for other, before := range seen {
			if d, err := pdftest.Difference(drawn, pdftest.Raster(t, before, 100)[0]); err != nil || d == 0 {
				t.Errorf("%q and %q look alike (%v)", features, other, err)
			}
		}
		seen[features] = name
	}
	// Spans have features, too.
	file, _, err := withFonts(t, e, family+"\nstyles: {base: {font: Text}, sc: {features: [smcp]}}", "- {text: 'In [small]{sc} capitals'}")
	if err != nil || !slices.Equal(pdftest.Words(t, pdftest.Write(t, "f.pdf", file)), []string{"In", "small", "capitals"}) {
		t.Errorf("spans: %v", err)
	}
}

// TestSyntheticStylesAreDrawnWhereAllowed: bold and italic of a family without such faces.
func TestSyntheticStylesAreDrawnWhereAllowed(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	const one = "fonts: {families: {Text: {regular: SourceSerif4-Regular.ttf}}}"
	allowed := "standard: [pdf/a-4, pdf/ua-2]\n" + strings.Replace(one, "fonts: {", "fonts: {synthetic: allow, ", 1)
	page := func(text string) string {
		file, res, err := withFonts(t, e, allowed, "- {text: '"+text+"', font: Text, size: 24pt}\n- {text: after, font: Text, size: 24pt}")
		if err != nil || len(res.Fonts) != 1 {
			t.Fatalf("%s: %v", text, err)
		}
		name := pdftest.Write(t, "f.pdf", file)
		if err := pdftest.QPDF(t, name); err != nil {
			t.Error(err)
		}
		return name
	}
	plain, bold, italic := page("one illicit word"), page("one **illicit** word"), page("one *illicit* word")
	for what, name := range map[string]string{"bold": bold, "italic": italic} {
		if d, err := pdftest.Difference(pdftest.Raster(t, plain, 100)[0], pdftest.Raster(t, name, 100)[0]); err != nil || d == 0 {
			t.Errorf("%s looks like the plain text (%v)", what, err)
		}
		want, got := pdftest.Boxes(t, plain), pdftest.Boxes(t, name)
		if len(want) != 4 || len(got) != 4 {
			t.Fatalf("%s: %d words", what, len(got))
		}
		for i := range want { // what stands around has its place
			if dx := got[i].XMin - want[i].XMin; i != 1 && (dx > 0.1 || dx < -0.1) || got[i].Text != want[i].Text {
				t.Errorf("%s: %v, want %v", what, got[i], want[i])
			}
		}
	}
	for _, text := range []string{"'**b**'", "'*i*'"} {
		if _, _, err := withFonts(t, e, one, "- {text: "+text+", font: Text}"); !failsWith(err, "F403") {
			t.Errorf("%s without synthetic: %v", text, err)
		}
	}
}

// childVariable has a process print the hashes and no more; elsewhen, at another date.
const (
	childVariable = "PDF_TEST_PRINT_HASHES"
	elsewhen      = "elsewhen"
)

// hashes returns one line per sample: its name and SHA-256, tagged and plain.
func hashes(tb testing.TB) string {
	tb.Helper()
	e := newEngine(tb, pdf.Config{})
	all := samples(tb)
	var b strings.Builder
	for _, n := range sampleNames(tb) {
		_, tagged := render(tb, e, pdf.RenderOptions{Standards: compliant, Time: frozen, DocumentID: "d"}, all[n])
		_, plain := render(tb, e, pdf.RenderOptions{}, all[n])
		fmt.Fprintf(&b, "%s %s %s\n", n, hex.EncodeToString(tagged.SHA256[:]), hex.EncodeToString(plain.SHA256[:]))
	}
	return b.String()
}

// TestDeterminism: several processes, one, two and eight processors, and the date of today and the
// first of January 2000, at which the clock of a bubble stands, give the same bytes.
func TestDeterminism(t *testing.T) {
	switch os.Getenv(childVariable) {
	case "":
	case elsewhen:
		synctest.Test(t, func(t *testing.T) {
			fmt.Fprintf(os.Stderr, "\n%shashes:\n%send\n", today(), hashes(t))
		})
		return
	default:
		fmt.Fprintf(os.Stderr, "\n%shashes:\n%send\n", today(), hashes(t))
		return
	}
	want := hashes(t)
	sum := func(of string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(of))) }
	t.Logf("this process, GOMAXPROCS %d, %s: %d samples, tagged and plain: sha256 %s", runtime.GOMAXPROCS(0), today(), strings.Count(want, "\n"), sum(want))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i, procs := range []string{"1", "2", "8", "2"} {
		when := [...]string{"now", "now", "now", elsewhen}[i]
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestDeterminism$") //nolint:gosec // G204: the test runs itself
		cmd.Env = append(os.Environ(), childVariable+"="+when, "GOMAXPROCS="+procs)
		var out bytes.Buffer
		cmd.Stderr = &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		date, got, _ := strings.Cut(strings.TrimSpace(out.String()), "hashes:\n")
		got = strings.TrimSuffix(got, "end")
		if got != want {
			t.Errorf("GOMAXPROCS %s, %s:\n%swant\n%s", procs, date, got, want)
		}
		if (date == "2000-01-01") != (when == elsewhen) {
			t.Errorf("the date is %s", date)
		}
		t.Logf("another process, GOMAXPROCS %s, %s: sha256 %s", procs, date, sum(got))
	}
}

func today() string { return time.Now().Format(time.DateOnly) }

// TestIsolationOfManyPairs is TestIsolation, which looks for races too, with more documents.
func TestIsolationOfManyPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 10,000 documents: run without -short")
	}
	isolated(t, 10_000)
}

// TestCacheOffGivesTheSame: caches hold pure values.
func TestCacheOffGivesTheSame(t *testing.T) {
	on, off := newEngine(t, pdf.Config{}), newEngine(t, pdf.Config{Cache: pdf.CacheLimits{Off: true}})
	for n, f := range samples(t) {
		for range 2 {
			a, _ := render(t, on, pdf.RenderOptions{Standards: compliant}, f)
			b, _ := render(t, off, pdf.RenderOptions{Standards: compliant}, f)
			if !bytes.Equal(a, b) {
				t.Errorf("%s differs with the caches off", n)
			}
		}
	}
}

// TestALogoIsWorkedOnOnce: a document with a logo of 400 shapes takes a few objects more than one
// without, whether it is of pixels or drawn.
func TestALogoIsWorkedOnOnce(t *testing.T) {
	shapes := bytes.Repeat([]byte(`<path d="M10 20C30 40 50 6 7 8L9 100z" fill="#135" stroke="red"/>`), 400)
	files := fstest.MapFS{
		"logo.png": {Data: picture(t, true)},
		"logo.svg": {Data: slices.Concat([]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 99 99">`), shapes, []byte(`</svg>`))},
	}
	e := newEngine(t, pdf.Config{Files: files})
	allocs := func(block string) float64 {
		src := "quire: 1\nname: n\nlang: en\ntitle: T\nbody:\n  - text: A letter.\n" + block
		plan, err := e.Compile(t.Context(), pdf.Source{File: "n.yaml", Text: []byte(src)})
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(10, func() {
			if _, err := e.Render(t.Context(), io.Discard, plan, template.JSON([]byte(`{}`)), pdf.RenderOptions{Standards: compliant}); err != nil {
				t.Fatal(err)
			}
		})
	}
	without := allocs("")
	for name := range files {
		if n := allocs("  - {image: " + name + ", decorative: true, width: 40mm}\n"); n > without+60 {
			t.Errorf("%s: %v allocations, %v without", name, n, without)
		}
	}
}

// TestSigningTakesFewAllocations: what is beside the signature by the key does not grow with the
// file, and its memory neither.
func TestSigningTakesFewAllocations(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	body, _ := render(t, e, pdf.RenderOptions{Time: frozen}, func(b *doc.Builder) error {
		b.Title("To be signed").Lang("en")
		for i := range 100 {
			b.Heading(1, fmt.Sprintf("Page %d", i+1)).PageBreak()
		}
		return nil
	})
	r := pdf.SignRequest{Identity: newAuthority(t).identity(t, "Signer", ecKey(t, elliptic.P256())), Time: testTime, Reason: "Issued"}
	d := openPDF(t, e, body, "")
	sign := func() {
		if _, err := e.Sign(t.Context(), io.Discard, d, r); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(20, sign); n > 170 {
		t.Errorf("%v allocations", n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		sign()
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / 20; n > 20<<10 {
		t.Errorf("%d bytes are allocated", n)
	}
}

// TestCheckFindsOurFilesSound: what the engine writes under a claim passes when it is read back,
// and the same file without the claim, or under another one, does not.
func TestCheckFindsOurFilesSound(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	for name, f := range samples(t) {
		for _, ids := range [][]standard.ID{{standard.PDFA4, standard.PDFUA2}, {standard.PDFA2b, standard.PDFUA1}, {standard.PDFA3b}} {
			body, _ := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen}, f)
			d := openPDF(t, e, body, "")
			found, err := e.Check(t.Context(), d)
			if err != nil || len(found) > 0 {
				t.Errorf("%s %v: %v, %v", name, ids, found, err)
			}
			other := standard.PDFA2b
			if ids[0] == other {
				other = standard.PDFA4
			}
			if found, err := e.Check(t.Context(), d, other); err != nil || len(found) == 0 {
				t.Errorf("%s %v: passes as %s, %v", name, ids, other, err)
			}
		}
		body, _ := render(t, e, pdf.RenderOptions{Time: frozen}, f)
		d := openPDF(t, e, body, "")
		if found, err := e.Check(t.Context(), d, standard.PDFUA2); err != nil || len(found) == 0 {
			t.Errorf("%s: a file that claims nothing passes, %v", name, err)
		}
		var option *pdf.OptionError
		if _, err := e.Check(t.Context(), d); !errors.As(err, &option) {
			t.Errorf("%s: judged by no standard: %v", name, err)
		}
	}
}

// TestVeraPDF judges every sample against what it claims, some against each set of
// standards, shows for every negative that both we and the validator refuse it, and that a
// claim flipped in the file is found.
func TestVeraPDF(t *testing.T) {
	t.Parallel()
	pdftest.Need(t, "verapdf")
	e := newEngine(t, pdf.Config{})
	files := veraFolders{}
	var claimed []string // flavour and name
	put := func(name string, ids []standard.ID, body []byte) {
		t.Helper()
		for _, id := range ids {
			files.put(t, flavours[id], name, body)
			claimed = append(claimed, flavours[id]+" "+name)
		}
	}
	good := samples(t)
	for name, f := range good {
		body, _ := render(t, e, pdf.RenderOptions{Standards: compliant, Time: frozen, DocumentID: "id-1"}, f)
		put(name, compliant, body)
	}
	for i, ids := range claimable[1:] {
		name := "hello"
		if i < 2 {
			name = "everything"
		}
		body, _ := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen, DocumentID: "id-1"}, good[name])
		put(fmt.Sprintf("%s %v", name, ids), ids, body)
	}
	for _, ids := range claimable[1:3] {
		for _, name := range []string{"flow", "names"} {
			body, _ := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen, DocumentID: "id-1"}, good[name])
			put(fmt.Sprintf("%s %v", name, ids), ids, body)
		}
	}
	for _, id := range []standard.ID{standard.PDFA2u, standard.PDFA2a, standard.PDFA3u, standard.PDFA3a, standard.PDFA4e} {
		body, _ := render(t, e, pdf.RenderOptions{Standards: []standard.ID{id}, Time: frozen, DocumentID: "id-1"}, good["everything"])
		put(fmt.Sprintf("everything %v", id), []standard.ID{id}, body)
	}
	for name, body := range templateSamples(t) {
		put(name, compliant, body)
	}
	for _, ids := range carrying {
		put(fmt.Sprintf("files %v", ids), ids, carrier(t, ids))
	}
	for _, ids := range claimable {
		put(fmt.Sprintf("rules %v", ids), ids, lineRules(t, e, pdf.RenderOptions{Standards: ids, Time: frozen, DocumentID: "id-1"}))
	}
	for _, ids := range claimable[:2] {
		body, err := markdownSample(t, e, markdownData, pdf.RenderOptions{Standards: ids, Time: frozen})
		if err != nil {
			t.Fatal(err)
		}
		put(fmt.Sprintf("markdown %v", ids), ids, body)
		body, _ = openType(t, pdf.RenderOptions{Standards: ids, Time: frozen})
		put(fmt.Sprintf("opentype %v", ids), ids, body)
	}
	for _, id := range []standard.ID{standard.PDFUA1, standard.PDFUA2} { // no archives
		body, _ := render(t, e, pdf.RenderOptions{Standards: []standard.ID{id}, Time: frozen}, buttons)
		put("buttons", []standard.ID{id}, body)
	}
	for _, ids := range claimable { // forms, filled ones and flattened ones
		body, _ := render(t, e, pdf.RenderOptions{Standards: ids, Time: frozen}, everyField)
		put(fmt.Sprintf("form %v", ids), ids, body)
		for name, ops := range map[string][]pdf.Op{"filled": {pdf.Fill(everyValue, nil)}, "flattened": {pdf.Fill(everyValue, nil), pdf.Flatten(nil)}} {
			var out bytes.Buffer
			s, err := e.Edit(t.Context(), &out, opened(t, e, body), pdf.EditOptions{}, ops...)
			if err != nil || len(s.Claims) != len(ids) {
				t.Errorf("%s %v: %+v, %v", name, ids, s, err)
				continue
			}
			put(fmt.Sprintf("%s %v", name, ids), ids, out.Bytes())
		}
	}
	flip := func(flavour, old, flipped string, ids []standard.ID) {
		t.Helper()
		body, _ := render(t, e, pdf.RenderOptions{Standards: ids}, note("Flip", 2))
		files.put(t, flavour, "flipped", bytes.Replace(body, []byte(old), []byte(flipped), 1))
	}
	flip("4", "<pdfaid:part>4<", "<pdfaid:part>3<", compliant)
	flip("ua2", "<pdfuaid:part>2<", "<pdfuaid:part>1<", compliant)
	flip("2b", "<pdfaid:part>2<", "<pdfaid:part>3<", claimable[1])
	flip("2a", "<pdfaid:conformance>A<", "<pdfaid:conformance>B<", []standard.ID{standard.PDFA2a})
	flip("3u", "<pdfaid:conformance>U<", "<pdfaid:conformance>B<", []standard.ID{standard.PDFA3u})
	flip("4e", "<pdfaid:conformance>E<", "<pdfaid:conformance>F<", []standard.ID{standard.PDFA4e})
	flip("3b", "%PDF-1.7", "%PDF-2.0", claimable[2])
	flip("ua1", "%PDF-1.7", "%PDF-2.0", claimable[2])
	for name, n := range negatives(t) {
		b := doc.NewBuilder()
		n.doc(b)
		var forced bytes.Buffer
		if err := e.BuildForced(t.Context(), &forced, n.claims, b.Document()); err != nil {
			t.Fatalf("%s, forced: %v", name, err)
		}
		files.put(t, n.flavour, name, forced.Bytes())
	}
	verdicts := files.verdicts(t)
	for _, c := range claimed {
		flavour, name, _ := strings.Cut(c, " ")
		if v := verdicts[flavour][fileName(name)]; !v.Compliant {
			t.Errorf("%s is not %s: %s", name, flavour, strings.Join(v.Messages, "\n\t"))
		}
	}
	for flavour, of := range verdicts {
		if of["flipped"].Compliant {
			t.Errorf("veraPDF does not see a flipped claim of %s", flavour)
		}
	}
	refused, failed := 0, 0
	for name, n := range negatives(t) {
		if v := verdicts[n.flavour][name]; v.Compliant || len(v.Clauses) == 0 {
			t.Errorf("%s: veraPDF finds nothing", name)
		} else {
			failed++
		}
		refused++
	}
	t.Logf("negative %d/%d refused by us, %d/%d failed by veraPDF", refused, len(negatives(t)), failed, len(negatives(t)))
}

func TestQPDFAndFonts(t *testing.T) {
	t.Parallel()
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

// TestFilledFormsLookAsMadeOnes: what a filled field shows stands where it would stand had it been
// made with that value, lines and options of lists among it.
func TestFilledFormsLookAsMadeOnes(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pdf.Config{})
	lists := func(values, text []string) func(*doc.Builder) error {
		return func(b *doc.Builder) error {
			b.Title("Lists").Lang("en").Style(&doc.Style{Size: doc.Points(10), Leading: doc.Points(19)})
			langs := doc.NewField(doc.FieldList, "languages", "Languages")
			langs.Options, langs.Multiple, langs.Values = []doc.FieldOption{{Value: "English"}, {Value: "French"}, {Value: "Polish"}, {Value: "Welsh"}}, true, values
			notes := doc.NewField(doc.FieldText, "notes", "Notes")
			notes.Multiline, notes.Values = true, text
			b.Field(langs).Field(notes)
			return nil
		}
	}
	chosen, text := []string{"French", "Welsh"}, []string{"one\ntwo\nthree"}
	for _, ids := range [][]standard.ID{nil, compliant} {
		made, _ := render(t, e, pdf.RenderOptions{Standards: ids}, lists(chosen, text))
		empty, _ := render(t, e, pdf.RenderOptions{Standards: ids}, lists(nil, nil))
		full, _, err := filled(t, e, empty, pdf.EditOptions{}, form.Value{Name: "languages", Is: chosen}, form.Value{Name: "notes", Is: text})
		if err != nil {
			t.Fatal(err)
		}
		look := func(b []byte) image.Image { return pdftest.Raster(t, pdftest.Write(t, "f.pdf", b), 96)[0] }
		far, err := pdftest.Difference(look(made), look(empty))
		if err != nil {
			t.Fatal(err)
		}
		near, err := pdftest.Difference(look(made), look(full))
		if err != nil || near > far/20 {
			t.Errorf("%v: filled differs from made by %g, empty by %g, %v", ids, near, far, err)
		}
	}
}

// TestUnstyledPageIsWellSet: the sample without styles has paragraphs and headings set apart on
// the quarter lines of its text, and the lines of its table in the places and weights of the theme.
func TestUnstyledPageIsWellSet(t *testing.T) {
	file := pdftest.Write(t, "workshop.pdf", templateSamples(t)["workshop"])
	first := map[string]pdftest.Word{}
	for _, w := range pdftest.Boxes(t, file) {
		if _, seen := first[w.Text]; !seen {
			first[w.Text] = w
		}
	}
	bottom := func(word string) float64 {
		w, ok := first[word]
		if !ok {
			t.Fatalf("the word %q is not there", word)
		}
		return w.YMax
	}
	const leading = 14.0
	for _, tt := range []struct {
		what, from, to string
		want           float64
	}{
		{"lines of a paragraph", "Orders", "below", leading},
		{"paragraphs", "Further", "apprentice", 1.5 * leading},
		{"paragraphs around a heading of level 2", "printed", "Prices", 4.5 * leading},
	} {
		if d := bottom(tt.to) - bottom(tt.from); math.Abs(d-tt.want) > 0.1 {
			t.Errorf("%s: %.2f pt apart, want %.2f", tt.what, d, tt.want)
		}
	}
	const dpi = 144
	page := pdftest.Raster(t, file, dpi)[0]
	px := func(points float64) int { return int(points * dpi / 72) }
	dark := func(from, to float64) (most uint32) { // the darkest pixel of a column of the page
		most = 0xFFFFFF
		for y := px(from); y < px(to); y++ {
			most = min(most, rgb(page.At(px(300), y)))
		}
		return most
	}
	head, row, next, total := first["Unit"], first["Letterheads"], first["Almanac,"], first["Total"]
	for _, tt := range []struct {
		what     string
		from, to float64
		least    uint32
		most     uint32
	}{
		{"above the head", head.YMin - 9, head.YMin, 0x1B0000, 0x1BFFFF},
		{"between rows", row.YMax - 1, next.YMin + 1, 0xD30000, 0xE9FFFF},
		{"below the foot", total.YMax, total.YMax + 9, 0x1B0000, 0x1BFFFF},
	} {
		if got := dark(tt.from, tt.to); got < tt.least || got > tt.most {
			t.Errorf("the line %s: %06x", tt.what, got)
		}
	}
}

// TestHFTSize: 2,000 tagged rows in 75 pages or so.
func TestHFTSize(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	body, res := render(t, e, pdf.RenderOptions{Standards: compliant}, note("High Frequency", 2000))
	const bound = 2_290_000 / 4
	if len(body) > bound {
		t.Errorf("%d bytes on %d pages, want at most %d", len(body), res.Pages, bound)
	}
}

// TestBoldIsDrawnBold: the bold face puts more ink on the page.
func TestBoldIsDrawnBold(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	ink := func(bold bool) (n int) {
		t.Helper()
		body, _ := render(t, e, pdf.RenderOptions{}, func(b *doc.Builder) error {
			b.Spans([]doc.Span{{Text: strings.Repeat("illumination ", 20), Bold: bold}})
			return nil
		})
		img := pdftest.Raster(t, pdftest.Write(t, "f.pdf", body), 72)[0]
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				n += 255 - int(color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y)
			}
		}
		return n
	}
	if regular, bold := ink(false), ink(true); bold*10 < regular*13 {
		t.Errorf("ink: regular %d, bold %d", regular, bold)
	}
}

// TestBarcodesReadAsTheirValue: two readers of others read each symbol, drawn at 150 dpi, as its
// value.
func TestBarcodesReadAsTheirValue(t *testing.T) {
	t.Parallel()
	bill, err := swissBill().Payload()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("A long value of a QR code, 0123456789. ", 20)
	cases := []struct {
		kind        doc.Symbology
		value, read string // read: "" the value itself
		format      string // of zxing
		zbar        string // "": zbar does not know the symbology, or no text beyond ASCII
	}{
		{doc.QR, "https://example.com/d/4f3c", "", "QRCode", "QR-Code"},
		{doc.QR, "Grüße, 東京 – naïve €", "", "QRCode", ""},
		{doc.QR, "0123456789012345678901234567890123456789", "", "QRCode", "QR-Code"},
		{doc.QR, long, "", "QRCode", "QR-Code"},
		{doc.SwissQR, bill, "", "QRCode", ""},
		{doc.DataMatrix, "Part 4711/B, Größe 12", "", "DataMatrix", ""},
		{doc.GS1Matrix, "(01)09501101530003(17)271231(10)AB-123(21)77", "01095011015300031727123110AB-123\x1d2177", "DataMatrix", ""},
		{doc.Aztec, "Ticket 00-12: Zürich", "", "Aztec", ""},
		{doc.PDF417, "Boarding pass, seat 12A, gate 7", "", "PDF417", ""},
		{doc.Code128, "Ab-0123456789/z", "", "Code128", "CODE-128"},
		{doc.GS1128, "(01)09501101530003(10)AB-1(17)271231", "010950110153000310AB-1\x1d17271231", "Code128", ""},
		{doc.Code39, "CODE 39-A.$/+%", "", "Code39", "CODE-39"},
		{doc.Code93, "Code 93: a-z", "", "Code93", "CODE-93"},
		{doc.Codabar, "A40156$B", "", "Codabar", "Codabar"},
		{doc.Interleaved, "0123456789", "", "ITF", "I2/5"},
		{doc.EAN13, "400638133393", "4006381333931", "EAN13", "EAN-13"},
		{doc.EAN8, "96385074", "", "EAN8", "EAN-8"},
		{doc.UPCA, "03600029145", "036000291452", "UPCA", ""}, // zbar reads it as EAN-13
	}
	out, _ := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{}, func(b *doc.Builder) error {
		b.Title("Barcodes").Lang("en")
		for i, c := range cases {
			if i > 0 && i%3 == 0 {
				b.PageBreak()
			}
			b.Barcode(c.kind, c.value, "A barcode of the kind "+string(c.kind))
		}
		return nil
	})
	file := pdftest.Write(t, "barcodes.pdf", out)
	zxing, zbar := pdftest.ReadBarcodes(t, file, 150)
	for i, c := range cases {
		want := c.value
		if c.read != "" {
			want = c.read
		}
		page := i/3 + 1
		if !slices.Contains(zxing, pdftest.Barcode{Page: page, Format: c.format, Text: want}) {
			t.Errorf("page %d, %s %.40q: zxing read %+v", page, c.kind, c.value, on(zxing, page))
		}
		if c.zbar != "" && !slices.Contains(zbar, pdftest.Barcode{Page: page, Format: c.zbar, Text: want}) {
			t.Errorf("page %d, %s %.40q: zbar read %+v", page, c.kind, c.value, on(zbar, page))
		}
	}
}
