//go:build linux

// Package processes tests caches of several processes over a real server, while processes and
// connections fail.
package processes

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
	"example.com/quire/cache/codec"
)

// nodeEnv has the configuration of a node; a process that has it is one.
const nodeEnv = "QUIRE_CACHE_NODE"

func TestMain(m *testing.M) {
	if c := os.Getenv(nodeEnv); c != "" {
		if err := serve(c, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "node:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// config is that of a node.
type config struct {
	Node  int
	Addr  string
	Mode  cache.SyncMode
	Seed  uint64
	Loads loads
	// DialTimeout is that of the client, which ends a connection that does not answer for so long.
	// 0 is the default.
	DialTimeout time.Duration
}

// loads says which loader a node has.
type loads int

const (
	loadsNothing loads = iota
	loadFails
	loadWaits
)

// order is what a node is told to do.
type order struct {
	Calls   int // each client makes so many calls of keys
	Round   int
	Readers int // so many goroutines read a key that is cold
	Release bool
	Settle  bool // all faults are over: tell what is held
}

// report is what a node tells.
type report struct {
	What  reportKind
	Write int // of which write: begun, written
	Ops   []cachetest.Op
	Reads int
	Heap  uint64 // bytes in use after a collection
	Wrong string
}

type reportKind int

const (
	isUp reportKind = iota
	begun
	done      // calls
	roundDone // of all clients
	loading
	readersDone
	settled
)

// The times of a node.
const (
	heartbeat    = 50 * time.Millisecond
	maxStale     = 3 * time.Second
	maxStop      = 400 * time.Millisecond // of a process
	lease        = 500 * time.Millisecond
	lateness     = 2 * time.Second // by which a process on a busy machine may notice the time
	clients      = 3
	coldKey      = "cold"
	patience     = 2 * time.Minute
	batchOfCalls = 64
)

// now is the time of all processes.
func now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// Each round has keys of its own, so that its history begins without a value.
func keysOf(round int) []string {
	var all []string
	for i := range 4 {
		all = append(all, keyOf(round, fmt.Sprint("k", i)))
	}
	return all
}

func keyOf(round int, key string) string { return fmt.Sprintf("r%d.%s", round, key) }

// node is one process.
type node struct {
	config
	cache   *cache.Cache[string, []byte]
	release chan struct{}

	mu     sync.Mutex
	out    *gob.Encoder
	writes int
}

var errOrigin = errors.New("the origin fails")

func serve(text string, in io.Reader, out io.Writer) error {
	n := &node{release: make(chan struct{}), out: gob.NewEncoder(out)}
	if err := json.Unmarshal([]byte(text), &n.config); err != nil {
		return err
	}
	c, end, err := openCache(n.config, n.loader())
	if err != nil {
		return err
	}
	n.cache = c
	n.tell(report{What: isUp})
	var all sync.WaitGroup
	for orders := gob.NewDecoder(in); ; {
		var o order
		if err := orders.Decode(&o); err != nil {
			break // the judge is done
		}
		switch {
		case o.Release:
			close(n.release)
		case o.Readers > 0:
			all.Go(func() { n.readCold(o.Readers) })
		case o.Settle:
			all.Go(func() { n.settle(o.Round) })
		default:
			all.Go(func() { n.round(o) })
		}
	}
	all.Wait()
	return end()
}

// openCache makes the cache of a node; end closes it.
func openCache(c config, load func(context.Context, string) ([]byte, error)) (all *cache.Cache[string, []byte], end func() error, err error) {
	client, err := cacheredis.Open(cacheredis.Config{Addr: c.Addr, DialTimeout: c.DialTimeout})
	if err != nil {
		return nil, nil, err
	}
	all, err = cache.New(cache.Options[string, []byte]{
		Name: "n", Remote: client, Bus: client, Codec: codec.Raw{}, MaxBytes: 1 << 20, Load: load,
		Policy: cache.Policy{
			Mode: c.Mode, PushAll: c.Node%2 == 1, TTL: 10 * time.Minute, Jitter: -1, EarlyBeta: -1, ErrorBackoffMin: -1,
			StaleWhileRevalidate: -1, StaleIfError: -1, LeaseTTL: lease, LoadTimeout: patience, Heartbeat: heartbeat,
			LinkTimeout: 500 * time.Millisecond, RemoteTimeout: 300 * time.Millisecond, MaxStale: maxStale,
		},
	})
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	return all, func() error {
		defer client.Close()
		return all.Close(context.Background())
	}, nil
}

// loader can fail or wait: one that returned something would be a second register.
func (n *node) loader() func(context.Context, string) ([]byte, error) {
	switch n.Loads {
	case loadFails:
		return func(context.Context, string) ([]byte, error) {
			// It takes the lease, and those who wait for it ask again.
			<-time.After(time.Duration(rand.Int64N(int64(5 * time.Millisecond)))) //nolint:gosec // G404: a pause
			return nil, errOrigin
		}
	case loadWaits:
		return func(context.Context, string) ([]byte, error) {
			n.tell(report{What: loading})
			<-n.release
			return []byte("loaded"), nil
		}
	case loadsNothing:
	}
	return nil
}

func (n *node) tell(r report) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.out.Encode(r); err != nil {
		os.Exit(1) // nobody listens
	}
}

// round lets the clients make their calls.
func (n *node) round(o order) {
	keys := keysOf(o.Round)
	var all sync.WaitGroup
	for w := range clients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(n.Seed, uint64(o.Round*clients+w))) //nolint:gosec // G404: to be replayed
			var ops []cachetest.Op
			write := 0
			c := &cachetest.Client{Node: n.Node, Cache: n.cache, Now: now, MaxStale: maxStale + maxStop + lateness, Begin: func(all []cachetest.Op) {
				if write == 0 {
					n.mu.Lock()
					n.writes++
					write = n.writes
					n.mu.Unlock()
				}
				n.tell(report{What: begun, Write: write, Ops: all})
			}}
			do := func(call cachetest.Call, i, k int) {
				some := c.Do(context.Background(), call, keys, k, fmt.Sprintf("%d.%d.%d", n.Node, w, i))
				if ops = append(ops, some...); write > 0 || len(ops) >= batchOfCalls {
					n.tell(report{What: done, Write: write, Ops: ops})
					ops, write = nil, 0
				}
			}
			for i := 0; i < o.Calls; i++ {
				do(cachetest.DrawCall(r.IntN(100)), i, r.IntN(len(keys)))
				for range min(r.IntN(12), o.Calls-i-1) { // a cache is read more than it is written
					i++
					do(cachetest.CallPeek+cachetest.Call(r.IntN(2)), i, r.IntN(len(keys)))
				}
			}
			n.tell(report{What: done, Ops: ops})
		})
	}
	all.Wait()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	n.tell(report{What: roundDone, Heap: m.HeapAlloc})
}

