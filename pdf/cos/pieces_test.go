package cos_test

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
)

const kib = 1 << 10

// lengths are of streams around what is written in one piece, and of longer ones.
func lengths(rng *rand.Rand) (list []int) {
	for range 6 {
		around := []int{16, 32, 64, 256, 512, 900}[rng.IntN(6)] * kib
		list = append(list, rng.IntN(300), around-rng.IntN(100), around+rng.IntN(100))
	}
	return list
}

// TestLongStreams: however the data of a stream comes, the file is the same, and what is hashed are
// the bytes that were written, in their order.
func TestLongStreams(t *testing.T) {
	data := make([]byte, kib*kib)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	for i := range data { // letters, for the cipher
		data[i] = 'a' + data[i]%26
	}
	for name, o := range map[string]cos.Options{
		"plain": {}, "classic": {Version: cos.V14}, "encrypted": {Encrypt: &cos.Encryption{Cipher: shout{}}},
	} {
		write := func(put func(w *cos.Writer, dict cos.Dict, b []byte) error) []byte {
			rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
			var out bytes.Buffer
			w := cos.NewWriter(&out, o)
			root := w.Reserve()
			_ = w.Put(root, cos.Dict{})
			for _, n := range lengths(rng) {
				at := rng.IntN(len(data) - n)
				if err := put(w, cos.Dict{cos.E("N", cos.Int(n))}, data[at:at+n]); err != nil {
					t.Fatal(err)
				}
				if rng.IntN(3) == 0 {
					_ = w.Put(w.Reserve(), cos.Int(n))
				}
				if rng.IntN(9) == 0 {
					_ = w.PutDirect(w.Reserve(), cos.Int(n))
				}
			}
			sum, err := w.Close(cos.Trailer{Root: root})
			if err != nil {
				t.Fatal(err)
			}
			if sum.SHA256 != sha256.Sum256(out.Bytes()) || sum.Size != int64(out.Len()) {
				t.Errorf("%s: the summary is of other bytes", name)
			}
			file := out.Bytes()
			tail := file[bytes.LastIndex(file, []byte("startxref\n"))+len("startxref\n"):]
			start, err := strconv.Atoi(string(tail[:bytes.IndexByte(tail, '\n')]))
			if err != nil {
				t.Fatal(err)
			}
			if id := sha256.Sum256(file[:start]); !bytes.Equal(id[:16], sum.ID[:]) {
				t.Errorf("%s: the identifier is not of the bytes before the cross-reference data", name)
			}
			return file
		}
		file := write(func(w *cos.Writer, dict cos.Dict, b []byte) error { return w.EncodedStream(w.Reserve(), dict, "", b) })
		if !bytes.Equal(file, write(func(w *cos.Writer, dict cos.Dict, b []byte) error { return w.CopyStream(w.Reserve(), dict, b) })) {
			t.Errorf("%s: streams that are copied are others", name)
		}
		for kind, reader := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "half": iotest.HalfReader, "with its end": iotest.DataErrReader,
		} {
			if !bytes.Equal(file, write(func(w *cos.Writer, dict cos.Dict, b []byte) error {
				return w.CopyStreamFrom(w.Reserve(), dict, reader(bytes.NewReader(b)), int64(len(b)))
			})) {
				t.Errorf("%s: streams that are read %s are others", name, kind)
			}
		}
	}
}

