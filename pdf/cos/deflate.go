package cos

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"sync"
)

// Level is the effort of a [Deflater].
type Level uint8

// The levels. The zero value is the everyday one.
const (
	LevelDefault Level = iota // pages and objects
	LevelBest                 // for streams that are compressed once and kept, such as fonts
)

// Deflater compresses whole streams for FlateDecode (ISO 32000-2, 7.4.4).
// Deflate appends src in zlib format (RFC 1950) to dst. The output must be a
// function of src and level alone, and Deflate must be safe for concurrent
// use; dst and src do not overlap.
type Deflater interface {
	Deflate(dst, src []byte, level Level) ([]byte, error)
}

// PieceDeflater is a Deflater that also accepts a stream in pieces. However the stream is divided,
// the output equals that of Deflate at LevelDefault. With it, a [Writer] holds no more
// cross-reference data in memory than Options.SpillAfter; without it, all of it at the end.
type PieceDeflater interface {
	Deflater
	Writer(dst io.Writer) (io.WriteCloser, error)
}

// RepeatDeflater is a Deflater that can be told where a stream repeats itself, which whoever made
// the stream knows: it need not search there. Similar streams of a file, such as its pages, are a
// series. Its values can be compared.
type RepeatDeflater interface {
	Deflater
	Series() Series
}

// Series compresses streams of one file, one after the other. Deflate is that of [Deflater] for a
// stream whose repetitions are told. Its output is a function of these, too, and of what was
// compressed before in the series, and inflates to src whether the repetitions are true or not. It
// keeps none of them. Reset begins the series of another file. A Series is not for concurrent use.
type Series interface {
	Deflate(dst, src []byte, repeats []Repeat, level Level) ([]byte, error)
	Reset()
}

// Repeat tells that the bytes of a stream from At on, and perhaps some before, are those from Of
// on, which is less, for a length that is not told. Repetitions stand in the order of At.
type Repeat struct{ At, Of uint32 }

// NewFlate returns a Deflater on the standard library's compress/zlib. It
// pools its compressors, so one should be shared by all documents of an
// engine.
func NewFlate() Deflater { return &flate{} }

type flate struct {
	pools [LevelBest + 1]sync.Pool // of *zlib.Writer
}

func (f *flate) Deflate(dst, src []byte, level Level) ([]byte, error) {
	level = min(level, LevelBest)
	out := bytes.NewBuffer(dst)
	zw, ok := f.pools[level].Get().(*zlib.Writer)
	if ok {
		zw.Reset(out)
	} else {
		var err error
		if zw, err = zlib.NewWriterLevel(out, zlibLevel(level)); err != nil {
			return dst, fmt.Errorf("cos: deflate: %w", err)
		}
	}
	if _, err := zw.Write(src); err != nil {
		return dst, fmt.Errorf("cos: deflate: %w", err)
	}
	if err := zw.Close(); err != nil {
		return dst, fmt.Errorf("cos: deflate: %w", err)
	}
	zw.Reset(nil) // the pool must not keep the caller's bytes alive
	f.pools[level].Put(zw)
	return out.Bytes(), nil
}

func zlibLevel(l Level) int {
	if l == LevelBest {
		return zlib.BestCompression
	}
	return zlib.DefaultCompression
}
