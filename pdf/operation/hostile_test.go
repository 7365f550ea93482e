package operation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/pdftest"
)

// raw is a file of objects from 1 on, the catalog first, without a cross-reference table.
func raw(objects ...string) []byte {
	s := "%PDF-1.7\n"
	for i, o := range objects {
		s += fmt.Sprintf("%d 0 obj %s endobj\n", i+1, o)
	}
	return []byte(s + "trailer<</Root 1 0 R>>")
}

// rich has two pages and all that Merge joins; tag stands in its texts.
func rich(tag string) []byte {
	return raw(
		`<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R/Names<</Dests 7 0 R/EmbeddedFiles 8 0 R>>/Dests<</Old[3 0 R/Fit]>>/AcroForm 9 0 R/PageLabels<</Nums[0<</S/r>>1<</S/D/P(`+tag+`-)/St 5>>]>>/StructTreeRoot 14 0 R/MarkInfo<</Marked true>>/OCProperties<</OCGs[18 0 R]/D<</ON[18 0 R]/Order[18 0 R]>>>>/Lang(`+tag+`)/OpenAction[3 0 R/Fit]/Perms<</DocMDP 12 0 R>>>>`,
		`<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[0 0 200 200]>>`,
		`<</Type/Page/Parent 2 0 R/StructParents 0/Annots[10 0 R 11 0 R 13 0 R 19 0 R]/Resources<</XObject<</F 20 0 R>>>>>>`,
		`<</Type/Page/Parent 2 0 R/StructParents 1/Annots[<</Subtype/Link/Dest(here)>>]>>`,
		`<</First 6 0 R/Last 6 0 R/Count 1>>`,
		`<</Title(`+tag+`)/Parent 5 0 R/A<</S/GoTo/D(here)>>>>`,
		`<</Names[(here)[4 0 R/Fit](only`+tag+`)<</D[3 0 R/Fit]>>]>>`,
		`<</Names[(a.txt)<</F(a.txt)/UF(a.txt)/AFRelationship/Data/EF<</F 17 0 R>>>>]>>`,
		`<</Fields[10 0 R 11 0 R 21 0 R <</T(direct)/FT/Tx>>]/DA(/H 0 Tf)/DR<</Font<</H<</BaseFont/H`+tag+`>>>>>>/CO[10 0 R]/SigFlags 3/NeedAppearances true>>`,
		`<</T(name)/FT/Tx/Subtype/Widget/P 3 0 R>>`,
		`<</T(signed)/FT/Sig/V 12 0 R/Subtype/Widget/P 3 0 R>>`,
		`<</Type/Sig/Contents<00>>>`,
		`<</Subtype/Link/Dest/Old/StructParent 2>>`,
		`<</Type/StructTreeRoot/K 15 0 R/ParentTree<</Nums[0[16 0 R]1[16 0 R]2 16 0 R]>>/IDTree<</Names[(`+tag+`)16 0 R]>>/RoleMap<</`+tag+`/P>>>>`,
		`<</S/Document/P 14 0 R/K[16 0 R]>>`,
		`<</S/P/P 15 0 R/Pg 3 0 R/ID(`+tag+`)/K[0<</Type/MCR/Pg 4 0 R/MCID 0>><</Type/OBJR/Obj 13 0 R>>]>>`,
		"<</Type/EmbeddedFile/Length 3>>stream\nabc\nendstream",
		`<</Type/OCG/Name(`+tag+`)>>`,
		`<</Subtype/Text/Contents(note)>>`,
		"<</Subtype/Form/BBox[0 0 9 9]/Length 1>>stream\nn\nendstream",
		`<</T(parent)/FT/Sig/V 12 0 R/Kids[<</T(kid)>>]>>`,
	)
}

