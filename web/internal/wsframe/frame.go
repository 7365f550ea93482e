// Package wsframe reads and writes the headers of WebSocket frames (RFC 6455, section 5) and
// masks their payloads. It has no I/O: server and test client share it.
package wsframe

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// Opcode tells what a frame carries (section 5.2).
type Opcode byte

// The opcodes of RFC 6455. From Close on they are control frames.
const (
	Continuation Opcode = 0
	Text         Opcode = 1
	Binary       Opcode = 2
	Close        Opcode = 8
	Ping         Opcode = 9
	Pong         Opcode = 10
)

// IsControl reports whether frames of the opcode may stand between the fragments of a message.
func (o Opcode) IsControl() bool { return o >= Close }

// MaxControl is the most bytes the payload of a control frame has.
const MaxControl = 125

// MaxHeader is the longest header: two bytes, a length of eight and a mask of four.
const MaxHeader = 14

// Header is the head of a frame.
type Header struct {
	Fin        bool
	Compressed bool // RSV1, as permessage-deflate uses it (RFC 7692, section 6)
	Opcode     Opcode
	Masked     bool
	Mask       [4]byte
	Length     int64 // of the payload in bytes
}

// What Parse refuses. All are the peer's breach of the protocol (close code 1002).
var (
	ErrReserved = errors.New("websocket: reserved bit or opcode")
	ErrControl  = errors.New("websocket: control frame fragmented, compressed or over 125 bytes")
	ErrLength   = errors.New("websocket: length not in its shortest form, or over 2^63-1")
)

// Parse reads a header from the beginning of b. n is 0 while b has not the whole of it.
func Parse(b []byte) (h Header, n int, err error) {
	if len(b) < 2 {
		return h, 0, nil
	}
	h.Fin, h.Compressed, h.Opcode, h.Masked = b[0]&0x80 != 0, b[0]&0x40 != 0, Opcode(b[0]&0x0f), b[1]&0x80 != 0
	switch h.Opcode {
	case Continuation, Text, Binary, Close, Ping, Pong:
	default:
		return h, 0, ErrReserved
	}
	if b[0]&0x30 != 0 {
		return h, 0, ErrReserved
	}
	n = 2
	short := b[1] & 0x7f
	if h.Opcode.IsControl() && (!h.Fin || h.Compressed || short > MaxControl) {
		return h, 0, ErrControl
	}
	switch {
	case short < 126:
		h.Length = int64(short)
	case short == 126:
		if n += 2; len(b) < n {
			return h, 0, nil
		}
		if h.Length = int64(binary.BigEndian.Uint16(b[2:])); h.Length < 126 {
			return h, 0, ErrLength
		}
	default:
		if n += 8; len(b) < n {
			return h, 0, nil
		}
		u := binary.BigEndian.Uint64(b[2:])
		if u>>63 != 0 || u <= 0xffff {
			return h, 0, ErrLength
		}
		h.Length = int64(u)
	}
	if h.Masked {
		if n += 4; len(b) < n {
			return h, 0, nil
		}
		copy(h.Mask[:], b[n-4:n])
	}
	return h, n, nil
}

// Append writes the header after b, its length in the shortest form.
func (h Header) Append(b []byte) []byte {
	first := byte(h.Opcode)
	if h.Fin {
		first |= 0x80
	}
	if h.Compressed {
		first |= 0x40
	}
	var masked byte
	if h.Masked {
		masked = 0x80
	}
	switch {
	case h.Length < 126:
		b = append(b, first, masked|byte(h.Length)) //nolint:gosec // below 126
	case h.Length <= 0xffff:
		b = append(b, first, masked|126)
		b = binary.BigEndian.AppendUint16(b, uint16(h.Length))
	default:
		b = append(b, first, masked|127)
		b = binary.BigEndian.AppendUint64(b, uint64(h.Length))
	}
	if h.Masked {
		b = append(b, h.Mask[:]...)
	}
	return b
}

// Mask masks or unmasks b in place (section 5.3). offset is the number of payload bytes that
// went before, since a payload may come in pieces.
func Mask(key [4]byte, offset int64, b []byte) {
	var turned [8]byte
	for i := range turned {
		turned[i] = key[(offset+int64(i))&3]
	}
	wide := binary.NativeEndian.Uint64(turned[:])
	for len(b) >= 8 {
		binary.NativeEndian.PutUint64(b, binary.NativeEndian.Uint64(b)^wide)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= turned[i&3]
	}
}

// ValidCloseCode reports whether a close frame may carry the code (section 7.4; 1012 to 1014
// were registered since).
func ValidCloseCode(code uint16) bool {
	switch {
	case code >= 1000 && code <= 1003, code >= 1007 && code <= 1014:
		return true
	}
	return code >= 3000 && code <= 4999
}

// UTF8 checks text that comes in pieces, cut anywhere. Its zero value is ready.
type UTF8 struct {
	part [utf8.UTFMax]byte // the beginning of a character whose end is still to come
	n    int
}

// Add reports whether the text up to and with b can be the beginning of valid UTF-8. It tells
// at the first byte that cannot, as RFC 6455, section 8.1 has it.
func (u *UTF8) Add(b []byte) bool {
	for u.n > 0 && len(b) > 0 {
		u.part[u.n] = b[0]
		u.n++
		b = b[1:]
		if utf8.FullRune(u.part[:u.n]) {
			// A character that was begun is only its own bytes: what is invalid is full too.
			if r, size := utf8.DecodeRune(u.part[:u.n]); r == utf8.RuneError && size <= 1 {
				return false
			}
			u.n = 0
		}
	}
	if u.n > 0 {
		return true
	}
	// All but an unfinished character at the end is judged at once.
	end := len(b)
	for i := 1; i <= 3 && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				end = len(b) - i
			}
			break
		}
	}
	if !utf8.Valid(b[:end]) {
		return false
	}
	u.n = copy(u.part[:], b[end:])
	return true
}

// Done reports whether the text ended with a whole character, and makes u ready for the next.
func (u *UTF8) Done() bool {
	whole := u.n == 0
	u.n = 0
	return whole
}
