package app_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/internal/store"
)

const crashTemplate = `quire: 1
name: crash
lang: en
title: "Note ${number}"
data: {number: string, lines: [{text: string, qty: integer}]}
body:
  - {heading: "Note ${number}", level: 1}
  - table:
      columns: [{head: Text, width: 1fr}, {head: Quantity, width: 30mm}]
      rows: {for: l in lines, cells: ["${l.text}", "${l.qty}"]}
`

const crashConfig = `listen: 127.0.0.1:0
data: data
templates: templates
reports:
  daily: {template: crash}
`

// TestCrash kills the real server while several clients make documents, again and again, and
// starts it again over the same data. What it acknowledged with 201 and its last byte has to be
// there at the end, byte for byte, and able to be made again; what it lists has to have its
// bytes. A kill leaves what the kernel was given, so this proves the order of writing and the
// start after a crash; what a loss of power may leave is judged by the replay in package blob.
//
// QUIRE_KILLS sets how often (20), QUIRE_SEED when.
func TestCrash(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills a server 20 times: run without -short")
	}
	kills := number(t, "QUIRE_KILLS", 20)
	seed := number(t, "QUIRE_SEED", 1)
	t.Logf("QUIRE_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // the same seed has to give the same kills
	l := &life{bin: program(t), dir: t.TempDir(), acknowledged: map[string]string{}}
	l.write(t, "quire.yaml", crashConfig)
	l.write(t, "templates/crash.yaml", crashTemplate)

	// Every fourth kill falls into the start, the others into the work: after so many
	// documents that 200 are acknowledged in all, and some time more.
	least := (200*4 + 3*kills - 1) / (3 * kills)
	for kill := range kills {
		p := l.start(t)
		if kill%4 == 3 {
			pause(t, time.Duration(rnd.Int64N(int64(120*time.Millisecond))))
			p.kill(t)
			continue
		}
		l.load(t, p, kill, least+rnd.IntN(least/2+1), time.Duration(rnd.Int64N(int64(8*time.Millisecond))))
	}
	l.judge(t, kills)
}

func number(t *testing.T, name string, or int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return or
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: want a number from 1", name, text)
	}
	return n
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

// process is a server that runs.
type process struct {
	cmd    *exec.Cmd
	url    chan string // its address, once it serves; closed when its log ends
	ended  chan struct{}
	how    error         // how it ended, once ended is closed
	stderr *bytes.Buffer // complete once ended is closed
}

var serving = regexp.MustCompile(`msg=serving url=(\S+)`)

// run starts `quire serve` in a directory with a quire.yaml.
func run(t *testing.T, bin, dir string) *process {
	t.Helper()
	p := &process{url: make(chan string, 1), ended: make(chan struct{}), stderr: &bytes.Buffer{}}
	p.cmd = exec.Command(bin, "serve") //nolint:noctx // it is killed by its own id, at a moment of the test's choice
	p.cmd.Dir, p.cmd.Env = dir, environment()
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			p.stderr.WriteString(lines.Text() + "\n")
			if m := serving.FindStringSubmatch(lines.Text()); m != nil {
				p.url <- m[1]
			}
		}
		close(p.url)
		p.how = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // most have ended already
		<-p.ended
	})
	return p
}

// environment is that of the program, without what configures it outside the test.
func environment() []string {
	env := []string{asProgram + "=1"}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "QUIRE_") {
			env = append(env, v)
		}
	}
	return env
}

// kill ends the process as SIGKILL does, and waits for its end.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	<-p.ended
}

// life is a data directory with what the servers over it have acknowledged.
type life struct {
	bin, dir string
	clients  http.Client

	mu           sync.Mutex
	acknowledged map[string]string // document id -> SHA-256 of the file as received
	wrong        []string          // answers that contradict themselves
}

func (l *life) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(l.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (l *life) start(t *testing.T) *process {
	t.Helper()
	return run(t, l.bin, l.dir)
}

// address waits until the server serves.
func (p *process) address(t *testing.T) string {
	t.Helper()
	select {
	case url, ok := <-p.url:
		if ok {
			return url
		}
		<-p.ended
		t.Fatalf("the server ended: %v\n%s", p.how, p.stderr)
	case <-time.After(time.Minute):
		t.Fatal("the server does not start")
	}
	return ""
}

// load lets four clients make documents until so many are acknowledged and some time more, and
// kills the server in the middle of what they do then.
func (l *life) load(t *testing.T, p *process, round, until int, more time.Duration) {
	t.Helper()
	url := p.address(t)
	enough := make(chan struct{})
	done, count := make(chan struct{}), 0
	var wg sync.WaitGroup
	for client := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				if !l.make(t.Context(), url, fmt.Sprintf("%d-%d-%d", round, client, i)) {
					select {
					case <-done: // killed
						return
					case <-t.Context().Done():
						return
					default:
						continue
					}
				}
				l.mu.Lock()
				if count++; count == until {
					close(enough)
				}
				l.mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
		pause(t, more)
	case <-p.ended:
		t.Errorf("round %d: the server ended by itself\n%s", round, p.stderr)
	case <-time.After(time.Minute):
		t.Errorf("round %d: fewer than %d documents in a minute", round, until)
	}
	p.kill(t)
	close(done)
	wg.Wait()
	l.clients.CloseIdleConnections()
}

