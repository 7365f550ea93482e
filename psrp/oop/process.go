package oop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"example.com/quire/psrp/proto"
)

const endGrace = 5 * time.Second

// StartProcess starts a server as a child process, such as `pwsh -s`, and returns the connection to
// its standard input and output. The last 8 KiB of its standard error are kept for errors. ctx
// bounds the start alone. Close ends the child: by the end of its input, and if it is still there
// after 5 s, by killing it.
func StartProcess(ctx context.Context, name string, args ...string) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, &proto.TransportError{Phase: "dial", ExitCode: -1, Err: err}
	}
	cmd := exec.Command(name, args...) //nolint:gosec,noctx // G204: the caller names the program; it outlives ctx
	fail := func(err error) (*Conn, error) {
		return nil, &proto.TransportError{Phase: "dial", ExitCode: -1, Err: fmt.Errorf("start %s: %w", name, err)}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return fail(err)
	}
	// A pipe of our own: StdoutPipe's is closed by Wait, which must not cut off what was written
	// before the child ended.
	out, childOut, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	stderr := &tail{}
	cmd.Stdout, cmd.Stderr = childOut, stderr
	cmd.WaitDelay = endGrace
	err = cmd.Start()
	_ = childOut.Close()
	if err != nil {
		_ = out.Close()
		return fail(err)
	}
	p := &process{cmd: cmd, in: in, out: out, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	c := NewConn(p, Client, Options{Confidential: true, ExitCode: p.exitCode})
	c.stderr = stderr
	return c, nil
}

// process is a child's standard input and output.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *os.File
	reading sync.Mutex // held by whoever reads out
	done    chan struct{}
	err     error // of Wait, after done
}

// exitCode waits for the process, which ends a moment after its output.
func (p *process) exitCode() int {
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(endPatience):
		return -1
	}
}

func (p *process) Read(b []byte) (int, error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	return p.out.Read(b)
}

func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

func (p *process) Close() error {
	_ = p.in.Close()
	timer := time.NewTimer(endGrace)
	defer timer.Stop()
	// Whoever reads is freed. What the child still writes is read and dropped, so that it cannot
	// hang in a full pipe.
	_ = p.out.SetReadDeadline(time.Now())
	p.reading.Lock()
	defer p.reading.Unlock()
	_ = p.out.SetReadDeadline(time.Time{})
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, p.out)
	}()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	err := p.out.Close()
	<-drained
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// DialUnix connects to a server's Unix socket, such as a PowerShell process opens (see PipePath).
func DialUnix(ctx context.Context, path string) (*Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, &proto.TransportError{Phase: "dial", Host: path, ExitCode: -1, Err: err}
	}
	return NewConn(nc, Client, Options{Confidential: true, Host: path}), nil
}

// PipePath returns the socket that PowerShell 7 opens on Unix in each of its processes, by the
// process's identifier, its start, and its name ("pwsh").
func PipePath(pid int, start time.Time, process string) string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("CoreFxPipe_PSHost.%s.%d.None.%s", startDigits(start), pid, process))
}

// startDigits are the second to ninth hexadecimal digit of the start as a Windows file time, 100 ns
// since 1601.
func startDigits(start time.Time) string {
	const epoch = 11644473600 // seconds from 1601 to 1970
	ticks := (start.Unix()+epoch)*10_000_000 + int64(start.Nanosecond())/100
	return fmt.Sprintf("%08X", ticks)[1:9]
}
