// Package barcode encodes values as barcodes: the modules of a symbol, the quiet zone that its
// standard requires, and the human-readable text below it. github.com/boombuler/barcode makes the
// bars. This package first checks the rules of the standards for values (check digits, character
// sets, GS1 element strings), so that every symbol encodes exactly its value.
package barcode

import (
	"errors"
	"fmt"
	"image/color"
	"strings"

	barcodes "github.com/boombuler/barcode"
	"github.com/boombuler/barcode/aztec"
	"github.com/boombuler/barcode/codabar"
	"github.com/boombuler/barcode/code128"
	"github.com/boombuler/barcode/code39"
	"github.com/boombuler/barcode/code93"
	"github.com/boombuler/barcode/datamatrix"
	"github.com/boombuler/barcode/ean"
	"github.com/boombuler/barcode/qr"
	"github.com/boombuler/barcode/twooffive"

	"example.com/quire/pdf/doc"
)

// maxValue is the longest value in bytes: more than any symbology takes.
const maxValue = 4096

// Quiet is the empty space around a symbol, in modules.
type Quiet struct{ Left, Right, Top, Bottom int }

// Symbol is an encoded value.
type Symbol struct {
	Cols, Rows int // in modules; a linear symbol has one row
	Tall       int // height of a row in modules, of symbols with several rows
	Quiet      Quiet
	Text       string // what is printed below a linear symbol
	dark       []bool
}

// Dark reports whether a module is dark.
func (s *Symbol) Dark(x, y int) bool { return s.dark[y*s.Cols+x] }

// Rect is a dark rectangle of a symbol, in modules and rows.
type Rect struct{ X, Y, W, H int }

// Rects returns the dark modules as rectangles that do not overlap, from top to bottom: runs of
// modules in a row, joined with those that are the same in the rows below.
func (s *Symbol) Rects() []Rect {
	var out []Rect
	open := map[[2]int]int{} // a run that reaches down to the row before -> its rectangle
	for y := range s.Rows {
		next := map[[2]int]int{}
		for x := 0; x < s.Cols; x++ {
			if !s.Dark(x, y) {
				continue
			}
			from := x
			for x < s.Cols && s.Dark(x, y) {
				x++
			}
			run := [2]int{from, x}
			i, ok := open[run]
			if ok {
				out[i].H++
			} else {
				i = len(out)
				out = append(out, Rect{from, y, x - from, 1})
			}
			next[run] = i
		}
		open = next
	}
	return out
}

// Encode encodes a value. The error says what of the value the symbology cannot say.
func Encode(kind doc.Symbology, value, correction string) (*Symbol, error) {
	switch {
	case value == "":
		return nil, errors.New("there is no value")
	case len(value) > maxValue:
		return nil, fmt.Errorf("the value has %d bytes; no symbol takes more than %d", len(value), maxValue)
	}
	switch kind {
	case doc.QR, doc.SwissQR:
		level, ok := levels()[correction]
		if !ok {
			return nil, fmt.Errorf("error correction is L, M, Q or H, not %q", correction)
		}
		code, err := qr.Encode(value, level, qr.Auto)
		return finish(code, err, "", Quiet{4, 4, 4, 4})
	case doc.DataMatrix:
		b, err := latin1(value)
		if err == nil && len(b) > 0 && b[0] == datamatrix.FNC1 {
			err = fmt.Errorf("a value cannot begin with %q", value[:2])
		}
		if err != nil {
			return nil, err
		}
		code, err := datamatrix.Encode(string(b))
		return finish(code, err, "", Quiet{1, 1, 1, 1})
	case doc.GS1Matrix:
		elements, err := parseGS1(value)
		if err != nil {
			return nil, err
		}
		code, err := datamatrix.Encode(joinGS1(elements, string([]byte{datamatrix.FNC1})))
		return finish(code, err, "", Quiet{1, 1, 1, 1})
	case doc.Aztec:
		b, err := latin1(value)
		if err != nil {
			return nil, err
		}
		code, err := aztec.Encode(b, aztec.DEFAULT_EC_PERCENT, aztec.DEFAULT_LAYERS)
		return finish(code, err, "", Quiet{1, 1, 1, 1})
	case doc.PDF417:
		return encodePDF417(value)
	}
	return linear(kind, value)
}

func levels() map[string]qr.ErrorCorrectionLevel {
	return map[string]qr.ErrorCorrectionLevel{"": qr.M, "L": qr.L, "M": qr.M, "Q": qr.Q, "H": qr.H}
}

