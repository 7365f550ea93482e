package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// silently loses all that comes for the node, without its noticing.
func (w *wire) silently() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
}

// TestOvertakenReadDoesNotServeWhatIsSuspect: a value that the link came back to is compared, the
// remote has another, and before that one is there a write of the node fails half way.
func TestOvertakenReadDoesNotServeWhatIsSuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		tell(t, a, "k", "old")
		want(t, b, "k", "old")
		wire.cutLink()
		tell(t, a, "k", "new")
		wire.heal()
		breaks := func() {
			wire.fetched.Store(nil)
			fails(&wire.before, errWire)
			if err := b.Delete(t.Context(), "k"); !errors.Is(err, ErrUncertain) {
				t.Errorf("delete: %v", err)
			}
		}
		wire.fetched.Store(&breaks)
		if v, err := b.Get(t.Context(), "k"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("with the link up and a bound of %v: %q, %v", b.Staleness(), v, err)
		}
		fails(&wire.before, nil)
		want(t, b, "k", "new")
	})
}

// TestWhatTheRemoteHasNoMoreIsNotFallenBackOn when the origin fails.
func TestWhatTheRemoteHasNoMoreIsNotFallenBackOn(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *Cache[string, string]){
		"deleted": func(t *testing.T, c *Cache[string, string]) {
			t.Helper()
			if err := c.Delete(t.Context(), "k"); err != nil {
				t.Error(err)
			}
		},
		"invalidated": func(t *testing.T, c *Cache[string, string]) {
			t.Helper()
			if err := c.InvalidateTags(t.Context(), "t"); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHub()
				a, _ := node(t, h, Options[string, string]{})
				b, wire := node(t, h, Options[string, string]{
					Policy: Policy{ErrorBackoffMin: -1},
					Load:   func(context.Context, string) (string, error) { return "", errOrigin },
				})
				if _, err := b.SetWith(t.Context(), "k", "old", WriteOptions{Tags: []string{"t"}}); err != nil {
					t.Fatal(err)
				}
				wire.cutLink()
				end(t, a)
				wire.heal()
				wantErr(t, b, "k", errOrigin)
			})
		})
	}
}

// TestWriteWhileWaitingForALease ends what the read would have fallen back on: at the end of its
// patience, or when the origin fails and the remote cannot be asked.
func TestWriteWhileWaitingForALease(t *testing.T) {
	for name, patience := range map[string]time.Duration{"patient": -1, "impatient": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHub()
				a, _ := node(t, h, Options[string, string]{})
				b, wire := node(t, h, Options[string, string]{
					Policy: Policy{TTL: time.Minute, StaleWhileRevalidate: -1, LoadSoftTimeout: patience, ErrorBackoffMin: -1, LeaseTTL: 5 * time.Second},
					Load:   func(context.Context, string) (string, error) { return "", errOrigin },
				})
				set(t, b, "k", "old")
				pass(2 * time.Minute)
				if got, err := h.Lease(t.Context(), "n", LeaseRequest{Key: "k", Token: 1, TTL: time.Hour, Known: h.frame(t, "k").Version}); err != nil || !got.Granted {
					t.Fatal(got, err)
				}
				time.AfterFunc(100*time.Millisecond, func() {
					fails(&wire.before, errWire)
					set(t, a, "k", "new")
				})
				if v, err := b.Get(t.Context(), "k"); !errors.Is(err, errOrigin) {
					t.Errorf("%q, %v", v, err)
				}
				fails(&wire.before, nil)
				want(t, b, "k", "new")
			})
		})
	}
}

