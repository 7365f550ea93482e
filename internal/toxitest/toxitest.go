// Package toxitest starts Toxiproxy for tests: a TCP proxy that delays, cuts and blocks
// connections on demand.
package toxitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"example.com/quire/internal/judgetest"
)

// Server is a running Toxiproxy. It ends with the test.
type Server struct{ api string }

// Toxic is a fault of a proxy's connections, by the names of Toxiproxy.
type Toxic struct {
	Name       string         `json:"name,omitempty"` // "" = type and stream
	Type       string         `json:"type"`
	Stream     string         `json:"stream"` // upstream or downstream
	Attributes map[string]int `json:"attributes"`
}

// Start starts the server. The test is skipped when it is not installed, and fails under
// REQUIRE_JUDGES=1.
func Start(t *testing.T) *Server {
	t.Helper()
	path := judgetest.Tool(t, "toxiproxy", "toxiproxy-server")
	for range 10 { // another process may take the port meanwhile
		if s := start(t, path); s != nil {
			return s
		}
	}
	t.Fatal("toxiproxy does not start")
	return nil
}

// start returns nil when the program ends at once.
func start(t *testing.T, path string) *Server {
	t.Helper()
	var config net.ListenConfig
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
	cmd := exec.Command(path, "-host", "127.0.0.1", "-port", port) //nolint:gosec,noctx // our own judge, ended below
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // it is killed
	}()
	s := &Server{"http://127.0.0.1:" + port}
	for {
		if _, err := s.call(t, http.MethodGet, "/version", nil); err == nil {
			t.Cleanup(func() {
				_ = cmd.Process.Kill() // it may have ended
				<-done
			})
			return s
		}
		select {
		case <-done:
			return nil
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// Proxy makes a proxy before an address and returns its own.
func (s *Server) Proxy(t *testing.T, name, upstream string) string {
	t.Helper()
	b := s.ask(t, http.MethodPost, "/proxies", map[string]any{
		"name": name, "listen": "127.0.0.1:0", "upstream": upstream, "enabled": true,
	})
	var proxy struct {
		Listen string `json:"listen"`
	}
	if err := json.Unmarshal(b, &proxy); err != nil {
		t.Fatal(err)
	}
	return proxy.Listen
}

// Remove ends a proxy and its connections.
func (s *Server) Remove(t *testing.T, proxy string) {
	t.Helper()
	s.ask(t, http.MethodDelete, "/proxies/"+proxy, nil)
}

// Add gives the connections of a proxy a fault.
func (s *Server) Add(t *testing.T, proxy string, toxic Toxic) {
	t.Helper()
	s.ask(t, http.MethodPost, "/proxies/"+proxy+"/toxics", toxic)
}

// RemoveToxic takes it back.
func (s *Server) RemoveToxic(t *testing.T, proxy, name string) {
	t.Helper()
	s.ask(t, http.MethodDelete, "/proxies/"+proxy+"/toxics/"+name, nil)
}

func (s *Server) ask(t *testing.T, method, path string, body any) []byte {
	t.Helper()
	b, err := s.call(t, method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s *Server) call(t *testing.T, method, path string, body any) ([]byte, error) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.api+path, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	return answer, err
}
