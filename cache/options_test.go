package cache

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestErrorsAreTestable: each documented error is one value, testable as documented.
func TestErrorsAreTestable(t *testing.T) {
	all := []error{ErrNotFound, ErrClosed, ErrTooLarge, ErrUnavailable, ErrReadOnly, ErrUncertain, ErrStale, ErrConflict}
	for i, a := range all {
		for j, b := range all {
			if errors.Is(a, b) != (i == j) {
				t.Errorf("errors.Is(%v, %v) = %v", a, b, i != j)
			}
		}
	}
	var wrapped error = &LoadError{Key: "a\nb", Err: errOrigin}
	if !errors.Is(wrapped, errOrigin) || wrapped.Error() != `cache load "a\nb": origin is down` {
		t.Errorf("%v", wrapped)
	}
	if got := (&ConfigError{Field: "Name", Got: "A", Want: "a"}).Error(); got != "config Name: got A, want a" {
		t.Error(got)
	}
	if e := (&timeoutError{after: time.Second}); e.Error() != "load timeout after 1s" || !errors.Is(e, context.DeadlineExceeded) {
		t.Error(e)
	}
}

// TestConfigErrorsNameTheirField: each refusal names its field.
func TestConfigErrorsNameTheirField(t *testing.T) {
	type opts = Options[string, string]
	for _, tc := range []struct {
		field string
		o     opts
	}{
		{"Name", opts{Name: "Posts"}},
		{"Name", opts{Name: strings.Repeat("a", 65)}},
		{"MaxBytes", opts{MaxBytes: -1}},
		{"MaxBytes", opts{MaxBytes: 100}},
		{"MaxEntries", opts{MaxEntries: -1}},
		{"MaxEntries", opts{MaxEntries: 1, MaxBytes: 1 << 20}},
		{"MaxLoads", opts{MaxLoads: -1}},
		{"MaxLoads", opts{MaxLoads: 1<<20 + 1}},
		{"Policy.TTL", opts{Policy: Policy{TTL: -1}}},
		{"Policy.TTL", opts{Policy: Policy{TTL: math.MaxInt64}}},
		{"Policy.ErrorBackoffMax", opts{Policy: Policy{ErrorBackoffMax: -1}}},
		{"Policy.ErrorBackoffMax", opts{Policy: Policy{ErrorBackoffMin: 2, ErrorBackoffMax: 1}}},
		{"Policy.Jitter", opts{Policy: Policy{Jitter: 1.1}}},
		{"Policy.Jitter", opts{Policy: Policy{Jitter: math.NaN()}}},
		{"Policy.EarlyBeta", opts{Policy: Policy{EarlyBeta: math.Inf(1)}}},
	} {
		c, err := New(tc.o)
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != tc.field || c != nil {
			t.Errorf("%+v: %v", tc.o, err)
		}
	}
	if _, err := New(Options[string, int]{}); err == nil || err.Error() != "config Weigh: got <nil>, want a function that returns the size of int, or MaxEntries set instead" {
		t.Errorf("no Weigh: %v", err)
	}
	_, err := New(opts{Name: "A", Policy: Policy{TTL: -1, Jitter: 2}})
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three faults: %v", err)
	}
	c := open(t, opts{})
	for _, o := range []WriteOptions{{TTL: -1}, {TTL: math.MaxInt64}, {StaleIfError: math.MaxInt64}, {StaleWhileRevalidate: math.MaxInt64}} {
		_, err := c.SetWith(t.Context(), "k", "v", o)
		if e, ok := errors.AsType[*ConfigError](err); !ok || !strings.HasPrefix(e.Field, "WriteOptions.") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if s := c.Stats(); s.Sets != 0 {
		t.Errorf("stats %+v", s)
	}
}

