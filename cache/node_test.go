package cache

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// wire is what stands between one node and the hub: it can cut the link, and fail calls before or
// after they are done.
type wire struct {
	*Hub
	mu   sync.Mutex
	cut  bool
	sink Sink
	hold bool         // what comes is kept for release
	kept []func(Sink) //

	before, after atomic.Pointer[error]  // fails calls, without and in spite of their being done
	fetching      atomic.Pointer[func()] // called when a Fetch begins
	fetched       atomic.Pointer[func()] // called when a Fetch is done, before its answer arrives
	fetches       atomic.Int64
	headers       atomic.Int64
}

var errWire = errors.New("the wire is cut")

func fails(p *atomic.Pointer[error], err error) {
	if err == nil {
		p.Store(nil)
		return
	}
	p.Store(&err)
}

func called[T any](w *wire, call func() (T, error)) (got T, err error) {
	if e := w.before.Load(); e != nil {
		return got, *e
	}
	got, err = call()
	if e := w.after.Load(); e != nil {
		return got, *e
	}
	return got, err
}

func (w *wire) Fetch(ctx context.Context, ns string, keys []string, headersOnly bool) ([]Record, error) {
	if headersOnly {
		w.headers.Add(1)
	} else {
		w.fetches.Add(1)
	}
	if e := w.before.Load(); e != nil {
		return nil, *e
	}
	if f := w.fetching.Load(); f != nil {
		(*f)()
	}
	got, err := w.Hub.Fetch(ctx, ns, keys, headersOnly)
	if f := w.fetched.Load(); f != nil {
		(*f)()
	}
	return got, err
}

func (w *wire) Store(ctx context.Context, ns string, r StoreRequest) (StoreResult, error) {
	return called(w, func() (StoreResult, error) { return w.Hub.Store(ctx, ns, r) })
}

func (w *wire) Lease(ctx context.Context, ns string, r LeaseRequest) (LeaseResult, error) {
	return called(w, func() (LeaseResult, error) { return w.Hub.Lease(ctx, ns, r) })
}

func (w *wire) Tags(ctx context.Context, ns string, names []string, life time.Duration, bump bool) ([]uint64, error) {
	return called(w, func() ([]uint64, error) { return w.Hub.Tags(ctx, ns, names, life, bump) })
}

func (w *wire) Attach(ns string, o LinkOptions, s Sink) (func(), error) {
	w.sink = s
	return w.Hub.Attach(ns, o, w.through())
}

// cutLink loses what comes from now on until heal; the node notices at once.
func (w *wire) cutLink() {
	w.mu.Lock()
	w.cut = true
	w.sink.Down(errWire)
	w.mu.Unlock()
	synctest.Wait()
}

func (w *wire) heal() {
	w.mu.Lock()
	w.cut = false
	w.Hub.mu.Lock()
	epoch := w.epoch
	w.Hub.mu.Unlock()
	w.sink.Up(epoch)
	w.sink.Proof(time.Now())
	w.mu.Unlock()
	synctest.Wait()
}

// through is the sink that the hub sees.
func (w *wire) through() Sink { return (*wireSink)(w) }

type wireSink wire

func (w *wireSink) pass(call func(Sink)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.cut:
	case w.hold:
		w.kept = append(w.kept, call)
	default:
		call(w.sink)
	}
}

// slow has what comes wait, until release.
func (w *wire) slow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hold = true
}

func (w *wire) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, call := range w.kept {
		call(w.sink)
	}
	w.hold, w.kept = false, nil
}

// cutSilently loses what comes from now on; the node does not notice.
func (w *wire) cutSilently() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
}

// pause lets what calls the hook at wait until goOn is called.
func pause(at *atomic.Pointer[func()]) (goOn func()) {
	wait := make(chan struct{})
	f := func() { <-wait }
	at.Store(&f)
	return func() { close(wait) }
}

// begun begins a read, which gets what is sent to got: a value, or the text of an error. It waits
// until nothing goes on.
func begun(t *testing.T, read func() (string, error)) (got <-chan string) {
	t.Helper()
	answer := make(chan string, 1)
	go func() {
		v, err := read()
		if err != nil {
			v = err.Error()
		}
		answer <- v
	}()
	synctest.Wait()
	return answer
}

func (w *wireSink) Frame(f Frame)        { w.pass(func(s Sink) { s.Frame(f) }) }
func (w *wireSink) Up(epoch uint64)      { w.pass(func(s Sink) { s.Up(epoch) }) }
func (w *wireSink) Down(err error)       { w.pass(func(s Sink) { s.Down(err) }) }
func (w *wireSink) Proof(sent time.Time) { w.pass(func(s Sink) { s.Proof(sent) }) }

// textCodec is the codec of strings. It counts, and refuses "bad" from elsewhere.
type textCodec struct{ decoded *atomic.Int64 }

func (textCodec) ID() byte { return 40 }

func (textCodec) Append(dst []byte, v string) ([]byte, error) { return append(dst, v...), nil }

func (c textCodec) Decode(src []byte) (string, int, error) {
	if c.decoded != nil {
		c.decoded.Add(1)
	}
	return string(src), len(src), nil
}

// node opens a cache on a wire to the hub.
func node(tb testing.TB, h *Hub, o Options[string, string]) (*Cache[string, string], *wire) {
	tb.Helper()
	w := &wire{Hub: h}
	o.Name, o.Remote, o.Bus = "n", w, w
	if o.Codec == nil {
		o.Codec = textCodec{}
	}
	o.Policy = plain(o.Policy)
	return open(tb, o), w
}

// tell sets k and waits until the others know.
func tell(tb testing.TB, c *Cache[string, string], k, v string) {
	tb.Helper()
	set(tb, c, k, v)
	synctest.Wait()
}

// peeks says what is held and servable.
func peeks(tb testing.TB, c *Cache[string, string], k, v string) {
	tb.Helper()
	if got, ok := c.Peek(k); got != v || ok != (v != "") {
		tb.Errorf("held under %s: %q, %v; want %q", k, got, ok, v)
	}
}

// jsonCodec is a codec of values that are not what they were encoded from.
type jsonCodec[V any] struct{}

func (jsonCodec[V]) ID() byte { return 41 }

func (jsonCodec[V]) Append(dst []byte, v V) ([]byte, error) {
	b, err := json.Marshal(v)
	return append(dst, b...), err
}

func (jsonCodec[V]) Decode(src []byte) (v V, n int, err error) {
	err = json.Unmarshal(src, &v)
	return v, len(src), err
}
