package cache

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"reflect"
	"regexp"
	"strconv"
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
	// Load fetches a value that is not held. It returns ErrNotFound for a key that does not exist.
	// Reads of one key share one load. The result of a load whose key was written, deleted or
	// cleared meanwhile, or that outran LoadTimeout, serves nobody who comes later: such a loader
	// may still run when the next load of its key begins, but never more than two of a key run at a
	// time. A third waits for one of them; if both have outrun LoadTimeout it fails at once.
	//
	// ctx has the values of the context of the read that began the load but not its end: it ends
	// with Policy.LoadTimeout, or when Close runs out of patience. A loader must heed it: one that
	// does not keeps its goroutine (Stats.Abandoned). The returned value is shared by all readers:
	// nobody may change it.
	//
	// Without Load, GetOrLoad still loads. Load decides what becomes of stale values: with it Get
	// and Peek serve them as Policy says; without it Get and Peek find an entry until its soft life
	// ends and nothing afterwards, because nothing would ever replace the stale value. The entry
	// itself is held until its hard life, for a GetOrLoad that brings its own loader.
	Load func(ctx context.Context, key K) (V, error)
	// LoadEntry is Load for an origin that says more than the value: how long it lives, that it
	// must not be kept, or that the value held is still right. It takes the place of Load; setting
	// both is an error. old is the value held when the load began, stale or about to be, until its
	// hard life; nil means that none was. It must not be changed. All else that is said of Load
	// holds.
	LoadEntry func(ctx context.Context, key K, old *Entry[V]) (Loaded[V], error)
	// Remote and Bus are the second level, which several caches share under one Name; both or none.
	// A *Hub is both, as is a *cacheredis.Client. They are to be closed after the cache. With them
	// a read asks the process, the remote and then the loader, one load per key runs in all
	// processes, and a write changes the remote and ends what others hold. New waits until the link
	// is up, for Policy.LinkTimeout at most; without it the cache works and says so (Staleness).
	Remote Remote
	Bus    Bus
	// Codec turns values into bytes and back; required with Remote. What is held is always what
	// Decode returned, also for values that were set or loaded here.
	Codec Codec[V]
	// Keys turns keys into text for the remote. It is built in for keys that are strings or
	// integers, and required with Remote for others. The text has at most 1 KiB.
	Keys KeyCodec[K]
	// NodeID is the id of this cache among those that share the remote, 1 to 16777215; the upper 24
	// bits of Version.WriteID are that of the writer. 0, the default, is a random one. Two caches
	// with one id are in step all the same, and say in the log that they have it.
	NodeID uint32
	// ReadOnly makes all writes fail with ErrReadOnly. What is loaded is stored all the same.
	ReadOnly bool
	// MaxLoads bounds the loaders that run at a time; further loads wait within their LoadTimeout.
	// A loader that ignores the end of its context gives its place back at LoadTimeout. Default
	// 1024, at most 1048576.
	MaxLoads int
	// Policy has the lives and times.
	Policy Policy
	// Logger gets failed loads, panics of loaders and refused values. Values
	// are never logged; keys are, quoted and cut at 128 bytes. Nil is silence.
	Logger *slog.Logger
	// Observer is told what happens, in the goroutine where it happens, so it must not wait for
	// anything; it may be called concurrently. It holds no lock, and may use what of the cache does
	// not wait: Peek, Stats, Staleness. Notices of writes elsewhere wait until it returns.
	Observer func(Event[K])

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

	// What follows has a meaning with Options.Remote alone.

	// RemoteTimeout bounds each call of the remote. Default 100ms. It cannot be off.
	RemoteTimeout time.Duration
	// LeaseTTL is after how long another node may load a key whose loading node has died. Default
	// 3s, at least 10ms.
	LeaseTTL time.Duration
	// TombstoneTTL is how long the remote remembers that a key was deleted, so that no older load
	// is stored. Default, and least value: 15s, or LoadTimeout, LeaseTTL and RemoteTimeout together
	// if that is more.
	TombstoneTTL time.Duration
	// Mode is how other nodes learn of writes. Default Invalidate.
	Mode SyncMode
	// PushMaxBytes is the greatest encoding that Push sends. Default 64 KiB.
	PushMaxBytes int
	// PushAll holds also pushed values of keys that were not held.
	PushAll bool
	// Heartbeat is how often the link is checked, which is the usual bound of Staleness;
	// LinkTimeout is when a check has failed. Defaults 250ms and 1s.
	Heartbeat, LinkTimeout time.Duration
	// SuspectTTL is how long an entry is served after it was compared with the remote while the
	// link is down. Default 250ms.
	SuspectTTL time.Duration
	// MaxStale is how long entries are served while neither the link nor the remote can tell that
	// they are right. Default 30s, at least twice Heartbeat.
	MaxStale time.Duration
	// SelfCheck is how many hits in a second are compared with the remote at most, to tell how old
	// what is served really is (Stats.Compared). They are taken from one hit in 64. Default 10, at
	// most 100; negative is none.
	SelfCheck int
}

