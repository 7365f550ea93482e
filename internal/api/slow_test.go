package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/internal/api"
	"example.com/quire/internal/record"
)

// Clients that send their requests slowly keep nobody else from making documents: a rendering slot
// is for those whose body is there.
func TestSlowWritersHoldUpNobody(t *testing.T) {
	t.Parallel()
	h := open(t)
	url := h.serve(t)
	address := strings.TrimPrefix(url, "http://")
	body := note("slow")
	stop := make(chan struct{})
	var begun, writers sync.WaitGroup
	for range 24 {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		head := fmt.Sprintf("POST /v1/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
		if _, err := io.WriteString(conn, head+body[:1]); err != nil {
			t.Fatal(err)
		}
		begun.Add(1)
		writers.Go(func() {
			defer func() { _ = conn.Close() }()
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for i := 1; ; i++ {
				if i == 3 {
					begun.Done()
				}
				select {
				case <-tick.C:
					// All but the last byte: the request stays open until the test lets it go.
					if _, err := io.WriteString(conn, body[min(i, len(body)-1):min(i+1, len(body)-1)]); err != nil {
						t.Errorf("a slow writer was cut: %v", err)
						return
					}
				case <-stop:
					rest := body[min(i, len(body)-1):]
					_, err := io.WriteString(conn, rest)
					if err != nil {
						t.Error(err)
						return
					}
					res, err := http.ReadResponse(bufio.NewReader(conn), nil)
					if err != nil {
						t.Error(err)
						return
					}
					if res.StatusCode != http.StatusCreated && res.StatusCode != http.StatusOK {
						t.Errorf("a slow writer in the end: %s", res.Status)
					}
					_ = res.Body.Close() // the connection ends here
					return
				}
			}
		})
	}
	begun.Wait()
	for i := range 10 {
		h.Post("/v1/documents", "application/json", note(fmt.Sprintf("quick-%d", i))).Want(http.StatusCreated)
		h.Post("/v1/render", "application/json", note(fmt.Sprintf("quick-%d", i))).Want(http.StatusOK)
	}
	close(stop)
	writers.Wait()
}

// Under overload a request is refused before it is read, and its client told when to come back.
func TestUnderOverloadARequestIsRefusedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	h := open(t)
	full := false
	c := serveParts(t, h, func(o *api.Options) { o.Overloaded = func(record.Space) bool { return full } })
	c.Post("/v1/documents", "application/json", note("A-1")).Want(http.StatusCreated)
	full = true
	for _, path := range []string{"/v1/documents", "/v1/render"} {
		r := c.Post(path, "application/json", "{ this is not even JSON")
		wantProblem(t, r, http.StatusServiceUnavailable, "busy")
		if r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", path)
		}
	}
	c.Get("/v1/documents").Want(http.StatusOK) // reading goes on
	full = false
	c.Post("/v1/render", "application/json", note("A-1")).Want(http.StatusOK)
}
