package middleware

import (
	crand "crypto/rand"
	"encoding/hex"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/internal/shortid"
)

// RequestIDOptions configure RequestID.
type RequestIDOptions struct {
	// Generate makes ids. Default: UUIDv7; UUIDv4 and ShortID
	// show no time. Ids that web.ValidRequestID refuses
	// are not used.
	Generate func() string
}

// RequestID gives the requests of a group ids of another form. The id that a
// trusted proxy sent stays.
func RequestID(o RequestIDOptions) web.Middleware {
	if o.Generate == nil {
		o.Generate = UUIDv7
	}
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if !c.FromProxy() || c.Header("X-Request-Id") != c.RequestID() {
				c.SetRequestID(o.Generate())
			}
			return next(c)
		}
	}
}

// ShortID returns 128 random bits as 26 characters of base32, the form of
// the App's own ids.
func ShortID() string {
	r := randoms.Get().(*rand.ChaCha8) // the pool holds nothing else
	left, right := shortid.HalfOf(r.Uint64()), shortid.HalfOf(r.Uint64())
	randoms.Put(r)
	var b [shortid.Len]byte
	shortid.Put(b[:], left, right)
	return string(b[:])
}

// randoms are generators whose seeds come from the system.
var randoms = sync.Pool{New: func() any {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // never fails
	return rand.NewChaCha8(seed)
}}

// UUIDv4 returns a random UUID (RFC 9562, section 5.4).
func UUIDv4() string {
	var u [16]byte
	_, _ = crand.Read(u[:]) // never fails
	return uuidText(u, 4)
}

// UUIDv7 returns a UUID that begins with the time in milliseconds, so that ids
// sort by age (RFC 9562, section 5.7).
func UUIDv7() string {
	var u [16]byte
	_, _ = crand.Read(u[6:]) // never fails
	ms := time.Now().UnixMilli()
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
