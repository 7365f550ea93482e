package cache

import (
	"context"
	"errors"
	"fmt"
)

// Op is what Update does.
type Op uint8

// The operations of an Update.
const (
	Keep   Op = iota // change nothing
	Put              // set the new value
	Remove           // delete the key
)

// maxTries is how often Update begins again.
const maxTries = 8

// Update changes k by what it has: f gets the fresh value that is there, in the remote if there is
// one, or ok false, and says what to do. A new value keeps the tags of the old one and has the
// lives of the policy. Nothing is loaded. If another write comes between, f is called again with
// what is there then, eight times at most; then the error is ErrConflict. That is no way to count
// things of which none may be lost: the entry may vanish at any time.
//
// It returns the version that is there afterwards; zero for none, and where nothing was put without
// a remote. An error of f is returned as it is, and nothing has changed; other errors as for Set. f
// holds no lock; old is shared and must not be changed. Safe for concurrent use.
func (c *Cache[K, V]) Update(ctx context.Context, k K, f func(old V, ok bool) (V, Op, error)) (Version, error) {
	try := c.updateHere
	if c.remote != nil {
		try = c.updateShared
	}
	for range maxTries {
		v, err := try(ctx, k, f)
		if !errors.Is(err, ErrConflict) {
			return v, err
		}
	}
	return Version{}, fmt.Errorf("cache update %q: %w", showKey(k), ErrConflict)
}

// updateShared is one try, by the version that the remote has.
func (c *Cache[K, V]) updateShared(ctx context.Context, k K, f func(old V, ok bool) (V, Op, error)) (Version, error) {
	if err := c.writable(ctx); err != nil {
		return Version{}, err
	}
	fl := &flight[K, V]{asking: &asking{text: c.o.Keys.Format(k), verify: true}}
	gen, bumps := c.gen.Load(), c.tags.bumps.Load()
	recs, counters, at, err := c.records(ctx, []*flight[K, V]{fl}, false)
	if err != nil {
		return Version{}, fmt.Errorf("cache update %q: %w", showKey(k), err)
	}
	var old V
	var tags []string
	rec, ok, readable := &recs[0], false, true
	w := StoreRequest{If: StoreIfVersion, IfVersion: rec.Version}
	switch valid := current(rec.Tags, counters); {
	case rec.State != RecordValue:
	case !valid:
		c.invalidated(k, rec.Version)
	case rec.Age < rec.Fresh:
		r, _, err := c.take(k, rec, gen, bumps, at)
		if readable = err == nil; readable { // otherwise it is replaced
			old, ok, tags = r.value, true, tagNames(rec.Tags)
			w.Record.Tags = rec.Tags // the new value is made of the old one: what ends that ends it too
		}
	}
	if readable {
		// f sees it, so no read that comes later may have less.
		s := c.shard(k)
		s.mu.Lock()
		c.surpass(s, k, rec.Version)
		s.mu.Unlock()
	}
	v, op, err := f(old, ok)
	switch {
	case err != nil:
		return Version{}, err
	case op == Put:
		return c.writeShared(ctx, k, v, c.lives, WriteOptions{Tags: tags}, w)
	case op == Remove:
		return c.deleteShared(ctx, k, w)
	case !ok:
		return Version{}, nil
	}
	return rec.Version, nil
}

// updateHere is one try in a cache without a remote.
func (c *Cache[K, V]) updateHere(ctx context.Context, k K, f func(old V, ok bool) (V, Op, error)) (Version, error) {
	if err := c.writable(ctx); err != nil {
		return Version{}, err
	}
	var old V
	var tags []string
	bumps := c.tags.bumps.Load()
	r, _ := c.store.Look(k)
	ok := r != nil && r.of(c.gen.Load()) && r.state == stateValue && c.clock.Now() < r.soft
	if ok {
		old = r.value
		if r.tags != nil {
			tags = r.tags.names
		}
	}
	v, op, err := f(old, ok)
	if err != nil || op != Put && op != Remove {
		return Version{}, err
	}
	// A write of the key, a Clear or an invalidation that comes between is a conflict.
	unchanged := func() bool {
		now, _ := c.store.Look(k)
		return now == r && (!ok || r.of(c.gen.Load()))
	}
	if op == Remove {
		return Version{}, c.remove(k, unchanged)
	}
	counter, err := c.write(ctx, k, v, c.lives, c.tags.set(tags, bumps), unchanged)
	if err != nil {
		return Version{}, err
	}
	return Version{Epoch: c.epoch, Counter: counter, WriteID: randomID()}, nil
}
