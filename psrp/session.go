package psrp

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/internal/machine"
	"example.com/quire/psrp/proto"
)

// Options are for Open; the zero value works.
type Options struct {
	// Host answers the server's calls; the zero Set is the null host, to which it makes none.
	Host host.Set
	// MinRunspaces and MaxRunspaces are the size of the pool: how many pipelines run at once.
	// 0 is 1.
	MinRunspaces, MaxRunspaces int
	ThreadOptions              ThreadOptions
	ApartmentState             ApartmentState
	// ApplicationArguments are what scripts see as $PSSenderInfo.ApplicationArguments.
	ApplicationArguments map[string]any
	// OnRecord is given the records that Invoke does not return. It is called by Invoke's
	// goroutine.
	OnRecord func(Record)
	// OnEvent is given the events that scripts forward, one after the other, by a goroutine of the
	// session's own.
	OnEvent func(UserEvent)
	// Keepalive is after which time without a packet from the server it is asked for one, and how
	// often then: after three times more without any the session is lost, with a *TransportError of
	// the phase "keepalive". Nothing is asked while a pipeline runs, since a server need not answer
	// then; SSH has a keep-alive of its own. 0 is never.
	Keepalive time.Duration
	Limits    Limits
	Tracer    proto.Tracer
	// Logger is told of openings, losses and refusals; nil is silent. It is never told of values.
	Logger *slog.Logger
}

// Limits bound a session; a zero field is its default.
type Limits struct {
	Machine machine.Limits // what the peer can make the session hold
	// QueueRecords and QueueBytes bound the records of one pipeline that nobody has taken: default
	// 4,096 and 8 MiB. A record larger than that passes alone.
	QueueRecords int
	QueueBytes   int
	// QueueMost bounds them while the session may not pause: default 64 MiB.
	QueueMost int
	// Result bounds the bytes of one Result of Run: default 128 MiB.
	Result int
	// FilePart bounds the bytes of a file that one command carries: default 32 MiB. Windows refuses
	// more than 50 MiB of input, which is in base64.
	FilePart int
	// Opening, Stopping and Closing are how long the server may take: default 60 s each.
	Opening, Stopping, Closing time.Duration
}

func (l Limits) withDefaults() Limits {
	l.QueueRecords = cmp.Or(l.QueueRecords, 4096)
	l.QueueBytes = cmp.Or(l.QueueBytes, 8<<20)
	l.QueueMost = cmp.Or(l.QueueMost, 64<<20)
	l.Result = cmp.Or(l.Result, 128<<20)
	l.FilePart = cmp.Or(l.FilePart, 32<<20)
	l.Opening = cmp.Or(l.Opening, time.Minute)
	l.Stopping = cmp.Or(l.Stopping, time.Minute)
	l.Closing = cmp.Or(l.Closing, time.Minute)
	return l
}

// ServerInfo is what a server tells of itself.
type ServerInfo struct {
	Protocol    clixml.Version // agreed on
	PSVersion   clixml.Version // zero when it did not say
	PrivateData clixml.Value
}

// Session is an open runspace pool on a host. It may be used by any number of goroutines.
type Session struct {
	transport Transport
	options   Options
	limits    Limits
	log       *slog.Logger
	ctx       context.Context // of the goroutines: ends when the session has
	cancel    context.CancelFunc
	group     sync.WaitGroup
	done      chan struct{} // closed when the pool has ended
	gone      chan struct{} // closed when nothing of the session is left

	mu       sync.Mutex
	changed  *sync.Cond // anything below
	toSend   *sync.Cond // for the writer: the machine may have a packet, or has ended
	machine  *machine.Client
	opened   bool
	ended    bool
	err      error // why it ended; nil when it was closed as asked
	private  clixml.Value
	running  map[clixml.GUID]*Running
	answers  map[int64]*proto.RunspaceAvailability
	asked    int64      // the unanswered request of keepAlive; 0 is none
	received uint64     // packets
	calls    *callQueue // of the pool
	flushing int        // calls that wait for packets to go out
	sendDone bool       // the writer has nothing left and will not look again
}

