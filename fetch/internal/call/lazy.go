package call

import (
	"context"
	"sync/atomic"
	"time"
)

// Lazy is a context that can be cancelled, as context.WithCancelCause makes them, but makes one
// only when somebody asks for what its parent cannot answer: a channel, or anything after the
// cancellation. A transport that answers at once never does. To whoever looks it is no different.
// The zero Lazy is to be given its Parent, and not to be copied.
type Lazy struct {
	Parent context.Context
	now    atomic.Pointer[cancelled] // nil: not made and not cancelled
}

type cancelled struct {
	context.Context
	cancel context.CancelCauseFunc
}

// over stands for a context that was cancelled without a cause before it was made.
var over = new(cancelled)

// Cancel ends the context; a nil cause is context.Canceled.
func (l *Lazy) Cancel(cause error) {
	if cause == nil && l.Parent.Err() == nil && (l.now.CompareAndSwap(nil, over) || l.now.Load() == over) {
		return
	}
	l.make().cancel(cause)
}

// make returns the context that there is, or a new one.
func (l *Lazy) make() *cancelled {
	for {
		old := l.now.Load()
		if old != nil && old != over {
			return old
		}
		parent := l.Parent
		if old == over { // it was cancelled while the parent was not, and stays so when the parent ends otherwise
			parent = context.WithoutCancel(parent)
		}
		c := new(cancelled)
		c.Context, c.cancel = context.WithCancelCause(parent)
		if old == over {
			c.cancel(nil)
		}
		if l.now.CompareAndSwap(old, c) {
			return c
		}
		c.cancel(nil) // another was faster
	}
}

// Deadline implements context.Context.
func (l *Lazy) Deadline() (time.Time, bool) { return l.Parent.Deadline() }

// Done implements context.Context.
func (l *Lazy) Done() <-chan struct{} { return l.make().Done() }

// Err implements context.Context.
func (l *Lazy) Err() error {
	switch c := l.now.Load(); c {
	case nil:
		return l.Parent.Err()
	case over:
		return context.Canceled
	default:
		return c.Err()
	}
}

// Value implements context.Context. What context.Cause asks for is a value too, of which the parent
// knows nothing any more once this was cancelled.
func (l *Lazy) Value(key any) any {
	switch c := l.now.Load(); c {
	case nil:
		return l.Parent.Value(key)
	case over:
		return l.make().Value(key)
	default:
		return c.Value(key)
	}
}
