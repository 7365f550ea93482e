//go:build unix

package cacheredis_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"go.uber.org/goleak"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, c cacheredis.Config) *cacheredis.Client {
	t.Helper()
	client, err := cacheredis.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestServersAreRemotes(t *testing.T) {
	for _, kind := range cachetest.RedisKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := cachetest.StartRedis(t, kind)
			client := open(t, cacheredis.Config{Addr: server.Addr})
			cachetest.RunRemote(t, func(*testing.T) cachetest.Shared { return client })
		})
	}
}

// TestPublishThatIsDeniedFailsTheWrite: nothing is stored that no node would hear of, neither a
// record nor the counter of a tag.
func TestPublishThatIsDeniedFailsTheWrite(t *testing.T) {
	for _, kind := range cachetest.RedisKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := cachetest.StartRedis(t, kind)
			full := open(t, cacheredis.Config{Addr: server.Addr})
			if _, err := full.Store(t.Context(), "n", cache.StoreRequest{Key: "k", Record: cachetest.Value("old", 1)}); err != nil {
				t.Fatal(err)
			}
			before, err := full.Tags(t.Context(), "n", []string{"t"}, time.Hour, true)
			if err != nil {
				t.Fatal(err)
			}
			command(t, server.Addr, "ACL", "SETUSER", "mute", "on", ">secret", "~q1:*", "resetchannels", "+@all")
			mute := open(t, cacheredis.Config{Addr: server.Addr, Username: "mute", Password: "secret"})
			if _, err := mute.Store(t.Context(), "n", cache.StoreRequest{Key: "k", Record: cachetest.Value("new", 2)}); !errors.Is(err, cache.ErrUnavailable) {
				t.Errorf("stored: %v", err)
			}
			if _, err := mute.Tags(t.Context(), "n", []string{"t"}, time.Hour, true); !errors.Is(err, cache.ErrUnavailable) {
				t.Errorf("bumped: %v", err)
			}
			got, err := full.Fetch(t.Context(), "n", []string{"k"}, false)
			if err != nil || string(got[0].Payload) != "old" {
				t.Errorf("%q, %v after a write that failed", got[0].Payload, err)
			}
			if now, err := full.Tags(t.Context(), "n", []string{"t"}, time.Hour, false); err != nil || now[0] != before[0] {
				t.Errorf("counter %v, %v after an invalidation that failed; %v before", now, err, before)
			}
		})
	}
}

func TestServerWithPasswordAndDatabase(t *testing.T) {
	server := cachetest.StartRedis(t, "redis", "--requirepass", "secret")
	wrong := open(t, cacheredis.Config{Addr: server.Addr, Password: "guess"})
	if _, err := wrong.Fetch(t.Context(), "n", []string{"k"}, false); err == nil {
		t.Error("fetched with a wrong password")
	}
	one := open(t, cacheredis.Config{Addr: server.Addr, Password: "secret", DB: 1})
	two := open(t, cacheredis.Config{Addr: server.Addr, Password: "secret", DB: 2})
	if _, err := one.Store(t.Context(), "n", cache.StoreRequest{Key: "k", Record: cachetest.Value("v", 1)}); err != nil {
		t.Fatal(err)
	}
	for client, want := range map[*cacheredis.Client]cache.RecordState{one: cache.RecordValue, two: cache.RecordNone} {
		got, err := client.Fetch(t.Context(), "n", []string{"k"}, false)
		if err != nil || got[0].State != want {
			t.Errorf("got %+v, %v; want state %v", got, err, want)
		}
	}
}

// TestLinkComesBackAfterTheServerWasLost: with nothing kept, a new epoch begins.
func TestLinkComesBackAfterTheServerWasLost(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	client := open(t, cacheredis.Config{Addr: server.Addr})
	link := cachetest.Link(t, client, "n")
	before := link.WaitUp(t)
	server.Restart(t)
	link.WaitDown(t)
	if link.WaitUp(t) == before {
		t.Error("the epoch of the lost server goes on")
	}
	if _, err := client.Store(t.Context(), "n", cache.StoreRequest{Key: "k", Record: cachetest.Value("v", 1)}); err != nil {
		t.Fatal(err)
	}
	link.WaitFrame(t, func(f cache.Frame) bool { return f.Key == "k" })
}

