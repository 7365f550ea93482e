package retry

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/internal/call"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sender sends requests, each as a call of its own, and returns the call's state with the answer.
type sender struct{ rt http.RoundTripper }

func (s sender) do(req *http.Request) (*http.Response, *call.State, error) {
	st := call.New(req.Context(), time.Now())
	resp, err := s.rt.RoundTrip(req.WithContext(st))
	return resp, st, err
}

// layer returns p over next.
func layer(t *testing.T, p Policy, next http.RoundTripper) sender {
	t.Helper()
	l, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return sender{l(next)}
}

func request(t *testing.T, method string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://api.example/items", body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// fixed is a backoff without chance.
type fixed time.Duration

func (f fixed) Next(time.Duration, int, float64) time.Duration { return time.Duration(f) }

func closeResp(t *testing.T, resp *http.Response) {
	t.Helper()
	if resp != nil {
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCancellationEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Status(503).Body("busy"))
		send := layer(t, Policy{Backoff: fixed(time.Hour)}, tr)
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(3*time.Second, cancel)
		resp, st, err := send.do(request(t, "GET", nil).WithContext(ctx))
		closeResp(t, resp)
		if !errors.Is(err, context.Canceled) || time.Since(start) > 3*time.Second+time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		if got := len(tr.Requests()); got != 1 || st.Stop() != StopCancelled {
			t.Errorf("%d requests, stop %q", got, st.Stop())
		}
		tr.AssertClosed(t)
	})
}

func TestCancelledCallerIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Hang())
		send := layer(t, Policy{Backoff: fixed(0)}, tr)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		start := time.Now()
		resp, _, err := send.do(request(t, "GET", nil).WithContext(ctx))
		closeResp(t, resp)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 50*time.Millisecond || len(tr.Requests()) != 1 {
			t.Errorf("got %v after %v, %d requests", err, time.Since(start), len(tr.Requests()))
		}
	})
}

func TestSleepPastTheDeadlineIsNotBegun(t *testing.T) {
	for _, c := range []struct {
		name string
		ctx  time.Duration
		end  time.Duration
	}{{"caller's deadline", 2 * time.Second, 0}, {"total deadline", 0, 2 * time.Second}, {"equal to the wait", 5 * time.Second, 0}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := fetchtest.Script(fetchtest.Step{}.Status(503).Body("busy"))
				l, err := New(Policy{Backoff: fixed(5 * time.Second)})
				if err != nil {
					t.Fatal(err)
				}
				ctx := t.Context()
				if c.ctx > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.ctx)
					defer cancel()
				}
				start := time.Now()
				st := call.New(ctx, start)
				if c.end > 0 {
					st.End = start.Add(c.end)
				}
				resp, err := l(tr).RoundTrip(request(t, "GET", nil).WithContext(st))
				if err != nil {
					t.Fatal(err)
				}
				defer closeResp(t, resp)
				if time.Since(start) != 0 || resp.StatusCode != 503 || st.Stop() != StopDeadline {
					t.Errorf("status %d after %v, stop %q", resp.StatusCode, time.Since(start), st.Stop())
				}
			})
		})
	}
}

func TestDiscardedResponsesKeepTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, conns := fetchtest.Count(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write(bytes.Repeat([]byte("x"), 20<<10))
		}))
		send := layer(t, Policy{MaxAttempts: 61, Backoff: fixed(time.Second)}, fetchtest.Serve(t, h))
		resp, st, err := send.do(request(t, "GET", nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Error(err)
		}
		closeResp(t, resp)
		if conns() != 1 || len(st.Attempts()) != 61 {
			t.Errorf("%d attempts over %d connections, want 61 over 1", len(st.Attempts()), conns())
		}
	})
}

func TestHangingBodyIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Status(503).Body("late").DelayBody(time.Hour), fetchtest.Step{})
		send := layer(t, Policy{Backoff: fixed(0)}, tr)
		start := time.Now()
		resp, _, err := send.do(request(t, "GET", nil))
		if err != nil {
			t.Fatal(err)
		}
		closeResp(t, resp)
		if got := time.Since(start); got != 50*time.Millisecond {
			t.Errorf("discarding took %v", got)
		}
		tr.AssertClosed(t)
	})
}

