package call_test

import (
	"context"
	"errors"
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
		for asked := range len(steps) + 1 { // at which step somebody asks first
			t.Run(name, func(t *testing.T) {
				base := context.WithValue(t.Context(), valueKey{}, "value")
				pa, endA := context.WithCancelCause(base)
				pb, endB := context.WithCancelCause(base)
				defer endA(nil)
				defer endB(nil)
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

func TestLazyContextReachesWhoWaitsAndWhoDerives(t *testing.T) {
	reason := errors.New("reason")
	l := &call.Lazy{Parent: t.Context()}
	child, cancel := context.WithTimeout(l, time.Hour)
	defer cancel()
	called := make(chan struct{})
	defer context.AfterFunc(l, func() { close(called) })()
	l.Cancel(reason)
	<-l.Done()
	<-child.Done()
	<-called
	if !errors.Is(context.Cause(child), reason) || !errors.Is(l.Err(), context.Canceled) {
		t.Errorf("got %v because of %v", child.Err(), context.Cause(child))
	}
}

// TestLazyContextUnderConcurrentUse is for the race detector; whoever asks, and whenever, gets the
// same channel and one reason.
func TestLazyContextUnderConcurrentUse(t *testing.T) {
	for range 200 {
		l := &call.Lazy{Parent: t.Context()}
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				switch i {
				case 0, 1:
					l.Cancel(nil)
				default:
					<-l.Done()
					if !errors.Is(l.Err(), context.Canceled) || !errors.Is(context.Cause(l), context.Canceled) {
						t.Errorf("got %v because of %v", l.Err(), context.Cause(l))
					}
				}
			})
		}
		wg.Wait()
	}
}