// linear encodes as one row of bars.
func linear(kind doc.Symbology, value string) (*Symbol, error) {
	ten := Quiet{Left: 10, Right: 10}
	switch kind {
	case doc.Code128:
		if err := ascii(value); err != nil {
			return nil, err
		}
		code, err := code128.Encode(value)
		return finish(code, err, value, ten)
	case doc.GS1128:
		elements, err := parseGS1(value)
		if err != nil {
			return nil, err
		}
		code, err := code128.Encode(joinGS1(elements, string(code128.FNC1)))
		return finish(code, err, value, ten)
	case doc.Code39:
		if i := strings.IndexFunc(value, func(r rune) bool { return !strings.ContainsRune(code39Set, r) }); i >= 0 {
			return nil, fmt.Errorf("%q cannot be said; it has capitals, digits and %q", first(value[i:]), "-. $/+%")
		}
		code, err := code39.Encode(value, false, false)
		return finish(code, err, value, ten)
	case doc.Code93:
		if err := ascii(value); err != nil {
			return nil, err
		}
		code, err := code93.Encode(value, true, true)
		return finish(code, err, value, ten)
	case doc.Codabar:
		n := len(value)
		if n < 2 || !strings.Contains("ABCD", value[:1]) || !strings.Contains("ABCD", value[n-1:]) || strings.Trim(value[1:n-1], "0123456789-$:/.+") != "" {
			return nil, errors.New(`want digits and "-$:/.+" between two letters of A to D`)
		}
		code, err := codabar.Encode(value)
		return finish(code, err, value, ten)
	case doc.Interleaved:
		if err := digits(value); err != nil {
			return nil, err
		}
		if len(value)%2 == 1 {
			return nil, fmt.Errorf("want an even number of digits, got %d", len(value))
		}
		code, err := twooffive.Encode(value, true)
		return finish(code, err, value, ten)
	case doc.EAN13:
		return retail(kind, value, 13, "", Quiet{Left: 11, Right: 7})
	case doc.EAN8:
		return retail(kind, value, 8, "", Quiet{Left: 7, Right: 7})
	case doc.UPCA: // it is the EAN-13 symbol with a leading 0
		return retail(kind, value, 12, "0", Quiet{Left: 9, Right: 9})
	}
	return nil, fmt.Errorf("there is no symbology %q", string(kind))
}

const code39Set = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-. $/+%"

// retail encodes EAN and UPC numbers of n digits with the check digit.
func retail(kind doc.Symbology, value string, n int, prefix string, q Quiet) (*Symbol, error) {
	if err := digits(value); err != nil {
		return nil, err
	}
	switch len(value) {
	case n - 1:
		value += string(checkDigit(value))
	case n:
		if want := checkDigit(value[:n-1]); value[n-1] != want {
			return nil, fmt.Errorf("the check digit of %s is %c, not %c", value[:n-1], want, value[n-1])
		}
	default:
		return nil, fmt.Errorf("want %d digits, or %d with the check digit, got %d", n-1, n, len(value))
	}
	text := value
	switch kind {
	case doc.EAN13:
		text = value[:1] + " " + value[1:7] + " " + value[7:]
	case doc.EAN8:
		text = value[:4] + " " + value[4:]
	case doc.UPCA:
		text = value[:1] + " " + value[1:6] + " " + value[6:11] + " " + value[11:]
	}
	code, err := ean.Encode(prefix + value)
	return finish(code, err, text, q)
}

// checkDigit is the GS1 check digit of a number: weights 3 and 1 from the right, modulo 10.
func checkDigit(number string) byte {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 0 {
			d *= 3
		}
		sum += d
	}
	return byte('0' + (10-sum%10)%10)
}

func digits(s string) error {
	if i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		return fmt.Errorf("%q is not a digit", first(s[i:]))
	}
	return nil
}

// ascii refuses what readers would take for another character: a symbol that does not name its
// character set has none beyond ASCII.
func ascii(s string) error {
	if i := strings.IndexFunc(s, func(r rune) bool { return r > 0x7F }); i >= 0 {
		return fmt.Errorf("%q is not ASCII; a QR code takes any text", first(s[i:]))
	}
	return nil
}

// latin1 returns a text as ISO/IEC 8859-1, the character set of symbols that name no other.
func latin1(s string) ([]byte, error) {
	b := make([]byte, 0, len(s))
	for i, r := range s {
		if r > 0xFF || r >= 0x80 && r < 0xA0 {
			return nil, fmt.Errorf("%q is not in ISO 8859-1; a QR code takes any text", first(s[i:]))
		}
		b = append(b, byte(r)) //nolint:gosec // at most 0xFF
	}
	return b, nil
}

func first(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

func finish(code barcodes.Barcode, err error, text string, q Quiet) (*Symbol, error) {
	if err != nil {
		return nil, fmt.Errorf("the value does not fit into one symbol: %w", err)
	}
	return modules(code, 1, text, q), nil
}

// modules reads the modules of a symbol whose rows are drawn some pixels high.
func modules(code barcodes.Barcode, pixels int, text string, q Quiet) *Symbol {
	b := code.Bounds()
	s := &Symbol{Cols: b.Dx(), Rows: b.Dy() / pixels, Tall: 1, Quiet: q, Text: text}
	s.dark = make([]bool, s.Cols*s.Rows)
	for y := range s.Rows {
		for x := range s.Cols {
			s.dark[y*s.Cols+x] = code.At(b.Min.X+x, b.Min.Y+y*pixels) == color.Color(color.Gray16{})
		}
	}
	return s
}
