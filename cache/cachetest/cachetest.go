// Package cachetest is the conformance suite of cache.Remote and cache.Bus.
package cachetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/cache"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// Shared is what the caches of several nodes share.
type Shared interface {
	cache.Remote
	cache.Bus
}

// RunRemote checks that open, called once for each test, returns something that does what the
// comments of cache.Remote and cache.Bus say. Namespaces of the tests differ.
func RunRemote(t *testing.T, open func(*testing.T) Shared) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, Shared, string)
	}{
		{"a record comes back whole", testRoundTrip},
		{"keys of any bytes stay apart", testKeys},
		{"namespaces stay apart", testNamespaces},
		{"versions grow and conditions hold", testConditions},
		{"a record ends with its life", testLife},
		{"a tombstone replaces a value", testTombstone},
		{"one node has the lease", testLease},
		{"a lease ends with its life", testLeaseLife},
		{"a write ends the lease", testLeaseLost},
		{"counters of tags grow", testTags},
		{"a record with a tag that is out of date is refused", testCurrent},
		{"a link brings every write in order", testFrames},
		{"writers at once end with one version", testWriters},
		{"a link that is up is proved", testProof},
		{"nothing comes after detach", testDetach},
		{"an ended context is its error", testContext},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t), "t."+strings.ReplaceAll(c.name, " ", "-")) })
	}
}

// Recorder is a Sink that keeps what it is told.
type Recorder struct {
	mu      sync.Mutex
	got     []string
	awaited int // how many of got WaitUp and WaitDown have gone by
	frames  []cache.Frame
	epoch   uint64
	isUp    bool
	why     error // of the last Down
	proof   time.Time
	more    chan struct{}
}

// NewRecorder makes a Recorder.
func NewRecorder() *Recorder { return &Recorder{more: make(chan struct{})} }

func (r *Recorder) note(what string, change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	if what != "proof" {
		r.got = append(r.got, what)
	}
	close(r.more)
	r.more = make(chan struct{})
}

// Frame implements cache.Sink.
func (r *Recorder) Frame(f cache.Frame) {
	r.note("frame", func() { r.frames = append(r.frames, f) })
}

// Up implements cache.Sink.
func (r *Recorder) Up(epoch uint64) { r.note("up", func() { r.isUp, r.epoch = true, epoch }) }

// Down implements cache.Sink.
func (r *Recorder) Down(err error) {
	r.note("down", func() { r.isUp, r.why = false, err })
}

// Proof implements cache.Sink.
func (r *Recorder) Proof(sent time.Time) { r.note("proof", func() { r.proof = sent }) }

// wait waits until ok, which is called with the lock held.
func (r *Recorder) wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(patience)
	for {
		r.mu.Lock()
		done, more := ok(), r.more
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-more:
		case <-end:
			t.Fatalf("no %s within %v; got %v, last down: %v", what, patience, r.got, r.why)
		}
	}
}

// WaitUp waits until the link is up and returns its epoch.
func (r *Recorder) WaitUp(t *testing.T) (epoch uint64) {
	t.Helper()
	r.wait(t, "up", func() bool {
		if r.isUp {
			epoch, r.awaited = r.epoch, len(r.got)
		}
		return r.isUp
	})
	return epoch
}

// WaitDown waits until the link has gone down since the last WaitUp or WaitDown returned. It may be
// up again.
func (r *Recorder) WaitDown(t *testing.T) {
	t.Helper()
	r.wait(t, "down", func() bool {
		i := slices.Index(r.got[r.awaited:], "down")
		r.awaited += i + 1
		return i >= 0
	})
}

// WaitFrame waits for the first frame that satisfies ok.
func (r *Recorder) WaitFrame(t *testing.T, ok func(cache.Frame) bool) (f cache.Frame) {
	t.Helper()
	r.wait(t, "frame", func() bool {
		i := slices.IndexFunc(r.frames, ok)
		if i >= 0 {
			f = r.frames[i]
		}
		return i >= 0
	})
	return f
}

// Frames are those that came.
func (r *Recorder) Frames() []cache.Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.frames)
}

