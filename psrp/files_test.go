package psrp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
)

// fileHost does in Go what the scripts of Upload and Download do in PowerShell, below dir. Its
// spoil, when it is set, may change what is about to be done.
type fileHost struct {
	dir   string
	spoil func(script string, c *Call) error
	ran   atomic.Int32 // scripts
}

func (h *fileHost) run(_ context.Context, text string, args []Arg, c *Call) error {
	h.ran.Add(1)
	p := map[string]clixml.Value{}
	for _, a := range args {
		p[a.Name] = a.Value
	}
	path := func(name string) string {
		text, _ := p[name].Text()
		if !filepath.IsAbs(text) {
			text = filepath.Join(h.dir, text)
		}
		return text
	}
	number := func(name string) int64 { n, _ := p[name].Int(); return n }
	yes := func(name string) bool { b, _ := p[name].Bool(); return b }
	files, err := fileScripts.ReadDir("scripts")
	if err != nil {
		return err
	}
	for _, f := range files {
		script, err := fileScripts.ReadFile("scripts/" + f.Name())
		if err != nil {
			return err
		}
		if string(script) != text {
			continue
		}
		if h.spoil != nil {
			if err := h.spoil(f.Name(), c); err != nil {
				return err
			}
		}
		switch f.Name() {
		case "find.ps1":
			return find(c, path("Path"), yes("WithHash"))
		case "append.ps1":
			return appendTo(c, path("Path"), number("Offset"))
		case "rename.ps1":
			found, err := sumOf(path("From"))
			if want, _ := p["Hash"].Text(); err == nil && strings.EqualFold(found, want) {
				if _, err := os.Lstat(path("To")); err == nil && !yes("Overwrite") {
					return fs.ErrExist
				}
				err = os.Rename(path("From"), path("To"))
			}
			return errors.Join(err, c.Output(found))
		case "read.ps1":
			return readFrom(c, path("Path"), number("Offset"), number("Count"), number("BlockSize"))
		case "remove.ps1":
			return os.Remove(path("Path"))
		}
	}
	return fmt.Errorf("no such script: %s", text)
}

func find(c *Call, path string, withHash bool) error {
	found := foundFile{Path: path}
	if info, err := os.Stat(path); err == nil {
		found.Exists, found.IsDirectory = info.Mode().IsRegular(), info.IsDir()
		found.Size = info.Size()
	}
	if found.Exists && withHash {
		var err error
		if found.Hash, err = sumOf(path); err != nil {
			return err
		}
	}
	return c.Output(found)
}

func sumOf(path string) (string, error) {
	b, err := os.ReadFile(path)
	sum := sha256.Sum256(b)
	return strings.ToUpper(hex.EncodeToString(sum[:])), err
}

