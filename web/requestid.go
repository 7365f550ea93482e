package web

import (
	crand "crypto/rand"
	"math/rand/v2"
	"strings"

	"example.com/quire/web/internal/shortid"
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
	if id == "" || len(id) > 128 {
		return false
	}
	for i := range len(id) {
		if !ofRequestID[id[i]] {
			return false
		}
	}
	return true
}

// ofRequestID marks the bytes that an id may have.
var ofRequestID = func() (ok [256]bool) {
	for c := range ok {
		ok[c] = isDigit(byte(c)) || isLetter(byte(c)) || c == '.' || c == '_' || c == '-'
	}
	return ok
}()

const (
	idLen   = shortid.Len
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
	shared := shortid.HalfOf(l.random.Uint64())
	for i := range n {
		shortid.Put(ids[i*idLen:], shared, shortid.HalfOf(l.random.Uint64()))
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