// TestEveryOptionHasAnEffect sets every option and observes it; a field
// without a case here fails the test.
func TestEveryOptionHasAnEffect(t *testing.T) {
	type opts = Options[string, string]
	down := func(context.Context, string) (string, error) { return "", errOrigin }
	cases := map[string]func(t *testing.T){
		"Options.Name": func(t *testing.T) {
			t.Helper()
			c := open(t, opts{Name: "posts-1.x"})
			if n := c.Stats().Name; n != "posts-1.x" {
				t.Errorf("name %q", n)
			}
		},
		"Options.MaxBytes": func(t *testing.T) {
			t.Helper()
			c := open(t, opts{MaxBytes: 8 << 10})
			for i := range 100 {
				set(t, c, strings.Repeat("k", i), strings.Repeat("v", 500))
			}
			if s := c.Stats(); s.Bytes > 8<<10 || s.Entries == 0 || s.Evictions == 0 {
				t.Errorf("stats %+v", s)
			}
		},
		"Options.MaxEntries": func(t *testing.T) {
			t.Helper()
			c := open(t, Options[int, int]{MaxEntries: 7})
			for i := range 100 {
				set(t, c, i, i)
			}
			if s := c.Stats(); s.Entries > 7 || s.Entries == 0 || s.Evictions < 90 {
				t.Errorf("stats %+v", s)
			}
		},
		"Options.Weigh": func(t *testing.T) {
			t.Helper()
			c := open(t, Options[string, int]{Weigh: func(k string, v int) int { return v + 10*len(k) }})
			set(t, c, "kk", 1000)
			if s := c.Stats(); s.Bytes != int64(c.overhead)+2+1020 {
				t.Errorf("stats %+v", s)
			}
			set(t, c, "kk", -1000)
			if s := c.Stats(); s.Bytes != int64(c.overhead)+2 {
				t.Errorf("negative weight: %+v", s)
			}
		},
		"Options.Load": func(t *testing.T) {
			t.Helper()
			want(t, open(t, opts{Load: func(_ context.Context, k string) (string, error) { return "of " + k, nil }}), "k", "of k")
			wantErr(t, open(t, opts{}), "k", ErrNotFound)
		},
		"Options.MaxLoads": func(t *testing.T) {
			t.Helper()
			c := open(t, opts{MaxLoads: 2, Load: func(context.Context, string) (string, error) {
				pass(time.Second)
				return "v", nil
			}})
			var wg sync.WaitGroup
			start := time.Now()
			for _, k := range []string{"a", "b", "c", "d", "e"} {
				wg.Go(func() { want(t, c, k, "v") })
			}
			wg.Wait()
			if d := time.Since(start); d != 3*time.Second {
				t.Errorf("5 loads of a second, 2 at a time, took %v", d)
			}
		},
		"Options.Logger": func(t *testing.T) {
			t.Helper()
			var log bytes.Buffer
			c := open(t, opts{Name: "posts", Load: down, Logger: textLogger(&log), MaxBytes: 8 << 10, Policy: Policy{ErrorBackoffMin: -1}})
			wantErr(t, c, "secret\n"+strings.Repeat("x", 200), errOrigin)
			settled(c)
			_ = c.Set(t.Context(), "big", strings.Repeat("v", 4000))
			got := log.String()
			for _, part := range []string{`level=WARN msg="load failed" cache=posts key=`, `secret\\n`, `error="origin is down"`, `msg="value too large to hold" cache=posts key="\"big\"" op=set`} {
				if !strings.Contains(got, part) {
					t.Errorf("log without %s: %s", part, got)
				}
			}
			if strings.Contains(got, strings.Repeat("x", 122)) || strings.Contains(got, "vvv") {
				t.Errorf("log tells too much: %s", got)
			}
		},
		"Policy.TTL": func(t *testing.T) {
			t.Helper()
			endsAt(t, Policy{TTL: 7 * time.Second}, 7*time.Second, nil, nil)
		},
		"Policy.StaleWhileRevalidate": func(t *testing.T) {
			t.Helper()
			endsAt(t, Policy{StaleWhileRevalidate: 2 * time.Hour}, 5*time.Minute+2*time.Hour, down, nil)
		},
		"Policy.StaleIfError": func(t *testing.T) {
			t.Helper()
			endsAt(t, Policy{StaleIfError: 3 * time.Hour}, 5*time.Minute+3*time.Hour, down, nil)
		},
		"Policy.Jitter": func(t *testing.T) {
			t.Helper()
			c := open(t, opts{Policy: Policy{TTL: time.Minute, Jitter: 1}})
			c.random = func() float64 { return 0.75 }
			set(t, c, "k", "v")
			pass(15*time.Second - 1)
			want(t, c, "k", "v")
			pass(1)
			wantErr(t, c, "k", ErrNotFound)
		},
		"Policy.EarlyBeta": func(t *testing.T) {
			t.Helper()
			n := 0
			c := open(t, opts{Policy: Policy{EarlyBeta: 1000, Jitter: -1}, Load: func(context.Context, string) (string, error) {
				pass(time.Second)
				n++
				return "v", nil
			}})
			c.random = func() float64 { return 0.5 }
			want(t, c, "k", "v")
			want(t, c, "k", "v")
			pass(2 * time.Second)
			synctest.Wait()
			if n != 2 {
				t.Errorf("%d loads", n)
			}
		},
		"Policy.NegativeTTL": func(t *testing.T) {
			t.Helper()
			n := 0
			c := open(t, opts{Policy: plain(Policy{NegativeTTL: time.Minute}), Load: func(context.Context, string) (string, error) {
				n++
				return "", ErrNotFound
			}})
			for range 2 {
				wantErr(t, c, "k", ErrNotFound)
				pass(time.Minute - 1)
				wantErr(t, c, "k", ErrNotFound)
				pass(1)
			}
			if n != 2 {
				t.Errorf("%d loads in 2 minutes", n)
			}
		},
		"Policy.ErrorBackoffMin": func(t *testing.T) {
			t.Helper()
			asksIn(t, Policy{ErrorBackoffMin: 10 * time.Second}, 15*time.Second, 2)
			asksIn(t, Policy{ErrorBackoffMin: -1}, 15*time.Second, 15)
		},
		"Policy.ErrorBackoffMax": func(t *testing.T) {
			t.Helper()
			asksIn(t, Policy{ErrorBackoffMin: time.Second, ErrorBackoffMax: 2 * time.Second}, 15*time.Second, 8)
		},
		"Policy.LoadSoftTimeout": func(t *testing.T) {
			t.Helper()
			c := open(t, opts{Policy: plain(Policy{StaleWhileRevalidate: -1, LoadSoftTimeout: time.Second}), Load: func(context.Context, string) (string, error) {
				pass(5 * time.Second)
				return "new", nil
			}})
			set(t, c, "k", "old")
			pass(5 * time.Minute)
			start := time.Now()
			want(t, c, "k", "old")
			if d := time.Since(start); d != time.Second {
				t.Errorf("waited %v", d)
			}
		},
		"Policy.LoadTimeout": func(t *testing.T) {
			t.Helper()
			for d, limit := range map[time.Duration]time.Duration{0: 10 * time.Second, time.Minute: time.Minute, -1: time.Hour} {
				c := open(t, opts{Policy: Policy{LoadTimeout: d}, Load: func(ctx context.Context, _ string) (string, error) {
					select {
					case <-ctx.Done():
						return "", ctx.Err()
					case <-time.After(time.Hour):
						return "", errOrigin
					}
				}})
				start := time.Now()
				if _, err := c.Get(t.Context(), "k"); err == nil || time.Since(start) != limit {
					t.Errorf("LoadTimeout %v: %v after %v", d, err, time.Since(start))
				}
			}
		},
		"WriteOptions.TTL": func(t *testing.T) {
			t.Helper()
			writeEndsAt(t, WriteOptions{TTL: 9 * time.Second}, 9*time.Second, nil)
		},
		"WriteOptions.StaleWhileRevalidate": func(t *testing.T) {
			t.Helper()
			writeEndsAt(t, WriteOptions{TTL: time.Second, StaleIfError: -1, StaleWhileRevalidate: 3 * time.Hour}, 3*time.Hour+time.Second, down)
		},
		"WriteOptions.StaleIfError": func(t *testing.T) {
			t.Helper()
			writeEndsAt(t, WriteOptions{TTL: time.Second, StaleIfError: 4 * time.Hour}, 4*time.Hour+time.Second, down)
		},
	}
	loadedEndsAt := func(l Loaded[string], life time.Duration) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			l.Value = "v"
			asked := false
			endsAt(t, Policy{}, life, nil, func(context.Context, string, *Entry[string]) (Loaded[string], error) {
				if asked {
					return Loaded[string]{}, errOrigin
				}
				asked = true
				return l, nil
			})
		}
	}
	cases["Loaded.TTL"] = loadedEndsAt(Loaded[string]{TTL: 9 * time.Second, StaleWhileRevalidate: -1, StaleIfError: -1}, 9*time.Second)
	cases["Loaded.StaleWhileRevalidate"] = loadedEndsAt(Loaded[string]{TTL: time.Second, StaleWhileRevalidate: 3 * time.Hour, StaleIfError: -1}, 3*time.Hour+time.Second)
	cases["Loaded.StaleIfError"] = loadedEndsAt(Loaded[string]{TTL: time.Second, StaleIfError: 4 * time.Hour}, 4*time.Hour+time.Second)
	cases["Loaded.Value"], cases["Options.LoadEntry"] = cases["Loaded.TTL"], cases["Loaded.TTL"]
	cases["Loaded.NoStore"] = func(t *testing.T) {
		t.Helper()
		c := open(t, opts{LoadEntry: func(context.Context, string, *Entry[string]) (Loaded[string], error) {
			return Loaded[string]{Value: "v", NoStore: true}, nil
		}})
		want(t, c, "k", "v")
		if s := c.Stats(); s.Entries != 0 {
			t.Errorf("stats %+v", s)
		}
	}
	cases["Loaded.NotModified"] = func(t *testing.T) {
		t.Helper()
		c := open(t, opts{Policy: plain(Policy{TTL: time.Second, StaleWhileRevalidate: -1}), LoadEntry: func(context.Context, string, *Entry[string]) (Loaded[string], error) {
			return Loaded[string]{NotModified: true}, nil
		}})
		set(t, c, "k", "v")
		pass(time.Second)
		want(t, c, "k", "v")
		if v, ok := c.Peek("k"); v != "v" || !ok {
			t.Errorf("after the refresh: %q, %v", v, ok)
		}
	}
	bumps := func(c *Cache[string, string]) {
		if err := c.InvalidateTags(t.Context(), "t"); err != nil {
			t.Error(err)
		}
		if v, ok := c.Peek("k"); ok {
			t.Errorf("after the bump: %q", v)
		}
	}
	cases["WriteOptions.Tags"] = func(t *testing.T) {
		t.Helper()
		c := open(t, opts{})
		if _, err := c.SetWith(t.Context(), "k", "v", WriteOptions{Tags: []string{"t"}}); err != nil {
			t.Fatal(err)
		}
		want(t, c, "k", "v")
		bumps(c)
	}
	cases["Loaded.Tags"] = func(t *testing.T) {
		t.Helper()
		c := open(t, opts{LoadEntry: func(context.Context, string, *Entry[string]) (Loaded[string], error) {
			return Loaded[string]{Value: "v", Tags: []string{"t"}}, nil
		}})
		want(t, c, "k", "v")
		bumps(c)
	}
	remoteCases(cases)
	cases["Options.Policy"] = cases["Policy.TTL"]
	for _, typ := range []reflect.Type{reflect.TypeFor[opts](), reflect.TypeFor[Policy](), reflect.TypeFor[WriteOptions](), reflect.TypeFor[Loaded[string]]()} {
		name, _, _ := strings.Cut(typ.Name(), "[")
		for f := range typ.Fields() {
			if !f.IsExported() {
				continue
			}
			test, ok := cases[name+"."+f.Name]
			if !ok {
				t.Errorf("no observation of %s.%s", name, f.Name)
				continue
			}
			t.Run(name+"."+f.Name, func(t *testing.T) { synctest.Test(t, test) })
		}
	}
}

