// Package call has the state of one logical call that the layers share, from the first attempt to
// the last byte of the body: when it started, when it must end, its own options, and the result of
// each attempt.
//
// The state travels as the request's context. It is itself the context, so that carrying it costs
// one allocation, and all layers find the same one by [From].
package call

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"sync"
	"time"

	"example.com/quire/fetch/internal/origin"
)

// Attempt is what one try of a call did. The log of a call holds one per try, breaker refusals
// included.
type Attempt struct {
	// N counts from 1 within one request; a redirect's next hop starts at 1 again.
	N int
	// Start is when the attempt was handed down.
	Start time.Time
	// Took is the time until the response headers, or until the error.
	Took time.Duration
	// Delay is the wait before this attempt; zero for the first.
	Delay time.Duration
	// Status is the response's status code; zero when Err is set.
	Status int
	// Err is the error of an attempt without a response.
	Err error
	// Reason is one short word or two for the outcome: "ok", "status 503", "timeout", "dial",
	// "circuit open" and the like.
	Reason string
	// Hedge is true for the second leg of a hedged attempt.
	Hedge bool
}

// Layers is a set of layers.
type Layers uint32

// The layers that can be switched off.
const (
	OffRetry Layers = 1 << iota
	OffBreaker
	OffDrain
	OffDecode
	OffDeadlines
	OffCache
	OffCollapse
	OffLimit
	OffHedge
)

// Options are the settings of one call that differ from the client's. The zero value changes
// nothing.
type Options struct {
	Total, Attempt time.Duration
	MaxAttempts    int
	Retry          any // *retry.Policy
	Off            Layers
	Route          string
	LimitKey       string
	IdempotencyKey string
	Cache          CacheOptions
}

// CacheOptions set the cache otherwise for one request. The zero value changes nothing.
type CacheOptions struct {
	// Bypass neither looks nor stores.
	Bypass bool
	// Refresh validates what is stored before it is used, as the request directive no-cache does.
	Refresh bool
	// NoStore keeps the response out of the store.
	NoStore bool
	// OnlyIfCached answers 504 instead of asking the origin.
	OnlyIfCached bool
	// TTL takes the place of the cache's own.
	TTL time.Duration
	// MaxStale accepts what is stale for no longer than that, where no directive of the response
	// forbids it.
	MaxStale time.Duration
}

// CacheInfo is what a cache did for a call.
type CacheInfo struct {
	Result string        // hit, stale, revalidated, miss, bypass; "" without a cache
	Age    time.Duration // of what was stored
	Stored bool          // the response is stored when its body is read to the end
}

type stateKey struct{}

type tryKey struct{}

type optionsKey struct{}

// WithOptions returns a context whose calls take o. It replaces, it does not merge: merging is its
// caller's business.
func WithOptions(ctx context.Context, o *Options) context.Context {
	return context.WithValue(ctx, optionsKey{}, o)
}

// noOptions is what a call without overrides points at; nobody writes to it.
var noOptions = &Options{}

// OptionsOf returns the options of ctx; never nil, not to be modified.
func OptionsOf(ctx context.Context) *Options {
	if s, ok := ctx.(*State); ok && s.Options != nil {
		return s.Options
	}
	if o, ok := ctx.Value(optionsKey{}).(*Options); ok {
		return o
	}
	return noOptions
}

// State is the state of one logical call. The exported fields are set before the first attempt and
// only read afterwards; the methods are safe for concurrent use.
type State struct {
	context.Context // the caller's

	// Start is the beginning of the call.
	Start time.Time
	// End is the end of the call by the client's own total deadline; zero means none.
	End time.Time
	// Options are the overrides of the call; never nil.
	Options *Options
	// Method, URL and Origin are those of the first request of the call; a redirect may leave them.
	// The URL is its very own, by which the same request is known again, and not to be read.
	Method string
	URL    *url.URL
	Origin origin.Key
	// OriginText is Origin as text, where somebody has it at hand; else "".
	OriginText string
	// Observers get the call's events, in order.
	Observers []Func
	// Client is what the client that made the call keeps beside its state; nil for work in the
	// background.
	Client any

	mu       sync.Mutex
	tryStart time.Time
	tryN     int32
	tryOf    int32
	stop     string
	seldom   *seldom       // nil = all zero
	result   string        // of the cache
	age      time.Duration // of what it had stored
	stored   bool
	out      bool
	keyed    bool
	crossed  bool
	shared   bool
	inside   bool
	tryHedge bool
	attempts []Attempt
}

