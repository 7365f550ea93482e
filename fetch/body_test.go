package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"example.com/quire/fetch/fetchtest"
)

func gz(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEarlyCloseKeepsTheConnection(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int
		conns int
		drain DrainConfig
		off   LayerSet
	}{
		{"small", 16 << 10, 1, DrainConfig{}, 0},
		{"64 KiB", 64 << 10, 1, DrainConfig{}, 0},
		{"more", 64<<10 + 1, 5, DrainConfig{}, 0},
		{"own bound", 2000, 5, DrainConfig{MaxBytes: 1000}, 0},
		{"off", 16 << 10, 5, DrainConfig{}, OffDrain},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, conns := fetchtest.Count(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, _ = w.Write(make([]byte, c.bytes))
				}))
				cl := client(t, Config{Base: fetchtest.Serve(t, h), Drain: c.drain, Off: c.off})
				start := time.Now()
				for range 5 {
					resp, err := cl.Get(t.Context(), "http://a.example/")
					if err != nil {
						t.Fatal(err)
					}
					if err := resp.Body.Close(); err != nil {
						t.Error(err)
					}
					synctest.Wait() // the transport puts the connection back on a goroutine of its own
				}
				if conns() != c.conns || time.Since(start) != 0 {
					t.Errorf("%d connections, want %d; %v", conns(), c.conns, time.Since(start))
				}
			})
		})
	}
}

func TestCloseNeverBlocksLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, conns := fetchtest.Count(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("0"))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
			}
		}))
		cl := client(t, Config{Base: fetchtest.Serve(t, h)})
		for range 2 {
			resp, err := cl.Get(t.Context(), "http://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			_ = resp.Body.Close()
			if got := time.Since(start); got != 5*time.Millisecond {
				t.Errorf("Close took %v", got)
			}
		}
		if conns() != 2 {
			t.Errorf("%d connections, want 2: the first was dropped", conns())
		}
	})
}

func TestGzipIsTransparent(t *testing.T) {
	text := strings.Repeat("text ", 1000)
	c, tr := over(t, Config{}, fetchtest.Step{}.Header("Content-Encoding", "gzip").Body(gz(t, text)), fetchtest.Step{}.Header("Content-Encoding", "X-GZIP").Body(gz(t, text)+gz(t, "more")),
		fetchtest.Step{}.Body("plain"), fetchtest.Step{}.Header("Content-Encoding", "br").Body("coded"), fetchtest.Step{}.Header("Content-Encoding", "gzip").Body("").Drip(1, 0))
	for i, want := range []string{text, text + "more", "plain", "coded", ""} {
		resp, err := c.Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, resp); got != want {
			t.Errorf("answer %d: %.20q", i, got)
		}
		if i < 2 && (!resp.Uncompressed || resp.ContentLength != -1 || resp.Header.Get("Content-Encoding") != "" || resp.Header.Get("Content-Length") != "") {
			t.Errorf("answer %d: %v", i, resp.Header)
		}
		if tr.Requests()[i].Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("asked for %q", tr.Requests()[i].Header.Get("Accept-Encoding"))
		}
	}
	tr.AssertClosed(t)
}

func TestBombStopsAtMaxBody(t *testing.T) {
	// Members one behind the other are one body (RFC 1952, section 2.2), and quicker to make.
	bomb := strings.Repeat(gz(t, strings.Repeat("\x00", 1<<20)), 10)
	if len(bomb) > 11<<10 {
		t.Fatalf("a bomb of %d bytes", len(bomb))
	}
	c, _ := over(t, Config{MaxBody: 64 << 10}, fetchtest.Step{}.Header("Content-Encoding", "gzip").Body(bomb))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	resp, err := c.Get(t.Context(), "http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	runtime.ReadMemStats(&after)
	discard(t, resp)
	if n != 64<<10 || !errors.Is(err, ErrBodyTooLarge) || IsTransient(err) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes allocated on the way", got)
	}
}

