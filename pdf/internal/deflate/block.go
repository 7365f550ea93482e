package deflate

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// lengthCode has, for a length of a match less 3, its symbol (RFC 1951, 3.2.5) and the extra bits
// that follow it, as a codeword has its own.
type lengthCode uint64

func (l lengthCode) symbol() int     { return int(l >> 6 & 511) }
func (l lengthCode) extra() codeword { return codeword(l &^ (511 << 6)) }

var lengthCodes = func() (t [256]lengthCode) {
	for i := range t {
		k := max(bits.Len(uint(i)), 3) - 3
		t[i] = lengthCode(i)<<(64-k) | lengthCode(257+k<<2+i>>k)<<6 | lengthCode(k)
	}
	t[255] = 285 << 6
	return t
}()

// distanceCode has, for a distance less 1, its symbol and how many extra bits follow it: the low
// ones of that number.
type distanceCode uint16

func (d distanceCode) symbol() int { return int(d & 31) }
func (d distanceCode) bits() uint  { return uint(d >> 5 & 15) }

// distanceCodes are those of the distances below 256, and then one for 128 others each.
var distanceCodes = func() (t [512]distanceCode) {
	for i := range t {
		d := i
		if i >= 256 {
			d = (i - 256) << 7
		}
		if d < 2 {
			t[i] = distanceCode(d)
			continue
		}
		k := bits.Len(uint(d)) - 2
		t[i] = distanceCode(k<<1 + d>>k | k<<5)
	}
	return t
}()

func codeOf(d uint16) distanceCode {
	i := d
	if d >= 256 {
		i = 256 + d>>7
	}
	return distanceCodes[i&511]
}

// blockCodes are the codes of a block and what they are made from.
type blockCodes struct {
	freq         [symbols]uint32
	distanceFreq [distances]uint32
	codes        [512]codeword // those behind the symbols are none, as below
	distances    [32]codeword
	tree         tree
	lengths      codeLengths
}

// The codes that need not be sent (3.2.6).
var fixedCodes, fixedDistances = func() (codes [symbols]codeword, dist [distances]codeword) {
	var count [16]uint16
	var used [symbols]uint16
	for s := range codes {
		used[s] = uint16(s)
		length := 8
		switch {
		case s >= 144 && s < 256:
			length = 9
		case s >= 256 && s < 280:
			length = 7
		}
		codes[s] = codeword(length)
		count[length]++
	}
	count[8] += 2 // the symbols 286 and 287, which take part in the code
	assign(codes[:], used[:], &count)
	for s := range dist {
		dist[s] = 5
	}
	assign(dist[:], used[:distances], &[16]uint16{5: distances})
	return codes, dist
}()

// count makes the frequencies of symbols of src, the segment, and returns the number of extra bits.
func (c *Compressor) count(src []byte) int {
	b := &c.block
	clear(b.freq[:])
	clear(b.distanceFreq[:])
	extra := uint(0)
	for _, m := range c.matches[:c.n] {
		for _, v := range src[:m.literals] {
			b.freq[v]++
		}
		src = src[int(m.literals)+int(m.length):]
		l := lengthCodes[byte(m.length-3)] //nolint:gosec // G115: a length of at most 258
		b.freq[l.symbol()]++
		d := codeOf(m.distance)
		b.distanceFreq[d.symbol()]++
		extra += l.extra().length() + d.bits()
	}
	for _, v := range src {
		b.freq[v]++
	}
	b.freq[endMark] = 1
	return int(extra)
}

// appendBlock appends src, the segment, as the kind of block that is shortest, or nearly so: a
// short one has codes of its own where they are likely to save more than a few bytes.
func (c *Compressor) appendBlock(dst, src []byte, last bool) []byte {
	if c.series != nil {
		if out, ok := c.series.append(dst, c); ok {
			return out
		}
	}
	b := &c.block
	extra := c.count(src)
	own := 0
	fixed, dynamic := extra+5*c.n, math.MaxInt // five bits for the distance of each match
	if len(src) <= short {
		for s, f := range &b.freq {
			fixed += int(f) * int(fixedCodes[s].length())
		}
	}
	if len(src) > short || b.likely()+extra+leastSaved < fixed {
		used, size := b.tree.build(b.codes[:symbols], b.freq[:], mostBits)
		if len(src) > short {
			for _, s := range used {
				fixed += int(b.freq[s]) * int(fixedCodes[s].length())
			}
		}
		_, distanceSize := b.tree.build(b.distances[:distances], b.distanceFreq[:], mostDistanceBits)
		own = extra + size + distanceSize
		dynamic = own + b.lengths.make(&b.tree, b.codes[:symbols], b.distances[:distances])
	}
	stored := 8 * (len(src) + 5*(len(src)/mostStored+1))
	dst = slices.Grow(dst, min(dynamic, fixed, stored)/8+32)
	final := uint64(0)
	if last {
		final = lastBlock
	}
	switch {
	case stored <= min(dynamic, fixed):
		return c.bits.appendStored(dst, src, final)
	case fixed <= dynamic:
		c.bits.put(final|fixedBlock, 3)
		copy(b.codes[:], fixedCodes[:])
		copy(b.distances[:], fixedDistances[:])
		return c.appendMatches(dst)
	}
	c.bits.put(final|dynamicBlock, 3)
	dst = b.lengths.append(dst, &c.bits)
	dst = c.appendMatches(dst)
	if c.series != nil {
		c.series.add(c, own)
	}
	return dst
}

