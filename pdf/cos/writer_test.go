package cos_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/judgetest"
	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
)

// writeSample writes a document of the given number of pages with a structure
// tree whose elements come before their parents.
func writeSample(t *testing.T, out io.Writer, o cos.Options, pages int) cos.Summary {
	t.Helper()
	w := cos.NewWriter(out, o)
	catalog, tree, root := w.Reserve(), w.Reserve(), w.Reserve()
	font := w.Reserve()
	first := w.ReserveN(pages)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var kids, elems cos.Array
	var content []byte
	for i := range pages {
		content = append(content[:0], "BT /F1 24 Tf "...)
		content = cos.AppendFixed(content, 72*cos.FixedUnit, 3)
		content = append(content, " 700 Td "...)
		content = cos.AppendLiteral(content, fmt.Sprintf("Page (%d) of \\ %d", i+1, pages))
		content = append(content, " Tj ET "...)
		for range 20 {
			content = append(content, "0 0 10 10 re f "...)
		}
		stream := w.Reserve()
		check(w.Stream(stream, nil, content))
		check(w.Put(first.Plus(i), cos.Dict{
			cos.E("Type", cos.Name("Page")), cos.E("Parent", tree), cos.E("Contents", stream),
			cos.E("MediaBox", cos.Array{cos.Int(0), cos.Int(0), cos.Fixed(609_446), cos.Fixed(862_098)}),
			cos.E("Resources", cos.Dict{cos.E("Font", cos.Dict{cos.E("F1", font)})}),
		}))
		kids = append(kids, first.Plus(i))
		elem := w.Reserve()
		raw := append([]byte("<</Type/StructElem/S/P/P "), cos.AppendRef(nil, root)...)
		check(w.PutRaw(elem, append(raw, ">>"...)))
		elems = append(elems, elem)
	}
	check(w.Put(tree, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Count", cos.Int(pages)), cos.E("Kids", kids)}))
	check(w.Put(root, cos.Dict{cos.E("Type", cos.Name("StructTreeRoot")), cos.E("K", elems)}))
	check(w.Put(font, cos.Dict{
		cos.E("Type", cos.Name("Font")), cos.E("Subtype", cos.Name("Type1")),
		cos.E("BaseFont", cos.Name("Helvetica")), cos.E("Encoding", cos.Name("WinAnsiEncoding")),
	}))
	meta := w.Reserve()
	check(w.EncodedStream(meta, cos.Dict{cos.E("Type", cos.Name("Metadata")), cos.E("Subtype", cos.Name("XML"))}, "", []byte("<x/>")))
	check(w.PutDirect(catalog, cos.Dict{
		cos.E("Type", cos.Name("Catalog")), cos.E("Pages", tree), cos.E("Metadata", meta),
		cos.E("StructTreeRoot", root), cos.E("Lang", cos.Text("en")), cos.E("OpenAction", nil),
	}))
	sum, err := w.Close(cos.Trailer{Root: catalog})
	check(err)
	return sum
}

// TestQpdfAcceptsFiles also shows that the judge can fail: a damaged file must
// not pass.
func TestQpdfAcceptsFiles(t *testing.T) {
	tool := judgetest.Program(t, "qpdf", "apt-get install qpdf")
	run := func(t *testing.T, data []byte) (string, error) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "f.pdf")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), tool, "--check", name).CombinedOutput() //nolint:gosec // G204: a tool found in PATH
		return string(out), err
	}
	for _, v := range []cos.Version{cos.V20, cos.V17, cos.V16, cos.V15, cos.V14} {
		for _, pages := range []int{1, 3, 700} {
			t.Run(fmt.Sprintf("%s/%d", v, pages), func(t *testing.T) {
				var b bytes.Buffer
				writeSample(t, &b, cos.Options{Version: v}, pages)
				if out, err := run(t, b.Bytes()); err != nil || strings.Contains(out, "WARNING") {
					t.Fatalf("qpdf --check: %v\n%s", err, out)
				}
			})
		}
	}
	t.Run("damaged", func(t *testing.T) {
		var b bytes.Buffer
		writeSample(t, &b, cos.Options{}, 3)
		bad := bytes.Replace(b.Bytes(), []byte("/Length "), []byte("/Length 1"), 1)
		if out, err := run(t, bad); err == nil {
			t.Fatalf("qpdf --check passes a file with a wrong Length:\n%s", out)
		}
	})
}

