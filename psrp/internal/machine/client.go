package machine

import (
	"cmp"
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
	config    ClientConfig
	out       outbox
	target    clientTarget // the pool's own
	pipelines map[clixml.GUID]*clientPipe
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
	c := &Client{config: cfg, pipelines: map[clixml.GUID]*clientPipe{}}
	c.init(proto.ToServer, clientPool, cfg.Transport, cfg.Limits, cfg.Tracer)
	c.pool = cfg.Pool
	c.target.in = c.assembler()
	c.out.add(clixml.GUID{}, true)
	return c
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
	p, done, ok := c.out.next(cmp.Or(limit, c.payload))
	if pipe := c.pipelines[p.Target]; pipe != nil && done > 0 {
		pipe.step(ciSent)
	}
	return p, ok
}
