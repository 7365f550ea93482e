package frozen_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/web/frozen"
)

// TestBuildRefuses what can stand in no stored reply.
func TestBuildRefuses(t *testing.T) {
	for name, spec := range map[string]frozen.EntrySpec{
		"line break": {Header: http.Header{"X-A": {"a\r\nb"}}}, "NUL": {Header: http.Header{"X-A": {"\x00"}}}, "name": {Header: http.Header{"X A": {"a"}}}, "space at an end": {Header: http.Header{"X-A": {" a"}}},
		"cookie": {Header: http.Header{"Set-Cookie": {"a=b"}}}, "of a hop": {Header: http.Header{"connection": {"close"}}}, "length": {Header: http.Header{"Content-Length": {"1"}}}, "date": {Header: http.Header{"Date": {"x"}}},
		"weak tag": {ETag: `W/"a"`}, "tag": {ETag: "a"}, "status": {Status: 304}, "no status": {Status: 1000}, "body": {Body: make([]byte, frozen.MaxBody+1)},
		"coding": {Encodings: []frozen.Encoding{{"deflate", nil}}}, "coding twice": {Header: http.Header{"Content-Type": {"text/css"}}, Body: make([]byte, 1000), Encodings: []frozen.Encoding{{"gzip", []byte("a")}, {"gzip", []byte("b")}}},
	} {
		if _, err := frozen.Build(spec); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	body := bytes.Repeat([]byte("a"), 1000)
	for name, spec := range map[string]frozen.EntrySpec{
		"small": {Header: http.Header{"Content-Type": {"text/css"}}, Body: body[:511], Encodings: []frozen.Encoding{{"gzip", []byte("a")}}},
		"type":  {Header: http.Header{"Content-Type": {"image/png"}}, Body: body, Encodings: []frozen.Encoding{{"gzip", []byte("a")}}},
		"gain":  {Header: http.Header{"Content-Type": {"text/css"}}, Body: body, Encodings: []frozen.Encoding{{"gzip", body[:901]}}},
	} {
		r := httptest.NewRequest("GET", "/", nil) //nolint:noctx // a recorder
		r.Header.Set("Accept-Encoding", "gzip")
		tb := frozen.NewTable(frozen.Limits{})
		if err := tb.Put("/", build(t, spec)); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		frozen.Handler(http.NotFoundHandler(), tb).ServeHTTP(w, r)
		if w.Code != 200 || w.Header().Get("Content-Encoding") != "" || w.Header().Get("Vary") != "" {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
}

// TestEntryBinary: an entry read back gives the same answers.
func TestEntryBinary(t *testing.T) {
	tb := table(t)
	for _, target := range []string{"/small", "/empty", "/private", "/text?v=1", "/large", "/gone"} {
		e, _ := tb.Find([]byte(target))
		b, err := e.AppendBinary([]byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		var again frozen.Entry
		if err := again.UnmarshalBinary(b[1:]); err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		if again.Size() != e.Size() || again.ETag() != e.ETag() {
			t.Errorf("%s: size %d, %d; tag %s, %s", target, again.Size(), e.Size(), again.ETag(), e.ETag())
		}
		if b2, err := again.AppendBinary([]byte("x")); err != nil || !bytes.Equal(b, b2) {
			t.Errorf("%s: written again it differs: %v", target, err)
		}
		for i := 1; i < min(len(b), 300); i++ {
			if err := new(frozen.Entry).UnmarshalBinary(b[1:i]); err == nil {
				t.Errorf("%s: %d bytes of %d were taken", target, i, len(b))
			}
		}
	}
}

// TestEntryBinaryHasTheSameBytes on the wire, whatever order and case the fields were given in.
func TestEntryBinaryHasTheSameBytes(t *testing.T) {
	body := bytes.Repeat([]byte("text "), 200)
	e := build(t, frozen.EntrySpec{
		Header: http.Header{"Content-Type": {"text/plain"}, "x-b": {"1", "2"}, "X-A": {"3"}, "Y": {"4"}, "x-a": {"5"}}, Body: body, LastModified: modified,
		Encodings: []frozen.Encoding{{"gzip", gz(t, body)}, {"br", []byte("brotli")}, {"zstd", []byte("zstd")}},
	})
	b, err := e.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	again := new(frozen.Entry)
	if err := again.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	tb := frozen.NewTable(frozen.Limits{})
	for target, e := range map[string]*frozen.Entry{"/a": e, "/b": again} {
		if err := tb.Put(target, e); err != nil {
			t.Fatal(err)
		}
	}
	lane := frozen.NewLane(frozen.LaneOptions{}, tb)
	addr := start(t, http.NotFoundHandler(), lane)
	ask := func(target string) string {
		text := ""
		for _, coding := range []string{"", "Accept-Encoding: gzip\r\n", "Accept-Encoding: br\r\n", "Accept-Encoding: zstd\r\n", "If-None-Match: *\r\n"} {
			text += "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + coding + "\r\n"
		}
		return dates.ReplaceAllString(talk(t, addr, text, 0), "Date: now\r\n")
	}
	if a, b := ask("/a"), ask("/b"); a != b || strings.Count(a, "200 OK") != 4 || strings.Count(a, "304 Not") != 1 {
		t.Errorf("built:\n%.2000q\nread back:\n%.2000q", a, b)
	}
}

var dates = regexp.MustCompile(`Date: [^\r]*\r\n`)

// TestEntryBinaryWithoutTag is refused: no entry is without one.
func TestEntryBinaryWithoutTag(t *testing.T) {
	b, err := build(t, frozen.EntrySpec{ETag: `"t"`, Body: []byte("body")}).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte("\x03\"t\""), []byte{0}, 1)
	if err := new(frozen.Entry).UnmarshalBinary(b); err == nil {
		t.Error("it was taken")
	}
}

func FuzzEntryBinary(f *testing.F) {
	for _, spec := range []frozen.EntrySpec{{}, {Status: 404, Body: []byte("x"), Public: true, LastModified: modified, Header: http.Header{"A": {"b", "c"}}}} {
		b, err := build(f, spec).AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var e frozen.Entry
		if e.UnmarshalBinary(b) != nil {
			return
		}
		again, err := e.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := new(frozen.Entry).UnmarshalBinary(again); err != nil {
			t.Fatalf("%x: written again it is not read: %v", b, err)
		}
	})
}
