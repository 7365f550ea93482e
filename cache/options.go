package cache

import (
	"context"
	"log/slog"
	"math"
	"reflect"
	"regexp"
	"time"
	"unsafe"

	"example.com/quire/cache/internal/store"
)

// Options configures a Cache. The zero value is a cache of 64 MiB without a
// loader, for value types whose size is known (see Weigh).
type Options[K comparable, V any] struct {
	// Name tells caches apart in Stats and in the log. Empty, or it matches
	// ^[a-z0-9._-]{1,64}$.
	Name string
	// MaxBytes is the budget for keys, values and the overhead of both, in
	// bytes. Default 64 MiB, at least 8 KiB. A value heavier than a quarter of it is refused.
	MaxBytes int64
	// MaxEntries bounds the number of entries in place of MaxBytes. Setting
	// both is an error.
	MaxEntries int
	// Weigh returns the bytes of one value, without the key and the overhead
	// of an entry; a negative result counts as 0. It is built in for values
	// that are strings or byte slices, and required for others unless
	// MaxEntries is set. For keys that are not strings the cache counts their
	// size in memory alone: what they point to is for Weigh to add. It is
	// called once per value and must be safe for concurrent use.
	Weigh func(K, V) int
	// Load fetches a value that is not held. It returns ErrNotFound for a key
	// that does not exist. Reads of one key share one load, and at most 1 024
	// run at a time. A load whose key was written, deleted or cleared, or that
	// outruns LoadTimeout, serves nobody who comes later: it may still run
	// when the next load of its key begins. ctx has the values of the context of the read that
	// began the load but not its end: it ends with Policy.LoadTimeout, or
	// when Close runs out of patience. The returned value is shared by all
	// readers: nobody may change it. Without Load, GetOrLoad still loads.
	Load func(ctx context.Context, key K) (V, error)
	// Policy has the lives and times.
	Policy Policy
	// Logger gets failed loads, panics of loaders and refused values. Values
	// are never logged; keys are, quoted and cut at 128 bytes. Nil is silence.
	Logger *slog.Logger

	// clock moves the life of entries in tests.
	clock *store.Clock
}

// Policy says how long entries live and how loads are timed. A zero field has
// the default; a negative one switches the thing off where that makes sense,
// and is a *ConfigError where it does not.
//
// An entry is fresh for its soft life, TTL less jitter. After that it is stale
// and served only while a loader can replace it: for StaleWhileRevalidate at
// once, and until its hard life, which is the soft life plus the greater of
// StaleWhileRevalidate and StaleIfError, when the load fails. A read never
// prolongs a life.
type Policy struct {
	// TTL is the soft life. Default 5m. It cannot be off.
	TTL time.Duration
	// StaleWhileRevalidate is how long after its soft life an entry is still
	// served at once while one background load replaces it. Default 1m.
	StaleWhileRevalidate time.Duration
	// StaleIfError is how long after its soft life an entry is served when
	// the loader fails. Default 1h.
	StaleIfError time.Duration
	// Jitter shortens each life by a random part of up to this share of the
	// TTL, 0 to 1, so that entries written together do not end together.
	// Default 0.1.
	Jitter float64
	// EarlyBeta is the eagerness of early refresh (XFetch): greater is
	// earlier. Default 1.
	EarlyBeta float64
	// NegativeTTL is how long "does not exist" is remembered. Default 5s.
	NegativeTTL time.Duration
	// ErrorBackoffMin is how long a failed key is left alone after the first
	// failure; each further one doubles it up to ErrorBackoffMax. Defaults
	// 100ms and 30s. Off means that each read may ask the loader again.
	ErrorBackoffMin, ErrorBackoffMax time.Duration
	// LoadSoftTimeout is how long a read waits for a load when it has a stale
	// value to fall back on; the load then goes on in the background. Default
	// 250ms. Off means that it waits to the end.
	LoadSoftTimeout time.Duration
	// LoadTimeout bounds one load. At its end the loader's context ends and
	// all waiting reads are released, even if the loader does not return.
	// Default 10s. Off means no bound.
	LoadTimeout time.Duration
}

// WriteOptions gives one write lives of its own. Zero fields are the policy's,
// negative ones mean off; TTL cannot be off.
type WriteOptions struct {
	TTL, StaleWhileRevalidate, StaleIfError time.Duration
}

// Version names one write. Counter grows with each write of one Cache, so that
// of two writes of a key the later has the greater one; Epoch is random and
// tells one Cache from another; WriteID is random per write.
type Version struct {
	Epoch, Counter, WriteID uint64
}

const (
	defaultMaxBytes = 64 << 20
	minMaxBytes     = 8 << 10 // room for a few entries with the longest key
	maxKeyBytes     = 1 << 10
	maxLoads        = 1 << 10
	clockTick       = 5 * time.Millisecond
)

var nameForm = regexp.MustCompile(`^[a-z0-9._-]{1,64}$`)

