package web

import (
	"io"
	"net/http"
	"sync/atomic"
)

// BodyPool bounds the bytes of bodies that requests hold at once, of all routes
// whose Budgets name it. It counts what has come, not what was announced: a
// client that sends slowly takes little from the others, and holds no place at a
// Gate that is entered when its body is there. It is safe for concurrent use.
type BodyPool struct {
	limit int64
	used  atomic.Int64
}

// NewBodyPool makes a pool of so many bytes. A body that does not fit gets 503
// with Retry-After, whose cause is ErrBusy. It panics with a *ConfigError when
// bytes is less than 1.
func NewBodyPool(bytes int64) *BodyPool {
	if bytes < 1 {
		panic(&ConfigError{Field: "NewBodyPool.bytes", Got: bytes, Want: "at least 1"})
	}
	return &BodyPool{limit: bytes}
}

// Used is how many bytes are held now.
func (p *BodyPool) Used() int64 { return p.used.Load() }

// pooled reads a body that is kept whole, as far as its pool has room.
type pooled struct{ *body }

func (p pooled) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	if full := p.hold(int64(n)); full != nil {
		return 0, full
	}
	return n, err
}

// hold takes n bytes out of the pool, if there is one, until the request ends.
func (b *body) hold(n int64) error {
	if b.pool == nil || n == 0 {
		return nil
	}
	if b.pool.used.Add(n) > b.pool.limit {
		b.pool.used.Add(-n)
		return NewProblem(http.StatusServiceUnavailable, "too many bytes of requests at once", ErrBusy)
	}
	b.taken += n
	return nil
}

// reader is for a body that is kept whole.
func (b *body) reader() io.Reader {
	if b.pool == nil {
		return b
	}
	return pooled{b}
}
