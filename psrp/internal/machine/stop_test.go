package machine

import (
	"errors"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

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
