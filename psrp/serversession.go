package psrp

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/internal/machine"
	"example.com/quire/psrp/proto"
)

// serverSession is one client of a Server. Three kinds of goroutine drive it: one reads, one
// writes, and each command that runs has its own.
type serverSession struct {
	server    *Server
	transport Transport
	id        Identity
	limits    ServerLimits
	log       *slog.Logger
	builtins  *Registry
	ctx       context.Context // of what runs
	cancel    context.CancelCauseFunc
	commands  sync.WaitGroup

	mu       sync.Mutex
	changed  *sync.Cond // anything below
	toSend   *sync.Cond // for the writer: the machine may have a packet, or has ended
	machine  *machine.Server
	init     *proto.InitRunspacePool // nil before the pool is open
	min, max int                     // of runspaces, as the client asked
	pipes    map[clixml.GUID]*servedPipeline
	waiting  []*servedPipeline // for a runspace, in their order
	busy     int               // runspaces that are taken
	deserted int               // commands that run on without their pipelines
	closing  bool              // the client waits for CloseAck
	ended    bool
	done     chan struct{} // closed when ended
	err      error
	lost     bool // nothing comes any more
	written  bool // the writer has nothing left and will not look again
}

func newServerSession(ctx context.Context, server *Server, t Transport, id Identity, limits ServerLimits, private func(clixml.Version) clixml.Value) *serverSession {
	s := &serverSession{
		server: server, transport: t, id: id, limits: limits, pipes: map[clixml.GUID]*servedPipeline{}, done: make(chan struct{}),
		log: server.logger().With(slog.String("user", id.User), slog.String("address", id.Address)),
		machine: machine.NewServer(machine.ServerConfig{
			Transport: t.Properties(), PrivateData: private, Limits: limits.Machine, Tracer: server.Tracer,
		}),
	}
	s.changed, s.toSend = sync.NewCond(&s.mu), sync.NewCond(&s.mu)
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.builtins = builtins(s)
	return s
}

// errSessionEnded is why a command's context has ended when its session has.
var errSessionEnded = errors.New("psrp: the client's session has ended")

func (s *serverSession) serve(ctx context.Context) error {
	// Close frees Send and Recv: a context that could end would have to be watched for each packet.
	io := context.WithoutCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { s.read(io) })
	group.Go(func() { s.write(io) })
	release := context.AfterFunc(ctx, func() { s.shutDown(context.Cause(ctx)) })
	<-s.done
	s.mu.Lock()
	s.linger(io)
	err := s.err
	s.mu.Unlock()
	release()
	s.cancel(errSessionEnded)
	closed := s.transport.Close()
	group.Wait()
	s.waitForCommands()
	if err == nil && ctx.Err() == nil {
		err = closed
	}
	level := slog.LevelInfo
	if err != nil {
		level = slog.LevelWarn
	}
	s.log.LogAttrs(ctx, level, "psrp: client's session ended", slog.Any("error", err))
	return err
}

// shutDown ends the session from this side, and tells the client.
func (s *serverSession) shutDown(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel(cause)
	if s.closing || s.ended {
		return
	}
	err := s.machine.Break(proto.NewErrorRecord("ServerShutdown", proto.ConnectionError, "The server is shutting down."))
	s.dispatch()
	s.err = cause
	if err != nil {
		s.machine.Lost(cause)
		s.dispatch()
	}
}

// linger lets the last packets go out. A client of a broken session is given a moment to close it:
// a socket that is closed while data comes takes back what was sent last.
func (s *serverSession) linger(ctx context.Context) {
	flush, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	_ = s.wait(flush, func() bool { return s.written || s.lost })
	if s.err == nil {
		return
	}
	moment, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	_ = s.wait(moment, func() bool { return s.lost })
}

// waitForCommands waits for the commands that obey their context.
func (s *serverSession) waitForCommands() {
	done := make(chan struct{})
	go func() {
		s.commands.Wait()
		close(done)
	}()
	timer := time.NewTimer(s.limits.Stopping)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		s.log.LogAttrs(s.ctx, slog.LevelError, "psrp: commands run on though their session has ended")
	}
}

// wait waits, with mu held, until ready says so or ctx ends.
func (s *serverSession) wait(ctx context.Context, ready func() bool) error {
	return waitFor(ctx, s.changed, ready)
}

// backlog is how many packets may wait for a client that sends and does not read.
const backlog = 4096

func (s *serverSession) read(ctx context.Context) {
	for {
		p, err := s.transport.Recv(ctx)
		s.mu.Lock()
		if err != nil {
			s.lost = true
			s.machine.Lost(err)
		} else if failed := s.machine.Receive(p); failed != nil {
			s.log.LogAttrs(ctx, slog.LevelWarn, "psrp: client broke the protocol", slog.Any("error", failed))
		}
		s.dispatch()
		_ = s.wait(ctx, func() bool { return s.machine.Packets() < backlog || s.ended })
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *serverSession) write(ctx context.Context) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.written = true
		s.changed.Broadcast()
	}()
	for {
		s.mu.Lock()
		p, ok := s.machine.NextPacket(0)
		for !ok && !s.ended {
			s.toSend.Wait()
			p, ok = s.machine.NextPacket(0)
		}
		s.changed.Broadcast() // somebody may wait for room
		s.mu.Unlock()
		if !ok {
			return
		}
		if err := s.transport.Send(ctx, p); err != nil {
			s.mu.Lock()
			s.machine.Lost(err)
			s.dispatch()
			s.mu.Unlock()
			return
		}
	}
}