func TestPostIsSentOnceUnlessProvenUnsent(t *testing.T) {
	refused := fetchtest.Step{}.Status(503)
	for _, c := range []struct {
		name   string
		method string
		header string
		first  fetchtest.Step
		want   int
	}{
		{"POST, 503", "POST", "", refused, 1},
		{"PATCH, 503", "PATCH", "", refused, 1},
		{"POST with key, 503", "POST", "Idempotency-Key", refused, 2},
		{"POST with old key, 503", "POST", "X-Idempotency-Key", refused, 2},
		{"PUT, 503", "PUT", "", refused, 2},
		{"POST, dial refused", "POST", "", fetchtest.Step{}.DialError(), 2},
		{"POST, handshake failed", "POST", "", fetchtest.Step{}.TLSError(), 2},
		{"CONNECT, 503", "CONNECT", "", refused, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := fetchtest.Script(c.first, fetchtest.Step{})
			send := layer(t, Policy{Backoff: fixed(0)}, tr)
			req := request(t, c.method, strings.NewReader("payload"))
			if c.header != "" {
				req.Header.Set(c.header, "k")
			}
			resp, _, err := send.do(req)
			closeResp(t, resp)
			if err != nil || len(tr.Requests()) != c.want {
				t.Errorf("%d requests, want %d (%v)", len(tr.Requests()), c.want, err)
			}
			for i, r := range tr.Requests() {
				if i == 0 && !strings.Contains(c.name, "503") {
					continue // never reached the server
				}
				if string(r.Body) != "payload" || r.ContentLength != 7 {
					t.Errorf("body %q, length %d", r.Body, r.ContentLength)
				}
			}
		})
	}
}

func TestRequestIsNotModifiedAndBodiesAreEqual(t *testing.T) {
	tr := fetchtest.Script(fetchtest.Step{}.Status(503), fetchtest.Step{}.Status(503), fetchtest.Step{})
	send := layer(t, Policy{Backoff: fixed(0), Prepare: func(r *http.Request, n int) error {
		r.Header.Set("Signature", fmt.Sprint(n))
		r.URL.RawQuery = "signed"
		return nil
	}}, tr)
	req := request(t, "PUT", strings.NewReader("payload"))
	req.Trailer = http.Header{"Checksum": {"1"}}
	header, body := req.Header, req.Body
	resp, _, err := send.do(req)
	if err != nil {
		t.Fatal(err)
	}
	closeResp(t, resp)
	if len(header) != 0 || req.Body != body || req.GetBody == nil || req.URL.RawQuery != "" {
		t.Errorf("the caller's request changed: %v %v", header, req.URL)
	}
	got := tr.Requests()
	if len(got) != 3 {
		t.Fatalf("%d requests", len(got))
	}
	for i, r := range got {
		if string(r.Body) != "payload" || r.ContentLength != 7 || r.Header.Get("Signature") != fmt.Sprint(i+1) || r.Trailer.Get("Checksum") != "1" {
			t.Errorf("attempt %d: %+v", i+1, r)
		}
	}
}

// plain hides what a reader could do besides reading, so that net/http gives the request no
// GetBody.
type plain struct{ io.Reader }