// measure returns how many symbols the segment has.
func (c *Compressor) measure() measure {
	return measure{symbols: c.filled - c.copied + c.n + 1, matches: c.n}
}

// A block of at most short bytes has codes of its own where they are likely to save more than
// leastSaved bits: to make and to send them takes as long as all else that is done with it.
const (
	short      = 1024
	leastSaved = 8 * 48
)

// likely is about how many bits the symbols of the block take with codes of its own, and these.
func (b *blockCodes) likely() int {
	size, used := entropy(b.freq[:])
	distanceSize, distancesUsed := entropy(b.distanceFreq[:])
	return size + distanceSize + 60 + 9*(used+distancesUsed)/2
}

// entropy returns about how many bits symbols take that occur as often as freq says, and how many
// of them do occur.
func entropy(freq []uint32) (size, used int) {
	all := 0
	for _, f := range freq {
		if f > 0 {
			used++
			all += int(f)
			size -= int(f) * log2(f)
		}
	}
	return (size + all*log2(uint32(all))) / logUnit, used
}

// log2 returns about the logarithm of n, times logUnit.
func log2(n uint32) int {
	l := max(bits.Len32(n), 1) - 1
	return l*logUnit + int(n*logUnit>>l) - logUnit
}

const logUnit = 64

// encoded is room for a block: a literal takes mostBits at most, and a match fewer than the bytes
// that it copies would.
type encoded [1<<17 + 8]byte

// store writes the eight bytes of v, the lowest one first.
func (b *encoded) store(at int, v uint64) {
	at &= len(b) - 9
	binary.LittleEndian.PutUint64(b[at:at+8], v)
}

// appendMatches appends the literals and matches of the segment by the codes of the block. All that
// it reads and writes is at a fixed place of c: there are hardly enough registers for what is not.
func (c *Compressor) appendMatches(dst []byte) []byte {
	// The bits that are held are the highest of acc, the last one highest: the place of others does
	// not depend on how many they are. Of held the low six bits count: codewords are added as they
	// are.
	held, at, p := c.bits.held, 0, c.from
	acc := c.bits.acc << (64 - held)
	for i := range c.n {
		m := c.matches[i&(len(c.matches)-1)]
		run := int(m.literals)
		for ; run > 4; run -= 4 {
			x := c.window.load(p)
			w := c.block.codes[byte(x)] //nolint:gosec // G115: one of eight bytes
			acc = acc>>(w&63) | w.high()
			held += uint(w)
			w = c.block.codes[byte(x>>8)] //nolint:gosec // G115: one of eight bytes
			acc = acc>>(w&63) | w.high()
			held += uint(w)
			w = c.block.codes[byte(x>>16)] //nolint:gosec // G115: one of eight bytes
			acc = acc>>(w&63) | w.high()
			held += uint(w)
			w = c.block.codes[byte(x>>24)] //nolint:gosec // G115: one of eight bytes
			acc = acc>>(w&63) | w.high()
			held += uint(w)
			c.encoded.store(at, acc>>(-held&63))
			at += int(held >> 3 & 7)
			held &= 7
			p += 4
		}
		// Of the last four those that are too many are none: how many there are can hardly be
		// predicted.
		x, keep := c.window.load(p), &kept[run&7]
		w := c.block.codes[byte(x)] & keep[0] //nolint:gosec // G115: one of eight bytes
		acc = acc>>(w&63) | w.high()
		held += uint(w)
		w = c.block.codes[byte(x>>8)] & keep[1] //nolint:gosec // G115: one of eight bytes
		acc = acc>>(w&63) | w.high()
		held += uint(w)
		w = c.block.codes[byte(x>>16)] & keep[2] //nolint:gosec // G115: one of eight bytes
		acc = acc>>(w&63) | w.high()
		held += uint(w)
		w = c.block.codes[byte(x>>24)] & keep[3] //nolint:gosec // G115: one of eight bytes
		acc = acc>>(w&63) | w.high()
		held += uint(w)
		c.encoded.store(at, acc>>(-held&63))
		at += int(held >> 3 & 7)
		held &= 7
		p += run + int(m.length)
		l := lengthCodes[byte(m.length-3)] //nolint:gosec // G115: a length of at most 258
		w = c.block.codes[l.symbol()]
		acc = acc>>(w&63) | w.high()
		held += uint(w)
		w = l.extra()
		acc = acc>>(w&63) | w.high()
		held += uint(w)
		d := codeOf(m.distance)
		w = c.block.distances[d.symbol()]
		acc = acc>>(w&63) | w.high()
		held += uint(w) + d.bits()
		acc = acc>>d.bits() | uint64(m.distance)<<1<<((63-d.bits())&63)
		c.encoded.store(at, acc>>(-held&63))
		at += int(held >> 3 & 7)
		held &= 7
	}
	for to := c.from + c.filled; p < to; p++ {
		w := c.block.codes[byte(c.window.load(p))] //nolint:gosec // G115: the first of eight bytes
		acc = acc>>(w&63) | w.high()
		held += w.length()
		c.encoded.store(at, acc>>(-held&63))
		at += int(held >> 3)
		held &= 7
	}
	c.bits = bitWriter{acc >> (64 - held), held}
	c.bits.word(c.block.codes[endMark])
	return c.bits.flush(append(dst, c.encoded[:at]...))
}

// kept has, for a number of literals, which of four are some of them.
var kept = func() (t [8][4]codeword) {
	for n := range t {
		for i := range min(n, 4) {
			t[n][i] = ^codeword(0)
		}
	}
	return t
}()
