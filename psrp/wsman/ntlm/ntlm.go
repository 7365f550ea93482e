package ntlm

import (
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // G501: MS-NLMP prescribes it
	"crypto/rand"
	"crypto/rc4" //nolint:gosec // G503: MS-NLMP prescribes it
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/md4" //nolint:gosec,staticcheck // G506, SA1019: MS-NLMP prescribes it
)

// maxName bounds each name and the password, in UTF-16 code units.
const maxName = 1024

// Credentials are an account. They may be used by any number of goroutines, and show no password
// when they are printed or logged.
type Credentials struct {
	user, domain string
	hash         [md4.Size]byte // NT hash of the password
	err          error
}

// New returns the credentials of user, which is NAME, DOMAIN\NAME or NAME@DOMAIN. Only the hash of
// the password is kept. A name or password of more than 1,024 UTF-16 code units fails with the
// first handshake.
func New(user, password string) *Credentials {
	c := &Credentials{user: user}
	if domain, name, ok := strings.Cut(user, `\`); ok {
		c.domain, c.user = domain, name
	}
	secret := utf16le(password)
	if max(len(utf16le(user)), len(secret)) > 2*maxName {
		c.err = fmt.Errorf("ntlm: the user's name or password has more than %d UTF-16 code units", maxName)
	}
	h := md4.New() //nolint:gosec // G406: MS-NLMP prescribes it
	h.Write(secret)
	h.Sum(c.hash[:0])
	clear(secret)
	return c
}

// String returns the user's name without the password.
func (c *Credentials) String() string { return "NTLM credentials of " + c.user }

// GoString returns String.
func (c *Credentials) GoString() string { return c.String() }

// Format writes String, whatever the verb.
func (c *Credentials) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) }

// LogValue returns String.
func (c *Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Handshake authenticates one connection: send Negotiate, then what Authenticate makes of the
// server's answer, and use the Session for what follows. It is for one goroutine.
type Handshake struct {
	credentials *Credentials
	negotiate   []byte

	// For the worked examples of MS-NLMP 4.2.
	clientChallenge [8]byte
	sessionKey      [16]byte
	now             func() time.Time
}

// Begin begins a handshake with fresh random values.
func (c *Credentials) Begin() (*Handshake, error) {
	if c.err != nil {
		return nil, c.err
	}
	h := &Handshake{credentials: c, negotiate: negotiateMessage(), now: time.Now}
	_, _ = rand.Read(h.clientChallenge[:]) // never fails
	_, _ = rand.Read(h.sessionKey[:])
	return h, nil
}

// Negotiate returns the NEGOTIATE_MESSAGE.
func (h *Handshake) Negotiate() []byte { return h.negotiate }

// Authenticate answers the server's CHALLENGE_MESSAGE. spn is the service's name, such as
// HTTP/host; binding the result of [ChannelBinding], nil where there is no TLS. Errors wrap
// ErrChallenge.
func (h *Handshake) Authenticate(challengeMessage []byte, spn string, binding []byte) ([]byte, *Session, error) {
	c, err := parseChallenge(challengeMessage)
	if err != nil {
		return nil, nil, err
	}
	if len(utf16le(spn)) > 2*maxName {
		return nil, nil, fmt.Errorf("ntlm: the service's name has more than %d UTF-16 code units", maxName)
	}
	timestamp := c.timestamp
	lm := make([]byte, 24) // zeros when the server sends its time (MS-NLMP 3.1.5.1.2)
	responseKey := h.responseKey()
	if timestamp == nil {
		timestamp = binary.LittleEndian.AppendUint64(nil, filetime(h.now()))
		lm = append(mac(responseKey, c.server[:], h.clientChallenge[:]), h.clientChallenge[:]...)
	}
	nt, base := ntResponse(responseKey, c.server, h.clientChallenge, timestamp, c.targetInfo(spn, binding))
	encrypted := make([]byte, 16)
	stream(base).XORKeyStream(encrypted, h.sessionKey[:])
	message := authenticateMessage(c.flags&flagsOffered, h.credentials.domain, h.credentials.user, lm, nt, encrypted)
	copy(message[micOffset:], mac(h.sessionKey[:], h.negotiate, challengeMessage, message))
	return message, newSession(h.sessionKey), nil
}

// responseKey is NTOWFv2 (MS-NLMP 3.3.2).
func (h *Handshake) responseKey() []byte {
	c := h.credentials
	return mac(c.hash[:], utf16le(strings.ToUpper(c.user)+c.domain))
}

// ntResponse returns NtChallengeResponse and SessionBaseKey (MS-NLMP 3.3.2). The information ends
// by 4 zero bytes of its own and 4 of the response.
func ntResponse(responseKey []byte, server, client [8]byte, timestamp, info []byte) (response, base []byte) {
	temp := []byte{1, 1, 0, 0, 0, 0, 0, 0}
	temp = append(temp, timestamp...)
	temp = append(temp, client[:]...)
	temp = append(temp, 0, 0, 0, 0)
	temp = append(temp, info...)
	temp = append(temp, 0, 0, 0, 0)
	proof := mac(responseKey, server[:], temp)
	return slices.Concat(proof, temp), mac(responseKey, proof)
}

// filetime counts 100 ns from 1601 on.
func filetime(t time.Time) uint64 {
	return uint64(t.UnixNano()/100 + 116444736000000000) // after 1601
}

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(md5.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

func stream(key []byte) *rc4.Cipher {
	c, err := rc4.NewCipher(key) //nolint:gosec // G405: MS-NLMP prescribes it
	if err != nil {
		panic(err) // a key has 16 bytes
	}
	return c
}

// ChannelBinding returns the value that binds an authentication to its TLS connection: the MD5 of
// the gss_channel_bindings_struct (MS-NLMP 3.1.5.1.2) around prefixed data such as
// "tls-server-end-point:" and the certificate's hash (RFC 5929 section 4).
func ChannelBinding(data []byte) []byte {
	h := md5.New()            //nolint:gosec // G401: MS-NLMP prescribes it
	b := make([]byte, 16, 20) // no addresses
	n := uint32(min(len(data), 1<<16))
	h.Write(binary.LittleEndian.AppendUint32(b, n))
	h.Write(data[:n])
	return h.Sum(nil)
}

// SignatureSize is the size of what Seal puts beside a message.
const SignatureSize = 16

// ErrTampered is a sealed message that the server did not send, or not in this place.
var ErrTampered = errors.New("ntlm: the message was altered, repeated or comes out of order")

// Session seals what is sent and opens what comes (MS-NLMP 3.4), each in its order. It is for one
// goroutine. After an error it is of no further use.
type Session struct {
	out, in direction
}

// direction is one way, with the state of its cipher.
type direction struct {
	sign   []byte
	seal   *rc4.Cipher
	number uint32
	failed bool
}

func newSession(key [16]byte) *Session {
	derive := func(constant string) []byte {
		h := md5.New() //nolint:gosec // G401: MS-NLMP prescribes it
		h.Write(key[:])
		h.Write([]byte(constant + " key magic constant\x00"))
		return h.Sum(nil)
	}
	way := func(name string) direction {
		return direction{
			sign: derive("session key to " + name + " signing"),
			seal: stream(derive("session key to " + name + " sealing")),
		}
	}
	return &Session{out: way("client-to-server"), in: way("server-to-client")}
}

// code is the MAC with extended session security and key exchange (MS-NLMP 3.4.4.2). The cipher
// goes on over it, after the message.
func (d *direction) code(message []byte) [SignatureSize]byte {
	var s [SignatureSize]byte
	s[0] = 1
	number := binary.LittleEndian.AppendUint32(nil, d.number)
	d.seal.XORKeyStream(s[4:12], mac(d.sign, number, message)[:8])
	copy(s[12:], number)
	d.number++
	return s
}

// Seal appends the encrypted message to dst and returns its signature, which goes before it.
func (s *Session) Seal(dst, message []byte) (sealed []byte, sig [SignatureSize]byte) {
	n := len(dst)
	dst = append(dst, message...)
	s.out.seal.XORKeyStream(dst[n:], message)
	return dst, s.out.code(message)
}

// Open decrypts sealed in place and returns it. Its error is ErrTampered, also for everything after
// it.
func (s *Session) Open(sig, sealed []byte) ([]byte, error) {
	if s.in.failed {
		return nil, ErrTampered
	}
	s.in.seal.XORKeyStream(sealed, sealed)
	want := s.in.code(sealed)
	if !hmac.Equal(want[:], sig) {
		s.in.failed = true
		clear(sealed)
		return nil, ErrTampered
	}
	return sealed, nil
}
