package psrp

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"example.com/quire/psrp/proto"
)

// ErrScriptsNotAllowed is a script that the server does not take. On the client a *PipelineError
// with such a record is one, for errors.Is.
var ErrScriptsNotAllowed = errors.New("psrp: scripts are not allowed")

const scriptsNotAllowed = "ScriptsNotAllowed"

// statement runs commands that pipe into each other, side by side, to the end of all. All are found
// and bound before any runs. The first that fails cancels the others.
func (p *servedPipeline) statement(commands []proto.Command, first bool) error {
	calls := make([]*Call, len(commands))
	for i := range commands {
		c, err := p.prepare(&commands[i])
		if err != nil {
			return err
		}
		calls[i] = c
		if i > 0 {
			l := newLink()
			calls[i-1].out, c.in = l, l
		}
		// The errors of all before it come as its input.
		if commands[i].Merge.PreviousResults != proto.ResultNone {
			for _, before := range calls[:i] {
				before.routes[proto.RecordError] = proto.ResultOutput
			}
		}
	}
	calls[0].client = first
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var failed error
	var group sync.WaitGroup
	for i, c := range calls {
		own, end := context.WithCancelCause(ctx)
		defer end(nil)
		c.ctx = own
		work := func() {
			if i > 0 {
				defer close(c.in.ended)
			}
			if c.out != nil {
				defer close(c.out.values)
				// What nobody reads any more is not made.
				reader := c.out.ended
				done := make(chan struct{})
				defer close(done)
				go func() {
					select {
					case <-reader:
						end(errDownstreamEnded)
					case <-done:
					}
				}()
			}
			err := p.guard(c.name, func() error { return c.run(own, c) })
			if err == nil || errors.Is(context.Cause(own), errDownstreamEnded) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if failed == nil {
				failed = recordOf(err, c.name)
				if _, ok := errors.AsType[*ErrorRecord](err); !ok && ctx.Err() == nil {
					p.session.log.LogAttrs(p.ctx, slog.LevelWarn, "psrp: a command failed", slog.String("command", c.name), slog.Any("error", err))
				}
				cancel(err)
			}
		}
		if i == len(calls)-1 {
			work()
			break
		}
		group.Go(work)
	}
	group.Wait()
	if failed == nil && p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	return failed
}

// prepare finds a command and binds its arguments.
func (p *servedPipeline) prepare(c *proto.Command) (*Call, error) {
	call := &Call{pipeline: p, prefs: defaultPreferences()}
	call.route(c.Merge)
	if c.Script {
		return call, p.prepareScript(call, c)
	}
	s := p.session
	cmd := s.find(p.ctx, c.Name)
	if cmd == nil {
		return nil, commandNotFound(c.Name)
	}
	call.name = cmd.info.Name
	values, err := bind(cmd, c.Args, &call.prefs)
	if err != nil {
		return nil, err
	}
	run, err := cmd.prepare(values)
	if err != nil {
		return nil, err
	}
	call.run = run
	return call, nil
}

func (p *servedPipeline) prepareScript(call *Call, c *proto.Command) error {
	handler := p.session.server.Scripts
	if handler == nil {
		p.session.log.LogAttrs(p.ctx, slog.LevelInfo, "psrp: script refused")
		return ErrScriptsNotAllowed
	}
	args := scriptArguments(call, c.Args)
	call.run = func(ctx context.Context, call *Call) error { return handler(ctx, c.Name, args, call) }
	return nil
}

// find returns a command that the client may run, nil when there is none.
func (s *serverSession) find(ctx context.Context, name string) *command {
	if cmd := s.server.Registry.find(name); cmd != nil {
		if s.allowed(ctx, cmd) {
			return cmd
		}
		s.log.LogAttrs(ctx, slog.LevelInfo, "psrp: command refused", slog.String("command", cmd.info.Name))
		return nil
	}
	// PowerShell names its own by their modules, too.
	if module, rest, ok := strings.Cut(name, `\`); ok && strings.HasPrefix(strings.ToLower(module), "microsoft.powershell.") {
		name = rest
	}
	return s.builtins.find(name)
}

func (s *serverSession) allowed(ctx context.Context, cmd *command) bool {
	f := s.server.Authorize
	return f == nil || f(ctx, s.id, cmd.info.Name) == nil
}

// route says where a command's streams go.
func (c *Call) route(m proto.Merge) {
	set := func(k proto.RecordKind, to proto.ResultStream) {
		if to != proto.ResultNone {
			c.routes[k] = to
		}
	}
	switch m.MyResult {
	case proto.ResultError:
		set(proto.RecordError, m.ToResult)
	case proto.ResultAll:
		for _, k := range []proto.RecordKind{proto.RecordError, proto.RecordWarning, proto.RecordVerbose, proto.RecordDebug, proto.RecordInformation} {
			set(k, m.ToResult)
		}
	}
	set(proto.RecordError, m.Error)
	set(proto.RecordWarning, m.Warning)
	set(proto.RecordVerbose, m.Verbose)
	set(proto.RecordDebug, m.Debug)
	set(proto.RecordInformation, m.Information)
}

const parameterException = "System.Management.Automation.ParameterBindingException"

// commandError makes an error of a command with an identifier that scripts can test.
func commandError(id, command string, category proto.ErrorCategory, exception, message string) *ErrorRecord {
	e := proto.NewErrorRecord(id, category, message)
	if command != "" {
		e.FullyQualifiedErrorID += "," + command
	}
	e.Activity = command
	e.Exception = proto.ExceptionValue(exception, message)
	e.Reason = exception[strings.LastIndexByte(exception, '.')+1:]
	return e
}

// commandNotFound is the one answer for commands that do not exist and for those that the client
// may not run.
func commandNotFound(name string) *ErrorRecord {
	e := commandError("CommandNotFoundException", "", proto.ObjectNotFound, "System.Management.Automation.CommandNotFoundException",
		"The term '"+name+"' is not the name of a command of this server.")
	e.TargetName, e.TargetType = name, "String"
	return e
}

// recordOf is what the client is told of an error that ended a command. Errors of the system are
// told without the paths in them.
func recordOf(err error, command string) *ErrorRecord {
	if stop, ok := errors.AsType[*stopError](err); ok {
		return stop.record
	}
	if e, ok := errors.AsType[*ErrorRecord](err); ok {
		if e.Activity == "" && command != "" {
			copied := *e
			copied.Activity = command
			return &copied
		}
		return e
	}
	if errors.Is(err, ErrScriptsNotAllowed) {
		return commandError(scriptsNotAllowed, "", proto.PermissionDenied, "System.Management.Automation.PSNotSupportedException",
			"This server runs commands and no scripts.")
	}
	return commandError("CommandFailed", command, proto.NotSpecified, "System.Management.Automation.RemoteException", withoutPaths(err))
}

// withoutPaths is the text of an error, where paths are replaced by the last of their elements.
func withoutPaths(err error) string {
	text := err.Error()
	hide := func(path string) {
		if path != "" {
			text = strings.ReplaceAll(text, path, filepath.Base(path))
		}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		hide(e.Path)
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		hide(e.Old)
		hide(e.New)
	}
	return text
}
