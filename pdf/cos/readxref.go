package cos

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"example.com/quire/pdf/internal/diag"
)

// load reads the cross-reference sections, the newest first: what a newer one says of a number
// counts (ISO 32000-2, 7.5.4 to 7.5.8).
func (r *Reader) load() error {
	r.spots = map[uint32]spot{}
	tail := min(r.size, 2048)
	b, err := r.bytes(r.size-tail, tail)
	if err != nil {
		return err
	}
	i := bytes.LastIndex(b, []byte("startxref"))
	if i < 0 {
		return &ReadError{Offset: r.size - tail, Reason: "no startxref"}
	}
	p := parser{b: b, pos: i + len("startxref"), whole: true, depth: 1, m: &r.memory}
	o, err := p.object(1)
	if err != nil {
		return &ReadError{Offset: r.size - tail + int64(i), Reason: "startxref without an offset"}
	}
	at := intOr(o, -1)
	r.start = at
	seen := map[int64]bool{}
	for at >= 0 {
		if seen[at] {
			return &ReadError{Offset: at, Reason: "cross-reference sections that refer to each other in a circle"}
		}
		if seen[at] = true; len(seen) > r.opt.Limits.Revisions {
			return limitError("Revisions", int64(len(seen)), int64(r.opt.Limits.Revisions), fmt.Sprintf("offset %d", at))
		}
		trailer, err := r.section(at)
		if err != nil {
			return err
		}
		r.sections = append(r.sections, at)
		if r.revisions++; r.trailer == nil {
			r.trailer = trailer
		}
		prev, err := r.Resolve(trailer.Get("Prev"))
		if err != nil {
			return err
		}
		at = intOr(prev, -1)
	}
	return r.unlock()
}

