package httpcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"example.com/quire/fetch/fetchtest"
)

func contextWithTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

func readAll(t *testing.T, resp *http.Response) []byte {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	return b
}

func entryOf(body string) *Entry {
	v := &variant{status: 200, proto: "HTTP/1.1", body: []byte(body)}
	v.setHeader(http.Header{"Date": {"x"}, "A": {"1", "2"}})
	return &Entry{variants: []*variant{v}}
}

func keyed(n int) Key {
	return Key{Scheme: "http", Host: "a.example", Path: "/" + strconv.Itoa(n)}
}

func TestMemoryKeepsWithinItsBound(t *testing.T) {
	m := NewMemory(100 << 10)
	for n := range 2000 {
		if err := m.Set(t.Context(), keyed(n), entryOf(strings.Repeat("x", n%3000))); err != nil {
			t.Fatal(err)
		}
		if entries, size := m.Size(); size > m.MaxBytes() || size < 0 || entries < 1 {
			t.Fatalf("%d entries, %d bytes", entries, size)
		}
	}
	if err := m.Set(t.Context(), keyed(1), entryOf(strings.Repeat("x", 200<<10))); err != nil {
		t.Fatal(err)
	}
	if e, _ := m.Get(t.Context(), keyed(1)); e != nil {
		t.Error("an entry larger than the store, or the one that it should have replaced")
	}
	if _, err := m.Purge(t.Context(), func(Key) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if entries, size := m.Size(); entries != 0 || size != 0 {
		t.Errorf("empty, it has %d entries and %d bytes", entries, size)
	}
}

func TestMemoryReplacesWhatAKeyHas(t *testing.T) {
	for _, length := range []int{0, 10, 500, 3000, 6000} { // 6000 do not fit beside the other entry
		m, alone := NewMemory(8<<10), NewMemory(8<<10)
		_ = m.Set(t.Context(), keyed(1), entryOf(strings.Repeat("x", 1000)))
		_ = m.Set(t.Context(), keyed(2), entryOf(strings.Repeat("x", 1000)))
		_ = m.Set(t.Context(), keyed(2), entryOf(strings.Repeat("y", length)))
		e, _ := m.Get(t.Context(), keyed(2))
		if e == nil || string(e.variants[0].body) != strings.Repeat("y", length) {
			t.Errorf("%d bytes: not what was set last", length)
		}
		_ = alone.Set(t.Context(), keyed(2), entryOf(strings.Repeat("y", length)))
		if other, _ := m.Get(t.Context(), keyed(1)); other != nil {
			_ = alone.Set(t.Context(), keyed(1), entryOf(strings.Repeat("x", 1000)))
		} else if length < 6000 {
			t.Errorf("%d bytes: the other entry is gone", length)
		}
		entries, size := m.Size()
		if n, want := alone.Size(); entries != n || size != want || size > m.MaxBytes() {
			t.Errorf("%d bytes: %d entries of %d bytes, want %d of %d", length, entries, size, n, want)
		}
	}
}

// http and https of one address have the same hash.
func TestMemoryTellsKeysOfOneHashApart(t *testing.T) {
	keys := []Key{keyed(1), keyed(1), keyed(1), keyed(2)}
	keys[1].Scheme, keys[2].Scheme = "https", "other"
	for gone := range 3 {
		m := NewMemory(0)
		for i, k := range keys {
			_ = m.Set(t.Context(), k, entryOf(strconv.Itoa(i)))
		}
		_ = m.Delete(t.Context(), keys[gone])
		_ = m.Delete(t.Context(), Key{Scheme: "none", Host: keys[0].Host, Path: keys[0].Path})
		for i, k := range keys {
			e, _ := m.Get(t.Context(), k)
			if (e == nil) != (i == gone) || e != nil && string(e.variants[0].body) != strconv.Itoa(i) {
				t.Errorf("without %d: %d has %v", gone, i, e)
			}
		}
		if n, err := m.Purge(t.Context(), func(k Key) bool { return k.Path == keys[0].Path }); n != 2 || err != nil {
			t.Errorf("%d purged, %v", n, err)
		}
		if n, _ := m.Size(); n != 1 {
			t.Errorf("%d entries left", n)
		}
	}
}

func TestMemorySparesWhatIsUsed(t *testing.T) {
	m := NewMemory(200 << 10)
	for n := range 20 {
		_ = m.Set(t.Context(), keyed(n), entryOf(strings.Repeat("x", 1000)))
	}
	for n := 20; n < 2000; n++ {
		for hot := range 20 {
			if e, _ := m.Get(t.Context(), keyed(hot)); e == nil {
				t.Fatalf("%d, used all the time, is gone after %d", hot, n)
			}
		}
		_ = m.Set(t.Context(), keyed(n), entryOf(strings.Repeat("x", 1000)))
	}
}

func TestMemoryUnderConcurrentUse(t *testing.T) {
	m := NewMemory(64 << 10)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g))) //nolint:gosec // repeatable on purpose
			for range 25_000 {
				k := keyed(r.IntN(200))
				k.Scheme = []string{"http", "https"}[r.IntN(2)]
				switch r.IntN(4) {
				case 0:
					_ = m.Set(t.Context(), k, entryOf(k.Path))
				case 1:
					_ = m.Delete(t.Context(), k)
				default:
					if e, _ := m.Get(t.Context(), k); e != nil && string(e.variants[0].body) != k.Path {
						t.Errorf("%s has %s", k.Path, e.variants[0].body)
					}
				}
				if _, size := m.Size(); size > m.MaxBytes() {
					t.Errorf("%d bytes", size)
				}
			}
		})
	}
	wg.Wait()
}

