package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// readFunc is a body that is a function.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func (readFunc) Close() error { return nil }

// watching is a transport whose bodies get the request's context, which nothing else looks at.
func watching(read func(ctx context.Context, p []byte) (int, error)) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		body := readFunc(func(p []byte) (int, error) { return read(req.Context(), p) })
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, ContentLength: -1, Request: req}, nil
	})
}

// The deadlines' timer is set when somebody looks at the context; however late that is, they hold.
func TestDeadlinesHoldForWhoLooksLate(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, c := range []struct {
		name string
		read func(ctx context.Context, p []byte) (int, error)
		want error
		at   time.Duration
	}{
		{"silent from the first Read on", func(ctx context.Context, _ []byte) (int, error) { return 0, hang(ctx) }, ErrBodyIdle, 4 * time.Second},
		{"a Read that looks after a while", func(ctx context.Context, _ []byte) (int, error) {
			<-time.After(2 * time.Second)
			return 0, hang(ctx)
		}, ErrBodyIdle, 6 * time.Second},
		{"a Read that looks after the end", func(ctx context.Context, _ []byte) (int, error) {
			<-time.After(20 * time.Second)
			return 0, ctx.Err()
		}, ErrTotalTimeout, 20 * time.Second},
		{"bytes now and then", func(ctx context.Context, p []byte) (int, error) {
			select {
			case <-time.After(3 * time.Second):
				return copy(p, "x"), nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}, ErrTotalTimeout, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				resp, err := client(t, Config{Base: watching(c.read), BodyIdle: 4 * time.Second, Total: 10 * time.Second}).Get(t.Context(), "http://a.example/")
				if err != nil {
					t.Fatal(err)
				}
				defer discard(t, resp)
				if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, c.want) || time.Since(start) != c.at {
					t.Errorf("got %v after %v, want %v after %v", err, time.Since(start), c.want, c.at)
				}
			})
		})
	}
}

// The time that a caller takes between two Reads is no silence, also when a Read was the first to
// look.
func TestTimeBetweenReadsIsNoSilenceForWhoLooksLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := watching(func(ctx context.Context, p []byte) (int, error) { return copy(p, "x"), ctx.Err() })
		resp, err := client(t, Config{Base: base, BodyIdle: time.Second, Total: time.Hour}).Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if n, err := resp.Body.Read(make([]byte, 1)); n != 1 || err != nil {
				t.Fatalf("%d bytes, %v", n, err)
			}
			<-time.After(time.Minute)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A transport that asks for the error alone, once and late, sees it; one that does not ask has its
// late answer refused all the same.
func TestTransportThatPollsSeesTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, asks := range []bool{true, false} {
			var seen error
			base := roundTrip(func(req *http.Request) (*http.Response, error) {
				<-time.After(3 * time.Second)
				if asks {
					seen = req.Context().Err()
				}
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
			})
			resp, err := client(t, Config{Base: base, Attempt: 2 * time.Second, Off: OffRetry}).Get(t.Context(), "http://a.example/")
			discard(t, resp)
			if !errors.Is(err, ErrAttemptTimeout) || asks && !errors.Is(seen, context.Canceled) {
				t.Errorf("asks %t: saw %v, got %v", asks, seen, err)
			}
		}
	})
}

// Whoever looks, while a body is read to its end, gets a context that ends with it; for the race
// detector.
func TestContextIsLookedAtWhileTheBodyIsRead(t *testing.T) {
	for range 300 {
		var wg sync.WaitGroup
		base := roundTrip(func(req *http.Request) (*http.Response, error) {
			ctx, left := req.Context(), 4
			for range 2 {
				wg.Go(func() { <-ctx.Done() })
			}
			body := readFunc(func(p []byte) (int, error) {
				if left--; left < 0 {
					return 0, io.EOF
				}
				return copy(p, "x"), nil
			})
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, ContentLength: -1, Request: req}, nil
		})
		resp, err := client(t, Config{Base: base}).Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(resp.Body); len(b) != 4 || err != nil {
			t.Fatalf("%q, %v", b, err)
		}
		discard(t, resp)
		wg.Wait()
	}
}

// hanging is a transport that waits for the end of the request's context.
func hanging(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, context.Cause(req.Context())
}

// A client serves bubbles of testing/synctest one after the other, each with a clock of its own
// that begins anew, and those outside before and after: what was set for one is not waited for by
// another.
func TestDeadlinesHoldInOneBubbleAfterTheOther(t *testing.T) {
	quick := false
	c := client(t, Config{Attempt: 2 * time.Second, Off: OffRetry | OffBreaker, Base: roundTrip(func(req *http.Request) (*http.Response, error) {
		if quick {
			_ = req.Context().Done() // a timer is set, and taken out
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
		}
		return hanging(req)
	})})
	get := func(ctx context.Context) error {
		resp, err := c.Get(ctx, "http://a.example/")
		discard(t, resp)
		return err
	}
	outside := func() {
		if err := get(With(t.Context(), Overrides{Attempt: 10 * time.Millisecond})); !errors.Is(err, ErrAttemptTimeout) {
			t.Errorf("outside: got %v", err)
		}
	}
	outside()
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			for _, quick = range []bool{true, false} {
				start := time.Now()
				if err := get(t.Context()); quick != (err == nil) || !quick && (!errors.Is(err, ErrAttemptTimeout) || time.Since(start) != 2*time.Second) {
					t.Errorf("quick %t: got %v after %v", quick, err, time.Since(start))
				}
			}
		})
	}
	outside()
}

// Nothing is kept of an attempt that ended, however it did.
func TestTimersOfEndedAttemptsAreGone(t *testing.T) {
	var body io.ReadCloser
	c := client(t, Config{Off: OffRetry | OffBreaker, Base: roundTrip(func(req *http.Request) (*http.Response, error) {
		_ = req.Context().Done()
		if body == nil {
			return nil, errors.New("failed")
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, ContentLength: -1, Request: req}, nil
	})})
	bytes := func(n int) readFunc {
		return func(p []byte) (int, error) {
			if n--; n < 0 {
				return 0, io.EOF
			}
			return copy(p, "x"), nil
		}
	}
	for name, b := range map[string]io.ReadCloser{
		"an error": nil, "no body": http.NoBody, "a body": bytes(3), "a broken body": readFunc(func([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }),
	} {
		for _, read := range []bool{true, false} {
			body = b
			resp, err := c.Get(t.Context(), "http://a.example/")
			if (err == nil) != (b != nil) {
				t.Fatalf("%s: %v", name, err)
			}
			if read && resp != nil {
				_, _ = io.Copy(io.Discard, resp.Body)
			} else if n := c.timers.Len(); resp != nil && b != http.NoBody && n != 1 {
				t.Errorf("%s: %d timers before the end", name, n)
			}
			if !read {
				discard(t, resp)
			}
			if n := c.timers.Len(); n != 0 {
				t.Errorf("%s, read %t: %d timers are left", name, read, n)
			}
			discard(t, resp)
		}
	}
}
