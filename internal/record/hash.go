package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Hash is a SHA-256 digest: the name of everything that is named by its
// content. The zero value means "none" and is the digest of nothing known.
type Hash [sha256.Size]byte

// Sum returns the hash of b.
func Sum(b []byte) Hash { return sha256.Sum256(b) }

// ParseHash reads the form written by [Hash.String]: exactly 64 lower-case hexadecimal digits. One
// hash has one spelling, so that a name in a URL, a cache key or a row can be compared as text.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != hex.EncodedLen(len(h)) {
		return Hash{}, fmt.Errorf("hash: want %d hexadecimal digits, got %d characters", hex.EncodedLen(len(h)), len(s))
	}
	if rest := strings.TrimLeft(s, "0123456789abcdef"); rest != "" {
		return Hash{}, fmt.Errorf("hash: want lower-case hexadecimal digits, got %q at character %d", rest[0], len(s)-len(rest)+1)
	}
	_, err := hex.Decode(h[:], []byte(s)) // an error cannot be
	return h, err
}

// String returns the 64 lower-case hexadecimal digits of h.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether h is the zero value, which means "none".
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText writes the form of [Hash.String].
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the form of [ParseHash].
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, err := ParseHash(string(text))
	if err != nil {
		return err
	}
	*h = parsed
	return nil
}
