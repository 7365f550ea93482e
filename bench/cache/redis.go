package cache

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"example.com/quire/bench/harness"
	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/codec"
)

// startRedis runs a server for one contestant.
func startRedis(ctx context.Context, env harness.Env) (addr string, end func() error, err error) {
	bin := filepath.Join(env.Root, ".tools", "redis", "bin", "redis-server")
	if _, err := os.Stat(bin); err != nil {
		if bin, err = exec.LookPath("redis-server"); err != nil {
			return "", nil, errors.New("redis-server is missing: run ./tools/install-judges")
		}
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	addr = ln.Addr().String()
	_, port, _ := net.SplitHostPort(addr) // of a listener
	if err := ln.Close(); err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), bin, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", env.Dir) //nolint:gosec // a tool of ours
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // it is killed
	}()
	end = func() error {
		_ = cmd.Process.Kill() // it may have ended
		<-done
		return nil
	}
	for limit := time.Now().Add(20 * time.Second); ; {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return addr, end, c.Close()
		}
		if time.Now().After(limit) {
			return "", nil, errors.Join(err, end())
		}
		select {
		case <-done:
			return "", nil, errors.New("redis-server has ended")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

const (
	rueidisModule = "github.com/redis/rueidis"
	goredisModule = "github.com/redis/go-redis/v9"
)

// onRedis is a contestant that begins with a server.
func onRedis(name, module string, own bool, open func(ctx context.Context, addr string) (*subject, error)) contestant {
	return contestant{name: name, module: module, own: own, open: func(ctx context.Context, env harness.Env) (*subject, error) {
		addr, stop, err := startRedis(ctx, env)
		if err != nil {
			return nil, err
		}
		s, err := open(ctx, addr)
		if err != nil {
			return nil, errors.Join(err, stop())
		}
		end := s.end
		s.end = func() error { return errors.Join(end(), stop()) }
		return s, nil
	}}
}

// attach makes a cache over Redis.
func attach[V any](ctx context.Context, addr string, o cache.Options[string, V]) (*cache.Cache[string, V], func() error, error) {
	client, err := cacheredis.Open(cacheredis.Config{Addr: addr})
	if err != nil {
		return nil, nil, err
	}
	o.Name, o.Remote, o.Bus = "bench", client, client
	o.Policy.RemoteTimeout = 5 * time.Second
	c, err := newQuire(thousand, o)
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	return c, func() error {
		err := c.Close(context.WithoutCancel(ctx))
		client.Close()
		return err
	}, nil
}

// textCodec keeps a string as its bytes.
type textCodec struct{}

func (textCodec) ID() byte                                     { return 32 }
func (textCodec) Append(dst []byte, v string) ([]byte, error)  { return append(dst, v...), nil }
func (textCodec) Decode(src []byte) (v string, n int, e error) { return string(src), len(src), nil }

// attached is a cache with Redis behind it, whose keys the process holds.
func attached() contestant {
	return onRedis("quire", "", true, func(ctx context.Context, addr string) (*subject, error) {
		c, end, err := attach(ctx, addr, cache.Options[string, string]{Codec: textCodec{}})
		if err != nil {
			return nil, err
		}
		return reads(ctx, c, keysOf(thousand), small, end), nil
	})
}

func rueidisCached() contestant {
	return onRedis("rueidis-docache", rueidisModule, false, func(ctx context.Context, addr string) (*subject, error) {
		c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true})
		if err != nil {
			return nil, err
		}
		k := keysOf(thousand)
		get := func(key string) (string, bool) {
			v, err := c.DoCache(ctx, c.B().Get().Key(key).Cache(), life).ToString()
			return v, err == nil
		}
		return &subject{end: func() error { c.Close(); return nil }, check: filled(k, small, func(key, v string) {
			_ = c.Do(ctx, c.B().Set().Key(key).Value(v).Build()).Error() // what is not set is not found
		}, get), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := k.at(i)
				if v, ok := get(key); ok && rightLength(v, key) {
					right++
				}
			}
			return right
		}}, nil
	})
}

func goRedis() contestant {
	c := onRedis("go-redis", goredisModule, false, func(ctx context.Context, addr string) (*subject, error) {
		c := goredis.NewClient(&goredis.Options{Addr: addr})
		k := keysOf(thousand)
		get := func(key string) (string, bool) {
			v, err := c.Get(ctx, key).Result()
			return v, err == nil
		}
		return &subject{end: c.Close, check: filled(k, small, func(key, v string) { c.Set(ctx, key, v, life) }, get), run: func(first, n int) (right int) {
			for i := first; i < first+n; i++ {
				key := k.at(i)
				if v, ok := get(key); ok && rightLength(v, key) {
					right++
				}
			}
			return right
		}}, nil
	})
	c.note = "asks Redis each time: the module's cache of the client's side is not used"
	return c
}

// crowd is how many goroutines ask Redis at once.
const crowd = 64

