package machine

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// appendFuzzed writes a packet for packetsOf: kind, stream, target, length, data.
func appendFuzzed(dst []byte, p proto.Packet) []byte {
	dst = append(dst, byte(p.Kind), byte(p.Stream))
	dst = append(dst, p.Target[:]...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(p.Data))) //nolint:gosec // G115: of a few bytes
	return append(dst, p.Data...)
}

func packetsOf(b []byte) (all []proto.Packet) {
	for len(b) >= 20 {
		p := proto.Packet{Kind: proto.PacketKind(b[0]), Stream: proto.Stream(b[1] % 2), Target: clixml.GUID(b[2:18])}
		n := min(int(binary.BigEndian.Uint16(b[18:])), len(b)-20)
		p.Data, b = b[20:20+n], b[20+n:]
		all = append(all, p)
	}
	return all
}

// fuzzedSession is what each side sends in a session with one pipeline, input, a host call and a
// stop.
func fuzzedSession(f *testing.F) (toServer, toClient []byte) {
	f.Helper()
	t := &testing.T{}
	p := openPair(t, true)
	pipeline := script("$input")
	pipeline.Input = true
	must := func(err error) {
		if err != nil {
			f.Fatal(err)
		}
	}
	must(p.client.Create(id(1), pipeline))
	must(p.client.Input(id(1), clixml.Int32(7)))
	p.pump()
	must(p.server.Record(id(1), proto.Record{Kind: proto.RecordOutput, Output: clixml.String("out")}))
	_, err := p.server.HostCall(id(1), proto.HostReadLine)
	must(err)
	p.pump()
	for _, e := range p.clientEvents() {
		if c, ok := e.(HostCalled); ok {
			must(p.client.Answer(id(1), c.Call.Answer(clixml.String("typed"))))
		}
	}
	_, err = p.client.Available()
	must(err)
	must(p.client.Stop(id(1)))
	p.pump()
	must(p.server.Finish(id(1), proto.PipelineStopped, proto.StoppedRecord()))
	must(p.client.Close())
	p.pump()
	must(p.server.FinishClose())
	p.pump()
	for _, packet := range p.toServer {
		toServer = appendFuzzed(toServer, packet)
	}
	for _, packet := range p.toClient {
		toClient = appendFuzzed(toClient, packet)
	}
	return toServer, toClient
}

// FuzzServer gives a server any packets: it acknowledges none twice, names what is wrong, and ends
// once.
func FuzzServer(f *testing.F) {
	toServer, _ := fuzzedSession(f)
	f.Add(toServer)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := NewServer(ServerConfig{Transport: proto.TransportProperties{Confidential: true}, Limits: Limits{Pipelines: 4, Input: 1 << 16}})
		received, acks, ended := 0, 0, 0
		look := func() {
			for _, e := range drain(s.NextEvent) {
				switch e := e.(type) {
				case Created:
					_, _ = s.HostCall(e.ID, proto.HostReadLine)
				case StopAsked:
					_ = s.Finish(e.ID, proto.PipelineStopped, nil)
				case CloseAsked:
					_ = s.FinishClose()
				case PoolEnded:
					ended++
				}
			}
			for p, ok := s.NextPacket(0); ok; p, ok = s.NextPacket(0) {
				if p.Kind != proto.PacketData {
					acks++
				}
			}
		}
		for _, p := range packetsOf(b) {
			received++
			if err := s.Receive(p); err != nil {
				if _, ok := errors.AsType[*proto.RemoteProtocolError](err); !ok {
					t.Errorf("%v (%T)", err, err)
				}
			}
			look()
		}
		s.Lost(io.ErrUnexpectedEOF)
		look()
		if acks > received || ended != 1 {
			t.Errorf("%d acknowledgements of %d packets; the session ended %d times", acks, received, ended)
		}
	})
}

// FuzzClient gives a client any packets: each of its pipelines ends once, and so does the session.
func FuzzClient(f *testing.F) {
	_, toClient := fuzzedSession(f)
	f.Add(toClient)
	f.Fuzz(func(t *testing.T, b []byte) {
		c := NewClient(ClientConfig{
			Pool: id(99), Transport: proto.TransportProperties{Confidential: true}, Init: proto.InitRunspacePool{MinRunspaces: 1, MaxRunspaces: 2, Host: proto.NoHost()},
		})
		if err := c.Open(); err != nil {
			t.Fatal(err)
		}
		created, pipelines, ended := false, 0, 0
		look := func() {
			for _, e := range drain(c.NextEvent) {
				switch e := e.(type) {
				case HostCalled:
					_ = c.Answer(e.ID, e.Call.Answer(clixml.Nil()))
				case PipelineEnded:
					pipelines++
				case PoolEnded:
					ended++
				}
			}
			for _, ok := c.NextPacket(0); ok; _, ok = c.NextPacket(0) {
			}
		}
		look()
		for _, p := range packetsOf(b) {
			if !created {
				pipeline := script("1")
				created = c.Create(id(1), pipeline) == nil
			}
			if err := c.Receive(p); err != nil {
				if _, ok := errors.AsType[*proto.RemoteProtocolError](err); !ok {
					t.Errorf("%v (%T)", err, err)
				}
			}
			look()
		}
		c.Lost(io.ErrUnexpectedEOF)
		look()
		if created != (pipelines == 1) || ended != 1 {
			t.Errorf("%d pipelines ended, created %t; the session ended %d times", pipelines, created, ended)
		}
	})
}