// What decodes to nothing never comes to MaxBody. Members and blocks without content are permitted
// (RFC 1951, RFC 1952), any number of them, and coded again a thousand of them are a few bytes.
func TestTextThatDecodesToNothingIsBounded(t *testing.T) {
	const bound = 64 << 10
	block := []byte{0, 0, 0, 0xff, 0xff}
	empty := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}, bytes.Repeat(block, 1<<20)...) // 5 MiB of them, without an end
	again := gz(t, string(empty))
	for name, c := range map[string]struct{ coding, body string }{
		"empty members":            {"gzip", strings.Repeat(gz(t, ""), 5<<20/20)},
		"empty blocks":             {"gzip", string(empty)},
		"empty blocks coded again": {"gzip, gzip", again},
		"coded three times":        {"gzip, gzip, gzip", gz(t, again)},
	} {
		t.Run(name, func(t *testing.T) {
			var handed atomic.Int64
			cl := client(t, Config{MaxBody: bound, Base: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Encoding": {c.coding}}, ContentLength: -1, Request: r, Body: io.NopCloser(counting{strings.NewReader(c.body), &handed})}, nil
			})})
			resp, err := cl.Get(t.Context(), "http://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, resp.Body)
			discard(t, resp)
			if n != 0 || !errors.Is(err, ErrBodyTooLarge) || IsTransient(err) || handed.Load() > 2<<20 {
				t.Errorf("%d bytes of %d, %v", n, handed.Load(), err)
			}
		})
	}
}

type counting struct {
	r io.Reader
	n *atomic.Int64
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// Whoever waits for a coded body may be told by another goroutine that nobody wants it any more.
func TestCodedBodyIsClosedWhileItIsRead(t *testing.T) {
	coded := gz(t, strings.Repeat("text ", 10_000))
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{}, fetchtest.Step{}.Header("Content-Encoding", "gzip").Body(coded).Drip(1, time.Second))
		for _, after := range []time.Duration{0, 5 * time.Second, 20 * time.Second} {
			resp, err := c.Get(t.Context(), "http://a.example/") //nolint:bodyclose // closed below, beside the reader
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() {
				_, err := io.Copy(io.Discard, resp.Body)
				ended <- err
			}()
			<-time.After(after)
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
			if err := <-ended; err == nil {
				t.Error("the reader saw the end of the body")
			}
			if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
				t.Error("it can be read after it was closed")
			}
		}
		tr.AssertClosed(t)
	})
}

