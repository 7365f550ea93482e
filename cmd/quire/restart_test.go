//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestRestartUnderLoadLosesNoRequest ends the real program by SIGTERM again and again while
// clients use it over connections that they keep. A client sends only on a connection of which it
// has not seen the end, most often with a method that no client may repeat by itself: whatever it
// sent so must be answered. A connection that is refused lost nothing; the client sees that
// nobody is there.
//
// QUIRE_RESTARTS sets how often (20).
func TestRestartUnderLoadLosesNoRequest(t *testing.T) {
	restarts := 20
	if s := os.Getenv("QUIRE_RESTARTS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("QUIRE_RESTARTS=%q: want a number from 1", s)
		}
		restarts = n
	} else if testing.Short() {
		restarts = 3
	}
	program, dir := site(t)
	total := tally{}
	for range restarts {
		total.add(restartUnderLoad(t, program, dir))
	}
	for _, l := range total.lost {
		t.Error(l)
	}
	t.Logf("%d restarts: %d requests answered, %d with another status than 200, %d lost", restarts, total.answered, total.other, len(total.lost))
	if total.answered < 10*restarts {
		t.Errorf("%d requests were answered in %d restarts, too few to tell", total.answered, restarts)
	}
}

// site returns the program and a directory with a configuration and a template for it.
func site(t *testing.T) (program, dir string) {
	t.Helper()
	program, err := exec.LookPath("quire")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for name, text := range map[string]string{
		"quire.yaml": "listen: 127.0.0.1:0\n",
		"templates/note.yaml": "quire: 1\nname: note\nlang: en\ntitle: \"Note ${number}\"\n" +
			"data: {number: string}\nbody: [{text: \"Note ${number}.\"}]\n",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return program, dir
}

// tally is what became of the requests.
type tally struct {
	answered, other int
	lost            []string
}

func (t *tally) add(o tally) {
	t.answered += o.answered
	t.other += o.other
	t.lost = append(t.lost, o.lost...)
}

// restartUnderLoad is the life of one process: clients send some 200 requests a second, SIGTERM
// falls among them, and they go on until they are refused.
func restartUnderLoad(t *testing.T, program, dir string) tally {
	t.Helper()
	p := startProgram(t, dir, program, "serve", "--config", "quire.yaml")
	const clients = 16
	results := make([]tally, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() { results[i] = useUntilRefused(t.Context(), p.address, i) })
	}
	time.Sleep(300*time.Millisecond + rand.N(100*time.Millisecond)) //nolint:forbidigo,gosec // SIGTERM falls anywhere
	p.terminate(t)
	wg.Wait()
	var sum tally
	for _, r := range results {
		sum.add(r)
	}
	return sum
}

// runningProgram is a server in a process of its own.
type runningProgram struct {
	cmd     *exec.Cmd
	address string
	ended   chan string // what it wrote beside its log, and errors
}

// startProgram starts a server and waits until it serves.
func startProgram(t *testing.T, dir, name string, args ...string) *runningProgram {
	t.Helper()
	p := &runningProgram{cmd: exec.CommandContext(t.Context(), name, args...), ended: make(chan string, 1)} //nolint:gosec // G204: the program under test
	p.cmd.Dir = dir
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() {
		var log strings.Builder
		at := regexp.MustCompile(`msg=serving url=http://(\S+)`)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if m := at.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
			if strings.Contains(lines.Text(), "level=ERROR") || !strings.Contains(lines.Text(), "level=") {
				log.WriteString(lines.Text() + "\n")
			}
		}
		p.ended <- log.String()
	}()
	select {
	case p.address = <-found:
	case log := <-p.ended:
		t.Fatalf("the server ended: %v\n%s", p.cmd.Wait(), log)
	case <-time.After(time.Minute):
		t.Fatal("the server does not start")
	}
	return p
}

// terminate ends the server as a service manager does.
func (p *runningProgram) terminate(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	log := <-p.ended
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the server did not end cleanly: %v\n%s", err, log)
	}
}

// TestConnectionsLeaveFilesForRequests: with more clients than the process may open files, those
// that are connected are still answered, which takes files too.
func TestConnectionsLeaveFilesForRequests(t *testing.T) {
	program, dir := site(t)
	p := startProgram(t, dir, "sh", "-c", `ulimit -n 96 && exec "$0" serve --config quire.yaml`, program)
	dialer := net.Dialer{Timeout: 10 * time.Second}
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
		p.terminate(t)
	}()
	for range 150 {
		c, err := dialer.DialContext(t.Context(), "tcp", p.address)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	for i, c := range conns[:3] {
		body := fmt.Sprintf(`{"template": "note", "data": {"number": "%d"}}`, i)
		if status, _, err := roundTrip(c, bufio.NewReader(c), http.MethodPost, p.address, "/v1/documents", body); err != nil || status != http.StatusCreated {
			t.Errorf("client %d: %d, %v", i, status, err)
		}
	}
}

// useUntilRefused sends a request each 80 ms over one connection, and over a new one when the
// server has closed it, until nobody accepts one.
func useUntilRefused(ctx context.Context, address string, client int) (sum tally) {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	var conn net.Conn
	var answers *bufio.Reader
	defer func() {
		if conn != nil {
			_ = conn.Close()
		}
	}()
	for i := 0; ; i++ {
		time.Sleep(40*time.Millisecond + rand.N(80*time.Millisecond)) //nolint:forbidigo,gosec // the pace of the load
		if conn != nil && closed(conn, answers) {
			_ = conn.Close()
			conn = nil
		}
		state := "kept"
		if conn == nil {
			var err error
			if conn, err = dialer.DialContext(ctx, "tcp", address); err != nil {
				return sum
			}
			answers, state = bufio.NewReader(conn), "new"
		}
		method, path, body := http.MethodPost, "/v1/render", fmt.Sprintf(`{"template": "note", "data": {"number": "%d-%d"}}`, client, i)
		if i%4 != 0 {
			method, path, body = http.MethodGet, "/v1/documents?limit=1", ""
		}
		begun := time.Now()
		status, closes, err := roundTrip(conn, answers, method, address, path, body)
		switch {
		case err != nil:
			sum.lost = append(sum.lost, fmt.Sprintf("%s %s on a %s connection: %v after %s", method, path, state, err, time.Since(begun).Round(time.Millisecond)))
		default:
			sum.answered++
			if status != http.StatusOK {
				sum.other++
			}
		}
		if err != nil || closes {
			_ = conn.Close()
			conn = nil
		}
	}
}

// closed reports whether the server has ended a connection that waits for a request.
func closed(conn net.Conn, answers *bufio.Reader) bool {
	if err := conn.SetReadDeadline(time.Now().Add(100 * time.Microsecond)); err != nil {
		return true
	}
	_, err := answers.Peek(1)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func roundTrip(conn net.Conn, answers *bufio.Reader, method, host, path, body string) (status int, closes bool, err error) {
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return 0, false, err
	}
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", method, path, host, len(body))
	if _, err := io.WriteString(conn, head+body); err != nil {
		return 0, false, err
	}
	res, err := http.ReadResponse(answers, &http.Request{Method: method})
	if err != nil {
		return 0, false, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Close, errors.Join(err, res.Body.Close())
}
