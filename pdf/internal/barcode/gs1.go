package barcode

import (
	"fmt"
	"strings"
)

// element is one element string of GS1: an application identifier and its data.
type element struct{ ai, data string }

// parseGS1 reads element strings in the form that people write, "(01)09501101530003(10)AB-1"
// (GS1 General Specifications, section 7.9), and checks what every reader would: that the
// identifiers are numbers, the lengths of data whose length is fixed, their check digits, and
// that no parenthesis is left open.
func parseGS1(value string) ([]element, error) {
	var out []element
	rest := value
	for rest != "" {
		ai, tail, ok := strings.Cut(strings.TrimPrefix(rest, "("), ")")
		if rest[0] != '(' || !ok || len(ai) < 2 || len(ai) > 4 || digits(ai) != nil {
			return nil, fmt.Errorf("want an application identifier in parentheses, as in (01), at %q", cut(rest))
		}
		data, _, _ := strings.Cut(tail, "(")
		rest = tail[len(data):]
		switch {
		case data == "":
			return nil, fmt.Errorf("(%s) has no data", ai)
		case len(data) > 90:
			return nil, fmt.Errorf("(%s) has %d characters; no element has more than 90", ai, len(data))
		}
		if i := strings.IndexFunc(data, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
			return nil, fmt.Errorf("(%s) has %q, which is not in the GS1 character set", ai, first(data[i:]))
		}
		if n, fixed := fixedLength(ai); fixed {
			if err := digits(data); err != nil {
				return nil, fmt.Errorf("(%s): %w", ai, err)
			}
			if len(data) != n {
				return nil, fmt.Errorf("(%s) has %d digits, got %d", ai, n, len(data))
			}
		}
		if ai == "00" || ai == "01" || ai == "02" {
			if want := checkDigit(data[:len(data)-1]); data[len(data)-1] != want {
				return nil, fmt.Errorf("(%s): the check digit of %s is %c, not %c", ai, data[:len(data)-1], want, data[len(data)-1])
			}
		}
		out = append(out, element{ai, data})
	}
	return out, nil
}

func cut(s string) string {
	if len(s) > 12 {
		return s[:12] + "..."
	}
	return s
}

// fixedLength returns the count of digits of data whose length is fixed: those after which no
// separator stands (GS1 General Specifications, figure 7.8.5-2).
func fixedLength(ai string) (int, bool) {
	switch ai[:2] {
	case "00":
		return 18, true
	case "01", "02", "03":
		return 14, true
	case "04":
		return 16, true
	case "11", "12", "13", "14", "15", "16", "17", "18", "19":
		return 6, true
	case "20":
		return 2, true
	case "31", "32", "33", "34", "35", "36":
		return 6, true
	case "41":
		return 13, true
	}
	return 0, false
}

// joinGS1 puts elements into one string that begins with FNC1, with another after each element
// whose length is not fixed unless it is the last.
func joinGS1(elements []element, fnc1 string) string {
	var b strings.Builder
	b.WriteString(fnc1)
	for i, e := range elements {
		b.WriteString(e.ai)
		b.WriteString(e.data)
		if _, fixed := fixedLength(e.ai); !fixed && i+1 < len(elements) {
			b.WriteString(fnc1)
		}
	}
	return b.String()
}