// WriteOptions gives one write lives of its own, and tags. Zero fields are the policy's,
// negative ones mean off; TTL cannot be off.
type WriteOptions struct {
	TTL, StaleWhileRevalidate, StaleIfError time.Duration
	// Tags are names by which InvalidateTags finds the entry: at most 16, of 1 to 128 bytes.
	Tags []string
	// Mode is how other nodes learn of this write; 0 is the policy's. Without a remote it has no
	// meaning.
	Mode SyncMode
}

// Version names one write. Counter grows with each write of one Cache or, with
// Options.Remote, of one remote and namespace, so that of two writes of a key the later has the
// greater one; Epoch is random and tells one Cache, or one history of a remote, from another;
// WriteID is random per write.
type Version struct {
	Epoch, Counter, WriteID uint64
}

const (
	defaultMaxBytes = 64 << 20
	minMaxBytes     = 8 << 10 // room for a few entries with the longest key
	maxKeyBytes     = 1 << 10
	defaultMaxLoads = 1 << 10
	maxMaxLoads     = 1 << 20
	clockTick       = 5 * time.Millisecond
)

var nameForm = regexp.MustCompile(`^[a-z0-9._-]{1,64}$`)

// checker gathers what is wrong with a configuration.
type checker struct{ errs []error }

// err joins what was found, nil for nothing.
func (c *checker) err() error { return errors.Join(c.errs...) }

func (c *checker) fail(field string, got any, want string) {
	c.errs = append(c.errs, &ConfigError{Field: field, Got: got, Want: want})
}

// require fails unless ok.
func (c *checker) require(ok bool, field string, got any, want string) {
	if !ok {
		c.fail(field, got, want)
	}
}

// life returns d or its default; off says whether a negative d means 0 or is an error.
func (c *checker) life(field string, d, def time.Duration, off bool) time.Duration {
	if d < 0 && !off {
		c.fail(field, d, "0 for the default, or a positive duration")
		return def
	}
	d = orDefault(d, def)
	c.require(d <= maxLife, field, d, "at most "+maxLife.String())
	return d
}

