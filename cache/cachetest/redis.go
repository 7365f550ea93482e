//go:build unix

package cachetest

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// RedisKinds are the servers that StartRedis knows: Redis 7.0, Redis 6.2 and Valkey.
func RedisKinds() []string { return []string{"redis", "redis62", "valkey"} }

// Redis is a server on loopback that belongs to one test.
type Redis struct {
	Addr string // host:port
	bin  string
	args []string
	cmd  *exec.Cmd
	log  *bytes.Buffer
	done chan struct{}
}

// StartRedis starts a server of that kind without persistence and with further args. Without the
// judge the test is skipped; with REQUIRE_JUDGES=1 it fails.
func StartRedis(t *testing.T, kind string, args ...string) *Redis {
	t.Helper()
	dir := t.TempDir()
	return launch(t, kind, func(port string) []string {
		return append([]string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", dir}, args...)
	})
}

// StartSentinel starts a Sentinel of that kind that alone decides over the primary at addr, which it
// knows by name.
func StartSentinel(t *testing.T, kind, name, addr string) *Redis {
	t.Helper()
	dir := t.TempDir()
	host, primary, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return launch(t, kind, func(port string) []string {
		file := filepath.Join(dir, "sentinel.conf")
		text := fmt.Sprintf("bind 127.0.0.1\nport %s\ndir %s\nsentinel monitor %s %s %s 1\n"+
			"sentinel down-after-milliseconds %[3]s 2000\nsentinel failover-timeout %[3]s 5000\n", port, dir, name, host, primary)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{file, "--sentinel"}
	})
}

// launch starts a process of that kind on a free port, for which args makes its arguments.
func launch(t *testing.T, kind string, args func(port string) []string) *Redis {
	t.Helper()
	bin := map[string]string{"redis": "redis/bin/redis-server", "redis62": "redis62/redis-server", "valkey": "valkey/valkey-server"}[kind]
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	bin = filepath.Join(dir, ".tools", bin)
	if _, err := os.Stat(bin); err != nil {
		if os.Getenv("REQUIRE_JUDGES") == "1" {
			t.Fatal("missing judge: " + kind + ": ./tools/install-judges")
		}
		t.Skip("missing judge: " + kind + ": ./tools/install-judges")
	}
	// Another process may take a port between its choice and its use.
	for range 10 {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends at once
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().String()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(addr) // of a listener
		r := &Redis{Addr: addr, bin: bin}
		r.args = args(port)
		if r.start(t) {
			t.Cleanup(r.Kill)
			return r
		}
		r.Kill()
		t.Logf("no server on %s: %s", addr, r.log)
	}
	t.Fatal("the server does not start")
	return nil
}

// start runs the process and waits until it answers.
func (r *Redis) start(t *testing.T) bool {
	t.Helper()
	r.log = &bytes.Buffer{}
	r.cmd = exec.Command(r.bin, r.args...) //nolint:gosec,noctx // G204: a judge of ours, ended by Kill
	r.cmd.Stdout, r.cmd.Stderr = r.log, r.log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait() // it is killed
	}()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if r.answers() {
			return true
		}
		select {
		case <-r.done:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// answers says whether the process of r, and no other, serves Addr. A server that asks for a
// password is taken for it.
func (r *Redis) answers() bool {
	c, err := net.DialTimeout("tcp", r.Addr, time.Second) //nolint:noctx // has a timeout
	if err != nil {
		return false
	}
	defer c.Close()                                    //nolint:errcheck // nothing to lose
	_ = c.SetDeadline(time.Now().Add(5 * time.Second)) // then the read fails
	if _, err := fmt.Fprint(c, "INFO server\r\n"); err != nil {
		return false
	}
	for s := bufio.NewScanner(c); s.Scan(); {
		if strings.HasPrefix(s.Text(), "-NOAUTH") || s.Text() == fmt.Sprint("process_id:", r.cmd.Process.Pid) {
			return true
		}
	}
	return false
}

// Kill ends the server as a power cut does.
func (r *Redis) Kill() {
	_ = r.cmd.Process.Kill() // it may have ended
	<-r.done
}

// Restart kills the server and starts it anew, empty, on the same address.
func (r *Redis) Restart(t *testing.T) {
	t.Helper()
	r.Kill()
	// For a while another process may have the port, as its end of a connection.
	for end := time.Now().Add(patience); !r.start(t); r.Kill() {
		if time.Now().After(end) {
			t.Fatalf("the server does not come back on %s: %s", r.Addr, r.log)
		}
	}
}

// Pause stops the process until Resume: connections stay open and nothing answers.
func (r *Redis) Pause(t *testing.T) {
	t.Helper()
	r.signal(t, syscall.SIGSTOP)
}

// Resume ends a Pause.
func (r *Redis) Resume(t *testing.T) {
	t.Helper()
	r.signal(t, syscall.SIGCONT)
}

func (r *Redis) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
