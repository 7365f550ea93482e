package machine

import (
	"bytes"
	"errors"
	"slices"
	"strings"
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

// The client hears that the server knows of the pipeline, and stops it before, or while, what it is
// to run goes out.
func TestStopBeforeTheCreationIsSentEndsAtOnce(t *testing.T) {
	for name, fragments := range map[string]int{"none of it": 0, "two fragments": 2} {
		t.Run(name, func(t *testing.T) {
			p := openPair(t, true)
			if err := p.client.Create(id(1), script(strings.Repeat("x", 4000))); err != nil {
				t.Fatal(err)
			}
			carry := func(kind proto.PacketKind) {
				out, ok := p.client.NextPacket(256)
				if !ok || out.Kind != kind {
					t.Fatalf("the client sends %v, want %v", out.Kind, kind)
				}
				ack := errors.Join(p.server.Receive(out))
				if in, ok := p.server.NextPacket(0); ok {
					ack = errors.Join(ack, p.client.Receive(in))
				}
				if ack != nil {
					t.Fatal(ack)
				}
			}
			carry(proto.PacketCommand)
			for range fragments {
				carry(proto.PacketData)
			}
			if err := p.client.Stop(id(1)); err != nil {
				t.Fatal(err)
			}
			events := p.clientEvents()
			if got := want[PipelineEnded](t, events); got.State != proto.PipelineStopped {
				t.Errorf("ended %+v", got)
			}
			p.toServer = nil
			p.pump()
			want[PipelineClosed](t, p.clientEvents())
			none[Created](t, p.serverEvents())
			if len(p.toServer) != 1 || p.toServer[0].Kind != proto.PacketClose {
				t.Errorf("the client sent %v", p.toServer)
			}
		})
	}
}

// A client that signals before it has said what to run waits for the end: the server tells it, and
// does not run what comes then.
func TestSignalBeforeTheCreationEndsAsStopped(t *testing.T) {
	p := openPair(t, true)
	if err := p.client.Create(id(1), script("x")); err != nil {
		t.Fatal(err)
	}
	give := func(out proto.Packet) (sent []proto.PacketKind) {
		if err := p.server.Receive(out); err != nil {
			t.Fatal(err)
		}
		for in, ok := p.server.NextPacket(0); ok; in, ok = p.server.NextPacket(0) {
			sent = append(sent, in.Kind)
			if in.Kind == proto.PacketSignalAck {
				continue // the client has not signalled: the packet stands for another client's
			}
			if err := p.client.Receive(in); err != nil {
				t.Fatal(err)
			}
		}
		return sent
	}
	command, _ := p.client.NextPacket(0)
	give(command)
	creation, _ := p.client.NextPacket(0)
	creation.Data = bytes.Clone(creation.Data)
	if got := give(proto.Packet{Kind: proto.PacketSignal, Target: id(1)}); !slices.Equal(got, []proto.PacketKind{proto.PacketData, proto.PacketSignalAck}) {
		t.Errorf("the server answers %v", got)
	}
	if got := give(creation); !slices.Equal(got, []proto.PacketKind{proto.PacketDataAck}) {
		t.Errorf("the server answers what comes then with %v", got)
	}
	if got := want[PipelineEnded](t, p.clientEvents()); got.State != proto.PipelineStopped || got.Error == nil {
		t.Errorf("ended %+v", got)
	}
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