// make makes a document. Only one whose every byte has come counts as acknowledged.
func (l *life) make(ctx context.Context, url, number string) bool {
	body := fmt.Sprintf(`{"report": "daily", "data": {"number": %q, "lines": [{"text": "Pens", "qty": 3}, {"text": %q, "qty": 1}]}}`, number, number)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/documents", strings.NewReader(body))
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := l.clients.Do(r)
	if err != nil {
		return false
	}
	file, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return false
	}
	sum := sha256.Sum256(file)
	content := hex.EncodeToString(sum[:])
	l.mu.Lock()
	defer l.mu.Unlock()
	if resp.StatusCode != http.StatusCreated || resp.Header.Get("Etag") != `"`+content+`"` {
		l.wrong = append(l.wrong, fmt.Sprintf("document %s: %s, ETag %s of a file with SHA-256 %s", number, resp.Status, resp.Header.Get("Etag"), content))
		return false
	}
	l.acknowledged[resp.Header.Get("Quire-Document")] = content
	return true
}

// judge starts the server a last time and compares what it has with what was acknowledged.
func (l *life) judge(t *testing.T, kills int) {
	t.Helper()
	p := l.start(t)
	url := p.address(t)
	listed := map[string]string{}
	for after := ""; ; {
		var page struct {
			Documents []struct{ ID, Content string }
			Next      string
		}
		status, answer, err := l.fetch(t.Context(), http.MethodGet, url+"/v1/documents?limit=500"+after)
		if err := errors.Join(err, json.Unmarshal(answer, &page)); err != nil || status != http.StatusOK {
			t.Fatalf("list: %d %v\n%s", status, err, answer)
		}
		for _, d := range page.Documents {
			listed[d.ID] = d.Content
		}
		if page.Next == "" {
			break
		}
		after = "&after=" + page.Next
	}
	missing, without, differing := 0, 0, 0
	for id, content := range l.acknowledged {
		switch got, ok := listed[id]; {
		case !ok:
			missing++
			t.Errorf("document %s was acknowledged and is not listed", id)
		case got != content:
			differing++
			t.Errorf("document %s was acknowledged as %s and is listed as %s", id, content, got)
		}
	}
	// Every listed document is read and made again, by as many clients as made them.
	ids := make(chan string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for id := range ids {
				without1, differing1 := l.look(t, url, id, listed[id])
				mu.Lock()
				without, differing = without+without1, differing+differing1
				mu.Unlock()
			}
		})
	}
	for id := range listed {
		ids <- id
	}
	close(ids)
	wg.Wait()
	for _, w := range l.wrong {
		t.Error(w)
	}
	if status, _, err := l.fetch(t.Context(), http.MethodGet, url+"/r/daily/latest.pdf"); err != nil || status != http.StatusOK {
		t.Errorf("latest: %d, %v", status, err)
	}
	l.clients.CloseIdleConnections()
	left, err := os.ReadDir(filepath.Join(l.dir, "data", "blobs", "tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("half-written files: %v, %v", left, err)
	}
	p.kill(t)
	l.audit(t, len(listed))
	if len(l.acknowledged) < 200 {
		t.Errorf("%d documents were acknowledged; 200 tell something", len(l.acknowledged))
	}
	// The line that soak runs are read by.
	_, _ = fmt.Fprintf(os.Stdout, "kills %d acknowledged %d missing %d listed-without-bytes %d differing %d\n",
		kills, len(l.acknowledged), missing, without, differing)
}

// look reads a listed document and has it made again. It counts, as 0 or more, the faults.
func (l *life) look(t *testing.T, url, id, content string) (without, differing int) {
	t.Helper()
	status, file, err := l.fetch(t.Context(), http.MethodGet, url+"/d/"+content+".pdf")
	if sum := sha256.Sum256(file); err != nil || status != http.StatusOK {
		without++
		t.Errorf("document %s is listed; its bytes: %d, %v", id, status, err)
	} else if hex.EncodeToString(sum[:]) != content {
		differing++
		t.Errorf("document %s: SHA-256 %x, want %s", id, sum, content)
	}
	var verdict struct{ Answer string }
	status, answer, err := l.fetch(t.Context(), http.MethodPost, url+"/v1/documents/"+id+"/verify")
	if err := errors.Join(err, json.Unmarshal(answer, &verdict)); err != nil || status != http.StatusOK || verdict.Answer != "identical" {
		differing++
		t.Errorf("document %s, made again: %d %v %s", id, status, err, answer)
	}
	return without, differing
}

// audit checks that the chain of the audit log is whole and has a line for each document and
// one for its filing.
func (l *life) audit(t *testing.T, documents int) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{File: filepath.Join(l.dir, "data", "state.db")})
	if err != nil {
		t.Fatal(err)
	}
	head, err := s.VerifyAudit(t.Context())
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if head.Lines != int64(2*documents) {
		t.Errorf("audit log: %d lines for %d documents", head.Lines, documents)
	}
}

func (l *life) fetch(ctx context.Context, method, url string) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	resp, err := l.clients.Do(r)
	if err != nil {
		return 0, nil, err
	}
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, errors.Join(err, resp.Body.Close())
}
