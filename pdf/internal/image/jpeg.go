package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/jpeg"

	"example.com/quire/pdf/internal/diag"
)

// The markers of ISO/IEC 10918-1, table B.1, that are looked at.
const (
	markerSOI  = 0xD8
	markerEOI  = 0xD9
	markerSOS  = 0xDA
	markerAPP1 = 0xE1
)

// openJPEG reads the frame header and passes the data through: DCTDecode takes
// baseline, extended and progressive images of one or three components with 8
// bits each (ISO 32000-2, 7.4.8).
func openJPEG(data []byte, l diag.Limits) (*Image, error) {
	img := &Image{orient: 1}
	found := false
	for p := 2; ; {
		for p < len(data) && data[p] == 0xFF && p+1 < len(data) && data[p+1] == 0xFF {
			p++ // fill bytes
		}
		if p+4 > len(data) || data[p] != 0xFF {
			return nil, fmt.Errorf("jpeg: no marker at offset %d: %w", p, ErrFormat)
		}
		marker := data[p+1]
		n := int(binary.BigEndian.Uint16(data[p+2:]))
		if marker == markerEOI || n < 2 || p+2+n > len(data) {
			return nil, fmt.Errorf("jpeg: segment at offset %d is cut short: %w", p, ErrFormat)
		}
		seg := data[p+4 : p+2+n]
		switch {
		case marker == markerSOS:
			if !found {
				return nil, fmt.Errorf("jpeg: no frame header: %w", ErrFormat)
			}
			return img, img.decodeJPEG(data)
		case marker == markerAPP1:
			img.orient = exifOrientation(seg)
		case marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
			if err := img.frame(marker, seg, l); err != nil {
				return nil, err
			}
			found = true
		}
		p += 2 + n
	}
}

func (m *Image) frame(marker byte, seg []byte, l diag.Limits) error {
	if marker > 0xC2 {
		return fmt.Errorf("jpeg: coding process %d: %w", marker-0xC0, diag.ErrUnsupported)
	}
	if len(seg) < 6 {
		return fmt.Errorf("jpeg: frame header is cut short: %w", ErrFormat)
	}
	m.height, m.width = int(binary.BigEndian.Uint16(seg[1:])), int(binary.BigEndian.Uint16(seg[3:]))
	if err := checkPixels(m.width, m.height, l); err != nil {
		return err
	}
	x := XObject{Width: m.width, Height: m.height, Bits: 8, Filter: "DCTDecode"}
	switch {
	case seg[0] != 8:
		return fmt.Errorf("jpeg: %d bits per sample: %w", seg[0], diag.ErrUnsupported)
	case seg[5] == 1:
		x.Space = "DeviceGray"
	case seg[5] == 3:
		x.Space = "DeviceRGB"
	default:
		return fmt.Errorf("jpeg: %d colour components, CMYK needs an output intent for it: %w", seg[5], diag.ErrUnsupported)
	}
	m.x = x
	return nil
}

// decodeJPEG makes sure that a reader can draw what is passed through.
func (m *Image) decodeJPEG(data []byte) error {
	got, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrFormat)
	}
	if b := got.Bounds(); b.Dx() != m.width || b.Dy() != m.height {
		return fmt.Errorf("jpeg: frame and image differ in size: %w", ErrFormat)
	}
	m.x.Data = data
	return nil
}

// exifOrientation returns the orientation tag (0x0112) of an EXIF segment, 1
// when there is none.
func exifOrientation(seg []byte) int {
	const head = "Exif\x00\x00"
	if len(seg) < len(head)+8 || string(seg[:len(head)]) != head {
		return 1
	}
	t := seg[len(head):]
	var order binary.ByteOrder = binary.BigEndian
	switch string(t[:2]) {
	case "II":
		order = binary.LittleEndian
	case "MM":
	default:
		return 1
	}
	at := int64(order.Uint32(t[4:]))
	if at+2 > int64(len(t)) {
		return 1
	}
	n := int64(order.Uint16(t[at:]))
	for i := range n {
		e := at + 2 + i*12
		if e+12 > int64(len(t)) {
			return 1
		}
		if order.Uint16(t[e:]) == 0x0112 {
			if v := int(order.Uint16(t[e+8:])); v >= 1 && v <= 8 {
				return v
			}
			return 1
		}
	}
	return 1
}
