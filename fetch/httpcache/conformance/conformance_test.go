// Package conformance compares the cache with external judges: http-cache-tests,
// http-cache-semantics and hishel.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/quire/fetch/httpcache"
	"example.com/quire/internal/judgetest"
)

// suite returns the folder of http-cache-tests, which node runs.
func suite(t *testing.T) string {
	t.Helper()
	judgetest.Program(t, "node", judgetest.Install)
	return filepath.Dir(judgetest.Tool(t, "http-cache-tests", "cachetests/package"))
}

type outcome struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Pass   bool   `json:"pass"`
	Detail any    `json:"detail"`
}

// origin starts the suite's own server.
func origin(t *testing.T, tools string) *url.URL {
	t.Helper()
	loopback, err := filepath.Abs("loopback.mjs")
	if err != nil {
		t.Fatal(err)
	}
	address := free(t)
	_, port, _ := net.SplitHostPort(address)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "node", //nolint:gosec // our own arguments
		"--no-warnings", "--import", loopback, "server/server.mjs")
	cmd.Dir = filepath.Join(tools, "package")
	cmd.Env = append(os.Environ(), "npm_config_protocol=http", "npm_config_port="+port,
		"npm_config_pidfile="+filepath.Join(t.TempDir(), "server.pid"))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // ended by the signal
	})
	if !listens(t, address) {
		t.Fatal("the suite's server does not listen")
	}
	return &url.URL{Scheme: "http", Host: address}
}

// free returns an address that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// listens waits a minute at most for somebody at an address.
func listens(t *testing.T, address string) bool {
	t.Helper()
	var d net.Dialer
	for range 2400 {
		if c, err := d.DialContext(t.Context(), "tcp", address); err == nil {
			_ = c.Close()
			return true
		}
		<-time.After(25 * time.Millisecond)
	}
	return false
}

// front starts a reverse proxy over rt before the suite's server and returns its address.
func front(t *testing.T, tools string, wrap func(http.RoundTripper) http.RoundTripper) string {
	t.Helper()
	target := origin(t, tools)
	// Without kept connections: net/http sends again by itself on one that died, and some tests
	// hang up.
	base := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: wrap(base),
		ErrorLog:  log.New(io.Discard, "", 0),
	})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// score runs the suite, or some of its tests, against a cache at an address.
func score(t *testing.T, tools, mode, address string, ids ...string) []outcome {
	t.Helper()
	args := append([]string{"--no-warnings", "run.mjs", tools, mode, address}, ids...)
	cmd := exec.CommandContext(t.Context(), "node", args...) //nolint:gosec // our own arguments
	out, err := cmd.Output()
	if err != nil {
		if ee, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, ee.Stderr)
		}
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var all []outcome
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &all); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b outcome) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// settled is the score of our cache. The suite's pauses are real time, so that a busy machine may
// miss one: tests that fail although the page says that they are passed are run again, alone and
// against a new cache, and what is passed in one run is passed.
func settled(t *testing.T, tools, mode string, known map[string]string) []outcome {
	t.Helper()
	all := score(t, tools, mode, front(t, tools, cached(t, mode == "shared")))
	for range 4 {
		var missed []string
		for _, o := range all {
			if !o.Pass && known[o.ID] == passed {
				missed = append(missed, o.ID)
			}
		}
		if len(missed) == 0 {
			break
		}
		again := score(t, tools, mode, front(t, tools, cached(t, mode == "shared")), missed...)
		for i := range all {
			all[i].Pass = all[i].Pass || slices.ContainsFunc(again, func(o outcome) bool {
				return o.ID == all[i].ID && o.Pass
			})
		}
	}
	return all
}

func count(all []outcome, kind string) (passed, total int) {
	for _, o := range all {
		if o.Kind == kind {
			total++
			if o.Pass {
				passed++
			}
		}
	}
	return passed, total
}

