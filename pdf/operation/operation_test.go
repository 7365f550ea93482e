package operation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/operation"
	"example.com/quire/pdf/standard"
)

func engine(t *testing.T) *pdf.Engine {
	t.Helper()
	e, err := pdf.New(pdf.Config{Cache: pdf.CacheLimits{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// sample is a tagged file of four pages that claims PDF/A-4 and PDF/UA-2, with bookmarks and links.
func sample(t *testing.T, e *pdf.Engine, title string) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := e.Build(t.Context(), &out, pdf.RenderOptions{Standards: []standard.ID{standard.PDFA4, standard.PDFUA2}}, func(b *doc.Builder) error {
		b.Title(title).Lang("en")
		for i, s := range []string{"One", "Two", "Three", "Four"} {
			if i > 0 {
				b.PageBreak()
			}
			b.Heading(1, title+" "+s, doc.Bookmark(s), doc.Anchor(s))
			b.Text("to the first", doc.LinkTo("#One"))
			b.Text("to the last", doc.LinkTo("#Four"))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func file(name string, b []byte) operation.File {
	return operation.File{Name: name, Data: bytes.NewReader(b), Size: int64(len(b))}
}

// parts keeps what an operation writes.
type parts struct{ files []*bytes.Buffer }

func (p *parts) create(int) (io.WriteCloser, error) {
	b := &bytes.Buffer{}
	p.files = append(p.files, b)
	return closer{b}, nil
}

type closer struct{ io.Writer }

func (closer) Close() error { return nil }

// run runs an operation on files and returns what it wrote.
func run(t *testing.T, e *pdf.Engine, name string, values map[string]string, files ...[]byte) (*operation.Outcome, [][]byte, error) {
	t.Helper()
	o, err := operation.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &parts{}
	in := operation.Input{Values: values, Create: p.create}
	for _, b := range files {
		in.Files = append(in.Files, file("in.pdf", b))
	}
	done, err := o.Run(t.Context(), e, in)
	var out [][]byte
	for _, b := range p.files {
		out = append(out, b.Bytes())
	}
	return done, out, err
}

// TestTableNamesAFunctionOfPackagePDF: each operation has an exported function of package pdf, and
// each method of Engine that works on documents is one of them.
func TestTableNamesAFunctionOfPackagePDF(t *testing.T) {
	named := map[string]bool{}
	for _, o := range operation.All() {
		f := runtime.FuncForPC(reflect.ValueOf(o.Go).Pointer()).Name()
		short, ok := strings.CutPrefix(f, "example.com/quire/pdf.")
		if !ok || strings.Contains(short, "func") {
			t.Errorf("%s: %s is no function of package pdf", o.Name, f)
		}
		named[short] = true
		if o.Name != strings.ToLower(o.Name) || o.Summary == "" || strings.HasSuffix(o.Summary, ".") || !strings.HasSuffix(o.Description, ".") || o.Most < 1 {
			t.Errorf("%s: summary %q, description %q, %d files", o.Name, o.Summary, o.Description, o.Most)
		}
		for _, p := range o.Parameters {
			if p.Doc == "" {
				t.Errorf("%s: %s has no description", o.Name, p.Name)
			}
		}
	}
	open := map[string]bool{"Edit": true} // which runs the operations that are values of pdf.Op
	document := reflect.TypeFor[*pdf.Document]()
	for m := range reflect.TypeFor[*pdf.Engine]().Methods() {
		for in := range m.Type.Ins() {
			if in == document && !open[m.Name] && !named["(*Engine)."+m.Name] {
				t.Errorf("Engine.%s is no operation", m.Name)
			}
		}
	}
}

// TestInfoTellsWhatAFileHas.
func TestInfoTellsWhatAFileHas(t *testing.T) {
	e := engine(t)
	done, _, err := run(t, e, "info", nil, sample(t, e, "Sample"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"version      2.0\n", "pages        4\n", "title        Sample\n", "claims       pdf/a-4, pdf/ua-2\n", "tagged       yes\n", "bookmarks    4\n", "language     en\n", "page 4 "} {
		if !strings.Contains(done.Text, want) {
			t.Errorf("no %q in\n%s", want, done.Text)
		}
	}
}

// TestWrongRequestsSayWhatIsRight: options, files and passwords, each with its field or its code.
func TestWrongRequestsSayWhatIsRight(t *testing.T) {
	e := engine(t)
	b := sample(t, e, "Sample")
	for name, c := range map[string]struct {
		operation string
		values    map[string]string
		files     [][]byte
		want      string
	}{
		"no file":          {"info", nil, nil, "file: got 0 files, want 1"},
		"two files":        {"info", nil, [][]byte{b, b}, "got 2 files"},
		"one file":         {"compare", nil, [][]byte{b}, "file: got 1 file, want 2"},
		"misspelt file":    {"info", map[string]string{"fil": "x"}, [][]byte{b}, `did you mean "file"`},
		"unknown option":   {"check", map[string]string{"standart": "x"}, [][]byte{b}, `did you mean "standard"`},
		"unknown standard": {"check", map[string]string{"standard": "pdf/a-9"}, [][]byte{b}, "pdf/a-2b"},
		"nothing to find":  {"search", nil, [][]byte{b}, "text: got nothing to search for"},
		"two to find":      {"search", map[string]string{"text": "a", "regexp": "b"}, [][]byte{b}, "got a text and an expression"},
		"expression":       {"search", map[string]string{"regexp": "("}, [][]byte{b}, "RE2 syntax: missing closing ): `(`"},
		"no way to split":  {"split", nil, [][]byte{b}, "every: got nothing to split by, want one of pages"},
		"two ways":         {"split", map[string]string{"every": "1", "pages": "1"}, [][]byte{b}, "got more than one way to split"},
		"parts of none":    {"split", map[string]string{"every": "0"}, [][]byte{b}, "every: got 0, want 1 or more"},
		"needed":           {"rotate", nil, [][]byte{b}, "degrees: got nothing, want DEGREES: angle, a multiple of 90"},
		"a box that ends":  {"crop", map[string]string{"box": "400,600,50,50"}, [][]byte{b}, "the left before the right"},
		"placeholder":      {"number", map[string]string{"format": "{pag}"}, [][]byte{b}, `format: got "{pag}", want {page} for the number, {pages} for the last one; did you mean "{page}"?`},
		"nothing to stamp": {"stamp", nil, [][]byte{b}, "text: got neither a text nor a file"},
		"nothing carried":  {"extract", map[string]string{"name": "a"}, [][]byte{b}, "want a PDF that carries files; this one carries none"},
		"no metadata":      {"metadata", nil, [][]byte{b}, "title: got nothing to change"},
		"both":             {"check", map[string]string{"standard": "pdf/a-2b,pdf/a-4"}, [][]byte{b}, "one part of PDF/A"},
	} {
		_, out, err := run(t, e, c.operation, c.values, c.files...)
		var option *pdf.OptionError
		if !errors.As(err, &option) || !strings.Contains(err.Error(), c.want) || len(bytes.Join(out, nil)) > 0 {
			t.Errorf("%s: %v, %d files", name, err, len(out))
		}
	}
	_, _, err := run(t, e, "info", nil, []byte("%PDF-1.7\nnothing"))
	var told *pdf.DiagnosticError
	if !errors.As(err, &told) || !errors.Is(err, pdf.ErrDamaged) || told.Diagnostics[0].Kind != pdf.KindInput || told.Diagnostics[0].File != "in.pdf" || told.Diagnostics[0].Suggestion == "" {
		t.Errorf("damaged: %v", err)
	}
	if _, err := operation.Find("inof"); err == nil || !strings.Contains(err.Error(), `did you mean "info"`) {
		t.Errorf("unknown operation: %v", err)
	}
}

// TestEmptyValuesAreNotTakenForNone: a script whose variable is not set does not redact without
// OCR, turn all pages or make a file that anyone may read. Where an empty value means something it
// stays one.
func TestEmptyValuesAreNotTakenForNone(t *testing.T) {
	e := engine(t)
	b := sample(t, e, "Sample")
	for name, x := range map[string]struct {
		operation string
		values    map[string]string
	}{
		"ocr":   {"redact", map[string]string{"text": "One", "ocr": ""}},
		"text":  {"redact", map[string]string{"text": "", "box": "1,1,2,2"}},
		"pages": {"rotate", map[string]string{"degrees": "90", "pages": ""}},
		"user":  {"encrypt", map[string]string{"owner": "x", "user": ""}},
	} {
		_, out, err := run(t, e, x.operation, x.values, b)
		option, _ := errors.AsType[*pdf.OptionError](err)
		if option == nil || option.Field != name || option.Got != "an empty value" || !strings.Contains(option.Want, "leave it out") || len(out) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, out, err := run(t, e, "metadata", map[string]string{"title": "", "password": ""}, b)
	if err != nil {
		t.Fatal(err)
	}
	if done, _, err := run(t, e, "info", nil, out[0]); err != nil || strings.Contains(done.Text, "title ") {
		t.Errorf("the title stays: %v\n%s", err, done.Text)
	}
}

// TestWhatWasOverlookedIsTold where a file is written, too: what was repaired, with its file, and
// what was asked in vain.
func TestWhatWasOverlookedIsTold(t *testing.T) {
	e := engine(t)
	b := sample(t, e, "Sample")
	broken := append(slices.Clone(b[:bytes.LastIndex(b, []byte("startxref"))]), "startxref\n99999999\n%%EOF\n"...)
	for name, x := range map[string]struct {
		operation string
		values    map[string]string
		files     [][]byte
		want      string
	}{
		"rotate":  {"rotate", map[string]string{"degrees": "90"}, [][]byte{broken}, "repaired: in.pdf: the cross-reference data is damaged: at offset 99999999: an offset outside the file"},
		"merge":   {"merge", nil, [][]byte{b, broken}, "repaired: in.pdf: "},
		"split":   {"split", map[string]string{"every": "2"}, [][]byte{broken}, "repaired: in.pdf: "},
		"size":    {"split", map[string]string{"size": "100"}, [][]byte{b}, "4 of 4 parts are larger than 100 bytes: one page alone is"},
		"redact":  {"redact", map[string]string{"text": "nowhere to be found"}, [][]byte{b}, "the text was found nowhere: none was taken out"},
		"decrypt": {"decrypt", nil, [][]byte{b}, "the file was not encrypted"},
	} {
		done, _, err := run(t, e, x.operation, x.values, x.files...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		report, err := json.Marshal(done.Report)
		if err != nil || !strings.Contains(done.Text, "warning: "+x.want) || !strings.Contains(string(report), x.want) {
			t.Errorf("%s: %v\n%s\n%s", name, err, done.Text, report)
		}
	}
	if done, _, err := run(t, e, "redact", map[string]string{"text": "Two"}, b); err != nil || strings.Contains(done.Text, "found nowhere") {
		t.Errorf("%v\n%s", err, done.Text)
	}
}

// TestErrorsOfFilesNameThemAsTheyAreCalled: what is no PDF, what wants a password, and which of
// several files that is.
func TestErrorsOfFilesNameThemAsTheyAreCalled(t *testing.T) {
	e := engine(t)
	b := sample(t, e, "Sample")
	_, locked, err := run(t, e, "encrypt", map[string]string{"owner": "o"}, b)
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := run(t, e, "encrypt", map[string]string{"owner": "o", "user": "u"}, b)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		operation string
		values    map[string]string
		files     [][]byte
		want      string
	}{
		"empty":          {"info", nil, [][]byte{{}}, "in.pdf: the file is empty; give a PDF file"},
		"another kind":   {"info", nil, [][]byte{[]byte("hello")}, "in.pdf: this is no PDF file: it has no %PDF- at its beginning and no objects; give a PDF file"},
		"no password":    {"info", nil, [][]byte{secret[0]}, "in.pdf: the file is encrypted and opens with a password only; give"},
		"wrong password": {"info", map[string]string{"password": "x"}, [][]byte{secret[0]}, "in.pdf: the file is encrypted and the password does not open it; give"},
		"of several":     {"merge", nil, [][]byte{b, locked[0]}, "in.pdf: the file was opened with the password of its user"},
	} {
		if _, _, err := run(t, e, x.operation, x.values, x.files...); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// with runs an operation with another file as a parameter of the kind Upload.
func with(t *testing.T, e *pdf.Engine, name, parameter string, upload []byte, values map[string]string, files ...[]byte) (*operation.Outcome, []byte, error) {
	t.Helper()
	o, err := operation.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &parts{}
	in := operation.Input{Values: values, Create: p.create, Uploads: map[string]operation.File{parameter: file("more/"+parameter+".pdf", upload)}}
	for i, b := range files {
		in.Files = append(in.Files, file(fmt.Sprintf("in%d.pdf", i), b))
	}
	done, err := o.Run(t.Context(), e, in)
	if err != nil {
		return nil, nil, err
	}
	return done, p.files[0].Bytes(), nil
}

// stream is a stream object.
func stream(dict, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
}

// odd is a file of pages that are turned, cropped, shifted, of other units, and with content that
// ends in a state of its own.
func odd() []byte {
	var kids strings.Builder
	n := 3
	objects := []string{"", "", stream("", "")}
	for _, rotate := range []int{0, 90, 180, 270, -90} {
		for _, more := range []string{
			"/MediaBox[0 0 300 200]", "/MediaBox[-100 50 400 350]/CropBox[0 100 250 300]", "/MediaBox[300 200 0 0]/Contents 3 0 R", "/MediaBox[0 0 150 100]/UserUnit 2",
		} {
			n++
			fmt.Fprintf(&kids, "%d 0 R ", n)
			objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/Rotate %d%s>>", rotate, more))
		}
	}
	for _, s := range []string{"q 2 0 0 2 50 50 cm q 0 1 -1 0 9 9 cm", "Q Q Q 3 0 0 3 0 0 cm", "0 0 1 1 re W n /P <</MCID 0>> BDC BT 1 0 0 1 9 9 Tm", "1 1 1 rg 1 1 1 RG 0.1 0 0 0.1 7 7 cm"} {
		n += 2
		fmt.Fprintf(&kids, "%d 0 R ", n-1)
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents[%d 0 R]>>", n), stream("", s))
	}
	objects[0], objects[1] = "<</Type/Catalog/Pages 2 0 R>>", fmt.Sprintf("<</Type/Pages/Count 24/Kids[%s]>>", kids.String())
	return raw(objects...)
}