// TestBoundOfWhatIsNotComparedNow: what comes without being asked for, or with a notice on its way
// that may be about it, is no better known than what is held.
func TestBoundOfWhatIsNotComparedNow(t *testing.T) {
	const beat, since = 5 * time.Second, 4 * time.Second
	type nodes struct {
		a, b *Cache[string, string]
		wire *wire
	}
	for name, read := range map[string]func(*testing.T, nodes) Entry[string]{
		"pushed": func(t *testing.T, n nodes) Entry[string] {
			t.Helper()
			tell(t, n.a, "k", "v")
			want(t, n.b, "k", "v")
			pass(since)
			tell(t, n.a, "k", "pushed")
			return entryOf(t, n.b, "k", ReadOptions{})
		},
		"tags that are known": func(t *testing.T, n nodes) Entry[string] {
			t.Helper()
			for _, k := range []string{"k", "other"} {
				if _, err := n.a.SetWith(t.Context(), k, "v", WriteOptions{Tags: []string{"t"}}); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			want(t, n.b, "other", "v")
			n.wire.silently()
			if err := n.a.InvalidateTags(t.Context(), "t"); err != nil {
				t.Fatal(err)
			}
			pass(since)
			return entryOf(t, n.b, "k", ReadOptions{})
		},
		"overtaken": func(t *testing.T, n nodes) Entry[string] {
			t.Helper()
			tell(t, n.a, "k", "v")
			late := func() {
				n.wire.fetched.Store(nil)
				tell(t, n.a, "k", "new")
				pass(since)
				n.wire.sink.Proof(time.Now())
				synctest.Wait()
			}
			n.wire.fetched.Store(&late)
			return entryOf(t, n.b, "k", ReadOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHub()
				o := Options[string, string]{Policy: Policy{Mode: Push, Heartbeat: beat, LinkTimeout: time.Minute, RemoteTimeout: time.Minute}}
				a, _ := node(t, h, o)
				b, wire := node(t, h, o)
				if e := read(t, nodes{a, b, wire}); e.Bound < since {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

// TestVerifyOvertakenByAPushReadsAgain: what is pushed is not proved to be the latest.
func TestVerifyOvertakenByAPushReadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		o := Options[string, string]{Policy: Policy{Mode: Push, Heartbeat: 5 * time.Second}}
		a, _ := node(t, h, o)
		b, wire := node(t, h, o)
		tell(t, a, "k", "old")
		want(t, b, "k", "old")
		pass(4 * time.Second)
		overtake := func() {
			wire.fetched.Store(nil)
			tell(t, a, "k", "new")
		}
		wire.fetched.Store(&overtake)
		if e := entryOf(t, b, "k", ReadOptions{Verify: true}); e.Value != "new" || e.Bound > time.Second {
			t.Errorf("%+v", e)
		}
	})
}

// TestTagReadBeforeItsFrame: the frame of an invalidation comes when its counter is known already.
func TestTagReadBeforeItsFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		for _, k := range []string{"k", "other"} {
			if _, err := b.SetWith(t.Context(), k, "v", WriteOptions{Tags: []string{"t"}}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		wire.silently() // frames come by hand
		if err := a.InvalidateTags(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.GetEntry(t.Context(), "other", ReadOptions{Verify: true}); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		counters, err := h.Tags(t.Context(), "n", []string{"t"}, time.Hour, false)
		if err != nil {
			t.Fatal(err)
		}
		wire.sink.Frame(Frame{Kind: FrameTag, Version: Version{Epoch: h.frame(t, "k").Version.Epoch, Counter: counters[0]}, Key: "t"})
		synctest.Wait()
		peeks(t, b, "k", "")
	})
}

// TestOvertakenAnswerEndsWhatIsOlder: it is not kept itself, but what was held before is not served
// after it either.
func TestOvertakenAnswerEndsWhatIsOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		tell(t, a, "k", "old")
		want(t, b, "k", "old")
		wire.silently()
		tell(t, a, "k", "new")
		overtake := func() {
			wire.fetched.Store(nil)
			fails(&wire.before, errWire)
			if err := b.Delete(t.Context(), "k"); !errors.Is(err, ErrUncertain) {
				t.Errorf("delete: %v", err)
			}
			fails(&wire.before, nil)
		}
		compared := func() { wire.fetched.Store(&overtake) }
		wire.fetched.Store(&compared)
		if e := entryOf(t, b, "k", ReadOptions{Verify: true}); e.Value != "new" {
			t.Errorf("verified: %+v", e)
		}
		wire.cutLink()
		fails(&wire.before, errWire)
		wantErr(t, b, "k", ErrUnavailable)
		fails(&wire.before, nil)
	})
}

// TestOvertakenAnswerEndsOlderFallbacks: another read of the key began meanwhile, and the remote
// cannot be asked any more.
func TestOvertakenAnswerEndsOlderFallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		tell(t, a, "k", "old")
		want(t, b, "k", "old")
		wire.silently()
		tell(t, a, "k", "new")
		verify := ReadOptions{Verify: true}
		began, answered, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		second := func() {
			wire.fetched.Store(nil)
			close(began)
			<-answered
			fails(&wire.before, errWire)
		}
		overtake := func() {
			wire.cutLink()
			wire.fetched.Store(&second)
			go func() {
				defer close(ended)
				if _, err := b.GetEntry(t.Context(), "k", verify); !errors.Is(err, ErrUnavailable) {
					t.Errorf("the second read: %v", err)
				}
			}()
			<-began
		}
		compared := func() { wire.fetched.Store(&overtake) }
		wire.fetched.Store(&compared)
		if e := entryOf(t, b, "k", verify); e.Value != "new" {
			t.Errorf("the first read: %+v", e)
		}
		close(answered)
		<-ended
		wantErr(t, b, "k", ErrUnavailable)
		fails(&wire.before, nil)
	})
}

// TestTaggedSetAfterInvalidationIsThere, though the node that sets has not heard of the
// invalidation.
func TestTaggedSetAfterInvalidationIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		tagged := func(v string) {
			t.Helper()
			if _, err := b.SetWith(t.Context(), "k", v, WriteOptions{Tags: []string{"t"}}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		tagged("old")
		wire.silently()
		if err := a.InvalidateTags(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		tagged("new")
		want(t, a, "k", "new")
	})
}

