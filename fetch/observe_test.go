package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/observe"
	"example.com/quire/fetch/retry"
)

func TestEveryStepOfACallIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		ids := map[string]bool{}
		c, _ := over(t, Config{Observers: []observe.Func{func(_ context.Context, e *observe.Event) {
			got = append(got, fmt.Sprintf("%s %d/%d %d %s %s", e.Kind, e.Attempt, e.Of, e.Status, e.Reason, e.Detail))
			ids[e.RequestID] = true
			if e.Route != "GET /{x}" || e.Origin != "http://a.example" || e.Method != "GET" || !strings.HasPrefix(e.URL, "http://a.example/") || e.Time.IsZero() {
				t.Errorf("%+v", e)
			}
		}}}, fetchtest.Step{}.Status(302).Header("Location", "/b"), fetchtest.Step{}.Status(503), fetchtest.Step{}.DialError(), fetchtest.Step{}.Status(503))
		resp, err := c.Get(With(t.Context(), Overrides{Route: "GET /{x}"}), "http://a.example/a")
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
		want := []string{
			"start 1/1 0  ", "attempt 1/3 302 ok ", "done 1/3 302  ", "redirect 1/3 302  ",
			"start 1/3 0  ", "attempt 1/3 503 status 503 ", "retry 1/3 503 status 503 ", "attempt 2/3 0 dial ", "retry 2/3 0 dial ",
			"attempt 3/3 503 status 503 ", "stop 3/3 503 status 503 attempts", "done 3/3 503 attempts ",
		}
		if !slices.Equal(got, want) || len(ids) != 1 || !ids[InfoOf(resp).RequestID] {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// leaky fails with an error that quotes the whole address, as a nested http.Client does.
type leaky struct{}

func (leaky) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("Get %q: proxy said no", r.URL.String())
}

func TestLogsHoldNoSecrets(t *testing.T) {
	const canary = "CANARY"
	var log bytes.Buffer
	l := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
	all := observe.Slog(l, observe.SlogOptions{Headers: []string{"x-shown", "Authorization", "Cookie", "Set-Cookie", "Location"}})
	visit := func(ctx context.Context, c *Client) error {
		req, err := http.NewRequestWithContext(ctx, "POST", "http://user:CANARYPASS@a.example/p?token=CANARYQ&CANARYBARE#CANARYFRAG", strings.NewReader("CANARYBODY"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", "CANARYKEY")
		req.Header.Set("Cookie", "a=CANARYCOOKIE")
		req.Header.Set("X-Shown", "in sight")
		resp, err := c.Do(req)
		discard(t, resp)
		return err
	}
	steps := []fetchtest.Step{
		fetchtest.Step{}.Status(302).Header("Location", "http://u:CANARYPASS@b.example/?x=CANARYLOC").Header("Set-Cookie", "b=CANARYCOOKIE").Header("X-Shown", "line\nbreak"),
		fetchtest.Step{}.Status(503).Body("CANARYBODY"), fetchtest.Step{}.Body("CANARYBODY"),
	}
	ok, _ := over(t, Config{Observers: []observe.Func{all}, Retry: noWait()}, steps...)
	if err := visit(With(t.Context(), Overrides{IdempotencyKey: "CANARYIDEM"}), ok); err != nil {
		t.Fatal(err)
	}
	bad := client(t, Config{Base: leaky{}, Observers: []observe.Func{all}, Retry: noWait()})
	err := visit(With(t.Context(), Overrides{IdempotencyKey: "CANARYIDEM"}), bad)
	if err == nil {
		t.Fatal("no error")
	}
	down, _ := over(t, Config{Observers: []observe.Func{all}, Retry: noWait()}, fetchtest.Step{}.DialError())
	for range 3 {
		_ = visit(t.Context(), down)
	}
	_, problem := GetJSON[int](t.Context(), ok, "http://a.example/?CANARYQ")
	text := log.String() + fmt.Sprintf("%v %+v %q", err, err, err) + fmt.Sprint(problem)
	if i := strings.Index(text, canary); i >= 0 {
		t.Errorf("found at %s", text[max(i-200, 0):min(i+40, len(text))])
	}
	if strings.Contains(text, "%!") {
		t.Error("a bad format")
	}
	kinds := map[string]bool{}
	for line := range strings.Lines(log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		kinds[entry["msg"].(string)] = true
	}
	for _, kind := range []observe.Kind{observe.Start, observe.Tried, observe.Retry, observe.Stop, observe.Breaker, observe.Redirect, observe.Done} {
		if !kinds["fetch "+string(kind)] {
			t.Errorf("no event of kind %s", kind)
		}
	}
	if !strings.Contains(log.String(), "in sight") || !strings.Contains(log.String(), `line\nbreak`) || !strings.Contains(log.String(), "x=_") {
		t.Error("what may be shown is not")
	}
}

func TestNoSecretsInNestedErrors(t *testing.T) {
	c := client(t, Config{Base: leaky{}, Retry: retry.Policy{MaxAttempts: 1}})
	resp, err := c.Get(t.Context(), "http://a.example/p?token=s3cret")
	discard(t, resp)
	if e, ok := errors.AsType[*Error](err); !ok || strings.Contains(e.Error(), "s3cret") || !strings.Contains(e.Error(), "proxy said no") {
		t.Errorf("got %v", err)
	}
}

func TestGuardEventsReachTheLog(t *testing.T) {
	var log bytes.Buffer
	c := client(t, Config{
		Transport: TransportConfig{Guard: &Guard{DenyPrefixes: []netip.Prefix{netip.MustParsePrefix("8.8.8.8/32")}}},
		Observers: []observe.Func{observe.Slog(slog.New(slog.NewTextHandler(&log, nil)), observe.SlogOptions{})},
	})
	resp, err := c.Get(t.Context(), "http://8.8.8.8/")
	discard(t, resp)
	if !errors.Is(err, ErrAddressDenied) || !strings.Contains(log.String(), `level=WARN msg="fetch denied"`) || !strings.Contains(log.String(), `detail="8.8.8.8:80: denied by configuration"`) {
		t.Errorf("%v\n%s", err, log.String())
	}
}
