package cache

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestNoReadGoesBack: the origin only grows and every change is followed by a
// Delete or a Set of the new value, while readers load all the time. No reader
// may see, after a change is complete, a value older than it, nor two values
// in falling order.
func TestNoReadGoesBack(t *testing.T) {
	for _, write := range []string{"Delete", "Set", "Clear"} {
		t.Run(write, func(t *testing.T) {
			c, err := New(Options[string, int]{MaxEntries: 100, Policy: Policy{TTL: time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			defer shut(t, c)
			var origin, done atomic.Int64
			load := func(context.Context, string) (int, error) { return int(origin.Load()), nil }
			stop := make(chan struct{})
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					last := 0
					for {
						select {
						case <-stop:
							return
						default:
						}
						floor := int(done.Load())
						v, err := c.GetOrLoad(t.Context(), "k", load)
						if err != nil || v < floor || v < last {
							t.Errorf("read %d, %v after %d was complete and %d was read", v, err, floor, last)
							return
						}
						last = v
					}
				})
			}
			for i := range 3000 {
				origin.Store(int64(i))
				var err error
				switch write {
				case "Delete":
					err = c.Delete(t.Context(), "k")
				case "Set":
					err = c.Set(t.Context(), "k", i)
				case "Clear":
					err = c.Clear(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				done.Store(int64(i))
			}
			close(stop)
			wg.Wait()
		})
	}
}

// TestClearFreesMemory: what is cleared is gone at once for readers and soon
// for the heap, and later writes stay.
func TestClearFreesMemory(t *testing.T) {
	c := open(t, Options[string, string]{})
	for i := range 5000 {
		set(t, c, strconv.Itoa(i), "old")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := c.Clear(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 5000 {
		if v, ok := c.Peek(strconv.Itoa(i)); ok {
			t.Fatalf("%d = %s after Clear", i, v)
		}
	}
	set(t, c, "7", "new")
	settled(c)
	if s := c.Stats(); s.Entries != 1 || s.Clears != 8 {
		t.Fatalf("stats %+v", s)
	}
	want(t, c, "7", "new")
}

// TestManyWritersKeepTheBound: the byte bound holds whenever no writer is at
// work, and is never exceeded by more than the writers have in hand.
func TestManyWritersKeepTheBound(t *testing.T) {
	const most, writers, size = 1 << 20, 8, 16 << 10
	c, value := open(t, Options[string, string]{MaxBytes: most}), strings.Repeat("v", size)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range 500 {
				if err := c.Set(t.Context(), strconv.Itoa(w<<16|i), value); err != nil {
					t.Error(err)
				}
				if b := c.Stats().Bytes; b > most+writers*(size+512) {
					t.Errorf("%d bytes", b)
				}
			}
		})
	}
	wg.Wait()
	if s := c.Stats(); s.Bytes > most || s.Entries == 0 {
		t.Fatalf("stats %+v", s)
	}
}
