package proto

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/quire/psrp/clixml"
)

// ConfigError tells what is wrong with a configuration of a client or server.
type ConfigError struct {
	Field string // as in Go: "Config.Addr"
	Got   any
	Want  string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("config %s: got %v, want %s", e.Field, e.Got, e.Want)
}

// LocalProtocolError is a call that the protocol does not allow at that moment: a mistake of the
// caller's own program. Nothing has changed by it.
type LocalProtocolError struct {
	Op    string // "Send"
	State string // "pipeline is Completed"
}

func (e *LocalProtocolError) Error() string { return fmt.Sprintf("psrp: %s: %s", e.Op, e.State) }

// RemoteProtocolError is something that the peer sent and the protocol does not allow. It ends the
// session.
type RemoteProtocolError struct {
	Stage  string      // "fragment", "message", "decode", "packet", "state", "negotiate"
	Type   MessageType // the message concerned, 0 when there is none
	Target clixml.GUID // the pipeline concerned, zero for the pool
	Offset int64       // in what was read at that stage, -1 when it has no place
	Err    error
}

func (e *RemoteProtocolError) Error() string {
	var b strings.Builder
	b.WriteString("psrp: ")
	b.WriteString(e.Stage)
	if e.Type != 0 {
		b.WriteByte(' ')
		b.WriteString(e.Type.String())
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	b.WriteString(": ")
	if syntax, ok := e.Err.(*clixml.SyntaxError); ok { //nolint:errorlint // only when it is the cause itself is its place said already
		b.WriteString(syntax.Reason)
	} else {
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *RemoteProtocolError) Unwrap() error { return e.Err }

// ErrTooLarge is a message, fragment or packet over a limit.
var ErrTooLarge = errors.New("over the limit")

// TransportError is the loss of what carries a session, or that it could not be made. It is never
// a script's failure.
type TransportError struct {
	Phase    string // "dial", "auth", "open", "receive", "send", "close"
	Host     string // "" for a child process
	ExitCode int    // of a child process that has ended; -1 when there is none, or a signal ended it
	Stderr   string // the last 8 KiB of its standard error
	Banner   string // what the peer wrote before the protocol, for people
	Err      error
}

func (e *TransportError) Error() string {
	var b strings.Builder
	b.WriteString("psrp: " + e.Phase)
	if e.Host != "" {
		b.WriteString(" " + e.Host)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.ExitCode > 0 {
		fmt.Fprintf(&b, " (exit code %d)", e.ExitCode)
	}
	if s := lastLine(e.Stderr); s != "" {
		fmt.Fprintf(&b, "; standard error ends with %q", s)
	}
	if e.Banner != "" {
		fmt.Fprintf(&b, "; instead of the protocol came %q", e.Banner)
	}
	return b.String()
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\r\n ")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// Unwrap returns the cause.
func (e *TransportError) Unwrap() error { return e.Err }

// Unreachable reports whether the peer was never reached: dialling or authentication failed, so
// nothing can have run.
func (e *TransportError) Unreachable() bool { return e.Phase == "dial" || e.Phase == "auth" }

// Timeout reports whether time ran out.
func (e *TransportError) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.Is(e.Err, context.DeadlineExceeded) || errors.As(e.Err, &t) && t.Timeout()
}