// TestSetThatIsHeldUpEndsNoNewerWrite: tags are invalidated, and the key is written, after a Set
// has asked for their counters and before it is stored, several times.
func TestSetThatIsHeldUpEndsNoNewerWrite(t *testing.T) {
	for _, tags := range [][]string{nil, {"t"}} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHub()
			a, _ := node(t, h, Options[string, string]{})
			b, wire := node(t, h, Options[string, string]{})
			write := func(c *Cache[string, string], v string) {
				if _, err := c.SetWith(t.Context(), "k", v, WriteOptions{Tags: tags}); err != nil {
					t.Error(err)
				}
			}
			overtaken := 0
			b.remote = &held{wire, func() {
				if overtaken++; overtaken > 3 {
					return
				}
				if err := errors.Join(a.InvalidateTags(t.Context(), tags...), a.Clear(t.Context())); err != nil {
					t.Error(err)
				}
				write(a, "newer")
				want(t, a, "k", "newer")
			}}
			write(b, "v")
			synctest.Wait()
			want(t, a, "k", "v")
			want(t, b, "k", "v")

			b.remote = &held{wire, func() {
				if err := a.Clear(t.Context()); err != nil {
					t.Error(err)
				}
			}}
			if err := b.Set(t.Context(), "k", "never in time"); !errors.Is(err, ErrConflict) {
				t.Errorf("overtaken each time: %v", err)
			}
		})
	}
}

// held holds each write up, for what happens before.
type held struct {
	*wire
	before func()
}

func (h *held) Store(ctx context.Context, ns string, r StoreRequest) (StoreResult, error) {
	h.before()
	return h.Hub.Store(ctx, ns, r)
}

// TestSetAfterClearIsThere, though the node that sets has not heard of the Clear.
func TestSetAfterClearIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		tell(t, b, "k", "old")
		wire.silently()
		if err := a.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		tell(t, b, "k", "new")
		want(t, a, "k", "new")
		want(t, b, "k", "new")
		if n, err := a.Purge(t.Context(), 1000); n != 0 || err != nil {
			t.Errorf("purged %d, %v", n, err)
		}
		want(t, a, "k", "new")
	})
}

// TestRecordOfAfterAnInvalidation of which the node has not heard is there.
func TestRecordOfAfterAnInvalidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		tagged := func(k string) {
			t.Helper()
			if _, err := a.SetWith(t.Context(), k, "v", WriteOptions{Tags: []string{"t"}}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		tagged("k")
		want(t, b, "k", "v")
		wire.silently()
		if err := a.InvalidateTags(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		tagged("new")
		want(t, b, "new", "v")
		if err := a.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		tagged("newer")
		want(t, b, "newer", "v")
	})
}

// TestUpdateOfWhatWasInvalidated between its read and its write begins again, without the old
// value.
func TestUpdateOfWhatWasInvalidated(t *testing.T) {
	for name, invalidate := range map[string]func(context.Context, *Cache[string, string]) error{
		"Clear":          func(ctx context.Context, c *Cache[string, string]) error { return c.Clear(ctx) },
		"InvalidateTags": func(ctx context.Context, c *Cache[string, string]) error { return c.InvalidateTags(ctx, "t") },
	} {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " unheard ", silent), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := NewHub()
					a, _ := node(t, h, Options[string, string]{})
					b, wire := node(t, h, Options[string, string]{})
					if _, err := b.SetWith(t.Context(), "k", "old", WriteOptions{Tags: []string{"t"}}); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					if silent {
						wire.silently()
					}
					var calls []string
					_, err := b.Update(t.Context(), "k", func(old string, ok bool) (string, Op, error) {
						if calls = append(calls, fmt.Sprint(old, ok)); len(calls) == 1 {
							if err := invalidate(t.Context(), a); err != nil {
								t.Error(err)
							}
							synctest.Wait()
						}
						return old + "new", Put, nil
					})
					if err != nil || !slices.Equal(calls, []string{"oldtrue", "false"}) {
						t.Errorf("%q, %v", calls, err)
					}
					want(t, a, "k", "new")
				})
			})
		}
	}
}

// TestFrameOfAnotherEpochPushesNothing: it cannot be ordered with what will come.
func TestFrameOfAnotherEpochPushesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{Policy: Policy{Mode: Push}})
		b, wire := node(t, h, Options[string, string]{Policy: Policy{Mode: Push}})
		tell(t, a, "k", "old")
		want(t, b, "k", "old")
		f := h.frame(t, "k")
		h.Reset()
		synctest.Wait()
		tell(t, a, "k", "new")
		want(t, b, "k", "new")
		wire.sink.Frame(f)
		synctest.Wait()
		want(t, b, "k", "new")
	})
}
