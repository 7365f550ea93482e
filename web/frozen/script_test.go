package frozen

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// script is a connection whose client sends one request for each Read.
type script struct {
	request []byte
	reads   int
	writes  int
}

func (s *script) Read(p []byte) (int, error) {
	if s.reads == 0 {
		return 0, io.EOF
	}
	s.reads--
	return copy(p, s.request), nil
}

func (s *script) Write(p []byte) (int, error) {
	s.writes++
	return len(p), nil
}

func (s *script) Close() error                     { return nil }
func (s *script) LocalAddr() net.Addr              { return nil }
func (s *script) RemoteAddr() net.Addr             { return nil }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// TestConsecutiveAnswersLeaveTogether: requests that come in one piece are answered
// in one write.
func TestConsecutiveAnswersLeaveTogether(t *testing.T) {
	e, err := Build(EntrySpec{Body: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	tb := NewTable(Limits{})
	if err := tb.Put("/x", e); err != nil {
		t.Fatal(err)
	}
	s := &script{request: []byte(strings.Repeat("GET /x HTTP/1.1\r\nHost: x\r\n\r\n", 16)), reads: 1}
	c := NewLane(LaneOptions{}, tb).wrap(s)
	if _, err := c.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // what script returns
		t.Fatal(err)
	}
	if s.writes != 1 {
		t.Errorf("%d writes for 16 answers", s.writes)
	}
}
