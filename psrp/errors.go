package psrp

import (
	"errors"
	"fmt"

	"example.com/quire/psrp/proto"
)

// Errors that a caller tests for.
var (
	// ErrClosed is a session or pipeline that has been closed by its own side.
	ErrClosed = errors.New("psrp: the session is closed")
	// ErrConsumed is a second loop over Records.
	ErrConsumed = errors.New("psrp: the records have been consumed")
	// ErrConsumerTooSlow stopped a pipeline whose records nobody took while the session had to go
	// on.
	ErrConsumerTooSlow = errors.New("psrp: the pipeline's records were not taken and grew over the limit")
	// ErrResultTooLarge stopped a pipeline whose Result grew over its limit; Start streams it.
	ErrResultTooLarge = errors.New("psrp: the result is over the limit; use Start")
)

// What the layers below use in their signatures and errors.
type (
	// ErrorRecord is an error of PowerShell.
	ErrorRecord = proto.ErrorRecord //nolint:errname // PowerShell's own name for it
	// Record is one object of one of the seven streams.
	Record = proto.Record
	// UserEvent is an event that a script of the server forwarded.
	UserEvent = proto.UserEvent
	// Arg is an argument of a command.
	Arg = proto.Arg
	// TransportError is the loss of what carries a session; it is never a script's failure.
	TransportError = proto.TransportError
	// ConfigError tells what is wrong with a configuration of a client or server.
	ConfigError = proto.ConfigError
	// LocalProtocolError is a call that the protocol does not allow at that moment.
	LocalProtocolError = proto.LocalProtocolError
	// RemoteProtocolError is something that the peer sent and the protocol does not allow.
	RemoteProtocolError = proto.RemoteProtocolError
	// ThreadOptions say how a pool uses threads.
	ThreadOptions = proto.ThreadOptions
	// ApartmentState is the COM apartment of a pool's threads.
	ApartmentState = proto.ApartmentState
)

// PipelineError is a pipeline that did not complete, or that wrote errors where only its output was
// asked for.
type PipelineError struct {
	State  proto.PipelineState // Failed, Stopped, or Completed when Record is of the error stream
	Record *ErrorRecord        // nil when the server sent none
	Err    error               // why, when it was this side: a context's error, ErrConsumerTooSlow
}

func (e *PipelineError) Error() string {
	s := fmt.Sprintf("psrp: pipeline %v", e.State)
	if e.State == proto.PipelineCompleted {
		s = "psrp: pipeline Completed with errors"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Record != nil {
		s += ": " + e.Record.Error()
	}
	return s
}

// Is reports whether the server refused a script, for ErrScriptsNotAllowed.
func (e *PipelineError) Is(target error) bool {
	return target == ErrScriptsNotAllowed && e.Record != nil && e.Record.FullyQualifiedErrorID == scriptsNotAllowed
}

// Unwrap returns the cause on this side and the record.
func (e *PipelineError) Unwrap() []error {
	var errs []error
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	if e.Record != nil {
		errs = append(errs, e.Record)
	}
	return errs
}
