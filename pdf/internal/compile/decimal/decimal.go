// Package decimal computes with exact decimal numbers: an integer mantissa and a count of fraction
// digits. A mantissa that fits an int64 stays one; a wider one becomes a big.Int, so addition,
// subtraction and multiplication never round. Only Quo and Round do, to the nearest with ties to
// even.
//
// The scale is part of a Decimal: 12.50 prints as 12.50, and equals 12.5.
package decimal

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// MaxDigits bounds the digits of a number that Parse accepts, fraction and
// trailing zeros of an exponent included.
const MaxDigits = 1000

// quoDigits is the precision of a quotient.
const quoDigits = 34

// Errors of Parse and Quo.
var (
	ErrSyntax = errors.New("decimal: not a number")
	ErrRange  = errors.New("decimal: too many digits")
	ErrDivide = errors.New("decimal: division by zero")
)

// Decimal is mant / 10^scale. The zero value is 0. A Decimal is immutable and
// may be shared between goroutines.
type Decimal struct {
	mant  int64
	scale int32    // never negative
	big   *big.Int // when not nil, the mantissa; then it does not fit an int64
}

// New returns mant / 10^scale; a negative scale counts as 0.
func New(mant int64, scale int) Decimal {
	return Decimal{mant: mant, scale: int32(min(max(scale, 0), math.MaxInt32))}
}

// norm takes over m.
func norm(m *big.Int, scale int32) Decimal {
	if m.IsInt64() {
		return Decimal{mant: m.Int64(), scale: scale}
	}
	return Decimal{scale: scale, big: m}
}

// mostShort is how many digits a mantissa has at most that an int64 has room for in any case.
const mostShort = 18

// Short reads the number that s begins with and returns its length, 0 when it is none or has more
// than 18 digits. Parse gives the same for that part of s.
func Short(s string) (d Decimal, n int) {
	neg := n < len(s) && s[n] == '-'
	if neg {
		n++
	}
	var m int64
	from := n
	for ; n < len(s) && s[n]-'0' <= 9; n++ {
		m = m*10 + int64(s[n]-'0')
	}
	whole := n - from
	if whole == 0 || whole > mostShort || whole > 1 && s[from] == '0' {
		return Decimal{}, 0
	}
	scale := 0
	if n+1 < len(s) && s[n] == '.' && s[n+1]-'0' <= 9 {
		n++
		for from = n; n < len(s) && s[n]-'0' <= 9; n++ {
			m = m*10 + int64(s[n]-'0')
		}
		if scale = n - from; scale > mostShort-whole {
			return Decimal{}, 0
		}
	}
	if neg {
		m = -m
	}
	return Decimal{mant: m, scale: int32(scale)}, n
}

// Parse reads a JSON number (RFC 8259, section 6): the text keeps its fraction
// digits, an exponent is applied. Anything else is ErrSyntax; more than
// MaxDigits digits are ErrRange.
func Parse(s string) (Decimal, error) {
	neg := strings.HasPrefix(s, "-")
	body := s
	if neg {
		body = s[1:]
	}
	digits, rest := cutDigits(body)
	if digits == "" || len(digits) > 1 && digits[0] == '0' {
		return Decimal{}, ErrSyntax
	}
	frac := ""
	if strings.HasPrefix(rest, ".") {
		if frac, rest = cutDigits(rest[1:]); frac == "" {
			return Decimal{}, ErrSyntax
		}
	}
	exp := 0
	if rest != "" {
		if rest[0] != 'e' && rest[0] != 'E' {
			return Decimal{}, ErrSyntax
		}
		e := strings.TrimLeft(rest[1:], "+-")
		if len(rest)-1-len(e) > 1 {
			return Decimal{}, ErrSyntax
		}
		if d, tail := cutDigits(e); d == "" || tail != "" {
			return Decimal{}, ErrSyntax
		}
		var err error
		if exp, err = strconv.Atoi(rest[1:]); err != nil {
			return Decimal{}, ErrRange
		}
	}
	if len(digits)+len(frac) > MaxDigits || exp > MaxDigits || exp < -MaxDigits {
		return Decimal{}, ErrRange
	}
	return assemble(neg, digits, frac, exp)
}

func assemble(neg bool, digits, frac string, exp int) (Decimal, error) {
	scale := len(frac) - exp
	if len(digits)+len(frac) <= 18 && scale >= 0 {
		var m int64
		for _, part := range [2]string{digits, frac} {
			for i := range len(part) {
				m = m*10 + int64(part[i]-'0')
			}
		}
		if neg {
			m = -m
		}
		return New(m, scale), nil
	}
	m, ok := new(big.Int).SetString(digits+frac, 10)
	if !ok {
		return Decimal{}, ErrSyntax
	}
	if scale < 0 {
		m.Mul(m, pow10(-scale))
		scale = 0
	}
	if neg {
		m.Neg(m)
	}
	return norm(m, int32(scale)), nil
}

func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// Parts returns the representation: the value is mant / 10^scale, or
// wide / 10^scale when wide is not nil. The caller must not change wide.
func (d Decimal) Parts() (mant int64, scale int32, wide *big.Int) { return d.mant, d.scale, d.big }

