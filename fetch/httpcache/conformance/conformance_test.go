// Package conformance holds the cache against judges of others: http-cache-tests, http-cache-semantics and hishel.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
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
)

const install = "./tools/install-judges"

// judge returns the absolute path of what a judge needs, or skips; with REQUIRE_JUDGES=1 absence is a failure.
func judge(t *testing.T, name, path string) string {
	t.Helper()
	full, err := filepath.Abs(filepath.Join("..", "..", "..", ".tools", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(full); err == nil {
		if _, err := exec.LookPath("node"); err == nil {
			return full
		}
	}
	if os.Getenv("REQUIRE_JUDGES") == "1" {
		t.Fatalf("missing judge: %s: %s", name, install)
	}
	t.Skipf("missing judge: %s: %s", name, install)
	return ""
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
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "node", "--no-warnings", "--import", loopback, "server/server.mjs") //nolint:gosec // our own arguments
	cmd.Dir = filepath.Join(tools, "package")
	cmd.Env = append(os.Environ(), "npm_config_protocol=http", "npm_config_port="+port, "npm_config_pidfile="+filepath.Join(t.TempDir(), "server.pid"))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // ended by the signal
	})
	var d net.Dialer
	for range 2400 {
		c, err := d.DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = c.Close()
			u, err := url.Parse("http://" + address)
			if err != nil {
				t.Fatal(err)
			}
			return u
		}
		<-time.After(25 * time.Millisecond)
	}
	t.Fatal("the suite's server does not listen")
	return nil
}

// score runs the suite through a reverse proxy over rt.
func score(t *testing.T, tools string, shared bool, wrap func(http.RoundTripper) http.RoundTripper) []outcome {
	t.Helper()
	target := origin(t, tools)
	// Without kept connections: net/http sends again by itself on one that died, and some tests hang up.
	base := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: wrap(base),
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	front := httptest.NewServer(proxy)
	defer front.Close()
	mode := "private"
	if shared {
		mode = "shared"
	}
	cmd := exec.CommandContext(t.Context(), "node", "--no-warnings", "run.mjs", tools, mode, front.URL) //nolint:gosec // our own arguments
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

// The suite's counts, and the most exceptions there may be.
const (
	requiredPrivate, requiredShared = 147, 157
	mostExceptions                  = 14
)

var update = flag.Bool("update", false, "write docs/http-cache-tests.md") //nolint:gochecknoglobals // a flag of the test

func TestEveryRequiredTestOfTheSuiteIsPassed(t *testing.T) {
	t.Parallel()
	tools := judge(t, "http-cache-tests", "cachetests/package")
	tools = filepath.Dir(tools)
	var private, shared []outcome
	var wg sync.WaitGroup
	wg.Go(func() { private = score(t, tools, false, cached(t, false)) })
	wg.Go(func() { shared = score(t, tools, true, cached(t, true)) })
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
	_, _ = fmt.Fprintf(os.Stdout, "private %d/%d shared %d/%d exceptions %d\n", p, ofP, s, ofS, len(excused))
	if ofP != requiredPrivate || ofS != requiredShared || len(excused) > mostExceptions {
		t.Errorf("the suite has %d and %d required tests, want %d and %d, with at most %d exceptions", ofP, ofS, requiredPrivate, requiredShared, mostExceptions)
	}
	if *update {
		writeTable(t, private, shared, excused)
	}
}

func TestSuiteFailsAProxyWithoutCache(t *testing.T) {
	t.Parallel()
	tools := filepath.Dir(judge(t, "http-cache-tests", "cachetests/package"))
	all := score(t, tools, false, func(rt http.RoundTripper) http.RoundTripper { return rt })
	if p, n := count(all, "required"); p > n/2 || p < n/5 {
		t.Errorf("without a cache %d of %d are passed, want about a third", p, n)
	}
}

// writeTable writes the page with every outcome.
func writeTable(t *testing.T, private, shared []outcome, excused map[string]exception) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# http-cache-tests\n\nWhat the suite [http-cache-tests](https://cache-tests.fyi/) 0.4.5 says of `fetch/httpcache`, of ")
	b.WriteString(time.Now().UTC().Format(time.DateOnly))
	b.WriteString(". `go test ./fetch/httpcache/conformance -run Required -update` writes this page.\n\n| mode | required | optimal | behaviour checks |\n|---|---|---|---|\n")
	for _, run := range []struct {
		mode string
		all  []outcome
	}{{"private", private}, {"shared", shared}} {
		fmt.Fprintf(&b, "| %s |", run.mode)
		for _, kind := range []string{"required", "optimal", "check"} {
			p, n := count(run.all, kind)
			fmt.Fprintf(&b, " %d of %d |", p, n)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nA behaviour check asks what a cache does, and has no right answer.\n\n## Required tests that are not passed\n\n| test | section | why that is right | our own test |\n|---|---|---|---|\n")
	for _, id := range slices.Sorted(maps.Keys(excused)) {
		e := excused[id]
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", e.ID, e.Section, e.Reason, e.Test)
	}
	b.WriteString("\n## Every test\n\n| test | kind | private | shared |\n|---|---|---|---|\n")
	in := map[string][2]string{}
	kinds := map[string]string{}
	for i, all := range [][]outcome{private, shared} {
		for _, o := range all {
			cell := in[o.ID]
			if cell[i] = "no"; o.Pass {
				cell[i] = "yes"
			}
			in[o.ID], kinds[o.ID] = cell, o.Kind
		}
	}
	for _, id := range slices.Sorted(maps.Keys(in)) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", id, kinds[id], in[id][0], in[id][1])
	}
	if err := os.WriteFile(filepath.Join("..", "..", "..", "docs", "http-cache-tests.md"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
