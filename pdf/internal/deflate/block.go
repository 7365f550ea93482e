package deflate

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// lengthCode has, for a length of a match less 3, its symbol, how many extra bits follow it, and
// what they say (RFC 1951, 3.2.5).
type lengthCode struct {
	symbol uint16
	bits   uint8
	extra  uint8
}

var lengthCodes = func() (t [256]lengthCode) {
	for i := range t {
		k := max(bits.Len(uint(i)), 3) - 3
		t[i] = lengthCode{uint16(257 + k<<2 + i>>k), uint8(k), uint8(i & (1<<k - 1))}
	}
	t[255] = lengthCode{285, 0, 0}
	return t
}()

// distanceCode has, for a distance less 1, its symbol and how many extra bits follow it: the low
// ones of that number.
type distanceCode struct{ symbol, extra uint8 }

// distanceCodes are those of the distances below 256, and then one for 128 others each.
var distanceCodes = func() (t [512]distanceCode) {
	for i := range t {
		d := i
		if i >= 256 {
			d = (i - 256) << 7
		}
		if d < 2 {
			t[i] = distanceCode{uint8(d), 0}
			continue
		}
		k := bits.Len(uint(d)) - 2
		t[i] = distanceCode{uint8(k<<1 + d>>k), uint8(k)}
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
	codes        [symbols]codeword
	distances    [distances]codeword
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
		b.freq[l.symbol]++
		d := codeOf(m.distance)
		b.distanceFreq[d.symbol]++
		extra += uint(l.bits) + uint(d.extra)
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
		used, size := b.tree.build(b.codes[:], b.freq[:], mostBits)
		if len(src) > short {
			for _, s := range used {
				fixed += int(b.freq[s]) * int(fixedCodes[s].length())
			}
		}
		_, distanceSize := b.tree.build(b.distances[:], b.distanceFreq[:], mostDistanceBits)
		own = extra + size + distanceSize
		dynamic = own + b.lengths.make(&b.tree, b.codes[:], b.distances[:])
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
		return c.appendMatches(dst, &fixedCodes, &fixedDistances)
	}
	c.bits.put(final|dynamicBlock, 3)
	dst = b.lengths.append(dst, &c.bits)
	dst = c.appendMatches(dst, &b.codes, &b.distances)
	if c.series != nil {
		c.series.learn(c, own)
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

// appendMatches appends the literals and matches of the segment by the codes. dst has room for
// them and eight bytes more.
func (c *Compressor) appendMatches(
	dst []byte, codes *[symbols]codeword, dist *[distances]codeword,
) []byte {
	at, out := len(dst), dst[:cap(dst)]
	acc, held := c.bits.acc, c.bits.held // apart, in registers
	w, p := &c.window, c.from
	for _, m := range c.matches[:c.n] {
		// Four literals at a time, of the last of which those that are too many are none: how many
		// there are can hardly be predicted.
		run := int(m.literals)
		for ; run > 4; run -= 4 {
			x := w.load(p)
			w0, w1 := codes[byte(x)], codes[byte(x>>8)]      //nolint:gosec // G115: one of eight bytes
			w2, w3 := codes[byte(x>>16)], codes[byte(x>>24)] //nolint:gosec // G115: one of eight bytes
			acc |= w0.bits() << (held & 63)
			held += w0.length()
			acc |= w1.bits() << (held & 63)
			held += w1.length()
			acc |= w2.bits() << (held & 63)
			held += w2.length()
			acc |= w3.bits() << (held & 63)
			held += w3.length()
			binary.LittleEndian.PutUint64(out[at:], acc)
			at += int(held >> 3)
			acc >>= held & 56
			held &= 7
			p += 4
		}
		x := w.load(p)
		w0, w1 := codes[byte(x)]&keep(run), codes[byte(x>>8)]&keep(run-1)        //nolint:gosec // G115: one of eight bytes
		w2, w3 := codes[byte(x>>16)]&keep(run-2), codes[byte(x>>24)]&keep(run-3) //nolint:gosec // G115: one of eight bytes
		acc |= w0.bits() << (held & 63)
		held += w0.length()
		acc |= w1.bits() << (held & 63)
		held += w1.length()
		acc |= w2.bits() << (held & 63)
		held += w2.length()
		acc |= w3.bits() << (held & 63)
		held += w3.length()
		binary.LittleEndian.PutUint64(out[at:], acc)
		at += int(held >> 3)
		acc >>= held & 56
		held &= 7
		p += run + int(m.length)
		l := lengthCodes[byte(m.length-3)] //nolint:gosec // G115: a length of at most 258
		s := codes[l.symbol]
		acc |= s.bits() << (held & 63)
		held += s.length()
		acc |= uint64(l.extra) << (held & 63)
		held += uint(l.bits)
		d := codeOf(m.distance)
		s = dist[d.symbol&31]
		acc |= s.bits() << (held & 63)
		held += s.length()
		acc |= uint64(m.distance) & (1<<(d.extra&15) - 1) << (held & 63)
		held += uint(d.extra)
		binary.LittleEndian.PutUint64(out[at:], acc)
		at += int(held >> 3)
		acc >>= held & 56
		held &= 7
	}
	c.bits = bitWriter{acc, held}
	dst = dst[:at]
	for ; p < c.from+c.filled; p++ {
		c.bits.word(codes[w[p%ring]])
		dst = c.bits.flush(dst)
	}
	c.bits.word(codes[endMark])
	return c.bits.flush(dst)
}

// keep is all ones when n is positive, else 0.
func keep(n int) codeword { return codeword(uint32(-n >> 63)) } //nolint:gosec // G115: the bits are meant
