package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// comparer is a writer that compares what is written with a file, which it reads along. Behind a
// difference it takes what is written all the same: whoever writes has more to tell.
type comparer struct {
	file    *bufio.Reader
	at      int64
	differs int64 // offset, or -1
	buf     []byte
}

func newComparer(file io.Reader) *comparer {
	return &comparer{file: bufio.NewReaderSize(file, 64<<10), differs: -1}
}

func (c *comparer) Write(p []byte) (int, error) {
	if c.differs >= 0 {
		return len(p), nil
	}
	if cap(c.buf) < len(p) {
		c.buf = make([]byte, len(p))
	}
	n, err := io.ReadFull(c.file, c.buf[:len(p)])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, fmt.Errorf("read the file: %w", err)
	}
	got := c.buf[:n]
	if !bytes.Equal(got, p) {
		i := 0
		for i < n && got[i] == p[i] {
			i++
		}
		c.differs = c.at + int64(i)
	}
	c.at += int64(len(p))
	return len(p), nil
}

// end returns where the files differ, or -1. A file that goes on differs at the end of the other.
func (c *comparer) end() (int64, error) {
	if c.differs >= 0 {
		return c.differs, nil
	}
	if _, err := c.file.ReadByte(); err == nil {
		return c.at, nil
	} else if !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read the file: %w", err)
	}
	return -1, nil
}

// pageAt returns the page whose content has the byte at an offset of the file, 0 when none has.
func (r *Rendered) pageAt(offset int64) int {
	if r == nil {
		return 0
	}
	for _, p := range r.PageBytes {
		if offset >= p.From && offset < p.To {
			return p.Page
		}
	}
	return 0
}
