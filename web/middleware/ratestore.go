package middleware

import (
	"cmp"
	"context"
	"hash/maphash"
	"math"
	"strconv"
	"sync"
	"time"

	"example.com/quire/web"
)

// Rate is what a key may do: Requests per Per on average, and up to Burst at once.
type Rate struct {
	Requests int
	Per      time.Duration
	// Burst is how many requests may come together after a pause. 0 is Requests.
	Burst int
}

// withDefaults fills in Burst and refuses rates that cannot be counted.
func (r Rate) withDefaults() (Rate, error) {
	r.Burst = cmp.Or(r.Burst, r.Requests)
	if r.Requests < 1 || r.Per < 1 || r.Burst < 1 || int64(r.Requests) > int64(r.Per) || int64(r.Burst) > math.MaxInt64/4/r.interval() {
		return r, &web.ConfigError{
			Field: "Rate", Got: strconv.Itoa(r.Requests) + " per " + r.Per.String() + ", burst " + strconv.Itoa(r.Burst),
			Want: "positive numbers, at most one request per nanosecond and a burst that is restored within 70 years",
		}
	}
	return r, nil
}

// interval is the time between two requests in nanoseconds, rounded up: what is
// rounded never admits more than the rate says.
func (r Rate) interval() int64 {
	return (int64(r.Per)-1)/int64(r.Requests) + 1
}

// Emission returns what a RateStore counts by: the time between two requests, rounded up to
// nanoseconds, and how many may come together. The error is that of a Rate that makes no sense.
func (r Rate) Emission() (interval time.Duration, burst int, err error) {
	r, err = r.withDefaults()
	if err != nil {
		return 0, 0, err
	}
	return time.Duration(r.interval()), r.Burst, nil
}

// Decision is the answer of a RateStore.
type Decision struct {
	Allowed bool
	// Remaining is how many more requests would be allowed at this moment.
	Remaining int
	// RetryAfter is the time until the next request is allowed, 0 when this one is.
	RetryAfter time.Duration
	// Reset is the time until the whole burst is allowed again.
	Reset time.Duration
}

// RateStore counts requests by key. It is used by many goroutines at once, and
// must judge and count in one step: two requests never take the same place.
type RateStore interface {
	// Take counts one request if the rate allows it. What is not allowed is not
	// counted. An error means that the store cannot tell.
	Take(ctx context.Context, key string, r Rate) (Decision, error)
	// Reset forgets the key: its whole burst is allowed again.
	Reset(ctx context.Context, key string) error
}

// MemoryRateStore is the RateStore of one process. Each key costs one integer,
// the time at which its burst is whole again (GCRA, the generic cell rate
// algorithm of ATM Forum TM 4.0, 4.4.2), found by a hash of the key with a secret
// seed. The number of keys is bounded. Only a key whose burst is whole gives up
// its place, which changes nothing for it. While every place is in use, further
// keys are counted together, so that a flood of new keys never lifts a limit;
// they then have one rate among them. For that reason a store should serve one
// rate.
type MemoryRateStore struct {
	seed   maphash.Seed
	start  time.Time // times are counted from here, by the monotonic clock
	shards []rateShard
}

type rateShard struct {
	mu    sync.Mutex
	max   int
	whole map[uint64]int64 // by hash: when the burst is whole again, in ns
	rest  int64            // the same, for all the keys that found no place
	// A sweep finds nothing before earliest, and comes once in sweepPause at most.
	earliest, swept int64
	_               [64]byte // keeps the locks of two shards on two cache lines
}

const (
	defaultRateKeys = 65536
	rateShards      = 64
	sweepPause      = int64(10 * time.Millisecond) // bounds the work that a flood of new keys makes
)

// NewMemoryRateStore makes a store for at most maxKeys keys; 0 is 65,536.
func NewMemoryRateStore(maxKeys int) (*MemoryRateStore, error) {
	if maxKeys < 0 {
		return nil, &web.ConfigError{Field: "NewMemoryRateStore", Got: strconv.Itoa(maxKeys), Want: "a number of keys"}
	}
	maxKeys = cmp.Or(maxKeys, defaultRateKeys)
	n := 1
	if maxKeys >= rateShards*64 { // fewer would be spread too unevenly
		n = rateShards
	}
	s := &MemoryRateStore{seed: maphash.MakeSeed(), start: time.Now(), shards: make([]rateShard, n)}
	for i := range s.shards {
		s.shards[i].max, s.shards[i].whole, s.shards[i].earliest = maxKeys/n, make(map[uint64]int64), math.MaxInt64
	}
	return s, nil
}

// Take implements RateStore. It fails for a Rate that makes no sense only.
func (s *MemoryRateStore) Take(_ context.Context, key string, r Rate) (Decision, error) {
	interval, burst, err := r.Emission()
	if err != nil {
		return Decision{}, err
	}
	return s.take(maphash.String(s.seed, key), int64(interval), int64(burst)), nil
}

// Reset implements RateStore. A key that found no place of its own keeps what it
// shares with others.
func (s *MemoryRateStore) Reset(_ context.Context, key string) error {
	hash := maphash.String(s.seed, key)
	sh := s.shard(hash)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	delete(sh.whole, hash)
	return nil
}

// Len returns how many keys have a place at the moment.
func (s *MemoryRateStore) Len() int {
	n := 0
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		n += len(sh.whole)
		sh.mu.Unlock()
	}
	return n
}

func (s *MemoryRateStore) shard(hash uint64) *rateShard {
	return &s.shards[hash>>32%uint64(len(s.shards))]
}

func (s *MemoryRateStore) take(hash uint64, interval, burst int64) Decision {
	sh := s.shard(hash)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now := int64(time.Since(s.start)) // under the lock: times of a key never go back
	whole, known := sh.whole[hash]
	if !known {
		// The key may have been counted with the rest: it goes on from there.
		whole = sh.rest
	}
	d, next := gcra(whole, now, interval, burst)
	switch {
	case !d.Allowed:
	case known || sh.place(now):
		sh.whole[hash] = next
		sh.earliest = min(sh.earliest, next)
	default:
		sh.rest = next
	}
	return d
}

// place tells whether one more key fits. A full shard is swept of the keys whose
// burst is whole.
func (sh *rateShard) place(now int64) bool {
	if len(sh.whole) < sh.max {
		return true
	}
	if now < sh.earliest || now-sh.swept < sweepPause {
		return false
	}
	sh.earliest, sh.swept = math.MaxInt64, now
	for k, whole := range sh.whole {
		if whole <= now {
			delete(sh.whole, k)
		} else {
			sh.earliest = min(sh.earliest, whole)
		}
	}
	return len(sh.whole) < sh.max
}

// gcra judges a request at now, for a key whose burst is whole at the time
// given, and returns when it is whole after the request.
func gcra(whole, now, interval, burst int64) (Decision, int64) {
	next := max(whole, now) + interval
	limit := now + burst*interval
	if next > limit {
		return Decision{RetryAfter: time.Duration(next - limit), Reset: time.Duration(whole - now)}, whole
	}
	return Decision{Allowed: true, Remaining: int((limit - next) / interval), Reset: time.Duration(next - now)}, next
}
