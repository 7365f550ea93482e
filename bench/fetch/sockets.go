package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"example.com/quire/fetch"
)

// originVariable is set in a process that is to be the origin.
const originVariable = "QUIRE_BENCH_ORIGIN"

// ServeOrigin makes this process the origin of the rows over sockets, if it was started as that; it
// does not return then. It answers every path with as many bytes as the path says, and tells how
// many connections there have been. It ends with its standard input.
func ServeOrigin() {
	if os.Getenv(originVariable) == "" {
		return
	}
	if err := serveOrigin(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveOrigin() error {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var conns atomic.Int64
	s := &http.Server{
		ReadHeaderTimeout: time.Minute,
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				conns.Add(1)
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
			w.Header().Set("Connections", strconv.FormatInt(conns.Load(), 10))
			w.Header().Set("Content-Length", strconv.Itoa(n))
			_, _ = w.Write(content(n)) // the caller judges
		}),
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = s.Close()
	}()
	fmt.Println(l.Addr()) //nolint:forbidigo // its parent reads it
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func content(n int) []byte { return kilobyte(n/1024 + 1)[:n] }

// startOrigin starts this program again as the origin, and returns its address.
func startOrigin() (address string, end func() error, err error) {
	exe, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(context.Background(), exe) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), originVariable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	end = func() error {
		_ = in.Close() // ends it
		return cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(err, end())
	}
	return "http://" + strings.TrimSpace(line), end, nil
}

// doer sends a request; fetch.Client and http.Client are.
type doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// overSockets is a contestant that asks the origin for n bytes, and reads them or closes the body
// at once.
func overSockets(n int, read bool, connect func() (doer, func() error, error), most int) func() (func(int) error, func() error, error) {
	return func() (func(int) error, func() error, error) {
		address, end, err := startOrigin()
		if err != nil {
			return nil, nil, err
		}
		client, closes, err := connect()
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
		want, buf, sent := content(n), make([]byte, n+1), 0
		return func(int) error {
			req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address+"/"+strconv.Itoa(n), nil)
			if err != nil {
				return err
			}
			resp, err := client.Do(req)
			if err != nil {
				return err
			}
			if read {
				got, err := io.ReadFull(resp.Body, buf)
				if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(buf[:got], want) {
					return fmt.Errorf("%w: %d bytes, %w", errWrong, got, err)
				}
			}
			if err := resp.Body.Close(); err != nil {
				return err
			}
			sent++
			conns, err := strconv.Atoi(resp.Header.Get("Connections"))
			if err == nil && most > 0 && conns > most+sent/2 { // a busy machine may lose one now and then
				err = fmt.Errorf("%w: %d connections for %d requests", errWrong, conns, sent)
			}
			return err
		}, func() error { return errors.Join(closes(), end()) }, nil
	}
}

func ownDoer() (doer, func() error, error) { return ownClient(fetch.Config{}) }

// plainDoer is net/http's client over a transport with the settings of our client's own.
func plainDoer(timeout time.Duration, gzip bool) func() (doer, func() error, error) {
	return func() (doer, func() error, error) {
		tr := &http.Transport{
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    5 * time.Second,
			IdleConnTimeout:        90 * time.Second,
			MaxIdleConnsPerHost:    64,
			MaxResponseHeaderBytes: 1 << 20,
			ExpectContinueTimeout:  time.Second,
			DisableCompression:     !gzip,
			ForceAttemptHTTP2:      true,
		}
		return &http.Client{Transport: tr, Timeout: timeout}, func() error { tr.CloseIdleConnections(); return nil }, nil
	}
}

func keptConnections() []contestant {
	return []contestant{
		{name: "quire", own: true, open: overSockets(27, true, ownDoer, 1)},
		{name: "bare", note: "http.Client without a deadline, over a transport with the same settings", open: overSockets(27, true, plainDoer(0, false), 1)},
		{name: "timeout", note: "the same with a Timeout, and asking for gzip: the least that bounds a request and may save its bytes", open: overSockets(27, true, plainDoer(30*time.Second, true), 1)},
	}
}

func closedUnread() []contestant {
	return []contestant{
		{name: "quire", own: true, open: overSockets(16<<10, false, ownDoer, 4)},
		{name: "bare", note: "http.Client over a transport with the same settings; a new connection each time", open: overSockets(16<<10, false, plainDoer(0, false), 0)},
	}
}
