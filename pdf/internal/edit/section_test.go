package edit

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// places keeps what it was given, and where the first of it lies.
type places struct {
	bytes.Buffer
	first *byte
}

func (p *places) Write(b []byte) (int, error) {
	if p.first == nil && len(b) > 0 {
		p.first = &b[0]
	}
	return p.Buffer.Write(b)
}

func TestSectionsOfFiles(t *testing.T) {
	file := []byte(strings.Repeat("0123456789", 10_000))
	for _, r := range []io.ReaderAt{bytes.NewReader(file), strings.NewReader(string(file))} {
		for _, s := range [][2]int64{{0, 0}, {0, 1}, {0, 100_000}, {7, 70_001}, {99_999, 1}, {100_000, 0}} {
			var got bytes.Buffer
			if err := copySection(&got, r, s[0], s[1]); err != nil || !bytes.Equal(got.Bytes(), file[s[0]:s[0]+s[1]]) {
				t.Errorf("%T, %d bytes from %d on: %d bytes, %v", r, s[1], s[0], got.Len(), err)
			}
		}
		for _, s := range [][2]int64{{0, 100_001}, {99_999, 2}, {100_000, 1}, {200_000, 1}} {
			if err := copySection(io.Discard, r, s[0], s[1]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%T, %d bytes from %d on: %v, want an unexpected end", r, s[1], s[0], err)
			}
		}
		wrong := errors.New("full")
		if err := copySection(failing{wrong}, r, 5, 10); !errors.Is(err, wrong) {
			t.Errorf("%T: %v, want the writer's error", r, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestSectionsOfMemoryAreNotCopied(t *testing.T) {
	file := []byte("0123456789")
	r := bytes.NewReader(file)
	var got places
	if err := copySection(&got, r, 3, 4); err != nil || got.String() != "3456" || got.first != &file[3] {
		t.Errorf("%q, %v, want those that lie in memory", got.String(), err)
	}
	if r.Len() != len(file) {
		t.Error("the reader was moved")
	}
}

func TestOpenKeepsAReaderOfItsOwn(t *testing.T) {
	file := []byte("%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n3 0 obj\n<</Type/Page>>\nendobj\ntrailer\n<</Root 1 0 R>>\n")
	r := bytes.NewReader(file)
	d, err := Open(r, int64(len(file)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.File == io.ReaderAt(r) {
		t.Error("the document keeps the caller's reader, whose position the caller may move")
	}
}
