package tap

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Side is an end of a conversation.
type Side uint8

// The ends.
const (
	Client Side = iota
	Server
)

// directions are the names of what that side writes and what it reads.
func (s Side) directions() (writes, reads string) {
	if s == Server {
		return "s2c", "c2s"
	}
	return "c2s", "s2c"
}

// Record returns rw with everything that passes written to w as a transcript: side is the end that
// reads and writes rw. What passes is not changed, delayed or reordered; an error of w ends the
// recording and nothing else. Each line is one call of w.Write.
func Record(rw io.ReadWriteCloser, w io.Writer, side Side) io.ReadWriteCloser {
	r := &recorder{rw: rw, w: w, start: time.Now()}
	r.out.dir, r.in.dir = side.directions()
	return r
}

type recorder struct {
	rw      io.ReadWriteCloser
	out, in half

	mu    sync.Mutex // of what follows
	w     io.Writer
	start time.Time
	n     int
	err   error
	line  []byte
}

// half is one direction: what has passed of a line that has not ended.
type half struct {
	dir  string
	part []byte
	eof  bool
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.rw.Read(b)
	r.pass(&r.in, b[:n])
	if err != nil && !r.in.eof {
		r.in.eof = true
		r.write("eof", []byte(r.in.dir))
	}
	return n, err
}

func (r *recorder) Write(b []byte) (int, error) {
	// What is sent is recorded before its answer can be.
	r.pass(&r.out, b)
	return r.rw.Write(b)
}

func (r *recorder) Close() error { return r.rw.Close() }

func (r *recorder) pass(h *half, b []byte) {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			h.part = append(h.part, b...)
			return
		}
		if len(h.part) == 0 {
			r.write(h.dir, b[:i])
		} else {
			h.part = append(h.part, b[:i]...)
			r.write(h.dir, h.part)
			h.part = h.part[:0]
		}
		b = b[i+1:]
	}
}

func (r *recorder) write(dir string, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	r.line = fmt.Appendf(r.line[:0], `{"n": %d, "t_us": %d, "dir": %q, "line": `, r.n, time.Since(r.start).Microseconds(), dir)
	r.line = append(appendASCII(r.line, line), "}\n"...)
	r.n++
	_, r.err = r.w.Write(r.line)
}

// appendASCII appends a JSON string in ASCII.
func appendASCII(dst, s []byte) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		c, n := utf8.DecodeRune(s)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c >= 0x20 && c < 0x7F:
			dst = append(dst, byte(c))
		case c >= 0x10000:
			hi, lo := utf16.EncodeRune(c)
			dst = appendEscape(appendEscape(dst, hi), lo)
		default:
			dst = appendEscape(dst, c)
		}
		s = s[n:]
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, u rune) []byte {
	hex := strconv.FormatInt(int64(u)|0x10000, 16)
	return append(append(dst, '\\', 'u'), hex[1:]...)
}
