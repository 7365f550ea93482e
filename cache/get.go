package cache

import (
	"context"
	"errors"
	"strings"
	"time"
	"unsafe"
)

// Peek returns the value of k if it is held and servable now. It never waits,
// does not allocate on a hit, and is safe for concurrent use. A stale value is
// served while Policy.StaleWhileRevalidate lasts if Options.Load or LoadEntry is
// set (its background refresh is then begun); without either it is not served,
// so that the caller's GetOrLoad comes to replace it.
func (c *Cache[K, V]) Peek(k K) (V, bool) {
	r, ok := c.store.Get(k)
	if ok && r.of(c.gen.Load()) && c.clock.Now() < r.early {
		if c.n.mine().hit() {
			c.sample(k, r, same)
		}
		return r.value, true
	}
	return c.peekSlow(k, r, same)
}

// PeekBytes is Peek for a key in a byte slice, without making a string of it.
// k is not kept: it may be overwritten once PeekBytes has returned.
func PeekBytes[V any](c *Cache[string, V], k []byte) (V, bool) {
	// The string lives no longer than this call: the store compares it and
	// does not keep it, and what goes on from here takes a copy.
	s := unsafe.String(unsafe.SliceData(k), len(k)) //nolint:gosec // G103: see above
	r, ok := c.store.Get(s)
	if ok && r.of(c.gen.Load()) && c.clock.Now() < r.early {
		if c.n.mine().hit() {
			c.sample(s, r, strings.Clone)
		}
		return r.value, true
	}
	return c.peekSlow(s, r, strings.Clone)
}

// peekSlow decides over a record that is not a plain hit. own makes a key that
// may be kept.
func (c *Cache[K, V]) peekSlow(k K, r *record[V], own func(K) K) (v V, ok bool) {
	gen := c.gen.Load()
	if gen == genClosed {
		return v, false
	}
	n := c.n.mine()
	now := c.clock.Now()
	if r == nil || !r.exists(gen) || r.suspect(gen, now) || r.state != stateValue || now >= r.stale || now >= r.soft && c.origin.none() {
		n.misses.Add(1)
		return v, false
	}
	n.hits.Add(1)
	if now >= r.soft {
		n.stale.Add(1)
	}
	if c.wantsRefresh(r, now, c.origin) {
		c.refresh(context.Background(), own(k), c.origin, r)
	}
	return r.value, true
}

// Get returns the value of k, from the process or from Options.Load or LoadEntry. See the
// package comment for the steps. Errors: ErrNotFound, *LoadError, ErrClosed,
// or that of ctx, which ends only the waiting of this call: the load goes on
// and fills the cache. Safe for concurrent use.
func (c *Cache[K, V]) Get(ctx context.Context, k K) (V, error) {
	return c.read(ctx, k, c.origin)
}

// GetOrLoad is Get with a loader of its own in place of that of Options; nil
// means that one. Reads of one key that come together share one load, that
// of the first: all loaders of a key must give the same answer, whoever asks.
func (c *Cache[K, V]) GetOrLoad(ctx context.Context, k K, load func(context.Context, K) (V, error)) (V, error) {
	if load == nil {
		return c.read(ctx, k, c.origin)
	}
	return c.read(ctx, k, source[K, V]{load: load})
}

type loader[K comparable, V any] = func(context.Context, K) (V, error)

// source is where a read loads from: a loader for each key, of one kind or the other, or a batch
// that gathers the keys. The zero value is no source.
type source[K comparable, V any] struct {
	load  loader[K, V]
	entry entryLoader[K, V]
	batch *batch[K, V]
	// verify asks the remote also for what is held.
	verify bool
}

func (s source[K, V]) none() bool {
	return s.load == nil && s.entry == nil && (s.batch == nil || s.batch.load == nil)
}

func (c *Cache[K, V]) read(ctx context.Context, k K, from source[K, V]) (v V, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	r, ok := c.store.Get(k)
	if ok && r.of(c.gen.Load()) && c.clock.Now() < r.early {
		if c.n.mine().hit() {
			c.sample(k, r, same)
		}
		return r.value, nil
	}
	bumps := c.tags.bumps.Load()
	for {
		done, f, v, err := c.answer(ctx, k, r, from)
		if done {
			return v, err
		}
		if f != nil {
			c.n.mine().misses.Add(1)
			got, err := c.waitFor(ctx, k, f, r, false, bumps)
			if !errors.Is(err, errOlderLoad) {
				return got.value, err
			}
			c.n.mine().misses.Add(^uint64(0)) // the same read goes on
		}
		// The record changed between the look and the decision to load:
		// somebody was faster. Look again.
		r, _ = c.store.Get(k)
	}
}

