package cos

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
)

// Update is an incremental update of an existing file (ISO 32000-2, 7.5.6): new and changed
// objects, and cross-reference data of the kind that the file ends with. It is collected in memory
// and appended to the bytes of the file, which are not changed.
//
// Streams and strings are written unencrypted, so the file must be unencrypted. It must not have
// been repaired, because readers would find the appended objects through damaged cross-reference
// data.
type Update struct {
	r        *Reader
	deflater Deflater
	packed   []byte
	buf      []byte
	at       map[uint32]written
	next     uint32
}

// written is where an object lies, and its generation.
type written struct {
	at  int64
	gen uint16
}

// NewUpdate begins an update. d compresses streams; nil: as in Options. The update is collected in
// buf, from its beginning, as long as there is space.
func NewUpdate(r *Reader, d Deflater, buf []byte) (*Update, error) {
	if r.rebuilt || r.cipher != nil {
		return nil, &ReadError{Offset: -1, Reason: "a file that is encrypted or was repaired takes no update"}
	}
	if d == nil {
		d = NewFlate()
	}
	next := max(intOr(r.trailer.Get("Size"), 1), int64(r.highest)+1)
	u := &Update{r: r, deflater: d, buf: buf[:0], at: map[uint32]written{}, next: uint32(max(next, 1))} //nolint:gosec // G115: numbers that are larger were refused
	last, err := r.bytesInto(r.memory.tail[:], r.size-1, 1)
	if err != nil {
		return nil, err
	}
	if last[0] != '\n' && last[0] != '\r' {
		u.buf = append(u.buf, '\n')
	}
	return u, nil
}

// Reserve returns a new object number.
func (u *Update) Reserve() Ref {
	u.next++
	return Ref{Num: u.next - 1}
}

// Bytes returns the bytes written so far. The update continues to use them.
func (u *Update) Bytes() []byte { return u.buf }

// Put writes o as object ref, a new one or one of the file. o must not be a stream.
func (u *Update) Put(ref Ref, o Object) error {
	if err := u.begin(ref); err != nil {
		return err
	}
	u.buf = append(o.AppendPDF(u.buf), "\nendobj\n"...)
	return nil
}

// Stream writes a stream whose data is compressed here, as [Writer.Stream] does.
func (u *Update) Stream(ref Ref, dict Dict, data []byte) error {
	var shorter bool
	var err error
	if u.packed, shorter, err = compress(u.deflater, u.packed[:0], data, LevelDefault); err != nil {
		return fmt.Errorf("cos: write object %d: %w", ref.Num, err)
	}
	if !shorter {
		return u.EncodedStream(ref, dict, "", data)
	}
	return u.EncodedStream(ref, dict, FlateDecode, u.packed)
}

// EncodedStream writes a stream whose data is encoded with filter already; empty: it is plain.
func (u *Update) EncodedStream(ref Ref, dict Dict, filter Name, data []byte) error {
	if filter != "" {
		dict = append(slices.Clip(dict), E("Filter", filter))
	}
	return u.CopyStream(ref, dict, data)
}

// CopyStream writes a stream whose dictionary says how data is encoded. Length is set here.
func (u *Update) CopyStream(ref Ref, dict Dict, data []byte) error {
	return u.stream(ref, dict, len(data), func(dst []byte) error {
		copy(dst, data)
		return nil
	})
}

// CopyStreamFrom is [Update.CopyStream] of size bytes that are read.
func (u *Update) CopyStreamFrom(ref Ref, dict Dict, data io.Reader, size int64) error {
	return u.stream(ref, dict, int(size), func(dst []byte) error {
		_, err := io.ReadFull(data, dst)
		return err
	})
}

func (u *Update) stream(ref Ref, dict Dict, size int, fill func(dst []byte) error) error {
	if dict.Get("Length") != nil {
		return &ObjectError{Ref: ref, Reason: "stream dictionary names Length itself"}
	}
	if err := u.begin(ref); err != nil {
		return err
	}
	u.buf = append(slices.Clip(dict), E("Length", Int(size))).AppendPDF(u.buf)
	u.buf = append(u.buf, "\nstream\n"...)
	from := len(u.buf)
	u.buf = slices.Grow(u.buf, size)[:from+size]
	err := fill(u.buf[from:])
	u.buf = append(u.buf, "\nendstream\nendobj\n"...)
	return err
}

// begin opens an object.
func (u *Update) begin(ref Ref) error {
	if _, twice := u.at[ref.Num]; twice || ref.IsZero() || ref.Num >= u.next {
		return &ObjectError{Ref: ref, Reason: "not a number of this update, or already written"}
	}
	w := written{u.r.size + int64(len(u.buf)) - u.r.base, u.generation(ref.Num)}
	u.at[ref.Num] = w
	u.buf = AppendInt(u.buf, int64(ref.Num))
	u.buf = append(u.buf, ' ')
	u.buf = AppendInt(u.buf, int64(w.gen))
	u.buf = append(u.buf, " obj\n"...)
	return nil
}

// generation returns that of an object of the file, 0 for new ones.
func (u *Update) generation(num uint32) uint16 {
	if num > u.r.highest {
		return 0
	}
	if s, ok := u.r.spots[num]; ok && s.used && s.in == 0 {
		return s.gen
	}
	return 0
}

