package cachetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/quire/cache"
)

// text is the kind of cache that RunCaches makes.
type text = cache.Cache[string, string]

// textCodec is its codec.
type textCodec struct{}

// ID implements cache.Codec.
func (textCodec) ID() byte { return 40 }

// Append implements cache.Codec.
func (textCodec) Append(dst []byte, v string) ([]byte, error) { return append(dst, v...), nil }

// Decode implements cache.Codec.
func (textCodec) Decode(src []byte) (string, int, error) { return string(src), len(src), nil }

// nodes makes the caches of one test.
type nodes struct {
	open func(*testing.T) Shared
	ns   string
	mode cache.SyncMode
}

// RunCaches checks what caches of several nodes promise to each other in that mode, over what open
// returns: called once for each node, it is that node's way to what all share. A prefix keeps the
// namespaces of runs over the same server apart.
func RunCaches(t *testing.T, prefix string, mode cache.SyncMode, open func(*testing.T) Shared) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, nodes)
	}{
		{"every node sees every write", testEveryWrite},
		{"a cold key is loaded once", testLoadedOnce},
		{"what does not exist is shared", testAbsent},
		{"a failed load is shared", testFailed},
		{"a write overtakes a load", testOvertaken},
		{"the lease of a dead node ends", testDeadLease},
		{"updates come one after the other", testUpdates},
		{"many keys are asked for at once", testMany},
		{"a lost connection is no reason to serve outdated values", testCut},
		{"reads never go back", testMonotonic},
		{"a node that only reads fills", testReadOnly},
		{"a closed node leaves no lease", testClosed},
		{"keys and tags of any bytes", testAnyKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t, nodes{open: open, ns: prefix + strings.ReplaceAll(c.name, " ", "-"), mode: mode})
		})
	}
}

