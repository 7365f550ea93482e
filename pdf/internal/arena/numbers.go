package arena

import (
	"bytes"
	"encoding/binary"
)

// Numbers is a list of integers that takes a byte for each one near zero, as the differences from
// one object of a file to the next are, and more for larger ones. The zero value is ready. It is
// for one goroutine.
type Numbers struct {
	open []byte   // the block that grows
	full [][]byte // those before it
	kept [][]byte // those of a list before, which are used again
}

// The sizes of a block, in bytes, and how many are kept for the next list.
const (
	firstBytes = 64
	blockBytes = 4 << 10
	keptBlocks = 16
)

// Add appends a number.
func (l *Numbers) Add(v int64) {
	if cap(l.open)-len(l.open) < binary.MaxVarintLen64 {
		l.grow()
	}
	if u := uint64(v)<<1 ^ uint64(v>>63); u < 0x80 { //nolint:gosec // G115: the bits are meant
		l.open = append(l.open, byte(u)) // as most
		return
	}
	l.open = binary.AppendVarint(l.open, v)
}

// grow makes room for a number. The first block grows to the size of the others: most lists are
// short.
func (l *Numbers) grow() {
	switch n := len(l.kept); {
	case len(l.full) == 0 && cap(l.open) < blockBytes:
		l.open = append(make([]byte, 0, max(firstBytes, 2*cap(l.open))), l.open...)
	case n > 0:
		l.full, l.open, l.kept = append(l.full, l.open), l.kept[n-1][:0], l.kept[:n-1]
	default:
		l.full, l.open = append(l.full, l.open), make([]byte, 0, blockBytes)
	}
}

// Reset empties the list, and keeps some of its memory for the next one.
func (l *Numbers) Reset() {
	for _, b := range l.full[:min(len(l.full), keptBlocks-len(l.kept))] {
		clear(b)
		l.kept = append(l.kept, b)
	}
	if clear(l.full); cap(l.full) > keptBlocks {
		l.full = nil
	}
	clear(l.open)
	l.full, l.open = l.full[:0], l.open[:0]
}

// Take returns the list, which keeps what memory it has of short ones, and empties it.
func (l *Numbers) Take() Numbers {
	taken := Numbers{open: bytes.Clone(l.open), full: l.full}
	clear(l.open)
	l.full, l.open = nil, l.open[:0]
	return taken
}

// Reader returns a reader at the first number. Nothing is added while it reads.
func (l *Numbers) Reader() NumberReader {
	if len(l.full) == 0 {
		return NumberReader{block: l.open}
	}
	return NumberReader{block: l.full[0], full: l.full[1:], open: l.open}
}

// NumberReader reads the numbers of a list from the first to the last.
type NumberReader struct {
	block []byte   // what is not yet read of a block
	full  [][]byte // the blocks behind it but the last
	open  []byte   // the last one
}

// More reports whether there is another number.
func (r *NumberReader) More() bool { return len(r.block)+len(r.full)+len(r.open) > 0 }

// Next returns the next number, of which there must be one.
func (r *NumberReader) Next() int64 {
	if b := r.block; len(b) > 0 && b[0] < 0x80 { // as most
		r.block = b[1:]
		return int64(b[0]>>1) ^ -int64(b[0]&1)
	}
	return r.long()
}

// long is Next of a number that takes more than a byte, or is in another block.
func (r *NumberReader) long() int64 {
	if len(r.block) == 0 {
		if len(r.full) > 0 {
			r.block, r.full = r.full[0], r.full[1:]
		} else {
			r.block, r.open = r.open, nil
		}
	}
	v, n := binary.Varint(r.block)
	r.block = r.block[n:]
	return v
}
