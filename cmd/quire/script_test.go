package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"example.com/quire/internal/remotingtest"
	"example.com/quire/pdf/htmlpdf"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"quire": main})
}

// runScripts drives the program from outside by scripts. They find the samples of the demo under
// $SAMPLES. Beside testscript's own commands they have those of scriptCommands.
func runScripts(t *testing.T, p testscript.Params) {
	t.Helper()
	samples, err := filepath.Abs(filepath.Join("..", "..", "internal", "demo", "samples"))
	if err != nil {
		t.Fatal(err)
	}
	p.RequireExplicitExec = true
	p.RequireUniqueNames = true
	p.UpdateScripts = os.Getenv("UPDATE_SCRIPTS") != ""
	p.Cmds = scriptCommands()
	p.Condition = judged
	p.Setup = func(e *testscript.Env) error {
		e.Setenv("SAMPLES", samples)
		e.Setenv("NO_COLOR", "1")
		e.Setenv("GORACE", os.Getenv("GORACE")) // without it every program waits for a second at its end
		e.Values[serverKey{}] = &server{}
		return nil
	}
	testscript.Run(t, p)
}

// scriptCommands must not have the names of testscript's own commands, which would be called in
// their stead.
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":    cmdExits,
		"flip":     cmdFlip,
		"damage":   cmdDamage,
		"field":    cmdField,
		"replace":  cmdReplace,
		"sha256":   cmdSHA256,
		"files":    cmdFiles,
		"has":      cmdHas,
		"server":   cmdServer,
		"shutdown": cmdShutdown,
		"http":     cmdHTTP,
		"flaky":    cmdFlaky,
		"sshd":     cmdSSHD,
	}
}

// judged is the condition [judge:NAME]: whether a judge is there, or must be.
func judged(cond string) (bool, error) {
	required := os.Getenv("REQUIRE_JUDGES") == "1"
	switch cond {
	case "judge:sshd":
		return required || remotingtest.HasSSHD(), nil
	case "judge:chromium":
		_, err := htmlpdf.New(htmlpdf.Options{})
		return required || err == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// cmdSSHD starts an OpenSSH server with psrpcore behind it, and puts into variables where it is and
// what opens it.
func cmdSSHD(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 0, "sshd")
	dir := ts.MkAbs("sshd")
	ts.Check(os.Mkdir(dir, 0o700))
	s, err := remotingtest.StartSSHD(dir)
	ts.Check(err)
	ts.Defer(s.Close)
	ts.Setenv("SSHD", s.User+"@"+s.Addr)
	ts.Setenv("SSHD_KEY", s.Key)
	ts.Setenv("SSHD_KNOWN", s.KnownHosts)
	ts.Setenv("SSHD_PEER", s.Command())
}

// cmdFlaky starts an API that is busy for the first two of three requests and lets its answers be
// cached; it puts its address into a variable. What is asked for at /slow never comes, at /once not
// the first time.
func cmdFlaky(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "flaky VARIABLE")
	var calls atomic.Int64
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" || r.URL.Path == "/once" && calls.Add(1) == 1 {
			<-r.Context().Done() // until the client goes
			return
		}
		if calls.Add(1)%3 != 0 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = fmt.Fprintf(w, "agent %s, key %s\n", r.UserAgent(), r.Header.Get("X-Key")) //nolint:gosec // plain text, for a client that is no browser
	}))
	ts.Defer(api.Close)
	ts.Setenv(args[0], api.URL)
}

func want(ts *testscript.TestScript, neg, ok bool, usage string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// cmdExits runs a program that must end with exactly this status.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 2, "exits STATUS PROGRAM [ARG...]")
	status := 0
	err := ts.Exec(args[1], args[2:]...)
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		status = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if got := strconv.Itoa(status); got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// cmdFlip changes one bit of the byte at an offset.
func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "flip FILE OFFSET")
	b := []byte(ts.ReadFile(args[0]))
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	b[at] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}

// cmdDamage changes one bit of a blob.
func cmdDamage(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2 && len(args[1]) > 2, "damage BLOBS SHA256")
	name := ts.MkAbs(filepath.Join(args[0], args[1][:2], args[1]))
	b, err := os.ReadFile(name)
	ts.Check(err)
	b[0] ^= 1
	ts.Check(os.Chmod(name, 0o600))
	ts.Check(os.WriteFile(name, b, 0o600)) //nolint:gosec // the path is the script's own
}

// cmdField puts a value of a JSON file into a variable.
func cmdField(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "field FILE NAME[.NAME...] VARIABLE")
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &v))
	for name := range strings.SplitSeq(args[1], ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			ts.Check(err)
			v = in[i]
		}
	}
	if v == nil {
		ts.Fatalf("%s has no %s", args[0], args[1])
	}
	ts.Setenv(args[2], fmt.Sprint(v))
}

// cmdReplace replaces a text that a file has exactly once.
func cmdReplace(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "replace OLD NEW FILE")
	s := ts.ReadFile(args[2])
	if n := strings.Count(s, args[0]); n != 1 {
		ts.Fatalf("%s has %q %d times", args[2], args[0], n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Replace(s, args[0], args[1], 1)), 0o600))
}

// cmdSHA256 puts the SHA-256 of a file into a variable.
func cmdSHA256(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "sha256 FILE VARIABLE")
	sum := sha256.Sum256([]byte(ts.ReadFile(args[0])))
	ts.Setenv(args[1], hex.EncodeToString(sum[:]))
}

