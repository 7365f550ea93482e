package ntlm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
)

// Flags of the messages (MS-NLMP 2.2.2.5).
const (
	flagUnicode          = 0x00000001
	flagRequestTarget    = 0x00000004
	flagSign             = 0x00000010
	flagSeal             = 0x00000020
	flagNTLM             = 0x00000200
	flagAlwaysSign       = 0x00008000
	flagExtendedSecurity = 0x00080000
	flagTargetInfo       = 0x00800000
	flagVersion          = 0x02000000
	flag128              = 0x20000000
	flagKeyExchange      = 0x40000000
	flag56               = 0x80000000

	flagsOffered = flagUnicode | flagRequestTarget | flagSign | flagSeal | flagNTLM | flagAlwaysSign |
		flagExtendedSecurity | flagTargetInfo | flagVersion | flag128 | flagKeyExchange | flag56
	// flagsNeeded must be in the answer: without any one of them the session would be weaker than
	// what is promised.
	flagsNeeded = flagUnicode | flagSign | flagSeal | flagExtendedSecurity | flagTargetInfo | flag128 | flagKeyExchange
)

// Identifiers of target information (MS-NLMP 2.2.2.1).
const (
	avEOL             = 0
	avFlags           = 6
	avTimestamp       = 7
	avTargetName      = 9
	avChannelBindings = 10
)

// avFlagMIC says that the AUTHENTICATE_MESSAGE has a message integrity code.
const avFlagMIC = 2

const (
	maxChallenge  = 64 << 10
	negotiateSize = 40
	authHeader    = 88 // of an AUTHENTICATE_MESSAGE with version and MIC
	micOffset     = 72
)

var (
	signature = []byte("NTLMSSP\x00")
	// version is that of a client that says 10.0 and NTLMSSP_REVISION_W2K3 (MS-NLMP 2.2.2.10).
	version = [8]byte{10, 0, 0, 0, 0, 0, 0, 15}
)

// ErrChallenge is an answer of the server that is no CHALLENGE_MESSAGE, or one that asks for less
// protection than is needed.
var ErrChallenge = errors.New("ntlm: the server's challenge is refused")

func refuse(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrChallenge, fmt.Sprintf(format, a...))
}

// negotiateMessage is the first message (MS-NLMP 2.2.1.1).
func negotiateMessage() []byte {
	b := make([]byte, negotiateSize)
	copy(b, signature)
	binary.LittleEndian.PutUint32(b[8:], 1)
	binary.LittleEndian.PutUint32(b[12:], flagsOffered)
	copy(b[32:], version[:])
	return b
}

type avPair struct {
	id    uint16
	value []byte
}

// challenge is what the server sends (MS-NLMP 2.2.1.2).
type challenge struct {
	flags     uint32
	server    [8]byte
	info      []avPair // without the end
	timestamp []byte   // of the server; nil when it sent none
}

// parseChallenge reads a CHALLENGE_MESSAGE. What it returns are views of b.
func parseChallenge(b []byte) (*challenge, error) {
	switch {
	case len(b) > maxChallenge:
		return nil, refuse("%d bytes, at most %d", len(b), maxChallenge)
	case len(b) < 48 || !bytes.HasPrefix(b, signature):
		return nil, refuse("not a message of NTLM")
	case binary.LittleEndian.Uint32(b[8:]) != 2:
		return nil, refuse("message type %d", binary.LittleEndian.Uint32(b[8:]))
	}
	c := &challenge{flags: binary.LittleEndian.Uint32(b[20:])}
	if missing := flagsNeeded &^ c.flags; missing != 0 {
		return nil, refuse("flags %#08x are missing: the session would be weaker than NTLMv2 with 128-bit sealing", missing)
	}
	copy(c.server[:], b[24:])
	size, offset := int(binary.LittleEndian.Uint16(b[40:])), int64(binary.LittleEndian.Uint32(b[44:]))
	if offset < 48 || offset+int64(size) > int64(len(b)) {
		return nil, refuse("target information of %d bytes at %d is outside of the message", size, offset)
	}
	info := b[offset : offset+int64(size)]
	for {
		if len(info) < 4 {
			return nil, refuse("target information has no end")
		}
		id, n := binary.LittleEndian.Uint16(info), int(binary.LittleEndian.Uint16(info[2:]))
		if n > len(info)-4 {
			return nil, refuse("a value of %d bytes is outside of the target information", n)
		}
		value := info[4 : 4+n]
		switch id {
		case avEOL:
			return c, nil
		case avTimestamp:
			if n != 8 {
				return nil, refuse("a timestamp of %d bytes", n)
			}
			c.timestamp = value
		}
		c.info = append(c.info, avPair{id, value})
		info = info[4+n:]
	}
}

// targetInfo is the server's information as the client returns it: with what it adds, and with 4
// bytes of zeros behind it (MS-NLMP 3.1.5.1.2).
func (c *challenge) targetInfo(spn string, binding []byte) []byte {
	var b []byte
	add := func(id uint16, value []byte) {
		b = binary.LittleEndian.AppendUint16(b, id)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(value))) //nolint:gosec // G115: at most what a uint16 said, or a host's name
		b = append(b, value...)
	}
	var flags uint32
	for _, p := range c.info {
		switch p.id {
		case avFlags:
			if len(p.value) == 4 {
				flags = binary.LittleEndian.Uint32(p.value)
			}
		case avTargetName, avChannelBindings:
		default:
			add(p.id, p.value)
		}
	}
	add(avFlags, binary.LittleEndian.AppendUint32(nil, flags|avFlagMIC))
	if binding == nil {
		binding = make([]byte, 16) // "no channel", which a server that demands one refuses
	}
	add(avChannelBindings, binding)
	add(avTargetName, utf16le(spn))
	add(avEOL, nil)
	return b
}

// authenticateMessage is the last message (MS-NLMP 2.2.1.3), its integrity code still zero.
func authenticateMessage(flags uint32, domain, user string, lm, nt, key []byte) []byte {
	b := make([]byte, authHeader)
	copy(b, signature)
	binary.LittleEndian.PutUint32(b[8:], 3)
	field := func(at int, value []byte) {
		binary.LittleEndian.PutUint16(b[at:], uint16(len(value)))   //nolint:gosec // G115: bounded by New and parseChallenge
		binary.LittleEndian.PutUint16(b[at+2:], uint16(len(value))) //nolint:gosec // G115: as above
		binary.LittleEndian.PutUint32(b[at+4:], uint32(len(b)))     //nolint:gosec // G115: as above
		b = append(b, value...)
	}
	field(28, utf16le(domain))
	field(36, utf16le(user))
	field(44, nil) // the workstation
	field(12, lm)
	field(20, nt)
	field(52, key)
	binary.LittleEndian.PutUint32(b[60:], flags)
	copy(b[64:], version[:])
	return b
}

func utf16le(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}
