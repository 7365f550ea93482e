package cos

import (
	"bytes"
	"errors"
	"maps"
	"slices"
)

// Part is a part of file syntax for which ISO 19005 has a clause.
type Part int

// Parts of the syntax, in the order of the clauses of ISO 19005-2, 6.1.
const (
	PartHeader  Part = iota // 6.1.2
	PartEnd                 // 6.1.3
	PartTable               // 6.1.4: cross-reference tables
	PartString              // 6.1.6: strings in hexadecimal digits
	PartStream              // 6.1.7.1: how long streams are
	PartKeyword             // 6.1.7.1: white space around stream and endstream
	PartObject              // 6.1.9: white space around object number and endobj
)

// Misspelling is a place where a file is written in a way that archives do not take (ISO 19005-2,
// 6.1), though readers do.
type Misspelling struct {
	Part    Part
	Ref     Ref // zero: of no object
	Message string
}

// Misspellings calls f with the positions of syntax that PDF/A does not allow, the first of each
// object. It reads every object once more. A repaired file has none: its warnings describe its
// defects.
func (r *Reader) Misspellings(f func(Misspelling)) error {
	if err := r.ends(f); err != nil || r.rebuilt {
		return err
	}
	for _, at := range r.sections {
		b, err := r.bytes(r.base+at, 16)
		if err != nil {
			return err
		}
		if rest, table := bytes.CutPrefix(b, []byte("xref")); table {
			if n := lineEnd(rest); n == 0 || len(rest) <= n || rest[n] < '0' || rest[n] > '9' {
				f(Misspelling{PartTable, Ref{}, "more than a line end behind xref"})
			}
		}
	}
	for _, num := range slices.Sorted(maps.Keys(r.spots)) {
		s := r.spots[num]
		if !s.used {
			continue
		}
		var err error
		if s.in != 0 {
			err = r.spellingOfPacked(num, s, f)
		} else {
			err = r.spelling(num, s, f)
		}
		if err != nil && !repairable(err) { // what is damaged is told when it is read
			return err
		}
	}
	return nil
}

// ends looks at the first and the last line.
func (r *Reader) ends(f func(Misspelling)) error {
	head, err := r.bytes(0, 64)
	if err != nil {
		return err
	}
	line := head[min(len("%PDF-1.7"), len(head)):]
	n := lineEnd(line)
	comment := line[n:]
	switch {
	case r.base != 0 || !bytes.HasPrefix(head, []byte("%PDF-")) || n == 0:
		f(Misspelling{PartHeader, Ref{}, "a first line that is more than %PDF- and a version"})
	case head[5] == '1' && head[7] > '7':
		f(Misspelling{PartHeader, Ref{}, "a version that PDF has not"})
	case len(comment) < 5 || comment[0] != '%' || slices.ContainsFunc(comment[1:5], func(c byte) bool { return c < 0x80 }):
		f(Misspelling{PartHeader, Ref{}, "no comment of four bytes above 127 in the second line"})
	}
	tail, err := r.bytes(max(r.size-1024, 0), 1024)
	if err != nil {
		return err
	}
	if i := bytes.LastIndex(tail, []byte("%%EOF")); i < 0 || i+len("%%EOF")+lineEnd(tail[i+len("%%EOF"):]) != len(tail) {
		f(Misspelling{PartEnd, Ref{}, "bytes behind the end of the file"})
	}
	return nil
}

// lineEnd is how many bytes the line end at the start of b has.
func lineEnd(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("\r\n")):
		return 2
	case len(b) > 0 && (b[0] == '\n' || b[0] == '\r'):
		return 1
	}
	return 0
}

// behindLine reports whether a line end stands before a place of b, or nothing.
func behindLine(b []byte, at int) bool { return at == 0 || b[at-1] == '\n' || b[at-1] == '\r' }