func cached(t *testing.T, shared bool) func(http.RoundTripper) http.RoundTripper {
	t.Helper()
	c, err := httpcache.New(httpcache.Config{Shared: shared})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c.Layer
}

// exception is a required test that is not passed, and why that is right.
type exception struct{ ID, Section, Reason, Test string }

func exceptions(t *testing.T) map[string]exception {
	t.Helper()
	b, err := os.ReadFile("exceptions.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []exception
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	m := make(map[string]exception, len(list))
	for _, e := range list {
		if e.Section == "" || e.Reason == "" || e.Test == "" || m[e.ID].ID != "" {
			t.Errorf("exception %s lacks its reason, or stands twice", e.ID)
		}
		m[e.ID] = e
	}
	return m
}

// The suite's counts, the least that is passed of what is optimal, and the most exceptions there
// may be.
const (
	requiredPrivate, requiredShared = 147, 157
	optimalPrivate, optimalShared   = 62, 80
	mostExceptions                  = 14
)

var update = flag.Bool("update", false,
	"write docs/http-cache-tests.md, and what proxies of others score")

func TestEveryRequiredTestOfTheSuiteIsPassed(t *testing.T) {
	t.Parallel()
	tools := suite(t)
	written, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var private, shared []outcome
	var wg sync.WaitGroup
	wg.Go(func() { private = settled(t, tools, "private", read(string(written), 0)) })
	wg.Go(func() { shared = settled(t, tools, "shared", read(string(written), 1)) })
	wg.Wait()
	excused := exceptions(t)
	missed := map[string]bool{}
	for _, run := range []struct {
		mode string
		all  []outcome
	}{{"private", private}, {"shared", shared}} {
		for _, o := range run.all {
			if o.Pass || o.Kind != "required" {
				continue
			}
			missed[o.ID] = true
			if e, ok := excused[o.ID]; ok {
				_, _ = fmt.Fprintf(os.Stdout, "%s: %s: %s (%s)\n", run.mode, o.ID, e.Reason, e.Section)
			} else {
				t.Errorf("%s: %s: %s: %v", run.mode, o.ID, o.Name, o.Detail)
			}
		}
	}
	for id := range excused {
		if !missed[id] {
			t.Errorf("%s is passed: it is no exception any more", id)
		}
	}
	p, ofP := count(private, "required")
	s, ofS := count(shared, "required")
	_, _ = fmt.Fprintf(os.Stdout, "private %d/%d shared %d/%d exceptions %d\n", p, ofP, s, ofS,
		len(excused))
	if ofP != requiredPrivate || ofS != requiredShared || len(excused) > mostExceptions {
		t.Errorf("the suite has %d and %d required tests, want %d and %d, with at most %d exceptions",
			ofP, ofS, requiredPrivate, requiredShared, mostExceptions)
	}
	p, _ = count(private, "optimal")
	s, _ = count(shared, "optimal")
	if p < optimalPrivate || s < optimalShared {
		t.Errorf("%d and %d of what is optimal, want %d and %d", p, s, optimalPrivate, optimalShared)
	}
	now := render(private, shared, excused, others(t))
	if *update {
		if err := os.WriteFile(page, []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	had, _, _ := strings.Cut(string(written), behaviour)
	if have, _, _ := strings.Cut(now, behaviour); have != had && !t.Failed() {
		t.Errorf("%s says otherwise: go test ./fetch/httpcache/conformance -run Required -update\n%s",
			page, firstDifference(had, have))
	}
}

func TestSuiteFailsAProxyWithoutCache(t *testing.T) {
	t.Parallel()
	tools := suite(t)
	all := score(t, tools, "private",
		front(t, tools, func(rt http.RoundTripper) http.RoundTripper { return rt }))
	if p, n := count(all, "required"); p > n/2 || p < n/5 {
		t.Errorf("without a cache %d of %d are passed, want about a third", p, n)
	}
}