// Open opens a pool over t, which the session owns from here, also when Open fails. ctx bounds the
// opening, not the session.
func Open(ctx context.Context, t Transport, o Options) (*Session, error) {
	args, err := applicationArguments(o.ApplicationArguments)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	log := cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	s := &Session{
		transport: t, options: o, limits: o.Limits.withDefaults(), log: log, done: make(chan struct{}), gone: make(chan struct{}),
		running: map[clixml.GUID]*Running{}, answers: map[int64]*proto.RunspaceAvailability{},
	}
	s.changed, s.toSend = sync.NewCond(&s.mu), sync.NewCond(&s.mu)
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.calls = &callQueue{session: s}
	minimum := max(o.MinRunspaces, 1)
	s.machine = machine.NewClient(machine.ClientConfig{
		Pool: newGUID(), Transport: t.Properties(), Limits: o.Limits.Machine, Tracer: o.Tracer,
		Init: proto.InitRunspacePool{
			MinRunspaces: int32(min(minimum, 1<<20)), MaxRunspaces: int32(min(max(o.MaxRunspaces, minimum), 1<<20)),
			ThreadOptions: o.ThreadOptions, ApartmentState: o.ApartmentState, ApplicationArguments: args, Host: o.Host.HostInfo(ctx),
		},
	})
	if err := s.machine.Open(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	s.group.Go(s.read)
	s.group.Go(s.write)
	if o.Keepalive > 0 {
		s.group.Go(func() { s.keepAlive(o.Keepalive) })
	}
	go s.finish()
	opening, stop := context.WithTimeout(ctx, s.limits.Opening)
	defer stop()
	s.mu.Lock()
	err = s.wait(opening, func() bool { return s.opened || s.ended })
	if err == nil && s.ended {
		err = s.err
	}
	s.mu.Unlock()
	if err != nil {
		err = s.openError(err)
		s.abort()
		log.LogAttrs(ctx, slog.LevelWarn, "psrp: session not opened", slog.Any("error", err))
		return nil, err
	}
	log.LogAttrs(ctx, slog.LevelInfo, "psrp: session opened", slog.String("protocol", s.machine.Version().String()))
	return s, nil
}

// openError says how far it came, and what came instead of the protocol.
func (s *Session) openError(err error) error {
	if t, ok := errors.AsType[*TransportError](err); ok {
		return t
	}
	if _, ok := errors.AsType[*RemoteProtocolError](err); ok {
		return err
	}
	if e, ok := errors.AsType[*ErrorRecord](err); ok {
		return fmt.Errorf("psrp: open: the server refused: %w", e)
	}
	e := &TransportError{Phase: "open", ExitCode: -1, Err: err}
	if b, ok := s.transport.(interface{ Banner() string }); ok {
		e.Banner = b.Banner()
	}
	return e
}

// abort ends a session that did not open: Close still goes out, if the transport takes it.
func (s *Session) abort() {
	s.mu.Lock()
	_ = s.machine.Close()
	s.wake()
	s.flushing++
	flushed, stop := context.WithTimeout(s.ctx, time.Second)
	defer stop()
	_ = s.wait(flushed, func() bool { return s.ended || !s.machine.Pending() })
	s.machine.Lost(ErrClosed)
	s.dispatch()
	s.mu.Unlock()
	<-s.gone
}

func newGUID() (g clixml.GUID) {
	_, _ = rand.Read(g[:]) // never fails
	return g
}

func applicationArguments(m map[string]any) (clixml.Value, error) {
	if m == nil {
		return clixml.Nil(), nil
	}
	v, err := clixml.Marshal(m)
	if err != nil {
		return v, fmt.Errorf("psrp: application arguments: %w", err)
	}
	return (&clixml.Object{TypeNames: clixml.PrimitiveDictionaryTypes(), Base: v}).Value(), nil
}

// wait waits, with mu held, until ready says so or ctx ends.
func (s *Session) wait(ctx context.Context, ready func() bool) error {
	return waitFor(ctx, s.changed, ready)
}

// waitFor waits, with the lock of changed held, until ready says so or ctx ends.
func waitFor(ctx context.Context, changed *sync.Cond, ready func() bool) error {
	if ready() {
		return nil
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() {
			changed.L.Lock()
			defer changed.L.Unlock()
			changed.Broadcast()
		})
		defer stop()
	}
	for !ready() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		changed.Wait()
	}
	return nil
}

// wake tells whoever waits to look again.
func (s *Session) wake() {
	s.changed.Broadcast()
	s.toSend.Signal()
}

