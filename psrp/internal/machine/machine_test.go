package machine

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"slices"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// pair is a client and a server whose packets go to each other.
type pair struct {
	t        *testing.T
	client   *Client
	server   *Server
	toServer []proto.Packet // every packet, for tests that count them
	toClient []proto.Packet
}

func id(n byte) clixml.GUID { return clixml.GUID{15: n, 0: 1} }

func newPair(t *testing.T, confidential bool) *pair {
	t.Helper()
	tr := proto.TransportProperties{Confidential: confidential}
	p := &pair{
		t: t,
		client: NewClient(ClientConfig{
			Pool: id(99), Transport: tr, Init: proto.InitRunspacePool{MinRunspaces: 1, MaxRunspaces: 2, Host: proto.NoHost()},
		}),
		server: NewServer(ServerConfig{Transport: tr}),
	}
	return p
}

// openPair is a pair whose pool is open and whose first events are read.
func openPair(t *testing.T, confidential bool) *pair {
	t.Helper()
	p := newPair(t, confidential)
	if err := p.client.Open(); err != nil {
		t.Fatal(err)
	}
	p.pump()
	want[Initialized](t, p.serverEvents())
	events := p.clientEvents()
	want[PrivateData](t, events)
	want[Opened](t, events)
	return p
}

// pump carries packets until there are none.
func (p *pair) pump() {
	p.t.Helper()
	for busy := true; busy; {
		busy = false
		if out, ok := p.client.NextPacket(0); ok {
			busy = true
			out.Data = bytes.Clone(out.Data)
			p.toServer = append(p.toServer, out)
			if err := p.server.Receive(out); err != nil {
				p.t.Fatalf("server: %v", err)
			}
		}
		if out, ok := p.server.NextPacket(0); ok {
			busy = true
			out.Data = bytes.Clone(out.Data)
			p.toClient = append(p.toClient, out)
			if err := p.client.Receive(out); err != nil {
				p.t.Fatalf("client: %v", err)
			}
		}
	}
}

func drain(next func() (Event, bool)) (events []Event) {
	for {
		e, ok := next()
		if !ok {
			return events
		}
		events = append(events, e)
	}
}

func (p *pair) clientEvents() []Event { return drain(p.client.NextEvent) }
func (p *pair) serverEvents() []Event { return drain(p.server.NextEvent) }