// withDefaults returns p with its zero fields filled and its negative ones set
// to 0, which means off in the code.
func (p Policy) withDefaults(c *checker) Policy {
	p.TTL = c.life("Policy.TTL", p.TTL, 5*time.Minute, false)
	p.StaleWhileRevalidate = c.life("Policy.StaleWhileRevalidate", p.StaleWhileRevalidate, time.Minute, true)
	p.StaleIfError = c.life("Policy.StaleIfError", p.StaleIfError, time.Hour, true)
	p.NegativeTTL = c.life("Policy.NegativeTTL", p.NegativeTTL, 5*time.Second, true)
	p.ErrorBackoffMin = c.life("Policy.ErrorBackoffMin", p.ErrorBackoffMin, 100*time.Millisecond, true)
	p.ErrorBackoffMax = c.life("Policy.ErrorBackoffMax", p.ErrorBackoffMax, max(30*time.Second, p.ErrorBackoffMin), false)
	p.LoadSoftTimeout = c.life("Policy.LoadSoftTimeout", p.LoadSoftTimeout, 250*time.Millisecond, true)
	p.LoadTimeout = c.life("Policy.LoadTimeout", p.LoadTimeout, 10*time.Second, true)
	c.require(p.ErrorBackoffMax >= p.ErrorBackoffMin, "Policy.ErrorBackoffMax", p.ErrorBackoffMax, "at least ErrorBackoffMin")
	// NaN satisfies neither comparison.
	c.require(p.Jitter <= 1, "Policy.Jitter", p.Jitter, "at most 1")
	p.Jitter = orDefault(p.Jitter, 0.1)
	c.require(p.EarlyBeta <= 1000, "Policy.EarlyBeta", p.EarlyBeta, "at most 1000")
	p.EarlyBeta = orDefault(p.EarlyBeta, 1)
	p.RemoteTimeout = c.life("Policy.RemoteTimeout", p.RemoteTimeout, 100*time.Millisecond, false)
	p.LeaseTTL = c.life("Policy.LeaseTTL", p.LeaseTTL, 3*time.Second, false)
	c.require(p.LeaseTTL >= minLease, "Policy.LeaseTTL", p.LeaseTTL, "at least "+minLease.String())
	longest := p.LoadTimeout + p.LeaseTTL + p.RemoteTimeout
	p.TombstoneTTL = c.life("Policy.TombstoneTTL", p.TombstoneTTL, max(15*time.Second, longest), false)
	c.require(p.TombstoneTTL >= longest, "Policy.TombstoneTTL", p.TombstoneTTL, "at least LoadTimeout + LeaseTTL + RemoteTimeout")
	c.require(p.Mode <= Tracked, "Policy.Mode", p.Mode, "Invalidate, Push or Tracked")
	c.require(p.PushMaxBytes >= 0, "Policy.PushMaxBytes", p.PushMaxBytes, "0 for the default, or a positive number")
	p.Mode, p.PushMaxBytes = cmp.Or(p.Mode, Invalidate), cmp.Or(p.PushMaxBytes, 64<<10)
	p.Heartbeat = c.life("Policy.Heartbeat", p.Heartbeat, 250*time.Millisecond, false)
	p.LinkTimeout = c.life("Policy.LinkTimeout", p.LinkTimeout, time.Second, false)
	p.SuspectTTL = c.life("Policy.SuspectTTL", p.SuspectTTL, 250*time.Millisecond, false)
	p.MaxStale = c.life("Policy.MaxStale", p.MaxStale, 30*time.Second, false)
	c.require(p.SelfCheck <= 100, "Policy.SelfCheck", p.SelfCheck, "at most 100")
	p.SelfCheck = cmp.Or(p.SelfCheck, 10)
	c.require(p.MaxStale >= 2*p.Heartbeat, "Policy.MaxStale", p.MaxStale, "at least twice Heartbeat")
	c.require(p.Mode != Tracked || p.MaxStale >= 3*p.Heartbeat, "Policy.MaxStale", p.MaxStale, "at least three times Heartbeat, since Mode is Tracked")
	return p
}

const minLease = 10 * time.Millisecond

// maxLife keeps sums of lives and times clear of overflow.
const maxLife = 100 * 365 * 24 * time.Hour

func orDefault[T time.Duration | float64](v, def T) T {
	return max(cmp.Or(v, def), 0)
}

// lives applies o to p. typ is the name of the type that o stands for.
func (o WriteOptions) lives(p *Policy, typ string) (lives, error) {
	var c checker
	l := lives{
		ttl: c.life(typ+".TTL", o.TTL, p.TTL, false),
		swr: c.life(typ+".StaleWhileRevalidate", o.StaleWhileRevalidate, p.StaleWhileRevalidate, true),
		sie: c.life(typ+".StaleIfError", o.StaleIfError, p.StaleIfError, true),
	}
	c.tags(typ+".Tags", o.Tags)
	c.require(o.Mode <= Push, typ+".Mode", o.Mode, "Invalidate or Push")
	return l, c.err()
}

