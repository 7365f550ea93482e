package psrp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// poolTracer remembers the identifier of a session's pool.
type poolTracer struct {
	mu   sync.Mutex
	pool clixml.GUID
}

func (p *poolTracer) TraceMessage(_ proto.Direction, h proto.MessageHeader, _ []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !h.Pool.IsZero() {
		p.pool = h.Pool
	}
}

func (p *poolTracer) id() clixml.GUID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pool
}

// wire is a session in memory between whose ends a test can write what no peer may send.
type wire struct {
	client, server net.Conn
	session        *Session
	pool           clixml.GUID
	served         chan error
}

func openWire(t *testing.T, srv *Server, o Options) *wire {
	t.Helper()
	w := &wire{served: make(chan error, 1)}
	w.client, w.server = net.Pipe()
	go func() {
		w.served <- srv.Serve(context.Background(), oop.NewConn(w.server, oop.Server, oop.Options{}), Identity{})
	}()
	traced := &poolTracer{}
	o.Tracer = traced
	var err error
	if w.session, err = Open(t.Context(), oop.NewConn(w.client, oop.Client, oop.Options{}), o); err != nil {
		t.Fatal(err)
	}
	w.pool = traced.id()
	return w
}

// dataLine is fragments as a line of the wire.
func dataLine(target clixml.GUID, fragments ...byte) string {
	return string(oop.AppendPacket(nil, proto.Packet{Kind: proto.PacketData, Target: target, Data: fragments}))
}

// packetLine is a packet without data as a line of the wire.
func packetLine(k proto.PacketKind, target clixml.GUID) string {
	return string(oop.AppendPacket(nil, proto.Packet{Kind: k, Target: target}))
}

// hostileObject numbers what tests send: a peer's own count does not get there.
const hostileObject = 1 << 30

// outOfOrder is two fragments of an object without the one between them.
func outOfOrder() []byte {
	b := proto.AppendFragment(nil, proto.Fragment{Object: hostileObject, Start: true, Blob: []byte("a")})
	return proto.AppendFragment(b, proto.Fragment{Object: hostileObject, ID: 2, End: true, Blob: []byte("b")})
}

