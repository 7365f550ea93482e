package proto_test

import (
	"fmt"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

func Example() {
	body, err := proto.AppendBody(nil, &clixml.Encoder{}, &proto.PipelineOutput{Value: clixml.String("hi")}, clixml.NewVersion(2, 4))
	if err != nil {
		fmt.Println(err)
		return
	}
	h := proto.MessageHeader{To: proto.ToClient, Type: proto.MessagePipelineOutput, Pool: clixml.GUID{1}, Pipeline: clixml.GUID{2}}
	payload := proto.AppendFragments(nil, 1, proto.AppendMessage(nil, h, body), 0)

	var a proto.Assembler
	a.Add(payload)
	message, ok, err := a.Next()
	if !ok || err != nil {
		fmt.Println(ok, err)
		return
	}
	h, body, err = proto.ParseMessage(message)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := proto.DecodeMessage(h.Type, body, &clixml.Decoder{})
	if r, ok := proto.RecordOf(m); ok {
		fmt.Println(r.Kind, r.Output, err)
	}
	// Output: output hi <nil>
}
