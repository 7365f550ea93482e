package psrp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/internal/machine"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// peer is a server for these tests: the real machine and framing, with behaviours in Go by the name
// of the first command. It serves one client until its transport ends.
type peer struct {
	m    *machine.Server
	conn *oop.Conn

	mu    sync.Mutex
	cond  *sync.Cond
	done  bool
	pipes map[clixml.GUID]*peerPipe
	seen  []string
}

type peerPipe struct {
	p       *peer
	id      clixml.GUID
	command proto.Command
	input   []clixml.Value
	ended   bool // input
	stop    bool
	answers []*proto.HostResponse
}

// startPeer returns the client's end of a connection to a new peer.
func startPeer(t *testing.T, run map[string]func(*peerPipe), confidential bool) (*oop.Conn, *peer) {
	t.Helper()
	a, b := net.Pipe()
	p := &peer{
		m:    machine.NewServer(machine.ServerConfig{Transport: proto.TransportProperties{Confidential: confidential}}),
		conn: oop.NewConn(b, oop.Server, oop.Options{}), pipes: map[clixml.GUID]*peerPipe{},
	}
	p.cond = sync.NewCond(&p.mu)
	var wg sync.WaitGroup
	wg.Go(func() { p.read(run, &wg) })
	wg.Go(p.write)
	t.Cleanup(func() {
		_ = p.conn.Close()
		wg.Wait()
	})
	return oop.NewConn(a, oop.Client, oop.Options{Confidential: confidential}), p
}

func (p *peer) write() {
	for {
		p.mu.Lock()
		out, ok := p.m.NextPacket(0)
		for !ok && !p.done {
			p.cond.Wait()
			out, ok = p.m.NextPacket(0)
		}
		p.mu.Unlock()
		if !ok {
			_ = p.conn.Close()
			return
		}
		if p.conn.Send(context.Background(), out) != nil {
			return
		}
		p.cond.Broadcast()
	}
}

func (p *peer) read(run map[string]func(*peerPipe), wg *sync.WaitGroup) {
	for {
		in, err := p.conn.Recv(context.Background())
		p.mu.Lock()
		if err != nil {
			p.done = true
			for _, pipe := range p.pipes {
				pipe.stop = true
			}
			p.cond.Broadcast()
			p.mu.Unlock()
			return
		}
		p.seen = append(p.seen, in.Kind.String())
		_ = p.m.Receive(in)
		for {
			e, ok := p.m.NextEvent()
			if !ok {
				break
			}
			switch e := e.(type) {
			case machine.Created:
				pipe := &peerPipe{p: p, id: e.ID, command: e.Pipeline.Statements[0][0]}
				p.pipes[e.ID] = pipe
				f := run[pipe.command.Name]
				wg.Go(func() { f(pipe) })
			case machine.InputGiven:
				p.pipes[e.ID].input = append(p.pipes[e.ID].input, e.Value)
			case machine.InputEnded:
				p.pipes[e.ID].ended = true
			case machine.StopAsked:
				p.pipes[e.ID].stop = true
			case machine.HostAnswered:
				p.pipes[e.ID].answers = append(p.pipes[e.ID].answers, e.Answer)
			case machine.RunspacesAsked:
				a := &proto.RunspaceAvailability{Accepted: true}
				switch m := e.Request.(type) {
				case *proto.GetAvailableRunspaces:
					a.CallID, a.IsCount, a.Count = m.CallID, true, 1
				case *proto.SetMaxRunspaces:
					a.CallID = m.CallID
				case *proto.SetMinRunspaces:
					a.CallID = m.CallID
				case *proto.ResetRunspaceState:
					a.CallID = m.CallID
				}
				_ = p.m.RunspacesAnswer(a)
			case machine.CloseAsked:
				_ = p.m.FinishClose()
				for _, pipe := range p.pipes {
					pipe.stop = true
				}
			}
		}
		p.cond.Broadcast()
		p.mu.Unlock()
	}
}

// until waits for something that the client does.
func (q *peerPipe) until(ready func() bool) {
	q.p.mu.Lock()
	defer q.p.mu.Unlock()
	for !ready() && !q.stop {
		q.p.cond.Wait()
	}
}

