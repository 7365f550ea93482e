package cache

import (
	"context"
	"time"
)

// Loaded is what Options.LoadEntry returns. The durations are as in WriteOptions: zero is the
// policy's, negative is off; one that cannot be fails the load with a *ConfigError.
type Loaded[V any] struct {
	Value                                   V
	TTL, StaleWhileRevalidate, StaleIfError time.Duration
	// Tags are as in WriteOptions. With NotModified, nil keeps those of old.
	Tags []string
	// NoStore gives Value to the reads that wait for this load and to nobody else. What was held
	// before is dropped.
	NoStore bool
	// NotModified says that the value of old is still right: it begins a new life, and Value is not
	// looked at. Without old it fails the load.
	NotModified bool
}

type entryLoader[K comparable, V any] = func(context.Context, K, *Entry[V]) (Loaded[V], error)

// conditional calls load for the one key of fs, with the value that is held.
func (c *Cache[K, V]) conditional(load entryLoader[K, V]) func(context.Context, []*flight[K, V]) []outcome[V] {
	return func(ctx context.Context, fs []*flight[K, V]) []outcome[V] {
		f := fs[0]
		var old *Entry[V]
		if f.old != nil {
			e := c.entry(f.old, FromLocal, c.bound(f.old))
			old = &e
		}
		got, err := load(ctx, f.key, old)
		if err != nil {
			return []outcome[V]{{err: err}}
		}
		o := WriteOptions{TTL: got.TTL, StaleWhileRevalidate: got.StaleWhileRevalidate, StaleIfError: got.StaleIfError, Tags: got.Tags}
		l, err := o.lives(&c.p, "Loaded")
		if err != nil {
			return []outcome[V]{{err: err}}
		}
		if got.NotModified && got.Tags == nil && f.old != nil && f.old.tags != nil {
			got.Tags = f.old.tags.names
		}
		out := outcome[V]{value: got.Value, lives: &l, tags: c.tags.set(got.Tags, f.bumps), noStore: got.NoStore}
		if got.NotModified {
			if f.old == nil {
				return []outcome[V]{{err: errNoOld}}
			}
			out.value, out.kept = f.old.value, f.old
		}
		return []outcome[V]{out}
	}
}