// endsAt checks that an entry under p is readable until life has passed.
func endsAt(t *testing.T, p Policy, life time.Duration, load loader[string, string], entry entryLoader[string, string]) {
	t.Helper()
	c := open(t, Options[string, string]{Policy: plain(p), Load: load, LoadEntry: entry})
	if entry == nil {
		set(t, c, "k", "v")
	} else {
		want(t, c, "k", "v")
	}
	pass(life - 1)
	want(t, c, "k", "v")
	synctest.Wait()
	pass(1)
	if v, err := c.Get(t.Context(), "k"); err == nil {
		t.Errorf("%v after the write: %q", life, v)
	}
}

func writeEndsAt(t *testing.T, w WriteOptions, life time.Duration, load loader[string, string]) {
	t.Helper()
	c := open(t, Options[string, string]{Policy: plain(Policy{}), Load: load})
	if _, err := c.SetWith(t.Context(), "k", "v", w); err != nil {
		t.Fatal(err)
	}
	pass(life - 1)
	want(t, c, "k", "v")
	synctest.Wait()
	pass(1)
	if v, err := c.Get(t.Context(), "k"); err == nil {
		t.Errorf("%v after the write: %q", life, v)
	}
}

// asksIn reads a failing key every second and counts how often the origin is
// asked.
func asksIn(t *testing.T, p Policy, span time.Duration, n int64) {
	t.Helper()
	var asked atomic.Int64
	c := open(t, Options[string, string]{Policy: plain(p), Load: func(context.Context, string) (string, error) {
		asked.Add(1)
		return "", errOrigin
	}})
	for range span / time.Second {
		wantErr(t, c, "k", errOrigin)
		pass(time.Second)
	}
	if asked.Load() != n {
		t.Errorf("%+v: asked %d times in %v, want %d", p, asked.Load(), span, n)
	}
}

