package render

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/internal/record"
)

// use renders for so long.
func (q *queue) use(ctx context.Context, d time.Duration) error {
	leave, err := q.enter(ctx, record.Local)
	if err != nil {
		return err
	}
	<-time.After(d)
	leave()
	return nil
}

func TestABurstWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(4)
		var done sync.WaitGroup
		var mu sync.Mutex // of running and most
		var running, most int
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			running += n
			most = max(most, running)
		}
		var refused atomic.Int32
		start := time.Now()
		for range 50 {
			done.Go(func() {
				leave, err := q.enter(t.Context(), record.Local)
				if err != nil {
					refused.Add(1)
					return
				}
				count(1)
				<-time.After(100 * time.Millisecond)
				count(-1)
				leave()
			})
		}
		done.Wait()
		if refused.Load() != 0 || most != 4 {
			t.Errorf("%d refused, %d at once, want none and 4", refused.Load(), most)
		}
		if took := time.Since(start); took != 1300*time.Millisecond {
			t.Errorf("50 took %v, want 13 rounds", took)
		}
	})
}

func TestWhoWouldWaitTooLongIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2)
		for range 100 { // the queue learns that a rendering takes a second
			if err := q.use(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
		}
		var done sync.WaitGroup
		var taken, refused atomic.Int32
		start := time.Now()
		for range 100 {
			done.Go(func() {
				before := time.Now()
				switch err := q.use(t.Context(), time.Second); {
				case err == nil:
					taken.Add(1)
				case !errors.Is(err, record.ErrOverload) || time.Since(before) != 0:
					t.Errorf("after %v: %v", time.Since(before), err)
				default:
					refused.Add(1)
				}
			})
		}
		synctest.Wait()
		if !q.full(record.Local) {
			t.Error("who asks is not told that it is full")
		}
		done.Wait()
		if q.full(record.Local) {
			t.Error("it is still full")
		}
		// Two run, and as many wait as are served within five seconds.
		if taken.Load() != 12 || refused.Load() != 88 || time.Since(start) != 6*time.Second {
			t.Errorf("%d taken, %d refused within %v", taken.Load(), refused.Load(), time.Since(start))
		}
		// Afterwards there is room again.
		if err := q.use(t.Context(), time.Second); err != nil {
			t.Error(err)
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		leave, err := q.enter(t.Context(), record.Local)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if err := q.use(ctx, 0); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		leave() // held for three seconds
		for range 100 {
			if err := q.use(t.Context(), 3*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if leave, err = q.enter(t.Context(), record.Local); err != nil {
			t.Fatal(err)
		}
		defer leave()
		short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start = time.Now()
		if err := q.use(short, 0); !errors.Is(err, record.ErrOverload) || time.Since(start) != 0 {
			t.Errorf("%v after %v, want a refusal at once: the deadline comes first", err, time.Since(start))
		}
	})
}

// With one processor, requests that are ready to be read come before a rendering: otherwise each is
// read, rendered and answered without a pause, none ever finds another before it, and who comes
// last waits for all without being counted.
func TestWhoComesIsCountedBeforeARenderingBegins(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	q := newQueue(2)
	q.took = time.Second // so that few may wait
	var refused atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			leave, err := q.enter(t.Context(), record.Local)
			if err != nil {
				refused.Add(1)
				return
			}
			for start := time.Now(); time.Since(start) < 100*time.Microsecond; { // work of a processor
			}
			leave()
		})
	}
	all.Wait()
	if n := refused.Load(); n < 80 {
		t.Errorf("%d of 100 were refused: the others did not see who had come before them", n)
	}
}

// The space of the long queue gets half of the slots' time and no more; the other waits for its own
// only.
func TestSlotsGoRoundTheSpacesThatWait(t *testing.T) {
	for _, c := range []struct {
		name        string
		many, few   time.Duration // how long a rendering of theirs takes
		most, least int           // of the many's that are served before the fifth of the few's
	}{
		{"alike", 100 * time.Millisecond, 100 * time.Millisecond, 7, 4},
		{"long ones of who asks for many", 400 * time.Millisecond, 100 * time.Millisecond, 4, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(1)
				var done sync.WaitGroup
				var served, before atomic.Int32
				ask := func(space record.Space, takes time.Duration, then func()) {
					done.Go(func() {
						leave, err := q.enter(t.Context(), space)
						if err != nil {
							t.Error(err)
							return
						}
						<-time.After(takes)
						then()
						leave()
					})
				}
				for range 40 {
					ask("many", c.many, func() { served.Add(1) })
				}
				synctest.Wait()
				for i := range 5 {
					ask("few", c.few, func() {
						if i == 4 {
							before.Store(served.Load())
						}
					})
					synctest.Wait()
				}
				done.Wait()
				if n := int(before.Load()); n > c.most || n < c.least || served.Load() != 40 {
					t.Errorf("%d of 40 came before the fifth of the others, want %d to %d", n, c.least, c.most)
				}
				if len(q.spaces) != 0 || q.running != 0 || q.waiting != 0 {
					t.Errorf("the queue is not empty: %+v", q)
				}
			})
		})
	}
}

// A space that asks for more than can be made is refused, others are not.
func TestWhoFloodsIsRefusedAndOthersAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2)
		for range 50 {
			if err := q.use(t.Context(), 10*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		var done sync.WaitGroup
		for range 150 {
			done.Go(func() {
				if err := q.use(t.Context(), 10*time.Millisecond); err != nil && !errors.Is(err, record.ErrOverload) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if !q.full(record.Local) || q.full("other") {
			t.Errorf("full for who floods: %v, for others: %v", q.full(record.Local), q.full("other"))
		}
		start := time.Now()
		if leave, err := q.enter(t.Context(), "other"); err != nil || time.Since(start) > 20*time.Millisecond {
			t.Errorf("another space: %v after %v", err, time.Since(start))
		} else {
			leave()
		}
		done.Wait()
	})
}

// However waiting ends, no slot and no place in the queue is lost.
func TestALaneLosesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(3)
		var done sync.WaitGroup
		for i := range 60 {
			done.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7+1)*time.Millisecond)
				defer cancel()
				leave, err := q.enter(ctx, record.Space(string(rune('a'+i%5))))
				if err != nil {
					return
				}
				<-time.After(time.Duration(i%3) * time.Millisecond)
				leave()
			})
		}
		done.Wait()
		if len(q.spaces) != 0 || q.running != 0 || q.waiting != 0 {
			t.Errorf("the queue is not empty: %+v", q)
		}
	})
}
