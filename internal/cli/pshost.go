package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/quire/psrp"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/ssh"
	"example.com/quire/psrp/wsman"
)

// psRemote says how a host is reached.
type psRemote struct {
	user         string
	identity     []string
	knownHosts   []string
	passwordFile string
	jump         []string
	subsystem    string
	insecure     bool

	basic         bool
	caFile        string
	configuration string
}

func (r *psRemote) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&r.user, "user", "u", "", "the account `USER` on the host")
	f.StringArrayVarP(&r.identity, "identity", "i", nil, "authenticate by the private key in `FILE`; may be repeated (default: the keys of the SSH agent, then ~/.ssh/id_*)")
	f.StringVar(&r.passwordFile, "password-file", "", "read the password from `FILE`; without it the terminal asks for it")
	f.StringArrayVar(&r.knownHosts, "known-hosts", nil, "`FILE` with the keys of known hosts (default: ~/.ssh/known_hosts and /etc/ssh/ssh_known_hosts)")
	f.StringArrayVarP(&r.jump, "jump", "J", nil, "connect through `[USER@]NAME[:PORT]`; may be repeated, first hop first")
	f.StringVar(&r.subsystem, "subsystem", "", "start the SSH subsystem `NAME` instead of powershell")
	f.BoolVar(&r.basic, "basic", false, "over HTTPS, use Basic authentication instead of NTLM")
	f.StringVar(&r.caFile, "ca", "", "over HTTPS, trust the certificate authorities in `FILE` instead of the system's")
	f.StringVar(&r.configuration, "configuration", "", "over HTTP and HTTPS, use the session configuration `NAME` instead of Microsoft.PowerShell")
	f.BoolVar(&r.insecure, "insecure-ignore-host-key", false, "accept any host key; anyone between you and the host can then see everything")
}

// dial connects to a host.
func (r *psRemote) dial(ctx context.Context, address string, p *program, v *psView) (psrp.Transport, error) {
	scheme, rest, ok := strings.Cut(address, ":")
	switch {
	case ok && scheme == "stdio":
		words := strings.Fields(rest)
		if len(words) == 0 {
			return nil, usageError{errors.New("stdio: names no program: want stdio:PROGRAM [ARGUMENT...]")}
		}
		return oop.StartProcess(ctx, words[0], words[1:]...)
	case ok && scheme == "unix":
		if rest == "" {
			return nil, usageError{errors.New("unix: names no socket: want unix:PATH")}
		}
		return oop.DialUnix(ctx, rest)
	}
	if !strings.Contains(address, "://") {
		address = "ssh://" + address
	}
	u, err := hostURL("host", address)
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "https", "http":
		return r.wsman(ctx, u, p)
	case "ssh":
		if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
			return nil, usageError{errors.New("host: want ssh://[USER@]NAME[:PORT]")}
		}
		return r.ssh(ctx, u, p, v)
	}
	return nil, usageError{fmt.Errorf("host: unknown scheme %s: want ssh, https, http, stdio or unix", u.Scheme)}
}

// hostURL reads where a host or a hop is. Its errors quote nothing: somebody may have written a
// password there.
func hostURL(what, address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, usageError{fmt.Errorf("%s: want [USER@]NAME[:PORT], or a URL of that", what)}
	}
	if _, ok := u.User.Password(); ok {
		return nil, usageError{fmt.Errorf("%s: a password does not belong on a command line: use --password-file", what)}
	}
	return u, nil
}

func (r *psRemote) ssh(ctx context.Context, u *url.URL, p *program, v *psView) (psrp.Transport, error) {
	c := r.sshConfig(u, p, v)
	for _, hop := range r.jump {
		hu, err := hostURL("--jump", "ssh://"+strings.TrimPrefix(hop, "ssh://"))
		if err != nil {
			return nil, err
		}
		hc := r.sshConfig(hu, p, v)
		hc.DialContext = c.DialContext
		jump, err := ssh.DialJump(ctx, hc)
		if err != nil {
			return nil, err
		}
		c.DialContext = jump.DialContext // it lives as long as the process
	}
	conn, err := ssh.Dial(ctx, c)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// wsman connects by Windows Remote Management.
func (r *psRemote) wsman(ctx context.Context, u *url.URL, p *program) (psrp.Transport, error) {
	user := cmp.Or(r.user, u.User.Username())
	if user == "" {
		return nil, usageError{fmt.Errorf("host %s: no user: name the account by --user 'DOMAIN\\NAME'", u.Hostname())}
	}
	secret, err := r.password(p, "Password of "+user+": ")
	if err != nil {
		return nil, fmt.Errorf("password of %s (--password-file names a file): %w", user, err)
	}
	u.User = nil
	password, _ := secret.Reveal() // it has just been read
	auth := wsman.NTLM
	if r.basic {
		auth = wsman.Basic
	}
	c := wsman.Config{Endpoint: u.String(), Auth: auth(user, password), ConfigurationName: r.configuration}
	if r.caFile != "" {
		pem, err := os.ReadFile(r.caFile)
		if err != nil {
			return nil, err
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--ca %s: the file has no certificate in PEM form", r.caFile)
		}
		c.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	conn, err := wsman.Dial(ctx, c)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

func (r *psRemote) sshConfig(u *url.URL, p *program, v *psView) ssh.Config {
	c := ssh.Config{
		Addr: u.Host, User: u.User.Username(), KnownHosts: r.knownHosts, Subsystem: r.subsystem, InsecureIgnoreHostKey: r.insecure,
		OnBanner: func(lines []string) { v.banner(lines) },
	}
	if r.user != "" {
		c.User = r.user
	}
	keys := r.identity
	if len(keys) == 0 {
		c.Auth = append(c.Auth, ssh.Agent(""))
		if home, err := os.UserHomeDir(); err == nil {
			for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
				if file := filepath.Join(home, ".ssh", name); exists(file) {
					keys = append(keys, file)
				}
			}
		}
	}
	for _, k := range keys {
		c.Auth = append(c.Auth, ssh.KeyFile(k, func() (*clixml.SecureString, error) { return p.readSecret("Passphrase of " + k + ": ") }))
	}
	if r.passwordFile != "" || terminal(p.Stdin) {
		c.Auth = append(c.Auth, ssh.PasswordFunc(func(context.Context) (*clixml.SecureString, error) {
			return r.password(p, "Password for "+u.Host+": ")
		}))
	}
	return c
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// password reads the password from its file, or asks for it.
func (r *psRemote) password(p *program, question string) (*clixml.SecureString, error) {
	if r.passwordFile == "" {
		return p.readSecret(question)
	}
	b, err := os.ReadFile(r.passwordFile)
	if err != nil {
		return nil, err
	}
	defer clear(b)
	return clixml.NewSecureString(strings.TrimRight(string(b), "\r\n")), nil
}
