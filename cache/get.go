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
			soft, stop := c.softLimit()
			v, _, err = c.wait(ctx, k, f, r, soft, bumps)
			stop()
			if !errors.Is(err, errOlderLoad) {
				return v, err
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
		case r.state == stateFailed && now < r.retryAt:
			n.hits.Add(1)
			n.negative.Add(1)
			return true, nil, v, r.loadError(showKey(k))
		case r.state == stateValue && now < r.soft,
			// Stale is served only while something can replace it, and at
			// once either in its window or while the origin is left alone.
			r.state == stateValue && !from.none() && (now < r.stale || now < r.retryAt):
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
	case from.none() || now < r.retryAt:
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

// wait waits for f on the caller's own context. old, if it is a value within
// its hard life, is what to fall back on: once soft is closed, and if the load
// fails. bumps is the number of invalidations before the read: if one of them overtook f the error is
// errOlderLoad, and the read must begin again. rec is the record of v, if it has one.
func (c *Cache[K, V]) wait(ctx context.Context, k K, f *flight[K, V], old *record[V], soft <-chan struct{}, bumps uint64) (v V, rec *record[V], err error) {
	if old == nil || !old.exists(f.gen) || old.state != stateValue {
		old, soft = nil, nil
	}
	for {
		select {
		case <-ctx.Done():
			return v, nil, ctx.Err()
		case <-soft:
			soft = nil
			if c.usable(old, f, false) {
				return old.value, old, nil
			}
			// Somebody wrote the key meanwhile: no need to wait for less.
			if r, ok := c.store.Look(k); ok && r.of(c.gen.Load()) && r.state == stateValue && c.clock.Now() < r.soft {
				return r.value, r, nil
			}
		case <-f.done:
			if f.bumped > 0 && f.bumped <= bumps {
				return v, nil, errOlderLoad
			}
			if f.failed && c.usable(f.old, f, f.compared) {
				return f.old.value, f.old, nil
			}
			return f.value, f.rec, f.err
		}
	}
}

// usable says whether old may stand in for the result of f: it is alive, and
// the key was not written or deleted since the load began. compared says that the remote has
// nothing better, for one that is suspect.
func (c *Cache[K, V]) usable(old *record[V], f *flight[K, V], compared bool) bool {
	if old == nil || f.detached.Load() {
		return false
	}
	gen, now := c.gen.Load(), c.clock.Now()
	return old.exists(gen) && now < old.hard && (!old.suspect(gen, now) || (compared || !linked(gen)) && c.bound(old) <= c.p.MaxStale)
}
