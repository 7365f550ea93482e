package middleware

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/quire/web"
)

// AccessLogOptions configure AccessLog.
type AccessLogOptions struct {
	// Logger gets one record per request. Default: slog.Default().
	Logger *slog.Logger
	// Skip lists route patterns that are not logged unless they fail with 500 or
	// above, such as /livez. Default: none.
	Skip []string
	// Refusals is how long refusals for web.ErrBusy are counted before one record tells how many
	// there were of a method, route and user; the first of a burst has a record of its own. A
	// server that refuses most of what it is asked has better to do than to write each down. Attrs
	// has no part in it, and what is counted when the process ends is lost. Default: each is
	// logged.
	Refusals time.Duration
	// Attrs adds to the record. Danger: what comes from the request may hold
	// secrets; paths and queries are left out for that reason.
	Attrs func(*web.Context) []slog.Attr
}

// AccessLog logs each request when it has been answered: method, route pattern,
// status, bytes, duration, client and id. It answers errors of the handlers
// inside, so that the status it logs is final. It stands outermost. Faults of the
// server are errors, 503 is a warning.
func AccessLog(o AccessLogOptions) web.Middleware {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	skip := make(map[string]bool, len(o.Skip))
	for _, s := range o.Skip {
		skip[s] = true
	}
	counted := &refusals{o: &o}
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			start := time.Now()
			returned, busy := false, false
			defer func() {
				status := c.Status()
				if !returned { // a panic passes by; the App answers it
					status = http.StatusInternalServerError
				}
				if !busy || status != http.StatusServiceUnavailable || !counted.count(c) {
					o.log(c, status, time.Since(start), skip)
				}
			}()
			if err := next(c); err != nil {
				busy = o.Refusals > 0 && errors.Is(err, web.ErrBusy)
				c.Error(err)
			}
			returned = true
			return nil
		}
	}
}

func (o *AccessLogOptions) log(c *web.Context, status int, took time.Duration, skip map[string]bool) {
	level := slog.LevelInfo
	switch {
	case status == http.StatusServiceUnavailable:
		level = slog.LevelWarn // overloaded, or on its way out: no fault, and it may come in thousands
	case status >= 500:
		level = slog.LevelError
	}
	pattern := patternOf(c)
	if status < 500 && skip[pattern] {
		return
	}
	ctx := c.Request().Context()
	if !o.Logger.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs,
		slog.String("method", c.Request().Method),
		slog.String("route", pattern),
		slog.Int("status", status),
		slog.Int64("bytes", c.Written()),
		slog.Duration("duration", took),
		slog.String("client", c.ClientIP().String()),
		slog.String("id", c.RequestID()))
	if u := c.User(); u != "" {
		attrs = append(attrs, slog.String("user", u))
	}
	if o.Attrs != nil {
		attrs = append(attrs, o.Attrs(c)...)
	}
	o.Logger.LogAttrs(ctx, level, "request", attrs...)
}

func patternOf(c *web.Context) string {
	if r := c.Route(); r != nil {
		return r.Info().Pattern
	}
	return ""
}

// refusals are counted as long as there are some: a timer tells of them, and goes on while it finds
// any.
type refusals struct {
	o *AccessLogOptions

	mu   sync.Mutex
	seen map[refusal]int // nil: no timer runs
}

type refusal struct{ method, route, user string }

// mostRefusals bounds what is counted by itself; the rest is logged one by one.
const mostRefusals = 1000

// count reports whether a refusal is counted and needs no record of its own.
func (r *refusals) count(c *web.Context) bool {
	k := refusal{c.Request().Method, patternOf(c), c.User()}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, known := r.seen[k]
	if known {
		r.seen[k] = n + 1
		return true
	}
	if r.seen == nil {
		r.seen = map[refusal]int{}
		time.AfterFunc(r.o.Refusals, r.tell)
	}
	if len(r.seen) < mostRefusals {
		k.method = strings.Clone(k.method) // which would keep the request's first line
		r.seen[k] = 0
	}
	return false
}

// tell writes what was counted since the last time.
func (r *refusals) tell() {
	r.mu.Lock()
	told := maps.Clone(r.seen)
	for k, n := range r.seen {
		if r.seen[k] = 0; n == 0 {
			delete(r.seen, k)
		}
	}
	if len(r.seen) > 0 {
		time.AfterFunc(r.o.Refusals, r.tell)
	} else {
		r.seen = nil
	}
	r.mu.Unlock()
	for _, k := range slices.SortedFunc(maps.Keys(told), func(a, b refusal) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.method, b.method), cmp.Compare(a.user, b.user))
	}) {
		if told[k] == 0 {
			continue
		}
		attrs := []slog.Attr{
			slog.String("method", k.method), slog.String("route", k.route), slog.Int("status", http.StatusServiceUnavailable),
			slog.Int("count", told[k]), slog.Duration("within", r.o.Refusals),
		}
		if k.user != "" {
			attrs = append(attrs, slog.String("user", k.user))
		}
		r.o.Logger.LogAttrs(context.Background(), slog.LevelWarn, "requests refused", attrs...)
	}
}
