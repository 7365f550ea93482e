package cache

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/fastcache"
	"github.com/Yiling-J/theine-go"
	"github.com/allegro/bigcache/v3"
	"github.com/coocood/freecache"
	"github.com/dgraph-io/ristretto/v2"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/expirable"
	"github.com/maypok86/otter/v2"
	"github.com/viccon/sturdyc"

	"example.com/quire/bench/harness"
	"example.com/quire/cache"
)

const life = time.Hour

// budget is what a cache that counts bytes may take for n entries: enough that none is evicted.
func budget(n int) int64 { return int64(n) * 2048 }

// text is a string or bytes.
type text interface{ ~string | ~[]byte }

func locals[V text](n int, value func(string) V) []contestant {
	return []contestant{quire(n, value), otterCache(n, value), plainOtter(n, value), naive(n, value), assembled(n, value), ristrettoCache(n, value), sturdycCache(n, value), theineCache(n, value), expirableLRU(n, value)}
}

// filled puts all keys in place, and checks that each value is found again.
func filled[V text](k *keys, value func(string) V, set func(string, V), get func(string) (V, bool)) func() error {
	for _, key := range k.all {
		set(key, value(key))
	}
	return func() error {
		for _, i := range k.picks {
			if v, ok := get(k.all[i]); !ok || string(v) != string(value(k.all[i])) {
				return fmt.Errorf("%w: %s: %.20s, %v", errWrong, k.all[i], v, ok)
			}
		}
		return nil
	}
}

// rightLength says that a value is as long as that of its key, which needs all of its header but
// none of its bytes.
func rightLength[V text](v V, key string) bool {
	return len(v) == 256 || len(v) == len("the value of ")+len(key)
}

func newQuire[V any](n int, o cache.Options[string, V]) (*cache.Cache[string, V], error) {
	o.MaxBytes, o.Policy.TTL = budget(n), life
	return cache.New(o)
}

func quire[V text](n int, value func(string) V) contestant {
	return contestant{name: "quire", own: true, open: func(ctx context.Context, _ harness.Env) (*subject, error) {
		c, err := newQuire(n, cache.Options[string, V]{})
		if err != nil {
			return nil, err
		}
		return reads(ctx, c, keysOf(n), value, func() error { return c.Close(context.WithoutCancel(ctx)) }), nil
	}}
}

// reads is Get of a cache of this project.
func reads[V text](ctx context.Context, c *cache.Cache[string, V], k *keys, value func(string) V, end func() error) *subject {
	failed := 0
	s := &subject{end: end, run: func(first, n int) (right int) {
		for i := first; i < first+n; i++ {
			key := k.at(i)
			if v, err := c.Get(ctx, key); err == nil && rightLength(v, key) {
				right++
			}
		}
		return right - failed
	}}
	s.check = filled(k, value, func(key string, v V) {
		if c.Set(ctx, key, v) != nil {
			failed++
		}
	}, func(key string) (V, bool) {
		v, err := c.Get(ctx, key)
		return v, err == nil
	})
	if n := len(k.all); n == thousand {
		s.run(0, 640*n) // the first sample of a key takes memory for it: by then each has been one
	}
	return s
}

func peekBytes() contestant {
	return contestant{name: "quire", own: true, open: func(ctx context.Context, _ harness.Env) (*subject, error) {
		c, err := newQuire(thousand, cache.Options[string, string]{})
		if err != nil {
			return nil, err
		}
		k := keysOf(thousand)
		asked := make([][]byte, len(k.all))
		for i, key := range k.all {
			asked[i] = []byte(key)
		}
		s := reads(ctx, c, k, small, func() error { return c.Close(context.WithoutCancel(ctx)) })
		s.run = func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := asked[k.pick(i)]
				if v, ok := cache.PeekBytes(c, key); ok && len(v) == len("the value of ")+len(key) {
					right++
				}
			}
			return right
		}
		return s, nil
	}}
}

const otterModule = "github.com/maypok86/otter/v2"

// newOtter has the options of the store below quire's cache: a bound of bytes, a life for each
// entry from a function, a clock that is read every 5 ms, and a function that hears of each
// deletion.
func newOtter[V text](n int) (*otter.Cache[string, V], func() error, error) {
	clock := otter.NewCoarseClock(5 * time.Millisecond)
	var held atomic.Int64
	c, err := otter.New(&otter.Options[string, V]{
		MaximumWeight: uint64(budget(n)),                                                       //nolint:gosec // a positive budget
		Weigher:       func(key string, v V) uint32 { return uint32(200 + len(key) + len(v)) }, //nolint:gosec // short texts
		Clock:         clock,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(otter.Entry[string, V]) time.Duration {
			return life
		}),
		OnAtomicDeletion: func(otter.DeletionEvent[string, V]) { held.Add(-1) },
	})
	if err != nil {
		return nil, nil, err
	}
	return c, func() error {
		c.StopAllGoroutines()
		clock.Stop()
		return nil
	}, nil
}

