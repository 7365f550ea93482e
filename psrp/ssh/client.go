package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os/user"
	"strings"
	"sync"
	"time"

	xssh "golang.org/x/crypto/ssh"

	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// Subsystem is the name under which PowerShell registers itself with a server of SSH.
const Subsystem = "powershell"

const (
	defaultKeepalive = 30 * time.Second
	keepaliveMisses  = 3
)

// Config says how to reach a host. Addr is needed; the rest has defaults.
type Config struct {
	// Addr is a host, or host:port; the port's default is 22.
	Addr string
	// User is the account there; the default is the name of this process's user.
	User string
	// Auth are the ways to prove who one is. All keys, in their order, are tried before passwords.
	// None is Agent("").
	Auth []Auth
	// KnownHosts are files of known host keys. None means those of OpenSSH: ~/.ssh/known_hosts and
	// /etc/ssh/ssh_known_hosts.
	KnownHosts []string
	// InsecureIgnoreHostKey takes any host for the right one. Whoever sits between can then read
	// and change everything, passwords included. Each use is logged.
	InsecureIgnoreHostKey bool
	// Subsystem is what to start there; the default is "powershell".
	Subsystem string
	// Command, when not empty, is started instead of a subsystem, by the account's shell.
	Command string
	// DialContext, when not nil, makes the connection, as through a Jump.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
	// Keepalive is how often the host is asked whether it is there; after three times without an
	// answer the connection is given up. The default is 30 s; a negative one never asks.
	Keepalive time.Duration
	// OnBanner is given the greeting of the SSH server, and the text that came before the first
	// packet of the protocol, each at most once.
	OnBanner func(lines []string)
	// MaxPayload is that of oop.Options.
	MaxPayload int
	// Logger is told of connections, authentication and refusals; nil is silent. It is never told
	// of secrets.
	Logger *slog.Logger
}

// withDefaults fills in what is missing.
func (c Config) withDefaults() (Config, error) {
	if c.Addr == "" {
		return c, &proto.ConfigError{Field: "Config.Addr", Got: `""`, Want: "a host, or host:port"}
	}
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		c.Addr = net.JoinHostPort(strings.Trim(c.Addr, "[]"), "22")
	}
	if c.User == "" {
		u, err := user.Current()
		if err != nil {
			return c, fmt.Errorf("no user is given, and this process's has no name: %w", err)
		}
		c.User = u.Username
	}
	if c.Auth == nil {
		c.Auth = []Auth{Agent("")}
	}
	c.Subsystem = cmp.Or(c.Subsystem, Subsystem)
	if c.DialContext == nil {
		c.DialContext = (&net.Dialer{}).DialContext
	}
	c.Keepalive = cmp.Or(c.Keepalive, defaultKeepalive)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c, nil
}

func (c *Config) fail(phase string, err error) error {
	return &proto.TransportError{Phase: phase, Host: c.Addr, ExitCode: -1, Err: err}
}

// Dial connects to a host, proves who both are, and starts the server there. ctx bounds that, not
// the connection. Errors are *proto.TransportError: in phase "dial" the host was not reached, in
// "auth" it is not the known one (*HostKeyError) or did not let the user in, in "open" it has no
// such subsystem.
func Dial(ctx context.Context, c Config) (*oop.Conn, error) {
	client, c, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	s, err := start(client, &c)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		_ = client.Close()
		return nil, c.fail("open", err)
	}
	return oop.NewConn(s, oop.Client, oop.Options{OnBanner: c.OnBanner, Confidential: true, MaxPayload: c.MaxPayload, Host: c.Addr, Stderr: s.channel.Stderr(), ExitCode: s.exitCode}), nil
}

// connect makes an SSH connection.
func connect(ctx context.Context, c Config) (*xssh.Client, Config, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, c, c.fail("dial", err)
	}
	begin := time.Now()
	keys, err := newHostKeys(&c)
	if err != nil {
		return nil, c, c.fail("auth", err)
	}
	proofs, err := gather(ctx, &c)
	if err != nil {
		return nil, c, c.fail("auth", err)
	}
	defer proofs.close()
	nc, err := c.DialContext(ctx, "tcp", c.Addr)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, c, c.fail("dial", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	conn, channels, requests, err := xssh.NewClientConn(nc, c.Addr, &xssh.ClientConfig{
		User: c.User, Auth: proofs.methods(), HostKeyCallback: keys.check, HostKeyAlgorithms: keys.algorithms(),
		BannerCallback: func(message string) error {
			if c.OnBanner != nil && message != "" {
				c.OnBanner(strings.Split(strings.TrimRight(message, "\r\n"), "\n"))
			}
			return nil
		},
		ClientVersion: "SSH-2.0-Quire",
	})
	if !stop() && err == nil {
		err = errors.Join(ctx.Err(), conn.Close())
	}
	if err != nil {
		_ = nc.Close()
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case keys.refused != nil:
			err = keys.refused
		default:
			err = proofs.explain(err)
		}
		c.Logger.LogAttrs(ctx, slog.LevelWarn, "psrp: ssh not connected", slog.String("host", c.Addr), slog.String("user", c.User), slog.Any("error", err))
		return nil, c, c.fail("auth", err)
	}
	c.Logger.LogAttrs(ctx, slog.LevelInfo, "psrp: ssh authenticated", slog.String("host", c.Addr), slog.String("user", c.User),
		slog.String("hostKey", keys.seen), slog.Duration("took", time.Since(begin)))
	return xssh.NewClient(conn, channels, requests), c, nil
}

