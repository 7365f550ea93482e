package machine

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// ServerConfig accepts a client's session.
type ServerConfig struct {
	Transport proto.TransportProperties
	// PrivateData returns what the client is told of this server, for the version agreed on: a
	// dictionary whose key PSVersionTable some clients read. Nil sends the least that they need.
	PrivateData func(v clixml.Version) clixml.Value
	Limits      Limits
	Tracer      proto.Tracer
}

// Server is the server's side of a session. See the package for how it is driven.
type Server struct {
	core
	config    ServerConfig
	out       queue[serverPacket]
	size      int // bytes of Data that wait to be sent
	in        proto.Assembler
	pipelines map[clixml.GUID]*serverPipe
	lastCall  int64
	owed      int // DataAck of the pool that wait for the answers
	hasKey    bool
	opened    bool // the client was told that its pool is open
	ended     bool // PoolEnded was told
	buffer    []byte
}

// serverPacket is a packet that waits: a control packet, or the fragments of one message.
type serverPacket struct {
	packet proto.Packet
	data   []outgoing // one message, or none
}

type serverPipe struct {
	id       clixml.GUID
	state    int
	in       proto.Assembler
	input    bool // PIPELINE_INPUT may come
	received int64
	held     bool // acknowledgements wait, which is back-pressure
	owed     int
	signal   int // SignalAck that wait for the end
	closing  int // CloseAck likewise
}

// NewServer returns a machine that waits for a client.
func NewServer(cfg ServerConfig) *Server {
	s := &Server{config: cfg, pipelines: map[clixml.GUID]*serverPipe{}}
	s.init(proto.ToClient, serverPool, cfg.Transport, cfg.Limits, cfg.Tracer)
	s.in = s.assembler()
	return s
}

// Queued returns how many bytes of messages wait to be sent.
func (s *Server) Queued() int { return s.size }

// Packets returns how many packets wait to be sent, a message with all its fragments for one.
func (s *Server) Packets() int { return s.out.len() }

func (s *Server) control(k proto.PacketKind, id clixml.GUID) {
	s.out.push(serverPacket{packet: proto.Packet{Kind: k, Target: id}})
}

func (s *Server) send(id clixml.GUID, m proto.Message) error {
	out, err := s.encode(m, id)
	if errors.Is(err, clixml.ErrNoCipher) {
		// A server makes the key itself and need not wait for the client to ask for it.
		if err = s.makeKey(); err == nil {
			out, err = s.encode(m, id)
		}
	}
	if err != nil {
		return &proto.LocalProtocolError{Op: "Send", State: err.Error()}
	}
	s.size += len(out.message)
	s.out.push(serverPacket{packet: proto.Packet{Kind: proto.PacketData, Target: id}, data: []outgoing{out}})
	return nil
}

func (s *Server) makeKey() error {
	if s.hasKey || s.state == spBeforeOpen {
		return nil
	}
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return fmt.Errorf("psrp: make a session key: %w", err)
	}
	s.key.key, s.hasKey = key, true
	s.useCipher(&s.key)
	return nil
}

// NextPacket returns the next packet to send, with at most limit bytes of Data (0 = what the
// transport takes). Its Data is valid until the next call.
func (s *Server) NextPacket(limit int) (proto.Packet, bool) {
	if s.out.len() == 0 {
		return proto.Packet{}, false
	}
	first := &s.out.rest()[0]
	p := first.packet
	if p.Kind != proto.PacketData {
		s.out.drop(1)
		return p, true
	}
	// One message after the other, a fragment a packet, as PowerShell's server does.
	var done int
	s.buffer, done = appendFragments(s.buffer[:0], first.data, min(cmp.Or(limit, s.payload), proto.DefaultPayload))
	p.Data = s.buffer
	if done == 1 {
		s.size -= len(first.data[0].message)
		s.out.drop(1)
	}
	return p, true
}

// Receive takes a packet from the transport. Its Data may be reused on return. An error has broken
// the session: what is left is to send the packets, deliver the events and end the transport.
func (s *Server) Receive(p proto.Packet) error {
	err := s.receive(p)
	if err != nil {
		s.fail(err)
	}
	return err
}

func (s *Server) receive(p proto.Packet) error {
	if s.state == spClosed {
		return nil
	}
	switch p.Kind {
	case proto.PacketData:
		if p.Target.IsZero() {
			return s.poolData(p)
		}
		return s.pipelineData(p)
	case proto.PacketCommand:
		return s.command(p)
	case proto.PacketSignal:
		return s.signal(p)
	case proto.PacketClose:
		if p.Target.IsZero() {
			if s.step(spRecvClose) == move {
				for _, pipe := range s.pipelines {
					if err := s.ask(pipe, siRecvClose); err != nil {
						return err
					}
				}
				s.tell(CloseAsked{})
			}
			return nil
		}
		return s.closePipeline(p)
	default:
		return packetError(p, "not a packet of a client")
	}
}