func TestBodyBuffering(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  int64
		length int64
		want   int
		stop   string
	}{
		{"none", 0, 0, 1, StopBody},
		{"fits", 7, 0, 2, ""},
		{"one too long", 6, 0, 1, StopBody},
		{"declared too long", 6, 7, 1, StopBody},
		{"the largest bound", math.MaxInt64, 0, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := fetchtest.Script(fetchtest.Step{}.Status(503), fetchtest.Step{})
			send := layer(t, Policy{Backoff: fixed(0), BufferBody: c.limit}, tr)
			req := request(t, "PUT", plain{strings.NewReader("payload")})
			req.ContentLength = c.length
			resp, st, err := send.do(req)
			closeResp(t, resp)
			if err != nil || len(tr.Requests()) != c.want || st.Stop() != c.stop {
				t.Fatalf("%d requests, stop %q, %v", len(tr.Requests()), st.Stop(), err)
			}
			for _, r := range tr.Requests() {
				if string(r.Body) != "payload" {
					t.Errorf("body %q", r.Body)
				}
			}
		})
	}
	t.Run("the error says so", func(t *testing.T) {
		send := layer(t, Policy{Backoff: fixed(0)}, fetchtest.Script(fetchtest.Step{}.DialError()))
		resp, _, err := send.do(request(t, "PUT", plain{strings.NewReader("payload")}))
		closeResp(t, resp)
		if !errors.Is(err, ErrNotReplayable) || !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an unreadable body", func(t *testing.T) {
		boom := errors.New("boom")
		tr := fetchtest.Script()
		send := layer(t, Policy{BufferBody: 10}, tr)
		resp, _, err := send.do(request(t, "PUT", plain{io.MultiReader(strings.NewReader("a"), failing{boom})}))
		closeResp(t, resp)
		if !errors.Is(err, boom) || len(tr.Requests()) != 0 {
			t.Errorf("got %v", err)
		}
	})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestRetryableStatuses(t *testing.T) {
	want := []int{408, 425, 429, 500, 502, 503, 504}
	for code := 200; code < 600; code++ {
		if got := Status(code); got != slices.Contains(want, code) {
			t.Errorf("Status(%d) = %t", code, got)
		}
	}
	for _, code := range []int{200, 404, 501, 505} {
		tr := fetchtest.Script(fetchtest.Step{}.Status(code))
		send := layer(t, Policy{Backoff: fixed(0)}, tr)
		resp, st, err := send.do(request(t, "GET", nil))
		closeResp(t, resp)
		if err != nil || len(tr.Requests()) != 1 || st.Stop() != "" {
			t.Errorf("status %d: %d requests, stop %q, %v", code, len(tr.Requests()), st.Stop(), err)
		}
	}
}

func TestErrorsThatDoNotPass(t *testing.T) {
	for _, c := range []struct {
		err             error
		passing, unsent bool
	}{
		{&tls.CertificateVerificationError{Err: x509.HostnameError{}}, false, false},
		{x509.UnknownAuthorityError{}, false, false},
		{x509.HostnameError{Certificate: &x509.Certificate{}}, false, false},
		{x509.CertificateInvalidError{}, false, false},
		{errors.New(`unsupported protocol scheme "ftp"`), false, false},
		{call.Final("address denied"), false, false},
		{&net.OpError{Op: "dial", Err: call.Final("address denied")}, false, false},
		{fmt.Errorf("read: %w", call.ErrBodyTooLarge), false, false},
		{call.ErrTotalTimeout, false, false},
		{context.Canceled, false, false},
		{call.ErrAttemptTimeout, true, false},
		{io.ErrUnexpectedEOF, true, false},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, true, false},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true, true},
		{&net.DNSError{Err: "no such host", IsNotFound: true}, false, true},
		{&net.DNSError{Err: "server misbehaving"}, true, true},
		{tls.RecordHeaderError{Msg: "not TLS"}, true, false}, // a record after the handshake may be bad too
		{errors.New("malformed HTTP response \"SSH-2.0\""), false, false},
		{nil, false, false},
	} {
		if Passing(c.err) != c.passing || Unsent(c.err) != c.unsent {
			t.Errorf("%v: passing %t, unsent %t", c.err, Passing(c.err), Unsent(c.err))
		}
	}
}

func TestQueryIsRepeatedAndPostIsNot(t *testing.T) {
	for method, want := range map[string]int{"QUERY": 2, "POST": 1, "PATCH": 1} {
		tr := fetchtest.Script(fetchtest.Step{}.Status(503), fetchtest.Step{})
		resp, _, err := layer(t, Policy{Backoff: fixed(0)}, tr).do(request(t, method, strings.NewReader("q")))
		if err != nil {
			t.Fatal(err)
		}
		closeResp(t, resp)
		if n := len(tr.Requests()); n != want {
			t.Errorf("%s was sent %d times", method, n)
		}
	}
}

type countingSpender struct{ deposits int }

func (s *countingSpender) Deposit(*http.Request, time.Time)       { s.deposits++ }
func (s *countingSpender) Withdraw(*http.Request, time.Time) bool { return true }

