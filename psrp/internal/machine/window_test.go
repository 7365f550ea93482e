package machine

import (
	"slices"
	"strings"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

func TestClientHasOneUnacknowledgedDataPerTarget(t *testing.T) {
	p := openPair(t, true)
	pipeline := script("x")
	pipeline.Input = true
	for _, n := range []byte{1, 2} {
		if err := p.client.Create(id(n), pipeline); err != nil {
			t.Fatal(err)
		}
	}
	kinds := func() (got []string) {
		for {
			out, ok := p.client.NextPacket(0)
			if !ok {
				return got
			}
			got = append(got, out.Kind.String()+string('0'+out.Target[15]))
		}
	}
	if got := kinds(); !slices.Equal(got, []string{"Command1", "Command2"}) {
		t.Errorf("sent before CommandAck: %v", got)
	}
	ack := func(k proto.PacketKind, n byte) {
		t.Helper()
		if err := p.client.Receive(proto.Packet{Kind: k, Target: id(n)}); err != nil {
			t.Fatal(err)
		}
	}
	ack(proto.PacketCommandAck, 2)
	if got := kinds(); !slices.Equal(got, []string{"Data2"}) {
		t.Errorf("sent after CommandAck of 2: %v", got)
	}
	for range 3 {
		if err := p.client.Input(id(2), clixml.Int32(1)); err != nil {
			t.Fatal(err)
		}
	}
	ack(proto.PacketCommandAck, 1)
	if got := kinds(); !slices.Equal(got, []string{"Data1"}) {
		t.Errorf("sent while Data of 2 is unacknowledged: %v", got)
	}
	ack(proto.PacketDataAck, 2)
	if got := kinds(); !slices.Equal(got, []string{"Data2"}) {
		t.Errorf("sent after DataAck of 2: %v, want one packet for all that queued up", got)
	}
}

func TestQueuedInputIsPackedIntoPayloads(t *testing.T) {
	for limit, want := range map[int]int{0: 4, 256 << 10: 1} { // packets
		p := openPair(t, true)
		p.client.payload = max(limit, proto.DefaultPayload)
		pipeline := script("x")
		pipeline.Input = true
		if err := p.client.Create(id(1), pipeline); err != nil {
			t.Fatal(err)
		}
		p.pump()
		p.toServer = nil
		text := strings.Repeat("x", 1000)
		for range 50 {
			if err := p.client.Input(id(1), clixml.String(text)); err != nil {
				t.Fatal(err)
			}
		}
		large := strings.Repeat("y", 50_000)
		if err := p.client.Input(id(1), clixml.String(large)); err != nil {
			t.Fatal(err)
		}
		p.pump()
		if len(p.toServer) != want {
			t.Errorf("limit %d: %d packets, want %d", limit, len(p.toServer), want)
		}
		for _, packet := range p.toServer {
			if most := max(limit, proto.DefaultPayload); len(packet.Data) > most {
				t.Errorf("limit %d: a payload of %d bytes", limit, len(packet.Data))
			}
			for b := packet.Data; len(b) > 0; {
				f, rest, err := proto.ParseFragment(b)
				if err != nil || len(f.Blob) > proto.DefaultPayload-proto.FragmentHeaderSize {
					t.Fatalf("limit %d: a fragment of %d bytes, %v", limit, len(f.Blob), err)
				}
				b = rest
			}
		}
		given := 0
		for _, e := range p.serverEvents() {
			if in, ok := e.(InputGiven); ok {
				given++
				if s, _ := in.Value.Text(); s != text && s != large {
					t.Errorf("limit %d: input of %d bytes", limit, len(s))
				}
			}
		}
		if given != 51 {
			t.Errorf("limit %d: %d objects arrived", limit, given)
		}
	}
}

func TestServerAcknowledgesEveryPacketOnce(t *testing.T) {
	p := openPair(t, true)
	p.toServer, p.toClient = nil, nil
	if err := p.client.Create(id(1), script("x")); err != nil {
		t.Fatal(err)
	}
	p.pump()
	if _, err := p.client.SetMax(3); err != nil {
		t.Fatal(err)
	}
	p.pump()
	acks := func() (all []string) {
		for _, out := range p.toClient {
			if out.Kind != proto.PacketData {
				all = append(all, out.Kind.String()+string('0'+out.Target[15]))
			}
		}
		p.toClient = nil
		return all
	}
	if got := acks(); !slices.Equal(got, []string{"CommandAck1", "DataAck1"}) {
		t.Errorf("before the pool's answer: %v", got)
	}
	for _, e := range p.serverEvents() {
		if asked, ok := e.(RunspacesAsked); ok {
			m, _ := asked.Request.(*proto.SetMaxRunspaces)
			if err := p.server.RunspacesAnswer(&proto.RunspaceAvailability{CallID: m.CallID, Accepted: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.pump()
	if p.toClient[0].Kind != proto.PacketData {
		t.Error("the acknowledgement came before the answer")
	}
	if got := acks(); !slices.Equal(got, []string{"DataAck0"}) {
		t.Errorf("after the pool's answer: %v", got)
	}
	for _, k := range []proto.PacketKind{proto.PacketData, proto.PacketSignal, proto.PacketClose} {
		if err := p.server.Receive(proto.Packet{Kind: k, Target: id(7), Data: []byte("anything")}); err != nil {
			t.Errorf("%v of an unknown pipeline: %v", k, err)
		}
	}
	for {
		out, ok := p.server.NextPacket(0)
		if !ok {
			break
		}
		p.toClient = append(p.toClient, out)
	}
	if got := acks(); !slices.Equal(got, []string{"DataAck7", "SignalAck7", "CloseAck7"}) {
		t.Errorf("of an unknown pipeline: %v", got)
	}
}

func TestHoldingAPipelineHoldsItsAcknowledgements(t *testing.T) {
	p := openPair(t, true)
	pipeline := script("x")
	pipeline.Input = true
	if err := p.client.Create(id(1), pipeline); err != nil {
		t.Fatal(err)
	}
	p.pump()
	p.server.Hold(id(1), true)
	for range 10 {
		if err := p.client.Input(id(1), clixml.String("x")); err != nil {
			t.Fatal(err)
		}
		p.pump()
	}
	given := 0
	count := func() {
		for _, e := range p.serverEvents() {
			if _, ok := e.(InputGiven); ok {
				given++
			}
		}
	}
	if count(); given != 1 || p.client.Queued(id(1)) == 0 {
		t.Errorf("%d inputs passed, %d bytes wait", given, p.client.Queued(id(1)))
	}
	p.server.Hold(id(1), false)
	p.pump()
	if count(); given != 10 || p.client.Queued(id(1)) != 0 {
		t.Errorf("%d inputs passed, %d bytes wait", given, p.client.Queued(id(1)))
	}
}

func TestOneCountOfObjectsRunsOverTheSession(t *testing.T) {
	p := openPair(t, true)
	for n := byte(1); n <= 3; n++ {
		if err := p.client.Create(id(n), script("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := p.client.SetMin(1); err != nil {
			t.Fatal(err)
		}
	}
	p.pump()
	seen := map[uint64]bool{}
	for _, out := range p.toServer {
		for b := out.Data; len(b) > 0; {
			f, rest, err := proto.ParseFragment(b)
			if err != nil || seen[f.Object] {
				t.Fatalf("object %d again, %v", f.Object, err)
			}
			seen[f.Object], b = true, rest
		}
	}
	for n := range uint64(len(seen)) {
		if !seen[n+1] {
			t.Errorf("object %d of %d is missing", n+1, len(seen))
		}
	}
}
