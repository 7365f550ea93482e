package proto

import (
	"encoding/base64"

	"example.com/quire/psrp/clixml"
)

// The protocol versions (MS-PSRP 2.2.2.1) and what they add: 2.2 the Merge fields of each stream
// and no key exchange on the server's initiative, 2.3 the information stream and
// RESET_RUNSPACE_STATE, 2.4 SecureStrings without a session key.
func versions() (v21, v22, v23, v24 clixml.Version) {
	return clixml.NewVersion(2, 1), clixml.NewVersion(2, 2), clixml.NewVersion(2, 3), clixml.NewVersion(2, 4)
}

// SessionCapability is the first message each way.
type SessionCapability struct {
	Protocol      clixml.Version // what the sender speaks
	PSVersion     clixml.Version // always 2.0
	Serialization clixml.Version // always 1.1.0.1
	TimeZone      []byte         // a .NET binary TimeZone of old clients, ignored
}

// NewSessionCapability returns the capability of a side that speaks protocol v.
func NewSessionCapability(v clixml.Version) *SessionCapability {
	return &SessionCapability{Protocol: v, PSVersion: clixml.NewVersion(2, 0), Serialization: clixml.Version{1, 1, 0, 1}}
}

// Type returns SESSION_CAPABILITY.
func (*SessionCapability) Type() MessageType { return MessageSessionCapability }

func (m *SessionCapability) body(clixml.Version) clixml.Value {
	p := []clixml.Property{
		prop("protocolversion", m.Protocol.Value()), prop("PSVersion", m.PSVersion.Value()),
		prop("SerializationVersion", m.Serialization.Value()),
	}
	if m.TimeZone != nil {
		p = append(p, prop("TimeZone", clixml.Bytes(m.TimeZone)))
	}
	return object(p...)
}

func decodeSessionCapability(f *fields) Message {
	m := &SessionCapability{
		Protocol: f.version("protocolversion"), PSVersion: f.version("PSVersion"), Serialization: f.version("SerializationVersion"),
	}
	m.TimeZone, _ = f.opt("TimeZone").Bytes()
	return m
}

// InitRunspacePool asks for a pool.
type InitRunspacePool struct {
	MinRunspaces, MaxRunspaces int32
	ThreadOptions              ThreadOptions
	ApartmentState             ApartmentState
	ApplicationArguments       clixml.Value // a dictionary, or null
	Host                       HostInfo
}

// Type returns INIT_RUNSPACEPOOL.
func (*InitRunspacePool) Type() MessageType { return MessageInitRunspacePool }

func (m *InitRunspacePool) body(clixml.Version) clixml.Value {
	return object(
		prop("MinRunspaces", clixml.Int32(m.MinRunspaces)), prop("MaxRunspaces", clixml.Int32(m.MaxRunspaces)),
		prop("PSThreadOptions", threadOptions.value(int32(m.ThreadOptions))),
		prop("ApartmentState", apartmentStates.value(m.ApartmentState.wire())),
		prop("ApplicationArguments", orNil(m.ApplicationArguments)), prop("HostInfo", m.Host.value()),
	)
}

func decodeInitRunspacePool(f *fields) Message {
	return &InitRunspacePool{
		MinRunspaces: f.int32("MinRunspaces"), MaxRunspaces: f.int32("MaxRunspaces"),
		ThreadOptions:        ThreadOptions(f.enum("PSThreadOptions", threadOptions)),
		ApartmentState:       ApartmentState(f.enum("ApartmentState", apartmentStates) + 1),
		ApplicationArguments: f.get("ApplicationArguments"),
		Host:                 hostInfoOf(f, f.get("HostInfo")),
	}
}

// PublicKey carries the client's RSA key, as a PUBLICKEYBLOB (MS-PSRP 2.2.2.3).
type PublicKey struct{ Blob []byte }

// Type returns PUBLIC_KEY.
func (*PublicKey) Type() MessageType { return MessagePublicKey }

func (m *PublicKey) body(clixml.Version) clixml.Value {
	return object(prop("PublicKey", clixml.String(base64.StdEncoding.EncodeToString(m.Blob))))
}

func decodePublicKey(f *fields) Message { return &PublicKey{Blob: f.blob("PublicKey")} }

func (f *fields) blob(name string) []byte {
	b, err := base64.StdEncoding.DecodeString(f.text(name))
	if err != nil {
		f.fail(name, "not base64")
	}
	return b
}

// EncryptedSessionKey answers with the session key, as a SIMPLEBLOB (MS-PSRP 2.2.2.4).
type EncryptedSessionKey struct{ Blob []byte }

// Type returns ENCRYPTED_SESSION_KEY.
func (*EncryptedSessionKey) Type() MessageType { return MessageEncryptedSessionKey }

func (m *EncryptedSessionKey) body(clixml.Version) clixml.Value {
	return object(prop("EncryptedSessionKey", clixml.String(base64.StdEncoding.EncodeToString(m.Blob))))
}

func decodeEncryptedSessionKey(f *fields) Message {
	return &EncryptedSessionKey{Blob: f.blob("EncryptedSessionKey")}
}

