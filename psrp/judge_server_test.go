package psrp_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"example.com/quire/internal/remotingtest"
	"example.com/quire/psrp"
	"example.com/quire/psrp/oop"
)

// TestMain makes the test's binary a server over standard input and output, for clients that start
// one.
func TestMain(m *testing.M) {
	if os.Getenv("PSRP_TEST_SERVER") == "stdio" {
		srv := &psrp.Server{Registry: remotingtest.Commands()}
		if err := srv.ServeStdio(context.Background()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestPyPSRPOverStdio(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	remotingtest.PyPSRP(t, remotingtest.ScenariosOfCommands, []string{"PSRP_TEST_SERVER=stdio"}, "process", self)
}

// listenUnix listens at a path that is short, as that of a socket must be.
func listenUnix(t *testing.T) (l net.Listener, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "psrp") //nolint:usetesting // a test's own directory has too long a name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	if l, err = (&net.ListenConfig{}).Listen(t.Context(), "unix", path); err != nil {
		t.Fatal(err)
	}
	return l, path
}

func TestPyPSRPOverAUnixSocket(t *testing.T) {
	l, path := listenUnix(t)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	srv := &psrp.Server{Registry: remotingtest.Commands(), Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	go func() { served <- srv.ServeListener(ctx, l) }()
	remotingtest.PyPSRP(t, remotingtest.ScenariosOfCommands, nil, "pipe", path)
	remotingtest.PyPSRP(t, remotingtest.ScenarioOfAnEnd, nil, "pipe", path)
	cancel()
	// It returns when no session and no command is left.
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("serve: %v", err)
	}
}

// TestSessionsOverAUnixSocketLeaveNothing opens, uses and ends sessions over a socket in every
// order.
func TestSessionsOverAUnixSocketLeaveNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l, path := listenUnix(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := make(chan error, 1)
	srv := &psrp.Server{Registry: remotingtest.Commands()}
	go func() { served <- srv.ServeListener(ctx, l) }()
	for _, tt := range []struct {
		name string
		end  func(conn *oop.Conn, s *psrp.Session)
	}{
		{"closed", func(_ *oop.Conn, s *psrp.Session) { _ = s.Close(t.Context()) }},
		{"the client's end", func(conn *oop.Conn, s *psrp.Session) { _ = conn.Close(); <-s.Done() }},
		{"closed after its end", func(conn *oop.Conn, s *psrp.Session) { _ = conn.Close(); _ = s.Close(t.Context()) }},
		{"closed twice", func(_ *oop.Conn, s *psrp.Session) { _ = s.Close(t.Context()); _ = s.Close(t.Context()) }},
		{"the server's end", func(_ *oop.Conn, s *psrp.Session) { cancel(); <-s.Done() }},
	} {
		useUnix(t, tt.name, path, tt.end)
	}
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("serve: %v", err)
	}
}

// useUnix opens a session, runs a command, leaves another running, and ends.
func useUnix(t *testing.T, name, path string, end func(conn *oop.Conn, s *psrp.Session)) {
	t.Helper()
	conn, err := oop.DialUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := psrp.Open(t.Context(), conn, psrp.Options{MaxRunspaces: 2})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := s.Run(t.Context(), psrp.Cmd("Get-Args").Arg("a")); err != nil || len(res.Output) != 1 {
		t.Errorf("%s: %v, %v", name, res, err)
	}
	run, err := s.Start(t.Context(), psrp.Cmd("Wait-Forever"))
	if err != nil {
		t.Fatal(err)
	}
	end(conn, s)
	for _, err := range run.Records() {
		if err == nil {
			t.Errorf("%s: a record", name)
		}
	}
	_ = s.Close(context.Background())
}
