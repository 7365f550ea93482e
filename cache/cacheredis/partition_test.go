//go:build unix

package cacheredis_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
)

// TestPartitionDownsTheLink: no data pass, though all connections stay open. What was written meanwhile
// is there when the link is up again, under its version.
func TestPartitionDownsTheLink(t *testing.T) {
	server := cachetest.StartRedis(t, "redis")
	api := toxiproxy(t)
	var proxy struct {
		Listen string `json:"listen"`
	}
	ask(t, "POST", api+"/proxies", map[string]any{"name": "redis", "listen": "127.0.0.1:0", "upstream": server.Addr, "enabled": true}, &proxy)

	near := open(t, cacheredis.Config{Addr: proxy.Listen})
	far := open(t, cacheredis.Config{Addr: server.Addr})
	r := cachetest.NewRecorder()
	detach, err := near.Attach("n", cache.LinkOptions{Heartbeat: 20 * time.Millisecond, Timeout: time.Second}, r)
	if err != nil {
		t.Fatal(err)
	}
	defer detach()
	epoch := r.WaitUp(t)
	for _, stream := range []string{"upstream", "downstream"} {
		ask(t, "POST", api+"/proxies/redis/toxics", map[string]any{"name": stream, "type": "timeout", "stream": stream, "attributes": map[string]int{"timeout": 0}}, nil)
	}
	r.WaitDown(t)
	stored, err := far.Store(t.Context(), "n", cache.StoreRequest{Key: "k", Record: cachetest.Value("written meanwhile", 1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := near.Fetch(ctx, "n", []string{"k"}, false); err == nil {
		t.Errorf("fetched %+v through the partition", got)
	}
	for _, stream := range []string{"upstream", "downstream"} {
		ask(t, "DELETE", api+"/proxies/redis/toxics/"+stream, nil, nil)
	}
	if again := r.WaitUp(t); again != epoch {
		t.Errorf("epoch %x after %x: the server is the same", again, epoch)
	}
	end := time.Now().Add(30 * time.Second)
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		got, err := near.Fetch(ctx, "n", []string{"k"}, false)
		cancel()
		if err == nil && got[0].Version == stored.Version {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after the partition: %+v, %v", got, err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// toxiproxy starts the proxy of that name and returns the address of its own interface.
func toxiproxy(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", ".tools", "toxiproxy-server"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("REQUIRE_JUDGES") == "1" {
			t.Fatal("missing judge: toxiproxy: ./tools/install-judges")
		}
		t.Skip("missing judge: toxiproxy: ./tools/install-judges")
	}
	var config net.ListenConfig
	for range 10 { // another process may take the port meanwhile
		l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "-host", "127.0.0.1", "-port", port) //nolint:gosec,noctx // G204: a judge of ours, ended below
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = cmd.Wait() // it is killed
		}()
		api := "http://127.0.0.1:" + port
		for started := true; started; {
			if _, err := call(t, "GET", api+"/version", nil); err == nil {
				t.Cleanup(func() {
					_ = cmd.Process.Kill() // it may have ended
					<-done
				})
				return api
			}
			select {
			case <-done:
				started = false
			case <-time.After(25 * time.Millisecond):
			}
		}
	}
	t.Fatal("toxiproxy does not start")
	return ""
}

// call asks the proxy's own interface.
func call(t *testing.T, method, url string, body any) ([]byte, error) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(resp.Body); err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, &answer)
	}
	return answer.Bytes(), nil
}

// ask is a call that succeeds.
func ask(t *testing.T, method, url string, body, answer any) {
	t.Helper()
	b, err := call(t, method, url, body)
	if err == nil && answer != nil {
		err = json.Unmarshal(b, answer)
	}
	if err != nil {
		t.Fatal(err)
	}
}
