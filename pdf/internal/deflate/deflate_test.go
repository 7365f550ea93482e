package deflate_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	kzlib "github.com/klauspost/compress/zlib"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/deflate"
)

const (
	window  = 32 << 10
	segment = 64 << 10
)

// sources are of the kinds and sizes that a file has, and of those at which something changes:
// nothing, what is shorter than a match, the ends of blocks and of the window, what cannot be
// compressed, and what is longer than positions go.
func sources(tb testing.TB) map[string][]byte {
	tb.Helper()
	random := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 3*segment)
	_, _ = random.Read(noise) // never fails
	page := func(lines int) []byte {
		var b bytes.Buffer
		for i := range lines {
			r := random.Uint64()
			fmt.Fprintf(&b, "/F1 9 Tf\n%d.%02d %d Td\n(%s)Tj\n", i, r%100, r>>8%800, noise[r>>32%1000:][:4])
		}
		return b.Bytes()
	}
	var objects bytes.Buffer
	for i := range 3000 {
		fmt.Fprintf(&objects, "<</Type/StructElem/S/TD/P %d 0 R/Pg 7 0 R/K %d>>\n", 12+i/7, i)
	}
	few := make([]byte, segment)
	for i := range few {
		few[i] = "ab"[random.Uint64()&1]
	}
	all := map[string][]byte{
		"nothing": nil, "a byte": []byte("a"), "operators": []byte("q Q"), "zeros": make([]byte, 70_000),
		"a short page": page(3), "a page": page(40),
		"another page": page(41), "a long page": page(300), "pages": page(8000),
		"objects": objects.Bytes(), "a little noise": noise[:50], "noise": noise, "two letters": few,
		"far away": slices.Concat(noise[:1000], make([]byte, window-1000), noise[:1000]),
		"too far":  slices.Concat(noise[:1000], noise[4000:4000+window-999], noise[:1000]),
		"text":     []byte(strings.Repeat("What is written twice, is written once. ", 300)),
	}
	for _, n := range []int{
		2, 3, 4, 11, 12, 13, 20, 257, 258, 259, 260, 261, 262,
		segment - 1, segment, segment + 1, 2 * segment, 2*segment + 1,
	} {
		all[fmt.Sprintf("%d equal bytes", n)] = bytes.Repeat([]byte{'x'}, n)
		all[fmt.Sprintf("%d of the pages", n)] = all["pages"][:n]
	}
	return all
}

func inflate(tb testing.TB, b []byte) []byte {
	tb.Helper()
	zr, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := io.ReadAll(zr) // and the checksum
	if err != nil {
		tb.Fatal(err)
	}
	kr, err := kzlib.NewReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	if other, err := io.ReadAll(kr); err != nil || !bytes.Equal(other, out) {
		tb.Fatalf("two readers do not agree: %v", err)
	}
	return out
}

