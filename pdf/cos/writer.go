package cos

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// Version is the PDF version of a file.
type Version uint8

// The versions written. V14 has a cross-reference table, the others object and cross-reference
// streams unless Options.Classic says otherwise.
const (
	V20 Version = iota // ISO 32000-2, the zero value
	V17                // ISO 32000-1: PDF/A-2, PDF/A-3, PDF/UA-1
	V16                // PDF Reference, fifth edition
	V15                // PDF Reference, fourth edition
	V14                // PDF Reference, third edition: PDF/A-1
)

// String returns the version as the header names it, "2.0".
func (v Version) String() string {
	return [...]string{V20: "2.0", V17: "1.7", V16: "1.6", V15: "1.5", V14: "1.4"}[v]
}

const (
	// perObjectStream is how many objects share an object stream: enough for
	// deflate to see repetition, few enough that a reader who wants one
	// object need not inflate much.
	perObjectStream = 512
	// objectStreamBytes closes an object stream of few but large objects.
	objectStreamBytes = 256 << 10
	// leastDeflated is the shortest stream worth compressing: the code tables and
	// the name of the filter take what a shorter one would save, all but some
	// bytes.
	leastDeflated = 256
	// sampleBytes is how much of each sampleEach bytes of a long stream is compressed to see
	// whether it is worth it: compressible data is a quarter of a MiB long, or little is lost.
	sampleBytes = 32 << 10
	sampleEach  = 256 << 10
	// bufferBytes is what is gathered before the underlying writer is called.
	bufferBytes = 32 << 10
	// pieceBytes is how much of a long stream is gathered, so that it is hashed while what comes
	// after it is read, encoded and handed on.
	pieceBytes = 256 << 10
	// keptLen bounds each buffer that Reset keeps: one large document is no reason
	// to hold its size for ever.
	keptLen = 1 << 19
)

// Options configures a [Writer]; the zero value is usable.
type Options struct {
	Version  Version
	Deflater Deflater // nil: a new [NewFlate]; share one between documents
	Level    Level    // of object streams, cross-reference data and [Writer.Stream]
	Limits   Limits   // zero fields: the defaults stated there
	// Classic writes a cross-reference table and each object separately, as PDF 1.4 always does. It
	// is for unencrypted files.
	Classic bool
	// Spill opens a file for cross-reference data beyond SpillAfter bytes, 8 for each object, and
	// is not called for less. The file is closed with the Writer, by Close, Reset or an error. nil:
	// a temporary file of the system, which is gone then.
	Spill      func() (SpillFile, error)
	SpillAfter int64 // 0: 8 MiB; at least 128 KiB stay in memory
	// Watch is shown every dictionary given to Put and PutDirect, and those of streams with Filter;
	// nil: nobody is. It must not keep it. What it holds may be in an arena: As returns the values.
	Watch func(Ref, Dict)
	// Encrypt makes an encrypted file; nil: a plain one.
	Encrypt *Encryption
	// Signature signs the file; nil: it is not signed. It is for plain files, and PutSignature must
	// be called.
	Signature *Signature
}

// Trailer is the entry point of a file for readers (ISO 32000-2, 7.5.5).
type Trailer struct {
	Root Ref  // the catalog
	Info Ref  // the information dictionary; zero: none, as in PDF/A-4
	More Dict // further keys, written after the others
}

// Summary describes a finished file.
type Summary struct {
	Size    int64
	SHA256  [sha256.Size]byte // of the whole file
	ID      [16]byte          // the file identifier, both halves of /ID
	Objects int               // in use, object and cross-reference streams included
}

// ObjectError reports a wrong use of object numbers or a value that has no
// form in PDF.
type ObjectError struct {
	Ref    Ref
	Reason string
}

// Error implements error.
func (e *ObjectError) Error() string {
	return fmt.Sprintf("cos: write object %d: %s", e.Ref.Num, e.Reason)
}

var errClosed = errors.New("cos: write: the writer is closed")

