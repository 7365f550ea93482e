package demo

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// The paths of StatusAPI.
const (
	statusPath = "/v1/status"
	downPath   = "/v1/status-down"
)

// mood is how one call of the status API goes.
type mood int

const (
	answers    mood = iota // JSON
	overloaded             // 503 that asks for a second
	resets                 // the connection ends without an answer
	slow                   // JSON after a while
)

// moods is the turn of consecutive calls. No three in a row fail, so a client
// that tries three times gets its answer, and one that tries once does not.
var moods = [...]mood{overloaded, answers, resets, slow, answers, overloaded, resets, answers}

// slowness is how long a slow answer takes.
const slowness = 350 * time.Millisecond

// StatusAPI returns a status API that really fails at times, in a fixed turn:
//
//	GET /v1/status       1: 503 with Retry-After, 2: JSON, 3: the connection is
//	                     reset, 4: JSON after 350 ms, 5: JSON, 6: 503, 7: reset,
//	                     8: JSON, and from the start again
//	GET /v1/status-down  503, always
//
// Each handler counts for itself. It is safe for concurrent use.
func StatusAPI() http.Handler {
	a := &statusAPI{body: statusBody()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+statusPath, a.status)
	mux.HandleFunc("GET "+downPath, func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, "The status service is down for the purpose of this demo.")
	})
	return mux
}

type statusAPI struct {
	calls atomic.Uint64
	body  []byte
}

func (a *statusAPI) status(w http.ResponseWriter, r *http.Request) {
	turn := (a.calls.Add(1) - 1) % uint64(len(moods))
	switch moods[turn] {
	case overloaded:
		w.Header().Set("Retry-After", "1")
		refuse(w, "Overloaded, try again in a second.")
		return
	case resets:
		reset(w)
		return
	case slow:
		t := time.NewTimer(slowness)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			return
		}
	case answers:
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	_, _ = w.Write(a.body) // a client that has gone needs no answer
}

func refuse(w http.ResponseWriter, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = fmt.Fprintf(w, `{"type":"about:blank","title":"Service Unavailable","status":503,"detail":%q}`+"\n", detail)
}

// reset ends the connection without an answer, by RST where the connection is
// TCP: unread output is dropped rather than sent.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // HTTP/2 resets its stream by this
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the connection ends by FIN, which fails the call too
	}
	_ = conn.Close()
}

// statusBody is what the sample says that the source gave.
func statusBody() []byte {
	var data struct {
		Status json.RawMessage `json:"status"`
	}
	for _, s := range Samples() {
		if s.Name == statusTemplate {
			_ = must(0, json.Unmarshal(s.Data, &data))
		}
	}
	return data.Status
}

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// checkLoopback wants the base URL of an API on 127.0.0.1.
func checkLoopback(api string) error {
	u, err := url.Parse(api)
	if err != nil {
		return fmt.Errorf("demo: status API: %w", err)
	}
	at, err := netip.ParseAddrPort(u.Host)
	if err != nil || u.Scheme != "http" || at.Addr() != loopback || u.Path != "" {
		return fmt.Errorf("demo: status API %q: want http://127.0.0.1:PORT", api)
	}
	return nil
}
