// Package webredis keeps the counts of a rate limit in Redis, so that several servers share one
// limit. One script inside Redis checks and counts a request, by the clock of Redis, so the clocks
// of the servers do not matter.
//
//	store, err := webredis.New(webredis.Options{Addresses: []string{"127.0.0.1:6379"}})
//	if err != nil {
//		return err
//	}
//	limit, err := middleware.RateLimit(middleware.RateLimitOptions{
//		Rate:           middleware.Rate{Requests: 100, Per: time.Minute},
//		Store:          store,
//		OnStoreFailure: middleware.FailOpen,
//	})
//
// Redis 6.2 or later and Valkey are fit. A key is kept until its burst is whole again, so idle
// keys cost nothing. Danger: a Redis that evicts keys when its memory is full (maxmemory-policy
// other than noeviction) forgets counts.
package webredis

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
)

// Options configure New.
type Options struct {
	// Addresses are host:port of one server, or of some nodes of a cluster; a path such as
	// /run/redis.sock is a Unix socket. At least one must be given.
	Addresses []string
	// User and Password sign in. Default: not at all. Danger: without TLS the password, and all
	// that is counted, can be read and changed on the way.
	User, Password string
	// TLS is for rediss. Default: none.
	TLS *tls.Config
	// DB is the number of the database. A cluster has 0 alone.
	DB int
	// Prefix begins each key in Redis. Servers that limit together have the same. Default: rate:
	Prefix string
	// Timeout is how long one request may wait for Redis before the store has failed. Default:
	// 500 ms.
	Timeout time.Duration
}

// Store is a middleware.RateStore in Redis. It is safe for concurrent use.
type Store struct {
	client  rueidis.Client
	script  *rueidis.Lua
	prefix  string
	timeout time.Duration
}

var _ middleware.RateStore = (*Store)(nil)

// take is the generic cell rate algorithm on one key, which holds the time at which its burst is
// whole again, in microseconds since 1970: a double counts them exactly until the year 2255. A
// clock that was set back costs a key its burst at most. The answer is: allowed, remaining, and
// the microseconds until the next request and until the whole burst.
const take = `local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local limit = now + burst * interval
local whole = math.min(math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now), limit)
local next = whole + interval
if next > limit then return {0, 0, next - limit, whole - now} end
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', string.format('%.0f', math.ceil((next - now) / 1000)))
return {1, math.floor((limit - next) / interval), 0, next - now}`

// New connects. Whether requests pass while Redis is away later is the choice of
// middleware.RateLimitOptions; a Redis that is away now is New's error.
func New(o Options) (*Store, error) {
	if len(o.Addresses) == 0 {
		return nil, &web.ConfigError{Field: "Options.Addresses", Got: "none", Want: "at least one host:port or path of a socket"}
	}
	if o.Timeout < 0 {
		return nil, &web.ConfigError{Field: "Options.Timeout", Got: o.Timeout, Want: "a time above 0"}
	}
	o.Timeout = cmp.Or(o.Timeout, 500*time.Millisecond)
	o.Prefix = cmp.Or(o.Prefix, "rate:")
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: o.Addresses, Username: o.User, Password: o.Password, TLSConfig: o.TLS, SelectDB: o.DB,
		DisableCache: true, ForceSingleClient: len(o.Addresses) == 1 && strings.HasPrefix(o.Addresses[0], "/"),
		DialCtxFn: dial, Dialer: net.Dialer{Timeout: 5 * time.Second},
	})
	if err != nil {
		return nil, fmt.Errorf("webredis: connect to %s: %w", strings.Join(o.Addresses, ", "), err)
	}
	return &Store{client, rueidis.NewLuaScript(take), o.Prefix, o.Timeout}, nil
}

func dial(ctx context.Context, address string, d *net.Dialer, conf *tls.Config) (net.Conn, error) {
	network := "tcp"
	if strings.HasPrefix(address, "/") {
		network = "unix"
	}
	if conf != nil {
		return (&tls.Dialer{NetDialer: d, Config: conf}).DialContext(ctx, network, address)
	}
	return d.DialContext(ctx, network, address)
}

// Take implements middleware.RateStore. The rate is counted in whole microseconds, rounded up, so
// at most 1,000,000 requests a second pass.
func (s *Store) Take(ctx context.Context, key string, r middleware.Rate) (middleware.Decision, error) {
	interval, burst, err := r.Emission()
	if err != nil {
		return middleware.Decision{}, err
	}
	micros := int64((interval-1)/time.Microsecond) + 1
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	answer, err := s.script.Exec(ctx, s.client, []string{s.key(key)}, []string{strconv.FormatInt(micros, 10), strconv.Itoa(burst)}).AsIntSlice()
	if err == nil && len(answer) != 4 {
		err = errors.New("the answer of the script is not four numbers")
	}
	if err != nil {
		return middleware.Decision{}, fmt.Errorf("webredis: take: %w", err)
	}
	return middleware.Decision{
		Allowed: answer[0] == 1, Remaining: int(answer[1]),
		RetryAfter: time.Duration(answer[2]) * time.Microsecond, Reset: time.Duration(answer[3]) * time.Microsecond,
	}, nil
}

// Reset implements middleware.RateStore.
func (s *Store) Reset(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.client.Do(ctx, s.client.B().Del().Key(s.key(key)).Build()).Error(); err != nil {
		return fmt.Errorf("webredis: reset: %w", err)
	}
	return nil
}

// key is of one length, and tells nobody who looks into Redis an API key.
func (s *Store) key(key string) string {
	sum := sha256.Sum256([]byte(key))
	return s.prefix + base64.RawURLEncoding.EncodeToString(sum[:])
}

// Close gives the connections back. Requests that wait for Redis fail.
func (s *Store) Close() error {
	s.client.Close()
	return nil
}
