package cache

import (
	"context"
	"fmt"
)

// Set holds v under k for the policy's lives; without a loader in Options, for the soft one (see
// Load). Readers get v itself, not a copy: nobody may change it afterwards. A load of k that runs
// meanwhile does not overwrite it. Errors: ErrTooLarge, ErrClosed, that of an ended ctx; then
// nothing has changed. Safe for concurrent use.
func (c *Cache[K, V]) Set(ctx context.Context, k K, v V) error {
	if c.remote != nil {
		_, err := c.writeShared(ctx, k, v, c.lives, WriteOptions{}, StoreRequest{})
		return err
	}
	_, err := c.write(ctx, k, v, c.lives, nil, nil)
	return err
}

// SetWith is Set with lives and tags of its own for this write, and returns the version
// it got. A wrong option is a *ConfigError.
func (c *Cache[K, V]) SetWith(ctx context.Context, k K, v V, o WriteOptions) (Version, error) {
	l, err := o.lives(&c.p, "WriteOptions")
	if err != nil {
		return Version{}, err
	}
	if c.remote != nil {
		return c.writeShared(ctx, k, v, l, o, StoreRequest{})
	}
	counter, err := c.write(ctx, k, v, l, c.tags.set(o.Tags, c.tags.bumps.Load()), nil)
	if err != nil {
		return Version{}, err
	}
	return Version{Epoch: c.epoch, Counter: counter, WriteID: randomID()}, nil
}

// write holds v under k, if the condition holds, which is asked for under the lock of the key; nil
// is none.
func (c *Cache[K, V]) write(ctx context.Context, k K, v V, l lives, tags *tagSet, condition func() bool) (uint64, error) {
	if err := c.writable(ctx); err != nil {
		return 0, err
	}
	if c.odd(k) {
		return 0, fmt.Errorf("cache set %q: %w", showKey(k), errOddKey)
	}
	weight, ok := c.weigh(k, v, 0, tags)
	r := &record[V]{value: v, weight: weight, tags: tags}
	c.live(r, c.clock.Now(), c.jittered(l))

	s := c.shard(k)
	s.mu.Lock()
	r.gen = c.gen.Load()
	if r.gen == genClosed {
		s.mu.Unlock()
		return 0, ErrClosed
	}
	if !ok {
		c.n.refused.Add(1)
		s.mu.Unlock()
		c.refuse(k, "set")
		return 0, ErrTooLarge
	}
	if condition != nil && !condition() {
		s.mu.Unlock()
		return 0, ErrConflict
	}
	s.detach(k)
	c.store.Put(k, r)
	// Taken in the lock of the key: the order of the counters of one key is
	// the order of its writes.
	counter := c.n.sets.Add(1)
	s.mu.Unlock()
	c.store.Trim()
	c.observe(Event[K]{Kind: EventSet, Key: k})
	return counter, nil
}

// Delete drops k. A load of k that began before is not kept. The key may
// exist at the origin still: the next Get asks it. Errors as for Set.
func (c *Cache[K, V]) Delete(ctx context.Context, k K) error {
	if err := c.writable(ctx); err != nil {
		return err
	}
	if c.remote != nil {
		_, err := c.deleteShared(ctx, k, StoreRequest{})
		return err
	}
	return c.remove(k, nil)
}

// remove drops k, with a condition as for write.
func (c *Cache[K, V]) remove(k K, condition func() bool) error {
	s := c.shard(k)
	s.mu.Lock()
	var err error
	switch {
	case c.gen.Load() == genClosed:
		err = ErrClosed
	case condition != nil && !condition():
		err = ErrConflict
	default:
		s.detach(k)
		c.store.Remove(k)
		c.n.deletes.Add(1)
	}
	s.mu.Unlock()
	if err == nil {
		c.observe(Event[K]{Kind: EventDelete, Key: k})
	}
	return err
}

// Clear drops all entries, at a cost that does not depend on their number:
// they cease to exist at once and their memory is freed in the background.
// Loads that began before are not kept. Errors as for Set.
func (c *Cache[K, V]) Clear(ctx context.Context) error {
	if err := c.writable(ctx); err != nil {
		return err
	}
	if c.remote != nil {
		if err := c.bumpShared(ctx, []string{""}); err != nil {
			return err
		}
	} else if c.drop() {
		c.observe(Event[K]{Kind: EventClear})
	} else {
		return ErrClosed
	}
	c.n.clears.Add(1)
	return nil
}

// drop puts all records out of use, unless the cache is closed.
func (c *Cache[K, V]) drop() bool {
	if !c.advance(func(gen uint64) uint64 { return gen + clearing }) {
		return false
	}
	if c.sweeps.Add(1) == 1 && c.busy.begin() {
		go c.sweep()
	}
	return true
}

// sweep frees what Clear has put out of use. One runs at a time; c.sweeps
// counts the calls it owes a walk.
func (c *Cache[K, V]) sweep() {
	defer c.busy.end(1)
	for {
		owed := c.sweeps.Load()
		c.purge()
		if c.sweeps.Add(-owed) == 0 {
			return
		}
	}
}
