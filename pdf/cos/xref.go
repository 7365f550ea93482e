package cos

import (
	"bytes"
	"encoding/binary"
	"io"
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
	entryPending  entry = 0xFE << kindShift // being written, or in the open object stream
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

// finish writes the cross-reference data, their offset and the end marker.
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
	w.hash.Sum(w.id[:0])
	copy(sum.ID[:], w.id[:])
	if w.opt.Signature != nil {
		if err := w.beginSignature(); err != nil {
			return Summary{}, w.fail(err)
		}
	}
	start := w.Offset()
	write := w.xrefStream
	if w.opt.Classic {
		write = w.xrefTable
	}
	a := &w.arena
	id := a.hex(w.id[:len(sum.ID)])
	more := append(a.Entries(4+len(t.More)), E("Root", a.Ref(t.Root)))
	if !t.Info.IsZero() {
		more = append(more, E("Info", t.Info))
	}
	if !encrypt.IsZero() {
		more = append(more, E("Encrypt", encrypt))
	}
	more = append(append(more, E("ID", a.List(id, id))), t.More...)
	if err := write(start, more); err != nil {
		return Summary{}, w.fail(err)
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
	if w.hash == w.sha256 {
		w.hash.Sum(sum.SHA256[:0])
	}
	w.err = errClosed
	w.encrypting.drop()
	w.xref.release()
	return sum, nil
}

// xrefTable writes a cross-reference table and the trailer behind it (7.5.4, 7.5.5).
func (w *Writer) xrefTable(start int64, more Dict) error {
	const most = 9_999_999_999 // ten digits
	if start > most {
		return limitError("OutputBytes", start, most, "a cross-reference table")
	}
	w.buf = append(w.buf, "xref\n0 "...)
	w.buf = append(AppendInt(w.buf, int64(w.xref.n)), '\n')
	if err := w.xref.each(func(_ int, entries []entry) error {
		rows := w.objs[:0]
		for _, e := range entries {
			kind, at, generation := e.fields()
			letter := byte('n')
			if kind == 0 {
				letter = 'f'
			}
			rows = appendDigits(rows, at, 10)
			rows = append(appendDigits(append(rows, ' '), uint64(generation), 5), ' ', letter, ' ', '\n')
		}
		w.objs = rows
		w.data(rows)
		return w.pass()
	}); err != nil {
		return err
	}
	a := &w.arena
	trailer := append(append(a.Entries(1+len(more)), E("Size", a.Int(w.xref.n))), more...)
	if err := (checker{l: &w.opt.Limits}).dict(trailer, 1); err != nil {
		return err
	}
	w.buf = append(w.buf, "trailer\n"...)
	w.buf = append(trailer.AppendPDF(w.buf), '\n')
	return nil
}

// appendDigits appends v with zeros before it.
func appendDigits(dst []byte, v uint64, width int) []byte {
	at := len(dst) + width
	dst = append(dst, "0000000000"[:width]...)
	for v > 0 {
		at--
		dst[at] = '0' + byte(v%10)
		v /= 10
	}
	return dst
}

// xrefStream writes a cross-reference stream (7.5.8).
func (w *Writer) xrefStream(start int64, more Dict) error {
	ref := w.Reserve()
	if w.err != nil {
		return w.err
	}
	width := (bits.Len64(uint64(max(start, int64(w.xref.n)))) + 7) / 8 //nolint:gosec // G115: lengths
	packs := w.xref.n*(1+width+2) >= leastDeflated
	a := &w.arena
	dict := append(
		a.Entries(5+len(more)), E("Type", Name("XRef")), E("Size", a.Int(w.xref.n)),
		E("W", a.List(Int(1), a.Int(width), Int(2))),
	)
	dict = append(dict, more...)
	filter := Name("")
	if packs {
		filter = FlateDecode
		dict = append(dict, E("DecodeParms", a.Dict(append(a.Entries(2), E("Predictor", Int(12)), E("Columns", a.Int(width+3))))))
	}
	if err := w.claim(ref); err != nil {
		return err
	}
	if err := w.checkDict(ref, dict); err != nil {
		return err
	}
	w.xref.set(ref.Num, entryAt(start)) // the stream lists itself
	// It is never encrypted (7.5.8.2).
	if d, ok := w.opt.Deflater.(PieceDeflater); ok && len(w.xref.blocks) > 1 && w.opt.Level == LevelDefault {
		return w.longXref(ref, dict, d, width)
	}
	var above xrefRow
	table := w.objs[:0]
	if err := w.xref.each(func(_ int, entries []entry) error {
		table = appendXref(table, entries, width, packs, &above)
		return nil
	}); err != nil {
		return err
	}
	w.objs = table
	if packs {
		packed, err := w.opt.Deflater.Deflate(w.packed[:0], table, w.opt.Level)
		if err != nil {
			return err
		}
		w.packed, table = packed, packed
	}
	return w.encoded(ref, dict, filter, table)
}

// longXref writes a cross-reference stream of several blocks of data, which need not be in memory.
// What they become is compressed into the same file as they are, for its length stands before it,
// and not as a reference (7.5.8.2).
func (w *Writer) longXref(ref Ref, dict Dict, d PieceDeflater, width int) error {
	if w.xref.file == nil {
		packed := bytes.NewBuffer(w.packed[:0])
		if err := w.packXref(packed, d, width); err != nil {
			return err
		}
		w.packed = packed.Bytes()
		return w.encoded(ref, dict, FlateDecode, w.packed)
	}
	packed := w.xref.behind()
	if err := w.packXref(packed, d, width); err != nil {
		return err
	}
	w.beginStream(ref, dict, FlateDecode, packed.n)
	if err := packed.pieces(w.data); err != nil {
		return err
	}
	return w.endStream()
}

// packXref compresses the rows of all blocks.
func (w *Writer) packXref(to io.Writer, d PieceDeflater, width int) error {
	zw, err := d.Writer(to)
	if err != nil {
		return err
	}
	var above xrefRow
	if err := w.xref.each(func(_ int, entries []entry) error {
		rows := appendXref(w.objs[:0], entries, width, true, &above)
		w.objs = rows
		_, err := zw.Write(rows)
		return err
	}); err != nil {
		return err
	}
	return zw.Close()
}

// xrefRow is a row of a cross-reference stream: its first two columns, which eight bytes hold, and
// the third.
type xrefRow struct{ head, third uint64 }

// appendXref appends the rows of entries; with predict, each as the difference from the row above
// (PNG predictor Up, 7.4.4.4): neighbours differ by one in the index column and deflate to almost
// nothing.
func appendXref(dst []byte, entries []entry, width int, predict bool, above *xrefRow) []byte {
	const most = 8 // bytes of the first two columns
	dst = slices.Grow(dst, len(entries)*(1+1+width+2)+most)
	for _, e := range entries {
		kind, second, third := e.fields()
		row := xrefRow{uint64(kind)<<(8*width) | second, uint64(third)}
		out := row
		if predict {
			dst = append(dst, 2) // filter type Up
			out = xrefRow{minusBytes(row.head, above.head), minusBytes(row.third, above.third)}
			*above = row
		}
		dst = binary.BigEndian.AppendUint64(dst, out.head<<(8*(most-1-width)))
		dst = binary.BigEndian.AppendUint16(dst[:len(dst)-most+1+width], uint16(out.third)) //nolint:gosec // G115: two bytes
	}
	return dst
}

// minusBytes takes each byte of y from that of x, modulo 256: without their highest bits no byte
// borrows from the next, and these are those of a sum without carry.
func minusBytes(x, y uint64) uint64 {
	const high = 0x8080808080808080
	return (x | high) - (y &^ high) ^ (x^^y)&high
}
