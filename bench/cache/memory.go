package cache

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/machine"
	"example.com/quire/cache"
)

// mixedKey and mixedValue are entry i: a value of 16 to 255 bytes.
func mixedKey(i int) string { return fmt.Sprint("posts/", i) }

func mixedValue(i int) []byte {
	b := make([]byte, 16+(i*7919)%240)
	copy(b, mixedKey(i))
	return b
}

// memory is of contestants to which so many entries of many sizes were given. The operation is a
// collection while what they keep of it is held. What a process grew by, without what it could give
// back, is told for each entry; for 1,000 bytes of the bound, where there is one, it is the size of
// an output.
func memory(mixed int) []contestant {
	// Of a million entries, the caches that count bytes may have 256 MiB.
	bounded := 1 << (bits.Len(uint(mixed)) - 3)
	type opened struct {
		set   func(string, []byte)
		get   func(string) ([]byte, bool)
		size  func() int
		bound int64 // in bytes, 0 for none
		end   func() error
	}
	of := func(name, module, note string, own bool, open func(context.Context) (opened, error)) contestant {
		return contestant{name: name, module: module, note: note, own: own, open: func(ctx context.Context, _ harness.Env) (*subject, error) {
			before := resident()
			c, err := open(ctx)
			if err != nil {
				return nil, err
			}
			for i := range mixed {
				c.set(mixedKey(i), mixedValue(i))
			}
			grown := resident() - before
			held := c.size()
			s := &subject{most: 2, end: c.end, run: func(_, n int) int {
				for range n {
					runtime.GC()
				}
				return n
			}}
			s.check = func() error {
				found := 0
				for i := range mixed {
					v, ok := c.get(mixedKey(i))
					if !ok {
						continue
					}
					if found++; string(v) != string(mixedValue(i)) {
						return fmt.Errorf("%w: %s", errWrong, mixedKey(i))
					}
				}
				// What is held is found, but for what is evicted meanwhile.
				if found < mixed/10 || found > held || found < held-held/50 {
					return fmt.Errorf("%w: %d entries are found, and %d are held", errWrong, found, held)
				}
				if grown <= 0 {
					return nil // it is not to be had here
				}
				s.note = fmt.Sprintf("of a million entries %d are held, in %d bytes each", held, grown/int64(held))
				if c.bound > 0 {
					s.output = grown * 1000 / c.bound
				}
				if c.bound > 0 && grown > 2*c.bound {
					return fmt.Errorf("%w: it grew by %d bytes, and its bound is %d", errWrong, grown, c.bound)
				}
				return nil
			}
			return s, nil
		}}
	}
	return []contestant{
		of("quire", "", "", true, func(ctx context.Context) (opened, error) {
			c, err := newQuire(bounded, cache.Options[string, []byte]{})
			if err != nil {
				return opened{}, err
			}
			return opened{
				set:   func(key string, v []byte) { _ = c.Set(ctx, key, v) }, // what is not set is not found
				get:   c.Peek,
				size:  func() int { return int(c.Stats().Entries) },
				bound: budget(bounded),
				end:   func() error { return c.Close(context.WithoutCancel(ctx)) },
			}, nil
		}),
		of("otter", otterModule, "", false, func(context.Context) (opened, error) {
			c, end, err := newOtter[[]byte](bounded)
			if err != nil {
				return opened{}, err
			}
			return opened{
				set: func(key string, v []byte) { c.Set(key, v) },
				get: c.GetIfPresent,
				size: func() int {
					c.CleanUp()
					return c.EstimatedSize()
				},
				bound: budget(bounded),
				end:   end,
			}, nil
		}),
		of("naive", "", "has no bound", false, func(context.Context) (opened, error) {
			c := newNaive()
			return opened{
				set: func(key string, v []byte) { c.set(key, v) },
				get: func(key string) ([]byte, bool) {
					held, _ := c.get(key)
					v, ok := held.([]byte)
					return v, ok
				},
				size: func() (n int) {
					for i := range c.shards {
						n += len(c.shards[i].m)
					}
					return n
				},
				end: nothing,
			}, nil
		}),
		of("golang-lru-expirable", lruModule, "bounds the number of entries", false, func(context.Context) (opened, error) {
			c := expirable.NewLRU[string, []byte](mixed, nil, time.Hour)
			return opened{set: func(key string, v []byte) { c.Add(key, v) }, get: c.Get, size: c.Len, end: nothing}, nil
		}),
	}
}

// resident is the memory of this process, of which nothing is free that could be given back; 0
// where that is not to be had.
func resident() int64 {
	debug.FreeOSMemory()
	n, err := machine.RSS(os.Getpid())
	if err != nil {
		return 0
	}
	return n
}
