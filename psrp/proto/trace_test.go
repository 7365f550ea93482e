package proto_test

import (
	"bytes"
	"strings"
	"testing"

	"example.com/quire/psrp/proto"
)

func TestTextTracerMasksSecrets(t *testing.T) {
	var b bytes.Buffer
	tr := proto.TextTracer(&b, 60)
	id := guid("00112233-4455-6677-8899-aabbccddeeff")
	tr.TraceMessage(proto.ToServer, proto.MessageHeader{Type: proto.MessageCreatePipeline, Pipeline: id}, []byte(`<Obj><MS><SS N="V">cAB3AA==</SS><S>x</S></MS></Obj>`))
	tr.TraceMessage(proto.ToClient, proto.MessageHeader{Type: proto.MessagePipelineOutput, Pipeline: id}, []byte("<SS>"+strings.Repeat("cAB3", 100)+"</SS>"))
	tr.TraceMessage(proto.ToServer, proto.MessageHeader{Type: proto.MessagePublicKey}, []byte(`<S>BgIAAACk</S>`))
	tr.TraceMessage(proto.ToClient, proto.MessageHeader{Type: proto.MessageRunspacePoolState}, []byte(strings.Repeat("x", 100)))
	got := b.String()
	if strings.Contains(got, "cAB3") || strings.Contains(got, "BgIA") {
		t.Errorf("secrets in %s", got)
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "to server CREATE_PIPELINE "+id.String()+" 51 bytes \"<Obj><MS><SS N=\\\"V\\\">[redacted]</SS>") || !strings.HasSuffix(lines[3], "xxx...\"") {
		t.Errorf("traced\n%s", got)
	}
}