func otterCache[V text](n int, value func(string) V) contestant {
	return otterReads("otter", n, value, newOtter[V])
}

// plainOtter is the module as its documentation sets it up: with a life for all entries, and its
// own clock.
func plainOtter[V text](n int, value func(string) V) contestant {
	return otterReads("otter-plain", n, value, func(n int) (*otter.Cache[string, V], func() error, error) {
		c, err := otter.New(&otter.Options[string, V]{MaximumSize: 4 * n, ExpiryCalculator: otter.ExpiryWriting[string, V](life)})
		if err != nil {
			return nil, nil, err
		}
		return c, func() error { c.StopAllGoroutines(); return nil }, nil
	})
}

func otterReads[V text](name string, n int, value func(string) V, open func(int) (*otter.Cache[string, V], func() error, error)) contestant {
	return contestant{name: name, module: otterModule, open: func(context.Context, harness.Env) (*subject, error) {
		c, end, err := open(n)
		if err != nil {
			return nil, err
		}
		k := keysOf(n)
		return &subject{end: end, check: filled(k, value, func(key string, v V) { c.Set(key, v) }, c.GetIfPresent), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := k.at(i)
				if v, ok := c.GetIfPresent(key); ok && rightLength(v, key) {
					right++
				}
			}
			return right
		}}, nil
	}}
}

// naiveMap is the plain way to write a cache.
type naiveMap struct{ shards [16]naiveShard }

type naiveShard struct {
	mu sync.RWMutex
	m  map[string]naiveItem
}

type naiveItem struct {
	v   any
	exp time.Time
}

func newNaive() *naiveMap {
	c := &naiveMap{}
	for i := range c.shards {
		c.shards[i].m = map[string]naiveItem{}
	}
	return c
}

func (c *naiveMap) shard(key string) *naiveShard {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return &c.shards[h.Sum32()%16]
}

func (c *naiveMap) get(key string) (any, bool) {
	s := c.shard(key)
	s.mu.RLock()
	it, ok := s.m[key]
	s.mu.RUnlock()
	if !ok || time.Now().After(it.exp) {
		return nil, false
	}
	return it.v, true
}

func (c *naiveMap) set(key string, v any) {
	s := c.shard(key)
	s.mu.Lock()
	s.m[key] = naiveItem{v, time.Now().Add(life)}
	s.mu.Unlock()
}

func naive[V text](n int, value func(string) V) contestant {
	return contestant{name: "naive", note: "has no bound", open: func(context.Context, harness.Env) (*subject, error) {
		c, k := newNaive(), keysOf(n)
		get := func(key string) (v V, ok bool) {
			held, _ := c.get(key)
			v, ok = held.(V)
			return v, ok
		}
		return &subject{check: filled(k, value, func(key string, v V) { c.set(key, v) }, get), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := k.at(i)
				held, _ := c.get(key)
				if v, ok := held.(V); ok && rightLength(v, key) {
					right++
				}
			}
			return right
		}}, nil
	}}
}

const ristrettoModule = "github.com/dgraph-io/ristretto/v2"

func newRistretto[V any](n int) (*ristretto.Cache[string, V], error) {
	return ristretto.NewCache(&ristretto.Config[string, V]{NumCounters: int64(10 * n), MaxCost: budget(n), BufferItems: 64})
}

func ristrettoCache[V text](n int, value func(string) V) contestant {
	return contestant{name: "ristretto", module: ristrettoModule, open: func(context.Context, harness.Env) (*subject, error) {
		c, err := newRistretto[V](n)
		if err != nil {
			return nil, err
		}
		k := keysOf(n)
		return &subject{end: func() error { c.Close(); return nil }, check: filled(k, value, func(key string, v V) {
			c.SetWithTTL(key, v, 100, life)
			c.Wait()
		}, c.Get), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := k.at(i)
				if v, ok := c.Get(key); ok && rightLength(v, key) {
					right++
				}
			}
			return right
		}}, nil
	}}
}

func assembled[V text](n int, value func(string) V) contestant {
	return contestant{name: "assembled", module: ristrettoModule, open: func(context.Context, harness.Env) (*subject, error) {
		c, err := newRistretto[any](n)
		if err != nil {
			return nil, err
		}
		k := keysOf(n)
		var asked, found atomic.Int64
		get := func(key string) (v V, ok bool) {
			asked.Add(1)
			held, ok := c.Get(key)
			if ok {
				found.Add(1)
				v, ok = held.(V)
			}
			return v, ok
		}
		return &subject{end: func() error { c.Close(); return nil }, check: filled(k, value, func(key string, v V) {
			c.SetWithTTL(key, v, 100, life)
			c.Wait()
		}, get), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := k.at(i)
				if v, ok := get(key); ok && rightLength(v, key) {
					right++
				}
			}
			return right
		}}, nil
	}}
}

