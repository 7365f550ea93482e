//go:build !race

package pdf_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/cos"
)

// incompressible is a document of 5 MiB that nothing makes shorter, or two times that with all of
// it twice.
func incompressible(tb testing.TB, twice bool) []byte {
	tb.Helper()
	data := make([]byte, 5<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // it never fails
	var b bytes.Buffer
	w := cos.NewWriter(&b, cos.Options{Version: cos.V17})
	put := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	root, tree, page := w.Reserve(), w.Reserve(), w.Reserve()
	streams := []cos.Ref{w.Reserve()}
	if twice {
		streams = append(streams, w.Reserve())
	}
	names := cos.Dict{}
	content := ""
	for i, s := range streams {
		name := strings.Repeat("X", i+1)
		names, content = append(names, cos.E(cos.Name(name), s)), content+"/"+name+" Do "
		put(w.EncodedStream(s, cos.Dict{
			cos.E("Subtype", cos.Name("Image")), cos.E("Width", cos.Int(1024)), cos.E("Height", cos.Int(5120)),
			cos.E("BitsPerComponent", cos.Int(8)), cos.E("ColorSpace", cos.Name("DeviceGray")),
		}, "", data))
	}
	drawing := w.Reserve()
	put(w.Stream(drawing, nil, []byte(content)))
	put(w.Put(page, cos.Dict{
		cos.E("Type", cos.Name("Page")), cos.E("Parent", tree), cos.E("Contents", drawing), cos.E("Resources", cos.Dict{cos.E("XObject", names)}),
		cos.E("MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Int(100), cos.Int(100)}),
	}))
	put(w.Put(tree, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", cos.Array{page}), cos.E("Count", cos.Int(1))}))
	put(w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", tree)}))
	_, err := w.Close(cos.Trailer{Root: root})
	put(err)
	return b.Bytes()
}

// TestLargeFilesAreOptimisedInPlace: what is optimised goes to the end of the file that is written,
// without another one, and is taken back where nothing was gained.
func TestLargeFilesAreOptimisedInPlace(t *testing.T) {
	e, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	optimise := func(w io.Writer, in []byte) *pdf.Summary {
		t.Helper()
		d, err := e.Open(t.Context(), bytes.NewReader(in), int64(len(in)), pdf.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Optimise(t.Context(), w, d)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var small, smallest bytes.Buffer
	twice := incompressible(t, true)
	optimise(&small, twice) // by a temporary file
	optimise(&smallest, small.Bytes())
	if 10*small.Len() > 6*len(twice) || !bytes.Equal(smallest.Bytes(), small.Bytes()) {
		t.Fatalf("%d bytes of %d, and %d of those", small.Len(), len(twice), smallest.Len())
	}
	for name, x := range map[string]struct {
		before string // in the file
		at     int64  // where writing goes on
		in     []byte
		temp   bool
	}{
		"gain":                     {"", 0, twice, false},
		"no gain":                  {"", 0, small.Bytes(), false},
		"gain, behind others":      {"before", 6, twice, false},
		"no gain, behind others":   {"before", 6, small.Bytes(), false},
		"gain, over others":        {"before", 2, twice, true},
		"no gain, over other ones": {"before", 2, small.Bytes(), true},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Create(filepath.Join(t.TempDir(), "out.pdf"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }() // it is read below
			if _, err := f.WriteString(x.before); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Seek(x.at, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if !x.temp {
				t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
				t.Setenv("TMP", filepath.Join(t.TempDir(), "none"))
			}
			s := optimise(f, x.in)
			got, err := os.ReadFile(f.Name())
			if err != nil || string(got) != x.before[:x.at]+small.String() || s.Size != int64(small.Len()) {
				t.Errorf("%d bytes, %+v, %v; want %d", len(got), s, err, x.at+int64(small.Len()))
			}
			if told := len(s.Warnings) > 0; told == (len(x.in) == len(twice)) {
				t.Errorf("warnings %q", s.Warnings)
			}
		})
	}
}
