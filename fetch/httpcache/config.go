// Package httpcache is an HTTP cache by RFC 9111 as a layer over an http.RoundTripper: private, for
// one client, or shared, for a proxy or a program that acts for many users.
//
// A response that is fresh is answered from memory. One that is stale is validated with the origin
// (If-None-Match, If-Modified-Since) and served anew after a 304. Vary, Age, ranges, HEAD,
// invalidation by unsafe methods, stale-while-revalidate and stale-if-error (RFC 5861), immutable
// (RFC 8246) and targeted fields (RFC 9213) are as their RFCs say. Every response carries a member
// of Cache-Status (RFC 9211) that says what the cache did.
//
// Defaults: private, 64 MiB in memory, entries up to 8 MiB, 32 variants per URL, heuristic
// freshness of a tenth of the time since Last-Modified and at most a day, 8 background
// revalidations of at most 30 s each.
//
// Do: put it outside of retries and limits, so that a hit costs neither. Do not: use Shared for a
// client that sends different users' credentials in fields other than Authorization, or without
// Vary: to a shared cache a response without either belongs to everybody. A private cache keeps
// users apart by Authorization, Proxy-Authorization and Cookie; other credentials need a Partition.
// Not for: responses larger than memory, and origins that declare nothing; TTLOnly is for the
// latter, at one's own risk.
package httpcache

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
	"example.com/quire/internal/httpfield"
)

// Mode says whose rules decide what is fresh.
type Mode uint8

// The modes.
const (
	HTTP    Mode = iota // RFC 9111
	TTLOnly             // Config.TTL for every 200 answer to GET; the origin's no-store, private (in a shared cache) and Vary still win
)

// Config describes a cache. The zero value is a private cache in memory.
type Config struct {
	// Shared is for a cache that serves several users: nothing private is stored, nor a Set-Cookie
	// whose origin says nothing about caching; s-maxage and targeted fields count.
	Shared bool
	Mode   Mode
	// TTL is the freshness of responses whose origin says nothing about it, in place of the
	// heuristic: 0 = none. With TTLOnly it is the freshness of all.
	TTL time.Duration
	// StaleWhileRevalidate and StaleIfError are windows for responses whose origin says nothing
	// about them: 0 = none. They never outweigh no-cache, must-revalidate, and in a shared cache
	// proxy-revalidate and s-maxage.
	StaleWhileRevalidate, StaleIfError time.Duration
	// Store keeps the entries: nil = NewMemory(64 MiB).
	Store Store
	// MaxEntry bounds one response's body: 0 = 8 MiB, or the store's size if that is less. Larger
	// ones pass through.
	MaxEntry int64
	// MaxVariants per URL: 0 = 32; the oldest goes first.
	MaxVariants int
	Heuristic   Heuristic
	// Targeted are names of fields that outweigh Cache-Control (RFC 9213), in their order: nil =
	// CDN-Cache-Control in a shared cache. They are refused in a private one.
	Targeted []string
	// Partition keeps entries apart by its bytes, which are hashed: nil = the credentials of the
	// request (Authorization, Proxy-Authorization, Cookie) in a private cache, nothing in a shared
	// one. One of your own takes the place of that.
	Partition func(*http.Request) []byte
	// Key replaces the key of a request: nil = KeyOf. false passes the cache by, as every request
	// with a body does. Partition is added to what it returns.
	Key func(*http.Request) (Key, bool)
	// Cacheable is asked before a response is stored that may be: nil = all.
	Cacheable func(*http.Request, *http.Response) bool
	// StatusName is this cache's name in Cache-Status: "" = quire-fetch.
	StatusName string
	// Revalidators bounds the background revalidations: 0 = 8.
	Revalidators int
}

// Heuristic is the freshness of responses without an explicit one (RFC 9111, section 4.2.2).
type Heuristic struct {
	// Fraction of the time since Last-Modified: 0 = 0.1, -1 = no heuristic.
	Fraction float64
	// Max bounds it: 0 = 24 h.
	Max time.Duration
}

// RequestOptions set the cache otherwise for one request.
type RequestOptions = call.CacheOptions

