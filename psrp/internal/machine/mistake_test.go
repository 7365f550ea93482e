package machine

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

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
