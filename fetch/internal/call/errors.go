package call

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The deadlines' errors. Each is also a context.DeadlineExceeded and a timeout in the sense of
// net.Error.
var (
	ErrAttemptTimeout error = &timeout{"attempt timeout"}
	ErrTotalTimeout   error = &timeout{"total timeout"}
	ErrBodyIdle       error = &timeout{"body idle timeout"}
)

// ErrBodyTooLarge ends the reading of a body that is larger than allowed.
var ErrBodyTooLarge error = &final{"response body too large"}

type timeout struct{ text string }

func (e *timeout) Error() string   { return e.text }
func (e *timeout) Timeout() bool   { return true }
func (e *timeout) Temporary() bool { return true }
func (e *timeout) Is(target error) bool {
	return target == context.DeadlineExceeded
}

// final is an error that a repetition would only meet again.
type final struct{ text string }

func (e *final) Error() string   { return e.text }
func (e *final) Retryable() bool { return false }

// Final returns a new sentinel that no layer repeats a request for.
func Final(text string) error { return &final{text} }

// Retryable tells what err says about itself: errors of this module's layers that know better than
// the general rules have a method Retryable. known is false when err has none.
func Retryable(err error) (again, known bool) {
	if r, ok := errors.AsType[interface {
		error
		Retryable() bool
	}](err); ok {
		return r.Retryable(), true
	}
	return false, false
}

// ConfigError tells one thing that is wrong with a configuration.
type ConfigError struct {
	Field string // as in Go: "Retry.Backoff"
	Got   any
	Want  string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("config %s: got %v, want %s", e.Field, e.Got, e.Want)
}

// Check gathers ConfigErrors.
type Check struct{ errs []error }

// Fail adds one.
func (c *Check) Fail(field string, got any, want string) {
	c.errs = append(c.errs, &ConfigError{Field: field, Got: got, Want: want})
}

// Duration demands that d is not negative.
func (c *Check) Duration(field string, d time.Duration) {
	if d < 0 {
		c.Fail(field, d, "0 for the default, or a positive duration")
	}
}

// Count demands that n is not negative.
func (c *Check) Count(field string, n int64) {
	if n < 0 {
		c.Fail(field, n, "0 for the default, or a positive number")
	}
}

// Ratio demands a number within 0 and 1.
func (c *Check) Ratio(field string, r float64) {
	if !(r >= 0 && r <= 1) { // NaN fails both
		c.Fail(field, r, "0 for the default, or a ratio of at most 1")
	}
}

// Join adds the ConfigErrors of err, found in another package's settings, with prefix before their
// fields.
func (c *Check) Join(prefix string, err error) {
	switch e := err.(type) { //nolint:errorlint // the tree is walked node by node, wrapping is looked into below
	case nil:
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			c.Join(prefix, one)
		}
	default:
		if ce, ok := errors.AsType[*ConfigError](err); ok {
			c.Fail(prefix+ce.Field, ce.Got, ce.Want)
			return
		}
		c.errs = append(c.errs, err)
	}
}

// Err returns all of them joined, nil when there is none.
func (c *Check) Err() error { return errors.Join(c.errs...) }
