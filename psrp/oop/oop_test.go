package oop_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

var someID = clixml.GUID{0x8b, 0x51, 0x73, 0xd1, 15: 0x11}

func TestPacketsHaveOneForm(t *testing.T) {
	for _, tt := range []struct {
		p    proto.Packet
		line string
	}{
		{proto.Packet{Kind: proto.PacketData, Data: []byte("hi")}, "<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>aGk=</Data>"},
		{proto.Packet{Kind: proto.PacketData, Stream: proto.StreamPromptResponse, Target: someID, Data: []byte{0}}, "<Data Stream='PromptResponse' PSGuid='8b5173d1-0000-0000-0000-000000000011'>AA==</Data>"},
		{proto.Packet{Kind: proto.PacketDataAck}, "<DataAck PSGuid='00000000-0000-0000-0000-000000000000' />"},
		{proto.Packet{Kind: proto.PacketCommand, Target: someID}, "<Command PSGuid='8b5173d1-0000-0000-0000-000000000011' />"},
		{proto.Packet{Kind: proto.PacketCommandAck, Target: someID}, "<CommandAck PSGuid='8b5173d1-0000-0000-0000-000000000011' />"},
		{proto.Packet{Kind: proto.PacketSignal, Target: someID}, "<Signal PSGuid='8b5173d1-0000-0000-0000-000000000011' />"},
		{proto.Packet{Kind: proto.PacketSignalAck, Target: someID}, "<SignalAck PSGuid='8b5173d1-0000-0000-0000-000000000011' />"},
		{proto.Packet{Kind: proto.PacketClose}, "<Close PSGuid='00000000-0000-0000-0000-000000000000' />"},
		{proto.Packet{Kind: proto.PacketCloseAck}, "<CloseAck PSGuid='00000000-0000-0000-0000-000000000000' />"},
	} {
		if got := string(oop.AppendPacket(nil, tt.p)); got != tt.line+"\n" {
			t.Errorf("%v is written as %q, want %q", tt.p.Kind, got, tt.line)
		}
		for _, line := range []string{tt.line, strings.ReplaceAll(tt.line, "'", `"`), strings.Replace(tt.line, " />", "/>", 1)} {
			got, err := oop.ParsePacket([]byte(line))
			if err != nil || got.Kind != tt.p.Kind || got.Stream != tt.p.Stream || got.Target != tt.p.Target || !bytes.Equal(got.Data, tt.p.Data) {
				t.Errorf("%q is read as %+v, %v", line, got, err)
			}
		}
	}
}

func TestWhatIsNoPacketIsRefused(t *testing.T) {
	const g = "PSGuid='8b5173d1-0000-0000-0000-000000000011'"
	for _, line := range []string{
		"", "hello", "<", "<>", "</Data>", "<data " + g + " />", "<DataAck />", "<Foo " + g + " />", "<DataAck " + g, "<DataAck " + g + ">",
		"<DataAck " + g + " " + g + " />", "<DataAck Stream='Default' " + g + " />", "<Data " + g + ">aGk=</Data>", "<Data Stream='Default'>aGk=</Data>",
		"<Data Stream='default' " + g + ">aGk=</Data>", "<Data Stream='Default' " + g + "></Data>", "<Data Stream='Default' " + g + " />",
		"<Data Stream='Default' " + g + " X='y'>aGk=</Data>", "<Data Stream='Default' " + g + ">aGk</Data>", "<Data Stream='Default' " + g + ">aGk=</Dota>",
		"<Data Stream='Default' " + g + ">aGk=</Data>x", "<DataAck " + g + ">x</DataAck>", "<DataAck PSGuid='8b5173d1' />", "<DataAck PSGuid=8b />",
		"<DataAck PSGuid='8b5173d1-0000-0000-0000-00000000001g' />", "<DataAck" + g + " />", "<DataAck " + g + " / >", " <DataAck " + g + " />",
	} {
		p, err := oop.ParsePacket([]byte(line))
		if _, ok := errors.AsType[*proto.RemoteProtocolError](err); !ok {
			t.Errorf("%q is read as %+v, %v", line, p, err)
		}
	}
}

// stream is a connection that reads from one side and collects what is written.
type stream struct {
	io.Reader
	bytes.Buffer
	writes int
}

func (s *stream) Read(b []byte) (int, error)  { return s.Reader.Read(b) }
func (s *stream) Write(b []byte) (int, error) { s.writes++; return s.Buffer.Write(b) }
func (s *stream) Close() error                { return nil }

func TestMaxPayloadIsFrom32To256KiB(t *testing.T) {
	for asked, want := range map[int]int{0: 32 << 10, 1: 32 << 10, 100_000: 100_000, 1 << 30: 256 << 10} {
		c := oop.NewConn(&stream{}, oop.Client, oop.Options{MaxPayload: asked})
		if got := c.Properties().MaxPayload; got != want {
			t.Errorf("MaxPayload %d is %d, want %d", asked, got, want)
		}
	}
}