// FromParts is the inverse of Parts; it keeps wide.
func FromParts(mant int64, scale int32, wide *big.Int) Decimal {
	return Decimal{mant: mant, scale: max(scale, 0), big: wide}
}

// Mantissa returns the mantissa as a new big.Int.
func (d Decimal) Mantissa() *big.Int {
	if d.big != nil {
		return new(big.Int).Set(d.big)
	}
	return big.NewInt(d.mant)
}

// Scale returns the count of fraction digits.
func (d Decimal) Scale() int { return int(d.scale) }

// Digits returns an upper bound of the digits of d, for budgets.
func (d Decimal) Digits() int {
	if d.big == nil {
		return 19
	}
	return d.big.BitLen()*3/10 + 1
}

// Sign returns -1, 0 or 1.
func (d Decimal) Sign() int {
	if d.big != nil {
		return d.big.Sign()
	}
	switch {
	case d.mant < 0:
		return -1
	case d.mant > 0:
		return 1
	}
	return 0
}

// Int64 returns the value when d is a whole number that fits, whatever its
// scale.
func (d Decimal) Int64() (int64, bool) {
	t := d.Trim()
	return t.mant, t.scale == 0 && t.big == nil
}

// pow10 returns 10^n.
func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

var small10 = [...]int64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// raise returns the mantissa of d at the larger scale, when it fits an int64.
func (d Decimal) raise(scale int32) (int64, bool) {
	if d.big != nil {
		return 0, false
	}
	n := scale - d.scale
	if d.mant == 0 || n == 0 {
		return d.mant, true
	}
	if int(n) >= len(small10) {
		return 0, false
	}
	return mul64(d.mant, small10[n])
}

func mul64(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(abs64(a), abs64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(lo), true
	}
	return int64(lo), true
}

func abs64(a int64) uint64 {
	if a < 0 {
		return -uint64(a) //nolint:gosec // two's complement: right for the lowest int64 too
	}
	return uint64(a)
}

func (d Decimal) raiseBig(scale int32) *big.Int {
	m := d.Mantissa()
	if n := scale - d.scale; n > 0 {
		m.Mul(m, pow10(int(n)))
	}
	return m
}

// Add returns d + e, at the larger of the two scales.
func (d Decimal) Add(e Decimal) Decimal {
	scale := max(d.scale, e.scale)
	if a, ok := d.raise(scale); ok {
		if b, ok := e.raise(scale); ok {
			if sum := a + b; (sum > a) == (b > 0) {
				return Decimal{mant: sum, scale: scale}
			}
		}
	}
	m := d.raiseBig(scale)
	return norm(m.Add(m, e.raiseBig(scale)), scale)
}

// Neg returns -d.
func (d Decimal) Neg() Decimal {
	if d.big == nil && d.mant != math.MinInt64 {
		return Decimal{mant: -d.mant, scale: d.scale}
	}
	m := d.Mantissa()
	return norm(m.Neg(m), d.scale)
}

// Abs returns the absolute value.
func (d Decimal) Abs() Decimal {
	if d.Sign() < 0 {
		return d.Neg()
	}
	return d
}

// Sub returns d - e, at the larger of the two scales.
func (d Decimal) Sub(e Decimal) Decimal { return d.Add(e.Neg()) }

// Mul returns d x e; the scales add up.
func (d Decimal) Mul(e Decimal) Decimal {
	scale := d.scale + e.scale
	if d.big == nil && e.big == nil {
		if m, ok := mul64(d.mant, e.mant); ok {
			return Decimal{mant: m, scale: scale}
		}
	}
	m := d.Mantissa()
	return norm(m.Mul(m, e.Mantissa()), scale)
}

// Quo is QuoBy half to even.
func (d Decimal) Quo(e Decimal) (Decimal, error) { return d.QuoBy(e, HalfEven) }

// QuoBy returns d / e rounded by mode to 34 significant digits, without trailing zeros; dividing
// by zero is ErrDivide.
func (d Decimal) QuoBy(e Decimal, mode Mode) (Decimal, error) {
	if e.Sign() == 0 {
		return Decimal{}, ErrDivide
	}
	if d.Sign() == 0 {
		return Decimal{}, nil
	}
	num, den := d.Mantissa(), e.Mantissa()
	scale := int(d.scale) - int(e.scale)
	// The quotient of a digits by b digits has a-b or a-b+1 digits; shift makes
	// that 34 or 35, and the one too many is cut by a second division.
	shift := quoDigits - (digitsOf(num) - digitsOf(den))
	scale += shift
	if shift >= 0 {
		num.Mul(num, pow10(shift))
	} else {
		den.Mul(den, pow10(-shift))
	}
	if q := new(big.Int).Quo(num, den); digitsOf(q) > quoDigits {
		den.Mul(den, big.NewInt(10))
		scale--
	}
	q := quo(num, den, mode)
	if scale < 0 {
		q.Mul(q, pow10(-scale))
		scale = 0
	}
	return norm(q, int32(scale)).Trim(), nil
}

