package psrp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/internal/machine"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// Identity is who a client is, as its transport established it. The zero Identity is a client that
// nobody asked: the parent of a child process, a peer of a Unix socket.
type Identity struct {
	User    string
	Method  string // how the user was established, such as "publickey"
	Address string // of the peer, for logs
}

// ScriptHandler takes scripts, as text with their arguments; nothing of a script is parsed. What
// the client's $using: names stand for is Call.Using. ErrScriptsNotAllowed refuses one script.
type ScriptHandler func(ctx context.Context, text string, args []Arg, c *Call) error

// Server is a host of the PowerShell Remoting Protocol: the functions of a Registry, as commands
// that PowerShell calls. Nothing else runs: no process is started and no script is read.
//
// One Server serves any number of clients. It must not be copied or changed once it serves.
type Server struct {
	Registry *Registry
	// Authorize says whether a client may run a command of Registry, by its name; nil allows all. A
	// command that is refused looks exactly like one that does not exist, in descriptions too. It
	// may be called by several goroutines.
	Authorize func(ctx context.Context, id Identity, command string) error
	// Scripts takes scripts; nil refuses them all.
	Scripts ScriptHandler
	Limits  ServerLimits
	// PrivateData are told to each client beside PSVersionTable, whose PSVersion they may replace.
	PrivateData map[string]any
	Tracer      proto.Tracer
	// Logger is told of sessions, refusals and failures of commands; nil is silent. It is never
	// told of values.
	Logger *slog.Logger

	mu       sync.Mutex
	sessions int
}

// ServerLimits bound what clients can make a server hold; a zero field is its default.
type ServerLimits struct {
	Machine machine.Limits // of one session
	// Sessions is how many clients are served at once: default 64.
	Sessions int
	// Runspaces is how many pipelines of one session run at once, whatever it asks for: default 16.
	Runspaces int
	// Output is how many bytes may wait to be sent to one client: default 4 MiB. A command that
	// writes more waits.
	Output int
	// InputRecords and InputBytes bound the input of one pipeline that its command has not taken:
	// default 1,024 and 1 MiB. The client then waits.
	InputRecords, InputBytes int
	// Stopping is how long a command may take to obey the end of its context: default 5 s. Then its
	// pipeline ends without it, and what it writes is dropped.
	Stopping time.Duration
}

func (l ServerLimits) withDefaults() ServerLimits {
	for _, d := range []struct {
		n *int
		v int
	}{{&l.Sessions, 64}, {&l.Runspaces, 16}, {&l.Output, 4 << 20}, {&l.InputRecords, 1024}, {&l.InputBytes, 1 << 20}} {
		if *d.n <= 0 {
			*d.n = d.v
		}
	}
	if l.Stopping <= 0 {
		l.Stopping = 5 * time.Second
	}
	return l
}

// ErrTooManySessions is a client beyond ServerLimits.Sessions.
var ErrTooManySessions = errors.New("psrp: the server has as many sessions as it may")

// Serve serves one client over t, which it owns, until the client closes its session, which
// returns nil, the transport is lost, or ctx ends: then the client is told, and what runs is
// cancelled.
func (s *Server) Serve(ctx context.Context, t Transport, id Identity) error {
	limits := s.Limits.withDefaults()
	if err := s.enter(limits.Sessions); err != nil {
		s.logger().LogAttrs(ctx, slog.LevelWarn, "psrp: client refused", slog.String("address", id.Address), slog.Any("error", err))
		return errors.Join(err, t.Close())
	}
	defer s.leave()
	private, err := s.privateData()
	if err != nil {
		return errors.Join(err, t.Close())
	}
	return newServerSession(ctx, s, t, id, limits, private).serve(ctx)
}

func (s *Server) enter(limit int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions >= limit {
		return ErrTooManySessions
	}
	s.sessions++
	return nil
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions--
}

func (s *Server) logger() *slog.Logger {
	return cmp.Or(s.Logger, slog.New(slog.DiscardHandler))
}

// privateData returns what is added to the least that clients need.
func (s *Server) privateData() (func(v clixml.Version) clixml.Value, error) {
	if len(s.PrivateData) == 0 {
		return nil, nil //nolint:nilnil // the machine's own
	}
	own, err := clixml.Marshal(s.PrivateData)
	if err != nil {
		return nil, fmt.Errorf("psrp: private data: %w", err)
	}
	d, _ := own.Dict()
	return func(v clixml.Version) clixml.Value {
		all := machine.PrivateDataOf(v)
		to, _ := all.Dict()
		table, _ := to.Get("PSVersionTable")
		versions, _ := table.Dict()
		for _, e := range d.Entries {
			key, _ := e.Key.Text()
			if key != "PSVersionTable" {
				to.Set(key, e.Value)
				continue
			}
			// What was agreed on stays as it is.
			if version, ok := e.Value.Get("PSVersion"); ok {
				versions.Set("PSVersion", version)
			}
		}
		return all
	}, nil
}

// ServeStdio serves one client over standard input and output, as `pwsh -s` does: for a program
// that its client starts, or sshd as a subsystem. Nothing else may write to standard output, and
// some clients take standard error for the protocol too.
func (s *Server) ServeStdio(ctx context.Context) error {
	return s.Serve(ctx, oop.NewConn(newStdio(os.Stdin, os.Stdout), oop.Server, oop.Options{Confidential: true}), Identity{})
}

// stdio is a stream of two. Standard input is often a pipe whose Read is not freed by Close: it is
// read by a goroutine of its own, which a last Read may outlive.
type stdio struct {
	*io.PipeReader
	out io.WriteCloser
}

func newStdio(in io.Reader, out io.WriteCloser) *stdio {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		_ = w.CloseWithError(err)
	}()
	return &stdio{r, out}
}

func (s *stdio) Write(b []byte) (int, error) { return s.out.Write(b) }

func (s *stdio) Close() error { return errors.Join(s.PipeReader.Close(), s.out.Close()) }

// ServeListener serves the clients that connect to l, such as a Unix socket, until ctx ends or
// Accept fails, and closes l. It asks nobody who they are: whoever can connect can run what
// Authorize allows the zero user. Only a Unix socket counts as confidential.
func (s *Server) ServeListener(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	defer group.Wait()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer l.Close() //nolint:errcheck // it accepts no more, which is all that is wanted
	confidential := l.Addr().Network() == "unix"
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			cancel()
			return fmt.Errorf("psrp: accept: %w", err)
		}
		group.Go(func() {
			id := Identity{Address: conn.RemoteAddr().String()}
			_ = s.Serve(ctx, oop.NewConn(conn, oop.Server, oop.Options{Confidential: confidential}), id) // the session has logged it
		})
	}
}
