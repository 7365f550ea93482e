package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/internal/cli"
	"example.com/quire/internal/demo"
)

// The scripts of cmd/quire drive every command in processes of their own. Here stands what a
// script cannot reach: outputs that fail, terminals, contexts that end, and the whole life of a
// server inside one process.

// call is one run of the command line.
type call struct {
	env    map[string]string
	stdin  string
	stdout io.Writer // nil: kept
	stderr io.Writer // nil: kept
}

type result struct {
	code     int
	out, err string
}

func (c call) run(ctx context.Context, args ...string) result {
	var out, errs buffer
	e := cli.Env{
		Args: args, Stdin: strings.NewReader(c.stdin), Stdout: &out, Stderr: &errs, Version: "test",
		LookupEnv: func(k string) (string, bool) { v, ok := c.env[k]; return v, ok },
	}
	if c.stdout != nil {
		e.Stdout = c.stdout
	}
	if c.stderr != nil {
		e.Stderr = c.stderr
	}
	code := cli.Run(ctx, e)
	return result{code, out.String(), errs.String()}
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// put writes files into a new working directory.
func put(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const note = `quire: 1
name: note
lang: en
title: "Note ${number | default('without number')}"
data: {number: "string?"}
body: [{text: "A note."}]
`

// failing fails after so many bytes.
type failing struct{ left int }

var errFull = errors.New("the pipe is closed")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return 0, errFull
	}
	f.left -= len(p)
	return len(p), nil
}

// TestOutputFails: a command whose output cannot be written did not do what it was asked to.
func TestOutputFails(t *testing.T) {
	put(t, map[string]string{"note.yaml": note})
	for _, args := range [][]string{
		{"version"},
		{"version", "--json"},
		{"doctor"},
		{"template", "check", "note.yaml"},
		{"render", "note.yaml"},
		{"render", "note.yaml", "-o", "-"},
	} {
		r := call{stdout: &failing{}}.run(t.Context(), args...)
		if r.code != 1 || !strings.Contains(r.err, errFull.Error()) {
			t.Errorf("%v: exit status %d, %q", args, r.code, r.err)
		}
	}
}

