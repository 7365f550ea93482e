package conformance_test

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/internal/conformance"
	"example.com/quire/psrp/proto"
)

func transcripts(t *testing.T) []conformance.Transcript {
	t.Helper()
	all, err := conformance.Transcripts(conformance.Folders("../../tap/testdata/real")...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var dataLine = regexp.MustCompile(`^<Data Stream='\w+' PSGuid='([-0-9a-f]+)'>(.*)</Data>$`)

// message is a message of a transcript.
type message struct {
	n      int
	header proto.MessageHeader
	body   []byte
}

// messages takes a transcript's messages out of its lines.
func messages(t *testing.T, tr conformance.Transcript) (all []message) {
	t.Helper()
	assemblers := map[string]*proto.Assembler{}
	for _, l := range tr.Lines {
		m := dataLine.FindStringSubmatch(l.Text)
		if m == nil {
			continue
		}
		payload, err := base64.StdEncoding.DecodeString(m[2])
		if err != nil {
			t.Fatalf("line %d: %v", l.N, err)
		}
		a := assemblers[l.Direction+m[1]]
		if a == nil {
			a = &proto.Assembler{}
			assemblers[l.Direction+m[1]] = a
		}
		a.Add(payload)
		for {
			b, ok, err := a.Next()
			if err != nil {
				t.Fatalf("line %d: %v", l.N, err)
			}
			if !ok {
				break
			}
			h, body, err := proto.ParseMessage(b)
			if err != nil {
				t.Fatalf("line %d: %v", l.N, err)
			}
			all = append(all, message{l.N, h, bytes.Clone(body)})
		}
	}
	return all
}

// TestEveryRecordedBodyReencodesByteForByte is the byte oracle: what PowerShell wrote, we write.
func TestEveryRecordedBodyReencodesByteForByte(t *testing.T) {
	bodies := 0
	for _, tr := range transcripts(t) {
		t.Run(tr.Name, func(t *testing.T) {
			var d clixml.Decoder
			var e clixml.Encoder
			for _, m := range messages(t, tr) {
				bodies++
				if len(m.body) == 0 {
					continue
				}
				v, err := d.Decode(m.body)
				if err != nil {
					t.Fatalf("line %d, %v: %v", m.n, m.header.Type, err)
				}
				out, err := e.AppendValue([]byte("\xEF\xBB\xBF"), v)
				if err != nil || !bytes.Equal(out, m.body) {
					t.Fatalf("line %d, %v: %v\nwant %s\ngot  %s", m.n, m.header.Type, err, m.body, out)
				}
			}
		})
	}
	if bodies < 3936 {
		t.Errorf("%d bodies, want at least the 3936 that were recorded", bodies)
	}
}

// TestEveryRecordedMessageIsTyped decodes each message to its Go type and encodes that again: the
// same value, whatever the order of its properties.
func TestEveryRecordedMessageIsTyped(t *testing.T) {
	seen := map[proto.MessageType]bool{}
	for _, tr := range transcripts(t) {
		t.Run(tr.Name, func(t *testing.T) {
			var d clixml.Decoder
			var e clixml.Encoder
			version := clixml.NewVersion(2, 4)
			for _, m := range messages(t, tr) {
				seen[m.header.Type] = true
				decoded, err := proto.DecodeMessage(m.header.Type, m.body, &d)
				if err != nil {
					t.Fatalf("line %d: %v", m.n, err)
				}
				if decoded.Type() != m.header.Type {
					t.Fatalf("line %d: %v decoded as %v", m.n, m.header.Type, decoded.Type())
				}
				if c, ok := decoded.(*proto.SessionCapability); ok && c.Protocol.Compare(version) < 0 {
					version = c.Protocol
				}
				out, err := proto.AppendBody(nil, &e, decoded, version)
				if err != nil {
					t.Fatalf("line %d, %v: %v", m.n, m.header.Type, err)
				}
				want, err := d.Decode(m.body)
				if err != nil {
					t.Fatal(err)
				}
				got, err := d.Decode(out)
				if err != nil {
					t.Fatalf("line %d, %v: our own body: %v", m.n, m.header.Type, err)
				}
				if !conformance.Alike(want, got) {
					t.Fatalf("line %d, %v:\nwant %s\ngot  %s", m.n, m.header.Type, m.body, out)
				}
			}
		})
	}
	if len(seen) < 24 {
		t.Errorf("%d types of message, want the 24 that were recorded", len(seen))
	}
}