// seldom is what most calls have nothing of.
type seldom struct {
	id     string
	key    string
	hops   []*url.URL
	resent int
	waited time.Duration
}

// read returns what there is of the seldom, and rare the same to be written to. With the lock held.
func (s *State) read() seldom {
	if s.seldom == nil {
		return seldom{}
	}
	return *s.seldom
}

func (s *State) rare() *seldom {
	if s.seldom == nil {
		s.seldom = new(seldom)
	}
	return s.seldom
}

// New returns the state of a call that starts now under the caller's context.
func New(ctx context.Context, now time.Time) *State {
	s := new(struct {
		State
		log [2]Attempt // of an ordinary call, without an allocation of its own
	})
	s.Init(ctx, now, s.log[:0])
	return &s.State
}

// Init makes of the zero State what New returns, with a log that grows from the given one.
func (s *State) Init(ctx context.Context, now time.Time, log []Attempt) {
	s.Context, s.Start, s.Options = ctx, now, OptionsOf(ctx)
	s.tryN, s.tryOf, s.tryStart = 1, 1, now
	s.attempts = log
}

// From returns the state of the call that ctx belongs to, nil if there is none.
func From(ctx context.Context) *State {
	if s, ok := ctx.(*State); ok { // most often it is the context itself
		return s
	}
	s, _ := ctx.Value(stateKey{}).(*State)
	return s
}

