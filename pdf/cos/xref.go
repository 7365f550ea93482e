package cos

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// entry is one object's cross-reference data (ISO 32000-2, 7.5.8.3) in a word:
// the kind in the top byte, below it an offset, or the number of an object
// stream (40 bits) and the index in it (16 bits).
type entry uint64

const (
	kindShift = 56
	kindAt    = 1 << kindShift
	kindIn    = 2 << kindShift

	entryReserved entry = 0xFF << kindShift // number given out, object not written
	entryPending  entry = 0xFE << kindShift // in the open object stream
	entryFree     entry = 0                 // object 0 alone
)

func entryAt(offset int64) entry { return kindAt | entry(offset) } //nolint:gosec // G115: Limits.OutputBytes keeps offsets below 2^56

func entryIn(stream uint32, index int) entry {
	return kindIn | entry(stream)<<16 | entry(index) //nolint:gosec // G115: index < perObjectStream
}

// fields returns the three columns of a cross-reference stream row.
func (e entry) fields() (kind byte, second uint64, third uint16) {
	switch v := uint64(e) &^ (0xFF << kindShift); e >> kindShift {
	case 1:
		return 1, v, 0
	case 2:
		return 2, v >> 16, uint16(v) //nolint:gosec // G115: the low half is meant
	default:
		return 0, 0, 0xFFFF
	}
}

// finish writes the cross-reference stream, its offset and the end marker.
func (w *Writer) finish(t Trailer) (Summary, error) {
	var encrypt Ref
	if e := w.opt.Encrypt; e != nil {
		encrypt = w.Reserve()
		if err := w.claim(encrypt); err != nil {
			return Summary{}, err
		}
		if err := w.direct(encrypt, e.Dict); err != nil {
			return Summary{}, err
		}
	}
	w.drain()
	if w.err != nil {
		return Summary{}, w.err
	}
	sum := Summary{}
	copy(sum.ID[:], w.hash.Sum(nil))
	if w.opt.Signature != nil {
		if err := w.beginSignature(); err != nil {
			return Summary{}, w.fail(err)
		}
	}
	ref := w.Reserve()
	if w.err != nil {
		return Summary{}, w.err
	}
	start := w.Offset()
	w.xref[ref.Num] = entryAt(start) // the stream lists itself

	width := (bits.Len64(uint64(max(start, int64(len(w.xref))))) + 7) / 8
	packs := len(w.xref)*(1+width+2) >= leastDeflated
	table := appendXref(w.objs[:0], w.xref, width, packs)
	w.objs = table
	w.xref[ref.Num] = entryReserved // EncodedStream enters it again, at the same offset
	size := len(w.xref)

	id := Object(Hex(sum.ID[:]))
	a := &w.arena
	dict := append(
		a.Entries(8+len(t.More)), E("Type", Name("XRef")), E("Size", a.Int(size)),
		E("W", a.List(Int(1), a.Int(width), Int(2))), E("Root", a.Ref(t.Root)),
	)
	if !t.Info.IsZero() {
		dict = append(dict, E("Info", t.Info))
	}
	if !encrypt.IsZero() {
		dict = append(dict, E("Encrypt", encrypt))
	}
	dict = append(dict, E("ID", a.List(id, id)))
	dict = append(dict, t.More...)
	filter := Name("")
	if packs {
		filter = FlateDecode
		dict = append(dict, E("DecodeParms", a.Dict(append(a.Entries(2), E("Predictor", Int(12)), E("Columns", a.Int(width+3))))))
		packed, err := w.opt.Deflater.Deflate(w.packed[:0], table, w.opt.Level)
		if err != nil {
			return Summary{}, w.fail(err)
		}
		w.packed, table = packed, packed
	}
	if err := w.claim(ref); err != nil {
		return Summary{}, err
	}
	if err := w.check(ref, dict); err != nil {
		return Summary{}, w.fail(err)
	}
	if err := w.encoded(ref, dict, filter, table); err != nil { // it is never encrypted (7.5.8.2)
		return Summary{}, err
	}
	w.buf = append(w.buf, "startxref\n"...)
	w.buf = AppendInt(w.buf, start)
	w.buf = append(w.buf, "\n%%EOF"...) // and nothing behind it, no line end either
	if w.opt.Signature != nil {
		if err := w.sign(); err != nil {
			return Summary{}, w.fail(err)
		}
	}
	w.drain()
	if w.err != nil {
		return Summary{}, w.err
	}
	sum.Size, sum.Objects = w.flushed, w.inUse
	w.hash.Sum(sum.SHA256[:0])
	w.err = errClosed
	return sum, nil
}

// appendXref appends the rows of all entries; with predict, each as the difference
// from the row above (PNG predictor Up, 7.4.4.4): neighbours differ by one in the
// index column and deflate to almost nothing.
func appendXref(dst []byte, entries []entry, width int, predict bool) []byte {
	cols := 1 + width + 2
	dst = slices.Grow(dst, len(entries)*(cols+1))
	var above, row [1 + 8 + 2]byte
	for _, e := range entries {
		kind, second, third := e.fields()
		row[0] = kind
		for i := range width {
			row[1+i] = byte(second >> (8 * (width - 1 - i))) //nolint:gosec // G115: one byte of the number
		}
		binary.BigEndian.PutUint16(row[1+width:], third)
		if !predict {
			dst = append(dst, row[:cols]...)
			continue
		}
		dst = append(dst, 2) // filter type Up
		for i, c := range row[:cols] {
			dst = append(dst, c-above[i])
		}
		above = row
	}
	return dst
}
