package conformance

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// Step is what one line of a transcript says: a packet, and the messages that it completes.
type Step struct {
	Line     Line
	Packet   proto.Packet // Kind 0 when the line is none
	Messages []Message
}

// Message is a recorded message.
type Message struct {
	Header proto.MessageHeader
	Stream proto.Stream
	Body   []byte
}

var packetLine = regexp.MustCompile(`^<(\w+)(?: Stream='(\w+)')? PSGuid='([-0-9a-f]{36})'(?: />|>([^<]*)</Data>)$`)

// Steps reads the packets and messages of a transcript, independently of package oop.
func (t Transcript) Steps() ([]Step, error) {
	kinds := map[string]proto.PacketKind{}
	for k := proto.PacketData; k <= proto.PacketCloseAck; k++ {
		kinds[k.String()] = k
	}
	assemblers := map[string]*proto.Assembler{}
	var steps []Step
	for _, l := range t.Lines {
		s := Step{Line: l}
		m := packetLine.FindStringSubmatch(l.Text)
		if m == nil || kinds[m[1]] == 0 || l.Direction != "c2s" && l.Direction != "s2c" {
			if strings.HasPrefix(l.Text, "<") {
				return nil, fmt.Errorf("%s: line %d is not a packet", t.Name, l.N)
			}
			steps = append(steps, s)
			continue
		}
		id, err := clixml.ParseGUID(m[3])
		if err != nil {
			return nil, err
		}
		s.Packet = proto.Packet{Kind: kinds[m[1]], Target: id}
		if m[2] == "PromptResponse" {
			s.Packet.Stream = proto.StreamPromptResponse
		}
		if s.Packet.Data, err = base64.StdEncoding.DecodeString(m[4]); err != nil {
			return nil, err
		}
		if s.Packet.Kind == proto.PacketData {
			key := fmt.Sprint(l.Direction, m[3], s.Packet.Stream)
			a := assemblers[key]
			if a == nil {
				a = &proto.Assembler{}
				assemblers[key] = a
			}
			if s.Messages, err = complete(a, s.Packet); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", t.Name, l.N, err)
			}
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func complete(a *proto.Assembler, p proto.Packet) (all []Message, err error) {
	a.Add(p.Data)
	for {
		b, ok, err := a.Next()
		if err != nil || !ok {
			return all, err
		}
		h, body, err := proto.ParseMessage(b)
		if err != nil {
			return all, err
		}
		all = append(all, Message{h, p.Stream, bytes.Clone(body)})
	}
}

// Walk calls f with a pointer to every value inside v, for a change in place, and returns v.
func Walk(v clixml.Value, f func(*clixml.Value)) clixml.Value {
	seen := map[any]bool{}
	var walk func(v *clixml.Value)
	properties := func(p clixml.Properties) {
		for i := range p {
			walk(&p[i].Value)
		}
	}
	walk = func(v *clixml.Value) {
		f(v)
		if o, ok := v.Object(); ok {
			if !seen[o] {
				seen[o] = true
				walk(&o.Base)
				properties(o.Adapted)
				properties(o.Extended)
			}
			return
		}
		if l, ok := v.List(); ok && !seen[l] {
			seen[l] = true
			for i := range l.Items {
				walk(&l.Items[i])
			}
		}
		if d, ok := v.Dict(); ok && !seen[d] {
			seen[d] = true
			for i := range d.Entries {
				walk(&d.Entries[i].Key)
				walk(&d.Entries[i].Value)
			}
		}
		if m, ok := v.MemberSet(); ok && !seen[m] {
			seen[m] = true
			properties(m.Members)
		}
	}
	walk(&v)
	return v
}

// ClearDecoder reads the SecureStrings of protocol 2.4.
func ClearDecoder() *clixml.Decoder { return &clixml.Decoder{Cipher: clearText{}} }

type clearText struct{}

func (clearText) Encrypt(dst, text []byte) ([]byte, error) { return append(dst, text...), nil }
func (clearText) Decrypt(dst, data []byte) ([]byte, error) { return append(dst, data...), nil }
