package proto

import (
	"encoding/binary"
	"errors"
	"fmt"

	"example.com/quire/psrp/clixml"
)

// MessageType is the number of a message (MS-PSRP 2.2.1).
type MessageType uint32

// The messages, by the names of MS-PSRP.
const (
	MessageSessionCapability        MessageType = 0x00010002
	MessageInitRunspacePool         MessageType = 0x00010004
	MessagePublicKey                MessageType = 0x00010005
	MessageEncryptedSessionKey      MessageType = 0x00010006
	MessagePublicKeyRequest         MessageType = 0x00010007
	MessageConnectRunspacePool      MessageType = 0x00010008
	MessageSetMaxRunspaces          MessageType = 0x00021002
	MessageSetMinRunspaces          MessageType = 0x00021003
	MessageRunspaceAvailability     MessageType = 0x00021004
	MessageRunspacePoolState        MessageType = 0x00021005
	MessageCreatePipeline           MessageType = 0x00021006
	MessageGetAvailableRunspaces    MessageType = 0x00021007
	MessageUserEvent                MessageType = 0x00021008
	MessageApplicationPrivateData   MessageType = 0x00021009
	MessageGetCommandMetadata       MessageType = 0x0002100A
	MessageRunspacePoolInitData     MessageType = 0x0002100B
	MessageResetRunspaceState       MessageType = 0x0002100C
	MessageRunspacePoolHostCall     MessageType = 0x00021100
	MessageRunspacePoolHostResponse MessageType = 0x00021101
	MessagePipelineInput            MessageType = 0x00041002
	MessageEndOfPipelineInput       MessageType = 0x00041003
	MessagePipelineOutput           MessageType = 0x00041004
	MessageErrorRecord              MessageType = 0x00041005
	MessagePipelineState            MessageType = 0x00041006
	MessageDebugRecord              MessageType = 0x00041007
	MessageVerboseRecord            MessageType = 0x00041008
	MessageWarningRecord            MessageType = 0x00041009
	MessageProgressRecord           MessageType = 0x00041010
	MessageInformationRecord        MessageType = 0x00041011
	MessagePipelineHostCall         MessageType = 0x00041100
	MessagePipelineHostResponse     MessageType = 0x00041101
)

// senders says who may send a message.
type senders uint8

const (
	fromClient senders = 1 << iota
	fromServer
)

type messageInfo struct {
	t        MessageType
	name     string
	from     senders
	pipeline bool // the message bears a pipeline's identifier
	decode   func(*fields) Message
}

