// Package observe reports what happens to calls: events as they happen, and a sink that writes them
// to a slog.Logger.
//
// An observer runs on the goroutine of the call, in order; it must not block. Without observers no
// event is built.
//
// Do: keep header names for the log on an allow-list ([SlogOptions]).
// Do not: print [Event.Header] or [Event.ResponseHeader] as they are; they hold credentials.
package observe

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"example.com/quire/fetch/internal/call"
)

// Event is one thing that happened to a call. It is valid during the observer's call only.
type Event = call.Event

// Func gets events.
type Func = call.Func

// Kind names what an event is about.
type Kind = call.Kind

// The kinds of events.
const (
	Start    = call.KindStart
	Tried    = call.KindAttempt
	Retry    = call.KindRetry
	Stop     = call.KindStop
	Breaker  = call.KindBreaker
	Redirect = call.KindRedirect
	Denied   = call.KindDenied
	Cache    = call.KindCache
	Limit    = call.KindLimit
	Hedge    = call.KindHedge
	Done     = call.KindDone
)

// SlogOptions shape the log.
type SlogOptions struct {
	// Level returns the level of an event: nil = Level of this package.
	Level func(e *Event) slog.Level
	// Headers are the names of the request and response header fields that may be logged: none by
	// default. Authorization, Proxy-Authorization, Cookie and Set-Cookie stay hidden even when
	// named.
	Headers []string
}

// Level is the default level of an event: Debug for what is usual, Info for a retry and a redirect,
// Warn for a refusal and for a call that is given up, Error for none: whether a failed call is an
// error, its caller knows.
func Level(e *Event) slog.Level {
	switch e.Kind {
	case Retry, Redirect:
		return slog.LevelInfo
	case Stop, Breaker, Denied, Limit:
		return slog.LevelWarn
	case Done:
		if e.Err != nil {
			return slog.LevelWarn
		}
	}
	return slog.LevelDebug
}

// Slog returns an observer that logs to l. Addresses are logged without userinfo and without the
// values of the query, bodies never.
func Slog(l *slog.Logger, o SlogOptions) Func {
	level := o.Level
	if level == nil {
		level = Level
	}
	var headers []string
	for _, name := range o.Headers {
		switch name = http.CanonicalHeaderKey(name); name {
		case "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie":
		default:
			headers = append(headers, name)
		}
	}
	return func(ctx context.Context, e *Event) {
		lv := level(e)
		if !l.Enabled(ctx, lv) {
			return
		}
		attrs := make([]slog.Attr, 0, 16)
		attrs = append(attrs, slog.String("request_id", e.RequestID), slog.String("method", e.Method), slog.String("url", e.URL))
		if e.Route != "" {
			attrs = append(attrs, slog.String("route", e.Route))
		}
		if e.Kind != Start && e.Kind != Done && e.Of > 0 {
			attrs = append(attrs, slog.Int("attempt", e.Attempt), slog.Int("of", e.Of))
		}
		if e.Status != 0 {
			attrs = append(attrs, slog.Int("status", e.Status))
		}
		if e.Took != 0 {
			attrs = append(attrs, slog.Duration("took", e.Took))
		}
		if e.Kind == Retry {
			attrs = append(attrs, slog.Duration("delay", e.Delay))
		}
		for _, s := range []struct{ name, value string }{{"reason", e.Reason}, {"detail", e.Detail}} {
			if s.value != "" {
				attrs = append(attrs, slog.String(s.name, s.value))
			}
		}
		if e.Err != nil {
			attrs = append(attrs, slog.String("error", e.ErrorText()))
		}
		attrs = appendHeaders(attrs, "header", e.Header, headers)
		attrs = appendHeaders(attrs, "response_header", e.ResponseHeader, headers)
		l.LogAttrs(ctx, lv, "fetch "+string(e.Kind), attrs...)
	}
}

func appendHeaders(attrs []slog.Attr, group string, h http.Header, allow []string) []slog.Attr {
	var members []any
	for _, name := range allow {
		if v := h[name]; len(v) > 0 {
			value := strings.Join(v, ", ")
			if name == "Location" || name == "Referer" || name == "Content-Location" {
				value = address(value)
			}
			members = append(members, slog.String(name, value))
		}
	}
	if len(members) == 0 {
		return attrs
	}
	return append(attrs, slog.Group(group, members...))
}

func address(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "_"
	}
	return call.Redact(u)
}
