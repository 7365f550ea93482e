package psrp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
)

// Call is one run of a served command: what it reads and writes. Its methods may be called by
// several goroutines until the command returns; each fails once the pipeline has ended, and waits
// while the client does not keep up. Records are followed by the host call that shows them, as
// PowerShell's are.
type Call struct {
	pipeline *servedPipeline
	name     string // of the command; "" of a script
	run      func(ctx context.Context, c *Call) error
	ctx      context.Context // of the command, once it runs
	client   bool            // its input is what the client sends
	in       *link           // or what the command before writes
	out      *link           // nil: to the client
	routes   [proto.RecordInformation + 1]proto.ResultStream
	prefs    preferences
	using    map[string]clixml.Value
}

// errDownstreamEnded is the end of what reads a command's output. It is no failure.
var errDownstreamEnded = errors.New("psrp: the command that reads the output has ended")

// Identity says who called.
func (c *Call) Identity() Identity { return c.pipeline.session.id }

// Name returns the command's name, as it was registered; "" of a script.
func (c *Call) Name() string { return c.name }

// ApplicationArguments are what the client gave when it opened its session, a dictionary or null.
func (c *Call) ApplicationArguments() clixml.Value {
	s := c.pipeline.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.init.ApplicationArguments
}

// Using are the values of the client's variables that a script names as $using:NAME, by NAME.
func (c *Call) Using() map[string]clixml.Value { return c.using }

// Output writes an object to the command's output, by [clixml.Marshal].
func (c *Call) Output(v any) error {
	x, err := clixml.Marshal(v)
	if err != nil {
		return fmt.Errorf("psrp: output: %w", err)
	}
	return c.output(x)
}

func (c *Call) output(x clixml.Value) error {
	if c.out != nil {
		return c.out.write(c.ctx, x)
	}
	return c.send(proto.Record{Kind: proto.RecordOutput, Output: x}, nil)
}

// Error writes an error that does not end the command, unless the caller asked for that: then it
// returns the error that the command is to return.
func (c *Call) Error(e *ErrorRecord) error {
	r := *e
	r.Activity = cmp.Or(r.Activity, c.name)
	switch c.prefs.errors {
	case actionStop:
		return &stopError{record: &r}
	case actionSilent, actionIgnore:
		return c.alive()
	}
	return c.emit(proto.Record{Kind: proto.RecordError, Error: &r}, nil)
}

// stopError is a record that ends its command because the caller asked for that.
type stopError struct{ record *ErrorRecord }

func (e *stopError) Error() string { return e.record.Error() }

func (e *stopError) Unwrap() error { return e.record }

// Warning writes a warning.
func (c *Call) Warning(text string) error {
	return c.message(proto.RecordWarning, c.prefs.warnings, proto.HostWriteWarningLine, text)
}

// Verbose writes a verbose message, when the caller asked for them by -Verbose.
func (c *Call) Verbose(text string) error {
	return c.message(proto.RecordVerbose, c.prefs.verbose, proto.HostWriteVerboseLine, text)
}

// Debug writes a debug message, when the caller asked for them by -Debug.
func (c *Call) Debug(text string) error {
	return c.message(proto.RecordDebug, c.prefs.debug, proto.HostWriteDebugLine, text)
}

func (c *Call) message(k proto.RecordKind, a action, show proto.HostMethod, text string) error {
	switch a {
	case actionSilent, actionIgnore:
		return c.alive()
	case actionStop:
		return &stopError{record: commandError("ActionPreferenceStop", c.name, proto.OperationStopped, "System.Management.Automation.ActionPreferenceStopException",
			fmt.Sprintf("The command stopped at a %v message, as its caller asked: %s", k, text))}
	}
	r := proto.Record{Kind: k, Message: &proto.InformationalRecord{Kind: k, Message: text}}
	return c.emit(r, func() error { return c.show(show, clixml.String(text)) })
}

// Information writes an object to the information stream, with tags. The client's user sees it when
// the caller asked for that by -InformationAction Continue, or when a tag is PSHOST.
func (c *Call) Information(v any, tags ...string) error {
	x, err := clixml.Marshal(v)
	if err != nil {
		return fmt.Errorf("psrp: information: %w", err)
	}
	shown := c.prefs.information != actionSilent
	for _, t := range tags {
		shown = shown || t == "PSHOST"
	}
	switch c.prefs.information {
	case actionIgnore:
		return c.alive()
	case actionStop:
		return c.message(proto.RecordInformation, actionStop, 0, textFor(x))
	}
	now, err := clixml.NewDateTime(time.Now())
	if err != nil {
		return fmt.Errorf("psrp: information: %w", err)
	}
	r := proto.Record{Kind: proto.RecordInformation, Information: &proto.InformationRecord{
		MessageData: x, Source: c.name, TimeGenerated: now.Value(), Tags: tags, User: c.Identity().User,
	}}
	return c.emit(r, func() error {
		if !shown {
			return nil
		}
		// What Write-Host says without a line's end is a HostInformationMessage with NoNewLine.
		show := proto.HostWriteLine2
		v, _ := x.Get("NoNewLine")
		if open, _ := v.Bool(); open {
			show = proto.HostWrite1
		}
		return c.show(show, clixml.String(textFor(x)))
	})
}

