package ssh_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	xssh "golang.org/x/crypto/ssh"

	"example.com/quire/internal/remotingtest"
	"example.com/quire/psrp"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
	"example.com/quire/psrp/ssh"
)

func newKey(t *testing.T) crypto.Signer {
	t.Helper()
	_, k, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func public(t *testing.T, k crypto.Signer) ssh.PublicKey {
	t.Helper()
	p, err := ssh.NewPublicKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// log is a logger's text, for several goroutines.
type logText struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// own is a server of ours, with a command that says who asks.
type own struct {
	addr, knownHosts string
	log              *logText
	stop             func()
}

func startOwn(t *testing.T, c ssh.ServerConfig) *own {
	t.Helper()
	r := remotingtest.Commands()
	psrp.Add(r, psrp.CommandInfo{Name: "Get-Caller"}, func(_ context.Context, _ struct{}, c *psrp.Call) error {
		id := c.Identity()
		return c.Output(id.User + " by " + id.Method)
	})
	psrp.Add(r, psrp.CommandInfo{Name: "Wait-End"}, func(ctx context.Context, _ struct{}, _ *psrp.Call) error {
		<-ctx.Done()
		return ctx.Err()
	})
	psrp.Add(r, psrp.CommandInfo{Name: "Write-Streams"}, func(_ context.Context, _ struct{}, c *psrp.Call) error {
		return errors.Join(c.Output(1), c.Error(proto.NewErrorRecord("Id", proto.ErrorCategory(0), "e")), c.Warning("w"), c.Verbose("v"), c.Debug("d"),
			c.Progress(proto.NewProgress(0, "a", "s")), c.Information("i"))
	})
	psrp.Add(r, psrp.CommandInfo{Name: "Measure-Text"}, func(_ context.Context, a struct {
		Text string `psrp:"Text,mandatory,position=0"`
	}, c *psrp.Call,
	) error {
		return c.Output(len(a.Text))
	})
	key := newKey(t)
	c.HostKeys = []crypto.Signer{key}
	o := &own{log: &logText{}, knownHosts: filepath.Join(t.TempDir(), "known_hosts")}
	c.Logger = slog.New(slog.NewJSONHandler(o.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // Serve closes it
	if err != nil {
		t.Fatal(err)
	}
	o.addr = l.Addr().String()
	_, port, _ := net.SplitHostPort(o.addr)
	if err := os.WriteFile(o.knownHosts, []byte("[127.0.0.1]:"+port+" "+public(t, key).String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- ssh.Serve(ctx, l, c, &psrp.Server{Registry: r}) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(o.stop)
	return o
}

func (o *own) config(auth ...ssh.Auth) ssh.Config {
	return ssh.Config{Addr: o.addr, User: "ops", Auth: auth, KnownHosts: []string{o.knownHosts}}
}

// caller asks who the server takes this client for.
func caller(t *testing.T, c ssh.Config) (string, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	conn, err := ssh.Dial(ctx, c)
	if err != nil {
		return "", err
	}
	s, err := psrp.Open(ctx, conn, psrp.Options{})
	if err != nil {
		return "", err
	}
	res, err := s.Run(ctx, psrp.Cmd("Get-Caller"))
	if err != nil {
		return "", err
	}
	text, _ := res.Output[0].Text()
	return text, s.Close(ctx)
}

func TestServerKnowsItsCallersByWhatTheyProved(t *testing.T) {
	noLeaks(t)
	key, stranger := newKey(t), newKey(t)
	letIn := ssh.AuthorizedKeys(public(t, key))
	o := startOwn(t, ssh.ServerConfig{
		AuthorizedKey: func(ctx context.Context, user string, k ssh.PublicKey) error {
			if user != "ops" {
				return errors.New("a detail that no client learns")
			}
			return letIn(ctx, user, k)
		},
		Password: func(_ context.Context, user string, p *clixml.SecureString) error {
			if text, _ := p.Reveal(); user != "ops" || text != canary {
				return fmt.Errorf("wrong %s", text)
			}
			return nil
		},
	})
	password := func(text string) ssh.Auth { return ssh.Password(clixml.NewSecureString(text)) }
	for _, tt := range []struct {
		name, user string
		auth       []ssh.Auth
		want       string // "" is refused
	}{
		{"a key", "ops", []ssh.Auth{ssh.Key(key)}, "ops by publickey"},
		{"a password", "ops", []ssh.Auth{password(canary)}, "ops by password"},
		{"a password after a key that is unknown", "ops", []ssh.Auth{password(canary), ssh.Key(stranger)}, "ops by password"},
		{"the second of two passwords", "ops", []ssh.Auth{password("not-" + canary), password(canary)}, "ops by password"},
		{"an unknown key", "ops", []ssh.Auth{ssh.Key(stranger)}, ""},
		{"a wrong password", "ops", []ssh.Auth{password("not-" + canary)}, ""},
		{"another user", "root", []ssh.Auth{ssh.Key(key), password(canary)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := o.config(tt.auth...)
			c.User = tt.user
			var log logText
			c.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			got, err := caller(t, c)
			if e, ok := errors.AsType[*psrp.TransportError](err); got != tt.want || (tt.want == "") != (ok && e.Phase == "auth") {
				t.Errorf("the server takes us for %q, %v", got, err)
			}
			if text := fmt.Sprintf("%v %+v %s", err, c, log.String()); strings.Contains(text, canary) || strings.Contains(text, "a detail") {
				t.Errorf("a secret shows in %s", text)
			}
			if tt.want != "" && !strings.Contains(log.String(), "ssh authenticated") {
				t.Errorf("the client logs %s", log.String())
			}
		})
	}
	o.stop()
	log := o.log.String()
	if strings.Contains(log, canary) {
		t.Errorf("the password shows in the log:\n%s", log)
	}
	for _, want := range []string{`"psrp: ssh client authenticated"`, `"psrp: ssh client not let in"`, `"method":"password"`, public(t, key).Fingerprint()} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s:\n%s", want, log)
		}
	}
}

func TestServerGrantsTheSubsystemAlone(t *testing.T) {
	noLeaks(t)
	key := newKey(t)
	o := startOwn(t, ssh.ServerConfig{AuthorizedKey: ssh.AuthorizedKeys(public(t, key))})
	signer, err := xssh.NewSignerFromSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := xssh.Dial("tcp", o.addr, &xssh.ClientConfig{User: "ops", Auth: []xssh.AuthMethod{xssh.PublicKeys(signer)}, HostKeyCallback: xssh.InsecureIgnoreHostKey()}) //nolint:gosec // G106: what is asked for afterwards is the test
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() //nolint:errcheck // the test has its answers
	ask := func(kind, payload string) bool {
		c, requests, err := client.OpenChannel("session", nil)
		if err != nil {
			t.Fatal(err)
		}
		go xssh.DiscardRequests(requests)
		defer c.Close() //nolint:errcheck // only the answer counts
		ok, err := c.SendRequest(kind, true, xssh.Marshal(&struct{ Name string }{payload}))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	for _, r := range [][2]string{{"exec", "id"}, {"shell", ""}, {"subsystem", "sftp"}, {"pty-req", "xterm"}, {"env", "LD_PRELOAD"}, {"auth-agent-req@openssh.com", ""}} {
		if ask(r[0], r[1]) {
			t.Errorf("%s %q was granted", r[0], r[1])
		}
	}
	if !ask("subsystem", "powershell") {
		t.Error("the subsystem was refused")
	}
	if _, err := client.DialContext(t.Context(), "tcp", o.addr); err == nil {
		t.Error("a connection was passed on")
	}
	if _, err := client.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("a port was opened")
	}
}

func TestServerWithoutKeysOrCallersIsNotStarted(t *testing.T) {
	for field, c := range map[string]ssh.ServerConfig{
		"ServerConfig.HostKeys":      {AuthorizedKey: ssh.AuthorizedKeys()},
		"ServerConfig.AuthorizedKey": {HostKeys: []crypto.Signer{newKey(t)}},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // Serve closes it
		if err != nil {
			t.Fatal(err)
		}
		err = ssh.Serve(t.Context(), l, c, &psrp.Server{})
		if wrong, ok := errors.AsType[*psrp.ConfigError](err); !ok || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestServerEndsClientsThatDoNotLogIn(t *testing.T) {
	noLeaks(t)
	o := startOwn(t, ssh.ServerConfig{AuthorizedKey: ssh.AuthorizedKeys(), Login: 50 * time.Millisecond, Connections: 1})
	dial := func() net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", o.addr)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := dial()
	defer c.Close() //nolint:errcheck // the server has
	if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
}

func TestServerTakesSoManyConnectionsAndNoMore(t *testing.T) {
	noLeaks(t)
	o := startOwn(t, ssh.ServerConfig{AuthorizedKey: ssh.AuthorizedKeys(), Connections: 1})
	dial := func() *bufio.Reader {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", o.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return bufio.NewReader(c)
	}
	if line, err := dial().ReadString('\n'); err != nil || !strings.HasPrefix(line, "SSH-2.0-Quire") {
		t.Fatalf("%q, %v", line, err)
	}
	if line, err := dial().ReadString('\n'); err == nil {
		t.Errorf("the second client is greeted by %q", line)
	}
	o.stop()
}

func TestServerThatEndsStopsWhatRuns(t *testing.T) {
	noLeaks(t)
	key := newKey(t)
	o := startOwn(t, ssh.ServerConfig{AuthorizedKey: ssh.AuthorizedKeys(public(t, key))})
	conn, err := ssh.Dial(t.Context(), o.config(ssh.Key(key)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := psrp.Open(t.Context(), conn, psrp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Start(t.Context(), psrp.Cmd("Wait-End"))
	if err != nil {
		t.Fatal(err)
	}
	o.stop()
	var last error
	for _, err := range r.Records() {
		last = err
	}
	if last == nil {
		t.Error("the pipeline ended without an error")
	}
	<-s.Done()
}

// deafProxy passes bytes on until it is told to keep them, as a network does that has lost a host.
func deafProxy(t *testing.T, to string) (addr string, deafen func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by the test
	if err != nil {
		t.Fatal(err)
	}
	deaf := make(chan struct{})
	var group sync.WaitGroup
	pass := func(dst, src net.Conn) {
		b := make([]byte, 32<<10)
		for {
			n, err := src.Read(b)
			select {
			case <-deaf:
				if err != nil {
					return // and the other side learns nothing
				}
				continue
			default:
			}
			if _, werr := dst.Write(b[:n]); err != nil || werr != nil {
				_ = dst.Close()
				return
			}
		}
	}
	group.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
			if err != nil {
				_ = in.Close()
				return
			}
			t.Cleanup(func() { _ = errors.Join(in.Close(), out.Close()) })
			group.Go(func() { pass(out, in) })
			group.Go(func() { pass(in, out) })
		}
	})
	t.Cleanup(group.Wait)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String(), func() { close(deaf) }
}

func TestKeepaliveNoticesAPeerThatIsGone(t *testing.T) {
	noLeaks(t)
	key := newKey(t)
	o := startOwn(t, ssh.ServerConfig{AuthorizedKey: ssh.AuthorizedKeys(public(t, key)), Keepalive: 20 * time.Millisecond})
	addr, deafen := deafProxy(t, o.addr)
	c := o.config(ssh.Key(key))
	c.Keepalive = 20 * time.Millisecond
	c.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	conn, err := ssh.Dial(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := psrp.Open(t.Context(), conn, psrp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Start(t.Context(), psrp.Cmd("Wait-End"))
	if err != nil {
		t.Fatal(err)
	}
	deafen()
	for _, err := range r.Records() {
		if e, ok := errors.AsType[*psrp.TransportError](err); !ok || !strings.Contains(err.Error(), "does not answer keep-alive") {
			t.Errorf("the pipeline ended by %v (%+v)", err, e)
		}
	}
	<-s.Done()
	o.stop() // the server's side has noticed too, or ends now
}

func TestOpenSSHClientReachesOurServer(t *testing.T) {
	program, err := exec.LookPath("ssh")
	if err != nil {
		remotingtest.Need(t, fmt.Errorf("%w: ssh: ./tools/install-judges", remotingtest.ErrNoJudge))
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "id")
	remotingtest.Need(t, remotingtest.KeyFile(file, ""))
	key, err := ssh.PrivateKeyFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o := startOwn(t, ssh.ServerConfig{AuthorizedKey: ssh.AuthorizedKeys(public(t, key))})
	host, port, _ := net.SplitHostPort(o.addr)
	cmd := exec.CommandContext(t.Context(), program, "-F", "none", "-i", file, "-o", "UserKnownHostsFile="+o.knownHosts, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-p", port, "-l", "ops", "-s", host, "powershell") //nolint:gosec // the judge
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const zero = "00000000-0000-0000-0000-000000000000"
	if _, err := io.WriteString(in, "<Close PSGuid='"+zero+"' />\n"); err != nil {
		t.Error(err)
	}
	line, err := io.ReadAll(out) // to the end, which the server makes
	if err != nil || string(line) != "<CloseAck PSGuid='"+zero+"' />\n" {
		t.Errorf("ssh says %q, %v; %s", line, err, stderr.String())
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Errorf("ssh ends by %v; %s", err, stderr.String())
	}
}

func TestPypsrpReachesOurServerOverSSH(t *testing.T) {
	noLeaks(t)
	file := filepath.Join(t.TempDir(), "id")
	remotingtest.Need(t, remotingtest.KeyFile(file, ""))
	key, err := ssh.PrivateKeyFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o := startOwn(t, ssh.ServerConfig{AuthorizedKey: ssh.AuthorizedKeys(public(t, key))})
	_, port, _ := net.SplitHostPort(o.addr)
	remotingtest.PyPSRP(t, remotingtest.ScenariosOfCommands, nil, "ssh", "127.0.0.1", port, "ops", file, o.knownHosts)
	o.stop()
}

func TestKeysOfFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "id")
	remotingtest.Need(t, remotingtest.KeyFile(file, ""))
	key, err := ssh.PrivateKeyFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ssh.ParseAuthorizedKeys(append([]byte("# ours\n\n"), line...))
	if err != nil || len(keys) != 1 || !keys[0].Equal(public(t, key)) || keys[0].Type() != "ssh-ed25519" || keys[0].Fingerprint() == "" {
		t.Errorf("%v, %v", keys, err)
	}
	if _, err := ssh.ParseAuthorizedKeys(append([]byte(`command="id" `), line...)); err == nil || !strings.Contains(err.Error(), "line 1: options") {
		t.Errorf("a line with options: %v", err)
	}
	if (ssh.PublicKey{}).Equal(ssh.PublicKey{}) || (ssh.PublicKey{}).String() != "" {
		t.Error("a key that is none equals another")
	}
	if err := os.Chmod(file, 0o644); err != nil { //nolint:gosec // G302: what the test is about
		t.Fatal(err)
	}
	if _, err := ssh.PrivateKeyFile(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others may read: %v", err)
	}
}
