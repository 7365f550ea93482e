//go:build !race

package machine

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/internal/conformance"
	"example.com/quire/psrp/proto"
)

// TestTranscript replays every recording of real PowerShell twice: our client against the recorded
// server and our server against the recorded client. What a side sent in the recording becomes the
// call that sends it; what it received is given to it. There is no code for a single recording: a
// new file is a new test.
//
// Compared per target: the packets but Data in their order, the messages as decoded values with the
// stream they went out on, acknowledgements one for one. Not compared, because nothing depends on
// them: ObjectIds, the cut into fragments and packets, the order of properties and of dictionary
// entries. Under a session key, which is gone with its session, the texts of SecureStrings are
// replaced by others.
func TestTranscript(t *testing.T) {
	all, err := conformance.Transcripts(conformance.Folders("../../tap/testdata/real")...)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 22 {
		t.Errorf("%d transcripts, want at least 22", len(all))
	}
	for _, tr := range all {
		t.Run(tr.Name, func(t *testing.T) {
			steps, err := tr.Steps()
			if err != nil {
				t.Fatal(err)
			}
			if err := replayClient(steps, steps); err != nil {
				t.Errorf("client: %v", err)
			}
			if err := replayServer(steps, steps); err != nil {
				t.Errorf("server: %v", err)
			}
		})
	}
}

// TestTranscriptReplayCanFail shows that a replay notices what is wrong: a judge that cannot fail
// proves nothing.
func TestTranscriptReplayCanFail(t *testing.T) {
	all, err := conformance.Transcripts("../../tap/testdata/real")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(tr conformance.Transcript) bool { return tr.Name == "streams" })
	steps, err := all[i].Steps()
	if err != nil {
		t.Fatal(err)
	}
	// find returns the nth step that fits.
	find := func(steps []conformance.Step, dir string, fits func(conformance.Step) bool) int {
		return slices.IndexFunc(steps, func(s conformance.Step) bool { return s.Line.Direction == dir && fits(s) })
	}
	has := func(mt proto.MessageType) func(conformance.Step) bool {
		return func(s conformance.Step) bool {
			return len(s.Messages) == 1 && s.Messages[0].Header.Type == mt && bytes.ContainsAny(s.Messages[0].Body, "123456789")
		}
	}
	digit := func(s *conformance.Step) {
		m := &s.Messages[0]
		m.Body = slices.Clone(m.Body)
		at := bytes.LastIndexAny(m.Body[:bytes.LastIndex(m.Body, []byte("</I32>"))], "0123456789")
		m.Body[at] ^= 1
	}
	for _, tt := range []struct {
		name   string
		mutate func(steps []conformance.Step) []conformance.Step
	}{
		{"changed digit in what the client sends", func(s []conformance.Step) []conformance.Step {
			digit(&s[find(s, "c2s", has(proto.MessageCreatePipeline))])
			return s
		}},
		{"changed digit in what the server sends", func(s []conformance.Step) []conformance.Step {
			digit(&s[find(s, "s2c", has(proto.MessageProgressRecord))])
			return s
		}},
		{"dropped acknowledgement", func(s []conformance.Step) []conformance.Step {
			i := find(s, "s2c", func(s conformance.Step) bool { return s.Packet.Kind == proto.PacketDataAck })
			return slices.Delete(s, i, i+1)
		}},
		{"swapped messages", func(s []conformance.Step) []conformance.Step {
			i, j := find(s, "s2c", has(proto.MessageWarningRecord)), find(s, "s2c", has(proto.MessageProgressRecord))
			if i < 0 {
				i = find(s, "s2c", has(proto.MessageInformationRecord))
			}
			s[i].Messages, s[j].Messages = s[j].Messages, s[i].Messages
			return s
		}},
		{"lost message", func(s []conformance.Step) []conformance.Step {
			i := find(s, "s2c", has(proto.MessageProgressRecord))
			return slices.Delete(s, i, i+1)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wrong := slices.Clone(steps)
			for i := range wrong {
				wrong[i].Messages = slices.Clone(wrong[i].Messages)
			}
			wrong = tt.mutate(wrong)
			if replayClient(steps, wrong) == nil && replayServer(steps, wrong) == nil {
				t.Error("nobody noticed")
			}
		})
	}
}

