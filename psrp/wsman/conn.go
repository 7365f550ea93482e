package wsman

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// Conn carries one session: it is a psrp.Transport. What a session sends are operations on a shell
// of the host (MS-WSMV 3.1.4), each a request of its own; what comes for the pool and for each
// pipeline is asked for by requests that wait at the host. Their answers are the packets of Recv,
// so a caller that stops calling it stops them.
type Conn struct {
	config      Config
	client      client
	connections *connections
	host        string

	ctx     context.Context // of all requests
	cancel  context.CancelFunc
	group   sync.WaitGroup
	packets chan proto.Packet

	mu       sync.Mutex
	err      error // why it ended
	closed   bool
	closing  bool // the shell is being deleted
	shell    []selector
	commands map[clixml.GUID]*command
}

// command is a pipeline's.
type command struct {
	id      string        // until started is closed it is start's alone
	sent    bool          // Command was asked for
	started chan struct{} // closed when Command was answered, or never will be
	ended   bool          // Close was asked for
}

// Dial connects and, with NTLM, authenticates. The shell is made when the session opens. ctx bounds
// the dialling. An error is a *proto.TransportError of phase "dial" or "auth".
func Dial(ctx context.Context, c Config) (*Conn, error) {
	c, u, err := c.withDefaults()
	if err != nil {
		return nil, &proto.TransportError{Phase: "dial", ExitCode: -1, Err: err}
	}
	t := &Conn{
		config: c, host: u.Host, packets: make(chan proto.Packet), commands: map[clixml.GUID]*command{},
		client:      client{to: u.String(), resource: c.resource(), session: newID(), locale: c.Locale, envelope: c.MaxEnvelope, timeout: c.OperationTimeout},
		connections: newConnections(&c, u.String(), u.Hostname(), u.Scheme == "https"),
	}
	if t.client.maxPayload() < 1024 {
		return nil, &proto.TransportError{Phase: "dial", Host: u.Host, ExitCode: -1, Err: errors.New("wsman: names and address leave no room in an envelope")}
	}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	dialling, stop := context.WithTimeout(ctx, c.OperationTimeout+httpPatience)
	defer stop()
	if err := t.connections.authenticate(dialling); err != nil {
		t.cancel()
		t.connections.closeIdle()
		return nil, t.transportError("auth", err)
	}
	return t, nil
}

// newID is a random identifier as WSMan writes them.
func newID() string {
	var g clixml.GUID
	_, _ = rand.Read(g[:]) // never fails
	return "uuid:" + upper(g)
}

func upper(g clixml.GUID) string { return strings.ToUpper(g.String()) }

// Properties say what the envelopes carry. Protocol 2.4, which sends secrets in the clear of its
// transport, is not spoken over WSMan.
func (c *Conn) Properties() proto.TransportProperties {
	return proto.TransportProperties{MaxPayload: c.client.maxPayload(), MaxVersion: clixml.NewVersion(2, 3)}
}

// transportError says how far it came.
func (c *Conn) transportError(phase string, err error) error {
	if t, ok := errors.AsType[*proto.TransportError](err); ok {
		return t
	}
	if _, ok := errors.AsType[*dialError](err); ok {
		phase = "dial"
	}
	_, stranger := errors.AsType[*tls.CertificateVerificationError](err)
	if stranger || errors.Is(err, errUnauthorized) {
		phase = "auth"
	}
	if phase == "auth" {
		c.config.Logger.LogAttrs(c.ctx, slog.LevelWarn, "psrp: wsman not authenticated", slog.String("host", c.host), slog.Any("auth", c.config.Auth), slog.Any("error", err))
	}
	return &proto.TransportError{Phase: phase, Host: c.host, ExitCode: -1, Err: err}
}

// Close ends all requests, frees a blocked Send and Recv and closes the connections. A shell that
// no packet closed is left to the host's idle time-out.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.fail(os.ErrClosed)
	c.group.Wait()
	c.connections.closeIdle()
	return nil
}

// fail ends the connection with its first error.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	c.cancel()
}

func (c *Conn) lost(phase string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.transportError(phase, c.err)
}

// Recv returns the next packet.
func (c *Conn) Recv(ctx context.Context) (proto.Packet, error) {
	select {
	case p := <-c.packets:
		return p, nil
	case <-c.ctx.Done():
		return proto.Packet{}, c.lost("receive")
	case <-ctx.Done():
		c.fail(ctx.Err())
		return proto.Packet{}, c.lost("receive")
	}
}