func (q *peerPipe) record(r proto.Record) {
	q.p.mu.Lock()
	defer q.p.mu.Unlock()
	for q.p.m.Queued() > 256<<10 && !q.p.done && !q.stop {
		q.p.cond.Wait()
	}
	_ = q.p.m.Record(q.id, r)
	q.p.cond.Broadcast()
}

func (q *peerPipe) output(v clixml.Value) { q.record(proto.Record{Output: v}) }

func (q *peerPipe) finish(s proto.PipelineState, e *proto.ErrorRecord) {
	q.p.mu.Lock()
	defer q.p.mu.Unlock()
	if q.stop && s == proto.PipelineCompleted {
		s, e = proto.PipelineStopped, proto.StoppedRecord()
	}
	_ = q.p.m.Finish(q.id, s, e)
	q.p.cond.Broadcast()
}

func (q *peerPipe) call(m proto.HostMethod, params ...clixml.Value) {
	q.p.mu.Lock()
	defer q.p.mu.Unlock()
	_, _ = q.p.m.HostCall(q.id, m, params...)
	q.p.cond.Broadcast()
}

// behaviours are the commands of the peer.
func behaviours() map[string]func(*peerPipe) {
	done := func(q *peerPipe) { q.finish(proto.PipelineCompleted, nil) }
	return map[string]func(*peerPipe){
		"echo": func(q *peerPipe) {
			for n := 0; ; n++ {
				q.until(func() bool { return len(q.input) > n || q.ended })
				q.p.mu.Lock()
				if q.stop || n == len(q.input) {
					q.p.mu.Unlock()
					break
				}
				v := q.input[n]
				q.p.mu.Unlock()
				q.output(v)
			}
			done(q)
		},
		"args": func(q *peerPipe) {
			for _, a := range q.command.Args {
				q.output(clixml.String(a.Name))
				q.output(a.Value)
			}
			done(q)
		},
		"streams": func(q *peerPipe) {
			q.output(clixml.Int32(1))
			q.record(proto.Record{Kind: proto.RecordError, Error: proto.NewErrorRecord("Id", proto.InvalidData, "e")})
			for _, k := range []proto.RecordKind{proto.RecordWarning, proto.RecordVerbose, proto.RecordDebug} {
				q.record(proto.Record{Kind: k, Message: &proto.InformationalRecord{Message: k.String()}})
			}
			q.record(proto.Record{Kind: proto.RecordProgress, Progress: proto.NewProgress(1, "a", "s")})
			q.record(proto.Record{Kind: proto.RecordInformation, Information: &proto.InformationRecord{MessageData: clixml.String("i")}})
			q.output(clixml.Int32(2))
			done(q)
		},
		"fail": func(q *peerPipe) {
			q.finish(proto.PipelineFailed, proto.NewErrorRecord("Boom", proto.InvalidOperation, "it failed"))
		},
		"sleep": func(q *peerPipe) {
			q.until(func() bool { return false })
			q.finish(proto.PipelineStopped, proto.StoppedRecord())
		},
		"deaf": func(*peerPipe) {},
		"many": func(q *peerPipe) {
			n, _ := q.command.Args[0].Value.Int()
			text := strings.Repeat("x", 1000)
			for range n {
				q.output(clixml.String(text))
			}
			done(q)
		},
		"ask": func(q *peerPipe) {
			q.call(proto.HostWriteLine2, clixml.String("shown"))
			q.call(proto.HostReadLine)
			q.call(proto.HostReadLineAsSecureString)
			q.until(func() bool { return len(q.answers) == 2 })
			q.p.mu.Lock()
			answers := slices.Clone(q.answers)
			q.p.mu.Unlock()
			for _, a := range answers {
				if a.Error != nil {
					q.output(clixml.String("refused: " + a.Error.FullyQualifiedErrorID))
				} else {
					q.output(a.Result)
				}
			}
			done(q)
		},
	}
}

func openTest(t *testing.T, o Options) (*Session, *peer) {
	t.Helper()
	conn, p := startPeer(t, behaviours(), true)
	s, err := Open(t.Context(), conn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
		if runtime.NumGoroutine() > 1000 {
			t.Errorf("%d goroutines", runtime.NumGoroutine())
		}
	})
	return s, p
}