// exchangesKey reports whether a recording has SecureStrings under a session key.
func exchangesKey(steps []conformance.Step) bool {
	for _, s := range steps {
		for _, m := range s.Messages {
			if m.Header.Type == proto.MessagePublicKey {
				return true
			}
		}
	}
	return false
}

// sentBy are the names of packets that a side sends, per target.
type sentBy map[clixml.GUID][]string

func (s sentBy) add(id clixml.GUID, what string) { s[id] = append(s[id], what) }

// comparison holds the messages of both sides for one comparison by decoded value.
type comparison struct {
	want, got map[clixml.GUID][]conformance.Message
	wantKinds sentBy
	gotKinds  sentBy
	secret    bool
}

func newComparison(steps []conformance.Step, dir string) *comparison {
	c := &comparison{
		want: map[clixml.GUID][]conformance.Message{}, got: map[clixml.GUID][]conformance.Message{},
		wantKinds: sentBy{}, gotKinds: sentBy{}, secret: exchangesKey(steps),
	}
	for _, s := range steps {
		if s.Line.Direction != dir || s.Packet.Kind == 0 {
			continue
		}
		if s.Packet.Kind == proto.PacketData {
			c.want[s.Packet.Target] = append(c.want[s.Packet.Target], s.Messages...)
		} else {
			c.wantKinds.add(s.Packet.Target, s.Packet.Kind.String())
		}
	}
	return c
}

// sent takes a packet of ours.
func (c *comparison) sent(p proto.Packet, assemblers map[string]*proto.Assembler) error {
	if p.Kind != proto.PacketData {
		c.gotKinds.add(p.Target, p.Kind.String())
		return nil
	}
	key := fmt.Sprint(p.Target, p.Stream)
	a := assemblers[key]
	if a == nil {
		a = &proto.Assembler{}
		assemblers[key] = a
	}
	a.Add(p.Data)
	for {
		b, ok, err := a.Next()
		if err != nil || !ok {
			return err
		}
		h, body, err := proto.ParseMessage(b)
		if err != nil {
			return err
		}
		c.got[p.Target] = append(c.got[p.Target], conformance.Message{Header: h, Stream: p.Stream, Body: slices.Clone(body)})
	}
}

func (c *comparison) check() error {
	for id, want := range c.wantKinds {
		if got := c.gotKinds[id]; !slices.Equal(got, want) {
			return fmt.Errorf("packets of %v: sent %v, recorded %v", id, got, want)
		}
	}
	for id, got := range c.gotKinds {
		if _, ok := c.wantKinds[id]; !ok {
			return fmt.Errorf("packets of %v: sent %v, recorded none", id, got)
		}
	}
	for id := range c.got {
		if _, ok := c.want[id]; !ok {
			return fmt.Errorf("%d messages of %v, recorded none", len(c.got[id]), id)
		}
	}
	for id, want := range c.want {
		got := c.got[id]
		for i := range min(len(got), len(want)) {
			if err := c.same(want[i], got[i]); err != nil {
				return fmt.Errorf("message %d of %v: %w", i, id, err)
			}
		}
		if len(got) != len(want) {
			return fmt.Errorf("%d messages of %v, recorded %d", len(got), id, len(want))
		}
	}
	return nil
}

