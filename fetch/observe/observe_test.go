package observe

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		e    Event
		want slog.Level
	}{
		{Event{Kind: Start}, slog.LevelDebug},
		{Event{Kind: Tried, Err: errors.New("x")}, slog.LevelDebug},
		{Event{Kind: Retry}, slog.LevelInfo},
		{Event{Kind: Redirect}, slog.LevelInfo},
		{Event{Kind: Stop}, slog.LevelWarn},
		{Event{Kind: Breaker}, slog.LevelWarn},
		{Event{Kind: Denied}, slog.LevelWarn},
		{Event{Kind: Done}, slog.LevelDebug},
		{Event{Kind: Done, Err: errors.New("x")}, slog.LevelWarn},
	} {
		if got := Level(&c.e); got != c.want {
			t.Errorf("%s: %v", c.e.Kind, got)
		}
	}
}

func plain(t *testing.T, o SlogOptions, e *Event) string {
	t.Helper()
	var b bytes.Buffer
	h := slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	Slog(slog.New(h), o)(t.Context(), e)
	return strings.TrimSpace(b.String())
}

func TestSlog(t *testing.T) {
	header := http.Header{"X-A": {"1", "2"}, "Authorization": {"secret"}, "Cookie": {"secret"}, "Location": {"http://u:secret@a.example/?q=secret"}, "Referer": {"%zz"}}
	got := plain(t, SlogOptions{Headers: []string{"x-a", "authorization", "cookie", "location", "referer", "absent"}}, &Event{
		Kind: Retry, RequestID: "1f", Method: "GET", URL: "http://a.example/", Route: "GET /", Attempt: 1, Of: 3, Status: 503,
		Took: time.Second, Delay: 2 * time.Second, Reason: "status 503", Detail: "d", Err: errors.New("line\nbreak"), Header: header,
	})
	want := `level=INFO msg="fetch retry" request_id=1f method=GET url=http://a.example/ route="GET /" attempt=1 of=3 status=503 took=1s delay=2s ` +
		`reason="status 503" detail=d error="line\nbreak" header.X-A="1, 2" header.Location="http://a.example/?q=_" header.Referer=_`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := plain(t, SlogOptions{Level: func(*Event) slog.Level { return slog.LevelDebug - 1 }}, &Event{Kind: Stop}); got != "" {
		t.Errorf("below the handler's level: %s", got)
	}
	if got := plain(t, SlogOptions{}, &Event{Kind: Start, RequestID: "1f", Method: "GET", URL: "u", Attempt: 1, Of: 3}); got != `level=DEBUG msg="fetch start" request_id=1f method=GET url=u` {
		t.Errorf("got %s", got)
	}
}
