package cos

import (
	"bytes"
	"compress/zlib"
	"io"
	"strings"
	"sync"
)

// filterName returns the full name of a filter, of which content streams have short ones.
func filterName(n Name) Name {
	switch n {
	case "AHx":
		return "ASCIIHexDecode"
	case "A85":
		return "ASCII85Decode"
	case "LZW":
		return "LZWDecode"
	case "Fl":
		return FlateDecode
	case "RL":
		return "RunLengthDecode"
	case "CCF":
		return "CCITTFaxDecode"
	case "DCT":
		return "DCTDecode"
	}
	return n
}

// imageFilter reports whether n makes samples of an image format, which stay as they are.
func imageFilter(n Name) bool {
	switch n {
	case "DCTDecode", "JPXDecode", "CCITTFaxDecode", "JBIG2Decode":
		return true
	}
	return false
}

// unfilter decodes data (ISO 32000-2, 7.4) to at most limit bytes. Data that breaks off gives
// what there is, and a note of it.
func unfilter(n Name, parms Dict, data []byte, limit int64) (out []byte, odd string, err error) {
	switch n {
	case FlateDecode:
		if out, odd, err = inflate(data, limit); err == nil {
			out, err = unpredict(out, parms)
		}
	case "LZWDecode":
		if out, odd, err = unLZW(data, intOr(parms.Get("EarlyChange"), 1) != 0, limit); err == nil {
			out, err = unpredict(out, parms)
		}
	case "ASCIIHexDecode":
		out, odd = unHex(data)
	case "ASCII85Decode":
		out, odd, err = un85(data, limit)
	case "RunLengthDecode":
		out, odd, err = unRun(data, limit)
	case "Crypt":
		out = data // undone already, where the data was read
	default:
		err = syntaxError("filter " + string(n) + ", which is unknown")
	}
	return out, odd, err
}

func intOr(o Object, def int64) int64 {
	if i, ok := o.(Int); ok {
		return int64(i)
	}
	return def
}

func tooLong(limit int64) error { return limitError("StreamBytes", limit+1, limit, "") }

// inflaters are kept, for their windows and buffers are worth it.
var inflaters sync.Pool

type inflater struct {
	zlib io.Reader // a zlib.Resetter
	out  bytes.Buffer
}

// keptOutput is the largest buffer that an inflater keeps.
const keptOutput = 1 << 20

func inflate(data []byte, limit int64) ([]byte, string, error) {
	src := bytes.NewReader(bytes.TrimLeft(data, "\r\n"))
	z, ok := inflaters.Get().(*inflater)
	var err error
	if ok {
		err = z.reset(src)
	} else {
		z = &inflater{}
		z.zlib, err = zlib.NewReader(src)
	}
	if err != nil {
		if len(data) == 0 {
			return nil, "", nil
		}
		return nil, "", syntaxError("data that is not of zlib")
	}
	defer func() {
		// It must not keep what it read; what comes in its place is a header without data.
		if z.reset(strings.NewReader("\x78\x9C")) == nil {
			inflaters.Put(z)
		}
	}()
	odd := ""
	n, broken := z.out.ReadFrom(io.LimitReader(z.zlib, limit+1))
	out := z.out.Bytes()
	if z.out.Cap() > keptOutput {
		z.out = bytes.Buffer{}
	} else {
		out = bytes.Clone(out)
		z.out.Reset()
	}
	if n > limit {
		return nil, "", tooLong(limit)
	}
	if broken != nil {
		odd = "compressed data that breaks off"
	}
	return out, odd, nil
}

func (z *inflater) reset(r io.Reader) error {
	return z.zlib.(zlib.Resetter).Reset(r, nil) //nolint:forcetypeassert // as the package says
}

// unLZW decodes codes of 9 to 12 bits (7.4.4.2). early is that widths change one code before
// they must.
func unLZW(data []byte, early bool, limit int64) ([]byte, string, error) {
	const reset, eod, most = 256, 257, 4096
	var prefix [most]uint16
	var last, first [most]byte
	var length [most]int
	for i := range 256 {
		last[i], first[i], length[i] = byte(i), byte(i), 1
	}
	ahead := 0
	if early {
		ahead = 1
	}
	var out []byte
	next, width, before := 258, 9, -1
	var bits, have uint
	for _, c := range data {
		bits, have = bits<<8|uint(c), have+8
		for have >= uint(width) {
			have -= uint(width)
			code := int(bits >> have & (1<<uint(width) - 1))
			switch {
			case code == reset:
				next, width, before = 258, 9, -1
				continue
			case code == eod:
				return out, "", nil
			case code > next || code == next && before < 0 || code >= 256 && before < 0:
				return out, "an LZW code that has no meaning", nil
			}
			n, walk := 0, code
			if code == next {
				n, walk = length[before]+1, before //nolint:gosec // G602: the case above has refused a code before the first
			} else {
				n = length[code]
			}
			if int64(len(out)+n) > limit {
				return nil, "", tooLong(limit)
			}
			head := first[walk]
			at := len(out) + n - 1
			out = append(out, make([]byte, n)...)
			if code == next {
				out[at] = head
				at--
			}
			for ; ; at-- {
				out[at] = last[walk]
				if walk < 256 {
					break
				}
				walk = int(prefix[walk])
			}
			if before >= 0 && next < most {
				prefix[next] = uint16(before)
				last[next], first[next], length[next] = head, first[before], length[before]+1 //nolint:gosec // G602: not below 0, as the condition says
				next++
			}
			before = code
			for width < 12 && next+ahead >= 1<<uint(width) {
				width++
			}
		}
	}
	return out, "LZW data without its end", nil
}