// badStore is slow, or fails.
type badStore struct {
	delay time.Duration
	err   error
}

func (s badStore) wait() error {
	pass(s.delay) // not looking at the context, as bad stores do
	return s.err
}
func (s badStore) Get(context.Context, Key) (*Entry, error) { return nil, s.wait() }
func (s badStore) Set(context.Context, Key, *Entry) error   { return s.wait() }
func (s badStore) Delete(context.Context, Key) error        { return s.wait() }

func TestBadStoreCostsLittle(t *testing.T) {
	for name, s := range map[string]badStore{"slow": {delay: time.Hour}, "failing": {err: errStore}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{Store: s}, step(fresh60))
				start := time.Now()
				if g := r.do("GET", "/"); g.body != "body" {
					t.Errorf("%+v", g)
				}
				r.do("POST", "/")
				if took := time.Since(start); took > 2*storeWait { // the look-up, and the invalidation
					t.Errorf("it took %v", took)
				}
				if n := r.cache.Stats().StoreErrors; n != 2 {
					t.Errorf("%d errors are counted", n)
				}
			})
		})
	}
}

func TestStoredBytesAreTheOrigins(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(rt, "body")
		chunk := rapid.IntRange(0, 1000).Draw(rt, "chunk")
		fields := []string{fresh60}
		for i := range rapid.IntRange(0, 10).Draw(rt, "fields") {
			fields = append(fields,
				fmt.Sprintf("X-%d: %s", i%5, rapid.StringMatching(`[ -~]{0,20}`).Draw(rt, "value")))
		}
		s := answer(200, string(body), fields...)
		if chunk > 0 {
			s = s.Drip(chunk, 0)
		}
		r := newRig(t, Config{}, s)
		first, second := r.do("GET", "/"), r.do("GET", "/")
		if first.body != string(body) || second.body != string(body) || second.result != ResultHit {
			rt.Fatalf("%d bytes, then %d (%s)", len(first.body), len(second.body), second.result)
		}
		for name, values := range first.header {
			if name != "Cache-Status" && !reflect.DeepEqual(values, second.header[name]) {
				rt.Fatalf("%s: %q, then %q", name, values, second.header[name])
			}
		}
	})
}

func TestHitsShareNothing(t *testing.T) {
	r := newRig(t, Config{}, step(fresh60, "A: 1", "A: 2"))
	r.do("GET", "/")
	g := r.do("GET", "/")
	g.header["A"][0] = "changed"
	g.header["A"] = append(g.header["A"], "more")
	g.header.Set("B", "x")
	if g := r.do("GET", "/"); strings.Join(g.header["A"], ",") != "1,2" || g.header.Get("B") != "" {
		t.Errorf("%v", g.header)
	}
}

