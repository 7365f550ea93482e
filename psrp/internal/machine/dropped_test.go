package machine

import (
	"testing"

	"example.com/quire/psrp/proto"
)

func TestDroppedContinuationsAreTold(t *testing.T) {
	stray := proto.AppendFragment(nil, proto.Fragment{Object: 9, ID: 1, End: true, Blob: []byte("rest")})
	stray = proto.AppendFragment(stray, proto.Fragment{Object: 9, ID: 2, End: true, Blob: []byte("rest")})
	check := func(side string, receive func(proto.Packet) error, next func() (Event, bool)) {
		t.Helper()
		for range 2 {
			if err := receive(proto.Packet{Kind: proto.PacketData, Data: stray}); err != nil {
				t.Fatal(err)
			}
			e, ok := next()
			if d, is := e.(FragmentsDropped); !ok || !is || d.Count != 2 || !d.ID.IsZero() {
				t.Errorf("%s: event %#v", side, e)
			}
		}
	}
	s := NewServer(ServerConfig{})
	check("server", s.Receive, s.NextEvent)
	c := NewClient(ClientConfig{Init: proto.InitRunspacePool{MinRunspaces: 1, MaxRunspaces: 1}})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	check("client", c.Receive, c.NextEvent)
}
