package machine

import (
	"bytes"
	"crypto/rsa"
	"errors"
	"fmt"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// ClientConfig opens a client's session.
type ClientConfig struct {
	// Pool is the identifier of the new pool, 16 random bytes.
	Pool clixml.GUID
	// Init is what is asked of the server.
	Init proto.InitRunspacePool
	// Transport says what may be spoken.
	Transport proto.TransportProperties
	Limits    Limits
	Tracer    proto.Tracer
}

// Client is the client's side of a session. See the package for how it is driven.
type Client struct {
	core
	state     int
	config    ClientConfig
	out       outbox
	target    clientTarget // the pool's own
	pipelines map[clixml.GUID]*clientPipe
	calls     map[hostCallKey]proto.HostMethod // unanswered
	requests  map[int64]proto.MessageType      // unanswered, by ci
	lastCI    int64
	closed    ring // pipelines that were closed: what comes for them is late

	keyAsked bool
	rsa      *rsa.PrivateKey
	deferred []func()     // calls that wait for the session key, in their order
	held     []heldPacket // messages that wait for it
	heldSize int64
}

type hostCallKey struct {
	id clixml.GUID
	ci int64
}

type heldPacket struct {
	h    proto.MessageHeader
	body []byte
}

// clientTarget is what the pool and a pipeline have alike: what comes in for them. What goes out
// is in the outbox.
type clientTarget struct{ in proto.Assembler }

type clientPipe struct {
	clientTarget
	id       clixml.GUID
	state    int
	input    bool // PIPELINE_INPUT was announced and has not been ended
	announce bool // PIPELINE_INPUT was announced
	waiting  int  // deferred calls
	heldMsgs int  // messages that wait for the session key
}

// NewClient returns a machine that has not been opened.
func NewClient(cfg ClientConfig) *Client {
	c := &Client{config: cfg, pipelines: map[clixml.GUID]*clientPipe{}, calls: map[hostCallKey]proto.HostMethod{}, requests: map[int64]proto.MessageType{}}
	c.init(proto.ToServer, cfg.Limits, cfg.Tracer)
	c.pool = cfg.Pool
	c.version = offer(cfg.Transport)
	c.target.in = c.assembler()
	c.out.add(clixml.GUID{}, true)
	return c
}

// offer is the highest version to speak over a transport.
func offer(t proto.TransportProperties) clixml.Version {
	v := clixml.NewVersion(2, 4)
	if !t.Confidential {
		v = clixml.NewVersion(2, 3)
	}
	if limit := t.MaxVersion; limit != (clixml.Version{}) && limit.Compare(v) < 0 {
		v = limit
	}
	return v
}

// Version returns the protocol version: what is offered until Opened, then what was agreed on.
func (c *Client) Version() clixml.Version { return c.version }

func (c *Client) local(op string, ev int) error {
	if _, a := clientPool.next(c.state, ev); a == forbidden {
		return &proto.LocalProtocolError{Op: op, State: "the session is " + clientPool.states[c.state]}
	}
	return nil
}

// step takes a transition that was allowed.
func (c *Client) step(ev int) act {
	to, a := clientPool.next(c.state, ev)
	if a == move {
		c.state = to
	}
	return a
}

// Open asks for the pool.
func (c *Client) Open() error {
	if err := c.local("Open", cpOpen); err != nil {
		return err
	}
	capability, err := c.encode(proto.NewSessionCapability(c.version), clixml.GUID{})
	if err != nil {
		return err
	}
	init, err := c.encode(&c.config.Init, clixml.GUID{})
	if err != nil {
		return err
	}
	c.step(cpOpen)
	c.out.data(clixml.GUID{}, proto.StreamDefault, capability)
	c.out.data(clixml.GUID{}, proto.StreamDefault, init)
	return nil
}

// Close asks the transport to close the pool; PoolEnded follows. Pipelines that run end as Stopped
// when the server says so, else with the pool.
func (c *Client) Close() error {
	if err := c.local("Close", cpClose); err != nil {
		return err
	}
	before := c.state
	if c.step(cpClose) == ignored {
		return nil
	}
	if before == cpBeforeOpen {
		c.end(proto.PoolClosed, nil)
		return nil
	}
	c.out.control(proto.PacketClose, clixml.GUID{})
	return nil
}

// pipe finds a pipeline for a call.
func (c *Client) pipe(op string, id clixml.GUID, ev int) (*clientPipe, act, error) {
	p := c.pipelines[id]
	if p == nil {
		if c.closed.has(id) {
			if _, a := clientPipeline.next(ciClosed, ev); a == ignored {
				return nil, ignored, nil
			}
			return nil, forbidden, &proto.LocalProtocolError{Op: op, State: fmt.Sprintf("pipeline %v is Closed", id)}
		}
		return nil, forbidden, &proto.LocalProtocolError{Op: op, State: fmt.Sprintf("there is no pipeline %v", id)}
	}
	_, a := clientPipeline.next(p.state, ev)
	if a == forbidden {
		return p, a, &proto.LocalProtocolError{Op: op, State: fmt.Sprintf("pipeline %v is %s", id, clientPipeline.states[p.state])}
	}
	return p, a, nil
}

func (p *clientPipe) step(ev int) {
	if to, a := clientPipeline.next(p.state, ev); a == move {
		p.state = to
	}
}

// Create starts a pipeline under a new identifier of 16 random bytes.
func (c *Client) Create(id clixml.GUID, p *proto.Pipeline) error {
	if len(p.Statements) == 0 || len(p.Statements[0]) == 0 {
		return &proto.LocalProtocolError{Op: "Create", State: "the pipeline has no command"}
	}
	return c.start("Create", id, &proto.CreatePipeline{Pipeline: *p}, p.Input)
}

// Metadata starts a pipeline that asks for commands.
func (c *Client) Metadata(id clixml.GUID, q *proto.GetCommandMetadata) error {
	return c.start("Metadata", id, q, false)
}

func (c *Client) start(op string, id clixml.GUID, m proto.Message, input bool) error {
	if err := c.local(op, cpUse); err != nil {
		return err
	}
	switch {
	case id.IsZero() || c.pipelines[id] != nil || c.closed.has(id):
		return &proto.LocalProtocolError{Op: op, State: fmt.Sprintf("identifier %v is not a new one", id)}
	case len(c.pipelines) >= c.limits.Pipelines:
		return &proto.LocalProtocolError{Op: op, State: fmt.Sprintf("%d pipelines are open, which is the limit", c.limits.Pipelines)}
	}
	p := &clientPipe{id: id, state: ciDeferred, input: input, announce: input}
	p.in = c.assembler()
	return c.send(p, id, proto.StreamDefault, m, func() {
		c.pipelines[id] = p
	}, func() {
		p.step(ciStart)
		c.out.add(id, false)
		c.out.control(proto.PacketCommand, id)
	})
}

// send encodes m and queues it, or defers that when it needs the session key. admit is done at once
// when m can be encoded at all, sent when m goes out.
func (c *Client) send(p *clientPipe, id clixml.GUID, s proto.Stream, m proto.Message, admit, sent func()) error {
	out, err := c.encode(m, id)
	wait := p != nil && p.waiting > 0
	if err == nil && wait {
		c.objects-- // the number is given when it goes out
	}
	if err != nil && !errors.Is(err, clixml.ErrNoCipher) {
		return &proto.LocalProtocolError{Op: "Send", State: err.Error()}
	}
	if admit != nil {
		admit()
	}
	if err == nil && !wait {
		if sent != nil {
			sent()
		}
		c.out.data(id, s, out)
		return nil
	}
	if p != nil {
		p.waiting++
	}
	c.needKey()
	c.deferred = append(c.deferred, func() {
		if p != nil {
			p.waiting--
			if p.state == ciClosed {
				return
			}
		}
		out, err := c.encode(m, id)
		if err != nil {
			return // it was encoded before but for the key, so it is a destroyed secret
		}
		if sent != nil {
			sent()
		}
		c.out.data(id, s, out)
	})
	return nil
}

// Input sends an object to a pipeline that was created with Input.
func (c *Client) Input(id clixml.GUID, v clixml.Value) error {
	p, _, err := c.pipe("Input", id, ciInput)
	if err != nil {
		return err
	}
	if !p.input {
		return &proto.LocalProtocolError{Op: "Input", State: "the pipeline's input has ended, or was not announced"}
	}
	return c.send(p, id, proto.StreamDefault, &proto.PipelineInput{Value: v}, nil, nil)
}

// EndInput ends a pipeline's input. Ending it again does nothing.
func (c *Client) EndInput(id clixml.GUID) error {
	p, a, err := c.pipe("EndInput", id, ciEndInput)
	if err != nil || a == ignored {
		return err
	}
	if !p.input {
		if p.announce {
			return nil
		}
		return &proto.LocalProtocolError{Op: "EndInput", State: "the pipeline's input was not announced"}
	}
	return c.send(p, id, proto.StreamDefault, &proto.EndOfPipelineInput{}, func() { p.input = false }, nil)
}

// Answer answers a host call; id is that of HostCalled.
func (c *Client) Answer(id clixml.GUID, r *proto.HostResponse) error {
	key := hostCallKey{id, r.CallID}
	method, ok := c.calls[key]
	if !ok || method != r.Method {
		return &proto.LocalProtocolError{Op: "Answer", State: fmt.Sprintf("no call %d of %v waits for an answer", r.CallID, r.Method)}
	}
	var p *clientPipe
	if id.IsZero() {
		if err := c.local("Answer", cpUse); err != nil {
			return err
		}
	} else {
		var a act
		var err error
		if p, a, err = c.pipe("Answer", id, ciAnswer); err != nil || a == ignored {
			delete(c.calls, key)
			return err
		}
	}
	if err := c.send(p, id, proto.StreamPromptResponse, r, nil, nil); err != nil {
		return err
	}
	delete(c.calls, key)
	return nil
}

// Stop asks the server to stop a pipeline; PipelineEnded follows. Stopping one that has ended does
// nothing.
func (c *Client) Stop(id clixml.GUID) error {
	p, a, err := c.pipe("Stop", id, ciStop)
	if err != nil || a == ignored {
		return err
	}
	p.step(ciStop)
	p.input = false
	switch p.state {
	case ciClosed:
		c.tell(PipelineEnded{ID: id, State: proto.PipelineStopped})
		c.forget(p)
	case ciClosing:
		c.tell(PipelineEnded{ID: id, State: proto.PipelineStopped})
		c.out.dropData(id)
		c.out.control(proto.PacketClose, id)
	default:
		c.out.control(proto.PacketSignal, id)
	}
	return nil
}

// ClosePipeline gives a pipeline up, whatever it does: it ends as Stopped, and PipelineClosed
// follows. One that ended is closed by itself.
func (c *Client) ClosePipeline(id clixml.GUID) error {
	p, a, err := c.pipe("Close", id, ciClose)
	if err != nil || a == ignored {
		return err
	}
	if p.state < ciEnded {
		c.tell(PipelineEnded{ID: id, State: proto.PipelineStopped})
	}
	c.closePipe(p)
	return nil
}

func (c *Client) closePipe(p *clientPipe) {
	p.step(ciClose)
	p.input = false
	c.out.dropData(p.id)
	// After Close of the pool nothing further is sent: the server closes its pipelines by itself.
	if p.state == ciClosed || c.state != cpOpened {
		c.forget(p)
		return
	}
	c.out.control(proto.PacketClose, p.id)
}

// request sends one of the four requests of the pool and returns its number.
func (c *Client) request(op string, m func(ci int64) proto.Message) (int64, error) {
	if err := c.local(op, cpUse); err != nil {
		return 0, err
	}
	ci := c.lastCI + 1
	msg := m(ci)
	if err := c.send(nil, clixml.GUID{}, proto.StreamDefault, msg, nil, nil); err != nil {
		return 0, err
	}
	c.lastCI = ci
	c.requests[ci] = msg.Type()
	return ci, nil
}

// SetMin asks for another minimum of runspaces; Availability answers with the number returned.
func (c *Client) SetMin(n int32) (int64, error) {
	return c.request("SetMinRunspaces", func(ci int64) proto.Message { return &proto.SetMinRunspaces{Min: n, CallID: ci} })
}

// SetMax asks for another maximum of runspaces; Availability answers with the number returned.
func (c *Client) SetMax(n int32) (int64, error) {
	return c.request("SetMaxRunspaces", func(ci int64) proto.Message { return &proto.SetMaxRunspaces{Max: n, CallID: ci} })
}

// Available asks how many runspaces are free; Availability answers with the number returned.
func (c *Client) Available() (int64, error) {
	return c.request("Available", func(ci int64) proto.Message { return &proto.GetAvailableRunspaces{CallID: ci} })
}

// Reset asks for a fresh runspace; Availability answers with the number returned. Servers before
// protocol 2.3 do not know it.
func (c *Client) Reset() (int64, error) {
	if c.before(2, 3) {
		return 0, &proto.LocalProtocolError{Op: "Reset", State: fmt.Sprintf("the server speaks protocol %v; 2.3 is needed", c.version)}
	}
	return c.request("Reset", func(ci int64) proto.Message { return &proto.ResetRunspaceState{CallID: ci} })
}

// Queued returns how many bytes of messages wait to be sent to a target.
func (c *Client) Queued(id clixml.GUID) int { return c.out.queued(id) }

// Waiting reports whether anything of the session waits for the peer: a packet that has not been
// acknowledged, a request or an opening that has not been answered.
func (c *Client) Waiting() bool {
	return c.state == cpNegotiating || c.state == cpOpening || c.state == cpClosing || len(c.requests) > 0 || c.out.waiting() || len(c.deferred) > 0
}

// Pending reports whether NextPacket has anything to give at this moment.
func (c *Client) Pending() bool { return c.out.pending() }

// ExchangeKey brings the RSA key that KeyNeeded asked for.
func (c *Client) ExchangeKey(k *rsa.PrivateKey) error {
	if err := c.local("ExchangeKey", cpUse); err != nil {
		return err
	}
	if !c.keyAsked || c.rsa != nil {
		return &proto.LocalProtocolError{Op: "ExchangeKey", State: "no key was asked for"}
	}
	blob, err := publicKeyBlob(&k.PublicKey)
	if err != nil {
		return &proto.LocalProtocolError{Op: "ExchangeKey", State: err.Error()}
	}
	out, err := c.encode(&proto.PublicKey{Blob: blob}, clixml.GUID{})
	if err != nil {
		return err
	}
	c.rsa = k
	c.out.data(clixml.GUID{}, proto.StreamDefault, out)
	return nil
}

// RequestKey exchanges a key although nothing needs it yet. From protocol 2.4 on there is none.
func (c *Client) RequestKey() error {
	if err := c.local("ExchangeKey", cpUse); err != nil {
		return err
	}
	c.needKey()
	return nil
}

func (c *Client) needKey() {
	if !c.keyAsked && c.before(2, 4) && c.state == cpOpened {
		c.keyAsked = true
		c.tell(KeyNeeded{})
	}
}

// NextPacket returns the next packet to send, with at most limit bytes of Data (0 = what the
// transport takes). Its Data is valid until the next call. A client never sends an acknowledgement.
func (c *Client) NextPacket(limit int) (proto.Packet, bool) {
	if limit == 0 {
		limit = c.config.Transport.MaxPayload
	}
	if limit == 0 {
		limit = proto.DefaultPayload
	}
	return c.out.next(limit)
}

// Receive takes a packet from the transport. Its Data may be reused on return. An error has broken
// the session: what is left is to send the packets and deliver the events that there are.
func (c *Client) Receive(p proto.Packet) error {
	err := c.receive(p)
	if err != nil {
		c.fail(err)
	}
	return err
}

func packetError(p proto.Packet, reason string) error {
	return &proto.RemoteProtocolError{Stage: "packet", Target: p.Target, Offset: -1, Err: fmt.Errorf("%v: %s", p.Kind, reason)}
}

func (c *Client) receive(p proto.Packet) error {
	switch p.Kind {
	case proto.PacketData:
		return c.receiveData(p)
	case proto.PacketDataAck, proto.PacketCommandAck, proto.PacketSignalAck, proto.PacketCloseAck:
		return c.receiveAck(p)
	case proto.PacketFault:
		pipe := c.pipelines[p.Target]
		if pipe == nil {
			return nil
		}
		c.lose(pipe, p.Err)
		return nil
	default:
		return packetError(p, "not a packet of a server")
	}
}

func (c *Client) receiveAck(p proto.Packet) error {
	if p.Target.IsZero() {
		switch p.Kind {
		case proto.PacketDataAck:
			if _, a := clientPool.next(c.state, cpRecvAck); a == forbidden {
				return c.stateError(cpRecvAck)
			}
			if c.out.acked(p.Target) {
				c.tell(Acknowledged{})
			}
		case proto.PacketCloseAck:
			_, a := clientPool.next(c.state, cpRecvCloseAck)
			switch a {
			case forbidden:
				return c.stateError(cpRecvCloseAck)
			case move:
				asked := c.state == cpClosing
				c.step(cpRecvCloseAck)
				var err error
				if !asked {
					err = errors.New("psrp: the server closed the session")
				}
				c.end(proto.PoolClosed, err)
			}
		default:
			return packetError(p, "names no pipeline")
		}
		return nil
	}
	pipe := c.pipelines[p.Target]
	if pipe == nil {
		return nil // for an identifier that is not known any more, as PowerShell does
	}
	ev := map[proto.PacketKind]int{
		proto.PacketCommandAck: ciRecvCommandAck, proto.PacketDataAck: ciRecvDataAck,
		proto.PacketSignalAck: ciRecvSignalAck, proto.PacketCloseAck: ciRecvCloseAck,
	}[p.Kind]
	if _, a := clientPipeline.next(pipe.state, ev); a == forbidden {
		return packetError(p, clientPipeline.refusal(pipe.state, ev))
	}
	pipe.step(ev)
	switch p.Kind {
	case proto.PacketCommandAck:
		c.out.ready(p.Target)
	case proto.PacketDataAck:
		if c.out.acked(p.Target) {
			c.tell(Acknowledged{ID: p.Target})
		}
	case proto.PacketCloseAck:
		c.forget(pipe)
	}
	return nil
}

func (c *Client) stateError(ev int) error {
	return &proto.RemoteProtocolError{Stage: "state", Offset: -1, Err: errors.New(clientPool.refusal(c.state, ev))}
}

func (c *Client) receiveData(p proto.Packet) error {
	if c.state == cpBroken || c.state == cpClosed {
		return nil
	}
	in := &c.target.in
	if !p.Target.IsZero() {
		pipe := c.pipelines[p.Target]
		switch {
		case pipe == nil && c.closed.has(p.Target):
			return nil
		case pipe == nil:
			return packetError(p, fmt.Sprintf("for pipeline %v, which there is not", p.Target))
		}
		in = &pipe.in
	}
	in.Add(p.Data)
	for {
		message, ok, err := in.Next()
		if err != nil || !ok {
			return withTarget(err, p.Target)
		}
		if err := c.message(message, p.Target); err != nil {
			return err
		}
		if c.state == cpBroken || c.state == cpClosed {
			return nil
		}
	}
}

// withTarget names the pipeline in an error of its fragments.
func withTarget(err error, id clixml.GUID) error {
	if remote, ok := errors.AsType[*proto.RemoteProtocolError](err); ok {
		remote.Target = id
	}
	return err
}

func (c *Client) message(message []byte, target clixml.GUID) error {
	h, body, err := c.header(message, target)
	if err != nil {
		return err
	}
	pipe := c.pipelines[target]
	if c.keepForKey(pipe, h, body) {
		if c.heldSize += int64(len(body)); c.heldSize > c.limits.Held {
			return &proto.RemoteProtocolError{Stage: "message", Type: h.Type, Target: target, Offset: -1, Err: fmt.Errorf("messages that wait for the session key: %w", proto.ErrTooLarge)}
		}
		c.held = append(c.held, heldPacket{h, bytes.Clone(body)})
		if pipe != nil {
			pipe.heldMsgs++
		}
		c.needKey()
		return nil
	}
	if pipe != nil {
		return c.pipelineMessage(pipe, h, body)
	}
	return c.poolMessage(h, body)
}

// keepForKey reports whether a message has to wait for the session key: it holds a SecureString, or
// an earlier one of its pipeline waits.
func (c *Client) keepForKey(p *clientPipe, h proto.MessageHeader, body []byte) bool {
	if !c.before(2, 4) || c.key.key != nil || c.state != cpOpened || h.Type == proto.MessageEncryptedSessionKey {
		return false
	}
	if p != nil && p.heldMsgs > 0 {
		return true
	}
	return (h.Type.Pipeline() || h.Type == proto.MessageRunspacePoolHostCall || h.Type == proto.MessageUserEvent) &&
		(bytes.Contains(body, []byte("<SS>")) || bytes.Contains(body, []byte("<SS ")))
}

func (c *Client) poolMessage(h proto.MessageHeader, body []byte) error {
	ev := cpRecvOther
	switch h.Type {
	case proto.MessageSessionCapability:
		ev = cpRecvCapability
	case proto.MessageApplicationPrivateData:
		ev = cpRecvPrivateData
	}
	var m proto.Message
	var err error
	if h.Type == proto.MessageRunspacePoolState {
		// Which event a state message is, its body tells.
		if m, err = c.decode(h, body); err != nil {
			return err
		}
		switch s := m.(*proto.RunspacePoolState); s.State {
		case proto.PoolOpened:
			ev = cpRecvOpened
		case proto.PoolClosing:
			ev = cpRecvClosing
		case proto.PoolClosed:
			ev = cpRecvClosed
		case proto.PoolBroken:
			ev = cpRecvBroken
		default:
			return &proto.RemoteProtocolError{Stage: "state", Type: h.Type, Offset: -1, Err: fmt.Errorf("a server's pool cannot be %v", s.State)}
		}
	}
	switch _, a := clientPool.next(c.state, ev); a {
	case ignored:
		return nil
	case forbidden:
		return &proto.RemoteProtocolError{Stage: "state", Type: h.Type, Offset: -1, Err: errors.New(clientPool.refusal(c.state, ev))}
	}
	if m == nil {
		if m, err = c.decode(h, body); err != nil {
			return err
		}
	}
	return c.poolEvent(m, ev)
}

func (c *Client) poolEvent(m proto.Message, ev int) error {
	switch m := m.(type) {
	case *proto.SessionCapability:
		v, err := negotiate(c.version, m.Protocol)
		if err != nil {
			return err
		}
		c.version = v
		if !c.before(2, 4) {
			c.useCipher(clearCipher{})
		}
		c.step(ev)
	case *proto.ApplicationPrivateData:
		c.step(ev)
		c.tell(PrivateData{Data: m.Data})
	case *proto.RunspacePoolState:
		c.step(ev)
		switch m.State {
		case proto.PoolOpened:
			c.tell(Opened{Version: c.version})
		case proto.PoolBroken:
			err := error(errors.New("psrp: the server's runspace pool broke"))
			if m.Error != nil {
				err = m.Error
			}
			c.breakWith(err)
		case proto.PoolClosed:
			if c.state == cpClosed {
				c.end(proto.PoolClosed, errors.New("psrp: the server closed the session"))
			}
		}
	case *proto.RunspaceAvailability:
		if _, ok := c.requests[m.CallID]; !ok {
			return &proto.RemoteProtocolError{Stage: "state", Type: m.Type(), Offset: -1, Err: fmt.Errorf("an answer to request %d, which waits for none", m.CallID)}
		}
		delete(c.requests, m.CallID)
		c.tell(Availability{Answer: m})
	case *proto.UserEvent:
		c.tell(UserEvented{Event: m})
	case *proto.HostCall:
		return c.hostCall(clixml.GUID{}, m, 0)
	case *proto.PublicKeyRequest:
		c.needKey()
	case *proto.EncryptedSessionKey:
		return c.sessionKey(m)
	case *proto.RunspacePoolInitData:
	}
	return nil
}

// negotiate agrees on a version with what the peer answered: the lower one.
func negotiate(ours, theirs clixml.Version) (clixml.Version, error) {
	if theirs.Compare(clixml.NewVersion(2, 1)) >= 0 && theirs.Compare(ours) <= 0 {
		return theirs, nil
	}
	return clixml.Version{}, &proto.RemoteProtocolError{
		Stage: "negotiate", Type: proto.MessageSessionCapability, Offset: -1,
		Err: fmt.Errorf("the server answers protocol %v to our %v; 2.1 to ours is understood", theirs, ours),
	}
}

func (c *Client) sessionKey(m *proto.EncryptedSessionKey) error {
	fail := func(err error) error {
		return &proto.RemoteProtocolError{Stage: "key", Type: m.Type(), Offset: -1, Err: err}
	}
	if c.rsa == nil || c.key.key != nil {
		return fail(errors.New("a session key that was not asked for"))
	}
	key, err := openSessionKey(c.rsa, m.Blob)
	if err != nil {
		return fail(err)
	}
	c.key.key, c.rsa = key, nil
	c.useCipher(&c.key)
	held := c.held
	c.held, c.heldSize = nil, 0
	for _, msg := range held {
		pipe := c.pipelines[msg.h.Pipeline]
		if pipe != nil {
			pipe.heldMsgs--
		}
		switch {
		case pipe != nil:
			err = c.pipelineMessage(pipe, msg.h, msg.body)
		case msg.h.Pipeline.IsZero():
			err = c.poolMessage(msg.h, msg.body)
		}
		if err != nil {
			return err
		}
	}
	deferred := c.deferred
	c.deferred = nil
	for _, f := range deferred {
		f()
	}
	return nil
}

func (c *Client) pipelineMessage(p *clientPipe, h proto.MessageHeader, body []byte) error {
	if c.state != cpOpened && c.state != cpClosing {
		return c.stateError(cpRecvOther)
	}
	ev := ciRecvMessage
	if h.Type == proto.MessagePipelineState {
		ev = ciRecvEnded
	}
	switch _, a := clientPipeline.next(p.state, ev); a {
	case ignored:
		return nil
	case forbidden:
		return &proto.RemoteProtocolError{Stage: "state", Type: h.Type, Target: p.id, Offset: -1, Err: errors.New(clientPipeline.refusal(p.state, ev))}
	}
	m, err := c.decode(h, body)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *proto.PipelineStateMessage:
		if !m.State.Terminal() {
			return nil // Running and Stopping announce nothing that is not known
		}
		p.step(ciRecvEnded)
		c.tell(PipelineEnded{ID: p.id, State: m.State, Error: m.Error})
		c.closePipe(p)
	case *proto.HostCall:
		return c.hostCall(p.id, m, len(body))
	default:
		r, ok := proto.RecordOf(m)
		if !ok {
			return &proto.RemoteProtocolError{Stage: "state", Type: h.Type, Target: p.id, Offset: -1, Err: errors.New("not a message of a running pipeline")}
		}
		c.tell(Recorded{ID: p.id, Record: r, Size: len(body)})
	}
	return nil
}

