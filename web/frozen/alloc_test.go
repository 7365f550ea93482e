//go:build !race

package frozen

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestNoAllocationsPerHit: 200, 304, a coded reply and one whose body is not copied, each on a
// connection that has been asked before.
func TestNoAllocationsPerHit(t *testing.T) {
	e, err := Build(EntrySpec{Header: http.Header{"Content-Type": {"text/css"}}, Body: []byte(strings.Repeat("a", 600)), ETag: `"t"`, Encodings: []Encoding{{"gzip", []byte("x")}}})
	if err != nil {
		t.Fatal(err)
	}
	tb := NewTable(Limits{})
	large, err := Build(EntrySpec{Body: make([]byte, 2*maxCopy)})
	if err := errors.Join(err, tb.Put("/x", e), tb.Put("/large", large)); err != nil {
		t.Fatal(err)
	}
	const fields = "Host: example.com\r\nUser-Agent: a browser of today\r\nAccept: text/html\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nSec-Fetch-Site: none\r\n"
	for name, line := range map[string]string{"200": "/x HTTP/1.1\r\n", "304": "/x HTTP/1.1\r\nIf-None-Match: \"t-gz\"\r\n", "large": "/large HTTP/1.1\r\n"} {
		s := &script{request: []byte("GET " + line + fields + "\r\n")}
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

// TestEntryBinaryCopiesNoBody: the bodies of an entry that was read are those of its binary form.
func TestEntryBinaryCopiesNoBody(t *testing.T) {
	body := []byte(strings.Repeat("a", 600))
	e, err := Build(EntrySpec{Header: http.Header{"Content-Type": {"text/css"}}, Body: body, Encodings: []Encoding{{"gzip", []byte("xyz")}}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var again Entry
	if err := again.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	for c, want := range map[coding][]byte{identity: body, gzip: []byte("xyz")} {
		at := bytes.Index(b, want)
		if got := again.variants[c].body; at < 0 || !bytes.Equal(got, want) || &got[0] != &b[at] {
			t.Errorf("%s: %.20q is not at %d of the form", codingNames[c], got, at)
		}
	}
}
