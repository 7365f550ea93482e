package cache

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"reflect"
	"runtime/debug"
	"time"
)

// outcome is what came of a load.
type outcome[V any] struct {
	value  V
	err    error
	took   time.Duration
	weight uint32
	fits   bool
	// The rest is said by a LoadEntry alone.
	lives *lives // nil: the policy's
	tags  *tagSet
	kept  *record[V] // value is that of this record
	rec   *record[V] // the whole record, if the remote had it
	// shared is what the record has to do with the remote.
	shared *shared
	// unasked: there was no loader to ask. passing: err is not remembered.
	unasked, passing bool
	// compared: the remote was asked before the loader.
	compared bool
	// noStore: value is for those who wait, and the key holds nothing.
	noStore bool
	// lost is why the remote could not be asked, if so.
	lost error
	// failures is how often the key has failed in a row before, as the remote says.
	failures uint32
}

// version is that of what the remote has of out; zero for nothing.
func (o *outcome[V]) version() Version {
	switch {
	case o.rec != nil && o.rec.shared != nil:
		return o.rec.shared.version
	case o.shared != nil:
		return o.shared.version
	}
	return Version{}
}

// fly loads the keys of fs with one call of load, which returns an outcome per flight. It is the
// goroutine of these flights; the context of the read that began them lends its values and nothing
// else. asked, if not nil, has asked the remote for them already.
func (c *Cache[K, V]) fly(ctx context.Context, fs []*flight[K, V], load func(context.Context, []*flight[K, V]) []outcome[V], asked *inquiry[K, V]) {
	defer c.busy.end(len(fs))
	ctx, cancel := context.WithCancelCause(withFlights(context.WithoutCancel(ctx), fs))
	defer cancel(nil)
	if d := c.p.LoadTimeout; d > 0 {
		var stop context.CancelFunc
		end := time.Now().Add(d)
		if asked != nil {
			end = asked.limit.at
		}
		ctx, stop = context.WithDeadlineCause(ctx, end, &timeoutError{after: d})
		defer stop()
	}
	defer context.AfterFunc(c.closing, func() { cancel(ErrClosed) })()

	// The watch releases the readers at the end of the context, whether the
	// loader heeds it or not. What a late loader still returns is dropped.
	run := &run[K, V]{cache: c}
	defer run.end()
	watched := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(watched)
		run.abandon()
		for _, f := range fs {
			c.settle(f, outcome[V]{err: context.Cause(ctx)})
		}
	})
	defer func() {
		if !unwatch() {
			<-watched
		}
	}()

	if c.remote != nil {
		if asked == nil {
			fs = c.consult(ctx, fs)
		}
		if len(fs) == 0 {
			return
		}
		if load == nil {
			for _, f := range fs {
				c.unasked(f)
			}
			return
		}
		if !fs[0].bulk {
			if !c.lead(ctx, fs[0]) {
				return
			}
			defer c.hold(ctx, fs[0])()
		}
		c.prepare(ctx, fs)
		c.n.loads.Add(uint64(len(fs)))
	}

	admitted := make([]*flight[K, V], 0, len(fs))
	for _, f := range fs {
		if err := run.admit(ctx, f.key); err != nil {
			c.settle(f, outcome[V]{err: err})
			continue
		}
		admitted = append(admitted, f)
	}
	if len(admitted) == 0 {
		return
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	if run.start() {
		c.call(ctx, admitted, load)
	}
}

// unasked settles f, for which the remote has nothing and there is no loader.
func (c *Cache[K, V]) unasked(f *flight[K, V]) {
	c.settle(f, outcome[V]{err: ErrNotFound, unasked: true, shared: &shared{version: f.known, checked: f.since, until: c.until(f.gen)}})
}

