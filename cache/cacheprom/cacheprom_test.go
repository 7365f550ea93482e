package cacheprom_test

import (
	"net/http/httptest"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/quire/cache"
	"example.com/quire/cache/cacheprom"
	"example.com/quire/internal/judgetest"
)

type fixed cache.Stats

func (f fixed) Stats() cache.Stats { return cache.Stats(f) }

func scrape(t *testing.T, s cacheprom.Source) string {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(cacheprom.New(s)); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatal(w.Body.String())
	}
	return w.Body.String()
}

// different gives every field of Stats another value.
func different(t *testing.T, name string) (fixed, []float64) {
	t.Helper()
	s := cache.Stats{Name: name}
	var all []float64
	for i, v := 0, reflect.ValueOf(&s).Elem(); i < v.NumField(); i++ {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int64:
			f.SetInt(int64(100 + i))
			if f.Type() == reflect.TypeFor[time.Duration]() {
				f.SetInt(int64(100+i) * int64(time.Second))
			}
		case reflect.Uint64:
			f.SetUint(uint64(100 + i))
		case reflect.String:
			continue
		case reflect.Struct:
			s.Propagation = cache.Histogram{Buckets: [16]uint64{0: uint64(90 + i), 1: 4, 15: 6}, Sum: time.Second}
		default:
			t.Fatalf("field %s", v.Type().Field(i).Name)
		}
		all = append(all, float64(100+i))
	}
	return fixed(s), all
}

// TestEveryStatisticIsShown once, under the name of its cache.
func TestEveryStatisticIsShown(t *testing.T) {
	a, values := different(t, "a")
	b, _ := different(t, "b")
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(cacheprom.New(a, b)); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil || len(families) != len(values) {
		t.Fatalf("%d metrics for %d statistics, %v", len(families), len(values), err)
	}
	seen := map[float64]bool{}
	for _, f := range families {
		if len(f.GetMetric()) != 2 {
			t.Errorf("%s: %v", f.GetName(), f.GetMetric())
		}
		m := f.GetMetric()[0]
		h := m.GetHistogram()
		seen[m.GetCounter().GetValue()+m.GetGauge().GetValue()+float64(h.GetSampleCount())] = true
		if h != nil && (h.GetSampleSum() != 1 || h.GetBucket()[0].GetUpperBound() != 0.0001 || h.GetBucket()[1].GetCumulativeCount() != h.GetSampleCount()-6) {
			t.Errorf("%s: %v", f.GetName(), h)
		}
		if (m.GetCounter() != nil) != strings.HasSuffix(f.GetName(), "_total") {
			t.Errorf("%s has the wrong type", f.GetName())
		}
	}
	for _, v := range values {
		if !seen[v] {
			t.Errorf("statistic %v is not shown", v)
		}
	}
}

func TestCacheIsASource(t *testing.T) {
	c, err := cache.New(cache.Options[string, string]{Name: "posts"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context()) //nolint:errcheck // nothing runs
	if err := c.Set(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	if text := scrape(t, c); !strings.Contains(text, "cache_sets_total{cache=\"posts\"} 1\n") {
		t.Error(text)
	}
}

func TestPromtoolFindsNoFault(t *testing.T) {
	tool := judgetest.Program(t, "promtool", judgetest.Install)
	s, _ := different(t, "a")
	cmd := exec.CommandContext(t.Context(), tool, "check", "metrics") //nolint:gosec // G204: a judge of ours
	cmd.Stdin = strings.NewReader(scrape(t, s))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
