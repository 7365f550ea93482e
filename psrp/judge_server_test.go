package psrp_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"example.com/quire/internal/remotingtest"
	"example.com/quire/psrp"
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

func TestPyPSRPOverAUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "psrp") //nolint:usetesting // short, as the path of a socket must be
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // of the test
	path := filepath.Join(dir, "s")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	srv := &psrp.Server{Registry: remotingtest.Commands(), Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	go func() { served <- srv.ServeListener(ctx, l) }()
	remotingtest.PyPSRP(t, remotingtest.ScenariosOfCommands, nil, "pipe", path)
	cancel()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("serve: %v", err)
	}
}
