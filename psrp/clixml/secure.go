package clixml

import (
	"fmt"
	"log/slog"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

const redacted = "[redacted]"

// SecureString is text that no printing, JSON or log shows. It may be used by several goroutines.
//
// A decoder without a Cipher keeps what it read as it was: such a string is sealed, cannot be
// revealed, and is written back unchanged by an encoder without a Cipher.
type SecureString struct {
	mu     sync.Mutex
	utf16  []byte // little-endian
	sealed []byte // what a session key protects
	gone   bool
}

// NewSecureString returns text as a secure string.
func NewSecureString(text string) *SecureString {
	return &SecureString{utf16: appendUTF16(nil, text)}
}

// Value returns an SS.
func (s *SecureString) Value() Value { return pointerValue(KindSecureString, s) }

// Reveal returns the text; false when it is sealed under a key that was not there, or destroyed.
func (s *SecureString) Reveal() (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone || s.sealed != nil {
		return "", false
	}
	return string(appendWTF8(nil, s.utf16)), true
}

// Destroy overwrites the text with zeros. What Reveal returned before lives on.
func (s *SecureString) Destroy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.utf16)
	clear(s.sealed)
	s.utf16, s.sealed, s.gone = nil, nil, true
}

// String returns "[redacted]".
func (s *SecureString) String() string { return redacted }

// Format writes "[redacted]" for every verb.
func (s *SecureString) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalJSON returns "[redacted]".
func (s *SecureString) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue returns "[redacted]".
func (s *SecureString) LogValue() slog.Value { return slog.StringValue(redacted) }

// Credential is a PSCredential.
type Credential struct {
	User     string
	Password *SecureString
}

const credentialType = "System.Management.Automation.PSCredential"

// Value returns the object form of a credential.
func (c Credential) Value() Value {
	return (&Object{
		TypeNames: []string{credentialType, "System.Object"}, ToString: credentialType, HasToString: true,
		Adapted: Properties{{"UserName", String(c.User)}, {"Password", c.Password.Value()}},
	}).Value()
}

// CredentialOf reads the object form of a credential.
func CredentialOf(v Value) (Credential, bool) {
	o, ok := v.Object()
	if !ok || o.TypeName() != credentialType {
		return Credential{}, false
	}
	user, _ := v.Get("UserName")
	password, _ := v.Get("Password")
	name, ok := user.Text()
	secret, isSecret := password.SecureString()
	if !isSecret && !password.IsNil() || !ok && !user.IsNil() {
		return Credential{}, false
	}
	return Credential{User: name, Password: secret}, true
}

// Cipher protects the SecureStrings of one session. Encrypt and Decrypt append to dst.
type Cipher interface {
	Encrypt(dst, utf16 []byte) ([]byte, error)
	Decrypt(dst, data []byte) ([]byte, error)
}

// appendUTF16 appends s, which may hold lone surrogates as WTF-8, in UTF-16LE. Bytes that are no
// text become U+FFFD.
func appendUTF16(dst []byte, s string) []byte {
	for s != "" {
		r, n := decodeWTF8(s)
		s = s[n:]
		if r >= 0x10000 {
			hi, lo := utf16.EncodeRune(r)
			dst = append(dst, byte(hi), byte(hi>>8), byte(lo), byte(lo>>8)) //nolint:gosec // G115: its halves
			continue
		}
		dst = append(dst, byte(r), byte(r>>8)) //nolint:gosec // G115: its halves
	}
	return dst
}

// appendWTF8 appends UTF-16LE as WTF-8. An odd last byte is left out: the caller checks the length.
func appendWTF8(dst, b []byte) []byte {
	for i := 0; i+1 < len(b); i += 2 {
		u := rune(b[i]) | rune(b[i+1])<<8
		if u&0xFC00 == 0xD800 && i+3 < len(b) {
			if lo := rune(b[i+2]) | rune(b[i+3])<<8; lo&0xFC00 == 0xDC00 {
				dst = utf8.AppendRune(dst, utf16.DecodeRune(u, lo))
				i += 2
				continue
			}
		}
		dst = appendRune(dst, u)
	}
	return dst
}

// appendRune appends r as UTF-8, a surrogate as its generalised three bytes.
func appendRune(dst []byte, r rune) []byte {
	if r&^0x7FF == 0xD800 {
		return append(dst, 0xED, 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
	}
	return utf8.AppendRune(dst, r)
}

// decodeWTF8 decodes the first rune of s, which is not empty; a surrogate in its three bytes is
// itself. Bytes that are no text give RuneError and 1.
func decodeWTF8(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 && len(s) >= 3 && s[0] == 0xED && s[1]&0xE0 == 0xA0 && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, n
}