// PublicKeyRequest asks the client for its key; only servers before 2.2 send it.
type PublicKeyRequest struct{}

// Type returns PUBLIC_KEY_REQUEST.
func (*PublicKeyRequest) Type() MessageType { return MessagePublicKeyRequest }

func (*PublicKeyRequest) body(clixml.Version) clixml.Value { return clixml.String("") }

// ConnectRunspacePool asks to take over a disconnected pool.
type ConnectRunspacePool struct {
	HasLimits                  bool // the two numbers are sent
	MinRunspaces, MaxRunspaces int32
}

// Type returns CONNECT_RUNSPACEPOOL.
func (*ConnectRunspacePool) Type() MessageType { return MessageConnectRunspacePool }

func (m *ConnectRunspacePool) body(clixml.Version) clixml.Value {
	if !m.HasLimits {
		return clixml.String("")
	}
	return object(prop("MinRunspaces", clixml.Int32(m.MinRunspaces)), prop("MaxRunspaces", clixml.Int32(m.MaxRunspaces)))
}

func decodeConnectRunspacePool(f *fields) Message {
	m := &ConnectRunspacePool{}
	if f.opt("MinRunspaces").IsNil() || f.opt("MaxRunspaces").IsNil() {
		return m
	}
	m.HasLimits, m.MinRunspaces, m.MaxRunspaces = true, f.int32("MinRunspaces"), f.int32("MaxRunspaces")
	return m
}

// RunspacePoolInitData answers CONNECT_RUNSPACEPOOL.
type RunspacePoolInitData struct{ MinRunspaces, MaxRunspaces int32 }

// Type returns RUNSPACEPOOL_INIT_DATA.
func (*RunspacePoolInitData) Type() MessageType { return MessageRunspacePoolInitData }

func (m *RunspacePoolInitData) body(clixml.Version) clixml.Value {
	return object(prop("MinRunspaces", clixml.Int32(m.MinRunspaces)), prop("MaxRunspaces", clixml.Int32(m.MaxRunspaces)))
}

func decodeRunspacePoolInitData(f *fields) Message {
	return &RunspacePoolInitData{MinRunspaces: f.int32("MinRunspaces"), MaxRunspaces: f.int32("MaxRunspaces")}
}

// SetMaxRunspaces changes the pool's maximum.
type SetMaxRunspaces struct {
	Max    int32
	CallID int64
}

// Type returns SET_MAX_RUNSPACES.
func (*SetMaxRunspaces) Type() MessageType { return MessageSetMaxRunspaces }

func (m *SetMaxRunspaces) body(clixml.Version) clixml.Value {
	return object(prop("MaxRunspaces", clixml.Int32(m.Max)), prop("ci", clixml.Int64(m.CallID)))
}

// SetMinRunspaces changes the pool's minimum.
type SetMinRunspaces struct {
	Min    int32
	CallID int64
}

// Type returns SET_MIN_RUNSPACES.
func (*SetMinRunspaces) Type() MessageType { return MessageSetMinRunspaces }

func (m *SetMinRunspaces) body(clixml.Version) clixml.Value {
	return object(prop("MinRunspaces", clixml.Int32(m.Min)), prop("ci", clixml.Int64(m.CallID)))
}

// GetAvailableRunspaces asks how many runspaces are free.
type GetAvailableRunspaces struct{ CallID int64 }

// Type returns GET_AVAILABLE_RUNSPACES.
func (*GetAvailableRunspaces) Type() MessageType { return MessageGetAvailableRunspaces }

func (m *GetAvailableRunspaces) body(clixml.Version) clixml.Value {
	return object(prop("ci", clixml.Int64(m.CallID)))
}

// ResetRunspaceState puts a pool of one runspace back to its beginnings (protocol 2.3).
type ResetRunspaceState struct{ CallID int64 }

// Type returns RESET_RUNSPACE_STATE.
func (*ResetRunspaceState) Type() MessageType { return MessageResetRunspaceState }

func (m *ResetRunspaceState) body(clixml.Version) clixml.Value {
	return object(prop("ci", clixml.Int64(m.CallID)))
}

// RunspaceAvailability answers the four requests above.
type RunspaceAvailability struct {
	CallID   int64
	IsCount  bool  // the answer is Count, not Accepted
	Count    int64 // of GET_AVAILABLE_RUNSPACES
	Accepted bool  // of the others
}

// Type returns RUNSPACE_AVAILABILITY.
func (*RunspaceAvailability) Type() MessageType { return MessageRunspaceAvailability }

func (m *RunspaceAvailability) body(clixml.Version) clixml.Value {
	v := clixml.Bool(m.Accepted)
	if m.IsCount {
		v = clixml.Int(m.Count)
	}
	return object(prop("SetMinMaxRunspacesResponse", v), prop("ci", clixml.Int64(m.CallID)))
}

