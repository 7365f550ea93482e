package cos

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
)

// SpillFile holds the data that a [Writer] does not keep in memory.
type SpillFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// defaultSpill is how much cross-reference data stays in memory, when Options do not say it.
const defaultSpill = 8 << 20

// A block is a run of entries, which is in memory or in the file as a whole.
const (
	blockBits  = 13
	blockLen   = 1 << blockBits
	blockBytes = 8 * blockLen
	keptBlocks = 8 // for the next file
)

// table is the cross-reference data of a file that is being written, by object number. It is parted
// in blocks. When more of them than most would be in memory, the one that was not used for longest
// goes to a file: objects are written soon after their numbers were reserved, all but a few, so
// each block goes out about once and comes back about once, at the end.
type table struct {
	blocks []block
	n      int   // numbers, 0 included
	in     []int // the blocks that are in memory
	most   int
	clock  uint64
	spare  [][]entry // memory of files before

	open func() (SpillFile, error)
	file SpillFile // nil: all blocks are in memory
	buf  []byte    // of a block on its way
	err  error     // of the file; the table is of no use any more
}

type block struct {
	entries []entry // nil: it is in the file
	used    uint64  // the time of the last use
	changed bool    // since it was read from the file
}

// reset empties the table for a file whose Options say where data is spilled to.
func (t *table) reset(open func() (SpillFile, error), bytes int64) {
	t.release()
	for _, i := range t.in {
		if len(t.spare) < keptBlocks {
			t.spare = append(t.spare, t.blocks[i].entries[:0])
		}
	}
	clear(t.blocks)
	if t.blocks = t.blocks[:0]; cap(t.blocks) > 64*keptBlocks {
		t.blocks = nil
	}
	if bytes <= 0 {
		bytes = defaultSpill
	}
	if open == nil {
		open = temporary
	}
	t.open, t.most, t.err = open, int(max(2, bytes/blockBytes)), nil
	t.n, t.in, t.clock = 0, t.in[:0], 0
}

// release closes the file of a table that is not used any more.
func (t *table) release() {
	if t.file == nil {
		return
	}
	_ = t.file.Close() // nothing in it is needed
	t.file, t.buf, t.err = nil, nil, errClosed
}

// add appends n entries.
func (t *table) add(n int, e entry) {
	if i := t.n >> blockBits; n == 1 && i < len(t.blocks) && t.err == nil { // as most
		if b := t.last(i); b != nil {
			b.entries, b.changed = append(b.entries, e), true
			t.n++
			return
		}
	}
	for n > 0 && t.err == nil {
		i := t.n >> blockBits
		if i == len(t.blocks) {
			memory := t.memory()
			t.blocks = append(t.blocks, block{entries: memory})
			t.in = append(t.in, i)
		}
		b := t.block(i)
		k := min(n, blockLen-t.n&(blockLen-1))
		for range k {
			b.entries = append(b.entries, e)
		}
		b.changed = true
		t.n += k
		n -= k
	}
}

// set replaces an entry.
func (t *table) set(num uint32, e entry) {
	b := t.last(int(num >> blockBits))
	if b == nil {
		b = t.block(int(num >> blockBits))
	}
	if t.err != nil {
		return
	}
	b.entries[num&(blockLen-1)] = e
	b.changed = true
}

// replace sets an entry that is from, and reports whether it was.
func (t *table) replace(num uint32, from, to entry) bool {
	b := t.last(int(num >> blockBits))
	if b == nil {
		b = t.block(int(num >> blockBits))
	}
	if t.err != nil {
		return false
	}
	e := &b.entries[num&(blockLen-1)]
	if *e != from {
		return false
	}
	*e, b.changed = to, true
	return true
}

// each calls f with all entries, in pieces: the first piece begins with object number first, which
// is 0.
func (t *table) each(f func(first int, entries []entry) error) error {
	for i := range t.blocks {
		b := t.block(i)
		if t.err != nil {
			return t.err
		}
		if err := f(i<<blockBits, b.entries); err != nil {
			return err
		}
	}
	return nil
}

// last returns block i if it is the one that was used last, else nil.
func (t *table) last(i int) *block {
	if b := &t.blocks[i]; b.used == t.clock && b.entries != nil {
		return b
	}
	return nil
}

