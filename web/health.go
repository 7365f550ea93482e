package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// CheckKind says what a failing check means.
type CheckKind int

const (
	// Critical makes the server not ready.
	Critical CheckKind = iota
	// Degraded is reported, while the server stays ready.
	Degraded
)

func (k CheckKind) String() string {
	if k == Degraded {
		return "degraded"
	}
	return "critical"
}

// Health answers /livez, /readyz and /startupz. The zero value has no checks.
// A Server that holds it makes it ready after the start hooks and not ready from
// the begin of the drain.
type Health struct {
	started  atomic.Bool
	draining atomic.Bool

	mu     sync.Mutex
	checks []healthCheck
	last   HealthReport
	lastAt time.Time
}

type healthCheck struct {
	name string
	kind CheckKind
	run  func(context.Context) error
}

// HealthReport is the body of the answers of Health.
type HealthReport struct {
	Status string        `json:"status" doc:"ok, degraded, failing, starting or draining" example:"ok"`
	Checks []CheckReport `json:"checks"`
}

// CheckReport is what one check of Health said.
type CheckReport struct {
	Name   string `json:"name" example:"state"`
	Kind   string `json:"kind" doc:"critical or degraded" example:"critical"`
	Status string `json:"status" doc:"ok or failing" example:"ok"`
}

const (
	checkTime = 5 * time.Second // for one check
	checkHold = time.Second     // results are held so long: probing costs no more than once a second
)

// Check adds a named check. f has 5 seconds; its error goes to the log only.
func (h *Health) Check(name string, kind CheckKind, f func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks = append(h.checks, healthCheck{name, kind, f})
}

// Ready reports whether the server takes traffic: it has started, does not
// drain, and no critical check fails.
func (h *Health) Ready(ctx context.Context) bool {
	code, _ := h.ready(ctx, slog.Default())
	return code == http.StatusOK
}

// Register adds the three routes, with the options given to each, such as a description. They say
// whether checks pass, not why not.
func (h *Health) Register(r Registrar, o ...RouteOption) error {
	answer := func(c *Context, code int, rep HealthReport) error {
		c.Writer().Header().Set("Cache-Control", "no-store")
		return c.JSON(code, rep)
	}
	for path, f := range map[string]Handler{
		"/livez": func(c *Context) error {
			return answer(c, http.StatusOK, HealthReport{Status: "ok", Checks: []CheckReport{}})
		},
		"/startupz": func(c *Context) error {
			if !h.started.Load() {
				return answer(c, http.StatusServiceUnavailable, HealthReport{Status: "starting", Checks: []CheckReport{}})
			}
			return answer(c, http.StatusOK, HealthReport{Status: "ok", Checks: []CheckReport{}})
		},
		"/readyz": func(c *Context) error {
			code, rep := h.ready(c.Context(), c.app.log)
			return answer(c, code, rep)
		},
	} {
		if _, err := r.TryHandle(http.MethodGet, path, f, o...); err != nil {
			return fmt.Errorf("web: health: %w", err)
		}
	}
	return nil
}

func (h *Health) ready(ctx context.Context, log *slog.Logger) (int, HealthReport) {
	switch {
	case h.draining.Load():
		return http.StatusServiceUnavailable, HealthReport{Status: "draining", Checks: []CheckReport{}}
	case !h.started.Load():
		return http.StatusServiceUnavailable, HealthReport{Status: "starting", Checks: []CheckReport{}}
	}
	rep := h.report(ctx, log)
	if rep.Status == "failing" {
		return http.StatusServiceUnavailable, rep
	}
	return http.StatusOK, rep
}

// report runs the checks, all at once, or returns what they said a moment ago.
func (h *Health) report(ctx context.Context, log *slog.Logger) HealthReport {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.lastAt.IsZero() && time.Since(h.lastAt) < checkHold && len(h.last.Checks) == len(h.checks) {
		return h.last
	}
	// The answer is for everybody who asks in this second, not for this client alone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
	defer cancel()
	rep := HealthReport{Status: "ok", Checks: make([]CheckReport, len(h.checks))}
	errs := make([]chan error, len(h.checks))
	for i, c := range h.checks {
		errs[i] = make(chan error, 1)
		go func() { errs[i] <- c.run(ctx) }()
	}
	for i, c := range h.checks {
		rep.Checks[i] = CheckReport{c.name, c.kind.String(), "ok"}
		var err error
		select {
		case err = <-errs[i]:
		case <-ctx.Done(): // a check that does not heed its context is left behind
			err = ctx.Err()
		}
		if err == nil {
			continue
		}
		log.Warn("health check failed", slog.String("check", c.name), slog.Any("err", err))
		rep.Checks[i].Status = "failing"
		if c.kind == Critical {
			rep.Status = "failing"
		} else if rep.Status == "ok" {
			rep.Status = "degraded"
		}
	}
	h.last, h.lastAt = rep, time.Now()
	return rep
}
