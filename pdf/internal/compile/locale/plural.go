package locale

import (
	"math/big"
	"strconv"
	"unicode/utf8"

	"example.com/quire/pdf/internal/compile/decimal"
)

// Category is a plural category of CLDR.
type Category uint8

// The categories. Other exists in every language.
const (
	Other Category = iota
	Zero
	One
	Two
	Few
	Many
)

// Categories holds the names in the order of the constants.
var Categories = [...]string{"other", "zero", "one", "two", "few", "many"}

// operands are those of the plural rules (UTS 35, part 3, section 5.1.1), as far
// as these languages ask: i modulo a million, v and t.
type operands struct {
	i        int64 // whole part: exact below a million, else a million + remainder
	v        int   // visible fraction digits
	fraction bool  // t != 0
}

const million = 1_000_000

// Plural returns the category of the number as it is written: 1 is one in
// English, 1.0 is not.
func (l *Locale) Plural(d decimal.Decimal) Category {
	d = d.Abs()
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale())), nil)
	whole, rest := new(big.Int).QuoRem(d.Mantissa(), scale, new(big.Int))
	op := operands{v: d.Scale(), fraction: rest.Sign() != 0}
	if whole.Cmp(big.NewInt(million)) < 0 {
		op.i = whole.Int64()
	} else {
		op.i = million + new(big.Int).Rem(whole, big.NewInt(million)).Int64()
	}
	return l.cardinal(op)
}

// roundMillion is the rule "i != 0 and i % 1000000 = 0 and v = 0".
func (o operands) roundMillion() bool { return o.i == million && o.v == 0 }

func cardinalOne(o operands) Category {
	if o.i == 1 && o.v == 0 {
		return One
	}
	return Other
}

// cardinalExact is for languages in which 1.0 is one, too.
func cardinalExact(o operands) Category {
	if o.i == 1 && !o.fraction {
		return One
	}
	return Other
}

func cardinalNone(operands) Category { return Other }

func cardinalHindi(o operands) Category {
	if o.i == 0 {
		return One
	}
	return cardinalExact(o)
}

func cardinalCzech(o operands) Category {
	switch {
	case o.v != 0:
		return Many
	case o.i == 1:
		return One
	case o.i >= 2 && o.i <= 4:
		return Few
	}
	return Other
}

func cardinalArabic(o operands) Category {
	switch tens := o.i % 100; {
	case o.fraction:
		return Other
	case o.i <= 2:
		return [...]Category{Zero, One, Two}[o.i]
	case tens >= 11:
		return Many
	case tens >= 3:
		return Few
	}
	return Other
}

func cardinalDanish(o operands) Category {
	if o.i == 1 || o.fraction && o.i == 0 {
		return One
	}
	return Other
}

func cardinalFrench(o operands) Category {
	switch {
	case o.i <= 1:
		return One
	case o.roundMillion():
		return Many
	}
	return Other
}

func cardinalPortuguese(o operands) Category { return cardinalFrench(o) }

func cardinalSpanish(o operands) Category {
	switch {
	case o.i == 1 && !o.fraction:
		return One
	case o.roundMillion():
		return Many
	}
	return Other
}

func cardinalItalian(o operands) Category {
	switch {
	case o.i == 1 && o.v == 0:
		return One
	case o.roundMillion():
		return Many
	}
	return Other
}

func cardinalPolish(o operands) Category {
	tens := o.i % 100
	switch last := o.i % 10; {
	case o.v != 0:
		return Other
	case o.i == 1:
		return One
	case last >= 2 && last <= 4 && (tens < 12 || tens > 14):
		return Few
	}
	return Many
}

// Ordinal appends the short ordinal of n: 1st, 2., 3e.
func (l *Locale) Ordinal(dst []byte, n int64) []byte {
	if l.zero == '0' {
		return l.ordinal(dst, n)
	}
	for _, r := range string(l.ordinal(nil, n)) {
		if r >= '0' && r <= '9' {
			dst = l.digit(dst, byte(r))
		} else {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

func suffixed(dst []byte, n int64, suffix string) []byte {
	return append(strconv.AppendInt(dst, n, 10), suffix...)
}

func ordinalChinese(dst []byte, n int64) []byte { return suffixed(append(dst, "第"...), n, "") }

func ordinalHindi(dst []byte, n int64) []byte {
	suffix := "वाँ"
	switch n {
	case 1, -1:
		suffix = "ला"
	case 2, 3, -2, -3:
		suffix = "रा"
	case 4, -4:
		suffix = "था"
	case 6, -6:
		suffix = "ठा"
	}
	return suffixed(dst, n, suffix)
}

func lastDigits(n int64) (ones, tens int64) {
	if n < 0 {
		n = -n
	}
	return n % 10, n % 100
}

func ordinalEnglish(dst []byte, n int64) []byte {
	ones, tens := lastDigits(n)
	switch {
	case ones == 1 && tens != 11:
		return suffixed(dst, n, "st")
	case ones == 2 && tens != 12:
		return suffixed(dst, n, "nd")
	case ones == 3 && tens != 13:
		return suffixed(dst, n, "rd")
	}
	return suffixed(dst, n, "th")
}

func ordinalPlain(dst []byte, n int64) []byte   { return suffixed(dst, n, "") }
func ordinalDot(dst []byte, n int64) []byte     { return suffixed(dst, n, ".") }
func ordinalDutch(dst []byte, n int64) []byte   { return suffixed(dst, n, "e") }
func ordinalSign(dst []byte, n int64) []byte    { return suffixed(dst, n, "º") }
func ordinalSpanish(dst []byte, n int64) []byte { return suffixed(dst, n, ".º") }

func ordinalFrench(dst []byte, n int64) []byte {
	if n == 1 {
		return suffixed(dst, n, "er")
	}
	return suffixed(dst, n, "e")
}

func ordinalSwedish(dst []byte, n int64) []byte {
	ones, tens := lastDigits(n)
	if (ones == 1 || ones == 2) && tens != 11 && tens != 12 {
		return suffixed(dst, n, ":a")
	}
	return suffixed(dst, n, ":e")
}
