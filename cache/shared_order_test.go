package cache

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWriteOvertakesALateAnswer: a reader waits for the lease of another node, asks the remote when
// that has written, and a second write comes while the answer is on its way.
func TestWriteOvertakesALateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{Load: func(context.Context, string) (string, error) { return "loaded", nil }})
		if got, err := h.Lease(t.Context(), "n", LeaseRequest{Key: "k", Token: 1, TTL: time.Hour}); err != nil || !got.Granted {
			t.Fatal(got, err)
		}
		read := make(chan struct{})
		go func() {
			defer close(read)
			if _, err := b.Get(t.Context(), "k"); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		answer := make(chan struct{})
		late := func() { <-answer }
		wire.fetched.Store(&late)
		tell(t, a, "k", "old")
		tell(t, a, "k", "new")
		wire.fetched.Store(nil)
		close(answer)
		<-read
		peeks(t, b, "k", "")
		want(t, b, "k", "new")
	})
}

// TestReadsDoNotGoBackWhereLoadsOverlap: a load that a notice has overtaken is answered after the
// one that began behind it, with a later write, whose notice has not come yet. Who has read that
// does not get what the other one brings.
func TestReadsDoNotGoBackWhereLoadsOverlap(t *testing.T) {
	for _, c := range []struct {
		name string
		get  func(context.Context, *Cache[string, string]) (string, error)
	}{
		{"Get", func(ctx context.Context, c *Cache[string, string]) (string, error) { return c.Get(ctx, "k") }},
		{"GetEntry", func(ctx context.Context, c *Cache[string, string]) (string, error) {
			e, err := c.GetEntry(ctx, "k", ReadOptions{})
			return e.Value, err
		}},
		{"GetMany", func(ctx context.Context, c *Cache[string, string]) (string, error) {
			all, err := c.GetMany(ctx, []string{"k"}, nil)
			return all["k"], err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHub()
				a, _ := node(t, h, Options[string, string]{})
				b, wire := node(t, h, Options[string, string]{})
				get := func(ctx context.Context, c *Cache[string, string]) (string, error) { return c.Get(ctx, "k") }
				read := func(get func(context.Context, *Cache[string, string]) (string, error)) <-chan string {
					return begun(t, func() (string, error) { return get(t.Context(), b) })
				}
				tell(t, a, "k", "1")
				asks := pause(&wire.fetching)
				first := read(get)
				tell(t, a, "k", "2")
				wire.fetching.Store(nil)
				answer := pause(&wire.fetched)
				second := read(get)
				wire.fetched.Store(nil)
				wire.slow()
				tell(t, a, "k", "3")
				asks()
				if got := <-first; got != "3" {
					t.Fatalf("the load that was overtaken brought %s", got)
				}
				third := read(c.get)
				answer()
				if got := <-third; got != "3" {
					t.Errorf("%s after 3", got)
				}
				<-second
				want(t, b, "k", "3")
				wire.release()
				synctest.Wait()
				want(t, b, "k", "3")
			})
		})
	}
}

// frame is that of the record that the hub has for k.
func (h *Hub) frame(t *testing.T, k string) Frame {
	t.Helper()
	r, err := h.Fetch(t.Context(), "n", []string{k}, false)
	if err != nil {
		t.Fatal(err)
	}
	return Frame{Kind: FrameKey, Version: r[0].Version, Key: k, Record: &r[0]}
}

// TestFramesTwiceAndOutOfOrder are harmless, whether the key is held, was deleted or was never
// there; one of an epoch that is not that of the link lets everything be compared.
func TestFramesTwiceAndOutOfOrder(t *testing.T) {
	for _, p := range []Policy{{}, {Mode: Push}, {Mode: Push, PushAll: true}} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHub()
			a, _ := node(t, h, Options[string, string]{Policy: p})
			b, wire := node(t, h, Options[string, string]{Policy: p})
			var frames []Frame
			write := func(v string) {
				tell(t, a, "k", v)
				frames = append(frames, h.frame(t, "k"))
			}
			replay := func() {
				for i := range frames {
					wire.sink.Frame(frames[len(frames)-1-i])
					wire.sink.Frame(frames[len(frames)-1-i])
					synctest.Wait()
				}
			}
			for i := range 5 {
				write(fmt.Sprint(i))
			}
			want(t, b, "k", "4")
			headers := wire.headers.Load() + wire.fetches.Load()
			replay()
			peeks(t, b, "k", "4")
			if n := wire.headers.Load() + wire.fetches.Load() - headers; n != 0 {
				t.Errorf("%+v: old news made the node ask %d times", p, n)
			}
			if err := b.Delete(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
			replay()
			peeks(t, b, "k", "")
			wantErr(t, b, "k", ErrNotFound)
			write("new")
			want(t, b, "k", "new")
			if err := a.Delete(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			replay()
			wantErr(t, b, "k", ErrNotFound)
			write("last")
			want(t, b, "k", "last")

			other := frames[0]
			other.Version.Epoch++
			other.Key = "another"
			breaks := b.Stats().LinkBreaks
			wire.sink.Frame(other)
			synctest.Wait()
			peeks(t, b, "k", "") // suspect
			want(t, b, "k", "last")
			peeks(t, b, "k", "last")
			if b.Stats().LinkBreaks == breaks {
				t.Error("a frame of another epoch went unseen")
			}
		})
	}
}