// TestFileLayout follows ISO 32000-2, 7.5: header, offsets, end. The
// cross-reference stream of a short file is plain, that of a longer one packed.
func TestFileLayout(t *testing.T) {
	t.Run("short", func(t *testing.T) { fileLayout(t, 2) })
	t.Run("long", func(t *testing.T) { fileLayout(t, 40) })
}

func fileLayout(t *testing.T, pages int) {
	t.Helper()
	var b bytes.Buffer
	sum := writeSample(t, &b, cos.Options{Version: cos.V17}, pages)
	data := b.Bytes()
	if !bytes.HasPrefix(data, []byte("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")) {
		t.Errorf("header is %q", data[:20])
	}
	if !bytes.HasSuffix(data, []byte("\n%%EOF")) {
		t.Errorf("file ends with %q", data[len(data)-10:])
	}
	if sum.Size != int64(len(data)) || sum.SHA256 != sha256.Sum256(data) {
		t.Error("summary does not describe the bytes")
	}
	m := regexp.MustCompile(`startxref\n(\d+)\n`).FindSubmatch(data)
	start, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	id := sha256.Sum256(data[:start])
	if [16]byte(id[:16]) != sum.ID {
		t.Error("the identifier is not the hash of what precedes the cross-reference stream")
	}
	if want := fmt.Sprintf("/ID[<%X><%X>]", sum.ID, sum.ID); !bytes.Contains(data[start:], []byte(want)) {
		t.Errorf("trailer lacks %s", want)
	}
	rows := xrefRows(t, data, start)
	if len(rows) != sum.Objects+1 {
		t.Fatalf("%d rows for %d objects", len(rows), sum.Objects)
	}
	if rows[0] != [3]int{0, 0, 0xFFFF} {
		t.Errorf("object 0 is %v", rows[0])
	}
	for num, row := range rows[1:] {
		num++
		switch row[0] {
		case 1:
			if want := fmt.Sprintf("%d 0 obj\n", num); !bytes.HasPrefix(data[row[1]:], []byte(want)) {
				t.Errorf("object %d: offset %d holds %q", num, row[1], data[row[1]:row[1]+12])
			}
		case 2:
			if rows[row[1]][0] != 1 || row[2] >= 200 {
				t.Errorf("object %d: bad place %v", num, row)
			}
		default:
			t.Errorf("object %d: row %v", num, row)
		}
	}
}