func TestLineOverTheLimitIsRefused(t *testing.T) {
	c := oop.NewConn(&stream{Reader: iotest.HalfReader(endless{})}, oop.Client, oop.Options{})
	_, err := c.Recv(t.Context())
	if !errors.Is(err, proto.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestBannerIsCollectedBeforeTheFirstPacketOnly(t *testing.T) {
	const ack = "<DataAck PSGuid='00000000-0000-0000-0000-000000000000' />\n"
	var got []string
	c := oop.NewConn(&stream{Reader: strings.NewReader("Welcome\n\n<motd>\n" + ack + "\n" + ack + "late\n")}, oop.Client, oop.Options{OnBanner: func(lines []string) { got = lines }})
	for range 2 {
		if p, err := c.Recv(t.Context()); err != nil || p.Kind != proto.PacketDataAck {
			t.Fatalf("%v, %v", p, err)
		}
	}
	if !slices.Equal(got, []string{"Welcome", "", "<motd>"}) {
		t.Errorf("banner %q", got)
	}
	_, err := c.Recv(t.Context())
	if _, ok := errors.AsType[*proto.RemoteProtocolError](err); !ok {
		t.Errorf("text after the first packet: %v", err)
	}
}

func TestBannerIsQuotedWhenNoPacketFollows(t *testing.T) {
	c := oop.NewConn(&stream{Reader: strings.NewReader(strings.Repeat("line\n", 100))}, oop.Client, oop.Options{})
	_, err := c.Recv(t.Context())
	e, ok := errors.AsType[*proto.TransportError](err)
	if !ok || !strings.HasPrefix(e.Banner, "line\nline") || !strings.Contains(err.Error(), "instead of the protocol came") {
		t.Errorf("error %v", err)
	}
}

func TestServerTakesAnEmptyLineAsTheEndAndTextAsAnError(t *testing.T) {
	c := oop.NewConn(&stream{Reader: strings.NewReader("\n")}, oop.Server, oop.Options{})
	if _, err := c.Recv(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("empty line: %v", err)
	}
	c = oop.NewConn(&stream{Reader: strings.NewReader("text\n")}, oop.Server, oop.Options{})
	if _, err := c.Recv(t.Context()); errors.Is(err, io.EOF) || err == nil {
		t.Errorf("text: %v", err)
	}
}

// repeat reads the same bytes for ever.
type repeat struct {
	b  []byte
	at int
}

func (r *repeat) Read(b []byte) (int, error) {
	n := copy(b, r.b[r.at:])
	r.at = (r.at + n) % len(r.b)
	return n, nil
}

func TestCloseAndContextFreeABlockedRecv(t *testing.T) {
	for _, how := range []string{"Close", "context"} {
		a, b := net.Pipe()
		c := oop.NewConn(a, oop.Client, oop.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { _, err := c.Recv(ctx); done <- err }()
		want := os.ErrClosed
		if how == "Close" {
			_ = c.Close()
		} else {
			want = context.Canceled
			cancel()
		}
		if err := <-done; !errors.Is(err, want) {
			t.Errorf("%s: %v", how, err)
		}
		cancel()
		_ = b.Close()
	}
}

func TestProcessErrorHoldsExitCodeAndStderr(t *testing.T) {
	c, err := oop.StartProcess(t.Context(), "sh", "-c", "echo broken >&2; exit 7")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Recv(t.Context())
	e, ok := errors.AsType[*proto.TransportError](err)
	if !ok || e.ExitCode != 7 || e.Stderr != "broken\n" || !strings.Contains(err.Error(), `ends with "broken"`) {
		t.Errorf("error %v (%+v)", err, e)
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestCloseEndsAProcessByItsInput(t *testing.T) {
	c, err := oop.StartProcess(t.Context(), "cat")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Send(t.Context(), proto.Packet{Kind: proto.PacketDataAck}); err != nil {
		t.Fatal(err)
	}
	if p, err := c.Recv(t.Context()); err != nil || p.Kind != proto.PacketDataAck {
		t.Errorf("%v, %v", p, err)
	}
	done := make(chan error)
	go func() { _, err := c.Recv(t.Context()); done <- err }()
	start := time.Now()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, os.ErrClosed) {
		t.Errorf("a blocked Recv: %v", err)
	}
	if d := time.Since(start); d >= 5*time.Second { // when it would be killed
		t.Errorf("it took %v", d)
	}
}

func TestPipePathIsPowerShells(t *testing.T) {
	start := time.Date(2026, 11, 21, 15, 9, 28, 0, time.UTC)
	got := filepath.Base(oop.PipePath(1234, start, "pwsh"))
	if want := "CoreFxPipe_PSHost.DD79CA4D.1234.None.pwsh"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzParsePacket(f *testing.F) {
	f.Add([]byte("<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>aGk=</Data>"))
	f.Add([]byte(`<CloseAck PSGuid="8b5173d1-0000-0000-0000-000000000011"/>`))
	f.Add([]byte("<Data"))
	f.Fuzz(func(t *testing.T, line []byte) {
		p, err := oop.ParsePacket(line)
		if err != nil {
			return
		}
		again, err := oop.ParsePacket(bytes.TrimSuffix(oop.AppendPacket(nil, p), []byte("\n")))
		if err != nil || again.Kind != p.Kind || again.Target != p.Target || again.Stream != p.Stream || !bytes.Equal(again.Data, p.Data) {
			t.Errorf("%q is %+v, then %+v, %v", line, p, again, err)
		}
	})
}
