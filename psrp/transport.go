package psrp

import (
	"context"

	"example.com/quire/psrp/proto"
)

// Transport moves packets between the two sides of a session; oop.Conn is one. Send and Recv are
// called by one goroutine each, side by side.
type Transport interface {
	// Send hands a packet over; p.Data may be reused on return. That the peer has taken it is an
	// acknowledgement from Recv.
	Send(ctx context.Context, p proto.Packet) error
	// Recv returns the next packet. Its Data is valid until the next call. An error is the end of
	// the transport.
	Recv(ctx context.Context) (proto.Packet, error)
	Properties() proto.TransportProperties
	// Close ends the transport and frees a blocked Send and Recv.
	Close() error
}