func TestCancelledContextMakesNoAttemptAndNoDeposit(t *testing.T) {
	tr, spender := fetchtest.Script(), &countingSpender{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := &closeCounter{Reader: strings.NewReader("x")}
	req, err := http.NewRequestWithContext(ctx, "PUT", "http://a.example/", body)
	if err != nil {
		t.Fatal(err)
	}
	resp, st, err := layer(t, Policy{Spender: spender}, tr).do(req)
	if resp != nil {
		closeResp(t, resp)
	}
	if !errors.Is(err, context.Canceled) || st.Stop() != StopCancelled || len(st.Attempts()) != 0 || len(tr.Requests()) != 0 || spender.deposits != 0 || body.closed != 1 {
		t.Errorf("%v, stop %q, %d attempts, %d sent, %d deposits, body closed %d times", err, st.Stop(), len(st.Attempts()), len(tr.Requests()), spender.deposits, body.closed)
	}
}

type closeCounter struct {
	io.Reader
	closed int
}

func (c *closeCounter) Close() error { c.closed++; return nil }

func TestExhaustedResponseIsReturnedIntact(t *testing.T) {
	tr := fetchtest.Script(fetchtest.Step{}.Status(503).Body("first"), fetchtest.Step{}.Status(502).Header("X", "y").Body("last"))
	var retried []Attempt
	send := layer(t, Policy{MaxAttempts: 2, Backoff: fixed(0), OnRetry: func(_ context.Context, a Attempt) { retried = append(retried, a) }}, tr)
	resp, st, err := send.do(request(t, "GET", nil))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	closeResp(t, resp)
	if err != nil || string(b) != "last" || resp.StatusCode != 502 || resp.Header.Get("X") != "y" || st.Stop() != StopAttempts {
		t.Errorf("%d %q %v, stop %q", resp.StatusCode, b, err, st.Stop())
	}
	if len(retried) != 1 || retried[0].Status != 503 || retried[0].Reason != "status 503" {
		t.Errorf("OnRetry saw %+v", retried)
	}
	tr.AssertClosed(t)
}

func TestExhaustedErrorNamesTheAttempt(t *testing.T) {
	send := layer(t, Policy{Backoff: fixed(0)}, fetchtest.Script(fetchtest.Step{}.DialError()))
	resp, st, err := send.do(request(t, "GET", nil))
	closeResp(t, resp)
	if err == nil || !strings.HasPrefix(err.Error(), "attempt 3 of 3: dial tcp") || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
	for i, a := range st.Attempts() {
		if a.N != i+1 || a.Reason != "dial" || a.Err == nil {
			t.Errorf("attempt %+v", a)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name   string
		header []string // pairs
		wait   time.Duration
		stop   string
	}{
		{"seconds", []string{"Retry-After", "7"}, 7 * time.Second, ""},
		{"zero", []string{"Retry-After", "0"}, time.Second, ""},
		{"date against Date", []string{"Retry-After", "Sun, 06 Nov 1994 08:49:47 GMT", "Date", "Sun, 06 Nov 1994 08:49:37 GMT"}, 10 * time.Second, ""},
		{"RFC 850 date", []string{"Retry-After", "Sunday, 06-Nov-94 08:49:47 GMT", "Date", "Sun, 06 Nov 1994 08:49:37 GMT"}, 10 * time.Second, ""},
		{"asctime date", []string{"Retry-After", "Sun Nov  6 08:49:47 1994", "Date", "Sun, 06 Nov 1994 08:49:37 GMT"}, 10 * time.Second, ""},
		{"date without Date", []string{"Retry-After", "Sat, 01 Jan 2000 00:01:00 GMT"}, time.Minute, ""},
		{"date gone by", []string{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"}, time.Second, ""},
		{"negative", []string{"Retry-After", "-5"}, time.Second, ""},
		{"garbage", []string{"Retry-After", "soon"}, time.Second, ""},
		{"longer than MaxRetryAfter", []string{"Retry-After", "301"}, 0, StopRetryAfter},
		{"overflow", []string{"Retry-After", "99999999999999999999"}, 0, StopRetryAfter},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the bubble's clock starts at 2000-01-01T00:00:00Z
				step := fetchtest.Step{}.Status(500)
				for i := 0; i < len(c.header); i += 2 {
					step = step.Header(c.header[i], c.header[i+1])
				}
				tr := fetchtest.Script(step, fetchtest.Step{})
				send := layer(t, Policy{Backoff: fixed(time.Second)}, tr)
				start := time.Now()
				resp, st, err := send.do(request(t, "GET", nil))
				if err != nil {
					t.Fatal(err)
				}
				closeResp(t, resp)
				if time.Since(start) != c.wait || st.Stop() != c.stop {
					t.Errorf("waited %v, want %v; stop %q", time.Since(start), c.wait, st.Stop())
				}
			})
		})
	}
}

