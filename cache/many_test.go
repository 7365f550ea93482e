package cache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bulkOrigin answers bulk loads from values and notes the keys of each.
type bulkOrigin struct {
	values map[string]string
	err    error
	takes  time.Duration
	mu     sync.Mutex
	asked  []string
}

func (o *bulkOrigin) load(_ context.Context, ks []string) (map[string]string, error) {
	pass(o.takes)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, fmt.Sprint(slices.Sorted(slices.Values(ks))))
	got := map[string]string{}
	for _, k := range ks {
		if v, ok := o.values[k]; ok {
			got[k] = v
		}
	}
	return got, o.err
}

func (o *bulkOrigin) wantAsked(t *testing.T, want ...string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.Sort(o.asked)
	if !slices.Equal(o.asked, want) {
		t.Errorf("origin asked for %v, want %v", o.asked, want)
	}
	o.asked = nil
}

func wantMany[V comparable](t *testing.T, c *Cache[string, V], load func(context.Context, []string) (map[string]V, error), ks []string, want map[string]V) {
	t.Helper()
	got, err := c.GetMany(t.Context(), ks, load)
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("get %v = %v, %v; want %v", ks, got, err, want)
	}
}

// TestGetManyAsksOnceForWhatIsMissing: held keys are not asked for, all others in one load; absent
// ones are remembered one by one; values live as those of single reads.
func TestGetManyAsksOnceForWhatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &bulkOrigin{values: map[string]string{"a": "1", "b": "2", "c": "3"}}
		c := open(t, Options[string, string]{Policy: plain(Policy{TTL: time.Minute, NegativeTTL: 10 * time.Second})})
		set(t, c, "b", "held")
		ks := []string{"a", "b", "x", "c", "a", "y"}
		all := map[string]string{"a": "1", "b": "held", "c": "3"}
		wantMany(t, c, o.load, ks, all)
		o.wantAsked(t, "[a c x y]")
		if s := c.Stats(); s.Hits != 1 || s.Misses != 4 || s.Loads != 4 {
			t.Errorf("stats %+v", s)
		}
		wantMany(t, c, o.load, ks, all)
		want(t, c, "a", "1")
		wantErr(t, c, "x", ErrNotFound)
		o.wantAsked(t)

		pass(10 * time.Second) // the absent ones are forgotten
		wantMany(t, c, o.load, ks, all)
		o.wantAsked(t, "[x y]")
		pass(50 * time.Second) // the values are stale: served, and refreshed in one load
		o.values["a"] = "new"
		wantMany(t, c, o.load, []string{"a", "c"}, map[string]string{"a": "1", "c": "3"})
		synctest.Wait()
		o.wantAsked(t, "[a c]")
		wantMany(t, c, o.load, []string{"a", "c"}, map[string]string{"a": "new", "c": "3"})
		if got, err := c.GetMany(t.Context(), nil, o.load); err != nil || len(got) != 0 {
			t.Errorf("no keys: %v, %v", got, err)
		}
		o.wantAsked(t)
	})
}

// TestGetManySharesLoads: single and bulk reads of a key that come together share its load.
func TestGetManySharesLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &bulkOrigin{values: map[string]string{"a": "1", "b": "2", "c": "3"}, takes: time.Second}
		c := open(t, Options[string, string]{MaxLoads: 2, Load: func(context.Context, string) (string, error) {
			t.Error("a key that is being loaded was loaded again")
			return "", errOrigin
		}})
		var wg sync.WaitGroup
		wg.Go(func() {
			wantMany(t, c, o.load, []string{"a", "b"}, map[string]string{"a": "1", "b": "2"})
		})
		synctest.Wait()
		wg.Go(func() { want(t, c, "b", "2") })
		wg.Go(func() {
			wantMany(t, c, o.load, []string{"c", "b"}, map[string]string{"b": "2", "c": "3"})
		})
		synctest.Wait()
		if s := c.Stats(); s.Loading != 2 {
			t.Errorf("%d loaders run, want 2", s.Loading)
		}
		wg.Wait()
		o.wantAsked(t, "[a b]", "[c]")
	})
}

