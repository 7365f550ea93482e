package image

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"example.com/quire/pdf/internal/diag"
)

// The markers of ISO/IEC 10918-1, table B.1, that are looked at.
const (
	markerSOF0 = 0xC0
	markerSOF2 = 0xC2
	markerDHT  = 0xC4
	markerRST0 = 0xD0
	markerEOI  = 0xD9
	markerSOS  = 0xDA
	markerDQT  = 0xDB
	markerDRI  = 0xDD
	markerAPP1 = 0xE1
	markerAPP2 = 0xE2
	markerAdob = 0xEE
)

// jpegFile is what the segments of a JPEG up to its first scan say.
type jpegFile struct {
	data          []byte
	first         int // offset of the marker of the first scan
	width, height int
	orient        int
	progressive   bool
	comps         []jpegComp
	tables        jpegTables
	adobe         bool           // samples of CMYK are inverted
	profile       map[int][]byte // the parts of an ICC profile
}

// jpegComp is a colour component of the frame.
type jpegComp struct {
	id, h, v, tq int
	// blocks of a scan of this component alone, and of the whole MCUs of scans of several.
	wide, high, stride, rows int
	seen                     []uint64 // progressive: which coefficients of each block are not zero
}

// jpegTables are the tables of quantisation and coding that were defined so far.
type jpegTables struct {
	quant   [4]bool
	dc, ac  [4]*huffman
	restart int // MCUs between restart markers; 0: none
}

// parseJPEG reads the segments up to the first scan. DCTDecode takes baseline, extended and
// progressive images of one, three or four components with 8 bits each (ISO 32000-2, 7.4.8).
func parseJPEG(data []byte, l diag.Limits) (file, error) {
	f := &jpegFile{data: data, orient: 1}
	for p := 2; ; {
		marker, seg, next, err := jpegSegment(data, p)
		if err != nil {
			return nil, err
		}
		switch {
		case marker == markerEOI:
			return nil, jpegError("the image ends before its first scan")
		case marker == markerSOS:
			if f.comps == nil {
				return nil, jpegError("no frame header")
			}
			f.first = p
			return f, nil
		case marker == markerAPP1:
			f.orient = exifOrientation(seg)
		case marker == markerAPP2:
			f.profilePart(seg)
		case marker == markerAdob:
			f.adobe = f.adobe || bytes.HasPrefix(seg, []byte("Adobe"))
		case marker >= markerSOF0 && marker <= 0xCF && marker != markerDHT && marker != 0xC8 && marker != 0xCC:
			if err := f.frame(marker, seg, l); err != nil {
				return nil, err
			}
		default:
			if err := f.tables.define(marker, seg); err != nil {
				return nil, err
			}
		}
		p = next
	}
}

func jpegError(format string, args ...any) error {
	return fmt.Errorf("jpeg: "+format+": %w", append(args, ErrFormat)...)
}

// jpegSegment reads the marker at p, which may have fill bytes before it, and its segment. EOI
// has none.
func jpegSegment(data []byte, p int) (marker byte, seg []byte, next int, err error) {
	for p+1 < len(data) && data[p] == 0xFF && data[p+1] == 0xFF {
		p++
	}
	if p+2 > len(data) || data[p] != 0xFF {
		return 0, nil, 0, jpegError("no marker at offset %d", p)
	}
	if marker = data[p+1]; marker == markerEOI {
		return marker, nil, p + 2, nil
	}
	if p+4 > len(data) {
		return 0, nil, 0, jpegError("segment at offset %d is cut short", p)
	}
	n := int(binary.BigEndian.Uint16(data[p+2:]))
	if n < 2 || p+2+n > len(data) {
		return 0, nil, 0, jpegError("segment at offset %d is cut short", p)
	}
	return marker, data[p+4 : p+2+n], p + 2 + n, nil
}

func (f *jpegFile) frame(marker byte, seg []byte, l diag.Limits) error {
	if marker > markerSOF2 {
		return fmt.Errorf("jpeg: coding process %d: %w", marker-markerSOF0, diag.ErrUnsupported)
	}
	if f.comps != nil {
		return jpegError("two frame headers")
	}
	if len(seg) < 6 || len(seg) != 6+3*int(seg[5]) {
		return jpegError("frame header of %d bytes", len(seg))
	}
	f.height, f.width = int(binary.BigEndian.Uint16(seg[1:])), int(binary.BigEndian.Uint16(seg[3:]))
	if f.width == 0 || f.height == 0 {
		return jpegError("an image of %d by %d pixels", f.width, f.height)
	}
	if err := checkPixels(f.width, f.height, l); err != nil {
		return err
	}
	switch n := seg[5]; {
	case seg[0] != 8:
		return fmt.Errorf("jpeg: %d bits per sample: %w", seg[0], diag.ErrUnsupported)
	case n != 1 && n != 3 && n != 4:
		return fmt.Errorf("jpeg: %d colour components: %w", n, diag.ErrUnsupported)
	}
	f.progressive = marker == markerSOF2
	return f.components(seg[6:])
}