// withDefaults returns p with its zero fields filled and its negative ones set
// to 0, which means off in the code.
func (p Policy) withDefaults() (Policy, error) {
	for _, f := range []struct {
		name string
		d    *time.Duration
		def  time.Duration
		must bool
	}{
		{"TTL", &p.TTL, 5 * time.Minute, true},
		{"StaleWhileRevalidate", &p.StaleWhileRevalidate, time.Minute, false},
		{"StaleIfError", &p.StaleIfError, time.Hour, false},
		{"NegativeTTL", &p.NegativeTTL, 5 * time.Second, false},
		{"ErrorBackoffMin", &p.ErrorBackoffMin, 100 * time.Millisecond, false},
		{"ErrorBackoffMax", &p.ErrorBackoffMax, max(30*time.Second, p.ErrorBackoffMin), true},
		{"LoadSoftTimeout", &p.LoadSoftTimeout, 250 * time.Millisecond, false},
		{"LoadTimeout", &p.LoadTimeout, 10 * time.Second, false},
	} {
		if *f.d < 0 && f.must {
			return p, &ConfigError{Field: "Policy." + f.name, Reason: "cannot be negative"}
		}
		*f.d = orDefault(*f.d, f.def)
		if *f.d > maxLife {
			return p, &ConfigError{Field: "Policy." + f.name, Reason: "longer than " + maxLife.String()}
		}
	}
	if p.ErrorBackoffMax < p.ErrorBackoffMin {
		return p, &ConfigError{Field: "Policy.ErrorBackoffMax", Reason: "less than ErrorBackoffMin"}
	}
	// Written so that NaN is refused too.
	if !(p.Jitter <= 1) {
		return p, &ConfigError{Field: "Policy.Jitter", Reason: "must be at most 1"}
	}
	p.Jitter = orDefault(p.Jitter, 0.1)
	if !(p.EarlyBeta <= 1000) {
		return p, &ConfigError{Field: "Policy.EarlyBeta", Reason: "must be at most 1000"}
	}
	p.EarlyBeta = orDefault(p.EarlyBeta, 1)
	return p, nil
}

// maxLife keeps sums of lives and times clear of overflow.
const maxLife = 100 * 365 * 24 * time.Hour

func orDefault[T time.Duration | float64](v, def T) T {
	if v == 0 {
		return def
	}
	return max(v, 0)
}

// lives applies o to p.
func (o WriteOptions) lives(p *Policy) (lives, error) {
	if o.TTL < 0 {
		return lives{}, &ConfigError{Field: "WriteOptions.TTL", Reason: "cannot be negative"}
	}
	l := lives{
		ttl: orDefault(o.TTL, p.TTL),
		swr: orDefault(o.StaleWhileRevalidate, p.StaleWhileRevalidate),
		sie: orDefault(o.StaleIfError, p.StaleIfError),
	}
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"TTL", l.ttl}, {"StaleWhileRevalidate", l.swr}, {"StaleIfError", l.sie}} {
		if f.d > maxLife {
			return lives{}, &ConfigError{Field: "WriteOptions." + f.name, Reason: "longer than " + maxLife.String()}
		}
	}
	return l, nil
}

// check returns o with its defaults, or the first field that is wrong.
func (o Options[K, V]) check() (Options[K, V], error) {
	switch {
	case o.Name != "" && !nameForm.MatchString(o.Name):
		return o, &ConfigError{Field: "Name", Reason: "must match " + nameForm.String()}
	case o.MaxBytes < 0 || o.MaxBytes > 0 && o.MaxBytes < minMaxBytes:
		return o, &ConfigError{Field: "MaxBytes", Reason: "must be at least 8 KiB"}
	case o.MaxEntries < 0:
		return o, &ConfigError{Field: "MaxEntries", Reason: "cannot be negative"}
	case o.MaxBytes > 0 && o.MaxEntries > 0:
		return o, &ConfigError{Field: "MaxEntries", Reason: "set together with MaxBytes"}
	}
	if o.MaxBytes == 0 && o.MaxEntries == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Weigh == nil {
		o.Weigh = builtinWeigh[K, V]()
	}
	if o.Weigh == nil && o.MaxEntries == 0 {
		return o, &ConfigError{Field: "Weigh", Reason: "required for " + reflect.TypeFor[V]().String() + " unless MaxEntries is set"}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Name != "" {
		o.Logger = o.Logger.With(slog.String("cache", o.Name))
	}
	var err error
	o.Policy, err = o.Policy.withDefaults()
	return o, err
}

// builtinWeigh measures strings by their length and byte slices by their
// capacity, named types included; it is nil for others.
func builtinWeigh[K comparable, V any]() func(K, V) int {
	switch t := reflect.TypeFor[V](); {
	case t.Kind() == reflect.String:
		return func(_ K, v V) int {
			if s, ok := any(v).(string); ok {
				return len(s)
			}
			return reflect.ValueOf(v).Len()
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return func(_ K, v V) int {
			if b, ok := any(v).([]byte); ok {
				return cap(b)
			}
			return reflect.ValueOf(v).Cap()
		}
	}
	return nil
}

// keyWeigh measures keys: the text of strings, the plain size of others.
func keyWeigh[K comparable]() func(K) int {
	var zero K
	size := int(unsafe.Sizeof(zero))
	if reflect.TypeFor[K]().Kind() != reflect.String {
		return func(K) int { return size }
	}
	return func(k K) int {
		if s, ok := any(k).(string); ok {
			return len(s)
		}
		return reflect.ValueOf(k).Len()
	}
}

// weigh returns the weight of an entry, and whether it may be held.
func (c *Cache[K, V]) weigh(k K, v V) (uint32, bool) {
	key := c.keyBytes(k)
	if key > maxKeyBytes && c.stringKeys {
		return 0, false
	}
	w := int64(c.overhead) + int64(key)
	if c.o.Weigh != nil {
		// Cut where a sum would overflow: far beyond any weight that is held.
		w += min(int64(max(c.o.Weigh(k, v), 0)), math.MaxUint32)
	}
	return uint32(w & math.MaxUint32), w <= c.maxWeight
}
