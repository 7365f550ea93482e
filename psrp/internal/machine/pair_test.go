package machine

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// pair is a client and a server whose packets go to each other.
type pair struct {
	t        *testing.T
	client   *Client
	server   *Server
	toServer []proto.Packet // every packet, for tests that count them
	toClient []proto.Packet
}

func id(n byte) clixml.GUID { return clixml.GUID{15: n, 0: 1} }

func newPair(t *testing.T, confidential bool) *pair {
	t.Helper()
	tr := proto.TransportProperties{Confidential: confidential}
	p := &pair{
		t: t,
		client: NewClient(ClientConfig{
			Pool: id(99), Transport: tr, Init: proto.InitRunspacePool{MinRunspaces: 1, MaxRunspaces: 2, Host: proto.NoHost()},
		}),
		server: NewServer(ServerConfig{Transport: tr}),
	}
	return p
}

// openPair is a pair whose pool is open and whose first events are read.
func openPair(t *testing.T, confidential bool) *pair {
	t.Helper()
	p := newPair(t, confidential)
	if err := p.client.Open(); err != nil {
		t.Fatal(err)
	}
	p.pump()
	want[Initialized](t, p.serverEvents())
	events := p.clientEvents()
	want[PrivateData](t, events)
	want[Opened](t, events)
	return p
}

// pump carries packets until there are none.
func (p *pair) pump() {
	p.t.Helper()
	for busy := true; busy; {
		busy = false
		if out, ok := p.client.NextPacket(0); ok {
			busy = true
			out.Data = bytes.Clone(out.Data)
			p.toServer = append(p.toServer, out)
			if err := p.server.Receive(out); err != nil {
				p.t.Fatalf("server: %v", err)
			}
		}
		if out, ok := p.server.NextPacket(0); ok {
			busy = true
			out.Data = bytes.Clone(out.Data)
			p.toClient = append(p.toClient, out)
			if err := p.client.Receive(out); err != nil {
				p.t.Fatalf("client: %v", err)
			}
		}
	}
}

// exchangeKey brings the key that the client has asked for.
func (p *pair) exchangeKey() {
	p.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err == nil {
		err = p.client.ExchangeKey(key)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.pump()
}

func drain(next func() (Event, bool)) (events []Event) {
	for {
		e, ok := next()
		if !ok {
			return events
		}
		events = append(events, e)
	}
}

func (p *pair) clientEvents() []Event { return drain(p.client.NextEvent) }
func (p *pair) serverEvents() []Event { return drain(p.server.NextEvent) }

// want returns the one event of type T among events.
func want[T Event](t *testing.T, events []Event) T {
	t.Helper()
	var found []T
	for _, e := range events {
		if x, ok := e.(T); ok {
			found = append(found, x)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d events %T, want one among %#v", len(found), *new(T), events)
	}
	return found[0]
}

func none[T Event](t *testing.T, events []Event) {
	t.Helper()
	for _, e := range events {
		if _, ok := e.(T); ok {
			t.Fatalf("event %#v", e)
		}
	}
}

func script(text string) *proto.Pipeline {
	return &proto.Pipeline{Statements: [][]proto.Command{{{Name: text, Script: true}}}}
}
