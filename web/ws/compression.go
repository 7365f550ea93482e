package ws

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"

	"example.com/quire/internal/httpfield"
)

// Compression is permessage-deflate (RFC 7692). One serves any number of connections and is safe
// for concurrent use: since no context is kept between messages (server_no_context_takeover and
// client_no_context_takeover), a connection at rest holds no window, and those that work share
// what they work with.
type Compression struct {
	least   int
	writers [16]sync.Pool // of *flate.Writer, by window bits
	readers sync.Pool     // of io.ReadCloser that is a flate.Resetter
}

// NewCompression makes one. Messages below least bytes are sent as they are; 0 means 512.
func NewCompression(least int) *Compression {
	if least <= 0 {
		least = 512
	}
	return &Compression{least: least}
}

// maxBits is a window of 32 KiB, the largest.
const maxBits = 15

// accept chooses the first offer that can be met (section 5.1) and returns the window bits of
// what we send, 0 for no compression.
func (m *Compression) accept(offers []string) (bits int, answer string) {
	if m == nil {
		return 0, ""
	}
	for offer := range httpfield.Members(offers) {
		name, params := httpfield.CutUnquoted(offer, ';')
		if strings.TrimSpace(name) != "permessage-deflate" {
			continue
		}
		bits, named, ok := parseOffer(params)
		if !ok {
			continue // section 7.1: an offer with what we do not understand is declined
		}
		answer := "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
		if named {
			answer += "; server_max_window_bits=" + strconv.Itoa(bits)
		}
		return bits, answer
	}
	return 0, ""
}

// parseOffer reads the parameters of an offer (section 7.1). named tells that the client bounds
// our window.
func parseOffer(params string) (bits int, named, ok bool) {
	bits = maxBits
	var seen []string
	for params != "" {
		var p string
		p, params = httpfield.CutUnquoted(params, ';')
		name, value, has := strings.Cut(strings.TrimSpace(p), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if text, quoted := httpfield.Unquote(value); quoted {
			value = text
		}
		if slices.Contains(seen, name) {
			return 0, false, false
		}
		seen = append(seen, name)
		switch name {
		case "server_no_context_takeover", "client_no_context_takeover":
			if has {
				return 0, false, false
			}
		case "server_max_window_bits", "client_max_window_bits":
			n, valid := windowBits(value)
			switch {
			case name == "client_max_window_bits" && !has: // it may be told, and we tell nothing
			case !valid:
				return 0, false, false
			case name == "server_max_window_bits":
				bits, named = n, true
			}
		default:
			return 0, false, false
		}
	}
	return bits, named, true
}

// windowBits reads 8 to 15, without leading zeros (section 7.1.2).
func windowBits(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 8 && n <= maxBits && strconv.Itoa(n) == s
}

// deflate appends the compressed message to b, without the four bytes that section 7.2.1 drops.
func (m *Compression) deflate(b, message []byte, bits int) ([]byte, error) {
	out := &appender{b}
	w, ok := m.writers[bits].Get().(*flate.Writer)
	if !ok {
		var err error
		if bits == maxBits {
			w, err = flate.NewWriter(out, flate.BestSpeed)
		} else {
			w, err = flate.NewWriterWindow(out, 1<<bits)
		}
		if err != nil {
			return b, fmt.Errorf("websocket: compress: %w", err)
		}
	} else {
		w.Reset(out)
	}
	_, err := w.Write(message)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return b, fmt.Errorf("websocket: compress: %w", err) // it is not used again
	}
	w.Reset(nil)
	m.writers[bits].Put(w)
	return bytes.TrimSuffix(out.b, []byte{0, 0, 0xff, 0xff}), nil
}

type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

var (
	errTooBig  = errors.New("message exceeds the read limit")
	errDeflate = errors.New("compressed data is invalid")
)

// tail is what the sender dropped, and an empty last block, so that the reader ends there.
const tail = "\x00\x00\xff\xff\x01\x00\x00\xff\xff"

// inflate decompresses a message of at most limit bytes. It may use the room behind message.
func (m *Compression) inflate(message []byte, limit int64) ([]byte, error) {
	src := bytes.NewReader(append(message, tail...))
	r, ok := m.readers.Get().(io.ReadCloser)
	if !ok {
		r = flate.NewReader(src)
	} else if err := r.(flate.Resetter).Reset(src, nil); err != nil { //nolint:forcetypeassert // flate's documentation promises it
		return nil, fmt.Errorf("%w: %w", errDeflate, err)
	}
	out := make([]byte, 0, min(limit, int64(4*len(message)))+1)
	for {
		if len(out) == cap(out) {
			out = slices.Grow(out, len(out)+1)
		}
		free := out[len(out):min(int64(cap(out)), limit+1)]
		n, err := r.Read(free)
		out = out[:len(out)+n]
		switch {
		case int64(len(out)) > limit:
			return nil, errTooBig
		case errors.Is(err, io.EOF):
			m.readers.Put(r)
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("%w: %w", errDeflate, err)
		}
	}
}