// TestLongStreamsOfSignedFiles: the digest of another function is of the same bytes.
func TestLongStreamsOfSignedFiles(t *testing.T) {
	const room = 8
	var out bytes.Buffer
	var digest []byte
	w := cos.NewWriter(&out, cos.Options{Signature: &cos.Signature{Hash: crypto.SHA512, Room: room, Sign: func(d []byte) ([]byte, error) {
		digest = bytes.Clone(d)
		return make([]byte, room), nil
	}}})
	root, signature := w.Reserve(), w.Reserve()
	_ = w.Put(root, cos.Dict{})
	_ = w.PutSignature(signature, cos.Dict{})
	for i := range 5 {
		_ = w.EncodedStream(w.Reserve(), nil, "", bytes.Repeat([]byte{byte(i)}, 700*kib))
	}
	sum, err := w.Close(cos.Trailer{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	file := out.Bytes()
	i := bytes.LastIndex(file, []byte("/Contents <"))
	if i < 0 {
		i = bytes.LastIndex(file, []byte("/Contents<"))
	}
	from := i + bytes.IndexByte(file[i:], '<')
	if want := sha512.Sum512(append(bytes.Clone(file[:from]), file[from+2+2*room:]...)); !bytes.Equal(digest, want[:]) {
		t.Error("what is signed are not the bytes of the file")
	}
	if sum.SHA256 != sha256.Sum256(file) {
		t.Error("the summary is of other bytes")
	}
}

// fewBytes is a writer that fails behind some bytes.
type fewBytes int

func (n *fewBytes) Write(p []byte) (int, error) {
	if *n -= fewBytes(len(p)); *n < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(p), nil
}

// panicking is a writer that panics.
type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("abandoned") }

// TestStreamsAreEncryptedAhead: the file is the same for one processor and for several.
func TestStreamsAreEncryptedAhead(t *testing.T) {
	data := make([]byte, 5*kib*kib)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(data)
	for i := range data { // letters, for the cipher
		data[i] = 'a' + data[i]%26
	}
	write := func(procs int) []byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		rng := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a test
		var out bytes.Buffer
		w := cos.NewWriter(&out, cos.Options{Encrypt: &cos.Encryption{Cipher: shout{}}})
		root := w.Reserve()
		_ = w.Put(root, cos.Dict{})
		sizes := append(lengths(rng), 4*kib*kib, 4*kib*kib+1, 1, 5*kib*kib)
		rng.Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
		for _, n := range sizes {
			own := bytes.Clone(data[len(data)-n:])
			if err := w.CopyStreamFrom(w.Reserve(), nil, bytes.NewReader(own), int64(n)); err != nil {
				t.Fatal(err)
			}
			clear(own) // it is not read any more
			if rng.IntN(2) == 0 {
				_ = w.PutDirect(w.Reserve(), cos.Int(n))
			}
		}
		sum, err := w.Close(cos.Trailer{Root: root})
		if err != nil || sum.Size != int64(out.Len()) || sum.SHA256 != sha256.Sum256(out.Bytes()) {
			t.Fatalf("%d processors: %d bytes, %v", procs, sum.Size, err)
		}
		return out.Bytes()
	}
	one := write(1)
	for procs := 2; procs <= 5; procs++ {
		if !bytes.Equal(write(procs), one) {
			t.Errorf("%d processors: the file is another one", procs)
		}
	}
}

