// The generic cell rate algorithm keeps one instant, the theoretical arrival time: when the next
// event would be due if all admitted so far had come evenly. An event at now moves it to max(it,
// now) + interval, and is admitted if that is no further ahead of now than burst intervals. Nothing
// has to be filled up by a clock, and the whole state is one word: an admission is one load and one
// compare-and-swap, and who loses that race has read a state that was another's and tries again.

package limit

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/internal/call"
)

// Rate is so many events per so much time: Rate{10, time.Second} is ten per second.
type Rate struct {
	Events int
	Per    time.Duration
}

func (r Rate) interval() time.Duration {
	if r.Events <= 0 {
		return 0
	}
	return r.Per / time.Duration(r.Events)
}

// GCRA is one limiter. It is safe for concurrent use.
type GCRA struct {
	set atomic.Pointer[setting]
	due atomic.Int64 // the theoretical arrival time, in nanoseconds since epoch

	denied atomic.Int64
	mu     sync.Mutex // of SetRate
}

// epoch is what the instants of all limiters are counted from: one of each limiter's own would be
// most of what it takes.
var epoch = time.Now()

// setting is what limiters of the same rate may share.
type setting struct {
	rate     Rate
	burst    int
	interval int64
	ahead    int64 // burst intervals
}

func newSetting(r Rate, burst int) *setting {
	i := int64(r.interval())
	burst = max(burst, 1)
	return &setting{rate: r, burst: burst, interval: i, ahead: i * int64(burst)}
}

// NewGCRA returns a limiter that admits burst events at once and then r.
func NewGCRA(r Rate, burst int) (*GCRA, error) {
	var k call.Check
	validRate(&k, "Rate", "Burst", r, burst)
	if err := k.Err(); err != nil {
		return nil, err
	}
	g := new(GCRA)
	g.init(newSetting(r, burst))
	return g, nil
}

// init makes the zero GCRA a limiter.
func (g *GCRA) init(s *setting) {
	g.due.Store(math.MinInt64 / 2) // nothing is owed, also to a caller whose now is older than epoch
	g.set.Store(s)
}

// limits tells whether it is one, and not a zero GCRA.
func (g *GCRA) limits() bool { return g.set.Load() != nil }

// validRate demands a rate that the clock can express.
func validRate(k *call.Check, rate, burst string, r Rate, n int) {
	switch {
	case r.Events <= 0:
		k.Fail(rate+".Events", r.Events, "a positive number")
	case r.Per <= 0:
		k.Fail(rate+".Per", r.Per, "a positive duration")
	case r.interval() <= 0:
		k.Fail(rate, r, "at most one event per nanosecond")
	case n > 0 && r.interval() > math.MaxInt64/4/time.Duration(n):
		k.Fail(burst, n, "fewer, at this rate")
	}
	if n < 0 {
		k.Fail(burst, n, "0 for one event, or a positive number")
	}
}

// AllowN admits n events at now, all or none.
func (g *GCRA) AllowN(now time.Time, n int) bool {
	_, _, ok := g.reserve(now, n, 0)
	if !ok {
		g.denied.Add(1)
	}
	return ok
}

// Allow admits one event now.
func (g *GCRA) Allow() bool {
	_, _, ok := g.reserveBy(time.Now(), time.Now, 0)
	if !ok {
		g.denied.Add(1)
	}
	return ok
}

// reserveBy admits one event at now, which the clock has just said, after a wait of at most limit.
// Who is held up between reading the clock and this comes behind those who have read it since, and
// would pay for the time that it lost: before anybody waits or is refused the clock is read again.
func (g *GCRA) reserveBy(now time.Time, clock func() time.Time, limit time.Duration) (place int64, wait time.Duration, ok bool) {
	if place, wait, ok = g.reserve(now, 1, 0); !ok {
		place, wait, ok = g.reserve(clock(), 1, limit)
	}
	return place, wait, ok
}

// ReserveN admits n events at the end of the wait that it returns. It is false for more than a
// burst, which never fits.
func (g *GCRA) ReserveN(now time.Time, n int) (wait time.Duration, ok bool) {
	_, wait, ok = g.reserve(now, n, math.MaxInt64)
	return wait, ok
}

// reserve admits n events after a wait of at most limit; otherwise it returns the wait that it
// would have been. Their place is the arrival time that they make.
func (g *GCRA) reserve(now time.Time, n int, limit time.Duration) (place int64, wait time.Duration, ok bool) {
	s := g.set.Load()
	if n <= 0 {
		return 0, 0, n == 0
	}
	if n > s.burst {
		return 0, 0, false
	}
	at, cost := int64(now.Sub(epoch)), s.interval*int64(n)
	for {
		due := g.due.Load()
		next := max(due, at) + cost
		w := max(next-at-s.ahead, 0)
		if w > int64(limit) {
			return 0, time.Duration(w), false
		}
		if g.due.CompareAndSwap(due, next) {
			return next, time.Duration(w), true
		}
	}
}

// Wait admits one event, when it is its turn: those who wait are served in the order of their
// calls. It ends with ctx, and at once when ctx would end before the turn comes.
func (g *GCRA) Wait(ctx context.Context) error {
	_, err := g.wait(ctx, math.MaxInt64)
	return err
}

func (g *GCRA) wait(ctx context.Context, limit time.Duration) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	now := time.Now()
	if d, ok := ctx.Deadline(); ok {
		limit = min(limit, d.Sub(now))
	}
	s := g.set.Load()
	place, w, ok := g.reserveBy(now, time.Now, limit)
	if !ok {
		g.denied.Add(1)
		return w, ErrRateLimited
	}
	if w == 0 {
		return 0, nil
	}
	t := time.NewTimer(w)
	defer t.Stop()
	select {
	case <-t.C:
		return w, nil
	case <-ctx.Done():
		g.giveBack(place, s)
		return time.Since(now), ctx.Err()
	}
}

// giveBack undoes the admission of one event, made under s, that nobody has come behind. Otherwise
// the arrival time is not the one that the event made, or not counted in its rate: then those
// behind keep their places, and this one is lost.
func (g *GCRA) giveBack(place int64, s *setting) {
	if g.set.Load() == s {
		g.due.CompareAndSwap(place, place-s.interval)
	}
}

// SetRate changes rate and burst. What was admitted ahead of time stays owed, as so many events.
func (g *GCRA) SetRate(r Rate, burst int) error {
	var k call.Check
	validRate(&k, "Rate", "Burst", r, burst)
	if err := k.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	old, next := g.set.Load(), newSetting(r, burst)
	g.set.Store(next)
	for {
		due, at := g.due.Load(), int64(time.Since(epoch))
		if due <= at {
			return nil
		}
		owed := float64(due-at) / float64(old.interval)
		if g.due.CompareAndSwap(due, at+int64(owed*float64(next.interval))) {
			return nil
		}
	}
}

// Stats is a limiter's state.
type Stats struct {
	Rate      Rate
	Burst     int
	Available int   // events that would be admitted now
	Denied    int64 // events refused so far
}

// Stats returns the state at this moment.
func (g *GCRA) Stats() Stats {
	s := g.set.Load()
	ahead := max(g.due.Load()-int64(time.Since(epoch)), 0)
	return Stats{Rate: s.rate, Burst: s.burst, Available: int(max((s.ahead-ahead)/s.interval, 0)), Denied: g.denied.Load()}
}
