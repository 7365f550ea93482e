package heavyread

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/quire/bench/internal/machine"
)

// tools are the programs of others, by name.
type tools map[string]string

// findTools looks for each where tools/install-judges puts it, and then in PATH.
func findTools(root string) (tools, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	t := tools{}
	var errs []error
	for name, place := range map[string]string{"redis-server": "redis/bin/redis-server", "nginx": "proxies/root/usr/sbin/nginx", "wrk": "wrk/bin/wrk"} {
		p := filepath.Join(root, ".tools", filepath.FromSlash(place))
		if _, err := os.Stat(p); err == nil {
			t[name] = p
		} else if p, err := exec.LookPath(name); err == nil {
			t[name] = p
		} else {
			errs = append(errs, fmt.Errorf("%s is missing: run ./tools/install-judges", name))
		}
	}
	return t, errors.Join(errs...)
}

// versions asks each program for its version.
func (t tools) versions(ctx context.Context) map[string]string {
	all := map[string]string{}
	for name, arg := range map[string]string{"redis-server": "--version", "nginx": "-v", "wrk": "-v"} {
		out, _ := exec.CommandContext(ctx, t[name], arg).CombinedOutput() //nolint:gosec // a tool of ours; wrk's status is 1
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		all[name] = first
	}
	return all
}

// The readers and what is compared with them have one core, everything else the other.
const (
	measured = 0
	other    = 1
)

// group is the processes of a run.
type group struct{ all []*process }

type process struct {
	cmd  *exec.Cmd
	log  *bytes.Buffer
	done chan struct{}
}

// start runs a server on a core and waits until addr takes connections.
func (g *group) start(ctx context.Context, core int, addr, name string, args ...string) (*process, error) {
	p := &process{log: &bytes.Buffer{}, done: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), name, args...) //nolint:gosec // programs of the run, ended by stop
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if err := pinned(p.cmd, core); err != nil {
		return nil, err
	}
	g.all = append(g.all, p)
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // stop ends it
	}()
	for end := time.Now().Add(30 * time.Second); ; {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return p, c.Close()
		}
		select {
		case <-p.done:
			return nil, fmt.Errorf("%s has ended: %s", name, p.log)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s does not listen on %s: %w", name, addr, err)
		}
	}
}

// pinned starts a command on a core, or anywhere where there is one core.
func pinned(cmd *exec.Cmd, core int) error {
	if machine.Cores() < 2 {
		return cmd.Start()
	}
	return machine.StartPinned(cmd, core)
}

// stop ends all, the last first.
func (g *group) stop() error {
	var errs []error
	for _, p := range slices.Backward(g.all) {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-p.done:
		case <-time.After(15 * time.Second):
			errs = append(errs, fmt.Errorf("%s does not end", p.cmd.Path), p.cmd.Process.Kill())
			<-p.done
		}
	}
	g.all = nil
	return errors.Join(errs...)
}

// freeAddrs are addresses on loopback that nobody listens on.
func freeAddrs(ctx context.Context, n int) ([]string, error) {
	var all []string
	for range n {
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer ln.Close() //nolint:errcheck // nothing was accepted
		all = append(all, ln.Addr().String())
	}
	return all, nil
}

func port(addr string) string {
	_, p, _ := net.SplitHostPort(addr) // of a listener
	return p
}