// TestVersions: the later of two writes has the greater counter, and each
// cache its own epoch.
func TestVersions(t *testing.T) {
	a, b := open(t, Options[string, string]{}), open(t, Options[string, string]{})
	ids := map[uint64]bool{}
	var last Version
	for i := range 100 {
		v, err := a.SetWith(t.Context(), "k", "v", WriteOptions{})
		if err != nil || v.Counter <= last.Counter || i > 0 && v.Epoch != last.Epoch || ids[v.WriteID] {
			t.Fatalf("version %+v after %+v: %v", v, last, err)
		}
		last, ids[v.WriteID] = v, true
	}
	if v, err := b.SetWith(t.Context(), "k", "v", WriteOptions{}); err != nil || v.Epoch == last.Epoch {
		t.Fatalf("version %+v: %v", v, err)
	}
}

type (
	name  string
	blob  []byte
	point struct{ _, _ int32 }
)

// TestBuiltinWeights: strings and byte slices, named ones included, and keys.
func TestBuiltinWeights(t *testing.T) {
	for _, tc := range []struct {
		what      string
		got, want int
	}{
		{"string", builtinWeigh[int, string]()(1, "four"), 4},
		{"named string", builtinWeigh[int, name]()(1, "four"), 4},
		{"bytes", builtinWeigh[int, []byte]()(1, make([]byte, 3, 8)), 8},
		{"named bytes", builtinWeigh[int, blob]()(1, make(blob, 3, 8)), 8},
		{"key string", keyWeigh[string]()("four"), 4},
		{"key named string", keyWeigh[name]()("four"), 4},
		{"key struct", keyWeigh[point]()(point{}), 8},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %d, want %d", tc.what, tc.got, tc.want)
		}
	}
	if builtinWeigh[int, int]() != nil || builtinWeigh[int, any]() != nil || builtinWeigh[int, []int]() != nil {
		t.Error("a weight for what cannot be weighed")
	}
}

