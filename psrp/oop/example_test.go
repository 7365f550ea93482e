package oop_test

import (
	"fmt"

	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

func Example() {
	line := oop.AppendPacket(nil, proto.Packet{Kind: proto.PacketDataAck})
	fmt.Print(string(line))
	p, err := oop.ParsePacket(line[:len(line)-1])
	fmt.Println(p.Kind, err)
	// Output:
	// <DataAck PSGuid='00000000-0000-0000-0000-000000000000' />
	// DataAck <nil>
}
