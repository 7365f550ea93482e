package psrp

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// TestHostileServerEndsItsSession sends what no server may while a pipeline runs. The client says
// what was wrong and at which stage, everything ends with that, and nothing is left behind.
func TestHostileServerEndsItsSession(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	r := echoRegistry()
	add(r, "Wait-Forever", func(ctx context.Context, _ *Call) error {
		<-ctx.Done()
		return ctx.Err()
	})
	limits := Limits{}
	limits.Machine.Message = 64 << 10
	message := func(k proto.MessageType, body string) func(pool, id clixml.GUID) string {
		return func(pool, id clixml.GUID) string {
			m := proto.AppendMessage(nil, proto.MessageHeader{To: proto.ToClient, Type: k, Pool: pool, Pipeline: id}, []byte(body))
			return dataLine(id, proto.AppendFragments(nil, hostileObject, m, 0)...)
		}
	}
	for _, tt := range []struct {
		name  string
		send  func(pool, id clixml.GUID) string
		stage string // of the RemoteProtocolError
		is    error
	}{
		{"depth bomb", message(proto.MessagePipelineOutput, strings.Repeat(`<Obj N="a" RefId="0"><MS>`, 1000)), "", clixml.ErrTooDeep},
		{"entities", message(proto.MessagePipelineOutput, `<!DOCTYPE a [<!ENTITY b "c">]><S>&b;</S>`), "", clixml.ErrDTD},
		{"unknown tag", message(proto.MessagePipelineOutput, `<Foo>1</Foo>`), "", clixml.ErrUnknownTag},
		{"unknown reference", message(proto.MessagePipelineOutput, `<Ref RefId="7" />`), "", clixml.ErrUnknownRef},
		{"a wrapper", message(proto.MessagePipelineOutput, `<Objs><S>a</S></Objs>`), "", nil},
		{"state without a number", message(proto.MessagePipelineState, `<Obj RefId="0"><MS /></Obj>`), "", nil},
		{"unknown state", message(proto.MessagePipelineState, `<Obj RefId="0"><MS><I32 N="PipelineState">77</I32></MS></Obj>`), "", nil},
		{"unknown message", message(0x00049999, ""), "message", nil},
		{"message of a client", message(proto.MessagePipelineInput, `<S>a</S>`), "", nil},
		{"another pool", func(_, id clixml.GUID) string {
			return message(proto.MessagePipelineOutput, `<S>a</S>`)(clixml.GUID{9}, id)
		}, "message", nil},
		{"too large", func(_, id clixml.GUID) string {
			return dataLine(id, proto.AppendFragments(nil, hostileObject, make([]byte, 100<<10), 32<<10)...)
		}, "fragment", proto.ErrTooLarge},
		{"fragments out of order", func(_, id clixml.GUID) string { return dataLine(id, outOfOrder()...) }, "fragment", nil},
		{"a command", func(_, id clixml.GUID) string { return packetLine(proto.PacketCommand, id) }, "", nil},
		{"a signal", func(_, id clixml.GUID) string { return packetLine(proto.PacketSignal, id) }, "", nil},
		{"text", func(_, _ clixml.GUID) string { return "Permission denied\n" }, "", nil},
		{"half a packet", func(_, id clixml.GUID) string {
			return "<Data Stream='Default' PSGuid='" + id.String()[:8] + "\n"
		}, "", nil},
		{"no base64", func(_, id clixml.GUID) string {
			return "<Data Stream='Default' PSGuid='" + id.String() + "'>!!!!</Data>\n"
		}, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := openWire(t, &Server{Registry: r}, Options{Limits: limits})
			run, err := w.session.Start(t.Context(), Cmd("Wait-Forever"))
			if err != nil {
				t.Fatal(err)
			}
			if err := w.session.Ping(t.Context()); err != nil { // the server knows the pipeline
				t.Fatal(err)
			}
			if _, err := w.server.Write([]byte(tt.send(w.pool, run.id))); err != nil && !errors.Is(err, net.ErrClosed) {
				t.Logf("write: %v", err)
			}
			for _, err := range run.Records() {
				e, ok := errors.AsType[*RemoteProtocolError](err)
				if !ok || tt.stage != "" && e.Stage != tt.stage || tt.is != nil && !errors.Is(err, tt.is) {
					t.Errorf("the pipeline ended by %v (%T)", err, err)
				}
			}
			<-w.session.Done()
			if _, ok := errors.AsType[*RemoteProtocolError](w.session.Err()); !ok {
				t.Errorf("the session ended by %v", w.session.Err())
			}
			_ = w.session.Close(context.Background())
			t.Logf("serve: %v", <-w.served)
		})
	}
}
