package fetch

import (
	"crypto/tls"
	"errors"
	"math"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/observe"
	"example.com/quire/fetch/retry"
)

func TestNewRejectsWrongConfigs(t *testing.T) {
	var nilJar *cookiejar.Jar
	var nilBase *http.Transport
	for _, c := range []struct {
		field string
		c     Config
	}{
		{"Base", Config{Base: nilBase}},
		{"Jar", Config{Jar: nilJar}},
		{"Transport", Config{Base: &http.Transport{}, Transport: TransportConfig{DialTimeout: 1}}},
		{"Transport.DialTimeout", Config{Transport: TransportConfig{DialTimeout: -1}}},
		{"Transport.MaxIdleConnsPerHost", Config{Transport: TransportConfig{MaxIdleConnsPerHost: -1}}},
		{"Transport.MaxHeaderBytes", Config{Transport: TransportConfig{MaxHeaderBytes: -1}}},
		{"Transport.TLS.MinVersion", Config{Transport: TransportConfig{TLS: &tls.Config{MinVersion: tls.VersionTLS11}}}}, //nolint:gosec // what is refused
		{"Total", Config{Total: -1}},
		{"Attempt", Config{Total: time.Second, Attempt: time.Minute}},
		{"BodyIdle", Config{BodyIdle: -1}},
		{"MaxBody", Config{MaxBody: -2}},
		{"MaxRedirects", Config{MaxRedirects: -2}},
		{"Drain.MaxBytes", Config{Drain: DrainConfig{MaxBytes: -1}}},
		{"Drain.Wait", Config{Drain: DrainConfig{Wait: -1}}},
		{"Retry.Backoff.Base", Config{Retry: retry.Policy{Backoff: retry.Exponential{Base: 2, Max: 1}}}},
		{"Retry.Backoff.Factor", Config{Retry: retry.Policy{Backoff: retry.Exponential{Factor: 0.9}}}},
		{"Budget.Ratio", Config{Budget: retry.BudgetConfig{Ratio: math.NaN()}}},
		{"Breaker.FailureRatio", Config{Breaker: breaker.Config{FailureRatio: 1.01}}},
		{"Breaker.Buckets", Config{Breaker: breaker.Config{Window: 50 * time.Millisecond}}},
		{"Middleware", Config{Middleware: []Layer{nil}}},
		{"PerAttempt", Config{PerAttempt: []Layer{nil}}},
		{"Observers", Config{Observers: []observe.Func{nil}}},
		{"Decoders", Config{Decoders: map[string]Decoder{"br": nil}}},
		{"Decoders", Config{Decoders: map[string]Decoder{"b r": gunzip}}},
		{"Header", Config{Header: http.Header{"a b": {"x"}}}},
		{"Header", Config{Header: http.Header{"A": {"x\r\nB: y"}}}},
		{"UserAgent", Config{UserAgent: "a\nb"}},
		{"DeadlineHeader", Config{DeadlineHeader: "a:b"}},
		{"DeadlineHeader", Config{DeadlineHeader: "date"}},
		{"IdempotencyHeader", Config{IdempotencyHeader: "If-Match"}},
		{"RequestID.Header", Config{RequestID: RequestIDConfig{Header: "content-length"}}},
		{"BaseURL", Config{BaseURL: "https://a.example?x=1"}},
		{"BaseURL", Config{BaseURL: "/v1"}},
		{"BaseURL", Config{BaseURL: "ftp://a.example"}},
		{"BaseURL", Config{BaseURL: "https://" + "u:p@" + "a.example"}},
		{"BaseURL", Config{BaseURL: "https://a.example/%zz"}},
	} {
		cl, err := New(c.c)
		ce, ok := errors.AsType[*ConfigError](err)
		if !ok || cl != nil || ce.Field != c.field || ce.Want == "" || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: got %v", c.field, err)
		}
		if err != nil && strings.Contains(err.Error(), "u:p@") {
			t.Errorf("the error quotes credentials: %v", err)
		}
	}
}

func TestEveryMistakeInAConfigIsNamed(t *testing.T) {
	_, err := New(Config{Total: -1, MaxBody: -5, Retry: retry.Policy{MaxAttempts: -1, Backoff: retry.Exponential{Base: -1}}, BaseURL: "x"})
	var fields []string
	for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
		if ce, ok := errors.AsType[*ConfigError](one); ok {
			fields = append(fields, ce.Field)
		}
	}
	want := []string{"Total", "MaxBody", "Retry.MaxAttempts", "Retry.Backoff.Base", "BaseURL"}
	if !slices.Equal(fields, want) {
		t.Errorf("got %v, want %v", fields, want)
	}
}

func TestLargeValuesAreNoMistakes(t *testing.T) {
	c, err := New(Config{Total: 24 * time.Hour, Attempt: 20 * time.Hour, MaxRedirects: 1000, MaxBody: 1 << 50, Retry: retry.Policy{MaxAttempts: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDefaultsAreCutToFit(t *testing.T) {
	for _, c := range []struct{ set, want Config }{
		{Config{}, Config{Total: 30 * time.Second, Attempt: 10 * time.Second}},
		{Config{Total: time.Second}, Config{Total: time.Second, Attempt: time.Second}},
		{Config{Attempt: time.Minute}, Config{Total: time.Minute, Attempt: time.Minute}},
	} {
		got := c.set.withDefaults()
		if got.Total != c.want.Total || got.Attempt != c.want.Attempt || got.BodyIdle != 15*time.Second || got.MaxBody != 32<<20 || got.MaxRedirects != 10 {
			t.Errorf("%+v", got)
		}
	}
	tr := TransportConfig{}.withDefaults()
	own := newTransport(TransportConfig{TLS: &tls.Config{ServerName: "x"}}.withDefaults())
	if tr.DialTimeout != 5*time.Second || tr.MaxIdleConnsPerHost != 64 || own.TLSClientConfig.MinVersion != tls.VersionTLS12 || own.TLSClientConfig.ServerName != "x" || own.Proxy != nil {
		t.Errorf("%+v, %+v", tr, own.TLSClientConfig)
	}
}

// TestMiddlewareAndPerAttempt counts where they stand.
func TestMiddlewareAndPerAttempt(t *testing.T) {
	count := func(n *int) Layer {
		return func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) { *n++; return next.RoundTrip(r) })
		}
	}
	var calls, attempts int
	c, _ := over(t, Config{Middleware: []Layer{count(&calls)}, PerAttempt: []Layer{count(&attempts)}, Retry: noWait()}, fetchtest.Step{}.Status(503), fetchtest.Step{})
	resp, err := c.Get(t.Context(), "http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	if read(t, resp); calls != 1 || attempts != 2 {
		t.Errorf("%d calls, %d attempts", calls, attempts)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