// ConfigError tells one thing that is wrong with a Config.
type ConfigError = call.ConfigError

const (
	defaultEntry    = 8 << 20
	defaultStore    = 64 << 20
	defaultVariants = 32
	storeWait       = 100 * time.Millisecond
	backgroundWait  = 30 * time.Second
	maxField        = 8 << 10
	maxMembers      = 128
)

func (c Config) withDefaults() Config {
	if c.Store == nil {
		c.Store = NewMemory(defaultStore)
	}
	if c.MaxEntry == 0 {
		c.MaxEntry = defaultEntry
		if s, ok := c.Store.(Sizer); ok {
			c.MaxEntry = min(c.MaxEntry, s.MaxBytes())
		}
	}
	c.MaxVariants = cmp.Or(c.MaxVariants, defaultVariants)
	c.Heuristic.Fraction = cmp.Or(c.Heuristic.Fraction, 0.1)
	c.Heuristic.Max = cmp.Or(c.Heuristic.Max, 24*time.Hour)
	if c.Shared && c.Targeted == nil {
		c.Targeted = []string{"Cdn-Cache-Control"}
	}
	for i, name := range c.Targeted {
		c.Targeted[i] = http.CanonicalHeaderKey(name)
	}
	c.StatusName = cmp.Or(c.StatusName, "quire-fetch")
	c.Revalidators = cmp.Or(c.Revalidators, 8)
	return c
}

// Validate returns every ConfigError of c, joined; nil when New would take it.
func (c Config) Validate() error {
	var k call.Check
	k.Duration("TTL", c.TTL)
	k.Duration("StaleWhileRevalidate", c.StaleWhileRevalidate)
	k.Duration("StaleIfError", c.StaleIfError)
	k.Count("MaxEntry", c.MaxEntry)
	k.Count("MaxVariants", int64(c.MaxVariants))
	k.Count("Revalidators", int64(c.Revalidators))
	k.Duration("Heuristic.Max", c.Heuristic.Max)
	if f := c.Heuristic.Fraction; f != -1 && !(f >= 0 && f <= 1) {
		k.Fail("Heuristic.Fraction", f, "-1 for no heuristic, 0 for the default, or a ratio of at most 1")
	}
	if c.Mode > TTLOnly {
		k.Fail("Mode", c.Mode, "HTTP or TTLOnly")
	}
	if c.Mode == TTLOnly && c.TTL == 0 {
		k.Fail("TTL", c.TTL, "a positive duration with TTLOnly")
	}
	if len(c.Targeted) > 0 && !c.Shared {
		k.Fail("Targeted", c.Targeted, "nothing in a private cache, which targeted fields do not address (RFC 9213, section 1)")
	}
	for _, name := range c.Targeted {
		if !httpfield.IsToken(name) {
			k.Fail("Targeted", name, "field names that are tokens (RFC 9110, section 5.1)")
		}
	}
	if c.StatusName != "" && !httpfield.IsToken(c.StatusName) {
		k.Fail("StatusName", c.StatusName, "a token")
	}
	if v := reflect.ValueOf(c.Store); v.Kind() == reflect.Pointer && v.IsNil() {
		k.Fail("Store", "a nil "+v.Type().String(), "nothing, or a value that can be called")
	} else if s, ok := c.Store.(Sizer); ok && c.MaxEntry > s.MaxBytes() {
		k.Fail("MaxEntry", c.MaxEntry, fmt.Sprintf("at most the store's size, which is %d", s.MaxBytes()))
	}
	return k.Err()
}

// Cache is the cache. It is safe for concurrent use.
type Cache struct {
	cfg    Config
	direct *Memory // the store when it is ours: no waiting, no errors

	// What was invalidated while a response was on its way is not stored when it arrives: see
	// outdated.
	number atomic.Uint64
	gone   map[Key]uint64 // the number of each URL's last invalidation; guarded by mu
	floor  uint64         // that of all URLs
	locks  [64]sync.Mutex // of read-modify-write of an entry, by slot

	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{}
	mu     sync.Mutex
	wg     sync.WaitGroup
	busy   map[Key]struct{} // under revalidation in the background
	closed bool

	stats counters
}

