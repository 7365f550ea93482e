package cos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// Stream writes a stream object. Its data is compressed, or written as it is if compression would
// not make it much shorter. dict must not contain Length, Filter or DecodeParms; they are added
// after its keys.
func (w *Writer) Stream(ref Ref, dict Dict, data []byte) error {
	return w.streamOf(nil, ref, dict, data, nil)
}

// StreamRepeats is [Writer.Stream] of data of which it is known where it repeats itself.
func (w *Writer) StreamRepeats(ref Ref, dict Dict, data []byte, repeats []Repeat) error {
	return w.streamOf(w.contents, ref, dict, data, repeats)
}

// streamOf writes a stream of a series; nil: of none.
func (w *Writer) streamOf(s Series, ref Ref, dict Dict, data []byte, repeats []Repeat) error {
	if w.err != nil {
		return w.err
	}
	var shorter bool
	var err error
	if s == nil || len(repeats) == 0 {
		w.packed, shorter, err = compress(w.opt.Deflater, w.packed[:0], data, w.opt.Level)
	} else if len(data) >= leastDeflated {
		w.packed, err = s.Deflate(w.packed[:0], data, repeats, w.opt.Level)
		shorter = len(w.packed) < len(data)
	}
	if err != nil {
		return w.fail(fmt.Errorf("cos: write object %d: %w", ref.Num, err))
	}
	if !shorter {
		return w.EncodedStream(ref, dict, "", data)
	}
	return w.EncodedStream(ref, dict, FlateDecode, w.packed)
}

// Pack compresses the data of a stream as [Writer.Stream] does and appends it to dst; nil: the data
// stays as it is.
func Pack(d Deflater, dst, data []byte, level Level) ([]byte, error) {
	out, shorter, err := compress(d, dst, data, level)
	if err != nil || !shorter {
		return nil, err
	}
	return out, nil
}

// compress is Pack for those who use the memory of dst again, whether the data became shorter or
// not.
func compress(d Deflater, dst, data []byte, level Level) (out []byte, shorter bool, err error) {
	if len(data) < leastDeflated {
		return dst, false, nil
	}
	var random bool
	dst, random, err = incompressible(d, dst, int64(len(data)), level, func(at int64) ([]byte, error) { return data[at:][:sampleBytes], nil })
	if random || err != nil {
		return dst, false, err
	}
	out, err = d.Deflate(dst, data, level)
	return out, err == nil && len(out)-len(dst) < len(data), err //nolint:wrapcheck // wrapped where it is told which object it is
}

// Incompressible reports whether samples of long data, the first and the last bytes among them, do
// not become shorter: those of a compressed or encrypted file do not, nor does the whole. d: as in
// Options.
func Incompressible(d Deflater, data io.ReaderAt, size int64, level Level) (bool, error) {
	if d == nil {
		d = NewFlate()
	}
	var buf [sampleBytes]byte
	_, random, err := incompressible(d, nil, size, level, func(at int64) ([]byte, error) {
		_, err := data.ReadAt(buf[:], at)
		return buf[:], err //nolint:wrapcheck // as it is
	})
	return random, err
}

// incompressible is Incompressible of data of which sample returns a part. It returns dst, in what
// memory the samples took.
func incompressible(
	d Deflater, dst []byte, size int64, level Level, sample func(at int64) ([]byte, error),
) ([]byte, bool, error) {
	n := size / sampleEach
	if n < 2 {
		return dst, false, nil
	}
	for i := range n + 1 {
		b, err := sample(i * ((size - sampleBytes) / n))
		if err != nil {
			return dst, false, err
		}
		out, err := d.Deflate(dst, b, level)
		if err != nil {
			return dst, false, err //nolint:wrapcheck // as in compress
		}
		if len(out)-len(dst) < sampleBytes {
			return out[:len(dst)], false, nil
		}
		dst = out[:len(dst)]
	}
	return dst, true, nil
}

// FlateDecode is the filter of streams a [Deflater] compressed.
const FlateDecode Name = "FlateDecode"

// EncodedStream writes a stream object whose data is already encoded with
// filter; an empty filter means plain data. Workers compress pages with the
// Deflater and hand the result to this method in page order; metadata streams
// stay plain so that they can be found without a reader. Extra keys such as
// DecodeParms are the caller's, in dict.
func (w *Writer) EncodedStream(ref Ref, dict Dict, filter Name, data []byte) error {
	if err := w.claim(ref); err != nil {
		return err
	}
	seen := dict
	if w.opt.Watch != nil && filter != "" {
		seen = append(append(w.arena.Entries(len(dict)+1), dict...), E("Filter", w.arena.Name(string(filter))))
	}
	if err := w.checkDict(ref, seen); err != nil {
		return w.fail(err)
	}
	for _, key := range [...]Name{"Length", "Filter"} {
		if dict.Get(key) != nil {
			return w.fail(&ObjectError{Ref: ref, Reason: "stream dictionary names " + string(key) + " itself"})
		}
	}
	return w.stream(ref, dict, filter, data)
}

// CopyStream writes a stream object of another file: dict gives the filters with which data is
// encoded. Length is set here and must not be in dict.
func (w *Writer) CopyStream(ref Ref, dict Dict, data []byte) error {
	if err := w.copies(ref, dict); err != nil {
		return err
	}
	return w.stream(ref, dict, "", data)
}

