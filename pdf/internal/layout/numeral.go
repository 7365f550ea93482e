package layout

import (
	"strconv"
	"strings"

	"example.com/quire/pdf/doc"
)

// mostRoman is the greatest number that Roman numerals write without a line above.
const mostRoman = 3999

var romans = [...]struct {
	value int
	sign  string
}{
	{1000, "m"},
	{900, "cm"},
	{500, "d"},
	{400, "cd"},
	{100, "c"},
	{90, "xc"},
	{50, "l"},
	{40, "xl"},
	{10, "x"},
	{9, "ix"},
	{5, "v"},
	{4, "iv"},
	{1, "i"},
}

// numeral writes n. What has no numeral, such as a Roman zero, is written in digits.
func numeral(n int, way doc.Numbering) string {
	switch {
	case way == doc.NumberingRoman && n >= 1 && n <= mostRoman:
		return roman(n)
	case way == doc.NumberingUpperRoman && n >= 1 && n <= mostRoman:
		return strings.ToUpper(roman(n))
	case way == doc.NumberingAlpha && n >= 1 && n <= mostRoman:
		return letters(n)
	case way == doc.NumberingUpperAlpha && n >= 1 && n <= mostRoman:
		return strings.ToUpper(letters(n))
	}
	return strconv.Itoa(n)
}

func roman(n int) string {
	var b []byte
	for _, r := range romans {
		for ; n >= r.value; n -= r.value {
			b = append(b, r.sign...)
		}
	}
	return string(b)
}

// letters is a to z, aa to zz and so on (ISO 32000-2, 12.4.2, table 161).
func letters(n int) string {
	const alphabet = "abcdefghijklmnopqrstuvwxyz"
	i := (n - 1) % len(alphabet)
	return strings.Repeat(alphabet[i:i+1], (n-1)/len(alphabet)+1)
}