// Complete fills in what a RoundTripper must set in its answer to req and some do not, such as
// stand-ins in tests.
func Complete(resp *http.Response, req *http.Request) {
	if resp.Header == nil {
		resp.Header = make(http.Header)
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	if resp.Request == nil {
		resp.Request = req
	}
}

// Of returns the state of req's call. A request that has none, because a layer is used without the
// client, gets one, and with it a shallow copy of the request.
func Of(req *http.Request) (*http.Request, *State) {
	ctx := req.Context()
	if s := From(ctx); s != nil {
		return req, s
	}
	s := New(ctx, time.Now())
	s.Method = req.Method
	return req.WithContext(s), s
}

// Apart returns a copy of req under ctx with a header and an address of its own, for what may go on
// when the caller has his answer: from then on the request is his to change (http.RoundTripper).
func Apart(ctx context.Context, req *http.Request) *http.Request {
	c := req.WithContext(ctx)
	c.Header, c.Trailer = req.Header.Clone(), req.Trailer.Clone()
	if req.URL != nil {
		u := *req.URL
		c.URL = &u
	}
	return c
}

// OriginOf returns the origin of req, which for a client's calls is at hand.
func OriginOf(req *http.Request) origin.Key { return From(req.Context()).OriginOf(req.URL) }

// OriginOf returns the origin of u. The state may be nil.
func (s *State) OriginOf(u *url.URL) origin.Key {
	if s != nil && s.URL == u {
		return s.Origin
	}
	return origin.Of(u)
}

// OriginText returns the origin of req as text, which for a client's calls is at hand.
func OriginText(req *http.Request) string {
	s := From(req.Context())
	o := s.OriginOf(req.URL)
	if s != nil && s.OriginText != "" && s.Origin == o {
		return s.OriginText
	}
	return o.String()
}

func get[T any](s *State, from *T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *from
}

func set[T any](s *State, to *T, v T) {
	s.mu.Lock()
	*to = v
	s.mu.Unlock()
}

// Value makes the state findable from the contexts derived from it.
func (s *State) Value(key any) any {
	switch key.(type) {
	case stateKey, tryKey:
		return s
	}
	return s.Context.Value(key)
}

// Off tells whether the call switched a layer off.
func (s *State) Off(l Layers) bool { return s.Options.Off&l != 0 }

// SetOut returns the time at which a request of the call sets out: the beginning of the call for
// the first, the clock's for a redirect's next hop; and how many attempts the log has by then. It
// notes whether the request carries an idempotency key, so that it may be repeated whatever its
// method.
func (s *State) SetOut(keyed bool) (begin time.Time, logged int) {
	s.mu.Lock()
	first := !s.out
	s.out, s.keyed, logged = true, keyed, len(s.attempts)
	s.mu.Unlock()
	if first {
		return s.Start, logged
	}
	return s.Now(), logged
}

// Now reads the clock: its monotonic part alone, which takes half as long. The state may be nil.
func (s *State) Now() time.Time {
	if s == nil {
		return time.Now()
	}
	return s.Start.Add(time.Since(s.Start))
}

// Begin starts an attempt. Layers below read its start instead of the clock.
func (s *State) Begin(t Try) {
	s.mu.Lock()
	s.tryN, s.tryOf, s.tryStart, s.tryHedge = int32(min(t.N, math.MaxInt32)), int32(min(t.Of, math.MaxInt32)), t.Start, t.Hedge //nolint:gosec // bounded
	s.mu.Unlock()
}

// Try is one attempt while it runs. Attempts of one call that run beside each other have a record
// each.
type Try struct {
	// N is its number, of at most Of.
	N, Of int
	// Start is when it was handed down.
	Start time.Time
	// Hedge is true for an extra leg of a hedged attempt.
	Hedge bool
}

// leg is the context of an attempt that runs beside another one of its call.
type leg struct {
	context.Context
	try Try
}

func (l *leg) Value(key any) any {
	if _, ok := key.(tryKey); ok {
		return l
	}
	return l.Context.Value(key)
}

// WithTry returns a context whose attempt is t, whatever the state's own is.
func WithTry(ctx context.Context, t Try) context.Context { return &leg{ctx, t} }

// TryOf returns the attempt that ctx belongs to; ok is false when there is no call.
func TryOf(ctx context.Context) (t Try, ok bool) {
	s, ok := ctx.(*State)
	if !ok {
		switch v := ctx.Value(tryKey{}).(type) {
		case *leg:
			return v.try, true
		case *State:
			s = v
		default:
			return Try{}, false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return Try{N: int(s.tryN), Of: int(s.tryOf), Start: s.tryStart, Hedge: s.tryHedge}, true
}

// Record appends an attempt to the log.
func (s *State) Record(a Attempt) {
	s.mu.Lock()
	s.attempts = append(s.attempts, a)
	s.mu.Unlock()
}

// Attempts returns a copy of the log.
func (s *State) Attempts() []Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Attempt(nil), s.attempts...)
}

// EachAttempt calls f for the log's entries from the given one on, and returns how many they are. f
// must not call the state.
func (s *State) EachAttempt(from int, f func(*Attempt)) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := from; i < len(s.attempts); i++ {
		f(&s.attempts[i])
	}
	return len(s.attempts) - from
}

// SetStop notes why the call was not tried again.
func (s *State) SetStop(reason string) { set(s, &s.stop, reason) }

// Stop returns what SetStop noted last; empty when the last attempt succeeded.
func (s *State) Stop() string { return get(s, &s.stop) }

// AddHop notes a redirect's target.
func (s *State) AddHop(u *url.URL) {
	own := *u
	s.mu.Lock()
	r := s.rare()
	r.hops = append(r.hops, &own)
	s.mu.Unlock()
}

// Hops returns the targets of the redirects so far, unredacted and not to be modified.
func (s *State) Hops() []*url.URL {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*url.URL(nil), s.read().hops...)
}

// Keyed returns whether SetOut was told of an idempotency key.
func (s *State) Keyed() bool { return get(s, &s.keyed) }

// Cross notes that a redirect has left the first request's origin. It stays so when a later one
// leads back: that was ordered by another origin.
func (s *State) Cross() { set(s, &s.crossed, true) }

// Crossed returns what Cross noted.
func (s *State) Crossed() bool { return get(s, &s.crossed) }

// AddResent counts requests that the transport sent again by itself.
func (s *State) AddResent(n int) {
	s.mu.Lock()
	s.rare().resent += n
	s.mu.Unlock()
}