func (s *Server) poolData(p proto.Packet) error {
	s.in.Add(p.Data)
	defer s.tellDropped(&s.in, p.Target)
	for {
		message, ok, err := s.in.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if s.state == spBeforeOpen {
			s.pool = poolOf(message)
		}
		if err := s.poolMessage(message); err != nil {
			return err
		}
	}
	s.owed++
	s.payOwed()
	return nil
}

// poolOf reads which pool the client's first message is of.
func poolOf(message []byte) clixml.GUID {
	h, _, err := proto.ParseMessage(message)
	if err != nil {
		return clixml.GUID{}
	}
	return h.Pool
}

// payOwed acknowledges the pool's Data once what it asked for is answered.
func (s *Server) payOwed() {
	if len(s.requests) > 0 {
		return
	}
	for ; s.owed > 0; s.owed-- {
		s.control(proto.PacketDataAck, clixml.GUID{})
	}
}

func (s *Server) poolMessage(message []byte) error {
	h, body, err := s.header(message, clixml.GUID{})
	if err != nil {
		return err
	}
	ev := spRecvRequest
	switch h.Type {
	case proto.MessageSessionCapability:
		ev = spRecvCapability
	case proto.MessageInitRunspacePool:
		ev = spRecvInit
	}
	switch _, a := serverPool.next(s.state, ev); a {
	case ignored:
		return nil
	case forbidden:
		return s.stateError(h.Type, ev)
	}
	m, err := s.decode(h, body)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *proto.SessionCapability:
		return s.capability(m)
	case *proto.InitRunspacePool:
		return s.initialize(m)
	case *proto.PublicKey:
		return s.publicKey(m)
	case *proto.SetMaxRunspaces:
		return s.asked(m, m.CallID)
	case *proto.SetMinRunspaces:
		return s.asked(m, m.CallID)
	case *proto.GetAvailableRunspaces:
		return s.asked(m, m.CallID)
	case *proto.ResetRunspaceState:
		return s.asked(m, m.CallID)
	case *proto.HostResponse:
		return s.response(clixml.GUID{}, m)
	default:
		return &proto.RemoteProtocolError{Stage: "state", Type: h.Type, Offset: -1, Err: errors.New("not a request that this server takes")}
	}
}

func (s *Server) capability(m *proto.SessionCapability) error {
	theirs := m.Protocol
	if theirs.Compare(clixml.NewVersion(2, 0)) < 0 || theirs[0] != 2 {
		return &proto.RemoteProtocolError{
			Stage: "negotiate", Type: m.Type(), Offset: -1,
			Err: fmt.Errorf("the client speaks protocol %v; this server speaks 2.0 to %v", theirs, s.version),
		}
	}
	if theirs.Compare(s.version) < 0 {
		s.version = theirs
	}
	if !s.before(2, 4) {
		s.useCipher(clearCipher{})
	}
	s.step(spRecvCapability)
	return s.send(clixml.GUID{}, proto.NewSessionCapability(s.version))
}

func (s *Server) initialize(m *proto.InitRunspacePool) error {
	if m.MinRunspaces < 1 || m.MaxRunspaces < m.MinRunspaces {
		return &proto.RemoteProtocolError{
			Stage: "decode", Type: m.Type(), Offset: -1,
			Err: fmt.Errorf("a pool of %d to %d runspaces", m.MinRunspaces, m.MaxRunspaces),
		}
	}
	data := PrivateDataOf(s.version)
	if s.config.PrivateData != nil {
		data = s.config.PrivateData(s.version)
	}
	if err := s.send(clixml.GUID{}, &proto.ApplicationPrivateData{Data: data}); err != nil {
		return err
	}
	if err := s.send(clixml.GUID{}, &proto.RunspacePoolState{State: proto.PoolOpened}); err != nil {
		return err
	}
	s.step(spRecvInit)
	s.opened = true
	s.tell(Initialized{Version: s.version, Init: m})
	return nil
}

// PrivateDataOf is the least that real clients need to know of a server.
func PrivateDataOf(v clixml.Version) clixml.Value {
	dict := func(entries ...clixml.Entry) clixml.Value {
		return (&clixml.Object{TypeNames: clixml.PrimitiveDictionaryTypes(), Base: (&clixml.Dict{Entries: entries}).Value()}).Value()
	}
	return dict(clixml.Entry{Key: clixml.String("PSVersionTable"), Value: dict(
		clixml.Entry{Key: clixml.String("PSVersion"), Value: clixml.Version{7, 6, 0, -1}.Value()},
		clixml.Entry{Key: clixml.String("PSRemotingProtocolVersion"), Value: v.Value()},
		clixml.Entry{Key: clixml.String("SerializationVersion"), Value: clixml.Version{1, 1, 0, 1}.Value()},
	)})
}

