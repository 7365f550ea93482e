package store

import (
	"time"

	"github.com/maypok86/otter/v2"
)

// Clock is the time by which records live: nanoseconds since the Unix epoch.
type Clock struct {
	coarse *otter.CoarseClock
	now    func() int64
}

// NewCoarse returns a clock that reads the time once per tick, so that Now
// costs about a variable read and lags by up to tick. Stop ends its goroutine.
func NewCoarse(tick time.Duration) *Clock {
	return &Clock{coarse: otter.NewCoarseClock(tick)}
}

// NewClock returns a clock that asks now each time and has no goroutine. A
// store with such a clock does not expire records in the background, only when
// it is used; it serves tests that move time themselves.
func NewClock(now func() int64) *Clock { return &Clock{now: now} }

// Now returns the time.
func (c *Clock) Now() int64 {
	if c.coarse != nil {
		return c.coarse.NowNano()
	}
	return c.now()
}

// Stop ends the clock's goroutine. The clock may still be asked.
func (c *Clock) Stop() {
	if c.coarse != nil {
		c.coarse.Stop()
	}
}

func (c *Clock) source() otter.Clock {
	if c.coarse != nil {
		return c.coarse
	}
	return still{c.now}
}

// still is a clock that never ticks.
type still struct{ now func() int64 }

func (s still) NowNano() int64 { return s.now() }

func (s still) Tick(time.Duration) <-chan time.Time { return nil }
