// Package body holds what the layers do to bodies: emptying those that nobody wants, so that their connection lives on,
// and remembering those that may have to be sent again.
package body

import (
	"io"
	"math"
	"sync"
	"time"
)

// What a response that is thrown away may still cost.
const (
	DiscardBytes = 64 << 10
	DiscardWait  = 50 * time.Millisecond
)

// Discard reads rc to its end, at most DiscardBytes of it and for at most DiscardWait, and closes it. Only a connection
// whose response was read to the end can be used again; one that would take longer is not worth it.
func Discard(rc io.ReadCloser) {
	// The read may block. Close from another goroutine ends it: net/http's bodies permit that, and its client relies on it.
	var once sync.Once
	stop := func() { once.Do(func() { _ = rc.Close() }) }
	t := time.AfterFunc(DiscardWait, stop)
	_, _ = io.CopyN(io.Discard, rc, DiscardBytes+1)
	t.Stop()
	stop()
}

// Drained is a response body that is wrapped so that closing it early reads a small rest first.
type Drained struct {
	rc   io.ReadCloser
	left int64 // declared length less what was read; -1 when unknown
	max  int64
	wait time.Duration

	mu      sync.Mutex
	reading bool
	ended   bool // EOF or an error was seen: nothing left to drain
	closed  bool
	once    sync.Once
	err     error
}

// Wrap makes the zero Drained a wrapper of rc of the declared length (-1 unknown).
func (d *Drained) Wrap(rc io.ReadCloser, length, limit int64, wait time.Duration) {
	d.rc, d.left, d.wait = rc, length, wait
	d.max = min(limit, math.MaxInt64-1) // Close asks for one byte more
}

func (d *Drained) Read(p []byte) (int, error) {
	d.mu.Lock()
	d.reading = true
	d.mu.Unlock()
	n, err := d.rc.Read(p)
	d.mu.Lock()
	d.reading = false
	if d.left >= 0 {
		d.left -= int64(n)
	}
	if err != nil {
		d.ended = true
	}
	d.mu.Unlock()
	return n, err
}

// Close drains and closes. Beside a Read that is under way it closes at once: that Read shall end, not be joined by another.
// A second Close does nothing.
func (d *Drained) Close() error {
	d.mu.Lock()
	skip := d.closed || d.ended || d.reading || d.left > d.max
	d.closed = true
	d.mu.Unlock()
	if !skip {
		// The timer's Close ends a Read that takes too long.
		t := time.AfterFunc(d.wait, d.close)
		_, _ = io.CopyN(io.Discard, d.rc, d.max+1)
		t.Stop()
	}
	d.close()
	return d.err
}

func (d *Drained) close() { d.once.Do(func() { d.err = d.rc.Close() }) }
