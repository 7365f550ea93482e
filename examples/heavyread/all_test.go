//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// asProgram is set in a process that is to be the program.
const asProgram = "HEAVYREAD_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// freePorts is the first of three ports in a row that are free.
func freePorts(t *testing.T) int {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends at once
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		all := []net.Listener{l}
		for i := 1; i < 3 && err == nil; i++ {
			if l, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+i)); err == nil { //nolint:noctx // ends at once
				all = append(all, l)
			}
		}
		for _, l := range all {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err == nil {
			return port
		}
	}
	t.Fatal("no three ports in a row are free")
	return 0
}

// TestInterruptEndsAllProcesses: as from the keyboard, which interrupts all that run in the
// foreground.
func TestInterruptEndsAllProcesses(t *testing.T) {
	t.Chdir("../..")
	if _, err := redisServer(); err != nil {
		if os.Getenv("REQUIRE_JUDGES") == "1" {
			t.Fatal("missing judge: redis: ./tools/install-judges")
		}
		t.Skip("missing judge: redis: ./tools/install-judges")
	}
	port := freePorts(t)
	addr := "127.0.0.1:" + strconv.Itoa(port)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "all", "-addr", addr, "-data", t.TempDir()) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // it may have ended
	defer late.Stop()

	// What the processes say, to its end: it comes when all of them have ended.
	var mu sync.Mutex
	var said strings.Builder
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			mu.Lock()
			said.WriteString(sc.Text() + "\n")
			mu.Unlock()
		}
	}()
	text := func() string {
		mu.Lock()
		defer mu.Unlock()
		return said.String()
	}
	for limit := time.Now().Add(30 * time.Second); strings.Count(text(), " on http://") < 3; {
		if time.Now().After(limit) {
			t.Fatalf("not all have started: %s%s", text(), complaints.String())
		}
		<-time.After(10 * time.Millisecond)
	}
	create(t, addr, "first", "Read often.")
	for i := 1; i <= 2; i++ {
		until(t, "127.0.0.1:"+strconv.Itoa(port+i), "/post?id=first", func(status int, _ string) bool { return status == http.StatusOK })
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Error("a process is left")
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s%s", err, text(), complaints.String())
	}
	if complaints.Len() > 0 {
		t.Errorf("it complained: %s", complaints.String())
	}
	redis := regexp.MustCompile(`Redis on (\S+);`).FindStringSubmatch(text())
	if redis == nil {
		t.Fatalf("no address of Redis: %s", text())
	}
	for _, a := range []string{redis[1], addr} {
		if c, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", a); err == nil {
			t.Errorf("%s answers still: %v", a, c.Close())
		} else if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: %v", a, err)
		}
	}
}
