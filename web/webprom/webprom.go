// Package webprom counts the responses of an App for Prometheus.
//
//	count, err := webprom.New(prometheus.DefaultRegisterer, webprom.Options{})
//	if err != nil {
//		return err
//	}
//	app.Use(count)
//	app.GET("/metrics", web.FromStd(promhttp.Handler()))
//
// The metrics are
//
//	http_server_requests_total{route,method,status}              counter
//	http_server_request_errors_total{route,method}               counter: 5xx, panics and answers that were cut
//	http_server_request_duration_seconds{route,method,status}    histogram, until the handler has returned
//	http_server_requests_in_flight{route,method}                 gauge
//	http_server_response_bytes_total{route,method,status}        counter, of bodies as they are sent
//
// No client can make a time series: the route is the pattern of a route that is registered, and
// "other" for what matches none; a method that is not one of RFC 9110, PATCH or QUERY is "other";
// the status is its class, 2xx. So a route has at most 60 series for each metric by status.
//
// Danger: the page of metrics tells about the whole program. Serve it on an address of its own or
// behind authentication.
package webprom

import (
	"cmp"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/quire/web"
)

// Options configure New.
type Options struct {
	// Buckets are the upper bounds of the durations in seconds, ascending. Default: from 1 ms to
	// 10 s.
	Buckets []float64
	// Labels are put on all metrics, such as the name of the service. Default: none.
	Labels map[string]string
}

// other stands for what is not of a fixed set.
const other = "other"

var defaultBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

var methods = map[string]string{
	http.MethodGet: http.MethodGet, http.MethodHead: http.MethodHead, http.MethodPost: http.MethodPost, http.MethodPut: http.MethodPut,
	http.MethodPatch: http.MethodPatch, http.MethodDelete: http.MethodDelete, http.MethodConnect: http.MethodConnect,
	http.MethodOptions: http.MethodOptions, http.MethodTrace: http.MethodTrace, "QUERY": "QUERY",
}

// New makes a middleware that counts, and registers its metrics: two of one registerer need
// different Labels. It answers errors of the handlers inside, so that the status it counts is
// final. It stands outermost, beside the access log.
func New(r prometheus.Registerer, o Options) (web.Middleware, error) {
	if o.Buckets == nil {
		o.Buckets = defaultBuckets
	}
	for i, b := range o.Buckets {
		if !(b > 0) || i > 0 && !(b > o.Buckets[i-1]) {
			return nil, &web.ConfigError{Field: "Options.Buckets", Got: o.Buckets, Want: "seconds above 0, ascending"}
		}
	}
	wide, narrow := []string{"route", "method", "status"}, []string{"route", "method"}
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "http_server_requests_total", Help: "Requests that were answered.", ConstLabels: o.Labels}, wide),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "http_server_request_errors_total", Help: "Requests that failed by the server's fault: 5xx, panics, answers that were cut.", ConstLabels: o.Labels,
		}, narrow),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_server_request_duration_seconds", Help: "Time until the handler has returned.", ConstLabels: o.Labels, Buckets: o.Buckets,
		}, wide),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "http_server_requests_in_flight", Help: "Requests under way.", ConstLabels: o.Labels}, narrow),
		bytes:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "http_server_response_bytes_total", Help: "Bytes of bodies as they are sent.", ConstLabels: o.Labels}, wide),
	}
	all := []prometheus.Collector{m.requests, m.errors, m.duration, m.inFlight, m.bytes}
	for i, c := range all {
		if err := r.Register(c); err != nil {
			for _, c := range all[:i] {
				r.Unregister(c)
			}
			return nil, err
		}
	}
	return m.wrap, nil
}

type metrics struct {
	requests, errors, bytes *prometheus.CounterVec
	duration                *prometheus.HistogramVec
	inFlight                *prometheus.GaugeVec
	series                  sync.Map // of key: *series. Routes and methods bound it
}

// key is what a request is known by when it begins.
type key struct{ route, method string }

// series are the metrics of a key, looked up once.
type series struct {
	inFlight prometheus.Gauge
	errors   prometheus.Counter
	classes  [6]struct {
		once            sync.Once
		requests, bytes prometheus.Counter
		duration        prometheus.Observer
	}
}

func (m *metrics) wrap(next web.Handler) web.Handler {
	return func(c *web.Context) error {
		k := key{other, methods[c.Request().Method]}
		if r := c.Route(); r != nil {
			info := r.Info()
			k.route = info.Host + info.Pattern
		}
		k.method = cmp.Or(k.method, other)
		s := m.of(k)
		s.inFlight.Inc()
		start := time.Now()
		returned := false
		defer func() {
			s.inFlight.Dec()
			status, failed := c.Status(), !returned
			if failed && c.Written() == 0 {
				status = http.StatusInternalServerError // a panic passes by; the App answers it
			}
			m.count(s, k, status, failed, c.Written(), time.Since(start))
		}()
		if err := next(c); err != nil {
			c.Error(err)
		}
		returned = true
		return nil
	}
}

func (m *metrics) of(k key) *series {
	if s, ok := m.series.Load(k); ok {
		return s.(*series) //nolint:forcetypeassert // it holds nothing else
	}
	s, _ := m.series.LoadOrStore(k, &series{inFlight: m.inFlight.WithLabelValues(k.route, k.method), errors: m.errors.WithLabelValues(k.route, k.method)})
	return s.(*series) //nolint:forcetypeassert // as above
}

func (m *metrics) count(s *series, k key, status int, failed bool, bytes int64, took time.Duration) {
	class := status / 100
	if class < 1 || class > 5 {
		class = 2 // the handler has said nothing, which is 200
	}
	f := &s.classes[class]
	f.once.Do(func() {
		label := strconv.Itoa(class) + "xx"
		f.requests = m.requests.WithLabelValues(k.route, k.method, label)
		f.bytes = m.bytes.WithLabelValues(k.route, k.method, label)
		f.duration = m.duration.WithLabelValues(k.route, k.method, label)
	})
	f.requests.Inc()
	f.bytes.Add(float64(bytes))
	f.duration.Observe(took.Seconds())
	if failed || class == 5 {
		s.errors.Inc()
	}
}
