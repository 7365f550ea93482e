package cache

import (
	"context"
	"fmt"
)

// Purge frees the memory of entries that Clear and InvalidateTags have put out of use, here and,
// with Options.Remote, there, and returns how many it removed, here if there is no remote. In the
// remote they would stay until the end of their life. It looks at perSecond keys of the remote in a
// second, so that others get their answers meanwhile; those of other namespaces count, and are left
// alone. It ends with ctx. Errors: ErrReadOnly, ErrClosed, that of ctx, those of the remote, each
// with what was removed until then; a *ConfigError for less than one key in a second. Safe for
// concurrent use.
func (c *Cache[K, V]) Purge(ctx context.Context, perSecond int) (int, error) {
	if err := c.writable(ctx); err != nil {
		return 0, err
	}
	if perSecond < 1 {
		return 0, &ConfigError{Field: "Purge.perSecond", Got: perSecond, Want: "at least 1"}
	}
	n := c.purge()
	if c.remote == nil {
		return n, nil
	}
	n, err := c.remote.Purge(ctx, c.o.Name, perSecond)
	if err != nil {
		err = fmt.Errorf("cache purge: %w", err)
	}
	return n, err
}

// purge drops the records that do not exist any more, and returns how many.
func (c *Cache[K, V]) purge() (n int) {
	dead := func(r *record[V]) bool { return !r.exists(c.gen.Load()) }
	c.store.Range(func(k K, r *record[V]) bool {
		if dead(r) && c.store.RemoveIf(k, dead) {
			n++
		}
		return true
	})
	return n
}
