package conformance

import (
	"context"
	"crypto/tls"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"example.com/quire/internal/judgetest"
	"example.com/quire/web"
	"example.com/quire/web/frozen"
)

// h2Allowed are the cases that net/http itself fails: HTTP/2 is its, not ours. Over TCP it also
// answers a preface that is none by a 400 of HTTP/1.1.
var h2Allowed = []string{"http2/4.2/3", "http2/6.5.3/1", "http2/8.1.2.2/1", "http2/8.1.2.2/2"}

// TestH2spec has h2spec judge HTTP/2 over TLS, over TCP, and over TCP with a frozen lane. An
// ordinary test run has the cases that are no provocations, over TCP with the lane.
func TestH2spec(t *testing.T) {
	h2specProgram(t)
	app := newApp(t)
	app.Any("/", func(c *web.Context) error {
		// An answer ends the stream, and what is wrong with a body that still comes is no matter
		// then.
		if _, err := io.Copy(io.Discard, c.Request().Body); err != nil {
			return err
		}
		return c.String(http.StatusOK, "hello")
	})
	table := frozen.NewTable(frozen.Limits{})
	own := httptest.NewUnstartedServer(nil)
	own.StartTLS() // for its certificate
	cert := own.TLS.Certificates[0]
	own.Close()
	type way struct {
		name    string
		srv     *web.Server
		args    []string
		allowed []string
	}
	ways, least := []way{
		{"TLS", &web.Server{App: app, TLS: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}}, []string{"-t", "-k"}, h2Allowed},
		{"TCP", &web.Server{App: app, H2C: true}, nil, append(slices.Clone(h2Allowed), "http2/3.5/2")},
		{"TCP with a lane", &web.Server{App: app, H2C: true, Lane: frozen.NewLane(frozen.LaneOptions{}, table)}, nil, append(slices.Clone(h2Allowed), "http2/3.5/2")},
	}, 145
	if !everything() {
		ways, least = ways[2:], 20
		ways[0].args = []string{"generic"}
	}
	worst, run := 0, math.MaxInt
	for _, w := range ways {
		address := serveBy(t, w.srv)
		ids, failed := h2spec(t, address, w.args...)
		failed = slices.DeleteFunc(failed, func(id string) bool {
			if slices.Contains(w.allowed, id) {
				return false
			}
			// It goes by time: on a busy machine a case is asked once more.
			_, again := h2spec(t, address, id)
			if len(again) > 0 {
				t.Errorf("%s: %s failed", w.name, id)
			}
			return len(again) == 0
		})
		if len(ids) < least {
			t.Errorf("%s: %d cases were run, want %d", w.name, len(ids), least)
		}
		worst, run = max(worst, len(failed)), min(run, len(ids))
	}
	report("h2spec %d run, %d failed", run, worst)
}

// TestH2specCanFail: a server of HTTP/1.1 is none of HTTP/2.
func TestH2specCanFail(t *testing.T) {
	h2specProgram(t)
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	if ids, failed := h2spec(t, srv.URL, "http2/3.5/1"); len(ids) != 1 || len(failed) != 1 {
		t.Errorf("%v run, %v failed", ids, failed)
	}
}

// h2spec runs the suite, or the cases that the arguments name, and returns what was run and what
// has failed.
func h2spec(t *testing.T, address string, args ...string) (run, failed []string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	results := filepath.Join(t.TempDir(), "h2spec.xml")
	// A case waits so long for the answer of a server that is busy.
	args = append([]string{"-h", u.Hostname(), "-p", u.Port(), "-j", results, "-o", "5"}, args...)
	out, exit := exec.CommandContext(t.Context(), h2specProgram(t), args...).CombinedOutput() //nolint:gosec // the judge that was installed
	b, err := os.ReadFile(results)
	var doc struct {
		Suites []struct {
			Package string `xml:"package,attr"`
			Cases   []struct {
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err == nil {
		err = xml.Unmarshal(b, &doc)
	}
	if err != nil {
		t.Errorf("h2spec: %v\n%s", errors.Join(err, exit), tail(out))
		return nil, nil
	}
	for _, s := range doc.Suites {
		for i, c := range s.Cases {
			id := fmt.Sprintf("%s/%d", s.Package, i+1)
			run = append(run, id)
			if c.Failure != nil || c.Error != nil {
				failed = append(failed, id)
			}
		}
	}
	return run, failed
}

// h2specProgram finds the judge; the test ends where it is absent.
func h2specProgram(t *testing.T) string {
	t.Helper()
	return judgetest.Tool(t, "h2spec", "h2spec")
}

// serveBy starts a Server on a free port and returns its address as a URL.
func serveBy(t *testing.T, srv *web.Server) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil && !errors.Is(err, web.ErrServerDraining) { // it was closed before it began
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String()
}
