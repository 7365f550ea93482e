package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
)

// Errors with a status of their own, for errors.Is. Handlers return them.
var (
	ErrNotModified        = errors.New("web: not modified")                   // 304
	ErrPreconditionFailed = errors.New("web: precondition failed")            // 412
	ErrUnauthorized       = errors.New("web: unauthorized")                   // 401; see Problem.Header for the challenge
	ErrForbidden          = errors.New("web: forbidden")                      // 403
	ErrNotFound           = errors.New("web: not found")                      // 404
	ErrMethodNotAllowed   = errors.New("web: method not allowed")             // 405
	ErrUnsupportedMedia   = errors.New("web: unsupported media type")         // 415
	ErrNotAcceptable      = errors.New("web: no acceptable representation")   // 406
	ErrBodyTooLarge       = errors.New("web: request body exceeds its limit") // 413
	ErrBodyIncomplete     = errors.New("web: the request body ended early")   // 400
	ErrBodyTimeout        = errors.New("web: the request body came too slow") // 408
	ErrServerDraining     = errors.New("web: server is draining")             // 503
)

// statusClientGone is noted, never sent, when the client left before the answer.
const statusClientGone = 499

// Problem is an error and its answer in the form of RFC 9457. Everything in it
// is for the client; the cause goes to the log only.
type Problem struct {
	Type     string // a URI that names the kind of problem; "" is about:blank
	Title    string // "" is the text of Status
	Status   int
	Detail   string
	Instance string // "" is the request id
	Fields   []FieldError
	Ext      map[string]any // further members; those of RFC 9457 and "fields" are ignored
	// Header fields travel with the error to its answer: WWW-Authenticate, Retry-After.
	// A 503 and a 429 without Retry-After say one second.
	Header http.Header

	cause error
}

// FieldError tells what is wrong with one part of a request.
type FieldError struct {
	Source  string `json:"source,omitempty"`  // path, query, header, cookie, form, body
	Pointer string `json:"pointer,omitempty"` // RFC 6901, into a body
	Name    string `json:"name,omitempty"`    // of a parameter
	Rule    string `json:"rule,omitempty"`    // what was broken: a BindKind, or a rule of validation
	Limit   string `json:"limit,omitempty"`   // of that rule
	Detail  string `json:"detail"`
	Got     string `json:"got,omitempty"`
	Want    string `json:"want,omitempty"`
	Line    int    `json:"line,omitempty"`   // from 1
	Column  int    `json:"column,omitempty"` // in characters, from 1
}

// NewProblem makes a Problem. detail is for the client; cause is logged, never
// sent, and seen by errors.Is and errors.As.
func NewProblem(status int, detail string, cause error) *Problem {
	return &Problem{Status: status, Detail: detail, cause: cause}
}

// Invalid makes the 422 problem of a request that could be read but breaks rules
// of the application, with a place and a detail for each.
func Invalid(fields ...FieldError) *Problem {
	p := &Problem{Status: http.StatusUnprocessableEntity, Fields: fields}
	if len(fields) == 1 {
		p.Detail = fields[0].String()
	}
	return p
}

func (p *Problem) Error() string {
	text := fmt.Sprintf("web: %d %s", p.Status, p.title())
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	if p.cause != nil {
		text += ": " + p.cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.cause }

func (p *Problem) title() string {
	if p.Title != "" {
		return p.Title
	}
	if text := http.StatusText(p.Status); text != "" {
		return text
	}
	return "Error"
}

// AsProblem returns what the client is told of an error by default: the *Problem
// in its chain, or the fixed text of the status that the error maps to. The
// result is a copy. It is never nil.
func AsProblem(err error) *Problem {
	p := problemOf(err)
	return &p
}

func problemOf(err error) Problem {
	if status := ownStatus(err); status != 0 {
		return Problem{Status: status, cause: err}
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.valid()
	}
	if faults, ok := errors.AsType[BindErrors](err); ok && len(faults) > 0 {
		return *faults.problem()
	}
	if invalid, ok := errors.AsType[*ValidationError](err); ok {
		return *invalid.problem()
	}
	if part, ok := errors.AsType[*UploadError](err); ok {
		return *part.problem()
	}
	if one, ok := errors.AsType[*BindError](err); ok {
		return *BindErrors{one}.problem()
	}
	return Problem{Status: statusOf(err), cause: err}
}

// valid returns a copy whose status is one of an error.
func (p *Problem) valid() Problem {
	c := *p
	if c.Status < 400 || c.Status > 599 {
		c.Status = http.StatusInternalServerError
	}
	return c
}

// problem returns what the client is told of an error by the App's choice.
func (a *App) problem(err error) Problem {
	if a.opts.Problem != nil {
		if p := a.opts.Problem(err); p != nil {
			return p.valid()
		}
	}
	return problemOf(err)
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, ErrPreconditionFailed):
		return http.StatusPreconditionFailed
	case errors.Is(err, ErrUnauthorized):
		return http.StatusUnauthorized
	case errors.Is(err, ErrForbidden):
		return http.StatusForbidden
	case errors.Is(err, ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, ErrMethodNotAllowed):
		return http.StatusMethodNotAllowed
	case errors.Is(err, ErrUnsupportedMedia):
		return http.StatusUnsupportedMediaType
	case errors.Is(err, ErrNotAcceptable):
		return http.StatusNotAcceptable
	case errors.Is(err, ErrBodyIncomplete):
		return http.StatusBadRequest
	case errors.Is(err, ErrBodyTimeout):
		return http.StatusRequestTimeout
	case errors.Is(err, ErrBodyTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, ErrServerDraining), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusInternalServerError
}