// section reads a table or a stream of cross-reference data and returns its trailer.
func (r *Reader) section(at int64) (Dict, error) {
	at += r.base
	b, err := r.bytes(at, 64)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n\x00\f"), []byte("xref")) {
		return r.stream(at)
	}
	var rows []row
	var trailer Dict
	err = r.parse(at, r.size, func(p *parser) error {
		p.space()
		p.pos += len("xref")
		rows, p.refs = rows[:0], false
		for {
			o, err := p.object(1)
			if err != nil {
				return err
			}
			if o == keyword("trailer") {
				break
			}
			first := intOr(o, -1)
			if o, err = p.object(1); err != nil {
				return err
			}
			count := intOr(o, -1)
			if first < 0 || count < 0 || first > math.MaxUint32 {
				return syntaxError("an invalid cross-reference table")
			}
			for i := range count {
				var s row
				if s, err = p.row(); err != nil {
					return err
				}
				if s.num = first + i; len(rows) >= 2*r.opt.Limits.Objects {
					return limitError("Objects", int64(len(rows)), int64(r.opt.Limits.Objects), "")
				}
				rows = append(rows, s)
			}
		}
		p.refs = true
		o, err := p.object(1)
		trailer, _ = o.(Dict)
		if err == nil && trailer == nil {
			err = syntaxError("no trailer dictionary")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	// Some writers number the free object that heads the list 1 and all others one too high.
	if len(rows) > 1 && rows[0].num == 1 && !rows[0].used && rows[0].gen == math.MaxUint16 {
		r.warn(Ref{}, at, "a table that begins with 1 instead of 0")
		for i := range rows {
			rows[i].num--
		}
	}
	// The hidden objects of a hybrid file are free in its table (7.5.8.4).
	if err := r.enter(rows, true); err != nil {
		return nil, err
	}
	if hidden, ok := trailer.Get("XRefStm").(Int); ok {
		if _, err := r.stream(r.base + int64(hidden)); err != nil {
			return nil, err
		}
	}
	return trailer, r.enter(rows, false)
}

// row is an entry of a cross-reference table.
type row struct {
	num int64
	spot
}

// row reads one entry: an offset, a generation, n or f.
func (p *parser) row() (row, error) {
	var s row
	at, err := p.object(1)
	if err != nil {
		return s, err
	}
	gen, err := p.object(1)
	if err != nil {
		return s, err
	}
	kind, err := p.object(1)
	if err != nil {
		return s, err
	}
	s.at = intOr(at, -1)
	s.gen = uint16(intOr(gen, 0)) //nolint:gosec // G115: a generation has 16 bits
	s.used = kind == keyword("n") && s.at > 0
	if s.at < 0 || kind != keyword("n") && kind != keyword("f") {
		return s, syntaxError("an invalid cross-reference entry")
	}
	return s, nil
}

// enter enters the rows in use or the others, where nothing newer is known.
func (r *Reader) enter(rows []row, used bool) error {
	for _, s := range rows {
		if s.used == used {
			if err := r.set(s.num, s.spot); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Reader) set(num int64, s spot) error {
	if num < 1 || num > math.MaxUint32 {
		return nil
	}
	if _, ok := r.spots[uint32(num)]; ok {
		return nil
	}
	r.spots[uint32(num)] = s
	r.highest = max(r.highest, uint32(num))
	if len(r.spots) > r.opt.Limits.Objects {
		return limitError("Objects", int64(len(r.spots)), int64(r.opt.Limits.Objects), "")
	}
	return nil
}

// stream reads a cross-reference stream (7.5.8).
func (r *Reader) stream(at int64) (Dict, error) {
	_, o, err := r.at(at, 0)
	if err != nil {
		return nil, err
	}
	s, ok := o.(*Stream)
	if kind, _ := dictOf(o).Get("Type").(Name); !ok || kind != "XRef" {
		return nil, &ReadError{Offset: at, Reason: "no cross-reference data"}
	}
	if err := r.extent(s); err != nil {
		return nil, err
	}
	data, _, err := r.Decode(s)
	if err != nil {
		return nil, err
	}
	r.streams = true
	bad := &ReadError{Ref: s.Ref, Offset: at, Reason: "an invalid cross-reference stream"}
	var w [3]int
	widths, _ := s.Dict.Get("W").(Array)
	if len(widths) < 3 {
		return nil, bad
	}
	for i := range w {
		if w[i] = int(intOr(widths[i], -1)); w[i] < 0 || w[i] > 8 {
			return nil, bad
		}
	}
	long := w[0] + w[1] + w[2]
	index, ok := s.Dict.Get("Index").(Array)
	if !ok {
		index = Array{Int(0), s.Dict.Get("Size")}
	}
	if long == 0 {
		return nil, bad
	}
	for ; len(index) >= 2; index = index[2:] {
		first, count := intOr(index[0], -1), intOr(index[1], -1)
		if first < 0 || count < 0 || first > math.MaxUint32 {
			return nil, bad
		}
		for i := range count {
			if len(data) < long {
				break
			}
			kind, second, third := int64(1), field(data[w[0]:][:w[1]]), field(data[w[0]+w[1]:][:w[2]])
			if w[0] > 0 {
				kind = field(data[:w[0]])
			}
			data = data[long:]
			e := spot{}
			switch kind {
			case 1:
				e = spot{at: second, gen: uint16(third), used: true} //nolint:gosec // G115: a generation has 16 bits
			case 2:
				e = spot{in: uint32(second), index: int(third), used: second > 0 && second <= math.MaxUint32} //nolint:gosec // G115: used says so
			}
			if err := r.set(first+i, e); err != nil {
				return nil, err
			}
		}
	}
	return s.Dict, nil
}

func field(b []byte) (v int64) {
	for _, c := range b {
		v = v<<8 | int64(c)
	}
	return v
}

func dictOf(o Object) Dict {
	switch v := o.(type) {
	case Dict:
		return v
	case *Stream:
		return v.Dict
	}
	return nil
}

// unlock makes the cipher of an encrypted file.
func (r *Reader) unlock() error {
	enc := r.trailer.Get("Encrypt")
	if enc == nil || enc == Object(Null{}) {
		return nil
	}
	r.cipher = nil
	r.plain, _ = enc.(Ref)
	d, err := r.Dict(enc)
	if err != nil {
		return err
	}
	for i := range d {
		if d[i].Value, err = r.Resolve(d[i].Value); err != nil {
			return err
		}
	}
	if d == nil {
		return &ReadError{Ref: r.plain, Offset: -1, Reason: "no encryption dictionary"}
	}
	if r.opt.Unlock == nil {
		return ErrEncrypted
	}
	ids, err := r.Resolve(r.trailer.Get("ID"))
	if err != nil {
		return err
	}
	var id []byte
	if a, _ := ids.(Array); len(a) > 0 {
		if o, err := r.Resolve(a[0]); err == nil {
			id, _ = Bytes(o)
		}
	}
	r.cipher, err = r.opt.Unlock(d, id)
	return err
}

// Bytes returns the bytes of a string object that was read; ok is false for other objects.
func Bytes(o Object) (b []byte, ok bool) {
	switch v := o.(type) {
	case String:
		return []byte(v), true
	case *String:
		return []byte(*v), true
	case Hex:
		return []byte(v), true
	}
	return nil, false
}

// root checks that the file has a catalog with pages.
func (r *Reader) root() error {
	d, err := r.Dict(r.trailer.Get("Root"))
	if err != nil || d != nil && r.opt.Fields {
		return err
	}
	if pages, err := r.Dict(d.Get("Pages")); err != nil || pages == nil {
		return errors.Join(&ReadError{Offset: -1, Reason: "no catalog with pages"}, err)
	}
	return nil
}

// rebuild finds the objects by looking at the whole file. Of those with one number the last
// counts, in object streams too.
func (r *Reader) rebuild() error {
	r.rebuilt, r.base, r.revisions = true, 0, 1
	r.spots, r.packs = map[uint32]spot{}, map[uint32]*pack{}
	r.cipher = nil
	var trailers []Dict
	if err := r.scan(&trailers); err != nil {
		return err
	}
	old := r.trailer
	r.trailer = nil
	choose := func() {
		for _, d := range slices.Backward(trailers) {
			if root, ok := d.Get("Root").(Ref); ok && r.trailer == nil && !root.IsZero() {
				r.trailer = d
			}
		}
	}
	streams, catalog, err := r.survey(&trailers)
	if err != nil {
		return err
	}
	choose()
	if r.trailer == nil && old.Get("Root") != nil {
		r.trailer = old
	}
	if err := r.unlock(); err != nil {
		return err
	}
	for _, ref := range streams {
		p, err := r.unpack(ref.Num)
		if err != nil {
			if !repairable(err) {
				return err
			}
			r.warn(ref, -1, "an object stream that cannot be read")
			continue
		}
		r.packs[ref.Num] = p
		at := r.spots[ref.Num].at
		for i, num := range p.nums {
			if before, ok := r.spots[num]; num == 0 || ok && before.at > at {
				continue
			}
			r.spots[num] = spot{at: at, in: ref.Num, index: i, used: true}
			if r.trailer == nil {
				if o, err := r.Object(Ref{Num: num}); err == nil && dictOf(o).Get("Type") == Name("Catalog") {
					catalog = Ref{Num: num}
				}
			}
		}
		if err := diag.Check("Objects", int64(len(r.spots)), int64(r.opt.Limits.Objects), ""); err != nil {
			return err
		}
	}
	if r.trailer == nil {
		if catalog.IsZero() {
			return &ReadError{Offset: -1, Reason: "no catalog: what the file ends with may be missing"}
		}
		r.warn(catalog, -1, "no trailer: the last catalog is taken")
		r.trailer = Dict{E("Root", catalog)}
	}
	return nil
}

// scan enters every object of the file and gathers the trailers.
func (r *Reader) scan(trailers *[]Dict) error {
	const window, overlap = 256 << 10, 64
	for at := int64(0); at < r.size; at += window - overlap {
		b, err := r.bytes(at, window)
		if err != nil {
			return err
		}
		for i := range indexes(b, "obj") {
			start, num, gen, ok := headBefore(b[:i])
			if !ok {
				continue
			}
			r.spots[num] = spot{at: at + int64(start), gen: gen, used: true}
			if len(r.spots) > r.opt.Limits.Objects {
				return limitError("Objects", int64(len(r.spots)), int64(r.opt.Limits.Objects), "")
			}
		}
		for i := range indexes(b, "trailer") {
			if d := r.trailerAt(at + int64(i+len("trailer"))); d != nil && len(*trailers) < 2*r.opt.Limits.Revisions {
				*trailers = append(*trailers, d)
			}
		}
		if at+int64(len(b)) >= r.size {
			break
		}
	}
	return nil
}

// indexes returns where word stands in b.
func indexes(b []byte, word string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; from += len(word) {
			i := bytes.Index(b[from:], []byte(word))
			if from += i; i < 0 || !yield(from) {
				return
			}
		}
	}
}

// headBefore reads the "1 0 " before an "obj".
func headBefore(b []byte) (start int, num uint32, gen uint16, ok bool) {
	var v [2]int64
	i := len(b)
	for k := 1; k >= 0; k-- {
		end := i
		for i > 0 && charClass[b[i-1]] == classSpace {
			i--
		}
		if i == end {
			return 0, 0, 0, false
		}
		end = i
		for i > 0 && b[i-1] >= '0' && b[i-1] <= '9' {
			i--
		}
		if v[k], ok = digits(b[i:end]); !ok {
			return 0, 0, 0, false
		}
	}
	return i, uint32(v[0]), uint16(v[1]), v[0] > 0 && v[0] <= math.MaxUint32 && v[1] <= math.MaxUint16 //nolint:gosec // G115: ok says so
}

func (r *Reader) trailerAt(at int64) Dict {
	var d Dict
	err := r.parse(at, min(r.opt.Limits.ObjectBytes, 64<<10), func(p *parser) error {
		o, err := p.object(1)
		d, _ = o.(Dict)
		return err
	})
	if err != nil {
		return nil
	}
	return d
}

// survey looks at every object: it returns the object streams in the order of their places and
// the last catalog, and adds what cross-reference streams say as trailers.
func (r *Reader) survey(trailers *[]Dict) (streams []Ref, catalog Ref, err error) {
	refs := slices.Collect(r.Refs())
	slices.SortFunc(refs, func(a, b Ref) int { return int(r.spots[a.Num].at - r.spots[b.Num].at) })
	for _, ref := range refs {
		_, o, err := r.at(r.spots[ref.Num].at, ref.Num)
		if err != nil {
			if !repairable(err) {
				return nil, Ref{}, err
			}
			delete(r.spots, ref.Num)
			r.warn(ref, -1, "an object that cannot be read: "+err.Error())
			continue
		}
		switch d := dictOf(o); d.Get("Type") {
		case Name("ObjStm"):
			streams = append(streams, ref)
		case Name("XRef"):
			*trailers = append(*trailers, d)
		case Name("Catalog"):
			catalog = ref
		}
	}
	return streams, catalog, nil
}
