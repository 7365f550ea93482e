package cache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/cache"
	"example.com/quire/cache/cachetest"
	"example.com/quire/cache/codec"
)

// number reads a number of the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestSimulatedFaults: six nodes in the ways of keeping in step, each with a client that writes and
// reads, and between the nodes and what they share everything that goes wrong. QUIRE_RUNS is the
// number of runs, of which there are as many at a time as processors, QUIRE_SEED that of the first.
func TestSimulatedFaults(t *testing.T) {
	first, runs := number(t, "QUIRE_SEED", 1), number(t, "QUIRE_RUNS", 8)
	lanes := min(runs, uint64(runtime.GOMAXPROCS(0))) //nolint:gosec // G115: a small number
	var ops atomic.Int64
	var failed atomic.Bool
	t.Run("runs", func(t *testing.T) {
		for lane := range lanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				t.Parallel()
				for seed := first + lane; seed < first+runs && !failed.Load(); seed += lanes {
					history := simulate(t, seed)
					ops.Add(int64(len(history)))
					wrong := cachetest.Violations(history)
					if len(wrong) > 0 || t.Failed() {
						failed.Store(true)
						t.Fatalf("seed %d (QUIRE_SEED=%d QUIRE_RUNS=1 runs it again):\n%s", seed, seed, strings.Join(wrong, "\n"))
					}
				}
			})
		}
	})
	if !t.Failed() {
		t.Logf("simulated ops %d violations 0", ops.Load())
	}
}

const (
	simulatedMaxStale = 3 * time.Second
	simulatedNodes    = 6
)

var errSimulatedOrigin = errors.New("the origin fails")

// simulation is one run.
type simulation struct {
	hub    *cache.Hub
	start  time.Time
	nodes  []*cachetest.Client
	faults []*cachetest.Faulty
}

var simulatedKeys = []string{"k0", "k1", "k2"}

// simulate makes one history, at whose end all faults are over. All of it follows from the seed,
// however goroutines take turns: the instants at which a call or frame of a node arrives are drawn,
// so that it is alone at its instant; what it brings about at that instant is the same in any
// order, for which reason a node has one client, and no look-ups that are sampled; and what is
// random without being drawn, the names of writes and how keys are spread over locks, is in no
// history or has no effect.
func simulate(t *testing.T, seed uint64) []cachetest.Op {
	t.Helper()
	s := &simulation{}
	ops := make([][]cachetest.Op, simulatedNodes)
	synctest.Test(t, func(t *testing.T) {
		s.hub, s.start = cache.NewHub(), time.Now()
		for i := range uint64(simulatedNodes) {
			c := s.open(t, seed, i)
			defer func() {
				if err := c.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}()
		}
		var wg sync.WaitGroup
		for w := range ops {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(100+w))) //nolint:gosec // G404: to be replayed
				for i := range 150 {
					<-time.After(time.Duration(1 + r.Int64N(int64(100*time.Millisecond))))
					ops[w] = append(ops[w], s.nodes[w].Do(t.Context(), cachetest.DrawCall(r.IntN(100)), simulatedKeys, r.IntN(3), fmt.Sprint(w, ".", i))...)
				}
			})
		}
		wg.Wait()
		synctest.Wait() // what the last call began
		for _, f := range s.faults {
			f.Calm()
		}
		<-time.After(10 * time.Second)
		ops = append(ops, s.compare(t))
	})
	return slices.Concat(ops...)
}

// open adds a node.
func (s *simulation) open(t *testing.T, seed, i uint64) *cache.Cache[string, []byte] {
	t.Helper()
	<-time.After(1_000_003) // heartbeats of two nodes never at one instant
	f := cachetest.NewFaulty(s.hub, seed, i)
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 10+i)) //nolint:gosec // G404: to be replayed
	random := func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return r.Float64()
	}
	o := cache.Options[string, []byte]{Name: "n", Remote: f, Bus: f, Codec: codec.Raw{}, Policy: cache.Policy{
		TTL: time.Hour, Jitter: -1, EarlyBeta: -1, ErrorBackoffMin: -1, LeaseTTL: 330 * time.Millisecond, LoadTimeout: time.Minute,
		Heartbeat: 50 * time.Millisecond, LinkTimeout: 200 * time.Millisecond, MaxStale: simulatedMaxStale,
		Mode: cache.Tracked, PushAll: i%3 == 2, SelfCheck: -1,
	}}
	var many func(context.Context, []string) (map[string][]byte, error)
	if i%3 > 0 {
		o.Policy.Mode = cache.Push
		// To fail is all that a loader can do without being a second register. It takes the lease,
		// and those who wait for it ask again.
		fail := func() error {
			<-time.After(1 + time.Duration(random()*float64(200*time.Millisecond)))
			return errSimulatedOrigin
		}
		o.Load = func(context.Context, string) ([]byte, error) { return nil, fail() }
		many = func(context.Context, []string) (map[string][]byte, error) { return nil, fail() }
	}
	c, err := cache.New(o)
	if err != nil {
		t.Fatal(err)
	}
	cache.SetRandom(c, random)
	cache.Spread(c, simulatedKeys, (seed+i)%4 == 0)
	s.faults = append(s.faults, f)
	s.nodes = append(s.nodes, &cachetest.Client{
		Node: len(s.nodes), Cache: c, Many: many, Now: func() time.Duration { return time.Since(s.start) },
		MaxStale: simulatedMaxStale + 10*time.Millisecond, // the clock of lives ticks every 5 ms
	})
	return c
}

// compare demands that all nodes have in the end what the remote has, and returns that.
func (s *simulation) compare(t *testing.T) (ops []cachetest.Op) {
	t.Helper()
	for i, k := range simulatedKeys {
		all := s.nodes[0].Do(t.Context(), cachetest.CallVerify, simulatedKeys, i, "")
		if len(all) == 0 {
			t.Errorf("%s cannot be read in the end", k)
			continue
		}
		all[0].Node = -1
		ops = append(ops, all[0])
		for n, c := range s.nodes {
			v, err := c.Cache.Get(t.Context(), k)
			if want := all[0].Value; string(v) != want || err != nil && (want != "" || !errors.Is(err, cache.ErrNotFound) && !errors.Is(err, errSimulatedOrigin)) {
				t.Errorf("node %d has %q, %v in the end; the remote has %q", n, v, err, want)
			}
		}
	}
	return ops
}