func TestServerThatComesLateIsFound(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	server.Kill()
	client := open(t, cacheredis.Config{Addr: server.Addr})
	if _, err := client.Fetch(t.Context(), "n", []string{"k"}, false); !errors.Is(err, cache.ErrUnavailable) {
		t.Errorf("without a server: %v", err)
	}
	server.Restart(t)
	cachetest.Link(t, client, "n")
	if _, err := client.Fetch(t.Context(), "n", []string{"k"}, false); err != nil {
		t.Error(err)
	}
}

// TestStalledServerKeepsDeadlines: the process is stopped with all connections open.
func TestStalledServerKeepsDeadlines(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	client := open(t, cacheredis.Config{Addr: server.Addr})
	r := cachetest.NewRecorder()
	detach, err := client.Attach("n", cache.LinkOptions{Heartbeat: 10 * time.Millisecond, Timeout: time.Second}, r)
	if err != nil {
		t.Fatal(err)
	}
	defer detach()
	r.WaitUp(t)
	server.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := client.Fetch(ctx, "n", []string{"k"}, false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("fetch: %v", err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("a deadline of 50 ms held after %v", took)
	}
	r.WaitDown(t)
	server.Resume(t)
	r.WaitUp(t)
}

// TestLostKeysAreANewEpoch: somebody empties the database.
func TestLostKeysAreANewEpoch(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	client := open(t, cacheredis.Config{Addr: server.Addr})
	link := cachetest.Link(t, client, "n")
	before := link.WaitUp(t)
	command(t, server.Addr, "DEL", "q1:m:{n/00}")
	link.WaitDown(t)
	if link.WaitUp(t) == before {
		t.Error("the epoch goes on")
	}
}

func TestMessageThatIsNoFrameDownsTheLink(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	link := cachetest.Link(t, open(t, cacheredis.Config{Addr: server.Addr}), "n")
	command(t, server.Addr, "PUBLISH", "q1:b:{n/00}", "QBnonsense")
	link.WaitDown(t)
	link.WaitUp(t)
}

// TestRecordUnderAnotherKeyIsNotThere, whoever copied it.
func TestRecordUnderAnotherKeyIsNotThere(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	client := open(t, cacheredis.Config{Addr: server.Addr})
	if _, err := client.Store(t.Context(), "n", cache.StoreRequest{Key: "mine", Record: cachetest.Value("secret", 1)}); err != nil {
		t.Fatal(err)
	}
	command(t, server.Addr, "COPY", "q1:d:{n/00}:mine", "q1:d:{n/00}:yours")
	command(t, server.Addr, "COPY", "q1:d:{n/00}:mine", "q1:d:{other/00}:mine")
	for ns, key := range map[string]string{"n": "yours", "other": "mine"} {
		if got, err := client.Fetch(t.Context(), ns, []string{key}, false); err != nil || got[0].State != cache.RecordNone {
			t.Errorf("%s %s: %+v, %v", ns, key, got, err)
		}
	}
}

// command runs one command as a foreign client.
func command(t *testing.T, addr string, words ...string) {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Do(t.Context(), c.B().Arbitrary(words...).Build()).Error(); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
}

func TestConfigThatCannotBe(t *testing.T) {
	for _, c := range []cacheredis.Config{
		{},
		{Addr: "x"},
		{Addr: "x:1", DB: -1},
		{Addr: "x:1", DialTimeout: -1},
		{Addr: "x:1,x", Cluster: true},
		{Addr: "x:1", DB: 1, Cluster: true},
		{Addr: "x:1", Cluster: true, SentinelMaster: "main"},
	} {
		var wrong *cache.ConfigError
		if _, err := cacheredis.Open(c); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestOwnDialIsUsed(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	client := open(t, cacheredis.Config{Addr: "nowhere.invalid:1", Dial: func(ctx context.Context, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Addr)
	}})
	cachetest.Link(t, client, "n")
}

// TestKeyOfAnotherTypeIsNoRecord, whether it is asked for alone or among others.
func TestKeyOfAnotherTypeIsNoRecord(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	client := open(t, cacheredis.Config{Addr: server.Addr})
	command(t, server.Addr, "RPUSH", "q1:d:{n/00}:k", "v")
	for _, keys := range [][]string{{"k"}, {"k", "other"}} {
		got, err := client.Fetch(t.Context(), "n", keys, false)
		if err != nil || len(got) != len(keys) || got[0].State != cache.RecordNone {
			t.Errorf("%q: %+v, %v", keys, got, err)
		}
	}
}