// call asks the loader and settles fs, also when the loader panics or ends its
// goroutine. Nothing of the former is passed on: the goroutine is ours, and a
// panic in it would end the program for a fault of one key.
func (c *Cache[K, V]) call(ctx context.Context, fs []*flight[K, V], load func(context.Context, []*flight[K, V]) []outcome[V]) {
	var outs []outcome[V]
	defer func() {
		if outs != nil {
			return
		}
		out := outcome[V]{err: errGoexit}
		if p := recover(); p != nil {
			out.err = &panicError{value: p, who: "loader"}
			c.log.LogAttrs(ctx, slog.LevelError, "loader panicked", keyAttr(fs[0].key), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		}
		for _, f := range fs {
			c.settle(f, out)
		}
	}()
	start := time.Now()
	got := load(ctx, fs)
	took := time.Since(start)
	for i, f := range fs {
		out := &got[i]
		out.took, out.err = took, readable(out.err, "loader")
		switch {
		case out.err == nil && out.kept != nil:
			w := int64(out.kept.weight) - out.kept.tags.weight() + out.tags.weight()
			out.weight, out.fits = uint32(w&math.MaxUint32), w <= c.maxWeight
		case out.err == nil:
			out.weight, out.fits = c.weigh(f.key, out.value, 0, out.tags)
		case ctx.Err() != nil && errors.Is(out.err, ctx.Err()):
			// A loader that heeds its context may come before the watch: the
			// readers get the reason all the same.
			out.err = context.Cause(ctx)
		}
	}
	if c.remote != nil {
		c.shareAll(ctx, fs, got)
		for i, f := range fs {
			got[i].compared = !f.alone
		}
	}
	outs = got
	for i, f := range fs {
		c.settle(f, outs[i])
	}
}

// caller returns how the loader of from is called; nil if there is none.
func (c *Cache[K, V]) caller(from source[K, V]) func(context.Context, []*flight[K, V]) []outcome[V] {
	switch {
	case from.batch != nil && from.batch.load != nil:
		return bulk(from.batch.load)
	case from.entry != nil:
		return c.conditional(from.entry)
	case from.load != nil:
		return single(from.load)
	}
	return nil
}

// single calls load for the one key of fs.
func single[K comparable, V any](load loader[K, V]) func(context.Context, []*flight[K, V]) []outcome[V] {
	return func(ctx context.Context, fs []*flight[K, V]) []outcome[V] {
		v, err := load(ctx, fs[0].key)
		return []outcome[V]{{value: v, err: err}}
	}
}

// settle keeps the outcome of f if f is still the load of its key, and
// releases the readers. Only the first call has an effect.
func (c *Cache[K, V]) settle(f *flight[K, V], out outcome[V]) {
	notFound := errors.Is(out.err, ErrNotFound)
	// Made before the lock is taken: the text of a key is code of the user.
	var failure *LoadError
	if out.err != nil && !notFound {
		if errors.Is(out.err, context.Canceled) {
			out.err = &canceledError{out.err}
		}
		failure = &LoadError{Key: showKey(f.key), Err: out.err}
		if out.rec != nil {
			failure.RetryAt = time.Unix(0, out.rec.retryAt())
		}
	}
	s := c.shard(f.key)
	s.mu.Lock()
	if f.settled {
		s.mu.Unlock()
		return
	}
	f.settled, f.lost, f.source = true, out.lost, FromOrigin
	if out.rec != nil {
		f.source = FromRemote
	}
	if s.flights[f.key] == f {
		delete(s.flights, f.key)
	}
	now := c.clock.Now()
	old, _ := c.store.Look(f.key)
	f.bumped = out.tags.overtaken()
	if out.kept != nil && f.bumped == 0 {
		f.bumped = out.kept.tags.overtaken()
	}
	overtaken := f.bumped > 0 || f.detached.Load() || !sameClear(f.gen, c.gen.Load())
	refused := false
	v := out.version()
	if v.Epoch != 0 && out.lost == nil {
		s.saw(v) // it may not be held for long, or at all: the notice of an earlier write is late
	}
	switch {
	case f.behind(v) && (failure == nil || out.rec != nil || out.shared != nil):
		c.n.overtaken.Add(1)
		f.again = true
	case overtaken:
		c.n.overtaken.Add(1)
		c.surpass(s, f.key, v)
		old, _ = c.store.Look(f.key)
		c.adopt(f, old, now, out, failure)
	case out.rec != nil && out.fits:
		f.rec, f.value, f.err = f.doubted(out.rec), out.value, out.err
		c.store.Put(f.key, f.rec)
		if failure != nil {
			f.failed, f.err = true, failure
		}
	case out.err == nil && out.noStore:
		c.store.Remove(f.key)
		f.value = out.value
	case out.err == nil && !out.fits:
		// The old value is known to be wrong by now: better none.
		refused = true
		c.n.refused.Add(1)
		c.store.Remove(f.key)
		f.value = out.value
	case out.err == nil:
		r := &record[V]{value: out.value, gen: f.gen, delta: out.took, weight: out.weight, tags: out.tags, shared: out.shared}
		l := c.lives
		if out.lives != nil {
			l = *out.lives
		}
		if out.shared == nil {
			l = c.jittered(l)
		}
		c.live(r, now, l)
		f.rec, f.value = f.doubted(r), out.value
		c.store.Put(f.key, f.rec)
	case notFound:
		f.err = ErrNotFound
		switch {
		case out.unasked && !f.bare:
			// Something is there, for those who have a loader.
		case c.p.NegativeTTL > 0 && c.holds(f.key):
			r := c.absent(f.key, f.gen, now)
			r.shared = out.shared
			if out.unasked {
				r.state = stateUnasked
			}
			c.store.Put(f.key, r)
		default:
			c.store.Remove(f.key)
		}
	default:
		f.failed, f.err = true, failure
		if c.p.ErrorBackoffMin > 0 && c.holds(f.key) && !out.passing {
			if r := c.failed(f.key, old, f.gen, now, &out); int64(r.weight) <= c.maxWeight {
				failure.RetryAt = time.Unix(0, r.retryAt())
				c.store.Put(f.key, r)
			}
		}
	}
	if failure != nil && !out.passing {
		c.n.failures.Add(1)
	}
	failed := f.failed && !out.passing
	if f.failed && !overtaken && c.usable(f.old, out.compared) && (f.asking == nil || !f.old.behind(f.least)) {
		f.spare, f.rec, f.value = true, f.old, f.old.value
	}
	if f.rec != nil && f.rec.shared != nil {
		f.asOf = c.asOf(f.rec)
	}
	close(f.done)
	s.mu.Unlock()

	c.store.Trim()
	if refused {
		c.refuse(f.key, "load")
	}
	if failed {
		c.log.LogAttrs(context.Background(), slog.LevelWarn, "load failed",
			keyAttr(f.key), slog.Any("error", failure.Err), slog.Time("retry_at", failure.RetryAt))
	}
}

// doubted is r, to be compared at its next read if its key was touched while it was stored.
func (f *flight[K, V]) doubted(r *record[V]) *record[V] {
	if f.asking != nil && f.touched && r.shared != nil {
		return r.suspected()
	}
	return r
}

// adopt gives the readers of an overtaken load what the key holds now, which
// is newer than what they waited for; if it holds nothing, the outcome itself:
// they asked before the key was deleted. failure is the outcome's error unless
// that is ErrNotFound.
func (c *Cache[K, V]) adopt(f *flight[K, V], held *record[V], now int64, out outcome[V], failure *LoadError) {
	gen := c.gen.Load()
	if held != nil && held.exists(gen) && now < held.soft && !held.suspect(gen, now) {
		switch held.state {
		case stateValue:
			f.rec, f.value, f.source = held, held.value, FromLocal
			return
		case stateAbsent:
			f.rec, f.err = held, ErrNotFound
			return
		case stateFailed, stateUnasked:
		}
	}
	switch {
	case out.err == nil:
		f.value = out.value
		if out.rec != nil {
			f.rec = out.rec.suspected() // no proof since it was fetched is one for it
		}
	case failure == nil:
		f.err = ErrNotFound
	default:
		f.failed, f.err = true, failure
	}
}

// odd says whether k is not equal to itself, as NaN is not: no map finds it again, so it can
// neither be replaced nor dropped.
func (c *Cache[K, V]) odd(k K) bool { return c.oddKeys && !equal(k, k) }

func equal[K comparable](a, b K) bool { return a == b }

// mayBeOdd says whether a value of type t may not be equal to itself.
func mayBeOdd(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.Interface:
		return true
	case reflect.Array:
		return mayBeOdd(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			if mayBeOdd(field.Type) {
				return true
			}
		}
	}
	return false
}

// holds says whether records of k may be held at all.
func (c *Cache[K, V]) holds(k K) bool {
	return !c.stringKeys || c.keyBytes(k) <= maxKeyBytes
}

// refuse reports a value that is too large.
func (c *Cache[K, V]) refuse(k K, op string) {
	if ctx := context.Background(); c.log.Enabled(ctx, slog.LevelWarn) { // the text of the key is made for the log alone
		c.log.LogAttrs(ctx, slog.LevelWarn, "value too large to hold", keyAttr(k), slog.String("op", op))
	}
	c.observe(Event[K]{Kind: EventRefuse, Key: k, Err: ErrTooLarge})
}

// keyAttr is a key in the log: quoted, whatever the handler, and cut.
func keyAttr[K any](k K) slog.Attr {
	return slog.String("key", quoteKey(k))
}
