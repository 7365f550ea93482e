package standard

import (
	"encoding/binary"

	"example.com/quire/pdf/cos"
)

// jp2 is what the boxes of a JP2 or JPX file say of its image (ISO/IEC 15444-1, annex I).
type jp2 struct {
	header   bool // it has an image header box
	channels int
	depth    int  // in bits; 0: it varies
	varies   bool // it has a box with the depth of each channel
	specs    []colr
}

// colr is a colour specification (I.5.3.3).
type colr struct {
	method, approx byte
	enumerated     uint32 // of method 1
}

// mostSpecs bounds the colour specifications that are read of one image.
const mostSpecs = 64

// boxes calls yield with each box of data, in order, until one is cut off (I.4).
func boxes(data []byte, yield func(kind string, body []byte)) {
	for len(data) >= 8 {
		size, head := uint64(binary.BigEndian.Uint32(data)), uint64(8)
		switch size {
		case 0: // up to the end
			size = uint64(len(data))
		case 1:
			if len(data) < 16 {
				return
			}
			size, head = binary.BigEndian.Uint64(data[8:]), 16
		}
		if size < head || size > uint64(len(data)) {
			return
		}
		yield(string(data[4:8]), data[head:size])
		data = data[size:]
	}
}

// readJP2 reads the header of an image. What is cut off or follows the header is not read.
func readJP2(data []byte) (f jp2) {
	boxes(data, func(kind string, body []byte) {
		if kind != "jp2h" || f.header {
			return
		}
		boxes(body, func(kind string, body []byte) {
			switch {
			case kind == "ihdr" && len(body) >= 14 && !f.header:
				f.header, f.channels = true, int(binary.BigEndian.Uint16(body[8:]))
				if body[10] != 255 {
					f.depth = int(body[10]&0x7f) + 1
				}
			case kind == "bpcc":
				f.varies = true
			case kind == "colr" && len(body) >= 3 && len(f.specs) < mostSpecs:
				c := colr{method: body[0], approx: body[2]}
				if c.method == 1 && len(body) >= 7 {
					c.enumerated = binary.BigEndian.Uint32(body[3:])
				}
				f.specs = append(f.specs, c)
			}
		})
	})
	return f
}

// JPEG2000 checks the data of an image with the filter JPXDecode (ISO 19005-2, 6.2.8.3, and 4,
// 6.2.7.3). spaced says that the dictionary of the image has a colour space, which counts then.
func (j *Judge) JPEG2000(r cos.Ref, data []byte, spaced bool) {
	rule := clause{a2: "6.2.8.3", a4: "6.2.7.3"}
	find := func(format string, args ...any) { j.find("S057", rule, r, nil, "JPEG 2000 data "+format, args...) }
	f := readJP2(data)
	if !f.header {
		find("without an image header")
		return
	}
	if f.channels != 1 && f.channels != 3 && f.channels != 4 {
		find("of %d colour channels; want 1, 3 or 4", f.channels)
	}
	switch {
	case f.varies || f.depth == 0:
		find("whose channels differ in their depth")
	case f.depth > 38:
		find("of %d bits; want 1 to 38", f.depth)
	}
	if spaced {
		return
	}
	best := 0
	for _, c := range f.specs {
		if c.approx == 1 {
			best++
		}
	}
	switch {
	case len(f.specs) == 0:
		find("without a colour specification")
		return
	case len(f.specs) > 1 && best != 1:
		find("with %d colour specifications, of which %d are exact; want 1", len(f.specs), best)
		return
	}
	used := f.specs[0] // or the one that is exact
	for _, c := range f.specs {
		if len(f.specs) > 1 && c.approx == 1 {
			used = c
		}
	}
	const cieJab = 19
	switch {
	case used.method < 1 || used.method > 3:
		find("whose colours are specified by method %d; want 1 to 3", used.method)
	case used.enumerated == cieJab:
		find("in the colours of CIEJab")
	}
}