func appendTo(c *Call, path string, offset int64) (err error) {
	mode := os.O_WRONLY
	if offset == 0 {
		mode |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(path, mode, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if end, err := f.Seek(0, io.SeekEnd); err != nil || end != offset {
		return fmt.Errorf("it has %d bytes, not %d: %w", end, offset, err)
	}
	for block, err := range Input[[]byte](c) {
		if err != nil {
			return err
		}
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	size, err := f.Seek(0, io.SeekEnd)
	return errors.Join(err, c.Output(size))
}

func readFrom(c *Call, path string, offset, count, size int64) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	part := io.NewSectionReader(f, offset, count)
	for {
		block := make([]byte, size)
		n, err := io.ReadFull(part, block)
		if n > 0 {
			if err := c.Output(block[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// start serves the host's files to one session.
func (h *fileHost) start(t *testing.T) *Session {
	t.Helper()
	h.dir = t.TempDir()
	return startServer(t, &Server{Registry: &Registry{}, Scripts: h.run}, Options{Limits: Limits{FilePart: 3 * fileBlock}})
}

// files are the names in the host's directory.
func (h *fileHost) files(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// noise is so many bytes that do not repeat.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b) // never fails
	return b
}

func TestFilesOfEverySizeAreCopiedBothWays(t *testing.T) {
	h := &fileHost{}
	s := h.start(t)
	for _, size := range []int{0, 1, fileBlock - 1, fileBlock, fileBlock + 1, 3 * fileBlock, 3*fileBlock + 1, 200_000} {
		data, name := noise(size), fmt.Sprint(size)
		sum := sha256.Sum256(data)
		var told int64
		check := func(what string, got CopyResult, err error) {
			t.Helper()
			if want := (CopyResult{Path: filepath.Join(h.dir, name), Size: int64(size), SHA256: sum}); err != nil || got != want {
				t.Fatalf("%s of %d bytes: %+v, %v, want %+v", what, size, got, err, want)
			}
			if told != int64(size) {
				t.Errorf("%s of %d bytes: progress ends at %d", what, size, told)
			}
		}
		up, err := s.Upload(t.Context(), name, iotest.OneByteReader(bytes.NewReader(data[:min(size, 100)])), CopyOptions{})
		if size <= 100 {
			told = int64(size)
			check("upload byte by byte", up, err)
		}
		told = 0
		up, err = s.Upload(t.Context(), name, bytes.NewReader(data), CopyOptions{Overwrite: true, Progress: func(done, total int64) {
			if done <= told || total != -1 {
				t.Errorf("progress %d of %d after %d", done, total, told)
			}
			told = done
		}})
		check("upload", up, err)
		if stored, err := os.ReadFile(filepath.Join(h.dir, name)); err != nil || !bytes.Equal(stored, data) {
			t.Errorf("the host has %d bytes, %v", len(stored), err)
		}
		told = 0
		var back bytes.Buffer
		down, err := s.Download(t.Context(), &back, name, CopyOptions{Progress: func(done, total int64) {
			if done <= told || total != int64(size) {
				t.Errorf("progress %d of %d after %d", done, total, told)
			}
			told = done
		}})
		check("download", down, err)
		if !bytes.Equal(back.Bytes(), data) {
			t.Errorf("%d bytes came back of %d", back.Len(), size)
		}
	}
	if got := h.files(t); len(got) != 8 {
		t.Errorf("the host has %q", got)
	}
}

func TestUploadReplacesAFileOnlyWhenAsked(t *testing.T) {
	h := &fileHost{}
	s := h.start(t)
	if err := os.WriteFile(filepath.Join(h.dir, "a"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(h.dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Upload(t.Context(), "a", strings.NewReader("new"), CopyOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	for _, name := range []string{"d", "nothing"} {
		if _, err := s.Download(t.Context(), io.Discard, name, CopyOptions{}); !errors.Is(err, map[string]error{"d": errDirectory, "nothing": fs.ErrNotExist}[name]) {
			t.Errorf("download of %s: %v", name, err)
		}
	}
	if _, err := s.Upload(t.Context(), "d", strings.NewReader("new"), CopyOptions{Overwrite: true}); !errors.Is(err, errDirectory) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Upload(t.Context(), "a", strings.NewReader("new"), CopyOptions{Overwrite: true}); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(h.dir, "a")); string(b) != "new" || err != nil {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if got := h.files(t); len(got) != 2 {
		t.Errorf("the host has %q", got)
	}
}

// TestFilesWithLongNamesAreUploaded: the partial file lies in the same folder, and its name is not
// longer than that of the file.
func TestFilesWithLongNamesAreUploaded(t *testing.T) {
	h := &fileHost{}
	s := h.start(t)
	for _, name := range []string{strings.Repeat("x", 255), strings.Repeat("x", 127) + `\` + strings.Repeat("x", 127)} {
		if filepath.Separator == '\\' && strings.Contains(name, `\`) {
			continue
		}
		if _, err := s.Upload(t.Context(), name, strings.NewReader("new"), CopyOptions{}); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(filepath.Join(h.dir, name)); string(b) != "new" || err != nil {
			t.Errorf("the file holds %q, %v", b, err)
		}
	}
	for path, want := range map[string]string{
		`C:\a\b.txt`: `C:\a\`, `\\server\share\b.txt`: `\\server\share\`, `C:/a/b.txt`: `C:/a/`, "/a/b.txt": "/a/", `/a/b\c`: "/a/", "/b": "/",
	} {
		if got := folderOf(path); got != want {
			t.Errorf("the folder of %s is %s, want %s", path, got, want)
		}
	}
}

// TestCopyThatFailsLeavesNothingUnderTheName has every step fail in turn: the error says why, no
// partial file stays, and the session goes on.
func TestCopyThatFailsLeavesNothingUnderTheName(t *testing.T) {
	refuse := func(at string) func(string, *Call) error {
		return func(script string, _ *Call) error {
			if script == at {
				return proto.NewErrorRecord("Refused", proto.PermissionDenied, "not this")
			}
			return nil
		}
	}
	damage := func(h *fileHost, at string) func(string, *Call) error {
		return func(script string, _ *Call) error {
			if script != at {
				return nil
			}
			for _, name := range h.files(t) {
				f, err := os.OpenFile(filepath.Join(h.dir, name), os.O_RDWR, 0)
				if err != nil {
					return err
				}
				_, err = f.WriteAt([]byte("X"), 1000)
				if err := errors.Join(err, f.Close()); err != nil {
					return err
				}
			}
			return nil
		}
	}
	broken := errors.New("broken")
	refused := func(err error) bool {
		e, ok := errors.AsType[*PipelineError](err)
		return ok && e.State == proto.PipelineFailed && e.Record.FullyQualifiedErrorID == "Refused"
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	for _, tt := range []struct {
		name  string
		spoil func(h *fileHost) func(string, *Call) error
		from  io.Reader
		want  func(error) bool
	}{
		{"find", func(*fileHost) func(string, *Call) error { return refuse("find.ps1") }, nil, refused},
		{"append", func(*fileHost) func(string, *Call) error { return refuse("append.ps1") }, nil, refused},
		{"rename", func(*fileHost) func(string, *Call) error { return refuse("rename.ps1") }, nil, refused},
		{"another content", func(h *fileHost) func(string, *Call) error { return damage(h, "rename.ps1") }, nil, is(ErrWrongCopy)},
		{"a source that breaks", nil, io.MultiReader(bytes.NewReader(noise(100<<10)), iotest.ErrReader(broken)), is(broken)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &fileHost{}
			s := h.start(t)
			if tt.spoil != nil {
				h.spoil = tt.spoil(h)
			}
			from := tt.from
			if from == nil {
				from = bytes.NewReader(noise(200_000))
			}
			if _, err := s.Upload(t.Context(), "a", from, CopyOptions{}); !tt.want(err) {
				t.Errorf("error %v (%T)", err, err)
			}
			if got := h.files(t); len(got) != 0 {
				t.Errorf("the host has %q", got)
			}
			h.spoil = nil
			if _, err := s.Upload(t.Context(), "a", strings.NewReader("a"), CopyOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("a file that changes while it is read", func(t *testing.T) {
		h := &fileHost{}
		s := h.start(t)
		if err := os.WriteFile(filepath.Join(h.dir, "a"), noise(200_000), 0o600); err != nil {
			t.Fatal(err)
		}
		h.spoil = damage(h, "read.ps1") // after the host has read it for its SHA-256
		if _, err := s.Download(t.Context(), io.Discard, "a", CopyOptions{}); !errors.Is(err, ErrWrongCopy) {
			t.Errorf("error %v", err)
		}
		h.spoil = func(script string, c *Call) error {
			if script == "read.ps1" {
				return c.Output(noise(100_000))
			}
			return nil
		}
		if _, err := s.Download(t.Context(), io.Discard, "a", CopyOptions{}); !errors.Is(err, ErrWrongCopy) {
			t.Errorf("error %v", err)
		}
		h.spoil = nil
		if _, err := s.Download(t.Context(), fullWriter{}, "a", CopyOptions{}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("error %v", err)
		}
	})
}

// fullWriter takes nothing.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestCancelledUploadIsStoppedAndRemoved(t *testing.T) {
	h := &fileHost{}
	s := h.start(t)
	for blocks := range int64(7) { // the third and the sixth are the last ones of their part
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Upload(ctx, "a", rand.NewChaCha8([32]byte{}), CopyOptions{Progress: func(done, _ int64) {
			if done == (blocks+1)*fileBlock {
				cancel()
			}
		}})
		if e, ok := errors.AsType[*PipelineError](err); !ok || e.State != proto.PipelineStopped || !errors.Is(err, context.Canceled) {
			t.Errorf("after %d blocks: error %v", blocks+1, err)
		}
		if got := h.files(t); len(got) != 0 {
			t.Errorf("after %d blocks: the host has %q", blocks+1, got)
		}
	}
}

// largestSend is a transport that remembers its largest payload.
type largestSend struct {
	Transport
	largest atomic.Int64
}

func (l *largestSend) Send(ctx context.Context, p proto.Packet) error {
	l.largest.Store(max(l.largest.Load(), int64(len(p.Data))))
	return l.Transport.Send(ctx, p)
}

func TestUploadFillsThePayloadsThatTheTransportTakes(t *testing.T) {
	for _, payload := range []int{32 << 10, 256 << 10} {
		h := &fileHost{dir: t.TempDir()}
		a, b := net.Pipe()
		served := make(chan error, 1)
		go func() {
			srv := &Server{Registry: &Registry{}, Scripts: h.run}
			served <- srv.Serve(context.Background(), oop.NewConn(b, oop.Server, oop.Options{Confidential: true}), Identity{})
		}()
		l := &largestSend{Transport: oop.NewConn(a, oop.Client, oop.Options{Confidential: true, MaxPayload: payload})}
		s, err := Open(t.Context(), l, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Upload(t.Context(), "a", bytes.NewReader(noise(1<<20)), CopyOptions{}); err != nil {
			t.Error(err)
		}
		if n := int(l.largest.Load()); n > payload || n < payload-payload/32 {
			t.Errorf("the largest payload has %d bytes of %d", n, payload)
		}
		if err := errors.Join(s.Close(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	}
}