// Every way to write into a response, by many callers of the same entry at once, changes nothing
// for the others.
func TestHitsShareNothingWithOthersAtTheSameTime(t *testing.T) {
	long := []string{fresh60, `Etag: "a"`, "Last-Modified: Mon, 01 Jan 1990 00:00:00 GMT", "Cache-Status: origin; hit", "A: 1", "A: 2", "Set-Cookie: s=1"}
	for i := range 8 {
		long = append(long, fmt.Sprintf("X-%d: y", i))
	}
	for name, fields := range map[string][]string{"few fields": {fresh60, `Etag: "a"`, "A: 1", "A: 2"}, "many fields": long} {
		t.Run(name, func(t *testing.T) {
			cache, err := New(Config{TTL: time.Hour, StatusName: "c"})
			if err != nil {
				t.Fatal(err)
			}
			rt := cache.Layer(fetchtest.Script(answer(200, "the body", fields...)))
			get := func(method string, fields ...string) http.Header {
				req, err := http.NewRequestWithContext(t.Context(), method, "http://a.example/", nil)
				if err != nil {
					t.Error(err)
					return nil
				}
				for _, f := range fields {
					name, value, _ := strings.Cut(f, ": ")
					req.Header.Add(name, value)
				}
				resp, err := rt.RoundTrip(req)
				if err != nil {
					t.Error(err)
					return nil
				}
				readAll(t, resp)
				h := resp.Header
				*resp = http.Response{}
				return h
			}
			get("GET")
			kinds := [][]string{{"GET"}, {"HEAD"}, {"GET", "Range: bytes=1-2"}, {"GET", `If-None-Match: "a"`}, {"GET", "Range: bytes=90-"}}
			var want []http.Header
			for _, k := range kinds {
				h := get(k[0], k[1:]...)
				delete(h, "Age") // and the rest of its life in Cache-Status: the second may pass by
				delete(h, "Cache-Status")
				want = append(want, h)
			}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for i := range 60 {
						k := kinds[i%len(kinds)]
						h := get(k[0], k[1:]...)
						if age, status := h["Age"], h["Cache-Status"]; len(age) != 1 || len(status) == 0 || !strings.HasPrefix(status[len(status)-1], "c; hit; ttl=") {
							t.Errorf("%v: %q, %q", k, age, status)
						}
						for name, values := range want[i%len(kinds)] {
							if !reflect.DeepEqual(h[name], values) {
								t.Errorf("%v: %s: %q, want %q", k, name, h[name], values)
							}
						}
						for name, values := range h {
							_ = append(values, "more") // into what may lie behind
							for i := range values {
								values[i] = "changed"
							}
							h[name] = append(values, "more")
						}
						clear(h)
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestHitsAreGenuineResponses(t *testing.T) {
	r := newRig(t, Config{}, step(fresh60))
	r.do("GET", "/")
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Status != "200 OK" || resp.Proto != "HTTP/1.1" || resp.ProtoMajor != 1 ||
		resp.ProtoMinor != 1 || resp.Request != req || resp.ContentLength != 4 || resp.Body == nil {
		t.Errorf("%+v", resp)
	}
	var b bytes.Buffer
	if n, err := io.Copy(&b, resp.Body); n != 4 || err != nil || b.String() != "body" {
		t.Errorf("%d %v %q", n, err, b.String())
	}
	_ = resp.Body.Close()
}

// mapStore keeps encoded entries, as a store outside of the process does.
type mapStore struct {
	mu sync.Mutex
	m  map[string][]byte
}

func (s *mapStore) Get(_ context.Context, k Key) (*Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.m[k.String()]
	if !ok {
		return nil, nil //nolint:nilnil // as Store says
	}
	e := &Entry{}
	return e, e.UnmarshalBinary(b)
}

func (s *mapStore) Set(_ context.Context, k Key, e *Entry) error {
	b, err := e.AppendBinary(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[k.String()] = b
	return err
}

func (s *mapStore) Delete(_ context.Context, k Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, k.String())
	return nil
}

func TestEncodedEntriesServeAsStoredOnes(t *testing.T) {
	t.Run("through a store of bytes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &mapStore{m: map[string][]byte{}}
			r := newRig(t, Config{Store: s},
				step("Cache-Control: max-age=1, stale-if-error=60", `Etag: "a"`, "Vary: Foo", "X: 1", "X: 2"),
				not(fresh60, `Etag: "a"`), answer(200, ""))
			r.do("GET", "/", "Foo: 1")
			if g := r.do("GET", "/", "Foo: 1"); g.result != ResultHit || g.body != "body" ||
				strings.Join(g.header["X"], ",") != "1,2" {
				t.Errorf("%+v", g)
			}
			pass(2 * second)
			if g := r.do("GET", "/", "Foo: 1"); g.result != ResultRevalidated {
				t.Errorf("%+v", g)
			}
			if g := r.do("GET", "/", "Foo: 1"); g.result != ResultHit {
				t.Errorf("%+v", g)
			}
			for k := range s.m {
				s.m[k][len(s.m[k])/2] ^= 0xff
				s.m[k] = s.m[k][:len(s.m[k])-1]
			}
			if g := r.do("GET", "/", "Foo: 2"); g.body != "" || r.cache.Stats().StoreErrors == 0 {
				t.Errorf("a damaged entry: %+v", g)
			}
		})
	})
}

// The answer and the end of the call's own context must not race.
func TestStoreThatAnswersInTimeHasNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{Store: &mapStore{m: map[string][]byte{}}})
		if err != nil {
			t.Fatal(err)
		}
		key := keyed(1)
		c.set(t.Context(), key, entryOf("body"))
		for n := range 2000 {
			if e, ok := c.get(t.Context(), &key); !ok || e == nil {
				t.Fatalf("look-up %d: an entry %t, an answer %t", n, e != nil, ok)
			}
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func sampleEntry(tb testing.TB) []byte {
	tb.Helper()
	v := &variant{
		status: 206, proto: "HTTP/2.0",
		body: []byte("123"), partial: true, start: 4, total: 10,
		vary: []selector{{"Foo", "1", true}}, arrived: time.Unix(1e9, 5), date: time.Unix(1e9, 0),
		life: time.Hour, etag: `"a"`, immutable: true,
	}
	v.setHeader(http.Header{"Date": {"x"}, "Etag": {`"a"`}})
	second := &variant{status: 200, total: -1}
	second.setHeader(http.Header{"Date": {"y"}})
	b, err := (&Entry{variants: []*variant{v, second}}).AppendBinary(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func FuzzEntry(f *testing.F) {
	f.Add(sampleEntry(f))
	f.Add([]byte{codecVersion})
	f.Add([]byte{2, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var e Entry
		if e.UnmarshalBinary(b) != nil {
			if e.variants != nil {
				t.Fatal("an error, and an entry")
			}
			return
		}
		again, err := e.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var second Entry
		if err := second.UnmarshalBinary(again); err != nil || !reflect.DeepEqual(e, second) {
			t.Fatalf("not the same after a round: %v", err)
		}
		_ = e.size()
	})
}

func TestEncodedEntryIsTheSameBytesEachTime(t *testing.T) {
	want := sampleEntry(t)
	for range 50 {
		var e Entry
		if err := e.UnmarshalBinary(want); err != nil {
			t.Fatal(err)
		}
		if got, err := e.AppendBinary(nil); err != nil || !bytes.Equal(got, want) || !bytes.Equal(sampleEntry(t), want) {
			t.Fatalf("%q, then %q, %v", want, got, err)
		}
	}
}

func TestDamagedEntriesAreErrors(t *testing.T) {
	whole := sampleEntry(t)
	for n := range whole {
		var e Entry
		if e.UnmarshalBinary(whole[:n]) == nil {
			t.Errorf("cut at %d", n)
		}
	}
	var e Entry
	if err := e.UnmarshalBinary(append(bytes.Clone(whole), 0)); err == nil {
		t.Error("with a byte more")
	}
	if err := e.UnmarshalBinary(whole); err != nil {
		t.Error(err)
	}
}

// FuzzResponse feeds hostile fields to the whole cache: whatever they say, it neither panics nor
// serves other bytes.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		"max-age=60", `a="b, max-age=1`, "no-cache=\"x\", max-age=\"5\"",
		"stale-while-revalidate=9, max-age=1", ",,=,\x00",
	} {
		f.Add(s, s, "Mon, 01 Jan 1990 00:00:00 GMT", "5", "Foo", "bytes 0-3/4", "bytes=0-1", true)
	}
	f.Fuzz(func(t *testing.T, cc, cdn, date, age, vary, contentRange, rng string, shared bool) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{Shared: shared}, step("Cache-Control: "+cc, "Cdn-Cache-Control: "+cdn,
				"Date: "+date, "Expires: "+date, "Last-Modified: "+date, "Age: "+age, "Vary: "+vary,
				"Content-Range: "+contentRange, "Etag: "+cc))
			r.do("GET", "/", "Cache-Control: "+cdn, "Pragma: "+cc)
			pass(time.Second)
			g := r.do("GET", "/", "Cache-Control: "+cc, "If-None-Match: "+cdn, "If-Modified-Since: "+date)
			if g.status == 200 && g.body != "body" {
				t.Errorf("%+v", g)
			}
			if g := r.do("GET", "/", "Range: "+rng, "If-Range: "+cc); g.status == 206 &&
				!strings.Contains("body", g.body) {
				t.Errorf("%+v", g)
			}
		})
	})
}

