package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
)

// maxMany bounds the keys of one GetMany.
const maxMany = 10_000

// PartialError says which keys of a GetMany could not be loaded.
type PartialError[K comparable] struct {
	// Errors has a *LoadError for each of these keys, at least one.
	Errors map[K]error
}

// Error implements error.
func (e *PartialError[K]) Error() string {
	for _, err := range e.Errors {
		return fmt.Sprintf("cache load: %d keys failed, among them: %v", len(e.Errors), err)
	}
	return "cache load: no key failed"
}

// Unwrap returns the errors of the keys, in no order.
func (e *PartialError[K]) Unwrap() []error {
	all := make([]error, 0, len(e.Errors))
	for _, err := range e.Errors {
		all = append(all, err)
	}
	return all
}

// batch gathers the flights of keys that one call of a bulk loader will fill.
type batch[K comparable, V any] struct {
	flights []*flight[K, V]
	load    func(context.Context, []K) (map[K]V, error)
}

// GetMany is Get for up to 10 000 keys: what is held is answered as by Get, and all other keys are
// asked for in one call of load, which returns the values it has found. A key without value in its
// answer does not exist and is remembered so; if load also returns an error, such a key has failed
// with it instead. Keys that another read loads already are waited for and not asked for again. A
// nil load means the loader of Options, called for each key.
//
// The result has the keys that exist. Errors: *PartialError for keys that failed, beside the values
// of the others; ErrClosed or that of ctx, without values; *ConfigError for too many keys. Safe for
// concurrent use.
func (c *Cache[K, V]) GetMany(ctx context.Context, ks []K, load func(context.Context, []K) (map[K]V, error)) (map[K]V, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(ks) > maxMany {
		return nil, &ConfigError{Field: "GetMany.ks", Got: len(ks), Want: fmt.Sprintf("at most %d keys", maxMany)}
	}
	bumps := c.tags.bumps.Load()
	from := c.origin
	if load != nil || from.none() && c.remote != nil {
		from = source[K, V]{batch: &batch[K, V]{load: load}}
	}
	values, failed := make(map[K]V, len(ks)), map[K]error{}
	var waiting []pending[K, V]
	put := func(k K, v V, err error) error {
		switch {
		case err == nil:
			values[k] = v
		case errors.Is(err, ErrNotFound):
		default:
			e, ok := errors.AsType[*LoadError](err)
			if !ok {
				return err
			}
			failed[k] = e
		}
		return nil
	}
	seen := make(map[K]struct{}, len(ks))
	var ended error
	for _, k := range ks {
		if _, again := seen[k]; again {
			continue
		}
		seen[k] = struct{}{}
		p, v, err := c.lookup(ctx, k, from)
		if p.flight != nil {
			waiting = append(waiting, p)
		} else if ended = put(k, v, err); ended != nil {
			break
		}
	}
	// Flights that were begun are other readers' too: they take off in any case.
	if from.batch != nil && len(from.batch.flights) > 0 {
		c.sortByHash(from.batch.flights)
		go c.fly(ctx, from.batch.flights, c.caller(from), nil)
	}
	if ended != nil {
		return nil, ended
	}
	soft, stop := c.softLimit()
	defer stop()
	var again []K
	for _, p := range waiting {
		k := p.flight.key
		got, err := c.wait(ctx, k, p.flight, p.old, soft, bumps)
		if errors.Is(err, errOlderLoad) {
			c.n.mine().misses.Add(^uint64(0)) // the same read goes on
			again = append(again, k)
			continue
		}
		if err := put(k, got.value, err); err != nil {
			return nil, err
		}
	}
	if len(again) > 0 {
		more, err := c.GetMany(ctx, again, load)
		if e, ok := errors.AsType[*PartialError[K]](err); ok {
			maps.Copy(failed, e.Errors)
		} else if err != nil {
			return nil, err
		}
		maps.Copy(values, more)
	}
	if len(failed) > 0 {
		return values, &PartialError[K]{Errors: failed}
	}
	return values, nil
}

// pending is a key to wait for, with the record that was found wanting.
type pending[K comparable, V any] struct {
	flight *flight[K, V]
	old    *record[V]
}

// lookup answers k from what is held, or returns what to wait for.
func (c *Cache[K, V]) lookup(ctx context.Context, k K, from source[K, V]) (p pending[K, V], v V, err error) {
	for {
		r, ok := c.store.Get(k)
		if ok && r.of(c.gen.Load()) && c.clock.Now() < r.early {
			if c.n.mine().hit() {
				c.sample(k, r, same)
			}
			return p, r.value, nil
		}
		done, f, v, err := c.answer(ctx, k, r, from)
		if done {
			return p, v, err
		}
		if f != nil {
			c.n.mine().misses.Add(1)
			return pending[K, V]{flight: f, old: r}, v, nil
		}
	}
}

// sortByHash puts flights into one order for all batches, in which they wait for keys whose loaders
// still run: two batches with keys in common never wait for each other.
func (c *Cache[K, V]) sortByHash(fs []*flight[K, V]) {
	slices.SortFunc(fs, func(a, b *flight[K, V]) int {
		return cmp.Compare(maphash.Comparable(c.seed, a.key), maphash.Comparable(c.seed, b.key))
	})
}

// bulk calls load for all keys of a batch.
func bulk[K comparable, V any](load func(context.Context, []K) (map[K]V, error)) func(context.Context, []*flight[K, V]) []outcome[V] {
	return func(ctx context.Context, fs []*flight[K, V]) []outcome[V] {
		keys := make([]K, len(fs))
		for i, f := range fs {
			keys[i] = f.key
		}
		values, err := load(ctx, slices.Clone(keys))
		if err == nil {
			err = ErrNotFound
		}
		outs := make([]outcome[V], len(fs))
		for i, k := range keys {
			v, ok := values[k]
			outs[i] = outcome[V]{value: v}
			if !ok {
				outs[i].err = err
			}
		}
		return outs
	}
}
