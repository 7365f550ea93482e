package host_test

import (
	"context"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
)

// FuzzServe gives a host calls of any method with any parameters: each has one answer, of its
// number.
func FuzzServe(f *testing.F) {
	f.Add(int32(proto.HostPrompt), []byte(`<Obj RefId="0"><LST><S>c</S><S>m</S><Obj RefId="1"><LST><Obj RefId="2"><MS><S N="name">n</S></MS></Obj></LST></Obj></LST></Obj>`))
	f.Add(int32(proto.HostSetBufferContents2), []byte(`<Obj RefId="0"><LST><Obj RefId="1"><MS><I32 N="x">1</I32><I32 N="y">2</I32></MS></Obj><Obj RefId="2"><MS><Obj N="mae" RefId="3"><LST /></Obj><Obj N="mal" RefId="4"><LST><I32>2147483647</I32><I32>2</I32></LST></Obj></MS></Obj></LST></Obj>`))
	f.Add(int32(proto.HostPromptForChoice), []byte(`<Obj RefId="0"><LST><S /><S /><Obj RefId="1"><LST /></Obj><I32>-1</I32></LST></Obj>`))
	f.Fuzz(func(t *testing.T, method int32, body []byte) {
		d := clixml.Decoder{Limits: clixml.Limits{Nodes: 10_000, Decoded: 1 << 20}}
		v, err := d.Decode(body)
		if err != nil {
			return
		}
		l, ok := v.Base().List()
		if !ok {
			return
		}
		call := &proto.HostCall{CallID: 7, Method: proto.HostMethod(method), Params: l.Items}
		answer := host.NewScripted().Set().Serve(context.Background(), call)
		if answer == nil || answer.CallID != 7 || answer.Method != call.Method {
			t.Errorf("%v of %q is answered %+v", call.Method, body, answer)
		}
	})
}