// want returns the one event of type T among events.
func want[T Event](t *testing.T, events []Event) T {
	t.Helper()
	var found []T
	for _, e := range events {
		if x, ok := e.(T); ok {
			found = append(found, x)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d events %T, want one among %#v", len(found), *new(T), events)
	}
	return found[0]
}

func none[T Event](t *testing.T, events []Event) {
	t.Helper()
	for _, e := range events {
		if _, ok := e.(T); ok {
			t.Fatalf("event %#v", e)
		}
	}
}

func script(text string) *proto.Pipeline {
	return &proto.Pipeline{Statements: [][]proto.Command{{{Name: text, Script: true}}}}
}

func TestOpenRunAndClose(t *testing.T) {
	p := openPair(t, true)
	if v := p.client.Version(); v != clixml.NewVersion(2, 4) || v != p.server.Version() {
		t.Errorf("client speaks %v, server %v", v, p.server.Version())
	}
	pipeline := script("$input")
	pipeline.Input = true
	if err := p.client.Create(id(1), pipeline); err != nil {
		t.Fatal(err)
	}
	if err := p.client.Input(id(1), clixml.Int32(7)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.client.EndInput(id(1)), p.client.EndInput(id(1))); err != nil {
		t.Fatalf("ending the input twice: %v", err)
	}
	p.pump()
	events := p.serverEvents()
	if got := want[Created](t, events).Pipeline.Statements[0][0].Name; got != "$input" {
		t.Errorf("command %q", got)
	}
	if got := want[InputGiven](t, events); !clixml.Equal(got.Value, clixml.Int32(7)) {
		t.Errorf("input %v", got.Value.Kind())
	}
	want[InputEnded](t, events)
	if err := p.server.Record(id(1), proto.Record{Kind: proto.RecordOutput, Output: clixml.String("out")}); err != nil {
		t.Fatal(err)
	}
	ci, err := p.server.HostCall(id(1), proto.HostReadLine)
	if err != nil {
		t.Fatal(err)
	}
	p.pump()
	events = p.clientEvents()
	if s, _ := want[Recorded](t, events).Record.Output.Text(); s != "out" {
		t.Errorf("output %q", s)
	}
	call := want[HostCalled](t, events)
	if call.Call.CallID != ci || call.ID != id(1) || !call.Call.WantsAnswer() {
		t.Errorf("host call %+v", call)
	}
	if err := p.client.Answer(id(1), call.Call.Answer(clixml.String("typed"))); err != nil {
		t.Fatal(err)
	}
	p.pump()
	if got := p.toServer[len(p.toServer)-1].Stream; got != proto.StreamPromptResponse {
		t.Errorf("the answer went out on stream %v", got)
	}
	if s, _ := want[HostAnswered](t, p.serverEvents()).Answer.Result.Text(); s != "typed" {
		t.Errorf("answer %q", s)
	}
	if err := p.server.Finish(id(1), proto.PipelineCompleted, nil); err != nil {
		t.Fatal(err)
	}
	p.pump()
	events = p.clientEvents()
	if got := want[PipelineEnded](t, events); got.State != proto.PipelineCompleted {
		t.Errorf("ended %+v", got)
	}
	want[PipelineClosed](t, events)
	want[PipelineClosed](t, p.serverEvents())

	if err := p.client.Close(); err != nil {
		t.Fatal(err)
	}
	p.pump()
	want[CloseAsked](t, p.serverEvents())
	if err := p.server.FinishClose(); err != nil {
		t.Fatal(err)
	}
	p.pump()
	if got := want[PoolEnded](t, p.clientEvents()); got.State != proto.PoolClosed || got.Err != nil {
		t.Errorf("pool ended %+v", got)
	}
	for _, out := range p.toServer {
		if out.Kind != proto.PacketData && out.Kind != proto.PacketCommand && out.Kind != proto.PacketClose {
			t.Errorf("the client sent %v", out.Kind)
		}
	}
}

func TestClientHasOneUnacknowledgedDataPerTarget(t *testing.T) {
	p := openPair(t, true)
	pipeline := script("x")
	pipeline.Input = true
	for _, n := range []byte{1, 2} {
		if err := p.client.Create(id(n), pipeline); err != nil {
			t.Fatal(err)
		}
	}
	kinds := func() (got []string) {
		for {
			out, ok := p.client.NextPacket(0)
			if !ok {
				return got
			}
			got = append(got, out.Kind.String()+string('0'+out.Target[15]))
		}
	}
	if got := kinds(); !slices.Equal(got, []string{"Command1", "Command2"}) {
		t.Errorf("sent before CommandAck: %v", got)
	}
	ack := func(k proto.PacketKind, n byte) {
		t.Helper()
		if err := p.client.Receive(proto.Packet{Kind: k, Target: id(n)}); err != nil {
			t.Fatal(err)
		}
	}
	ack(proto.PacketCommandAck, 2)
	if got := kinds(); !slices.Equal(got, []string{"Data2"}) {
		t.Errorf("sent after CommandAck of 2: %v", got)
	}
	for range 3 {
		if err := p.client.Input(id(2), clixml.Int32(1)); err != nil {
			t.Fatal(err)
		}
	}
	ack(proto.PacketCommandAck, 1)
	if got := kinds(); !slices.Equal(got, []string{"Data1"}) {
		t.Errorf("sent while Data of 2 is unacknowledged: %v", got)
	}
	ack(proto.PacketDataAck, 2)
	if got := kinds(); !slices.Equal(got, []string{"Data2"}) {
		t.Errorf("sent after DataAck of 2: %v, want one packet for all that queued up", got)
	}
}

func TestStopEndsAsStoppedBeforeTheAck(t *testing.T) {
	p := openPair(t, true)
	if err := p.client.Create(id(1), script("sleep")); err != nil {
		t.Fatal(err)
	}
	p.pump()
	p.serverEvents()
	if err := errors.Join(p.client.Stop(id(1)), p.client.Stop(id(1))); err != nil {
		t.Fatal(err)
	}
	p.pump()
	want[StopAsked](t, p.serverEvents())
	none[PipelineEnded](t, p.clientEvents())
	p.toClient = nil
	if err := p.server.Finish(id(1), proto.PipelineStopped, proto.StoppedRecord()); err != nil {
		t.Fatal(err)
	}
	p.pump()
	got := want[PipelineEnded](t, p.clientEvents())
	if got.State != proto.PipelineStopped || got.Error == nil || got.Error.FullyQualifiedErrorID != "PipelineStopped" ||
		got.Error.ExceptionType() != "System.Management.Automation.PipelineStoppedException" {
		t.Errorf("ended %+v", got)
	}
	if p.toClient[0].Kind != proto.PacketData || p.toClient[1].Kind != proto.PacketSignalAck {
		t.Errorf("server sent %v", p.toClient)
	}
}

func TestSecureStringWaitsForTheSessionKey(t *testing.T) {
	p := openPair(t, false)
	pipeline := script("param($p) $p")
	pipeline.Statements[0][0].Args = []proto.Arg{{Name: "p", Value: clixml.NewSecureString("secret").Value()}}
	if err := p.client.Create(id(1), pipeline); err != nil {
		t.Fatal(err)
	}
	p.pump()
	none[Created](t, p.serverEvents())
	want[KeyNeeded](t, p.clientEvents())
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.client.ExchangeKey(key); err != nil {
		t.Fatal(err)
	}
	p.pump()
	v := want[Created](t, p.serverEvents()).Pipeline.Statements[0][0].Args[0].Value
	s, ok := v.SecureString()
	if !ok {
		t.Fatalf("argument is %v", v.Kind())
	}
	if text, ok := s.Reveal(); !ok || text != "secret" {
		t.Errorf("argument is %q", text)
	}
	none[KeyNeeded](t, p.clientEvents())
}

func TestReceivedSecureStringWaitsPastTheEnd(t *testing.T) {
	p := openPair(t, false)
	if err := p.client.Create(id(1), script("x")); err != nil {
		t.Fatal(err)
	}
	p.pump()
	if err := errors.Join(
		p.server.Record(id(1), proto.Record{Output: clixml.Int32(1)}),
		p.server.Record(id(1), proto.Record{Output: clixml.NewSecureString("s").Value()}),
		p.server.Record(id(1), proto.Record{Output: clixml.Int32(2)}),
		p.server.Finish(id(1), proto.PipelineCompleted, nil),
	); err != nil {
		t.Fatal(err)
	}
	p.pump()
	events := p.clientEvents()
	want[Recorded](t, events)
	want[KeyNeeded](t, events)
	none[PipelineEnded](t, events)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.client.ExchangeKey(key); err != nil {
		t.Fatal(err)
	}
	p.pump()
	events = p.clientEvents()
	var texts []string
	for _, e := range events {
		if r, ok := e.(Recorded); ok {
			if s, ok := r.Record.Output.SecureString(); ok {
				text, _ := s.Reveal()
				texts = append(texts, text)
			} else {
				texts = append(texts, r.Record.Output.Kind().String())
			}
		}
	}
	if !slices.Equal(texts, []string{"s", "Int32"}) {
		t.Errorf("records after the key: %v", texts)
	}
	want[PipelineEnded](t, events)
}

func TestPeersMistakeBreaksTheSessionAndClosesIt(t *testing.T) {
	p := openPair(t, true)
	if err := p.client.Create(id(1), script("x")); err != nil {
		t.Fatal(err)
	}
	p.pump()
	err := p.client.Receive(proto.Packet{Kind: proto.PacketData, Target: id(1), Data: bytes.Repeat([]byte{0xFF}, 64)})
	var remote *proto.RemoteProtocolError
	if !errors.As(err, &remote) || remote.Target != id(1) || remote.Stage != "fragment" {
		t.Fatalf("error %v", err)
	}
	events := p.clientEvents()
	if got := want[PipelineEnded](t, events); got.State != proto.PipelineFailed || !errors.As(got.Cause, &remote) {
		t.Errorf("ended %+v", got)
	}
	if got := want[PoolEnded](t, events); got.State != proto.PoolBroken || got.Err == nil {
		t.Errorf("pool ended %+v", got)
	}
	var sent []string
	for {
		out, ok := p.client.NextPacket(0)
		if !ok {
			break
		}
		sent = append(sent, out.Kind.String()+string('0'+out.Target[15]))
	}
	if !slices.Equal(sent, []string{"Close1", "Close0"}) {
		t.Errorf("sent %v", sent)
	}
	var local *proto.LocalProtocolError
	if err := p.client.Create(id(2), script("x")); !errors.As(err, &local) {
		t.Errorf("Create after that: %v", err)
	}
}

func TestOlderPeerDecidesTheVersion(t *testing.T) {
	p := newPair(t, true)
	p.server.version = clixml.NewVersion(2, 2)
	if err := p.client.Open(); err != nil {
		t.Fatal(err)
	}
	p.pump()
	if got := want[Opened](t, p.clientEvents()).Version; got != clixml.NewVersion(2, 2) {
		t.Errorf("version %v", got)
	}
	var local *proto.LocalProtocolError
	if _, err := p.client.Reset(); !errors.As(err, &local) {
		t.Errorf("Reset in 2.2: %v", err)
	}
}
