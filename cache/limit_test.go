package cache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// owned notes that it was told.
type owned struct{ cause chan error }

func (o owned) over(cause error) { o.cause <- cause }

// TestLimitsEndInTheirOrder: each at its time, also behind one that has left the line.
func TestLimitsEndInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &limits{last: time.Second}
		var all [4]*limit
		for i := range all {
			all[i] = &limit{parent: t.Context()}
			q.begin(all[i])
			pass(100 * time.Millisecond)
		}
		if !q.leave(all[0]) || q.leave(all[0]) || !q.leave(all[2]) {
			t.Fatal("what is in line leaves it once")
		}
		for i, ended := range []int{0, 1, 1, 2} { // 1000 ms after the beginning of each
			pass(time.Until(all[i].at) + time.Millisecond)
			synctest.Wait()
			n := 0
			for _, l := range all {
				select {
				case <-l.Done():
					n++
				default:
				}
			}
			if n != ended {
				t.Errorf("%d have ended after the time of %d, want %d", n, i, ended)
			}
		}
		if !errors.Is(all[1].Err(), context.DeadlineExceeded) || all[0].Err() != nil || q.leave(all[1]) {
			t.Errorf("%v, %v", all[1].Err(), all[0].Err())
		}
		again := &limit{parent: t.Context()}
		q.begin(again) // the timer had stopped
		pass(time.Second + time.Millisecond)
		if again.Err() == nil {
			t.Error("one that begins when the line was empty does not end")
		}
	})
}

// TestLimitEndsWithItsParent whatever that is, and before that with the end of its own time.
func TestLimitEndsWithItsParent(t *testing.T) {
	q := &limits{last: time.Minute}
	for name, parent := range map[string]func() (context.Context, func()){
		"context": func() (context.Context, func()) { return context.WithCancel(t.Context()) },
		"limit": func() (context.Context, func()) {
			p := &limit{parent: t.Context()}
			q.begin(p)
			return p, func() { p.end(context.Canceled) }
		},
		"limit that has another": func() (context.Context, func()) {
			p := &limit{parent: t.Context()}
			q.begin(p)
			(&limit{parent: p}).watch()
			return p, func() { p.end(context.Canceled) }
		},
	} {
		ctx, end := parent()
		l := &limit{parent: ctx}
		l.watch()
		q.begin(l)
		derived, cancel := context.WithCancel(l)
		if l.Err() != nil {
			t.Fatalf("%s: %v", name, l.Err())
		}
		end()
		select {
		case <-derived.Done():
		case <-time.After(20 * time.Second):
			t.Errorf("%s: it goes on", name)
		}
		if !errors.Is(l.Err(), context.Canceled) {
			t.Errorf("%s: %v", name, l.Err())
		}
		late := &limit{parent: ctx}
		late.watch()
		<-late.Done()
		cancel()
	}
}

// TestLimitOfAClosedLineEndsAtOnce, and so does what waits when it is closed; the owner is told
// why.
func TestLimitOfAClosedLineEndsAtOnce(t *testing.T) {
	q := &limits{last: time.Minute}
	before, after := owned{make(chan error, 1)}, owned{make(chan error, 1)}
	a, b := &limit{parent: t.Context(), owner: before}, &limit{parent: t.Context(), owner: after}
	q.begin(a)
	q.close(ErrClosed)
	q.begin(b)
	for _, o := range []owned{before, after} {
		if err := <-o.cause; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	<-a.Done()
	<-b.Done()
	if q.leave(a) || q.leave(b) {
		t.Error("it was in line still")
	}
}

// TestLimitHasTheValuesOfItsParent and its deadline, if that is earlier, but not if it is detached.
func TestLimitHasTheValuesOfItsParent(t *testing.T) {
	type key struct{}
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), time.Second)
	defer cancel()
	q := &limits{last: time.Minute}
	soon, detached := &limit{parent: ctx}, &limit{parent: ctx, detached: true, chain: &chain{}}
	q.begin(soon)
	q.begin(detached)
	want, _ := ctx.Deadline()
	if at, ok := soon.Deadline(); !ok || !at.Equal(want) || soon.Value(key{}) != "value" || soon.Value(chainKey{}) != nil {
		t.Errorf("%v, %v", at, soon.Value(key{}))
	}
	if at, ok := detached.Deadline(); !ok || !at.Equal(detached.at) || detached.Value(key{}) != "value" || detached.Value(chainKey{}) != detached.chain {
		t.Errorf("detached: %v, %v", at, detached.Value(key{}))
	}
}