func (s *Server) publicKey(m *proto.PublicKey) error {
	k, err := parsePublicKeyBlob(m.Blob)
	if err != nil {
		return &proto.RemoteProtocolError{Stage: "key", Type: m.Type(), Offset: -1, Err: err}
	}
	if !s.before(2, 4) {
		return &proto.RemoteProtocolError{Stage: "key", Type: m.Type(), Offset: -1, Err: errors.New("protocol 2.4 has no session key")}
	}
	if err := s.makeKey(); err != nil {
		return err
	}
	blob, err := sealSessionKey(k, s.key.key)
	if err != nil {
		return &proto.RemoteProtocolError{Stage: "key", Type: m.Type(), Offset: -1, Err: err}
	}
	s.tell(KeyExchanged{})
	return s.send(clixml.GUID{}, &proto.EncryptedSessionKey{Blob: blob})
}

func (s *Server) asked(m proto.Message, ci int64) error {
	if _, ok := s.requests[ci]; ok {
		return &proto.RemoteProtocolError{Stage: "state", Type: m.Type(), Offset: -1, Err: fmt.Errorf("request %d while one of that number is open", ci)}
	}
	s.requests[ci] = m.Type()
	s.tell(RunspacesAsked{Request: m})
	return nil
}

// RunspacesAnswer answers SetMin, SetMax or Reset with Accepted and Available with Count.
func (s *Server) RunspacesAnswer(a *proto.RunspaceAvailability) error {
	if err := s.local("RunspacesAnswer", spUse); err != nil {
		return err
	}
	t, ok := s.requests[a.CallID]
	if !ok || (t == proto.MessageGetAvailableRunspaces) != a.IsCount {
		return &proto.LocalProtocolError{Op: "RunspacesAnswer", State: fmt.Sprintf("no request %d waits for such an answer", a.CallID)}
	}
	if err := s.send(clixml.GUID{}, a); err != nil {
		return err
	}
	delete(s.requests, a.CallID)
	s.payOwed()
	return nil
}

// pipelineEvent checks what has come for a pipeline against its table.
func (s *Server) pipelineEvent(p *serverPipe, ev int, t proto.MessageType) (act, error) {
	to, a := serverPipeline.next(p.state, ev)
	switch a {
	case forbidden:
		return a, &proto.RemoteProtocolError{Stage: "state", Type: t, Target: p.id, Offset: -1, Err: errors.New(serverPipeline.refusal(p.state, ev))}
	case move:
		p.state = to
	}
	return a, nil
}

func (s *Server) command(p proto.Packet) error {
	switch _, a := serverPool.next(s.state, spRecvPipeline); {
	case a == forbidden:
		return s.stateError(0, spRecvPipeline)
	case p.Target.IsZero() || s.pipelines[p.Target] != nil:
		return packetError(p, fmt.Sprintf("%v is not a new pipeline", p.Target))
	case a == move && len(s.pipelines) >= s.limits.Pipelines:
		return packetError(p, fmt.Sprintf("more than %d pipelines: %v", s.limits.Pipelines, proto.ErrTooLarge))
	case a == move:
		s.pipelines[p.Target] = &serverPipe{id: p.Target, in: s.assembler()}
	}
	s.control(proto.PacketCommandAck, p.Target)
	return nil
}

func (s *Server) pipelineData(p proto.Packet) error {
	if _, a := serverPool.next(s.state, spRecvPipeline); a == forbidden {
		return s.stateError(0, spRecvPipeline)
	}
	pipe := s.pipelines[p.Target]
	if pipe == nil {
		// For a pipeline that is not there any more: acknowledged all the same.
		s.control(proto.PacketDataAck, p.Target)
		return nil
	}
	pipe.owed++
	pipe.in.Add(p.Data)
	defer s.tellDropped(&pipe.in, p.Target)
	for {
		message, ok, err := pipe.in.Next()
		if err != nil {
			return withTarget(err, pipe.id)
		}
		if !ok {
			break
		}
		if err := s.pipelineMessage(pipe, message); err != nil {
			return err
		}
	}
	s.payPipe(pipe)
	return nil
}

func (s *Server) payPipe(p *serverPipe) {
	for ; p.owed > 0 && !p.held; p.owed-- {
		s.control(proto.PacketDataAck, p.id)
	}
}