// messages is the one table of message types: name, sender, scope, how the body is read.
var messages = [...]messageInfo{
	{MessageSessionCapability, "SESSION_CAPABILITY", fromClient | fromServer, false, decodeSessionCapability},
	{MessageInitRunspacePool, "INIT_RUNSPACEPOOL", fromClient, false, decodeInitRunspacePool},
	{MessagePublicKey, "PUBLIC_KEY", fromClient, false, decodePublicKey},
	{MessageEncryptedSessionKey, "ENCRYPTED_SESSION_KEY", fromServer, false, decodeEncryptedSessionKey},
	{MessagePublicKeyRequest, "PUBLIC_KEY_REQUEST", fromServer, false, func(*fields) Message { return &PublicKeyRequest{} }},
	{MessageConnectRunspacePool, "CONNECT_RUNSPACEPOOL", fromClient, false, decodeConnectRunspacePool},
	{MessageSetMaxRunspaces, "SET_MAX_RUNSPACES", fromClient, false, func(f *fields) Message {
		return &SetMaxRunspaces{Max: f.int32("MaxRunspaces"), CallID: f.int64("ci")}
	}},
	{MessageSetMinRunspaces, "SET_MIN_RUNSPACES", fromClient, false, func(f *fields) Message {
		return &SetMinRunspaces{Min: f.int32("MinRunspaces"), CallID: f.int64("ci")}
	}},
	{MessageRunspaceAvailability, "RUNSPACE_AVAILABILITY", fromServer, false, decodeRunspaceAvailability},
	{MessageRunspacePoolState, "RUNSPACEPOOL_STATE", fromServer, false, decodeRunspacePoolState},
	{MessageCreatePipeline, "CREATE_PIPELINE", fromClient, true, decodeCreatePipeline},
	{MessageGetAvailableRunspaces, "GET_AVAILABLE_RUNSPACES", fromClient, false, func(f *fields) Message { return &GetAvailableRunspaces{CallID: f.int64("ci")} }},
	{MessageUserEvent, "USER_EVENT", fromServer, false, decodeUserEvent},
	{MessageApplicationPrivateData, "APPLICATION_PRIVATE_DATA", fromServer, false, func(f *fields) Message { return &ApplicationPrivateData{Data: f.get("ApplicationPrivateData")} }},
	{MessageGetCommandMetadata, "GET_COMMAND_METADATA", fromClient, true, decodeGetCommandMetadata},
	{MessageRunspacePoolInitData, "RUNSPACEPOOL_INIT_DATA", fromServer, false, decodeRunspacePoolInitData},
	{MessageResetRunspaceState, "RESET_RUNSPACE_STATE", fromClient, false, func(f *fields) Message { return &ResetRunspaceState{CallID: f.int64("ci")} }},
	{MessageRunspacePoolHostCall, "RUNSPACEPOOL_HOST_CALL", fromServer, false, func(f *fields) Message { return decodeHostCall(f, true) }},
	{MessageRunspacePoolHostResponse, "RUNSPACEPOOL_HOST_RESPONSE", fromClient, false, func(f *fields) Message { return decodeHostResponse(f, true) }},
	{MessagePipelineInput, "PIPELINE_INPUT", fromClient, true, func(f *fields) Message { return &PipelineInput{Value: f.v} }},
	{MessageEndOfPipelineInput, "END_OF_PIPELINE_INPUT", fromClient, true, func(*fields) Message { return &EndOfPipelineInput{} }},
	{MessagePipelineOutput, "PIPELINE_OUTPUT", fromServer, true, func(f *fields) Message { return &PipelineOutput{Value: f.v} }},
	{MessageErrorRecord, "ERROR_RECORD", fromServer, true, func(f *fields) Message { return errorRecordOf(f, f.v) }},
	{MessagePipelineState, "PIPELINE_STATE", fromServer, true, decodePipelineState},
	{MessageDebugRecord, "DEBUG_RECORD", fromServer, true, func(f *fields) Message { return decodeInformational(f, RecordDebug) }},
	{MessageVerboseRecord, "VERBOSE_RECORD", fromServer, true, func(f *fields) Message { return decodeInformational(f, RecordVerbose) }},
	{MessageWarningRecord, "WARNING_RECORD", fromServer, true, func(f *fields) Message { return decodeInformational(f, RecordWarning) }},
	{MessageProgressRecord, "PROGRESS_RECORD", fromServer, true, decodeProgress},
	{MessageInformationRecord, "INFORMATION_RECORD", fromServer, true, decodeInformation},
	{MessagePipelineHostCall, "PIPELINE_HOST_CALL", fromServer, true, func(f *fields) Message { return decodeHostCall(f, false) }},
	{MessagePipelineHostResponse, "PIPELINE_HOST_RESPONSE", fromClient, true, func(f *fields) Message { return decodeHostResponse(f, false) }},
}

// messageSlots say where a type stands in messages, by the bits in which the numbers differ.
var messageSlots = func() (slots [512]uint8) {
	for i := range messages {
		slots[messages[i].t.slot()] = uint8(i)
	}
	return slots
}()

func (t MessageType) slot() MessageType { return t>>16&7<<6 | t>>8&1<<5 | t&31 }

// noMessage is what a type that MS-PSRP does not have is: sent by nobody.
var noMessage messageInfo

// info finds a type in the table. What is not there has the slot of another type, or none.
func (t MessageType) info() (m *messageInfo, ok bool) {
	if m = &messages[messageSlots[t.slot()]]; m.t == t {
		return m, true
	}
	return &noMessage, false
}

// String returns the name of MS-PSRP, or the number of an unknown type.
func (t MessageType) String() string {
	if m, ok := t.info(); ok {
		return m.name
	}
	return fmt.Sprintf("message type 0x%08X", uint32(t))
}

// Pipeline reports whether the message belongs to a pipeline rather than to the pool.
func (t MessageType) Pipeline() bool { m, _ := t.info(); return m.pipeline }

// SentBy reports whether that side may send the message.
func (t MessageType) SentBy(d Direction) bool {
	m, _ := t.info()
	return m.sentBy(d)
}

func (m *messageInfo) sentBy(d Direction) bool {
	if d == ToServer {
		return m.from&fromClient != 0
	}
	return m.from&fromServer != 0
}

// MessageHeaderSize is the size of a message's header (MS-PSRP 2.2.1).
const MessageHeaderSize = 40

