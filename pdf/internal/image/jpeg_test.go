package image_test

import (
	"bytes"
	"errors"
	"image/jpeg"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/diag"
	pdfimage "example.com/quire/pdf/internal/image"
)

// references are the JPEGs of Go's own tests: baseline and progressive, every sampling, restart
// markers, scans of one component.
func references(tb testing.TB) map[string][]byte {
	tb.Helper()
	root, err := exec.CommandContext(tb.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src/image/testdata/*.jpeg"))
	if err != nil || len(files) == 0 {
		tb.Skip("missing judge: the JPEGs of Go's image tests: install Go with its sources")
	}
	out := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		out[filepath.Base(f)] = b
	}
	return out
}

// TestJPEGIsFollowedToItsEnd: what Go's decoder reads passes through byte by byte.
func TestJPEGIsFollowedToItsEnd(t *testing.T) {
	for name, data := range references(t) {
		t.Run(name, func(t *testing.T) {
			img, err := open(data, diag.Limits{})
			switch {
			case err != nil:
				t.Error(err)
			case !bytes.Equal(img.XObject().Data, data):
				t.Error("the data is not passed through")
			}
		})
	}
}

// TestBrokenJPEGIsRefused: bytes of the coded data are replaced; what Go's decoder refuses for its
// codes is refused here, and nothing panics.
func TestBrokenJPEGIsRefused(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // test data
	refused, missed := 0, 0
	files := references(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		if len(data) > 10_000 {
			continue
		}
		for range 60 {
			b := bytes.Clone(data)
			for range 1 + rnd.IntN(3) {
				b[600+rnd.IntN(len(b)-600)] = byte(rnd.IntN(256)) //nolint:gosec // a byte
			}
			_, want := jpeg.Decode(bytes.NewReader(b))
			_, err := open(b, diag.Limits{})
			if want == nil {
				continue
			}
			refused++
			if err == nil {
				missed++
				t.Logf("%s: Go says %v", name, want)
			}
		}
	}
	if refused < 50 || missed > refused/20 {
		t.Errorf("%d of %d broken images pass", missed, refused)
	}
}

func FuzzJPEG(f *testing.F) {
	for _, data := range references(f) {
		if len(data) < 4000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !bytes.HasPrefix(data, []byte("\xFF\xD8\xFF")) {
			return
		}
		img, err := open(data, diag.Limits{ImagePixels: 1 << 18})
		if err != nil && !errors.Is(err, pdfimage.ErrFormat) && !errors.Is(err, diag.ErrUnsupported) && !errors.Is(err, diag.ErrLimit) {
			t.Fatalf("untyped error %v", err)
		}
		if err == nil && (img.Width() <= 0 || img.Height() <= 0) {
			t.Fatalf("%d by %d", img.Width(), img.Height())
		}
	})
}
