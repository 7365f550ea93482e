//go:build !race

package oop_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// The tests of this file compute for long in one goroutine, where the race detector takes ten times
// as long and finds nothing.

func TestLinesCutAnywhereAreJoined(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 700_000) // 11 MB, whose line has 15 MB
	var text []byte
	packets := []proto.Packet{
		{Kind: proto.PacketData, Data: []byte("one")}, {Kind: proto.PacketDataAck}, {Kind: proto.PacketData, Target: someID, Data: big}, {Kind: proto.PacketCloseAck},
	}
	for _, p := range packets {
		text = append(text, oop.AppendPacket(nil, p)...)
	}
	for name, r := range map[string]io.Reader{
		"whole":  bytes.NewReader(text),
		"half":   iotest.HalfReader(bytes.NewReader(text)),
		"crlf":   bytes.NewReader(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))),
		"single": iotest.OneByteReader(bytes.NewReader(text[:200])),
	} {
		t.Run(name, func(t *testing.T) {
			c := oop.NewConn(&stream{Reader: r}, oop.Client, oop.Options{})
			for _, want := range packets {
				got, err := c.Recv(t.Context())
				if name == "single" && errors.Is(err, io.EOF) {
					return
				}
				if err != nil || got.Kind != want.Kind || !bytes.Equal(got.Data, want.Data) {
					t.Fatalf("%v with %d bytes, %v", got.Kind, len(got.Data), err)
				}
			}
			_, err := c.Recv(t.Context())
			if e, ok := errors.AsType[*proto.TransportError](err); !ok || !errors.Is(err, io.EOF) || e.Phase != "receive" {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}
