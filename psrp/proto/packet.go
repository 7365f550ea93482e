package proto

import "example.com/quire/psrp/clixml"

// PacketKind is what a transport carries: the eight lines of the out-of-process framing, to which
// other transports map their own operations.
type PacketKind uint8

// The packets. Acknowledgements flow from the server to the client only.
const (
	PacketData PacketKind = iota + 1
	PacketDataAck
	PacketCommand
	PacketCommandAck
	PacketSignal
	PacketSignalAck
	PacketClose
	PacketCloseAck
	// PacketFault is the loss of one target alone, which only WSMan has.
	PacketFault
)

var packetNames = [...]string{
	PacketData: "Data", PacketDataAck: "DataAck", PacketCommand: "Command", PacketCommandAck: "CommandAck",
	PacketSignal: "Signal", PacketSignalAck: "SignalAck", PacketClose: "Close", PacketCloseAck: "CloseAck",
	PacketFault: "Fault",
}

// String returns the packet's element name in the out-of-process framing.
func (k PacketKind) String() string {
	if k > 0 && int(k) < len(packetNames) {
		return packetNames[k]
	}
	return "PacketKind(?)"
}

// Stream is the priority of Data.
type Stream uint8

// The two streams of a target.
const (
	StreamDefault        Stream = iota // "Default"; WSMan "stdin" and "stdout"
	StreamPromptResponse               // "PromptResponse"; WSMan "pr": answers to host calls
)

// String returns the name in the out-of-process framing.
func (s Stream) String() string {
	if s == StreamPromptResponse {
		return "PromptResponse"
	}
	return "Default"
}

// Packet is what one Send or Recv of a transport moves.
type Packet struct {
	Kind   PacketKind
	Stream Stream      // of Data
	Target clixml.GUID // the pipeline; zero is the pool
	// Data holds whole fragments when it is sent, and any cut of a target's byte stream when it is
	// received. It may be reused by its owner after the call that passed it.
	Data []byte
	Err  error // of PacketFault
}

// TransportProperties are what a session needs to know of its transport.
type TransportProperties struct {
	// MaxPayload is the most bytes of Data; 0 means 32 KiB, PowerShell's fragment size.
	MaxPayload int
	// Confidential says that nobody reads along, as over SSH. Only then is protocol 2.4 spoken,
	// which sends SecureStrings in the clear of the transport.
	Confidential bool
	// MaxVersion is the highest protocol version the transport may carry; zero means the highest
	// there is.
	MaxVersion clixml.Version
}

// DefaultPayload is PowerShell's size of a fragment with its header.
const DefaultPayload = 32 << 10

// Direction is who sent something.
type Direction uint8

// The directions.
const (
	ToServer Direction = iota
	ToClient
)

// String returns "to server" or "to client".
func (d Direction) String() string {
	if d == ToClient {
		return "to client"
	}
	return "to server"
}

// Tracer is told of each message that is sent or received. It is called by whoever drives the
// session, must not keep body, and should mask what ParseMessage would show of secrets.
type Tracer interface {
	TraceMessage(dir Direction, h MessageHeader, body []byte)
}