func (c *Client) hostCall(id clixml.GUID, call *proto.HostCall, size int) error {
	fail := func(format string, a ...any) error {
		return &proto.RemoteProtocolError{Stage: "state", Type: call.Type(), Target: id, Offset: -1, Err: fmt.Errorf(format, a...)}
	}
	if !call.Method.Known() {
		return fail("host method %d", int32(call.Method))
	}
	if call.WantsAnswer() {
		key := hostCallKey{id, call.CallID}
		if _, ok := c.calls[key]; ok {
			return fail("host call %d while one of that number waits for its answer", call.CallID)
		}
		if len(c.calls) >= c.limits.HostCalls {
			return fail("more than %d unanswered host calls: %w", c.limits.HostCalls, proto.ErrTooLarge)
		}
		c.calls[key] = call.Method
	}
	c.tell(HostCalled{ID: id, Call: call, Size: size})
	return nil
}

// forget ends what is left of a pipeline.
func (c *Client) forget(p *clientPipe) {
	p.in.Release()
	p.state = ciClosed
	c.out.remove(p.id)
	for k := range c.calls {
		if k.id == p.id {
			delete(c.calls, k)
		}
	}
	delete(c.pipelines, p.id)
	c.closed.add(p.id)
	c.tell(PipelineClosed{ID: p.id})
}

