package machine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

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
				return c.stateError(0, cpRecvAck)
			}
			if c.out.acked(p.Target) {
				c.tell(Acknowledged{})
			}
		case proto.PacketCloseAck:
			_, a := clientPool.next(c.state, cpRecvCloseAck)
			switch a {
			case forbidden:
				return c.stateError(0, cpRecvCloseAck)
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
	ev := ciRecvCommandAck
	switch p.Kind {
	case proto.PacketDataAck:
		ev = ciRecvDataAck
	case proto.PacketSignalAck:
		ev = ciRecvSignalAck
	case proto.PacketCloseAck:
		ev = ciRecvCloseAck
	}
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
	defer c.tellDropped(in, p.Target)
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
		return c.stateError(h.Type, ev)
	}
	if m == nil {
		m, err = c.decode(h, body)
	}
	if err != nil {
		return err
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
	c.tell(KeyExchanged{})
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
		return c.stateError(0, cpRecvOther)
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
	c.dropCalls(p.id)
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
	cause := cmp.Or(err, errors.New("psrp: the session was closed"))
	for _, p := range c.pipelines {
		c.lose(p, cause)
	}
	c.target.in.Release()
	c.release()
	c.rsa, c.deferred, c.held = nil, nil, nil
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