// Progress shows how far the command is.
func (c *Call) Progress(r *proto.ProgressRecord) error {
	return c.emit(proto.Record{Kind: proto.RecordProgress, Progress: r}, func() error {
		return c.show(proto.HostWriteProgress, clixml.Int64(0), r.Value())
	})
}

// Event forwards an event to the client's session, whoever runs pipelines there. Its time is now
// and its arguments are none unless it has them.
func (c *Call) Event(e UserEvent) error {
	if e.TimeGenerated.IsNil() {
		now, err := clixml.NewDateTime(time.Now())
		if err != nil {
			return fmt.Errorf("psrp: event: %w", err)
		}
		e.TimeGenerated = now.Value()
	}
	if e.SourceArgs.IsNil() {
		e.SourceArgs = clixml.NewList().Value()
	}
	return c.pipeline.write(c.ctx, func() error { return c.pipeline.session.machine.UserEvent(&e) })
}

// Host is the client's host: calls of it ask the client's user. Parts that the client does not have
// are nil.
func (c *Call) Host() host.Set { return host.Remote(caller{c}, c.pipeline.host) }

// caller makes host calls for a command.
type caller struct{ c *Call }

func (h caller) Call(ctx context.Context, m proto.HostMethod, params ...clixml.Value) (clixml.Value, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(h.c.ctx, func() { cancel(context.Cause(h.c.ctx)) })
	defer stop()
	return h.c.pipeline.hostCall(ctx, m, params)
}

// alive returns why the command should end, if it should.
func (c *Call) alive() error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	return nil
}

// emit writes a record of a stream to where the caller wants it; show follows what goes to the
// client as itself.
func (c *Call) emit(r proto.Record, show func() error) error {
	switch c.routes[r.Kind] {
	case proto.ResultNull:
		return c.alive()
	case proto.ResultOutput:
		x, err := r.Value()
		if err != nil {
			return err
		}
		return c.output(x)
	}
	return c.send(r, show)
}

func (c *Call) send(r proto.Record, show func() error) error {
	return c.pipeline.write(c.ctx, func() error {
		err := c.pipeline.session.machine.Record(c.pipeline.id, r)
		if err == nil && show != nil {
			err = show()
		}
		return err
	})
}

// show makes a void host call, with mu held, when the client has a host to show things.
func (c *Call) show(m proto.HostMethod, params ...clixml.Value) error {
	if c.pipeline.host.Null || c.pipeline.host.UINull {
		return nil
	}
	_, err := c.pipeline.session.machine.HostCall(c.pipeline.id, m, params...)
	return err
}

// next returns the next object of the command's input; false at its end.
func (c *Call) next() (clixml.Value, bool, error) {
	switch {
	case c.in != nil:
		return c.in.read(c.ctx)
	case c.client:
		return c.pipeline.take(c.ctx)
	}
	return clixml.Value{}, false, nil
}

// Input yields what is piped into the command: by the client, or by the command before it. An
// object that is no T comes as an error, and the next after it. It ends with the input, or with an
// error when the pipeline does.
func Input[T any](c *Call) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			var t T
			v, ok, err := c.next()
			if err != nil {
				yield(t, err)
				return
			}
			if !ok {
				return
			}
			if err := convert(v, &t); err != nil {
				e := commandError("InputObjectNotBound", c.name, proto.InvalidArgument, parameterException, "The input object cannot be bound: "+err.Error())
				if !yield(t, e) {
					return
				}
				continue
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// link carries one command's output to the next one's input.
type link struct {
	values chan clixml.Value
	ended  chan struct{} // the reader reads no more
}

func newLink() *link {
	return &link{values: make(chan clixml.Value, 16), ended: make(chan struct{})}
}

func (l *link) write(ctx context.Context, v clixml.Value) error {
	select {
	case <-l.ended:
		return errDownstreamEnded
	default:
	}
	select {
	case l.values <- v:
		return nil
	case <-l.ended:
		return errDownstreamEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *link) read(ctx context.Context) (clixml.Value, bool, error) {
	select {
	case v, ok := <-l.values:
		return v, ok, nil
	case <-ctx.Done():
		return clixml.Value{}, false, context.Cause(ctx)
	}
}
