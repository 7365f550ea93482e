package render_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"example.com/quire/internal/blob"
	"example.com/quire/internal/record"
	"example.com/quire/internal/render"
	"example.com/quire/internal/store"
	"example.com/quire/pdf"
)

const note = `quire: 1
name: note
lang: en
title: "Note ${number}"
standard: [pdf/a-4, pdf/ua-2]
data:
  number: string
  lines: [{text: string, qty: integer}]
  remark: "string?"
body:
  - {heading: "Note ${number}", level: 1}
  - {image: assets/logo.png, decorative: true, width: 10mm}
  - table:
      caption: Lines
      columns: [{head: Text, width: 1fr, scope: row}, {head: Quantity, width: 30mm}]
      rows: {for: l in lines, cells: ["${l.text}", "${l.qty}"]}
`

const noteData = `{"number": "A-1", "lines": [{"text": "Pens", "qty": 3}, {"qty": 7, "text": "Café ₹"}]}`

func logo(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range 8 {
		img.Set(i, i, color.RGBA{R: 200, A: 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func renderer(t *testing.T, c render.Config) *render.Renderer {
	t.Helper()
	r, err := render.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func noteTemplate(t *testing.T, main string) *record.Template {
	t.Helper()
	tmpl, err := record.NewTemplate("note", "note.yaml", map[string][]byte{"note.yaml": []byte(main), "assets/logo.png": logo(t)})
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

var frozen = time.Date(2026, 1, 31, 6, 30, 0, 0, time.UTC)

func TestRenderIsTheSameEveryTime(t *testing.T) {
	in := record.Rendering{Template: noteTemplate(t, note), Data: []byte(noteData), Time: frozen, Document: record.Sum([]byte("id"))}
	var first []byte
	for _, c := range []render.Config{{}, {CacheBytes: -1}, {CacheBytes: 1}} {
		r := renderer(t, c)
		for range 2 {
			var out bytes.Buffer
			res, err := r.Render(t.Context(), &out, in)
			if err != nil {
				t.Fatal(err)
			}
			if res.Pages != 1 || res.Title == "" || res.Size != int64(out.Len()) || r.Version() == "" {
				t.Errorf("result %+v of %d bytes, engine %q", res, out.Len(), r.Version())
			}
			if first == nil {
				first = out.Bytes()
			} else if !bytes.Equal(first, out.Bytes()) {
				t.Errorf("%+v: other bytes", c)
			}
		}
	}
	// The id is found in the file without a reader.
	ids, err := renderer(t, render.Config{}).DocumentIDs(bytes.NewReader(first))
	if err != nil || len(ids) != 1 || ids[0] != in.Document {
		t.Errorf("ids in the file: %v, %v, want %s", ids, err, in.Document)
	}
}

// Documents of one template, at the same time, hold their own data only.
func TestRenderAtTheSameTime(t *testing.T) {
	r := renderer(t, render.Config{})
	tmpl := noteTemplate(t, note)
	var wg sync.WaitGroup
	sums := make([]record.Hash, 8)
	for i := range sums {
		wg.Go(func() {
			var out bytes.Buffer
			data := strings.Replace(noteData, "A-1", fmt.Sprintf("A-%d", i/2), 1)
			if _, err := r.Render(t.Context(), &out, record.Rendering{Template: tmpl, Data: []byte(data), Time: frozen}); err != nil {
				t.Error(err)
			}
			sums[i] = record.Sum(out.Bytes())
		})
	}
	wg.Wait()
	for i := range sums {
		for j := range i {
			if same := sums[i] == sums[j]; same != (i/2 == j/2) {
				t.Errorf("documents %d and %d: same %v", i, j, same)
			}
		}
	}
}

// Templates with equal names and other assets are other templates.
func TestAssetsBelongToTheirTemplate(t *testing.T) {
	r := renderer(t, render.Config{})
	var sums []record.Hash
	for _, shade := range []byte{1, 2} {
		img := image.NewGray(image.Rect(0, 0, 1, 1))
		img.Set(0, 0, color.Gray{Y: shade})
		var b, out bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		tmpl, err := record.NewTemplate("note", "note.yaml", map[string][]byte{"note.yaml": []byte(note), "assets/logo.png": b.Bytes()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Render(t.Context(), &out, record.Rendering{Template: tmpl, Data: []byte(noteData)}); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, record.Sum(out.Bytes()))
	}
	if sums[0] == sums[1] {
		t.Error("another picture gave the same file")
	}
}

func TestErrorsHaveTheirPlaces(t *testing.T) {
	r := renderer(t, render.Config{})
	for _, c := range []struct {
		name, main, data string
		standards        []string
		template         bool
		want             []string
	}{
		{"unknown key", strings.Replace(note, "level: 1", "lvel: 1", 1), noteData, nil, true, []string{`template note.yaml:11:33: `, "lvel", `did you mean "level"?`, "[T101]"}},
		{"unknown field", strings.Replace(note, "l.qty", "l.qtty", 1), noteData, nil, true, []string{"template note.yaml:16:", "qtty", `did you mean "qty"?`, "[T104]"}},
		{"missing file", strings.Replace(note, "logo.png", "lgoo.png", 1), noteData, nil, true, []string{"note.yaml:12:", "assets/lgoo.png", "[T118]"}},
		{"missing data", note, `{"number":"A-1"}`, nil, false, []string{"data ", "lines", "[D204]"}},
		{"wrong type", note, `{"number":"A-1","lines":[{"text":"x","qty":"n/a"}]}`, nil, false, []string{"data ", "lines[0].qty: ", "[D203]"}},
		{"unknown data", note, `{"number":"A-1","lines":[],"extra":1}`, nil, false, []string{"extra", "[D205]"}},
		{"null printed", strings.Replace(note, `"Note ${number}", level`, `"Note ${remark + ''}", level`, 1), noteData, nil, false, []string{"data remark: ", "(used at note.yaml:11:", "[D206]"}},
		{
			"figure without room", strings.Replace(note, "30mm", "10mm", 1), `{"number":"A-1","lines":[{"text":"x","qty":7},{"text":"y","qty":1234567890}]}`, nil, false,
			[]string{"data lines[1].qty: ", `the figure "1234567890" needs 21.`, "the column has 10.0 mm", "(used at note.yaml:16:", "; widen the column", "[L312]"},
		},
	} {
		tmpl := noteTemplate(t, c.main)
		_, err := r.Render(t.Context(), io.Discard, record.Rendering{Template: tmpl, Data: []byte(c.data), Options: record.Options{Standards: c.standards}})
		var wrongTemplate *record.TemplateError
		var wrongData *record.DataError
		if c.template && !errors.As(err, &wrongTemplate) || !c.template && !errors.As(err, &wrongData) {
			t.Errorf("%s: %T %v", c.name, err, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", c.name, err, want)
			}
		}
		if _, checked := r.Check(t.Context(), tmpl); (checked != nil) != c.template {
			t.Errorf("%s: check: %v", c.name, checked)
		}
	}
	var wrong *record.RequestError
	_, err := r.Render(t.Context(), io.Discard, record.Rendering{
		Template: noteTemplate(t, note), Data: []byte(noteData), Options: record.Options{Standards: []string{"pdf/a-4", "pdf/ua2"}},
	})
	if !errors.As(err, &wrong) || wrong.Field != "options.standards[1]" || wrong.Nearest != "pdf/ua-2" {
		t.Errorf("standard: %v", err)
	}
}

// All problems come at once, and those of data are found at their places in the
// text as sent.
func TestDataErrorsThroughMaker(t *testing.T) {
	_, err := record.NewRenderer(renderer(t, render.Config{})).Render(t.Context(), io.Discard, record.Request{
		Space: record.Local, Inline: noteTemplate(t, note), Origin: record.Origin{File: "note.json"},
		Data: []byte("{\n  \"number\": 7,\n  \"lines\": [\n    {\"text\": \"x\", \"qty\": \"n/a\"}\n  ],\n  \"zzz\": 1\n}"),
	})
	var wrong *record.DataError
	if !errors.As(err, &wrong) {
		t.Fatalf("got %v", err)
	}
	places := map[string]string{"number": "2:13", "lines[0].qty": "4:26", "zzz": "6:10"}
	for _, p := range wrong.All() {
		if want, ok := places[p.Path]; !ok || fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) != "note.json:"+want {
			t.Errorf("%s, want it at %s", p, want)
		}
		delete(places, p.Path)
	}
	if len(places) > 0 {
		t.Errorf("not found: %v\nin %v", places, err)
	}
}

func TestLimits(t *testing.T) {
	r := renderer(t, render.Config{})
	var over *record.LimitError
	main := note + "# " + strings.Repeat("x", 1<<20)
	_, err := r.Render(t.Context(), io.Discard, record.Rendering{Template: noteTemplate(t, main), Data: []byte(noteData)})
	if !errors.As(err, &over) || over.At.Code != "X301" || !strings.HasPrefix(err.Error(), "limit note.yaml:1:1: ") {
		t.Errorf("template: %v", err)
	}
	limited := render.Config{}
	limited.Limits.Pages = 1
	lines := `{"number":"A-1","lines":[` + strings.TrimSuffix(strings.Repeat(`{"text":"x","qty":1},`, 500), ",") + "]}"
	_, err = renderer(t, limited).Render(t.Context(), io.Discard, record.Rendering{Template: noteTemplate(t, note), Data: []byte(lines)})
	if !errors.As(err, &over) {
		t.Errorf("pages: %v", err)
	}
}

func TestWriteErrorsAndContext(t *testing.T) {
	r := renderer(t, render.Config{})
	in := record.Rendering{Template: noteTemplate(t, note), Data: []byte(noteData)}
	for limit := 0; limit < 4000; limit += 1000 {
		if _, err := r.Render(t.Context(), &fullDisk{limit}, in); !errors.Is(err, record.ErrNoSpace) {
			t.Errorf("after %d bytes: %v, want no space", limit, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Render(ctx, io.Discard, in); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want cancelled", err)
	}
	if _, err := renderer(t, render.Config{}).Check(ctx, in.Template); !errors.Is(err, context.Canceled) {
		t.Errorf("check: %v, want cancelled", err)
	}
}

type fullDisk struct{ left int }

func (f *fullDisk) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return f.left, record.ErrNoSpace
	}
	f.left -= len(p)
	return len(p), nil
}

func TestLoad(t *testing.T) {
	r := renderer(t, render.Config{})
	fsys := fstest.MapFS{
		"note.yaml": {Data: []byte(note)}, "data.json": {Data: []byte(noteData)}, "assets/logo.png": {Data: logo(t)}, "assets/other.png": {Data: logo(t)},
	}
	got, err := r.Load(t.Context(), fsys, "note", "note.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// What the template does not name is not part of it.
	if want := noteTemplate(t, note); got.Ref() != want.Ref() || len(got.Files) != 2 {
		t.Errorf("loaded %d files as %v, want %v", len(got.Files), got.Ref(), want.Ref())
	}
	if _, err := r.Load(t.Context(), fsys, "note", "none.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if _, err := r.Load(t.Context(), fsys, "No", "note.yaml"); err == nil {
		t.Error("a bad name: no error")
	}
	delete(fsys, "assets/logo.png")
	var wrong *record.TemplateError
	if _, err := r.Load(t.Context(), fsys, "note", "note.yaml"); !errors.As(err, &wrong) || wrong.Code != "T118" {
		t.Errorf("no logo: %v", err)
	}
}

// The whole way with everything real: make, read, verify, flip a byte.
func TestTheWayOfADocument(t *testing.T) {
	dir := t.TempDir()
	blobs, err := blob.Open(blob.Config{Dir: filepath.Join(dir, "blobs")})
	if err != nil {
		t.Fatal(err)
	}
	documents, err := store.Open(t.Context(), store.Config{File: filepath.Join(dir, "quire.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(documents.Close(), blobs.Close()); err != nil {
			t.Error(err)
		}
	}()
	maker, err := record.NewMaker(record.Parts{Engine: renderer(t, render.Config{}), Blobs: blobs, Documents: documents, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	made, err := maker.Make(t.Context(), record.Request{Space: record.Local, Inline: noteTemplate(t, note), Data: []byte(noteData)})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := blobs.Open(t.Context(), made.Document.Content)
	if err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(kept)
	if err := errors.Join(err, kept.Close()); err != nil {
		t.Fatal(err)
	}
	// Another process: nothing is kept in memory.
	later, err := record.NewMaker(record.Parts{Engine: renderer(t, render.Config{}), Blobs: blobs, Documents: documents, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	verify := func(f []byte) string {
		t.Helper()
		v, err := later.Remake(t.Context(), record.RemakeRequest{Space: record.Local, File: bytes.NewReader(f)})
		if err != nil {
			t.Fatal(err)
		}
		return v.String()
	}
	if got := verify(file); got != "identical" {
		t.Errorf("the file: %s", got)
	}
	for _, at := range []int{0, 100, len(file) / 2, len(file) - 2} {
		bad := bytes.Clone(file)
		bad[at] ^= 1
		if got, want := verify(bad), fmt.Sprintf("differs at byte %d", at); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got, want := verify(file[:len(file)-1]), fmt.Sprintf("differs at byte %d", len(file)-1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if head, err := documents.VerifyAudit(t.Context()); err != nil || head.Lines != 1 {
		t.Errorf("audit log: %+v, %v", head, err)
	}
}

// What freezing takes is what the engine takes: data that were kept can be rendered.
func TestTheEngineTakesWhatIsFrozen(t *testing.T) {
	l := pdf.Limits{}.WithDefaults()
	if l.DataBytes != record.DataBytes || l.DataDepth != record.DataDepth || l.DataNodes != record.DataNodes {
		t.Errorf("the engine takes %d bytes, %d levels, %d values; freezing %d, %d, %d",
			l.DataBytes, l.DataDepth, l.DataNodes, record.DataBytes, record.DataDepth, record.DataNodes)
	}
}
