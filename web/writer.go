package web

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
)

// response is the writer at the bottom of a request: it notes status and
// length, keeps bodies off answers that have none, and drops those of HEAD.
type response struct {
	w        http.ResponseWriter
	req      *http.Request
	status   int32 // by code and setCode
	shared   bool  // a time budget may answer beside the handler
	opened   bool  // the header may hold fields beside those of prepare
	bytes    atomic.Int64
	limit    int64 // bytes of body allowed; 0 is no limit
	skipped  int64 // body bytes dropped because of HEAD
	head     bool
	hijacked bool
	flushed  bool
	sent     bool // the status line is out
	flights  *flights
}

func (w *response) reset(rw http.ResponseWriter, r *http.Request) {
	w.w, w.req, w.head = rw, r, r.Method == http.MethodHead
}

func (w *response) clear() {
	*w = response{}
}

// code returns the status, 0 before there is one.
func (w *response) code() int { return int(atomic.LoadInt32(&w.status)) }

// setCode notes the status. An atomic store costs as much as a look-up of a
// path, so only the answers that need one pay for it.
func (w *response) setCode(code int) {
	if !w.shared {
		w.status = int32(code) //nolint:gosec // a status is small
		return
	}
	atomic.StoreInt32(&w.status, int32(code)) //nolint:gosec // as above
}

// Unwrap lets http.ResponseController reach the server's writer.
func (w *response) Unwrap() http.ResponseWriter {
	w.opened = true
	return w.w
}

func (w *response) Header() http.Header {
	w.opened = true
	return w.w.Header()
}

func bodyless(status int) bool {
	return status < 200 || status == http.StatusNoContent || status == http.StatusNotModified
}

// informational reports whether the answer is still to come (RFC 9110, section 15.2).
func informational(code int) bool {
	return code >= 100 && code < 200 && code != http.StatusSwitchingProtocols
}

func (w *response) WriteHeader(code int) {
	if w.code() != 0 || w.hijacked {
		return
	}
	if informational(code) {
		w.w.WriteHeader(code)
		return
	}
	w.setCode(code)
	if bodyless(code) {
		if w.opened {
			delete(w.w.Header(), "Content-Length")
		}
	}
	if w.head && !bodyless(code) {
		return // sent by end or Flush, when the length is known
	}
	w.send()
}

func (w *response) send() {
	if !w.sent {
		w.sent = true
		w.w.WriteHeader(w.code())
	}
}

// before readies the answer for n bytes of body and returns how many may pass.
func (w *response) before(n int64, sample []byte) error {
	if w.hijacked {
		return http.ErrHijacked
	}
	if w.code() == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if bodyless(w.code()) {
		return http.ErrBodyNotAllowed
	}
	if w.limit > 0 && w.bytes.Load()+w.skipped+n > w.limit {
		return ErrResponseTooLarge
	}
	if w.head && w.skipped == 0 && len(sample) > 0 {
		h := w.w.Header()
		if h["Content-Type"] == nil && h["Content-Encoding"] == nil && h["Transfer-Encoding"] == nil {
			h.Set("Content-Type", http.DetectContentType(sample)) // what net/http does for GET
		}
	}
	return nil
}

func (w *response) Write(p []byte) (int, error) {
	if err := w.before(int64(len(p)), p); err != nil {
		return 0, err
	}
	if w.head {
		w.skipped += int64(len(p))
		return len(p), nil
	}
	n, err := w.w.Write(p)
	w.bytes.Add(int64(n))
	return n, err
}

// WriteString writes s without copying it where the server can.
func (w *response) WriteString(s string) (int, error) {
	var sample []byte
	if w.head && w.w.Header()["Content-Type"] == nil {
		sample = []byte(s[:min(len(s), 512)])
	}
	if err := w.before(int64(len(s)), sample); err != nil {
		return 0, err
	}
	if w.head {
		w.skipped += int64(len(s))
		return len(s), nil
	}
	n, err := io.WriteString(w.w, s)
	w.bytes.Add(int64(n))
	return n, err
}

// ReadFrom hands the source to the server's writer, which copies a file to a
// TCP connection inside the kernel.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	rf, ok := w.w.(io.ReaderFrom)
	if !ok || w.head || !w.fits(src) {
		return io.Copy(struct{ io.Writer }{w}, src)
	}
	if err := w.before(0, nil); err != nil {
		return 0, err
	}
	n, err := rf.ReadFrom(src)
	w.bytes.Add(n)
	return n, err
}

// fits tells whether all that src can give is within the limit.
func (w *response) fits(src io.Reader) bool {
	if w.limit <= 0 {
		return true
	}
	part, ok := src.(*io.LimitedReader)
	return ok && part.N <= w.limit-w.bytes.Load()
}

// FlushError sends what is buffered.
func (w *response) FlushError() error {
	if w.hijacked {
		return http.ErrHijacked
	}
	if w.code() == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.flushed = true
	w.send()
	return http.NewResponseController(w.w).Flush()
}

// Flush is FlushError for the old interface.
func (w *response) Flush() {
	_ = w.FlushError() // http.Flusher has no way to say so
}

// Hijack takes the connection over. The server then tracks it until it is closed.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.hijacked = true
	if w.code() == 0 {
		w.setCode(http.StatusSwitchingProtocols)
	}
	if w.flights != nil {
		conn = w.flights.track(conn, w.req)
	}
	return conn, rw, nil
}

// end commits an answer that is complete. A HEAD answer gets the Content-Length
// that net/http would have computed for the same GET.
func (w *response) end() {
	if w.code() == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.sent {
		return
	}
	if h := w.w.Header(); w.head && !w.flushed && w.skipped <= 2048 && h["Content-Length"] == nil &&
		h["Transfer-Encoding"] == nil {
		h["Content-Length"] = contentLength(int(w.skipped))
	}
	w.send()
}

// ErrResponseTooLarge ends an answer that outgrows Budgets.ResponseBytes.
var ErrResponseTooLarge = errors.New("web: response exceeds its budget")

// shortLengths are the header values of short answers, made once.
var shortLengths = func() []string {
	v := make([]string, 2049)
	for i := range v {
		v[i] = strconv.Itoa(i)
	}
	return v
}()

// contentLength returns the header value for n; short ones are shared.
func contentLength(n int) []string {
	if n < len(shortLengths) {
		return shortLengths[n : n+1 : n+1]
	}
	return []string{strconv.Itoa(n)}
}

// Header values that never change. Length equals capacity, so that appending to
// one in a header map copies it.
var (
	valueNosniff = []string{"nosniff"}
	valueJSON    = []string{"application/json"}
	valueXML     = []string{"application/xml; charset=utf-8"}
	valueText    = []string{"text/plain; charset=utf-8"}
	valueHTML    = []string{"text/html; charset=utf-8"}
	valueProblem = []string{"application/problem+json"}
	valueNoStore = []string{"no-store"}
	valueRetry   = []string{"1"}
	valueClose   = []string{"close"}
	valueAccept  = []string{"Accept"}
)
