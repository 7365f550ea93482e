package cos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"example.com/quire/pdf/internal/diag"
)

// ReadLimits bounds what a [Reader] may take; exceeding one is a [diag.LimitError] with the field's
// name, before the memory is allocated. Zero fields mean the default in parentheses.
type ReadLimits struct {
	FileBytes    int64 // size of the file (64 MiB)
	ObjectBytes  int64 // text of one object, its stream aside (8 MiB)
	StreamBytes  int64 // one stream, after each of its filters (64 MiB)
	DecodedBytes int64 // all streams decoded, each counted once (256 MiB)
	Objects      int   // object numbers (500,000)
	Filters      int   // filters of one stream (4)
	Depth        int   // nesting of arrays and dictionaries, chains of references (100)
	Revisions    int   // cross-reference sections (64)
}

func (l ReadLimits) withDefaults() ReadLimits {
	const mib = 1 << 20
	for p, d := range map[*int64]int64{&l.FileBytes: 64 * mib, &l.ObjectBytes: 8 * mib, &l.StreamBytes: 64 * mib, &l.DecodedBytes: 256 * mib} {
		if *p <= 0 {
			*p = d
		}
	}
	for p, d := range map[*int]int{&l.Objects: 500_000, &l.Filters: 4, &l.Depth: 100, &l.Revisions: 64} {
		if *p <= 0 {
			*p = d
		}
	}
	return l
}

// ReaderOptions configures a [Reader]; the zero value reads plain files and repairs damaged ones.
type ReaderOptions struct {
	Limits ReadLimits
	// Unlock returns what decrypts a file, given its encryption dictionary and the first half of
	// its identifier; nil: encrypted files are refused with ErrEncrypted.
	Unlock func(encrypt Dict, id []byte) (Decrypter, error)
	// Strict refuses a damaged file instead of repairing it.
	Strict bool
	// Fields says that the file is one of form fields, FDF (12.7.8): it has a catalog, but no
	// pages, and need not have cross-reference data.
	Fields bool
}

// Decrypter decrypts strings and streams by the number and generation of their object. filter is
// the name of a stream's own crypt filter, empty for the file's default.
type Decrypter interface {
	DecryptString(num uint32, gen uint16, data []byte) ([]byte, error)
	DecryptStream(num uint32, gen uint16, filter string, data []byte) ([]byte, error)
}

// ErrEncrypted is the error of an encrypted file for which no Unlock was given.
var ErrEncrypted = errors.New("cos: read: the file is encrypted")

// ReadError is damage that could not be repaired. errors.Is finds [diag.ErrDamaged] in it.
type ReadError struct {
	Ref    Ref   // zero: no object
	Offset int64 // in the file; -1: not known
	Reason string
	// NotPDF says that this is not a damaged PDF: it is empty, or of another type.
	NotPDF bool
}

// Error implements error.
func (e *ReadError) Error() string { return "cos: read" + place(e.Ref, e.Offset) + ": " + e.Reason }

// Is reports that the error is a diag.ErrDamaged.
func (e *ReadError) Is(target error) bool { return target == diag.ErrDamaged }

func place(r Ref, offset int64) string {
	s := ""
	if !r.IsZero() {
		s = fmt.Sprintf(" object %d", r.Num)
	}
	if offset >= 0 {
		s += fmt.Sprintf(" at offset %d", offset)
	}
	return s
}

// Warning is damage that was repaired or overlooked.
type Warning struct {
	Ref     Ref   // zero: no object
	Offset  int64 // in the file; -1: not known
	Message string
}

// String returns the warning on one line.
func (w Warning) String() string {
	return strings.TrimPrefix(place(w.Ref, w.Offset)+": ", " ") + w.Message
}

// mostWarnings bounds what a Reader keeps of them.
const mostWarnings = 100

// Stream is a stream of a file that is read: its dictionary, and where its data lies. As an
// [Object] it prints its dictionary.
type Stream struct {
	Dict Dict
	Ref  Ref

	at, size int64
}

