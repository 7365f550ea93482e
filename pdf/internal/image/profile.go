package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
)

// Profile is the ICC profile of an image, deflated.
type Profile struct {
	Colors  int
	Version byte // of ICC, its first number
	Data    []byte
	Hash    [sha256.Size]byte // of the profile

	raw []byte
}

// mostProfile bounds a profile; those of printing presses have some megabytes.
const mostProfile = 8 << 20

// newProfile returns the profile of an image with so many colours, nil when it is none that a
// reader must understand (ISO 15076-1, 7.2; ISO 19005-2, 6.2.4.2): the image is then as if it had
// come without.
func newProfile(b []byte, colors int) *Profile {
	const header, entry = 128, 12
	if len(b) < header+4 || len(b) > mostProfile || int64(binary.BigEndian.Uint32(b)) != int64(len(b)) || string(b[36:40]) != "acsp" {
		return nil
	}
	if version := b[8]; version != 2 && version != 4 {
		return nil
	}
	switch string(b[12:16]) {
	case "scnr", "mntr", "prtr", "spac":
	default:
		return nil
	}
	if want := map[int]string{1: "GRAY", 3: "RGB ", 4: "CMYK"}[colors]; string(b[16:20]) != want {
		return nil
	}
	if pcs := string(b[20:24]); pcs != "XYZ " && pcs != "Lab " {
		return nil
	}
	n := int64(binary.BigEndian.Uint32(b[header:]))
	if n < 1 || n > int64(len(b)-header-4)/entry {
		return nil
	}
	for i := range n {
		e := b[header+4+i*entry:]
		from, size := int64(binary.BigEndian.Uint32(e[4:])), int64(binary.BigEndian.Uint32(e[8:]))
		if from < header+4+n*entry || size < 8 || from+size > int64(len(b)) {
			return nil
		}
	}
	return &Profile{Colors: colors, Version: b[8], Hash: sha256.Sum256(b), raw: b}
}

// profiled gives x its profile; nil is none.
func (x *XObject) profiled(s *Store, p *Profile) error {
	if p == nil {
		return nil
	}
	var buf bytes.Buffer
	w, err := s.deflate(&buf)
	if err != nil {
		return err
	}
	if _, err := w.Write(p.raw); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	x.Profile = &Profile{Colors: p.Colors, Version: p.Version, Hash: p.Hash, Data: bytes.Clone(buf.Bytes())}
	return nil
}

// tiffDirectory finds an entry of the first directory of a TIFF file or an EXIF segment (TIFF 6.0,
// section 2): its 12 bytes, nil when there is none.
func tiffDirectory(t []byte, tag uint16) (entry []byte, order binary.ByteOrder) {
	if len(t) < 8 {
		return nil, nil
	}
	order = binary.BigEndian
	switch string(t[:2]) {
	case "II":
		order = binary.LittleEndian
	case "MM":
	default:
		return nil, nil
	}
	at := int64(order.Uint32(t[4:]))
	if at+2 > int64(len(t)) {
		return nil, nil
	}
	for i := range int64(order.Uint16(t[at:])) {
		e := at + 2 + i*12
		if e+12 > int64(len(t)) {
			return nil, nil
		}
		if order.Uint16(t[e:]) == tag {
			return t[e : e+12], order
		}
	}
	return nil, nil
}

// tiffOrientation returns the orientation tag, 1 when there is none.
func tiffOrientation(t []byte) int {
	if e, order := tiffDirectory(t, 0x0112); e != nil {
		if v := int(order.Uint16(e[8:])); v >= 1 && v <= 8 {
			return v
		}
	}
	return 1
}

// tiffBytes returns the bytes of an entry that lie elsewhere in the file, nil when there are none.
func tiffBytes(t []byte, tag uint16) []byte {
	e, order := tiffDirectory(t, tag)
	if e == nil {
		return nil
	}
	n, at := int64(order.Uint32(e[4:])), int64(order.Uint32(e[8:]))
	if n <= 4 || at+n > int64(len(t)) {
		return nil
	}
	return t[at : at+n]
}