func open(t *testing.T, e *pdf.Engine, b []byte, password string) *pdf.Document {
	t.Helper()
	d, err := e.Open(t.Context(), bytes.NewReader(b), int64(len(b)), pdf.OpenOptions{Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMergeKeepsWhatBelongsToPages: bookmarks, attachments, labels, tags, and fields, renamed where
// two have one name; no signature stays, wherever its value stands.
func TestMergeKeepsWhatBelongsToPages(t *testing.T) {
	e := engine(t)
	done, out, err := run(t, e, "merge", nil, rich("One"), rich("Two"))
	if err != nil {
		t.Fatal(err)
	}
	i := open(t, e, out[0], "").Info()
	fields := strings.Join(i.Fields, " ")
	if want := "name signed parent.kid direct name-2 signed-2 parent-2.kid direct-2"; fields != want {
		t.Errorf("fields %s, want %s", fields, want)
	}
	if len(i.Signatures) > 0 || !strings.Contains(done.Text, "void: the signature signed") || !strings.Contains(done.Text, "void: the signature parent") {
		t.Errorf("signatures %v, %s", i.Signatures, done.Text)
	}
	var labels []string
	for _, p := range i.Pages {
		labels = append(labels, p.Label)
	}
	if got := strings.Join(labels, " "); got != "i One-5 i Two-5" {
		t.Errorf("labels %s", got)
	}
	if i.Bookmarks != 4 || len(i.Attachments) != 2 || !i.Tagged {
		t.Errorf("%d bookmarks, %d attachments, tagged %t", i.Bookmarks, len(i.Attachments), i.Tagged)
	}
	_, parts, err := run(t, e, "split", map[string]string{"every": "2"}, out[0])
	if err != nil || len(parts) != 2 {
		t.Fatal(len(parts), err)
	}
	second := open(t, e, parts[1], "").Info()
	if got := strings.Join(second.Fields, " "); !strings.Contains(got, "name-2") || second.Bookmarks != 2 || len(second.Attachments) != 0 || !second.Tagged {
		t.Errorf("second part: fields %s, %d bookmarks, %d attachments", got, second.Bookmarks, len(second.Attachments))
	}
	_, again, err := run(t, e, "reorder", map[string]string{"pages": "2,1,1"}, rich("One"))
	if err != nil || open(t, e, again[0], "").Pages() != 3 {
		t.Errorf("a page that comes twice: %v", err)
	}
}

// TestSignaturesAreVoidOnce in the report of a file that is split into many parts.
func TestSignaturesAreVoidOnce(t *testing.T) {
	done, _, err := run(t, engine(t), "split", map[string]string{"every": "1"}, rich("One"))
	if err != nil || strings.Count(done.Text, "void: the signature signed\n") != 1 {
		t.Errorf("%v, %+v", err, done)
	}
}

// TestDirectPagesAndCatalogsOfDamagedFiles are kept: those without an object of their own.
func TestDirectPagesAndCatalogsOfDamagedFiles(t *testing.T) {
	e := engine(t)
	pages := `<</Type/Pages/Count 2/Kids[<</Type/Page/MediaBox[0 0 9 9]>><</Type/Page/MediaBox[0 0 9 9]>>]>>`
	direct := raw(`<</Type/Catalog/Pages 2 0 R>>`, pages)
	for name, x := range map[string]struct {
		values map[string]string
		files  [][]byte
		pages  int
	}{
		"merge":  {nil, [][]byte{direct, direct}, 4},
		"rotate": {map[string]string{"degrees": "-90"}, [][]byte{direct}, 2},
	} {
		_, out, err := run(t, e, name, x.values, x.files...)
		if err != nil || open(t, e, out[0], "").Pages() != x.pages {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, out, err := run(t, e, "merge", nil, direct)
	if err != nil || open(t, e, out[0], "").Pages() != 2 {
		t.Errorf("one file: %v", err)
	}
}

// TestEncryptedIsDecryptedToTheSame, and its passwords are in no text.
func TestEncryptedIsDecryptedToTheSame(t *testing.T) {
	e := engine(t)
	const owner, user = "Ow-ner-7", "Us-er-7"
	b := rich("One")
	done, out, err := run(t, e, "encrypt", map[string]string{"owner": owner, "user": user, "allow": "none"}, b)
	if err != nil {
		t.Fatal(err)
	}
	said := done.Text + fmt.Sprint(done.Report)
	secret := out[0]
	for _, x := range []struct {
		name, password string
		values         map[string]string
	}{
		{"decrypt", "", nil},
		{"decrypt", "wrong-" + user, nil},
		{"decrypt", user, nil},
		{"rotate", user, map[string]string{"degrees": "90"}},
		{"split", user, map[string]string{"every": "1"}},
		{"merge", user, nil},
	} {
		values := map[string]string{"password": x.password}
		maps.Copy(values, x.values)
		_, _, err := run(t, e, x.name, values, secret)
		d, ok := errors.AsType[*pdf.DiagnosticError](err)
		if !errors.Is(err, pdf.ErrPassword) || !ok || d.Diagnostics[0].Kind != pdf.KindInput || d.Diagnostics[0].File == "" || d.Diagnostics[0].Suggestion == "" {
			t.Errorf("%s with %q: %v", x.name, x.password, err)
		}
		said += fmt.Sprint(err)
	}
	for _, name := range []string{"delete", "merge"} {
		values := map[string]string{"password": owner}
		if name == "delete" {
			values["pages"] = "1"
		}
		_, _, err := run(t, e, name, values, secret)
		if o, ok := errors.AsType[*pdf.OptionError](err); !ok || o.Field != "protect" || !strings.Contains(o.Want, "encrypt in a pipe") {
			t.Errorf("%s as the owner: %v", name, err)
		}
		said += fmt.Sprint(err)
	}
	done, out, err = run(t, e, "decrypt", map[string]string{"password": owner}, secret)
	if err != nil {
		t.Fatal(err)
	}
	was, is := open(t, e, b, "").Info(), open(t, e, out[0], "").Info()
	if is.Encryption != nil || fmt.Sprint(was.Pages) != fmt.Sprint(is.Pages) || fmt.Sprint(was.Fields) != fmt.Sprint(is.Fields) || was.Bookmarks != is.Bookmarks || !bytes.Contains(secret, []byte("/Encrypt")) {
		t.Errorf("got %+v\nwant %+v", is, was)
	}
	if said += done.Text + fmt.Sprint(done.Report); strings.Contains(said, owner) || strings.Contains(said, user) {
		t.Errorf("a password in %s", strings.ReplaceAll(said, owner, "..."))
	}
}

// TestOptionsThatCannotBe are errors that say what can.
func TestOptionsThatCannotBe(t *testing.T) {
	e := engine(t)
	b := rich("One")
	for _, x := range []struct{ operation, values, want string }{
		{"rotate", "degrees=30", "a multiple of 90"},
		{"rotate", "degrees=x", "a whole number"},
		{"rotate", "degrees=90&pages=3", "a file that has 2"},
		{"rotate", "degrees=90&pages=0", "pages such as"},
		{"rotate", "degrees=90&pages=1:all", "odd or even"},
		{"crop", "box=1,2,3", "left,bottom"},
		{"crop", "box=NaN,0,9,9", "left,bottom"},
		{"crop", "box=9,0,1,9", "within those of page 1"},
		{"crop", "box=300,300,400,400", "within those of page 1"},
		{"crop", "box=1,1,1.0001,9", "within those of page 1"},
		{"reorder", "pages=1-1:even", "one page at least"},
		{"reorder", "pages=" + strings.Repeat("1-r1,", 60_000) + "1", "at most"},
		{"delete", "pages=1-2", "a page that stays"},
		{"delete", "pages= ", "the pages to delete"},
		{"split", "", "one of pages"},
		{"split", "every=1&bookmark=true", "one of pages"},
		{"split", "every=-1", "1 or more"},
		{"split", "size=-1", "1 or more"},
		{"split", "bookmark=maybe", "true or false"},
		{"split", "pages=1;", "or all"},
		{"split", "pages=1-1:even", "one page at least"},
		{"split", "pages=all" + strings.Repeat(";all", 60_000), "in all parts"},
		{"merge", "pages=1;2", "one for each"},
		{"merge", "pages=1-1:even", "one page at least"},
		{"merge", "pages=7", "(in)"},
		{"encrypt", "owner=a&user=a", "another one"},
		{"encrypt", "owner=a&allow=prnt", "print"},
		{"encrypt", "owner=\x01", "SASLprep"},
		{"metadata", "", "title, author"},
	} {
		values := map[string]string{}
		for pair := range strings.SplitSeq(x.values, "&") {
			if k, v, ok := strings.Cut(pair, "="); ok {
				values[k] = v
			}
		}
		_, _, err := run(t, e, x.operation, values, b)
		if o, ok := errors.AsType[*pdf.OptionError](err); !ok || !strings.Contains(o.Error(), x.want) {
			t.Errorf("%s %.60s: %v, want %s", x.operation, x.values, err, x.want)
		}
	}
	if _, _, err := run(t, e, "merge", nil); err == nil {
		t.Error("merge of nothing")
	}
	for _, box := range [][4]float64{{math.NaN(), 0, 9, 9}, {0, 0, 9, math.NaN()}, {math.Inf(1), 0, 9, 9}} {
		if _, err := e.Edit(t.Context(), io.Discard, open(t, e, b, ""), pdf.EditOptions{}, pdf.Crop("", box)); err == nil {
			t.Errorf("crop %v", box)
		}
	}
	if _, err := e.Edit(t.Context(), io.Discard, open(t, e, b, ""), pdf.EditOptions{}, pdf.Encrypt(crypt.Options{})); err == nil {
		t.Error("no password")
	}
}

// TestMoreThanTheLimits of pages and bytes are limit errors.
func TestMoreThanTheLimits(t *testing.T) {
	e, err := pdf.New(pdf.Config{Limits: pdf.Limits{Pages: 3}, Cache: pdf.CacheLimits{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	b := rich("One")
	for name, values := range map[string]map[string]string{"merge": nil, "reorder": {"pages": "1,2,1,2"}} {
		files := [][]byte{b, b}
		if name == "reorder" {
			files = files[:1]
		}
		_, _, err := run(t, e, name, values, files...)
		if limit, ok := errors.AsType[*pdf.LimitError](err); !ok || limit.Name != "Pages" {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	d := open(t, e, b, "")
	cancel()
	if _, err := e.Edit(ctx, io.Discard, d, pdf.EditOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := e.Split(ctx, d, pdf.SplitOptions{MaxBytes: 9}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestMetadataWithMarkup is text, and so are control characters: the file keeps its claim or drops
// it.
func TestMetadataWithMarkup(t *testing.T) {
	e := engine(t)
	b := sample(t, e, "First")
	for _, title := range []string{`</rdf:li></rdf:RDF><x a="b">`, "a & b ]]>", "line\x01\x00\uFFFE", "$1 ${x}", "bad \xff utf-8"} {
		_, out, err := run(t, e, "metadata", map[string]string{"title": title, "author": "A", "subject": "", "keywords": title}, b)
		if err != nil {
			t.Errorf("%q: %v", title, err)
			continue
		}
		d := open(t, e, out[0], "")
		if got := d.Info().Title; got == "" || strings.HasPrefix(title, "</") && got != title {
			t.Errorf("%q became %q", title, got)
		}
		if bytes.Contains(out[0], []byte("\x01</rdf")) || bytes.Contains(out[0], []byte(`<x a=`)) {
			t.Errorf("%q is in the packet as it is", title)
		}
	}
}

// TestInfoOfChangedFiles tells who opened them, what is signed, attached, turned and cropped.
func TestInfoOfChangedFiles(t *testing.T) {
	e := engine(t)
	done, _, err := run(t, e, "info", nil, rich("One"))
	if err != nil {
		t.Fatal(err)
	}
	said := done.Text
	b := rich("One")
	for _, x := range []struct{ name, values string }{{"rotate", "-90"}, {"crop", "1,1,50,50"}, {"encrypt", "o"}} {
		key := map[string]string{"rotate": "degrees", "crop": "box", "encrypt": "owner"}[x.name]
		_, out, err := run(t, e, x.name, map[string]string{key: x.values}, b)
		if err != nil {
			t.Fatal(err)
		}
		b = out[0]
	}
	done, _, err = run(t, e, "info", nil, b)
	if err != nil {
		t.Fatal(err)
	}
	said += done.Text
	for _, want := range []string{"signed       signed", "attachment   a.txt", "turned by 270", "49 x 49 pt", "opened as user", `label "One-5"`, "tagged       yes", "bookmarks    1"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %s in\n%s", want, said)
		}
	}
}

var errDisk = errors.New("disk full")

// full is a file on a disk that is full, or becomes so.
type full struct {
	write, end error
	aborted    *int
}

func (f full) Write(b []byte) (int, error) { return len(b), f.write }
func (f full) Close() error                { return f.end }
func (f full) Abort(error)                 { *f.aborted++ }

// TestFilesThatCannotBeWritten are errors of the disk, and what was begun is given up.
func TestFilesThatCannotBeWritten(t *testing.T) {
	e := engine(t)
	aborted := 0
	for name, values := range map[string]map[string]string{"rotate": {"degrees": "90"}, "merge": nil, "split": {"every": "1"}} {
		for i, create := range []func(int) (io.WriteCloser, error){
			func(int) (io.WriteCloser, error) { return nil, errDisk },
			func(int) (io.WriteCloser, error) { return full{write: errDisk, aborted: &aborted}, nil },
			func(int) (io.WriteCloser, error) { return full{end: errDisk, aborted: &aborted}, nil },
			func(int) (io.WriteCloser, error) { return struct{ io.WriteCloser }{full{write: errDisk}}, nil },
		} {
			o, err := operation.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = o.Run(t.Context(), e, operation.Input{Files: []operation.File{file("in.pdf", rich("One"))}, Values: values, Create: create})
			if !errors.Is(err, errDisk) {
				t.Errorf("%s, %d: %v", name, i, err)
			}
		}
	}
	if aborted != 3 {
		t.Errorf("%d given up, want 3", aborted)
	}
}

// TestClaimsThatNoLongerHoldGo with a warning, and check agrees with what is left.
func TestClaimsThatNoLongerHoldGo(t *testing.T) {
	e := engine(t)
	b := sample(t, e, "First")
	for _, files := range [][][]byte{{b, rich("Two")}, {b, b}} {
		done, out, err := run(t, e, "merge", nil, files...)
		if err != nil {
			t.Fatal(err)
		}
		same := &files[0][0] == &files[1][0]
		if dropped := strings.Contains(done.Text, "warning: the claim of pdf/a-4 was dropped: not every file makes it"); dropped == same {
			t.Errorf("claims dropped: %t\n%s", dropped, done.Text)
		}
		judged, _, err := run(t, e, "check", map[string]string{"standard": "pdf/a-4, pdf/ua-2"}, out[0])
		if err != nil || judged.Failed == same || !strings.Contains(judged.Text, "to pdf/a-4 and pdf/ua-2") {
			t.Errorf("check: %v, %+v", err, judged)
		}
	}
	if _, _, err := run(t, e, "check", nil, rich("One")); err == nil {
		t.Error("a file without claims was judged")
	}
}

// TestPageTreesInCirclesAreMadeAnew: what is written of a file whose page tree leads to itself has
// one that does not.
func TestPageTreesInCirclesAreMadeAnew(t *testing.T) {
	qpdf := pdftest.Need(t, "qpdf")
	e := engine(t)
	for name, x := range map[string]struct {
		body  []byte
		pages int
	}{
		"a circle": {raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[2 0 R 3 0 R 4 0 R]/Count 9>>`, `<</Type/Pages/Kids[2 0 R]/Count 1/Parent 2 0 R>>`,
			`<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>`), 1},
		"a root below itself": {raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/Parent 2 0 R>>`, `<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>`), 1},
		"no page":             {raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[2 0 R]/Count 1>>`), 0},
	} {
		for op, values := range map[string]map[string]string{"rotate": {"degrees": "90"}, "metadata": {"title": "T"}, "optimise": nil} {
			_, out, err := run(t, e, op, values, x.body)
			if err != nil {
				t.Errorf("%s, %s: %v", name, op, err)
				continue
			}
			said, code := pdftest.Run(t, qpdf, "--show-npages", pdftest.Write(t, "out.pdf", out[0]))
			if code != 0 || strings.TrimSpace(said) != strconv.Itoa(x.pages) {
				t.Errorf("%s, %s: exit %d: %s, want %d pages", name, op, code, said, x.pages)
			}
		}
	}
}

// TestWrittenPageTreesAreSound: what the page tree of a file lacks, that of what is written has,
// even where only a page was changed.
func TestWrittenPageTreesAreSound(t *testing.T) {
	e := engine(t)
	tree := func(pages, page string) []byte {
		return raw(`<</Type/Catalog/Pages 2 0 R>>`, pages, page+`/Parent 2 0 R/MediaBox[0 0 9 9]>>`, `<</Type/Pages/Kids[]/Count 0>>`)
	}
	for name, b := range map[string][]byte{
		"kids that are missing": tree(`<</Type/Pages/Kids[null 3 0 R 99 0 R 4 0 R]/Count 1>>`, `<</Type/Page`),
		"too many pages":        tree(`<</Type/Pages/Kids[3 0 R]/Count 7>>`, `<</Type/Page`),
		"no pages":              tree(`<</Type/Pages/Kids[3 0 R]/Count 0>>`, `<</Type/Page`),
		"pages without a type":  tree(`<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<<`),
		"the catalog as a page": tree(`<</Type/Pages/Kids[3 0 R 1 0 R]/Count 1>>`, `<</Type/Page`),
	} {
		_, out, err := run(t, e, "rotate", map[string]string{"degrees": "90", "pages": "1"}, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		file := pdftest.Write(t, "out.pdf", out[0])
		if err := pdftest.QPDF(t, file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := pdftest.Info(t, file)["Pages"]; got != "1" && !strings.HasPrefix(name, "kids") {
			t.Errorf("%s: %s pages", name, got)
		}
	}
}
