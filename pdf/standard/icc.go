package standard

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
)

// OutputCondition names the colours of [SRGBProfile], for the key
// OutputConditionIdentifier of an output intent (ISO 32000-2, 14.11.5).
const OutputCondition = "sRGB IEC61966-2.1"

// The numbers of the profile, in 1/65536 (s15Fixed16Number; ICC.1:2004-10,
// 5.1.3). They follow from the primaries and the white point of
// IEC 61966-2-1, table 1, adapted from D65 to the D50 of the connection space by
// the Bradford matrix (ICC.1, annex E); the test derives them anew.
var (
	iccWhite = [3]int32{63190, 65536, 54061} // D50, 7.2.16
	iccRed   = [3]int32{28576, 14581, 912}
	iccGreen = [3]int32{25239, 46983, 6361}
	iccBlue  = [3]int32{9375, 3972, 46787}
	iccAdapt = [9]int32{68674, 1502, -3291, 1939, 64912, -1119, -606, 988, 49262}

	// iccCurve is the transfer function of IEC 61966-2-1, 5.2:
	// y = (a*x+b)^g from d upwards, c*x below.
	iccCurve = [5]int32{
		157286, // g = 2.4
		62119,  // a = 1/1.055
		3417,   // b = 0.055/1.055
		5072,   // c = 1/12.92
		2651,   // d = 0.04045
	}
)

// SRGBProfile returns an ICC profile of the sRGB colour space, version 4.2, for
// output intents and ICCBased colour spaces of three components. It is built
// from the numbers of the standard, some 600 bytes long and always the same;
// the caller owns the slice. The profile is a display profile of matrix and
// curves (ICC.1:2004-10, 8.3.3), which PDF/A-2 and later accept.
func SRGBProfile() []byte {
	curve := iccTyped("para", append([]byte{0, 3, 0, 0}, iccNumbers(iccCurve[:])...)) // 10.15, function 3
	return iccProfile(
		"\x04\x20\x00\x00",
		iccTag{"desc", iccText(OutputCondition)},
		iccTag{"cprt", iccText("No copyright, use freely")},
		iccTag{"wtpt", iccXYZ(iccWhite)},
		iccTag{"chad", iccTyped("sf32", iccNumbers(iccAdapt[:]))},
		iccTag{"rXYZ", iccXYZ(iccRed)},
		iccTag{"gXYZ", iccXYZ(iccGreen)},
		iccTag{"bXYZ", iccXYZ(iccBlue)},
		iccTag{"rTRC", curve},
		iccTag{"gTRC", curve},
		iccTag{"bTRC", curve},
	)
}

// SRGBProfile2 is SRGBProfile in version 2 of ICC, which PDF/A-1 requires: the curve is a table,
// 1,024 values of 16 bits (ICC.1:1998-09, 6.5.2).
func SRGBProfile2() []byte {
	const steps = 1024
	table := binary.BigEndian.AppendUint32(nil, steps)
	unit := func(v int32) float64 { return float64(v) / 65536 }
	for i := range steps {
		x := float64(i) / (steps - 1)
		y := unit(iccCurve[3]) * x
		if x >= unit(iccCurve[4]) {
			y = math.Pow(unit(iccCurve[1])*x+unit(iccCurve[2]), unit(iccCurve[0]))
		}
		table = binary.BigEndian.AppendUint16(table, uint16(min(math.Round(y*65535), 65535)))
	}
	curve := iccTyped("curv", table)
	return iccProfile(
		"\x02\x10\x00\x00",
		iccTag{"desc", iccDescription(OutputCondition)},
		iccTag{"cprt", iccTyped("text", []byte("No copyright, use freely\x00"))},
		iccTag{"wtpt", iccXYZ(iccWhite)},
		iccTag{"rXYZ", iccXYZ(iccRed)},
		iccTag{"gXYZ", iccXYZ(iccGreen)},
		iccTag{"bXYZ", iccXYZ(iccBlue)},
		iccTag{"rTRC", curve},
		iccTag{"gTRC", curve},
		iccTag{"bTRC", curve},
	)
}

// iccTag is an element of a profile with its signature.
type iccTag struct {
	name string
	data []byte
}

func iccXYZ(v [3]int32) []byte { return iccTyped("XYZ ", iccNumbers(v[:])) }

// iccProfile lays out a profile of a version, as its header has it.
func iccProfile(version string, tags ...iccTag) []byte {
	at := iccHeaderSize + 4 + 12*len(tags)
	p := iccHeader(version)
	p = binary.BigEndian.AppendUint32(p, uint32(len(tags))) //nolint:gosec // G115: ten tags
	var body []byte
	start := 0
	for _, t := range tags {
		// The three curves are one: tags may share data (7.3.1).
		if t.name != "gTRC" && t.name != "bTRC" {
			for len(body)%4 != 0 { // every element starts at a multiple of four
				body = append(body, 0)
			}
			start = len(body)
			body = append(body, t.data...)
		}
		p = append(p, t.name...)
		p = binary.BigEndian.AppendUint32(p, uint32(at+start))    //nolint:gosec // G115: some thousand bytes
		p = binary.BigEndian.AppendUint32(p, uint32(len(t.data))) //nolint:gosec // G115: as above
	}
	p = append(p, body...)
	binary.BigEndian.PutUint32(p, uint32(len(p))) //nolint:gosec // G115: as above
	return p
}

const iccHeaderSize = 128

// iccHeader makes the header (ICC.1:2004-10, 7.2); the size is entered last.
func iccHeader(version string) []byte {
	h := make([]byte, iccHeaderSize, 1024)
	copy(h[8:], version)
	copy(h[12:], "mntrRGB XYZ ") // display, colour space, connection space
	// The date of creation is fixed: equal profiles make equal files.
	for i, v := range []uint16{2024, 1, 1, 0, 0, 0} {
		binary.BigEndian.PutUint16(h[24+2*i:], v)
	}
	copy(h[36:], "acsp")
	copy(h[68:], iccNumbers(iccWhite[:])) // illuminant
	return h
}

// iccTyped puts the type signature and four reserved bytes before data.
func iccTyped(signature string, data []byte) []byte {
	return append(append([]byte(signature), 0, 0, 0, 0), data...)
}

func iccNumbers(v []int32) (b []byte) {
	for _, n := range v {
		b = binary.BigEndian.AppendUint32(b, uint32(n)) //nolint:gosec // G115: two's complement is the format
	}
	return b
}

// iccText makes a multiLocalizedUnicodeType (10.13) of one record in English.
func iccText(s string) []byte {
	units := utf16.Encode([]rune(s))
	var b []byte
	for _, v := range []uint32{1, 12} { // records, size of a record
		b = binary.BigEndian.AppendUint32(b, v)
	}
	b = append(b, "enUS"...)
	for _, v := range []int{2 * len(units), 28} { // length and place of the text
		b = binary.BigEndian.AppendUint32(b, uint32(v)) //nolint:gosec // G115: a short text
	}
	for _, u := range units {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return iccTyped("mluc", b)
}

// iccDescription makes a textDescriptionType (ICC.1:1998-09, 6.5.16) in ASCII alone.
func iccDescription(s string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(s)+1)) //nolint:gosec // G115: a short text
	b = append(append(b, s...), 0)
	const unicode, script = 8, 3 + 67 // both empty
	b = append(b, make([]byte, unicode+script)...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return iccTyped("desc", b)
}
