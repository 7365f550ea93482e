package fetch

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/retry"
)

type item struct {
	Name string `json:"name"`
	N    any    `json:"n,omitempty"`
}

func asJSON(body string) fetchtest.Step {
	return fetchtest.Step{}.Header("Content-Type", "application/json; charset=utf-8").Body(body)
}

func TestJSONCalls(t *testing.T) {
	c, tr := over(t, Config{}, asJSON(` {"name":"a","n":1.0} `), asJSON(`{"name":"b"}`), fetchtest.Step{}.Status(204),
		fetchtest.Step{}.Header("Content-Type", "application/hal+json").Body(`[1]`), fetchtest.Step{}.Header("Content-Type", "text/json").Body(`[1]`))
	got, err := GetJSON[item](t.Context(), c, "https://api.example/a")
	if err != nil || got.Name != "a" {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = JSON[item](t.Context(), c, "POST", "https://api.example/b", item{Name: "in"})
	if err != nil || got.Name != "b" {
		t.Errorf("%+v, %v", got, err)
	}
	if r := tr.Requests()[1]; string(r.Body) != `{"name":"in"}` || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("sent %q as %q", r.Body, r.Header.Get("Content-Type"))
	}
	if r := tr.Requests()[0]; r.Body != nil || r.Header.Get("Content-Type") != "" || !strings.HasPrefix(r.Header.Get("Accept"), "application/json") {
		t.Errorf("sent %q with %v", r.Body, r.Header)
	}
	none, err := JSON[*item](t.Context(), c, "DELETE", "https://api.example/b", nil)
	if err != nil || none != nil {
		t.Errorf("%+v, %v", none, err)
	}
	for range 2 {
		if raw, err := GetJSON[json.RawMessage](t.Context(), c, "https://api.example/c"); err != nil || string(raw) != "[1]" {
			t.Errorf("%s, %v", raw, err)
		}
	}
	if _, err := JSON[item](t.Context(), c, "POST", "https://api.example/b", math.NaN()); err == nil {
		t.Error("NaN was encoded")
	}
	if _, err := GetJSON[item](t.Context(), c, "relative"); !errors.Is(err, errNoBase) {
		t.Errorf("got %v", err)
	}
	tr.AssertClosed(t)
}

