package middleware

import (
	"cmp"
	"log/slog"
	"net/http"
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
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			start := time.Now()
			returned := false
			defer func() {
				status := c.Status()
				if !returned { // a panic passes by; the App answers it
					status = http.StatusInternalServerError
				}
				o.log(c, status, time.Since(start), skip)
			}()
			if err := next(c); err != nil {
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
	pattern := ""
	if r := c.Route(); r != nil {
		pattern = r.Info().Pattern
	}
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
