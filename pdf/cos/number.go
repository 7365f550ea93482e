package cos

import (
	"math/bits"
	"strconv"
)

// maxDecimals is the longest fraction printed: 10^18 is the highest power of
// ten below 2^63.
const maxDecimals = 18

var pow10 = [maxDecimals + 1]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// FixedUnit is the number of fixed-point length units in one point.
const FixedUnit = 1024

// AppendInt appends v as an integer object (ISO 32000-2, 7.3.3).
func AppendInt(dst []byte, v int64) []byte {
	if v < 0 {
		return strconv.AppendInt(dst, v, 10)
	}
	return appendUint(dst, uint64(v))
}

// appendUint is quick with small numbers, which most are: those of objects of long documents have
// five digits.
func appendUint(dst []byte, v uint64) []byte {
	if v > 99_999 {
		return strconv.AppendUint(dst, v, 10)
	}
	n := uint32(v)
	if n < 10 {
		return append(dst, byte('0'+n))
	}
	if n < 100 {
		return append(dst, pairs[2*n], pairs[2*n+1])
	}
	high, low := n/100, 2*(n%100)
	switch {
	case n < 1000:
		return append(dst, byte('0'+high), pairs[low], pairs[low+1])
	case n < 10_000:
		high *= 2
		return append(dst, pairs[high], pairs[high+1], pairs[low], pairs[low+1])
	}
	mid := 2 * (high % 100)
	return append(dst, byte('0'+high/100), pairs[mid], pairs[mid+1], pairs[low], pairs[low+1])
}

// pairs are the two digits of the numbers from 0 to 99.
const pairs = "00010203040506070809" + "10111213141516171819" + "20212223242526272829" + "30313233343536373839" + "40414243444546474849" +
	"50515253545556575859" + "60616263646566676869" + "70717273747576777879" + "80818283848586878889" + "90919293949596979899"

// AppendFixed appends v, a length in 1/1024 pt, as a number of points with at
// most the given number of decimals (0 to 18; outside values are clamped),
// rounded half away from zero. Ten decimals print every length exactly; three
// are exact to 0.0005 pt. The form is the shortest the syntax allows: no
// trailing zeros, no zero before the point, no exponent (PDF has none) and
// never "-0".
func AppendFixed(dst []byte, v int64, decimals int) []byte {
	return AppendRatio(dst, v, FixedUnit, decimals)
}

// AppendRatio appends num/den under the rules of [AppendFixed]: a colour
// component of a byte is AppendRatio(dst, 85, 255, 3). A den below 1 counts
// as 1.
func AppendRatio(dst []byte, num, den int64, decimals int) []byte {
	decimals = min(max(decimals, 0), maxDecimals)
	d := uint64(max(den, 1))
	neg, u := magnitude(num)
	whole, rest := u/d, u%d
	// rest < d, so rest*10^n/d < 10^n and the 128-bit quotient fits a word
	// even after half a unit is added for rounding.
	scale := pow10[decimals]
	hi, lo := bits.Mul64(rest, scale)
	lo, carry := bits.Add64(lo, d/2, 0)
	frac, _ := bits.Div64(hi+carry, lo, d)
	if frac == scale {
		whole, frac = whole+1, 0
	}
	return appendParts(dst, neg, whole, frac, decimals)
}

// AppendDecimal appends mantissa x 10^-decimals under the rules of
// [AppendFixed], exactly: decimals (0 to 18, clamped) is the scale of the
// value here, not a rounding.
func AppendDecimal(dst []byte, mantissa int64, decimals int) []byte {
	neg, u := magnitude(mantissa)
	if decimals == 2 && u < 1e6 {
		return appendHundredths(dst, neg, uint32(u))
	}
	decimals = min(max(decimals, 0), maxDecimals)
	return appendParts(dst, neg, u/pow10[decimals], u%pow10[decimals], decimals)
}

// magnitude splits v into sign and absolute value; the smallest int64 has one
// too.
func magnitude(v int64) (neg bool, u uint64) {
	if v < 0 {
		return true, -uint64(v) //nolint:gosec // G115: two's complement negation is meant
	}
	return false, uint64(v)
}

// appendHundredths is appendParts for u hundredths, below a million: the places on pages.
func appendHundredths(dst []byte, neg bool, u uint32) []byte {
	if neg && u != 0 {
		dst = append(dst, '-')
	}
	whole, frac := u/100, u%100
	if whole != 0 || frac == 0 {
		dst = appendUint(dst, uint64(whole))
	}
	switch {
	case frac == 0:
		return dst
	case frac%10 == 0:
		return append(dst, '.', byte('0'+frac/10))
	}
	return append(dst, '.', byte('0'+frac/10), byte('0'+frac%10))
}

func appendParts(dst []byte, neg bool, whole, frac uint64, decimals int) []byte {
	if whole == 0 && frac == 0 {
		return append(dst, '0')
	}
	if neg {
		dst = append(dst, '-')
	}
	if whole != 0 {
		dst = appendUint(dst, whole)
	}
	if frac == 0 {
		return dst
	}
	for frac%10 == 0 {
		frac /= 10
		decimals--
	}
	dst = append(dst, '.')
	start := len(dst)
	for range decimals {
		dst = append(dst, '0')
	}
	for i := start + decimals - 1; frac != 0; i-- {
		dst[i] = byte('0' + frac%10)
		frac /= 10
	}
	return dst
}
