package cos

import (
	"encoding/binary"
	"hash/adler32"
)

// PutPacked writes an object that is in PDF syntax and was compressed to be kept, such as the
// widths of a font that many files have. packed is in zlib format (RFC 1950), size its length
// before. It is copied and not checked. The file must have object streams.
//
// The object is alone in an object stream. The numbers in front of it, which differ from file to
// file, are a block of the stream that is not compressed (RFC 1951, 3.2.4).
func (w *Writer) PutPacked(ref Ref, packed []byte, size int) error {
	const header, checksum, stored = 2, 4, 5 // bytes around the blocks of a zlib stream, and before those of a block
	if err := w.claim(ref); err != nil {
		return err
	}
	if w.opt.Classic || len(packed) <= header+checksum {
		return w.fail(&ObjectError{Ref: ref, Reason: "no object stream for it, or no data"})
	}
	stream := w.Reserve()
	if w.err != nil {
		return w.err
	}
	w.xref.set(ref.Num, entryIn(stream.Num, 0))
	w.inUse++
	data := append(append(w.objs[:0], packed[:header]...), make([]byte, stored)...)
	data = append(AppendInt(data, int64(ref.Num)), " 0 "...)
	numbers := data[header+stored:]
	first := len(numbers)
	binary.LittleEndian.PutUint16(data[header+1:], uint16(first))  //nolint:gosec // G115: two numbers
	binary.LittleEndian.PutUint16(data[header+3:], ^uint16(first)) //nolint:gosec // G115: two numbers
	blocks := packed[header : len(packed)-checksum]
	sum := joinedAdler(adler32.Checksum(numbers), binary.BigEndian.Uint32(packed[len(packed)-checksum:]), size)
	w.objs = binary.BigEndian.AppendUint32(append(data, blocks...), sum)
	a := &w.arena
	return w.EncodedStream(
		stream, append(a.Entries(3), E("Type", Name("ObjStm")), E("N", Int(1)), E("First", a.Int(first))), FlateDecode, w.objs,
	)
}

// joinedAdler returns the checksum of what two texts are together (RFC 1950, 8.2), from those of
// both and the length of the second.
func joinedAdler(a, b uint32, size int) uint32 {
	const base = 65521
	low, high := uint64(a&0xFFFF), uint64(a>>16)
	// The sum begins with 1: the low half of b counts it once too often, the high one size times.
	n := uint64(size) % base //nolint:gosec // G115: a length
	high += uint64(b>>16) + n*(low+base-1)
	low += uint64(b&0xFFFF) + base - 1
	return uint32(high%base<<16 | low%base) //nolint:gosec // G115: two halves
}
