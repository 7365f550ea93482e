package cos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
)

// encryptions are long streams that are encrypted while what follows them is read and made: the
// blocks of a stream depend on one another, but streams do not.
type encryptions struct {
	queue []*encryption // in the order of the file
	free  []*encryption // whose memory is used again
	bytes int64         // of the queue in the file
}

// encryption is a stream that a goroutine encrypts.
type encryption struct {
	before []byte // what stands before it in the file, behind the one before
	plain  []byte
	data   []byte // encrypted
	done   chan struct{}
	err    error // once it is done
}

const (
	// mostQueuedBytes bounds a stream that is encrypted so: it is in memory twice.
	mostQueuedBytes = 4 << 20
	// mostEncryptions bounds how many there are at once.
	mostEncryptions = 4
)

// mostQueued is how many streams of such a size are encrypted at once; 0: none, for there is no
// processor for it, or it is not worth it, or they take too much memory.
func mostQueued(size int64) int {
	n := runtime.GOMAXPROCS(0)
	if n == 1 || size < bufferBytes || size > mostQueuedBytes {
		return 0
	}
	return min(n+1, mostEncryptions)
}

// queueStream writes a stream that a goroutine encrypts. Its data is read before it returns.
func (w *Writer) queueStream(ref Ref, dict Dict, filter Name, data io.Reader, size int64) error {
	q := &w.encrypting
	if len(q.queue) >= mostQueued(size) {
		if w.writeFirst(); w.err != nil {
			return w.err
		}
	}
	var s *encryption
	if n := len(q.free); n > 0 {
		s, q.free = q.free[n-1], q.free[:n-1]
	} else {
		s = &encryption{}
	}
	s.plain = slices.Grow(s.plain[:0], int(size))[:size]
	_, err := io.ReadFull(data, s.plain)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	var encrypted io.Reader
	if err == nil {
		encrypted, size, err = w.opt.Encrypt.Cipher.Reader(bytes.NewReader(s.plain), size)
	}
	if err != nil {
		return w.fail(fmt.Errorf("cos: write object %d: %w", ref.Num, err))
	}
	w.beginStream(ref, dict, filter, size)
	s.data = slices.Grow(s.data[:0], int(size))[:size]
	s.before = append(s.before[:0], w.buf...)
	w.buf = w.buf[:0]
	s.done = make(chan struct{})
	q.bytes += int64(len(s.before)) + size
	q.queue = append(q.queue, s)
	go func() {
		defer close(s.done)
		_, s.err = io.ReadFull(encrypted, s.data)
	}()
	return w.endStream()
}

// writeFirst hands the first stream of the queue on.
func (w *Writer) writeFirst() {
	q := &w.encrypting
	s := q.queue[0]
	q.queue = slices.Delete(q.queue, 0, 1)
	q.bytes -= int64(len(s.before)) + int64(len(s.data))
	if <-s.done; s.err != nil {
		_ = w.fail(fmt.Errorf("cos: write: %w", s.err))
		return
	}
	w.write(s.before)
	w.write(s.data)
	q.free = append(q.free, s)
}

// writeQueued hands all streams of the queue on.
func (w *Writer) writeQueued() {
	for len(w.encrypting.queue) > 0 && w.err == nil {
		w.writeFirst()
	}
}

// drop waits for the streams of the queue, which are not written any more, and frees their memory.
func (q *encryptions) drop() {
	for _, s := range q.queue {
		<-s.done
	}
	*q = encryptions{}
}