// Resent returns what AddResent counted.
func (s *State) Resent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read().resent
}

// SetCache notes what the cache did.
func (s *State) SetCache(c CacheInfo) {
	s.mu.Lock()
	s.result, s.age, s.stored = c.Result, c.Age, c.Stored
	s.mu.Unlock()
}

// Cache returns what SetCache noted last.
func (s *State) Cache() CacheInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return CacheInfo{Result: s.result, Age: s.age, Stored: s.stored}
}

// SetCollapsed notes that another call's request answered this one.
func (s *State) SetCollapsed() { set(s, &s.shared, true) }

// Collapsed returns what SetCollapsed noted.
func (s *State) Collapsed() bool { return get(s, &s.shared) }

// AddWait counts time that the call waited for a limit.
func (s *State) AddWait(d time.Duration) {
	s.mu.Lock()
	s.rare().waited += d
	s.mu.Unlock()
}

// Waited returns what AddWait counted.
func (s *State) Waited() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read().waited
}

// Adopt takes over what was done for the call under another state.
func (s *State) Adopt(of *State) {
	attempts, stop, resent, waited := of.Attempts(), of.Stop(), of.Resent(), of.Waited()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts = append(s.attempts, attempts...)
	s.stop = stop
	if resent != 0 || waited != 0 {
		r := s.rare()
		r.resent += resent
		r.waited += waited
	}
}

// Continue makes the state of background work for a call one with its settings, observers and first
// request.
func (s *State) Continue(of *State) {
	s.Observers, s.Method, s.Origin = of.Observers, of.Method, of.Origin
	id, crossed, keyed := of.RequestID(), of.Crossed(), of.Keyed()
	s.mu.Lock()
	s.rare().id, s.crossed, s.keyed = id, crossed, keyed
	s.mu.Unlock()
}

// Detach returns a context with ctx's values that does not end with it, for work that outlives its
// call. It is not in ctx's call. The call's trace hooks (net/http/httptrace) see it when traced:
// not when who made them has gone.
func Detach(ctx context.Context, traced bool) context.Context {
	return &detached{ctx, traced}
}

type detached struct {
	ctx    context.Context
	traced bool
}

func (d *detached) Deadline() (time.Time, bool) { return time.Time{}, false }
func (d *detached) Done() <-chan struct{}       { return nil }
func (d *detached) Err() error                  { return nil }

func (d *detached) Value(key any) any {
	switch key.(type) {
	case stateKey, tryKey:
		return nil
	}
	if d.traced {
		return d.ctx.Value(key)
	}
	if t := reflect.TypeOf(key); t != nil {
		if p := t.PkgPath(); p == "net/http/httptrace" || p == "internal/nettrace" {
			return nil
		}
	}
	return d.ctx.Value(key)
}

// ShareKey makes the idempotency key of a call that this one continues its own.
func (s *State) ShareKey(of *State) {
	key := of.Key("")
	s.mu.Lock()
	s.rare().key = key
	s.mu.Unlock()
}

// Enter claims the log of attempts until Leave, and forgets why an earlier request was not tried
// again; false when it is claimed. A request that is made from within an attempt, to fetch a token
// say, finds the state of the call around it, which is not its own.
func (s *State) Enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside {
		return false
	}
	s.inside, s.stop = true, ""
	return true
}

// Leave ends what Enter began.
func (s *State) Leave() { set(s, &s.inside, false) }

// RequestID returns the call's id, 32 hexadecimal digits, made when it is first asked for.
func (s *State) RequestID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rare()
	if r.id == "" {
		r.id = randomHex()
	}
	return r.id
}

// Key returns the call's idempotency key as the header field carries it: the one given in the
// options, else 128 random bits as a structured string (RFC 9651, section 3.3.3), made when first
// asked for.
func (s *State) Key(given string) string {
	if given != "" {
		return given
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rare()
	if r.key == "" {
		r.key = `"` + randomHex() + `"`
	}
	return r.key
}

func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // documented never to fail: it ends the process instead
	var d [32]byte
	hex.Encode(d[:], b[:])
	return string(d[:])
}