func TestRunCollectsTheSevenStreamsInOrder(t *testing.T) {
	s, _ := openTest(t, Options{})
	if got := s.Server(); got.Protocol != clixml.NewVersion(2, 4) || got.PSVersion[0] != 7 {
		t.Errorf("server %+v", got)
	}
	res, err := s.Run(t.Context(), Cmd("streams"))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, r := range res.Records {
		kinds = append(kinds, r.Kind.String())
	}
	if !slices.Equal(kinds, []string{"output", "error", "warning", "verbose", "debug", "progress", "information", "output"}) || len(res.Output) != 2 || len(res.Errors) != 1 {
		t.Errorf("records %v", kinds)
	}
}

func TestArgumentsAndInputArriveTyped(t *testing.T) {
	s, _ := openTest(t, Options{})
	res, err := s.Run(t.Context(), Cmd("args").Param("A", 5).Arg("pos").Switch("Force").Param("N", nil))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range res.Output {
		got = append(got, v.Kind().String()+" "+v.String())
	}
	if !slices.Equal(got, []string{"String A", "Int32 5", "String ", "String pos", "String Force", "Bool true", "String N", "Nil null"}) {
		t.Errorf("arguments %v", got)
	}
	for _, n := range []int{0, 1, 1000} {
		in := make([]any, n)
		for i := range in {
			if i%3 != 0 {
				in[i] = i
			}
		}
		p := Cmd("echo")
		p.Input = true
		res, err := s.Run(t.Context(), p, in...)
		if err != nil || len(res.Output) != n {
			t.Fatalf("%d of %d came back, %v", len(res.Output), n, err)
		}
		for i, v := range res.Output {
			if x, _ := v.Int(); v.IsNil() != (i%3 == 0) || !v.IsNil() && int(x) != i {
				t.Errorf("input %d came back as %v", i, v)
			}
		}
	}
	if _, err := s.Run(t.Context(), Cmd("args").Arg(make(chan int))); err == nil {
		t.Error("a channel was sent")
	}
}

func TestFailedPipelineIsAPipelineErrorWithItsRecord(t *testing.T) {
	s, _ := openTest(t, Options{})
	_, err := s.Run(t.Context(), Cmd("fail"))
	e, ok := errors.AsType[*PipelineError](err)
	if !ok || e.State != proto.PipelineFailed || e.Record.FullyQualifiedErrorID != "Boom" || e.Record.Category != proto.InvalidOperation {
		t.Errorf("error %v", err)
	}
	if r, ok := errors.AsType[*ErrorRecord](err); !ok || r != e.Record {
		t.Error("the record cannot be reached")
	}
	if _, err := s.Run(t.Context(), Cmd("streams")); err != nil {
		t.Errorf("the next pipeline: %v", err)
	}
}

func TestInvokeYieldsGoValues(t *testing.T) {
	var side []string
	s, _ := openTest(t, Options{OnRecord: func(r Record) { side = append(side, r.Kind.String()) }})
	var got []int
	var last error
	for n, err := range Invoke[int](t.Context(), s, Cmd("streams")) {
		if err != nil {
			last = err
			continue
		}
		got = append(got, n)
	}
	e, ok := errors.AsType[*PipelineError](last)
	if !slices.Equal(got, []int{1, 2}) || !ok || e.State != proto.PipelineCompleted || e.Record.FullyQualifiedErrorID != "Id" || len(side) != 6 {
		t.Errorf("values %v, error %v, side records %v", got, last, side)
	}
	for _, err := range Invoke[bool](t.Context(), s, Cmd("streams")) {
		if _, ok := errors.AsType[*clixml.FieldError](err); !ok {
			t.Errorf("a number as a truth value: %v", err)
		}
	}
}

