// Package deflate compresses streams in zlib format (RFC 1950) with deflate (RFC 1951). It is for
// the parts that are written anew for every document: pages and objects.
//
// It is optimised for speed. Table rows and structure elements repeat the previous one at a
// distance that hardly changes, so the distance of the previous match is tried first. One candidate
// of a hash of four bytes is examined for each position, and the next position is checked for a
// better match. A match that would take more bits than its literals is not used (matches.go). Those
// who write rows and elements know where they repeat themselves and tell: there is no search then,
// and what is told is compared, so that a wrong repetition makes the output longer and no more. A
// block covers 64 KiB of the source; its Huffman codes are built in linear time (huffman.go), and
// for a short block only where they are likely to save much (block.go). Similar streams of a
// document share codes (series.go). The block boundaries of a stream depend only on its length, so
// that the output is a function of the source, of what is told and of the streams before in the
// series.
package deflate

import (
	"encoding/binary"
	"errors"
	"io"

	"example.com/quire/pdf/cos"
)

const (
	window  = 1 << 15 // how far back a match may lie (RFC 1951, 2)
	segment = 1 << 16 // bytes of the source that make a block
	ring    = 2 * segment
	slack   = 32 // bytes behind the ring that a load may touch

	// mostPosition is where positions of a stream begin again, without history: they have 32 bits.
	mostPosition = 1 << 24
)

// header says deflate, a window of 32 KiB and the default level (RFC 1950, 2.2).
const header = "\x78\x9C"

// Compressor compresses one stream after the other. It takes some 430 KiB, which its zero value
// has, and allocates nothing. It is not for concurrent use.
type Compressor struct {
	// window has the segment that is filled or was filled last and the one before it: position p
	// of the stream is at p % ring. The first stream begins at ring, so that the positions that
	// an empty table seems to have are too far back.
	window ringBuffer
	table  [1 << hashBits]uint32 // positions by the hash of the four bytes there
	clean  bool                  // no position in table is that of another stream
	start  int                   // where the history begins
	zero   int                   // where the stream begins, if only its history were as long
	from   int                   // where the segment begins
	filled int                   // bytes of the segment that are there
	sum    adler

	repeats []cos.Repeat // that are told and not yet looked at

	matches [segment / minMatch]match
	n       int // matches of the segment
	copied  int // bytes of the segment that are in matches
	series  *Series

	block   blockCodes
	bits    bitWriter
	encoded encoded // what is appended of a block
}

// leastTold is how many bytes a stream has at least for which told repetitions are used: in a
// shorter one the search finds more and takes little.
const leastTold = 4096

// Append appends src as a stream to dst. Where its repetitions are told, in their order, it is not
// searched for others: that takes a fraction of the time. Such a stream may be of a series of
// similar ones; nil: it is not.
func (c *Compressor) Append(dst, src []byte, repeats []cos.Repeat, series *Series) []byte {
	c.reset()
	c.repeats, c.series = nil, nil
	if len(src) >= leastTold && len(repeats) > 0 {
		if c.repeats = repeats; len(src) <= segment {
			c.series = series
		}
	}
	dst = append(dst, header...)
	for {
		src = src[c.fill(src):]
		if len(src) == 0 {
			return c.end(dst)
		}
		dst = c.flush(dst, false)
	}
}

func (c *Compressor) reset() {
	c.clean = false
	c.start, c.zero, c.from, c.filled, c.sum, c.bits = ring, ring, ring, 0, 1, bitWriter{}
}

// fill takes what there is room for in the segment and returns how much that is. A full segment is
// flushed when more comes, and not before: the last one ends the stream.
func (c *Compressor) fill(p []byte) int {
	n := copy(c.window[c.from%ring+c.filled:c.from%ring+segment], p)
	c.sum.add(p[:n])
	c.filled += n
	return n
}

// flush appends the segment as a block and begins the next one.
func (c *Compressor) flush(dst []byte, last bool) []byte {
	at := c.from % ring
	if at == 0 {
		copy(c.window[ring:], c.window[:slack])
	}
	c.search(c.from, c.from+c.filled)
	dst = c.appendBlock(dst, c.window[at:at+c.filled], last)
	c.from += c.filled
	c.filled = 0
	if c.from >= mostPosition {
		c.clean = false
		begins := ring + c.from%ring
		c.zero += begins - c.from
		c.from, c.start = begins, begins
	}
	return dst
}

// end appends the last block and the checksum.
func (c *Compressor) end(dst []byte) []byte {
	dst = c.flush(dst, true)
	c.repeats, c.series = nil, nil // the caller's
	return binary.BigEndian.AppendUint32(c.bits.align(dst), uint32(c.sum))
}

// Writer compresses a stream that comes in pieces, to the bytes of [Compressor.Append], however it
// is cut. Its zero value needs Reset.
type Writer struct {
	c      Compressor
	dst    io.Writer
	out    []byte
	err    error
	closed bool
}

// Reset begins a new stream, which goes to dst.
func (w *Writer) Reset(dst io.Writer) {
	w.c.reset()
	w.dst, w.err, w.closed = dst, nil, false
	w.out = append(w.out[:0], header...)
}

// Write implements io.Writer. An error of the writer below ends the stream.
func (w *Writer) Write(p []byte) (int, error) {
	if w.closed && w.err == nil {
		return 0, errClosed
	}
	n := 0
	for w.err == nil {
		n += w.c.fill(p[n:])
		if n == len(p) {
			break
		}
		w.out = w.c.flush(w.out, false)
		w.drain()
	}
	return n, w.err
}

// errClosed is that of writing to a stream that has ended.
var errClosed = errors.New("deflate: write to a closed stream")

// Close writes what is left and ends the stream, once. It does not close the writer below.
func (w *Writer) Close() error {
	if w.err == nil && !w.closed {
		w.closed = true
		w.out = w.c.end(w.out)
		w.drain()
	}
	return w.err
}

func (w *Writer) drain() {
	n, err := w.dst.Write(w.out)
	if err == nil && n < len(w.out) {
		err = io.ErrShortWrite
	}
	w.err = err
	w.out = w.out[:0]
}

// Append appends src as a stream to dst, as [Compressor.Append] does. A stream that was begun with
// Reset is lost.
func (w *Writer) Append(dst, src []byte, repeats []cos.Repeat, series *Series) []byte {
	return w.c.Append(dst, src, repeats, series)
}
