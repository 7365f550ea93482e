package image

import (
	"context"
)

// huffman decodes the codes of a table (ISO/IEC 10918-1, annex C).
type huffman struct {
	values []byte
	// of the codes of each length: the last one, -1 if there is none, and the index of the value
	// of the first less that code.
	last, base [17]int
	// fast holds the value and the length of the code that 8 bits start with; 0: it is longer.
	fast [256]uint16
}

// newHuffman reads the table that seg starts with and returns how long it is.
func newHuffman(seg []byte) (h *huffman, n int, err error) {
	if len(seg) < 17 || seg[0]>>4 > 1 || seg[0]&15 > 3 {
		return nil, 0, jpegError("a broken coding table")
	}
	for _, c := range seg[1:17] {
		n += int(c)
	}
	if n == 0 || n > 256 || len(seg) < 17+n {
		return nil, 0, jpegError("a broken coding table")
	}
	h = &huffman{values: seg[17 : 17+n]}
	code, index := 0, 0
	for length := 1; length <= 16; length++ {
		count := int(seg[length])
		h.base[length] = index - code
		if code+count > 1<<length {
			return nil, 0, jpegError("a coding table with too many codes")
		}
		for i := 0; i < count && length <= 8; i++ {
			for j := range 1 << (8 - length) {
				h.fast[(code+i)<<(8-length)|j] = uint16(h.values[index+i])<<8 | uint16(length)
			}
		}
		code, index = code+count, index+count
		h.last[length] = -1
		if count > 0 {
			h.last[length] = code - 1
		}
		code <<= 1
	}
	return h, 17 + n, nil
}

// bitReader reads the bits of entropy-coded data, in which 0xFF 0x00 stands for 0xFF. Behind the
// end it reads zeros and counts them.
type bitReader struct {
	data []byte
	at   int
	acc  uint32
	n    int // bits in acc
	over int // bytes read behind the end
}

func (b *bitReader) fill() {
	for b.n <= 24 {
		var c byte
		switch {
		case b.at >= len(b.data):
			b.over++
		case b.data[b.at] != 0xFF:
			c = b.data[b.at]
			b.at++
		case b.at+1 < len(b.data) && b.data[b.at+1] == 0:
			c = 0xFF
			b.at += 2
		default: // a marker ends the data
			b.over++
		}
		b.acc |= uint32(c) << (24 - b.n)
		b.n += 8
	}
}

func (b *bitReader) bits(n int) int {
	if n == 0 {
		return 0
	}
	if b.n < n {
		b.fill()
	}
	v := b.acc >> (32 - n)
	b.acc <<= n
	b.n -= n
	return int(v)
}

// short reports that more was read than there is.
func (b *bitReader) short() bool { return 8*b.over > b.n }

// value decodes the next code; ok is false when there is no such code.
func (b *bitReader) value(h *huffman) (v int, ok bool) {
	if b.n < 16 {
		b.fill()
	}
	if e := h.fast[b.acc>>24]; e != 0 {
		b.acc <<= e & 0xFF
		b.n -= int(e & 0xFF)
		return int(e >> 8), true
	}
	for length := 9; length <= 16; length++ {
		if code := int(b.acc >> (32 - length)); h.last[length] >= code {
			b.acc <<= length
			b.n -= length
			return int(h.values[h.base[length]+code]), true
		}
	}
	return 0, false
}

// scan is one scan of an image: some components, and of progressive images some coefficients
// and one of their bits or more.
type scan struct {
	*jpegFile
	bitReader
	comps      []scanComp
	from, to   int // spectral selection
	high, low  int // successive approximation
	run        int // blocks to come that have no further coefficients
	sinceReset int
}

type scanComp struct {
	*jpegComp
	dc, ac *huffman
}

// follow reads all scans to the end of the image without keeping a sample: code by code, as many
// blocks as the frame states. Of progressive images it keeps which coefficients are not zero,
// for that decides how the later scans are coded (annex G).
func (f *jpegFile) follow(ctx context.Context) error {
	if f.progressive {
		for i := range f.comps {
			c := &f.comps[i]
			c.seen = make([]uint64, c.stride*c.rows)
		}
		defer func() {
			for i := range f.comps {
				f.comps[i].seen = nil
			}
		}()
	}
	whole := map[int]bool{}
	for p := f.first; ; {
		marker, seg, next, err := jpegSegment(f.data, p)
		switch {
		case err != nil:
			return err
		case marker == markerEOI:
			if len(whole) < len(f.comps) {
				return jpegError("a component has no scan")
			}
			return nil
		case marker == markerSOS:
			s, err := f.scan(seg, next)
			if err != nil {
				return err
			}
			if err := s.blocks(ctx); err != nil {
				return err
			}
			for _, c := range s.comps {
				whole[c.id] = true
			}
			next = s.behind()
		default:
			if err := f.tables.define(marker, seg); err != nil {
				return err
			}
		}
		p = next
	}
}

