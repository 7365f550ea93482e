package cos

import (
	"crypto"
	"fmt"
	"hash"
	"slices"
)

// Signature signs a file while it is written (ISO 32000-2, 12.8.1). Its dictionary is the last
// object before the cross-reference data. The bytes before it were hashed for the file identifier
// and for the SHA-256 of the file, and are not hashed again if the signature uses SHA-256 too. The
// bytes after it are made first, so that everything to be signed is known before signing, and
// nothing is written twice.
type Signature struct {
	Hash crypto.Hash // of the bytes of the file without the value of Contents
	Room int         // most bytes of a signature
	// Sign returns the signature, given the digest by Hash. Its error ends the file, of which the
	// part before the signature was written.
	Sign func(digest []byte) ([]byte, error)
}

// rangeBytes is the room for three numbers of ByteRange, which are known when all else is written:
// ten digits each and a space before them.
const rangeBytes = 3 * (1 + 10)

// unsigned is the dictionary of a signature that is still to come.
type unsigned struct {
	ref    Ref
	dict   Dict
	ranges int // where in buf the numbers of ByteRange are
	from   int // and where Contents begins,
	to     int // and ends, brackets included
	done   bool
}

// PutSignature sets the dictionary of the signature that Options request, as object ref, without
// ByteRange and Contents. It is kept until Close.
func (w *Writer) PutSignature(ref Ref, dict Dict) error {
	if err := w.claim(ref); err != nil {
		return err
	}
	if w.opt.Signature == nil || w.opt.Encrypt != nil || !w.signed.ref.IsZero() {
		return w.fail(&ObjectError{Ref: ref, Reason: "no signature, a second one, or one of an encrypted file"})
	}
	if err := w.check(ref, dict); err != nil {
		return w.fail(err)
	}
	w.signed.ref, w.signed.dict = ref, dict
	return nil
}

// beginSignature writes the dictionary with blanks for what is not known yet. From here on nothing
// is handed on.
func (w *Writer) beginSignature() error {
	s := &w.signed
	if s.ref.IsZero() {
		return &ObjectError{Reason: "no dictionary of the signature"}
	}
	w.held = true
	w.begin(s.ref)
	w.buf = s.dict.AppendPDF(w.buf)
	w.buf = append(w.buf[:len(w.buf)-len(">>")], "/ByteRange [0"...)
	s.ranges = len(w.buf)
	w.buf = AppendBlanks(w.buf, ' ', rangeBytes)
	w.buf = append(w.buf, "]/Contents "...)
	s.from = len(w.buf)
	w.buf = append(w.buf, '<')
	w.buf = AppendBlanks(w.buf, '0', 2*w.opt.Signature.Room)
	w.buf = append(w.buf, '>')
	s.to = len(w.buf)
	w.buf = append(w.buf, ">>\nendobj\n"...)
	return nil
}

// AppendBlanks appends n times the character c: room for a value that is known when what stands
// behind it is.
func AppendBlanks(dst []byte, c byte, n int) []byte {
	dst = slices.Grow(dst, n)
	blanks := dst[len(dst) : len(dst)+n]
	for done := copy(blanks, []byte{c}); done < n; done *= 2 {
		copy(blanks[done:], blanks[:done])
	}
	return dst[:len(dst)+n]
}

// sign fills the blanks: all that is left of the file stands in buf.
func (w *Writer) sign() error {
	s, o := &w.signed, w.opt.Signature
	before, after := w.flushed+int64(s.from), w.flushed+int64(s.to)
	numbers := w.buf[s.ranges : s.ranges : s.ranges+rangeBytes]
	for _, n := range [...]int64{before, after, w.Offset() - after} {
		numbers = AppendInt(append(numbers, ' '), n)
	}
	if len(numbers) > rangeBytes {
		return &ObjectError{Ref: s.ref, Reason: "a file too large to be signed"}
	}
	h := w.digest
	if h == nil {
		c, err := w.hash.(hash.Cloner).Clone() //nolint:forcetypeassert // every hash of the standard library is one
		if err != nil {
			return fmt.Errorf("cos: write: %w", err)
		}
		h = c
	}
	h.Write(w.buf[:s.from])
	h.Write(w.buf[s.to:])
	signature, err := o.Sign(h.Sum(nil))
	if err != nil {
		return err
	}
	if len(signature) > o.Room {
		return &ObjectError{Ref: s.ref, Reason: fmt.Sprintf("a signature of %d bytes, and room for %d", len(signature), o.Room)}
	}
	PutHex(w.buf[s.from+1:], signature)
	w.held, s.done = false, true
	return nil
}
