package cachetest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/quire/cache"
)

// Faulty is what stands between one node and what it shares with others, and fails: calls take
// long, get lost, or are done after the caller has given up; frames come late, twice and out of
// order; the link is cut, which the node learns later. A tracked link is told of each write a
// second time, as a touch, later and out of order too. It keeps what cache.Remote and cache.Bus
// promise. It is meant for a bubble of testing/synctest, whose time costs nothing.
//
// All that it does follows from one number. What becomes of a call is drawn from a stream of random
// numbers for calls of its kind and keys, so that it does not depend on which of two goroutines
// that run at one instant comes first. Nothing is done at once: what one call or frame brings about
// is over before the next arrives.
type Faulty struct {
	Shared

	seed, node uint64

	mu      sync.Mutex
	streams map[string]*rand.Rand
	calm    bool // nothing fails any more
	cut     bool
	down    bool      // the sink knows
	last    time.Time // up to when frames are on their way
	life    int       // of the link; what was on its way in an earlier one is lost
	sink    cache.Sink
	epoch   uint64
	timer   *time.Timer

	tracked bool
	before  time.Time // of a tracked link: the proof before
	// touches are on their way up to touched, those of before that proof up to touchedBefore.
	touched, touchedBefore time.Time
}

// errFault is what calls that fail return.
var errFault = errors.New("simulated fault")

// The times of a Faulty.
const (
	maxDelay  = 40 * time.Millisecond
	maxCut    = 2 * time.Second
	maxCalm   = 3 * time.Second
	maxNotice = 500 * time.Millisecond // until a cut is noticed
)

// NewFaulty makes the one of a node.
func NewFaulty(s Shared, seed, node uint64) *Faulty {
	return &Faulty{Shared: s, seed: seed, node: node, streams: map[string]*rand.Rand{}}
}

// stream returns the random numbers for what happens to that. The caller holds mu.
func (f *Faulty) stream(of string) *rand.Rand {
	r := f.streams[of]
	if r == nil {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, f.node, " ", of)        // a hash takes everything
		r = rand.New(rand.NewPCG(f.seed, h.Sum64())) //nolint:gosec // G404: to be replayed
		f.streams[of] = r
	}
	return r
}

// The streams of what is no call.
const (
	ofLink   = "link"
	ofFrames = "frames"
)

// Calm ends all faults.
func (f *Faulty) Calm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calm = true
	if f.cut {
		f.heal()
	}
}

// chance is true once in n times, up to 1 for each time.
func (f *Faulty) chance(of string, n int) bool { return f.stream(of).IntN(n) == 0 && !f.calm }

// delay is how long something takes: hardly twice the same, so that the order of what happens is
// that of the numbers drawn.
func (f *Faulty) delay(of string, most time.Duration) time.Duration {
	return time.Duration(1 + f.stream(of).Int64N(int64(most)))
}

// course is what becomes of one call.
type course struct {
	before, after time.Duration
	lost          bool // it does not arrive
	late          bool // it arrives when the caller has gone
	refused       bool
}

func (f *Faulty) draw(of string) (c course) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c = course{before: f.delay(of, maxDelay), after: f.delay(of, maxDelay)}
	c.lost, c.late, c.refused = f.chance(of, 40), f.chance(of, 40), f.chance(of, 40)
	if f.cut {
		c.lost, c.late = true, f.chance(of, 4)
	}
	return c
}

// named is the stream of calls of a kind with those keys or tags, in any order.
func named(kind string, names ...string) string {
	return kind + " " + strings.Join(slices.Sorted(slices.Values(names)), " ")
}

// through makes one call take its course.
func through[T any](ctx context.Context, f *Faulty, of string, call func(context.Context) (T, error)) (got T, err error) {
	c := f.draw(of)
	if err := waits(ctx, c.before); err != nil {
		return got, err
	}
	switch {
	case c.refused:
		return got, fmt.Errorf("%w: %w", cache.ErrUnavailable, errFault)
	case c.late:
		time.AfterFunc(c.after+maxDelay, func() { _, _ = call(context.WithoutCancel(ctx)) }) // nobody hears of it
		return got, errFault
	case c.lost:
		<-ctx.Done()
		return got, ctx.Err()
	}
	got, err = call(ctx)
	if e := waits(ctx, c.after); e != nil {
		return got, e
	}
	return got, err
}

