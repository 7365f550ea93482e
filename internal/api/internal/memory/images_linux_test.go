//go:build !race

package memory_test

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/internal/api"
	"example.com/quire/internal/record"
	"example.com/quire/internal/render"
	"example.com/quire/web"
)

// asServer in the environment makes the test binary a server.
const asServer = "MEMORY_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		fmt.Fprintln(os.Stderr, serve(context.Background(), os.Stderr))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serve answers what the program answers, by its engine and within its limits, with one template
// and nothing that is kept. It writes its address to out.
func serve(ctx context.Context, out io.Writer) error {
	engine, err := render.New(render.Config{})
	if err != nil {
		return err
	}
	photo, err := record.NewTemplate("photo", "template.yaml", map[string][]byte{"template.yaml": []byte(photoTemplate)})
	if err != nil {
		return err
	}
	maker, err := record.NewMaker(record.Parts{Engine: engine, Blobs: nothing{}, Documents: nothing{}, Templates: one{photo}, Now: time.Now})
	if err != nil {
		return err
	}
	access, err := api.NewAccess(nil)
	if err != nil {
		return err
	}
	routes, err := api.New(api.Options{
		Maker: maker, Library: nothing{}, Blobs: nothing{}, Reports: nothing{}, Access: access, Overloaded: engine.Overloaded,
	})
	if err != nil {
		return err
	}
	app, err := web.New(web.Options{Problem: api.Problem})
	if err != nil {
		return err
	}
	app.Use(access.Identify)
	routes.Register(app.Group(""))
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "http://"+ln.Addr().String()); err != nil {
		return err
	}
	return (&web.Server{App: app}).Serve(ctx, ln)
}

// nothing keeps no documents, and is asked for none.
type nothing struct {
	record.Documents
	record.Blobs
	api.Library
}

func (nothing) Document(context.Context, record.Space, record.Hash) (*record.Document, error) {
	return nil, record.ErrNotFound
}

func (nothing) Report(context.Context, record.Space, string) (*record.Report, error) {
	return nil, record.ErrNotFound
}

func (nothing) Receipt(context.Context, record.Space, record.Hash) ([]byte, error) {
	return nil, record.ErrNotFound
}

// one is the one template that there is.
type one struct{ template *record.Template }

func (o one) Template(context.Context, record.Space, string) (*record.Template, error) {
	return o.template, nil
}

const photoTemplate = `quire: 1
name: photo
lang: en
title: Photo
data: {photo: image}
body:
  - {image: "${photo}", alt: A photo, width: 100mm}
`

// TestLargeImagesKeepToTheMemory posts ten images of 7000 x 7000 pixels with 16 bits and opacity
// at once, 392 MB of samples each in files of half a megabyte. Each answer is a document or says
// which limit was passed, and the server's memory stays small and is given back.
func TestLargeImagesKeepToTheMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes 4 GB of samples: run without -short")
	}
	// The race detector takes memory and time of its own: this file is built without it.
	server, url := start(t)

	photo := deepPNG(7000)
	if len(photo) > 600<<10 {
		t.Fatalf("the image has %d bytes", len(photo))
	}
	peak := make(chan int)
	done := make(chan struct{})
	go func() {
		most := 0
		for {
			select {
			case <-done:
				peak <- most
				return
			case <-time.After(20 * time.Millisecond):
				most = max(most, residentMiB(server.Pid))
			}
		}
	}()
	var wg sync.WaitGroup
	answers := make([]string, 10)
	for i := range answers {
		wg.Go(func() { answers[i] = post(t, url, distinct(photo, i)) })
	}
	wg.Wait()
	close(done)
	most := <-peak
	made := 0
	for _, a := range answers {
		switch a {
		case "document":
			made++
		case "limit", "timeout":
		default:
			t.Errorf("answer %q, want a document or a limit", a)
		}
	}
	// On a busy machine all ten may run out of time; one alone does not.
	for try := 0; made == 0; try++ {
		if try == 5 {
			t.Fatalf("answers %q, and no document afterwards", answers)
		}
		if post(t, url, distinct(photo, 10)) == "document" {
			made++
		}
	}
	if most == 0 || most > 512 {
		t.Errorf("the server took %d MiB, want at most 512", most)
	}
	rest := residentMiB(server.Pid)
	for deadline := time.Now().Add(20 * time.Second); rest >= 200 && time.Now().Before(deadline); rest = residentMiB(server.Pid) {
		<-time.After(100 * time.Millisecond)
	}
	if rest >= 200 {
		t.Errorf("the server keeps %d MiB, want less than 200", rest)
	}
	t.Logf("%d documents; %d MiB at most, %d MiB afterwards", made, most, rest)
}