// check returns o with its defaults, or all that is wrong with it.
func (o Options[K, V]) check() (Options[K, V], error) {
	var c checker
	c.require(o.Name == "" || nameForm.MatchString(o.Name), "Name", o.Name, "empty, or a match of "+nameForm.String())
	c.require(o.MaxBytes == 0 || o.MaxBytes >= minMaxBytes, "MaxBytes", o.MaxBytes, "0 for the default, or at least 8192")
	c.require(o.MaxEntries >= 0, "MaxEntries", o.MaxEntries, "0 for a bound in bytes, or a positive number")
	c.require(o.MaxBytes <= 0 || o.MaxEntries <= 0, "MaxEntries", o.MaxEntries, "0, since MaxBytes is set")
	c.require(o.MaxLoads >= 0 && o.MaxLoads <= maxMaxLoads, "MaxLoads", o.MaxLoads, "0 for the default, or 1 to 1048576")
	c.require(o.Load == nil || o.LoadEntry == nil, "LoadEntry", "a function", "nil, since Load is set")
	o.MaxLoads = cmp.Or(o.MaxLoads, defaultMaxLoads)
	if o.MaxBytes == 0 && o.MaxEntries == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Weigh == nil {
		o.Weigh = builtinWeigh[K, V]()
		c.require(o.Weigh != nil || o.MaxEntries > 0 || o.Codec != nil && o.Remote != nil, "Weigh", nil, "a function that returns the size of "+reflect.TypeFor[V]().String()+", or MaxEntries set instead")
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Name != "" {
		o.Logger = o.Logger.With(slog.String("cache", o.Name))
	}
	o.Policy = o.Policy.withDefaults(&c)
	if o.Remote != nil || o.Bus != nil {
		o.checkRemote(&c)
	}
	return o, c.err()
}

// checkRemote checks what a second level needs.
func (o *Options[K, V]) checkRemote(c *checker) {
	c.require(o.Remote != nil && o.Bus != nil, "Bus", o.Bus, "Remote and Bus, or neither")
	c.require(!nilPointer(o.Remote), "Remote", "a nil pointer", "a remote that was opened, or nil itself")
	c.require(!nilPointer(o.Bus), "Bus", "a nil pointer", "a bus that was opened, or nil itself")
	c.require(o.Name != "", "Name", o.Name, "a name that all nodes of this cache share")
	c.require(o.NodeID <= maxNodeID, "NodeID", o.NodeID, "0 for a random one, or 1 to 16777215")
	c.require(o.Codec != nil, "Codec", nil, "a codec, since Remote is set")
	c.require(o.Policy.LoadTimeout > 0, "Policy.LoadTimeout", o.Policy.LoadTimeout, "a timeout, since Remote is set")
	if o.Keys == nil {
		o.Keys = builtinKeys[K]()
		c.require(o.Keys != nil, "Keys", nil, "a KeyCodec for "+reflect.TypeFor[K]().String())
	}
}

// nilPointer says whether v holds a nil pointer, as of a client that is opened under a condition.
func nilPointer(v any) bool {
	p := reflect.ValueOf(v)
	return p.Kind() == reflect.Pointer && p.IsNil()
}

// basicKeys is the KeyCodec of strings and integers.
type basicKeys[K comparable] struct{}

// builtinKeys returns the codec of keys that are strings or integers; nil for others.
func builtinKeys[K comparable]() KeyCodec[K] {
	switch k := reflect.TypeFor[K]().Kind(); {
	case k == reflect.String, k >= reflect.Int && k <= reflect.Uintptr:
		return basicKeys[K]{}
	}
	return nil
}

// Format implements KeyCodec.
func (basicKeys[K]) Format(k K) string {
	if s, ok := any(k).(string); ok {
		return s
	}
	v := reflect.ValueOf(k)
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	}
	return strconv.FormatUint(v.Uint(), 10)
}

// Parse implements KeyCodec.
func (basicKeys[K]) Parse(s string) (k K, err error) {
	if k, ok := any(s).(K); ok {
		return k, nil
	}
	v := reflect.ValueOf(&k).Elem()
	switch {
	case v.Kind() == reflect.String:
		v.SetString(s)
	case v.CanInt():
		n, err := strconv.ParseInt(s, 10, v.Type().Bits())
		if err != nil {
			return k, err
		}
		v.SetInt(n)
	default:
		n, err := strconv.ParseUint(s, 10, v.Type().Bits())
		if err != nil {
			return k, err
		}
		v.SetUint(n)
	}
	return k, nil
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

// weigh returns the weight of an entry, and whether it may be held. size is what the codec says of
// v, for a cache without Weigh.
func (c *Cache[K, V]) weigh(k K, v V, size int, tags *tagSet) (uint32, bool) {
	key := c.keyBytes(k)
	if key > maxKeyBytes && c.stringKeys {
		return 0, false
	}
	w := int64(c.overhead) + int64(key) + tags.weight()
	if c.o.Weigh != nil {
		// Cut where a sum would overflow: far beyond any weight that is held.
		size = c.o.Weigh(k, v)
	}
	if size > 0 {
		w += min(int64(size), math.MaxUint32)
	}
	return uint32(w & math.MaxUint32), w <= c.maxWeight
}