func TestCancelledContextStopsThePipeline(t *testing.T) {
	s, _ := openTest(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := s.Start(ctx, Cmd("sleep"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for _, err := range r.Records() {
		e, ok := errors.AsType[*PipelineError](err)
		if !ok || e.State != proto.PipelineStopped || !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	for _, err := range r.Records() {
		if !errors.Is(err, ErrConsumed) {
			t.Errorf("a second loop: %v", err)
		}
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Errorf("stopping what has ended: %v", err)
	}
	if err := r.Send(t.Context(), 1); err == nil {
		t.Error("Send after the end")
	}
}

func TestServerThatDoesNotStopIsClosed(t *testing.T) {
	s, p := openTest(t, Options{Limits: Limits{Stopping: 20 * time.Millisecond}})
	r, err := s.Start(t.Context(), Cmd("deaf"))
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	for len(p.pipes) == 0 {
		p.cond.Wait()
	}
	p.mu.Unlock()
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.seen, "Signal") {
		t.Errorf("the server has seen %v", p.seen)
	}
}

func TestSendWithoutInputIsTheCallersMistake(t *testing.T) {
	s, _ := openTest(t, Options{})
	r, err := s.Start(t.Context(), Cmd("sleep"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*LocalProtocolError](r.Send(t.Context(), 1)); !ok {
		t.Errorf("Send: %v", err)
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	p := Cmd("echo")
	p.Input = true
	r, err = s.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.CloseInput(), r.CloseInput()); err != nil {
		t.Errorf("closing the input twice: %v", err)
	}
	for _, err := range r.Records() {
		t.Errorf("record, %v", err)
	}
}

func TestHostAnswersInOrderAndOnce(t *testing.T) {
	script := host.NewScripted(host.Answer{Method: proto.HostReadLine, Value: "typed"})
	s, _ := openTest(t, Options{Host: script.Set()})
	res, err := s.Run(t.Context(), Cmd("ask"))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Output) != 2 || res.Output[0].String() != "typed" || res.Output[1].String() != "refused: HostCallFailed" {
		t.Errorf("answers %v", res.Output)
	}
	if got := script.Calls(); !slices.Equal(got, []string{"WriteLine2", "ReadLine", "ReadLineAsSecureString"}) || script.Written() != "shown\n" {
		t.Errorf("calls %v", got)
	}
}

func TestRunspaceCalls(t *testing.T) {
	s, _ := openTest(t, Options{MaxRunspaces: 2})
	if err := s.SetRunspaces(t.Context(), 1, 4); err != nil {
		t.Error(err)
	}
	if n, err := s.Available(t.Context()); err != nil || n != 1 {
		t.Errorf("%d available, %v", n, err)
	}
	if err := errors.Join(s.Reset(t.Context()), s.Ping(t.Context())); err != nil {
		t.Error(err)
	}
	if err := s.SetRunspaces(t.Context(), 3, 2); err == nil {
		t.Error("3 to 2 runspaces")
	}
}

// A Run inside a loop over Records, with one runspace and a full queue, must end: the reader may
// not wait for the consumer while the consumer waits for the server.
func TestRunInsideRecordsDoesNotDeadlock(t *testing.T) {
	s, _ := openTest(t, Options{Limits: Limits{QueueRecords: 4}})
	n := 0
	r, err := s.Start(t.Context(), Cmd("many").Arg(200))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%50 == 0 {
			if _, err := s.Run(t.Context(), Cmd("streams")); err != nil {
				t.Fatal(err)
			}
			if err := s.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n != 200 {
		t.Errorf("%d records of 200", n)
	}
}

func TestSendInsideRecordsDoesNotDeadlock(t *testing.T) {
	s, _ := openTest(t, Options{Limits: Limits{QueueRecords: 1}})
	p := Cmd("echo")
	p.Input = true
	r, err := s.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 40_000)
	if err := r.Send(t.Context(), big); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 30 {
			if err := r.CloseInput(); err != nil {
				t.Fatal(err)
			}
		} else if n < 30 {
			if err := r.Send(t.Context(), big); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n != 30 {
		t.Errorf("%d records", n)
	}
}

// A consumer that stalls holds the server back, and nothing is lost or reordered.
func TestStalledConsumerLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := startPeer(t, map[string]func(*peerPipe){"count": func(q *peerPipe) {
			for i := range 3000 {
				q.output(clixml.Int32(int32(i)))
			}
			q.finish(proto.PipelineCompleted, nil)
		}}, true)
		s, err := Open(t.Context(), conn, Options{Limits: Limits{QueueRecords: 10}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Start(t.Context(), Cmd("count"))
		if err != nil {
			t.Fatal(err)
		}
		next := int64(0)
		for rec, err := range r.Records() {
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := rec.Output.Int(); n != next {
				t.Fatalf("record %d where %d is due", n, next)
			}
			if next++; next%1000 == 1 {
				time.Sleep(5 * time.Second) //nolint:forbidigo // the bubble's clock
				synctest.Wait()
				s.mu.Lock()
				if len(r.queue) > 20 {
					t.Errorf("%d records wait", len(r.queue))
				}
				s.mu.Unlock()
			}
		}
		if next != 3000 {
			t.Errorf("%d records", next)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		_ = p
	})
}

func TestConsumerTooSlowIsStoppedAlone(t *testing.T) {
	s, _ := openTest(t, Options{Limits: Limits{QueueRecords: 10, QueueMost: 100_000}})
	slow, err := s.Start(t.Context(), Cmd("many").Arg(10_000))
	if err != nil {
		t.Fatal(err)
	}
	busy, err := s.Start(t.Context(), Cmd("sleep"))
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	_ = s.wait(t.Context(), func() bool { return slow.ended })
	s.mu.Unlock()
	var last error
	for _, err := range slow.Records() {
		last = err
	}
	if !errors.Is(last, ErrConsumerTooSlow) {
		t.Errorf("error %v", last)
	}
	if _, err := s.Run(t.Context(), Cmd("streams")); err != nil {
		t.Errorf("another pipeline: %v", err)
	}
	if err := busy.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBreakStopsAndTheSessionGoesOn(t *testing.T) {
	s, _ := openTest(t, Options{Limits: Limits{QueueRecords: 4}})
	r, err := s.Start(t.Context(), Cmd("many").Arg(5_000))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Records() {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.Run(t.Context(), Cmd("streams")); err != nil {
		t.Error(err)
	}
}

func TestResultOverItsLimitIsAnError(t *testing.T) {
	s, _ := openTest(t, Options{Limits: Limits{Result: 50_000}})
	if _, err := s.Run(t.Context(), Cmd("many").Arg(1000)); !errors.Is(err, ErrResultTooLarge) {
		t.Errorf("error %v", err)
	}
}

func TestLostPeerEndsEverything(t *testing.T) {
	conn, p := startPeer(t, behaviours(), true)
	s, err := Open(t.Context(), conn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Start(t.Context(), Cmd("sleep"))
	if err != nil {
		t.Fatal(err)
	}
	_ = p.conn.Close()
	for _, err := range r.Records() {
		if e, ok := errors.AsType[*TransportError](err); !ok || e.Unreachable() || e.Timeout() {
			t.Errorf("the pipeline ended with %v", err)
		}
	}
	<-s.Done()
	if _, ok := errors.AsType[*TransportError](s.Err()); !ok {
		t.Errorf("the session ended with %v", s.Err())
	}
	if _, err := s.Run(t.Context(), Cmd("streams")); err == nil {
		t.Error("a lost session runs")
	}
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestOpenThatIsNotAnsweredQuotesTheBannerAndHasSentClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		var got strings.Builder
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = fmt.Fprint(b, "Welcome to the host\n\n")
			buf := make([]byte, 4096)
			for {
				n, err := b.Read(buf)
				got.Write(buf[:n])
				if err != nil {
					return
				}
			}
		}()
		_, err := Open(t.Context(), oop.NewConn(a, oop.Client, oop.Options{Confidential: true}), Options{})
		e, ok := errors.AsType[*TransportError](err)
		if !ok || !e.Timeout() || e.Phase != "open" || !strings.Contains(err.Error(), "Welcome to the host") {
			t.Errorf("error %v", err)
		}
		<-done
		if !strings.Contains(got.String(), "<Close PSGuid='00000000-0000-0000-0000-000000000000' />") {
			t.Errorf("sent %.2000s", got.String())
		}
	})
}

func TestPipelinesAreValues(t *testing.T) {
	base := Cmd("a").Param("x", 1)
	b, c := base.Param("y", 2), base.Param("z", 3)
	if len(base.Statements[0][0].Args) != 1 || b.Statements[0][0].Args[1].Name != "y" || c.Statements[0][0].Args[1].Name != "z" {
		t.Errorf("%+v\n%+v\n%+v", base, b, c)
	}
	p := base.Pipe(Cmd("b")).Then(Script("c").Arg(1))
	if len(p.Statements) != 2 || len(p.Statements[0]) != 2 || p.Statements[1][0].Name != "c" || len(base.Statements[0]) != 1 {
		t.Errorf("%+v", p.Statements)
	}
	if (Pipeline{}).Arg(1).err == nil {
		t.Error("an argument without a command")
	}
}
