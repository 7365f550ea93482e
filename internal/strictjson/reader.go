package strictjson

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Reader reads a text that [Check] has passed, value by value, for callers that report more than
// [Decode], which ends at the first value that does not fit. It is for one goroutine.
type Reader struct {
	reader
	start int
}

// Read checks a text as [Check] does and, if it is valid, calls f with a Reader of it, which can be
// used until f returns. The error is a *Fault, and then f is not called.
func Read(text []byte, l Limits, f func(*Reader)) error {
	p := decoders.Get().(*pooledDecoder) // the pool holds nothing else
	defer p.release()
	if _, err := p.check(text, l); err != nil {
		return err
	}
	// Neither is there, so they need not be looked for again.
	f(&Reader{reader: p.read(text, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))})
	return nil
}

// Kind is what comes next by its first byte, with '0' for every number; also '}' and ']'.
func (r *Reader) Kind() byte { return byte(r.d.PeekKind()) }

// Value reads the next value, or the name of a member, and returns it as written in the text.
func (r *Reader) Value() []byte {
	v, _ := r.d.ReadValue() // there is one, and it is in order
	r.start = int(r.d.InputOffset()) - len(v)
	return v
}

// Text reads a string, or the name of a member. Without escapes it is a part of the text.
func (r *Reader) Text() []byte {
	v := r.Value()
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, v) // as above
	return text
}

// Each reads the object or array that comes next: one reads a member, in an object the name and
// then the value.
func (r *Reader) Each(one func(i int)) {
	start := r.skip(int(r.d.InputOffset()), separates)
	_, _ = r.d.ReadToken() // as above
	for i := 0; ; i++ {
		if k := r.d.PeekKind(); k == '}' || k == ']' {
			break
		}
		one(i)
	}
	_, _ = r.d.ReadToken() // as above
	r.start = start
}

// Start is the offset of the value that was read last.
func (r *Reader) Start() int { return r.start }

// Pointer is the position of the value that was read last (RFC 6901).
func (r *Reader) Pointer() string { return string(r.d.StackPointer()) }