// TestHostileClientEndsItsOwnSessionAlone sends what no client may, once a session is open. The
// server says what was wrong and where, ends that session with what runs in it, and serves others
// on.
func TestHostileClientEndsItsOwnSessionAlone(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	r := echoRegistry()
	started, ended := make(chan bool, 1), make(chan bool, 1)
	add(r, "Wait-Forever", func(ctx context.Context, _ *Call) error {
		started <- true
		<-ctx.Done()
		ended <- true
		return ctx.Err()
	})
	limits := ServerLimits{}
	limits.Machine.Message = 64 << 10
	srv := &Server{Registry: r, Limits: limits}
	id := clixml.GUID{7}
	// create sends a body as CREATE_PIPELINE of a new pipeline.
	create := func(pool clixml.GUID, body string) string {
		m := proto.AppendMessage(nil, proto.MessageHeader{To: proto.ToServer, Type: proto.MessageCreatePipeline, Pool: pool, Pipeline: id}, []byte(body))
		return packetLine(proto.PacketCommand, id) + dataLine(id, proto.AppendFragments(nil, hostileObject, m, 0)...)
	}
	for _, tt := range []struct {
		name  string
		send  func(pool clixml.GUID) string
		stage string // of the RemoteProtocolError
		is    error
	}{
		{"depth bomb", func(pool clixml.GUID) string {
			return create(pool, strings.Repeat(`<Obj N="a" RefId="0"><MS>`, 1000))
		}, "", clixml.ErrTooDeep},
		{"entities", func(pool clixml.GUID) string {
			return create(pool, `<!DOCTYPE a [<!ENTITY b "c">]><S>&b;</S>`)
		}, "", clixml.ErrDTD},
		{"unknown tag", func(pool clixml.GUID) string {
			return create(pool, `<Obj RefId="0"><MS><Foo N="NoInput">1</Foo></MS></Obj>`)
		}, "", clixml.ErrUnknownTag},
		{"missing field", func(pool clixml.GUID) string { return create(pool, `<Obj RefId="0"><MS /></Obj>`) }, "", nil},
		{"another pool", func(clixml.GUID) string { return create(clixml.GUID{9}, `<S />`) }, "", nil},
		{"unknown message", func(pool clixml.GUID) string {
			m := proto.AppendMessage(nil, proto.MessageHeader{To: proto.ToServer, Type: 0x00049999, Pool: pool, Pipeline: id}, nil)
			return packetLine(proto.PacketCommand, id) + dataLine(id, proto.AppendFragments(nil, hostileObject, m, 0)...)
		}, "message", nil},
		{"message of a server", func(pool clixml.GUID) string {
			m := proto.AppendMessage(nil, proto.MessageHeader{To: proto.ToServer, Type: proto.MessagePipelineState, Pool: pool, Pipeline: id}, nil)
			return packetLine(proto.PacketCommand, id) + dataLine(id, proto.AppendFragments(nil, hostileObject, m, 0)...)
		}, "message", nil},
		{"too large", func(clixml.GUID) string {
			return packetLine(proto.PacketCommand, id) + dataLine(id, proto.AppendFragments(nil, hostileObject, make([]byte, 100<<10), 32<<10)...)
		}, "fragment", proto.ErrTooLarge},
		{"fragments out of order", func(clixml.GUID) string {
			return packetLine(proto.PacketCommand, id) + dataLine(id, outOfOrder()...)
		}, "fragment", nil},
		{"an object without a number", func(clixml.GUID) string {
			return dataLine(clixml.GUID{}, proto.AppendFragment(nil, proto.Fragment{Start: true, End: true, Blob: []byte("a")})...)
		}, "fragment", nil},
		{"acknowledgement", func(clixml.GUID) string { return packetLine(proto.PacketDataAck, clixml.GUID{}) }, "", nil},
		{"signal to the pool", func(clixml.GUID) string { return packetLine(proto.PacketSignal, clixml.GUID{}) }, "", nil},
		{"one pipeline twice", func(clixml.GUID) string {
			return packetLine(proto.PacketCommand, id) + packetLine(proto.PacketCommand, id)
		}, "", nil},
		{"text", func(clixml.GUID) string { return "Permission denied\n" }, "", nil},
		{"half a packet", func(clixml.GUID) string { return "<Data Stream='Default' PSGuid='00000000\n" }, "", nil},
		{"no base64", func(clixml.GUID) string {
			return "<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>!!!!</Data>\n"
		}, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := openWire(t, srv, Options{})
			s := w.session
			if _, err := s.Start(t.Context(), Cmd("Wait-Forever")); err != nil {
				t.Fatal(err)
			}
			<-started
			if _, err := w.client.Write([]byte(tt.send(w.pool))); err != nil && !errors.Is(err, net.ErrClosed) {
				t.Logf("write: %v", err)
			}
			err := <-w.served
			e, ok := errors.AsType[*RemoteProtocolError](err)
			if !ok || tt.stage != "" && e.Stage != tt.stage || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("serve: %v (%T)", err, err)
			}
			<-ended
			<-s.Done()
			_ = s.Close(context.Background())
			other := startServer(t, srv, Options{})
			if got := outputs(t, other, Cmd("echo").Arg("a")); !slices.Equal(got, []string{"a"}) {
				t.Errorf("output %q", got)
			}
		})
	}
	t.Run("gone in the middle of a fragment", func(t *testing.T) {
		w := openWire(t, srv, Options{})
		half := create(w.pool, `<S />`)
		if _, err := fmt.Fprint(w.client, half[:len(half)-20]); err != nil {
			t.Fatal(err)
		}
		_ = w.client.Close()
		if err := <-w.served; err == nil {
			t.Error("a client that has gone is no fault")
		}
		_ = w.session.Close(context.Background())
	})
}
