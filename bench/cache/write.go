package cache

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"

	"example.com/quire/bench/harness"
	"example.com/quire/cache"
)

// setters write keys that are held, each with the value that it has.
func setters[V text](n int, value func(string) V) []contestant {
	return []contestant{
		writer("quire", "", true, n, value, func(ctx context.Context) (func(string, V) bool, func(string) (V, bool), func() error, error) {
			c, err := newQuire(n, cache.Options[string, V]{})
			if err != nil {
				return nil, nil, nil, err
			}
			return func(key string, v V) bool { return c.Set(ctx, key, v) == nil }, c.Peek, func() error { return c.Close(context.WithoutCancel(ctx)) }, nil
		}),
		writer("otter", otterModule, false, n, value, func(context.Context) (func(string, V) bool, func(string) (V, bool), func() error, error) {
			c, end, err := newOtter[V](n)
			if err != nil {
				return nil, nil, nil, err
			}
			return func(key string, v V) bool {
				_, fresh := c.Set(key, v)
				return !fresh
			}, c.GetIfPresent, end, nil
		}),
		writer("naive", "", false, n, value, func(context.Context) (func(string, V) bool, func(string) (V, bool), func() error, error) {
			c := newNaive()
			return func(key string, v V) bool {
					c.set(key, v)
					return true
				}, func(key string) (v V, ok bool) {
					held, _ := c.get(key)
					v, ok = held.(V)
					return v, ok
				}, nothing, nil
		}),
		writer("golang-lru-expirable", lruModule, false, n, value, func(context.Context) (func(string, V) bool, func(string) (V, bool), func() error, error) {
			c := expirable.NewLRU[string, V](n, nil, life)
			return func(key string, v V) bool { return !c.Add(key, v) }, c.Get, nothing, nil
		}),
	}
}

func nothing() error { return nil }

// writer is a contestant whose operation is a write. set says whether the write went as it should
// once all keys are in place.
func writer[V text](name, module string, own bool, n int, value func(string) V, open func(context.Context) (set func(string, V) bool, get func(string) (V, bool), end func() error, err error)) contestant {
	return contestant{name: name, module: module, own: own, open: func(ctx context.Context, _ harness.Env) (*subject, error) {
		set, get, end, err := open(ctx)
		if err != nil {
			return nil, err
		}
		k := keysOf(n)
		values := make([]V, len(k.all))
		for i, key := range k.all {
			values[i] = value(key)
		}
		return &subject{end: end, check: filled(k, value, func(key string, v V) { set(key, v) }, get), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				at := k.pick(i)
				if set(k.all[at], values[at]) {
					right++
				}
			}
			return right
		}}, nil
	}}
}

// capacity of the caches that new keys are written to. They are full before the first is timed.
const capacity = 10_000

// inserters write keys that were never there.
func inserters() []contestant {
	insert := func(name, module, note string, own bool, open func(context.Context) (set func(string, string), holds func(string) bool, size func() int, end func() error, err error)) contestant {
		return contestant{name: name, module: module, note: note, own: own, open: func(ctx context.Context, _ harness.Env) (*subject, error) {
			set, holds, size, end, err := open(ctx)
			if err != nil {
				return nil, err
			}
			var next atomic.Int64
			run := func(_, n int) int {
				end := int(next.Add(int64(n)))
				for i := end - n; i < end; i++ {
					key := fmt.Sprintf("users/%d/posts/%d", i%100, i)
					set(key, key)
				}
				return n
			}
			run(0, 3*capacity)
			return &subject{run: run, end: end, check: func() error {
				// What was written last is still being evicted, in the background and by look-ups.
				found, most := 0, size()
				for i := range int(next.Load()) {
					if holds(fmt.Sprintf("users/%d/posts/%d", i%100, i)) {
						found++
					}
				}
				if least := size(); found == 0 || found < least || found > most {
					return fmt.Errorf("%w: %d of the keys written are held, of %d to %d entries", errWrong, found, least, most)
				}
				return nil
			}}, nil
		}}
	}
	return []contestant{
		insert("quire", "", "", true, func(ctx context.Context) (func(string, string), func(string) bool, func() int, func() error, error) {
			c, err := cache.New(cache.Options[string, string]{MaxEntries: capacity, Policy: cache.Policy{TTL: life}})
			if err != nil {
				return nil, nil, nil, nil, err
			}
			return func(key, v string) { _ = c.Set(ctx, key, v) }, // what is not set is not found
				func(key string) bool { v, ok := c.Peek(key); return ok && v == key },
				func() int { return int(c.Stats().Entries) },
				func() error { return c.Close(context.WithoutCancel(ctx)) }, nil
		}),
		insert("naive", "", "has no bound: it never evicts", false, func(context.Context) (func(string, string), func(string) bool, func() int, func() error, error) {
			c := newNaive()
			return func(key, v string) { c.set(key, v) },
				func(key string) bool { v, ok := c.get(key); return ok && v == key },
				func() (n int) {
					for i := range c.shards {
						n += len(c.shards[i].m)
					}
					return n
				}, nothing, nil
		}),
		insert("golang-lru-expirable", lruModule, "", false, func(context.Context) (func(string, string), func(string) bool, func() int, func() error, error) {
			c := expirable.NewLRU[string, string](capacity, nil, time.Hour)
			return func(key, v string) { c.Add(key, v) },
				func(key string) bool { v, ok := c.Get(key); return ok && v == key }, c.Len, nothing, nil
		}),
	}
}