// xrefRows reads the cross-reference stream at start and undoes its PNG
// predictor.
func xrefRows(t *testing.T, data []byte, start int) [][3]int {
	t.Helper()
	m := regexp.MustCompile(`/W\[1 (\d) 2\].*?(/FlateDecode)?/Length (\d+)>>stream\n`).FindSubmatchIndex(data[start:])
	width := int(data[start+m[2]] - '0')
	length, err := strconv.Atoi(string(data[start+m[6] : start+m[7]]))
	if err != nil {
		t.Fatal(err)
	}
	raw := data[start+m[1]:][:length]
	cols := width + 3
	above := make([]byte, cols)
	if packed := m[4] >= 0; packed {
		zr, err := zlib.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if raw, err = io.ReadAll(zr); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(raw); i += cols { // the filter type goes, the row stays
			raw = append(raw[:i], raw[i+1:]...)
			for k := range cols {
				above[k] += raw[i+k]
			}
			copy(raw[i:], above)
		}
	}
	var rows [][3]int
	for ; len(raw) > 0; raw = raw[cols:] {
		row := [3]int{int(raw[0]), 0, int(raw[cols-2])<<8 | int(raw[cols-1])}
		for _, c := range raw[1 : 1+width] {
			row[1] = row[1]<<8 | int(c)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestLengthIsExact is line 5.22 for streams.
func TestLengthIsExact(t *testing.T) {
	var b bytes.Buffer
	writeSample(t, &b, cos.Options{}, 3)
	data := b.Bytes()
	streams := regexp.MustCompile(`/Length (\d+)>>stream\n`).FindAllSubmatchIndex(data, -1)
	if len(streams) < 5 {
		t.Fatalf("found %d streams", len(streams))
	}
	for _, m := range streams {
		n, err := strconv.Atoi(string(data[m[2]:m[3]]))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data[m[1]+n:], []byte("\nendstream\nendobj\n")) {
			t.Errorf("stream at %d: Length %d does not end at endstream", m[0], n)
		}
	}
}

// TestDeterminism is line 5.11 for this layer: equal calls, equal bytes, with
// fresh and with pooled compressors.
func TestDeterminism(t *testing.T) {
	var a, b, c bytes.Buffer
	shared := cos.NewFlate()
	s1 := writeSample(t, &a, cos.Options{}, 40)
	s2 := writeSample(t, &b, cos.Options{Deflater: shared}, 40)
	s3 := writeSample(t, &c, cos.Options{Deflater: shared}, 40)
	if !bytes.Equal(a.Bytes(), b.Bytes()) || !bytes.Equal(b.Bytes(), c.Bytes()) {
		t.Error("three equal documents differ")
	}
	if s1 != s2 || s2 != s3 {
		t.Error("their summaries differ")
	}
	s4 := writeSample(t, io.Discard, cos.Options{Deflater: shared}, 41)
	if s4.ID == s1.ID {
		t.Error("another document has the same identifier")
	}
}

// TestReset: a writer taken up again, after a finished, an abandoned and a
// failed document, writes what a new one does.
func TestReset(t *testing.T) {
	write := func(w *cos.Writer, text string) {
		t.Helper()
		root, s := w.Reserve(), w.Reserve()
		if err := w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Lang", cos.Text(text))}); err != nil {
			t.Fatal(err)
		}
		if err := w.Stream(s, nil, bytes.Repeat([]byte(text), 50)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
			t.Fatal(err)
		}
	}
	var want bytes.Buffer
	write(cos.NewWriter(&want, cos.Options{}), "de-CH")

	w := cos.NewWriter(io.Discard, cos.Options{Version: cos.V17})
	for name, before := range map[string]func(){
		"finished":  func() { write(w, "SECRET") },
		"abandoned": func() { _ = w.Put(w.ReserveN(3), cos.Text("SECRET")) },
		"failed":    func() { _ = w.Put(cos.Ref{Num: 99}, cos.Text("SECRET")) },
	} {
		before()
		var got bytes.Buffer
		w.Reset(&got, cos.Options{})
		write(w, "de-CH")
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("after a %s document the bytes differ", name)
		}
		w.Reset(io.Discard, cos.Options{Version: cos.V17})
	}
}

type limitedWriter struct {
	left  int
	calls int
	err   error
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	w.calls++
	if len(p) > w.left {
		n := w.left
		w.left = 0
		return n, w.err
	}
	w.left -= len(p)
	return len(p), nil
}

