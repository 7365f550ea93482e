// Package limit limits the load of a client on a server: by rate ([GCRA], [Keyed]), by requests in
// flight ([Bulkhead]), or by a number in flight that adapts to the server's responses ([Adaptive]).
//
// Refusals are typed, ErrRateLimited and ErrOverloaded, and not retried; callers see them at once
// or, with MaxWait, after having waited in the order of their arrival. A wait that could not end
// before the deadline is not begun.
//
// Do: limit by what the server limits by: its host, or a route of it ([ByRoute]). Do not: put it
// inside of retries unless the server counts attempts (KeyedConfig.PerAttempt); nor outside of a
// cache, whose hits cost the server nothing. Not for: limits that several processes share; these
// need a store that they share.
package limit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
)

// What errors.Is finds.
var (
	ErrRateLimited = errors.New("rate limited")
	ErrOverloaded  = errors.New("overloaded")
)

// ConfigError tells one thing that is wrong with a configuration.
type ConfigError = call.ConfigError

// Error is a refusal. It is ErrRateLimited or ErrOverloaded.
type Error struct {
	Kind error
	Key  string
	// RetryIn is when it may be worth another call; zero when that is not known.
	RetryIn time.Duration
}

func (e *Error) Error() string {
	if e.RetryIn > 0 {
		return fmt.Sprintf("%v, free in %v", e.Kind, e.RetryIn.Round(time.Millisecond))
	}
	return e.Kind.Error()
}

// Is makes it its kind.
func (e *Error) Is(target error) bool { return target == e.Kind }

// Retryable tells the retry layer not to wait for it.
func (e *Error) Retryable() bool { return false }

// Reason names it in the log of attempts.
func (e *Error) Reason() string { return e.Kind.Error() }

// Allower is a limiter of one's own. *rate.Limiter of golang.org/x/time fits.
type Allower interface{ Allow() bool }

// Waiter is one that can wait.
type Waiter interface{ Wait(context.Context) error }

// Rule is the limit of a key.
type Rule struct {
	Rate  Rate
	Burst int // 0 = 1
	// Limiter takes the place of Rate and Burst. It is shared by all keys that the rule stands for,
	// and waits only if it is a Waiter.
	Limiter Allower
}

func (r Rule) zero() bool { return r.Rate == Rate{} && r.Burst == 0 && r.Limiter == nil }

// KeyedConfig describes limits by key.
type KeyedConfig struct {
	// Key of a request: nil = ByHost. A call's own (fetch.Overrides.LimitKey) comes first.
	Key func(*http.Request) string
	// Default is the rule of keys without one in Rules; the zero Rule does not limit.
	Default Rule
	Rules   map[string]Rule
	// MaxWait: 0 = refuse at once.
	MaxWait time.Duration
	// PerAttempt limits each attempt; the default is each call.
	PerAttempt bool
	// MaxKeys are remembered: 0 = 4 096. IdleAfter: 0 = 10 minutes, and never less than a burst
	// takes to refill.
	MaxKeys   int
	IdleAfter time.Duration
}

// Global gives all requests one key.
func Global(*http.Request) string { return "" }

// ByHost gives each origin its key, such as "https://api.example".
func ByHost(req *http.Request) string { return call.OriginText(req) }

// ByRoute gives each route its key: fetch.Overrides.Route, "" for requests without.
func ByRoute(req *http.Request) string { return call.OptionsOf(req.Context()).Route }

// ByHostRoute gives each route of an origin its key.
func ByHostRoute(req *http.Request) string { return ByHost(req) + " " + ByRoute(req) }

// Validate returns every ConfigError of c, joined.
func (c KeyedConfig) Validate() error {
	var k call.Check
	rule := func(field string, r Rule) {
		if v := reflect.ValueOf(r.Limiter); v.IsValid() {
			if v.Kind() == reflect.Pointer && v.IsNil() {
				k.Fail(field+".Limiter", "a nil "+v.Type().String(), "nothing, or a value that can be called")
			}
			return
		}
		validRate(&k, field+".Rate", field+".Burst", r.Rate, r.Burst)
	}
	if !c.Default.zero() {
		rule("Default", c.Default)
	}
	for _, key := range slices.Sorted(maps.Keys(c.Rules)) {
		rule(fmt.Sprintf("Rules[%q]", key), c.Rules[key])
	}
	k.Duration("MaxWait", c.MaxWait)
	k.Count("MaxKeys", int64(c.MaxKeys))
	k.Duration("IdleAfter", c.IdleAfter)
	return k.Err()
}

// Keyed is a limiter per key, made on demand. It is safe for concurrent use.
type Keyed struct {
	cfg      KeyedConfig
	reg      *origin.Registry[string, keyed]
	rules    map[string]ruled
	common   ruled // Default
	rejected atomic.Int64
	waited   atomic.Int64 // nanoseconds
}

// keyed is what a key has: a limiter of ours, one of others, or nothing. An entry of the registry
// with it takes two lines of a processor's cache, of which an admission needs the first: what the
// registry and the limiter look at stands there.
type keyed struct {
	own    GCRA // without a setting when it is not ours
	theirs Allower
	_      [16]byte
}

// ruled is a rule, as all keys that it stands for share it.
type ruled struct {
	own    *setting
	theirs Allower
}

func ruledBy(r Rule) ruled {
	switch {
	case r.Limiter != nil:
		return ruled{theirs: r.Limiter}
	case r.Rate != Rate{}:
		return ruled{own: newSetting(r.Rate, r.Burst)}
	}
	return ruled{}
}

