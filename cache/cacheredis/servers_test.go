//go:build unix

package cacheredis_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"math"
	"math/big"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
	"example.com/quire/cache/codec"
)

// nodeOf is a cache whose client has that configuration.
func nodeOf(t *testing.T, c cacheredis.Config, o cache.Options[string, []byte]) *text {
	t.Helper()
	client := open(t, c)
	o.Name, o.Remote, o.Bus, o.Codec = "posts", client, client, codec.Raw{}
	o.Policy.RemoteTimeout, o.Policy.Heartbeat = 10*time.Second, 20*time.Millisecond
	n, err := cache.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return n
}

// eventually waits for what only time brings.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// TestReplicaThatLagsIsPromoted by hand, without the last writes, which are lost with the primary.
// No node goes on with them, what is written then is read by all, and no version is given out
// again.
func TestReplicaThatLagsIsPromoted(t *testing.T) {
	for _, kind := range cachetest.RedisKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			primary, replica := cachetest.StartRedis(t, kind), cachetest.StartRedis(t, kind)
			_, port, err := net.SplitHostPort(primary.Addr)
			do(t, err)
			command(t, replica.Addr, "REPLICAOF", "127.0.0.1", port)
			var at atomic.Pointer[string]
			at.Store(&primary.Addr)
			c := cacheredis.Config{Addr: "redis.invalid:1", Dial: func(ctx context.Context, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", *at.Load())
			}}
			o := cache.Options[string, []byte]{Policy: cache.Policy{LinkTimeout: 10 * time.Second}}
			a, b := nodeOf(t, c, o), nodeOf(t, c, o)
			do(t, a.Set(t.Context(), "k", []byte("kept")))
			copied := open(t, cacheredis.Config{Addr: replica.Addr})
			eventually(t, "the replica has the value", func() bool {
				got, err := copied.Fetch(t.Context(), "posts", []string{"k"}, false)
				return err == nil && string(got[0].Payload) == "kept"
			})
			command(t, replica.Addr, "REPLICAOF", "NO", "ONE")
			var lost cache.Version
			for _, v := range []string{"lost 1", "lost 2", "lost 3"} {
				do(t, a.Set(t.Context(), "only "+v, []byte(v)))
				lost, err = a.SetWith(t.Context(), "k", []byte(v), cache.WriteOptions{})
				do(t, err)
			}
			becomes(t, b, "k", "lost 3")
			becomes(t, b, "only lost 1", "lost 1")
			at.Store(&replica.Addr)
			primary.Kill()
			for _, n := range []*text{a, b} {
				becomes(t, n, "k", "kept")
				becomes(t, n, "only lost 1", "")
				eventually(t, "a proof", func() bool { return n.Stats().LinkBreaks > 0 && n.Staleness() < 10*time.Second })
			}
			var written cache.Version
			eventually(t, "a write is taken", func() bool {
				written, err = b.SetWith(t.Context(), "k", []byte("new"), cache.WriteOptions{})
				return err == nil
			})
			if written.Epoch == lost.Epoch && written.Counter <= lost.Counter {
				t.Errorf("%v after %v", written, lost)
			}
			for _, n := range []*text{a, b} {
				becomes(t, n, "k", "new")
				eventually(t, "a proof", func() bool { return n.Staleness() < 10*time.Second })
			}
		})
	}
}

// TestSentinelPromotesAReplica: the caches find the primary by Sentinel, and the next one when it
// is lost.
func TestSentinelPromotesAReplica(t *testing.T) {
	for _, kind := range cachetest.RedisKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			primary, replica := cachetest.StartRedis(t, kind), cachetest.StartRedis(t, kind)
			_, port, _ := net.SplitHostPort(primary.Addr)
			command(t, replica.Addr, "REPLICAOF", "127.0.0.1", port)
			sentinel := cachetest.StartSentinel(t, kind, "main", primary.Addr)
			c := cacheredis.Config{Addr: "127.0.0.1:1," + sentinel.Addr, SentinelMaster: "main", DialTimeout: 5 * time.Second}
			o := cache.Options[string, []byte]{Policy: cache.Policy{LinkTimeout: 10 * time.Second}}
			a, b := nodeOf(t, c, o), nodeOf(t, c, o)
			eventually(t, "a write is taken", func() bool { return a.Set(t.Context(), "k", []byte("kept")) == nil })
			becomes(t, b, "k", "kept")
			copied := open(t, cacheredis.Config{Addr: replica.Addr})
			eventually(t, "the replica has the value", func() bool {
				got, err := copied.Fetch(t.Context(), "posts", []string{"k"}, false)
				return err == nil && string(got[0].Payload) == "kept"
			})
			eventually(t, "Sentinel lists the replica", func() bool { return replicas(t, sentinel.Addr) == 1 })
			primary.Kill()
			for _, n := range []*text{a, b} {
				eventually(t, "the link is down", func() bool { return n.Stats().LinkBreaks > 0 })
			}
			eventually(t, "a write is taken", func() bool { return b.Set(t.Context(), "k", []byte("new")) == nil })
			for _, n := range []*text{a, b} {
				becomes(t, n, "k", "new")
				eventually(t, "a proof", func() bool { return n.Staleness() < 10*time.Second })
			}
		})
	}
}