// answer decides over a record that is not a plain hit: it answers from r
// (done), or joins or begins the load of the key, or finds that r is not what
// the store holds any more (neither).
func (c *Cache[K, V]) answer(ctx context.Context, k K, r *record[V], from source[K, V]) (done bool, f *flight[K, V], v V, err error) {
	gen := c.gen.Load()
	if gen == genClosed {
		return true, nil, v, ErrClosed
	}
	n := c.n.mine()
	now := c.clock.Now()
	if !from.verify && r != nil && r.exists(gen) && now < r.hard && !r.suspect(gen, now) {
		switch {
		case r.state == stateAbsent, r.state == stateUnasked && from.none():
			n.hits.Add(1)
			n.negative.Add(1)
			return true, nil, v, ErrNotFound
		case r.state == stateFailed && now < r.retryAt():
			n.hits.Add(1)
			n.negative.Add(1)
			return true, nil, v, r.loadError(showKey(k))
		case r.state == stateValue && now < r.soft,
			// Stale is served only while something can replace it, and at
			// once either in its window or while the origin is left alone.
			r.state == stateValue && !from.none() && (now < r.stale || now < r.retryAt()):
			n.hits.Add(1)
			if now >= r.soft {
				n.stale.Add(1)
			}
			if c.wantsRefresh(r, now, from) {
				c.refresh(ctx, k, from, r)
			}
			return true, nil, r.value, nil
		}
	}
	if from.none() && c.remote == nil {
		n.misses.Add(1)
		return true, nil, v, ErrNotFound
	}
	if c.odd(k) {
		n.misses.Add(1)
		return true, nil, v, &LoadError{Key: showKey(k), Err: errOddKey}
	}
	if c.asksItself(ctx, k) {
		n.misses.Add(1)
		return true, nil, v, &LoadError{Key: showKey(k), Err: errOwnKey}
	}
	f, _, err = c.begin(ctx, k, from, r)
	return err != nil, f, v, err
}

// wantsRefresh says whether a hit on r begins a background load.
func (c *Cache[K, V]) wantsRefresh(r *record[V], now int64, from source[K, V]) bool {
	switch {
	case from.none() || now < r.retryAt():
		return false
	case now < r.soft:
		return now >= r.early && c.drawEarly(r, now)
	}
	return true
}

// softLimit returns a channel that is closed after LoadSoftTimeout, if there is one.
func (c *Cache[K, V]) softLimit() (<-chan struct{}, func() bool) {
	if c.p.LoadSoftTimeout <= 0 {
		return nil, func() bool { return false }
	}
	soft := make(chan struct{})
	return soft, time.AfterFunc(c.p.LoadSoftTimeout, func() { close(soft) }).Stop
}

// found is what a read that waited has got.
type found[V any] struct {
	value  V
	rec    *record[V] // of value, if it has one
	source Source
	bound  time.Duration
	lost   error // why the remote could not be asked, if so
}

// wait waits for f on the caller's own context. old, if it is a value within its hard life, is what
// to fall back on once soft is closed. bumps is the number of invalidations before the read: if one
// of them overtook f, or f brought what is too old, the error is errOlderLoad, and the read must
// begin again.
func (c *Cache[K, V]) wait(ctx context.Context, k K, f *flight[K, V], old *record[V], soft <-chan struct{}, bumps uint64) (found[V], error) {
	if !f.fallsBackOn(old) {
		soft = nil
	}
	for {
		select {
		case <-ctx.Done():
			return found[V]{}, ctx.Err()
		case <-soft:
			soft = nil
			select {
			case <-f.done: // in a GetMany, while it waited for another
				continue
			default:
			}
			if got, ok := c.meanwhile(k, f, old); ok {
				return got, nil
			}
		case <-f.done:
			if f.again || f.bumped > 0 && f.bumped <= bumps {
				return found[V]{}, errOlderLoad
			}
			got := found[V]{value: f.value, rec: f.rec, source: f.source, lost: f.lost}
			switch {
			case c.remote == nil:
			case f.rec != nil:
				got.bound = c.link.now() - f.asOf
			case f.lost != nil:
				got.bound = unprovedBound
			default:
				got.bound = c.link.now() - f.since
			}
			if f.spare {
				return got, nil
			}
			return got, f.err
		}
	}
}

// fallsBackOn says whether old is a value that may serve while f goes on.
func (f *flight[K, V]) fallsBackOn(old *record[V]) bool {
	return old != nil && old.exists(f.gen) && old.state == stateValue
}

// meanwhile is what to serve while f, the load of k, goes on: old, if it may stand in for the
// result, or what somebody has written since.
func (c *Cache[K, V]) meanwhile(k K, f *flight[K, V], old *record[V]) (got found[V], ok bool) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	r, held := c.store.Look(k)
	gen, now := c.gen.Load(), c.clock.Now()
	switch {
	case !held:
		return got, false
	case r == old && !f.detached.Load() && c.usable(old, false):
	case r.state == stateValue && r.exists(gen) && now < r.soft && !r.suspect(gen, now):
	default:
		return got, false
	}
	return found[V]{value: r.value, rec: r, bound: c.bound(r)}, true
}

// usable says whether old, which no notice of a write has overtaken, may stand in for the result of
// a load: it is alive. compared says that the remote has nothing better, for one that is suspect.
func (c *Cache[K, V]) usable(old *record[V], compared bool) bool {
	if old == nil {
		return false
	}
	gen, now := c.gen.Load(), c.clock.Now()
	return old.exists(gen) && now < old.hard && (!old.suspect(gen, now) || (compared || !linked(gen)) && c.bound(old) <= c.p.MaxStale)
}
