package web

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

const headerRequestID = "X-Request-Id"

// RequestID returns the request's id. The text is the caller's to keep.
func (c *Context) RequestID() string {
	c.live()
	return strings.Clone(c.id) // an id of a lot would keep the whole lot alive
}

// SetRequestID replaces the request's id, here and in the answer. It ignores an
// id that ValidRequestID refuses.
func (c *Context) SetRequestID(id string) {
	c.live()
	if ValidRequestID(id) {
		c.id = id
		c.w.Header()[headerRequestID] = []string{id}
	}
}

// ValidRequestID reports whether id is 1 to 128 of A-Z a-z 0-9 . _ and -, so
// that it is harmless in headers, logs and file names.
func ValidRequestID(id string) bool {
	return len(id) <= 128 && every(id, func(c byte) bool {
		return isDigit(c) || isLetter(c) || c == '.' || c == '_' || c == '-'
	})
}

const (
	idLen   = 26   // characters of base32 for 128 bits
	idLot   = 1024 // ids for which memory is taken at once
	idLease = 16   // ids that a Context takes at once; divides idLot
)

// idLots makes ids into memory taken for a whole lot, so that hardly a request
// allocates. The memory is written once and never used again: a header may
// outlive its request, in net/http's buffers as in a recorder.
type idLots struct {
	random *rand.ChaCha8
	text   strings.Builder
	values []string
}

func newIDLots() any {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // never fails: crypto/rand ends the program instead
	return &idLots{random: rand.NewChaCha8(seed)}
}

// lease makes n ids, each at once the header value of one answer. They share
// their first 64 bits; the other 64 are each id's own, so that nobody guesses
// one from another, although nothing secret hangs on it.
func (l *idLots) lease(n int) []string {
	from := len(l.values)
	if from+n > cap(l.values) {
		from = 0
		l.text = strings.Builder{}
		l.text.Grow(idLot * idLen)
		l.values = make([]string, 0, idLot)
	}
	var ids [idLease * idLen]byte
	shared := l.random.Uint64()
	low, high := base32x8(shared), base32x8(shared>>24)
	for i := range n {
		own := l.random.Uint64()
		text := ids[i*idLen : (i+1)*idLen]
		// Of eight characters written at 0 and 13 the last three are overwritten.
		binary.LittleEndian.PutUint64(text[0:], low)
		binary.LittleEndian.PutUint64(text[5:], high)
		binary.LittleEndian.PutUint64(text[13:], base32x8(own))
		binary.LittleEndian.PutUint64(text[18:], base32x8(own>>24))
	}
	l.text.Write(ids[:n*idLen])
	text := l.text.String()[from*idLen:]
	l.values = l.values[:from+n]
	out := l.values[from:]
	for i := range out {
		out[i] = text[i*idLen : (i+1)*idLen]
	}
	return out
}

// base32x8 turns the low 40 bits of x into eight characters at once: it moves
// each five bits into a byte of their own, then adds what makes 0..25 a..z and
// 26..31 the digits 2..7.
func base32x8(x uint64) uint64 {
	x = x&0xfffff | x&0xff_fff0_0000<<12
	x = x&0x0000_03ff_0000_03ff | x&0x000f_fc00_000f_fc00<<6
	x = x&0x001f_001f_001f_001f | x&0x03e0_03e0_03e0_03e0<<3
	const each = 0x0101_0101_0101_0101
	digits := (x + each*(0x80-26)) >> 7 & each
	return x + each*'a' - digits*('a'+26-'2')
}

// nextID returns a new short id as a header value. A Context has some in store.
func (c *Context) nextID() []string {
	if len(c.ids) == 0 {
		n := idLease
		if !c.app.keep {
			n = 1 // this Context has no second request
		}
		l := c.app.ids.Get().(*idLots) // the pool holds nothing else
		c.ids = l.lease(n)
		c.app.ids.Put(l)
	}
	v := c.ids[:1:1]
	c.ids = c.ids[1:]
	return v
}