func (c *comparison) same(want, got conformance.Message) error {
	if want.Header.Type != got.Header.Type || want.Stream != got.Stream || want.Header.Pipeline != got.Header.Pipeline || want.Header.Pool != got.Header.Pool {
		return fmt.Errorf("header %+v on %v, recorded %+v on %v", got.Header, got.Stream, want.Header, want.Stream)
	}
	if want.Header.Type == proto.MessagePublicKey || want.Header.Type == proto.MessageEncryptedSessionKey {
		return nil // new for every session
	}
	var d clixml.Decoder
	a, err := d.Decode(want.Body)
	if err != nil {
		return err
	}
	b, err := d.Decode(got.Body)
	if err != nil {
		return err
	}
	if c.secret {
		hide := func(v *clixml.Value) {
			if v.Kind() == clixml.KindSecureString {
				*v = clixml.String("secret")
			}
		}
		a, b = conformance.Walk(a, hide), conformance.Walk(b, hide)
	}
	if !conformance.Alike(a, b) {
		return fmt.Errorf("%v is\n%.4000s\nrecorded\n%.4000s", want.Header.Type, got.Body, want.Body)
	}
	return nil
}

// told takes what an event told: the message that it came from, with everything that was understood
// of it.
func (c *comparison) told(id clixml.GUID, m proto.Message) error {
	h := proto.MessageHeader{Type: m.Type(), Pipeline: id}
	for _, w := range c.want[id] {
		h.To, h.Pool = w.Header.To, w.Header.Pool
	}
	body, err := proto.AppendBody(nil, &clixml.Encoder{Cipher: clearCipher{}}, m, clixml.NewVersion(2, 4))
	if err != nil {
		return err
	}
	s := proto.StreamDefault
	if _, ok := m.(*proto.HostResponse); ok {
		s = proto.StreamPromptResponse
	}
	c.got[id] = append(c.got[id], conformance.Message{Header: h, Stream: s, Body: body})
	return nil
}

// forEvents leaves out what the machine keeps to itself.
func (c *comparison) forEvents(hidden ...proto.MessageType) *comparison {
	c.wantKinds = sentBy{}
	for id, all := range c.want {
		c.want[id] = slices.DeleteFunc(all, func(m conformance.Message) bool {
			return slices.Contains(hidden, m.Header.Type)
		})
		if len(c.want[id]) == 0 {
			delete(c.want, id)
		}
	}
	return c
}

// eventMessage returns the message that an event came from; false for an event of the machine's
// own.
func eventMessage(e Event) (id clixml.GUID, m proto.Message, ok bool) {
	switch e := e.(type) {
	case PrivateData:
		return id, &proto.ApplicationPrivateData{Data: e.Data}, true
	case Availability:
		return id, e.Answer, true
	case UserEvented:
		return id, e.Event, true
	case Recorded:
		m, err := e.Record.AsMessage()
		return e.ID, m, err == nil
	case HostCalled:
		return e.ID, e.Call, true
	case PipelineEnded:
		return e.ID, &proto.PipelineStateMessage{State: e.State, Error: e.Error}, e.Cause == nil
	case Initialized:
		return id, e.Init, true
	case Created:
		return e.ID, &proto.CreatePipeline{Pipeline: *e.Pipeline}, true
	case MetadataAsked:
		return e.ID, e.Query, true
	case InputGiven:
		return e.ID, &proto.PipelineInput{Value: e.Value}, true
	case InputEnded:
		return e.ID, &proto.EndOfPipelineInput{}, true
	case HostAnswered:
		return e.ID, e.Answer, true
	case RunspacesAsked:
		return id, e.Request, true
	}
	return id, nil, false
}

// rekeyed encodes a message anew with its SecureStrings under another key.
func rekeyed(m conformance.Message, cipher clixml.Cipher, object uint64) (proto.Packet, error) {
	body := m.Body
	if len(body) > 0 {
		var d clixml.Decoder
		v, err := d.Decode(body)
		if err != nil {
			return proto.Packet{}, err
		}
		v = conformance.Walk(v, func(v *clixml.Value) {
			if v.Kind() == clixml.KindSecureString {
				*v = clixml.NewSecureString("another").Value()
			}
		})
		e := clixml.Encoder{Cipher: cipher}
		if body, err = e.AppendValue(nil, v); err != nil {
			return proto.Packet{}, err
		}
	}
	message := proto.AppendMessage(nil, m.Header, body)
	return proto.Packet{
		Kind: proto.PacketData, Stream: m.Stream, Target: m.Header.Pipeline, Data: proto.AppendFragments(nil, object, message, len(message)+proto.FragmentHeaderSize),
	}, nil
}

