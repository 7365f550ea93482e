package middleware

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"example.com/quire/web"
)

// RecoverOptions configure Recover.
type RecoverOptions struct {
	// Logger gets the panic and its stack. Default: slog.Default().
	Logger *slog.Logger
	// OnPanic is told of each panic, besides the log. Default: nothing.
	OnPanic func(c *web.Context, value any, stack []byte)
}

// ErrPanic is the cause of the problem that answers a panic.
var ErrPanic = errors.New("middleware: the handler panicked")

// Recover turns a panic of the handlers inside into a 500 problem, so that the
// middleware outside sees an ordinary error. http.ErrAbortHandler passes.
func Recover(o RecoverOptions) web.Middleware {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) (err error) {
			defer func() {
				p := recover()
				if p == nil {
					return
				}
				if e, ok := p.(error); ok && errors.Is(e, http.ErrAbortHandler) {
					panic(p)
				}
				stack := debug.Stack()
				o.Logger.LogAttrs(c.Context(), slog.LevelError, "panic", slog.String("id", c.RequestID()),
					slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(stack)))
				if o.OnPanic != nil {
					o.OnPanic(c, p, stack)
				}
				err = web.NewProblem(http.StatusInternalServerError, "", ErrPanic)
			}()
			return next(c)
		}
	}
}
