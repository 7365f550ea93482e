package cos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
)

// ahead are long streams that are encrypted while what follows them is read and made: the blocks of
// a stream depend on one another, but streams do not.
type ahead struct {
	queue []*secret
	free  []*secret
	bytes int64 // that the queue will have been
}

// secret is a stream that a goroutine encrypts.
type secret struct {
	before []byte // what stands before it in the file, behind the one before
	plain  []byte
	data   []byte // encrypted
	source io.Reader
	done   chan error
}

const (
	// mostAhead bounds a stream that is encrypted ahead: it is in memory twice.
	mostAhead = 4 << 20
	// mostSecrets bounds how many there are.
	mostSecrets = 4
)

// mostQueued is how many streams of such a size are encrypted at once; 0: none, for there is no
// processor for it, or it is not worth it, or they take too much memory.
func mostQueued(size int64) int {
	n := runtime.GOMAXPROCS(0)
	if n == 1 || size < bufferBytes || size > mostAhead {
		return 0
	}
	return min(n+1, mostSecrets)
}

// streamAhead writes a stream that a goroutine encrypts. Its data is read before it returns.
func (w *Writer) streamAhead(ref Ref, dict Dict, filter Name, data io.Reader, size int64) error {
	a := &w.ahead
	if len(a.queue) >= mostQueued(size) {
		if w.settleFirst(); w.err != nil {
			return w.err
		}
	}
	s := &secret{done: make(chan error, 1)}
	if n := len(a.free); n > 0 {
		s, a.free = a.free[n-1], a.free[:n-1]
	}
	s.plain = slices.Grow(s.plain[:0], int(size))[:size]
	_, err := io.ReadFull(data, s.plain)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		s.source, size, err = w.opt.Encrypt.Cipher.Reader(bytes.NewReader(s.plain), size)
	}
	if err != nil {
		return w.fail(fmt.Errorf("cos: write object %d: %w", ref.Num, err))
	}
	w.beginStream(ref, dict, filter, size)
	s.data = slices.Grow(s.data[:0], int(size))[:size]
	s.before = append(s.before[:0], w.buf...)
	w.buf = w.buf[:0]
	a.bytes += int64(len(s.before)) + size
	a.queue = append(a.queue, s)
	go func() {
		_, err := io.ReadFull(s.source, s.data)
		s.done <- err
	}()
	return w.endStream()
}

// settleFirst hands the first stream of the queue on.
func (w *Writer) settleFirst() {
	a := &w.ahead
	s := a.queue[0]
	a.queue = slices.Delete(a.queue, 0, 1)
	a.bytes -= int64(len(s.before)) + int64(len(s.data))
	if err := <-s.done; err != nil {
		_ = w.fail(fmt.Errorf("cos: write: %w", err))
		return
	}
	w.write(s.before)
	w.write(s.data)
	a.free = append(a.free, s)
}

// settle hands all streams of the queue on.
func (w *Writer) settle() {
	for len(w.ahead.queue) > 0 && w.err == nil {
		w.settleFirst()
	}
}

// giveUp waits for the streams of the queue, which nobody wants any more.
func (a *ahead) giveUp() {
	for _, s := range a.queue {
		_ = <-s.done //nolint:staticcheck // S1005: the error is dropped and said to be
	}
	*a = ahead{}
}
