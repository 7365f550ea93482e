package cli

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"example.com/quire/internal/demo"
	"example.com/quire/psrp"
	"example.com/quire/psrp/ssh"
)

// psServeOptions say where PowerShell connects.
type psServeOptions struct {
	unix           string
	ssh            string
	hostKey        string
	authorizedKeys string
}

func (p *program) psServe() *cobra.Command {
	var o psServeOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve as a PowerShell host with three sample commands",
		Long: "Serve as a PowerShell host. PowerShell, and any other client of its remoting protocol, can call\n" +
			"three sample commands, which are Go functions: Get-QuireHost, Measure-Number and\n" +
			"Wait-Countdown. Scripts are refused, and no process is started.\n\n" +
			"Without flags, one client is served over standard input and output, as the subsystem of an\n" +
			"SSH server: `Subsystem powershell /usr/bin/quire ps serve` in sshd_config. With --ssh the\n" +
			"command is the SSH server itself, which accepts clients that have one of the authorized keys.",
		Example: "  quire ps serve --unix /run/quire/ps.sock\n" +
			"  quire ps serve --ssh 127.0.0.1:2222 --host-key host_ed25519 --authorized-keys ~/.ssh/authorized_keys",
		Args: counted(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error { return p.servePowerShell(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.ssh, "ssh", "", "serve SSH clients at `HOST:PORT`; port 0 selects a free port")
	f.StringVar(&o.hostKey, "host-key", "", "`FILE` with the host's private key, which identifies it to SSH clients")
	f.StringVar(&o.authorizedKeys, "authorized-keys", "", "`FILE` with the public keys of the SSH clients to accept, in the form of OpenSSH's authorized_keys")
	f.StringVar(&o.unix, "unix", "", "serve clients of a Unix socket at `PATH`, to which only the user may connect")
	return c
}

func (p *program) servePowerShell(ctx context.Context, o psServeOptions) error {
	srv := &psrp.Server{Registry: demo.PowerShell()}
	switch {
	case o.unix != "" && o.ssh != "":
		return usageError{errors.New("--unix and --ssh exclude each other")}
	case o.ssh == "" && (o.hostKey != "" || o.authorizedKeys != ""):
		return usageError{errors.New("--host-key and --authorized-keys need --ssh")}
	case o.ssh != "":
		return p.servePowerShellOverSSH(ctx, srv, o)
	case o.unix == "":
		return stopped(ctx, srv.ServeStdio(ctx))
	}
	l, err := listenPrivately(ctx, o.unix)
	if err != nil {
		return err
	}
	if err := p.print(map[string]string{"unix": o.unix}, "serving PowerShell at "+o.unix+"\n"); err != nil {
		return errors.Join(err, l.Close())
	}
	return stopped(ctx, srv.ServeListener(ctx, l))
}

func (p *program) servePowerShellOverSSH(ctx context.Context, srv *psrp.Server, o psServeOptions) error {
	if o.hostKey == "" || o.authorizedKeys == "" {
		return usageError{errors.New("--ssh needs --host-key and --authorized-keys; `ssh-keygen -t ed25519 -N '' -f FILE` makes a host key")}
	}
	host, err := ssh.PrivateKeyFile(o.hostKey)
	if err != nil {
		return usageError{err}
	}
	text, err := os.ReadFile(o.authorizedKeys)
	if err != nil {
		return usageError{err}
	}
	keys, err := ssh.ParseAuthorizedKeys(text)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", o.authorizedKeys, err)}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", o.ssh)
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	if err := p.print(map[string]string{"ssh": addr}, "serving PowerShell over SSH at "+addr+"\n"); err != nil {
		return errors.Join(err, l.Close())
	}
	return stopped(ctx, ssh.Serve(ctx, l, ssh.ServerConfig{HostKeys: []crypto.Signer{host}, AuthorizedKey: ssh.AuthorizedKeys(keys...)}, srv))
}

// stopped makes the end that was asked for no failure.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// listenPrivately makes a socket that other users cannot connect to: it gets its name once it is
// closed to them.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, usageError{fmt.Errorf("serve at %s: the file exists already", path)}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".quire-ps-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // an empty directory stays behind
	made := filepath.Join(dir, "s")
	var c net.ListenConfig
	l, err := c.Listen(ctx, "unix", made)
	if err != nil {
		return nil, err
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		return nil, errors.Join(fmt.Errorf("serve at %s: %w", path, err), l.Close())
	}
	return &namedListener{Listener: l, path: path}, nil
}

// namedListener removes its socket when it is closed, before any Close returns.
type namedListener struct {
	net.Listener
	path string
	once sync.Once
	err  error
}

func (l *namedListener) Close() error {
	l.once.Do(func() { l.err = errors.Join(l.Listener.Close(), os.Remove(l.path)) })
	return l.err
}