// decoded is a recorded message as a Go value. SecureStrings under a lost key are other ones.
func decoded(m conformance.Message, secret bool) (proto.Message, error) {
	var d clixml.Decoder
	if !secret {
		d.Cipher = clearCipher{}
		return proto.DecodeMessage(m.Header.Type, m.Body, &d)
	}
	p, err := rekeyed(m, clearCipher{}, 1)
	if err != nil {
		return nil, err
	}
	d.Cipher = clearCipher{}
	return proto.DecodeMessage(m.Header.Type, p.Data[proto.FragmentHeaderSize+proto.MessageHeaderSize:], &d)
}

// replayClient runs our client against a recorded server and compares with expected.
func replayClient(steps, expected []conformance.Step) error {
	r := &clientReplay{
		cmp: newComparison(expected, "c2s"), assemblers: map[string]*proto.Assembler{},
		first: map[clixml.GUID]proto.Message{}, unacked: map[clixml.GUID]bool{},
		events: newComparison(expected, "s2c").forEvents(proto.MessageSessionCapability, proto.MessageEncryptedSessionKey, proto.MessageRunspacePoolState),
	}
	cfg := ClientConfig{Transport: proto.TransportProperties{Confidential: true}}
	for _, s := range steps {
		for _, m := range s.Messages {
			v, err := decoded(m, r.cmp.secret)
			if err != nil {
				return err
			}
			switch v := v.(type) {
			case *proto.InitRunspacePool:
				cfg.Pool, cfg.Init = m.Header.Pool, *v
			case *proto.SessionCapability:
				if s.Line.Direction == "c2s" {
					cfg.Transport.MaxVersion = v.Protocol
				}
			case *proto.CreatePipeline, *proto.GetCommandMetadata:
				r.first[m.Header.Pipeline] = v
			}
		}
	}
	r.c = NewClient(cfg)
	lost := false
	for _, s := range steps {
		var err error
		switch s.Line.Direction {
		case "c2s":
			err = r.call(s)
		case "s2c":
			err = r.receive(s)
		case "eof":
			if s.Line.Text == "s2c" && r.c.state != cpClosed {
				lost = true
				r.c.Lost(fmt.Errorf("end of stream"))
			}
		}
		if err == nil {
			err = r.send()
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", s.Line.N, err)
		}
	}
	for range 1000 {
		if err := r.acknowledge(); err != nil {
			return err
		}
		if err := r.send(); err != nil {
			return err
		}
	}
	if err := r.drain(); err != nil {
		return err
	}
	if err := r.events.check(); err != nil {
		return fmt.Errorf("told: %w", err)
	}
	if r.ended == nil {
		return fmt.Errorf("the session did not end")
	}
	if want := map[bool]proto.PoolState{false: proto.PoolClosed, true: proto.PoolBroken}[lost]; r.ended.State != want || lost != (r.ended.Err != nil) {
		return fmt.Errorf("the session ended %+v, want %v", *r.ended, want)
	}
	return r.cmp.check()
}

type clientReplay struct {
	c          *Client
	cmp        *comparison
	events     *comparison
	assemblers map[string]*proto.Assembler
	first      map[clixml.GUID]proto.Message // what creates each pipeline
	unacked    map[clixml.GUID]bool
	key        *rsa.PrivateKey
	session    sessionKey // in place of the one that is lost
	objects    uint64
	ended      *PoolEnded
}