// TestContextEnds: an interrupted render leaves neither file nor part of one.
func TestContextEnds(t *testing.T) {
	put(t, map[string]string{"note.yaml": note})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := (call{}).run(ctx, "render", "note.yaml", "-o", "out/note.pdf"); r.code == 0 {
		t.Error("no error")
	}
	if r := (call{}).run(ctx, "render", "note.yaml", "-o", "note.pdf"); r.code != 1 || r.err != "quire: interrupted\n" {
		t.Errorf("exit status %d, %s", r.code, r.err)
	}
	all, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := filepath.Glob(".*")
	if err != nil {
		t.Fatal(err)
	}
	if got := append(all, hidden...); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

// TestRender: what a script shows too, in one process.
func TestRender(t *testing.T) {
	put(t, map[string]string{
		"note.yaml": note, "note.json": `{"number": "7"}`, "wrong.json": `{"nubmer": "7"}`,
		"forms/template.yaml": note, "bad.yaml": strings.Replace(note, "text", "txet", 1),
	})
	for _, tt := range []struct {
		args  []string
		stdin string
		code  int
		want  string // in what is written
	}{
		{[]string{"render", "note.yaml"}, "", 0, "note.pdf: 1 page, "},
		{[]string{"render", "note.yaml"}, "", 0, "note.pdf: 1 page, "}, // over the file of before
		{[]string{"render", "forms", "-d", "note.json", "--json"}, "", 0, `{"file":"forms.pdf","pages":1,`},
		{[]string{"render", "forms/template.yaml", "-d", "-"}, `{"number": "8"}`, 0, "forms.pdf: 1 page"},
		{[]string{"render", string(filepath.Separator) + "nosuch"}, "", 2, "nosuch"},
		{[]string{"render", "note.yaml", "-o", "-", "--time", "2026-01-31"}, "", 0, "%PDF-2.0"},
		{[]string{"render", "note.yaml", "--time", "soon"}, "", 2, `--time "soon": want`},
		{[]string{"render", "note.yaml", "-d", "wrong.json"}, "", 2, `wrong.json:1:`},
		{[]string{"render", "note.yaml", "-d", "wrong.json", "--json"}, "", 2, `"path":"nubmer"`},
		{[]string{"render", "note.yaml", "-d", "nosuch.json"}, "", 2, "nosuch.json"},
		{[]string{"render", "note.yaml", "-o", strings.Repeat("x", 251) + ".pdf"}, "", 0, ".pdf: 1 page"},
		{[]string{"render", "note.yaml", "-o", "forms"}, "", 2, "forms is a directory"},
		{[]string{"render", "note.yaml", "-o", "nosuch/x.pdf"}, "", 2, "write nosuch"},
		{[]string{"render", "bad.yaml"}, "", 2, `did you mean "text"?`},
		{[]string{"template", "check", "note.yaml", "bad.yaml"}, "", 2, `did you mean "text"?`},
		{[]string{"template", "check", "note.yaml", "--json"}, "", 0, `"name":"note"`},
		{[]string{"template"}, "", 0, "Available Commands"},
		{[]string{"template", "chekc"}, "", 2, `did you mean "check"?`},
		{[]string{"help", "render"}, "", 0, "quire render TEMPLATE"},
		{[]string{"help", "nosuch"}, "", 2, "unknown command"},
		{[]string{"render", "--tiem"}, "", 2, `did you mean "--time"?`},
		{[]string{"render", "--zzz"}, "", 2, "lists the flags"},
		{[]string{"render"}, "", 2, "usage: quire render TEMPLATE"},
		{[]string{"completion", "bash"}, "", 0, "bash completion"},
		{[]string{"completion", "zsh"}, "", 0, "#compdef"},
		{[]string{"completion", "fish"}, "", 0, "complete -c quire"},
		{[]string{"completion", "powershell"}, "", 0, "Register-ArgumentCompleter"},
		{[]string{"completion", "csh"}, "", 2, "want one of bash, zsh, fish, powershell"},
		{[]string{"version", "--json"}, "", 0, `{"version":"test","engine":"quire-pdf/`},
		{nil, "", 0, "Available Commands"},
	} {
		r := call{stdin: tt.stdin}.run(t.Context(), tt.args...)
		if r.code != tt.code || !strings.Contains(r.out+r.err, tt.want) {
			t.Errorf("%v: exit status %d, want %d; %q, want %q in it", tt.args, r.code, tt.code, r.out+r.err, tt.want)
		}
	}
}

// TestWarnings: what the engine says of a document that it makes all the same stands on
// standard error, or in the one JSON value.
func TestWarnings(t *testing.T) {
	var logo bytes.Buffer
	if err := png.Encode(&logo, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	put(t, map[string]string{
		"logo.png":  logo.String(),
		"wide.yaml": strings.Replace(note, "{text: \"A note.\"}", "{image: logo.png, alt: Logo, width: 400mm}", 1),
	})
	const want = "was made smaller [L304]"
	if r := (call{}).run(t.Context(), "render", "wide.yaml"); r.code != 0 || !strings.Contains(r.err, want) {
		t.Errorf("exit status %d, %q", r.code, r.err)
	}
	if r := (call{}).run(t.Context(), "render", "wide.yaml", "--json"); r.code != 0 || r.err != "" || !strings.Contains(r.out, `"warnings":[{"code":"L304"`) {
		t.Errorf("exit status %d, %q, %q", r.code, r.out, r.err)
	}
	if r := (call{}).run(t.Context(), "render", "wide.yaml", "-o", "-"); r.code != 0 || !strings.Contains(r.err, want) || !strings.HasPrefix(r.out, "%PDF") {
		t.Errorf("exit status %d, %q", r.code, r.err)
	}
}

// started is a server that runs inside the test.
type started struct {
	url  string
	stop func() result
}

var servingAt = regexp.MustCompile(`(?m)(?:msg=serving url=|^)(https?://[^\s/"]+)`)

// start runs a serving command and waits until it tells where.
func start(t *testing.T, c call, args ...string) started {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var log buffer
	told := make(chan string, 1)
	tell := writerFunc(func(p []byte) (int, error) {
		n, err := log.Write(p)
		if m := servingAt.FindStringSubmatch(log.String()); m != nil {
			select {
			case told <- m[1]:
			default:
			}
		}
		return n, err
	})
	c.stdout, c.stderr = tell, tell
	done := make(chan result, 1)
	go func() { done <- c.run(ctx, args...) }()
	stop := func() result {
		cancel()
		r := <-done
		r.err = log.String()
		done <- r // for whoever stops it again
		return r
	}
	t.Cleanup(func() { stop() })
	select {
	case url := <-told:
		return started{url, stop}
	case r := <-done:
		done <- r
		t.Fatalf("exit status %d\n%s", r.code, log.String())
	case <-time.After(time.Minute):
		t.Fatalf("does not serve after a minute\n%s", log.String())
	}
	return started{}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func get(t *testing.T, client *http.Client, url string) (int, []byte) {
	t.Helper()
	return send(t, client, http.MethodGet, url, "")
}

func send(t *testing.T, client *http.Client, method, url, body string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer open sesame")
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, b
}

// TestServe: a server's life in one process: it serves, makes, ends with its context, leaves no
// goroutine, and what it kept is verified.
func TestServe(t *testing.T) {
	defer goleak.VerifyNone(t)
	put(t, map[string]string{"templates/note.yaml": note, "etc/quire.yaml": "log: {format: json}\n"})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	s := start(t, call{env: map[string]string{"QUIRE_LISTEN": "192.0.2.1:1"}}, "serve", "--listen", "127.0.0.1:0")
	if status, b := get(t, client, s.url+"/readyz"); status != http.StatusOK {
		t.Errorf("readyz %d %s", status, b)
	}
	status, file := send(t, client, http.MethodPost, s.url+"/v1/documents", `{"template": "note", "data": {"number": "1"}}`)
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, file)
	}
	doctor := (call{}).run(t.Context(), "doctor") // which finds the server by its data directory
	if doctor.code != 0 || !strings.Contains(doctor.out, "ready at "+s.url+"\n") {
		t.Errorf("doctor: exit status %d\n%s", doctor.code, doctor.out)
	}
	if r := (call{}).run(t.Context(), "serve", "--listen", "127.0.0.1:0"); r.code != 1 || !strings.Contains(r.err, "in use by another process") {
		t.Errorf("second server: exit status %d %q", r.code, r.err)
	}
	if r := (call{}).run(t.Context(), "serve", "--data-dir", "other", "--listen", strings.TrimPrefix(s.url, "http://")); r.code != 1 || !strings.Contains(r.err, "another program listens on this address") {
		t.Errorf("taken port: exit status %d %q", r.code, r.err)
	}
	if r := s.stop(); r.code != 0 {
		t.Errorf("exit status %d\n%s", r.code, r.err)
	}

	if err := os.WriteFile("made.pdf", file, 0o600); err != nil {
		t.Fatal(err)
	}
	file[len(file)/2] ^= 1
	if err := os.WriteFile("flipped.pdf", file, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"verify", "made.pdf"}, 0, "made.pdf: identical\n"},
		{[]string{"verify", "made.pdf", "--json"}, 0, `"answer":"identical"`},
		{[]string{"verify", "flipped.pdf"}, 1, "flipped.pdf: differs at byte "},
		{[]string{"verify", "templates/note.yaml"}, 4, "unknown here"},
		{[]string{"verify", "made.pdf", "--receipt", "templates/note.yaml"}, 2, "templates/note.yaml:1:1: want a value"},
		{[]string{"verify", "made.pdf", "--receipt", "nosuch"}, 2, "nosuch"},
		{[]string{"verify", "nosuch"}, 2, "nosuch"},
		{[]string{"verify", "made.pdf", "--data-dir", "nosuch"}, 2, "has no documents"},
		{[]string{"verify", "made.pdf", "--config", "nosuch.yaml"}, 2, "configuration file not found"},
		{[]string{"serve", "--listen", "0.0.0.0:0"}, 2, "want tokens, because 0.0.0.0:0 is not a loopback address"},
		{[]string{"serve", "--listen", "0.0.0.0:0", "--json"}, 2, `"problems":[{"path":"listen","got":"none","want":"tokens, because `},
		{[]string{"doctor", "--config", "nosuch.yaml"}, 1, "FAIL  configuration"},
		{[]string{"doctor", "--config", "etc/quire.yaml"}, 0, "etc/quire.yaml"},
	} {
		r := (call{}).run(t.Context(), tt.args...)
		if r.code != tt.code || !strings.Contains(filepath.ToSlash(r.out+r.err), tt.want) {
			t.Errorf("%v: exit status %d, want %d; %q, want %q in it", tt.args, r.code, tt.code, r.out+r.err, tt.want)
		}
	}
	client.CloseIdleConnections()
}

