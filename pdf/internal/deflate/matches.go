package deflate

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	minMatch = 4
	maxMatch = 258 // RFC 1951, 3.2.5
	hashBits = 12

	// A match by the table has four bytes at least when it lies no farther back than near, six
	// otherwise: a shorter one takes more bits than its literals.
	near    = 255
	farMore = 2
	// good is the length from which no better match is looked for.
	good = 16
	// patience is how many positions without a match are looked at before fewer are.
	patience = 64

	// untold is how many bytes between two repetitions that are told are searched: fewer are
	// literals.
	untold = 48
)

// match is a copy of earlier bytes and the number of literals before it.
type match struct {
	literals uint32
	length   uint16
	distance uint16 // less 1
}

type ringBuffer [ring + slack]byte

// load returns the eight bytes from position p on, the first one lowest.
func (b *ringBuffer) load(p int) uint64 {
	p &= ring - 1
	return binary.LittleEndian.Uint64(b[p : p+8])
}

func hash(x uint64) uint32 {
	return uint32(x) * 0x9E3779B1 >> (32 - hashBits) //nolint:gosec // G115: the low bytes are meant
}

// zeroBytes returns how many of the lowest bytes of x are 0. It takes as long as many a processor
// takes for bits.TrailingZeros64 alone: of each such byte the highest bit is left, and they are
// added up.
func zeroBytes(x uint64) int {
	return int((x - 1) &^ x & 0x8080808080808080 >> 7 * 0x0101010101010101 >> 56)
}

// same returns how many bytes from position p on are those from q on, up to position end. What
// lies behind end is looked at and does not count.
func (b *ringBuffer) same(p, q, end int) int {
	// Most matches end within sixteen bytes, so far without a branch that depends on where.
	x, y := b.load(p)^b.load(q), b.load(p+8)^b.load(q+8)
	n := zeroBytes(x) + zeroBytes(y)&int((x|-x)>>63-1)
	if n == 16 {
		for p+n < end {
			if x = b.load(p+n) ^ b.load(q+n); x != 0 {
				n += zeroBytes(x)
				break
			}
			n += 8
		}
	}
	return min(n, end-p)
}

// value is what a match is worth, as far as that can be told before there are codes: twice as far
// is a bit, and a byte is four.
func value(length, distance int) int {
	return 4*length - int(math.Float64bits(float64(distance))>>52)
}

// search finds the matches of the bytes from position from to position to. What is before, up to
// the beginning of the stream, is history.
func (c *Compressor) search(from, to int) {
	c.n, c.copied = 0, 0
	p, done := from, from
	for len(c.repeats) > 0 {
		r := c.repeats[0]
		at, of := c.zero+int(r.At), c.zero+int(r.Of)
		if at >= to {
			break
		}
		c.repeats = c.repeats[1:]
		next := to
		if len(c.repeats) > 0 {
			next = min(next, c.zero+int(c.repeats[0].At))
		}
		if at < p { // the match before is longer than was told
			at, of = p, of+p-at
		}
		if at >= next || of < c.start || of >= at || at-of > window {
			continue
		}
		if at-p > untold {
			done = c.scan(p, done, at)
			p = at
		}
		if end := c.follow(at, done, at-of, next, to); end != done {
			p, done = end, end
		}
	}
	c.scan(p, done, to)
}

// follow notes what repeats from position p on at a distance: a match there, and those that follow
// it within a few bytes at the same distance, up to position next, where another repetition begins.
// It returns the end of the last one; done, when there is none.
func (c *Compressor) follow(p, done, distance, next, to int) int {
	w := &c.window
	least := minMatch
	if distance > near {
		least += farMore
	}
	back := w.back(p, distance, min(p-done, p-distance-c.start))
	for {
		if n := w.run(p, p-distance, to); n+back >= least {
			c.match(p-back, done, n+back, distance)
			p += n
			done = p
		}
		if p+mostBack >= next { // what follows is part of the next one, if of any
			return done
		}
		k := w.four(p, distance)
		if k <= 0 {
			return done
		}
		p += k
		back = 0
	}
}

// run is same where more bytes are expected to be alike.
func (b *ringBuffer) run(p, q, end int) int {
	for at := p; at < end; at += 8 {
		if x := b.load(at) ^ b.load(at-p+q); x != 0 {
			return min(at+zeroBytes(x), end) - p
		}
	}
	return end - p
}

// mostBack is how many bytes before the place where two parts of a stream are found to be alike are
// looked at.
const mostBack = 16

