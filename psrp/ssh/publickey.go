package ssh

import (
	"bytes"
	"crypto"
	"crypto/subtle"
	"errors"
	"fmt"
	"os"
	"strings"

	xssh "golang.org/x/crypto/ssh"
)

// PublicKey is the public half of a key. The zero value equals none.
type PublicKey struct {
	kind string
	wire []byte // RFC 4253 section 6.6
}

// NewPublicKey returns the public half of k.
func NewPublicKey(k crypto.Signer) (PublicKey, error) {
	p, err := xssh.NewPublicKey(k.Public())
	if err != nil {
		return PublicKey{}, fmt.Errorf("ssh: public key: %w", err)
	}
	return publicKey(p), nil
}

func publicKey(p xssh.PublicKey) PublicKey { return PublicKey{p.Type(), p.Marshal()} }

// Type returns the kind of key: "ssh-ed25519".
func (p PublicKey) Type() string { return p.kind }

// Fingerprint returns the hash by which people compare keys: "SHA256:...".
func (p PublicKey) Fingerprint() string {
	k, err := xssh.ParsePublicKey(p.wire)
	if err != nil {
		return ""
	}
	return xssh.FingerprintSHA256(k)
}

// Equal reports whether two keys are the same.
func (p PublicKey) Equal(other PublicKey) bool {
	return len(p.wire) > 0 && subtle.ConstantTimeCompare(p.wire, other.wire) == 1
}

// String returns the key as a line of an authorized_keys file, with its line end.
func (p PublicKey) String() string {
	k, err := xssh.ParsePublicKey(p.wire)
	if err != nil {
		return ""
	}
	return string(xssh.MarshalAuthorizedKey(k))
}

// ParseAuthorizedKeys reads the lines of an authorized_keys file. A line with options is refused:
// what they restrict would not be kept.
func ParseAuthorizedKeys(text []byte) ([]PublicKey, error) {
	var keys []PublicKey
	for n, line := range bytes.Split(text, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		k, _, options, _, err := xssh.ParseAuthorizedKey(line)
		if err == nil && len(options) > 0 {
			err = fmt.Errorf("options are not supported: %s", strings.Join(options, ","))
		}
		if err != nil {
			return nil, fmt.Errorf("ssh: authorized keys: line %d: %w", n+1, err)
		}
		keys = append(keys, publicKey(k))
	}
	return keys, nil
}

// PrivateKey reads a private key in one of the forms of ssh-keygen or PKCS #8. It may not be
// encrypted: it is a host's, which starts without anybody at hand.
func PrivateKey(pem []byte) (crypto.Signer, error) {
	k, err := xssh.ParseRawPrivateKey(pem)
	if err != nil {
		return nil, fmt.Errorf("ssh: private key: %w", err)
	}
	s, ok := k.(crypto.Signer)
	if !ok {
		return nil, errors.New("ssh: private key: not one that signs")
	}
	return s, nil
}

// PrivateKeyFile is PrivateKey for a file, which nobody but its owner may read.
func PrivateKeyFile(path string) (crypto.Signer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("ssh: private key: %w", err)
	}
	if isOpen(info.Mode()) {
		return nil, fmt.Errorf("ssh: private key: %s: others may read it (mode %v): chmod 600", path, info.Mode().Perm())
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("ssh: private key: %w", err)
	}
	defer clear(pem)
	return PrivateKey(pem)
}