// block returns block i, which is in memory then.
func (t *table) block(i int) *block {
	if b := t.last(i); b != nil {
		return b
	}
	b := &t.blocks[i]
	t.clock++
	b.used = t.clock
	if b.entries != nil || t.err != nil {
		return b
	}
	memory := t.memory()
	if t.err != nil {
		return b
	}
	n := min(blockLen, t.n-i<<blockBits)
	if !t.read(t.buf[:8*n], int64(i)*blockBytes) {
		return b
	}
	for k := range n {
		memory = append(memory, entry(binary.LittleEndian.Uint64(t.buf[8*k:])))
	}
	b.entries, b.changed = memory, false
	t.in = append(t.in, i)
	return b
}

// memory returns an empty block, that of the one that was not used for longest when there are
// enough.
func (t *table) memory() []entry {
	if len(t.in) < t.most {
		if last := len(t.spare) - 1; last >= 0 {
			m := t.spare[last]
			t.spare = t.spare[:last]
			return m
		}
		if len(t.blocks) == 0 {
			return make([]entry, 0, 64) // most files are small
		}
		return make([]entry, 0, blockLen)
	}
	at := 0
	for k, i := range t.in {
		if t.blocks[i].used < t.blocks[t.in[at]].used {
			at = k
		}
	}
	i := t.in[at]
	b := &t.blocks[i]
	if b.changed {
		t.write(i, b.entries)
	}
	m := b.entries[:0]
	b.entries = nil
	t.in = slices.Delete(t.in, at, at+1)
	return m
}

// write puts a block into the file.
func (t *table) write(i int, entries []entry) {
	if t.file == nil && t.err == nil {
		var err error
		if t.file, err = t.open(); err != nil {
			t.file = nil
			t.fail(err)
		}
		t.buf = make([]byte, blockBytes)
	}
	if t.err != nil {
		return
	}
	for k, e := range entries {
		binary.LittleEndian.PutUint64(t.buf[8*k:], uint64(e))
	}
	if _, err := t.file.WriteAt(t.buf[:8*len(entries)], int64(i)*blockBytes); err != nil {
		t.fail(err)
	}
}

// read fills p from the file. An io.ReaderAt may say io.EOF with the last bytes of a file.
func (t *table) read(p []byte, at int64) bool {
	n, err := t.file.ReadAt(p, at)
	if n < len(p) {
		t.fail(cmp.Or(err, io.ErrUnexpectedEOF))
	}
	return n == len(p)
}

func (t *table) fail(err error) {
	if t.err == nil {
		t.err = fmt.Errorf("cos: write: cross-reference data to a file: %w", err)
	}
}

// behind returns a writer to the file, behind the blocks.
func (t *table) behind() *spillWriter {
	return &spillWriter{t: t, from: int64(len(t.blocks)) * blockBytes}
}

type spillWriter struct {
	t    *table
	from int64
	n    int64
}

// Write implements io.Writer.
func (w *spillWriter) Write(p []byte) (int, error) {
	n, err := w.t.file.WriteAt(p, w.from+w.n)
	w.n += int64(n)
	if err != nil {
		w.t.fail(err)
	}
	return n, w.t.err
}

// pieces calls f with what was written, in pieces.
func (w *spillWriter) pieces(f func([]byte)) error {
	for at := int64(0); at < w.n; {
		p := w.t.buf[:min(int64(len(w.t.buf)), w.n-at)]
		if !w.t.read(p, w.from+at) {
			return w.t.err
		}
		f(p)
		at += int64(len(p))
	}
	return nil
}

// temporary is a file of the system's folder for such, which is gone when it is closed.
func temporary() (SpillFile, error) {
	f, err := os.CreateTemp("", "quire-*.spill")
	if err != nil {
		return nil, err
	}
	// Where a file may be removed while it is open, it is gone even if the process dies.
	removed := os.Remove(f.Name()) == nil
	return &temporaryFile{File: f, removed: removed}, nil
}

type temporaryFile struct {
	*os.File

	removed bool
}

// Close implements io.Closer.
func (f *temporaryFile) Close() error {
	err := f.File.Close()
	if !f.removed {
		return os.Remove(f.Name())
	}
	return err
}
