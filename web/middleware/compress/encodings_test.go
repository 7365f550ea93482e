package compress_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.com/quire/web/frozen"
	"example.com/quire/web/middleware/compress"
)

// TestEncodingsOfFrozenEntries: each coding decodes to the body, the same bytes come each time, and
// an entry built of them is sent in the one that the client prefers.
func TestEncodingsOfFrozenEntries(t *testing.T) {
	decode := map[string]func([]byte) ([]byte, error){
		"gzip": func(b []byte) ([]byte, error) {
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			return io.ReadAll(r)
		},
		"zstd": func(b []byte) ([]byte, error) {
			r, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderMaxWindow(8<<20))
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return io.ReadAll(r)
		},
	}
	body := []byte(strings.Repeat(`{"id": 7, "name": "Zoë", "price": 4.20}`, 400))
	for _, in := range [][]byte{nil, []byte("x"), body} {
		first, err := compress.Encodings(in)
		if err != nil {
			t.Fatal(err)
		}
		again, err := compress.Encodings(in)
		if err != nil {
			t.Fatal(err)
		}
		if len(first) != len(decode) {
			t.Errorf("%d codings, want %d", len(first), len(decode))
		}
		for i, e := range first {
			if back, err := decode[e.Name](e.Body); err != nil || !bytes.Equal(back, in) {
				t.Errorf("%s of %d bytes: %d come back, %v", e.Name, len(in), len(back), err)
			}
			if !bytes.Equal(e.Body, again[i].Body) {
				t.Errorf("%s of %d bytes: other bytes the second time", e.Name, len(in))
			}
		}
	}
	codings, err := compress.Encodings(body)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := frozen.Build(frozen.EntrySpec{Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Encodings: codings})
	if err != nil {
		t.Fatal(err)
	}
	table := frozen.NewTable(frozen.Limits{})
	if err := table.Put("/x", entry); err != nil {
		t.Fatal(err)
	}
	for accept, want := range map[string]string{"gzip, zstd": "zstd", "gzip, zstd;q=0.5": "gzip", "identity": "", "br": ""} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil)
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		frozen.Handler(http.NotFoundHandler(), table).ServeHTTP(w, r)
		got := w.Body.Bytes()
		if want != "" {
			if got, err = decode[want](got); err != nil {
				t.Fatal(err)
			}
		}
		if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != want || w.Header().Get("Vary") != "Accept-Encoding" || !bytes.Equal(got, body) {
			t.Errorf("Accept-Encoding %s: %d %v with %d bytes", accept, w.Code, w.Header(), len(got))
		}
	}
}