// Size is how many bytes of the file its data takes.
func (s *Stream) Size() int64 { return s.size }

// AppendPDF implements [Object].
func (s *Stream) AppendPDF(dst []byte) []byte { return s.Dict.AppendPDF(dst) }

// spot is where an object lies: at an offset, or as one of an object stream.
type spot struct {
	at    int64 // of the object stream, where stream is set by a repair
	in    uint32
	index int
	gen   uint16
	used  bool
}

// Reader reads a PDF file (ISO 32000-2, 7.5), object by object on demand: objects in tables,
// streams and both, in all revisions of the file, encrypted or not. Decoded object streams are
// cached, within DecodedBytes; nothing else is. A Reader is not safe for concurrent use.
//
// A damaged file is repaired: it is searched for objects from the beginning, and the last object of
// each number counts. Warnings lists the defects.
type Reader struct {
	file io.ReaderAt
	size int64
	opt  ReaderOptions
	base int64 // what stands before the header: offsets count from it

	version   string
	trailer   Dict
	spots     map[uint32]spot
	highest   uint32 // of the numbers that the cross-reference data lists
	streams   bool   // there are cross-reference streams
	revisions int
	sections  []int64 // where their cross-reference data begins
	start     int64   // the newest of them, as startxref has it
	rebuilt   bool

	cipher  Decrypter
	plain   Ref // the encryption dictionary
	packs   map[uint32]*pack
	decoded int64
	counted map[int64]bool // offsets of what was counted
	deep    int            // calls of Object within Object
	memory  memory
	warned  []Warning
}

// pack is a decoded object stream.
type pack struct {
	data []byte
	nums []uint32
	offs []int
}

