package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/retry"
)

// noWait retries at once.
func noWait() retry.Policy {
	return retry.Policy{Backoff: retry.Exponential{Base: time.Nanosecond, Max: time.Nanosecond}}
}

func TestAttemptAndTotalAreDistinct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{Attempt: 2 * time.Second, Total: 5 * time.Second, Retry: retry.Policy{MaxAttempts: 10, Backoff: noWait().Backoff}}, fetchtest.Step{}.Hang())
		start := time.Now()
		resp, err := c.Get(t.Context(), "http://a.example/")
		discard(t, resp)
		e, ok := errors.AsType[*Error](err)
		if !ok || !errors.Is(err, ErrTotalTimeout) || errors.Is(err, ErrAttemptTimeout) || !errors.Is(err, context.DeadlineExceeded) || !e.Timeout() || !IsTransient(err) {
			t.Fatalf("got %v", err)
		}
		if got := time.Since(start); got != 5*time.Second || len(tr.Requests()) != 3 {
			t.Errorf("%d attempts in %v", len(tr.Requests()), got)
		}
		if !errors.Is(e.Attempts[0].Err, ErrAttemptTimeout) || !errors.Is(e.Attempts[0].Err, context.DeadlineExceeded) || e.Attempts[0].Reason != "timeout" || e.Attempts[0].Took != 2*time.Second {
			t.Errorf("first attempt %+v", e.Attempts[0])
		}
		tr.AssertClosed(t)
	})
}

func TestLastAttemptTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := over(t, Config{Attempt: time.Second, Retry: noWait()}, fetchtest.Step{}.Hang())
		resp, err := c.Get(t.Context(), "http://a.example/")
		discard(t, resp)
		if !errors.Is(err, ErrAttemptTimeout) || errors.Is(err, ErrTotalTimeout) || !IsTransient(err) {
			t.Errorf("got %v", err)
		}
	})
}

func TestCallersDeadlineStaysPlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{}, fetchtest.Step{}.Hang())
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		start := time.Now()
		resp, err := c.Get(ctx, "http://a.example/")
		discard(t, resp)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrAttemptTimeout) || errors.Is(err, ErrTotalTimeout) || IsTransient(err) || time.Since(start) != 50*time.Millisecond || len(tr.Requests()) != 1 {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		cause := errors.New("tab closed")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(cause) })
		resp, err = c.Get(ctx, "http://a.example/")
		discard(t, resp)
		if !errors.Is(err, context.Canceled) || IsTransient(err) {
			t.Errorf("got %v", err)
		}
	})
}

// TestCauseAndContextError uses net/http, which reports a cancelled context by its cause alone.
func TestCauseAndContextError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client(t, Config{Base: fetchtest.Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))})
		closed := errors.New("tab closed")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(closed) })
		resp, err := c.Get(ctx, "http://a.example/")
		discard(t, resp)
		if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, context.Canceled) || !errors.Is(err, closed) || IsTransient(err) || len(e.Attempts) != 1 {
			t.Errorf("got %+v", err)
		}
		resp, err = c.Get(With(t.Context(), Overrides{Attempt: time.Second, MaxAttempts: 1}), "http://a.example/")
		discard(t, resp)
		if !errors.Is(err, ErrAttemptTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestBodyIsReadableAfterTheAttemptsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{Attempt: time.Second}, fetchtest.Step{}.Body("0123456789").Drip(1, time.Second))
		resp, err := c.Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, resp); got != "0123456789" {
			t.Errorf("got %q", got)
		}
		tr.AssertClosed(t)
	})
}

func TestBodyIsBoundByTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{Total: 5500 * time.Millisecond}, fetchtest.Step{}.Body("0123456789").Drip(1, time.Second))
		start := time.Now()
		resp, err := c.Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		discard(t, resp)
		if string(b) != "012345" || !errors.Is(err, ErrTotalTimeout) || time.Since(start) != 5500*time.Millisecond {
			t.Errorf("%q, %v after %v", b, err, time.Since(start))
		}
		tr.AssertClosed(t)
	})
}

func TestSilentBodyIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{Total: time.Hour}, fetchtest.Step{}.Body("01").Drip(1, time.Minute))
		resp, err := c.Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		one := make([]byte, 1)
		if _, err := io.ReadFull(resp.Body, one); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Minute) // the caller's own pause is no silence
		start := time.Now()
		_, err = io.ReadFull(resp.Body, one)
		discard(t, resp)
		if !errors.Is(err, ErrBodyIdle) || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 15*time.Second || !IsTransient(err) {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		tr.AssertClosed(t)
	})
}

func TestContextIsReleasedWithTheBody(t *testing.T) {
	for name, end := range map[string]func(*http.Response) error{
		"EOF":   func(r *http.Response) error { _, err := io.Copy(io.Discard, r.Body); return err },
		"Close": func(r *http.Response) error { return r.Body.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c, tr := over(t, Config{}, fetchtest.Step{}.Body("body"))
			resp, err := c.Get(t.Context(), "http://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			ctx := resp.Request.Context()
			if ctx.Err() != nil {
				t.Error("released before the body was read")
			}
			if err := end(resp); err != nil {
				t.Error(err)
			}
			if ctx.Err() == nil {
				t.Error("never released")
			}
			discard(t, resp)
			tr.AssertClosed(t)
		})
	}
}