func decodeRunspaceAvailability(f *fields) Message {
	m := &RunspaceAvailability{CallID: f.int64("ci")}
	v := f.get("SetMinMaxRunspacesResponse")
	if b, ok := v.Base().Bool(); ok {
		m.Accepted = b
		return m
	}
	n, ok := v.Int()
	if !ok && f.err == nil {
		f.fail("SetMinMaxRunspacesResponse", "%v, neither truth value nor number", v.Kind())
	}
	m.IsCount, m.Count = true, n
	return m
}

// RunspacePoolState announces the pool's state.
type RunspacePoolState struct {
	State PoolState
	Error *ErrorRecord // why, of Broken
}

// Type returns RUNSPACEPOOL_STATE.
func (*RunspacePoolState) Type() MessageType { return MessageRunspacePoolState }

func (m *RunspacePoolState) body(clixml.Version) clixml.Value {
	return stateBody("RunspaceState", int32(m.State), m.Error)
}

func stateBody(name string, n int32, e *ErrorRecord) clixml.Value {
	p := []clixml.Property{prop(name, clixml.Int32(n))}
	if e != nil {
		p = append(p, prop("ExceptionAsErrorRecord", e.value()))
	}
	return object(p...)
}

func decodeRunspacePoolState(f *fields) Message {
	m := &RunspacePoolState{State: PoolState(f.int32("RunspaceState"))}
	if f.err == nil && (m.State < PoolBeforeOpen || m.State > PoolConnecting) {
		f.fail("RunspaceState", "unknown state %d", m.State)
	}
	m.Error = f.reason()
	return m
}

func (f *fields) reason() *ErrorRecord {
	v := f.opt("ExceptionAsErrorRecord")
	if v.IsNil() {
		return nil
	}
	return errorRecordOf(f, v)
}

// PipelineStateMessage announces a pipeline's state.
type PipelineStateMessage struct {
	State PipelineState
	Error *ErrorRecord // why, of Failed and mostly of Stopped
}

// Type returns PIPELINE_STATE.
func (*PipelineStateMessage) Type() MessageType { return MessagePipelineState }

func (m *PipelineStateMessage) body(clixml.Version) clixml.Value {
	return stateBody("PipelineState", int32(m.State), m.Error)
}

func decodePipelineState(f *fields) Message {
	m := &PipelineStateMessage{State: PipelineState(f.int32("PipelineState"))}
	if f.err == nil && (m.State < PipelineNotStarted || m.State > PipelineDisconnected) {
		f.fail("PipelineState", "unknown state %d", m.State)
	}
	m.Error = f.reason()
	return m
}

// ApplicationPrivateData tells the client of the server; PSVersionTable is its usual key.
type ApplicationPrivateData struct{ Data clixml.Value }

// Type returns APPLICATION_PRIVATE_DATA.
func (*ApplicationPrivateData) Type() MessageType { return MessageApplicationPrivateData }

func (m *ApplicationPrivateData) body(clixml.Version) clixml.Value {
	return object(prop("ApplicationPrivateData", orNil(m.Data)))
}

// UserEvent is an event that a script of the server forwarded.
type UserEvent struct {
	EventIdentifier  int32
	SourceIdentifier string
	TimeGenerated    clixml.Value // a DateTime
	Sender           clixml.Value
	SourceArgs       clixml.Value // a list, or null
	MessageData      clixml.Value
	ComputerName     string // empty from 7.x: the client knows its host
	RunspaceID       clixml.GUID
	Raw              clixml.Value
}

// Type returns USER_EVENT.
func (*UserEvent) Type() MessageType { return MessageUserEvent }

func (m *UserEvent) body(clixml.Version) clixml.Value {
	return object(
		prop("PSEventArgs.EventIdentifier", clixml.Int32(m.EventIdentifier)),
		prop("PSEventArgs.SourceIdentifier", clixml.String(m.SourceIdentifier)),
		prop("PSEventArgs.TimeGenerated", orNil(m.TimeGenerated)), prop("PSEventArgs.Sender", orNil(m.Sender)),
		prop("PSEventArgs.SourceArgs", orNil(m.SourceArgs)), prop("PSEventArgs.MessageData", orNil(m.MessageData)),
		prop("PSEventArgs.ComputerName", textOrNil(m.ComputerName)), prop("PSEventArgs.RunspaceId", m.RunspaceID.Value()),
	)
}

func decodeUserEvent(f *fields) Message {
	m := &UserEvent{
		EventIdentifier: f.int32("PSEventArgs.EventIdentifier"), SourceIdentifier: f.optText("PSEventArgs.SourceIdentifier"),
		TimeGenerated: f.get("PSEventArgs.TimeGenerated"), Sender: f.get("PSEventArgs.Sender"),
		SourceArgs: f.get("PSEventArgs.SourceArgs"), MessageData: f.get("PSEventArgs.MessageData"),
		ComputerName: f.optText("PSEventArgs.ComputerName"), Raw: f.v,
	}
	v := f.get("PSEventArgs.RunspaceId")
	id, ok := v.Base().GUID()
	if !ok && f.err == nil {
		f.fail("PSEventArgs.RunspaceId", "%v, not a GUID", v.Kind())
	}
	m.RunspaceID = id
	return m
}
