//go:build !race

package oop_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

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