func TestNoBodyReleasesAtOnce(t *testing.T) {
	c, _ := over(t, Config{}, fetchtest.Step{}.Status(204))
	resp, err := c.Get(t.Context(), "http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	defer discard(t, resp)
	if resp.Request.Context().Err() == nil || len(InfoOf(resp).Attempts) != 1 {
		t.Error("not released, or the log is lost with the context")
	}
}

func TestSplitSharesTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := over(t, Config{Total: 6 * time.Second, Split: true, Retry: noWait()}, fetchtest.Step{}.Hang())
		resp, err := c.Get(t.Context(), "http://a.example/")
		discard(t, resp)
		e, ok := errors.AsType[*Error](err)
		if !ok || len(e.Attempts) != 3 {
			t.Fatalf("got %+v", err)
		}
		for i, a := range e.Attempts {
			if a.Took.Round(time.Millisecond) != 2*time.Second {
				t.Errorf("attempt %d took %v", i+1, a.Took)
			}
		}
	})
}

func TestOverriddenDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := over(t, Config{Retry: retry.Policy{MaxAttempts: 1}, Breaker: breaker.Config{ConsecutiveFailures: 100}}, fetchtest.Step{}.Hang())
		for _, try := range []struct {
			o    Overrides
			want time.Duration
			is   error
		}{
			{Overrides{Attempt: time.Second}, time.Second, ErrAttemptTimeout},
			{Overrides{Total: time.Second}, time.Second, ErrTotalTimeout},
			{Overrides{Total: time.Minute, Attempt: 40 * time.Second}, 40 * time.Second, ErrAttemptTimeout},
		} {
			start := time.Now()
			resp, err := c.Get(With(t.Context(), try.o), "http://a.example/")
			discard(t, resp)
			if !errors.Is(err, try.is) || time.Since(start) != try.want {
				t.Errorf("%+v: %v after %v", try.o, err, time.Since(start))
			}
		}
		ctx, cancel := context.WithTimeout(With(t.Context(), Overrides{Off: OffDeadlines}), time.Hour)
		defer cancel()
		start := time.Now()
		resp, err := c.Get(ctx, "http://a.example/")
		discard(t, resp)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrTotalTimeout) || time.Since(start) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestDeadlineHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{DeadlineHeader: "X-Request-Deadline-Ms", Total: 10 * time.Second, Retry: retry.Policy{Backoff: retry.Exponential{Base: time.Second, Max: time.Second, Jitter: retry.None}}},
			fetchtest.Step{}.Status(503).Delay(500*time.Millisecond), fetchtest.Step{})
		get := func(ctx context.Context) {
			t.Helper()
			resp, err := c.Get(ctx, "http://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			read(t, resp)
		}
		get(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		get(ctx)
		for i, want := range []int{10_000, 8_500, 3_000} {
			if got, err := strconv.Atoi(tr.Requests()[i].Header.Get("X-Request-Deadline-Ms")); err != nil || got != want {
				t.Errorf("request %d: %d, want %d", i, got, want)
			}
		}
	})
}

// deaf answers late and does not look at the context.
type deaf struct{}

func (deaf) RoundTrip(req *http.Request) (*http.Response, error) {
	<-time.After(time.Minute)
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("late")), Request: req}, nil
}

func TestAnswerAfterTheDeadlineIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client(t, Config{Base: deaf{}, Retry: retry.Policy{MaxAttempts: 1}})
		resp, err := c.Get(t.Context(), "http://a.example/")
		discard(t, resp)
		if !errors.Is(err, ErrAttemptTimeout) {
			t.Errorf("got %v", err)
		}
	})
}

func TestPanicBelowReleases(t *testing.T) {
	c := client(t, Config{Base: exploding{}})
	defer func() {
		if recover() != "boom" {
			t.Error("the panic was swallowed")
		}
	}()
	resp, err := c.Get(t.Context(), "http://a.example/")
	discard(t, resp)
	t.Errorf("returned %v", err)
}

type exploding struct{}

func (exploding) RoundTrip(*http.Request) (*http.Response, error) { panic("boom") }

func TestSwitchedProtocolIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := fetchtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			_ = rw.Flush()
			line, _ := rw.ReadString('\n')
			<-time.After(time.Hour) // longer than any deadline
			_, _ = rw.WriteString(line)
			_ = rw.Flush()
		}))
		c := client(t, Config{Base: rt})
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Upgrade", "echo")
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer discard(t, resp)
		conn, ok := resp.Body.(io.ReadWriter)
		if !ok || resp.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("%d, body %T", resp.StatusCode, resp.Body)
		}
		if _, err := io.WriteString(conn, "hello\n"); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 6)
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello\n" {
			t.Errorf("%q, %v", got, err)
		}
	})
}
