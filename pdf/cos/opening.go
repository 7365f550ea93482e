package cos

import (
	"bytes"
	"encoding"
	"hash"
	"sync"
)

// Openings keeps the SHA-256 of what files begin with, for many begin alike: those of a template
// whose first object is its logo. What is kept is the state of the hash behind certain bytes, all
// of which are compared. The zero value is ready, and safe for concurrent use.
type Openings struct {
	mu   sync.Mutex
	kept [16]opening
	next int // of kept, to be replaced
}

type opening struct{ bytes, state []byte }

// Openings that are kept are not so short that to hash them takes no longer than to find them, and
// not so long that they take much memory.
const (
	leastOpening = 2 << 10
	mostOpening  = 2 * bufferBytes
)

// sum is h.Write of the first bytes of a file.
func (o *Openings) sum(h hash.Hash, b []byte) {
	if state := o.state(b); state != nil {
		if u, ok := h.(encoding.BinaryUnmarshaler); ok && u.UnmarshalBinary(state) == nil {
			return
		}
		h.Reset()
	}
	h.Write(b)
	m, ok := h.(encoding.BinaryMarshaler)
	if !ok {
		return
	}
	state, err := m.MarshalBinary()
	if err != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept[o.next] = opening{bytes.Clone(b), state}
	o.next = (o.next + 1) % len(o.kept)
}

// state returns that behind b; nil: it is not kept.
func (o *Openings) state(b []byte) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.kept {
		if bytes.Equal(o.kept[i].bytes, b) {
			return o.kept[i].state
		}
	}
	return nil
}

// SharedStream is [Writer.EncodedStream] of data that other files have, too. A file that begins
// with such streams is hashed from behind them, where Options.Openings knows them.
func (w *Writer) SharedStream(ref Ref, dict Dict, filter Name, data []byte) error {
	first := w.flushed == 0 && w.opening == len(w.buf)
	err := w.EncodedStream(ref, dict, filter, data)
	if first && w.flushed == 0 {
		w.opening = len(w.buf)
	}
	return err
}

// sum hashes bytes that are handed on.
func (w *Writer) sum(b []byte) {
	n := w.opening
	if w.opening = 0; n < leastOpening || n > mostOpening || w.opt.Openings == nil || w.opt.Encrypt != nil || w.digest != nil {
		n = 0
	}
	if n > 0 {
		w.opt.Openings.sum(w.hash, b[:n])
	}
	w.hash.Write(b[n:])
	if w.digest != nil && !w.signed.done {
		w.digest.Write(b)
	}
}