// at is the structure that tests of keys have in common: for each type of key or value the whole
// cache is compiled once more, which takes seconds.
type at struct {
	zoom int
	x    [2]float64
}

// TestKeysThatAreNotEqualToThemselves: NaN names nothing, so nothing is loaded or kept for it, and
// no goroutine of the cache ends the program for it.
func TestKeysThatAreNotEqualToThemselves(t *testing.T) {
	odd := at{zoom: 1, x: [2]float64{0, math.NaN()}}
	loads := 0
	load := func(context.Context, at) (string, error) {
		loads++
		return "v", nil
	}
	c := open(t, Options[at, string]{Load: load})
	many := func(context.Context, []at) (map[at]string, error) { return map[at]string{odd: "v"}, nil }
	_, gotten := c.Get(t.Context(), odd)
	_, loaded := c.GetOrLoad(t.Context(), odd, load)
	_, entry := c.GetEntry(t.Context(), odd, ReadOptions{})
	_, all := c.GetMany(t.Context(), []at{odd, odd}, many)
	_, updated := c.Update(t.Context(), odd, func(string, bool) (string, Op, error) { return "v", Put, nil })
	h := NewHub()
	shared := open(t, Options[at, string]{Name: "n", Remote: h, Bus: h, Codec: textCodec{}, Keys: oneKeyCodec[at]{odd}, Load: load, Policy: Policy{Mode: Push, PushAll: true}})
	_, there := shared.Get(t.Context(), odd)
	for what, err := range map[string]error{
		"Get": gotten, "GetOrLoad": loaded, "GetEntry": entry, "GetMany": all, "Update": updated,
		"Set": c.Set(t.Context(), odd, "v"), "Set with a remote": shared.Set(t.Context(), odd, "v"), "Get with a remote": there,
	} {
		if !errors.Is(err, errOddKey) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := c.Delete(t.Context(), odd); err != nil {
		t.Errorf("Delete: %v", err)
	}
	// A notice from elsewhere, where the key may be another.
	receiver[at, string]{shared}.Frame(Frame{Kind: FrameKey, Key: "k", Version: Version{Counter: 1}, Record: &Record{State: RecordValue, Codec: textCodec{}.ID(), Payload: []byte("v")}})
	for _, c := range []*Cache[at, string]{c, shared} {
		if s := c.Stats(); s.Entries != 0 || s.Loads != 0 || loads != 0 {
			t.Errorf("%d loads; %+v", loads, s)
		}
	}
	if shared.Stats().Malformed != 1 {
		t.Error("the notice was taken")
	}
	want(t, c, at{zoom: 1}, "v")
}

// oneKeyCodec has one text for all keys.
type oneKeyCodec[K comparable] struct{ key K }

func (oneKeyCodec[K]) Format(K) string { return "k" }

func (o oneKeyCodec[K]) Parse(string) (K, error) { return o.key, nil }

// TestPlainKeys: keys that are not strings show in errors.
func TestPlainKeys(t *testing.T) {
	c := open(t, Options[at, string]{MaxEntries: 5, Load: func(context.Context, at) (string, error) { return "", errOrigin }})
	_, err := c.Get(t.Context(), at{zoom: 1, x: [2]float64{2, 3}})
	if err == nil || err.Error() != `cache load "{1 [2 3]}": origin is down` {
		t.Fatal(err)
	}
}