// TestNodesWithOneIDSeeEachOther, and say that there are two.
func TestNodesWithOneIDSeeEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		p := Policy{Mode: Push}
		var log strings.Builder
		a, _ := node(t, h, Options[string, string]{Policy: p, NodeID: 7})
		b, _ := node(t, h, Options[string, string]{Policy: p, NodeID: 7, Logger: textLogger(&log)})
		c, _ := node(t, h, Options[string, string]{Policy: p})
		d, _ := node(t, h, Options[string, string]{Policy: p})
		if c.id == d.id {
			t.Error("ids are not random")
		}
		tell(t, b, "k", "one")
		want(t, a, "k", "one")
		if log.Len() != 0 {
			t.Errorf("a frame of its own: %s", &log)
		}
		for i := range 3 {
			v := fmt.Sprint("two ", i)
			tell(t, a, "k", v)
			peeks(t, b, "k", v)
			v = fmt.Sprint("three ", i)
			tell(t, b, "k", v)
			peeks(t, a, "k", v)
		}
		if n := strings.Count(log.String(), "has the id of this one"); n != 1 {
			t.Errorf("reported %d times: %s", n, &log)
		}
	})
}

// TestWritesDuringTheStartAreSeen: what is read before the link is up is compared once it is.
func TestWritesDuringTheStartAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		tell(t, a, "k", "old")

		// The subscription comes late: until then New does not return, and nothing is asked for.
		late := &lateBus{Hub: h, after: 500 * time.Millisecond}
		start := time.Now()
		b := open(t, Options[string, string]{Name: "n", Remote: h, Bus: late, Codec: textCodec{}})
		if d := time.Since(start); d != late.after {
			t.Errorf("New waited %v", d)
		}
		want(t, b, "k", "old")
		tell(t, a, "k", "new")
		want(t, b, "k", "new")

		// It comes when New has given up waiting, and the link loses what is written before.
		late = &lateBus{Hub: h, after: 3 * time.Second}
		c := open(t, Options[string, string]{Name: "n", Remote: h, Bus: late, Codec: textCodec{}})
		want(t, c, "k", "new")
		wantErr(t, c, "absent", ErrNotFound)
		tell(t, a, "k", "newer")
		tell(t, a, "absent", "there")
		pass(late.after)
		want(t, c, "k", "newer")
		want(t, c, "absent", "there")
	})
}

// lateBus attaches late.
type lateBus struct {
	*Hub
	after time.Duration
}

func (l *lateBus) Attach(ns string, o LinkOptions, s Sink) (func(), error) {
	var detach func()
	attached := make(chan struct{})
	time.AfterFunc(l.after, func() {
		detach, _ = l.Hub.Attach(ns, o, s) // the hub has no errors
		close(attached)
	})
	return func() {
		<-attached
		detach()
	}, nil
}

// TestLostTagInvalidatesForEver: a counter that is made anew is greater than all that were.
func TestLostTagInvalidatesForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		for _, k := range []string{"one", "two"} {
			if _, err := a.SetWith(t.Context(), k, k, WriteOptions{Tags: []string{"t"}}); err != nil {
				t.Fatal(err)
			}
		}
		lose := func() {
			h.mu.Lock()
			delete(h.ns["n"].tags, "t")
			h.mu.Unlock()
		}
		lose()
		for range 3 {
			b, wire := node(t, h, Options[string, string]{})
			wantErr(t, b, "one", ErrNotFound)
			wire.cutLink()
			wire.heal()
			wantErr(t, b, "one", ErrNotFound)
			lose()
		}
		if _, err := a.SetWith(t.Context(), "one", "new", WriteOptions{Tags: []string{"t"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b, _ := node(t, h, Options[string, string]{})
		wantErr(t, b, "two", ErrNotFound)
	})
}

// TestLateFrameIsNotTakenForTheLatest: the answer to a write comes after the frame of the second
// write that followed it, and the frame of the first one after both.
func TestLateFrameIsNotTakenForTheLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		p := Policy{Mode: Push}
		a, _ := node(t, h, Options[string, string]{Policy: p})
		b, wire := node(t, h, Options[string, string]{Policy: p})
		wire.mu.Lock()
		wire.cut = true // frames come by hand
		wire.mu.Unlock()
		var first Frame
		b.remote = &tardy{wire: wire, stored: func() {
			set(t, a, "k", "two")
			first = h.frame(t, "k")
			set(t, a, "k", "three")
			wire.sink.Frame(h.frame(t, "k"))
			synctest.Wait()
		}}
		set(t, b, "k", "one")
		b.remote = wire
		peeks(t, b, "k", "")
		wire.sink.Frame(first)
		synctest.Wait()
		peeks(t, b, "k", "")
		want(t, b, "k", "three")
	})
}

// tardy answers a write when stored is done.
type tardy struct {
	*wire
	stored func()
}

func (w *tardy) Store(ctx context.Context, ns string, r StoreRequest) (StoreResult, error) {
	got, err := w.wire.Store(ctx, ns, r)
	w.stored()
	return got, err
}

// TestCounterThatIsGivenOutAgain: a server that has lost its last writes, without anybody's
// noticing, gives their numbers to others. What is held is compared by the id of its write, too.
func TestCounterThatIsGivenOutAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		b, wire := node(t, h, Options[string, string]{})
		tell(t, a, "k", "lost")
		want(t, b, "k", "lost")
		lost := h.frame(t, "k").Version
		wire.cutLink()
		h.mu.Lock()
		h.next--
		h.mu.Unlock()
		tell(t, a, "k", "new")
		if v := h.frame(t, "k").Version; v.Epoch != lost.Epoch || v.Counter != lost.Counter {
			t.Fatalf("%v after %v", v, lost)
		}
		wire.heal()
		want(t, b, "k", "new")
	})
}