// TestChecksums: identifiers that are made of checksums depend on every byte of a file, and not on
// how it is written.
func TestChecksums(t *testing.T) {
	data := make([]byte, 700*kib)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(data)
	write := func(o cos.Options, at int, put func(w *cos.Writer, b []byte) error) (cos.Summary, []byte) {
		own := bytes.Clone(data)
		own[at]++
		var out bytes.Buffer
		o.Checksum = true
		w := cos.NewWriter(&out, o)
		root := w.Reserve()
		_ = w.Put(root, cos.Dict{})
		if err := put(w, own); err != nil {
			t.Fatal(err)
		}
		sum, err := w.Close(cos.Trailer{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		return sum, out.Bytes()
	}
	whole := func(w *cos.Writer, b []byte) error { return w.EncodedStream(w.Reserve(), nil, "", b) }
	read := func(w *cos.Writer, b []byte) error {
		return w.CopyStreamFrom(w.Reserve(), nil, iotest.HalfReader(bytes.NewReader(b)), int64(len(b)))
	}
	seen := map[[16]byte]int{}
	for at := 0; at < len(data); at += 20_011 {
		sum, file := write(cos.Options{}, at, whole)
		if before, twice := seen[sum.ID]; twice {
			t.Errorf("files that differ at %d and %d have one identifier", before, at)
		}
		seen[sum.ID] = at
		if sum.SHA256 != [sha256.Size]byte{} {
			t.Error("the SHA-256 of the file is told, but nobody made it")
		}
		if again, copied := write(cos.Options{}, at, read); again.ID != sum.ID || !bytes.Equal(file, copied) {
			t.Error("a stream that is read gives another file")
		}
	}
	const room = 8
	sign := &cos.Signature{Hash: crypto.SHA256, Room: room, Sign: func([]byte) ([]byte, error) { return make([]byte, room), nil }}
	sum, file := write(cos.Options{Signature: sign}, 0, func(w *cos.Writer, b []byte) error {
		return errors.Join(w.PutSignature(w.Reserve(), cos.Dict{}), whole(w, b))
	})
	if sum.SHA256 != sha256.Sum256(file) {
		t.Error("the SHA-256 of a signed file is not told")
	}
}

// TestNoGoroutineIsLeft: whatever ends a writer of long streams, or if nothing does.
func TestNoGoroutineIsLeft(t *testing.T) {
	t.Run("plain", func(t *testing.T) { leavesNoGoroutine(t, cos.Options{}) })
	t.Run("encrypted", func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		leavesNoGoroutine(t, cos.Options{Encrypt: &cos.Encryption{Cipher: shout{}}})
	})
}

func leavesNoGoroutine(t *testing.T, o cos.Options) {
	t.Helper()
	data := make([]byte, 3*kib*kib)
	begun := func(w *cos.Writer) error { return w.EncodedStream(w.Reserve(), nil, "", data) }
	long := func(w *cos.Writer) error { return errors.Join(begun(w), begun(w), w.Flush()) }
	for name, f := range map[string]func(w *cos.Writer) error{
		"closed": func(w *cos.Writer) error {
			root := w.Reserve()
			_ = w.Put(root, cos.Dict{})
			err := long(w)
			_, fault := w.Close(cos.Trailer{Root: root})
			return errors.Join(err, fault)
		},
		"given up": begun,
		"reset": func(w *cos.Writer) error {
			err := begun(w)
			w.Reset(io.Discard, o)
			return err
		},
		"failed": func(w *cos.Writer) error {
			n := fewBytes(kib * kib)
			if w.Reset(&n, o); long(w) == nil || w.Err() == nil {
				return errors.New("no error")
			}
			return nil
		},
		"panicked": func(w *cos.Writer) error {
			w.Reset(panicking{}, o)
			func() {
				defer func() { _ = recover() }()
				_ = long(w)
			}()
			n := fewBytes(2 * kib * kib) // and once more, as a new one
			if w.Reset(&n, o); long(w) == nil {
				return errors.New("no error")
			}
			return nil
		},
		"out of data": func(w *cos.Writer) error {
			err := w.CopyStreamFrom(w.Reserve(), nil, bytes.NewReader(data), int64(len(data))+1)
			if !errors.Is(err, io.ErrUnexpectedEOF) || w.Err() == nil {
				return errors.New("no error")
			}
			return nil
		},
		"beyond a limit": func(w *cos.Writer) error {
			limited := o
			limited.Limits.OutputBytes = kib * kib
			if w.Reset(io.Discard, limited); !errors.Is(long(w), diag.ErrLimit) {
				return errors.New("no error")
			}
			return nil
		},
	} {
		synctest.Test(t, func(t *testing.T) { // which waits for all goroutines
			if err := f(cos.NewWriter(io.Discard, o)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// counting is a Deflater that counts what it is given.
type counting struct {
	cos.Deflater
	n int
}

func (c *counting) Deflate(dst, src []byte, level cos.Level) ([]byte, error) {
	c.n += len(src)
	return c.Deflater.Deflate(dst, src, level) //nolint:wrapcheck // a test
}

// TestRandomDataIsSampled: most of it is not compressed to see that it becomes no shorter. A part
// that becomes shorter is found, wherever it lies.
func TestRandomDataIsSampled(t *testing.T) {
	data := make([]byte, kib*kib+77)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	d := &counting{Deflater: cos.NewFlate()}
	if b, err := cos.Pack(d, nil, data, cos.LevelDefault); b != nil || err != nil || d.n > len(data)/5 {
		t.Errorf("%d bytes of %d were compressed, to %d bytes, %v", d.n, len(data), len(b), err)
	}
	text := bytes.Repeat([]byte("text "), 288*kib/5)
	for at := 0; at < len(data)-len(text); at += 100_003 {
		mixed := bytes.Clone(data)
		copy(mixed[at:], text)
		want, err := d.Deflate([]byte("before"), mixed, cos.LevelDefault)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := cos.Pack(d, []byte("before"), mixed, cos.LevelDefault); err != nil || !bytes.Equal(got, want) {
			t.Errorf("text at %d: %d bytes, want %d, %v", at, len(got), len(want), err)
		}
	}
}

// TestRawReader: it reads what Raw returns, within its limit.
func TestRawReader(t *testing.T) {
	var out bytes.Buffer
	w := cos.NewWriter(&out, cos.Options{})
	root, ref, pages := w.Reserve(), w.Reserve(), w.Reserve()
	_ = w.Put(root, cos.Dict{cos.E("Pages", pages)})
	_ = w.Put(pages, cos.Dict{cos.E("Type", cos.Name("Pages"))})
	_ = w.EncodedStream(ref, nil, "", bytes.Repeat([]byte("data "), 20*kib))
	if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
		t.Fatal(err)
	}
	open := func(file io.ReaderAt, most int64) (*cos.Reader, *cos.Stream) {
		r, err := cos.NewReader(file, int64(out.Len()), cos.ReaderOptions{Limits: cos.ReadLimits{StreamBytes: most}})
		if err != nil {
			t.Fatal(err)
		}
		o, err := r.Object(ref)
		if err != nil {
			t.Fatal(err)
		}
		return r, o.(*cos.Stream) //nolint:forcetypeassert // it is one
	}
	r, s := open(bytes.NewReader(out.Bytes()), 0)
	want, err := r.Raw(s)
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.RawReader(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(data, want); err != nil {
		t.Error(err)
	}
	r, s = open(bytes.NewReader(out.Bytes()), s.Size()-1)
	if _, err := r.RawReader(s); !errors.Is(err, diag.ErrLimit) {
		t.Errorf("beyond StreamBytes: %v", err)
	}
	file := &cut{bytes.NewReader(out.Bytes()), int64(out.Len())}
	r, s = open(file, 0)
	file.size = 50 * kib
	if data, err = r.RawReader(s); err == nil {
		_, err = io.ReadAll(data)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that became shorter: %v", err)
	}
}

// cut is a file that becomes shorter.
type cut struct {
	io.ReaderAt
	size int64
}

func (c *cut) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p[:max(min(int64(len(p)), c.size-at), 0)], at)
	if n < len(p) && err == nil {
		err = io.EOF
	}
	return n, err //nolint:wrapcheck // a test
}
