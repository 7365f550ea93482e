package ssh

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	xssh "golang.org/x/crypto/ssh"

	"example.com/quire/psrp"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// ServerConfig says who may come in. HostKeys and one of AuthorizedKey and Password are needed. Its
// functions are called by several goroutines.
type ServerConfig struct {
	// HostKeys prove to clients that this is the right host, one of each kind: Ed25519 alone will
	// do.
	HostKeys []crypto.Signer
	// AuthorizedKey lets a user in by a key, by returning nil. It may be asked about keys that the
	// client turns out not to hold; only what Serve passes on has been proved. See AuthorizedKeys.
	AuthorizedKey func(ctx context.Context, user string, key PublicKey) error
	// Password lets a user in by a password. It should take the same time whether the user exists
	// or not.
	Password func(ctx context.Context, user string, password *clixml.SecureString) error
	// Subsystem is the one name that is served; the default is "powershell".
	Subsystem string
	// Connections is how many clients may be connected, those that have not proved who they are
	// included; the default is 64. More are closed at once.
	Connections int
	// Login is how long a client may take to prove who it is; the default is 60 s.
	Login time.Duration
	// Keepalive is as in Config.
	Keepalive time.Duration
	// Logger is told of clients, how they came in, and refusals; nil is silent. It is never told of
	// secrets.
	Logger *slog.Logger
}

const (
	maxSessions = 8 // channels of one connection
	maxTries    = 6 // proofs of one connection, as of OpenSSH
)

// errNotLetIn is all that a client is told.
var errNotLetIn = errors.New("permission denied")

// AuthorizedKeys returns a function for ServerConfig.AuthorizedKey that lets any of keys in,
// whatever the user's name.
func AuthorizedKeys(keys ...PublicKey) func(ctx context.Context, user string, key PublicKey) error {
	return func(_ context.Context, _ string, key PublicKey) error {
		for _, k := range keys {
			if k.Equal(key) {
				return nil
			}
		}
		return errNotLetIn
	}
}

// Serve takes the clients of l, and has s serve what they start, each under the identity that it
// proved. It ends with ctx, or with l, after all its clients have ended, and closes l.
func Serve(ctx context.Context, l net.Listener, c ServerConfig, s *psrp.Server) error {
	return serve(ctx, l, c, s.Serve)
}

// handler serves one client over t, which it closes.
type handler func(ctx context.Context, t psrp.Transport, id psrp.Identity) error

func serve(ctx context.Context, l net.Listener, c ServerConfig, h handler) error {
	srv, err := newServer(c, h)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer srv.group.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	slots := make(chan struct{}, srv.config.Connections)
	pause := time.Duration(0)
	for {
		nc, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = nc.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("ssh: serve: %w", err)
		case err != nil:
			// Such as too many open files: it passes.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			srv.config.Logger.WarnContext(ctx, "psrp: ssh cannot accept", slog.Any("error", err), slog.Duration("pause", pause))
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			continue
		}
		pause = 0
		select {
		case slots <- struct{}{}:
			srv.group.Go(func() {
				defer func() { <-slots }()
				srv.connection(ctx, nc)
			})
		default:
			srv.config.Logger.WarnContext(ctx, "psrp: ssh client refused: too many connections", slog.String("address", nc.RemoteAddr().String()))
			_ = nc.Close()
		}
	}
}

type server struct {
	config  ServerConfig
	signers []xssh.Signer
	handle  handler
	group   sync.WaitGroup
}

func newServer(c ServerConfig, h handler) (*server, error) {
	if len(c.HostKeys) == 0 {
		return nil, &proto.ConfigError{Field: "ServerConfig.HostKeys", Got: "none", Want: "at least one"}
	}
	if c.AuthorizedKey == nil && c.Password == nil {
		return nil, &proto.ConfigError{Field: "ServerConfig.AuthorizedKey", Got: "nothing", Want: "it or Password: nobody could come in"}
	}
	c.Subsystem = cmp.Or(c.Subsystem, Subsystem)
	c.Connections = cmp.Or(c.Connections, 64)
	c.Login = cmp.Or(c.Login, time.Minute)
	c.Keepalive = cmp.Or(c.Keepalive, defaultKeepalive)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	s := &server{config: c, handle: h}
	for _, k := range c.HostKeys {
		signer, err := xssh.NewSignerFromSigner(k)
		if err != nil {
			return nil, fmt.Errorf("ssh: serve: host key: %w", err)
		}
		s.signers = append(s.signers, signer)
	}
	return s, nil
}

