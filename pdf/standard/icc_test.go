package standard_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"unicode/utf16"

	"example.com/quire/pdf/standard"
)

// iccTags reads the tag table of a profile (ICC.1:2004-10, 7.3) and checks that
// the elements lie inside, aligned, and cover the file without gaps of more
// than padding.
func iccTags(t *testing.T, p []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	n := int(binary.BigEndian.Uint32(p[128:]))
	type span struct{ at, end int }
	spans := []span{{0, 132 + 12*n}}
	for i := range n {
		r := p[132+12*i:]
		at, size := int(binary.BigEndian.Uint32(r[4:])), int(binary.BigEndian.Uint32(r[8:]))
		if at%4 != 0 || at+size > len(p) {
			t.Fatalf("tag %s lies at %d, %d bytes", r[:4], at, size)
		}
		out[string(r[:4])] = p[at : at+size]
		spans = append(spans, span{at, at + size})
	}
	slices.SortFunc(spans, func(a, b span) int { return a.at - b.at })
	spans = slices.Compact(spans)
	for i, s := range spans[1:] {
		if gap := s.at - spans[i].end; gap < 0 || gap > 3 {
			t.Errorf("element at %d follows one that ends at %d", s.at, spans[i].end)
		}
	}
	return out
}

func iccFixed(b []byte) float64 {
	return float64(int32(binary.BigEndian.Uint32(b))) / 65536 //nolint:gosec // G115: s15Fixed16Number
}

// TestSRGBProfileIsICC is line 5.21: the profile is parsed and is an ICC
// profile with all that a display profile of three components needs.
func TestSRGBProfileIsICC(t *testing.T) {
	p := standard.SRGBProfile()
	if size := int(binary.BigEndian.Uint32(p)); size != len(p) || len(p)%4 != 0 {
		t.Errorf("header says %d bytes of %d", size, len(p))
	}
	for at, want := range map[int]string{12: "mntr", 16: "RGB ", 20: "XYZ ", 36: "acsp"} {
		if got := string(p[at : at+4]); got != want {
			t.Errorf("header at %d: %q, want %q", at, got, want)
		}
	}
	if p[8] != 4 || p[9] != 0x20 {
		t.Errorf("version is %d.%x", p[8], p[9])
	}
	if !bytes.Equal(p[68:80], []byte{0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D}) {
		t.Errorf("illuminant is % X", p[68:80])
	}
	tags := iccTags(t, p)
	types := map[string]string{
		"desc": "mluc", "cprt": "mluc", "wtpt": "XYZ ", "chad": "sf32",
		"rXYZ": "XYZ ", "gXYZ": "XYZ ", "bXYZ": "XYZ ", "rTRC": "para", "gTRC": "para", "bTRC": "para",
	}
	if len(tags) != len(types) {
		t.Errorf("%d tags", len(tags))
	}
	for name, want := range types {
		if b := tags[name]; len(b) < 8 || string(b[:4]) != want || !bytes.Equal(b[4:8], make([]byte, 4)) {
			t.Errorf("tag %s is no %s", name, want)
		}
	}
	d := tags["desc"]
	var units []uint16
	for b := d[binary.BigEndian.Uint32(d[24:]):]; len(b) > 1; b = b[2:] {
		units = append(units, binary.BigEndian.Uint16(b))
	}
	if got := string(utf16.Decode(units)); got != standard.OutputCondition || int(binary.BigEndian.Uint32(d[20:])) != 2*len(got) {
		t.Errorf("description is %q", got)
	}
}

// TestSRGBProfileNumbers derives the numbers from IEC 61966-2-1.
func TestSRGBProfileNumbers(t *testing.T) {
	type vec [3]float64
	type mat [3]vec // rows
	mul := func(m mat, v vec) (r vec) {
		for i := range 3 {
			r[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2]
		}
		return r
	}
	inverse := func(m mat) (r mat) {
		det := 0.0
		for i := range 3 {
			j, k := (i+1)%3, (i+2)%3
			det += m[0][i] * (m[1][j]*m[2][k] - m[1][k]*m[2][j])
		}
		for i := range 3 {
			for j := range 3 {
				a, b, c, d := (j+1)%3, (j+2)%3, (i+1)%3, (i+2)%3
				r[i][j] = (m[a][c]*m[b][d] - m[a][d]*m[b][c]) / det
			}
		}
		return r
	}
	xyz := func(x, y float64) vec { return vec{x / y, 1, (1 - x - y) / y} }
	d65, d50 := xyz(0.3127, 0.3290), vec{0.9642, 1, 0.8249}
	primaries := [3]vec{xyz(0.64, 0.33), xyz(0.30, 0.60), xyz(0.15, 0.06)}
	var m mat
	for i := range 3 {
		for j := range 3 {
			m[i][j] = primaries[j][i]
		}
	}
	scale := mul(inverse(m), d65)
	bradford := mat{{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}}
	adapt := func(v vec) vec {
		from, to, cone := mul(bradford, d65), mul(bradford, d50), mul(bradford, v)
		for i := range 3 {
			cone[i] *= to[i] / from[i]
		}
		return mul(inverse(bradford), cone)
	}
	const unit = 1.01 / 65536
	tags := iccTags(t, standard.SRGBProfile())
	sum := vec{}
	for j, name := range []string{"rXYZ", "gXYZ", "bXYZ"} {
		want := adapt(vec{primaries[j][0] * scale[j], primaries[j][1] * scale[j], primaries[j][2] * scale[j]})
		for i := range 3 {
			got := iccFixed(tags[name][8+4*i:])
			sum[i] += got
			if math.Abs(got-want[i]) > unit {
				t.Errorf("%s[%d] is %v, want %v", name, i, got, want[i])
			}
		}
	}
	for i := range 3 {
		if math.Abs(sum[i]-iccFixed(tags["wtpt"][8+4*i:])) > unit {
			t.Errorf("white comes to %v", sum)
		}
		for j := range 3 {
			e := vec{}
			e[j] = 1
			if got, want := iccFixed(tags["chad"][8+4*(3*i+j):]), adapt(e)[i]; math.Abs(got-want) > unit {
				t.Errorf("chad[%d][%d] is %v, want %v", i, j, got, want)
			}
		}
	}

	para := tags["rTRC"][8:]
	if binary.BigEndian.Uint16(para) != 3 || &tags["rTRC"][0] != &tags["bTRC"][0] {
		t.Error("the curves are not one of function 3")
	}
	var c [5]float64
	for i := range c {
		c[i] = iccFixed(para[4+4*i:])
	}
	for v := range 256 {
		x := float64(v) / 255
		want, got := x/12.92, c[3]*x
		if x > 0.04045 {
			want = math.Pow((x+0.055)/1.055, 2.4)
		}
		if x >= c[4] {
			got = math.Pow(c[1]*x+c[2], c[0])
		}
		if math.Abs(got-want) > 5e-5 {
			t.Errorf("curve at %d: %v, want %v", v, got, want)
		}
	}
}

func TestSRGBProfileIsFixed(t *testing.T) {
	a, b := standard.SRGBProfile(), standard.SRGBProfile()
	if !bytes.Equal(a, b) {
		t.Error("two calls differ")
	}
	a[0] ^= 0xFF
	if !bytes.Equal(b, standard.SRGBProfile()) {
		t.Error("the slice is shared")
	}
	if len(b) > 700 {
		t.Errorf("%d bytes", len(b))
	}
}
