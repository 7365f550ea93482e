package path

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/load"
	"example.com/quire/bench/internal/nginx"
	"example.com/quire/bench/workload"
)

// storedDocuments is how many documents are asked for in turn.
const storedDocuments = 16

const hexSum = 2 * sha256.Size

// storedPlan asks for /d/{sha256}.pdf; the target is the hashes of all documents,
// one after the other.
func storedPlan() *load.Plan {
	at := func(target string, i int) string {
		k := i % storedDocuments
		return target[k*hexSum : (k+1)*hexSum]
	}
	return &load.Plan{
		Text: "GET /d/{content}.pdf over 16 connections", Conns: 16,
		Request: func(dst []byte, target string, i int) []byte {
			dst = append(append(dst, "GET /d/"...), at(target, i)...)
			return append(dst, ".pdf HTTP/1.1\r\nHost: localhost\r\n\r\n"...)
		},
		Check: func(_ int, a load.Answer) error { return looksLikePDF(a) },
		Deep: func(i int, a load.Answer) error {
			if err := looksLikePDF(a); err != nil {
				return err
			}
			if sum := sha256.Sum256(a.Body); hex.EncodeToString(sum[:]) != at(a.Target, i) {
				return errors.New("the body is not the document of that address")
			}
			return nil
		},
	}
}

// serveStored makes the documents once in a running program and has them read.
func serveStored(public bool) func(context.Context, harness.Env) (harness.Served, error) {
	return func(ctx context.Context, env harness.Env) (harness.Served, error) {
		p, err := startQuire(ctx, env)
		if err != nil {
			return harness.Served{}, err
		}
		report := "private"
		if public {
			report = "public"
		}
		var target strings.Builder
		var size int64
		c := &http.Client{}
		for i := range storedDocuments {
			request := append([]byte(`{"report":"`+report+`",`), appendRequest(nil, i)[1:]...)
			head, body, err := post(ctx, c, "http://"+p.addr+"/v1/documents", request)
			if err != nil {
				return harness.Served{}, errors.Join(err, p.close())
			}
			sum := strings.Trim(head.Get("ETag"), `"`)
			if len(sum) != hexSum {
				return harness.Served{}, errors.Join(fmt.Errorf("the entity tag %q is no SHA-256", sum), p.close())
			}
			target.WriteString(sum)
			size = int64(len(body))
			if public {
				if err := laned(ctx, c, "http://"+p.addr+"/d/"+sum+".pdf"); err != nil {
					return harness.Served{}, errors.Join(err, p.close())
				}
			}
		}
		return harness.Served{
			Addr: p.addr, Target: target.String(), PIDs: []int{p.cmd.Process.Pid},
			Facts: harness.Facts{OutputBytes: size}, Close: p.close,
		}, nil
	}
}

// laned asks for a public document twice: the second answer must be the frozen lane's, which has no
// request id.
func laned(ctx context.Context, c *http.Client, url string) error {
	var head http.Header
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return fmt.Errorf("request: %w", err)
		}
		res, err := c.Do(req)
		if err != nil {
			return fmt.Errorf("get: %w", err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		head = res.Header
	}
	if id := head.Get("X-Request-Id"); id != "" {
		return fmt.Errorf("%s is not answered by the frozen lane", url)
	}
	return nil
}

// finished makes the documents for those that only serve: address -> bytes.
func finished(ctx context.Context) (target string, files map[string][]byte, err error) {
	produce, err := quireMaker(ctx, false)
	if err != nil {
		return "", nil, err
	}
	files = map[string][]byte{}
	for i := range storedDocuments {
		in := input{data: workload.AppendData(nil, i)}
		if err := produce(ctx, &in); err != nil {
			return "", nil, err
		}
		sum := sha256.Sum256(in.out.Bytes())
		target += hex.EncodeToString(sum[:])
		files["/d/"+hex.EncodeToString(sum[:])+".pdf"] = in.out.Bytes()
	}
	return target, files, nil
}

// serveMemory is net/http with the documents in a map.
func serveMemory(ctx context.Context, _ harness.Env) (harness.Served, error) {
	target, files, err := finished(ctx)
	if err != nil {
		return harness.Served{}, err
	}
	s, err := serveHandler(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b)
	}))
	s.Target = target
	s.Facts.OutputBytes = int64(len(files["/d/"+target[:hexSum]+".pdf"]))
	return s, err
}

// serveNginx serves the documents as files.
func serveNginx(ctx context.Context, env harness.Env) (harness.Served, error) {
	target, files, err := finished(ctx)
	if err != nil {
		return harness.Served{}, err
	}
	s, err := nginx.Serve(ctx, env.Dir, files, "")
	s.Target = target
	s.Facts.OutputBytes = int64(len(files["/d/"+target[:hexSum]+".pdf"]))
	return s, err
}