// read gives what the transport brings to the machine. Close frees it: a context that could end
// would have to be watched for each packet.
func (s *Session) read() {
	ctx := context.WithoutCancel(s.ctx)
	for {
		p, err := s.transport.Recv(ctx)
		s.mu.Lock()
		s.received++
		if err != nil {
			s.machine.Lost(err)
		} else if err = s.machine.Receive(p); err != nil {
			s.log.LogAttrs(s.ctx, slog.LevelWarn, "psrp: peer broke the protocol", slog.Any("error", err))
		}
		// Each packet would wake everybody otherwise.
		if s.deliver() {
			s.changed.Broadcast()
		}
		if s.ended || s.machine.Pending() {
			s.toSend.Signal()
		}
		for !s.ended && s.mustPause() {
			s.changed.Wait()
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// mustPause reports whether the reader waits for a consumer: a queue is full, and nothing else of
// the session waits for the server.
func (s *Session) mustPause() bool {
	full := false
	for _, r := range s.running {
		switch {
		case r.isFull():
			full = true
		case !r.ended:
			return false
		}
	}
	return full && !s.machine.Waiting()
}

// write sends what the machine has to send, until the transport is closed.
func (s *Session) write() {
	ctx := context.WithoutCancel(s.ctx)
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sendDone = true
		s.changed.Broadcast()
	}()
	for {
		s.mu.Lock()
		p, ok := s.machine.NextPacket(0)
		for !ok && !s.ended {
			s.toSend.Wait()
			p, ok = s.machine.NextPacket(0)
		}
		if s.flushing > 0 {
			s.changed.Broadcast()
		}
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

// finish ends what is left when the pool has ended: the last packets go out, then the transport.
func (s *Session) finish() {
	<-s.done
	s.mu.Lock()
	flush, stop := context.WithTimeout(s.ctx, 2*time.Second)
	_ = s.wait(flush, func() bool { return s.sendDone })
	stop()
	s.mu.Unlock()
	_ = s.transport.Close()
	s.cancel()
	s.group.Wait()
	close(s.gone)
}

// dispatch delivers the machine's events, with mu held, and wakes whoever waits. It never waits.
func (s *Session) dispatch() {
	s.deliver()
	s.wake()
}

// deliver delivers the machine's events, with mu held. It reports whether there were any that
// somebody but the reader may wait for.
func (s *Session) deliver() (news bool) {
	for {
		e, ok := s.machine.NextEvent()
		if !ok {
			return news
		}
		switch e := e.(type) {
		case machine.Acknowledged:
			continue
		case machine.PipelineClosed:
			delete(s.running, e.ID)
			continue
		case machine.FragmentsDropped:
			s.log.LogAttrs(s.ctx, slog.LevelWarn, "psrp: fragments without a beginning dropped", slog.String("target", e.ID.String()), slog.Int("count", e.Count))
		case machine.KeyExchanged:
			s.log.LogAttrs(s.ctx, slog.LevelInfo, "psrp: session key exchanged")
		case machine.Opened:
			s.opened = true
		case machine.PrivateData:
			s.private = e.Data
		case machine.Availability:
			if e.Answer.CallID == s.asked {
				s.asked = 0
			} else {
				s.answers[e.Answer.CallID] = e.Answer
			}
		case machine.UserEvented:
			if s.options.OnEvent != nil {
				s.calls.push(queuedCall{event: e.Event})
			}
		case machine.HostCalled:
			if r := s.running[e.ID]; r != nil {
				r.hostCalled(e)
			} else if e.ID.IsZero() {
				s.calls.push(queuedCall{call: e.Call})
			}
		case machine.Recorded:
			if r := s.running[e.ID]; r != nil {
				r.recorded(e)
			}
		case machine.PipelineEnded:
			if r := s.running[e.ID]; r != nil {
				r.finished(e)
			}
		case machine.KeyNeeded:
			s.group.Go(s.exchangeKey)
		case machine.PoolEnded:
			s.ended, s.err = true, e.Err
			if e.Err != nil && s.opened {
				s.log.LogAttrs(s.ctx, slog.LevelWarn, "psrp: session lost", slog.Any("error", e.Err))
			}
			close(s.done)
		}
		news = true
	}
}

// exchangeKey makes the RSA key, which takes long, off the loop.
func (s *Session) exchangeKey() {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && !s.ended {
		err = s.machine.ExchangeKey(key)
	}
	if err != nil {
		s.machine.Lost(fmt.Errorf("psrp: exchange session key: %w", err))
	}
	s.dispatch()
}

// Server returns what the server told of itself.
func (s *Session) Server() ServerInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := ServerInfo{Protocol: s.machine.Version(), PrivateData: s.private}
	table, _ := s.private.Get("PSVersionTable")
	v, _ := table.Get("PSVersion")
	info.PSVersion, _ = v.Version()
	return info
}

// Done is closed when the session has ended, however it did.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns why the session ended: nil while it lives and when it was closed as asked.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// endedError is the error of a call to a session that has ended.
func (s *Session) endedError() error {
	return cmp.Or(s.err, ErrClosed)
}

// Close closes the pool: the server ends what runs, acknowledges, and the transport is closed. When
// ctx ends first, or the server takes longer than Limits.Closing, the transport is closed without
// it and the error says so. Closing a session that has ended does nothing.
func (s *Session) Close(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, s.limits.Closing)
	defer stop()
	s.mu.Lock()
	if err := s.machine.Close(); err != nil && !s.ended {
		s.mu.Unlock()
		return err
	}
	s.dispatch()
	err := s.wait(ctx, func() bool { return s.ended })
	if err != nil {
		err = &TransportError{Phase: "close", ExitCode: -1, Err: err}
		s.machine.Lost(err)
		s.dispatch()
	}
	s.mu.Unlock()
	if err != nil {
		_ = s.transport.Close()
	}
	<-s.gone
	return err
}