// deliver hands a packet to Recv; false when the connection has ended.
func (c *Conn) deliver(p proto.Packet) bool {
	select {
	case c.packets <- p:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// Send begins the operation that a packet stands for. It does not wait for the host, whose answer
// is the acknowledgement.
func (c *Conn) Send(_ context.Context, p proto.Packet) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.transportError("send", c.err)
	}
	p.Data = bytes.Clone(p.Data)
	if p.Target.IsZero() {
		switch {
		case p.Kind == proto.PacketClose:
			c.closing = true
			c.begin(c.deleteShell)
		case p.Kind == proto.PacketData && c.shell == nil:
			c.begin(func() { c.create(p.Data) })
		case p.Kind == proto.PacketData:
			c.begin(func() { c.send(p, "") })
		}
		return nil
	}
	cmd := c.commands[p.Target]
	if p.Kind == proto.PacketCommand {
		c.commands[p.Target] = &command{id: upper(p.Target), started: make(chan struct{})}
		c.acknowledge(proto.PacketCommandAck, p.Target)
		return nil
	}
	if cmd == nil {
		return nil // it was lost, which has been told
	}
	switch p.Kind {
	case proto.PacketData:
		if !cmd.sent {
			// The command carries the first fragment; what else there is follows it.
			cmd.sent = true
			c.begin(func() { c.start(p, cmd) })
			return nil
		}
		c.begin(func() { c.send(p, cmd.id) })
	case proto.PacketSignal:
		c.begin(func() { c.signal(p.Target, cmd, signalStop, proto.PacketSignalAck) })
	case proto.PacketClose:
		if cmd.ended {
			return nil
		}
		cmd.ended = true
		if !cmd.sent { // the host has never heard of it
			delete(c.commands, p.Target)
			close(cmd.started)
			c.acknowledge(proto.PacketCloseAck, p.Target)
			return nil
		}
		c.begin(func() { c.signal(p.Target, cmd, signalTerminate, proto.PacketCloseAck) })
	}
	return nil
}

// begin runs an operation beside all others, with mu held. Close waits for it.
func (c *Conn) begin(operation func()) {
	if !c.closed {
		c.group.Go(operation)
	}
}

func (c *Conn) acknowledge(k proto.PacketKind, target clixml.GUID) {
	c.begin(func() { c.deliver(proto.Packet{Kind: k, Target: target}) })
}

// exchange makes a request and reads its answer. A *FaultError is the host's refusal.
func (c *Conn) exchange(r *request) (*response, error) {
	c.mu.Lock()
	r.selectors = c.shell
	c.mu.Unlock()
	id := newID()
	envelope := c.client.appendEnvelope(nil, r, id)
	if len(envelope) > c.client.envelope {
		return nil, fmt.Errorf("wsman: %v: an envelope of %d bytes, at most %d: %w", r.action, len(envelope), c.client.envelope, proto.ErrTooLarge)
	}
	ctx, stop := context.WithTimeout(c.ctx, c.config.OperationTimeout+httpPatience)
	defer stop()
	body, err := c.connections.do(ctx, envelope)
	if err != nil {
		return nil, err
	}
	answer, err := parseResponse(body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%v: %w", r.action, err)
	case !strings.EqualFold(answer.relatesTo, id):
		return nil, fmt.Errorf("%v: %w: it is the answer to another request, %.100q", r.action, errAnswer, answer.relatesTo)
	case answer.fault != nil:
		return nil, answer.fault
	case answer.action != actions[r.action].uri+"Response":
		return nil, fmt.Errorf("%v: %w: its action is %.200q", r.action, errAnswer, answer.action)
	}
	return answer, nil
}

// create makes the shell with the pool's first fragments and asks for what comes from it.
func (c *Conn) create(data []byte) {
	f, _, err := proto.ParseFragment(data)
	var h proto.MessageHeader
	if err == nil {
		h, _, err = proto.ParseMessage(f.Blob)
	}
	if err != nil {
		c.fail(fmt.Errorf("wsman: the first packet opens no pool: %w", err))
		return
	}
	answer, err := c.exchange(&request{action: actCreate, shell: upper(h.Pool), idle: c.config.IdleTimeout, data: data})
	if err == nil && len(answer.selectors) == 0 {
		err = fmt.Errorf("%v: %w: it names no shell", actCreate, errAnswer)
	}
	if err != nil {
		c.fail(c.transportError("open", err))
		return
	}
	c.config.Logger.LogAttrs(c.ctx, slog.LevelInfo, "psrp: wsman shell created", slog.String("host", c.host), slog.Any("auth", c.config.Auth), slog.String("configuration", c.config.ConfigurationName))
	c.mu.Lock()
	c.shell = answer.selectors
	c.begin(func() { c.receive(clixml.GUID{}, nil) })
	c.mu.Unlock()
	c.deliver(proto.Packet{Kind: proto.PacketDataAck})
}