// replicas is how many replicas of main a Sentinel can reach.
func replicas(t *testing.T, sentinel string) (n int) {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{sentinel}, ForceSingleClient: true, DisableCache: true})
	do(t, err)
	defer c.Close()
	all, err := c.Do(t.Context(), c.B().Arbitrary("SENTINEL", "REPLICAS", "main").Build()).ToArray()
	do(t, err)
	for _, one := range all {
		of, err := one.AsStrMap()
		do(t, err)
		if of["flags"] == "slave" && of["master-link-status"] == "ok" {
			n++
		}
	}
	return n
}

// TestCacheStartsWithoutItsServer: it serves from the loader, says that it proves nothing, and is
// in step once the server is there.
func TestCacheStartsWithoutItsServer(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	server.Kill()
	o := cache.Options[string, []byte]{
		Policy: cache.Policy{LinkTimeout: 100 * time.Millisecond},
		Load:   func(_ context.Context, k string) ([]byte, error) { return []byte("origin of " + k), nil },
	}
	a := nodeOf(t, cacheredis.Config{Addr: server.Addr}, o)
	for range 3 {
		becomes(t, a, "k", "origin of k")
	}
	if d := a.Staleness(); d != math.MaxInt64 {
		t.Errorf("bound %v without a server", d)
	}
	if err := a.Set(t.Context(), "k", []byte("v")); !errors.Is(err, cache.ErrUnavailable) {
		t.Errorf("set: %v", err)
	}
	server.Restart(t)
	b := nodeOf(t, cacheredis.Config{Addr: server.Addr}, o)
	eventually(t, "a write is taken", func() bool { return a.Set(t.Context(), "k", []byte("v")) == nil })
	becomes(t, b, "k", "v")
	becomes(t, a, "k", "v")
	eventually(t, "a proof", func() bool { return a.Staleness() < time.Minute })
}

// TestUserNeedsTheCommandsOfTheDocumentation and no others, for these keys and channels alone.
func TestUserNeedsTheCommandsOfTheDocumentation(t *testing.T) {
	for _, kind := range cachetest.RedisKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := cachetest.StartRedis(t, kind)
			words := []string{"ACL", "SETUSER", "quire", "on", ">secret", "resetchannels", "~q1:*", "&q1:b:*"}
			for c := range strings.FieldsSeq(`eval evalsha get getrange mget set del hget hmget hset hincrby pexpire pttl publish
				subscribe unsubscribe info time role ping client hello auth select scan unlink`) {
				words = append(words, "+"+c)
			}
			command(t, server.Addr, words...)
			command(t, server.Addr, "ACL", "SETUSER", "default", "off")
			client := open(t, cacheredis.Config{Addr: server.Addr, Username: "quire", Password: "secret"})
			cachetest.RunRemote(t, func(*testing.T) cachetest.Shared { return client })
		})
	}
}

