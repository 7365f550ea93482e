package pdf_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
)

// sampleNames are the samples in a fixed order.
func sampleNames(tb testing.TB) []string {
	tb.Helper()
	var names []string
	for n := range samples(tb) {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// TestResultHash: the hash of the result is that of the bytes written.
func TestResultHash(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	a, res := render(t, e, pdf.RenderOptions{}, note("X", 3))
	b, again := render(t, e, pdf.RenderOptions{}, note("X", 3))
	if !bytes.Equal(a, b) || res.SHA256 != again.SHA256 || !res.Deterministic {
		t.Error("two renders differ")
	}
	c, _ := render(t, e, pdf.RenderOptions{DocumentID: "x"}, note("X", 3))
	if bytes.Equal(a, c) {
		t.Error("an identifier changes nothing")
	}
}

// TestBuffersCarryNothing: whatever became of the document before, one made in
// its buffers is the one that a new engine makes.
func TestBuffersCarryNothing(t *testing.T) {
	want, _ := render(t, newEngine(t, pdf.Config{}), pdf.RenderOptions{}, note("X", 3))
	e := newEngine(t, pdf.Config{})
	tagged := pdf.RenderOptions{Standards: compliant}
	lost := func(b *doc.Builder) error {
		b.Title("T").Lang("en").Text(strings.Repeat("lost ", 5000)).Text("link", doc.LinkTo("#nowhere"))
		return nil
	}
	for _, before := range []struct {
		name string
		err  error
		do   func() error
	}{
		{"a long document", nil, func() error {
			_, err := e.Build(t.Context(), io.Discard, tagged, note("Y", 400))
			return err
		}},
		{"one without an anchor", pdf.ErrLayout, func() error {
			_, err := e.Build(t.Context(), io.Discard, tagged, lost)
			return err
		}},
		{"one that could not be written", errDisk, func() error {
			_, err := e.Build(t.Context(), &failing{3000}, tagged, note("Y", 400))
			return err
		}},
		{"one that may not be claimed", pdf.ErrStandard, func() error {
			_, err := e.Build(t.Context(), io.Discard, tagged, func(*doc.Builder) error { return nil })
			return err
		}},
	} {
		if err := before.do(); !errors.Is(err, before.err) {
			t.Fatalf("%s: %v", before.name, err)
		}
		if got, _ := render(t, e, pdf.RenderOptions{}, note("X", 3)); !bytes.Equal(got, want) {
			t.Errorf("behind %s comes another one", before.name)
		}
	}
}

// TestEngineVersion: Result.Engine names what decides the bytes, and the
// versions it falls back to are those of go.mod.
func TestEngineVersion(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	_, res := render(t, e, pdf.RenderOptions{}, note("X", 1))
	if !regexp.MustCompile(`^quire-pdf/\d+ data/[0-9a-f]{8}( \w+@v\S+)+ unicode@[0-9.]+$`).MatchString(res.Engine) || res.Engine != e.Version() {
		t.Errorf("engine %q, version %q", res.Engine, e.Version())
	}
	root, err := pdftest.Root()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for path, version := range pdf.ByteLeaves() {
		if !strings.Contains(string(mod), path+" "+version+"\n") {
			t.Errorf("go.mod does not have %s %s", path, version)
		}
	}
}

// unpack returns the file with every compressed stream but fonts inflated, for
// tests that look for keys and texts.
func unpack(tb testing.TB, body []byte) string {
	tb.Helper()
	return string(new(inflater).unpack(body))
}

// inflater keeps its decompressor from file to file.
type inflater struct {
	zr  io.ReadCloser
	out bytes.Buffer
}

// unpack is the function of that name; the result holds until the next call.
func (f *inflater) unpack(body []byte) []byte {
	f.out.Reset()
	for rest := body; ; {
		head, after, ok := bytes.Cut(rest, []byte("stream\n"))
		f.out.Write(head)
		if !ok {
			return f.out.Bytes()
		}
		data, tail, _ := bytes.Cut(after, []byte("\nendstream"))
		rest = tail
		if bytes.Contains(head[max(0, len(head)-200):], []byte("/Length1")) {
			continue // a font: no test looks for text in it
		}
		if !f.inflate(data) {
			f.out.Write(data)
		}
	}
}

// inflate appends the data of a zlib stream, and reports whether it is one.
func (f *inflater) inflate(data []byte) bool {
	var err error
	if f.zr == nil {
		f.zr, err = zlib.NewReader(bytes.NewReader(data))
	} else {
		err = f.zr.(zlib.Resetter).Reset(bytes.NewReader(data), nil)
	}
	if err != nil {
		return false
	}
	n := f.out.Len()
	if _, err := f.out.ReadFrom(f.zr); err != nil {
		f.out.Truncate(n)
		return false
	}
	return true
}
