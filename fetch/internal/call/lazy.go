package call

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Lazy is a context that can be cancelled, as context.WithCancelCause makes them, but makes one
// only when somebody asks for what its parent cannot answer: a channel, or anything after the
// cancellation. A transport that answers at once never does. To whoever looks it is no different.
//
// Under a parent that never ends, which is one without a channel, a channel is all that is made,
// and the contexts derived from this one are told by AfterFunc, which package context looks for.
// Under one that may end it is a context of the library's, since that ends with its parent at the
// same moment.
//
// The zero Lazy is to be given its Parent, and not to be copied.
type Lazy struct {
	Parent context.Context
	now    atomic.Pointer[made] // nil: not made and not cancelled
}

// made is what there is of a context once somebody has looked at it.
type made struct {
	lib    context.Context // the library's; nil = it is by itself
	cancel context.CancelCauseFunc

	// By itself, under a parent that never ends.
	done  chan struct{}
	ended atomic.Bool

	mu     sync.Mutex
	cause  error
	after  context.Context // the library's, for who asks for the cause
	first  waiter          // the only one most often
	latest *waiter
}

// waiter is told of the end.
type waiter struct {
	of           *made // nil = not used yet
	f            func()
	older, newer *waiter
}

// over stands for a context that was cancelled without a cause before it was made.
var over = new(made)

// Cancel ends the context; a nil cause is context.Canceled.
func (l *Lazy) Cancel(cause error) {
	if m := l.now.Load(); m != nil && m != over {
		m.end(cause)
		return
	}
	if cause == nil && l.Parent.Err() == nil && (l.now.CompareAndSwap(nil, over) || l.now.Load() == over) {
		return
	}
	l.make().end(cause)
}

// make returns the context that there is, or a new one.
func (l *Lazy) make() *made {
	for {
		old := l.now.Load()
		if old != nil && old != over {
			return old
		}
		m := new(made)
		switch {
		case old == over: // it was cancelled while the parent was not, and stays so when the parent ends otherwise
			m.lib, m.cancel = context.WithCancelCause(context.WithoutCancel(l.Parent))
			m.cancel(nil)
		case l.Parent.Done() == nil:
			m.done = make(chan struct{})
		default:
			m.lib, m.cancel = context.WithCancelCause(l.Parent)
		}
		if l.now.CompareAndSwap(old, m) {
			return m
		}
		m.end(nil) // another was faster
	}
}

// end cancels it.
func (m *made) end(cause error) {
	if m.cancel != nil {
		m.cancel(cause)
		return
	}
	m.mu.Lock()
	if m.ended.Load() {
		m.mu.Unlock()
		return
	}
	if m.cause = cause; cause == nil {
		m.cause = context.Canceled
	}
	m.ended.Store(true)
	close(m.done)
	var told []func()
	for w := m.latest; w != nil; w = w.older {
		told = append(told, w.f)
		w.f = nil
	}
	m.latest = nil
	m.mu.Unlock()
	for _, f := range told { // which end contexts derived from this one, at once as the library's
		f()
	}
}

// library returns a context of the library's that has ended for the same cause.
func (m *made) library(parent context.Context) context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.after == nil {
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
		cancel(m.cause)
		m.after = ctx
	}
	return m.after
}

// Deadline implements context.Context.
func (l *Lazy) Deadline() (time.Time, bool) { return l.Parent.Deadline() }

// Done implements context.Context.
func (l *Lazy) Done() <-chan struct{} {
	m := l.make()
	if m.lib != nil {
		return m.lib.Done()
	}
	return m.done
}

// Err implements context.Context.
func (l *Lazy) Err() error {
	m := l.now.Load()
	switch {
	case m == nil:
		return l.Parent.Err()
	case m == over:
		return context.Canceled
	case m.lib != nil:
		return m.lib.Err()
	case !m.ended.Load():
		return nil
	}
	<-m.done // nobody sees the error before the channel is closed
	return context.Canceled
}

// Value implements context.Context. What context.Cause asks for is a value too, of which the parent
// knows nothing any more once this was cancelled.
func (l *Lazy) Value(key any) any {
	m := l.now.Load()
	switch {
	case m == nil:
		return l.Parent.Value(key)
	case m == over:
		return l.make().lib.Value(key)
	case m.lib != nil:
		return m.lib.Value(key)
	case !m.ended.Load():
		return l.Parent.Value(key)
	}
	return m.library(l.Parent).Value(key)
}

// AfterFunc is for package context, which by it tells the contexts derived from this one: f must
// not block. The function that it returns keeps f from being called, and tells whether it did.
func (l *Lazy) AfterFunc(f func()) (stop func() bool) {
	m := l.make()
	if m.lib != nil {
		return context.AfterFunc(m.lib, f)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended.Load() {
		go f()
		return func() bool { return false }
	}
	w := &m.first
	if w.of != nil {
		w = new(waiter)
	}
	w.of, w.f, w.older = m, f, m.latest
	if w.older != nil {
		w.older.newer = w
	}
	m.latest = w
	return w.stop
}

// stop takes the waiter out, unless it was told or is out already.
func (w *waiter) stop() bool {
	m := w.of
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.f == nil {
		return false
	}
	w.f = nil
	if w.newer != nil {
		w.newer.older = w.older
	} else {
		m.latest = w.older
	}
	if w.older != nil {
		w.older.newer = w.newer
	}
	return true
}