func TestServerThatEvictsAnyKeyIsWarnedOf(t *testing.T) {
	for policy, want := range map[string]bool{"allkeys-lru": true, "volatile-lfu": false} {
		server := cachetest.StartRedis(t, "redis", "--maxmemory-policy", policy)
		log := &lockedBuffer{}
		client := open(t, cacheredis.Config{Addr: server.Addr, Logger: slog.New(slog.NewTextHandler(log, nil))})
		cachetest.Link(t, client, "n")
		cachetest.Link(t, client, "n2")
		if got := strings.Count(log.String(), "maxmemory_policy="+policy) == 1; got != want {
			t.Errorf("%s: log %q", policy, log)
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestConfigFromTheEnvironment(t *testing.T) {
	server := cachetest.StartRedis(t, "redis", "--requirepass", "secret")
	for name, v := range map[string]string{"ADDR": server.Addr, "USERNAME": "default", "PASSWORD": "secret", "DB": "3"} {
		t.Setenv("CACHE_"+name, v)
	}
	c, err := cacheredis.FromEnv("CACHE")
	do(t, err)
	if c.DB != 3 || c.TLS != nil {
		t.Errorf("%+v", c)
	}
	cachetest.Link(t, open(t, c), "n")
	t.Setenv("CACHE_TLS", "true")
	t.Setenv("CACHE_SENTINEL_MASTER", "main")
	t.Setenv("CACHE_CLUSTER", "1")
	if c, err := cacheredis.FromEnv("CACHE"); err != nil || c.TLS == nil || c.SentinelMaster != "main" || !c.Cluster {
		t.Errorf("%+v, %v", c, err)
	}
	for name, v := range map[string]string{"CACHE_TLS": "maybe", "CACHE_DB": "-1", "CACHE_CLUSTER": "yes"} {
		t.Setenv(name, v)
		_, err := cacheredis.FromEnv("CACHE")
		if wrong, ok := errors.AsType[*cache.ConfigError](err); !ok || wrong.Field != name {
			t.Errorf("%s=%s: %v", name, v, err)
		}
		t.Setenv(name, "")
	}
}

// TestConnectionsAreEncrypted, and end where the server is not the one of the certificate.
func TestConnectionsAreEncrypted(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	do(t, err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	do(t, err)
	root, err := x509.ParseCertificate(der)
	do(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(root)
	addr := terminate(t, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, server.Addr)

	client := open(t, cacheredis.Config{Addr: addr, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}})
	cachetest.Link(t, client, "n")
	if _, err := client.Store(t.Context(), "n", cache.StoreRequest{Key: "k", Record: cachetest.Value("v", 1)}); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]cacheredis.Config{
		"unknown authority": {Addr: addr, TLS: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}},
		"another name":      {Addr: addr, TLS: &tls.Config{RootCAs: pool, ServerName: "redis.example", MinVersion: tls.VersionTLS13}},
		"without TLS":       {Addr: addr},
	} {
		if got, err := open(t, c).Fetch(t.Context(), "n", []string{"k"}, false); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// terminate takes TLS off connections to addr until the test ends.
func terminate(t *testing.T, cert tls.Certificate, addr string) string {
	t.Helper()
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13})
	do(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", addr) //nolint:noctx // loopback
			if err != nil {
				_ = near.Close() // nothing to lose
				continue
			}
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				all.Go(func() {
					_, _ = io.Copy(way[0], way[1]) // until one of them ends
					_ = near.Close()
					_ = far.Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		if err := ln.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	})
	return ln.Addr().String()
}

// TestEveryKeyButTwoEnds, whatever caches do: the meta hash and the counter of Clear stay.
func TestEveryKeyButTwoEnds(t *testing.T) {
	for _, kind := range cachetest.RedisKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := cachetest.StartRedis(t, kind)
			origin := errors.New("the origin is down")
			loading, release := make(chan struct{}), make(chan struct{})
			n := nodeOf(t, cacheredis.Config{Addr: server.Addr}, cache.Options[string, []byte]{
				Policy: cache.Policy{LoadTimeout: time.Minute, LeaseTTL: time.Minute},
				LoadEntry: func(_ context.Context, k string, _ *cache.Entry[[]byte]) (cache.Loaded[[]byte], error) {
					switch k {
					case "absent":
						return cache.Loaded[[]byte]{}, cache.ErrNotFound
					case "failed":
						return cache.Loaded[[]byte]{}, origin
					case "loading":
						close(loading)
						<-release
					}
					return cache.Loaded[[]byte]{Value: []byte(k), Tags: []string{"of loads"}}, nil
				},
			})
			var wg sync.WaitGroup
			wg.Go(func() { becomes(t, n, "loading", "loading") })
			<-loading // its lease is held
			for _, k := range []string{"set", "deleted"} {
				do(t, n.Set(t.Context(), k, []byte("v")))
			}
			_, err := n.SetWith(t.Context(), "tagged", []byte("v"), cache.WriteOptions{Tags: []string{"a", "b"}})
			do(t, err)
			do(t, n.Delete(t.Context(), "deleted"))
			do(t, n.InvalidateTags(t.Context(), "b", "of nothing"))
			becomes(t, n, "loaded", "loaded")
			becomes(t, n, "absent", "")
			if _, err := n.Get(t.Context(), "failed"); !errors.Is(err, origin) {
				t.Error(err)
			}
			_, err = n.GetMany(t.Context(), []string{"m1", "m2"}, func(context.Context, []string) (map[string][]byte, error) {
				return map[string][]byte{"m1": nil}, nil
			})
			do(t, err)
			ends := 0
			for key, life := range lives(t, server.Addr) {
				switch forever := key == "q1:m:{posts/00}" || key == "q1:t:{posts/00}:"; {
				case forever != (life == -1): // -2 is one that has ended since
					t.Errorf("%s has a life of %d ms", key, life)
				case !forever:
					ends++
				}
			}
			if ends < 8 {
				t.Errorf("%d keys that end", ends)
			}
			close(release)
			wg.Wait()
			do(t, n.Clear(t.Context()))
		})
	}
}

// lives has what each key of a server has left, in milliseconds, -1 for no end, -2 for one that has
// ended.
func lives(t *testing.T, addr string) map[string]int64 {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true})
	do(t, err)
	defer c.Close()
	keys, err := c.Do(t.Context(), c.B().Keys().Pattern("*").Build()).AsStrSlice()
	do(t, err)
	all := make(map[string]int64)
	for _, k := range keys {
		all[k], err = c.Do(t.Context(), c.B().Pttl().Key(k).Build()).AsInt64()
		do(t, err)
	}
	return all
}