// Close writes the cross-reference data and returns all bytes of the update. root and info are
// those of the new revision; a zero info keeps that of the file.
func (u *Update) Close(root, info Ref) ([]byte, error) {
	sum := sha256.Sum256(u.buf)
	stream := u.r.trailer.Get("Type") == Name("XRef")
	var self Ref
	at := u.r.size + int64(len(u.buf)) - u.r.base
	if stream {
		self = u.Reserve()
		u.at[self.Num] = written{at: at}
	}
	trailer := make(Dict, 0, len(u.r.trailer)+4)
	for _, x := range u.r.trailer {
		switch x.Key {
		case "Type", "Size", "W", "Index", "Filter", "DecodeParms", "Length", "F", "FFilter", "FDecodeParms", "Prev", "XRefStm", "Root", "ID":
		case "Info":
			if info.IsZero() {
				trailer = append(trailer, x)
			}
		default:
			trailer = append(trailer, x)
		}
	}
	trailer = append(trailer, E("Size", Int(u.next)), E("Root", root), E("Prev", Int(u.r.start)))
	if !info.IsZero() {
		trailer = append(trailer, E("Info", info))
	}
	// The first half stays, the second is that of this revision (14.4).
	second := Object(Hex(sum[:16]))
	first := second
	if ids, err := u.r.Resolve(u.r.trailer.Get("ID")); err != nil {
		return nil, err
	} else if list, ok := ids.(Array); ok && len(list) == 2 {
		first = list[0]
	}
	trailer = append(trailer, E("ID", Array{first, second}))

	nums := slices.AppendSeq(make([]uint32, 0, len(u.at)), maps.Keys(u.at))
	slices.Sort(nums)
	if stream {
		u.rows(self, nums, trailer)
	} else {
		u.table(nums, trailer)
	}
	u.buf = append(u.buf, "startxref\n"...)
	u.buf = append(AppendInt(u.buf, at), "\n%%EOF\n"...)
	return u.buf, nil
}

// runs calls f with the first of each run of numbers without a gap, and how many it has.
func runs(nums []uint32, f func(first uint32, count int)) {
	for i := 0; i < len(nums); {
		n := i + 1
		for n < len(nums) && nums[n] == nums[n-1]+1 {
			n++
		}
		f(nums[i], n-i)
		i = n
	}
}

// table writes a cross-reference table (7.5.4).
func (u *Update) table(nums []uint32, trailer Dict) {
	u.buf = append(u.buf, "xref\n"...)
	runs(nums, func(first uint32, count int) {
		u.buf = fmt.Appendf(u.buf, "%d %d\n", first, count)
		for i := range count {
			num := first + uint32(i)
			u.buf = fmt.Appendf(u.buf, "%010d %05d n\r\n", u.at[num].at, u.at[num].gen)
		}
	})
	u.buf = append(u.buf, "trailer\n"...)
	u.buf = append(trailer.AppendPDF(u.buf), '\n')
}

// rows writes a cross-reference stream (7.5.8), which lists itself.
func (u *Update) rows(self Ref, nums []uint32, trailer Dict) {
	width := (bits.Len64(uint64(u.at[self.Num].at)) + 7) / 8 //nolint:gosec // G115: an offset
	buf := append(AppendInt(u.buf, int64(self.Num)), " 0 obj\n<</Type/XRef/W[1 "...)
	buf = append(AppendInt(buf, int64(width)), " 2]/Index["...)
	space := false
	runs(nums, func(first uint32, count int) {
		if space {
			buf = append(buf, ' ')
		}
		buf, space = append(AppendInt(buf, int64(first)), ' '), true
		buf = AppendInt(buf, int64(count))
	})
	buf = append(trailer.appendEntries(append(buf, ']')), "/Length "...)
	buf = append(AppendInt(buf, int64((1+width+2)*len(nums))), ">>\nstream\n"...)
	for _, num := range nums {
		w := u.at[num]
		buf = append(buf, 1)
		for k := width - 1; k >= 0; k-- {
			buf = append(buf, byte(w.at>>(8*k))) //nolint:gosec // G115: one byte of the number
		}
		buf = binary.BigEndian.AppendUint16(buf, w.gen)
	}
	u.buf = append(buf, "\nendstream\nendobj\n"...)
}

// Repaired reports whether the cross-reference data was damaged and rebuilt from the objects of the
// file. Another reader may see another document in it.
func (r *Reader) Repaired() bool { return r.rebuilt }

// Place returns the position of an object: its offset or that of its object stream, and its index
// in that; ok is false for an object that is not in use.
func (r *Reader) Place(num uint32) (offset int64, index int, ok bool) {
	s, ok := r.spots[num]
	if !ok || !s.used {
		return 0, 0, false
	}
	if s.in != 0 {
		return r.spots[s.in].at, s.index, true
	}
	return s.at, -1, true
}

// RevisionAt returns the revision, from 1, whose cross-reference data follows an offset.
func (r *Reader) RevisionAt(offset int64) int {
	n := 1
	for _, at := range r.sections {
		if at < offset {
			n++
		}
	}
	return min(n, max(r.revisions, 1))
}
