package ws_test

import (
	"bytes"
	"compress/flate"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/quire/web/internal/wsframe"
	"example.com/quire/web/ws"
)

// TestRFC7692_7_1_Negotiation: an offer that is understood is met, any other declined, and no
// context is ever kept.
func TestRFC7692_7_1_Negotiation(t *testing.T) {
	const both = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
	addr, _ := upgraded(t, ws.Options{Compression: ws.NewCompression(0)}, echo)
	for offer, want := range map[string]string{
		"":                   "",
		"permessage-deflate": both,
		"permessage-deflate; client_max_window_bits":                                                 both,
		"permessage-deflate; client_max_window_bits=10":                                              both,
		"permessage-deflate; server_max_window_bits=10":                                              both + "; server_max_window_bits=10",
		`permessage-deflate; server_max_window_bits="9"`:                                             both + "; server_max_window_bits=9",
		"permessage-deflate; server_no_context_takeover;client_no_context_takeover":                  both,
		"permessage-deflate; server_max_window_bits":                                                 "",
		"permessage-deflate; server_max_window_bits=7":                                               "",
		"permessage-deflate; server_max_window_bits=16":                                              "",
		"permessage-deflate; server_max_window_bits=09":                                              "",
		"permessage-deflate; client_max_window_bits=0":                                               "",
		"permessage-deflate; server_no_context_takeover=1":                                           "",
		"permessage-deflate; server_no_context_takeover; server_no_context_takeover":                 "",
		"permessage-deflate; other":                                                                  "",
		"x-webkit-deflate-frame":                                                                     "",
		"permessage-deflate; server_max_window_bits=1, permessage-deflate; server_max_window_bits=8": both + "; server_max_window_bits=8",
		"x-other, permessage-deflate":                                                                both,
	} {
		p := dial(t, addr, "Sec-WebSocket-Extensions: "+offer)
		if got := p.resp.Header.Get("Sec-WebSocket-Extensions"); p.resp.StatusCode != 101 || got != want {
			t.Errorf("%q: %d %q, want %q", offer, p.resp.StatusCode, got, want)
		}
		p.send(closing(ws.Normal, ""))
		p.wantClose(ws.Normal)
	}
	off, _ := upgraded(t, ws.Options{}, echo)
	if got := dial(t, off, "Sec-WebSocket-Extensions: permessage-deflate").resp.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		t.Errorf("without Compression: %q", got)
	}
}

// packed compresses as section 7.2.1 says, by the standard library's deflate.
func packed(t *testing.T, message []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = w.Write(message)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{0, 0, 0xff, 0xff})
}

// unpack decompresses by the standard library's inflate.
func unpack(t *testing.T, b []byte) []byte {
	t.Helper()
	out, err := io.ReadAll(flate.NewReader(io.MultiReader(bytes.NewReader(b), strings.NewReader("\x00\x00\xff\xff\x01\x00\x00\xff\xff"))))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCompressedMessages: long ones come back compressed, short ones as they are, in one
// fragment or several, whatever the window.
func TestCompressedMessages(t *testing.T) {
	addr, _ := upgraded(t, ws.Options{Compression: ws.NewCompression(100), ReadLimit: 200_000}, echo)
	random := make([]byte, 100_000)
	for i := range random {
		random[i] = byte(rand.IntN(256)) //nolint:gosec // bytes that cannot be compressed
	}
	long := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog. ", 3000))
	for _, offer := range []string{"", "; server_max_window_bits=8", "; server_max_window_bits=9", "; server_max_window_bits=12"} {
		p := dial(t, addr, "Sec-WebSocket-Extensions: permessage-deflate"+offer)
		for _, message := range [][]byte{[]byte("short"), nil, long, random, long[:100], long[:99]} {
			b := packed(t, message)
			cut := len(b) / 2
			p.send(
				frame{wsframe.Header{Opcode: wsframe.Binary, Compressed: true}, b[:cut]},
				frame{wsframe.Header{Fin: true, Opcode: wsframe.Ping}, nil},
				frame{wsframe.Header{Fin: true, Opcode: wsframe.Continuation}, b[cut:]},
			)
			f, ok := p.next()
			for f.Opcode == wsframe.Pong {
				f, ok = p.next()
			}
			got := f.payload
			if f.Compressed {
				got = unpack(t, f.payload)
			}
			if !ok || f.Compressed != (len(message) >= 100) || !bytes.Equal(got, message) {
				t.Fatalf("%q: %d bytes came back as %d, %+v", offer, len(message), len(got), f.Header)
			}
			if len(message) == len(long) && len(f.payload) > len(long)/10 {
				t.Errorf("%q: compressed to %d of %d bytes", offer, len(f.payload), len(long))
			}
		}
		p.send(closing(ws.Normal, ""))
		p.wantClose(ws.Normal)
	}
}

// TestCompressedMessagesAreBounded: what a small frame becomes counts, and what is not deflate
// is told.
func TestCompressedMessagesAreBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		frames []frame
		code   ws.Code
	}{
		"a bomb":               {[]frame{{wsframe.Header{Fin: true, Opcode: wsframe.Binary, Compressed: true}, packed(t, make([]byte, 10<<20))}}, ws.MessageTooBig},
		"one byte too many":    {[]frame{{wsframe.Header{Fin: true, Opcode: wsframe.Binary, Compressed: true}, packed(t, make([]byte, 32<<10+1))}}, ws.MessageTooBig},
		"compressed too long":  {[]frame{{wsframe.Header{Fin: true, Opcode: wsframe.Binary, Compressed: true}, make([]byte, 34<<10)}}, ws.MessageTooBig},
		"no deflate":           {[]frame{{wsframe.Header{Fin: true, Opcode: wsframe.Binary, Compressed: true}, []byte("\xff\xff\xff")}}, ws.InvalidPayload},
		"cut":                  {[]frame{{wsframe.Header{Fin: true, Opcode: wsframe.Binary, Compressed: true}, packed(t, []byte(strings.Repeat("abc", 100)))[:4]}}, ws.InvalidPayload},
		"text that is no text": {[]frame{{wsframe.Header{Fin: true, Opcode: wsframe.Text, Compressed: true}, packed(t, []byte("\xff"))}}, ws.InvalidPayload},
		"RSV1 on a later part": {[]frame{{wsframe.Header{Opcode: wsframe.Text, Compressed: true}, nil}, {wsframe.Header{Fin: true, Opcode: wsframe.Continuation, Compressed: true}, nil}}, ws.ProtocolError},
	} {
		addr, _ := upgraded(t, ws.Options{Compression: ws.NewCompression(0)}, echo)
		p := dial(t, addr, "Sec-WebSocket-Extensions: permessage-deflate")
		p.send(tc.frames...)
		t.Log(name)
		p.wantClose(tc.code)
	}
	addr, _ := upgraded(t, ws.Options{Compression: ws.NewCompression(0)}, echo)
	p := dial(t, addr, "Sec-WebSocket-Extensions: permessage-deflate")
	p.send(frame{wsframe.Header{Fin: true, Opcode: wsframe.Binary, Compressed: true}, packed(t, make([]byte, 32<<10))})
	if f, ok := p.next(); !ok || f.Opcode != wsframe.Binary {
		t.Errorf("a message of the limit: %+v", f.Header)
	}
}