// protocol is x/crypto's configuration for one connection, which has the connection's context.
func (s *server) protocol(ctx context.Context, log *slog.Logger) *xssh.ServerConfig {
	proved := func(method, detail string) *xssh.Permissions {
		return &xssh.Permissions{Extensions: map[string]string{"method": method, "detail": detail}}
	}
	p := &xssh.ServerConfig{
		MaxAuthTries: maxTries, ServerVersion: "SSH-2.0-Quire",
		AuthLogCallback: func(m xssh.ConnMetadata, method string, err error) {
			if err != nil && method != "none" {
				log.LogAttrs(ctx, slog.LevelWarn, "psrp: ssh client not let in", slog.String("user", m.User()), slog.String("method", method))
			}
		},
	}
	for _, k := range s.signers {
		p.AddHostKey(k)
	}
	if s.config.AuthorizedKey != nil {
		p.PublicKeyCallback = func(m xssh.ConnMetadata, key xssh.PublicKey) (*xssh.Permissions, error) {
			if err := s.config.AuthorizedKey(ctx, m.User(), publicKey(key)); err != nil {
				return nil, errNotLetIn
			}
			return proved("publickey", xssh.FingerprintSHA256(key)), nil
		}
	}
	if s.config.Password != nil {
		p.PasswordCallback = func(m xssh.ConnMetadata, text []byte) (*xssh.Permissions, error) {
			secret := clixml.NewSecureString(string(text))
			defer secret.Destroy()
			if err := s.config.Password(ctx, m.User(), secret); err != nil {
				return nil, errNotLetIn
			}
			return proved("password", ""), nil
		}
	}
	return p
}

func (s *server) connection(ctx context.Context, nc net.Conn) {
	defer nc.Close() //nolint:errcheck // nothing is left to do
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	defer stop()
	address := nc.RemoteAddr().String()
	log := s.config.Logger.With(slog.String("address", address))
	_ = nc.SetDeadline(time.Now().Add(s.config.Login))
	conn, channels, requests, err := xssh.NewServerConn(nc, s.protocol(ctx, log))
	if err != nil {
		log.LogAttrs(ctx, slog.LevelInfo, "psrp: ssh client left before it came in", slog.Any("error", err))
		return
	}
	_ = nc.SetDeadline(time.Time{})
	id := psrp.Identity{User: conn.User(), Method: conn.Permissions.Extensions["method"], Address: address}
	log.LogAttrs(ctx, slog.LevelInfo, "psrp: ssh client authenticated", slog.String("user", id.User), slog.String("method", id.Method), slog.String("key", conn.Permissions.Extensions["detail"]))
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	defer conn.Close() //nolint:errcheck // nothing is left to do
	group.Go(func() { xssh.DiscardRequests(requests) })
	if s.config.Keepalive > 0 {
		group.Go(func() { keepalive(conn, s.config.Keepalive, ctx.Done(), func(error) { _ = conn.Close() }) })
	}
	slots := make(chan struct{}, maxSessions)
	for nch := range channels {
		if nch.ChannelType() != "session" {
			_ = nch.Reject(xssh.UnknownChannelType, "only sessions are served")
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			_ = nch.Reject(xssh.ResourceShortage, "too many sessions")
			continue
		}
		channel, requests, err := nch.Accept()
		if err != nil {
			<-slots
			continue
		}
		group.Go(func() {
			defer func() { <-slots }()
			s.session(ctx, log, channel, requests, id)
		})
	}
}

// session waits for the request to start the subsystem, the only one that is granted, and serves.
func (s *server) session(ctx context.Context, log *slog.Logger, channel xssh.Channel, requests <-chan *xssh.Request, id psrp.Identity) {
	defer channel.Close() //nolint:errcheck // it may have been closed
	var running sync.WaitGroup
	defer running.Wait()
	started := false
	for r := range requests {
		var name struct{ Name string }
		ok := r.Type == "subsystem" && !started && xssh.Unmarshal(r.Payload, &name) == nil && name.Name == s.config.Subsystem
		if !ok && (r.Type == "subsystem" || r.Type == "exec" || r.Type == "shell") {
			log.LogAttrs(ctx, slog.LevelWarn, "psrp: ssh request refused", slog.String("user", id.User), slog.String("request", r.Type))
		}
		if r.WantReply {
			_ = r.Reply(ok, nil)
		}
		if !ok {
			continue
		}
		started = true
		running.Go(func() {
			t := oop.NewConn(&served{channel}, oop.Server, oop.Options{Confidential: true, Host: id.Address})
			if err := s.handle(ctx, t, id); err != nil {
				log.LogAttrs(ctx, slog.LevelInfo, "psrp: ssh session ended", slog.String("user", id.User), slog.Any("error", err))
			}
		})
	}
}

// served is the channel of a session, as the server's standard input and output.
type served struct{ xssh.Channel }

// Close tells the client that the server has ended.
func (s *served) Close() error {
	_, _ = s.SendRequest("exit-status", false, xssh.Marshal(&struct{ Code uint32 }{0}))
	return s.Channel.Close()
}
