package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model is a cache as a plain map with lives. It is written from the package
// comment, in other words than the cache.
type model struct {
	p       Policy
	entries map[string]modelEntry

	hits, misses, loads uint64
}

type modelEntry struct {
	value    string
	absent   bool
	err      bool  // nothing but a failure
	written  int64 // soft, stale and hard count from here
	ttl      time.Duration
	swr, sie time.Duration
	retry    int64
	failures int
}

func (e modelEntry) soft() int64 { return e.written + int64(e.ttl) }

// origin is what a loader finds: it is asked through load alone.
type origin struct {
	mu     sync.Mutex
	values map[string]string // absent: ErrNotFound
	down   bool
	asked  uint64
}

func (o *origin) load(_ context.Context, k string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	if o.down {
		return "", errOrigin
	}
	v, ok := o.values[k]
	if !ok {
		return "", ErrNotFound
	}
	return v, nil
}

// load lets the model ask the origin for k and note the answer.
func (m *model) load(o *origin, k string, now int64) {
	m.loads++
	old, held := m.entries[k]
	switch v, ok := o.values[k]; {
	case o.down:
		if !held {
			old = modelEntry{err: true}
		}
		old.failures++
		d := m.p.ErrorBackoffMin
		for range old.failures - 1 {
			d = min(2*d, m.p.ErrorBackoffMax)
		}
		old.retry = now + int64(d)
		if old.err {
			old.written, old.ttl = now, 2*d
		}
		m.entries[k] = old
	case ok:
		m.entries[k] = modelEntry{value: v, written: now, ttl: m.p.TTL, swr: m.p.StaleWhileRevalidate, sie: m.p.StaleIfError}
	default:
		m.entries[k] = modelEntry{absent: true, written: now, ttl: m.p.NegativeTTL}
	}
}

// answer is what a read returns: a value, or the word for an error.
func (m *model) answer(k string) string {
	switch e, ok := m.entries[k]; {
	case !ok || e.absent:
		return "not found"
	case e.err:
		return "failed"
	default:
		return "=" + e.value
	}
}

func (m *model) expire(now int64) {
	for k, e := range m.entries {
		if now >= e.soft()+int64(max(e.swr, e.sie)) {
			delete(m.entries, k)
		}
	}
}

// read is Get. The refresh it may set off is done before it returns.
func (m *model) read(o *origin, k string, now int64, loader bool) string {
	e, ok := m.entries[k]
	switch {
	case ok && e.absent, ok && e.err && now < e.retry:
		m.hits++
		return m.answer(k)
	case ok && !e.err && now < e.soft():
		m.hits++
		return m.answer(k)
	case !loader:
		m.misses++
		return "not found"
	case ok && !e.err && now < e.retry:
		m.hits++
		return m.answer(k)
	case ok && !e.err && now < e.soft()+int64(e.swr):
		m.hits++
		before := m.answer(k)
		m.load(o, k, now)
		return before
	}
	m.misses++
	m.load(o, k, now)
	return m.answer(k)
}

// peek is Peek of a cache without Options.Load.
func (m *model) peek(k string, now int64) string {
	if e, ok := m.entries[k]; ok && !e.absent && !e.err && now < e.soft() {
		m.hits++
		return m.answer(k)
	}
	m.misses++
	return "not found"
}