// start starts a server, which ends with the test: this test binary, or the whole program that
// QUIRE_PROGRAM names (`make soak-images`).
func start(t *testing.T) (*os.Process, string) {
	t.Helper()
	name, args := os.Args[0], []string(nil)
	if program := os.Getenv("QUIRE_PROGRAM"); program != "" {
		name, args = program, []string{"serve"}
	}
	cmd := exec.CommandContext(t.Context(), name, args...) //nolint:gosec // G204: this program, or that of who runs the test
	// What configures a server outside of the test is none of this one's.
	environment := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "QUIRE_") })
	cmd.Dir, cmd.Env = t.TempDir(), append(environment, asServer+"=1")
	for file, text := range map[string]string{
		"quire.yaml": "listen: 127.0.0.1:0\ndata: data\ntemplates: templates\n", "templates/photo.yaml": photoTemplate,
	} {
		file = filepath.Join(cmd.Dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for said := ""; lines.Scan(); said += lines.Text() + "\n" {
		if url := address.FindString(lines.Text()); url != "" {
			go func() { _, _ = io.Copy(io.Discard, out) }() // it ends with the server
			return cmd.Process, url
		}
		if len(said) > 1<<16 {
			t.Fatalf("the server does not start: %s", said)
		}
	}
	t.Fatal("the server ended")
	return nil, ""
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`)

// post asks for a document with a photo; it returns "document", or the type of the problem.
func post(t *testing.T, url string, photo []byte) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"template": "photo", "data": map[string]string{"photo": base64.StdEncoding.EncodeToString(photo)},
	})
	if err != nil {
		return err.Error()
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/render", bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := new(http.Client).Do(req)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	if res.StatusCode == http.StatusOK && bytes.HasPrefix(answer, []byte("%PDF-")) {
		return "document"
	}
	var problem struct {
		Type   string `json:"type"`
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(answer, &problem); err != nil {
		return fmt.Sprintf("%d %s", res.StatusCode, answer)
	}
	kind := problem.Type[strings.LastIndexAny(problem.Type, "/#:")+1:]
	if kind != "limit" && kind != "timeout" {
		return fmt.Sprintf("%d %s: %s", res.StatusCode, kind, problem.Detail)
	}
	return kind
}

// residentMiB is the memory of a process that is in use, 0 when it is gone.
func residentMiB(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	number := strings.Fields(rest)
	if len(number) == 0 {
		return 0
	}
	kib, _ := strconv.Atoi(number[0])
	return kib >> 10
}

// deepPNG is an RGBA image with 16 bits a sample whose file is small.
func deepPNG(side int) []byte {
	var data bytes.Buffer
	zw := zlib.NewWriter(&data)
	row := make([]byte, 1+8*side)
	for y := range side {
		if y%100 == 0 {
			for i := range row[1:] {
				row[1+i] = byte(i/16384 + y)
			}
		}
		_, _ = zw.Write(row) // to memory
	}
	_ = zw.Close()
	head := binary.BigEndian.AppendUint32(nil, uint32(side)) //nolint:gosec // small
	head = binary.BigEndian.AppendUint32(head, uint32(side)) //nolint:gosec // small
	out := pngChunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", append(head, 16, 6, 0, 0, 0))
	return pngChunk(pngChunk(out, "IDAT", data.Bytes()), "IEND", nil)
}

func pngChunk(to []byte, kind string, body []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(body))) //nolint:gosec // small
	from := len(to)
	to = append(append(to, kind...), body...)
	return binary.BigEndian.AppendUint32(to, crc32.ChecksumIEEE(to[from:]))
}

// distinct is the same image as another file.
func distinct(photo []byte, i int) []byte {
	end := len(photo) - 12
	return append(pngChunk(bytes.Clone(photo[:end]), "tEXt", fmt.Appendf(nil, "Number\x00%d", i)), photo[end:]...)
}