// TestGetManyTellsWhatFailed: values that were found come with the error, keys that failed are
// named in it and back off; a panic and a timeout fail every key that was asked for.
func TestGetManyTellsWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &bulkOrigin{values: map[string]string{"a": "1"}, err: errOrigin}
		c := open(t, Options[string, string]{Policy: plain(Policy{ErrorBackoffMin: time.Second})})
		for range 2 {
			got, err := c.GetMany(t.Context(), []string{"a", "b"}, o.load)
			e, ok := errors.AsType[*PartialError[string]](err)
			if !ok || len(e.Errors) != 1 || !errors.Is(e.Errors["b"], errOrigin) || !errors.Is(err, errOrigin) || !maps.Equal(got, o.values) {
				t.Fatalf("%v, %v", got, err)
			}
			if text := `cache load: 1 keys failed, among them: cache load "b": origin is down`; err.Error() != text {
				t.Errorf("error %q, want %q", err, text)
			}
		}
		o.wantAsked(t, "[a b]")

		for name, tc := range map[string]struct {
			load func(context.Context, []string) (map[string]string, error)
			is   error
		}{
			"own key": {func(ctx context.Context, ks []string) (map[string]string, error) {
				_, err := c.GetOrLoad(ctx, ks[1], func(context.Context, string) (string, error) { return "", nil })
				return nil, err
			}, errOwnKey},
			"panic":   {func(context.Context, []string) (map[string]string, error) { panic(errOrigin) }, errOrigin},
			"timeout": {func(ctx context.Context, _ []string) (map[string]string, error) { <-ctx.Done(); return nil, ctx.Err() }, context.DeadlineExceeded},
			"deaf":    {func(context.Context, []string) (map[string]string, error) { pass(time.Minute); return nil, nil }, context.DeadlineExceeded},
		} {
			got, err := c.GetMany(t.Context(), []string{"a", name + "1", name + "2"}, tc.load)
			e, ok := errors.AsType[*PartialError[string]](err)
			if !ok || len(e.Errors) != 2 || !errors.Is(e.Errors[name+"1"], tc.is) || !errors.Is(e.Errors[name+"2"], tc.is) || !maps.Equal(got, o.values) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
		pass(time.Minute)
		synctest.Wait()
		if s := c.Stats(); s.Loading != 0 || s.Abandoned != 0 {
			t.Errorf("stats %+v", s)
		}
	})
}

// TestGetManyWithoutBulkLoader: nil means Options.Load for each key, and without that what is held.
func TestGetManyWithoutBulkLoader(t *testing.T) {
	c := open(t, Options[string, string]{Load: func(_ context.Context, k string) (string, error) {
		if k == "x" {
			return "", ErrNotFound
		}
		return "of " + k, nil
	}})
	wantMany(t, c, nil, []string{"a", "x", "b"}, map[string]string{"a": "of a", "b": "of b"})

	c = open(t, Options[string, string]{})
	set(t, c, "a", "held")
	wantMany(t, c, nil, []string{"a", "b"}, map[string]string{"a": "held"})
}

// TestGetManyRefusals: an ended context, too many keys, a closed cache.
func TestGetManyRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &bulkOrigin{takes: time.Minute}
		c := open(t, Options[int, int]{MaxEntries: 10})
		load := func(context.Context, []int) (map[int]int, error) {
			pass(5 * time.Second)
			return map[int]int{1: 1}, o.err
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.GetMany(ended, []int{1}, load); !errors.Is(err, context.Canceled) || c.Stats().Loads != 0 {
			t.Errorf("ended context: %v", err)
		}
		_, err := c.GetMany(t.Context(), make([]int, maxMany+1), load)
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != "GetMany.ks" {
			t.Errorf("too many keys: %v", err)
		}
		// The reader leaves; the load goes on and fills the cache.
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.GetMany(short, []int{1}, load); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("short context: %v", err)
		}
		pass(5 * time.Second)
		synctest.Wait()
		want(t, c, 1, 1)
		shut(t, c)
		if _, err := c.GetMany(t.Context(), []int{1}, load); !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}

// TestGetManyFillsAreFenced: a key deleted while the bulk load runs is not kept, the others are.
func TestGetManyFillsAreFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &bulkOrigin{values: map[string]string{"a": "1", "b": "2", "c": "3"}, takes: time.Second}
		c := open(t, Options[string, string]{})
		var wg sync.WaitGroup
		wg.Go(func() {
			wantMany(t, c, o.load, []string{"a", "b", "c"}, map[string]string{"a": "1", "b": "2", "c": "newer"})
		})
		synctest.Wait()
		if err := c.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		set(t, c, "c", "newer")
		wg.Wait()
		if v, ok := c.Peek("a"); ok {
			t.Errorf("deleted key came back as %q", v)
		}
		want(t, c, "b", "2")
		want(t, c, "c", "newer")
	})
}