// cut writes src in pieces whose sizes next returns.
func cut(tb testing.TB, w *deflate.Writer, src []byte, next func() int) []byte {
	tb.Helper()
	var b bytes.Buffer
	w.Reset(&b)
	for len(src) > 0 {
		n := min(next(), len(src))
		if k, err := w.Write(src[:n]); k != n || err != nil {
			tb.Fatalf("%d of %d bytes, %v", k, n, err)
		}
		src = src[n:]
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// TestBlocks: what cannot be compressed is stored, what is short has the codes that need not be
// sent, and all else has codes of its own; each kind can be the last block.
func TestBlocks(t *testing.T) {
	all := sources(t)
	const stored, fixed, dynamic = 0, 1, 2
	var c deflate.Compressor
	for name, want := range map[string]byte{
		"nothing": fixed, "operators": fixed, "noise": stored, "a page": dynamic, "pages": dynamic,
	} {
		if kind := c.Append(nil, all[name], nil, nil)[2] >> 1 & 3; kind != want {
			t.Errorf("%s begins with a block of kind %d, want %d", name, kind, want)
		}
	}
}

// failing is a writer that fails after some bytes.
type failing struct{ left int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestErrorOfTheWriterBelow: it is told, by Close at the latest, and a new stream has none.
func TestErrorOfTheWriterBelow(t *testing.T) {
	src := sources(t)["noise"]
	var w deflate.Writer
	w.Reset(&failing{})
	if n, err := w.Write(src[:10]); n != 10 || err != nil {
		t.Errorf("what is only kept: %d, %v", n, err)
	}
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("close: %v", err)
	}
	w.Reset(&failing{left: segment + 100})
	if n, err := w.Write(src); !errors.Is(err, errFull) || n >= len(src) {
		t.Errorf("write: %d, %v", n, err)
	}
	if n, err := w.Write(src); !errors.Is(err, errFull) || n != 0 {
		t.Errorf("write after an error: %d, %v", n, err)
	}
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("close after an error: %v", err)
	}
	if !bytes.Equal(inflate(t, cut(t, &w, src, func() int { return 999 })), src) {
		t.Error("other bytes came back")
	}
}

// FuzzAppend: whatever came before and however it is cut, the output is that of a new compressor
// and inflates to the source.
func FuzzAppend(f *testing.F) {
	for _, src := range sources(f) {
		if len(src) < 5000 {
			f.Add([]byte("before"), src, uint16(7))
			f.Add(src, []byte("BT\n(\x00\x24)Tj\nET\n"), uint16(1))
		}
	}
	f.Fuzz(func(t *testing.T, before, src []byte, piece uint16) {
		var w deflate.Writer
		w.Append(nil, before, nil, nil)
		want := new(deflate.Compressor).Append(nil, src, nil, nil)
		if !bytes.Equal(w.Append(nil, src, nil, nil), want) {
			t.Error("a used compressor writes other bytes")
		}
		if !bytes.Equal(cut(t, &w, src, func() int { return 1 + int(piece) }), want) {
			t.Error("a writer writes other bytes")
		}
		if !bytes.Equal(inflate(t, want), src) {
			t.Error("other bytes came back")
		}
	})
}

// rows is a page of a table as it is written, and where it repeats itself: the operators of each
// cell are those of the cell in the row before.
func rows(n int) (src []byte, repeats []cos.Repeat) {
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // G404: test data
	var last [7]uint32
	mark := uint32(0)
	for i := range n * len(last) {
		column := i % len(last)
		tell := func(of *uint32) {
			at := uint32(len(src)) //nolint:gosec // G115: test data
			if i >= len(last) {
				repeats = append(repeats, cos.Repeat{At: at, Of: *of})
			}
			*of = at
		}
		tell(&mark)
		src = fmt.Appendf(src, "/TD<</MCID %d>>BDC\n%d.%d", i, 20+9*column, column)
		tell(&last[column])
		src = append(src, " 0 Td\n("...)
		for range 1 + random.IntN(20) {
			src = append(src, 0, byte('0'+random.IntN(10))) //nolint:gosec // G115: a digit
		}
		src = append(src, ")Tj\nEMC\n"...)
	}
	return src, repeats
}

// TestToldRepetitions: they are found without a search, also behind the ends of blocks, of the
// window and of positions.
func TestToldRepetitions(t *testing.T) {
	for _, n := range []int{30, 500, 5000} {
		src, repeats := rows(n)
		var c deflate.Compressor
		searched := len(c.Append(nil, src, nil, nil))
		told := c.Append(nil, src, repeats, nil)
		if !bytes.Equal(inflate(t, told), src) {
			t.Errorf("%d rows: other bytes came back", n)
		}
		if len(told) > searched*108/100 {
			t.Errorf("%d rows: %d bytes are told, %d are found by searching", n, len(told), searched)
		}
		if !bytes.Equal(new(deflate.Compressor).Append(nil, src, repeats, nil), told) {
			t.Errorf("%d rows: a used compressor writes other bytes", n)
		}
	}
}

// FuzzRepeats: whatever is told, the output inflates to the source and is that of a new compressor.
func FuzzRepeats(f *testing.F) {
	src, repeats := rows(30)
	told := func(repeats []cos.Repeat) (b []byte) {
		for _, r := range repeats {
			b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, r.At), r.Of)
		}
		return b
	}
	f.Add(src, told(repeats))
	f.Add(src, told([]cos.Repeat{{At: 10, Of: 10}, {At: 0, Of: 1 << 31}, {At: 1 << 31}, {At: 5000, Of: 3}, {At: 4000, Of: 4001}}))
	for _, src := range sources(f) {
		f.Add(src, told([]cos.Repeat{{At: 1}, {At: 50, Of: 7}, {At: 4000, Of: 1}, {At: 70_000, Of: 20}}))
	}
	f.Fuzz(func(t *testing.T, src, told []byte) {
		var repeats []cos.Repeat
		for ; len(told) >= 8; told = told[8:] {
			repeats = append(repeats, cos.Repeat{At: binary.LittleEndian.Uint32(told), Of: binary.LittleEndian.Uint32(told[4:])})
		}
		var w deflate.Writer
		out := w.Append(nil, src, repeats, nil)
		if !bytes.Equal(inflate(t, out), src) {
			t.Error("other bytes came back")
		}
		if !bytes.Equal(w.Append(nil, src, repeats, nil), out) {
			t.Error("a used compressor writes other bytes")
		}
		if searched := w.Append(nil, src, nil, nil); !bytes.Equal(searched, new(deflate.Compressor).Append(nil, src, nil, nil)) {
			t.Error("what was told of one stream is believed of the next")
		}
	})
}

// TestAStreamEndsOnce: closing it again writes nothing, and writing to it is an error; a writer
// below that takes less than it is given ends it.
func TestAStreamEndsOnce(t *testing.T) {
	var w deflate.Writer
	var out bytes.Buffer
	w.Reset(&out)
	if _, err := w.Write(bytes.Repeat([]byte("row "), 25_000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	size := out.Len()
	if err := w.Close(); err != nil || out.Len() != size {
		t.Errorf("closed again: %v, %d bytes of %d", err, out.Len(), size)
	}
	if _, err := w.Write([]byte("more")); err == nil || out.Len() != size {
		t.Errorf("written behind the end: %v, %d bytes of %d", err, out.Len(), size)
	}
	w.Reset(short{})
	if err := w.Close(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("of a writer that takes a part: %v", err)
	}
}

type short struct{}

func (short) Write(p []byte) (int, error) { return len(p) - 1, nil }