// dispatch delivers the machine's events, with mu held, and wakes whoever waits. It never waits.
func (s *serverSession) dispatch() {
	for {
		e, ok := s.machine.NextEvent()
		if !ok {
			s.changed.Broadcast()
			s.toSend.Signal()
			return
		}
		switch e := e.(type) {
		case machine.FragmentsDropped:
			s.log.LogAttrs(s.ctx, slog.LevelWarn, "psrp: fragments without a beginning dropped", slog.String("target", e.ID.String()), slog.Int("count", e.Count))
		case machine.KeyExchanged:
			s.log.LogAttrs(s.ctx, slog.LevelInfo, "psrp: session key exchanged")
		case machine.Initialized:
			s.init, s.min, s.max = e.Init, int(e.Init.MinRunspaces), int(e.Init.MaxRunspaces)
			s.log.LogAttrs(s.ctx, slog.LevelInfo, "psrp: client's session opened", slog.String("protocol", e.Version.String()))
		case machine.Created:
			s.add(&servedPipeline{session: s, id: e.ID, pipeline: e.Pipeline, host: s.init.Host})
		case machine.MetadataAsked:
			s.add(&servedPipeline{session: s, id: e.ID, query: e.Query, host: s.init.Host})
		case machine.InputGiven:
			s.with(e.ID, func(p *servedPipeline) { p.given(e.Value, e.Size) })
		case machine.InputEnded:
			s.with(e.ID, func(p *servedPipeline) { p.inputEnded = true })
		case machine.StopAsked:
			s.with(e.ID, (*servedPipeline).stop)
		case machine.HostAnswered:
			s.with(e.ID, func(p *servedPipeline) { p.answered(e.Answer) })
		case machine.RunspacesAsked:
			s.runspaces(e.Request)
		case machine.PipelineClosed:
			if p := s.pipes[e.ID]; p != nil && p.finished {
				delete(s.pipes, e.ID)
			}
		case machine.CloseAsked:
			s.closing = true
			s.settle()
		case machine.PoolEnded:
			s.ended = true
			close(s.done)
			if s.err == nil {
				s.err = e.Err
			}
			s.cancel(errSessionEnded)
		}
	}
}

// with gives a pipeline what has come for it, if it is still there.
func (s *serverSession) with(id clixml.GUID, give func(*servedPipeline)) {
	if p := s.pipes[id]; p != nil {
		give(p)
	}
}

func (s *serverSession) add(p *servedPipeline) {
	p.ctx, p.cancel = context.WithCancelCause(s.ctx)
	if p.pipeline == nil {
		p.inputEnded = true
	} else {
		p.inputEnded = !p.pipeline.Input
		if p.pipeline.Host != nil {
			p.host = *p.pipeline.Host
		}
	}
	s.pipes[p.id] = p
	s.waiting = append(s.waiting, p)
	s.schedule()
}

// schedule starts what may run.
func (s *serverSession) schedule() {
	kept := s.waiting[:0]
	for _, p := range s.waiting {
		if s.mayRun(p) {
			p.start()
		} else {
			kept = append(kept, p)
		}
	}
	clear(s.waiting[len(kept):])
	s.waiting = kept
}

// mayRun reports whether a runspace is free. Descriptions of commands need none. A nested pipeline
// runs in the runspace of one that waits for its user, or for input; clients send some with nothing
// running, too.
func (s *serverSession) mayRun(p *servedPipeline) bool {
	switch {
	case p.query != nil:
		return true
	case p.pipeline.Nested:
		if s.busy == 0 {
			return true
		}
		for _, other := range s.pipes {
			if other.slot && other.waits > 0 {
				return true
			}
		}
		return false
	}
	return s.busy < min(s.max, s.limits.Runspaces) && s.busy+s.deserted < s.limits.Runspaces
}

// runspaces answers a request about the pool's size.
func (s *serverSession) runspaces(request proto.Message) {
	a := &proto.RunspaceAvailability{}
	switch m := request.(type) {
	case *proto.GetAvailableRunspaces:
		a.CallID, a.IsCount, a.Count = m.CallID, true, int64(max(0, s.max-s.busy))
	case *proto.SetMaxRunspaces:
		a.CallID, a.Accepted = m.CallID, int(m.Max) >= s.min
		if a.Accepted {
			s.max = int(m.Max)
			s.schedule()
		}
	case *proto.SetMinRunspaces:
		a.CallID, a.Accepted = m.CallID, m.Min >= 1 && int(m.Min) <= s.max
		if a.Accepted {
			s.min = int(m.Min)
		}
	case *proto.ResetRunspaceState:
		// There is no state to reset; one that something runs in is not reset, as PowerShell's.
		a.CallID, a.Accepted = m.CallID, s.busy == 0
	}
	_ = s.machine.RunspacesAnswer(a) // the session may be closing
}

// settle answers Close once nothing runs any more.
func (s *serverSession) settle() {
	if !s.closing {
		return
	}
	for _, p := range s.pipes {
		if !p.finished {
			return
		}
	}
	_ = s.machine.FinishClose() // the transport may be lost
}
