package kflate

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"example.com/quire/pdf/cos"
)

var levels = []cos.Level{cos.LevelDefault, cos.LevelBest}

// sources are of the kinds and sizes that a file has: nothing, a few bytes, the
// streams of a page, more than the window, more than a block of the library,
// and what cannot be compressed.
func sources(tb testing.TB) [][]byte {
	tb.Helper()
	random := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 70_000)
	_, _ = random.Read(noise) // never fails
	page := func(lines int) []byte {
		var b bytes.Buffer
		for i := range lines {
			r := random.Uint64()
			fmt.Fprintf(&b, "/F1 9 Tf\n%d.%02d %d Td\n(%s)Tj\n", i, r%100, r>>8%800, noise[r>>32%1000:][:4])
		}
		return b.Bytes()
	}
	return [][]byte{
		nil, []byte("a"), []byte("q Q"), bytes.Repeat([]byte{0}, 70_000), page(3), page(40), page(41), page(300),
		page(2500), noise[:50], noise, []byte(strings.Repeat("<</Type/StructElem/S/TD/P 12 0 R>>", 300)),
	}
}

// fresh is what a new Deflater makes of src.
func fresh(tb testing.TB, level cos.Level, src []byte) []byte {
	tb.Helper()
	out, err := New().Deflate(nil, src, level)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func inflate(tb testing.TB, b []byte) []byte {
	tb.Helper()
	zr, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := io.ReadAll(zr) // and the check sum
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// TestRoundTrip: the standard library reads every level, and the output stands
// behind what was there.
func TestRoundTrip(t *testing.T) {
	d := New()
	for _, level := range levels {
		for i, src := range sources(t) {
			out, err := d.Deflate([]byte("before"), src, level)
			if err != nil {
				t.Fatal(err)
			}
			packed, ok := bytes.CutPrefix(out, []byte("before"))
			if !ok || !bytes.Equal(inflate(t, packed), src) {
				t.Errorf("level %d, source %d: other bytes came back", level, i)
			}
			if n := len(packed); n > len(src)+len(src)/1000+32 {
				t.Errorf("level %d, source %d: %d bytes of %d", level, i, n, len(src))
			}
			if v := int(packed[0])<<8 | int(packed[1]); v%31 != 0 || packed[0] != 0x78 {
				t.Errorf("level %d: header %x", level, packed[:2])
			}
		}
	}
}

// TestOutputDependsOnSourceAlone: a compressor that has seen any other source
// before writes what a new one writes.
func TestOutputDependsOnSourceAlone(t *testing.T) {
	all := sources(t)
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // G404: a test wants the same order every time
	for _, level := range levels {
		want := make([][]byte, len(all))
		for i, src := range all {
			want[i] = fresh(t, level, src)
		}
		used := New()
		for range 2 {
			for _, i := range random.Perm(len(all)) {
				got, err := used.Deflate(nil, all[i], level)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want[i]) {
					t.Fatalf("level %d, source %d: a used compressor writes other bytes", level, i)
				}
			}
		}
	}
}

// TestConcurrentUse: goroutines that share a Deflater get what one alone gets.
func TestConcurrentUse(t *testing.T) {
	all := sources(t)
	d := New()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := range len(all) {
				src, level := all[(w+n)%len(all)], levels[(w+n)%len(levels)]
				got, err := d.Deflate(nil, src, level)
				if err != nil {
					t.Error(err)
				} else if again, err := d.Deflate(nil, src, level); err != nil || !bytes.Equal(got, again) {
					t.Errorf("level %d: two outputs of one source, %v", level, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestLevels: more effort is less output, and what is beyond the best is the
// best.
func TestLevels(t *testing.T) {
	d := New()
	src := sources(t)[7]
	var sizes []int
	for _, level := range []cos.Level{cos.LevelDefault, cos.LevelBest, cos.LevelBest + 7} {
		out, err := d.Deflate(nil, src, level)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(out))
	}
	if sizes[0] <= sizes[1] || sizes[1] != sizes[2] {
		t.Errorf("sizes %d", sizes)
	}
}

// TestPool: a full pool lets go of what is put into it, and gives all it has.
func TestPool(t *testing.T) {
	var s pool[compressor]
	for range len(s) + 1 {
		s.put(&compressor{})
	}
	seen := map[*compressor]bool{}
	for c := s.take(); c != nil; c = s.take() {
		seen[c] = true
	}
	if len(seen) != len(s) {
		t.Errorf("%d compressors in a pool of %d", len(seen), len(s))
	}
}

// TestKeepsNoSource: what a compressor keeps for the next source is its own.
func TestKeepsNoSource(t *testing.T) {
	c, err := newCompressor()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.deflate(make([]byte, 0, 1<<10), []byte("source")); err != nil {
		t.Fatal(err)
	}
	if c.out != nil {
		t.Error("the caller's buffer is held")
	}
}

// FuzzDeflate: whatever came before, the output is that of a new compressor and
// inflates to the source.
func FuzzDeflate(f *testing.F) {
	for _, src := range sources(f) {
		if len(src) < 5000 {
			f.Add([]byte("before"), src, uint8(cos.LevelDefault))
			f.Add(src, []byte("BT\n(\x00\x24)Tj\nET\n"), uint8(cos.LevelBest))
		}
	}
	f.Fuzz(func(t *testing.T, before, src []byte, n uint8) {
		level := cos.Level(n) % (cos.LevelBest + 1)
		used := New()
		if _, err := used.Deflate(nil, before, level); err != nil {
			t.Fatal(err)
		}
		got, err := used.Deflate(nil, src, level)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, fresh(t, level, src)) {
			t.Error("a used compressor writes other bytes")
		}
		if !bytes.Equal(inflate(t, got), src) {
			t.Error("other bytes came back")
		}
	})
}

// TestWriterGivesWhatDeflateGives: however a stream is cut, and whatever a compressor did before or
// does beside, the bytes are the same.
func TestWriterGivesWhatDeflateGives(t *testing.T) {
	d := New()
	write := func(src []byte, cut int) []byte {
		var b bytes.Buffer
		w, err := d.Writer(&b)
		if err != nil {
			t.Error(err)
			return nil
		}
		for len(src) > 0 {
			n := min(cut, len(src))
			if _, err := w.Write(src[:n]); err != nil {
				t.Error(err)
			}
			src = src[n:]
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		return b.Bytes()
	}
	all := sources(t)
	first := make([][]byte, len(all))
	for i, src := range all {
		var err error
		if first[i], err = d.Deflate(nil, src, cos.LevelDefault); err != nil {
			t.Fatal(err)
		}
		for _, cut := range []int{7, 1000, 65535, 65536, 70_000, len(src) + 1} {
			if !bytes.Equal(write(src, cut), first[i]) {
				t.Errorf("source %d has other bytes in pieces of %d", i, cut)
			}
		}
		zr, err := zlib.NewReader(bytes.NewReader(first[i]))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(zr); err != nil || !bytes.Equal(got, src) {
			t.Errorf("source %d does not read back: %v", i, err)
		}
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, src := range all {
				if !bytes.Equal(write(src, 1000), first[i]) {
					t.Errorf("source %d has other bytes", i)
				}
			}
		})
	}
	wg.Wait()
}
