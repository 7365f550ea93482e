package cache

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slowSink takes its time until open is closed.
type slowSink struct {
	open chan struct{}
	mu   sync.Mutex
	got  []string
}

func (s *slowSink) note(what string) {
	<-s.open
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, what)
}

func (s *slowSink) Frame(f Frame)   { s.note(fmt.Sprint(f.Key, " ", f.Version.Counter)) }
func (s *slowSink) Up(uint64)       { s.note("up") }
func (s *slowSink) Down(error)      { s.note("down") }
func (s *slowSink) Proof(time.Time) { s.note("proof") }
func (s *slowSink) lost()           { s.note("lost") }

// TestFramesThatWait: of each key and tag the latest is kept, whatever the order, in bounded
// memory; a proof does not overtake what it is the proof of; too many are told to be lost.
func TestFramesThatWait(t *testing.T) {
	key := func(k string, n uint64) Frame { return Frame{Kind: FrameKey, Key: k, Version: Version{Counter: n}} }
	for name, tc := range map[string]struct {
		call func(b *inbox)
		want []string
	}{
		"latest": {func(b *inbox) {
			b.Frame(key("a", 1))
			b.Frame(key("b", 2))
			b.Proof(time.Time{})
			b.Frame(key("a", 4))
			b.Frame(key("a", 3))
			b.Frame(Frame{Kind: FrameTag, Key: "a", Version: Version{Counter: 5}})
			for range 3 {
				b.Proof(time.Time{})
			}
		}, []string{"a 4", "b 2", "proof", "a 5", "proof"}},
		"touched": {func(b *inbox) {
			touch := func(k string) Frame { return Frame{Kind: FrameTouched, Key: k} }
			b.Frame(touch("a"))
			b.Frame(key("b", 1))
			b.Frame(touch("a"))
			b.Frame(key("a", 2))
			for range 3 {
				b.Frame(touch("a")) // of what the frame before has pushed, it may be
				b.Frame(key("a", 3))
			}
		}, []string{"a 0", "b 1", "a 3", "a 0"}},
		"another epoch": {func(b *inbox) {
			b.Frame(key("a", 9))
			b.Frame(Frame{Kind: FrameKey, Key: "a", Version: Version{Epoch: 1, Counter: 2}})
		}, []string{"a 2"}},
		"down": {func(b *inbox) {
			b.Frame(key("a", 1))
			b.Down(errors.New("cut"))
			b.Up(1)
			b.Frame(key("a", 2))
		}, []string{"down", "up", "a 2"}},
		"too many": {func(b *inbox) {
			for i := range uint64(2*maxPending + 4) {
				b.Frame(key(fmt.Sprint(i/2), i))
			}
			b.Proof(time.Time{})
			if len(b.queue) > maxPending+2 || len(b.frames) > maxPending {
				t.Errorf("%d calls wait", len(b.queue))
			}
		}, nil},
		"too many before the link is up": {func(b *inbox) {
			b.Up(1)
			for i := range uint64(maxPending + 1) {
				b.Frame(key(fmt.Sprint(i), i))
			}
		}, []string{"up", fmt.Sprint(maxPending, " ", maxPending)}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slowSink{open: make(chan struct{})}
				b := newInbox(s)
				b.Frame(key("first", 1)) // stands with the sink while the others wait
				synctest.Wait()
				tc.call(b)
				close(s.open)
				synctest.Wait()
				got := s.got[1:]
				if tc.want == nil {
					if got[0] != "lost" || got[len(got)-1] != "proof" || slices.Contains(got[1:], "lost") {
						t.Errorf("%d calls, first %s, last %s", len(got), got[0], got[len(got)-1])
					}
				} else if !slices.Equal(got, tc.want) {
					t.Errorf("got %q, want %q", got, tc.want)
				}
				b.close()
			})
		})
	}
}

// stopCodec decodes nothing from elsewhere until open is closed.
type stopCodec struct {
	textCodec
	open chan struct{}
}

func (c stopCodec) Decode(src []byte) (string, int, error) {
	if string(src) == "stop" {
		<-c.open
	}
	return c.textCodec.Decode(src)
}

// TestSlowNodeLosesNoFrame: while it decodes one value, more keys change than it keeps frames of.
// It says so, and serves nothing that was replaced.
func TestSlowNodeLosesNoFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		a, _ := node(t, h, Options[string, string]{})
		open := make(chan struct{})
		b, wire := node(t, h, Options[string, string]{Codec: stopCodec{open: open}, Policy: Policy{MaxStale: time.Hour}})
		for _, k := range []string{"stop", "early", "late", "same"} {
			tell(t, a, k, "old")
			want(t, b, k, "old")
		}
		push := func(k, v string) {
			if _, err := a.SetWith(t.Context(), k, v, WriteOptions{Mode: Push}); err != nil {
				t.Fatal(err)
			}
		}
		push("stop", "stop")
		synctest.Wait()
		tell(t, a, "early", "new")
		for i := range uint64(maxPending) {
			wire.sink.Frame(Frame{Kind: FrameKey, Key: fmt.Sprint(i), Version: Version{Epoch: h.epoch, Counter: i}})
		}
		tell(t, a, "late", "new")
		peeks(t, b, "early", "old") // within the bound, which grows
		pass(time.Minute)
		if d := b.Staleness(); d < time.Minute {
			t.Errorf("bound %v while frames wait", d)
		}
		breaks := b.Stats().LinkBreaks
		close(open)
		synctest.Wait()
		for k, v := range map[string]string{"stop": "stop", "early": "new", "late": "new", "same": "old"} {
			want(t, b, k, v)
		}
		if s := b.Stats(); s.LinkBreaks != breaks+1 || s.Revalidated == 0 {
			t.Errorf("stats %+v", s)
		}
		pass(time.Second)
		if d := b.Staleness(); d > time.Second {
			t.Errorf("bound %v", d)
		}
	})
}
