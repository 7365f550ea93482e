package remotingtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// SSHD is an OpenSSH server on loopback whose subsystem "powershell" is a psrpcore server. It lets
// in the user who runs it, by Key.
type SSHD struct {
	Addr       string // 127.0.0.1:PORT
	User       string
	Key        string // file of the private key that it lets in
	KnownHosts string // file with its host key

	dir      string
	env      []string
	program  string
	listener net.Listener
	group    sync.WaitGroup
	log      syncBuffer

	mu       sync.Mutex
	children map[*exec.Cmd]bool
	closed   bool
}

// syncBuffer is a buffer for several writers.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// NewSSHD is StartSSHD for a test, which is skipped without the judge.
func NewSSHD(tb testing.TB, config ...string) *SSHD {
	tb.Helper()
	s, err := StartSSHD(tb.TempDir(), config...)
	Need(tb, err)
	tb.Cleanup(func() {
		s.Close()
		if tb.Failed() {
			tb.Logf("sshd:\n%s", s.log.String())
		}
	})
	return s
}

// HasSSHD reports whether StartSSHD finds what it needs.
func HasSSHD() bool {
	_, err := os.Stat(sshdProgram())
	_, noPython := findPython()
	return err == nil && noPython == nil
}

func sshdProgram() string { return filepath.Join(tools(), "sshd", "usr", "sbin", "sshd") }

// StartSSHD starts a server whose files are in dir, an existing directory, with further lines of
// sshd_config. Each connection has an sshd of its own (sshd -i), so there is no port to guess and
// none is left behind.
func StartSSHD(dir string, config ...string) (*SSHD, error) {
	program := sshdProgram()
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("%w: sshd: ./tools/install-judges", ErrNoJudge)
	}
	program, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	python, err := findPython()
	if err != nil {
		return nil, err
	}
	python, err = filepath.Abs(python)
	if err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	s := &SSHD{
		User: me.Username, Key: filepath.Join(dir, "user"), KnownHosts: filepath.Join(dir, "known_hosts"),
		dir: dir, program: program, children: map[*exec.Cmd]bool{},
		env: append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Join(filepath.Dir(program), "..", "..", "lib")),
	}
	for _, name := range []string{"host", "user"} {
		if err := KeyFile(filepath.Join(dir, name), ""); err != nil {
			return nil, err
		}
	}
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { //nolint:gosec // G301: sshd wants it so
			return nil, err
		}
	}
	script, peer := filepath.Join(dir, "psrpcore_server.py"), filepath.Join(dir, "peer")
	settings := []string{
		"HostKey " + filepath.Join(dir, "host"), "PidFile none", "UsePAM no", "StrictModes no", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
		"PermitRootLogin yes", "AuthorizedKeysFile " + filepath.Join(dir, "user.pub"), "Subsystem powershell " + peer, "LogLevel VERBOSE",
	}
	public, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		return nil, err
	}
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil { //nolint:noctx // of the test's own process
		return nil, err
	}
	s.Addr = s.listener.Addr().String()
	_, port, _ := net.SplitHostPort(s.Addr)
	err = errors.Join(
		os.WriteFile(script, serverScript, 0o600),
		os.WriteFile(peer, fmt.Appendf(nil, "#!/bin/sh\nexec %q %q\n", python, script), 0o700), //nolint:gosec // G306: a program
		os.WriteFile(filepath.Join(dir, "sshd_config"), []byte(strings.Join(append(config, settings...), "\n")+"\n"), 0o600),
		os.WriteFile(s.KnownHosts, fmt.Appendf(nil, "[127.0.0.1]:%s %s", port, public), 0o600), //nolint:gosec // G703: in the test's own directory
	)
	if err != nil {
		_ = s.listener.Close()
		return nil, err
	}
	s.group.Go(s.accept)
	return s, nil
}

// KeyFile makes an Ed25519 key pair in the form of OpenSSH: path and path.pub.
func KeyFile(path, passphrase string) error { return KeyFileOf("ed25519", path, passphrase) }

// KeyFileOf is KeyFile for a key of any kind.
func KeyFileOf(kind, path, passphrase string) error {
	out, err := exec.Command("ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "test", "-f", path).CombinedOutput() //nolint:gosec,noctx // ends at once
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: ssh-keygen: ./tools/install-judges", ErrNoJudge)
	}
	if err != nil {
		return fmt.Errorf("ssh-keygen: %w: %s", err, out)
	}
	return nil
}

// Command is the program that the subsystem starts.
func (s *SSHD) Command() string { return filepath.Join(s.dir, "peer") }

func (s *SSHD) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.group.Go(func() { s.serve(conn) })
	}
}

func (s *SSHD) serve(conn net.Conn) {
	file, err := conn.(*net.TCPConn).File()
	_ = conn.Close()
	if err != nil {
		return
	}
	cmd := exec.Command(s.program, "-i", "-e", "-f", filepath.Join(s.dir, "sshd_config")) //nolint:gosec,noctx // Close ends it
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.env, file, file, &s.log, 5*time.Second
	s.mu.Lock()
	if !s.closed {
		err = cmd.Start()
		s.children[cmd] = err == nil
	} else {
		err = net.ErrClosed
	}
	s.mu.Unlock()
	_ = file.Close()
	if err != nil {
		return
	}
	_ = cmd.Wait()
	s.mu.Lock()
	delete(s.children, cmd)
	s.mu.Unlock()
}

// Kill ends the servers of all connections at once, as a crash does.
func (s *SSHD) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, started := range s.children {
		if started {
			_ = c.Process.Kill() // it may have ended
		}
	}
}

// Close ends everything.
func (s *SSHD) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	_ = s.listener.Close()
	s.Kill()
	s.group.Wait()
}