// Link attaches a Recorder and waits until it is up.
func Link(t *testing.T, s Shared, ns string) *Recorder {
	t.Helper()
	r := NewRecorder()
	detach, err := s.Attach(ns, cache.LinkOptions{Heartbeat: 20 * time.Millisecond, Timeout: 10 * time.Second}, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(detach)
	r.WaitUp(t)
	return r
}

// Value is a record of a value.
func Value(payload string, writeID uint64) cache.Record {
	return cache.Record{
		Version: cache.Version{WriteID: writeID}, State: cache.RecordValue, Codec: 7, Payload: []byte(payload),
		Fresh: time.Minute, Remove: time.Hour,
	}
}

func store(t *testing.T, s Shared, ns string, r cache.StoreRequest) cache.StoreResult {
	t.Helper()
	got, err := s.Store(t.Context(), ns, r)
	if err != nil {
		t.Fatalf("store %q: %v", r.Key, err)
	}
	return got
}

func put(t *testing.T, s Shared, ns, key, payload string) cache.Version {
	t.Helper()
	got := store(t, s, ns, cache.StoreRequest{Key: key, Record: Value(payload, 1)})
	if !got.Stored {
		t.Fatalf("store %q was refused", key)
	}
	return got.Version
}

func fetch(t *testing.T, s Shared, ns string, keys ...string) []cache.Record {
	t.Helper()
	got, err := s.Fetch(t.Context(), ns, keys, false)
	if err != nil || len(got) != len(keys) {
		t.Fatalf("fetch %q: %d records, %v", keys, len(got), err)
	}
	return got
}

func testRoundTrip(t *testing.T, s Shared, ns string) {
	t.Helper()
	for i, payload := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte{0, 255, 13, 10}, 1<<16)} {
		want := cache.Record{
			Version: cache.Version{WriteID: 1<<63 + 5}, State: cache.RecordValue, Codec: 129, Payload: payload,
			Tags:  []cache.RecordTag{{Name: "", Counter: 1<<63 + 9}, {Name: strings.Repeat("t", 128), Counter: 3}},
			Fresh: 1500 * time.Millisecond, Remove: 400 * 24 * time.Hour, LoadTime: 7 * time.Microsecond,
		}
		key := fmt.Sprint("k", i)
		stored := store(t, s, ns, cache.StoreRequest{Key: key, Record: want})
		for _, headersOnly := range []bool{false, true} {
			all, err := s.Fetch(t.Context(), ns, []string{key}, headersOnly)
			if err != nil {
				t.Fatal(err)
			}
			got := all[0]
			if got.Version != stored.Version || got.Version.WriteID != 1<<63+5 || got.Version.Counter == 0 || got.Version.Epoch == 0 {
				t.Errorf("version %v, stored as %v", got.Version, stored.Version)
			}
			if got.State != want.State || got.Codec != want.Codec || got.Fresh != want.Fresh || got.Remove != want.Remove || got.LoadTime != want.LoadTime {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if got.Age < 0 || got.Age > patience {
				t.Errorf("age %v", got.Age)
			}
			if !headersOnly && (!bytes.Equal(got.Payload, payload) || !slices.Equal(got.Tags, want.Tags)) {
				t.Errorf("payload of %d bytes, tags %v", len(got.Payload), got.Tags)
			}
		}
	}
}

func testKeys(t *testing.T, s Shared, ns string) {
	t.Helper()
	keys := []string{"", "a", "a\x00", "{a}", "a:b", ":", "*", "?", "\xff\xfe", "\r\n", strings.Repeat("k", 1024), strings.Repeat("k", 1023)}
	for _, k := range keys {
		put(t, s, ns, k, "value of "+k)
	}
	for i, r := range fetch(t, s, ns, keys...) {
		if string(r.Payload) != "value of "+keys[i] {
			t.Errorf("key %q has %q", keys[i], r.Payload)
		}
	}
	if got := fetch(t, s, ns, "none")[0]; got.State != cache.RecordNone {
		t.Errorf("a key that was not stored has %+v", got)
	}
	if got, err := s.Fetch(t.Context(), ns, nil, false); err != nil || len(got) != 0 {
		t.Errorf("no keys: %v, %v", got, err)
	}
}

func testNamespaces(t *testing.T, s Shared, ns string) {
	t.Helper()
	other := Link(t, s, ns+"2")
	put(t, s, ns, "k", "v")
	if got := fetch(t, s, ns+"2", "k")[0]; got.State != cache.RecordNone {
		t.Errorf("another namespace has %+v", got)
	}
	put(t, s, ns+"2", "last", "v")
	if f := other.WaitFrame(t, func(cache.Frame) bool { return true }); f.Key != "last" {
		t.Errorf("a frame of another namespace: %+v", f)
	}
}

