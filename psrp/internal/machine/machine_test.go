package machine

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"slices"
	"strings"
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

func TestQueuedInputIsPackedIntoPayloads(t *testing.T) {
	for limit, want := range map[int]int{0: 4, 256 << 10: 1} { // packets
		p := openPair(t, true)
		p.client.config.Transport.MaxPayload = limit
		pipeline := script("x")
		pipeline.Input = true
		if err := p.client.Create(id(1), pipeline); err != nil {
			t.Fatal(err)
		}
		p.pump()
		p.toServer = nil
		text := strings.Repeat("x", 1000)
		for range 50 {
			if err := p.client.Input(id(1), clixml.String(text)); err != nil {
				t.Fatal(err)
			}
		}
		large := strings.Repeat("y", 50_000)
		if err := p.client.Input(id(1), clixml.String(large)); err != nil {
			t.Fatal(err)
		}
		p.pump()
		if len(p.toServer) != want {
			t.Errorf("limit %d: %d packets, want %d", limit, len(p.toServer), want)
		}
		for _, packet := range p.toServer {
			if most := max(limit, proto.DefaultPayload); len(packet.Data) > most {
				t.Errorf("limit %d: a payload of %d bytes", limit, len(packet.Data))
			}
			for b := packet.Data; len(b) > 0; {
				f, rest, err := proto.ParseFragment(b)
				if err != nil || len(f.Blob) > proto.DefaultPayload-proto.FragmentHeaderSize {
					t.Fatalf("limit %d: a fragment of %d bytes, %v", limit, len(f.Blob), err)
				}
				b = rest
			}
		}
		given := 0
		for _, e := range p.serverEvents() {
			if in, ok := e.(InputGiven); ok {
				given++
				if s, _ := in.Value.Text(); s != text && s != large {
					t.Errorf("limit %d: input of %d bytes", limit, len(s))
				}
			}
		}
		if given != 51 {
			t.Errorf("limit %d: %d objects arrived", limit, given)
		}
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

func TestStopBeforeCommandAckEndsAtOnce(t *testing.T) {
	p := openPair(t, true)
	if err := errors.Join(p.client.Create(id(1), script("x")), p.client.Stop(id(1))); err != nil {
		t.Fatal(err)
	}
	p.pump()
	events := p.clientEvents()
	if got := want[PipelineEnded](t, events); got.State != proto.PipelineStopped {
		t.Errorf("ended %+v", got)
	}
	want[PipelineClosed](t, events)
	none[Created](t, p.serverEvents())
}

func TestServerAcknowledgesEveryPacketOnce(t *testing.T) {
	p := openPair(t, true)
	p.toServer, p.toClient = nil, nil
	if err := p.client.Create(id(1), script("x")); err != nil {
		t.Fatal(err)
	}
	p.pump()
	if _, err := p.client.SetMax(3); err != nil {
		t.Fatal(err)
	}
	p.pump()
	acks := func() (all []string) {
		for _, out := range p.toClient {
			if out.Kind != proto.PacketData {
				all = append(all, out.Kind.String()+string('0'+out.Target[15]))
			}
		}
		p.toClient = nil
		return all
	}
	if got := acks(); !slices.Equal(got, []string{"CommandAck1", "DataAck1"}) {
		t.Errorf("before the pool's answer: %v", got)
	}
	for _, e := range p.serverEvents() {
		if asked, ok := e.(RunspacesAsked); ok {
			m, _ := asked.Request.(*proto.SetMaxRunspaces)
			if err := p.server.RunspacesAnswer(&proto.RunspaceAvailability{CallID: m.CallID, Accepted: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.pump()
	if p.toClient[0].Kind != proto.PacketData {
		t.Error("the acknowledgement came before the answer")
	}
	if got := acks(); !slices.Equal(got, []string{"DataAck0"}) {
		t.Errorf("after the pool's answer: %v", got)
	}
	for _, k := range []proto.PacketKind{proto.PacketData, proto.PacketSignal, proto.PacketClose} {
		if err := p.server.Receive(proto.Packet{Kind: k, Target: id(7), Data: []byte("anything")}); err != nil {
			t.Errorf("%v of an unknown pipeline: %v", k, err)
		}
	}
	for {
		out, ok := p.server.NextPacket(0)
		if !ok {
			break
		}
		p.toClient = append(p.toClient, out)
	}
	if got := acks(); !slices.Equal(got, []string{"DataAck7", "SignalAck7", "CloseAck7"}) {
		t.Errorf("of an unknown pipeline: %v", got)
	}
}

func TestHoldingAPipelineHoldsItsAcknowledgements(t *testing.T) {
	p := openPair(t, true)
	pipeline := script("x")
	pipeline.Input = true
	if err := p.client.Create(id(1), pipeline); err != nil {
		t.Fatal(err)
	}
	p.pump()
	p.server.Hold(id(1), true)
	for range 10 {
		if err := p.client.Input(id(1), clixml.String("x")); err != nil {
			t.Fatal(err)
		}
		p.pump()
	}
	given := 0
	count := func() {
		for _, e := range p.serverEvents() {
			if _, ok := e.(InputGiven); ok {
				given++
			}
		}
	}
	if count(); given != 1 || p.client.Queued(id(1)) == 0 {
		t.Errorf("%d inputs passed, %d bytes wait", given, p.client.Queued(id(1)))
	}
	p.server.Hold(id(1), false)
	p.pump()
	if count(); given != 10 || p.client.Queued(id(1)) != 0 {
		t.Errorf("%d inputs passed, %d bytes wait", given, p.client.Queued(id(1)))
	}
}

func TestUnexpectedFromTheServerIsAMistakeOfIts(t *testing.T) {
	send := func(m proto.Message, pool clixml.GUID) func(p *pair) proto.Packet {
		return func(p *pair) proto.Packet {
			body, err := proto.AppendBody(nil, &clixml.Encoder{}, m, clixml.NewVersion(2, 4))
			if err != nil {
				p.t.Fatal(err)
			}
			h := proto.MessageHeader{To: proto.ToClient, Type: m.Type(), Pool: pool}
			if m.Type().Pipeline() {
				h.Pipeline = id(1)
			}
			return proto.Packet{Kind: proto.PacketData, Target: h.Pipeline, Data: proto.AppendFragments(nil, 77, proto.AppendMessage(nil, h, body), 0)}
		}
	}
	packet := func(k proto.PacketKind, target clixml.GUID) func(*pair) proto.Packet {
		return func(*pair) proto.Packet { return proto.Packet{Kind: k, Target: target, Data: []byte("x")} }
	}
	for name, make := range map[string]func(*pair) proto.Packet{
		"second capability":           send(proto.NewSessionCapability(clixml.NewVersion(2, 4)), clixml.GUID{}),
		"second Opened":               send(&proto.RunspacePoolState{State: proto.PoolOpened}, id(99)),
		"state Connecting":            send(&proto.RunspacePoolState{State: proto.PoolConnecting}, id(99)),
		"another pool":                send(&proto.RunspacePoolState{State: proto.PoolClosing}, id(98)),
		"zero pool":                   send(&proto.PipelineOutput{}, clixml.GUID{}),
		"answer to nothing":           send(&proto.RunspaceAvailability{CallID: 5}, id(99)),
		"key that was not asked for":  send(&proto.EncryptedSessionKey{}, clixml.GUID{}),
		"host method that is not":     send(&proto.HostCall{CallID: 1, Method: 99}, id(99)),
		"a packet of a client":        packet(proto.PacketCommand, id(1)),
		"CommandAck twice":            packet(proto.PacketCommandAck, id(1)),
		"CloseAck of one that runs":   packet(proto.PacketCloseAck, id(1)),
		"SignalAck without a Signal":  packet(proto.PacketSignalAck, id(1)),
		"SignalAck of the session":    packet(proto.PacketSignalAck, clixml.GUID{}),
		"Data of an unknown pipeline": packet(proto.PacketData, id(42)),
	} {
		t.Run(name, func(t *testing.T) {
			p := openPair(t, true)
			if err := p.client.Create(id(1), script("x")); err != nil {
				t.Fatal(err)
			}
			p.pump()
			err := p.client.Receive(make(p))
			if _, ok := errors.AsType[*proto.RemoteProtocolError](err); !ok {
				t.Fatalf("error %v", err)
			}
			if got := want[PoolEnded](t, p.clientEvents()); got.State != proto.PoolBroken {
				t.Errorf("ended %+v", got)
			}
		})
	}
	// Acknowledgements for what is not known any more are ignored, as PowerShell does.
	p := openPair(t, true)
	if err := p.client.Receive(proto.Packet{Kind: proto.PacketDataAck, Target: id(42)}); err != nil {
		t.Errorf("an acknowledgement of an unknown pipeline: %v", err)
	}
}

func TestUnexpectedFromTheClientIsAMistakeOfIts(t *testing.T) {
	message := func(m proto.Message, target clixml.GUID) proto.Packet {
		body, err := proto.AppendBody(nil, &clixml.Encoder{}, m, clixml.NewVersion(2, 4))
		if err != nil {
			t.Fatal(err)
		}
		h := proto.MessageHeader{To: proto.ToServer, Type: m.Type(), Pool: id(99), Pipeline: target}
		return proto.Packet{Kind: proto.PacketData, Target: target, Data: proto.AppendFragments(nil, 77, proto.AppendMessage(nil, h, body), 0)}
	}
	for name, packet := range map[string]proto.Packet{
		"an acknowledgement":      {Kind: proto.PacketDataAck},
		"Signal of the session":   {Kind: proto.PacketSignal},
		"Command of the session":  {Kind: proto.PacketCommand},
		"Command twice":           {Kind: proto.PacketCommand, Target: id(1)},
		"second INIT":             message(&proto.InitRunspacePool{MinRunspaces: 1, MaxRunspaces: 1, Host: proto.NoHost()}, clixml.GUID{}),
		"CREATE twice":            message(&proto.CreatePipeline{Pipeline: *script("x")}, id(1)),
		"input not announced":     message(&proto.PipelineInput{}, id(1)),
		"answer to nothing":       message(&proto.HostResponse{CallID: 1, Method: proto.HostReadLine}, id(1)),
		"CONNECT":                 message(&proto.ConnectRunspacePool{}, clixml.GUID{}),
		"public key in 2.4":       message(&proto.PublicKey{}, clixml.GUID{}),
		"message of another pool": {Kind: proto.PacketData, Data: proto.AppendFragments(nil, 7, proto.AppendMessage(nil, proto.MessageHeader{Type: proto.MessageGetAvailableRunspaces, Pool: id(5)}, nil), 0)},
	} {
		p := openPair(t, true)
		if err := p.client.Create(id(1), script("x")); err != nil {
			t.Fatal(err)
		}
		p.pump()
		p.serverEvents()
		err := p.server.Receive(packet)
		if _, ok := errors.AsType[*proto.RemoteProtocolError](err); !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		events := p.serverEvents()
		if got := want[PoolEnded](t, events); got.State != proto.PoolBroken || got.Err == nil {
			t.Errorf("%s: ended %+v", name, got)
		}
		want[StopAsked](t, events)
	}
	early := NewServer(ServerConfig{})
	if err := early.Receive(proto.Packet{Kind: proto.PacketCommand, Target: id(1)}); err == nil {
		t.Error("a Command before the pool is open is accepted")
	}
}

func TestVersionsThatAreNotUnderstoodAreRefused(t *testing.T) {
	for _, answer := range []clixml.Version{clixml.NewVersion(2, 0), clixml.NewVersion(2, 5), clixml.NewVersion(3, 0)} {
		p := newPair(t, true)
		if err := p.client.Open(); err != nil {
			t.Fatal(err)
		}
		body, err := proto.AppendBody(nil, &clixml.Encoder{}, proto.NewSessionCapability(answer), answer)
		if err != nil {
			t.Fatal(err)
		}
		err = p.client.Receive(proto.Packet{Kind: proto.PacketData, Data: proto.AppendFragments(nil, 1, proto.AppendMessage(nil, proto.MessageHeader{To: proto.ToClient, Type: proto.MessageSessionCapability}, body), 0)})
		if err == nil || !strings.Contains(err.Error(), answer.String()) || !strings.Contains(err.Error(), "2.4") {
			t.Errorf("protocol %v: %v", answer, err)
		}
	}
}

func TestProtocol24IsForConfidentialTransportsOnly(t *testing.T) {
	for confidential, want := range map[bool]clixml.Version{true: clixml.NewVersion(2, 4), false: clixml.NewVersion(2, 3)} {
		p := openPair(t, confidential)
		if got := p.client.Version(); got != want || p.server.Version() != want {
			t.Errorf("confidential %t: protocol %v", confidential, got)
		}
	}
	p := openPair(t, true)
	pipeline := script("x")
	pipeline.Statements[0][0].Args = []proto.Arg{{Value: clixml.NewSecureString("pw").Value()}}
	if err := p.client.Create(id(1), pipeline); err != nil {
		t.Fatal(err)
	}
	p.pump()
	none[KeyNeeded](t, p.clientEvents())
	v := want[Created](t, p.serverEvents()).Pipeline.Statements[0][0].Args[0].Value
	s, _ := v.SecureString()
	if text, ok := s.Reveal(); !ok || text != "pw" {
		t.Errorf("it arrives as %q", text)
	}
}

func TestServersFirstAnswersComeInOrder(t *testing.T) {
	p := newPair(t, true)
	if err := p.client.Open(); err != nil {
		t.Fatal(err)
	}
	p.pump()
	var got []string
	for _, out := range p.toClient {
		if out.Kind != proto.PacketData {
			got = append(got, out.Kind.String())
			continue
		}
		h, _, err := proto.ParseMessage(out.Data[proto.FragmentHeaderSize:])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.Type.String())
	}
	if !slices.Equal(got, []string{"SESSION_CAPABILITY", "APPLICATION_PRIVATE_DATA", "RUNSPACEPOOL_STATE", "DataAck"}) {
		t.Errorf("the server answers %v", got)
	}
	data := want[PrivateData](t, p.clientEvents()).Data
	table, ok := data.Get("PSVersionTable")
	if !ok {
		t.Fatalf("private data %v", data)
	}
	for name, want := range map[string]string{"PSRemotingProtocolVersion": "2.4", "SerializationVersion": "1.1.0.1", "PSVersion": "7.6.0"} {
		if v, _ := table.Get(name); v.String() != want {
			t.Errorf("%s is %v", name, v)
		}
	}
	if d, _ := data.Dict(); len(d.Entries) != 1 {
		t.Errorf("there is more than PSVersionTable: %v", data)
	}
}

func TestLostTransportEndsEverythingOnce(t *testing.T) {
	p := openPair(t, true)
	if err := p.client.Create(id(1), script("x")); err != nil {
		t.Fatal(err)
	}
	p.pump()
	p.serverEvents()
	cause := errors.New("cable")
	p.client.Lost(cause)
	p.client.Lost(cause)
	events := p.clientEvents()
	if got := want[PipelineEnded](t, events); got.State != proto.PipelineFailed || !errors.Is(got.Cause, cause) {
		t.Errorf("ended %+v", got)
	}
	if got := want[PoolEnded](t, events); got.State != proto.PoolBroken || !errors.Is(got.Err, cause) {
		t.Errorf("pool ended %+v", got)
	}
	p.server.Lost(cause)
	want[StopAsked](t, p.serverEvents())
	if _, ok := p.server.NextPacket(0); ok {
		t.Error("the server still sends")
	}
}

func TestOneCountOfObjectsRunsOverTheSession(t *testing.T) {
	p := openPair(t, true)
	for n := byte(1); n <= 3; n++ {
		if err := p.client.Create(id(n), script("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := p.client.SetMin(1); err != nil {
			t.Fatal(err)
		}
	}
	p.pump()
	seen := map[uint64]bool{}
	for _, out := range p.toServer {
		for b := out.Data; len(b) > 0; {
			f, rest, err := proto.ParseFragment(b)
			if err != nil || seen[f.Object] {
				t.Fatalf("object %d again, %v", f.Object, err)
			}
			seen[f.Object], b = true, rest
		}
	}
	for n := range uint64(len(seen)) {
		if !seen[n+1] {
			t.Errorf("object %d of %d is missing", n+1, len(seen))
		}
	}
}

func TestLateMessagesOfAnEndedPipelineAreDropped(t *testing.T) {
	p := openPair(t, true)
	if err := p.client.Create(id(1), script("x")); err != nil {
		t.Fatal(err)
	}
	p.pump()
	if err := errors.Join(
		p.server.Record(id(1), proto.Record{Output: clixml.Int32(1)}), p.server.Finish(id(1), proto.PipelineCompleted, nil),
		p.server.send(id(1), &proto.PipelineOutput{Value: clixml.Int32(2)}), p.server.send(id(1), &proto.PipelineStateMessage{State: proto.PipelineFailed}),
	); err != nil {
		t.Fatal(err)
	}
	p.pump()
	if err := p.server.send(id(1), &proto.PipelineOutput{Value: clixml.Int32(3)}); err != nil {
		t.Fatal(err)
	}
	p.pump()
	events := p.clientEvents()
	want[Recorded](t, events)
	if got := want[PipelineEnded](t, events); got.State != proto.PipelineCompleted {
		t.Errorf("ended %+v", got)
	}
}

func TestServersRequestExchangesOneKeyHoweverManyAsk(t *testing.T) {
	p := openPair(t, false)
	ask := func() {
		t.Helper()
		if err := p.server.send(clixml.GUID{}, &proto.PublicKeyRequest{}); err != nil {
			t.Fatal(err)
		}
		p.pump()
	}
	ask()
	secret := script("x")
	secret.Statements[0][0].Args = []proto.Arg{{Value: clixml.NewSecureString("s").Value()}}
	if err := errors.Join(p.client.RequestKey(), p.client.Create(id(1), secret), p.client.Create(id(2), secret)); err != nil {
		t.Fatal(err)
	}
	ask()
	want[KeyNeeded](t, p.clientEvents())
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.client.ExchangeKey(key); err != nil {
		t.Fatal(err)
	}
	var local *proto.LocalProtocolError
	if err := p.client.ExchangeKey(key); !errors.As(err, &local) {
		t.Errorf("a second key: %v", err)
	}
	p.toServer = nil
	p.pump()
	keys := 0
	for _, out := range p.toServer {
		if h, _, err := proto.ParseMessage(out.Data[min(len(out.Data), proto.FragmentHeaderSize):]); err == nil && h.Type == proto.MessagePublicKey {
			keys++
		}
	}
	created := 0
	for _, e := range p.serverEvents() {
		if _, ok := e.(Created); ok {
			created++
		}
	}
	if keys != 1 || created != 2 {
		t.Errorf("%d keys sent, %d pipelines created", keys, created)
	}
	none[KeyNeeded](t, p.clientEvents())
}