// NewKeyed returns limits without any key.
func NewKeyed(c KeyedConfig) (*Keyed, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Key == nil {
		c.Key = ByHost
	}
	c.MaxKeys = cmp.Or(c.MaxKeys, 4096)
	c.IdleAfter = cmp.Or(c.IdleAfter, 10*time.Minute)
	c.Rules = maps.Clone(c.Rules)
	for _, r := range append(slices.Collect(maps.Values(c.Rules)), c.Default) {
		c.IdleAfter = max(c.IdleAfter, r.Rate.interval()*time.Duration(max(r.Burst, 1))) // forgotten sooner it would grant a burst too many
	}
	k := &Keyed{cfg: c, rules: make(map[string]ruled, len(c.Rules)), common: ruledBy(c.Default)}
	for key, r := range c.Rules {
		k.rules[key] = ruledBy(r)
	}
	k.reg = origin.NewRegistry(c.MaxKeys, c.IdleAfter, k.make)
	return k, nil
}

func (k *Keyed) make(v *keyed, key string) {
	r, ok := k.rules[key]
	if !ok {
		r = k.common
	}
	if v.theirs = r.theirs; r.own != nil {
		v.own.init(r.own)
	}
}

// AllowN admits n events of a key at now, all or none.
func (k *Keyed) AllowN(now time.Time, key string, n int) bool {
	switch v := k.reg.Touch(key, now); {
	case v.own.limits():
		return v.own.AllowN(now, n)
	case v.theirs != nil:
		for range n {
			if !v.theirs.Allow() {
				return false
			}
		}
	}
	return true
}

// Rejected returns how many requests were refused, Waited how long all that waited have.
func (k *Keyed) Rejected() int64 { return k.rejected.Load() }

// Waited returns how long requests have waited, in sum.
func (k *Keyed) Waited() time.Duration { return time.Duration(k.waited.Load()) }

// Len returns the number of keys that are remembered.
func (k *Keyed) Len() int { return k.reg.Len() }

// SetRate changes the rate of one key, which keeps what it owes. It lasts until the key is
// forgotten. It is false for a key with a limiter of others.
func (k *Keyed) SetRate(key string, r Rate, burst int) (bool, error) {
	e := k.reg.Acquire(key, time.Now())
	defer k.reg.Release(e)
	if !e.Value.own.limits() {
		return false, nil
	}
	return true, e.Value.own.SetRate(r, burst)
}

// Layer returns the limits as a layer over next.
func (k *Keyed) Layer(next http.RoundTripper) http.RoundTripper { return &rateLayer{next: next, k: k} }

type rateLayer struct {
	next http.RoundTripper
	k    *Keyed
}

// Describe names the layer and its settings.
func (l *rateLayer) Describe() (name, settings string) {
	c := &l.k.cfg
	return "limit", fmt.Sprintf("%d per %v, burst %d, %d rules, waits %v", c.Default.Rate.Events, c.Default.Rate.Per, c.Default.Burst, len(c.Rules), c.MaxWait)
}

// Unwrap returns the layer below.
func (l *rateLayer) Unwrap() http.RoundTripper { return l.next }

// RoundTrip implements http.RoundTripper.
func (l *rateLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	st := call.From(req.Context())
	if st != nil && st.Off(call.OffLimit) {
		return l.next.RoundTrip(req)
	}
	key := call.OptionsOf(req.Context()).LimitKey
	if key == "" {
		key = l.k.cfg.Key(req)
	}
	if err := l.k.admit(req, st, key); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		if refused, ok := errors.AsType[*Error](err); ok {
			l.k.rejected.Add(1)
			if st != nil && st.Observed() {
				st.Emit(req, &call.Event{Kind: call.KindLimit, Err: refused, Detail: key})
			}
		}
		return nil, err
	}
	return l.next.RoundTrip(req)
}

func (k *Keyed) admit(req *http.Request, st *call.State, key string) error {
	now, limit := st.Now(), k.cfg.MaxWait
	var v *keyed
	if limit > 0 { // who waits holds the key
		e := k.reg.Acquire(key, now)
		defer k.reg.Release(e)
		v = &e.Value
	} else {
		v = k.reg.Touch(key, now)
	}
	ours := v.own.limits()
	if !ours && v.theirs == nil {
		return nil
	}
	if err := req.Context().Err(); err != nil {
		return err
	}
	if limit > 0 && st != nil && !st.End.IsZero() {
		limit = min(limit, max(st.End.Sub(now)-1, 0))
	}
	var wait time.Duration
	var err error
	switch {
	case ours && limit > 0:
		wait, err = v.own.wait(req.Context(), limit)
	case ours:
		_, w, ok := v.own.reserveBy(now, st.Now, 0)
		if wait = w; !ok {
			v.own.denied.Add(1)
			err = ErrRateLimited
		}
	default:
		err = waitTheirs(req.Context(), v.theirs, limit)
		wait = time.Since(now)
	}
	switch {
	case err == nil:
		if wait > 0 {
			k.waited.Add(int64(wait))
			if st != nil {
				st.AddWait(wait)
			}
		}
		return nil
	case req.Context().Err() != nil:
		return err
	}
	refused := &Error{Kind: ErrRateLimited, Key: key}
	if ours {
		refused.RetryIn = wait
	}
	return refused
}

// waitTheirs asks a limiter of others, and waits with it when it can.
func waitTheirs(ctx context.Context, a Allower, limit time.Duration) error {
	w, ok := a.(Waiter)
	if !ok || limit <= 0 {
		if !a.Allow() {
			return ErrRateLimited
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return w.Wait(ctx)
}
