package middleware

import (
	"cmp"
	"hash/maphash"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/internal/httpfield"
	"example.com/quire/web"
)

// StoreFailure tells what becomes of a request while the RateStore fails.
type StoreFailure int

const (
	// FailUnset is right for the in-memory store alone, which does not fail.
	FailUnset StoreFailure = iota
	// FailOpen lets requests pass uncounted. Danger: who can bring the store down
	// has no limit.
	FailOpen
	// FailClosed answers 503. Danger: without the store nobody is served.
	FailClosed
)

// RateLimitOptions configure RateLimit.
type RateLimitOptions struct {
	// Rate is what each key may do. It must be given.
	Rate Rate
	// Name is the policy in the header fields, and begins each key. Default: default.
	Name string
	// Keys tell who is counted, all of them together. Default: ByClient.
	Keys []RateKey
	// Store counts. Default: a MemoryRateStore of 65,536 keys for this limit alone.
	Store RateStore
	// OnStoreFailure must be chosen where Store is given.
	OnStoreFailure StoreFailure
	// Logger is told of failures under FailOpen. Default: slog.Default().
	Logger *slog.Logger
}

// RateKey tells by what requests are counted. It is made by the functions whose
// names begin with By. Where there is no user, API key or text the client's
// address counts instead, so that nobody passes by leaving it out.
type RateKey struct {
	kind string
	text func(*web.Context) string
}

// ByClient counts by Context.ClientIP, IPv6 addresses by their /64 network, which
// is what one customer has: behind a proxy that is only as true as the App's
// ClientIP policy. Clients without address, as on a Unix socket, count together.
func ByClient() RateKey { return RateKey{kind: "client"} }

// ByUser counts by Context.User: the middleware that sets it stands outside.
func ByUser() RateKey { return RateKey{"user", (*web.Context).User} }

// ByPath counts by the path of the request, whatever its method.
func ByPath() RateKey {
	return RateKey{"path", func(c *web.Context) string { return c.Request().URL.Path }}
}

// ByRoute counts by the pattern of the route, so that a parameter's values count
// together; requests that match none count by client.
func ByRoute() RateKey {
	return RateKey{"route", func(c *web.Context) string {
		if r := c.Route(); r != nil {
			return r.Info().Pattern
		}
		return ""
	}}
}

// ByAPIKey counts by the value of a header; "" is X-Api-Key. Danger: unless the
// key is verified before, as by KeyAuth standing outside, each invented key has a
// burst of its own.
func ByAPIKey(header string) RateKey {
	header = cmp.Or(header, "X-Api-Key")
	return RateKey{"key", func(c *web.Context) string { return c.Header(header) }}
}

// ByFunc counts by the text that the function returns. Danger: what clients
// choose freely limits nobody.
func ByFunc(text func(*web.Context) string) RateKey { return RateKey{"func", text} }

// RateLimit answers 429 with Retry-After to who sends more than the rate: never
// more than Burst + rate x time pass in any span of time. Each answer has the
// fields RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers):
// r is how many requests are left now, t the seconds until all of them are, q
// and w the burst and the seconds in which it is restored. It should stand inside
// AccessLog and outside whatever is expensive.
func RateLimit(o RateLimitOptions) (web.Middleware, error) {
	rate, err := o.Rate.withDefaults()
	if err != nil {
		return nil, err
	}
	o.Name = cmp.Or(o.Name, "default")
	if !httpfield.IsToken(o.Name) {
		return nil, &web.ConfigError{Field: "RateLimitOptions.Name", Got: o.Name, Want: "a token such as login"}
	}
	for _, k := range o.Keys {
		if k.kind == "" || k.kind != "client" && k.text == nil {
			return nil, &web.ConfigError{Field: "RateLimitOptions.Keys", Got: "an empty key", Want: "keys made by the functions By..."}
		}
	}
	if o.OnStoreFailure < FailUnset || o.OnStoreFailure > FailClosed || o.Store != nil && o.OnStoreFailure == FailUnset {
		return nil, &web.ConfigError{Field: "RateLimitOptions.OnStoreFailure", Got: strconv.Itoa(int(o.OnStoreFailure)), Want: "FailOpen or FailClosed"}
	}
	if o.Store == nil {
		if o.Store, err = NewMemoryRateStore(0); err != nil {
			return nil, err
		}
	}
	o.Logger = cmp.Or(o.Logger, slog.Default())
	l := &limiter{o: o, rate: rate, interval: rate.interval()}
	l.memory, _ = o.Store.(*MemoryRateStore)
	l.keys.New = func() any { return new([]byte) }
	l.policy = []string{quoted(o.Name) + ";q=" + strconv.Itoa(rate.Burst) + ";w=" + strconv.FormatInt(seconds(time.Duration(int64(rate.Burst)*l.interval)), 10)}
	l.span = l.interval/int64(time.Second) + 2
	if int64(rate.Burst) < maxLimitValues && (int64(rate.Burst)+1)*l.span <= maxLimitValues {
		l.values = make([]atomic.Pointer[[1]string], (int64(rate.Burst)+1)*l.span)
	}
	return l.wrap, nil
}

