// Package kflate compresses the streams of files: streams that are written anew for each document
// with package deflate, streams that are compressed once and kept with klauspost/compress at its
// best level.
//
// Neither has code for specific processors, so a stream has the same bytes on all of them.
package kflate

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/flate"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/deflate"
)

// Deflater is a [cos.Deflater] that keeps its compressors. It is safe for
// concurrent use; one should serve all documents of an engine.
type Deflater struct {
	everyday pool[deflate.Writer]
	best     pool[compressor]
}

// pool holds compressors that wait for work. The garbage collector does not
// clear it, as it does a sync.Pool: a compressor has some hundred kilobytes, and
// to make one costs more than to compress a page.
type pool[T any] [16]atomic.Pointer[T]

// take returns a compressor, nil when none is there.
func (s *pool[T]) take() *T {
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
func (s *pool[T]) put(c *T) {
	for i := range s {
		if s[i].Load() == nil && s[i].CompareAndSwap(nil, c) {
			return
		}
	}
}

var (
	_ cos.PieceDeflater  = (*Deflater)(nil)
	_ cos.RepeatDeflater = (*Deflater)(nil)
)

// New returns a Deflater.
func New() *Deflater { return &Deflater{} }

// Deflate implements [cos.Deflater]. A level beyond LevelBest is that one. No
// source gives an error.
func (d *Deflater) Deflate(dst, src []byte, level cos.Level) ([]byte, error) {
	return d.deflate(dst, src, nil, nil, level)
}

// deflate compresses a stream. At the best level all is searched.
func (d *Deflater) deflate(
	dst, src []byte, repeats []cos.Repeat, series *deflate.Series, level cos.Level,
) ([]byte, error) {
	if level >= cos.LevelBest {
		return d.deflateBest(dst, src)
	}
	w := d.writer()
	out := w.Append(dst, src, repeats, series)
	d.everyday.put(w)
	return out, nil
}

// Series implements [cos.RepeatDeflater].
func (d *Deflater) Series() cos.Series { return &series{d: d} }

// series compresses similar streams of one file.
type series struct {
	d     *Deflater
	codes deflate.Series
}

// Deflate implements [cos.Series].
func (s *series) Deflate(dst, src []byte, repeats []cos.Repeat, level cos.Level) ([]byte, error) {
	return s.d.deflate(dst, src, repeats, &s.codes, level)
}

// Reset implements [cos.Series].
func (s *series) Reset() { s.codes.Reset() }

func (d *Deflater) writer() *deflate.Writer {
	if w := d.everyday.take(); w != nil {
		return w
	}
	return new(deflate.Writer)
}

func (d *Deflater) deflateBest(dst, src []byte) ([]byte, error) {
	c := d.best.take()
	if c == nil {
		var err error
		if c, err = newCompressor(); err != nil {
			return dst, err
		}
	}
	out, err := c.deflate(dst, src)
	if err == nil {
		d.best.put(c)
	}
	return out, err
}

// compressor compresses one source after the other with the library.
type compressor struct {
	w   *flate.Writer
	out []byte
}

func newCompressor() (*compressor, error) {
	w, err := flate.NewWriter(nil, flate.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("kflate: new compressor: %w", err)
	}
	return &compressor{w: w}, nil
}

// Write implements io.Writer for the library.
func (c *compressor) Write(p []byte) (int, error) {
	c.out = append(c.out, p...)
	return len(p), nil
}

// deflate appends src as a zlib stream to dst. src is handed over whole: how it
// is cut would show in the output.
func (c *compressor) deflate(dst, src []byte) ([]byte, error) {
	// A window of 32 KiB and the best level, with check bits (RFC 1950, 2.2).
	c.out = append(dst, 0x78, 0xDA)
	c.w.Reset(c)
	_, err := c.w.Write(src)
	if err == nil {
		err = c.w.Close()
	}
	if err != nil {
		return dst, fmt.Errorf("kflate: deflate: %w", err)
	}
	out := binary.BigEndian.AppendUint32(c.out, adler32.Checksum(src))
	c.out = nil // a compressor that waits must not keep the caller's bytes alive
	return out, nil
}

// Writer returns a writer that compresses to dst what it takes until it is closed, at the everyday
// level: to the bytes of Deflate, however they are cut. A writer that is never closed is lost,
// nothing else.
func (d *Deflater) Writer(dst io.Writer) (io.WriteCloser, error) {
	w := &writer{Writer: d.writer(), pool: &d.everyday}
	w.Reset(dst)
	return w, nil
}

// writer gives its compressor back when it is closed.
type writer struct {
	*deflate.Writer
	pool *pool[deflate.Writer]
}

// Close implements io.Closer.
func (w *writer) Close() error {
	if w.Writer == nil { // closed before
		return nil
	}
	err := w.Writer.Close()
	w.Reset(nil) // a compressor that waits must not keep the caller's writer alive
	w.pool.put(w.Writer)
	w.Writer = nil
	return err //nolint:wrapcheck // the caller's own
}
