package deflate_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/deflate"
)

// stream is one of a series.
type stream struct {
	src     []byte
	repeats []cos.Repeat
}

// series compresses streams one after the other.
func series(c *deflate.Compressor, s *deflate.Series, streams []stream) (out [][]byte) {
	for _, st := range streams {
		out = append(out, c.Append(nil, st.src, st.repeats, s))
	}
	return out
}

// tables are pages of tables that differ, and some that are of another kind: noise, a letter again
// and again, what is short and what is longer than a block.
func tables(tb testing.TB) (streams []stream) {
	tb.Helper()
	random := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // G404: test data
	all := sources(tb)
	for i := range 60 {
		src, repeats := rows(80 + random.IntN(70))
		switch i {
		case 10, 20, 21, 22, 40:
			src = all["noise"][:30_000]
		case 11, 41, 42:
			src = bytes.Repeat([]byte{'x'}, 30_000)
		case 30:
			src, repeats = rows(2)
		case 31:
			src, repeats = rows(5000)
		}
		streams = append(streams, stream{src, repeats})
	}
	return streams
}

// TestSeries: similar streams share codes, which makes them hardly longer; those of another kind
// have their own. The output is a function of the streams of the series alone.
func TestSeries(t *testing.T) {
	streams := tables(t)
	var c deflate.Compressor
	var s deflate.Series
	got := series(&c, &s, streams)
	shared := 0
	for i, st := range streams {
		if !bytes.Equal(inflate(t, got[i]), st.src) {
			t.Errorf("stream %d: other bytes came back", i)
		}
		own := c.Append(nil, st.src, st.repeats, nil)
		if n, most := len(got[i]), len(own)+len(own)*2/100+20; n > most {
			t.Errorf("stream %d: %d bytes, %d with codes of its own", i, n, len(own))
		}
		if !bytes.Equal(own, got[i]) {
			shared++
		}
	}
	if shared < 30 {
		t.Errorf("%d of %d streams share codes", shared, len(streams))
	}
	s.Reset()
	for i, again := range series(new(deflate.Compressor), &s, streams) {
		if !bytes.Equal(again, got[i]) {
			t.Errorf("stream %d of a series after another one has other bytes", i)
		}
	}
}

// FuzzSeries: whatever the streams of a series are and whatever is told of them, each inflates to
// its source, and its bytes are those of a new series.
func FuzzSeries(f *testing.F) {
	src, _ := rows(30)
	other := bytes.Repeat([]byte("q 1 0 0 1 72 700 cm /Im1 Do Q\n"), 200)
	f.Add(src, src, other, uint32(100), uint32(7))
	f.Add(other, src, src, uint32(4000), uint32(10))
	f.Add(src, other, sources(f)["noise"][:5000], uint32(5), uint32(1))
	f.Fuzz(func(t *testing.T, a, b, d []byte, at, of uint32) {
		told := []cos.Repeat{{At: at, Of: of}}
		streams := []stream{{a, told}, {b, told}, {d, told}, {a, told}, {b, told}, {d, told}, {d, told}, {a, told}}
		var c deflate.Compressor
		var s deflate.Series
		got := series(&c, &s, streams)
		for i, st := range streams {
			if !bytes.Equal(inflate(t, got[i]), st.src) {
				t.Errorf("stream %d: other bytes came back", i)
			}
		}
		s.Reset()
		for i, again := range series(&c, &s, streams) {
			if !bytes.Equal(again, got[i]) {
				t.Errorf("stream %d of a series after another one has other bytes", i)
			}
		}
	})
}
