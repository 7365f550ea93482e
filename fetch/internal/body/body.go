// Package body handles the bodies of messages for the layers: it drains unread response bodies, so
// that their connections can be reused, and records request bodies that may have to be sent again.
package body

import (
	"io"
	"net/http"
	"sync"
	"time"

	"example.com/quire/fetch/internal/timers"
)

// What a response that is thrown away may still cost.
const (
	DiscardBytes = 64 << 10
	DiscardWait  = 50 * time.Millisecond
)

// Discard reads rc to its end, at most DiscardBytes of it and for at most DiscardWait, and closes
// it. Only a connection whose response was read to the end can be used again; one that would take
// longer is not worth it.
func Discard(rc io.ReadCloser) {
	// The read may block. Close from another goroutine ends it: net/http's bodies permit that, and
	// its client relies on it.
	var once sync.Once
	stop := func() { once.Do(func() { _ = rc.Close() }) }
	t := time.AfterFunc(DiscardWait, stop)
	empty(rc, DiscardBytes)
	t.Stop()
	stop()
}

// Bounds are what closing a body early may cost.
type Bounds struct {
	Bytes  int64
	Wait   time.Duration
	Timers *timers.Queue // by which it is measured; nil = a timer for each
}

// Drained is a response body that is wrapped so that closing it early reads a small rest first.
type Drained struct {
	rc   io.ReadCloser
	left int64 // declared length less what was read; -1 when unknown
	most *Bounds

	mu      sync.Mutex
	timer   timers.Timer
	reading bool
	ended   bool // EOF or an error was seen: nothing left to drain
	closed  bool

	shut    bool       // rc is closed, with err
	closing sync.Mutex // guards those two
	err     error
}

// Wrap makes the zero Drained a wrapper of rc of the declared length (-1 unknown).
func (d *Drained) Wrap(rc io.ReadCloser, length int64, most *Bounds) {
	d.rc, d.left, d.most = rc, length, most
}

// Read reads. One that begins while Close reads the rest does not join it, but ends at once.
func (d *Drained) Read(p []byte) (int, error) {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return 0, http.ErrBodyReadAfterClose
	}
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

// Close drains and closes. Beside a Read that is under way it closes at once: that Read shall end,
// not be joined by another. A second Close does nothing.
func (d *Drained) Close() error {
	d.mu.Lock()
	skip := d.closed || d.ended || d.reading || d.left > d.most.Bytes
	d.closed = true
	d.mu.Unlock()
	if !skip {
		now := time.Now()
		queue := d.most.Timers.For(now)
		queue.Set(&d.timer, d, now.Add(d.most.Wait))
		empty(d.rc, d.most.Bytes)
		queue.Stop(&d.timer)
	}
	d.close()
	return d.err
}

// Strike ends a Read that takes too long, by closing beside it. How long that takes, others do not
// wait for.
func (d *Drained) Strike() { go d.close() }

// close closes once, and returns when that is done.
func (d *Drained) close() {
	d.closing.Lock()
	defer d.closing.Unlock()
	if !d.shut {
		d.shut, d.err = true, d.rc.Close()
	}
}

// empty reads r to its end, or until there were more bytes than these.
func empty(r io.Reader, most int64) {
	into := scratch.Get().(*[8 << 10]byte)
	defer scratch.Put(into)
	for most >= 0 {
		part := into[:]
		if most < int64(len(part))-1 {
			part = part[:most+1] // one more, to tell the end from too much
		}
		n, err := r.Read(part)
		if err != nil {
			return
		}
		most -= int64(n)
	}
}

// scratch are buffers for what nobody reads.
var scratch = sync.Pool{New: func() any { return new([8 << 10]byte) }}
