package path

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
)

// program is a running `quire serve`.
type program struct {
	cmd  *exec.Cmd
	log  *os.File
	addr string
}

var servingLine = regexp.MustCompile(`msg=serving url=http://([0-9.:]+)`)

const configuration = `listen: 127.0.0.1:0
data: state
templates: templates
reports:
  public: {template: invoice, public: true}
  private: {template: invoice}
`

// startQuire starts the program in a directory of its own, on a free port.
func startQuire(ctx context.Context, env harness.Env) (*program, error) {
	for name, text := range map[string][]byte{"quire.yaml": []byte(configuration), "templates/invoice/template.yaml": workload.Template} {
		path := filepath.Join(env.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
	}
	log, err := os.Create(filepath.Join(env.Dir, "log"))
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), env.Quire, "serve", "--config", "quire.yaml") //nolint:gosec // the program that the harness built
	cmd.Dir, cmd.Stdout, cmd.Stderr = env.Dir, log, log
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start quire: %w", errors.Join(err, log.Close()))
	}
	p := &program{cmd: cmd, log: log}
	if err := p.await(ctx); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// await reads the log until it names the address.
func (p *program) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		b, err := os.ReadFile(p.log.Name())
		if err != nil {
			return fmt.Errorf("read the server's log: %w", err)
		}
		if m := servingLine.FindSubmatch(b); m != nil {
			p.addr = string(m[1])
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("quire serve named no address: %s", b)
		case <-tick.C:
		}
	}
}

func (p *program) close() error {
	_ = p.cmd.Process.Signal(os.Interrupt)
	ended := make(chan struct{})
	go func() {
		_ = p.cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-ended
	}
	return p.log.Close()
}

// post sends JSON and reads the answer whole.
func post(ctx context.Context, c *http.Client, url string, body []byte) (http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, fmt.Errorf("request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("post: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("read answer: %w", err)
	}
	if res.StatusCode/100 != 2 {
		return nil, nil, fmt.Errorf("post %s: status %d: %.300s", url, res.StatusCode, b)
	}
	return res.Header, b, nil
}

// warm renders a few documents so that the server has its fonts and words.
func (p *program) warm(ctx context.Context, c *http.Client) error {
	for i := range warmDocuments {
		if _, _, err := post(ctx, c, "http://"+p.addr+"/v1/render", appendRequest(nil, -1-i)); err != nil {
			return fmt.Errorf("warm up: %w", err)
		}
	}
	return nil
}

func serveRender(ctx context.Context, env harness.Env) (harness.Served, error) {
	p, err := startQuire(ctx, env)
	if err != nil {
		return harness.Served{}, err
	}
	if err := p.warm(ctx, &http.Client{}); err != nil {
		return harness.Served{}, errors.Join(err, p.close())
	}
	return harness.Served{Addr: p.addr, PIDs: []int{p.cmd.Process.Pid}, Close: p.close}, nil
}

// servePeer puts a peer's maker behind net/http, as one would write it by hand.
func servePeer(produce maker) func(context.Context, harness.Env) (harness.Served, error) {
	return func(ctx context.Context, _ harness.Env) (harness.Served, error) {
		return serveHandler(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var request struct {
				Data json.RawMessage `json:"data"`
			}
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 10<<20))
			if err == nil {
				err = json.Unmarshal(body, &request)
			}
			in := input{data: request.Data}
			if err == nil {
				err = produce(r.Context(), &in)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = w.Write(in.out.Bytes())
		}))
	}
}

// serveHandler serves from this very process.
func serveHandler(ctx context.Context, h http.Handler) (harness.Served, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return harness.Served{}, fmt.Errorf("listen: %w", err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = srv.Serve(ln) }()
	return harness.Served{Addr: ln.Addr().String(), Close: srv.Close}, nil
}

// client waits for one page after another over one connection.
func client(ctx context.Context, env harness.Env) (harness.Subject, error) {
	p, err := startQuire(ctx, env)
	if err != nil {
		return nil, err
	}
	c := &http.Client{}
	if err := p.warm(ctx, c); err != nil {
		return nil, errors.Join(err, p.close())
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.addr)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("dial: %w", err), p.close())
	}
	r := bufio.NewReaderSize(conn, 64<<10)
	var out []byte
	end := func() error { return errors.Join(conn.Close(), p.close()) }
	s := documents(ctx, func(_ context.Context, in *input) error {
		// in.data is the data alone: the request around it is part of the work of a
		// client.
		out = append(out[:0], `{"template":"invoice","time":"`+workload.Time.Format(time.RFC3339)+`","data":`...)
		out = append(append(out, in.data...), '}')
		body := out
		if _, err := conn.Write(append(appendPost(nil, "/v1/render", len(body)), body...)); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		_, err = in.out.ReadFrom(res.Body)
		return errors.Join(err, res.Body.Close())
	}, end)
	return s, nil
}