// KeyOf returns the key under which a request is counted, for RateStore.Reset, as
// after a sign-in that went well. It is the Name and, for each of Keys, a bar,
// the kind, = and the value: an address or network as it is, any other text
// quoted as by %q. The kinds are client, user, path, route, key and func:
//
//	default|client=2001:db8::/64
//	login|user="ada"|path="/sign-in"
func (o RateLimitOptions) KeyOf(c *web.Context) string {
	o.Name = cmp.Or(o.Name, "default")
	return string(o.appendKey(nil, c))
}

func (o *RateLimitOptions) appendKey(b []byte, c *web.Context) []byte {
	b = append(b, o.Name...)
	if len(o.Keys) == 0 {
		return appendClient(b, c)
	}
	for i := range o.Keys {
		k := &o.Keys[i]
		text := ""
		if k.text != nil {
			text = k.text(c)
		}
		if text == "" {
			b = appendClient(b, c)
			continue
		}
		b = append(append(append(b, '|'), k.kind...), '=')
		b = strconv.AppendQuote(b, text)
	}
	return b
}

func appendClient(b []byte, c *web.Context) []byte {
	b = append(b, "|client="...)
	addr := c.ClientIP().Unmap().WithZone("")
	if addr.Is6() {
		if network, err := addr.Prefix(64); err == nil {
			return network.AppendTo(b)
		}
	}
	return addr.AppendTo(b)
}

// maxLimitValues bounds the prepared values of a RateLimit field.
const maxLimitValues = 4096

type limiter struct {
	o        RateLimitOptions
	rate     Rate
	interval int64
	memory   *MemoryRateStore // nil for another store
	keys     sync.Pool        // of *[]byte
	policy   []string
	// values holds those of the RateLimit field that were sent before: for each
	// number of requests left, the span of seconds that can go with it.
	span   int64
	values []atomic.Pointer[[1]string]
}

func (l *limiter) wrap(next web.Handler) web.Handler {
	return func(c *web.Context) error {
		d, err := l.take(c)
		if err != nil {
			if gone := c.Context().Err(); gone != nil {
				return gone
			}
			if l.o.OnStoreFailure == FailOpen {
				l.o.Logger.LogAttrs(c.Context(), slog.LevelError, "rate limit store failed, request let pass",
					slog.String("policy", l.o.Name), slog.String("id", c.RequestID()), slog.Any("err", err))
				return next(c)
			}
			return web.NewProblem(http.StatusServiceUnavailable, "", err)
		}
		h := c.Writer().Header()
		// Limits that stand inside each other list their policies side by side.
		setOrAppend(h, "Ratelimit-Policy", l.policy)
		setOrAppend(h, "Ratelimit", l.value(d))
		if d.Allowed {
			return next(c)
		}
		p := web.NewProblem(http.StatusTooManyRequests, "too many requests", nil)
		p.Header = http.Header{"Retry-After": {strconv.FormatInt(max(1, seconds(d.RetryAfter)), 10)}}
		return p
	}
}

func (l *limiter) take(c *web.Context) (Decision, error) {
	buf := l.keys.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	key := l.o.appendKey((*buf)[:0], c)
	var d Decision
	var err error
	if l.memory != nil {
		d = l.memory.take(maphash.Bytes(l.memory.seed, key), l.interval, int64(l.rate.Burst))
	} else {
		d, err = l.o.Store.Take(c.Context(), string(key), l.rate)
	}
	if cap(key) <= 1024 { // a long API key does not stay
		*buf = key
	}
	l.keys.Put(buf)
	return d, err
}

func setOrAppend(h http.Header, name string, value []string) {
	if have := h[name]; len(have) > 0 {
		value = append(slices.Clip(have), value...)
	}
	h[name] = value
}

// value returns the RateLimit field. Length equals capacity, so that appending
// to it in a header map copies it.
func (l *limiter) value(d Decision) []string {
	t := seconds(d.Reset)
	var slot *atomic.Pointer[[1]string]
	if d.Remaining >= 0 && d.Remaining <= l.rate.Burst {
		// With r left, between burst-r-1 and burst-r intervals are to be restored.
		least := max(0, int64(l.rate.Burst-d.Remaining-1)) * l.interval / int64(time.Second)
		if i := t - least; l.values != nil && i >= 0 && i < l.span {
			slot = &l.values[int64(d.Remaining)*l.span+i]
			if v := slot.Load(); v != nil {
				return v[:]
			}
		}
	}
	v := &[1]string{quoted(l.o.Name) + ";r=" + strconv.Itoa(d.Remaining) + ";t=" + strconv.FormatInt(t, 10)}
	if slot != nil {
		slot.Store(v)
	}
	return v[:]
}

func quoted(token string) string { return `"` + token + `"` }

// seconds rounds up: who waits so long has waited long enough.
func seconds(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d-1)/time.Second) + 1
}
