package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"example.com/quire/internal/judgetest"
	"example.com/quire/web"
	"example.com/quire/web/ws"
)

// autobahnCases are what `make test` runs: framing, pings, reserved bits, opcodes, fragments,
// text that is not UTF-8 and closing. Group 9 is about size, 10 about fragments made
// automatically, 12 and 13 about compression.
var autobahnCases = []string{"1.1.*", "1.2.*", "2.*", "3.*", "4.*", "5.*", "6.2.*", "7.*", "13.3.1", "13.7.1"}

// autobahnAll are all its cases, in the processes that run side by side. Those of 12 and 13 send a
// thousand messages and wait for each: that many processes do not wait for each other.
var autobahnAll = [][]string{
	{"1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "9.*", "10.*"},
	{"12.1.*"},
	{"12.2.*"},
	{"12.3.*"},
	{"12.4.*"},
	{"12.5.*"},
	{"13.1.*"},
	{"13.2.*"},
	{"13.3.*"},
	{"13.4.*"},
	{"13.5.*"},
	{"13.6.*"},
	{"13.7.*"},
}

// TestAutobahn has the fuzzing client of the Autobahn test suite judge the echo server. Outcomes
// other than OK, NON-STRICT (where the standard leaves a choice) and INFORMATIONAL are failures;
// so is a case that was not run.
func TestAutobahn(t *testing.T) {
	groups, least := [][]string{autobahnCases}, 100
	if everything() {
		groups, least = autobahnAll, 500
	}
	url := serve(t, echo(t, ws.Options{ReadLimit: 32 << 20, Compression: ws.NewCompression(1)}))
	python, suite := autobahn(t)
	if python == "none" {
		inPlaceOfAutobahn(t, url+"/echo")
		return
	}
	url = strings.Replace(url, "http", "ws", 1) + "/echo"
	var mu sync.Mutex
	var wg sync.WaitGroup
	var bad []string
	run, failed := 0, 0
	for i, cases := range groups {
		wg.Go(func() {
			results := runAutobahn(t, python, suite, url, cases, i)
			mu.Lock()
			defer mu.Unlock()
			for id, r := range results {
				run++
				if !r.passed() {
					bad = append(bad, id)
				}
			}
		})
	}
	wg.Wait()
	if len(bad) > 0 && len(bad) <= 20 {
		// A case has its time. On a busy machine, where all run at once, it is asked once more,
		// alone.
		results := runAutobahn(t, python, suite, url, bad, len(groups))
		bad = slices.DeleteFunc(bad, func(id string) bool { return results[id].passed() })
	}
	for _, id := range bad {
		failed++
		t.Errorf("%s failed", id)
	}
	if run < least {
		t.Errorf("%d cases were run, want at least %d", run, least)
	}
	report("autobahn %d run, %d failed", run, failed)
}

// TestAutobahnCanFail shows a server to the suite that answers with what it should not.
func TestAutobahnCanFail(t *testing.T) {
	python, suite := autobahn(t)
	if python == "none" {
		return // there is nothing that could fail; TestAutobahn says so
	}
	app := newApp(t)
	app.GET("/echo", func(c *web.Context) error {
		conn, err := ws.Upgrade(c, ws.Options{ReadLimit: 1 << 20})
		if err != nil {
			return err
		}
		for {
			_, b, err := conn.Read(c.Context())
			if err != nil {
				return err
			}
			if err := conn.Write(c.Context(), ws.Binary, append(b, '!')); err != nil {
				return err
			}
		}
	})
	results := runAutobahn(t, python, suite, strings.Replace(serve(t, app), "http", "ws", 1)+"/echo", []string{"1.1.1", "1.1.2"}, 0)
	if r := results["1.1.2"]; len(results) != 2 || r.Behavior != "FAILED" {
		t.Errorf("text that comes back as other bytes: %+v", results)
	}
}

type autobahnResult struct{ Behavior, BehaviorClose string }

func (r autobahnResult) passed() bool {
	good := []string{"OK", "NON-STRICT", "INFORMATIONAL"}
	return slices.Contains(good, r.Behavior) && slices.Contains(good, r.BehaviorClose)
}

// autobahn returns the Python 2.7 that the suite needs and where it is installed.
func autobahn(t *testing.T) (python, dir string) {
	t.Helper()
	file := judgetest.Tool(t, "autobahn", "ab/python")
	dir = filepath.Dir(file)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	python = strings.TrimSpace(string(b))
	if python == "none" && everything() {
		t.Fatal("autobahn: needs Python 2.7 or PyPy for it, and this machine offers none")
	}
	return python, dir
}

// runAutobahn runs cases and returns what became of each.
func runAutobahn(t *testing.T, python, suite, url string, cases []string, number int) map[string]autobahnResult {
	t.Helper()
	dir := filepath.Join(t.TempDir(), fmt.Sprint(number))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Error(err)
		return nil
	}
	spec, err := json.Marshal(map[string]any{
		"outdir":  filepath.Join(dir, "reports"),
		"servers": []any{map[string]any{"agent": "quire", "url": url, "options": map[string]any{"version": 18}}},
		"cases":   cases, "exclude-cases": []string{}, "exclude-agent-cases": map[string]any{},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "spec.json"), spec, 0o600)
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, python, filepath.Join(suite, "bin", "wstest"), "-m", "fuzzingclient", "-s", filepath.Join(dir, "spec.json")) //nolint:gosec // the judge that was installed
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONPATH="+suite)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("wstest: %v\n%s", err, tail(out))
		return nil
	}
	index, err := os.ReadFile(filepath.Join(dir, "reports", "index.json"))
	if err != nil {
		t.Errorf("wstest: %v\n%s", err, tail(out))
		return nil
	}
	var agents map[string]map[string]autobahnResult
	if err := json.Unmarshal(index, &agents); err != nil {
		t.Error(err)
	}
	return agents["quire"]
}

// inPlaceOfAutobahn has another client send messages around the borders of frame lengths, with
// and without compression, where the machine offers no Python that the suite runs on.
func inPlaceOfAutobahn(t *testing.T, url string) {
	t.Helper()
	run, failed := 0, 0
	for _, mode := range []websocket.CompressionMode{websocket.CompressionDisabled, websocket.CompressionNoContextTakeover, websocket.CompressionContextTakeover} {
		conn, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{CompressionMode: mode}) //nolint:bodyclose // there is none
		if err != nil {
			t.Fatal(err)
		}
		conn.SetReadLimit(1 << 20)
		for _, size := range []int{0, 1, 125, 126, 127, 128, 4096, 65535, 65536, 100_000} {
			for _, kind := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
				run++
				sent := bytes.Repeat([]byte("ab"), size)[:size]
				err := conn.Write(t.Context(), kind, sent)
				got, back, rerr := conn.Read(t.Context())
				if err := errors.Join(err, rerr); err != nil || got != kind || !bytes.Equal(back, sent) {
					failed++
					t.Errorf("%v of %d bytes: %v of %d, %v", kind, size, got, len(back), err)
				}
			}
		}
		if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
			t.Error(err)
		}
	}
	report("coder/websocket in place of autobahn, for which this machine has no Python 2.7: %d run, %d failed", run, failed)
}