// TestServeEverywhere: on all addresses, behind a proxy, with a token; the URL that is told is
// one that a browser takes.
func TestServeEverywhere(t *testing.T) {
	put(t, map[string]string{"quire.yaml": `listen: 0.0.0.0:0
tls: {proxy: true}
log: {format: json, level: debug}
tokens: [{space: finance, sha256: 41ef4bb0b23661e66301aac36066912dac037827b4ae63a7b1165a5aa93ed4eb}]
`})
	c := call{}
	ctx, cancel := context.WithCancel(t.Context())
	var log buffer
	ready := make(chan struct{}, 1)
	c.stderr = writerFunc(func(p []byte) (int, error) {
		n, err := log.Write(p)
		if strings.Contains(log.String(), `"msg":"serving"`) {
			select {
			case ready <- struct{}{}:
			default:
			}
		}
		return n, err
	})
	done := make(chan result, 1)
	go func() { done <- c.run(ctx, "serve") }()
	select {
	case <-ready:
	case r := <-done:
		t.Fatalf("exit status %d\n%s", r.code, log.String())
	}
	cancel()
	if r := <-done; r.code != 0 {
		t.Errorf("exit status %d\n%s", r.code, log.String())
	}
	if !strings.Contains(log.String(), `"url":"http://localhost:`) {
		t.Errorf("log\n%s", log.String())
	}
}

