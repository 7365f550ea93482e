package host_test

import (
	"context"
	"fmt"

	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
)

func Example() {
	h := host.NewScripted(host.Answer{Method: proto.HostReadLine, Value: "Ada"})
	answer := h.Set().Serve(context.Background(), &proto.HostCall{CallID: 1, Method: proto.HostReadLine})
	fmt.Println(answer.Result)
	// Output: Ada
}
