package ssh_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh/agent"

	"example.com/quire/internal/remotingtest"
	"example.com/quire/psrp"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
	"example.com/quire/psrp/ssh"
)

const canary = "c4nary-in-the-c0al-mine"

func noLeaks(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		goleak.VerifyNone(t, goleak.IgnoreTopFunction("testing.(*T).Run"), goleak.IgnoreAnyFunction("testing.tRunner"))
	})
}

func config(s *remotingtest.SSHD) ssh.Config {
	return ssh.Config{Addr: s.Addr, User: s.User, Auth: []ssh.Auth{ssh.KeyFile(s.Key, nil)}, KnownHosts: []string{s.KnownHosts}}
}

func secret(text string) func() (*clixml.SecureString, error) {
	return func() (*clixml.SecureString, error) { return clixml.NewSecureString(text), nil }
}

// enter connects and leaves again.
func enter(t *testing.T, c ssh.Config) error {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	conn, err := ssh.Dial(ctx, c)
	if err != nil {
		return err
	}
	return conn.Close()
}

// ping opens a session, has one object echoed and closes it.
func ping(t *testing.T, c ssh.Config) error {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	conn, err := ssh.Dial(ctx, c)
	if err != nil {
		return err
	}
	s, err := psrp.Open(ctx, conn, psrp.Options{})
	if err != nil {
		return err
	}
	res, err := s.Run(ctx, psrp.Cmd("echo"), 42)
	if err == nil && len(res.Output) != 1 {
		err = fmt.Errorf("%d objects of 1 came back", len(res.Output))
	}
	return errors.Join(err, s.Close(ctx))
}

func TestPSRPCoreServerBehindOpenSSH(t *testing.T) {
	noLeaks(t)
	conn, err := ssh.Dial(t.Context(), config(remotingtest.NewSSHD(t)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := psrp.Open(t.Context(), conn, psrp.Options{Host: remotingtest.Host(), MaxRunspaces: 3})
	if err != nil {
		t.Fatal(err)
	}
	remotingtest.ClientScenarios(t, s)
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOpenSSHLetsInByEveryKindOfKey(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	locked, other := filepath.Join(dir, "locked"), filepath.Join(dir, "other")
	remotingtest.Need(t, errors.Join(remotingtest.KeyFile(locked, canary), remotingtest.KeyFile(other, "")))
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own, err := ssh.NewPublicKey(private)
	if err != nil {
		t.Fatal(err)
	}
	lockedPublic, err := os.ReadFile(locked + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	authorized := filepath.Join(dir, "authorized_keys")
	if err := os.WriteFile(authorized, append(lockedPublic, own.String()...), 0o600); err != nil { //nolint:gosec // G703: in the test's own directory
		t.Fatal(err)
	}
	server := remotingtest.NewSSHD(t, "AuthorizedKeysFile "+authorized)
	socket := serveAgent(t, private)
	refused := func(err error) bool {
		e, ok := errors.AsType[*psrp.TransportError](err)
		return ok && e.Phase == "auth" && e.Unreachable()
	}
	for _, tt := range []struct {
		name string
		auth []ssh.Auth
		want string // of the error; "" lets in
	}{
		{"key", []ssh.Auth{ssh.Key(private)}, ""},
		{"encrypted file", []ssh.Auth{ssh.KeyFile(locked, secret(canary))}, ""},
		{"agent", []ssh.Auth{ssh.Agent(socket)}, ""},
		{"second key after one that is unknown", []ssh.Auth{ssh.KeyFile(other, nil), ssh.Key(private)}, ""},
		{"key though the agent is gone", []ssh.Auth{ssh.Agent(filepath.Join(dir, "none")), ssh.Key(private)}, ""},
		{"unknown key", []ssh.Auth{ssh.KeyFile(other, nil)}, "unable to authenticate"},
		{"password where none is taken", []ssh.Auth{ssh.Password(clixml.NewSecureString(canary))}, "unable to authenticate"},
		{"encrypted file without passphrase", []ssh.Auth{ssh.KeyFile(locked, nil)}, "encrypted and there is no passphrase"},
		{"encrypted file with a wrong passphrase", []ssh.Auth{ssh.KeyFile(locked, secret("not-"+canary))}, "decryption"},
		{"no file", []ssh.Auth{ssh.KeyFile(filepath.Join(dir, "none"), nil)}, "no such file"},
		{"no agent", []ssh.Auth{ssh.Agent(filepath.Join(dir, "none"))}, "nothing to prove user"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			c := config(server)
			c.Auth, c.Logger = tt.auth, slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			err := enter(t, c)
			if tt.want == "" && err != nil {
				t.Error(err)
			}
			if tt.want != "" && (!refused(err) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want one of phase auth with %q", err, tt.want)
			}
			if text := fmt.Sprintf("%v %+v %#v %s", err, c, c, log.String()); strings.Contains(text, canary) {
				t.Errorf("a secret shows in %s", text)
			}
		})
	}
}

// serveAgent runs an agent with one key and returns its socket.
func serveAgent(t *testing.T, key ed25519.PrivateKey) string {
	t.Helper()
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "agent") //nolint:usetesting // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s")) //nolint:noctx // closed by the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, c) }()
		}
	}()
	return l.Addr().String()
}

