package main

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/remotingtest"
)

// quireProgram is the program under its own name, as testscript's Main wants to be called.
func quireProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "quire")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPyPSRPRunsTheSampleCommandsOverStdio(t *testing.T) {
	remotingtest.PyPSRP(t, remotingtest.ScenariosOfSamples, nil, "process", quireProgram(t), "ps", "serve")
}

func TestPyPSRPRunsTheSampleCommandsOverAUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "quire") //nolint:usetesting // short, as the path of a socket must be
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // of the test
	socket := filepath.Join(dir, "s")
	cmd := exec.CommandContext(t.Context(), quireProgram(t), "ps", "serve", "--unix", socket) //nolint:gosec // G204: the test itself
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) { //nolint:forbidigo // another process makes the socket
		info, err := os.Stat(socket)
		if err == nil {
			if info.Mode().Perm() != 0o600 {
				t.Errorf("the socket's mode is %v", info.Mode())
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no socket: %v", err)
		}
	}
	remotingtest.PyPSRP(t, remotingtest.ScenariosOfSamples, nil, "pipe", socket)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("quire ps serve: %v\n%s", err, said.String())
	}
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is there still")
	}
	if want := "serving PowerShell at " + socket + "\n"; said.String() != want {
		t.Errorf("it said %q, want %q", said.String(), want)
	}
}

func TestPyPSRPRunsTheSampleCommandsOverSSH(t *testing.T) {
	dir := t.TempDir()
	host, user := filepath.Join(dir, "host"), filepath.Join(dir, "user")
	for _, file := range []string{host, user} {
		remotingtest.Need(t, remotingtest.KeyFile(file, ""))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, quireProgram(t), "ps", "serve", "--ssh", "127.0.0.1:0", "--host-key", host, "--authorized-keys", user+".pub") //nolint:gosec // G204: the test itself
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(said), "serving PowerShell over SSH at ")
	if err != nil || !ok {
		t.Fatalf("it said %q, %v", said, err)
	}
	public, err := os.ReadFile(host + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	name, port, _ := net.SplitHostPort(addr)
	known := filepath.Join(dir, "known_hosts")
	if err := os.WriteFile(known, []byte("["+name+"]:"+port+" "+string(public)), 0o600); err != nil { //nolint:gosec // G703: of the test
		t.Fatal(err)
	}
	remotingtest.PyPSRP(t, remotingtest.ScenariosOfSamples, nil, "ssh", name, port, "anybody", user, known)
	cancel()
	if err := cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("quire ps serve: %v", err)
	}
}