// cmdFiles prints the names in a directory, hidden ones too.
func cmdFiles(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "files DIRECTORY")
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range entries {
		_, err := fmt.Fprintln(ts.Stdout(), e.Name())
		ts.Check(err)
	}
}

// cmdHas looks for a text in a file that is no text.
func cmdHas(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, false, len(args) == 2, "[!] has FILE TEXT")
	if strings.Contains(ts.ReadFile(args[0]), args[1]) == neg {
		ts.Fatalf("%q in %s: %v", args[1], args[0], neg)
	}
}

type serverKey struct{}

// server is the one server that a script has running.
type server struct {
	cmd  *exec.Cmd
	url  string
	done chan struct{} // closed when the log has ended

	mu  sync.Mutex
	log bytes.Buffer
}

func (s *server) write(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.WriteString(line)
}

func (s *server) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func scriptServer(ts *testscript.TestScript) *server {
	return ts.Value(serverKey{}).(*server)
}

// servingAt finds in what a command writes where it listens: in the log of serve, in the first
// line of demo.
var servingAt = regexp.MustCompile(`(?:(?:msg=serving|"msg":"serving").*?url"?[=:]"?|^)(https?://[^" /]+)`)

// cmdServer starts a command that serves, on a port that is free, and waits until it does.
func cmdServer(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 1, "server COMMAND [ARG...]")
	s := scriptServer(ts)
	program, err := exec.LookPath("quire")
	ts.Check(err)
	s.cmd = exec.Command(program, args...) //nolint:gosec,noctx // the program under test; shutdown or the end of the script ends it
	s.cmd.Dir = ts.MkAbs(".")
	s.cmd.Env = os.Environ()
	for _, k := range []string{"NO_COLOR", "QUIRE_CONFIG", "QUIRE_DATA", "QUIRE_LISTEN", "QUIRE_TEMPLATES", "QUIRE_LOG_FORMAT", "QUIRE_LOG_LEVEL"} {
		if v := ts.Getenv(k); v != "" {
			s.cmd.Env = append(s.cmd.Env, k+"="+v)
		}
	}
	log, end, err := os.Pipe()
	ts.Check(err)
	s.cmd.Stdout, s.cmd.Stderr = end, end
	ts.Check(errors.Join(s.cmd.Start(), end.Close()))
	ts.Defer(func() {
		if s.cmd != nil {
			_ = s.cmd.Process.Kill() // it may have ended
			<-s.done
			_ = s.cmd.Wait() // killed
		}
	})
	s.done = make(chan struct{})
	found := make(chan string, 1)
	go func() {
		defer close(s.done)
		defer log.Close() //nolint:errcheck // read to its end
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			s.write(lines.Text() + "\n")
			if m := servingAt.FindStringSubmatch(lines.Text()); m != nil {
				select {
				case found <- m[1]:
				default:
				}
			}
		}
	}()
	select {
	case s.url = <-found:
		ts.Setenv("URL", s.url)
		ts.Setenv("ADDRESS", s.url[strings.LastIndex(s.url, "/")+1:])
	case <-s.done:
		ts.Fatalf("the server ended:\n%s", s.text())
	case <-time.After(time.Minute):
		ts.Fatalf("the server does not serve after a minute:\n%s", s.text())
	}
}

// cmdShutdown ends the server as a service manager does and keeps its log in server.log. Windows
// has no SIGTERM; there it is killed.
func cmdShutdown(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 0, "shutdown")
	s := scriptServer(ts)
	if runtime.GOOS == "windows" {
		ts.Check(s.cmd.Process.Kill())
	} else {
		ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	}
	<-s.done
	err := s.cmd.Wait()
	s.cmd = nil
	ts.Check(os.WriteFile(ts.MkAbs("server.log"), []byte(s.text()), 0o600))
	if err != nil && runtime.GOOS != "windows" {
		ts.Fatalf("the server did not end cleanly: %v\n%s", err, s.text())
	}
}

// cmdHTTP sends a request to the server. The body of the answer is its standard output, status
// and header are its standard error. "!" wants a status of 400 or above.
//
//	http [-H 'Name: value']... [-d FILE] METHOD PATH [FILE]
func cmdHTTP(ts *testscript.TestScript, neg bool, args []string) {
	var header []string
	var body io.Reader = http.NoBody
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-H":
			header = append(header, args[1])
		case "-d":
			body = strings.NewReader(ts.ReadFile(args[1]))
		default:
			ts.Fatalf("unknown flag %s", args[0])
		}
		args = args[2:]
	}
	want(ts, false, len(args) == 2 || len(args) == 3, "http [-H 'Name: value']... [-d FILE] METHOD PATH [FILE]")
	req, err := http.NewRequest(args[0], scriptServer(ts).url+args[1], body) //nolint:noctx // the server's own limits end it
	ts.Check(err)
	if body != http.NoBody {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	res, err := client.Do(req)
	ts.Check(err)
	answer, err := io.ReadAll(res.Body)
	ts.Check(errors.Join(err, res.Body.Close()))

	var head strings.Builder
	head.WriteString(res.Status + "\n")
	names := make([]string, 0, len(res.Header))
	for name := range res.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		head.WriteString(name + ": " + strings.Join(res.Header[name], ", ") + "\n")
	}
	_, err = io.WriteString(ts.Stderr(), head.String())
	ts.Check(err)
	if len(args) == 3 {
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), answer, 0o600))
	} else {
		_, err = ts.Stdout().Write(answer)
		ts.Check(err)
	}
	if failed := res.StatusCode >= 400; failed != neg {
		ts.Fatalf("%s %s: %s\n%s", args[0], args[1], res.Status, answer)
	}
}
