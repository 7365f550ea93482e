package origin

import (
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

func parse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestOf(t *testing.T) {
	for in, want := range map[string]string{
		"http://a.example/x":        "http://a.example",
		"HTTP://A.Example:80":       "http://a.example",
		"https://a.example:443":     "https://a.example",
		"https://a.example:80":      "https://a.example:80",
		"http://a.example:443":      "http://a.example:443",
		"http://a.example.":         "http://a.example",
		"http://a.example.:80/":     "http://a.example",
		"http://a.example.:81/":     "http://a.example:81",
		"http://a.example:":         "http://a.example",
		"http://[2001:DB8::1]":      "http://[2001:db8::1]",
		"http://[2001:db8::1]:80":   "http://[2001:db8::1]",
		"http://[2001:db8::1]:8080": "http://[2001:db8::1]:8080",
		"http://u:p@a.example":      "http://a.example",
	} {
		if got := Of(parse(t, in)).String(); got != want {
			t.Errorf("Of(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{ //nolint:gosec // made up
		"https://" + "u:secret@" + "a.example/p?token=secret&x=secret#secret": "https://a.example/p?token=_&x=_",
		"https://a.example/p?secret":                                          "https://a.example/p?_",
		"https://a.example/p?a=secret;b=secret":                               "https://a.example/p?a=_&b=_",
		"https://a.example/p?&":                                               "https://a.example/p?_",
		"https://a.example/p":                                                 "https://a.example/p",
		"mailto:secret":                                                       "mailto:_",
	} {
		if got := Redact(parse(t, in)); got != want {
			t.Errorf("Redact(%s) = %s, want %s", in, got, want)
		}
	}
	if Redact(nil) != "" {
		t.Error("nil")
	}
}

func TestScrub(t *testing.T) {
	u := parse(t, "https://a.example/p?token=ab%2Fcdef&n=1#abcdef")
	u.User = url.UserPassword("user", "s3cret")
	for _, text := range []string{
		`Get "https://user:s3cret@a.example/p?token=ab%2Fcdef&n=1#abcdef": EOF`,
		`Get "https://user:***@a.example/p?token=ab%2Fcdef&n=1": EOF`,
		"bad token ab/cdef", "bad token ab%2Fcdef", "password s3cret is wrong",
	} {
		got := Scrub(text, u)
		if strings.Contains(got, "s3cret") || strings.Contains(got, "cdef") || strings.Contains(got, "user:") {
			t.Errorf("left in: %s", got)
		}
	}
	if Scrub("a", nil) != "a" || Scrub("a", parse(t, "https://a.example")) != "a" {
		t.Error("changed what has nothing to hide")
	}
}

func TestRegistry(t *testing.T) {
	made := 0
	r := NewRegistry(3, time.Minute, func(v *int, _ int) {
		made++
		*v = made
	})
	now := time.Now()
	held := r.Acquire(0, now)
	for i := 1; i <= 10; i++ {
		r.Release(r.Acquire(i, now))
	}
	if r.Len() > 3 || made != 11 {
		t.Errorf("%d entries, %d made", r.Len(), made)
	}
	if v := r.Peek(0); v == nil || *v != 1 {
		t.Error("an entry in use was evicted")
	}
	if again := r.Acquire(0, now); again != held {
		t.Error("two entries for one key")
	} else {
		r.Release(again)
	}
	r.Release(held)
	r.Release(r.Acquire(99, now.Add(2*time.Minute)))
	if r.Len() != 1 {
		t.Errorf("%d entries, want the one that is not idle", r.Len())
	}
	var keys []int
	r.Each(func(k int, _ *int) { keys = append(keys, k) })
	if len(keys) != 1 || keys[0] != 99 {
		t.Errorf("keys %v", keys)
	}
	if r.Peek(0) != nil {
		t.Error("an idle entry stayed")
	}
}

func TestRegistryEvictsWhatWasNotUsedForLong(t *testing.T) {
	r := NewRegistry(10, time.Hour, func(*int, int) {})
	now := time.Now()
	for range 1000 {
		now = now.Add(time.Duration(2 * slack))
		for k := range 8 { // used all the time, and at the same moment
			r.Release(r.Acquire(k, now))
		}
		r.Release(r.Acquire(int(now.UnixNano()), now)) // used once
	}
	for k := range 8 {
		if r.Peek(k) == nil {
			t.Errorf("%d, used all the time, was evicted", k)
		}
	}
	if r.Len() > 10 {
		t.Errorf("%d entries", r.Len())
	}
}

func TestRegistryHeldEntriesDoNotHideOthers(t *testing.T) {
	r := NewRegistry(20, time.Hour, func(*struct{}, int) {})
	now := time.Now()
	for i := range 15 {
		r.Acquire(i, now) // never released
	}
	for i := range 1000 {
		r.Release(r.Acquire(100+i, now))
	}
	if r.Len() > 20 {
		t.Errorf("%d entries", r.Len())
	}
}

func TestRegistryFindsAllOfMany(t *testing.T) {
	r := NewRegistry(10_000, time.Hour, func(v *int, k int) { *v = k })
	now := time.Now()
	for k := range 10_000 {
		r.Touch(k, now)
	}
	for k := range 10_000 {
		if v := r.Peek(k); v == nil || *v != k {
			t.Fatalf("%d was lost", k)
		}
	}
}

// Who holds an entry holds the one that everybody finds, whatever is made and evicted meanwhile.
func TestRegistryUnderConcurrentUse(t *testing.T) {
	const limit = 8
	r := NewRegistry(limit, time.Second, func(v *int, k int) { *v = k })
	now := time.Now()
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 5000 {
				k, at := (i*(worker+1))%24, now.Add(time.Duration(i)*time.Millisecond)
				if v := r.Touch(k+1, at); *v != k+1 {
					t.Errorf("%d for %d", *v, k+1)
				}
				e := r.Acquire(k, at)
				if r.Peek(k) != &e.Value || e.Value != k {
					t.Errorf("%d is held, and another one is found", k)
				}
				r.Release(e)
			}
		})
	}
	wg.Wait()
	r.Touch(0, now.Add(time.Minute))
	if n := r.Len(); n > limit {
		t.Errorf("%d entries", n)
	}
}