func testConditions(t *testing.T, s Shared, ns string) {
	t.Helper()
	none := cache.Version{}
	first := store(t, s, ns, cache.StoreRequest{Key: "k", Record: Value("1", 1), If: cache.StoreIfVersion})
	if !first.Stored {
		t.Fatal("a key without record does not have the zero version")
	}
	if again := store(t, s, ns, cache.StoreRequest{Key: "k", Record: Value("x", 2), If: cache.StoreIfVersion, IfVersion: none}); again.Stored {
		t.Error("stored over a record that the writer did not know")
	}
	second := store(t, s, ns, cache.StoreRequest{Key: "k", Record: Value("2", 2), If: cache.StoreIfVersion, IfVersion: first.Version})
	if !second.Stored || second.Version.Epoch != first.Version.Epoch || second.Version.Counter <= first.Version.Counter {
		t.Errorf("second %+v after %+v", second, first)
	}
	for _, wrong := range []cache.Version{first.Version, {Epoch: second.Version.Epoch, Counter: second.Version.Counter, WriteID: 3}, {Epoch: second.Version.Epoch + 1, Counter: second.Version.Counter, WriteID: 2}} {
		if got := store(t, s, ns, cache.StoreRequest{Key: "k", Record: Value("x", 4), If: cache.StoreIfVersion, IfVersion: wrong}); got.Stored {
			t.Errorf("stored over %v with %v", second.Version, wrong)
		}
	}
	if got := store(t, s, ns, cache.StoreRequest{Key: "k", Record: Value("x", 4), If: cache.StoreIfLease, Token: 9}); got.Stored {
		t.Error("stored without the lease")
	}
	if got := fetch(t, s, ns, "k")[0]; string(got.Payload) != "2" {
		t.Errorf("a refused write changed the value to %q", got.Payload)
	}
}

// eventually waits for a state that only time brings.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func testLife(t *testing.T, s Shared, ns string) {
	t.Helper()
	r := Value("v", 1)
	r.Fresh, r.Remove = time.Millisecond, 20*time.Millisecond
	store(t, s, ns, cache.StoreRequest{Key: "k", Record: r})
	eventually(t, "the record ends", func() bool { return fetch(t, s, ns, "k")[0].State == cache.RecordNone })
}

func testTombstone(t *testing.T, s Shared, ns string) {
	t.Helper()
	before := put(t, s, ns, "k", "v")
	got := store(t, s, ns, cache.StoreRequest{Key: "k", Record: cache.Record{
		State: cache.RecordTombstone, Version: cache.Version{WriteID: 8}, Fresh: time.Minute, Remove: time.Minute,
	}})
	r := fetch(t, s, ns, "k")[0]
	if r.State != cache.RecordTombstone || r.Version != got.Version || r.Version.Counter <= before.Counter || len(r.Payload) > 0 {
		t.Errorf("after the removal: %+v, stored as %+v", r, got)
	}
}

func lease(t *testing.T, s Shared, ns string, r cache.LeaseRequest) cache.LeaseResult {
	t.Helper()
	if r.TTL == 0 {
		r.TTL = time.Hour
	}
	got, err := s.Lease(t.Context(), ns, r)
	if err != nil {
		t.Fatalf("lease %+v: %v", r, err)
	}
	return got
}

func testLease(t *testing.T, s Shared, ns string) {
	t.Helper()
	link := Link(t, s, ns)
	granted, refused := cache.LeaseResult{Granted: true}, cache.LeaseResult{}
	for i, step := range []struct {
		r    cache.LeaseRequest
		want cache.LeaseResult
	}{
		{cache.LeaseRequest{Key: "k", Verb: cache.LeaseRenew, Token: 1}, refused},
		{cache.LeaseRequest{Key: "k", Verb: cache.LeaseRelease, Token: 1}, refused},
		{cache.LeaseRequest{Key: "k", Token: 1}, granted},
		{cache.LeaseRequest{Key: "k", Token: 2}, refused},
		{cache.LeaseRequest{Key: "other", Token: 2}, granted},
		{cache.LeaseRequest{Key: "k", Token: 1}, granted},
		{cache.LeaseRequest{Key: "k", Verb: cache.LeaseRenew, Token: 2}, refused},
		{cache.LeaseRequest{Key: "k", Verb: cache.LeaseRelease, Token: 2}, refused},
		{cache.LeaseRequest{Key: "k", Verb: cache.LeaseRenew, Token: 1}, granted},
		{cache.LeaseRequest{Key: "k", Verb: cache.LeaseRelease, Token: 1}, granted},
		{cache.LeaseRequest{Key: "k", Token: 2}, granted},
	} {
		if got := lease(t, s, ns, step.r); got != step.want {
			t.Errorf("step %d: %+v: got %+v, want %+v", i, step.r, got, step.want)
		}
	}
	link.WaitFrame(t, func(f cache.Frame) bool { return f.Kind == cache.FrameLease && f.Key == "k" })

	v := put(t, s, ns, "held", "v")
	if got := lease(t, s, ns, cache.LeaseRequest{Key: "held", Token: 1}); got != (cache.LeaseResult{Newer: true}) {
		t.Errorf("a record that the caller does not know: %+v", got)
	}
	if got := lease(t, s, ns, cache.LeaseRequest{Key: "held", Token: 1, Known: v}); got != granted {
		t.Errorf("to replace the record that is known: %+v", got)
	}
	if got := lease(t, s, ns, cache.LeaseRequest{Key: "gone", Token: 1, Known: v}); got != granted {
		t.Errorf("the known record has ended: %+v", got)
	}
}