func sturdycCache[V text](n int, value func(string) V) contestant {
	return contestant{name: "sturdyc", module: "github.com/viccon/sturdyc", open: func(context.Context, harness.Env) (*subject, error) {
		c, k := sturdyc.New[V](4*n, 16, life, 10), keysOf(n)
		return &subject{check: filled(k, value, func(key string, v V) { c.Set(key, v) }, c.Get), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := k.at(i)
				if v, ok := c.Get(key); ok && rightLength(v, key) {
					right++
				}
			}
			return right
		}}, nil
	}}
}

func theineCache[V text](n int, value func(string) V) contestant {
	return contestant{name: "theine", module: "github.com/Yiling-J/theine-go", open: func(context.Context, harness.Env) (*subject, error) {
		c, err := theine.NewBuilder[string, V](int64(4 * n)).Build()
		if err != nil {
			return nil, err
		}
		k := keysOf(n)
		return &subject{end: func() error { c.Close(); return nil }, check: filled(k, value, func(key string, v V) { c.SetWithTTL(key, v, 1, life) }, c.Get), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := k.at(i)
				if v, ok := c.Get(key); ok && rightLength(v, key) {
					right++
				}
			}
			return right
		}}, nil
	}}
}

const lruModule = "github.com/hashicorp/golang-lru/v2"

func expirableLRU[V text](n int, value func(string) V) contestant {
	return contestant{name: "golang-lru-expirable", module: lruModule, open: func(context.Context, harness.Env) (*subject, error) {
		c, k := expirable.NewLRU[string, V](n, nil, life), keysOf(n)
		return &subject{check: filled(k, value, func(key string, v V) { c.Add(key, v) }, c.Get), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := k.at(i)
				if v, ok := c.Get(key); ok && rightLength(v, key) {
					right++
				}
			}
			return right
		}}, nil
	}}
}

func plainLRU[V text](n int, value func(string) V) contestant {
	return contestant{name: "golang-lru", module: lruModule, note: "entries do not expire", open: func(context.Context, harness.Env) (*subject, error) {
		c, err := lru.New[string, V](n)
		if err != nil {
			return nil, err
		}
		k := keysOf(n)
		return &subject{check: filled(k, value, func(key string, v V) { c.Add(key, v) }, c.Get), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := k.at(i)
				if v, ok := c.Get(key); ok && rightLength(v, key) {
					right++
				}
			}
			return right
		}}, nil
	}}
}

// stored is a cache that keeps bytes; get may use buf.
func stored(k *keys, get func(key string, buf []byte) []byte, set func(key string, v []byte), end func() error) *subject {
	buf := make([]byte, 0, 512)
	return &subject{end: end, check: filled(k, bytes256, set, func(key string) ([]byte, bool) {
		v := get(key, nil)
		return v, v != nil
	}), run: func(first, n int) (right int) {
		for i := first; i < first+n; i++ {
			key := k.at(i)
			if rightLength(get(key, buf), key) {
				right++
			}
		}
		return right
	}}
}

func bigCache() contestant {
	return contestant{name: "bigcache", module: "github.com/allegro/bigcache/v3", open: func(ctx context.Context, _ harness.Env) (*subject, error) {
		o := bigcache.DefaultConfig(life)
		o.Verbose = false
		c, err := bigcache.New(context.WithoutCancel(ctx), o)
		if err != nil {
			return nil, err
		}
		return stored(keysOf(thousand), func(key string, _ []byte) []byte {
			v, err := c.Get(key)
			if err != nil {
				return nil
			}
			return v
		}, func(key string, v []byte) { _ = c.Set(key, v) }, c.Close), nil // what is not set is not found
	}}
}

func freeCache() contestant {
	return contestant{name: "freecache", module: "github.com/coocood/freecache", open: func(context.Context, harness.Env) (*subject, error) {
		c := freecache.NewCache(int(budget(thousand)) * 4)
		return stored(keysOf(thousand), func(key string, buf []byte) []byte {
			v, err := c.GetWithBuf([]byte(key), buf[:cap(buf)])
			if err != nil {
				return nil
			}
			return v
		}, func(key string, v []byte) { _ = c.Set([]byte(key), v, int(life.Seconds())) }, nil), nil // what is not set is not found
	}}
}

func fastCache() contestant {
	return contestant{name: "fastcache", module: "github.com/VictoriaMetrics/fastcache", note: "entries do not expire", open: func(context.Context, harness.Env) (*subject, error) {
		c := fastcache.New(int(budget(thousand)) * 4)
		return stored(keysOf(thousand), func(key string, buf []byte) []byte {
			v, _ := c.HasGet(buf[:0], []byte(key))
			return v
		}, func(key string, v []byte) { c.Set([]byte(key), v) }, func() error { c.Reset(); return nil }), nil
	}}
}
