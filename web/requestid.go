package web

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"strings"
	"time"
)

const headerRequestID = "X-Request-Id"

// RequestID returns the request's id.
func (c *Context) RequestID() string {
	c.live()
	return c.id
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

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

const (
	idBytes = 16 // 128 bits
	idLen   = 26 // in base32
)

// idBatch makes ids in lots of 64: one read of randomness and two allocations
// for all of them, so that a request costs none of its own.
type idBatch struct {
	ids  []string
	next int
}

func (b *idBatch) fill() {
	var raw [64 * idBytes]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the program instead
	var text [64 * idLen]byte
	for i := range 64 {
		idEncoding.Encode(text[i*idLen:(i+1)*idLen], raw[i*idBytes:(i+1)*idBytes])
	}
	all := string(text[:])
	b.ids, b.next = make([]string, 64), 0
	for i := range b.ids {
		b.ids[i] = all[i*idLen : (i+1)*idLen]
	}
}

// nextID returns a new short id as a header value.
func (a *App) nextID() []string {
	b := a.ids.Get().(*idBatch) // the pool holds nothing else
	if b.next == len(b.ids) {
		b.fill()
	}
	v := b.ids[b.next : b.next+1 : b.next+1]
	b.next++
	a.ids.Put(b)
	return v
}

// ShortID returns 128 random bits as 26 characters of base32, the default form
// of a request id.
func ShortID() string { return strings.ToLower(rand.Text()) }

// UUIDv4 returns a random UUID (RFC 9562, section 5.4).
func UUIDv4() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails
	return uuidText(u, 4)
}

// UUIDv7 returns a UUID that begins with the time in milliseconds, so that ids
// sort by age (RFC 9562, section 5.7).
func UUIDv7(now time.Time) string {
	var u [16]byte
	_, _ = rand.Read(u[6:]) // never fails
	ms := now.UnixMilli()
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i)) //nolint:gosec // the low byte is meant
	}
	return uuidText(u, 7)
}

func uuidText(u [16]byte, version byte) string {
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:36], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}