// call makes the call that a recorded line of the client stands for.
func (r *clientReplay) call(s conformance.Step) error {
	id := s.Packet.Target
	switch s.Packet.Kind {
	case proto.PacketCommand:
		switch m := r.first[id].(type) {
		case *proto.CreatePipeline:
			return r.c.Create(id, &m.Pipeline)
		case *proto.GetCommandMetadata:
			return r.c.Metadata(id, m)
		}
		return fmt.Errorf("nothing creates pipeline %v", id)
	case proto.PacketSignal:
		return r.c.Stop(id)
	case proto.PacketClose:
		if id.IsZero() {
			return r.c.Close()
		}
		return r.c.ClosePipeline(id)
	}
	for _, rec := range s.Messages {
		m, err := decoded(rec, r.cmp.secret)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *proto.SessionCapability:
			err = r.c.Open()
		case *proto.PublicKey:
			if r.key == nil {
				r.key, err = rsa.GenerateKey(rand.Reader, 2048)
			}
			if err == nil {
				_ = r.c.RequestKey()
				err = r.c.ExchangeKey(r.key)
			}
		case *proto.SetMaxRunspaces:
			_, err = r.c.SetMax(m.Max)
		case *proto.SetMinRunspaces:
			_, err = r.c.SetMin(m.Min)
		case *proto.GetAvailableRunspaces:
			_, err = r.c.Available()
		case *proto.ResetRunspaceState:
			_, err = r.c.Reset()
		case *proto.PipelineInput:
			err = r.c.Input(id, m.Value)
		case *proto.EndOfPipelineInput:
			err = r.c.EndInput(id)
		case *proto.HostResponse:
			err = r.c.Answer(id, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *clientReplay) send() error {
	for {
		p, ok := r.c.NextPacket(0)
		if !ok {
			return nil
		}
		if p.Kind == proto.PacketData {
			if r.unacked[p.Target] {
				return fmt.Errorf("a second unacknowledged Data of %v", p.Target)
			}
			r.unacked[p.Target] = true
		}
		if err := r.cmp.sent(p, r.assemblers); err != nil {
			return err
		}
	}
}

// acknowledge acknowledges our Data, whose number is not that of the recording.
func (r *clientReplay) acknowledge() error {
	for id := range r.unacked {
		delete(r.unacked, id)
		if err := r.c.Receive(proto.Packet{Kind: proto.PacketDataAck, Target: id}); err != nil {
			return err
		}
	}
	return nil
}

// receive plays a recorded line of the server and looks at what it was told to be.
func (r *clientReplay) receive(s conformance.Step) error {
	if err := r.acknowledge(); err != nil || s.Packet.Kind == 0 || s.Packet.Kind == proto.PacketDataAck {
		return err
	}
	if s.Packet.Kind != proto.PacketData || !r.cmp.secret {
		return errors.Join(r.c.Receive(s.Packet), r.drain())
	}
	for _, m := range s.Messages {
		r.objects++
		var p proto.Packet
		var err error
		if m.Header.Type == proto.MessageEncryptedSessionKey {
			blob, err := sealSessionKey(&r.key.PublicKey, r.sessionKey())
			if err != nil {
				return err
			}
			body, err := proto.AppendBody(nil, &clixml.Encoder{}, &proto.EncryptedSessionKey{Blob: blob}, r.c.version)
			if err != nil {
				return err
			}
			m.Body = body
		}
		r.sessionKey()
		if p, err = rekeyed(m, &r.session, r.objects); err != nil {
			return err
		}
		if err := r.c.Receive(p); err != nil {
			return err
		}
	}
	return r.drain()
}

func (r *clientReplay) sessionKey() []byte {
	if r.session.key == nil {
		r.session.key = make([]byte, keySize)
		_, _ = rand.Read(r.session.key)
	}
	return r.session.key
}

func (r *clientReplay) drain() error {
	for _, e := range drain(r.c.NextEvent) {
		if end, ok := e.(PoolEnded); ok {
			r.ended = &end
		}
		if id, m, ok := eventMessage(e); ok {
			if err := r.events.told(id, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// replayServer runs our server against a recorded client and compares with expected.
func replayServer(steps, expected []conformance.Step) error {
	cmp := newComparison(expected, "s2c")
	cfg := ServerConfig{Transport: proto.TransportProperties{Confidential: true}}
	opened := false
	events := newComparison(expected, "c2s").forEvents(proto.MessageSessionCapability, proto.MessagePublicKey)
	for _, s := range steps {
		for _, m := range s.Messages {
			if s.Line.Direction != "s2c" {
				continue
			}
			v, err := decoded(m, cmp.secret)
			if err != nil {
				return err
			}
			switch v := v.(type) {
			case *proto.ApplicationPrivateData:
				opened = true
				cfg.PrivateData = func(clixml.Version) clixml.Value { return v.Data }
			case *proto.SessionCapability:
				cfg.Transport.MaxVersion = v.Protocol
			}
		}
	}
	s := NewServer(cfg)
	assemblers := map[string]*proto.Assembler{}
	objects := uint64(0)
	for _, step := range steps {
		var err error
		switch {
		case step.Line.Direction == "c2s" && step.Packet.Kind == proto.PacketData && cmp.secret:
			whole := step.Packet
			whole.Data = nil
			for _, m := range step.Messages {
				var p proto.Packet
				objects++
				if p, err = rekeyed(m, &s.key, objects); err != nil {
					break
				}
				whole.Data = append(whole.Data, p.Data...)
			}
			if err == nil {
				err = s.Receive(whole)
			}
		case step.Line.Direction == "c2s" && step.Packet.Kind != 0:
			err = s.Receive(step.Packet)
		case step.Line.Direction == "s2c":
			for _, m := range step.Messages {
				if err = serverCall(s, m, cmp.secret); err != nil {
					break
				}
			}
		}
		if !opened && s.state == spClosing {
			err = s.FinishClose()
		}
		for err == nil {
			p, ok := s.NextPacket(0)
			if !ok {
				break
			}
			err = cmp.sent(p, assemblers)
		}
		for _, e := range drain(s.NextEvent) {
			if id, m, ok := eventMessage(e); ok && err == nil {
				err = events.told(id, m)
			}
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", step.Line.N, err)
		}
	}
	// A recorded server that was closed before it could answer said less than ours does in time.
	if !opened {
		delete(cmp.got, clixml.GUID{})
		cmp.gotKinds[clixml.GUID{}] = slices.DeleteFunc(cmp.gotKinds[clixml.GUID{}], func(k string) bool { return k == "DataAck" })
	}
	if err := events.check(); err != nil {
		return fmt.Errorf("told: %w", err)
	}
	return cmp.check()
}

// serverCall makes the call that a recorded message of the server stands for.
func serverCall(s *Server, rec conformance.Message, secret bool) error {
	m, err := decoded(rec, secret)
	if err != nil {
		return err
	}
	id := rec.Header.Pipeline
	switch m := m.(type) {
	case *proto.SessionCapability, *proto.ApplicationPrivateData, *proto.EncryptedSessionKey:
		return nil // the machine's own
	case *proto.RunspacePoolState:
		if m.State == proto.PoolClosing {
			return s.FinishClose()
		}
		return nil
	case *proto.RunspaceAvailability:
		return s.RunspacesAnswer(m)
	case *proto.PipelineStateMessage:
		return s.Finish(id, m.State, m.Error)
	case *proto.HostCall:
		ci, err := s.HostCall(id, m.Method, m.Params...)
		if err == nil && ci != m.CallID {
			return fmt.Errorf("host call %d, recorded %d", ci, m.CallID)
		}
		return err
	default:
		r, ok := proto.RecordOf(m)
		if !ok {
			return fmt.Errorf("%v is not understood", m.Type())
		}
		return s.Record(id, r)
	}
}