// Writer writes one PDF file to an io.Writer, front to back. It is not safe
// for concurrent use. The first error, of the underlying writer or of a call,
// ends it: every later call returns the same error and writes nothing.
type Writer struct {
	out     io.Writer
	opt     Options
	buf     []byte // written, not yet handed to out
	flushed int64  // handed to out
	hash    hash.Hash
	hashing hashing           // of pieces of long streams
	id      [sha256.Size]byte // of what was written before the cross-reference data
	digest  hash.Hash         // of a signature by another function than hash; nil: there is none
	held    bool              // nothing is handed to out
	err     error

	arena  Arena
	xref   table
	inUse  int
	signed unsigned
	packed []byte // deflated data
	secret []byte // encrypted data

	body    []byte // of the open object stream
	heads   []head
	alike   [alikes]int32 // where the last object begins that begins as some do, by a hash of that, from 1
	told    []Repeat      // in body
	objs    []byte        // header and body of a closing object stream
	repeats []Repeat      // in objs
}

// head is an object of the open object stream: its number and where it begins.
type head struct {
	num  uint32
	at   int
	like int // where an earlier one begins that begins alike, from 1; 0: there is none
}

// alikes is how many beginnings of objects are told apart, and alikeLen how long they are: of the
// structure elements, the type is part of it.
const (
	alikes   = 32
	alikeLen = 24
)

// NewWriter returns a Writer that writes to out. The header is written with the first bytes;
// nothing is written before.
func NewWriter(out io.Writer, o Options) *Writer {
	w := &Writer{hash: sha256.New()}
	w.Reset(out, o)
	return w
}

// Reset makes w what NewWriter would return, in whatever state it is, but keeps
// its buffers, so that an engine may write document after document without
// new ones. No byte of the document before is ever written again.
func (w *Writer) Reset(out io.Writer, o Options) {
	if o.Deflater == nil {
		o.Deflater = NewFlate()
	}
	w.hashing.Wait() // for pieces of a document that was given up
	w.hashing.pieces, w.hashing.free = nil, nil
	o.Limits = o.Limits.withDefaults(o.Version)
	o.Classic = o.Classic || o.Version == V14
	w.arena.reset(o.Encrypt != nil)
	w.out, w.opt, w.err = out, o, nil
	w.flushed, w.inUse, w.held, w.signed, w.digest = 0, 0, false, unsigned{}, nil
	if o.Signature != nil && o.Signature.Hash != crypto.SHA256 {
		w.digest = o.Signature.Hash.New()
	}
	w.hash.Reset()
	w.xref.reset(o.Spill, o.SpillAfter)
	w.xref.add(1, entryFree)
	w.body, w.packed, w.secret, w.objs, w.heads = kept(w.body), kept(w.packed), kept(w.secret), kept(w.objs), w.heads[:0]
	w.told, w.repeats = kept(w.told), kept(w.repeats)
	clear(w.alike[:])
	if w.buf = kept(w.buf); w.buf == nil {
		w.buf = make([]byte, 0, bufferBytes+4<<10)
	}
	w.buf = append(w.buf, "%PDF-"...)
	w.buf = append(w.buf, o.Version.String()...)
	// Four bytes above 127 tell transfer programs that the file is binary
	// (7.5.2; a requirement of PDF/A).
	w.buf = append(w.buf, "\n%\xE2\xE3\xCF\xD3\n"...)
	if o.Classic && o.Encrypt != nil {
		// PutRaw leaves strings to the encryption of object streams.
		_ = w.fail(&ObjectError{Reason: "an encrypted file has object streams"})
	}
}

// kept empties a buffer and drops one that is large.
func kept[T any](b []T) []T {
	if cap(b) > keptLen {
		return nil
	}
	return b[:0]
}

// Err returns the error that ended the writer, nil while it is fit for use.
func (w *Writer) Err() error {
	if errors.Is(w.err, errClosed) {
		return nil
	}
	return w.err
}

// Arena returns memory for objects of this file: its objects are valid until Reset.
func (w *Writer) Arena() *Arena { return &w.arena }

// Version is the version of the file.
func (w *Writer) Version() Version { return w.opt.Version }

// Offset is the length of the file so far, bytes not yet handed on included,
// objects of the open object stream not.
func (w *Writer) Offset() int64 { return w.flushed + int64(len(w.buf)) }

// Reserve returns a new object number.
func (w *Writer) Reserve() Ref { return w.ReserveN(1) }