// lose ends a pipeline by something else than its own terminal state.
func (c *Client) lose(p *clientPipe, cause error) {
	if p.state < ciEnded {
		c.tell(PipelineEnded{ID: p.id, State: proto.PipelineFailed, Cause: cause})
	}
	c.forget(p)
}

// fail breaks the session by a mistake of the peer. As PowerShell does, it still closes its
// pipelines and itself, if the transport lives.
func (c *Client) fail(err error) {
	if c.state == cpBroken || c.state == cpClosed {
		return
	}
	ids := c.breakWith(err)
	for _, id := range ids {
		c.out.control(proto.PacketClose, id)
	}
	c.out.control(proto.PacketClose, clixml.GUID{})
}

// breakWith ends everything with err and returns the pipelines that were open.
func (c *Client) breakWith(err error) (open []clixml.GUID) {
	c.out.clear()
	c.state = cpBroken
	for id := range c.pipelines {
		open = append(open, id)
	}
	c.end(proto.PoolBroken, err)
	return open
}

// end ends all pipelines, then the pool.
func (c *Client) end(s proto.PoolState, err error) {
	cause := err
	if cause == nil {
		cause = errors.New("psrp: the session was closed")
	}
	for _, p := range c.pipelines {
		c.lose(p, cause)
	}
	c.target.in.Release()
	c.key.zero()
	c.useCipher(nil)
	c.rsa, c.deferred, c.held = nil, nil, nil
	clear(c.calls)
	clear(c.requests)
	c.tell(PoolEnded{State: s, Err: err})
}

// Lost tells that the transport has ended, with its error. After CloseAck that is how it should be.
func (c *Client) Lost(err error) {
	asked := c.state == cpClosing
	if c.step(cpRecvEnd) != move {
		return
	}
	c.out.clear()
	if asked {
		c.end(proto.PoolClosed, nil)
		return
	}
	c.breakWith(err)
}
