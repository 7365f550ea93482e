package compress

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"example.com/quire/internal/httpfield"
	"example.com/quire/web"
)

// writer holds the begin of a body back until it is known whether to code it: at
// MinSize bytes, a Content-Length, a flush or the end.
type writer struct {
	http.ResponseWriter
	m         *middleware
	coding    string // that the client prefers
	refused   bool   // identity is not acceptable
	strict    bool   // and the request has no effect that a 406 would hide
	untouched bool   // the request wants the bytes as they are
	head      bool

	status  int
	buf     []byte
	decided bool
	enc     encoder // nil: not coded
	drop    bool    // coded, but HEAD
	err     error
}

func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) WriteHeader(code int) {
	switch {
	case w.decided:
		if w.err == web.ErrNotAcceptable && code >= http.StatusBadRequest { //nolint:errorlint // decide's own
			w.err = nil // its answer
			w.ResponseWriter.WriteHeader(code)
		}
		return
	case code >= 100 && code < 200 && code != http.StatusSwitchingProtocols:
		w.ResponseWriter.WriteHeader(code)
		return
	case w.status != 0 && code < http.StatusBadRequest:
		return
	}
	// An error that comes while all is still held back takes its place.
	w.status, w.buf = code, w.buf[:0]
	h := w.Header()
	if bodyless(code) || h["Content-Length"] != nil && h["Content-Type"] != nil {
		w.decide(false)
	}
}

func bodyless(code int) bool {
	return code < 200 || code == http.StatusNoContent || code == http.StatusNotModified
}

// decide sends the header and what was held back. A flush comes before the size is
// known.
func (w *writer) decide(flush bool) {
	if w.decided {
		return
	}
	w.decided = true
	if w.status == 0 {
		w.status = http.StatusOK
	}
	coded := w.code(flush)
	if !coded && w.strict && w.status < 300 && !bodyless(w.status) && w.Header()["Content-Encoding"] == nil && (len(w.buf) > 0 || w.Header()["Content-Length"] != nil) {
		w.err, w.buf = web.ErrNotAcceptable, nil
		return
	}
	held := w.buf
	w.buf = nil
	if coded {
		h := w.Header()
		h.Set("Content-Encoding", w.coding)
		delete(h, "Content-Length")
		delete(h, "Accept-Ranges") // of the coded bytes none are served
		if w.drop = w.head; !w.drop {
			if w.enc, w.err = w.m.take(w.coding, w.ResponseWriter); w.err != nil {
				return
			}
		}
	}
	w.ResponseWriter.WriteHeader(w.status)
	if len(held) > 0 {
		_, w.err = w.send(held)
	}
}

// code decides whether the answer is coded, and sets the fields that depend on
// whether it might have been.
func (w *writer) code(flush bool) bool {
	h := w.Header()
	if w.status == http.StatusNotModified { // has the fields of the 200 (RFC 9110, section 15.4.5)
		w.vary()
		w.weaken()
		return false
	}
	if bodyless(w.status) || h["Content-Encoding"] != nil || h["Content-Digest"] != nil || h["Digest"] != nil || h["Content-Md5"] != nil ||
		httpfield.ParseCacheControl(h["Cache-Control"]).Has("no-transform") {
		return false
	}
	if h["Content-Type"] == nil && len(w.buf) > 0 {
		h.Set("Content-Type", http.DetectContentType(w.buf)) // what net/http does for what is not coded
	}
	kind, _, _ := strings.Cut(strings.ToLower(h.Get("Content-Type")), ";")
	kind = strings.TrimSpace(kind)
	if !w.m.compressible(kind) && !w.refused {
		return false
	}
	w.vary()
	if w.untouched || w.status == http.StatusPartialContent || h["Content-Range"] != nil {
		return false
	}
	size := int64(len(w.buf))
	if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil {
		size = n
		flush = false // it is known
	}
	least := int64(w.m.MinSize)
	if w.refused {
		least = 1
	}
	if w.coding == "" || size < least && !flush || kind == "" || kind == "text/event-stream" && !flush {
		return false
	}
	w.weaken()
	return true
}

func (w *writer) vary() {
	if h := w.Header(); !httpfield.HasToken(h["Vary"], "accept-encoding") {
		h.Add("Vary", "Accept-Encoding")
	}
}

// weaken makes a strong entity tag weak: other bytes, the same content (RFC 9110,
// section 8.8.1).
func (w *writer) weaken() {
	if tag := w.Header().Get("ETag"); w.coding != "" && strings.HasPrefix(tag, `"`) {
		w.Header().Set("ETag", "W/"+tag)
	}
}

func (w *writer) Write(p []byte) (int, error) {
	if !w.decided {
		if w.status == 0 {
			w.WriteHeader(http.StatusOK)
		}
		if !w.decided {
			w.buf = append(w.buf, p...)
			if len(w.buf) >= w.m.MinSize || w.Header()["Content-Length"] != nil {
				w.decide(false)
			}
			if w.err != nil {
				return 0, w.err
			}
			return len(p), nil
		}
	}
	return w.send(p)
}

func (w *writer) send(p []byte) (int, error) {
	switch {
	case w.err != nil:
		return 0, w.err
	case w.drop:
		return len(p), nil
	case w.enc != nil:
		return w.enc.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom leaves a file that is not coded to the server, which sends it inside the
// kernel.
func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	if w.decided && w.err == nil && w.enc == nil && !w.drop {
		return io.Copy(w.ResponseWriter, r)
	}
	return io.Copy(struct{ io.Writer }{w}, r)
}

// FlushError sends what the encoder holds too.
func (w *writer) FlushError() error {
	w.decide(true)
	if w.err != nil {
		return w.err
	}
	if w.enc != nil {
		if err := w.enc.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *writer) Flush() {
	_ = w.FlushError() // http.Flusher has no way to say so
}

func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.decided = true
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// finish ends the body when the handler has returned.
func (w *writer) finish() error {
	if w.status != 0 {
		w.decide(false)
	}
	if w.drop && w.err == nil {
		// The length of the coded body is not known; a HEAD answer that is flushed
		// does not claim one. A writer that cannot flush claims none either.
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		return nil
	}
	if w.enc == nil {
		return w.err
	}
	err := w.enc.Close()
	if err == nil {
		w.m.put(w.coding, w.enc)
	}
	w.enc = nil
	return err
}
