package cache

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMaxBytesIsBytes: the bound holds after every single write, and the
// reported size is that of what is held.
func TestMaxBytesIsBytes(t *testing.T) {
	const most = 1 << 20
	c, value := open(t, Options[string, string]{MaxBytes: most}), strings.Repeat("v", 64<<10)
	for i := range 5000 {
		set(t, c, strconv.Itoa(i), value)
		if s := c.Stats(); s.Bytes > most {
			t.Fatalf("after %d writes: %d bytes", i+1, s.Bytes)
		}
	}
	c.store.CleanUp() // eviction to below the slack may be under way
	held := 0
	for i := range 5000 {
		if v, ok := c.Peek(strconv.Itoa(i)); ok {
			held++
			if len(v) != 64<<10 {
				t.Fatalf("value of %d bytes: truncated", len(v))
			}
		}
	}
	s := c.Stats()
	if held < 10 || held > 15 || s.Entries != int64(held) || s.Evictions != uint64(5000-held) {
		t.Fatalf("%d held, stats %+v", held, s)
	}
	if low := int64(held) * (64 << 10); s.Bytes < low || s.Bytes > low+int64(held)*512 {
		t.Fatalf("%d bytes reported for %d values of 64 KiB", s.Bytes, held)
	}
}

// TestSizeIsLive: the size follows replacement, removal, expiry and Clear.
func TestSizeIsLive(t *testing.T) {
	h := newManualClock()
	c := open(t, Options[string, string]{clock: h.clock(), Policy: plain(Policy{TTL: time.Second})})
	base := int64(c.overhead)
	step := func(name string, want int64, entries int64) {
		t.Helper()
		settled(c)
		if s := c.Stats(); s.Bytes != want || s.Entries != entries {
			t.Fatalf("%s: %d bytes in %d entries, want %d in %d", name, s.Bytes, s.Entries, want, entries)
		}
	}
	set(t, c, "a", "1234")
	set(t, c, "bb", "1234")
	step("two", 2*base+1+2+8, 2)
	set(t, c, "a", "12345678")
	step("replaced", 2*base+1+2+12, 2)
	if err := c.Delete(t.Context(), "bb"); err != nil {
		t.Fatal(err)
	}
	step("deleted", base+1+8, 1)
	h.advance(2 * time.Hour)
	set(t, c, "c", "")
	c.store.CleanUp()
	step("expired", base+1, 1)
	if err := c.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	step("cleared", 0, 0)
	if s := c.Stats(); s.Expirations != 1 || s.Evictions != 0 {
		t.Fatalf("stats %+v", s)
	}
}

// TestTooLargeLoadIsServedAndNotKept: a value that cannot be held is returned to its readers
// and displaces the one it makes wrong.
func TestTooLargeLoadIsServedAndNotKept(t *testing.T) {
	h := newManualClock()
	big := strings.Repeat("x", 1<<18)
	c := open(t, Options[string, string]{
		clock: h.clock(), MaxBytes: 1 << 20, Policy: plain(Policy{TTL: time.Second, StaleWhileRevalidate: -1}),
		Load: func(context.Context, string) (string, error) { return big, nil },
	})
	set(t, c, "k", "old")
	h.advance(time.Second)
	want(t, c, "k", big)
	if s := c.Stats(); s.Refused != 1 || s.Entries != 0 {
		t.Fatalf("stats %+v", s)
	}
	long := strings.Repeat("k", 2000)
	if v, err := c.GetOrLoad(t.Context(), long, func(context.Context, string) (string, error) { return "small", nil }); err != nil || v != "small" {
		t.Fatalf("%q, %v", v, err)
	}
	for _, e := range []error{errOrigin, ErrNotFound} {
		_, err := c.GetOrLoad(t.Context(), long, func(context.Context, string) (string, error) { return "", e })
		if !errors.Is(err, e) || len(err.Error()) > 300 {
			t.Fatalf("error %v", err)
		}
	}
	if s := c.Stats(); s.Entries != 0 {
		t.Fatalf("held under a long key: %+v", s)
	}
}

// TestErrorsOfFailedLoadsAreWeighed: what failed loads returned counts in MaxBytes by its text, and
// an error that is larger than may be held is returned and not kept.
func TestErrorsOfFailedLoadsAreWeighed(t *testing.T) {
	const most = 1 << 20
	text := strings.Repeat("e", 64<<10)
	c := open(t, Options[string, string]{MaxBytes: most, Policy: plain(Policy{ErrorBackoffMin: time.Minute})})
	fail := func(key, text string) {
		t.Helper()
		_, err := c.GetOrLoad(t.Context(), key, func(context.Context, string) (string, error) { return "", errors.New(text) })
		if e, ok := errors.AsType[*LoadError](err); !ok || e.Err.Error() != text {
			t.Fatalf("error %.100v", err)
		}
	}
	for i := range 100 {
		fail(strconv.Itoa(i), text)
	}
	settled(c)
	if s := c.Stats(); s.Bytes > most || s.Entries < 10 || s.Entries > 15 || s.Bytes < s.Entries*(64<<10) {
		t.Errorf("%d errors of 64 KiB in %d bytes, bound %d", s.Entries, s.Bytes, most)
	}
	fail("large", strings.Repeat("e", 2*most))
	fail("large", "small") // it was not held, so the next loader is asked at once
}

// TestWeightBeyondMeasure: a Weigh that answers with the greatest number there
// is makes its value too large, not weightless.
func TestWeightBeyondMeasure(t *testing.T) {
	c := open(t, Options[string, int]{Weigh: func(string, int) int { return math.MaxInt }})
	if err := c.Set(t.Context(), "k", 1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("set: %v", err)
	}
	if s := c.Stats(); s.Entries != 0 || s.Refused != 1 {
		t.Errorf("stats %+v", s)
	}
}
