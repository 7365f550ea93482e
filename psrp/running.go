package psrp

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/internal/machine"
	"example.com/quire/psrp/proto"
)

// Running is a pipeline that was started. One goroutine reads Records; Send, CloseInput and Stop
// may run beside it.
type Running struct {
	session *Session
	id      clixml.GUID
	ctx     context.Context
	release func() bool // of the context's AfterFunc

	// Under the session's mu.
	queue    []queuedRecord
	bytes    int  // of queue and of void host calls that wait
	discard  bool // nobody will take records any more
	consumed bool
	ended    bool
	end      machine.PipelineEnded
	cause    error // of this side
	stopping *time.Timer
	calls    *callQueue
}

type queuedRecord struct {
	record Record
	size   int
}

// recordOverhead is what a record takes beside its body.
const recordOverhead = 256

// Start starts a pipeline. ctx is its life: when it ends, the pipeline is stopped.
func (s *Session) Start(ctx context.Context, p Pipeline) (*Running, error) {
	if p.err != nil {
		return nil, p.err
	}
	return s.start(ctx, func(id clixml.GUID) error { return s.machine.Create(id, &p.Pipeline) })
}

func (s *Session) start(ctx context.Context, create func(id clixml.GUID) error) (*Running, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, s.endedError()
	}
	r := &Running{session: s, id: newGUID(), ctx: ctx}
	r.calls = &callQueue{session: s, id: r.id, running: r}
	if err := create(r.id); err != nil {
		return nil, err
	}
	s.running[r.id] = r
	r.release = context.AfterFunc(ctx, r.cancelled)
	s.dispatch()
	return r, nil
}

// isFull reports whether the reader may bring no more.
func (r *Running) isFull() bool {
	return !r.discard && !r.ended && r.stopping == nil && (len(r.queue) >= r.session.limits.QueueRecords || r.bytes >= r.session.limits.QueueBytes)
}

func (r *Running) recorded(e machine.Recorded) {
	if r.discard {
		return
	}
	size := e.Size + recordOverhead
	r.queue = append(r.queue, queuedRecord{e.Record, size})
	r.grow(size)
}

func (r *Running) grow(size int) {
	r.bytes += size
	if r.bytes > r.session.limits.QueueMost && r.bytes > size {
		r.overLimit(ErrConsumerTooSlow)
	}
}

// overLimit stops the pipeline because of a limit of this side.
func (r *Running) overLimit(limit error) {
	if s := r.session; !r.ended && r.cause == nil {
		s.log.LogAttrs(s.ctx, slog.LevelWarn, "psrp: pipeline stopped at a limit", slog.Any("error", limit))
	}
	r.giveUp(limit)
}

func (r *Running) hostCalled(e machine.HostCalled) {
	if !e.Call.WantsAnswer() {
		r.grow(e.Size + recordOverhead)
	}
	r.calls.push(queuedCall{call: e.Call, size: e.Size + recordOverhead})
}

func (r *Running) finished(e machine.PipelineEnded) {
	r.ended, r.end = true, e
	r.calls.ended()
	r.release()
	if r.stopping != nil {
		r.stopping.Stop()
	}
}

// giveUp stops the pipeline for a reason of this side and drops what would still come.
func (r *Running) giveUp(cause error) {
	if r.ended || r.cause != nil {
		return
	}
	r.cause, r.discard = cause, true
	r.stop()
}

// stop asks the server to stop, and closes the pipeline when it does not in time.
func (r *Running) stop() {
	s := r.session
	if r.stopping != nil || s.machine.Stop(r.id) != nil {
		return
	}
	r.stopping = time.AfterFunc(s.limits.Stopping, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !r.ended {
			_ = s.machine.ClosePipeline(r.id)
			s.dispatch()
		}
	})
	s.wake()
}

func (r *Running) cancelled() {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	if r.ended || r.cause != nil {
		return
	}
	r.cause = context.Cause(r.ctx)
	r.stop()
	r.session.dispatch()
}

// Records returns the pipeline's records in the order they arrived, once: a second loop yields
// ErrConsumed. The last pair may hold the error: *PipelineError when the pipeline failed or was
// stopped, or what ended the session. A break stops the pipeline and drops what is left.
func (r *Running) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s := r.session
		s.mu.Lock()
		if r.consumed {
			s.mu.Unlock()
			yield(Record{}, ErrConsumed)
			return
		}
		r.consumed = true
		for {
			// A cancelled pipeline ends by the server's answer, which the session bounds.
			_ = s.wait(context.Background(), func() bool { return len(r.queue) > 0 || r.ended && !r.calls.busy() })
			if len(r.queue) == 0 {
				break
			}
			q := r.queue[0]
			r.queue[0] = queuedRecord{}
			r.queue = r.queue[1:]
			if len(r.queue) == 0 {
				r.queue = nil
			}
			r.bytes -= q.size
			s.changed.Broadcast()
			s.mu.Unlock()
			if !yield(q.record, nil) {
				s.mu.Lock()
				r.giveUp(ErrConsumed)
				r.discard, r.queue, r.bytes = true, nil, 0
				s.dispatch()
				s.mu.Unlock()
				return
			}
			s.mu.Lock()
		}
		err := r.result()
		s.mu.Unlock()
		if err != nil {
			yield(Record{}, err)
		}
	}
}

// result is the error of a pipeline that has ended.
func (r *Running) result() error {
	switch {
	case r.end.State == proto.PipelineCompleted && !r.discard:
		return nil
	case r.end.Cause != nil && r.cause == nil:
		return r.end.Cause
	}
	return &PipelineError{State: r.end.State, Record: r.end.Error, Err: r.cause}
}

// Send gives the pipeline an object of input; Pipeline.Input must have been set. It waits while
// the server has not taken what was sent before.
func (r *Running) Send(ctx context.Context, v any) error {
	x, err := clixml.Marshal(v)
	if err != nil {
		return fmt.Errorf("psrp: input: %w", err)
	}
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	// Enough to fill the next payload with while one is on its way.
	window := max(64<<10, 2*s.transport.Properties().MaxPayload)
	s.flushing++
	err = s.wait(ctx, func() bool { return r.ended || s.machine.Queued(r.id) < window })
	s.flushing--
	if err != nil {
		return err
	}
	if r.ended {
		if err := r.result(); err != nil {
			return err
		}
		return &LocalProtocolError{Op: "Send", State: "the pipeline is Completed"}
	}
	if err := s.machine.Input(r.id, x); err != nil {
		return err
	}
	s.dispatch()
	return nil
}

// CloseInput ends the pipeline's input. Closing it again, or after the pipeline's end, does
// nothing.
func (r *Running) CloseInput() error {
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ended {
		return nil
	}
	err := s.machine.EndInput(r.id)
	s.dispatch()
	return err
}

// Stop asks the server to stop the pipeline and waits until it has ended, or ctx has. A server that
// does not stop it within Limits.Stopping has it closed. Stopping one that has ended does nothing.
func (r *Running) Stop(ctx context.Context) error {
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if !r.ended {
		r.stop()
		s.dispatch()
	}
	return s.wait(ctx, func() bool { return r.ended })
}
