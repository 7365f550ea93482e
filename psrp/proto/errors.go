package proto

import (
	"errors"
	"fmt"
	"strings"

	"example.com/quire/psrp/clixml"
)

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
