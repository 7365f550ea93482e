package cache

import (
	"context"
)

// Set holds v under k for the policy's lives; without a loader in Options, for the soft one (see Load). Readers get v itself, not a
// copy: nobody may change it afterwards. A load of k that runs meanwhile does
// not overwrite it. Errors: ErrTooLarge, ErrClosed, that of an ended ctx; then
// nothing has changed. Safe for concurrent use.
func (c *Cache[K, V]) Set(ctx context.Context, k K, v V) error {
	if c.remote != nil {
		_, err := c.writeShared(ctx, k, v, c.lives, WriteOptions{})
		return err
	}
	_, err := c.write(ctx, k, v, c.lives, nil)
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
		return c.writeShared(ctx, k, v, l, o)
	}
	counter, err := c.write(ctx, k, v, l, c.tags.set(o.Tags, c.tags.bumps.Load()))
	if err != nil {
		return Version{}, err
	}
	return Version{Epoch: c.epoch, Counter: counter, WriteID: randomID()}, nil
}

func (c *Cache[K, V]) write(ctx context.Context, k K, v V, l lives, tags *tagSet) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
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
	s.detach(k)
	c.store.Put(k, r)
	// Taken in the lock of the key: the order of the counters of one key is
	// the order of its writes.
	counter := c.n.sets.Add(1)
	s.mu.Unlock()
	c.store.Trim()
	return counter, nil
}

// Delete drops k. A load of k that began before is not kept. The key may
// exist at the origin still: the next Get asks it. Errors as for Set.
func (c *Cache[K, V]) Delete(ctx context.Context, k K) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.remote != nil {
		return c.deleteShared(ctx, k)
	}
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.gen.Load() == genClosed {
		return ErrClosed
	}
	s.detach(k)
	c.store.Remove(k)
	c.n.deletes.Add(1)
	return nil
}

// Clear drops all entries, at a cost that does not depend on their number:
// they cease to exist at once and their memory is freed in the background.
// Loads that began before are not kept. Errors as for Set.
func (c *Cache[K, V]) Clear(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.remote != nil {
		if err := c.bumpShared(ctx, []string{""}); err != nil {
			return err
		}
	} else if !c.drop() {
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
		dead := func(r *record[V]) bool { return !r.exists(c.gen.Load()) }
		c.store.Range(func(k K, r *record[V]) bool {
			if dead(r) {
				c.store.RemoveIf(k, dead)
			}
			return true
		})
		if c.sweeps.Add(-owed) == 0 {
			return
		}
	}
}
