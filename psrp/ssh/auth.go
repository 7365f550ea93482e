package ssh

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	xssh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"example.com/quire/psrp/clixml"
)

// Auth is a way to prove to a host who one is: a key or a password.
type Auth interface {
	// gather adds what it has to p.
	gather(ctx context.Context, p *proofs) error
	// name is for errors and never a secret.
	name() string
}

type password struct {
	ask func(ctx context.Context) (*clixml.SecureString, error)
}

// Password proves by a password, also where the server asks for it by a dialogue of one question.
func Password(text *clixml.SecureString) Auth {
	return PasswordFunc(func(context.Context) (*clixml.SecureString, error) { return text, nil })
}

// PasswordFunc is Password with a function that is asked when, and only when, the host wants one.
func PasswordFunc(ask func(ctx context.Context) (*clixml.SecureString, error)) Auth {
	return &password{ask}
}

func (p *password) name() string { return "password" }

func (p *password) gather(ctx context.Context, all *proofs) error {
	reveal := func() (string, error) {
		s, err := p.ask(ctx)
		if err != nil {
			return "", err
		}
		text, ok := s.Reveal()
		if !ok {
			return "", errors.New("the password has been destroyed")
		}
		return text, nil
	}
	all.passwords = append(all.passwords, reveal)
	return nil
}

type key struct{ signer crypto.Signer }

// Key proves by a private key: RSA of 2048 bits or more, ECDSA or Ed25519.
func Key(k crypto.Signer) Auth { return &key{k} }

func (k *key) name() string { return "key" }

func (k *key) gather(_ context.Context, all *proofs) error {
	s, err := xssh.NewSignerFromSigner(k.signer)
	if err != nil {
		return err
	}
	all.signers = append(all.signers, s)
	return nil
}

type keyFile struct {
	path       string
	passphrase func() (*clixml.SecureString, error)
}

// KeyFile proves by the private key in a file, as of ssh-keygen. passphrase is called when the file
// is encrypted; nil refuses such a file.
func KeyFile(path string, passphrase func() (*clixml.SecureString, error)) Auth {
	return &keyFile{path, passphrase}
}

func (k *keyFile) name() string { return "key file " + k.path }

func (k *keyFile) gather(_ context.Context, all *proofs) error {
	pem, err := os.ReadFile(k.path)
	if err != nil {
		return err
	}
	defer clear(pem)
	s, err := xssh.ParsePrivateKey(pem)
	if _, encrypted := errors.AsType[*xssh.PassphraseMissingError](err); encrypted {
		if k.passphrase == nil {
			return errors.New("the file is encrypted and there is no passphrase; ssh-add gives its key to the agent")
		}
		secret, err := k.passphrase()
		if err != nil {
			return err
		}
		text, ok := secret.Reveal()
		if !ok {
			return errors.New("the passphrase has been destroyed")
		}
		b := []byte(text)
		defer clear(b)
		if s, err = xssh.ParsePrivateKeyWithPassphrase(pem, b); err != nil {
			return err
		}
		all.signers = append(all.signers, s)
		return nil
	}
	if err != nil {
		return err
	}
	all.signers = append(all.signers, s)
	return nil
}

type agentAuth struct{ socket string }

// Agent proves by the keys of an SSH agent, whose Unix socket is given; "" is that of the
// environment variable SSH_AUTH_SOCK.
func Agent(socket string) Auth { return &agentAuth{socket} }

func (a *agentAuth) name() string { return "agent" }

func (a *agentAuth) gather(ctx context.Context, all *proofs) error {
	socket := a.socket
	if socket == "" {
		if socket = os.Getenv("SSH_AUTH_SOCK"); socket == "" {
			return errors.New("SSH_AUTH_SOCK is not set: no agent runs")
		}
	}
	nc, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	all.open = append(all.open, nc)
	signers, err := agent.NewClient(nc).Signers()
	if err != nil {
		return err
	}
	if len(signers) == 0 {
		return errors.New("it holds no key; add one with ssh-add")
	}
	all.signers = append(all.signers, signers...)
	return nil
}

// proofs are what a client can show.
type proofs struct {
	signers   []xssh.Signer
	passwords []func() (string, error)
	open      []io.Closer
	missing   []string // what could not be had, with the reason
}

// gather collects all proofs. What is not to be had is an error only when nothing else is.
func gather(ctx context.Context, c *Config) (*proofs, error) {
	p := &proofs{}
	for _, a := range c.Auth {
		if err := a.gather(ctx, p); err != nil {
			p.missing = append(p.missing, fmt.Sprintf("%s: %v", a.name(), err))
		}
	}
	if len(p.signers)+len(p.passwords) == 0 {
		p.close()
		return nil, fmt.Errorf("nothing to prove user %s by: %s", c.User, strings.Join(p.missing, "; "))
	}
	return p, nil
}

func (p *proofs) close() {
	for _, c := range p.open {
		_ = c.Close()
	}
}

// methods are the proofs as x/crypto wants them: it tries each kind of method once, so all keys are
// one method, and so are all passwords.
func (p *proofs) methods() []xssh.AuthMethod {
	var m []xssh.AuthMethod
	if len(p.signers) > 0 {
		m = append(m, xssh.PublicKeys(p.signers...))
	}
	if len(p.passwords) == 0 {
		return m
	}
	left := p.passwords
	m = append(m, xssh.RetryableAuthMethod(xssh.PasswordCallback(func() (string, error) {
		if len(left) == 0 {
			return "", errors.New("no further password")
		}
		ask := left[0]
		left = left[1:]
		return ask()
	}), len(p.passwords)))
	// RFC 4256: the server may ask anything; only a single question for something that is not shown
	// is one for the password.
	return append(m, xssh.KeyboardInteractive(func(_, _ string, questions []string, echos []bool) ([]string, error) {
		if len(questions) == 0 {
			return nil, nil
		}
		if len(questions) > 1 || echos[0] {
			return nil, fmt.Errorf("the server asks %q, which does not ask for a password", questions)
		}
		text, err := p.passwords[0]()
		return []string{text}, err
	}))
}

// explain adds what could not be had to a refusal.
func (p *proofs) explain(err error) error {
	if len(p.missing) == 0 {
		return err
	}
	return fmt.Errorf("%w (not tried: %s)", err, strings.Join(p.missing, "; "))
}