func digitsOf(m *big.Int) int { return len(new(big.Int).Abs(m).Text(10)) }

// quo returns num / den as a whole number, rounded by mode.
func quo(num, den *big.Int, mode Mode) *big.Int {
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	if r.Sign() == 0 {
		return q
	}
	half := r.Lsh(r.Abs(r), 1).CmpAbs(den) // is it less than half, half, or more
	away := mode == Up || half > 0 && mode != Down ||
		half == 0 && (mode == HalfUp || mode == HalfEven && q.Bit(0) == 1)
	if away {
		q.Add(q, big.NewInt(int64(num.Sign()*den.Sign())))
	}
	return q
}

// Rem returns the remainder of d / e with the sign of d, both taken as whole
// numbers at their common scale; a zero e is ErrDivide.
func (d Decimal) Rem(e Decimal) (Decimal, error) {
	if e.Sign() == 0 {
		return Decimal{}, ErrDivide
	}
	scale := max(d.scale, e.scale)
	m := d.raiseBig(scale)
	return norm(m.Rem(m, e.raiseBig(scale)), scale), nil
}

// Cmp compares the values: 1.0 equals 1.
func (d Decimal) Cmp(e Decimal) int {
	if s, t := d.Sign(), e.Sign(); s != t {
		if s < t {
			return -1
		}
		return 1
	}
	scale := max(d.scale, e.scale)
	if a, ok := d.raise(scale); ok {
		if b, ok := e.raise(scale); ok {
			switch {
			case a < b:
				return -1
			case a > b:
				return 1
			}
			return 0
		}
	}
	return d.raiseBig(scale).Cmp(e.raiseBig(scale))
}

// Round returns d with exactly places fraction digits, rounded to the nearest
// and ties to even, as CLDR's number formats do.
func (d Decimal) Round(places int) Decimal {
	places = max(places, 0)
	p := int32(min(places, MaxDigits))
	if p >= d.scale {
		if m, ok := d.raise(p); ok {
			return Decimal{mant: m, scale: p}
		}
		return norm(d.raiseBig(p), p)
	}
	if n := int(d.scale - p); d.big == nil && n < len(small10) {
		div := small10[n]
		q, r := d.mant/div, d.mant%div
		switch twice := 2 * abs64(r); {
		case twice > uint64(div), twice == uint64(div) && q&1 == 1: //nolint:gosec // a power of ten
			if d.mant < 0 {
				q--
			} else {
				q++
			}
		}
		return Decimal{mant: q, scale: p}
	}
	return norm(quo(d.Mantissa(), pow10(int(d.scale-p)), HalfEven), p)
}

// Mode tells what rounding does with what lies between two numbers.
type Mode uint8

// The modes. The zero value is that of the formats.
const (
	HalfEven Mode = iota // to the nearest, ties to even
	HalfUp               // to the nearest, ties away from zero
	HalfDown             // to the nearest, ties towards zero
	Up                   // away from zero
	Down                 // towards zero
)

// Modes are the names of the modes.
var Modes = [...]string{"half-even", "half-up", "half-down", "up", "down"}

// RoundBy is Round by a mode.
func (d Decimal) RoundBy(places int, mode Mode) Decimal {
	places = max(places, 0)
	p := int32(min(places, MaxDigits))
	if mode == HalfEven || p >= d.scale {
		return d.Round(places)
	}
	return norm(quo(d.Mantissa(), pow10(int(d.scale-p)), mode), p)
}

// Trim returns the same value without trailing zeros in the fraction.
func (d Decimal) Trim() Decimal {
	if d.big == nil {
		for d.scale > 0 && d.mant%10 == 0 {
			d.mant /= 10
			d.scale--
		}
		return d
	}
	m, ten, r := d.Mantissa(), big.NewInt(10), new(big.Int)
	scale := d.scale
	for scale > 0 {
		q := new(big.Int)
		if q.QuoRem(m, ten, r); r.Sign() != 0 {
			break
		}
		m, scale = q, scale-1
	}
	return norm(m, scale)
}

// Append appends the plain notation, without exponent: -12.50.
func (d Decimal) Append(dst []byte) []byte {
	if d.Sign() < 0 {
		dst = append(dst, '-')
	}
	start := len(dst)
	if d.big != nil {
		dst = new(big.Int).Abs(d.big).Append(dst, 10)
	} else {
		dst = strconv.AppendUint(dst, abs64(d.mant), 10)
	}
	if d.scale == 0 {
		return dst
	}
	s := int(d.scale)
	if n := len(dst) - start; n <= s { // 5 at scale 2: 0.05
		pad := s - n + 1
		for range pad {
			dst = append(dst, '0')
		}
		copy(dst[start+pad:], dst[start:start+n])
		for i := range pad {
			dst[start+i] = '0'
		}
	}
	dst = append(dst, 0)
	point := len(dst) - 1 - s
	copy(dst[point+1:], dst[point:len(dst)-1])
	dst[point] = '.'
	return dst
}

// String returns the plain notation.
func (d Decimal) String() string { return string(d.Append(nil)) }
