package edit

import (
	"bytes"
	"io"
	"sync"
)

// copySection writes the n bytes of a file that begin at an offset to w. Those of a *bytes.Reader
// go as they lie in memory. The position of that one must not change meanwhile: Open keeps one of
// its own for each document.
func copySection(w io.Writer, file io.ReaderAt, from, n int64) error {
	if m, ok := file.(*bytes.Reader); ok {
		section, first := *m, head{w, n}
		if _, err := section.Seek(from, io.SeekStart); err != nil {
			return err
		}
		_, err := section.WriteTo(&first)
		if err == nil && first.n > 0 {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	buf, _ := sections.Get().(*[sectionBytes]byte)
	if buf == nil {
		buf = new([sectionBytes]byte)
	}
	defer sections.Put(buf)
	done, err := io.CopyBuffer(w, io.NewSectionReader(file, from, n), buf[:])
	if err == nil && done < n {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// sections are buffers through which sections of files go.
var sections sync.Pool

const sectionBytes = 32 << 10

// head hands the first n bytes on, and says that it has taken the others too.
type head struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	first := p[:min(h.n, int64(len(p)))]
	h.n -= int64(len(first))
	if n, err := h.w.Write(first); err != nil || n < len(first) {
		return n, err
	}
	return len(p), nil
}
