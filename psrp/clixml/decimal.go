package clixml

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
)

// Decimal is a .NET System.Decimal: a 96-bit integer, a scale of 0 to 28 and a sign. 1.5 and 1.50
// are different Decimals of the same value. The zero Decimal is 0.
type Decimal struct {
	lo    uint64
	hi    uint32
	scale uint8
	neg   bool
}

// NewDecimal returns coefficient / 10^scale.
func NewDecimal(coefficient int64, scale uint8) (Decimal, error) {
	if scale > 28 {
		return Decimal{}, fmt.Errorf("clixml: decimal scale %d: more than 28", scale)
	}
	d := Decimal{lo: uint64(coefficient), scale: scale} //nolint:gosec // G115: the magnitude is taken next
	if coefficient < 0 {
		d.lo, d.neg = -d.lo, true
	}
	return d, nil
}

// Value returns a D.
func (d Decimal) Value() Value { return pointerValue(KindDecimal, &d) }

// Scale returns the number of digits after the point.
func (d Decimal) Scale() int { return int(d.scale) }

// Coefficient returns the signed integer that is divided by 10^Scale.
func (d Decimal) Coefficient() *big.Int {
	n := new(big.Int).SetUint64(uint64(d.hi))
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(d.lo))
	if d.neg {
		n.Neg(n)
	}
	return n
}

// Rat returns the exact value.
func (d Decimal) Rat() *big.Rat {
	den := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.scale)), nil)
	return new(big.Rat).SetFrac(d.Coefficient(), den)
}

// String returns the text of the wire, with every digit of the scale.
func (d Decimal) String() string { return string(d.appendText(nil)) }

func (d Decimal) appendText(dst []byte) []byte {
	var digits [30]byte
	i := len(digits)
	hi, lo := uint64(d.hi), d.lo
	for n := 0; hi != 0 || lo != 0 || n <= int(d.scale); n++ {
		if n == int(d.scale) && n > 0 {
			i--
			digits[i] = '.'
		}
		var r uint64
		hi, r = hi/10, hi%10
		lo, r = bits.Div64(r, lo, 10)
		i--
		digits[i] = '0' + byte(r) //nolint:gosec // G115: a digit
	}
	if d.neg {
		dst = append(dst, '-')
	}
	return append(dst, digits[i:]...)
}

var errDecimal = errors.New("not a decimal number of 96 bits with up to 28 digits after the point")

// ParseDecimal reads digits with an optional sign and point; what does not fit exactly is an error.
func ParseDecimal(s string) (Decimal, error) {
	d, err := parseDecimal(s)
	if err != nil {
		return d, fmt.Errorf("clixml: parse decimal %q: %w", clip(s), err)
	}
	return d, nil
}

func parseDecimal(s string) (Decimal, error) {
	var d Decimal
	if s != "" && (s[0] == '-' || s[0] == '+') {
		d.neg = s[0] == '-'
		s = s[1:]
	}
	digits, point := 0, false
	for i := range len(s) {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c -= '0'; c > 9 {
			return Decimal{}, errDecimal
		}
		digits++
		h, l := bits.Mul64(d.lo, 10)
		l, carry := bits.Add64(l, uint64(c), 0)
		h += uint64(d.hi)*10 + carry
		if h > 1<<32-1 {
			return Decimal{}, errDecimal
		}
		d.lo, d.hi = l, uint32(h)
		if point {
			if d.scale++; d.scale > 28 {
				return Decimal{}, errDecimal
			}
		}
	}
	if digits == 0 {
		return Decimal{}, errDecimal
	}
	return d, nil
}
