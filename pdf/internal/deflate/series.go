package deflate

import "slices"

// Series is what similar streams of one document share, such as its pages: Huffman codes. To count
// the symbols of a page, to make codes of it and to describe them takes a quarter of the time of
// its compression, and the codes of the pages of a table hardly differ.
//
// The first streams have codes of their own. Of what occurs in them the codes are made that the
// others share. They have every symbol. A stream that is not similar to the first ones has codes of
// its own again, and where several such follow each other the next ones share the codes of these.
//
// Its zero value begins a series. It is not for concurrent use.
type Series struct {
	sample sample
	codes  [symbols]codeword
	dist   [distances]codeword
	usual  measure // of the streams of which the codes were made; zero: there are no codes
	head   []byte  // of a last block with these codes, as far as there are whole bytes
	bits   bitWriter
}

// sample is what occurs in the last streams that have codes of their own.
type sample struct {
	streams      int
	freq         [symbols]uint32
	distanceFreq [distances]uint32
	measure
}

// sampled is how many streams in a row that have codes of their own make codes for others.
const sampled = 2

// measure is what makes streams similar: how many symbols of literals and lengths there are, how
// many of them are matches, and how many bits all take.
type measure struct{ symbols, matches, bits int }

// similar reports whether the share of matches and the bits of a symbol differ by a sixteenth at
// most.
func (m measure) similar(to measure) bool {
	near := func(a, b int) bool { return max(a, b)-min(a, b) <= b/16 }
	return near(m.matches*to.symbols, to.matches*m.symbols) && near(m.bits*to.symbols, to.bits*m.symbols)
}

// Reset begins a series of another document.
func (s *Series) Reset() { *s = Series{head: s.head[:0]} }

// append appends the segment as a last block with the shared codes; ok is false where there are
// none, or where they do not fit.
func (s *Series) append(dst []byte, c *Compressor) (out []byte, ok bool) {
	if s.usual.symbols == 0 {
		return dst, false
	}
	is := c.measure()
	out = append(dst, s.head...)
	from := 8*len(out) + int(s.bits.held)
	c.bits = s.bits
	copy(c.block.codes[:], s.codes[:])
	copy(c.block.distances[:], s.dist[:])
	out = c.appendMatches(out)
	if is.bits = 8*len(out) + int(c.bits.held) - from; is.similar(s.usual) {
		s.sample.streams = 0
		return out, true
	}
	c.bits = bitWriter{}
	return out[:len(dst)], false
}

// add takes what occurs in a stream that has codes of its own, whose symbols take so many bits.
func (s *Series) add(c *Compressor, bits int) {
	of, b := &s.sample, &c.block
	if of.streams == 0 {
		*of = sample{}
	}
	for i, f := range b.freq {
		of.freq[i] += f
	}
	for i, f := range b.distanceFreq {
		of.distanceFreq[i] += f
	}
	is := c.measure()
	of.symbols, of.matches, of.bits = of.symbols+is.symbols, of.matches+is.matches, of.bits+bits
	if of.streams++; of.streams == sampled {
		s.make(b)
		of.streams = 0
	}
}

// make makes the codes of the sample, in the memory of those of a block.
func (s *Series) make(b *blockCodes) {
	of := &s.sample
	s.usual = of.measure
	everyOne(of.freq[:])
	everyOne(of.distanceFreq[:])
	b.tree.build(s.codes[:], of.freq[:], mostBits)
	b.tree.build(s.dist[:], of.distanceFreq[:], mostDistanceBits)
	bits := b.lengths.make(&b.tree, s.codes[:], s.dist[:])
	s.bits = bitWriter{}
	s.bits.put(lastBlock|dynamicBlock, 3)
	s.head = b.lengths.append(slices.Grow(s.head[:0], bits/8+16), &s.bits)
}

// everyOne lets every symbol occur, those that do not least of all.
func everyOne(freq []uint32) {
	for i := range freq {
		freq[i] = freq[i]<<4 + 1
	}
}