// ReserveN reserves n consecutive object numbers and returns the first; the
// others are [Ref.Plus] 1 to n-1. Every reserved number must be written before
// Close.
func (w *Writer) ReserveN(n int) Ref {
	first := Ref{Num: uint32(w.xref.n)} //nolint:gosec // G115: bounded by Limits.Objects
	if w.err != nil {
		return first // nothing opens a file for it any more
	}
	if w.xref.n-1+n > w.opt.Limits.Objects {
		_ = w.fail(limitError("Objects", int64(w.xref.n-1+n), int64(w.opt.Limits.Objects), ""))
		return first // kept as the writer's error
	}
	if w.xref.add(n, entryReserved); w.xref.err != nil {
		_ = w.fail(w.xref.err)
	}
	return first
}

// Put writes o as object ref into the open object stream. o must not be a
// stream.
func (w *Writer) Put(ref Ref, o Object) error {
	if err := w.claim(ref); err != nil {
		return err
	}
	if err := w.check(ref, o); err != nil {
		return w.fail(err)
	}
	w.arena.turn()
	if w.opt.Classic {
		return w.direct(ref, o)
	}
	w.open(ref)
	w.body = o.AppendPDF(w.body)
	return w.close(ref)
}

// RawObject is one of several objects that are in PDF syntax, one after the other: End is where it
// ends, a line feed behind it included.
type RawObject struct {
	Ref Ref
	End int
}

// PutRaw is Put for an object already in PDF syntax, as the append functions make it. It is copied
// and not checked. repeats tell where it repeats itself, if that is known.
func (w *Writer) PutRaw(ref Ref, body []byte, repeats ...Repeat) error {
	if err := w.claim(ref); err != nil {
		return err
	}
	if w.opt.Classic && len(body) > 0 {
		return w.direct(ref, Raw(body))
	}
	from := uint32(len(w.body)) //nolint:gosec // G115: within an object stream
	w.open(ref)
	w.body = append(w.body, body...)
	for _, r := range repeats {
		w.told = append(w.told, Repeat{from + r.At, from + r.Of})
	}
	return w.close(ref)
}

// PutRaws is PutRaw for several objects that body has.
func (w *Writer) PutRaws(objects []RawObject, body []byte) error {
	if w.opt.Classic {
		at := 0
		for _, o := range objects {
			if err := w.PutRaw(o.Ref, body[at:o.End-1]); err != nil {
				return err
			}
			at = o.End
		}
		return w.err
	}
	for at := 0; len(objects) > 0; {
		n := min(len(objects), perObjectStream-len(w.heads))
		some, end := objects[:n], objects[n-1].End
		objects = objects[n:]
		base := len(w.body) - at
		w.body = append(w.body, body[at:end]...)
		for _, o := range some {
			if err := w.claim(o.Ref); err != nil {
				return err
			}
			if o.End <= at+1 {
				return w.fail(&ObjectError{Ref: o.Ref, Reason: "no value"})
			}
			w.heads = append(w.heads, head{num: o.Ref.Num, at: base + at})
			at = o.End
			w.likeBefore(base + at)
		}
		w.inUse += n
		if err := w.closeIfFull(); err != nil {
			return err
		}
	}
	return w.err
}

// PutDirect writes o as an object outside the object streams, for objects that must be readable
// without decompression or at a known offset.
func (w *Writer) PutDirect(ref Ref, o Object) error {
	if err := w.claim(ref); err != nil {
		return err
	}
	if err := w.check(ref, o); err != nil {
		return w.fail(err)
	}
	o, err := w.sealed(o)
	if err != nil {
		return w.fail(err)
	}
	return w.direct(ref, o)
}

// direct writes an object as it is.
func (w *Writer) direct(ref Ref, o Object) error {
	w.begin(ref)
	w.buf = o.AppendPDF(w.buf)
	w.buf = append(w.buf, "\nendobj\n"...)
	return w.pass()
}

// Stream writes a stream object. Its data is compressed, or written as it is if compression would
// not make it much shorter. dict must not contain Length, Filter or DecodeParms; they are added
// after its keys.
func (w *Writer) Stream(ref Ref, dict Dict, data []byte) error {
	return w.StreamRepeats(ref, dict, data, nil)
}

