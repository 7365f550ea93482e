package edit

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
)

// WriteOptions say how a Draft is written.
type WriteOptions struct {
	Encrypt  *cos.Encryption // nil: plain
	Deflater cos.Deflater
	Bytes    int64 // most bytes of the file; 0: 512 MiB
	// Progress is told after each object how many are written and how many are known by now.
	Progress func(done, known int)
}

// Write writes what the catalog of a draft leads to as a file of its own: what nothing refers to
// stays behind, streams are copied as they are encoded, and all else goes into object streams. The
// file is of PDF 2.0 when one of the documents is that its pages are of, or when it is encrypted;
// else of 1.7, or of 1.4 when it claims PDF/A-1.
func (e *Draft) Write(ctx context.Context, w io.Writer, o WriteOptions) (cos.Summary, error) {
	version := cos.V17
	switch {
	case e.version >= "2" || o.Encrypt != nil: // AES-256 is not of 1.7
		version = cos.V20
	case e.Part1():
		version = cos.V14
	}
	// The limits of PDF/A are for files that claim it: others may hold what they held.
	file := cos.NewWriter(w, cos.Options{
		Version: version, Deflater: o.Deflater, Encrypt: o.Encrypt, Checksum: true,
		Limits: cos.Limits{OutputBytes: o.Bytes, Objects: 1 << 30, StringBytes: 1 << 30, NameBytes: 1 << 16, Depth: 1 << 10, ArrayLen: math.MaxInt, DictLen: math.MaxInt, Real: math.MaxInt64},
	})
	if b, ok := w.(*bytes.Buffer); ok {
		b.Grow(int(min(e.expected(), mostExpected)))
	}
	if e.base.miscounted || e.base.circular {
		e.pageTree()
	}
	c := copier{e: e, to: map[uint32]cos.Ref{}, w: file, deflater: o.Deflater}
	e.change("Version", nil)
	root, info := c.ref(e.root), cos.Ref{}
	if !e.info.IsZero() {
		info = c.ref(e.info)
	}
	for i := 0; i < len(c.queue); i++ {
		if err := ctx.Err(); err != nil {
			return cos.Summary{}, err
		}
		if err := c.copy(c.queue[i]); err != nil {
			return cos.Summary{}, err
		}
		if o.Progress != nil {
			o.Progress(i+1, len(c.queue))
		}
	}
	return file.Close(cos.Trailer{Root: root, Info: info})
}

// mostExpected bounds the memory that is taken before anything is written.
const mostExpected = 64 << 20

// expected is about how long the file will be.
func (e *Draft) expected() int64 {
	size, pages := e.base.Size, len(e.base.Pages)
	for _, d := range e.more {
		size, pages = size+d.base.Size, pages+len(d.base.Pages)
	}
	if len(e.pages) < pages { // it has a part of them
		return 0
	}
	return size + size/32
}

// Part1 reports whether the metadata claim part 1 of PDF/A, which is of PDF 1.4.
func (e *Draft) Part1() bool {
	return slices.ContainsFunc(e.Claims(), func(claim string) bool { return strings.HasPrefix(claim, "pdf/a-1") })
}

// sink takes objects: a file of its own, or an update of one.
type sink interface {
	Reserve() cos.Ref
	Put(cos.Ref, cos.Object) error
	Stream(ref cos.Ref, dict cos.Dict, data []byte) error
	EncodedStream(ref cos.Ref, dict cos.Dict, filter cos.Name, data []byte) error
	CopyStream(ref cos.Ref, dict cos.Dict, data []byte) error
	CopyStreamFrom(ref cos.Ref, dict cos.Dict, data io.Reader, size int64) error
}

// copier writes the objects of a draft, each once.
type copier struct {
	e     *Draft
	w     sink
	to    map[uint32]cos.Ref
	queue []cos.Ref
	keeps bool // the objects of the document stay where they are, under their numbers
	buf   []byte

	deflater cos.Deflater // for a draft that compresses
}

// ref returns the number that an object has in the file.
func (c *copier) ref(r cos.Ref) cos.Ref {
	for as, equal := c.e.same[r.Num]; equal; as, equal = c.e.same[r.Num] {
		r = cos.Ref{Num: as}
	}
	if c.keeps && r.Num < span {
		return r
	}
	to, ok := c.to[r.Num]
	if !ok {
		to = c.w.Reserve()
		c.to[r.Num] = to
		c.queue = append(c.queue, r)
	}
	return to
}

