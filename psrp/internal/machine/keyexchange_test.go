package machine

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"slices"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

func TestSecureStringWaitsForTheSessionKey(t *testing.T) {
	p := openPair(t, false)
	pipeline := script("param($p) $p")
	pipeline.Statements[0][0].Args = []proto.Arg{{Name: "p", Value: clixml.NewSecureString("secret").Value()}}
	if err := p.client.Create(id(1), pipeline); err != nil {
		t.Fatal(err)
	}
	p.pump()
	none[Created](t, p.serverEvents())
	want[KeyNeeded](t, p.clientEvents())
	p.exchangeKey()
	v := want[Created](t, p.serverEvents()).Pipeline.Statements[0][0].Args[0].Value
	s, ok := v.SecureString()
	if !ok {
		t.Fatalf("argument is %v", v.Kind())
	}
	if text, ok := s.Reveal(); !ok || text != "secret" {
		t.Errorf("argument is %q", text)
	}
	none[KeyNeeded](t, p.clientEvents())
}

func TestReceivedSecureStringWaitsPastTheEnd(t *testing.T) {
	p := openPair(t, false)
	if err := p.client.Create(id(1), script("x")); err != nil {
		t.Fatal(err)
	}
	p.pump()
	if err := errors.Join(
		p.server.Record(id(1), proto.Record{Output: clixml.Int32(1)}),
		p.server.Record(id(1), proto.Record{Output: clixml.NewSecureString("s").Value()}),
		p.server.Record(id(1), proto.Record{Output: clixml.Int32(2)}),
		p.server.Finish(id(1), proto.PipelineCompleted, nil),
	); err != nil {
		t.Fatal(err)
	}
	p.pump()
	events := p.clientEvents()
	want[Recorded](t, events)
	want[KeyNeeded](t, events)
	none[PipelineEnded](t, events)
	p.exchangeKey()
	events = p.clientEvents()
	var texts []string
	for _, e := range events {
		if r, ok := e.(Recorded); ok {
			if s, ok := r.Record.Output.SecureString(); ok {
				text, _ := s.Reveal()
				texts = append(texts, text)
			} else {
				texts = append(texts, r.Record.Output.Kind().String())
			}
		}
	}
	if !slices.Equal(texts, []string{"s", "Int32"}) {
		t.Errorf("records after the key: %v", texts)
	}
	want[PipelineEnded](t, events)
}

func TestServersRequestExchangesOneKeyHoweverManyAsk(t *testing.T) {
	p := openPair(t, false)
	ask := func() {
		t.Helper()
		if err := p.server.send(clixml.GUID{}, &proto.PublicKeyRequest{}); err != nil {
			t.Fatal(err)
		}
		p.pump()
	}
	ask()
	secret := script("x")
	secret.Statements[0][0].Args = []proto.Arg{{Value: clixml.NewSecureString("s").Value()}}
	if err := errors.Join(p.client.RequestKey(), p.client.Create(id(1), secret), p.client.Create(id(2), secret)); err != nil {
		t.Fatal(err)
	}
	ask()
	want[KeyNeeded](t, p.clientEvents())
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.client.ExchangeKey(key); err != nil {
		t.Fatal(err)
	}
	var local *proto.LocalProtocolError
	if err := p.client.ExchangeKey(key); !errors.As(err, &local) {
		t.Errorf("a second key: %v", err)
	}
	p.toServer = nil
	p.pump()
	keys := 0
	for _, out := range p.toServer {
		if h, _, err := proto.ParseMessage(out.Data[min(len(out.Data), proto.FragmentHeaderSize):]); err == nil && h.Type == proto.MessagePublicKey {
			keys++
		}
	}
	created := 0
	for _, e := range p.serverEvents() {
		if _, ok := e.(Created); ok {
			created++
		}
	}
	if keys != 1 || created != 2 {
		t.Errorf("%d keys sent, %d pipelines created", keys, created)
	}
	none[KeyNeeded](t, p.clientEvents())
}
