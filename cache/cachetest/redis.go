//go:build unix

package cachetest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

// StartSentinel starts a Sentinel of that kind that alone decides over the primary at addr, which
// it knows by name.
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

// Cluster is a Redis Cluster on loopback that belongs to one test: three primaries and a replica of
// each.
type Cluster struct {
	Primaries, Replicas []*Redis // each at the place of its primary
}

// StartCluster starts six servers of that kind and joins them. A primary that does not answer is
// replaced by its replica after that time, or with 0 not at all.
func StartCluster(t *testing.T, kind string, nodeTimeout time.Duration) *Cluster {
	t.Helper()
	var all []*Redis
	for range 6 {
		args := []string{"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "60000", "--cluster-replica-no-failover", "yes"}
		if nodeTimeout > 0 {
			args = append(args[:4], "--cluster-node-timeout", fmt.Sprint(nodeTimeout.Milliseconds()))
		}
		all = append(all, StartRedis(t, kind, append(args, "--repl-diskless-sync-delay", "0")...))
	}
	c := &Cluster{Primaries: all[:3], Replicas: all[3:]}
	const slots = 16384
	for i, r := range c.Primaries {
		words := []string{"CLUSTER", "ADDSLOTS"}
		for slot := i * slots / 3; slot < (i+1)*slots/3; slot++ {
			words = append(words, fmt.Sprint(slot))
		}
		r.Command(t, words...)
	}
	for i, r := range all {
		r.Command(t, "CLUSTER", "SET-CONFIG-EPOCH", fmt.Sprint(i+1))
		for _, other := range all[:i] {
			host, port, _ := net.SplitHostPort(other.Addr) // of a listener
			r.Command(t, "CLUSTER", "MEET", host, port)
		}
	}
	knows := func(r *Redis, n int) bool {
		return strings.Contains(r.Command(t, "CLUSTER", "INFO"), fmt.Sprintf("cluster_known_nodes:%d\r", n)) &&
			!strings.Contains(r.Command(t, "CLUSTER", "NODES"), "handshake")
	}
	for _, r := range all {
		eventually(t, "all nodes know each other", func() bool { return knows(r, len(all)) })
	}
	for i, r := range c.Replicas {
		r.Command(t, "CLUSTER", "REPLICATE", c.Primaries[i].Command(t, "CLUSTER", "MYID"))
	}
	for _, r := range all {
		eventually(t, "the cluster is up", func() bool {
			return strings.Contains(r.Command(t, "CLUSTER", "INFO"), "cluster_state:ok") && strings.Count(r.Command(t, "CLUSTER", "NODES"), "slave") == len(c.Replicas)
		})
	}
	for _, r := range c.Replicas {
		eventually(t, "the replica has what its primary has", func() bool {
			return strings.Contains(r.Command(t, "INFO", "replication"), "master_link_status:up")
		})
	}
	return c
}

// Command runs one command as a foreign client, without a password, and returns the answer if it is
// one text or number.
func (r *Redis) Command(t *testing.T, words ...string) string {
	t.Helper()
	answer, err := r.command(words...)
	if err != nil {
		t.Fatalf("%q: %v", words[:min(len(words), 4)], err)
	}
	return answer
}

func (r *Redis) command(words ...string) (string, error) {
	conn, err := net.DialTimeout("tcp", r.Addr, patience) //nolint:noctx // has a timeout
	if err != nil {
		return "", err
	}
	defer conn.Close() //nolint:errcheck // nothing to lose
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := conn.Write(b); err != nil {
		return "", err
	}
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	switch n, _ := strconv.Atoi(line[1:]); { // 0 for what is not a number
	case line[0] == '-':
		return "", errors.New(line)
	case line[0] == '$' && n >= 0:
		text := make([]byte, n)
		_, err = io.ReadFull(in, text)
		return string(text), err
	}
	return line[1:], nil
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
