package oop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"example.com/quire/psrp/proto"
)

// Role is the side of a connection.
type Role uint8

// The sides.
const (
	Client Role = iota
	Server
)

// Options are for NewConn; the zero value works.
type Options struct {
	// OnBanner is given the text lines, at most 64 of 16 KiB in all, that came before the first
	// packet, once and when that packet comes. Only clients tolerate such lines. It is called by
	// Recv.
	OnBanner func(lines []string)
	// Confidential says that nobody reads along: a child process, SSH, a Unix socket.
	Confidential bool
	// MaxPayload is the most bytes of input that a client packs into one packet when they have
	// queued up: from 32 KiB, which is PowerShell's and the default, to 256 KiB. The next packet
	// waits for an acknowledgement, so more is faster where a round trip takes long.
	MaxPayload int
	// Host is for errors.
	Host string
	// Stderr, when not nil, is what the peer writes beside the protocol. It is read to its end, and
	// its last 8 KiB stand in the errors of Send and Recv.
	Stderr io.Reader
	// ExitCode, when not nil, is asked once the stream has ended, for the error: the peer's exit
	// code, -1 when there is none. It may wait for a moment.
	ExitCode func() int
}

const (
	maxLine        = 16 << 20
	maxPayload     = 256 << 10
	readSize       = 64 << 10
	maxBannerLines = 64
	maxBannerBytes = 16 << 10
	// endPatience is how long an error waits for what the peer said at its end: a stream ends a
	// moment before the process behind it does.
	endPatience = time.Second
)

// Conn moves packets over a stream. It satisfies psrp.Transport: one Send and one Recv at a time,
// side by side.
type Conn struct {
	rw      io.ReadWriteCloser
	role    Role
	options Options

	out []byte // of Send

	in      []byte // read and not yet returned, from Recv
	scanned int    // of in, without a line end
	start   int    // of the next line in in
	data    []byte // decoded Data of the last packet
	begun   bool   // the first packet has come

	bannerMu sync.Mutex
	banner   []string
	size     int

	closeOnce sync.Once
	closeErr  error
	closed    chan struct{}
	stderr    *tail         // nil without
	heard     chan struct{} // closed when Options.Stderr has ended
}

// NewConn returns a connection over rw, which Close closes. A server is one that ServeStdio or a
// subsystem of sshd starts.
func NewConn(rw io.ReadWriteCloser, r Role, o Options) *Conn {
	c := &Conn{rw: rw, role: r, options: o, closed: make(chan struct{}), heard: make(chan struct{})}
	if o.Stderr == nil {
		close(c.heard)
		return c
	}
	c.stderr = &tail{}
	go func() {
		defer close(c.heard)
		_, _ = io.Copy(c.stderr, o.Stderr)
	}()
	return c
}

// Properties say what the framing carries.
func (c *Conn) Properties() proto.TransportProperties {
	return proto.TransportProperties{MaxPayload: min(max(c.options.MaxPayload, proto.DefaultPayload), maxPayload), Confidential: c.options.Confidential}
}

// Close closes the stream and frees a Send or Recv that is blocked in it.
func (c *Conn) Close() error {
	c.closeOnce.Do(func() {
		close(c.closed)
		c.closeErr = c.rw.Close()
	})
	return c.closeErr
}

// guard ends the connection when ctx ends first: a stream that may have moved half a packet is of
// no further use.
func (c *Conn) guard(ctx context.Context) (stop func() bool) {
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { _ = c.Close() })
}

// Send writes a packet by one call of Write. When ctx ends first, the connection is closed.
func (c *Conn) Send(ctx context.Context, p proto.Packet) error {
	c.out = AppendPacket(c.out[:0], p)
	defer func() {
		if cap(c.out) > 1<<20 {
			c.out = nil
		}
	}()
	stop := c.guard(ctx)
	defer stop()
	if _, err := c.rw.Write(c.out); err != nil {
		return c.lost(ctx, "send", err)
	}
	return nil
}