func testLeaseLife(t *testing.T, s Shared, ns string) {
	t.Helper()
	if got := lease(t, s, ns, cache.LeaseRequest{Key: "k", Token: 1, TTL: 20 * time.Millisecond}); !got.Granted {
		t.Fatal("refused")
	}
	eventually(t, "the lease ends", func() bool { return lease(t, s, ns, cache.LeaseRequest{Key: "k", Token: 2}).Granted })
}

func testLeaseLost(t *testing.T, s Shared, ns string) {
	t.Helper()
	lease(t, s, ns, cache.LeaseRequest{Key: "k", Token: 1})
	put(t, s, ns, "k", "written meanwhile")
	if got := store(t, s, ns, cache.StoreRequest{Key: "k", Record: Value("loaded before", 2), If: cache.StoreIfLease, Token: 1}); got.Stored {
		t.Error("a load that was overtaken by a write was stored")
	}
	v := fetch(t, s, ns, "k")[0]
	if string(v.Payload) != "written meanwhile" {
		t.Errorf("the key has %q", v.Payload)
	}
	lease(t, s, ns, cache.LeaseRequest{Key: "k", Token: 3, Known: v.Version})
	if got := store(t, s, ns, cache.StoreRequest{Key: "k", Record: Value("loaded", 2), If: cache.StoreIfLease, Token: 3}); !got.Stored {
		t.Error("the holder of the lease was refused")
	}
}

func testTags(t *testing.T, s Shared, ns string) {
	t.Helper()
	link := Link(t, s, ns)
	tags := func(bump bool, names ...string) []uint64 {
		t.Helper()
		got, err := s.Tags(t.Context(), ns, names, time.Hour, bump)
		if err != nil || len(got) != len(names) {
			t.Fatalf("tags %q: %v, %v", names, got, err)
		}
		return got
	}
	first := tags(false, "", "a", "b")
	if again := tags(false, "", "a", "b"); !slices.Equal(first, again) {
		t.Errorf("read twice: %v, then %v", first, again)
	}
	bumped := tags(true, "a", "")
	if bumped[0] <= slices.Max(first) || bumped[1] <= slices.Max(first) {
		t.Errorf("%v after %v", bumped, first)
	}
	if now := tags(false, "", "a", "b"); now[0] != bumped[1] || now[1] != bumped[0] || now[2] != first[2] {
		t.Errorf("now %v, first %v, bumped %v", now, first, bumped)
	}
	link.WaitFrame(t, func(f cache.Frame) bool {
		return f.Kind == cache.FrameTag && f.Key == "a" && f.Version.Counter == bumped[0]
	})
	link.WaitFrame(t, func(f cache.Frame) bool {
		return f.Kind == cache.FrameTag && f.Key == "" && f.Version.Counter == bumped[1]
	})
}

