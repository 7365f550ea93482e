package cache

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

var (
	// ErrNotFound says that the key does not exist: nothing is held and there
	// is no loader, or the loader said so. A loader returns it (or an error
	// that wraps it) to say that; the answer is then remembered for
	// Policy.NegativeTTL.
	ErrNotFound = errors.New("cache: not found")
	// ErrClosed is returned by every method after Close.
	ErrClosed = errors.New("cache: closed")
	// ErrTooLarge is returned by Set and SetWith for a value heavier than a
	// quarter of Options.MaxBytes, or for a string key longer than 1 KiB. What
	// was held before stays.
	ErrTooLarge = errors.New("cache: too large")
	// ErrUnavailable says that the remote level cannot be reached. A write that fails with it has
	// changed nothing.
	ErrUnavailable = errors.New("cache: remote unavailable")
	// ErrStale is returned by GetEntry for a value that may be older than ReadOptions.MaxStale
	// while the remote cannot be asked.
	ErrStale = errors.New("cache: value may be out of date")
	// ErrConflict is returned by Update for a key that others write all the time, and by a Set
	// whose tags, or everything, others invalidate each time that it is to be stored. Nothing has
	// changed.
	ErrConflict = errors.New("cache: written by others meanwhile")
	// ErrReadOnly is returned by the writes of a cache with Options.ReadOnly.
	ErrReadOnly = errors.New("cache: read-only")
	// ErrUncertain is returned by writes of which it is not known whether the remote did them. The
	// key is asked for again at its next read.
	ErrUncertain = errors.New("cache: outcome of the write is not known")
)

var (
	errOwnKey = errors.New("loader asks for a key whose load it is part of")
	errOddKey = errors.New("the key is not equal to itself, so nothing can be found by it")
	errNoOld  = errors.New("loader says NotModified, but no value was held")
	// errOlderLoad stays inside: the read begins again.
	errOlderLoad = errors.New("load is older than what the read comes after")
	errGoexit    = errors.New("loader ended its goroutine")
	// errAbandoned: every loader that may run for the key has outrun LoadTimeout.
	errElsewhere  = errors.New("it failed at another node a moment ago")
	errOtherCodec = errors.New("written with another codec")
	errBreaker    = unavailable(errors.New("it failed several times in a row and is left alone for a moment"))
	errAbandoned  = errors.New("earlier loaders of this key ignore the end of their context and still run")
)

// unavailable makes err match ErrUnavailable.
func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }

// canceledError is what a loader returned that wraps context.Canceled. It does not match that
// error: to a reader, context.Canceled says that the reader's own context has ended.
type canceledError struct{ err error }

func (e *canceledError) Error() string { return e.err.Error() }

func (e *canceledError) Is(target error) bool {
	return target != context.Canceled && errors.Is(e.err, target)
}

func (e *canceledError) As(target any) bool { return errors.As(e.err, target) }

// panicError is the failure of a loader or codec that panicked.
type panicError struct {
	value any
	who   string
}

func (e *panicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.who, e.value) }

// readable is err, or what came of asking it: the methods of a nil pointer that somebody returned
// as an error may panic, where no one but its reader should meet that.
func readable(err error, of string) (safe error) {
	if err == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			safe = &panicError{value: p, who: "error of the " + of}
		}
	}()
	_, _ = err.Error(), errors.Is(err, errNobody)
	return err
}

// errNobody is an error that is found in no other: to look for it asks all that an error wraps.
var errNobody = errors.New("nobody returns this")

// Unwrap shows the value the loader panicked with, if it was an error.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// timeoutError makes the expiry of Policy.LoadTimeout readable and keeps it
// testable as context.DeadlineExceeded.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("load timeout after %v", e.after) }

func (e *timeoutError) Unwrap() error { return context.DeadlineExceeded }

// LoadError is the failure of a loader, when no older value could be served in
// its place. errors.Is and errors.As see what the loader returned, with one exception: LoadError
// never matches context.Canceled, which always is the end of the reader's own context.
type LoadError struct {
	// Key is the key in its fmt form, cut at 128 bytes.
	Key string
	// RetryAt is the time from which the loader will be asked for this key
	// again; until then reads of the key return this error at once. Zero
	// means at the next read.
	RetryAt time.Time
	// Err is the cause: what the loader returned, a loader's panic, or a reason of the cache's own;
	// it matches context.DeadlineExceeded after LoadTimeout and ErrClosed after Close.
	Err error
}

// Error implements error.
func (e *LoadError) Error() string {
	return "cache load " + strconv.Quote(e.Key) + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *LoadError) Unwrap() error { return e.Err }

// DecodeError is a value from the remote that cannot be read. It counts as none (Stats.Malformed).
type DecodeError struct {
	// Key is the key in its fmt form, cut at 128 bytes.
	Key   string
	Codec byte // the Codec.ID it was written with
	Err   error
}

// Error implements error.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("cache decode %q: codec %d: %v", e.Key, e.Codec, e.Err)
}

// Unwrap returns Err.
func (e *DecodeError) Unwrap() error { return e.Err }

// ConfigError is an option that cannot be. New and SetWith return it, joined when there are
// several.
type ConfigError struct {
	Field string // as in Go: "Policy.TTL"
	Got   any
	Want  string
}

// Error implements error.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("config %s: got %v, want %s", e.Field, e.Got, e.Want)
}

// maxShownKey bounds keys in errors and logs, in bytes.
const maxShownKey = 128

// showKey formats a key for errors and logs.
func showKey[K any](k K) string {
	s, ok := any(k).(string)
	if !ok {
		s = fmt.Sprint(k)
	}
	if len(s) > maxShownKey {
		s = s[:maxShownKey]
	}
	return s
}

// quoteKey is showKey for the log.
func quoteKey[K any](k K) string { return strconv.Quote(showKey(k)) }
