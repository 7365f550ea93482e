package deflate

import "encoding/binary"

// mostStored is how many bytes a stored block has at most (RFC 1951, 3.2.4).
const mostStored = 1<<16 - 1

// How a block begins, in three bits (3.2.3): whether it is the last one, and its kind. A stored one
// is 0.
const (
	lastBlock    = 1
	fixedBlock   = 1 << 1
	dynamicBlock = 2 << 1
)

// bitWriter gathers bits, the first one lowest (RFC 1951, 3.1.1).
type bitWriter struct {
	acc  uint64
	held uint
}

// put adds the n bits of v. There is room for 56.
func (w *bitWriter) put(v uint64, n uint) {
	w.acc |= v << (w.held & 63)
	w.held += n
}

// word adds a codeword.
func (w *bitWriter) word(c codeword) { w.put(c.bits(), c.length()) }

// flush appends the whole bytes.
func (w *bitWriter) flush(dst []byte) []byte {
	for ; w.held >= 8; w.held -= 8 {
		dst = append(dst, byte(w.acc)) //nolint:gosec // G115: the low byte is meant
		w.acc >>= 8
	}
	return dst
}

// align fills up the last byte with zeros and appends it.
func (w *bitWriter) align(dst []byte) []byte {
	w.held = (w.held + 7) &^ 7
	return w.flush(dst)
}

// appendStored appends src as stored blocks, the last of which is final when that is 1.
func (w *bitWriter) appendStored(dst, src []byte, final uint64) []byte {
	for {
		n := min(len(src), mostStored)
		rest := src[n:]
		if len(rest) == 0 {
			w.put(final, 3)
		} else {
			w.put(0, 3)
		}
		dst = w.align(dst)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(n))
		dst = append(dst, src[:n]...)
		if src = rest; len(src) == 0 {
			return dst
		}
	}
}
