// Package fetchprom exports the counters of a fetch.Client to Prometheus. It does no work per
// request: a scrape reads the client's state.
//
//	prometheus.MustRegister(fetchprom.New(client))
//
// All metrics begin with fetch_client_. Labels are bounded: origins beyond the 200 that had the
// most requests are folded into "other", and no label holds a path.
package fetchprom

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/quire/fetch/observe"
)

const maxOrigins = 200

// Collector is a prometheus.Collector. It is safe for concurrent use.
type Collector struct {
	src   observe.Source
	descs map[string]*prometheus.Desc
}

// New returns a collector for src, which *fetch.Client is.
func New(src observe.Source) *Collector {
	c := &Collector{src: src, descs: make(map[string]*prometheus.Desc)}
	for _, m := range metrics() {
		c.descs[m.name] = prometheus.NewDesc("fetch_client_"+m.name, m.help, m.labels, nil)
	}
	return c
}

type metric struct {
	name, help string
	labels     []string
}

func metrics() []metric {
	return []metric{
		{"requests_total", "Requests by origin, method and status; code 0 is an error.", []string{"origin", "method", "code"}},
		{"request_duration_seconds", "Time until the response headers, retries included; quantiles of the last minute.", []string{"origin"}},
		{"in_flight", "Requests under way.", []string{"origin"}},
		{"attempts_total", "Attempts, hedges included.", []string{"origin"}},
		{"retries_total", "Attempts that repeated one, by its outcome.", []string{"origin", "reason"}},
		{"hedges_total", "Extra legs by result.", []string{"origin", "result"}},
		{"breaker_state", "State of the origin's breaker: 1 for the one that it is in.", []string{"origin", "state"}},
		{"collapsed_total", "Requests that were answered by another's.", []string{"origin"}},
		{"budget_exhausted_total", "Requests not tried again because the retry budget was spent.", []string{"origin"}},
		{"errors_total", "Requests that ended in an error, by its type.", []string{"origin", "type"}},
		{"limiter_rejected_total", "Requests that a limit refused, by its kind.", []string{"key"}},
		{"limiter_wait_seconds_total", "Time that requests waited for limits.", nil},
		{"cache_requests_total", "Requests to the cache by result.", []string{"result"}},
		{"cache_bytes", "Bytes in the cache.", nil},
		{"cache_entries", "Entries in the cache.", nil},
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	s := c.src.State()
	g := gatherer{c: c, ch: ch, sums: make(map[string]*sum)}
	for _, o := range fold(s.Origins) {
		g.origin(&o)
	}
	for name, n := range map[string]int64{"rate": s.Limits.RateLimited, "in flight": s.Limits.Overloaded} {
		g.counter("limiter_rejected_total", float64(n), name)
	}
	g.counter("limiter_wait_seconds_total", s.Limits.Waited.Seconds())
	if cs := s.Cache; cs != nil {
		for result, n := range map[string]int64{"hit": cs.Hits, "stale": cs.Stale, "revalidated": cs.Revalidated, "miss": cs.Misses, "bypass": cs.Bypassed} {
			g.counter("cache_requests_total", float64(n), result)
		}
		g.gauge("cache_bytes", float64(cs.Bytes))
		g.gauge("cache_entries", float64(cs.Entries))
	}
	g.flush()
}

// fold leaves the busiest origins as they are and calls all others "other". Their breakers and
// percentiles are left out.
func fold(list []observe.Origin) []observe.Origin {
	if len(list) <= maxOrigins {
		return list
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b observe.Origin) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Origin, b.Origin))
	})
	for i := maxOrigins; i < len(list); i++ {
		list[i].Origin, list[i].Breaker, list[i].Samples = "other", "", 0
		list[i].P50, list[i].P95, list[i].P99 = 0, 0, 0
	}
	return list
}

// gatherer adds up what has the same labels, which folding makes, before it is sent.
type gatherer struct {
	c    *Collector
	ch   chan<- prometheus.Metric
	sums map[string]*sum
}

type sum struct {
	name   string
	kind   prometheus.ValueType
	v      float64
	labels []string
}

func (g *gatherer) add(name string, kind prometheus.ValueType, v float64, labels []string) {
	key := name + "\x00" + strings.Join(labels, "\x00")
	if s := g.sums[key]; s != nil {
		s.v += v
		return
	}
	g.sums[key] = &sum{name, kind, v, labels}
}

func (g *gatherer) counter(name string, v float64, labels ...string) {
	g.add(name, prometheus.CounterValue, v, labels)
}

func (g *gatherer) gauge(name string, v float64, labels ...string) {
	g.add(name, prometheus.GaugeValue, v, labels)
}

func (g *gatherer) flush() {
	for _, s := range g.sums {
		g.ch <- prometheus.MustNewConstMetric(g.c.descs[s.name], s.kind, s.v, s.labels...)
	}
}

func (g *gatherer) origin(o *observe.Origin) {
	for _, r := range o.Requests {
		g.counter("requests_total", float64(r.N), o.Origin, r.Method, strconv.Itoa(r.Code))
	}
	for _, list := range []struct {
		name   string
		counts []observe.Count
	}{{"retries_total", o.Retries}, {"hedges_total", o.Hedges}, {"errors_total", o.Errors}} {
		for _, c := range list.counts {
			g.counter(list.name, float64(c.N), o.Origin, c.Name)
		}
	}
	g.gauge("in_flight", float64(o.InFlight), o.Origin)
	g.counter("attempts_total", float64(o.Attempts), o.Origin)
	g.counter("collapsed_total", float64(o.Collapsed), o.Origin)
	g.counter("budget_exhausted_total", float64(o.BudgetSpent), o.Origin)
	if o.Breaker == "" {
		return
	}
	for _, state := range []string{"closed", "half-open", "open", "isolated", "disabled"} {
		v := 0.0
		if state == o.Breaker {
			v = 1
		}
		g.gauge("breaker_state", v, o.Origin, state)
	}
	g.ch <- prometheus.MustNewConstSummary(g.c.descs["request_duration_seconds"], uint64(max(o.Total(), 0)), o.Seconds,
		map[float64]float64{0.5: o.P50.Seconds(), 0.95: o.P95.Seconds(), 0.99: o.P99.Seconds()}, o.Origin)
}