// MessageHeader is the header of a message.
type MessageHeader struct {
	To       Direction
	Type     MessageType
	Pool     clixml.GUID // RPID; servers send zero in SESSION_CAPABILITY and ENCRYPTED_SESSION_KEY
	Pipeline clixml.GUID // PID; zero for messages of the pool
}

// AppendMessageHeader appends the 40 bytes.
func AppendMessageHeader(dst []byte, h MessageHeader) []byte {
	to := uint32(2)
	if h.To == ToClient {
		to = 1
	}
	dst = binary.LittleEndian.AppendUint32(dst, to)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.Type))
	dst = h.Pool.AppendWire(dst)
	return h.Pipeline.AppendWire(dst)
}

// AppendMessage appends a message: header, then body as it is.
func AppendMessage(dst []byte, h MessageHeader, body []byte) []byte {
	return append(AppendMessageHeader(dst, h), body...)
}

// ParseMessage reads a whole message. body is a view of b. A type that MS-PSRP does not have is an
// error, as is one that the sender may not send.
func ParseMessage(b []byte) (h MessageHeader, body []byte, err error) {
	if len(b) < MessageHeaderSize {
		return h, nil, messageError(0, 0, fmt.Sprintf("%d bytes, less than a header", len(b)))
	}
	h.Type = MessageType(binary.LittleEndian.Uint32(b[4:]))
	switch to := binary.LittleEndian.Uint32(b); to {
	case 1:
		h.To = ToClient
	case 2:
		h.To = ToServer
	default:
		return h, nil, messageError(h.Type, 0, fmt.Sprintf("destination %d", to))
	}
	h.Pool = clixml.GUIDFromWire([16]byte(b[8:24]))
	h.Pipeline = clixml.GUIDFromWire([16]byte(b[24:40]))
	info, ok := h.Type.info()
	switch {
	case !ok:
		return h, nil, &RemoteProtocolError{Stage: "message", Target: h.Pipeline, Offset: 4, Err: fmt.Errorf("unknown %v", h.Type)}
	case !info.sentBy(h.To):
		return h, nil, messageError(h.Type, 0, "not a message "+h.To.String())
	case info.pipeline == h.Pipeline.IsZero():
		return h, nil, messageError(h.Type, 24, fmt.Sprintf("pipeline %v", h.Pipeline))
	}
	return h, b[MessageHeaderSize:], nil
}

func messageError(t MessageType, offset int64, reason string) error {
	return &RemoteProtocolError{Stage: "message", Type: t, Offset: offset, Err: errors.New(reason)}
}

// Message is one of the 31 messages. Each has a struct in this package.
type Message interface {
	Type() MessageType
	// body returns the CLIXML of the message; Version gates what older peers do not know.
	body(v clixml.Version) clixml.Value
}

// AppendBody appends the body of m as it is sent in protocol v: a byte order mark and CLIXML, or
// nothing for a null output or input and for the end of input, as PowerShell does.
func AppendBody(dst []byte, e *clixml.Encoder, m Message, v clixml.Version) ([]byte, error) {
	val := m.body(v)
	if val.IsNil() {
		switch m.Type() {
		case MessageEndOfPipelineInput, MessagePipelineInput, MessagePipelineOutput:
			return dst, nil
		}
	}
	out, err := e.AppendValue(append(dst, 0xEF, 0xBB, 0xBF), val)
	if err != nil {
		return dst, fmt.Errorf("psrp: encode %v: %w", m.Type(), err)
	}
	return out, nil
}

// DecodeMessage reads the body of a message. Errors are *RemoteProtocolError.
func DecodeMessage(t MessageType, body []byte, d *clixml.Decoder) (Message, error) {
	info, ok := t.info()
	if !ok {
		return nil, &RemoteProtocolError{Stage: "decode", Offset: -1, Err: fmt.Errorf("unknown %v", t)}
	}
	v, err := d.Decode(body)
	if err != nil {
		at := int64(-1)
		if syntax, ok := errors.AsType[*clixml.SyntaxError](err); ok {
			at = syntax.Offset
		}
		return nil, &RemoteProtocolError{Stage: "decode", Type: t, Offset: at, Err: err}
	}
	f := fields{v: v}
	m := info.decode(&f)
	if f.err != nil {
		return nil, &RemoteProtocolError{Stage: "decode", Type: t, Offset: -1, Err: f.err}
	}
	return m, nil
}
