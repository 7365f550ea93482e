package psrp

import (
	"context"
	"log/slog"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// callQueue serves the host calls of a pipeline, or those and the events of the pool, one after the
// other and in their order, by a goroutine that lives while there are any.
type callQueue struct {
	session *Session
	id      clixml.GUID
	running *Running // nil for the pool

	// Under the session's mu.
	queue  []queuedCall
	active bool
	stop   context.CancelFunc // of a call that waits for its answer
}

type queuedCall struct {
	call  *proto.HostCall
	event *proto.UserEvent
	size  int
}

func (q *callQueue) push(c queuedCall) {
	q.queue = append(q.queue, c)
	if !q.active {
		q.active = true
		q.session.group.Go(q.serve)
	}
}

// busy reports whether calls are still being served.
func (q *callQueue) busy() bool { return q.active }

// ended tells that the pipeline has: answers are of no use any more, what was written is still
// shown.
func (q *callQueue) ended() {
	kept := q.queue[:0]
	for _, c := range q.queue {
		if c.call == nil || !c.call.WantsAnswer() {
			kept = append(kept, c)
		}
	}
	clear(q.queue[len(kept):])
	q.queue = kept
	if q.stop != nil {
		q.stop()
	}
}

func (q *callQueue) serve() {
	s := q.session
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(q.queue) > 0 {
		c := q.queue[0]
		q.queue[0] = queuedCall{}
		q.queue = q.queue[1:]
		if c.event != nil {
			s.mu.Unlock()
			s.options.OnEvent(*c.event)
			s.mu.Lock()
			continue
		}
		ctx := s.ctx
		if c.call.WantsAnswer() {
			ctx, q.stop = context.WithCancel(ctx)
		}
		s.mu.Unlock()
		answer := s.options.Host.Serve(ctx, c.call)
		s.log.LogAttrs(ctx, slog.LevelDebug, "psrp: host call", slog.String("method", c.call.Method.String()), slog.Bool("refused", answer.Error != nil))
		s.mu.Lock()
		if c.call.WantsAnswer() {
			q.stop()
			q.stop = nil
			// The pipeline may have ended meanwhile; then nobody waits for the answer.
			if err := s.machine.Answer(q.id, answer); err != nil && (q.running == nil || !q.running.ended) && !s.ended {
				_ = s.machine.Answer(q.id, c.call.Refuse(proto.NewErrorRecord("HostAnswerNotSent", proto.InvalidResult, "The host's answer could not be sent.")))
			}
		} else if q.running != nil {
			q.running.bytes -= c.size
		}
		s.dispatch()
	}
	q.active, q.queue = false, nil
	s.changed.Broadcast()
}