// ownStatus returns the status of the errors that the App's own answers end in,
// 0 of any other. They are many where a scanner knocks, and looking through the
// chain of an error for each known one takes longer than the rest of the answer.
func ownStatus(err error) int {
	if err == ErrNotFound { //nolint:errorlint // what is wrapped takes the long way
		return http.StatusNotFound
	}
	if err == ErrMethodNotAllowed { //nolint:errorlint // as above
		return http.StatusMethodNotAllowed
	}
	return 0
}

// Error answers an error now, so that Status and Written are final. The first
// answer wins: a later error is only logged. An error after bytes of an answer
// are out cuts the connection once the handlers have returned, for nothing else
// tells the client that what it got is not whole.
func (c *Context) Error(err error) {
	c.live()
	own := ownStatus(err) != 0
	switch {
	case err == nil:
	case !own && errors.Is(err, http.ErrAbortHandler):
		c.abort = true
	case c.answered:
		c.logError("error after an error answer", err)
	case c.res.hijacked:
		level := slog.LevelError
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, context.Canceled) {
			level = slog.LevelInfo // the client has left: the ordinary end of a WebSocket
		}
		c.log(level, "hijacked connection ended", err)
	case c.res.code() != 0:
		c.answered, c.abort = true, true
		level := slog.LevelError
		if c.req.Context().Err() != nil { // the client left, or its time is over
			level = slog.LevelInfo
		}
		c.log(level, "answer cut", err)
	case !own && errors.Is(err, ErrNotModified):
		c.answered = true
		c.w.WriteHeader(http.StatusNotModified)
	case !own && errors.Is(err, context.Canceled) && errors.Is(c.req.Context().Err(), context.Canceled):
		c.answered, c.abort = true, true
		c.res.setCode(statusClientGone)
		c.log(slog.LevelInfo, "client gone", err)
	default:
		c.answered = true
		if c.app.opts.ErrorHandler != nil {
			c.app.opts.ErrorHandler(c, err)
			return
		}
		c.AnswerError(err)
	}
}

// AnswerError is the default error handler: it answers by a problem, in JSON,
// XML, text or HTML as the client prefers, and logs what is a fault of the
// server. An error handler of one's own may end in it.
func (c *Context) AnswerError(err error) {
	c.live()
	var p Problem
	own := ownStatus(err)
	if own != 0 && c.app.opts.Problem == nil {
		p.Status = own
	} else {
		p = c.app.problem(err)
	}
	if p.Instance == "" {
		p.Instance = c.id
	}
	level := slog.LevelDebug
	switch {
	case own == 0 && errors.Is(err, ErrBusy):
		// A full gate does what it is for, the access log has its answers, and whoever has no time
		// to do what is asked has none to tell it twice.
	case p.Status >= 500:
		level = slog.LevelError
	}
	c.log(level, "request failed", err)
	untouched := c.w == http.ResponseWriter(&c.res) && !c.res.opened
	h := c.w.Header()
	if !untouched {
		clearFailed(h, p.Status)
	}
	if (p.Status == http.StatusRequestEntityTooLarge || p.Status == http.StatusRequestTimeout) && c.req.ProtoMajor == 1 {
		h["Connection"] = valueClose // the rest of the body is not read
	}
	c.writeProblem(&p)
}

// clearFailed removes what the failed handler meant for its own answer.
func clearFailed(h http.Header, status int) {
	for _, k := range [...]string{"Content-Length", "Content-Encoding", "Content-Disposition", "Etag", "Last-Modified", "Accept-Ranges"} {
		delete(h, k)
	}
	if status != http.StatusRequestedRangeNotSatisfiable { // there it tells the size
		delete(h, "Content-Range")
	}
}

// recovered turns a panic into an answer. The stack goes to the log only.
func (c *Context) recovered(p any) {
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		c.abort = true
		return
	}
	c.log(slog.LevelError, "panic", fmt.Errorf("%v", p), slog.String("stack", string(debug.Stack())))
	if c.res.code() != 0 || c.res.hijacked {
		c.abort = !c.res.hijacked
		return
	}
	// A wrapper of a middleware that was unwound must not see this answer.
	c.w = &c.res
	defer func() {
		if recover() != nil { // the error handler itself panicked
			c.abort = true
		}
	}()
	c.answered = false
	c.Error(NewProblem(http.StatusInternalServerError, "", errPanicked))
}

var errPanicked = errors.New("web: the handler panicked")

func (c *Context) logError(msg string, err error) { c.log(slog.LevelError, msg, err) }

func (c *Context) log(level slog.Level, msg string, err error, more ...slog.Attr) {
	ctx := c.req.Context()
	if !c.app.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("id", c.id), slog.String("method", c.req.Method), slog.Any("err", err)}
	if c.route != nil {
		attrs = append(attrs, slog.String("route", c.route.pattern.Text))
	}
	c.app.log.LogAttrs(ctx, level, msg, append(attrs, more...)...)
}
