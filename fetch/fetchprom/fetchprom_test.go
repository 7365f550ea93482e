package fetchprom

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/quire/fetch/observe"
	"example.com/quire/internal/judgetest"
)

type source struct{ s observe.State }

func (s *source) State() observe.State { return s.s }

func scrape(t *testing.T, src observe.Source) string {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(New(src)); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatal(w.Body.String())
	}
	return w.Body.String()
}

func full() *source {
	return &source{observe.State{
		InFlight: 1,
		Cache:    &observe.CacheState{Hits: 7, Misses: 3, Entries: 2, Bytes: 99},
		Limits:   observe.LimitState{RateLimited: 4, Overloaded: 5, Waited: 1500 * time.Millisecond},
		Origins: []observe.Origin{{
			Origin: "https://api.example", InFlight: 1, Attempts: 12, Collapsed: 2, BudgetSpent: 1, Breaker: "half-open", Seconds: 2.5, P50: time.Second, Samples: 9,
			Requests: []observe.Count{{Method: "GET", Code: 200, N: 8}, {Method: "GET", N: 1}},
			Errors:   []observe.Count{{Name: "timeout", N: 1}}, Retries: []observe.Count{{Name: "status 503", N: 3}}, Hedges: []observe.Count{{Name: "won", N: 1}},
		}},
	}}
}

func TestMetricsOfAClient(t *testing.T) {
	text := scrape(t, full())
	for _, want := range []string{
		`fetch_client_requests_total{code="200",method="GET",origin="https://api.example"} 8`,
		`fetch_client_requests_total{code="0",method="GET",origin="https://api.example"} 1`,
		`fetch_client_request_duration_seconds{origin="https://api.example",quantile="0.5"} 1`,
		`fetch_client_request_duration_seconds_sum{origin="https://api.example"} 2.5`,
		`fetch_client_request_duration_seconds_count{origin="https://api.example"} 9`,
		`fetch_client_in_flight{origin="https://api.example"} 1`,
		`fetch_client_attempts_total{origin="https://api.example"} 12`,
		`fetch_client_retries_total{origin="https://api.example",reason="status 503"} 3`,
		`fetch_client_hedges_total{origin="https://api.example",result="won"} 1`,
		`fetch_client_breaker_state{origin="https://api.example",state="half-open"} 1`,
		`fetch_client_breaker_state{origin="https://api.example",state="open"} 0`,
		`fetch_client_limiter_rejected_total{key="rate"} 4`,
		`fetch_client_limiter_wait_seconds_total 1.5`,
		`fetch_client_cache_requests_total{result="hit"} 7`,
		`fetch_client_cache_bytes 99`, `fetch_client_cache_entries 2`,
		`fetch_client_collapsed_total{origin="https://api.example"} 2`,
		`fetch_client_budget_exhausted_total{origin="https://api.example"} 1`,
		`fetch_client_errors_total{origin="https://api.example",type="timeout"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("missing %s in\n%s", want, text)
		}
	}
}

func TestOriginsBeyondTheBoundAreFolded(t *testing.T) {
	s := &source{}
	for i := range 1000 {
		s.s.Origins = append(s.s.Origins, observe.Origin{Origin: fmt.Sprintf("http://%d.example", i), Breaker: "closed", Requests: []observe.Count{{Method: "GET", Code: 200, N: int64(i)}}})
	}
	text := scrape(t, s)
	sum := 0
	for i := range 800 {
		sum += i
	}
	if n := strings.Count(text, "fetch_client_requests_total{"); n != maxOrigins+1 || !strings.Contains(text, fmt.Sprintf(`fetch_client_requests_total{code="200",method="GET",origin="other"} %d`, sum)) {
		t.Errorf("%d origins, other is not %d", n, sum)
	}
	if !strings.Contains(text, `origin="http://999.example"`) || strings.Contains(text, `origin="http://5.example"`) {
		t.Error("not the busiest are shown")
	}
}

func TestRegisteredTwiceOrWrapped(t *testing.T) {
	reg := prometheus.NewRegistry()
	for _, r := range []prometheus.Registerer{prometheus.WrapRegistererWith(prometheus.Labels{"client": "a"}, reg), prometheus.WrapRegistererWith(prometheus.Labels{"client": "b"}, reg)} {
		if err := r.Register(New(full())); err != nil {
			t.Error(err)
		}
	}
	if _, err := reg.Gather(); err != nil {
		t.Error(err)
	}
	twice := prometheus.NewRegistry()
	c := New(full())
	if err := twice.Register(c); err != nil {
		t.Fatal(err)
	}
	if err := twice.Register(c); err == nil {
		t.Error("the same collector twice is no error of the registry's")
	}
}

func TestPromtoolFindsNoFault(t *testing.T) {
	tool := judgetest.Program(t, "promtool", judgetest.Install)
	check := func(text string) (string, error) {
		cmd := exec.CommandContext(t.Context(), tool, "check", "metrics")
		cmd.Stdin = strings.NewReader(text)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	if out, err := check(scrape(t, full())); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := check("# HELP a_total x\n# TYPE a_total gauge\na_total 1\n"); err == nil {
		t.Error("promtool finds no fault in a gauge called total")
	}
}
