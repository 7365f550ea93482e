package webprom_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/quire/internal/judgetest"
	"example.com/quire/web"
	"example.com/quire/web/webprom"
)

// counted is an App whose metrics stand under /metrics, which counts itself too.
func counted(t *testing.T, o webprom.Options) *web.App {
	t.Helper()
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	count, err := webprom.New(registry, o)
	if err != nil {
		t.Fatal(err)
	}
	app.Use(count)
	app.GET("/metrics", web.FromStd(promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})))
	return app
}

func ask(t *testing.T, app http.Handler, method, target string) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	defer func() { _ = recover() }() // an answer that is cut
	app.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, nil))
	return w.Code, w.Body.String()
}

func TestRequestsAreCountedByPattern(t *testing.T) {
	app := counted(t, webprom.Options{Labels: map[string]string{"service": "shop"}})
	app.GET("/items/{id}", func(c *web.Context) error { return c.String(http.StatusOK, "12345") })
	app.POST("/items/{id}", func(*web.Context) error { return web.NewProblem(http.StatusConflict, "", nil) })
	app.GET("/fails", func(*web.Context) error { return errors.New("no") })
	app.GET("/panics", func(*web.Context) error { panic("no") })
	app.GET("/cut", func(c *web.Context) error {
		if _, err := io.WriteString(c.Writer(), "123"); err != nil {
			return err
		}
		panic(http.ErrAbortHandler)
	})
	for range 3 {
		ask(t, app, "GET", "/items/7")
	}
	ask(t, app, "HEAD", "/items/8?x=y")
	ask(t, app, "POST", "/items/9")
	ask(t, app, "PROPFIND", "/items/9")
	ask(t, app, "GET", "/nowhere")
	ask(t, app, "GET", "/fails")
	ask(t, app, "GET", "/panics")
	ask(t, app, "GET", "/cut")
	_, text := ask(t, app, "GET", "/metrics")
	for _, want := range []string{
		`http_server_requests_total{method="GET",route="/items/{id}",service="shop",status="2xx"} 3`,
		`http_server_requests_total{method="HEAD",route="/items/{id}",service="shop",status="2xx"} 1`,
		`http_server_requests_total{method="POST",route="/items/{id}",service="shop",status="4xx"} 1`,
		`http_server_requests_total{method="other",route="other",service="shop",status="4xx"} 1`,
		`http_server_requests_total{method="GET",route="other",service="shop",status="4xx"} 1`,
		`http_server_requests_total{method="GET",route="/fails",service="shop",status="5xx"} 1`,
		`http_server_requests_total{method="GET",route="/panics",service="shop",status="5xx"} 1`,
		`http_server_requests_total{method="GET",route="/cut",service="shop",status="2xx"} 1`,
		`http_server_request_errors_total{method="GET",route="/fails",service="shop"} 1`,
		`http_server_request_errors_total{method="GET",route="/panics",service="shop"} 1`,
		`http_server_request_errors_total{method="GET",route="/cut",service="shop"} 1`,
		`http_server_request_errors_total{method="GET",route="/items/{id}",service="shop"} 0`,
		`http_server_request_duration_seconds_count{method="GET",route="/items/{id}",service="shop",status="2xx"} 3`,
		`http_server_request_duration_seconds_bucket{method="GET",route="/items/{id}",service="shop",status="2xx",le="+Inf"} 3`,
		`http_server_response_bytes_total{method="GET",route="/items/{id}",service="shop",status="2xx"} 15`,
		`http_server_response_bytes_total{method="HEAD",route="/items/{id}",service="shop",status="2xx"} 0`,
		`http_server_response_bytes_total{method="GET",route="/cut",service="shop",status="2xx"} 3`,
		`http_server_requests_in_flight{method="GET",route="/items/{id}",service="shop"} 0`,
		`http_server_requests_in_flight{method="GET",route="/metrics",service="shop"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("not there: %s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestClientsCannotMakeSeries: whatever they ask for, the page of metrics grows no more.
func TestClientsCannotMakeSeries(t *testing.T) {
	app := counted(t, webprom.Options{})
	app.GET("/items/{id}", func(c *web.Context) error { return c.NoContent(http.StatusNoContent) })
	once := func(i int) {
		n := strconv.Itoa(i)
		for _, target := range []string{"/items/" + n, "/nowhere/" + n, "/items/" + n + "/x"} {
			for _, method := range []string{"GET", "POST", "X" + n} {
				ask(t, app, method, target)
			}
		}
	}
	series := func() int {
		_, text := ask(t, app, "GET", "/metrics")
		return len(regexp.MustCompile(`(?m)^http_server_`).FindAllString(text, -1))
	}
	once(0)
	series() // counts itself from the second time on
	first := series()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 50 {
				once(1 + g*50 + i)
			}
		})
	}
	all.Wait()
	if n := series(); n != first || n == 0 {
		t.Errorf("%d series after 1,800 requests, %d before", n, first)
	}
}

func TestWrongOptionsAndNamesThatAreTaken(t *testing.T) {
	for _, buckets := range [][]float64{{0}, {2, 1}, {1, 1}} {
		if _, err := webprom.New(prometheus.NewRegistry(), webprom.Options{Buckets: buckets}); err == nil {
			t.Errorf("%v was taken", buckets)
		}
	}
	r := prometheus.NewRegistry()
	taken := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "http_server_requests_in_flight", Help: "Requests under way."}, []string{"route", "method"})
	if err := r.Register(taken); err != nil {
		t.Fatal(err)
	}
	if _, err := webprom.New(r, webprom.Options{}); err == nil {
		t.Error("a name that is taken was registered")
	}
	r.Unregister(taken)
	if _, err := webprom.New(r, webprom.Options{}); err != nil {
		t.Errorf("what was registered before the failure has stayed: %v", err)
	}
}

// TestMetricsAreGoodByPromtool holds names and help against the linter of Prometheus.
func TestMetricsAreGoodByPromtool(t *testing.T) {
	promtool := judgetest.Program(t, "promtool", judgetest.Install)
	app := counted(t, webprom.Options{})
	ask(t, app, "GET", "/metrics")
	_, text := ask(t, app, "GET", "/metrics")
	for page, good := range map[string]bool{text: true, strings.ReplaceAll(text, "http_server_requests_total", "http_server_requests"): false} {
		cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics") //nolint:gosec // the judge that was installed
		cmd.Stdin = strings.NewReader(page)
		out, err := cmd.CombinedOutput()
		if (err == nil && len(out) == 0) != good {
			t.Errorf("good is %t: %v\n%s", good, err, out)
		}
	}
}