// StreamRepeats is [Writer.Stream] of data of which it is known where it repeats itself.
func (w *Writer) StreamRepeats(ref Ref, dict Dict, data []byte, repeats []Repeat) error {
	if w.err != nil {
		return w.err
	}
	var shorter bool
	var err error
	if w.packed, shorter, err = compress(w.opt.Deflater, w.packed[:0], data, repeats, w.opt.Level); err != nil {
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
	out, shorter, err := compress(d, dst, data, nil, level)
	if err != nil || !shorter {
		return nil, err
	}
	return out, nil
}

// compress is Pack for those who use the memory of dst again, whether the data became shorter or
// not.
func compress(
	d Deflater, dst, data []byte, repeats []Repeat, level Level,
) (out []byte, shorter bool, err error) {
	if len(data) < leastDeflated {
		return dst, false, nil
	}
	if len(data) >= 2*sampleEach && len(repeats) == 0 {
		var same bool
		if dst, same, err = random(d, dst, data, level); same || err != nil {
			return dst, false, err
		}
	}
	out, err = deflate(d, dst, data, repeats, level)
	return out, err == nil && len(out)-len(dst) < len(data), err
}

// random reports whether samples of data, the first and the last bytes among them, do not become
// shorter: those of a compressed or encrypted file do not, nor does the whole. It returns dst, in
// what memory the samples took.
func random(d Deflater, dst, data []byte, level Level) ([]byte, bool, error) {
	n := len(data) / sampleEach
	for i := range n + 1 {
		at := i * ((len(data) - sampleBytes) / n)
		out, err := d.Deflate(dst, data[at:at+sampleBytes], level)
		if err != nil {
			return dst, false, err //nolint:wrapcheck // as in deflate
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

// Flush closes the open object stream and hands all bytes to the underlying
// writer.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	if err := w.closeObjectStream(); err != nil {
		return err
	}
	w.drain()
	return w.err
}

// Close writes the cross-reference stream and the end of the file; it does not
// close the underlying writer. A reserved number never written is an error,
// for it would leave references to nothing. The writer cannot be used
// afterwards.
func (w *Writer) Close(t Trailer) (Summary, error) {
	if w.err != nil {
		return Summary{}, w.err
	}
	if err := w.closeObjectStream(); err != nil {
		return Summary{}, err
	}
	if err := w.xref.each(func(first int, entries []entry) error {
		if i := slices.Index(entries, entryReserved); i >= 0 {
			return &ObjectError{Ref: Ref{Num: uint32(first + i)}, Reason: "number reserved but never written"} //nolint:gosec // G115: an object number
		}
		return nil
	}); err != nil {
		return Summary{}, w.fail(err)
	}
	if int64(t.Root.Num) >= int64(w.xref.n) || t.Root.IsZero() {
		return Summary{}, w.fail(&ObjectError{Ref: t.Root, Reason: "the catalog is not an object of this file"})
	}
	return w.finish(t)
}

// claim checks that ref may be written now, and that it is not again. Its final place is told when
// it is known; until then its entry says pending.
func (w *Writer) claim(ref Ref) error {
	switch {
	case w.err != nil:
		return w.err
	case ref.IsZero() || ref.Gen != 0 || int64(ref.Num) >= int64(w.xref.n):
		return w.fail(&ObjectError{Ref: ref, Reason: "number not reserved"})
	}
	if w.xref.replace(ref.Num, entryReserved, entryPending) {
		return nil
	}
	if w.xref.err != nil {
		return w.fail(w.xref.err)
	}
	return w.fail(&ObjectError{Ref: ref, Reason: "already written"})
}

func (w *Writer) check(ref Ref, o Object) error {
	if d, is := As[Dict](o); is && w.opt.Watch != nil {
		w.opt.Watch(ref, d)
	}
	return checker{l: &w.opt.Limits, ref: ref}.object(o, 1)
}

// checkDict is check for the dictionary of a stream.
func (w *Writer) checkDict(ref Ref, d Dict) error {
	if w.opt.Watch != nil {
		w.opt.Watch(ref, d)
	}
	return checker{l: &w.opt.Limits, ref: ref}.dict(d, 1)
}

// begin opens an object at the current offset.
func (w *Writer) begin(ref Ref) {
	w.xref.set(ref.Num, entryAt(w.Offset()))
	w.inUse++
	w.buf = AppendInt(w.buf, int64(ref.Num))
	w.buf = append(w.buf, " 0 obj\n"...)
}

// open begins an object in the open object stream, whose number and place are known when it is
// closed.
func (w *Writer) open(ref Ref) {
	w.inUse++
	w.heads = append(w.heads, head{num: ref.Num, at: len(w.body)})
}

// close ends object ref, the last of the open object stream.
func (w *Writer) close(ref Ref) error {
	if len(w.body) == w.heads[len(w.heads)-1].at {
		return w.fail(&ObjectError{Ref: ref, Reason: "no value"})
	}
	w.body = append(w.body, '\n')
	w.likeBefore(len(w.body))
	return w.closeIfFull()
}

func (w *Writer) closeIfFull() error {
	if len(w.heads) < perObjectStream && len(w.body) < objectStreamBytes {
		return nil
	}
	return w.closeObjectStream()
}

// likeBefore finds the object before the last one, which ends at end, that begins alike.
func (w *Writer) likeBefore(end int) {
	h := &w.heads[len(w.heads)-1]
	if end-h.at < alikeLen {
		return
	}
	b := w.body[h.at : h.at+alikeLen]
	x := binary.LittleEndian.Uint64(b) + 3*binary.LittleEndian.Uint64(b[8:]) + 5*binary.LittleEndian.Uint64(b[16:])
	last := &w.alike[x*0x9E3779B97F4A7C15>>59]
	h.like = int(*last)
	*last = int32(h.at + 1) //nolint:gosec // G115: bounded by Limits.OutputBytes
}

// closeObjectStream writes the gathered objects (7.5.7).
func (w *Writer) closeObjectStream() error {
	if len(w.heads) == 0 {
		return w.err
	}
	ref := w.Reserve()
	if w.err != nil {
		return w.err
	}
	data, repeats := w.objs[:0], w.repeats[:0]
	before := 0
	for i := range w.heads {
		h := &w.heads[i]
		w.xref.set(h.num, entryIn(ref.Num, i))
		at := len(data)
		if i > 0 {
			repeats = append(repeats, Repeat{uint32(at), uint32(before)}) //nolint:gosec // G115: within an object stream
		}
		before = at
		data = AppendInt(data, int64(h.num))
		data = append(data, ' ')
		data = AppendInt(data, int64(h.at))
		data = append(data, ' ')
	}
	first := uint32(len(data)) //nolint:gosec // G115: as above
	told := w.told
	for i := range w.heads {
		h := &w.heads[i]
		for ; len(told) > 0 && int(told[0].At) < h.at; told = told[1:] {
			repeats = append(repeats, Repeat{first + told[0].At, first + told[0].Of})
		}
		if h.like > 0 {
			repeats = append(repeats, Repeat{first + uint32(h.at), first + uint32(h.like-1)}) //nolint:gosec // G115: as above
		}
	}
	for _, r := range told {
		repeats = append(repeats, Repeat{first + r.At, first + r.Of})
	}
	data = append(data, w.body...)
	w.objs, w.repeats = data, repeats
	n := len(w.heads)
	w.heads, w.body, w.told = w.heads[:0], w.body[:0], w.told[:0]
	clear(w.alike[:])
	a := &w.arena
	dict := append(a.Entries(3), E("Type", Name("ObjStm")), E("N", a.Int(n)), E("First", a.Int(int(first))))
	return w.StreamRepeats(ref, dict, data, repeats)
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

// pass hands the buffer on when it is full.
func (w *Writer) pass() error {
	if len(w.buf) >= bufferBytes && !w.held {
		w.drain()
	}
	if size := w.Offset(); size > w.opt.Limits.OutputBytes {
		return w.fail(limitError("OutputBytes", size, w.opt.Limits.OutputBytes, ""))
	}
	if w.xref.err != nil {
		return w.fail(w.xref.err)
	}
	return w.err
}

// drain hands the buffer on. All that was handed on is hashed then.
func (w *Writer) drain() {
	w.write(w.buf)
	w.buf = w.buf[:0]
}

func (w *Writer) write(b []byte) {
	w.hand(b)
	w.hashing.Wait()
	if w.err == nil {
		w.sum(b)
	}
}

// hand hands bytes to the underlying writer.
func (w *Writer) hand(b []byte) {
	if w.err != nil || len(b) == 0 {
		return
	}
	n, err := w.out.Write(b)
	w.flushed += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		_ = w.fail(fmt.Errorf("cos: write: %w", err))
	}
}

// sum hashes bytes that are handed on.
func (w *Writer) sum(b []byte) {
	w.hash.Write(b)
	if w.digest != nil && !w.signed.done {
		w.digest.Write(b)
	}
}

func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
		w.hashing.Wait() // nothing goes on behind the error
		w.xref.release()
	}
	return w.err
}
