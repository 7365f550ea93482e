package frozen

import (
	"io"
	"net"
	"net/http"
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

// TestNoAllocationsPerHit: 200, 304 and a coded reply, each on a connection that
// has been asked before.
func TestNoAllocationsPerHit(t *testing.T) {
	e, err := Build(EntrySpec{Header: http.Header{"Content-Type": {"text/css"}}, Body: []byte(strings.Repeat("a", 600)), ETag: `"t"`, Encodings: []Encoding{{"gzip", []byte("x")}}})
	if err != nil {
		t.Fatal(err)
	}
	tb := NewTable(Limits{})
	if err := tb.Put("/x", e); err != nil {
		t.Fatal(err)
	}
	const fields = "Host: example.com\r\nUser-Agent: a browser of today\r\nAccept: text/html\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nSec-Fetch-Site: none\r\n"
	for name, more := range map[string]string{"200": "", "304": "If-None-Match: \"t-gz\"\r\n"} {
		s := &script{request: []byte("GET /x HTTP/1.1\r\n" + fields + more + "\r\n")}
		c := NewLane(LaneOptions{Hosts: []string{"example.com"}}, tb).wrap(s)
		run := func(n int) {
			s.reads = n
			if _, err := c.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // what script returns
				t.Fatal(err)
			}
			c.(*conn).err = nil //nolint:forcetypeassert // what wrap returns
		}
		run(10)
		// What is left is of the end of the connection, not of the requests.
		few, many := testing.AllocsPerRun(20, func() { run(10) }), testing.AllocsPerRun(20, func() { run(510) })
		if per := (many - few) / 500; per >= 0.01 {
			t.Errorf("%s: %v allocations per hit", name, per)
		}
	}
}

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
