package machine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

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