// copies claims the number of a stream that is copied and checks its dictionary.
func (w *Writer) copies(ref Ref, dict Dict) error {
	if err := w.claim(ref); err != nil {
		return err
	}
	if err := w.checkDict(ref, dict); err != nil {
		return w.fail(err)
	}
	if dict.Get("Length") != nil {
		return w.fail(&ObjectError{Ref: ref, Reason: "stream dictionary names Length itself"})
	}
	return nil
}

// CopyStreamFrom is [Writer.CopyStream] of size bytes that are read while they are written: of a
// long stream, no more than three pieces are in memory.
func (w *Writer) CopyStreamFrom(ref Ref, dict Dict, data io.Reader, size int64) error {
	if err := w.copies(ref, dict); err != nil {
		return err
	}
	return w.streamFrom(ref, dict, "", data, size)
}

// stream writes a stream that was checked, encrypted when the file is.
func (w *Writer) stream(ref Ref, dict Dict, filter Name, data []byte) error {
	if len(data) >= pieceBytes {
		return w.streamFrom(ref, dict, filter, bytes.NewReader(data), int64(len(data)))
	}
	dict, secret, err := w.secretDict(dict)
	if err == nil && secret {
		if w.secret, err = w.opt.Encrypt.Cipher.Encrypt(w.secret[:0], data); err == nil {
			data = w.secret
		}
	}
	if err != nil {
		return w.fail(err)
	}
	return w.encoded(ref, dict, filter, data)
}

// streamFrom is stream of data that is read.
func (w *Writer) streamFrom(ref Ref, dict Dict, filter Name, data io.Reader, size int64) error {
	dict, secret, err := w.secretDict(dict)
	if err == nil && secret {
		if mostQueued(size) > 0 {
			return w.queueStream(ref, dict, filter, data, size)
		}
		data, size, err = w.opt.Encrypt.Cipher.Reader(data, size)
	}
	if err != nil {
		return w.fail(err)
	}
	w.beginStream(ref, dict, filter, size)
	if err := w.pieces(data, size); err != nil {
		return w.fail(fmt.Errorf("cos: write object %d: %w", ref.Num, err))
	}
	return w.endStream()
}

// encoded writes a stream as it is.
func (w *Writer) encoded(ref Ref, dict Dict, filter Name, data []byte) error {
	w.beginStream(ref, dict, filter, int64(len(data)))
	w.data(data)
	return w.endStream()
}

func (w *Writer) beginStream(ref Ref, dict Dict, filter Name, length int64) {
	w.begin(ref)
	w.buf = dict.AppendPDF(w.buf)
	w.buf = w.buf[:len(w.buf)-len(">>")]
	if filter != "" {
		w.buf = append(w.buf, "/Filter"...)
		w.buf = AppendName(w.buf, string(filter))
	}
	w.buf = append(w.buf, "/Length "...)
	w.buf = AppendInt(w.buf, length)
	w.buf = append(w.buf, ">>stream\n"...)
}

func (w *Writer) endStream() error {
	// The line end before endstream is not part of Length (7.3.8.1).
	w.buf = append(w.buf, "\nendstream\nendobj\n"...)
	return w.pass()
}

// data appends stream data, around the buffer when it is large.
func (w *Writer) data(b []byte) {
	if len(b) < bufferBytes/2 || w.held {
		w.buf = append(w.buf, b...)
		return
	}
	w.drain()
	w.write(b)
}

// pieces appends stream data that is read. Its errors are those of reading.
func (w *Writer) pieces(data io.Reader, size int64) error {
	for size > 0 && w.err == nil {
		from := len(w.buf)
		n := int(min(size, int64(max(pieceBytes-from, 0))))
		w.buf = slices.Grow(w.buf, n)[:from+n]
		if _, err := io.ReadFull(data, w.buf[from:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		size -= int64(n)
		if len(w.buf) >= pieceBytes {
			w.piece()
		}
	}
	return nil
}

// hashing is what a goroutine hashes meanwhile. There is one as long as there are pieces.
type hashing struct {
	sync.WaitGroup              // for the pieces
	left           atomic.Int32 // how many the goroutine has not taken off yet
	pieces, free   chan []byte  // in their order, and buffers for others
}

// others is how many pieces a goroutine may be behind.
const others = 2

// piece hands the buffer on and has it hashed by a goroutine. What follows goes to another buffer.
func (w *Writer) piece() {
	w.writeQueued()
	h := &w.hashing
	if h.pieces == nil {
		h.pieces, h.free = make(chan []byte, others+1), make(chan []byte, others+1) // nobody waits to send
		for range others {
			h.free <- nil
		}
	}
	b := w.buf
	w.buf = nil // also where the underlying writer panics
	h.Add(1)
	h.pieces <- b
	if h.left.Add(1) == 1 {
		go w.sumPieces()
	}
	w.hand(b)
	w.buf = <-h.free
}

// sumPieces hashes pieces until there are none.
func (w *Writer) sumPieces() {
	h := &w.hashing
	for {
		b := <-h.pieces
		w.sum(b)
		h.free <- b[:0]
		h.Done()
		if h.left.Add(-1) == 0 {
			return
		}
	}
}
