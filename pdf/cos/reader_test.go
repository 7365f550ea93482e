package cos_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
)

func open(tb testing.TB, file string, o cos.ReaderOptions) (*cos.Reader, error) {
	tb.Helper()
	return cos.NewReader(strings.NewReader(file), int64(len(file)), o)
}

func mustOpen(tb testing.TB, file string) *cos.Reader {
	tb.Helper()
	r, err := open(tb, file, cos.ReaderOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// printed is an object in PDF syntax.
func printed(tb testing.TB, r *cos.Reader, num uint32) string {
	tb.Helper()
	o, err := r.Object(cos.Ref{Num: num})
	if err != nil {
		tb.Fatal(err)
	}
	return string(o.AppendPDF(nil))
}

// handmade is a file with a cross-reference table; its objects are numbered from 1, the first is
// the catalog.
type handmade struct {
	b     bytes.Buffer
	at    []int
	tails string // of the trailer dictionary
}

func (h *handmade) add(body string) {
	if h.b.Len() == 0 {
		h.b.WriteString("%PDF-1.4\n")
	}
	h.at = append(h.at, h.b.Len())
	fmt.Fprintf(&h.b, "%d 0 obj\n%s\nendobj\n", len(h.at), body)
}

func (h *handmade) String() string {
	out := bytes.NewBuffer(bytes.Clone(h.b.Bytes()))
	fmt.Fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", len(h.at)+1)
	for _, at := range h.at {
		fmt.Fprintf(out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(out, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(h.at)+1, h.tails, h.b.Len())
	return out.String()
}

func small(more ...string) *handmade {
	h := &handmade{}
	h.add("<</Type/Catalog/Pages 2 0 R>>")
	h.add("<</Type/Pages/Kids[]/Count 0>>")
	for _, body := range more {
		h.add(body)
	}
	return h
}

func stream(dict, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
}

// TestWhatIsWrittenIsReadBackEqual: objects within object streams and outside them, and streams,
// read back print the same.
func TestWhatIsWrittenIsReadBackEqual(t *testing.T) {
	for _, version := range []cos.Version{cos.V20, cos.V17, cos.V16, cos.V15, cos.V14} {
		var out bytes.Buffer
		w := cos.NewWriter(&out, cos.Options{Version: version})
		root, pages := w.Reserve(), w.Reserve()
		want := map[uint32]string{}
		put := func(ref cos.Ref, o cos.Object, do func(cos.Ref, cos.Object) error) {
			t.Helper()
			want[ref.Num] = string(o.AppendPDF(nil))
			if err := do(ref, o); err != nil {
				t.Fatal(err)
			}
		}
		put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", pages)}, w.Put)
		put(pages, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", cos.Array{})}, w.PutDirect)
		all := cos.Array{
			cos.Bool(true), cos.Bool(false),
			cos.Null{},
			cos.Int(-17),
			cos.Decimal{Mantissa: -125, Scale: 2},
			cos.Fixed(1536),
			cos.Name("A B#/ü"), cos.String("a(b)\\\r\n\x00\xFF"), cos.Hex("\x00\xAB"), cos.Text("Zoë ž"),
			cos.Ref{Num: 1},
			cos.Array{cos.Int(1), cos.Int(0), cos.Dict{cos.E("", cos.Int(12)), cos.E("K", cos.String(""))}},
		}
		for i := range 450 {
			put(w.Reserve(), append(slices.Clone(all), cos.Int(i)), w.Put)
			if i%100 == 0 {
				put(w.Reserve(), all, w.PutDirect)
			}
		}
		text := strings.Repeat("the same again, ", 1000)
		packed, plain := w.Reserve(), w.Reserve()
		if err := errors.Join(w.Stream(packed, cos.Dict{}, []byte(text)), w.EncodedStream(plain, cos.Dict{}, "", []byte("short"))); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
			t.Fatal(err)
		}
		r := mustOpen(t, out.String())
		for num, s := range want {
			if got := printed(t, r, num); got != s {
				t.Fatalf("object %d: %s, want %s", num, got, s)
			}
		}
		for ref, s := range map[cos.Ref]string{packed: text, plain: "short"} {
			o, err := r.Object(ref)
			if err != nil {
				t.Fatal(err)
			}
			got, rest, err := r.Decode(o.(*cos.Stream))
			if string(got) != s || len(rest) > 0 || err != nil {
				t.Errorf("stream %d: %d bytes, %v, %v", ref.Num, len(got), rest, err)
			}
		}
		if r.Version() != version.String() || r.Revisions() != 1 || len(r.Warnings()) > 0 || r.Encrypted() {
			t.Errorf("version %s, %d revisions, warnings %v", r.Version(), r.Revisions(), r.Warnings())
		}
		n := 0
		for range r.Refs() {
			n++
		}
		if n < 450 {
			t.Errorf("%d objects", n)
		}
	}
}

// TestTheNewestRevisionCounts: an incremental update replaces one object, frees another and
// leaves the rest.
func TestTheNewestRevisionCounts(t *testing.T) {
	h := small("(old)", "(goes)", "(stays)")
	first := h.String()
	prev := h.b.Len()
	at := len(first)
	second := first + "3 0 obj\n(new)\nendobj\n"
	xref := len(second)
	second += fmt.Sprintf("xref\n3 2\n%010d 00000 n \n0000000000 00001 f \ntrailer\n<</Size 6/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", at, prev, xref)
	r := mustOpen(t, second)
	if a, b, c := printed(t, r, 3), printed(t, r, 4), printed(t, r, 5); a != "(new)" || b != "null" || c != "(stays)" {
		t.Errorf("3 is %s, 4 is %s, 5 is %s", a, b, c)
	}
	if r.Revisions() != 2 || len(r.Warnings()) != 0 {
		t.Errorf("%d revisions, warnings %v", r.Revisions(), r.Warnings())
	}
}

// TestHybridFiles: an object that is free in the table and hidden in an object stream is found
// through XRefStm.
func TestHybridFiles(t *testing.T) {
	h := small("null", stream("/Type/ObjStm/N 1/First 4", "3 0 (hidden)"))
	xref := stream("/Type/XRef/Size 6/W[1 2 1]/Index[3 1]", "\x02\x00\x04\x00")
	h.add(xref)
	h.tails = fmt.Sprintf("/XRefStm %d", h.at[4])
	file := h.String()
	free := fmt.Sprintf("%010d 00000 n \n", h.at[2])
	file = strings.Replace(file, free, "0000000000 00000 f \n", 1)
	r := mustOpen(t, file)
	if got := printed(t, r, 3); got != "(hidden)" {
		t.Errorf("object 3 is %s, warnings %v", got, r.Warnings())
	}
}

// TestDamagedFilesAreRepaired: what the file means is found, and the warning names where it was
// not as it should be. A strict reader refuses each of them.
func TestDamagedFilesAreRepaired(t *testing.T) {
	good := small("(three)", stream("", "data")).String()
	cut := func(s string, from, to string) string { return s[:strings.Index(s, from)] + s[strings.Index(s, to):] }
	offset := func(word string) string { return fmt.Sprint(strings.Index(good, word)) }
	for name, tt := range map[string]struct{ file, warn string }{
		"wrong startxref":       {strings.Replace(good, "startxref\n"+offset("xref\n0"), "startxref\n7", 1), "cross-reference data is damaged"},
		"startxref too large":   {strings.Replace(good, "startxref\n"+offset("xref\n0"), "startxref\n99999", 1), "outside the file"},
		"no startxref":          {good[:strings.Index(good, "startxref")], "no startxref"},
		"no table":              {cut(good, "xref\n0", "trailer"), "damaged"},
		"no table, no trailer":  {good[:strings.Index(good, "xref\n0")], "the last catalog is taken"},
		"object somewhere else": {strings.Replace(good, fmt.Sprintf("%010d", strings.Index(good, "3 0 obj")), "0000000012", 1), "object 3 at offset 12"},
		"wrong length":          {strings.Replace(good, "/Length 4", "/Length 9", 1), "object 4 at offset"},
		"length too long":       {strings.Replace(good, "/Length 4", "/Length 999999", 1), "wrong Length"},
		"no length":             {strings.Replace(good, "/Length 4", "/Lengthy 4", 1), "wrong Length"},
		"no endstream":          {strings.Replace(good, "\nendstream", "", 1) + "5 0 obj\n<</Length 0>>stream\n\nendstream\nendobj\n", "a stream without endstream"},
		"no endobj":             {strings.Replace(good, "(three)\nendobj", "(three)       ", 1), "object 3 at offset"},
		"junk before":           {"junk\n" + good, "bytes before the header"},
		"table shifted by one":  {strings.Replace(good, "xref\n0 5", "xref\n1 5", 1), "begins with 1"},
		"prev in a circle":      {strings.Replace(good, "/Root", "/Prev "+offset("xref\n0")+"/Root", 1), "in a circle"},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustOpen(t, tt.file)
			if got := printed(t, r, 3); got != "(three)" {
				t.Errorf("object 3 is %s", got)
			}
			o, err := r.Object(cos.Ref{Num: 4})
			if err != nil {
				t.Fatal(err)
			}
			if s, ok := o.(*cos.Stream); !ok {
				t.Errorf("object 4 is %T", o)
			} else if data, _, err := r.Decode(s); string(data) != "data" || err != nil {
				t.Errorf("the stream holds %q, %v", data, err)
			}
			if all := fmt.Sprint(r.Warnings()); !strings.Contains(all, tt.warn) {
				t.Errorf("no warning of %q: %s", tt.warn, all)
			}
		})
	}
	for name, file := range map[string]string{"empty": "", "no PDF": "hello", "no catalog": "%PDF-1.4\n1 0 obj\n(x)\nendobj\n", "short": good[:40]} {
		if _, err := open(t, file, cos.ReaderOptions{}); !errors.Is(err, diag.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What is no PDF at all is said to be none; what is the beginning of one is damaged.
	for file, want := range map[string]string{"": "the file is empty", "hello": "this is no PDF file", "PK\x03\x04 1 0": "this is no PDF file"} {
		_, err := open(t, file, cos.ReaderOptions{})
		if e, ok := errors.AsType[*cos.ReadError](err); !ok || !e.NotPDF || !strings.Contains(e.Reason, want) {
			t.Errorf("%q: %v", file, err)
		}
	}
	_, err := open(t, good[:40], cos.ReaderOptions{})
	if e, ok := errors.AsType[*cos.ReadError](err); !ok || e.NotPDF || !strings.Contains(e.Reason, "may be missing") {
		t.Errorf("cut short: %v", err)
	}
	if _, err := open(t, good[:strings.Index(good, "startxref")], cos.ReaderOptions{Strict: true}); !errors.Is(err, diag.ErrDamaged) {
		t.Errorf("strict: %v", err)
	}
}

// TestObjectStreamsOfDamagedFilesAreFound: without any cross-reference data.
func TestObjectStreamsOfDamagedFilesAreFound(t *testing.T) {
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{})
	root, pages, word := w.Reserve(), w.Reserve(), w.Reserve()
	_ = w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", pages)})
	_ = w.Put(pages, cos.Dict{cos.E("Kids", cos.Array{})})
	_ = w.Put(word, cos.Text("found"))
	if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
		t.Fatal(err)
	}
	file := out.String()
	for _, cut := range []string{file[:strings.Index(file, "startxref")], file[:strings.Index(file, "/Type/XRef")-12]} {
		r := mustOpen(t, cut)
		if got := printed(t, r, word.Num); got != "(found)" {
			t.Errorf("%s, warnings %v", got, r.Warnings())
		}
	}
}

// TestReadLimits: each limit ends in an error that names it, before the memory is taken.
func TestReadLimits(t *testing.T) {
	zeros := func(n int) string {
		b, err := cos.NewFlate().Deflate(nil, make([]byte, n), cos.LevelBest)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	read := func(r *cos.Reader) error {
		o, err := r.Object(cos.Ref{Num: 3})
		if s, ok := o.(*cos.Stream); ok && err == nil {
			_, _, err = r.Decode(s)
		}
		return err
	}
	for _, tt := range []struct {
		limit string
		body  string
		l     cos.ReadLimits
	}{
		{"FileBytes", "null", cos.ReadLimits{FileBytes: 100}},
		{"Objects", "null", cos.ReadLimits{Objects: 1}},
		{"Depth", strings.Repeat("[", 101) + strings.Repeat("]", 101), cos.ReadLimits{}},
		{"Depth", "<</Length 3 0 R>>stream\nx\nendstream", cos.ReadLimits{}},
		{"ObjectBytes", "(" + strings.Repeat("x", 10<<10) + ")", cos.ReadLimits{ObjectBytes: 8 << 10}},
		{"Filters", stream("/Filter[/Fl/Fl/Fl/Fl/Fl]", "x"), cos.ReadLimits{}},
		{"StreamBytes", stream("/Filter/FlateDecode", zeros(2<<20)), cos.ReadLimits{StreamBytes: 1 << 20}},
		{"StreamBytes", stream("", strings.Repeat("x", 5000)), cos.ReadLimits{StreamBytes: 4000}},
		{"StreamBytes", stream("/Filter[/FlateDecode/RunLengthDecode]", zeros(1<<20)), cos.ReadLimits{StreamBytes: 1 << 19}},
		{"StreamBytes", stream("/Filter/FlateDecode", zeros(1<<20)), cos.ReadLimits{DecodedBytes: 1 << 16}},
	} {
		r, err := open(t, small(tt.body).String(), cos.ReaderOptions{Limits: tt.l})
		if err == nil {
			err = read(r)
		}
		var limit *diag.LimitError
		if !errors.As(err, &limit) || limit.Name != tt.limit {
			t.Errorf("%s: %v", tt.limit, err)
		}
	}
	claims := "%PDF-1.4\nxref\n0 2000000000\n0000000000 65535 f \ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF"
	if _, err := open(t, claims, cos.ReaderOptions{}); !errors.Is(err, diag.ErrDamaged) {
		t.Errorf("a table that claims 2,000,000,000 objects: %v", err)
	}
}

// TestErrorsOfTheFileAreTold and are no damage.
func TestErrorsOfTheFileAreTold(t *testing.T) {
	fault := errors.New("the disk is gone")
	if _, err := cos.NewReader(readerAt{iotest.ErrReader(fault)}, 1000, cos.ReaderOptions{}); !errors.Is(err, fault) {
		t.Error(err)
	}
	if _, err := cos.NewReader(strings.NewReader("%PDF-1.4"), 1000, cos.ReaderOptions{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	h := small()
	h.tails = "/Encrypt<</Filter/Standard>>"
	if _, err := open(t, h.String(), cos.ReaderOptions{}); !errors.Is(err, cos.ErrEncrypted) {
		t.Error(err)
	}
}

type readerAt struct{ io.Reader }

func (r readerAt) ReadAt(b []byte, _ int64) (int, error) { return r.Read(b) }

// TestFilters: data that each filter encodes, and what is left to image decoders.
func TestFilters(t *testing.T) {
	for _, tt := range []struct{ dict, data, want, rest string }{
		{"/Filter/ASCIIHexDecode", "48 65 6C6c 6F7>", "Hellop", "[]"},
		{"/Filter/AHx", "48", "H", "[]"},
		{"/Filter/ASCII85Decode", "87cURD]i,\"Ebo80~>", "Hello World!", "[]"},
		{"/Filter/ASCII85Decode", "z87cUR~>", "\x00\x00\x00\x00Hell", "[]"},
		{"/Filter/RunLengthDecode", "\x02abc\xFEx\x80", "abcxxx", "[]"},
		{"/Filter/LZWDecode", "\x80\x0B\x60\x50\x22\x0C\x0C\x85\x01", "-----A---B", "[]"},
		{"/Filter[/ASCIIHexDecode/RunLengthDecode]", "FE7880>", "xxx", "[]"},
		{"/Filter[/ASCIIHexDecode/DCTDecode]", "FFD8>", "\xFF\xD8", "[DCTDecode]"},
		{"/Filter/JPXDecode", "jp2", "jp2", "[JPXDecode]"},
		{"", "plain", "plain", "[]"},
	} {
		r := mustOpen(t, small(stream(tt.dict, tt.data)).String())
		o, err := r.Object(cos.Ref{Num: 3})
		if err != nil {
			t.Fatal(err)
		}
		got, rest, err := r.Decode(o.(*cos.Stream))
		if string(got) != tt.want || fmt.Sprint(rest) != tt.rest || err != nil {
			t.Errorf("%s: %q, %v, %v", tt.dict, got, rest, err)
		}
	}
	flate := func(s string) string {
		b, err := cos.NewFlate().Deflate(nil, []byte(s), cos.LevelDefault)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for parms, tt := range map[string][2]string{
		"/Predictor 15/Columns 3":                             {"\x00\x01\x02\x03\x01\x01\x01\x01\x02\x01\x01\x01\x03\x01\x01\x01\x04\x01\x01\x01", "\x01\x02\x03\x01\x02\x03\x02\x03\x04\x02\x03\x04\x03\x04\x05"},
		"/Predictor 2/Columns 3":                              {"\x01\x01\x01\x05\x01\x01", "\x01\x02\x03\x05\x06\x07"},
		"/Predictor 2/Columns 4/BitsPerComponent 4":           {"\x11\x11", "\x12\x34"},
		"/Predictor 2/Columns 2/BitsPerComponent 16":          {"\x00\xFF\x00\x01", "\x00\xFF\x01\x00"},
		"/Predictor 12/Columns 2/Colors 3/BitsPerComponent 8": {"\x02abcdef\x02\x01\x01\x01\x00\x00\x00", "abcdefbcddef"},
	} {
		r := mustOpen(t, small(stream("/Filter/FlateDecode/DecodeParms<<"+parms+">>", flate(tt[0]))).String())
		o, err := r.Object(cos.Ref{Num: 3})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := r.Decode(o.(*cos.Stream)); string(got) != tt[1] || err != nil {
			t.Errorf("%s: %x, want %x, %v", parms, got, tt[1], err)
		}
	}
	r := mustOpen(t, small(stream("/Filter/FlateDecode", flate(strings.Repeat("long text ", 99))[:22])).String())
	o, _ := r.Object(cos.Ref{Num: 3})
	if got, _, err := r.Decode(o.(*cos.Stream)); err != nil || !strings.HasPrefix(string(got), "long") || len(r.Warnings()) != 1 {
		t.Errorf("data that breaks off: %q, %v, %v", got, err, r.Warnings())
	}
}

// TestTextOf: text strings in each of their encodings.
func TestTextOf(t *testing.T) {
	for _, want := range []string{"", "plain", "Zoë ×", "žluť 😀", "þÿ", "a\nb"} {
		r := mustOpen(t, small(string(cos.AppendText(nil, want))).String())
		o, err := r.Object(cos.Ref{Num: 3})
		if got, ok := cos.TextOf(o); got != want || !ok || err != nil {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for s, want := range map[string]string{"\x80\xA0\x18": "•€˘", "\xFF\xFEa\x00": "a", "\xEF\xBB\xBFž": "ž"} {
		if got, _ := cos.TextOf(cos.String(s)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, ok := cos.TextOf(cos.Int(1)); ok {
		t.Error("an integer is no text")
	}
}

// TestOddSyntaxIsRead as other readers do.
func TestOddSyntaxIsRead(t *testing.T) {
	for body, want := range map[string]string{
		"[+1 -.5 4. 1.50 --3 00012]":  "[1 -.5 4 1.5 -3 12]",
		"[99999999999999999999]":      "[9223372036854775807]",
		"[1 0 R 2 3 1 0 R/A#42]":      "[1 0 R 2 3 1 0 R/AB]",
		"(a\\053\\5x\\\nb\\)(n)\rc)":  "(a+\\005xb\\)\\(n\\)\\nc)",
		"<4 1 4>":                     "<4140>",
		"<</A 1/A 2/B>>":              "<</A 2>>",
		"<</A/B%comment>>\n/C null>>": "<</A/B>>", // as if it were not there (7.3.9)
		"[true false null what]":      "[true false null null]",
		"<</A<</B[<</C(x)>>]>>>>":     "<</A<</B[<</C(x)>>]>>>>",
	} {
		r := mustOpen(t, small(body).String())
		got := printed(t, r, 3)
		if strings.Contains(want, "\\005") {
			want = string(cos.Hex("a+\x05xb)(n)\nc").AppendPDF(nil))
		}
		if got != want {
			t.Errorf("%s is read as %s, want %s", body, got, want)
		}
	}
}

// FuzzReader: no file makes the reader panic or pass its limits; what it reads it reads again.
func FuzzReader(f *testing.F) {
	f.Add([]byte(small("(three)", stream("/Filter/ASCIIHexDecode", "41>")).String()))
	f.Add([]byte(small(stream("/Type/ObjStm/N 1/First 4", "3 0 (hidden)"), stream("/Type/XRef/Size 6/W[1 2 1]/Index[3 1]", "\x02\x00\x04\x00")).String()))
	f.Add([]byte("%PDF-1.5\n1 0 obj<</Type/Catalog/Pages 1 0 R>>endobj trailer<</Root 1 0 R>>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		limits := cos.ReadLimits{FileBytes: 1 << 20, ObjectBytes: 1 << 18, StreamBytes: 1 << 20, DecodedBytes: 1 << 22, Objects: 2000}
		r, err := cos.NewReader(bytes.NewReader(b), int64(len(b)), cos.ReaderOptions{Limits: limits})
		if err != nil {
			return
		}
		for ref := range r.Refs() {
			o, err := r.Object(ref)
			if err != nil {
				continue
			}
			o.AppendPDF(nil)
			if s, ok := o.(*cos.Stream); ok {
				if data, _, err := r.Decode(s); err == nil && int64(len(data)) > limits.StreamBytes {
					t.Errorf("%d bytes", len(data))
				}
			}
		}
	})
}

// FuzzObject: what is read of one object and printed is read the same again.
func FuzzObject(f *testing.F) {
	for _, s := range []string{"[1 0 R -1.5(a\\)b)<41>/N#20 true]", "<</A 1/B<</C null>>>>", "(((", "<<<<", "1 0 R"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		read := func(s string) (string, bool) {
			r, err := open(t, small(s).String(), cos.ReaderOptions{Limits: cos.ReadLimits{FileBytes: 1 << 20}})
			if err != nil {
				return "", false
			}
			o, err := r.Object(cos.Ref{Num: 3})
			if _, isStream := o.(*cos.Stream); err != nil || isStream {
				return "", false
			}
			return string(o.AppendPDF(nil)), true
		}
		if strings.Contains(body, "obj") || strings.Contains(body, "xref") || strings.Contains(body, "trailer") {
			return // it is another file then
		}
		once, ok := read(body)
		if !ok || strings.Contains(once, "obj") || strings.Contains(once, "stream") {
			return
		}
		if twice, ok := read(once); !ok || twice != once {
			t.Errorf("%q is read as %q, that as %q", body, once, twice)
		}
	})
}

// FuzzFilters: no data makes a filter panic or pass its limit.
func FuzzFilters(f *testing.F) {
	for _, n := range []string{"FlateDecode", "LZWDecode", "ASCII85Decode", "ASCIIHexDecode", "RunLengthDecode"} {
		f.Add(n, []byte("\x80\x0B\x60\x50\x22\x0C\x0C\x85\x01"), 12, 3, 8, 5)
	}
	f.Fuzz(func(t *testing.T, filter string, data []byte, predictor, colors, bits, columns int) {
		dict := fmt.Sprintf("/Filter%s/DecodeParms<</Predictor %d/Colors %d/BitsPerComponent %d/Columns %d>>", cos.AppendName(nil, filter), predictor, colors, bits, columns)
		r, err := open(t, small(stream(dict, string(data))).String(), cos.ReaderOptions{Limits: cos.ReadLimits{StreamBytes: 1 << 16}})
		if err != nil {
			return
		}
		o, err := r.Object(cos.Ref{Num: 3})
		if s, ok := o.(*cos.Stream); ok && err == nil {
			if out, _, err := r.Decode(s); err == nil && len(out) > 1<<16 {
				t.Errorf("%d bytes", len(out))
			}
		}
	})
}
