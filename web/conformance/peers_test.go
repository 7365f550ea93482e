package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/quire/internal/judgetest"
	"example.com/quire/web"
	"example.com/quire/web/ws"
)

// peers are clients and libraries of others in Python and JavaScript: the program that runs a
// script, by its extension.
func peers(t *testing.T) map[string]string {
	t.Helper()
	python := judgetest.Tool(t, "websockets, sseclient-py and PyJWT", "webpeers/py/bin/python")
	node := judgetest.Program(t, "node", judgetest.Install)
	return map[string]string{".py": python, ".cjs": node, ".mjs": node}
}

// ask runs a script of testdata and returns what it prints.
func ask(t *testing.T, script string, in []byte, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, peers(t)[filepath.Ext(script)], append([]string{filepath.Join("testdata", script)}, args...)...) //nolint:gosec // scripts of ours
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Dir(judgetest.Tool(t, "ws, eventsource and jose of npm", "webpeers/node_modules/jose")))
	cmd.Stdin = bytes.NewReader(in)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		return "", errors.Join(err, errors.New(string(tail(log.Bytes()))))
	}
	return strings.TrimSpace(out.String()), nil
}

// TestWebSocketClientsOfOthers: clients in Python and JavaScript get back what they send,
// compressed and not; an echo that changes one message is found out by each.
func TestWebSocketClientsOfOthers(t *testing.T) {
	for how, o := range map[string]ws.Options{"deflate": {Compression: &ws.Compression{}}, "plain": {}} {
		app := echo(t, o)
		app.GET("/wrong", func(c *web.Context) error {
			conn, err := ws.Upgrade(c, o)
			if err != nil {
				return err
			}
			for {
				kind, b, err := conn.Read(c.Context())
				if err != nil {
					return err
				}
				if err := conn.Write(c.Context(), kind, append(b, 'x')); err != nil {
					return err
				}
			}
		})
		url := "ws" + strings.TrimPrefix(serve(t, app), "http")
		for _, script := range []string{"ws_peer.py", "ws_peer.cjs"} {
			t.Run(how+"/"+script, func(t *testing.T) {
				if _, err := ask(t, script, nil, url+"/wrong", how); err == nil {
					t.Error("it takes a wrong echo for a right one")
				}
				if _, err := ask(t, script, nil, url+"/echo", how); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestEventClientsOfOthers: clients in Python and JavaScript come back with Last-Event-ID when a
// stream ends, and miss nothing.
func TestEventClientsOfOthers(t *testing.T) {
	all := []web.Event{{ID: "1", Name: "stock", Data: "one\ntwo"}, {ID: "2", Name: "stock", Data: "é"}, {ID: "3", Name: "stock", Data: " three"}, {ID: "4", Name: "stock", Data: "{}"}}
	app := newApp(t)
	app.GET("/events", func(c *web.Context) error {
		s, err := c.SSE(web.SSEOptions{Retry: 10 * time.Millisecond})
		if err != nil {
			return err
		}
		part := all[:2]
		if s.LastEventID() == "2" {
			part = all[2:]
		}
		for _, e := range part {
			if err := s.Send(e); err != nil {
				return err
			}
		}
		return nil
	})
	url := serve(t, app) + "/events"
	var want [][]string
	for _, e := range all {
		want = append(want, []string{e.ID, e.Name, e.Data})
	}
	for _, script := range []string{"sse_peer.py", "sse_peer.mjs"} {
		t.Run(script, func(t *testing.T) {
			out, err := ask(t, script, nil, url)
			if err != nil {
				t.Fatal(err)
			}
			var got [][]string
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if a, b := mustJSON(t, got), mustJSON(t, want); a != b {
				t.Errorf("got %s, want %s", a, b)
			}
		})
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