func waits(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Fetch implements cache.Remote.
func (f *Faulty) Fetch(ctx context.Context, ns string, keys []string, headersOnly bool) ([]cache.Record, error) {
	return through(ctx, f, named("fetch", keys...), func(ctx context.Context) ([]cache.Record, error) { return f.Shared.Fetch(ctx, ns, keys, headersOnly) })
}

// Store implements cache.Remote.
func (f *Faulty) Store(ctx context.Context, ns string, r cache.StoreRequest) (cache.StoreResult, error) {
	return through(ctx, f, named("store", r.Key), func(ctx context.Context) (cache.StoreResult, error) { return f.Shared.Store(ctx, ns, r) })
}

var leases = [...]string{cache.LeaseAcquire: "acquire", cache.LeaseRenew: "renew", cache.LeaseRelease: "release"}

// Lease implements cache.Remote.
func (f *Faulty) Lease(ctx context.Context, ns string, r cache.LeaseRequest) (cache.LeaseResult, error) {
	return through(ctx, f, named(leases[r.Verb], r.Key), func(ctx context.Context) (cache.LeaseResult, error) { return f.Shared.Lease(ctx, ns, r) })
}

// Tags implements cache.Remote.
func (f *Faulty) Tags(ctx context.Context, ns string, names []string, life time.Duration, bump bool) ([]uint64, error) {
	return through(ctx, f, named("tags", names...), func(ctx context.Context) ([]uint64, error) { return f.Shared.Tags(ctx, ns, names, life, bump) })
}

// Attach implements cache.Bus, for one cache.
func (f *Faulty) Attach(ns string, o cache.LinkOptions, s cache.Sink) (func(), error) {
	f.mu.Lock()
	f.sink, f.tracked = s, o.Tracked
	f.later(maxCalm, f.breaks)
	f.mu.Unlock()
	detach, err := f.Shared.Attach(ns, o, (*faultySink)(f))
	return func() {
		if detach != nil {
			detach()
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.life++
		f.calm, f.sink = true, nil
		f.timer.Stop()
	}, err
}

// later runs the next of the link's steps, with mu held. So it is called itself.
func (f *Faulty) later(most time.Duration, step func()) {
	f.timer = time.AfterFunc(f.delay(ofLink, most), func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !f.calm {
			step()
		}
	})
}

// breaks cuts the link, silently.
func (f *Faulty) breaks() {
	f.cut = true
	f.life++
	f.later(maxNotice, f.notice)
}

func (f *Faulty) notice() {
	f.down = true
	f.sink.Down(errFault)
	f.later(maxCut, func() {
		f.heal()
		f.later(maxCalm, f.breaks)
	})
}

func (f *Faulty) heal() {
	if !f.down {
		f.sink.Down(errFault)
	}
	f.cut, f.down = false, false
	f.life++
	now := time.Now()
	f.last, f.before, f.touched, f.touchedBefore = now, now, now, now
	f.sink.Up(f.epoch)
	f.sink.Proof(now)
}

// faultySink is what the bus sees.
type faultySink Faulty

// arrive calls the sink when d is over, unless the link ends before, and tells when. The caller
// holds mu.
func (f *faultySink) arrive(d time.Duration, call func(cache.Sink)) (at time.Time) {
	at = time.Now().Add(d)
	if d == 0 {
		call(f.sink)
		return at
	}
	life := f.life
	time.AfterFunc(d, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.life == life {
			call(f.sink)
		}
	})
	return at
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Frame implements cache.Sink.
func (f *faultySink) Frame(n cache.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut {
		return
	}
	faulty, call := (*Faulty)(f), func(s cache.Sink) { s.Frame(n) }
	f.last = later(f.last, f.arrive(faulty.delay(ofFrames, maxDelay), call))
	if faulty.chance(ofFrames, 4) {
		f.arrive(faulty.delay(ofFrames, 10*maxDelay), call) // no proof waits for the second time
	}
	if f.tracked && n.Kind == cache.FrameKey {
		touch := cache.Frame{Kind: cache.FrameTouched, Key: n.Key}
		f.touched = later(f.touched, f.arrive(faulty.delay(ofFrames, 2*maxDelay), func(s cache.Sink) { s.Frame(touch) }))
	}
}

// Up implements cache.Sink.
func (f *faultySink) Up(epoch uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.epoch = epoch
	if !f.cut {
		f.sink.Up(epoch)
	}
}

// Down implements cache.Sink.
func (f *faultySink) Down(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life++
	if !f.cut {
		f.sink.Down(err)
	}
}

// Proof implements cache.Sink. It arrives after all frames that came before it. A touch may come
// after the next proof that the bus sends, which a tracked link takes for the proof before.
func (f *faultySink) Proof(sent time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut {
		return
	}
	if f.tracked {
		f.last, f.touchedBefore = later(f.last, f.touchedBefore), f.touched
		if sent, f.before = f.before, sent; sent.IsZero() {
			return
		}
	}
	wait := max(time.Until(f.last), 0)
	if wait > 0 {
		wait++
	}
	f.last = later(f.last, f.arrive(wait, func(s cache.Sink) { s.Proof(sent) }))
}