// readCold reads a key that nobody has, by many readers at once.
func (n *node) readCold(readers int) {
	var all sync.WaitGroup
	var mu sync.Mutex
	r := report{What: readersDone, Reads: readers}
	for range readers {
		all.Go(func() {
			v, err := n.cache.Get(context.Background(), coldKey)
			if err != nil || string(v) != "loaded" {
				mu.Lock()
				r.Wrong = fmt.Sprintf("node %d read %q, %v", n.Node, v, err)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	n.tell(r)
}

// settle waits until the node has heard of all that was before, and tells what it holds.
func (n *node) settle(round int) {
	began, keys := time.Now(), keysOf(round)
	r := report{What: settled}
	c := &cachetest.Client{Node: n.Node, Cache: n.cache, Now: now}
	for i, k := range keys {
		for {
			if time.Since(began) > patience {
				r.Wrong = fmt.Sprintf("node %d: %s cannot be read, bound %v", n.Node, k, n.cache.Staleness())
				break
			}
			if n.cache.Staleness() < time.Since(began) {
				if ops := c.Do(context.Background(), cachetest.CallEntry, keys, i, ""); len(ops) > 0 && ops[0].Bound <= time.Since(began) {
					r.Ops = append(r.Ops, ops[0])
					break
				}
				// With a loader that fails there is no answer for a key that has no value.
				if _, err := n.cache.Get(context.Background(), k); n.Loads == loadFails && errors.Is(err, errOrigin) {
					break
				}
			}
			<-time.After(5 * time.Millisecond)
		}
	}
	n.tell(r)
}

func (k reportKind) String() string {
	return strings.Fields("up begun done round loading readers settled")[k]
}
