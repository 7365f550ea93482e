package cache

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// ReadOptions asks more of one read. Without Options.Remote nothing can be out of date, and they
// have no effect.
type ReadOptions struct {
	// MaxStale is the greatest Entry.Bound that will do; 0 is any. What is held and may be older is
	// compared with the remote. It is ErrStale if the remote cannot be asked and no loader brings a
	// new value.
	MaxStale time.Duration
	// Verify compares with the remote in any case, the tags too, and joins no load that began
	// before: the read returns what the remote has while it runs, or the result of a load that
	// begins after it. It fails with ErrUnavailable if the remote cannot be asked. It costs two
	// calls of the remote.
	Verify bool
}

// EntryState says how good a value is.
type EntryState uint8

// The states of an Entry.
const (
	Fresh   EntryState = iota
	Stale              // beyond its soft life
	Suspect            // the link to the remote is down, so that notices may be missed; Bound tells
)

// Source is where a value came from for one read.
type Source uint8

// The sources of an Entry.
const (
	FromLocal  Source = iota // it was held
	FromRemote               // the remote had it, or confirmed what was held
	FromOrigin               // it was loaded for this read or another that came before
)

// Entry is a value with what is known of it.
type Entry[V any] struct {
	Value V
	// Version is that of the remote; zero without one, and for a value that was not stored there.
	Version Version
	State   EntryState
	Source  Source
	// Age is the time since the value was set or loaded, or last found unmodified.
	Age time.Duration
	// Bound is how long ago, at most, the value may have been replaced in the remote, counted from
	// an instant between the call and its return: math.MaxInt64 if nothing is known of that, 0
	// without a remote.
	Bound time.Duration
}

// GetEntry is Get that tells more of the value and may ask for more. Errors as for Get, and
// ErrStale, ErrUnavailable (see ReadOptions) and *ConfigError for a negative MaxStale. Safe for
// concurrent use.
func (c *Cache[K, V]) GetEntry(ctx context.Context, k K, o ReadOptions) (e Entry[V], err error) {
	if err := ctx.Err(); err != nil {
		return e, err
	}
	if o.MaxStale < 0 {
		return e, &ConfigError{Field: "ReadOptions.MaxStale", Got: o.MaxStale, Want: "0 for any, or a positive duration"}
	}
	limit := o.MaxStale
	if limit == 0 || c.remote == nil {
		limit = math.MaxInt64
	}
	from := c.origin
	from.verify = o.Verify && c.remote != nil
	bumps := c.tags.bumps.Load()
	for {
		r, _ := c.store.Get(k)
		bound := time.Duration(0)
		if r != nil && c.remote != nil {
			bound = c.bound(r)
			if now, _ := c.store.Look(k); now != r {
				continue // replaced, perhaps before the proof that bound is of
			}
			from.verify = from.verify || bound > limit
		}
		done, f, _, err := c.answer(ctx, k, r, from)
		switch {
		case done && err != nil:
			return e, err
		case done:
			return c.entry(r, FromLocal, bound), nil
		case f == nil:
			continue
		}
		c.n.mine().misses.Add(1)
		got, err := c.waitFor(ctx, k, f, r, from.verify || limit < math.MaxInt64, bumps)
		// What was asked for after the read began is as new as it can be.
		proved := c.remote == nil || got.lost == nil && got.bound <= c.link.now()-f.since
		switch {
		case errors.Is(err, errOlderLoad):
		case err != nil && !errors.Is(err, ErrNotFound):
			return e, err
		case from.verify && proved, !o.Verify && got.bound <= limit:
			if got.rec == nil {
				return Entry[V]{Value: got.value, Source: got.source, Bound: got.bound}, err
			}
			return c.entry(got.rec, got.source, got.bound), err
		case from.verify && got.lost == nil && f.err != nil:
			return e, f.err // the load failed, and the old value will not do
		case from.verify && got.lost == nil: // overtaken by a notice that is not proved yet
		case o.Verify:
			return e, fmt.Errorf("cache get %q: %w", showKey(k), asUnavailable(got.lost))
		case from.verify:
			return e, fmt.Errorf("cache get %q: %w: %w", showKey(k), ErrStale, got.lost)
		default:
			from.verify = true
		}
		c.n.mine().misses.Add(^uint64(0)) // the same read goes on
	}
}

// waitFor is wait, for a value that is held too long to do, or for no stale one at all.
func (c *Cache[K, V]) waitFor(ctx context.Context, k K, f *flight[K, V], old *record[V], strict bool, bumps uint64) (found[V], error) {
	if strict || !f.fallsBackOn(old) {
		return c.wait(ctx, k, f, nil, nil, bumps)
	}
	soft, stop := c.softLimit()
	defer stop()
	return c.wait(ctx, k, f, old, soft, bumps)
}

// entry tells of r.
func (c *Cache[K, V]) entry(r *record[V], from Source, bound time.Duration) Entry[V] {
	now := c.clock.Now()
	e := Entry[V]{Value: r.value, Source: from, Age: time.Duration(max(now-r.written, 0)), Bound: bound}
	if r.shared != nil && r.shared.version.Epoch != 0 {
		e.Version = r.shared.version
	}
	switch {
	case c.remote != nil && !linked(c.gen.Load()):
		e.State = Suspect
	case now >= r.soft:
		e.State = Stale
	}
	return e
}