func TestPolicyIsRefused(t *testing.T) {
	var nilBudget *Budget
	for field, p := range map[string]Policy{
		"MaxAttempts":    {MaxAttempts: -1},
		"BufferBody":     {BufferBody: -1},
		"MaxRetryAfter":  {MaxRetryAfter: -1},
		"Spender":        {Spender: nilBudget},
		"Backoff":        {Backoff: (*recorder)(nil)},
		"Backoff.Base":   {Backoff: Exponential{Base: 2 * time.Second, Max: time.Second}},
		"Backoff.Max":    {Backoff: Decorrelated{Max: -1}},
		"Backoff.Factor": {Backoff: Exponential{Factor: 0.5}},
		"Backoff.Jitter": {Backoff: Exponential{Jitter: Fraction(1.5)}},
	} {
		_, err := New(p)
		if ce, ok := errors.AsType[*ConfigError](err); !ok || ce.Field != field || ce.Want == "" {
			t.Errorf("%s: got %v", field, err)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := New(Policy{Backoff: Exponential{Factor: bad}}); err == nil {
			t.Errorf("factor %v was taken", bad)
		}
	}
	if _, err := New(Policy{Backoff: Decorrelated{Base: -1}}); err == nil {
		t.Error("a negative base was taken")
	}
}

// decider retries what its function says.
type decider func(*http.Response, Attempt) (time.Duration, bool)

func (d decider) Decide(_ *http.Request, resp *http.Response, a Attempt) (time.Duration, bool) {
	return d(resp, a)
}

func TestOwnDecider(t *testing.T) {
	t.Run("retries a 202 until it is done", func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Status(202), fetchtest.Step{}.Status(202), fetchtest.Step{})
		send := layer(t, Policy{MaxAttempts: 5, Decide: decider(func(resp *http.Response, _ Attempt) (time.Duration, bool) {
			return 0, resp.StatusCode == 202
		})}, tr)
		resp, st, err := send.do(request(t, "GET", nil))
		closeResp(t, resp)
		if err != nil || len(tr.Requests()) != 3 || st.Stop() != "" {
			t.Errorf("%d requests, stop %q, %v", len(tr.Requests()), st.Stop(), err)
		}
	})
	t.Run("says no", func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Status(503))
		send := layer(t, Policy{Decide: decider(func(*http.Response, Attempt) (time.Duration, bool) { return 0, false })}, tr)
		resp, st, err := send.do(request(t, "GET", nil))
		closeResp(t, resp)
		if err != nil || len(tr.Requests()) != 1 || st.Stop() != StopDecider {
			t.Errorf("%d requests, stop %q, %v", len(tr.Requests()), st.Stop(), err)
		}
	})
	t.Run("asks the default", func(t *testing.T) {
		d := Default(Policy{Backoff: fixed(time.Second)})
		delay, again := d.Decide(request(t, "GET", nil), &http.Response{StatusCode: 503, Header: http.Header{}}, Attempt{N: 1})
		if !again || delay != time.Second {
			t.Errorf("got %v, %t", delay, again)
		}
		if _, again := d.Decide(request(t, "POST", nil), &http.Response{StatusCode: 503}, Attempt{N: 1}); again {
			t.Error("a POST would be sent again")
		}
	})
}

func TestPrepareErrorEndsTheCall(t *testing.T) {
	boom := errors.New("no key")
	tr := fetchtest.Script()
	send := layer(t, Policy{Prepare: func(*http.Request, int) error { return boom }}, tr)
	resp, st, err := send.do(request(t, "PUT", strings.NewReader("x")))
	closeResp(t, resp)
	if !errors.Is(err, boom) || len(tr.Requests()) != 0 || len(st.Attempts()) != 1 || st.Attempts()[0].Reason != "prepare" {
		t.Errorf("got %v, %+v", err, st.Attempts())
	}
}