// TestWriteErrorIsSticky is line 5.33: the first error of the underlying
// writer stops everything.
func TestWriteErrorIsSticky(t *testing.T) {
	broken := errors.New("disk full")
	for _, cause := range []error{broken, nil} { // nil: a short write without error
		lw := &limitedWriter{left: 40_000, err: cause}
		w := cos.NewWriter(lw, cos.Options{})
		block := make([]byte, 20_000)
		var err error
		for range 10 {
			if err = w.EncodedStream(w.Reserve(), nil, "", block); err != nil {
				break
			}
		}
		want := cause
		if want == nil {
			want = io.ErrShortWrite
		}
		if !errors.Is(err, want) {
			t.Fatalf("error is %v", err)
		}
		calls := lw.calls
		ref := w.Reserve()
		errs := []error{
			w.Put(ref, cos.Int(1)), w.PutRaw(ref, []byte("1")), w.PutDirect(ref, cos.Int(1)),
			w.Stream(ref, nil, block), w.Flush(), w.Err(),
		}
		_, closeErr := w.Close(cos.Trailer{Root: ref})
		for i, e := range append(errs, closeErr) {
			if !errors.Is(e, want) {
				t.Errorf("call %d after the error returns %v", i, e)
			}
		}
		if lw.calls != calls {
			t.Error("the underlying writer was called after its error")
		}
	}
}

func TestWrongUse(t *testing.T) {
	put := func(w *cos.Writer, o cos.Object) error { return w.Put(w.Reserve(), o) }
	tests := []struct {
		name string
		call func(w *cos.Writer) error
		want string
	}{
		{"zero reference", func(w *cos.Writer) error { return w.Put(cos.Ref{}, cos.Int(1)) }, "number not reserved"},
		{"number not reserved", func(w *cos.Writer) error { return w.Put(cos.Ref{Num: 7}, cos.Int(1)) }, "number not reserved"},
		{"written twice", func(w *cos.Writer) error {
			ref := w.Reserve()
			if err := w.Put(ref, cos.Int(1)); err != nil {
				return err
			}
			return w.PutDirect(ref, cos.Int(2))
		}, "already written"},
		{"own Length", func(w *cos.Writer) error {
			return w.Stream(w.Reserve(), cos.Dict{cos.E("Length", cos.Int(3))}, nil)
		}, "names Length itself"},
		{"repeated key", func(w *cos.Writer) error {
			return put(w, cos.Dict{cos.E("A", cos.Int(1)), cos.E("A", cos.Int(2))})
		}, "key A comes twice"},
		{"repeated key in a large dictionary", func(w *cos.Writer) error {
			var d cos.Dict
			for i := range 40 {
				d = append(d, cos.E(cos.Name("K"+strconv.Itoa(i)), cos.Int(i)))
			}
			return put(w, append(d, cos.E("K7", cos.Null{})))
		}, "key K7 comes twice"},
		{"NUL in a name", func(w *cos.Writer) error { return put(w, cos.Array{cos.Name("a\x00b")}) }, "NUL"},
		{"no value", func(w *cos.Writer) error { return put(w, nil) }, "no value"},
		{"empty raw value", func(w *cos.Writer) error { return w.PutRaw(w.Reserve(), nil) }, "no value"},
		{"empty raw object", func(w *cos.Writer) error { return put(w, cos.Raw{}) }, "no value"},
		{"date", func(w *cos.Writer) error { return put(w, cos.Date(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))) }, "years"},
		{"decimal scale", func(w *cos.Writer) error { return put(w, cos.Decimal{Mantissa: 1, Scale: 19}) }, "scale"},
		{"never written", func(w *cos.Writer) error {
			root := w.Reserve()
			w.Reserve()
			if err := w.Put(root, cos.Dict{}); err != nil {
				return err
			}
			_, err := w.Close(cos.Trailer{Root: root})
			return err
		}, "object 2: number reserved but never written"},
		{"no catalog", func(w *cos.Writer) error { _, err := w.Close(cos.Trailer{}); return err }, "catalog"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := cos.NewWriter(io.Discard, cos.Options{})
			err := tt.call(w)
			var oe *cos.ObjectError
			if !errors.As(err, &oe) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error is %v, want an ObjectError with %q", err, tt.want)
			}
			if !errors.Is(w.Err(), err) {
				t.Errorf("the error does not stick: %v", w.Err())
			}
		})
	}
}

