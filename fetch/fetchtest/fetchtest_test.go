package fetchtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func send(t *testing.T, rt http.RoundTripper, ctx context.Context, method, body string) (*http.Response, error) { //nolint:revive // t comes first in tests
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://a.example/p", r)
	if err != nil {
		t.Fatal(err)
	}
	return rt.RoundTrip(req)
}

func finish(t *testing.T, resp *http.Response) (string, error) {
	t.Helper()
	if resp == nil {
		return "", nil
	}
	b, err := io.ReadAll(resp.Body)
	if cerr := resp.Body.Close(); cerr != nil {
		t.Error(cerr)
	}
	return string(b), err
}

func TestSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ok := Step{}.Status(201).Header("X-A", "1").Header("X-A", "2").Body("0123456789")
		for _, c := range []struct {
			name   string
			step   Step
			method string
			body   string
			length int64
			err    error
			took   time.Duration
		}{
			{"zero", Step{}, "GET", "", 0, nil, 0},
			{"ordinary", ok, "GET", "0123456789", 10, nil, 0},
			{"HEAD", ok, "HEAD", "", 10, nil, 0},
			{"no content", Step{}.Status(204).Body("x"), "GET", "", 0, nil, 0},
			{"delay", ok.Delay(time.Second), "GET", "0123456789", 10, nil, time.Second},
			{"late body", ok.DelayBody(time.Second), "GET", "0123456789", 10, nil, time.Second},
			{"drip", ok.Drip(3, time.Second), "GET", "0123456789", -1, nil, 3 * time.Second},
			{"reset", ok.ResetAfter(4), "GET", "0123", 10, syscall.ECONNRESET, 0},
			{"too short", ok.WrongLength(20), "GET", "0123456789", 20, io.ErrUnexpectedEOF, 0},
			{"too long", ok.WrongLength(4), "GET", "0123", 4, nil, 0},
		} {
			tr := Script(c.step)
			start := time.Now()
			resp, err := send(t, tr, t.Context(), c.method, "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := finish(t, resp)
			if got != c.body || resp.ContentLength != c.length || !errors.Is(err, c.err) || time.Since(start) != c.took {
				t.Errorf("%s: %q, length %d, %v after %v", c.name, got, resp.ContentLength, err, time.Since(start))
			}
			tr.AssertClosed(t)
		}
	})
}

func TestTrailerAndInfo(t *testing.T) {
	tr := Script(Step{}.Body("x").Trailer("Checksum", "1").Info(103, "Link", "</a>"))
	var infos []int
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		infos = append(infos, code)
		if h.Get("Link") != "</a>" {
			t.Errorf("%v", h)
		}
		return nil
	}})
	resp, err := send(t, tr, ctx, "GET", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, announced := resp.Trailer["Checksum"]; !announced || resp.Trailer.Get("Checksum") != "" {
		t.Errorf("before the end: %v", resp.Trailer)
	}
	if got, err := finish(t, resp); got != "x" || err != nil || resp.Trailer.Get("Checksum") != "1" || len(infos) != 1 || infos[0] != 103 {
		t.Errorf("%q, %v, %v, %v", got, err, resp.Trailer, infos)
	}
}

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, got int
		ctx, cancel := context.WithTimeout(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GetConn: func(string) { asked++ }, GotConn: func(httptrace.GotConnInfo) { got++ },
		}), time.Minute)
		defer cancel()
		tr := Script(Step{}.DialError(), Step{}.TLSError(), Step{}.Hang())
		resp, err := send(t, tr, ctx, "POST", "x")
		_, _ = finish(t, resp)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("got %v", err)
		}
		resp, err = send(t, tr, ctx, "POST", "x")
		_, _ = finish(t, resp)
		if op, ok := errors.AsType[*net.OpError](err); !ok || op.Op != "remote error" {
			t.Errorf("got %v", err)
		}
		resp, err = send(t, tr, ctx, "POST", "x")
		_, _ = finish(t, resp)
		if !errors.Is(err, context.DeadlineExceeded) || asked != 3 || got != 1 {
			t.Errorf("got %v, %d asked, %d got", err, asked, got)
		}
		tr.AssertClosed(t)
	})
}

func TestRecorder(t *testing.T) {
	then := 0
	tr := Script(Step{}.Then(func(*http.Request) { then++ }), Step{}.Status(503))
	for range 3 {
		resp, err := send(t, tr, t.Context(), "PUT", "body")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = finish(t, resp)
	}
	got := tr.Requests()
	if len(got) != 3 || then != 1 || string(got[2].Body) != "body" || got[2].Method != "PUT" || got[2].URL.Path != "/p" || got[2].Host != "a.example" || got[2].ContentLength != 4 {
		t.Errorf("%d requests: %+v", len(got), got)
	}
}

// failures stands in for the testing.TB that AssertClosed complains to.
type failures struct {
	testing.TB
	list []string
}

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) {
	f.list = append(f.list, fmt.Sprintf(format, args...))
}

func TestAssertClosedComplains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := Script(Step{}.Body("12345"), Step{}.Hang())
		resp, err := send(t, tr, t.Context(), "GET", "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			resp, err := send(t, tr, ctx, "GET", "")
			_, _ = finish(t, resp)
			if err == nil {
				t.Error("no error")
			}
		}()
		synctest.Wait()
		f := &failures{TB: t}
		tr.AssertClosed(f)
		want := "body not closed: GET http://a.example/p, 5 bytes unread; 1 requests still inside the transport"
		if got := strings.Join(f.list, "; "); got != want {
			t.Errorf("got %s", got)
		}
		cancel()
		<-done
		_, _ = finish(t, resp)
		tr.AssertClosed(t)
	})
}

func TestCloseEndsARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := Script(Step{}.Body("x").DelayBody(time.Hour))
		resp, err := send(t, tr, t.Context(), "GET", "")
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { _ = resp.Body.Close() })
		start := time.Now()
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, http.ErrBodyReadAfterClose) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
			t.Error("read after close")
		}
	})
}

func TestChaosRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Profile{Dial: 0.1, Reset: 0.1, Status503: 0.1, Status500: 0.1, Slow: 0.1, Hang: 0.1, Body: "body", Delay: time.Second}
		run := func(number uint64) (all string, kinds map[string]int) {
			kinds = map[string]int{}
			tr := Chaos(number, p)
			for range 300 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				start := time.Now()
				resp, err := send(t, tr, ctx, "GET", "")
				what := ""
				if err == nil {
					_, err = finish(t, resp)
					what = resp.Status
				}
				what = fmt.Sprint(what, err, time.Since(start))
				cancel()
				all += what + "\n"
				kinds[what]++
			}
			tr.AssertClosed(t)
			return all, kinds
		}
		one, kinds := run(7)
		again, _ := run(7)
		other, _ := run(8)
		if one != again || one == other || len(kinds) != 7 {
			t.Errorf("equal %t, other differs %t, %v", one == again, one != other, kinds)
		}
	})
}

func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, conns := Count(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			<-time.After(time.Hour)
			_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.Host, string(b)}, " ")) //nolint:gosec // no browser reads it
		}))
		rt := Serve(t, h)
		for range 3 {
			resp, err := send(t, rt, t.Context(), "POST", "body")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := finish(t, resp); got != "POST a.example body" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			synctest.Wait()
		}
		if conns() != 1 {
			t.Errorf("%d connections", conns())
		}
	})
}