// scan reads a scan header (B.2.3).
func (f *jpegFile) scan(seg []byte, at int) (*scan, error) {
	s := &scan{jpegFile: f, bitReader: bitReader{data: f.data, at: at}}
	if len(seg) < 1 || len(seg) != 4+2*int(seg[0]) || seg[0] < 1 || int(seg[0]) > len(f.comps) {
		return nil, jpegError("scan header of %d bytes", len(seg))
	}
	tail := seg[1+2*int(seg[0]):]
	s.from, s.to, s.high, s.low = 0, 63, 0, 0
	if f.progressive {
		s.from, s.to, s.high, s.low = int(tail[0]), int(tail[1]), int(tail[2]>>4), int(tail[2]&15)
		if s.from > s.to || s.to > 63 || s.from == 0 && s.to != 0 || s.from > 0 && seg[0] != 1 || s.low > 13 || s.high != 0 && s.high != s.low+1 {
			return nil, jpegError("a scan of coefficients %d to %d, bits %d to %d", s.from, s.to, s.high, s.low)
		}
	}
	sampling := 0
	for i := range int(seg[0]) {
		id, tables := int(seg[1+2*i]), seg[2+2*i]
		var c *jpegComp
		for j := range f.comps {
			if f.comps[j].id == id {
				c = &f.comps[j]
			}
		}
		if c == nil || tables>>4 > 3 || tables&15 > 3 || !f.tables.quant[c.tq] {
			return nil, jpegError("a scan of component %d, which the frame or a table lacks", id)
		}
		sc := scanComp{c, f.tables.dc[tables>>4], f.tables.ac[tables&15]}
		if s.from == 0 && s.high == 0 && sc.dc == nil || s.to > 0 && sc.ac == nil {
			return nil, jpegError("a scan without its coding tables")
		}
		sampling += c.h * c.v
		s.comps = append(s.comps, sc)
	}
	if len(s.comps) > 1 && sampling > 10 {
		return nil, jpegError("a unit of %d blocks", sampling)
	}
	return s, nil
}

// blocks reads the blocks of a scan in their order (A.2).
func (s *scan) blocks(ctx context.Context) error {
	c := s.comps[0]
	wide, high := c.wide, c.high
	if len(s.comps) > 1 {
		wide, high = c.stride/c.h, c.rows/c.v
	}
	for y := range high {
		if y%16 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for x := range wide {
			if err := s.reset(); err != nil {
				return err
			}
			if len(s.comps) == 1 {
				if !s.block(c, y*c.stride+x) {
					return jpegError("wrong code in block %d, %d", x, y)
				}
				continue
			}
			for _, c := range s.comps {
				for i := range c.h * c.v {
					if !s.block(c, (y*c.v+i/c.h)*c.stride+x*c.h+i%c.h) {
						return jpegError("wrong code in unit %d, %d", x, y)
					}
				}
			}
		}
		if s.short() {
			return jpegError("the data of a scan ends in row %d of %d", y, high)
		}
	}
	return nil
}

// reset reads the restart marker that is due (E.2.4).
func (s *scan) reset() error {
	if n := s.tables.restart; n > 0 && s.sinceReset > 0 && s.sinceReset%n == 0 {
		p := s.behind()
		want := byte(markerRST0 + (s.sinceReset/n-1)%8)
		if s.short() || p+2 > len(s.bitReader.data) || s.bitReader.data[p] != 0xFF || s.bitReader.data[p+1] != want {
			return jpegError("no restart marker at offset %d", p)
		}
		s.bitReader = bitReader{data: s.bitReader.data, at: p + 2}
		s.run = 0
	}
	s.sinceReset++
	return nil
}

// behind returns the offset of the marker that ends the data.
func (s *scan) behind() int {
	p := s.at
	for p+1 < len(s.bitReader.data) && (s.bitReader.data[p] != 0xFF || s.bitReader.data[p+1] == 0) {
		p++
	}
	for p+1 < len(s.bitReader.data) && s.bitReader.data[p] == 0xFF && s.bitReader.data[p+1] == 0xFF {
		p++
	}
	return p
}

// block reads what the scan has of block n of a component.
func (s *scan) block(c scanComp, n int) bool {
	switch {
	case s.high > 0 && s.from == 0:
		s.bits(1)
		return true
	case s.high > 0:
		return s.refine(c, n)
	}
	k := s.from
	if k == 0 {
		size, ok := s.value(c.dc)
		if !ok || size > 16 {
			return false
		}
		s.bits(size)
		k = 1
	}
	if s.run > 0 {
		s.run--
		return true
	}
	for ; k <= s.to; k++ {
		v, ok := s.value(c.ac)
		if !ok {
			return false
		}
		zeros, size := v>>4, v&15
		switch {
		case size > 0:
			if k += zeros; k > 63 {
				return true // decoders take it for the end of the block
			}
			s.bits(size)
			if s.progressive {
				c.seen[n] |= 1 << k
			}
		case zeros == 15:
			k += 15
		case s.progressive:
			s.run = 1<<zeros | s.bits(zeros)
			s.run--
			return true
		default:
			return true
		}
	}
	return true
}

// refine reads one more bit of the coefficients of block n (G.1.2.3).
func (s *scan) refine(c scanComp, n int) bool {
	k := s.from
	if s.run == 0 {
	codes:
		for ; k <= s.to; k++ {
			v, ok := s.value(c.ac)
			if !ok {
				return false
			}
			zeros, size := v>>4, v&15
			switch {
			case size > 1:
				return false
			case size == 1:
				s.bits(1) // the sign
			case zeros != 15:
				s.run = 1<<zeros | s.bits(zeros)
				break codes
			}
			k = s.correct(c, n, k, zeros)
			if k > s.to {
				return false
			}
			if size == 1 {
				c.seen[n] |= 1 << k
			}
		}
	}
	if s.run > 0 {
		s.run--
		s.correct(c, n, k, -1)
	}
	return true
}

// correct reads a bit for each coefficient from k on that is not zero, until it meets one that is
// behind so many that are; it returns its index. A negative number means to the end.
func (s *scan) correct(c scanComp, n, k, zeros int) int {
	for ; k <= s.to; k++ {
		if c.seen[n]&(1<<k) == 0 {
			if zeros == 0 {
				break
			}
			zeros--
			continue
		}
		s.bits(1)
	}
	return k
}