func TestOverridesOfTheCall(t *testing.T) {
	for _, c := range []struct {
		name string
		o    call.Options
		want int
	}{
		{"attempts", call.Options{MaxAttempts: 5}, 5},
		{"off", call.Options{Off: call.OffRetry}, 1},
		{"policy", call.Options{Retry: &Policy{MaxAttempts: 2, Backoff: fixed(0)}}, 2},
		{"policy and attempts", call.Options{Retry: &Policy{MaxAttempts: 2, Backoff: fixed(0)}, MaxAttempts: 4}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := fetchtest.Script(fetchtest.Step{}.Status(503))
			send := layer(t, Policy{Backoff: fixed(0)}, tr)
			req := request(t, "GET", nil)
			resp, st, err := send.do(req.WithContext(call.WithOptions(req.Context(), &c.o)))
			closeResp(t, resp)
			if err != nil || len(tr.Requests()) != c.want || len(st.Attempts()) != c.want {
				t.Errorf("%d requests, want %d (%v)", len(tr.Requests()), c.want, err)
			}
		})
	}
	t.Run("a bad policy", func(t *testing.T) {
		send := layer(t, Policy{}, fetchtest.Script())
		req := request(t, "GET", nil)
		resp, _, err := send.do(req.WithContext(call.WithOptions(req.Context(), &call.Options{Retry: &Policy{MaxAttempts: -1}})))
		closeResp(t, resp)
		if _, ok := errors.AsType[*ConfigError](err); !ok {
			t.Errorf("got %v", err)
		}
	})
}

func TestAloneUnderAPlainClient(t *testing.T) {
	tr := fetchtest.Script(fetchtest.Step{}.Status(503), fetchtest.Step{}.Body("well"))
	l, err := New(Policy{Backoff: fixed(0)})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: l(tr)}).Do(request(t, "GET", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer closeResp(t, resp)
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "well" {
		t.Errorf("%q, %v", b, err)
	}
	if st := call.From(resp.Request.Context()); st == nil || len(st.Attempts()) != 2 {
		t.Error("no log of attempts with the response")
	}
}

type brokenTransport struct{ resp *http.Response }

func (b brokenTransport) RoundTrip(*http.Request) (*http.Response, error) { return b.resp, nil }

func TestTransportWithoutAnswer(t *testing.T) {
	send := layer(t, Policy{}, brokenTransport{})
	resp, _, err := send.do(request(t, "GET", nil))
	closeResp(t, resp)
	if !errors.Is(err, errNoResponse) {
		t.Errorf("got %v", err)
	}
}

func TestAnswerThatLeavesOutHalf(t *testing.T) {
	for _, status := range []int{200, 503} {
		req := request(t, "GET", nil)
		resp, _, err := layer(t, Policy{Backoff: fixed(0)}, brokenTransport{&http.Response{StatusCode: status}}).do(req)
		if err != nil {
			t.Fatal(err)
		}
		closeResp(t, resp)
		if resp.StatusCode != status || resp.Header == nil || resp.Request == nil {
			t.Errorf("%+v", resp)
		}
	}
}

func TestCallFromWithinAnAttemptHasItsOwnLog(t *testing.T) {
	l, err := New(Policy{Backoff: fixed(0)})
	if err != nil {
		t.Fatal(err)
	}
	tokens := l(fetchtest.Script(fetchtest.Step{}.Status(503), fetchtest.Step{}))
	tr := fetchtest.Script(fetchtest.Step{}.Then(func(r *http.Request) {
		req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://tokens.example/", nil)
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := tokens.RoundTrip(req)
		if err != nil {
			t.Error(err)
		}
		closeResp(t, resp)
	}))
	resp, st, err := layer(t, Policy{}, tr).do(request(t, "GET", nil))
	closeResp(t, resp)
	if err != nil || len(st.Attempts()) != 1 || len(tr.Requests()) != 1 {
		t.Errorf("%d attempts in the outer log, %v", len(st.Attempts()), err)
	}
}