func TestHostKeyIsAlwaysVerified(t *testing.T) {
	noLeaks(t)
	server := remotingtest.NewSSHD(t)
	right, err := os.ReadFile(server.KnownHosts)
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ := strings.Cut(string(right), " ")
	dir := t.TempDir()
	remotingtest.Need(t, remotingtest.KeyFile(filepath.Join(dir, "other"), ""))
	other, err := os.ReadFile(filepath.Join(dir, "other.pub"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"unknown host", "", "the host is not known; it shows ssh-ed25519 SHA256:"},
		{"another key", host + " " + string(other), "not the key known in"},
		{"revoked key", "@revoked * " + strings.TrimPrefix(string(right), host+" "), "is revoked in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := config(server)
			c.KnownHosts = []string{filepath.Join(t.TempDir(), "known")}
			if err := os.WriteFile(c.KnownHosts[0], []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := enter(t, c)
			e, ok := errors.AsType[*ssh.HostKeyError](err)
			if !ok || !strings.Contains(err.Error(), tt.want) || e.Fingerprint == "" {
				t.Errorf("error %v, want a HostKeyError with %q", err, tt.want)
			}
			if tt.name == "another key" && (len(e.Known) != 1 || !strings.HasSuffix(e.Known[0], "known:1")) {
				t.Errorf("known %q", e.Known)
			}
		})
	}
	t.Run("ignored where that is asked for, and logged", func(t *testing.T) {
		var log bytes.Buffer
		c := config(server)
		c.KnownHosts, c.InsecureIgnoreHostKey, c.Logger = nil, true, slog.New(slog.NewTextHandler(&log, nil))
		if err := enter(t, c); err != nil || !strings.Contains(log.String(), "host key not verified") {
			t.Errorf("%v; log %s", err, log.String())
		}
	})
	t.Run("known in a file with a key of another kind first", func(t *testing.T) {
		// A host with several keys shows one of a kind that the file has.
		ecdsa := filepath.Join(dir, "ecdsa")
		both := remotingtest.NewSSHD(t, "HostKey "+ecdsa)
		remotingtest.Need(t, remotingtest.KeyFileOf("ecdsa", ecdsa, ""))
		public, err := os.ReadFile(ecdsa + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		known, err := os.ReadFile(both.KnownHosts)
		if err != nil {
			t.Fatal(err)
		}
		host, _, _ := strings.Cut(string(known), " ")
		if err := os.WriteFile(both.KnownHosts, []byte(host+" "+string(public)), 0o600); err != nil { //nolint:gosec // G703: in the test's own directory
			t.Fatal(err)
		}
		if err := enter(t, config(both)); err != nil {
			t.Error(err)
		}
	})
}

func TestSSHStartsWhatIsAskedFor(t *testing.T) {
	noLeaks(t)
	server := remotingtest.NewSSHD(t)
	t.Run("a command instead of a subsystem", func(t *testing.T) {
		c := config(server)
		c.Command = server.Command()
		if err := ping(t, c); err != nil {
			t.Error(err)
		}
	})
	t.Run("a subsystem that there is not", func(t *testing.T) {
		c := config(server)
		c.Subsystem = "nothing"
		err := ping(t, c)
		if e, ok := errors.AsType[*psrp.TransportError](err); !ok || e.Phase != "open" || !strings.Contains(err.Error(), `start subsystem "nothing": refused`) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a command that ends at once", func(t *testing.T) {
		c := config(server)
		c.Command = "echo no pwsh here >&2; exit 127"
		err := ping(t, c)
		e, ok := errors.AsType[*psrp.TransportError](err)
		if !ok || e.ExitCode != 127 || !strings.Contains(e.Stderr, "no pwsh here") {
			t.Errorf("error %v (%+v)", err, e)
		}
	})
	t.Run("text before the protocol", func(t *testing.T) {
		c := config(server)
		var greetings []string
		c.OnBanner = func(lines []string) { greetings = append(greetings, lines...) }
		c.Command = "echo Welcome; exec " + server.Command()
		if err := ping(t, c); err != nil || strings.Join(greetings, "|") != "Welcome" {
			t.Errorf("%v; greetings %q", err, greetings)
		}
	})
	t.Run("through a jump host", func(t *testing.T) {
		jump, err := ssh.DialJump(t.Context(), config(server))
		if err != nil {
			t.Fatal(err)
		}
		c := config(server)
		c.DialContext = jump.DialContext
		if err := errors.Join(enter(t, c), jump.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Run("a host that is not there", func(t *testing.T) {
		c := config(server)
		c.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }
		if e, ok := errors.AsType[*psrp.TransportError](ping(t, c)); !ok || e.Phase != "dial" || !e.Unreachable() {
			t.Errorf("error %v", e)
		}
	})
}

func TestGreetingOfTheSSHServerIsHandedOver(t *testing.T) {
	noLeaks(t)
	banner := filepath.Join(t.TempDir(), "banner")
	if err := os.WriteFile(banner, []byte("Authorised use only\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config(remotingtest.NewSSHD(t, "Banner "+banner))
	var lines []string
	c.OnBanner = func(l []string) { lines = append(lines, l...) }
	if err := enter(t, c); err != nil || strings.Join(lines, "|") != "Authorised use only" {
		t.Errorf("%v; greeting %q", err, lines)
	}
}

func TestKilledSSHServerEndsEveryPipeline(t *testing.T) {
	noLeaks(t)
	server := remotingtest.NewSSHD(t)
	conn, err := ssh.Dial(t.Context(), config(server))
	if err != nil {
		t.Fatal(err)
	}
	s, err := psrp.Open(t.Context(), conn, psrp.Options{MaxRunspaces: 2})
	if err != nil {
		t.Fatal(err)
	}
	p := psrp.Cmd("sleep")
	p.Input = true
	var running []*psrp.Running
	for range 2 {
		r, err := s.Start(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		running = append(running, r)
	}
	server.Kill()
	for _, r := range running {
		for _, err := range r.Records() {
			if _, ok := errors.AsType[*psrp.TransportError](err); !ok {
				t.Errorf("the pipeline ended by %v", err)
			}
		}
	}
	<-s.Done()
	if e, ok := errors.AsType[*proto.TransportError](s.Err()); !ok || e.Host != server.Addr {
		t.Errorf("the session ended by %v", s.Err())
	}
}
