package call_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/fetch/internal/call"
)

type valueKey struct{}

// TestLazyContextIsLikeTheLibrarys compares it with what context.WithCancelCause makes, asked
// before, at and after each step.
func TestLazyContextIsLikeTheLibrarys(t *testing.T) {
	reason := errors.New("reason")
	type step func(cancel func(error), parent context.CancelCauseFunc)
	own := func(err error) step { return func(cancel func(error), _ context.CancelCauseFunc) { cancel(err) } }
	above := func(err error) step { return func(_ func(error), parent context.CancelCauseFunc) { parent(err) } }
	for name, steps := range map[string][]step{
		"never":                         {},
		"released":                      {own(nil)},
		"released twice":                {own(nil), own(nil)},
		"released, then with a cause":   {own(nil), own(reason)},
		"with a cause":                  {own(reason)},
		"with a cause, then released":   {own(reason), own(nil)},
		"the parent":                    {above(reason)},
		"the parent, then released":     {above(reason), own(nil)},
		"released, then the parent":     {own(nil), above(reason)},
		"with a cause, then the parent": {own(reason), above(nil)},
	} {
		for asked := range 2 * (len(steps) + 1) { // at which step somebody asks first, under a parent that may end and one that never does
			asked, never := asked/2, asked%2 == 1
			if never && strings.Contains(name, "the parent") {
				continue
			}
			t.Run(name, func(t *testing.T) {
				base := context.WithValue(t.Context(), valueKey{}, "value")
				pa, endA := context.WithCancelCause(base)
				pb, endB := context.WithCancelCause(base)
				defer endA(nil)
				defer endB(nil)
				if never {
					pa, pb = context.WithoutCancel(base), context.WithoutCancel(base)
				}
				want, cancel := context.WithCancelCause(pa)
				defer cancel(nil)
				got := &call.Lazy{Parent: pb}
				for i := range len(steps) + 1 {
					if i >= asked {
						compare(t, got, want)
					}
					if i < len(steps) {
						steps[i](cancel, endA)
						steps[i](got.Cancel, endB)
					}
				}
			})
		}
	}
}

func compare(t *testing.T, got *call.Lazy, want context.Context) { //nolint:revive // two of the same kind
	t.Helper()
	if !errors.Is(got.Err(), want.Err()) || !errors.Is(context.Cause(got), context.Cause(want)) {
		t.Errorf("got %v because of %v, want %v because of %v", got.Err(), context.Cause(got), want.Err(), context.Cause(want))
	}
	if ended(got) != ended(want) {
		t.Errorf("ended %t, want %t", ended(got), ended(want))
	}
	if got.Value(valueKey{}) != "value" {
		t.Error("the parent's values are lost")
	}
	child, cancel := context.WithCancelCause(got)
	defer cancel(nil)
	if !errors.Is(child.Err(), want.Err()) || !errors.Is(context.Cause(child), context.Cause(want)) {
		t.Errorf("child: got %v because of %v", child.Err(), context.Cause(child))
	}
}

func ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// parents are a parent that may end and one that never does.
func parents(t *testing.T) map[string]context.Context {
	t.Helper()
	return map[string]context.Context{"may end": t.Context(), "never ends": context.WithoutCancel(t.Context())}
}

// Who derives is told at once, as by the library's contexts; so is who derives from that.
func TestLazyContextReachesWhoWaitsAndWhoDerives(t *testing.T) {
	reason := errors.New("reason")
	for name, parent := range parents(t) {
		t.Run(name, func(t *testing.T) {
			l := &call.Lazy{Parent: parent}
			called, left := make(chan struct{}), make(chan struct{})
			var children []context.Context
			for range 3 {
				child, cancel := context.WithTimeout(l, time.Hour)
				defer cancel()
				grandchild, end := context.WithCancel(context.WithValue(child, valueKey{}, "value"))
				defer end()
				gone, leave := context.WithCancel(l)
				leave()
				children = append(children, child, grandchild)
				if l.Err() != nil || gone.Err() == nil {
					t.Fatal("a child's end is its own")
				}
			}
			defer context.AfterFunc(l, func() { close(called) })()
			if stop := context.AfterFunc(l, func() { close(left) }); !stop() || stop() {
				t.Error("stopped, and twice")
			}
			l.Cancel(reason)
			for _, c := range children {
				if !ended(c) || !errors.Is(c.Err(), context.Canceled) || !errors.Is(context.Cause(c), reason) {
					t.Errorf("got %v because of %v", c.Err(), context.Cause(c))
				}
			}
			<-l.Done()
			<-called
			late, leave := context.WithCancel(l)
			defer leave()
			if !errors.Is(context.Cause(late), reason) {
				t.Errorf("who comes late: %v", context.Cause(late))
			}
			again := make(chan struct{})
			if stop := context.AfterFunc(l, func() { close(again) }); stop() {
				t.Error("stopped what has begun")
			}
			<-again
			if ended(t.Context()) || !errors.Is(l.Err(), context.Canceled) {
				t.Errorf("got %v", l.Err())
			}
			select {
			case <-left:
				t.Error("who had left was told")
			default:
			}
		})
	}
}

// AfterFunc itself, which package context calls: what is stopped is not called, whoever else is,
// and after the end all are.
func TestLazyAfterFunc(t *testing.T) {
	for name, parent := range parents(t) {
		t.Run(name, func(t *testing.T) {
			l := &call.Lazy{Parent: parent}
			calls := make(chan int, 8)
			var stops []func() bool
			for i := range 6 {
				stops = append(stops, l.AfterFunc(func() { calls <- i }))
			}
			for _, i := range []int{0, 5, 2} { // the oldest, the latest and one between
				if !stops[i]() || stops[i]() {
					t.Errorf("%d: stopped once", i)
				}
			}
			l.Cancel(nil)
			got := []int{<-calls, <-calls, <-calls}
			if slices.Sort(got); !slices.Equal(got, []int{1, 3, 4}) {
				t.Errorf("called %v", got)
			}
			if l.AfterFunc(func() { calls <- 6 })() || stops[1]() {
				t.Error("stopped what was called")
			}
			if n := <-calls; n != 6 || len(calls) != 0 {
				t.Errorf("called %d, and %d more", n, len(calls))
			}
		})
	}
}

// TestLazyContextUnderConcurrentUse is for the race detector; whoever asks, and whenever, gets the
// same channel and one reason.
func TestLazyContextUnderConcurrentUse(t *testing.T) {
	for _, parent := range parents(t) {
		for range 200 {
			l := &call.Lazy{Parent: parent}
			var wg sync.WaitGroup
			for i := range 10 {
				wg.Go(func() {
					switch i {
					case 0, 1:
						l.Cancel(nil)
						return
					case 2, 3:
						_, cancel := context.WithCancel(l)
						cancel()
					case 4, 5:
						child, cancel := context.WithCancel(l)
						defer cancel()
						<-child.Done()
						if !errors.Is(context.Cause(child), context.Canceled) {
							t.Errorf("child: %v", context.Cause(child))
						}
					}
					<-l.Done()
					if !errors.Is(l.Err(), context.Canceled) || !errors.Is(context.Cause(l), context.Canceled) {
						t.Errorf("got %v because of %v", l.Err(), context.Cause(l))
					}
				})
			}
			wg.Wait()
		}
	}
}
