package deflate

import "encoding/binary"

// codeLengths are the lengths of the codewords of a block as they are sent: repetitions are
// shortened, and what is left has a Huffman code of its own (RFC 1951, 3.2.7).
type codeLengths struct {
	nsymbols, ndistances int
	nsent                int // lengths of codes that are sent
	symbols              [symbols + distances]uint8
	repeats              [symbols + distances]uint8 // how often, less the least
	n                    int
	freq                 [19]uint32
	codes                [19]codeword
}

// The symbols that repeat.
const (
	repeat     = 16 // the length before, 3 to 6 times
	zeros      = 17 // 0, 3 to 10 times
	manyZeros  = 18 // 0, 11 to 138 times
	countZeros = 11
)

// repeatBits are the extra bits of the symbols that repeat.
var repeatBits = [19]uint{repeat: 2, zeros: 3, manyZeros: 7}

// order is that in which the lengths of the codes of lengths are sent.
var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// make takes the codes and returns how many bits it takes to send their lengths.
func (h *codeLengths) make(t *tree, codes, dist []codeword) int {
	h.nsymbols, h.ndistances = used(codes, endMark+1), used(dist, 1)
	h.n = 0
	clear(h.freq[:])
	h.runs(codes[:h.nsymbols], dist[:h.ndistances])
	_, size := t.build(h.codes[:], h.freq[:], mostLengthBits)
	h.nsent = len(order)
	for h.nsent > 4 && h.codes[order[h.nsent-1]] == 0 {
		h.nsent--
	}
	size += 14 + 3*h.nsent
	for s := repeat; s <= manyZeros; s++ {
		size += int(h.freq[s]) * int(repeatBits[s])
	}
	return size
}

// used is how many codes there are without those at the end that do not occur, but at least least.
func used(codes []codeword, least int) int {
	n := len(codes)
	for n > least && codes[n-1] == 0 {
		n--
	}
	return n
}

// runs shortens the lengths of both codes; a repetition may go on from one to the other.
func (h *codeLengths) runs(codes, dist []codeword) {
	length, run := -1, 0
	for _, list := range [...][]codeword{codes, dist} {
		for _, w := range list {
			if l := int(w.length()); l == length {
				run++
			} else {
				h.run(length, run)
				length, run = l, 1
			}
		}
	}
	h.run(length, run)
}

// run adds a length that stands n times.
func (h *codeLengths) run(length, n int) {
	if length == 0 {
		for n >= countZeros {
			k := min(n, 138)
			h.add(manyZeros, k-countZeros)
			n -= k
		}
		if n >= 3 {
			h.add(zeros, n-3)
			return
		}
	} else if n > 3 {
		h.add(length, 0)
		for n--; n >= 3; {
			k := min(n, 6)
			h.add(repeat, k-3)
			n -= k
		}
	}
	for range n {
		h.add(length, 0)
	}
}

func (h *codeLengths) add(symbol, more int) {
	h.symbols[h.n], h.repeats[h.n] = uint8(symbol), uint8(more) //nolint:gosec // G115: at most 18, 127
	h.freq[symbol]++
	h.n++
}

// append appends the lengths. dst has room for them and eight bytes more.
func (h *codeLengths) append(dst []byte, w *bitWriter) []byte {
	w.put(uint64(h.nsymbols-257)|uint64(h.ndistances-1)<<5|uint64(h.nsent-4)<<10, 14) //nolint:gosec // G115: 5, 5 and 4 bits
	dst = w.flush(dst)
	for _, s := range order[:h.nsent] {
		w.put(uint64(h.codes[s].length()), 3)
		dst = w.flush(dst)
	}
	at, out := len(dst), dst[:cap(dst)]
	acc, held := w.acc, w.held // apart, in registers
	for i, s := range h.symbols[:h.n] {
		word := h.codes[s]
		acc |= (word.bits() | uint64(h.repeats[i])<<word.length()) << (held & 63)
		held += word.length() + repeatBits[s]
		binary.LittleEndian.PutUint64(out[at:], acc)
		at += int(held >> 3)
		acc >>= held & 56
		held &= 7
	}
	w.acc, w.held = acc, held
	return dst[:at]
}