func unHex(data []byte) ([]byte, string) {
	p := parser{b: append([]byte("<"), data...), whole: true, m: &memory{}}
	o, err := p.hex()
	if err != nil {
		p.b = append(p.b, '>')
		o, _ = p.hex() // it ends now
		return []byte(o.(Hex)), "hexadecimal data without its end"
	}
	return []byte(o.(Hex)), p.odd
}

func un85(data []byte, limit int64) (out []byte, odd string, err error) {
	data = bytes.TrimPrefix(bytes.TrimLeft(data, " \t\r\n\f\x00"), []byte("<~"))
	var word uint64
	n := 0
	for _, c := range data {
		if int64(len(out)+4) > limit+4 {
			return nil, "", tooLong(limit)
		}
		switch {
		case charClass[c] == classSpace:
		case c == '~':
			if n == 1 {
				return out, "data of ASCII85Decode that breaks off", nil
			}
			return append(out, last85(word, n)...), odd, nil
		case c == 'z' && n == 0:
			out = append(out, 0, 0, 0, 0)
		case c < '!' || c > 'u':
			odd = "data of ASCII85Decode with other characters"
		default:
			word = word*85 + uint64(c-'!')
			if n++; n == 5 {
				out = append(out, last85(word, 5)...)
				word, n = 0, 0
			}
		}
	}
	return append(out, last85(word, n)...), "data of ASCII85Decode without its end", nil
}

// last85 returns the n-1 bytes of a group of n digits.
func last85(word uint64, n int) []byte {
	if n < 2 {
		return nil
	}
	for range 5 - n {
		word = word*85 + 84
	}
	b := [4]byte{byte(word >> 24), byte(word >> 16), byte(word >> 8), byte(word)} //nolint:gosec // G115: the bytes of the word
	return append([]byte(nil), b[:n-1]...)
}

func unRun(data []byte, limit int64) (out []byte, odd string, err error) {
	for i := 0; i < len(data); {
		n := int(data[i])
		i++
		switch {
		case n == 128:
			return out, "", nil
		case n < 128:
			end := min(i+n+1, len(data))
			out = append(out, data[i:end]...)
			i = end
		case i < len(data):
			out = append(out, bytes.Repeat(data[i:i+1], 257-n)...)
			i++
		}
		if int64(len(out)) > limit {
			return nil, "", tooLong(limit)
		}
	}
	return out, "run lengths without their end", nil
}

// unpredict undoes a predictor (7.4.4.4) in place.
func unpredict(data []byte, parms Dict) ([]byte, error) {
	kind := intOr(parms.Get("Predictor"), 1)
	if kind <= 1 || len(data) == 0 {
		return data, nil
	}
	colors, bits, columns := intOr(parms.Get("Colors"), 1), intOr(parms.Get("BitsPerComponent"), 8), intOr(parms.Get("Columns"), 1)
	if colors < 1 || colors > 64 || bits < 1 || bits > 16 || bits&(bits-1) != 0 || columns < 1 || columns > 1<<26 {
		return nil, syntaxError("a predictor for samples that cannot be")
	}
	row, pixel := int((columns*colors*bits+7)/8), int(max(colors*bits/8, 1))
	if kind == 2 {
		untiff(data, row, pixel, int(colors), int(bits))
		return data, nil
	}
	out := data[:0]
	above := make([]byte, min(row, len(data)))
	for len(data) > 0 {
		how, line := data[0], data[1:min(1+row, len(data))]
		data = data[1+len(line):]
		for i, c := range line {
			var left, up, corner byte
			up = above[i]
			if i >= pixel {
				left, corner = line[i-pixel], above[i-pixel]
			}
			switch how {
			case 1:
				c += left
			case 2:
				c += up
			case 3:
				c += byte((int(left) + int(up)) / 2) //nolint:gosec // G115: a mean of two bytes
			case 4:
				c += paeth(left, up, corner)
			}
			line[i] = c
		}
		copy(above, line)
		out = append(out, line...)
	}
	return out, nil
}

func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	da, db, dc := abs(p-int(a)), abs(p-int(b)), abs(p-int(c))
	switch {
	case da <= db && da <= dc:
		return a
	case db <= dc:
		return b
	}
	return c
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}

// untiff undoes the differences of TIFF's predictor 2.
func untiff(data []byte, row, pixel, colors, bits int) {
	for ; len(data) > 0; data = data[min(row, len(data)):] {
		line := data[:min(row, len(data))]
		switch bits {
		case 8:
			for i := pixel; i < len(line); i++ {
				line[i] += line[i-pixel]
			}
		case 16:
			for i := pixel; i+1 < len(line); i += 2 {
				v := uint16(line[i])<<8 + uint16(line[i+1]) + uint16(line[i-pixel])<<8 + uint16(line[i-pixel+1])
				line[i], line[i+1] = byte(v>>8), byte(v) //nolint:gosec // G115: the two bytes
			}
		default:
			before := make([]byte, colors)
			mask := byte(1<<bits - 1)
			for i := 0; (i+1)*bits <= len(line)*8; i++ {
				at, shift := i*bits/8, 8-bits-i*bits%8
				v := (line[at]>>shift + before[i%colors]) & mask
				before[i%colors] = v
				line[at] = line[at]&^(mask<<shift) | v<<shift
			}
		}
	}
}