// back returns how many bytes before position p are those at a distance, most at most.
func (b *ringBuffer) back(p, distance, most int) int {
	n := zeroBytes(bits.ReverseBytes64(b.load(p-8) ^ b.load(p-8-distance)))
	if n == mostBack/2 {
		n += zeroBytes(bits.ReverseBytes64(b.load(p-16) ^ b.load(p-16-distance)))
	}
	return min(n, most)
}

// four returns the first of the next five positions at which four bytes are those at a distance,
// counted from p; -1 when there is none.
func (b *ringBuffer) four(p, distance int) int {
	// A byte of t is 0 where four in a row are equal.
	t := b.load(p-distance) ^ b.load(p)
	t |= t >> 8
	t |= t >> 16
	zero := (t - 0x0101010101) & ^t & 0x8080808080
	if zero == 0 {
		return -1
	}
	return zeroBytes(zero)
}

// scan finds the matches of the bytes from position p to position to by the hashes of their bytes.
// The literals from position done on belong to the first of them. It returns the end of the last
// one; done, when there is none.
func (c *Compressor) scan(p, done, to int) int {
	if to-p < minMatch {
		return done
	}
	if !c.clean {
		clear(c.table[:])
		c.clean = true
	}
	w, table := &c.window, &c.table
	last := 1 // distance of the match before
	if p == c.start {
		p++ // the first byte has no match, and nothing is before it
	}
	limit := to - 12 // the last position that is looked at
	for {
		var q int
		if p, q = c.candidate(p, limit); p > limit {
			return done
		}
		distance := p - q
		if distance > window {
			p++
			continue
		}
		length := w.same(p, q, to)
		worth := value(length, distance)
		x := w.load(p)
		if k := w.four(p, last); k >= 0 {
			if n := w.same(p+k, p+k-last, to); value(n, last)-4*k >= worth {
				p += k
				c.match(p, done, n, last)
				c.rememberEnds(p, p+n)
				p += n
				done = p
				continue
			}
		}
		if length < good {
			h := hash(x >> 8)
			q := int(table[h])
			table[h] = uint32(p + 1)                                              //nolint:gosec // G115: at most mostPosition
			if d := p + 1 - q; d <= window && uint32(w.load(q)) == uint32(x>>8) { //nolint:gosec // G115: the low bytes are meant
				if n := w.same(p+1, q, to); value(n, d) > worth {
					length, distance = n, d
					p++
				}
			}
		}
		// The bytes before may match as well: not all positions are in the table.
		back := w.back(p, distance, min(p-done, p-distance-c.start))
		c.match(p-back, done, length+back, distance)
		c.rememberEnds(p-back, p+length)
		last = distance
		p += length
		done = p
	}
}

// candidate returns the first position from p on that has a match by the table, and where that is;
// a position behind limit when there is none.
func (c *Compressor) candidate(p, limit int) (at, earlier int) {
	w, table := &c.window, &c.table
	for step := 1; p <= limit; step++ {
		for bound := min(limit, p+patience); p <= bound; p += step {
			x := w.load(p)
			h := hash(x)
			q := int(table[h])
			table[h] = uint32(p)                 //nolint:gosec // G115: at most mostPosition
			far := uint64(int64(near-p+q)) >> 63 //nolint:gosec // G115: the sign
			if (w.load(q)^x)<<(8*(8-minMatch-far*farMore)) == 0 {
				return p, q
			}
		}
	}
	return p, 0
}

// match notes a match at position p, and how many literals are before it, from done on.
func (c *Compressor) match(p, done, length, distance int) {
	run := p - done
	for length > maxMatch {
		n := min(maxMatch, length-minMatch) // what is left is a match, too
		c.note(run, n, distance)
		run, length = 0, length-n
	}
	c.note(run, length, distance)
}

// rememberEnds puts positions of a match into the table, from one position to another.
func (c *Compressor) rememberEnds(p, end int) {
	if end+minMatch <= c.from+c.filled {
		c.remember(p + 1)
		c.remember(end - 3)
	}
}

// remember puts a position into the table.
func (c *Compressor) remember(p int) {
	c.table[hash(c.window.load(p))] = uint32(p) //nolint:gosec // G115: at most mostPosition
}

func (c *Compressor) note(run, length, distance int) {
	c.matches[c.n] = match{uint32(run), uint16(length), uint16(distance - 1)} //nolint:gosec // G115: within a segment
	c.n++
	c.copied += length
}