// TestModel compares a cache with the model over random histories.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dur := func(label string) time.Duration {
			return time.Duration(rapid.SampledFrom([]int64{-1, 1, 2, 5, 9}).Draw(rt, label)) * time.Second
		}
		m := &model{entries: map[string]modelEntry{}}
		m.p = Policy{
			TTL: max(dur("ttl"), time.Second), StaleWhileRevalidate: dur("swr"), StaleIfError: dur("sie"), NegativeTTL: max(dur("negative"), time.Second),
			ErrorBackoffMin: time.Second, ErrorBackoffMax: 4 * time.Second, LoadSoftTimeout: -1,
		}
		h := newManualClock()
		c, err := New(Options[string, string]{clock: h.clock(), Policy: plain(m.p)})
		if err != nil {
			rt.Fatal(err)
		}
		defer shut(t, c)
		m.p.StaleWhileRevalidate, m.p.StaleIfError = max(m.p.StaleWhileRevalidate, 0), max(m.p.StaleIfError, 0)
		o := &origin{values: map[string]string{}}
		key := func(rt *rapid.T) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key") }
		next := 0
		fresh := func() string { next++; return fmt.Sprint("v", next) }
		said := func(v string, err error) string {
			switch {
			case err == nil:
				return "=" + v
			case errors.Is(err, ErrNotFound):
				return "not found"
			case errors.Is(err, errOrigin):
				return "failed"
			}
			return err.Error()
		}
		ctx := t.Context()
		rt.Repeat(map[string]func(*rapid.T){
			"get": func(rt *rapid.T) {
				k := key(rt)
				if got, want := said(c.Get(ctx, k)), m.read(o, k, h.ns.Load(), false); got != want {
					rt.Fatalf("get %s: %s, model %s", k, got, want)
				}
			},
			"get or load": func(rt *rapid.T) {
				k := key(rt)
				got := said(c.GetOrLoad(ctx, k, o.load))
				settled(c)
				if want := m.read(o, k, h.ns.Load(), true); got != want {
					rt.Fatalf("load %s: %s, model %s", k, got, want)
				}
			},
			"peek": func(rt *rapid.T) {
				k := key(rt)
				v, ok := c.Peek(k)
				if rapid.Bool().Draw(rt, "bytes") {
					m.hits, m.misses = m.hits+b2u(ok), m.misses+b2u(!ok)
					v, ok = PeekBytes(c, []byte(k))
				}
				err := ErrNotFound
				if ok {
					err = nil
				}
				if got, want := said(v, err), m.peek(k, h.ns.Load()); got != want {
					rt.Fatalf("peek %s: %s, model %s", k, got, want)
				}
			},
			"set": func(rt *rapid.T) {
				k, v := key(rt), fresh()
				e := modelEntry{value: v, written: h.ns.Load(), ttl: m.p.TTL, swr: m.p.StaleWhileRevalidate, sie: m.p.StaleIfError}
				w := WriteOptions{}
				if rapid.Bool().Draw(rt, "own lives") {
					w = WriteOptions{TTL: max(dur("ttl"), time.Second), StaleWhileRevalidate: dur("swr"), StaleIfError: dur("sie")}
					e.ttl, e.swr, e.sie = w.TTL, max(w.StaleWhileRevalidate, 0), max(w.StaleIfError, 0)
				}
				if _, err := c.SetWith(ctx, k, v, w); err != nil {
					rt.Fatal(err)
				}
				m.entries[k] = e
			},
			"delete": func(rt *rapid.T) {
				k := key(rt)
				if err := c.Delete(ctx, k); err != nil {
					rt.Fatal(err)
				}
				delete(m.entries, k)
			},
			"clear": func(rt *rapid.T) {
				if err := c.Clear(ctx); err != nil {
					rt.Fatal(err)
				}
				clear(m.entries)
			},
			"origin changes": func(rt *rapid.T) {
				k := key(rt)
				if rapid.Bool().Draw(rt, "exists") {
					o.values[k] = fresh()
				} else {
					delete(o.values, k)
				}
			},
			"origin breaks or heals": func(*rapid.T) { o.down = !o.down },
			"time passes": func(rt *rapid.T) {
				h.advance(time.Duration(rapid.Int64Range(1, 30).Draw(rt, "tenths")) * 100 * time.Millisecond)
			},
			"": func(rt *rapid.T) {
				settled(c)
				m.expire(h.ns.Load())
				s := c.Stats()
				if s.Hits != m.hits || s.Misses != m.misses || s.Loads != m.loads || o.asked != m.loads {
					rt.Fatalf("stats %+v, model hits %d, misses %d, loads %d, asked %d", s, m.hits, m.misses, m.loads, o.asked)
				}
				if s.Entries < int64(len(m.entries)) || s.Bytes < s.Entries*int64(c.overhead+1) {
					rt.Fatalf("stats %+v with %d live entries", s, len(m.entries))
				}
			},
		})
	})
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