func TestBodiesThatAreNotTheJSON(t *testing.T) {
	for name, c := range map[string]struct {
		step fetchtest.Step
		want error
	}{
		"trailing value":   {asJSON(`{"name":"a"} {}`), ErrTrailingData},
		"trailing garbage": {asJSON(`{"name":"a"}x`), ErrTrailingData},
		"no media type":    {fetchtest.Step{}.Body(`{"name":"a"}`), ErrMediaType},
		"HTML":             {fetchtest.Step{}.Header("Content-Type", "text/html").Body(`<html>`), ErrMediaType},
		"like JSON":        {fetchtest.Step{}.Header("Content-Type", "application/jsonp").Body(`{}`), ErrMediaType},
		"empty":            {asJSON(""), ErrEmptyBody},
		"cut off":          {asJSON(`{"name":`), io.ErrUnexpectedEOF},
		"broken":           {asJSON(`{"name":"a"}`).WrongLength(99), io.ErrUnexpectedEOF},
		"too large":        {asJSON(`{"name":"` + strings.Repeat("a", 100) + `"}`), ErrBodyTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{}
			if name == "too large" {
				cfg.MaxBody = 50
			}
			cl, tr := over(t, cfg, c.step)
			got, err := GetJSON[item](t.Context(), cl, "https://api.example/a?token=s3cret")
			de, ok := errors.AsType[*DecodeError](err)
			if !ok || !errors.Is(err, c.want) || de.Status != 200 || got.Name != "" || IsTransient(err) ||
				!strings.Contains(err.Error(), "https://api.example/a?token=_, status 200") || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%+v, %v", got, err)
			}
			tr.AssertClosed(t)
		})
	}
	cl, _ := over(t, Config{}, asJSON(`{"name":1}`))
	_, err := GetJSON[item](t.Context(), cl, "https://api.example/")
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestDecodeOptions(t *testing.T) {
	get := func(body string) *http.Response {
		t.Helper()
		c, _ := over(t, Config{}, asJSON(body))
		resp, err := c.Get(t.Context(), "https://api.example/")
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	var v item
	if err := DecodeJSON(get(`{"nmae":"a"}`), &v, DecodeOptions{Strict: true}); err == nil || !strings.Contains(err.Error(), "nmae") { //nolint:bodyclose // DecodeJSON closes it
		t.Errorf("strict: %v", err)
	}
	if err := DecodeJSON(get(`{"n":1.10}`), &v, DecodeOptions{UseNumber: true}); err != nil || fmt.Sprint(v.N) != "1.10" { //nolint:bodyclose // DecodeJSON closes it
		t.Errorf("number: %v, %v", v.N, err)
	}
	for body, want := range map[string]error{`"12345678"`: nil, `"123456789"`: ErrBodyTooLarge, `"12345678" `: ErrBodyTooLarge} {
		var s string
		if err := DecodeJSON(get(body), &s, DecodeOptions{MaxBytes: 10}); !errors.Is(err, want) { //nolint:bodyclose // DecodeJSON closes it
			t.Errorf("%s: %v", body, err)
		}
	}
	if err := DecodeJSON(&http.Response{Header: http.Header{}, Body: http.NoBody}, &v, DecodeOptions{}); !errors.Is(err, ErrMediaType) {
		t.Errorf("got %v", err)
	}
}

func TestStatusErrors(t *testing.T) {
	page := "<html>" + strings.Repeat("error ", 2000)
	c, tr := over(t, Config{}, fetchtest.Step{}.Status(404).Header("Content-Type", "text/html").Body(page))
	_, err := GetJSON[item](t.Context(), c, "https://api.example/a?token=s3cret")
	se, ok := errors.AsType[*StatusError](err)
	if !ok || se.Status != 404 || string(se.Body) != page[:4<<10] || se.Header.Get("Content-Type") != "text/html" || StatusOf(err) != 404 || IsTransient(err) {
		t.Fatalf("got %+v", err)
	}
	if err.Error() != "GET https://api.example/a?token=_: status 404 Not Found" {
		t.Errorf("got %v", err)
	}
	tr.AssertClosed(t)
}

func TestProblemDocuments(t *testing.T) {
	problem := func(body string) fetchtest.Step {
		return fetchtest.Step{}.Status(422).Header("Content-Type", "application/problem+json").Body(body)
	}
	c, _ := over(t, Config{},
		problem(`{"type":"https://e.example/t","title":"No\nway","detail":"d","instance":"/i","status":200,"balance":30,"accounts":["a"]}`),
		problem(`{"type":7,"title":["x"],"detail":null,"instance":{},"status":"x","ok":true}`),
		problem(`[1]`), problem(`null`), problem(`{"title":`))
	_, err := GetJSON[item](t.Context(), c, "https://api.example/a")
	p, ok := errors.AsType[*ProblemError](err)
	if !ok || p.Type != "https://e.example/t" || p.Title != "No\nway" || p.Detail != "d" || p.Instance != "/i" || p.Status != 422 || StatusOf(err) != 422 {
		t.Fatalf("%+v", err)
	}
	if len(p.Extensions) != 2 || string(p.Extensions["balance"]) != "30" || string(p.Extensions["accounts"]) != `["a"]` {
		t.Errorf("extensions %s", p.Extensions)
	}
	if err.Error() != `GET https://api.example/a: status 422 Unprocessable Entity: "No\nway": "d"` {
		t.Errorf("got %v", err)
	}
	_, err = GetJSON[item](t.Context(), c, "https://api.example/a")
	p, ok = errors.AsType[*ProblemError](err)
	if !ok || p.Type != "about:blank" || p.Title != "" || p.Detail != "" || p.Instance != "" || p.Status != 422 || len(p.Extensions) != 1 {
		t.Errorf("%+v", err)
	}
	for range 3 {
		_, err = GetJSON[item](t.Context(), c, "https://api.example/a")
		if _, ok := errors.AsType[*StatusError](err); !ok {
			t.Errorf("%+v", err)
		}
	}
}

func TestIsTransientAndRetryAfter(t *testing.T) {
	for code := 300; code < 600; code++ {
		want := code == 408 || code == 425 || code == 429 || code >= 500 && code != 501 && code != 505
		if got := IsTransient(&StatusError{Status: code}); got != want {
			t.Errorf("%d: %t", code, got)
		}
	}
	for _, err := range []error{io.ErrUnexpectedEOF, ErrRetryBudget, ErrCircuitOpen, ErrAttemptTimeout, ErrTotalTimeout, ErrBodyIdle} {
		if !IsTransient(&Error{Err: fmt.Errorf("x: %w", err)}) {
			t.Errorf("%v is not", err)
		}
	}
	for _, err := range []error{nil, ErrClosed, ErrRedirectDenied, ErrAddressDenied, ErrBodyTooLarge, errors.New("unknown"), errors.New("unsupported protocol scheme")} {
		if IsTransient(err) {
			t.Errorf("%v is", err)
		}
	}
	log := []Attempt{{N: 1}}
	for _, err := range []error{
		errors.New("a transport's own words"),
		&net.OpError{Op: "read", Err: syscall.ECONNRESET},
		&net.DNSError{Err: "server misbehaving"},
		errors.New(`net/http: HTTP/1.x transport connection broken: malformed MIME header: missing colon: "Content-Le"`),
	} {
		if e := (&Error{Attempts: log, Err: err}); !IsTransient(e) || !retry.Passing(e) {
			t.Errorf("%v: transient %t, retried %t", err, IsTransient(e), retry.Passing(e))
		}
	}
	for _, err := range []error{
		&net.DNSError{Err: "no such host", IsNotFound: true},
		x509.HostnameError{Certificate: &x509.Certificate{}},
		errors.New(`net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0-x"`),
		context.Canceled,
	} {
		if e := (&Error{Attempts: log, Err: err}); IsTransient(e) || retry.Passing(e) {
			t.Errorf("%v: transient %t, retried %t", err, IsTransient(e), retry.Passing(e))
		}
	}
	h := http.Header{"Retry-After": {"7"}}
	for _, err := range []error{&StatusError{Header: h}, &ProblemError{Header: h}} {
		if d, ok := RetryAfter(err); !ok || d != 7*time.Second {
			t.Errorf("%T: %v, %t", err, d, ok)
		}
	}
	for _, err := range []error{nil, &StatusError{}, &breaker.OpenError{}, io.EOF} {
		if d, ok := RetryAfter(err); ok {
			t.Errorf("%T: %v", err, d)
		}
	}
	if StatusOf(io.EOF) != 0 || (&Error{}).Timeout() {
		t.Error("a status or a timeout out of nothing")
	}
}

func FuzzProblem(f *testing.F) {
	for _, s := range []string{`{"title":"a","x":1}`, `{"status":"7"}`, `[]`, `{"type":null}`, `{"a":{"b":[1]}}`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, ok := parseProblem(b)
		if !ok {
			return
		}
		if !json.Valid(b) {
			t.Errorf("took %q", b)
		}
		for name, raw := range p.Extensions {
			if !json.Valid(raw) || name == "title" || name == "status" {
				t.Errorf("extension %q: %q", name, raw)
			}
		}
		_ = p.Error()
	})
}