func (s *Server) pipelineMessage(p *serverPipe, message []byte) error {
	h, body, err := s.header(message, p.id)
	if err != nil {
		return err
	}
	var ev int
	switch h.Type {
	case proto.MessageCreatePipeline, proto.MessageGetCommandMetadata:
		ev = siRecvCreate
	case proto.MessagePipelineInput:
		ev = siRecvInput
	case proto.MessageEndOfPipelineInput:
		ev = siRecvEndInput
	case proto.MessagePipelineHostResponse:
		ev = siRecvResponse
	default:
		return &proto.RemoteProtocolError{Stage: "state", Type: h.Type, Target: p.id, Offset: -1, Err: errors.New("not a message to a running pipeline")}
	}
	a, err := s.pipelineEvent(p, ev, h.Type)
	if err != nil || a == ignored {
		return err
	}
	m, err := s.decode(h, body)
	if err != nil {
		return err
	}
	if p.received += int64(len(body)); p.received > s.limits.Input {
		return &proto.RemoteProtocolError{Stage: "message", Type: h.Type, Target: p.id, Offset: -1, Err: fmt.Errorf("more than %d bytes for one pipeline: %w", s.limits.Input, proto.ErrTooLarge)}
	}
	late := func(what string) error {
		return &proto.RemoteProtocolError{Stage: "state", Type: h.Type, Target: p.id, Offset: -1, Err: errors.New(what)}
	}
	switch m := m.(type) {
	case *proto.CreatePipeline:
		p.input = m.Pipeline.Input
		s.tell(Created{ID: p.id, Pipeline: &m.Pipeline})
	case *proto.GetCommandMetadata:
		s.tell(MetadataAsked{ID: p.id, Query: m})
	case *proto.PipelineInput:
		if !p.input {
			return late("the pipeline's input has ended, or was not announced")
		}
		s.tell(InputGiven{ID: p.id, Value: m.Value, Size: len(body)})
	case *proto.EndOfPipelineInput:
		if !p.input {
			return late("the pipeline's input has ended, or was not announced")
		}
		p.input = false
		s.tell(InputEnded{ID: p.id})
	case *proto.HostResponse:
		return s.response(p.id, m)
	}
	return nil
}

func (s *Server) response(id clixml.GUID, r *proto.HostResponse) error {
	key := hostCallKey{id, r.CallID}
	method, ok := s.calls[key]
	if !ok || method != r.Method {
		return &proto.RemoteProtocolError{Stage: "state", Type: r.Type(), Target: id, Offset: -1, Err: fmt.Errorf("an answer to call %d of %v, which waits for none", r.CallID, r.Method)}
	}
	delete(s.calls, key)
	s.tell(HostAnswered{ID: id, Answer: r})
	return nil
}

func (s *Server) signal(p proto.Packet) error {
	if p.Target.IsZero() {
		return packetError(p, "names no pipeline")
	}
	pipe := s.pipelines[p.Target]
	if pipe == nil {
		s.control(proto.PacketSignalAck, p.Target)
		return nil
	}
	pipe.signal++
	if err := s.ask(pipe, siRecvSignal); err != nil {
		return err
	}
	s.settle(pipe)
	return nil
}

func (s *Server) closePipeline(p proto.Packet) error {
	pipe := s.pipelines[p.Target]
	if pipe == nil {
		s.control(proto.PacketCloseAck, p.Target)
		return nil
	}
	pipe.closing++
	if err := s.ask(pipe, siRecvClose); err != nil {
		return err
	}
	s.settle(pipe)
	return nil
}

// ask asks for a pipeline's end, once.
func (s *Server) ask(p *serverPipe, ev int) error {
	was := p.state
	if _, err := s.pipelineEvent(p, ev, 0); err != nil {
		return err
	}
	switch {
	case was == siRunning && p.state == siStopping:
		s.tell(StopAsked{ID: p.id})
	case was == siCommand && p.state == siEnded: // what it was to run may still come, and is not run
		return s.send(p.id, &proto.PipelineStateMessage{State: proto.PipelineStopped, Error: proto.StoppedRecord()})
	}
	return nil
}

// settle acknowledges what waited for a pipeline's end, and forgets it when it was closed.
func (s *Server) settle(p *serverPipe) {
	if p.state < siEnded {
		return
	}
	for ; p.signal > 0; p.signal-- {
		s.control(proto.PacketSignalAck, p.id)
	}
	if p.closing == 0 {
		return
	}
	p.state = siClosed
	for ; p.closing > 0; p.closing-- {
		s.control(proto.PacketCloseAck, p.id)
	}
	s.forget(p)
}

func (s *Server) forget(p *serverPipe) {
	p.in.Release()
	s.dropCalls(p.id)
	delete(s.pipelines, p.id)
	s.tell(PipelineClosed{ID: p.id})
}
