package cos

import (
	"crypto"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
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
	sampleBytes = 8 << 10
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
	// Openings is shared by files that may begin alike; nil: each is hashed from its beginning.
	Openings *Openings
	// Checksum has the file identifier made of checksums of the file in the place of its SHA-256,
	// which of a long file takes more time than to copy it. Signed files have no use for it.
	Checksum bool
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
	SHA256  [sha256.Size]byte // of the whole file; zero: Options.Checksum was asked for
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
	out        io.Writer
	opt        Options
	buf        []byte    // written, not yet handed to out
	flushed    int64     // handed to out
	hash       hash.Hash // of what was handed on: a checksum, or sha256
	sha256     hash.Hash
	opening    int     // how much of buf other files begin with, too; 0: that was handed on
	hashing    hashing // of pieces of long streams
	encrypting encryptions
	id         [sha256.Size]byte // of what was written before the cross-reference data
	digest     hash.Hash         // of a signature by another function than hash; nil: there is none
	held       bool              // nothing is handed to out
	err        error

	arena  Arena
	xref   table
	inUse  int
	signed unsigned
	packed []byte // deflated data
	// The series of streams whose repetitions are told, and of object streams; nil: the deflater
	// has none.
	contents, objects Series
	secret            []byte // encrypted data

	body    []byte // of the open object stream, behind the room for its numbers
	heads   []head
	alike   [alikes]int32 // where the last object begins that begins as some do, by a hash of that, from 1
	told    []Repeat      // in body
	objs    []byte        // numbers of a closing object stream, or rows of cross-reference data
	repeats []Repeat      // in objs
}

// NewWriter returns a Writer that writes to out. The header is written with the first bytes;
// nothing is written before.
func NewWriter(out io.Writer, o Options) *Writer {
	w := &Writer{sha256: sha256.New()}
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
	w.series(o.Deflater)
	w.hashing.Wait() // for pieces of a document that was given up
	w.encrypting.drop()
	w.hashing.pieces, w.hashing.free = nil, nil
	o.Limits = o.Limits.withDefaults(o.Version)
	o.Classic = o.Classic || o.Version == V14
	w.arena.reset(o.Encrypt != nil)
	w.out, w.opt, w.err = out, o, nil
	w.flushed, w.inUse, w.held, w.signed, w.digest = 0, 0, false, unsigned{}, nil
	if o.Signature != nil && o.Signature.Hash != crypto.SHA256 {
		w.digest = o.Signature.Hash.New()
	}
	w.sha256.Reset()
	if w.hash = w.sha256; o.Checksum && o.Signature == nil {
		w.hash = &checksum{Hash: w.sha256}
	}
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
	w.opening = len(w.buf)
	if o.Classic && o.Encrypt != nil {
		// PutRaw leaves strings to the encryption of object streams.
		_ = w.fail(&ObjectError{Reason: "an encrypted file has object streams"})
	}
}

// series begins those of a file.
func (w *Writer) series(d Deflater) {
	r, ok := d.(RepeatDeflater)
	switch {
	case !ok:
		w.contents, w.objects = nil, nil
	case w.contents != nil && w.opt.Deflater == d:
		w.contents.Reset()
		w.objects.Reset()
	default:
		w.contents, w.objects = r.Series(), r.Series()
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
func (w *Writer) Offset() int64 { return w.flushed + w.encrypting.bytes + int64(len(w.buf)) }

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
	w.writeQueued()
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

func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
		w.hashing.Wait() // nothing goes on behind the error
		w.encrypting.drop()
		w.xref.release()
	}
	return w.err
}
