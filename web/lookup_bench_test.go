//go:build !race

package web_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"example.com/quire/web"
)

// BenchmarkLookup is a whole request through ServeHTTP under the secure profile.
// Each request of a pass has values of its own; the handler reads them, and
// status, route and values are checked outside the timer.
func BenchmarkLookup(b *testing.B) {
	var static []string
	for i := range 157 {
		static = append(static, fmt.Sprintf("/section%d/part%d/page%d.html", i%5, i%11, i))
	}
	for _, x := range []struct {
		name     string
		patterns []string
		method   string
		want     int
	}{
		{"static", static, "GET", 204},
		{"params-1", []string{"/x/{a}"}, "GET", 204},
		{"params-5", []string{"/x/{a}/{b}/{c}/{d}/{e}"}, "GET", 204},
		{"mixed", []string{"/u/new", "/u/{id}", "/u/new/draft", "/u/{id}/posts", "/u/{id}/posts/{post}"}, "GET", 204},
		{"method-not-allowed", []string{"/u/{id}"}, "POST", 405},
	} {
		b.Run(x.name, func(b *testing.B) { benchmarkLookup(b, x.patterns, x.method, x.want) })
	}
}

func benchmarkLookup(b *testing.B, patterns []string, method string, want int) {
	b.Helper()
	app, err := web.New(web.Options{Logger: discard})
	if err != nil {
		b.Fatal(err)
	}
	route, length := 0, 0
	for i, p := range patterns {
		var names []string
		for part := range strings.SplitSeq(p, "/") {
			if strings.HasPrefix(part, "{") {
				names = append(names, strings.Trim(part, "{}"))
			}
		}
		app.GET(p, func(c *web.Context) error {
			route, length = i, 0
			for _, n := range names {
				length += len(c.Param(n))
			}
			return c.NoContent(204)
		})
	}
	type input struct {
		r             http.Request
		w             nullWriter
		route, length int
		gotR, gotL    int
	}
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed stream of inputs
	inputs := make([]input, 512)
	fill := func() {
		for i := range inputs {
			in := &inputs[i]
			k := rng.IntN(len(patterns))
			in.route, in.length = k, 0
			parts := strings.Split(patterns[k], "/")
			for j, part := range parts {
				if strings.HasPrefix(part, "{") {
					parts[j] = fmt.Sprintf("new%x", rng.Uint64())
					in.length += len(parts[j])
				}
			}
			if in.w.header == nil {
				in.w.header = http.Header{}
			}
			clear(in.w.header)
			in.w.code = 0
			in.r = http.Request{Method: method, URL: &url.URL{Path: strings.Join(parts, "/")}, Host: "localhost", Body: http.NoBody, Header: http.Header{"Accept": {"*/*"}}}
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += len(inputs) {
		b.StopTimer()
		fill()
		b.StartTimer()
		for i := range inputs[:min(len(inputs), b.N-done)] {
			in := &inputs[i]
			app.ServeHTTP(&in.w, &in.r)
			in.gotR, in.gotL = route, length
		}
		b.StopTimer()
		for i := range inputs[:min(len(inputs), b.N-done)] {
			in := &inputs[i]
			if in.w.code != want || (want == 204 && (in.gotR != in.route || in.gotL != in.length)) {
				b.Fatalf("%s: status %d, route %d with %d bytes of values, want %d with %d", in.r.URL.Path, in.w.code, in.gotR, in.gotL, in.route, in.length)
			}
		}
		b.StartTimer()
	}
}

// BenchmarkString is a small text, alone and in parallel.
func BenchmarkString(b *testing.B) {
	app, err := web.New(web.Options{Logger: discard})
	if err != nil {
		b.Fatal(err)
	}
	app.GET("/hello", func(c *web.Context) error { return c.String(200, "hello") })
	serve := func(b *testing.B, next func() bool) {
		b.Helper()
		r := httptest.NewRequestWithContext(b.Context(), "GET", "/hello", nil)
		w := &nullWriter{header: http.Header{}}
		for next() {
			clear(w.header)
			w.n = 0
			app.ServeHTTP(w, r)
			if w.code != 200 || w.n != len("hello") {
				b.Errorf("status %d, %d bytes", w.code, w.n)
				return
			}
		}
	}
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		serve(b, b.Loop)
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) { serve(b, pb.Next) })
	})
}