// NewReader reads the cross-reference data of the file of size bytes in r. Its errors are
// [*ReadError], [*diag.LimitError], ErrEncrypted, those of Unlock and those of r.
func NewReader(r io.ReaderAt, size int64, o ReaderOptions) (*Reader, error) {
	o.Limits = o.Limits.withDefaults()
	if err := diag.Check("FileBytes", size, o.Limits.FileBytes, ""); err != nil {
		return nil, err
	}
	if size == 0 {
		return nil, &ReadError{Offset: 0, Reason: "the file is empty", NotPDF: true}
	}
	f := &Reader{file: r, size: size, opt: o, packs: map[uint32]*pack{}, counted: map[int64]bool{}}
	if err := f.header(); err != nil {
		return nil, err
	}
	err := f.load()
	if err == nil {
		err = f.root()
	}
	if err != nil && !o.Strict && repairable(err) {
		f.warn(Ref{}, -1, "the cross-reference data is damaged: "+strings.TrimLeft(strings.TrimPrefix(err.Error(), "cos: read"), ": "))
		if err = f.rebuild(); err == nil {
			err = f.root()
		}
		if len(f.spots) == 0 && f.version == "" && repairable(err) {
			err = &ReadError{Offset: 0, Reason: "this is no " + f.kind() + " file: it has no %" + f.kind() + "- at its beginning and no objects", NotPDF: true}
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func repairable(err error) bool { return errors.Is(err, diag.ErrDamaged) }

// Trailer returns the trailer dictionary of the newest revision.
func (r *Reader) Trailer() Dict { return r.trailer }

// Version returns the version that the header names, such as "1.7".
func (r *Reader) Version() string { return r.version }

// Revisions returns how often the file was written: once, and once more per incremental update.
// A repaired file has one.
func (r *Reader) Revisions() int { return r.revisions }

// Streams reports whether cross-reference data of the file are in streams.
func (r *Reader) Streams() bool { return r.streams }

// Encrypted reports whether the file is encrypted.
func (r *Reader) Encrypted() bool { return r.cipher != nil }

// Warnings returns the defects found so far, at most 100.
func (r *Reader) Warnings() []Warning { return r.warned }

// Refs returns the objects in use, in the order of their numbers.
func (r *Reader) Refs() iter.Seq[Ref] {
	return func(yield func(Ref) bool) {
		for _, n := range slices.Sorted(maps.Keys(r.spots)) {
			if s := r.spots[n]; s.used && !yield(Ref{Num: n, Gen: s.gen}) {
				return
			}
		}
	}
}

func (r *Reader) warn(ref Ref, at int64, message string) {
	w := Warning{ref, at, message}
	if len(r.warned) < mostWarnings && !slices.Contains(r.warned, w) {
		r.warned = append(r.warned, w)
	}
}

// bytes reads n bytes at an offset, fewer at the end of the file.
func (r *Reader) bytes(at, n int64) ([]byte, error) { return r.bytesInto(nil, at, n) }

// bytesInto is bytes, in the memory of buf where that is large enough.
func (r *Reader) bytesInto(buf []byte, at, n int64) ([]byte, error) {
	if at < 0 || at >= r.size {
		return nil, &ReadError{Offset: at, Reason: "an offset outside the file"}
	}
	n = min(n, r.size-at)
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	b := buf[:n]
	if got, err := r.file.ReadAt(b, at); got < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("cos: read at offset %d: %w", at, err)
	}
	return b, nil
}

// header finds the version and what stands before it.
func (r *Reader) header() error {
	b, err := r.bytes(0, 1024)
	if err != nil {
		return err
	}
	i := bytes.Index(b, []byte("%"+r.kind()+"-"))
	if i < 0 {
		if r.opt.Strict {
			return &ReadError{Offset: 0, Reason: "no header"}
		}
		r.warn(Ref{}, 0, "no header")
		return nil
	}
	if r.base = int64(i); i > 0 {
		r.warn(Ref{}, 0, "bytes before the header")
	}
	v := b[i+5:]
	n := 0
	for n < len(v) && n < 8 && (v[n] == '.' || v[n] >= '0' && v[n] <= '9') {
		n++
	}
	r.version = string(v[:n])
	return nil
}

// kind is what the header calls files of the kind that is read.
func (r *Reader) kind() string {
	if r.opt.Fields {
		return "FDF"
	}
	return "PDF"
}

// parse calls f with a parser of what stands at an offset, again with more as long as f needs
// it, but with no more than most bytes.
func (r *Reader) parse(at, most int64, f func(*parser) error) error {
	const few = 4 << 10
	for n := int64(few); ; n *= 4 {
		n = min(n, most)
		if n > few && !r.counted[at] { // once for each place: many may not lead to one long text
			if err := r.count(n); err != nil {
				return err
			}
		}
		text := r.memory.text
		r.memory.text = nil
		if text == nil {
			text = make([]byte, few) // also where the file ends before that, for what is read next
		}
		b, err := r.bytesInto(text, at, n)
		if err != nil {
			return err
		}
		p := &parser{b: b, whole: at+int64(len(b)) >= r.size, refs: true, depth: r.opt.Limits.Depth, m: &r.memory}
		err = f(p)
		if cap(b) <= keptText {
			r.memory.text = b
		}
		switch {
		case err == nil:
			if n > few {
				r.counted[at] = true
			}
			return nil
		case !errors.Is(err, errMore):
			if s, ok := errors.AsType[syntaxError](err); ok {
				return &ReadError{Offset: at + int64(p.pos), Reason: string(s)}
			}
			return err
		case n == most:
			return limitError("ObjectBytes", n+1, n, fmt.Sprintf("offset %d", at))
		}
	}
}

// Within returns the limits for a file that is embedded in this one: what remains of this file's.
// Spent subtracts what it has used.
func (r *Reader) Within() ReadLimits {
	l := r.opt.Limits
	l.DecodedBytes = max(l.DecodedBytes-r.decoded, 1)
	return l
}

// Spent counts the bytes that an embedded file has decoded as decoded by this one.
func (r *Reader) Spent(inner *Reader) error { return r.count(inner.decoded) }

// Repeated counts n bytes of a stream that is used again without being decoded again, because a
// file may repeat it any number of times.
func (r *Reader) Repeated(n int64) error { return r.count(n) }

// count takes n bytes off what may be decoded.
func (r *Reader) count(n int64) error {
	r.decoded += n
	return diag.Check("DecodedBytes", r.decoded, r.opt.Limits.DecodedBytes, "")
}

// at reads the object at an offset, which must have the number num unless that is 0.
func (r *Reader) at(offset int64, num uint32) (Ref, Object, error) {
	var ref Ref
	var out Object
	err := r.parse(offset, r.opt.Limits.ObjectBytes, func(p *parser) error {
		n, g, err := p.head()
		if err != nil {
			return err
		}
		ref = Ref{n, g}
		if num != 0 && n != num {
			return syntaxError(fmt.Sprintf("object %d where %d should be", n, num))
		}
		if out, err = p.object(1); err != nil {
			return err
		}
		if k, ok := out.(keyword); ok {
			if k != "endobj" {
				return syntaxError("no object")
			}
			out = Null{}
			return nil
		}
		d, ok := out.(Dict)
		if !p.space() && !p.whole {
			return errMore
		}
		if ok && len(p.b)-p.pos < len("stream\r\n") && !p.whole {
			return errMore
		}
		if ok && bytes.HasPrefix(p.b[p.pos:], []byte("stream")) {
			p.pos += len("stream")
			if rest := p.b[p.pos:]; bytes.HasPrefix(rest, []byte("\r\n")) {
				p.pos += 2
			} else if len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r') {
				p.pos++
			}
			out = &Stream{Dict: d, Ref: ref, at: offset + int64(p.pos), size: -1}
		} else if !bytes.HasPrefix(p.b[p.pos:], []byte("endobj")) {
			p.oddity("an object without endobj")
		}
		if p.odd != "" {
			r.warn(ref, offset, p.odd)
		}
		return nil
	})
	if damage, ok := errors.AsType[*ReadError](err); ok {
		damage.Ref = Ref{Num: num}
	}
	return ref, out, err
}

// head reads "1 0 obj".
func (p *parser) head() (num uint32, gen uint16, err error) {
	var v [2]int64
	for i := range v {
		if !p.space() {
			return 0, 0, p.end("an object")
		}
		t, err := p.regular()
		if err != nil {
			return 0, 0, err
		}
		n, ok := digits(t)
		if !ok || n > 1<<32-1 {
			return 0, 0, syntaxError("no object")
		}
		v[i] = n
	}
	if !p.space() {
		return 0, 0, p.end("an object")
	}
	if !bytes.HasPrefix(p.b[p.pos:], []byte("obj")) {
		if len(p.b)-p.pos < 3 && !p.whole {
			return 0, 0, errMore
		}
		return 0, 0, syntaxError("no object")
	}
	p.pos += 3                             // what follows may stand close: "1 0 obj<<"
	return uint32(v[0]), uint16(v[1]), nil //nolint:gosec // G115: the number is bounded, a generation beyond 65,535 means nothing
}

// Object returns the object that ref refers to, or Null (7.3.10); a stream as [*Stream]. Strings
// are decrypted.
func (r *Reader) Object(ref Ref) (Object, error) {
	s, ok := r.spots[ref.Num]
	if !ok || !s.used {
		return Null{}, nil
	}
	if r.deep++; r.deep > r.opt.Limits.Depth {
		r.deep--
		return nil, limitError("Depth", int64(r.deep)+1, int64(r.opt.Limits.Depth), place(ref, -1))
	}
	defer func() { r.deep-- }()
	if s.in != 0 {
		return r.packed(ref, s)
	}
	got, o, err := r.at(r.base+s.at, ref.Num)
	if err != nil {
		if !repairable(err) || r.rebuilt || r.opt.Strict {
			return nil, err
		}
		r.warn(ref, r.base+s.at, "not where the cross-reference data says")
		if err := r.rebuild(); err != nil {
			return nil, err
		}
		return r.Object(ref)
	}
	if got.Gen != s.gen && !r.rebuilt {
		r.warn(ref, r.base+s.at, "not of the generation that the cross-reference data says")
	}
	if st, ok := o.(*Stream); ok {
		if err := r.extent(st); err != nil {
			return nil, err
		}
	}
	if r.cipher == nil || got.Num == r.plain.Num {
		return o, nil
	}
	return r.opened(got, o)
}

// Resolve follows references from o to the object.
func (r *Reader) Resolve(o Object) (Object, error) {
	for range r.opt.Limits.Depth {
		ref, ok := o.(Ref)
		if !ok {
			return o, nil
		}
		var err error
		if o, err = r.Object(ref); err != nil {
			return nil, err
		}
	}
	return nil, limitError("Depth", int64(r.opt.Limits.Depth)+1, int64(r.opt.Limits.Depth), "a chain of references")
}

// Dict is Resolve for a dictionary or the dictionary of a stream; nil for anything else.
func (r *Reader) Dict(o Object) (Dict, error) {
	o, err := r.Resolve(o)
	switch v := o.(type) {
	case Dict:
		return v, err
	case *Stream:
		return v.Dict, err
	}
	return nil, err
}

// extent sets the size of a stream: its Length when endstream stands there, or endobj where the
// former is missing, else as far as endstream.
func (r *Reader) extent(s *Stream) error {
	o, err := r.Resolve(s.Dict.Get("Length"))
	if err != nil && !repairable(err) {
		return err
	}
	if n, ok := o.(Int); ok && n >= 0 && int64(n) <= r.size-s.at {
		s.size = int64(n)
		if int64(n) == r.size-s.at {
			r.warn(s.Ref, s.at, "a stream without endstream")
			return nil
		}
		b, err := r.bytesInto(r.memory.tail[:], s.at+s.size, int64(len(r.memory.tail)))
		if err != nil {
			return err
		}
		b = bytes.TrimLeft(b, " \t\r\n\x00")
		if bytes.HasPrefix(b, []byte("endstream")) {
			return nil
		}
		if !r.opt.Strict && bytes.HasPrefix(b, []byte("endobj")) { // the next endstream is that of another
			r.warn(s.Ref, s.at, "a stream without endstream")
			return nil
		}
	}
	if r.opt.Strict {
		return &ReadError{Ref: s.Ref, Offset: s.at, Reason: "a stream with a wrong Length"}
	}
	r.warn(s.Ref, s.at, "a stream with a wrong Length")
	end, err := r.find(s.at, "endstream")
	if err != nil {
		return err
	}
	if end < 0 {
		end = r.size
	}
	s.size = end - s.at
	tail, err := r.bytes(max(end-2, 0), min(2, s.size))
	if s.size < 2 || err != nil {
		return nil //nolint:nilerr // an empty stream has no line end
	}
	switch { // the line end before endstream is not of the data (7.3.8.1)
	case string(tail) == "\r\n":
		s.size -= 2
	case tail[1] == '\n' || tail[1] == '\r':
		s.size--
	}
	return nil
}

// find returns the offset of a word from at on, -1 when it does not come.
func (r *Reader) find(at int64, word string) (int64, error) {
	const window = 64 << 10
	for at < r.size {
		b, err := r.bytes(at, window)
		if err != nil {
			return 0, err
		}
		if i := bytes.Index(b, []byte(word)); i >= 0 {
			return at + int64(i), nil
		}
		if len(b) < window {
			break
		}
		at += window - int64(len(word))
		if err := r.count(int64(len(b)) / 16); err != nil { // many streams may not share one far end
			return 0, err
		}
	}
	return -1, nil
}

// packed returns an object of an object stream (7.5.7).
func (r *Reader) packed(ref Ref, s spot) (Object, error) {
	p := r.packs[s.in]
	if p == nil {
		var err error
		if p, err = r.unpack(s.in); err != nil {
			return nil, err
		}
		r.packs[s.in] = p
	}
	i := s.index
	if i < 0 || i >= len(p.nums) || p.nums[i] != ref.Num {
		if i = slices.Index(p.nums, ref.Num); i < 0 {
			r.warn(ref, -1, fmt.Sprintf("not in the object stream %d", s.in))
			return Null{}, nil
		}
	}
	q := parser{b: p.data, pos: p.offs[i], whole: true, refs: true, depth: r.opt.Limits.Depth, m: &r.memory}
	if int64(len(q.b)-q.pos) > r.opt.Limits.ObjectBytes {
		q.b = q.b[:q.pos+int(r.opt.Limits.ObjectBytes)]
	}
	o, err := q.object(1)
	key := -1 - (int64(s.in)<<24 | int64(i))
	if long := int64(q.pos - p.offs[i]); long > 4<<10 && !r.counted[key] {
		r.counted[key] = true // many objects may not lie in one long text
		if err := r.count(long); err != nil {
			return nil, err
		}
	}
	if q.odd != "" {
		r.warn(ref, -1, q.odd)
	}
	if bad, ok := errors.AsType[syntaxError](err); ok {
		return nil, &ReadError{Ref: ref, Offset: -1, Reason: string(bad)}
	}
	if _, ok := o.(keyword); ok {
		return Null{}, nil
	}
	return o, err
}

// unpack decodes an object stream and reads its table.
func (r *Reader) unpack(num uint32) (*pack, error) {
	if s := r.spots[num]; s.in != 0 {
		return nil, &ReadError{Ref: Ref{Num: num}, Offset: -1, Reason: "an object stream within another"}
	}
	o, err := r.Object(Ref{Num: num})
	if err != nil {
		return nil, err
	}
	s, ok := o.(*Stream)
	if !ok {
		return nil, &ReadError{Ref: Ref{Num: num}, Offset: -1, Reason: "an invalid object stream"}
	}
	data, rest, err := r.Decode(s)
	if err != nil {
		return nil, err
	}
	n, errN := r.Resolve(s.Dict.Get("N"))
	first, errFirst := r.Resolve(s.Dict.Get("First"))
	count, start := intOr(n, -1), intOr(first, -1)
	if err = errors.Join(errN, errFirst); err != nil {
		return nil, err
	}
	if len(rest) > 0 || count < 0 || start < 0 || start > int64(len(data)) || count > start {
		return nil, &ReadError{Ref: s.Ref, Offset: s.at, Reason: "an object stream whose N or First cannot be"}
	}
	p := &pack{data: data}
	q := parser{b: data[:start], whole: true, depth: 1, m: &r.memory}
	for range count {
		if !q.space() {
			break
		}
		a, _ := q.object(1) // what is no integer makes an entry that cannot be
		b, _ := q.object(1)
		num, at := intOr(a, -1), intOr(b, -1)
		if num < 1 || num > 1<<32-1 || at < 0 || at > int64(len(data))-start {
			r.warn(s.Ref, s.at, "an object stream with an entry that cannot be")
			num, at = 0, 0
		}
		p.nums, p.offs = append(p.nums, uint32(num)), append(p.offs, int(start+at))
	}
	return p, nil
}

// opened returns an object with its strings decrypted.
func (r *Reader) opened(ref Ref, o Object) (Object, error) {
	var err error
	open := func(s string) string {
		if err != nil {
			return ""
		}
		var b []byte
		b, err = r.cipher.DecryptString(ref.Num, ref.Gen, []byte(s))
		return string(b)
	}
	var walk func(Object) Object
	walk = func(o Object) Object {
		switch v := o.(type) {
		case String:
			return String(open(string(v)))
		case Hex:
			return Hex(open(string(v)))
		case Array:
			for i := range v {
				v[i] = walk(v[i])
			}
		case Dict:
			for i := range v {
				v[i].Value = walk(v[i].Value)
			}
		}
		return o
	}
	if s, ok := o.(*Stream); ok {
		if name, _ := s.Dict.Get("Type").(Name); name != "XRef" {
			walk(s.Dict)
		}
	} else {
		o = walk(o)
	}
	if err != nil {
		return nil, &ReadError{Ref: ref, Offset: -1, Reason: err.Error()}
	}
	return o, nil
}
