package timers_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"pgregory.net/rapid"

	"example.com/quire/fetch/internal/timers"
)

// struck notes when it was struck.
type struck struct {
	timer timers.Timer
	mu    sync.Mutex
	times []time.Time
}

// Strike implements timers.Striker.
func (s *struck) Strike() {
	s.mu.Lock()
	s.times = append(s.times, time.Now())
	s.mu.Unlock()
}

func (s *struck) at() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.times)
}

// step is one of a random sequence: a timer is set to so many milliseconds from now, or stopped, or
// so many go by.
type step struct{ kind, timer, ms int }

const kindSet, kindStop, kindPass = 0, 1, 2

// Timers are set, set anew and stopped in any order, and time goes by: each strikes exactly at what
// it was set to last, once.
func TestTimersStrikeAtTheirTime(t *testing.T) {
	one := rapid.Custom(func(t *rapid.T) step {
		return step{rapid.IntRange(kindSet, kindPass).Draw(t, "kind"), rapid.IntRange(0, 11).Draw(t, "timer"), rapid.IntRange(1, 50).Draw(t, "ms")}
	})
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(one, 1, 80).Draw(rt, "steps")
		wrong := ""
		synctest.Test(t, func(*testing.T) { wrong = run(steps) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// run returns what is wrong after the steps; "" when nothing is.
func run(steps []step) string {
	var q timers.Queue
	defer q.Close()
	list := make([]struck, 12)
	due, want := make([]time.Time, len(list)), make([][]time.Time, len(list))
	for n, s := range steps {
		switch s.kind {
		case kindSet:
			due[s.timer] = time.Now().Add(time.Duration(s.ms) * time.Millisecond)
			q.Set(&list[s.timer].timer, &list[s.timer], due[s.timer])
		case kindStop:
			due[s.timer] = time.Time{}
			q.Stop(&list[s.timer].timer)
		default: // a little more, so that nothing is due at the end of it
			<-time.After(time.Duration(s.ms)*time.Millisecond + time.Microsecond)
		}
		set := 0
		for i := range due {
			switch {
			case due[i].IsZero():
			case due[i].Before(time.Now()):
				want[i], due[i] = append(want[i], due[i]), time.Time{}
			default:
				set++
			}
		}
		if got := q.Len(); got != set {
			return fmt.Sprintf("%d timers after step %d, want %d", got, n, set)
		}
	}
	for i := range list {
		if got := list[i].at(); !slices.EqualFunc(got, want[i], time.Time.Equal) {
			return fmt.Sprintf("timer %d struck at %v, want %v", i, got, want[i])
		}
		q.Stop(&list[i].timer)
	}
	return ""
}

// A thousand timers at random times, some of them equal, strike in their order.
func TestManyTimersStrike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q timers.Queue
		start, list := time.Now(), make([]struck, 1000)
		for i := range list {
			q.Set(&list[i].timer, &list[i], start.Add(time.Duration(1+i*7919%500)*time.Second))
		}
		<-time.After(time.Hour)
		for i := range list {
			if got := list[i].at(); len(got) != 1 || got[0].Sub(start) != time.Duration(1+i*7919%500)*time.Second {
				t.Fatalf("timer %d: %v", i, got)
			}
		}
	})
}

// A time that is over strikes at once.
func TestTimeThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q timers.Queue
		var s struck
		q.Set(&s.timer, &s, time.Now().Add(-time.Second))
		synctest.Wait()
		if got := s.at(); len(got) != 1 {
			t.Errorf("struck at %v", got)
		}
	})
}

// What was stopped is not held, though the runtime's timer is still set.
func TestStoppedTimersAreForgotten(t *testing.T) {
	var q timers.Queue
	var first struck
	q.Set(&first.timer, &first, time.Now().Add(time.Hour))
	gone := func() weak.Pointer[struck] {
		s := new(struck)
		q.Set(&s.timer, s, time.Now().Add(time.Minute))
		q.Stop(&s.timer)
		return weak.Make(s)
	}()
	runtime.GC()
	if gone.Value() != nil || q.Len() != 1 {
		t.Errorf("held: %t, %d timers", gone.Value() != nil, q.Len())
	}
	q.Stop(&first.timer)
	q.Close()
}

// In a bubble a request has a queue of its own: the runtime's timer of another clock would never
// strike for it.
func TestABubbleHasItsOwnQueue(t *testing.T) {
	shared := new(timers.Queue)
	if now := time.Now(); shared.For(now) != shared || shared.For(now.Add(time.Second)) != shared || (*timers.Queue)(nil).For(now) == nil {
		t.Error("outside of a bubble there is one queue")
	}
	for range 2 { // at the same times, by the clock of each
		synctest.Test(t, func(t *testing.T) {
			q, start, s := shared.For(time.Now()), time.Now(), new(struck)
			if q == shared {
				t.Fatal("the queue of those outside")
			}
			q.Set(&s.timer, s, start.Add(time.Second))
			<-time.After(time.Minute)
			if got := s.at(); len(got) != 1 || got[0].Sub(start) != time.Second {
				t.Errorf("struck at %v, want a second after %v", got, start)
			}
			q.Set(&s.timer, s, start.Add(time.Hour))
			q.Stop(&s.timer)
		})
	}
}

// For the race detector: timers are set and stopped by many while others strike.
func TestQueueUnderConcurrentUse(t *testing.T) {
	var q timers.Queue
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 500 {
				var s struck
				q.Set(&s.timer, &s, time.Now().Add(time.Duration((i*worker)%7)*100*time.Microsecond))
				q.Set(&s.timer, &s, time.Now().Add(time.Duration((i+worker)%5)*time.Hour))
				q.Stop(&s.timer)
			}
		})
	}
	wg.Wait()
	if n := q.Len(); n != 0 {
		t.Errorf("%d timers are left", n)
	}
	q.Close()
}