// spelling looks at one object of the file.
func (r *Reader) spelling(num uint32, s spot, f func(Misspelling)) error {
	ref := Ref{num, s.gen}
	start := r.base + s.at
	before := min(start, 1)
	var said Misspelling
	err := r.parse(start-before, r.opt.Limits.ObjectBytes, func(p *parser) error {
		said = Misspelling{}
		say := func(part Part, message string) {
			if said.Message == "" {
				said = Misspelling{part, ref, message}
			}
		}
		p.pos = int(before)
		if !behindLine(p.b, p.pos) {
			say(PartObject, "no line end before the number of the object")
		}
		if !headed(p.b[p.pos:]) {
			say(PartObject, "the number of the object is not written as N G obj with a line end behind it")
		}
		if _, _, err := p.head(); err != nil {
			return err
		}
		o, err := p.object(1)
		if err != nil {
			return err
		}
		if p.loose != "" {
			say(PartString, p.loose)
		}
		if !p.space() || len(p.b)-p.pos < len("endobj\r\n") && !p.whole {
			return p.end("an object")
		}
		if d, ok := o.(Dict); ok && bytes.HasPrefix(p.b[p.pos:], []byte("stream")) {
			return r.spellingOfStream(d, start-before+int64(p.pos), say)
		}
		closed(p.b, p.pos, say)
		return nil
	})
	if err == nil && said.Message != "" {
		f(said)
	}
	return err
}

// headed reports whether b begins with the number and generation of an object and obj, one space
// between each, and a line end.
func headed(b []byte) bool {
	for range 2 {
		n := 0
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			n++
		}
		if n == 0 || n == len(b) || charClass[b[n]] != classSpace {
			return false
		}
		b = b[n+1:]
	}
	rest, ok := bytes.CutPrefix(b, []byte("obj"))
	return ok && lineEnd(rest) > 0
}

// closed looks at endobj, which is at a place of b.
func closed(b []byte, at int, say func(Part, string)) {
	rest, ok := bytes.CutPrefix(b[at:], []byte("endobj"))
	if !ok || !behindLine(b, at) || lineEnd(rest) == 0 {
		say(PartObject, "endobj is not on a line of its own")
	}
}

// spellingOfStream looks at a stream whose keyword is at an offset.
func (r *Reader) spellingOfStream(d Dict, at int64, say func(Part, string)) error {
	b, err := r.bytes(at+int64(len("stream")), 2)
	if err != nil {
		return err
	}
	data := at + int64(len("stream"))
	switch {
	case bytes.HasPrefix(b, []byte("\r\n")):
		data += 2
	case b[0] == '\n':
		data++
	default:
		say(PartKeyword, "no line feed behind stream")
		data += int64(lineEnd(b))
	}
	o, err := r.Resolve(d.Get("Length"))
	n, ok := o.(Int)
	if err != nil {
		return err
	}
	if !ok || n < 0 || int64(n) > r.size-data {
		say(PartStream, "a stream that is not as long as its Length")
		return nil
	}
	end, err := r.bytes(data+int64(n), 64)
	if err != nil {
		return err
	}
	line := lineEnd(end)
	rest, ok := bytes.CutPrefix(end[line:], []byte("endstream"))
	switch {
	case !ok:
		say(PartStream, "a stream that is not as long as its Length")
		return nil
	case line == 0:
		last, err := r.bytes(data+int64(n)-1, 1) // of the data, or of what stands before them
		if err != nil {
			return err
		}
		if n > 0 && lineEnd(last) > 0 {
			say(PartStream, "a stream whose Length counts the line end before endstream")
		}
		say(PartKeyword, "no line end before endstream")
	}
	p := parser{b: rest, whole: true}
	p.space()
	closed(rest, p.pos, say)
	return nil
}

// spellingOfPacked looks at the strings of an object of an object stream.
func (r *Reader) spellingOfPacked(num uint32, s spot, f func(Misspelling)) error {
	if _, err := r.packed(Ref{Num: num}, s); err != nil { // which decodes its stream
		return err
	}
	p := r.packs[s.in]
	if p == nil || s.index < 0 || s.index >= len(p.nums) || p.nums[s.index] != num {
		return nil
	}
	q := parser{b: p.data, pos: p.offs[s.index], whole: true, refs: true, depth: r.opt.Limits.Depth, m: &r.memory}
	_, err := q.object(1)
	if _, broken := errors.AsType[syntaxError](err); broken {
		return nil
	}
	if q.loose != "" {
		f(Misspelling{PartString, Ref{Num: num}, q.loose})
	}
	return err
}