// node makes a cache with o over s.
func (n nodes) node(t *testing.T, s Shared, o cache.Options[string, string]) *text {
	t.Helper()
	o.Name, o.Remote, o.Bus, o.Codec = n.ns, s, s, textCodec{}
	o.Policy.Mode, o.Policy.Jitter = n.mode, -1
	o.Policy.RemoteTimeout, o.Policy.Heartbeat, o.Policy.LinkTimeout = 10*time.Second, 20*time.Millisecond, 10*time.Second
	c, err := cache.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

// add makes a node with a way of its own.
func (n nodes) add(t *testing.T, o cache.Options[string, string]) *text {
	t.Helper()
	return n.node(t, n.open(t), o)
}

// becomes waits until c has v under k, or nothing for "".
func becomes(t *testing.T, c *text, k, v string) {
	t.Helper()
	var got string
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(2 * time.Millisecond) {
		got, err = c.Get(t.Context(), k)
		if got == v && (err == nil || v == "" && errors.Is(err, cache.ErrNotFound)) {
			return
		}
	}
	t.Fatalf("get %q: %q, %v; want %q", k, got, err, v)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type options = cache.Options[string, string]

func testEveryWrite(t *testing.T, n nodes) {
	t.Helper()
	a, b := n.add(t, options{}), n.add(t, options{})
	for i := range 20 {
		v := fmt.Sprint("v", i)
		must(t, a.Set(t.Context(), "k", v))
		if got, err := a.Get(t.Context(), "k"); got != v || err != nil {
			t.Fatalf("a write of this node: %q, %v; want %q", got, err, v)
		}
		becomes(t, b, "k", v)
	}
	must(t, b.Delete(t.Context(), "k"))
	becomes(t, a, "k", "")
	_, err := a.SetWith(t.Context(), "k", "tagged", cache.WriteOptions{Tags: []string{"t"}})
	must(t, err)
	becomes(t, b, "k", "tagged")
	must(t, b.InvalidateTags(t.Context(), "t"))
	becomes(t, a, "k", "")
	must(t, a.Set(t.Context(), "k", "again"))
	becomes(t, b, "k", "again")
	must(t, a.Clear(t.Context()))
	becomes(t, b, "k", "")
	must(t, a.Set(t.Context(), "k", "last"))
	if v, err := n.add(t, options{}).Get(t.Context(), "k"); v != "last" {
		t.Errorf("a node that starts reads %q, %v", v, err)
	}
	eventually(t, "a bound below a second", func() bool { return a.Staleness() < time.Second })
}

func testLoadedOnce(t *testing.T, n nodes) {
	t.Helper()
	var loads, reading atomic.Int64
	release := make(chan struct{})
	var all []*text
	for range 3 {
		all = append(all, n.add(t, options{
			Policy: cache.Policy{LoadTimeout: time.Minute, LeaseTTL: patience},
			Load: func(context.Context, string) (string, error) {
				loads.Add(1)
				<-release
				return "v", nil
			},
		}))
	}
	var wg sync.WaitGroup
	const readers = 60
	for i := range readers {
		wg.Go(func() {
			reading.Add(1)
			if v, err := all[i%len(all)].Get(t.Context(), "k"); err != nil || v != "v" {
				t.Errorf("%q, %v", v, err)
			}
		})
	}
	eventually(t, "all read", func() bool { return reading.Load() == readers && loads.Load() > 0 })
	close(release)
	wg.Wait()
	if got := loads.Load(); got != 1 {
		t.Errorf("%d loads", got)
	}
}

func testAbsent(t *testing.T, n nodes) {
	t.Helper()
	var loads atomic.Int64
	o := options{Policy: cache.Policy{NegativeTTL: time.Hour}, Load: func(context.Context, string) (string, error) {
		loads.Add(1)
		return "", cache.ErrNotFound
	}}
	a, b := n.add(t, o), n.add(t, o)
	for range 3 {
		for _, c := range []*text{a, b} {
			if v, err := c.Get(t.Context(), "k"); !errors.Is(err, cache.ErrNotFound) {
				t.Errorf("%q, %v", v, err)
			}
		}
	}
	if got := loads.Load(); got != 1 {
		t.Errorf("%d loads", got)
	}
	must(t, a.Set(t.Context(), "k", "now there"))
	becomes(t, b, "k", "now there")
}

func testFailed(t *testing.T, n nodes) {
	t.Helper()
	var loads atomic.Int64
	down := errors.New("the origin is down")
	o := options{Policy: cache.Policy{ErrorBackoffMin: time.Hour, ErrorBackoffMax: time.Hour}, Load: func(context.Context, string) (string, error) {
		loads.Add(1)
		return "", down
	}}
	a, b := n.add(t, o), n.add(t, o)
	for _, c := range []*text{a, b} {
		v, err := c.Get(t.Context(), "k")
		if failed, ok := errors.AsType[*cache.LoadError](err); !ok || !failed.RetryAt.After(time.Now()) {
			t.Errorf("%q, %v", v, err)
		}
	}
	if got := loads.Load(); got != 1 {
		t.Errorf("%d loads", got)
	}
	must(t, b.Set(t.Context(), "k", "v"))
	becomes(t, a, "k", "v")
}

func testOvertaken(t *testing.T, n nodes) {
	t.Helper()
	for key, write := range map[string]func(ctx context.Context, c *text) error{
		"Set":            func(ctx context.Context, c *text) error { return c.Set(ctx, "Set", "new") },
		"Delete":         func(ctx context.Context, c *text) error { return c.Delete(ctx, "Delete") },
		"Clear":          func(ctx context.Context, c *text) error { return c.Clear(ctx) },
		"InvalidateTags": func(ctx context.Context, c *text) error { return c.InvalidateTags(ctx, "t") },
	} {
		var loads atomic.Int64
		begun, release := make(chan struct{}), make(chan struct{})
		a := n.add(t, options{})
		b := n.add(t, options{
			Policy: cache.Policy{LoadTimeout: time.Minute},
			LoadEntry: func(context.Context, string, *cache.Entry[string]) (cache.Loaded[string], error) {
				v := "new"
				if loads.Add(1) == 1 {
					v = "old"
					close(begun)
					<-release
				}
				return cache.Loaded[string]{Value: v, Tags: []string{"t"}}, nil
			},
		})
		var wg sync.WaitGroup
		wg.Go(func() {
			if v, err := b.Get(t.Context(), key); err != nil {
				t.Errorf("%s: %q, %v", key, v, err)
			}
		})
		<-begun
		must(t, write(t.Context(), a))
		close(release)
		wg.Wait()
		becomes(t, b, key, "new")
		for range 20 {
			if v, err := b.Get(t.Context(), key); v != "new" || err != nil {
				t.Errorf("%s: %q, %v after the write", key, v, err)
			}
		}
		if v, err := n.add(t, options{}).Get(t.Context(), key); v != "new" {
			t.Errorf("%s: a node that starts reads %q, %v", key, v, err)
		}
	}
}

func testDeadLease(t *testing.T, n nodes) {
	t.Helper()
	s := n.open(t)
	if got := lease(t, s, n.ns, cache.LeaseRequest{Key: "k", Token: 1, TTL: 200 * time.Millisecond}); !got.Granted {
		t.Fatal("refused")
	}
	c := n.node(t, s, options{
		Policy: cache.Policy{LoadTimeout: patience},
		Load:   func(context.Context, string) (string, error) { return "v", nil },
	})
	if v, err := c.Get(t.Context(), "k"); v != "v" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}

func testUpdates(t *testing.T, n nodes) {
	t.Helper()
	const each = 20
	var wg sync.WaitGroup
	for range 3 {
		c := n.add(t, options{})
		wg.Go(func() {
			for done := 0; done < each; {
				_, err := c.Update(t.Context(), "k", func(old string, ok bool) (string, cache.Op, error) {
					i := 0
					if ok {
						var err error
						if i, err = strconv.Atoi(old); err != nil {
							return "", cache.Keep, err
						}
					}
					return strconv.Itoa(i + 1), cache.Put, nil
				})
				switch {
				case err == nil:
					done++
				case !errors.Is(err, cache.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	becomes(t, n.add(t, options{}), "k", strconv.Itoa(3*each))
}

func testMany(t *testing.T, n nodes) {
	t.Helper()
	a, b := n.add(t, options{}), n.add(t, options{})
	var keys []string
	for i := range 100 {
		keys = append(keys, fmt.Sprint("k", i))
		if i < 50 {
			must(t, a.Set(t.Context(), keys[i], "stored"))
		}
	}
	var asked [][]string
	load := func(_ context.Context, ks []string) (map[string]string, error) {
		asked = append(asked, ks)
		all := make(map[string]string)
		for _, k := range ks[1:] {
			all[k] = "loaded"
		}
		return all, nil
	}
	for range 3 {
		got, err := b.GetMany(t.Context(), keys, load)
		if err != nil || len(got) != 99 || got["k7"] != "stored" || len(asked) != 1 || len(asked[0]) != 50 {
			t.Fatalf("%d values, %v, %d loads", len(got), err, len(asked))
		}
	}
	if got, err := n.add(t, options{}).GetMany(t.Context(), keys, nil); err != nil || len(got) != 99 {
		t.Errorf("a node that starts has %d, %v", len(got), err)
	}
}

// cuttable is a way whose link can be cut.
type cuttable struct {
	Shared
	attach func() (detach func(), err error)
	detach func()
	sink   cache.Sink
}

// Attach implements cache.Bus.
func (c *cuttable) Attach(ns string, o cache.LinkOptions, s cache.Sink) (func(), error) {
	c.sink = s
	c.attach = func() (func(), error) { return c.Shared.Attach(ns, o, s) }
	var err error
	c.detach, err = c.attach()
	return func() { c.detach() }, err
}

func (c *cuttable) cut() {
	c.detach()
	c.sink.Down(errFault)
}

func (c *cuttable) heal(t *testing.T) {
	t.Helper()
	var err error
	c.detach, err = c.attach()
	must(t, err)
}

func testCut(t *testing.T, n nodes) {
	t.Helper()
	way := &cuttable{Shared: n.open(t)}
	a, b := n.add(t, options{}), n.node(t, way, options{Policy: cache.Policy{SuspectTTL: time.Millisecond}})
	for _, k := range []string{"same", "changed", "deleted", "tagged"} {
		_, err := a.SetWith(t.Context(), k, "old", cache.WriteOptions{Tags: []string{k}})
		must(t, err)
		becomes(t, b, k, "old")
	}
	way.cut()
	eventually(t, "the break is seen", func() bool { return b.Staleness() == math.MaxInt64 })
	must(t, a.Set(t.Context(), "changed", "new"))
	must(t, a.Delete(t.Context(), "deleted"))
	must(t, a.InvalidateTags(t.Context(), "tagged"))
	for k, v := range map[string]string{"same": "old", "changed": "new", "deleted": "", "tagged": ""} {
		becomes(t, b, k, v)
	}
	must(t, a.Set(t.Context(), "changed", "newer"))
	way.heal(t)
	eventually(t, "the link is up", func() bool { return b.Staleness() < math.MaxInt64 })
	for k, v := range map[string]string{"same": "old", "changed": "newer", "deleted": "", "tagged": ""} {
		got, err := b.Get(t.Context(), k)
		if got != v || err != nil && !errors.Is(err, cache.ErrNotFound) {
			t.Errorf("with the link up %s has %q, %v; want %q", k, got, err, v)
		}
	}
}

func testMonotonic(t *testing.T, n nodes) {
	t.Helper()
	const writes = 50
	writer := n.add(t, options{})
	must(t, writer.Set(t.Context(), "k", "0"))
	var wg sync.WaitGroup
	for range 2 {
		c := n.add(t, options{})
		for range 2 {
			wg.Go(func() {
				end := time.Now().Add(patience)
				for last := 0; last < writes; {
					v, err := c.Get(t.Context(), "k")
					i, wrong := strconv.Atoi(v)
					if err != nil || wrong != nil || i < last || time.Now().After(end) {
						t.Errorf("%q, %v after %d", v, err, last)
						return
					}
					last = i
					<-time.After(100 * time.Microsecond) // leaves the processor to the writer
				}
			})
		}
	}
	for i := range writes {
		must(t, writer.Set(t.Context(), "k", strconv.Itoa(i+1)))
	}
	wg.Wait()
}

func testReadOnly(t *testing.T, n nodes) {
	t.Helper()
	c := n.add(t, options{ReadOnly: true, Load: func(context.Context, string) (string, error) { return "loaded", nil }})
	for what, err := range map[string]error{
		"Set":            c.Set(t.Context(), "k", "v"),
		"Delete":         c.Delete(t.Context(), "k"),
		"Clear":          c.Clear(t.Context()),
		"InvalidateTags": c.InvalidateTags(t.Context(), "t"),
	} {
		if !errors.Is(err, cache.ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	becomes(t, c, "k", "loaded")
	becomes(t, n.add(t, options{}), "k", "loaded")
}

func testClosed(t *testing.T, n nodes) {
	t.Helper()
	s := n.open(t)
	begun := make(chan struct{})
	c := n.node(t, s, options{
		Policy: cache.Policy{LoadTimeout: time.Minute, LeaseTTL: time.Minute},
		Load: func(ctx context.Context, _ string) (string, error) {
			close(begun)
			<-ctx.Done()
			return "", ctx.Err()
		},
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		if v, err := c.Get(t.Context(), "k"); err == nil {
			t.Errorf("%q from a closed cache", v)
		}
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = c.Close(ctx) // says that it did not wait for the load
	wg.Wait()
	eventually(t, "the lease is free", func() bool {
		return lease(t, s, n.ns, cache.LeaseRequest{Key: "k", Token: 2, TTL: time.Minute}).Granted
	})
}

func testAnyKeys(t *testing.T, n nodes) {
	t.Helper()
	a, b := n.add(t, options{}), n.add(t, options{})
	all := []string{"", "{a}", "a\x00", "*", "\xff\xfe", "\r\n", strings.Repeat("k", 1024)}
	for i, k := range all {
		tag := k[:min(len(k), 128)] + fmt.Sprint(i)
		_, err := a.SetWith(t.Context(), k, "value of "+k, cache.WriteOptions{Tags: []string{tag[max(len(tag)-128, 0):]}})
		must(t, err)
	}
	for _, k := range all {
		becomes(t, b, k, "value of "+k)
	}
	must(t, b.InvalidateTags(t.Context(), "*3"))
	becomes(t, a, "*", "")
	becomes(t, a, "{a}", "value of {a}")
}