// counters of a cache.
type counters struct {
	hits, stale, revalidated, misses, bypassed, stored, storeErrors atomic.Int64
}

// Stats are a cache's counters since it was made.
type Stats struct {
	Hits        int64 // answered from the store while fresh
	Stale       int64 // answered from the store while stale
	Revalidated int64 // answered from the store after a 304
	Misses      int64 // answered by the origin
	Bypassed    int64 // not looked up: method, option, key
	Stored      int64 // entries written
	StoreErrors int64 // store calls that failed or took more than 100 ms
	Entries     int64 // of a store that can tell
	Bytes       int64 // of a store that can tell
}

// New returns a cache.
func New(c Config) (*Cache, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Targeted = append([]string(nil), c.Targeted...)
	if len(c.Targeted) == 0 {
		c.Targeted = nil
	}
	c = c.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	cache := &Cache{cfg: c, ctx: ctx, cancel: cancel, slots: make(chan struct{}, c.Revalidators), busy: make(map[Key]struct{}), gone: make(map[Key]uint64)}
	cache.direct, _ = c.Store.(*Memory)
	return cache, nil
}

// Layer returns the cache as a layer over next. One cache may stand over several.
func (c *Cache) Layer(next http.RoundTripper) http.RoundTripper { return &transport{next: next, c: c} }

// Stats returns the counters.
func (c *Cache) Stats() Stats {
	s := Stats{
		Hits: c.stats.hits.Load(), Stale: c.stats.stale.Load(), Revalidated: c.stats.revalidated.Load(), Misses: c.stats.misses.Load(),
		Bypassed: c.stats.bypassed.Load(), Stored: c.stats.stored.Load(), StoreErrors: c.stats.storeErrors.Load(),
	}
	if z, ok := c.cfg.Store.(Sizer); ok {
		s.Entries, s.Bytes = z.Size()
	}
	return s
}

// Close ends the background revalidations and waits for them, until ctx ends. The cache still
// answers from its store.
func (c *Cache) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	done := make(chan struct{})
	go func() {
		c.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type transport struct {
	next http.RoundTripper
	c    *Cache
}

// Describe names the layer and its settings.
func (t *transport) Describe() (name, settings string) {
	kind, c := "private", &t.c.cfg
	if c.Shared {
		kind = "shared"
	}
	if c.Mode == TTLOnly {
		kind += fmt.Sprintf(", %v for all", c.TTL)
	}
	return "cache", fmt.Sprintf("%s, entries up to %d bytes, %d variants", kind, c.MaxEntry, c.MaxVariants)
}

// Unwrap returns the layer below.
func (t *transport) Unwrap() http.RoundTripper { return t.next }

// Key names what is stored for one URL, in one partition.
type Key struct {
	Scheme, Host, Path, Query string
	// Partition is a hash in text form; "" for what everybody may have.
	Partition string
}

// KeyOf returns the key of a request's URL, without partition. It is false for a request with a
// Host of its own, and for one whose URL has an Opaque part, which is sent as it is: their URL does
// not name what they ask for.
func KeyOf(req *http.Request) (Key, bool) {
	u := req.URL
	if req.Host != "" && req.Host != u.Host || u.Opaque != "" {
		return Key{}, false
	}
	o := origin.Of(u)
	k := Key{Scheme: "http", Host: o.Host, Path: u.EscapedPath(), Query: u.RawQuery}
	if o.TLS {
		k.Scheme = "https"
	}
	if k.Path == "" {
		k.Path = "/"
	}
	if u.ForceQuery && k.Query == "" {
		k.Path += "?" // which is no part of a path, so that it is unlike the query "?"
	}
	return k, true
}

// String returns the key as text, for stores outside of the process: different keys have different
// texts.
func (k Key) String() string {
	s := k.Scheme + "://" + k.Host + k.Path
	if k.Query != "" {
		s += "?" + k.Query
	}
	if k.Partition != "" {
		s += "#" + k.Partition // no URL in a request has a fragment
	}
	return s
}

const forever time.Duration = math.MaxInt64
