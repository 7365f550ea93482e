package cos

import (
	"encoding/binary"
	"slices"
)

// numbersRoom is what there is in front of the objects of the open object stream for their numbers
// and places, as many of them as there may be.
const numbersRoom = perObjectStream * 2 * len("4294967295 ")

// head is an object of the open object stream: its number and where it begins.
type head struct {
	num  uint32
	at   int
	like int // where an earlier one begins that begins alike, from 1; 0: there is none
}

// alikes is how many beginnings of objects are told apart, and alikeLen how long they are at most:
// of structure elements, which have no Type, eight bytes are enough, "<</S/TD/".
const (
	alikes   = 32
	alikeLen = 24
)

// typed is how an object begins that has a Type.
var typed = binary.LittleEndian.Uint64([]byte("<</Type/"))

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
	w.open(ref)
	from := uint32(len(w.body)) //nolint:gosec // G115: within an object stream
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
		w.room()
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

// open begins an object in the open object stream, whose number and place are known when it is
// closed.
func (w *Writer) open(ref Ref) {
	w.inUse++
	w.room()
	w.heads = append(w.heads, head{num: ref.Num, at: len(w.body)})
}

// room lets an object stream begin behind the room for its numbers.
func (w *Writer) room() {
	if len(w.body) == 0 {
		w.body = slices.Grow(w.body, numbersRoom)[:numbersRoom]
	}
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
	if len(w.heads) < perObjectStream && len(w.body)-numbersRoom < objectStreamBytes {
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
	x := binary.LittleEndian.Uint64(b)
	if x == typed {
		x += 3*binary.LittleEndian.Uint64(b[8:]) + 5*binary.LittleEndian.Uint64(b[16:])
	}
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
	numbers, repeats := w.objs[:0], w.repeats[:0]
	before := 0
	for i := range w.heads {
		h := &w.heads[i]
		w.xref.set(h.num, entryIn(ref.Num, i))
		at := len(numbers)
		if i > 0 {
			repeats = append(repeats, Repeat{uint32(at), uint32(before)}) //nolint:gosec // G115: within an object stream
		}
		before = at
		numbers = AppendInt(numbers, int64(h.num))
		numbers = append(numbers, ' ')
		numbers = AppendInt(numbers, int64(h.at-numbersRoom))
		numbers = append(numbers, ' ')
	}
	first := len(numbers)
	unused := uint32(numbersRoom - first) //nolint:gosec // G115: as above
	data := w.body[unused:]
	copy(data, numbers)
	told := w.told
	for i := range w.heads {
		h := &w.heads[i]
		for ; len(told) > 0 && int(told[0].At) < h.at; told = told[1:] {
			repeats = append(repeats, Repeat{told[0].At - unused, told[0].Of - unused})
		}
		if h.like > 0 {
			repeats = append(repeats, Repeat{uint32(h.at) - unused, uint32(h.like-1) - unused}) //nolint:gosec // G115: as above
		}
	}
	for _, r := range told {
		repeats = append(repeats, Repeat{r.At - unused, r.Of - unused})
	}
	w.objs, w.repeats = numbers, repeats
	n := len(w.heads)
	w.heads, w.body, w.told = w.heads[:0], kept(w.body), kept(w.told)
	clear(w.alike[:])
	a := &w.arena
	dict := append(a.Entries(3), E("Type", Name("ObjStm")), E("N", a.Int(n)), E("First", a.Int(first)))
	return w.streamOf(w.objects, ref, dict, data, repeats)
}