// TestDemo: the demo makes a document of every sample and ends with its context.
func TestDemo(t *testing.T) {
	put(t, nil)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	s := start(t, call{}, "demo", "--listen", "127.0.0.1:0")
	var list struct {
		Documents []struct {
			Reports []string `json:"reports"`
		} `json:"documents"`
	}
	filed := map[string]bool{}
	for range 1200 { // the collected ones come when their source has answered
		status, b := get(t, client, s.url+"/v1/documents")
		if err := json.Unmarshal(b, &list); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s %v", status, b, err)
		}
		for _, d := range list.Documents {
			for _, r := range d.Reports {
				filed[r] = true
			}
		}
		if len(filed) == len(demo.Samples())+1 {
			break
		}
		wait, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		<-wait.Done()
		cancel()
	}
	for _, sample := range demo.Samples() {
		if !filed[sample.Name] {
			t.Errorf("no document of %s", sample.Name)
		}
	}
	if !filed[demo.DownReport] {
		t.Error("no document of the source that is down")
	}
	if r := s.stop(); r.code != 0 {
		t.Errorf("exit status %d\n%s", r.code, r.err)
	}
	if r := (call{}).run(t.Context(), "demo", "--listen", "0.0.0.0:0"); r.code != 2 {
		t.Errorf("public address: exit status %d %s", r.code, r.err)
	}
	put(t, map[string]string{"precious/ledger.txt": "1"})
	if r := (call{}).run(t.Context(), "demo", "--reset", "--data-dir", "precious"); r.code != 2 {
		t.Errorf("reset of a folder that is not the demo's: exit status %d %s", r.code, r.err)
	}
	if _, err := os.Stat("precious/ledger.txt"); err != nil {
		t.Error(err)
	}
}
