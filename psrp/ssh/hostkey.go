package ssh

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	xssh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// HostKeyError is a host that could not prove that it is the known one.
type HostKeyError struct {
	Host        string // as in Config.Addr
	Type        string // of the key that the host showed: "ssh-ed25519"
	Fingerprint string // "SHA256:..."
	// Known are the places, FILE:LINE, of other keys that are known of this host. None means that
	// the host is unknown.
	Known []string
	// Revoked says that the key itself is known, as one that must not be trusted.
	Revoked bool

	files []string
}

func (e *HostKeyError) Error() string {
	shown := fmt.Sprintf("%s %s", e.Type, e.Fingerprint)
	switch {
	case e.Revoked:
		return fmt.Sprintf("verify host key of %s: %s is revoked in %s", e.Host, shown, strings.Join(e.Known, ", "))
	case len(e.Known) > 0:
		return fmt.Sprintf("verify host key of %s: it shows %s, which is not the key known in %s: the host has a new key, or somebody else answers for it; compare fingerprints on the host, then remove the old lines",
			e.Host, shown, strings.Join(e.Known, ", "))
	}
	host, port, _ := net.SplitHostPort(e.Host)
	file := "~/.ssh/known_hosts"
	if len(e.files) > 0 {
		file = e.files[0]
	}
	return fmt.Sprintf("verify host key of %s: the host is not known; it shows %s; compare that on the host, then: ssh-keyscan -p %s %s >> %s", e.Host, shown, port, host, file)
}

// hostKeys judges the key of one host.
type hostKeys struct {
	config  *Config
	known   xssh.HostKeyCallback
	files   []string
	seen    string // fingerprint of the key that was accepted
	refused *HostKeyError
}

func newHostKeys(c *Config) (*hostKeys, error) {
	h := &hostKeys{config: c}
	if c.InsecureIgnoreHostKey {
		return h, nil
	}
	if h.files = c.KnownHosts; h.files == nil {
		h.files = []string{"/etc/ssh/ssh_known_hosts"}
		if home, err := os.UserHomeDir(); err == nil {
			h.files = append([]string{filepath.Join(home, ".ssh", "known_hosts")}, h.files...)
		}
		h.files = slices.DeleteFunc(h.files, func(f string) bool {
			_, err := os.Stat(f)
			return err != nil
		})
	}
	var err error
	if h.known, err = knownhosts.New(h.files...); err != nil {
		return nil, fmt.Errorf("read known hosts: %w", err)
	}
	return h, nil
}

// address is what known_hosts files are asked for beside the host's name: connections through other
// hosts have no address of their own.
func address(a net.Addr) net.Addr {
	if _, ok := a.(*net.TCPAddr); ok {
		return a
	}
	return &net.TCPAddr{IP: net.IPv4zero}
}

func (h *hostKeys) check(host string, remote net.Addr, key xssh.PublicKey) error {
	h.seen = xssh.FingerprintSHA256(key)
	if h.known == nil {
		h.config.Logger.Warn("psrp: ssh host key not verified, as configured", slog.String("host", host), slog.String("hostKey", h.seen))
		return nil
	}
	err := h.known(host, address(remote), key)
	if err == nil {
		return nil
	}
	e := &HostKeyError{Host: host, Type: key.Type(), Fingerprint: h.seen, files: h.files}
	wrong, isWrong := errors.AsType[*knownhosts.KeyError](err)
	revoked, isRevoked := errors.AsType[*knownhosts.RevokedError](err)
	place := func(k knownhosts.KnownKey) string { return fmt.Sprintf("%s:%d", k.Filename, k.Line) }
	switch {
	case isWrong:
		for _, k := range wrong.Want {
			e.Known = append(e.Known, place(k))
		}
	case isRevoked:
		e.Revoked, e.Known = true, []string{place(revoked.Revoked)}
	default:
		return err
	}
	h.refused = e
	return e
}

// algorithms puts those of the keys that are known of the host first, as OpenSSH does: a host with
// keys of several kinds would else show one of another kind, which would look like a wrong one.
func (h *hostKeys) algorithms() []string {
	all := xssh.SupportedAlgorithms().HostKeys
	if h.known == nil {
		return all
	}
	var first []string
	wrong, ok := errors.AsType[*knownhosts.KeyError](h.known(h.config.Addr, &net.TCPAddr{IP: net.IPv4zero}, noKey{}))
	if !ok {
		return all
	}
	for _, k := range wrong.Want {
		switch kind := k.Key.Type(); kind {
		case xssh.KeyAlgoRSA:
			first = append(first, xssh.KeyAlgoRSASHA512, xssh.KeyAlgoRSASHA256)
		default:
			first = append(first, kind)
		}
	}
	rest := slices.DeleteFunc(all, func(a string) bool { return slices.Contains(first, a) })
	return append(first, rest...)
}

// noKey is a key that no host has; asked about it, a known_hosts file tells what it has instead.
type noKey struct{}

func (noKey) Type() string                         { return "none" }
func (noKey) Marshal() []byte                      { return []byte("none") }
func (noKey) Verify([]byte, *xssh.Signature) error { return errors.New("no key") }
