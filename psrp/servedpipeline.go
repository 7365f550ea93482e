package psrp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// servedPipeline is a pipeline of a client.
type servedPipeline struct {
	session  *serverSession
	id       clixml.GUID
	pipeline *proto.Pipeline           // or
	query    *proto.GetCommandMetadata // descriptions of commands
	host     proto.HostInfo
	ctx      context.Context
	cancel   context.CancelCauseFunc

	// Under the session's mu.
	input      []givenInput
	inputBytes int
	inputEnded bool
	held       bool // the client's input is held back
	answers    map[int64]*proto.HostResponse
	waits      int  // commands that wait for input or for the user
	slot       bool // it has a runspace
	started    bool
	stopping   bool
	deserted   bool // it ended without its commands
	finished   bool
	patience   *time.Timer
}

type givenInput struct {
	value clixml.Value
	size  int
}

// ErrStopped is why a served command's context has ended when its client has stopped the pipeline.
var ErrStopped = errors.New("psrp: the pipeline has been stopped")

func (p *servedPipeline) start() {
	s := p.session
	p.started = true
	if p.query == nil && !p.pipeline.Nested {
		p.slot = true
		s.busy++
	}
	s.commands.Go(p.run)
}

func (p *servedPipeline) run() {
	state, record := p.execute()
	s := p.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.deserted {
		s.deserted--
		s.schedule()
	}
	p.finish(state, record)
	s.dispatch()
}

// finish ends the pipeline, once, with mu held.
func (p *servedPipeline) finish(state proto.PipelineState, record *proto.ErrorRecord) {
	if p.finished {
		return
	}
	p.finished = true
	if p.patience != nil {
		p.patience.Stop()
	}
	s := p.session
	if p.stopping {
		state, record = proto.PipelineStopped, proto.StoppedRecord()
	}
	p.cancel(ErrStopped)
	p.input = nil
	if err := s.machine.Finish(p.id, state, record); err != nil && !s.ended {
		s.log.LogAttrs(s.ctx, slog.LevelWarn, "psrp: end of a pipeline not sent", slog.Any("error", err))
	}
	if s.ended {
		delete(s.pipes, p.id)
	}
	if p.slot {
		s.busy--
	}
	s.schedule()
	s.settle()
}

// stop asks for the end, with mu held.
func (p *servedPipeline) stop() {
	if p.stopping || p.finished {
		return
	}
	p.stopping = true
	p.cancel(ErrStopped)
	s := p.session
	if !p.started {
		for i, w := range s.waiting {
			if w == p {
				s.waiting = append(s.waiting[:i:i], s.waiting[i+1:]...)
				break
			}
		}
		p.finish(proto.PipelineStopped, nil)
		return
	}
	p.patience = time.AfterFunc(s.limits.Stopping, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if p.finished {
			return
		}
		s.log.LogAttrs(s.ctx, slog.LevelError, "psrp: a command ignores that it was stopped")
		p.deserted = true
		s.deserted++
		p.finish(proto.PipelineStopped, nil)
		s.dispatch()
	})
}

// given takes input, with mu held, and holds the client back when there is enough.
func (p *servedPipeline) given(v clixml.Value, size int) {
	if p.finished {
		return
	}
	size += recordOverhead
	p.input = append(p.input, givenInput{v, size})
	p.inputBytes += size
	if !p.held && (len(p.input) >= p.session.limits.InputRecords || p.inputBytes >= p.session.limits.InputBytes) {
		p.held = true
		p.session.machine.Hold(p.id, true)
	}
}

// take returns the next object of the client's input.
func (p *servedPipeline) take(ctx context.Context) (v clixml.Value, ok bool, err error) {
	s := p.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := p.await(ctx, func() bool { return len(p.input) > 0 || p.inputEnded }); err != nil {
		return v, false, err
	}
	if len(p.input) == 0 {
		return v, false, nil
	}
	in := p.input[0]
	p.input[0] = givenInput{}
	p.input = p.input[1:]
	if p.inputBytes -= in.size; p.held && len(p.input) <= s.limits.InputRecords/2 && p.inputBytes <= s.limits.InputBytes/2 {
		p.held = false
		s.machine.Hold(p.id, false)
		s.toSend.Signal()
	}
	return in.value, true, nil
}

// await waits, with mu held, for something that the client is to do. Nested pipelines may run
// meanwhile.
func (p *servedPipeline) await(ctx context.Context, ready func() bool) error {
	s := p.session
	if !ready() && !p.finished {
		p.waits++
		s.schedule()
		_ = s.wait(ctx, func() bool { return ready() || p.finished })
		p.waits--
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.finished:
		return ErrStopped
	}
	return nil
}

// write sends records and host calls of the pipeline in one piece. It waits while too much waits
// to be sent.
func (p *servedPipeline) write(ctx context.Context, send func() error) error {
	s := p.session
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.wait(ctx, func() bool { return p.finished || s.ended || s.machine.Queued() < s.limits.Output })
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.finished || s.ended:
		return ErrStopped
	}
	defer s.toSend.Signal()
	return send()
}

func (p *servedPipeline) answered(r *proto.HostResponse) {
	if p.answers == nil {
		p.answers = map[int64]*proto.HostResponse{}
	}
	p.answers[r.CallID] = r
}

// hostCall makes a call of the client's host and waits for its answer if there is to be one.
func (p *servedPipeline) hostCall(ctx context.Context, m proto.HostMethod, params []clixml.Value) (clixml.Value, error) {
	var none clixml.Value
	var ci int64
	if err := p.write(ctx, func() (err error) {
		ci, err = p.session.machine.HostCall(p.id, m, params...)
		return err
	}); err != nil || ci == proto.VoidCall {
		return none, err
	}
	s := p.session
	s.log.LogAttrs(ctx, slog.LevelDebug, "psrp: host call", slog.String("method", m.String()))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := p.await(ctx, func() bool { return p.answers[ci] != nil }); err != nil {
		return none, err
	}
	r := p.answers[ci]
	delete(p.answers, ci)
	if r.Error != nil {
		return none, r.Error
	}
	return r.Result, nil
}

// execute runs the pipeline and returns how it ends. A panic of ours is an error of this pipeline
// alone, as one of a command is.
func (p *servedPipeline) execute() (proto.PipelineState, *proto.ErrorRecord) {
	err := p.guard("", func() error {
		if p.query != nil {
			return p.describe()
		}
		for i, commands := range p.pipeline.Statements {
			if err := p.statement(commands, i == 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return proto.PipelineFailed, recordOf(err, "")
	}
	return proto.PipelineCompleted, nil
}

// guard makes a panic an error. Its stack goes to the log, not to the client.
func (p *servedPipeline) guard(command string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.session.log.LogAttrs(p.ctx, slog.LevelError, "psrp: a command panicked", slog.String("command", command), slog.String("panic", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
			err = commandError("InternalError", command, proto.NotSpecified, "System.InvalidOperationException", "The command failed by a fault of its own.")
		}
	}()
	return f()
}
