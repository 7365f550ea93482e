package clixml

import (
	"errors"
	"math"
	"strconv"
)

// appendFloat writes the shortest text that reads back as f, in the form of .NET's "R": exponents
// below 1E-4 and when the integer part would have more digits than the type can hold or the
// number needs (9 for 32 bits, 17 for 64).
func appendFloat(dst []byte, f float64, size int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "INF"...)
	case math.IsInf(f, -1):
		return append(dst, "-INF"...)
	case f == 0:
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, '0')
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], f, 'e', -1, size) // [-]d[.ddd]e±dd
	if e[0] == '-' {
		dst = append(dst, '-')
		e = e[1:]
	}
	var digits [20]byte
	n := 0
	i := 0
	for ; e[i] != 'e'; i++ {
		if e[i] != '.' {
			digits[n] = e[i]
			n++
		}
	}
	exp := 0
	for _, c := range e[i+2:] {
		exp = exp*10 + int(c-'0')
	}
	if e[i+1] == '-' {
		exp = -exp
	}
	limit := 17
	if size == 32 {
		limit = 9
	}
	scale := exp + 1 // digits before the point
	switch {
	case scale > max(n, limit) || scale < -3:
		dst = append(dst, digits[0])
		if n > 1 {
			dst = append(dst, '.')
			dst = append(dst, digits[1:n]...)
		}
		dst = append(dst, 'E')
		if exp < 0 {
			dst = append(dst, '-')
			exp = -exp
		} else {
			dst = append(dst, '+')
		}
		if exp < 10 {
			dst = append(dst, '0')
		}
		return strconv.AppendInt(dst, int64(exp), 10)
	case scale <= 0:
		dst = append(dst, '0', '.')
		for range -scale {
			dst = append(dst, '0')
		}
		return append(dst, digits[:n]...)
	case scale >= n:
		dst = append(dst, digits[:n]...)
		for range scale - n {
			dst = append(dst, '0')
		}
		return dst
	default:
		dst = append(dst, digits[:scale]...)
		dst = append(dst, '.')
		return append(dst, digits[scale:n]...)
	}
}

// parseFloat reads decimal notation and the three words, nothing of Go's further syntax.
func parseFloat(s string, size int) (float64, error) {
	switch s {
	case "NaN":
		return math.NaN(), nil
	case "INF":
		return math.Inf(1), nil
	case "-INF":
		return math.Inf(-1), nil
	case "":
		return 0, errors.New("empty")
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c-'0' <= 9, c == '.', c == '-', c == '+', c == 'E', c == 'e':
		default:
			return 0, errors.New("not a number")
		}
	}
	f, err := strconv.ParseFloat(s, size)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return 0, errors.New("out of range")
		}
		return 0, errors.New("not a number")
	}
	return f, nil
}
