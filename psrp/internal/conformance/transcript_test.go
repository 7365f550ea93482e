//go:build !race

package conformance_test

import (
	"bytes"
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

// message is a message of a transcript.
type message struct {
	conformance.Message
	n int
}

func messages(t *testing.T, tr conformance.Transcript) (all []message) {
	t.Helper()
	steps, err := tr.Steps()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		for _, m := range s.Messages {
			all = append(all, message{m, s.Line.N})
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
				if len(m.Body) == 0 {
					continue
				}
				v, err := d.Decode(m.Body)
				if err != nil {
					t.Fatalf("line %d, %v: %v", m.n, m.Header.Type, err)
				}
				out, err := e.AppendValue([]byte("\xEF\xBB\xBF"), v)
				if err != nil || !bytes.Equal(out, m.Body) {
					t.Fatalf("line %d, %v: %v\nwant %s\ngot  %s", m.n, m.Header.Type, err, m.Body, out)
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
				seen[m.Header.Type] = true
				decoded, err := proto.DecodeMessage(m.Header.Type, m.Body, &d)
				if err != nil {
					t.Fatalf("line %d: %v", m.n, err)
				}
				if decoded.Type() != m.Header.Type {
					t.Fatalf("line %d: %v decoded as %v", m.n, m.Header.Type, decoded.Type())
				}
				if c, ok := decoded.(*proto.SessionCapability); ok && c.Protocol.Compare(version) < 0 {
					version = c.Protocol
				}
				out, err := proto.AppendBody(nil, &e, decoded, version)
				if err != nil {
					t.Fatalf("line %d, %v: %v", m.n, m.Header.Type, err)
				}
				want, err := d.Decode(m.Body)
				if err != nil {
					t.Fatal(err)
				}
				got, err := d.Decode(out)
				if err != nil {
					t.Fatalf("line %d, %v: our own body: %v", m.n, m.Header.Type, err)
				}
				if !conformance.Alike(want, got) {
					t.Fatalf("line %d, %v:\nwant %s\ngot  %s", m.n, m.Header.Type, m.Body, out)
				}
			}
		})
	}
	if len(seen) < 24 {
		t.Errorf("%d types of message, want the 24 that were recorded", len(seen))
	}
}