// together does operations first ... first+n-1 in a crowd, and counts those that are right.
func together(first, n int, do func(i int) bool) int {
	var next, right atomic.Int64
	var wg sync.WaitGroup
	for range crowd {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if do(first + i) {
					right.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return int(right.Load())
}

// remoteReads read keys that are in Redis alone.
func remoteReads() []contestant {
	get := func(k *keys, read func(string) ([]byte, bool)) func(int, int) int {
		return func(first, n int) int {
			return together(first, n, func(i int) bool {
				v, ok := read(k.at(i))
				return ok && len(v) == 256
			})
		}
	}
	return []contestant{
		onRedis("quire", "", true, func(ctx context.Context, addr string) (*subject, error) {
			// The writer has put all in Redis; the reader has no room for any of it.
			w, endWriter, err := attach(ctx, addr, cache.Options[string, []byte]{Codec: codec.Raw{}})
			if err != nil {
				return nil, err
			}
			client, err := cacheredis.Open(cacheredis.Config{Addr: addr})
			if err != nil {
				return nil, errors.Join(err, endWriter())
			}
			c, err := cache.New(cache.Options[string, []byte]{
				Name: "bench", Remote: client, Bus: client, Codec: codec.Raw{}, MaxBytes: 8 << 10, Weigh: func(string, []byte) int { return 4 << 10 },
				Policy: cache.Policy{TTL: life, RemoteTimeout: 5 * time.Second},
			})
			if err != nil {
				client.Close()
				return nil, errors.Join(err, endWriter())
			}
			k := keysOf(thousand)
			read := func(key string) ([]byte, bool) {
				v, err := c.Get(ctx, key)
				return v, err == nil
			}
			return &subject{run: get(k, read), check: filled(k, bytes256, func(key string, v []byte) { _ = w.Set(ctx, key, v) }, read), end: func() error { // what is not set is not found
				err := c.Close(context.WithoutCancel(ctx))
				client.Close()
				return errors.Join(err, endWriter())
			}}, nil
		}),
		onRedis("rueidis", rueidisModule, false, func(ctx context.Context, addr string) (*subject, error) {
			c, err := plainClient(addr)
			if err != nil {
				return nil, err
			}
			k := keysOf(thousand)
			read := func(key string) ([]byte, bool) {
				v, err := c.Do(ctx, c.B().Get().Key(key).Build()).AsBytes()
				return v, err == nil
			}
			return &subject{run: get(k, read), end: func() error { c.Close(); return nil }, check: filled(k, bytes256, func(key string, v []byte) {
				_ = c.Do(ctx, c.B().Set().Key(key).Value(rueidis.BinaryString(v)).Build()).Error() // what is not set is not found
			}, read)}, nil
		}),
		onRedis("go-redis", goredisModule, false, func(ctx context.Context, addr string) (*subject, error) {
			c := goredis.NewClient(&goredis.Options{Addr: addr, PoolSize: crowd})
			k := keysOf(thousand)
			read := func(key string) ([]byte, bool) {
				v, err := c.Get(ctx, key).Bytes()
				return v, err == nil
			}
			return &subject{run: get(k, read), end: c.Close, check: filled(k, bytes256, func(key string, v []byte) { c.Set(ctx, key, v, life) }, read)}, nil
		}),
	}
}

// remoteWrites write keys that are there.
func remoteWrites() []contestant {
	set := func(k *keys, write func(key string, v []byte) bool) func(int, int) int {
		values := make([][]byte, len(k.all))
		for i, key := range k.all {
			values[i] = bytes256(key)
		}
		return func(first, n int) int {
			return together(first, n, func(i int) bool { return write(k.at(i), values[k.pick(i)]) })
		}
	}
	return []contestant{
		onRedis("quire", "", true, func(ctx context.Context, addr string) (*subject, error) {
			c, end, err := attach(ctx, addr, cache.Options[string, []byte]{Codec: codec.Raw{}})
			if err != nil {
				return nil, err
			}
			k := keysOf(thousand)
			write := func(key string, v []byte) bool { return c.Set(ctx, key, v) == nil }
			// What was written beside other writes is compared with Redis before it is given out.
			read := func(key string) ([]byte, bool) {
				v, err := c.Get(ctx, key)
				return v, err == nil
			}
			return &subject{run: set(k, write), end: end, check: filled(k, bytes256, func(key string, v []byte) { write(key, v) }, read)}, nil
		}),
		onRedis("script", rueidisModule, false, func(ctx context.Context, addr string) (*subject, error) {
			c, err := plainClient(addr)
			if err != nil {
				return nil, err
			}
			script := store()
			k := keysOf(thousand)
			write := func(key string, v []byte) bool {
				n, err := script.Exec(ctx, c, []string{"counter", key, "changes"}, []string{rueidis.BinaryString(v), strconv.FormatInt(life.Milliseconds(), 10), key}).AsInt64()
				return err == nil && n > 0
			}
			read := func(key string) ([]byte, bool) {
				v, err := c.Do(ctx, c.B().Get().Key(key).Build()).AsBytes()
				return v, err == nil
			}
			return &subject{run: set(k, write), end: func() error { c.Close(); return nil }, check: filled(k, bytes256, func(key string, v []byte) { write(key, v) }, read)}, nil
		}),
	}
}