func TestClosedWriter(t *testing.T) {
	w := cos.NewWriter(io.Discard, cos.Options{})
	root := w.Reserve()
	if err := w.Put(root, cos.Dict{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
		t.Fatal(err)
	}
	if err := w.Err(); err != nil {
		t.Errorf("Err after a good Close: %v", err)
	}
	if err := w.Put(w.Reserve(), cos.Int(1)); err == nil {
		t.Error("Put after Close succeeds")
	}
	if _, err := w.Close(cos.Trailer{Root: root}); err == nil {
		t.Error("second Close succeeds")
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("a", 200)
	put := func(o cos.Object) func(w *cos.Writer) error {
		return func(w *cos.Writer) error { return w.Put(w.Reserve(), o) }
	}
	nested := cos.Object(cos.Int(1))
	for range 101 {
		nested = cos.Array{nested}
	}
	tests := []struct {
		name   string
		limits cos.Limits
		call   func(w *cos.Writer) error
	}{
		{"NameBytes", cos.Limits{}, put(cos.Dict{cos.E(cos.Name(long), cos.Int(1))})},
		{"StringBytes", cos.Limits{StringBytes: 199}, put(cos.String(long))},
		{"StringBytes", cos.Limits{StringBytes: 199}, put(cos.Hex(long))},
		{"StringBytes", cos.Limits{StringBytes: 199}, put(cos.Text(long))},
		{"StringBytes", cos.Limits{StringBytes: 9}, put(cos.Text("\u20b9\U0001F600a"))}, // 2 + 2*4
		{"ArrayLen", cos.Limits{ArrayLen: 1}, put(cos.Array{nil, nil})},
		{"DictLen", cos.Limits{DictLen: 1}, put(cos.Dict{cos.E("A", nil), cos.E("B", nil)})},
		{"Depth", cos.Limits{}, put(nested)},
		{"Depth", cos.Limits{Depth: 1}, put(cos.Dict{cos.E("A", cos.Dict{})})},
		{"Objects", cos.Limits{Objects: 3}, func(w *cos.Writer) error { w.ReserveN(4); return w.Err() }},
		{"OutputBytes", cos.Limits{OutputBytes: 1000}, func(w *cos.Writer) error {
			return w.EncodedStream(w.Reserve(), nil, "", make([]byte, 1000))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := cos.NewWriter(io.Discard, cos.Options{Limits: tt.limits})
			err := tt.call(w)
			var le *diag.LimitError
			if !errors.As(err, &le) || le.Name != tt.name || !errors.Is(err, diag.ErrLimit) {
				t.Fatalf("error is %v, want limit %s", err, tt.name)
			}
		})
	}
	t.Run("within", func(t *testing.T) {
		w := cos.NewWriter(io.Discard, cos.Options{Version: cos.V17, Limits: cos.Limits{StringBytes: 200, NameBytes: 200}})
		if err := w.Put(w.Reserve(), cos.Dict{cos.E(cos.Name(long), cos.Text(long))}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestEarlyBytes: what is complete reaches the underlying writer long before
// Close, and memory does not hold the document.
func TestEarlyBytes(t *testing.T) {
	var b bytes.Buffer
	w := cos.NewWriter(&b, cos.Options{})
	block := bytes.Repeat([]byte("0123456789"), 5000)
	if err := w.EncodedStream(w.Reserve(), nil, "", block); err != nil {
		t.Fatal(err)
	}
	if b.Len() < len(block) {
		t.Errorf("%d bytes reached the writer after a stream of %d", b.Len(), len(block))
	}
	if err := w.Put(w.Reserve(), cos.Int(7)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) != w.Offset() || !bytes.Contains(b.Bytes(), []byte("/ObjStm")) {
		t.Error("Flush leaves something behind")
	}
}

type failingDeflater struct{ err error }

func (d failingDeflater) Deflate(dst, _ []byte, _ cos.Level) ([]byte, error) { return dst, d.err }

func TestDeflaterError(t *testing.T) {
	cause := errors.New("no memory")
	w := cos.NewWriter(io.Discard, cos.Options{Deflater: failingDeflater{cause}})
	if err := w.Stream(w.Reserve(), nil, make([]byte, 1000)); !errors.Is(err, cause) {
		t.Errorf("Stream: %v", err)
	}
	w = cos.NewWriter(io.Discard, cos.Options{Deflater: failingDeflater{cause}})
	root := w.Reserve()
	if err := w.PutDirect(root, cos.Dict{}); err != nil {
		t.Fatal(err)
	}
	for range 100 { // the cross-reference stream of these is worth compressing
		if err := w.PutDirect(w.Reserve(), cos.Dict{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(cos.Trailer{Root: root}); !errors.Is(err, cause) {
		t.Errorf("Close: %v", err)
	}
}

func TestFlateLevels(t *testing.T) {
	src := bytes.Repeat([]byte("12 0 0 12 72 700 Tm (text) Tj\n"), 300)
	d := cos.NewFlate()
	for _, level := range []cos.Level{cos.LevelDefault, cos.LevelBest} {
		prefix := []byte("kept")
		out, err := d.Deflate(prefix, src, level)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(out, prefix) {
			t.Error("Deflate does not append")
		}
		zr, err := zlib.NewReader(bytes.NewReader(out[len(prefix):]))
		if err != nil {
			t.Fatal(err)
		}
		if back, err := io.ReadAll(zr); err != nil || !bytes.Equal(back, src) {
			t.Errorf("level %d: does not inflate to its source: %v", level, err)
		}
	}
}

// told is a Deflater that looks at what it is told.
type told struct {
	cos.Deflater
	repeats, alike int
	err            error
}

func (d *told) Series() cos.Series { return toldSeries{d} }

type toldSeries struct{ *told }

func (toldSeries) Reset() {}

func (d toldSeries) Deflate(dst, src []byte, repeats []cos.Repeat, level cos.Level) ([]byte, error) {
	before := uint32(0)
	for _, r := range repeats {
		if r.At < before || r.Of >= r.At || int(r.At) >= len(src) {
			d.err = fmt.Errorf("%+v behind %d in a stream of %d bytes", r, before, len(src))
			continue
		}
		before = r.At
		d.repeats++
		if src[r.At] == src[r.Of] && (r.Of == 0 || src[r.At-1] == src[r.Of-1]) {
			d.alike++
		}
	}
	return d.told.Deflate(dst, src, level) //nolint:wrapcheck // a test
}

// TestDeflatersAreToldRepetitions: of object streams by the writer, of other streams by who writes
// them; a deflater that does not want to know it gives the same data.
func TestDeflatersAreToldRepetitions(t *testing.T) {
	write := func(d cos.Deflater) []byte {
		var out bytes.Buffer
		w := cos.NewWriter(&out, cos.Options{Deflater: d})
		root := w.Reserve()
		first := w.ReserveN(1200)
		for i := range 1200 {
			body := fmt.Appendf(nil, "<</Type/StructElem/S/T%c/P 1 0 R/K %d>>", "DHR"[i%3], i)
			if err := w.PutRaw(first.Plus(i), body); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Put(root, cos.Dict{}); err != nil {
			t.Fatal(err)
		}
		data := bytes.Repeat([]byte("0 1 Td(text)Tj "), 30)
		if err := w.StreamRepeats(w.Reserve(), nil, data, []cos.Repeat{{At: 15}, {At: 30, Of: 15}}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	d := &told{Deflater: cos.NewFlate()}
	file := write(d)
	// A pair in the header of an object stream for each object but the first of three, an object
	// for each but the first of each type, and the two of the stream.
	if d.err != nil || d.repeats != 1201-3+1200-3*3+2 {
		t.Errorf("%d repetitions are told, %v", d.repeats, d.err)
	}
	if d.alike < d.repeats*9/10 {
		t.Errorf("%d of %d are none", d.repeats-d.alike, d.repeats)
	}
	if !bytes.Equal(file, write(cos.NewFlate())) {
		t.Error("a deflater that is not told writes other data")
	}
}