func (f *jpegFile) components(seg []byte) error {
	hMax, vMax := 1, 1
	for ; len(seg) > 0; seg = seg[3:] {
		c := jpegComp{id: int(seg[0]), h: int(seg[1] >> 4), v: int(seg[1] & 15), tq: int(seg[2])}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.tq > 3 {
			return jpegError("component %d: sampling %d by %d, table %d", c.id, c.h, c.v, c.tq)
		}
		for _, other := range f.comps {
			if other.id == c.id {
				return jpegError("two components %d", c.id)
			}
		}
		hMax, vMax = max(hMax, c.h), max(vMax, c.v)
		f.comps = append(f.comps, c)
	}
	mcusWide, mcusHigh := ceil(f.width, 8*hMax), ceil(f.height, 8*vMax)
	for i := range f.comps {
		c := &f.comps[i]
		c.wide, c.high = ceil(ceil(f.width*c.h, hMax), 8), ceil(ceil(f.height*c.v, vMax), 8) // A.1.1, A.2.2
		c.stride, c.rows = mcusWide*c.h, mcusHigh*c.v
	}
	return nil
}

func ceil(a, b int) int { return (a + b - 1) / b }

// define reads a segment that defines tables; others are of no matter.
func (t *jpegTables) define(marker byte, seg []byte) error {
	switch marker {
	case markerDQT:
		for len(seg) > 0 {
			n, id := 65, seg[0]&15
			if seg[0]>>4 != 0 {
				n = 129
			}
			if id > 3 || seg[0]>>4 > 1 || len(seg) < n {
				return jpegError("a broken quantisation table")
			}
			t.quant[id] = true
			seg = seg[n:]
		}
	case markerDHT:
		for len(seg) > 0 {
			h, n, err := newHuffman(seg)
			if err != nil {
				return err
			}
			if seg[0]>>4 == 0 {
				t.dc[seg[0]&3] = h
			} else {
				t.ac[seg[0]&3] = h
			}
			seg = seg[n:]
		}
	case markerDRI:
		if len(seg) != 2 {
			return jpegError("a restart interval of %d bytes", len(seg))
		}
		t.restart = int(binary.BigEndian.Uint16(seg))
	}
	return nil
}

// profilePart takes a part of an ICC profile, which stands in segments of at most 64 KiB (ISO
// 15076-1, annex B.4).
func (f *jpegFile) profilePart(seg []byte) {
	const head = "ICC_PROFILE\x00"
	if len(seg) < len(head)+2 || string(seg[:len(head)]) != head {
		return
	}
	if f.profile == nil {
		f.profile = map[int][]byte{}
	}
	f.profile[int(seg[len(head)])] = seg[len(head)+2:]
}

// icc joins the parts of the profile; nil when there is none, or a part is missing.
func (f *jpegFile) icc() *Profile {
	var all []byte
	for i := 1; i <= len(f.profile); i++ {
		part, ok := f.profile[i]
		if !ok {
			return nil
		}
		all = append(all, part...)
	}
	return newProfile(all, len(f.comps))
}

// held implements file: of a progressive image, one bit for each coefficient; of one that is made
// smaller, its samples.
func (f *jpegFile) held(to Ask) int64 {
	var blocks int64
	for _, c := range f.comps {
		blocks += int64(c.stride) * int64(c.rows)
	}
	const block, coefficients = 64, 64 * 4 // bytes of the samples, and of what a progressive decoder keeps
	switch {
	case to.none() && f.progressive:
		return 8 * blocks
	case to.none():
		return 0
	case f.progressive:
		return (8 + block + coefficients) * blocks
	}
	return block * blocks
}

// size implements file.
func (f *jpegFile) size() (width, height, orient int) { return f.width, f.height, f.orient }

// image implements file. The data is embedded as it is once its coding was followed to its end,
// so that a reader can draw it.
func (f *jpegFile) image(ctx context.Context, s *Store, to Ask) (*Image, error) {
	if err := f.follow(ctx); err != nil {
		return nil, err
	}
	if !to.none() {
		img, err := f.smallerJPEG(ctx, s, to)
		if err != nil {
			return nil, err
		}
		img.orient = f.orient
		return img, img.x.profiled(s, f.icc())
	}
	img := &Image{width: f.width, height: f.height, orient: f.orient}
	img.x = XObject{Width: f.width, Height: f.height, Bits: 8, Space: spaces[len(f.comps)], Filter: "DCTDecode", Data: f.data}
	img.x.Inverted = len(f.comps) == 4 && f.adobe
	return img, img.x.profiled(s, f.icc())
}

// exifOrientation returns the orientation tag (0x0112) of an EXIF segment, 1
// when there is none.
func exifOrientation(seg []byte) int {
	const head = "Exif\x00\x00"
	if len(seg) < len(head)+8 || string(seg[:len(head)]) != head {
		return 1
	}
	return tiffOrientation(seg[len(head):])
}