// Recv returns the next packet; its Data is valid until the next Recv. A *proto.TransportError is
// the end of the stream, io.EOF within it a regular one; a *proto.RemoteProtocolError is something
// that is no packet. When ctx ends first, the connection is closed.
func (c *Conn) Recv(ctx context.Context) (proto.Packet, error) {
	stop := c.guard(ctx)
	defer stop()
	for {
		line, err := c.line()
		if err != nil {
			if _, ok := errors.AsType[*proto.RemoteProtocolError](err); ok {
				return proto.Packet{}, err
			}
			return proto.Packet{}, c.lost(ctx, "receive", err)
		}
		if len(line) == 0 {
			if c.role == Server {
				// An empty line asks a server to end, as the end of its input does.
				return proto.Packet{}, c.lost(ctx, "receive", io.EOF)
			}
			if c.begun {
				continue
			}
		}
		p, data, err := parsePacket(line, c.data)
		c.data = data
		if err == nil {
			c.first()
			return p, nil
		}
		if c.role == Server || c.begun {
			return p, err
		}
		c.keep(line)
	}
}

// first ends the time in which text is a banner.
func (c *Conn) first() {
	if c.begun {
		return
	}
	c.begun = true
	c.bannerMu.Lock()
	lines := c.banner
	c.banner = nil
	c.bannerMu.Unlock()
	if len(lines) > 0 && c.options.OnBanner != nil {
		c.options.OnBanner(lines)
	}
}

func (c *Conn) keep(line []byte) {
	c.bannerMu.Lock()
	defer c.bannerMu.Unlock()
	if len(c.banner) < maxBannerLines && c.size < maxBannerBytes {
		line = line[:min(len(line), maxBannerBytes-c.size)]
		c.size += len(line)
		c.banner = append(c.banner, string(bytes.ToValidUTF8(line, []byte("?"))))
	}
}

// Banner returns the text that came instead of a first packet, for the error of a session that did
// not open. It may be called at any time.
func (c *Conn) Banner() string {
	c.bannerMu.Lock()
	defer c.bannerMu.Unlock()
	var text []string
	for _, l := range c.banner {
		if l != "" {
			text = append(text, l)
		}
	}
	return quote(text)
}

// line returns the next line without its LF and CR, a view until the next call.
func (c *Conn) line() ([]byte, error) {
	for {
		if i := bytes.IndexByte(c.in[c.scanned:], '\n'); i >= 0 {
			end := c.scanned + i
			line := c.in[c.start:end]
			c.start, c.scanned = end+1, end+1
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		c.scanned = len(c.in)
		if c.scanned-c.start > maxLine {
			return nil, &proto.RemoteProtocolError{Stage: "packet", Offset: maxLine, Err: fmt.Errorf("a line of more than %d bytes: %w", maxLine, proto.ErrTooLarge)}
		}
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads more, after making room: the beginning of a line moves to the front, the buffer
// doubles while a line does not fit, and a large one is given up when it is empty.
func (c *Conn) fill() error {
	if c.start > 0 {
		n := copy(c.in, c.in[c.start:])
		c.in, c.scanned, c.start = c.in[:n], c.scanned-c.start, 0
		if n == 0 && cap(c.in) > 1<<20 {
			c.in = nil
			c.data = nil
		}
	}
	if cap(c.in)-len(c.in) < readSize/2 {
		grown := make([]byte, len(c.in), max(readSize, 2*cap(c.in)))
		copy(grown, c.in)
		c.in = grown
	}
	n, err := c.rw.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// lost makes the error of a stream that has ended.
func (c *Conn) lost(ctx context.Context, phase string, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	} else {
		select {
		case <-c.closed:
			err = os.ErrClosed
		default:
		}
	}
	e := &proto.TransportError{Phase: phase, Host: c.options.Host, ExitCode: -1, Banner: c.Banner(), Err: err}
	if c.options.ExitCode != nil {
		e.ExitCode = c.options.ExitCode()
	}
	if c.stderr != nil {
		select {
		case <-c.heard:
		case <-time.After(endPatience):
		}
		e.Stderr = c.stderr.String()
	}
	return e
}
