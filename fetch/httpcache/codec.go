package httpcache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"example.com/quire/internal/httpfield"
)

// The encoded form of an entry: a version, the number of variants, then each variant. Numbers are
// varints, texts and lists have their length before them. Times are nanoseconds since 1970. The
// state of TLS is left out: it belongs to the process that made the exchange.
const codecVersion = 1

var errCodec = errors.New("decode cache entry: damaged")

// AppendBinary appends e in a form for stores outside of the process. Another version of this
// package may read it as a miss, never as something else.
func (e *Entry) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, codecVersion)
	b = binary.AppendUvarint(b, uint64(len(e.variants)))
	for _, v := range e.variants {
		b = binary.AppendUvarint(b, uint64(v.status)) //nolint:gosec // three digits
		b = appendText(b, v.proto)
		b = binary.AppendUvarint(b, uint64(len(v.fields.names)))
		for name, values := range v.fields.all {
			b = appendText(b, name)
			b = binary.AppendUvarint(b, uint64(len(values)))
			for _, s := range values {
				b = appendText(b, s)
			}
		}
		b = binary.AppendUvarint(b, uint64(len(v.body)))
		b = append(b, v.body...)
		b = binary.AppendUvarint(b, uint64(len(v.vary)))
		for _, s := range v.vary {
			b = appendText(b, s.name)
			b = appendText(b, s.value)
			b = appendBool(b, s.present)
		}
		for _, t := range []time.Time{v.arrived, v.date, v.modified} {
			b = appendTime(b, t)
		}
		for _, n := range []int64{v.start, v.total, int64(v.age), int64(v.life), int64(v.swr), int64(v.sie)} {
			b = binary.AppendVarint(b, n)
		}
		b = appendText(b, v.etag)
		for _, is := range []bool{v.partial, v.noCache, v.revalidate, v.immutable, v.invalidated} {
			b = appendBool(b, is)
		}
	}
	return b, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendBool(b []byte, is bool) []byte {
	if is {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return binary.AppendVarint(b, math.MinInt64)
	}
	return binary.AppendVarint(b, t.UnixNano())
}

// UnmarshalBinary reads what AppendBinary wrote. Anything else is an error and leaves e empty. It
// keeps nothing of b.
func (e *Entry) UnmarshalBinary(b []byte) error {
	*e = Entry{}
	r := decoder{b: b}
	if v := r.byte(); v != codecVersion {
		return fmt.Errorf("decode cache entry: version %d, want %d", v, codecVersion)
	}
	n := r.count(20)
	list := make([]*variant, 0, n)
	for range n {
		list = append(list, r.variant())
	}
	if r.bad || len(r.b) > 0 || n == 0 {
		return errCodec
	}
	e.variants = list
	return nil
}

type decoder struct {
	b   []byte
	bad bool
}

func (r *decoder) fail() {
	r.bad = true
	r.b = nil
}

func (r *decoder) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *decoder) bool() bool {
	c := r.byte()
	if c > 1 {
		r.fail()
	}
	return c == 1
}

// count reads the number of things that take at least so many bytes each: no more can follow than
// there is room for.
func (r *decoder) count(each int) int {
	n, w := binary.Uvarint(r.b)
	if w <= 0 || n > uint64(len(r.b)-w)/uint64(each) { //nolint:gosec // not negative
		r.fail()
		return 0
	}
	r.b = r.b[w:]
	return int(n) //nolint:gosec // bounded by the length
}

func (r *decoder) int() int64 {
	n, w := binary.Varint(r.b)
	if w <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[w:]
	return n
}

func (r *decoder) bytes() []byte {
	n := r.count(1)
	s := r.b[:n]
	r.b = r.b[n:]
	return s
}

func (r *decoder) time() time.Time {
	if n := r.int(); n != math.MinInt64 {
		return time.Unix(0, n).UTC()
	}
	return time.Time{}
}

func (r *decoder) duration() time.Duration {
	n := r.int()
	if n < 0 {
		r.fail()
	}
	return time.Duration(n)
}

func (r *decoder) variant() *variant {
	v := &variant{}
	status := r.status()
	v.status, v.proto = status, string(r.bytes())
	n := r.count(2)
	h := make(http.Header, n)
	for range n {
		name := string(r.bytes())
		values := make([]string, r.count(1))
		for i := range values {
			values[i] = string(r.bytes())
		}
		if !httpfield.IsToken(name) || http.CanonicalHeaderKey(name) != name || h[name] != nil || len(values) == 0 {
			r.fail()
		}
		h[name] = values
	}
	v.body = append([]byte{}, r.bytes()...)
	n = r.count(3)
	for range n {
		v.vary = append(v.vary, selector{name: string(r.bytes()), value: string(r.bytes()), present: r.bool()})
	}
	v.arrived, v.date, v.modified = r.time(), r.time(), r.time()
	v.start, v.total = r.int(), r.int()
	v.age, v.life, v.swr, v.sie = r.duration(), r.duration(), r.duration(), r.duration()
	v.etag = string(r.bytes())
	v.partial, v.noCache, v.revalidate, v.immutable, v.invalidated = r.bool(), r.bool(), r.bool(), r.bool(), r.bool()
	if len(h["Date"]) == 0 || v.partial && (v.start < 0 || v.start > v.total-int64(len(v.body))) {
		r.fail()
	}
	v.setHeader(h)
	return v
}

// status reads a status code.
func (r *decoder) status() int {
	n, w := binary.Uvarint(r.b)
	if w <= 0 || n < 200 || n > 999 {
		r.fail()
		return 0
	}
	r.b = r.b[w:]
	return int(n)
}
