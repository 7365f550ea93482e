package emit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/layout"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// stored is a deflater that makes nothing shorter, so that streams are written
// plain and stay readable.
type stored struct{}

// Deflate implements cos.Deflater with stored blocks (RFC 1950 and RFC 1951,
// 3.2.4): a compressor of the standard library costs a megabyte each time.
func (stored) Deflate(dst, src []byte, _ cos.Level) ([]byte, error) {
	sum := adler32.Checksum(src)
	dst = append(dst, 0x78, 0x01)
	for last := byte(0); last == 0; {
		n := min(len(src), 0xFFFF)
		if n == len(src) {
			last = 1
		}
		dst = binary.LittleEndian.AppendUint32(append(dst, last), uint32(n)|^uint32(n)<<16)
		dst, src = append(dst, src[:n]...), src[n:]
	}
	return binary.BigEndian.AppendUint32(dst, sum), nil
}

func emitter(t *testing.T, out *bytes.Buffer, o Options) *Emitter {
	t.Helper()
	o.Deflater, o.Fonts = stored{}, font.NewCache(0, nil)
	e, err := New(out, &doc.Document{Title: "T", Lang: "en"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func page(n int) *layout.Page {
	return &layout.Page{Number: n, Width: 100 * doc.Pt, Height: 50 * doc.Pt}
}

// TestPageTree: the tree has as few levels as its fan allows, whatever the number
// of pages.
func TestPageTree(t *testing.T) {
	for _, pages := range []int{1, 2, 3, 4, 7, 9} {
		var out bytes.Buffer
		e := emitter(t, &out, Options{})
		e.fan = 2
		for i := range pages {
			if err := e.Page(page(i + 1)); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := e.Finish(); err != nil {
			t.Fatal(err)
		}
		file := pdftest.Write(t, "f.pdf", out.Bytes())
		if err := pdftest.QPDF(t, file); err != nil {
			t.Error(err)
		}
		if n := pdftest.Info(t, file)["Pages"]; n != strconv.Itoa(pages) {
			t.Errorf("%d pages: pdfinfo counts %s", pages, n)
		}
		nodes, level := 0, pages
		for range max(bits.Len(uint(pages-1)), 1) {
			level = (level + 1) / 2
			nodes += level
		}
		if n := strings.Count(out.String(), "/Type/Pages"); n != nodes {
			t.Errorf("%d pages: %d nodes, want %d", pages, n, nodes)
		}
	}
}

// operators sets a text and returns the operators that show it.
func operators(t *testing.T, s string, align doc.Align, width doc.Length) string {
	t.Helper()
	ts := text.NewTypesetter(liberation.New(), text.Latin{}, &gotext.Segmenter{}, 0)
	c, err := ts.Chain(text.Query{})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := text.NewSetter(t.Context(), ts).Set([]text.Piece{{Text: s, Chain: c, Size: 10 * doc.Pt}}, width, align)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	e := emitter(t, &out, Options{})
	p := page(1)
	for i := range lines {
		p.Items = append(p.Items, layout.Item{Text: &layout.TextItem{
			X: 10 * doc.Pt, Y: doc.Length(20+12*i) * doc.Pt, Line: &lines[i], Pieces: []layout.PieceStyle{{Size: 10 * doc.Pt, Color: doc.Black}},
		}})
	}
	if err := e.Page(p); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(out.String(), "BT\n")
	body, _, _ = strings.Cut(body, "ET\n")
	return body
}

// TestOperators: a line without kerning is one string; kerning and stretched
// spaces are adjustments; the next line is a move from the one before.
func TestOperators(t *testing.T) {
	for _, c := range []struct {
		name, in string
		align    doc.Align
		width    doc.Length
		want     string
	}{
		{"plain", "nn", doc.AlignLeft, 90 * doc.Pt, "/F1 10 Tf\n10 30 Td\n(\x00Q\x00Q)Tj\n"},
		{"kerned", "AV", doc.AlignLeft, 90 * doc.Pt, "/F1 10 Tf\n10 30 Td\n[(\x00$)74(\x009)]TJ\n"},
		{"lines", "nn nn", doc.AlignLeft, 15 * doc.Pt, "/F1 10 Tf\n10 30 Td\n(\x00Q\x00Q\x00\x03)Tj\n0 -12 Td\n(\x00Q\x00Q)Tj\n"},
		{"justified", "n n nn", doc.AlignJustify, 20 * doc.Pt, "/F1 10 Tf\n10 30 Td\n[(\x00Q\x00\x03)-610(\x00Q\x00\x03)]TJ\n0 -12 Td\n(\x00Q\x00Q)Tj\n"},
		{"soft hyphen, as typed", "n\u00AD", doc.AlignLeft, 90 * doc.Pt, "/F1 10 Tf\n10 30 Td\n/Span<</ActualText<FEFF006E00AD>>>BDC\n(\x00Q)Tj\nEMC\n"},
		{"composed", "e\u0301", doc.AlignLeft, 90 * doc.Pt, "/F1 10 Tf\n10 30 Td\n/Span<</ActualText<FEFF00650301>>>BDC\n(\x00\xAB)Tj\nEMC\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := operators(t, c.in, c.align, c.width); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestURI(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.com/a?b=c&d#e": "https://example.com/a?b=c&d#e",
		"HTTP://example.com":            "HTTP://example.com",
		"mailto:a@example.com":          "mailto:a@example.com",
		"tel:+49123":                    "tel:+49123",
		"https://example.com/ä <b>":     "https://example.com/%C3%A4%20%3Cb%3E",
		"javascript:alert(1)":           "", "file:///x": "", "x": "", "": "", "data:text/html,x": "", " https://x": "",
	} {
		got, err := toURI(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

var errDisk = errors.New("disk full")

// failing fails after n bytes.
type failing struct{ n int }

func (w *failing) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

// TestEveryWriteErrorIsReturned: wherever the writer fails, the error comes out
// and no file is reported as finished.
func TestEveryWriteErrorIsReturned(t *testing.T) {
	build := func(w *failing) error {
		t.Helper()
		e, err := New(w, &doc.Document{Title: "T", Lang: "en"}, Options{
			Standards: []standard.ID{standard.PDFA4, standard.PDFUA2}, Deflater: stored{}, Fonts: font.NewCache(0, nil),
		})
		if err != nil {
			return err
		}
		for i := range 40 {
			el := &tag.Elem{Type: tag.P}
			l := &layout.Link{Target: "#here", Text: "x", Elem: &tag.Elem{Type: tag.Link, Parent: el}}
			if i%2 == 0 {
				l.Target = "https://example.com/"
			}
			p := page(i + 1)
			p.Begun, p.Done = []*tag.Elem{el}, []*tag.Elem{el}
			p.Back = []layout.RectItem{{W: doc.Pt, H: doc.Pt, Color: doc.RGB(1, 2, 3)}}
			p.Links = []layout.LinkArea{{W: doc.Pt, H: doc.Pt, Link: l}, {W: doc.Pt, H: doc.Pt, Link: l}}
			p.Marks = []layout.Mark{{Bookmark: strings.Repeat("b", 2000), Level: i%3 + 1, Elem: el}}
			if i == 0 {
				p.Marks[0].Anchor = "here"
			}
			if err := e.Page(p); err != nil {
				return err
			}
		}
		if err := e.Late(page(3)); err != nil {
			return err
		}
		_, _, err = e.Finish()
		return err
	}
	whole := &failing{1 << 30}
	if err := build(whole); err != nil {
		t.Fatal(err)
	}
	size := 1<<30 - whole.n
	for n := 0; n < size; n += size/60 + 1 {
		if err := build(&failing{n}); !errors.Is(err, errDisk) {
			t.Errorf("after %d of %d bytes: %v", n, size, err)
		}
	}
}

// TestKernedWordsAreShownAsAllText: a word of the table of a face is shown by the operators of the
// glyphs that it has, wherever some are kerned.
func TestKernedWordsAreShownAsAllText(t *testing.T) {
	t.Parallel()
	ts := text.NewTypesetter(liberation.New(), text.Latin{}, &gotext.Segmenter{}, 0)
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: test data
	for _, q := range []text.Query{{}, {Weight: 700}, {Family: "Liberation Serif"}, {TabularFigures: true}} {
		chain, err := ts.Chain(q)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		e := emitter(t, &out, Options{})
		f, table := e.fontOf(chain.Face()), chain.ASCII()
		kerned := 0
		for range 5000 {
			word := make([]byte, 1+r.IntN(12))
			for i := range word {
				word[i] = "AVTLYWPFaeovwy.,-:1177230'()\\"[r.IntN(29)]
			}
			s := string(word)
			w := &e.words
			w.begin(f, 9*doc.Pt, nil)
			for i := range len(s) {
				id, advance := table.Glyph(s[i])
				g := text.Glyph{ID: id, Advance: advance}
				if i+1 < len(s) {
					g.Advance += table.Kern(s[i], s[i+1])
				}
				w.glyph(g)
			}
			want := string(w.end())
			if got := string(f.kerned(nil, table, s)); got != want {
				t.Fatalf("%q is shown by %q, want %q", s, got, want)
			}
			if strings.HasSuffix(want, "]TJ\n") {
				kerned++
			} else if got := string(f.literal(nil, table, s)); got != want {
				t.Fatalf("%q is shown by %q, want %q", s, got, want)
			}
		}
		if kerned < 100 {
			t.Errorf("%+v: %d words are kerned", q, kerned)
		}
	}
}

// TestMoves: lines begin where they are asked to, whether a move like it stands in the stream
// already or not, and what is told to repeat does.
func TestMoves(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: the same in each run
	for range 50 {
		c := &content{height: 842 * doc.Pt}
		columns := make([]doc.Length, 1+random.IntN(6))
		for i := range columns {
			columns[i] = doc.Length(random.Int64N(600 * int64(doc.Pt)))
		}
		columns[0] += doc.Length(random.IntN(2)) << 42 // beyond 32 bits of hundredths
		var x, y int64
		for i := range 300 {
			left, base := columns[random.IntN(len(columns))], doc.Length(i/7%40*20)*doc.Pt
			slanted := random.IntN(20) == 0
			before := len(c.b)
			c.moveTo(left, base, slanted)
			f := strings.Fields(string(c.b[before:]))
			if got := f[len(f)-1]; got == "Td" && !slanted {
				x, y = x+inHundredths(t, f[0]), y+inHundredths(t, f[1])
			} else if got == "Tm" && len(f) == 7 && (f[2] != "0") == slanted {
				x, y = inHundredths(t, f[4]), inHundredths(t, f[5])
			} else {
				t.Fatalf("%q", c.b[before:])
			}
			if x != hundredths(left) || y != hundredths(c.height-base) {
				t.Fatalf("a line begins at %d, %d, want %d, %d", x, y, hundredths(left), hundredths(c.height-base))
			}
		}
		for _, r := range c.repeats {
			if r.Of >= r.At || c.b[r.At] != c.b[r.Of] {
				t.Fatalf("told is %+v of %q", r, c.b[:r.At+10])
			}
		}
	}
}

func inHundredths(t *testing.T, s string) int64 {
	t.Helper()
	whole, frac, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	v, err := strconv.ParseInt(whole+(frac + "00")[:2], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(s, "-") {
		v = -v
	}
	return v
}