func testCurrent(t *testing.T, s Shared, ns string) {
	t.Helper()
	names := []string{"", "a"}
	counters, err := s.Tags(t.Context(), ns, names, time.Hour, false)
	if err != nil {
		t.Fatal(err)
	}
	r := cache.StoreRequest{Key: "k", Record: Value("v", 1), Current: true}
	for i, name := range names {
		r.Record.Tags = append(r.Record.Tags, cache.RecordTag{Name: name, Counter: counters[i]})
	}
	first := store(t, s, ns, r)
	if !first.Stored || first.Outdated {
		t.Errorf("with the counters of now: %+v", first)
	}
	for _, name := range names {
		if _, err := s.Tags(t.Context(), ns, []string{name}, time.Hour, true); err != nil {
			t.Fatal(err)
		}
		if got := store(t, s, ns, r); got != (cache.StoreResult{Outdated: true}) {
			t.Errorf("after %q was bumped: %+v", name, got)
		}
	}
	r.Record.Tags = []cache.RecordTag{{Name: "none", Counter: 1}}
	if got := store(t, s, ns, r); got != (cache.StoreResult{Outdated: true}) {
		t.Errorf("with a tag that has no counter: %+v", got)
	}
	r.If = cache.StoreIfVersion
	if got := store(t, s, ns, r); got != (cache.StoreResult{}) {
		t.Errorf("with a version that is not there: %+v", got)
	}
	if got := fetch(t, s, ns, "k")[0].Version; got != first.Version {
		t.Errorf("a refused write left %v, want %v", got, first.Version)
	}
	r.If, r.Current = cache.StoreAlways, false
	if got := store(t, s, ns, r); !got.Stored {
		t.Errorf("unchecked: %+v", got)
	}
}

func testFrames(t *testing.T, s Shared, ns string) {
	t.Helper()
	a, b := Link(t, s, ns), Link(t, s, ns)
	const writes = 200
	for i := range writes {
		r := cache.StoreRequest{Key: fmt.Sprint("k", i%3), Record: Value(fmt.Sprint(i), 1), Push: i%2 == 0}
		store(t, s, ns, r)
	}
	for _, link := range []*Recorder{a, b} {
		link.wait(t, "all frames", func() bool { return len(link.frames) >= writes })
		for i, f := range link.frames {
			if f.Kind != cache.FrameKey || f.Key != fmt.Sprint("k", i%3) {
				t.Fatalf("frame %d is %+v", i, f)
			}
			if i > 0 && f.Version.Counter <= link.frames[i-1].Version.Counter {
				t.Fatalf("frame %d has %v after %v", i, f.Version, link.frames[i-1].Version)
			}
			if f.Record != nil && (string(f.Record.Payload) != fmt.Sprint(i) || f.Record.Version != f.Version) {
				t.Fatalf("frame %d has %+v", i, f.Record)
			}
			if f.Record != nil && i%2 == 1 {
				t.Fatalf("frame %d was not to be pushed", i)
			}
		}
	}
}

func testWriters(t *testing.T, s Shared, ns string) {
	t.Helper()
	link := Link(t, s, ns)
	const writers, writes = 4, 50
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for i := range writes {
				if _, err := s.Store(t.Context(), ns, cache.StoreRequest{Key: "k", Record: Value("v", uint64(i))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	link.wait(t, "all frames", func() bool { return len(link.frames) >= writers*writes })
	if last, held := link.frames[len(link.frames)-1].Version, fetch(t, s, ns, "k")[0].Version; last != held {
		t.Errorf("the last frame has %v, the record %v", last, held)
	}
}

func testProof(t *testing.T, s Shared, ns string) {
	t.Helper()
	link := Link(t, s, ns)
	start := time.Now()
	link.wait(t, "proof", func() bool { return link.proof.After(start) })
	if link.proof.After(time.Now()) {
		t.Error("a proof of the future")
	}
}

func testDetach(t *testing.T, s Shared, ns string) {
	t.Helper()
	r, other := NewRecorder(), Link(t, s, ns)
	detach, err := s.Attach(ns, cache.LinkOptions{Heartbeat: 5 * time.Millisecond, Timeout: 10 * time.Second}, r)
	if err != nil {
		t.Fatal(err)
	}
	r.WaitUp(t)
	detach()
	before := len(r.got) // read without the lock: the race detector sees a call that comes after detach
	put(t, s, ns, "k", "v")
	other.WaitFrame(t, func(f cache.Frame) bool { return f.Key == "k" })
	if len(r.got) != before {
		t.Errorf("after detach: %v", r.got[before:])
	}
	detach()
}

func testContext(t *testing.T, s Shared, ns string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, e1 := s.Fetch(ctx, ns, []string{"k"}, false)
	_, e2 := s.Store(ctx, ns, cache.StoreRequest{Key: "k", Record: Value("v", 1)})
	_, e3 := s.Lease(ctx, ns, cache.LeaseRequest{Key: "k", Token: 1, TTL: time.Second})
	_, e4 := s.Tags(ctx, ns, []string{"a"}, time.Minute, true)
	for i, err := range []error{e1, e2, e3, e4} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
