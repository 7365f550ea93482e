//go:build unix

package cacheredis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
)

// clusterOf says where a cluster is.
func clusterOf(addrs ...string) cacheredis.Config {
	return cacheredis.Config{Addr: strings.Join(addrs, ","), Cluster: true, DialTimeout: 10 * time.Second}
}

// TestClusterIsARemote: three primaries, each with some of the namespaces.
func TestClusterIsARemote(t *testing.T) {
	for _, kind := range cachetest.RedisKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cluster := cachetest.StartCluster(t, kind, 0)
			client := open(t, clusterOf(cluster.Replicas[1].Addr))
			cachetest.RunRemote(t, func(*testing.T) cachetest.Shared { return client })
			for _, r := range cluster.Primaries {
				if r.Command(t, "DBSIZE") == "0" {
					t.Error("a primary has no namespace")
				}
			}
			if kind == "redis" {
				t.Run("caches share it", func(t *testing.T) { testClusterCaches(t, cluster) })
				t.Run("a node hangs", func(t *testing.T) { testClusterHangs(t, cluster) })
				t.Run("a slot moves", func(t *testing.T) { testClusterMoves(t, cluster) })
				t.Run("a replica is promoted by hand", func(t *testing.T) { testClusterPromotes(t, cluster, true) })
			}
		})
	}
}

// TestClusterPromotesAReplica: a primary is killed, and the other primaries elect its replica.
func TestClusterPromotesAReplica(t *testing.T) {
	t.Parallel()
	testClusterPromotes(t, cachetest.StartCluster(t, "redis", 2*time.Second), false)
}

func testClusterCaches(t *testing.T, cluster *cachetest.Cluster) {
	t.Helper()
	for _, mode := range []cache.SyncMode{cache.Invalidate, cache.Push, cache.Tracked} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			cachetest.RunCaches(t, fmt.Sprintf("m%d.", mode), mode, func(t *testing.T) cachetest.Shared {
				t.Helper()
				return open(t, clusterOf(cluster.Primaries[0].Addr))
			})
		})
	}
}

// A node that does not answer holds up neither the search for a primary nor what others have.
func testClusterHangs(t *testing.T, cluster *cachetest.Cluster) {
	t.Helper()
	client := open(t, clusterOf(cluster.Replicas[0].Addr, cluster.Primaries[1].Addr))
	cluster.Replicas[0].Pause(t)
	defer cluster.Replicas[0].Resume(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range 10 {
		if _, err := client.Fetch(ctx, fmt.Sprint("n", i), []string{"k"}, false); err != nil {
			t.Fatal(err)
		}
	}
}

// home is the place of the primary that has the keys of posts to begin with, and their slot.
func home(t *testing.T, cluster *cachetest.Cluster) (at int, slot string) {
	t.Helper()
	slot = cluster.Primaries[0].Command(t, "CLUSTER", "KEYSLOT", "q1:m:{posts/00}")
	n, err := strconv.Atoi(slot)
	do(t, err)
	return n * 3 / 16384, slot
}

// The caches find the promoted replica by themselves, and what they read is what was written last,
// for the replica had it.
func testClusterPromotes(t *testing.T, cluster *cachetest.Cluster, byHand bool) {
	t.Helper()
	c := clusterOf("127.0.0.1:1", cluster.Primaries[0].Addr, cluster.Primaries[1].Addr)
	o := cache.Options[string, []byte]{Policy: cache.Policy{LinkTimeout: 10 * time.Second}}
	a, b := nodeOf(t, c, o), nodeOf(t, c, o)
	eventually(t, "a write is taken", func() bool { return a.Set(t.Context(), "k", []byte("kept")) == nil })
	becomes(t, b, "k", "kept")
	at, slot := home(t, cluster)
	for i, r := range cluster.Primaries { // the slot may have moved
		if r.Command(t, "CLUSTER", "COUNTKEYSINSLOT", slot) != "0" {
			at = i
		}
	}
	primary, replica := cluster.Primaries[at], cluster.Replicas[at]
	eventually(t, "the replica has the keys", func() bool {
		return replica.Command(t, "CLUSTER", "COUNTKEYSINSLOT", slot) == primary.Command(t, "CLUSTER", "COUNTKEYSINSLOT", slot)
	})
	if byHand {
		replica.Command(t, "CLUSTER", "FAILOVER", "TAKEOVER")
	} else {
		primary.Kill()
	}
	for _, n := range []*text{a, b} {
		eventually(t, "the link is down", func() bool { return n.Stats().LinkBreaks > 0 })
	}
	eventually(t, "a write is taken", func() bool { return b.Set(t.Context(), "other", []byte("new")) == nil })
	for _, n := range []*text{a, b} {
		becomes(t, n, "k", "kept")
		becomes(t, n, "other", "new")
	}
	eventually(t, "a write is taken", func() bool { return a.Set(t.Context(), "k", []byte("newer")) == nil })
	for _, n := range []*text{a, b} {
		becomes(t, n, "k", "newer")
		eventually(t, "a proof", func() bool { return n.Staleness() < 10*time.Second })
	}
}

// While a slot moves, calls are refused; then they go where it is, and so does the link.
func testClusterMoves(t *testing.T, cluster *cachetest.Cluster) {
	t.Helper()
	c := clusterOf(cluster.Primaries[2].Addr)
	a := nodeOf(t, c, cache.Options[string, []byte]{})
	do(t, a.Set(t.Context(), "k", []byte("v")))
	from, slot := home(t, cluster)
	source, target := cluster.Primaries[from], cluster.Primaries[(from+1)%3]
	of, to := source.Command(t, "CLUSTER", "MYID"), target.Command(t, "CLUSTER", "MYID")
	target.Command(t, "CLUSTER", "SETSLOT", slot, "IMPORTING", of)
	source.Command(t, "CLUSTER", "SETSLOT", slot, "MIGRATING", to)
	host, port, err := net.SplitHostPort(target.Addr)
	do(t, err)
	move := func(key string) { source.Command(t, "MIGRATE", host, port, key, "0", "10000") }

	other := open(t, c)
	move("q1:d:{posts/00}:k")
	if got, err := other.Fetch(t.Context(), "posts", []string{"k"}, false); !errors.Is(err, cache.ErrUnavailable) || !strings.Contains(err.Error(), "ASK") {
		t.Errorf("what is being moved: %+v, %v", got, err)
	}
	if _, err := other.Store(t.Context(), "posts", cache.StoreRequest{Key: "k", Record: cachetest.Value("x", 1)}); !errors.Is(err, cache.ErrUnavailable) {
		t.Errorf("a write meanwhile: %v", err)
	}
	move("q1:m:{posts/00}")
	move("q1:t:{posts/00}:")
	for i := range cluster.Primaries {
		cluster.Primaries[(from+1+i)%3].Command(t, "CLUSTER", "SETSLOT", slot, "NODE", to)
	}
	got, err := other.Fetch(t.Context(), "posts", []string{"k"}, false)
	if err != nil || string(got[0].Payload) != "v" {
		t.Errorf("where it moved: %+v, %v", got, err)
	}
	becomes(t, a, "k", "v")
	eventually(t, "a write is taken", func() bool { return a.Set(t.Context(), "k", []byte("new")) == nil })
	becomes(t, nodeOf(t, c, cache.Options[string, []byte]{}), "k", "new")
	becomes(t, a, "k", "new")
	eventually(t, "a proof", func() bool { return a.Staleness() < time.Minute })
}