// start runs the server on the host, in a channel of type "session" (RFC 4254 section 6).
func start(client *xssh.Client, c *Config) (*stream, error) {
	channel, requests, err := client.OpenChannel("session", nil)
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	s := &stream{client: client, channel: channel, done: make(chan struct{}), closing: make(chan struct{}), exit: -1}
	go s.listen(requests)
	kind, name, advice := "subsystem", c.Subsystem, "the server's sshd_config needs a line such as: Subsystem powershell /usr/bin/pwsh -sshs -NoLogo"
	if c.Command != "" {
		kind, name, advice = "exec", c.Command, "the server allows no such command"
	}
	ok, err := channel.SendRequest(kind, true, xssh.Marshal(&struct{ Name string }{name}))
	if err == nil && !ok {
		err = errors.New("refused; " + advice)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s %q: %w", kind, name, err)
	}
	if c.Keepalive > 0 {
		s.group.Go(func() { keepalive(client, c.Keepalive, s.closing, s.lose) })
	}
	return s, nil
}

// stream is the standard input and output of the server on the host.
type stream struct {
	client  *xssh.Client
	channel xssh.Channel
	done    chan struct{} // closed when the channel has ended
	exit    int           // after done
	closing chan struct{}
	once    sync.Once
	group   sync.WaitGroup

	mu    sync.Mutex
	cause error // why this side gave up
}

// listen takes what the server tells of its end.
func (s *stream) listen(requests <-chan *xssh.Request) {
	defer close(s.done)
	for r := range requests {
		var status struct{ Code uint32 }
		if r.Type == "exit-status" && xssh.Unmarshal(r.Payload, &status) == nil {
			s.exit = int(status.Code)
		}
		if r.WantReply {
			_ = r.Reply(false, nil)
		}
	}
}

// lose gives the connection up.
func (s *stream) lose(cause error) {
	s.mu.Lock()
	s.cause = cause
	s.mu.Unlock()
	_ = s.client.Close()
}

func (s *stream) why(err error) error {
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.cause, err)
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.channel.Read(b)
	return n, s.why(err)
}

func (s *stream) Write(b []byte) (int, error) {
	n, err := s.channel.Write(b)
	return n, s.why(err)
}

// exitCode waits for the server, which ends a moment after its output.
func (s *stream) exitCode() int {
	select {
	case <-s.done:
		return s.exit
	case <-time.After(time.Second):
		return -1
	}
}

func (s *stream) Close() error {
	s.once.Do(func() {
		close(s.closing)
		_ = s.channel.CloseWrite()
		_ = s.client.Close()
		s.group.Wait()
		_ = s.client.Wait()
	})
	<-s.done
	return nil
}

// Jump is a connection to a host from which others are reached.
type Jump struct {
	client *xssh.Client
	host   string
}

// DialJump connects to a host that lets connections through. Its Subsystem and Command are not
// started. ctx bounds the dialling.
func DialJump(ctx context.Context, c Config) (*Jump, error) {
	client, c, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Jump{client, c.Addr}, nil
}

// DialContext connects from the host to addr; it fits Config.DialContext. It may be called by any
// number of goroutines.
func (j *Jump) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := j.client.DialContext(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("from %s: %w", j.host, err)
	}
	return nc, nil
}

// Close ends the connection, and with it those that go through it.
func (j *Jump) Close() error {
	err := j.client.Close()
	_ = j.client.Wait()
	return err
}

var errNoAnswer = errors.New("the peer does not answer keep-alive requests")

// keepalive asks the peer from time to time whether it is there. Any answer will do, a refusal too.
func keepalive(conn xssh.Conn, every time.Duration, stop <-chan struct{}, lose func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	answered := make(chan error, 1)
	asked, missed := false, 0
	for {
		select {
		case <-stop:
			return
		case err := <-answered:
			if err != nil {
				return // the connection has ended, which its readers see
			}
			asked, missed = false, 0
		case <-tick.C:
			if asked {
				if missed++; missed >= keepaliveMisses {
					lose(fmt.Errorf("%w: %d in %v", errNoAnswer, keepaliveMisses, time.Duration(keepaliveMisses)*every))
					return
				}
				continue
			}
			asked = true
			go func() {
				_, _, err := conn.SendRequest("keepalive@openssh.com", true, nil)
				answered <- err
			}()
		}
	}
}
