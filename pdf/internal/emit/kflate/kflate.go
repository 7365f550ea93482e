// Package kflate compresses streams with the deflate of klauspost/compress.
//
// Its fast levels forget the source before by moving their window on instead of
// clearing their tables, so that the small streams of a page cost what their
// bytes cost. The library has no code for single processors in deflate: a stream
// has the same bytes on all of them.
package kflate

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/adler32"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/flate"

	"example.com/quire/pdf/cos"
)

// effort is what a [cos.Level] stands for: the level of the library and the
// header that says about as much (RFC 1950, 2.2: deflate with a window of 32 KiB,
// FLEVEL, and check bits that make the two bytes a multiple of 31).
type effort struct {
	level  int
	header [2]byte
}

// efforts are the levels. The everyday one is the last that keeps its tables
// between streams: its output is as small as that of zlib's level 6.
var efforts = [...]effort{
	cos.LevelDefault: {6, [2]byte{0x78, 0x9C}},
	cos.LevelFast:    {1, [2]byte{0x78, 0x01}},
	cos.LevelBest:    {9, [2]byte{0x78, 0xDA}},
}

// Deflater is a [cos.Deflater] that keeps its compressors. It is safe for
// concurrent use; one should serve all documents of an engine.
type Deflater struct{ pools [len(efforts)]pool }

// pool holds compressors that wait for work. The garbage collector does not
// clear it, as it does a sync.Pool: a compressor is more than a megabyte, and to
// make one costs more than to compress a page.
type pool [16]atomic.Pointer[compressor]

// take returns a compressor, nil when none is there.
func (s *pool) take() *compressor {
	for i := range s {
		if s[i].Load() != nil {
			if c := s[i].Swap(nil); c != nil {
				return c
			}
		}
	}
	return nil
}

// put keeps c unless the pool is full.
func (s *pool) put(c *compressor) {
	for i := range s {
		if s[i].Load() == nil && s[i].CompareAndSwap(nil, c) {
			return
		}
	}
}

var _ cos.PieceDeflater = (*Deflater)(nil)

// New returns a Deflater.
func New() *Deflater { return &Deflater{} }

// Deflate implements [cos.Deflater]. A level beyond LevelBest is that one. No
// source gives an error.
func (d *Deflater) Deflate(dst, src []byte, level cos.Level) ([]byte, error) {
	level = min(level, cos.LevelBest)
	c := d.pools[level].take()
	if c == nil {
		var err error
		if c, err = newCompressor(efforts[level]); err != nil {
			return dst, err
		}
	}
	out, err := c.deflate(dst, src)
	if err == nil {
		d.pools[level].put(c)
	}
	return out, err
}

// compressor compresses one source after the other.
type compressor struct {
	effort
	w   *flate.Writer
	out []byte
}

func newCompressor(e effort) (*compressor, error) {
	w, err := flate.NewWriter(nil, e.level)
	if err != nil {
		return nil, fmt.Errorf("kflate: new compressor: %w", err)
	}
	return &compressor{effort: e, w: w}, nil
}

// Write implements io.Writer for the library.
func (c *compressor) Write(p []byte) (int, error) {
	c.out = append(c.out, p...)
	return len(p), nil
}

// deflate appends src as a zlib stream to dst. src is handed over whole: how it
// is cut would show in the output.
func (c *compressor) deflate(dst, src []byte) ([]byte, error) {
	c.out = append(dst, c.header[:]...)
	c.w.Reset(c)
	_, err := c.w.Write(src)
	if err == nil {
		err = c.w.Close()
	}
	if err != nil {
		return dst, fmt.Errorf("kflate: deflate: %w", err)
	}
	out := binary.BigEndian.AppendUint32(c.out, checksum(src))
	c.out = nil // a compressor that waits must not keep the caller's bytes alive
	return out, nil
}

// Writer returns a writer that compresses to dst what it takes until it is closed, at the everyday
// level: to the bytes of Deflate, however they are cut, for this level gathers a block before it
// looks at it. A writer that is never closed is lost, nothing else.
func (d *Deflater) Writer(dst io.Writer) (io.WriteCloser, error) {
	p := &d.pools[cos.LevelDefault]
	c := p.take()
	if c == nil {
		var err error
		if c, err = newCompressor(efforts[cos.LevelDefault]); err != nil {
			return nil, err
		}
	}
	c.w.Reset(dst)
	return &writer{c: c, pool: p, dst: dst, sum: adler32.New()}, nil
}

type writer struct {
	c      *compressor
	pool   *pool
	dst    io.Writer
	sum    hash.Hash32
	headed bool
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if err := w.head(); err != nil {
		return 0, err
	}
	w.sum.Write(p)
	n, err := w.c.w.Write(p)
	if err != nil {
		return n, fmt.Errorf("kflate: deflate: %w", err)
	}
	return n, nil
}

func (w *writer) head() error {
	if w.headed {
		return nil
	}
	w.headed = true
	_, err := w.dst.Write(w.c.header[:])
	return err //nolint:wrapcheck // the caller's own
}

// Close implements io.Closer: it ends the stream and gives the compressor back.
func (w *writer) Close() error {
	if err := w.head(); err != nil {
		return err
	}
	if err := w.c.w.Close(); err != nil {
		return fmt.Errorf("kflate: deflate: %w", err)
	}
	_, err := w.dst.Write(w.sum.Sum(nil))
	w.c.w.Reset(nil) // a compressor that waits must not keep the caller's writer alive
	w.pool.put(w.c)
	w.c = nil
	return err //nolint:wrapcheck // the caller's own
}
