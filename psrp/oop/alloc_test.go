//go:build !race

package oop_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

func TestSendIsOneWriteWithoutAllocation(t *testing.T) {
	s := &stream{}
	c := oop.NewConn(s, oop.Client, oop.Options{})
	p := proto.Packet{Kind: proto.PacketData, Data: make([]byte, 4096)}
	send := func() {
		s.Reset()
		if err := c.Send(context.Background(), p); err != nil {
			t.Fatal(err)
		}
	}
	send()
	if s.writes != 1 || !strings.HasSuffix(s.String(), base64.StdEncoding.EncodeToString(p.Data)+"</Data>\n") {
		t.Errorf("%d writes of %.80q", s.writes, s.String())
	}
	if n := testing.AllocsPerRun(50, send); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCommandsAreSentAndReceivedWithoutAllocation(t *testing.T) {
	p := proto.Packet{Kind: proto.PacketCommand, Target: clixml.GUID{1, 2, 3}}
	line := oop.AppendPacket(nil, p)
	out := &stream{}
	sender := oop.NewConn(out, oop.Client, oop.Options{})
	receiver := oop.NewConn(&stream{Reader: &repeat{b: line}}, oop.Server, oop.Options{})
	for name, f := range map[string]func(){
		"sent": func() {
			out.Reset()
			if err := sender.Send(context.Background(), p); err != nil {
				t.Fatal(err)
			}
		},
		"received": func() {
			if got, err := receiver.Recv(context.Background()); err != nil || got.Kind != p.Kind || got.Target != p.Target {
				t.Fatal(got, err)
			}
		},
	} {
		f()
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s with %v allocations", name, n)
		}
	}
}

// TestRoundTripOfAnObjectAllocatesLittle takes an object to its line and all the way back.
func TestRoundTripOfAnObjectAllocatesLittle(t *testing.T) {
	for properties, most := range map[int]float64{1: 12, 20: 16} {
		o := clixml.NewCustomObject()
		for i := range properties {
			o.Extended.Set(fmt.Sprint("Property", i), clixml.String("some text"))
		}
		var e clixml.Encoder
		var d clixml.Decoder
		var a proto.Assembler
		h := proto.MessageHeader{To: proto.ToClient, Type: proto.MessagePipelineOutput, Pipeline: clixml.GUID{1}}
		body, message, fragments := make([]byte, 0, 8192), make([]byte, 0, 8192), make([]byte, 0, 8192)
		wire := &stream{}
		wire.Reader = &wire.Buffer
		sender := oop.NewConn(wire, oop.Server, oop.Options{})
		receiver := oop.NewConn(wire, oop.Client, oop.Options{})
		n := testing.AllocsPerRun(100, func() {
			var err error
			if body, err = e.AppendValue(body[:0], o.Value()); err != nil {
				t.Fatal(err)
			}
			message = proto.AppendMessage(message[:0], h, body)
			fragments = proto.AppendFragments(fragments[:0], 1, message, 0)
			if err = sender.Send(context.Background(), proto.Packet{Kind: proto.PacketData, Data: fragments}); err != nil {
				t.Fatal(err)
			}
			p, err := receiver.Recv(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			a.Add(p.Data)
			m, _, err := a.Next()
			if err != nil {
				t.Fatal(err)
			}
			_, back, err := proto.ParseMessage(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Decode(back); err != nil {
				t.Fatal(err)
			}
			_, _, _ = a.Next()
		})
		if n > most {
			t.Errorf("%d properties: %v allocations, want at most %v", properties, n, most)
		}
	}
}

func TestReceiveDoesNotAllocate(t *testing.T) {
	line := oop.AppendPacket(nil, proto.Packet{Kind: proto.PacketData, Data: make([]byte, 4096)})
	c := oop.NewConn(&stream{Reader: &repeat{b: line}}, oop.Client, oop.Options{})
	if n := testing.AllocsPerRun(200, func() {
		if _, err := c.Recv(context.Background()); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