func TestDamagedGzipIsAnError(t *testing.T) {
	good := gz(t, strings.Repeat("text ", 100))
	for name, body := range map[string]string{"truncated": good[:len(good)-9], "trailing garbage": good + "garbage", "no gzip": "plain text", "bad checksum": good[:len(good)-8] + "12345678"} {
		c, _ := over(t, Config{}, fetchtest.Step{}.Header("Content-Encoding", "gzip").Body(body))
		resp, err := c.Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		discard(t, resp)
		if err == nil || !strings.HasPrefix(err.Error(), "decode body: ") || IsTransient(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestConnectionBreaksInCodedBody: what breaks off is the connection, and its error comes through;
// the coding is not at fault, and the next try may get the rest.
func TestConnectionBreaksInCodedBody(t *testing.T) {
	coded := gz(t, strings.Repeat("text ", 100))
	for name, step := range map[string]fetchtest.Step{
		"shorter than declared": fetchtest.Step{}.Body(coded[:len(coded)-9]).WrongLength(len(coded)),
		"in the header":         fetchtest.Step{}.Body(coded[:5]).WrongLength(len(coded)),
		"reset":                 fetchtest.Step{}.Body(coded).ResetAfter(len(coded) - 9),
	} {
		c, _ := over(t, Config{}, step.Header("Content-Encoding", "gzip"))
		resp, err := c.Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		discard(t, resp)
		if err == nil || strings.HasPrefix(err.Error(), "decode body") || !IsTransient(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOwnDecoderFails: the error of any decoder is one of decoding.
func TestOwnDecoderFails(t *testing.T) {
	broken := errors.New("broken block")
	c, _ := over(t, Config{Decoders: map[string]Decoder{"own": func(io.Reader) (io.ReadCloser, error) {
		return io.NopCloser(iotest.ErrReader(broken)), nil
	}}}, fetchtest.Step{}.Header("Content-Encoding", "own").Body("x"))
	resp, err := c.Get(t.Context(), "http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	discard(t, resp)
	if !errors.Is(err, broken) || err.Error() != "decode body: broken block" || IsTransient(err) {
		t.Errorf("%v", err)
	}
}

// TestLargestBounds: the largest number there is bounds nothing, and breaks nothing.
func TestLargestBounds(t *testing.T) {
	c, _ := over(t, Config{MaxBody: math.MaxInt64, Drain: DrainConfig{MaxBytes: math.MaxInt64}},
		fetchtest.Step{}.Header("Content-Type", "application/json").Body(`[1]`))
	resp, err := c.Get(t.Context(), "http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	if err := DecodeJSON(resp, &got, DecodeOptions{MaxBytes: math.MaxInt64}); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCallerDisablesDecoding(t *testing.T) {
	for _, field := range []string{"Accept-Encoding", "Range", "If-None-Match", "If-Match", "If-Range"} {
		c, tr := over(t, Config{}, fetchtest.Step{}.Header("Content-Encoding", "gzip").Body("coded"))
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(field, "x")
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, resp); got != "coded" || resp.Header.Get("Content-Encoding") != "gzip" || field != "Accept-Encoding" && tr.Requests()[0].Header.Get("Accept-Encoding") != "" {
			t.Errorf("%s: %q %v", field, got, tr.Requests()[0].Header)
		}
	}
}

func TestMaxBody(t *testing.T) {
	for _, c := range []struct {
		name string
		max  int64
		step fetchtest.Step
		want string
		err  error
	}{
		{"fits", 4, fetchtest.Step{}.Body("1234"), "1234", nil},
		{"fits, length unknown", 4, fetchtest.Step{}.Body("1234").Drip(3, 0), "1234", nil},
		{"declared too large", 3, fetchtest.Step{}.Body("1234"), "", ErrBodyTooLarge},
		{"turns out too large", 3, fetchtest.Step{}.Body("1234").Drip(2, 0), "123", ErrBodyTooLarge},
		{"unbounded", -1, fetchtest.Step{}.Body("1234"), "1234", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, tr := over(t, Config{MaxBody: c.max}, c.step)
			resp, err := cl.Get(t.Context(), "http://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			if string(b) != c.want || !errors.Is(err, c.err) {
				t.Errorf("%q, %v", b, err)
			}
			if n, again := resp.Body.Read(make([]byte, 1)); n != 0 || again == nil {
				t.Errorf("after the end: %d, %v", n, again)
			}
			discard(t, resp)
			tr.AssertClosed(t)
		})
	}
}

func TestOwnDecoder(t *testing.T) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 9)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, gz(t, "twice"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, tr := over(t, Config{Decoders: map[string]Decoder{"Raw-Deflate": func(r io.Reader) (io.ReadCloser, error) { return flate.NewReader(r), nil }}},
		fetchtest.Step{}.Header("Content-Encoding", "gzip, raw-deflate").Body(b.String()))
	resp, err := c.Get(t.Context(), "http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, resp); got != "twice" || tr.Requests()[0].Header.Get("Accept-Encoding") != "gzip, raw-deflate" {
		t.Errorf("%q, asked for %q", got, tr.Requests()[0].Header.Get("Accept-Encoding"))
	}
}

func TestResponsesAreGenuine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := fetchtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/trailer":
				w.Header().Set("Trailer", "Checksum")
				_, _ = io.WriteString(w, "body")
				w.Header().Set("Checksum", "1")
			case "/204":
				w.WriteHeader(http.StatusNoContent)
			case "/304":
				w.WriteHeader(http.StatusNotModified)
			default:
				_, _ = io.WriteString(w, "body")
			}
		}))
		c := client(t, Config{Base: rt})
		resp, err := c.Get(t.Context(), "http://a.example/trailer")
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, resp); got != "body" || resp.Trailer.Get("Checksum") != "1" || resp.Status != "200 OK" || resp.Proto != "HTTP/1.1" || resp.ContentLength != -1 || resp.Request.URL.Path != "/trailer" {
			t.Errorf("%q %+v", got, resp)
		}
		for _, path := range []string{"/204", "/304"} {
			resp, err := c.Get(t.Context(), "http://a.example"+path)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, resp); got != "" {
				t.Errorf("%s: %q", path, got)
			}
		}
		resp, err = c.Head(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, resp); got != "" || resp.ContentLength != 4 || len(InfoOf(resp).Attempts) != 1 {
			t.Errorf("HEAD: %q, length %d", got, resp.ContentLength)
		}
	})
}