func (c *copier) copy(r cos.Ref) error {
	to := c.to[r.Num]
	o := c.e.object(r)
	if c.e.err != nil {
		return c.e.err
	}
	s, ok := o.(*stream)
	if !ok {
		return c.w.Put(to, c.object(o))
	}
	if s.in == nil {
		dict, _ := c.object(s.dict).(cos.Dict)
		if name, _ := s.dict.Get("Type").(cos.Name); name == "Metadata" {
			return c.w.EncodedStream(to, dict, "", s.data) // found without a reader of PDF
		}
		if s.filter != "" {
			return c.w.EncodedStream(to, dict, s.filter, s.data)
		}
		return c.w.Stream(to, dict, s.data)
	}
	compress := c.e.compress && s.dict.Get("Filter") == nil && s.dict.Get("F") == nil && c.e.name(s.dict.Get("Type")) != "Metadata"
	if size := s.in.Size(); size >= longStream && !s.from.Encrypted() {
		data, err := s.from.RawReader(s.in)
		asItIs := !compress
		if compress && err == nil {
			asItIs, err = cos.Incompressible(c.deflater, data, size, cos.LevelDefault)
		}
		if err != nil {
			return err
		}
		if asItIs {
			return c.w.CopyStreamFrom(to, c.copied(s.dict), data, size)
		}
	}
	data, err := s.from.RawInto(c.buf, s.in)
	if err != nil {
		return err
	}
	c.buf = data[:0]
	dict := c.copied(s.dict)
	if compress {
		return c.w.Stream(to, dict, data)
	}
	return c.w.CopyStream(to, dict, data)
}

// longStream is from how many bytes on a stream is copied in pieces.
const longStream = 64 << 10

// copied returns the dictionary of a stream that is copied as it is in the file.
func (c *copier) copied(d cos.Dict) cos.Dict {
	d, _ = c.object(c.e.uncrypted(with(d, "Length", nil))).(cos.Dict)
	return d
}

// object returns an object as it is in the file: the same one where nothing of it changes.
func (c *copier) object(o cos.Object) cos.Object {
	if to, other := c.changed(o); other {
		return to
	}
	return o
}

// changed returns what an object is in the file where that is another one: references have other
// numbers, and what no file can hold goes.
func (c *copier) changed(o cos.Object) (to cos.Object, other bool) {
	switch v := o.(type) {
	case nil:
		return cos.Null{}, true
	case cos.Ref:
		if over, ok := c.e.over[v.Num]; ok {
			if _, null := over.(cos.Null); null {
				return over, true
			}
		}
		if v.IsZero() {
			return cos.Null{}, true
		}
		if r := c.ref(v); r != v {
			return r, true
		}
	case cos.Array:
		var out cos.Array
		for i, x := range v {
			if to, other := c.changed(x); other {
				if out == nil {
					out = slices.Clone(v)
				}
				out[i] = to
			}
		}
		return out, out != nil
	case cos.Dict:
		var out cos.Dict
		for i, x := range v {
			// Names that nothing can print cannot be meant by anything either (7.3.5).
			gone := x.Value == nil || strings.IndexByte(string(x.Key), 0) >= 0
			to, other := x.Value, false
			if !gone {
				if to, other = c.changed(x.Value); !other {
					to = x.Value
				}
			}
			if out == nil && (gone || other) {
				out = append(make(cos.Dict, 0, len(v)), v[:i]...)
			}
			if out != nil && !gone {
				out = append(out, cos.E(x.Key, to))
			}
		}
		return out, out != nil
	case cos.Name:
		if strings.IndexByte(string(v), 0) >= 0 {
			return cos.Name(strings.ReplaceAll(string(v), "\x00", "")), true
		}
	}
	return nil, false
}

// uncrypted returns the dictionary of a stream whose data was decrypted without its Crypt filter.
func (e *Draft) uncrypted(d cos.Dict) cos.Dict {
	filter := e.resolve(d.Get("Filter"))
	if filter == cos.Object(cos.Name("Crypt")) {
		return with(with(d, "Filter", nil), "DecodeParms", nil)
	}
	list, _ := filter.(cos.Array)
	if len(list) == 0 || e.name(list[0]) != "Crypt" { // it is the first one (7.4.10)
		return d
	}
	d = with(d, "Filter", list[1:])
	if parms := e.array(d.Get("DecodeParms")); len(parms) > 0 {
		d = with(d, "DecodeParms", parms[1:])
	}
	return d
}