func TestConfigIsRefused(t *testing.T) {
	for field, c := range map[string]Config{
		"TTL":                  {Mode: TTLOnly},
		"MaxEntry":             {Store: NewMemory(10), MaxEntry: 11},
		"Targeted":             {Targeted: []string{"a"}},
		"Store":                {Store: (*Memory)(nil)},
		"StatusName":           {StatusName: "a b"},
		"Heuristic.Fraction":   {Heuristic: Heuristic{Fraction: 2}},
		"StaleIfError":         {StaleIfError: -1},
		"StaleWhileRevalidate": {StaleWhileRevalidate: -1},
		"MaxVariants":          {MaxVariants: -1},
		"Mode":                 {Mode: 7},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "config "+field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
	c, err := New(Config{Store: NewMemory(1000)})
	if err != nil || c.cfg.MaxEntry != 1000 {
		t.Errorf("MaxEntry %d, %v", c.cfg.MaxEntry, err)
	}
	if name, settings := c.Layer(fetchtest.Script()).(*transport).Describe(); name != "cache" ||
		!strings.Contains(settings, "private") {
		t.Errorf("%s: %s", name, settings)
	}
}

func TestInvalidationOfOneURLLeavesOthersOnTheirWay(t *testing.T) {
	c, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range maxGone {
		c.invalidated(keyed(n))
	}
	before := c.number.Load()
	if c.outdated(keyed(-1), 0) || !c.outdated(keyed(5), 0) || c.outdated(keyed(5), before) {
		t.Error("another URL's invalidation, or none of its own")
	}
	c.invalidated(keyed(maxGone)) // all are forgotten
	if !c.outdated(keyed(-1), before) || c.outdated(keyed(-1), before+1) || len(c.gone) != 1 {
		t.Error("what was on its way when all were forgotten")
	}
}

var errStore = errors.New("store is down")

// A program that ends closes its cache while requests are under way: calls of the store that begin
// while Close waits must not be waited for by the same group.
func TestCloseBesideRequests(t *testing.T) {
	for range 10 {
		c, err := New(Config{Store: &mapStore{m: map[string][]byte{}}})
		if err != nil {
			t.Fatal(err)
		}
		rt := c.Layer(fetchtest.Script(step(fresh60)))
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for j := range 20 {
					req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/"+strconv.Itoa(i*20+j), nil)
					if err != nil {
						t.Error(err)
						return
					}
					resp, err := rt.RoundTrip(req)
					if err != nil {
						t.Error(err)
						return
					}
					readAll(t, resp)
				}
			})
		}
		for range 4 {
			wg.Go(func() {
				if err := c.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}
