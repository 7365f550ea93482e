package retry

import (
	"bytes"
	"io"
	"math"
	"net/http"
)

// replay makes the requests of the attempts out of the caller's, which is never modified.
type replay struct {
	req    *http.Request
	stored []byte // the whole body, when it was buffered
	kind   replayKind
}

type replayKind uint8

const (
	bodyless replayKind = iota
	byGetBody
	buffered
	once
)

// newReplay looks at req's body and, when it may, buffers up to limit bytes of one that has no
// GetBody. A body that turns out longer is put together again and can be sent once.
func newReplay(req *http.Request, limit int64) (*http.Request, replay, error) {
	switch {
	case req.Body == nil || req.Body == http.NoBody:
		return req, replay{req: req, kind: bodyless}, nil
	case req.GetBody != nil:
		return req, replay{req: req, kind: byGetBody}, nil
	case limit <= 0 || req.ContentLength > limit:
		return req, replay{req: req, kind: once}, nil
	}
	limit = min(limit, math.MaxInt64-1)
	b, err := io.ReadAll(io.LimitReader(req.Body, limit+1))
	if err != nil {
		_ = req.Body.Close()
		return nil, replay{}, err
	}
	c := *req
	if int64(len(b)) > limit {
		c.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(b), req.Body), req.Body}
		return &c, replay{req: &c, kind: once}, nil
	}
	// Read to its end, so trailers the body announces are set by now; its length is known only if
	// nobody else set it.
	if err := req.Body.Close(); err != nil {
		return nil, replay{}, err
	}
	c.Body = io.NopCloser(bytes.NewReader(b))
	c.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	return &c, replay{req: &c, stored: b, kind: buffered}, nil
}

func (r *replay) can() bool { return r.kind != once }

// next returns the request for attempt n > 1.
func (r *replay) next() (*http.Request, error) {
	c := *r.req
	if r.kind == byGetBody || r.kind == buffered {
		b, err := r.req.GetBody()
		if err != nil {
			return nil, err
		}
		c.Body = b
	}
	return &c, nil
}