// start runs the command that carries a pipeline's first fragment, then sends what is left.
func (c *Conn) start(p proto.Packet, cmd *command) {
	_, rest, err := proto.ParseFragment(p.Data)
	if err == nil {
		var answer *response
		answer, err = c.exchange(&request{action: actCommand, command: cmd.id, data: p.Data[:len(p.Data)-len(rest)]})
		if err == nil && answer.command != "" {
			cmd.id = answer.command // old hosts give a number of their own
		}
	}
	close(cmd.started)
	if err != nil {
		c.lose(p.Target, cmd, err)
		return
	}
	c.mu.Lock()
	c.begin(func() { c.receive(p.Target, cmd) })
	c.mu.Unlock()
	if len(rest) == 0 {
		c.deliver(proto.Packet{Kind: proto.PacketDataAck, Target: p.Target})
		return
	}
	p.Data = rest
	c.send(p, cmd.id)
}

// send sends a packet's fragments to the pool or, with a command, to a pipeline.
func (c *Conn) send(p proto.Packet, id string) {
	stream := "stdin"
	if p.Stream == proto.StreamPromptResponse {
		stream = "pr"
	}
	_, err := c.exchange(&request{action: actSend, command: id, stream: stream, data: p.Data})
	if err != nil {
		c.mu.Lock()
		cmd := c.commands[p.Target]
		c.mu.Unlock()
		c.lose(p.Target, cmd, err)
		return
	}
	c.deliver(proto.Packet{Kind: proto.PacketDataAck, Target: p.Target})
}

// signal stops or ends a pipeline's command. One that has ended by itself is as it should be.
func (c *Conn) signal(target clixml.GUID, cmd *command, code string, ack proto.PacketKind) {
	select {
	case <-cmd.started:
	case <-c.ctx.Done():
		return
	}
	c.mu.Lock()
	sent := cmd.sent
	c.mu.Unlock()
	var err error
	if sent {
		_, err = c.exchange(&request{action: actSignal, command: cmd.id, signal: code})
	}
	if fault, ok := errors.AsType[*FaultError](err); ok {
		c.config.Logger.LogAttrs(c.ctx, slog.LevelDebug, "psrp: wsman signal refused", slog.String("command", cmd.id), slog.Any("error", fault))
		err = nil
	}
	if err != nil {
		c.fail(c.transportError("send", err))
		return
	}
	if ack == proto.PacketCloseAck {
		c.mu.Lock()
		delete(c.commands, target)
		c.mu.Unlock()
	}
	c.deliver(proto.Packet{Kind: ack, Target: target})
}

// deleteShell ends the pool and all in it.
func (c *Conn) deleteShell() {
	c.mu.Lock()
	made := c.shell != nil
	c.mu.Unlock()
	if made {
		if _, err := c.exchange(&request{action: actDelete}); err != nil {
			c.config.Logger.LogAttrs(c.ctx, slog.LevelWarn, "psrp: wsman shell not deleted", slog.String("host", c.host), slog.Any("error", err))
			if fault, ok := errors.AsType[*FaultError](err); !ok || !fault.gone() {
				c.fail(c.transportError("close", err))
				return
			}
		}
	}
	c.deliver(proto.Packet{Kind: proto.PacketCloseAck})
}

var errEnded = errors.New("wsman: the host ended it")

// receive asks for what the pool or a pipeline has to say until it has ended.
func (c *Conn) receive(target clixml.GUID, cmd *command) {
	r := request{action: actReceive}
	if cmd != nil {
		r.command = cmd.id
	}
	for {
		answer, err := c.exchange(&r)
		if fault, ok := errors.AsType[*FaultError](err); ok && fault.timedOut() {
			continue
		}
		if err != nil {
			c.lose(target, cmd, err)
			return
		}
		for _, s := range answer.streams {
			if s.name != "stdout" {
				c.fail(c.transportError("receive", fmt.Errorf("%v: %w: stream %.50q", actReceive, errAnswer, s.name)))
				return
			}
			if len(s.data) > 0 && !c.deliver(proto.Packet{Kind: proto.PacketData, Target: target, Data: s.data}) {
				return
			}
		}
		if answer.state == "Done" {
			// After the pipeline's last state this is nothing new; without one it is the end all
			// the same.
			if cmd == nil {
				c.fail(c.transportError("receive", errEnded))
			} else {
				c.deliver(proto.Packet{Kind: proto.PacketFault, Target: target, Err: errEnded})
			}
			return
		}
	}
}

// lose ends a pipeline by an error: the host's refusal ends it alone, all else the connection. What
// happens to a pipeline or pool that is being closed is its end.
func (c *Conn) lose(target clixml.GUID, cmd *command, err error) {
	c.mu.Lock()
	closing, ended := c.closing, cmd == nil || cmd.ended || c.commands[target] != cmd
	c.mu.Unlock()
	fault, isFault := errors.AsType[*FaultError](err)
	switch {
	case closing && c.ctx.Err() == nil:
	case !isFault || target.IsZero():
		c.fail(c.transportError("receive", err))
	case !ended:
		c.mu.Lock()
		delete(c.commands, target)
		c.mu.Unlock()
		c.deliver(proto.Packet{Kind: proto.PacketFault, Target: target, Err: fault})
	}
}
