package decimal_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/quire/pdf/internal/compile/decimal"
)

func mustParse(t *testing.T, s string) decimal.Decimal {
	t.Helper()
	d, err := decimal.Parse(s)
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return d
}

func TestParseAndString(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"0", "0"},
		{"-0", "0"},
		{"-0.00", "0.00"},
		{"12.50", "12.50"},
		{"-0.05", "-0.05"},
		{"1e3", "1000"},
		{"1.25e1", "12.5"},
		{"1.5E-3", "0.0015"},
		{"12e-1", "1.2"},
		{"9223372036854775807", "9223372036854775807"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"123456789012345678901234567890.123", "123456789012345678901234567890.123"},
		{"-0.000000000000000000000000001", "-0.000000000000000000000000001"},
	}
	for _, tt := range tests {
		if got := mustParse(t, tt.in).String(); got != tt.want {
			t.Errorf("Parse(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
	for _, bad := range []string{"", "-", ".5", "5.", "01", "+1", "1e", "1e+-2", "1e++2", "0x10", "1_000", "NaN", "1 ", "--1", "1.2.3"} {
		if d, err := decimal.Parse(bad); !errors.Is(err, decimal.ErrSyntax) {
			t.Errorf("Parse(%q) = %v, %v, want ErrSyntax", bad, d, err)
		}
	}
	for _, huge := range []string{"1e1001", "1e-1001", "1e99999999999999999999", strings.Repeat("9", 1001)} {
		if _, err := decimal.Parse(huge); !errors.Is(err, decimal.ErrRange) {
			t.Errorf("Parse(%.20q) error %v, want ErrRange", huge, err)
		}
	}
}

func TestRoundHalfEven(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in     string
		places int
		want   string
	}{
		{"2.5", 0, "2"},
		{"3.5", 0, "4"},
		{"-2.5", 0, "-2"},
		{"-3.5", 0, "-4"},
		{"2.51", 0, "3"},
		{"0.125", 2, "0.12"},
		{"0.135", 2, "0.14"},
		{"1.005", 2, "1.00"},
		{"7", 2, "7.00"},
		{"-0.004", 2, "0.00"},
		{"92233720368547758.07", 6, "92233720368547758.070000"},
		{"123456789012345678901234567890.5", 0, "123456789012345678901234567890"},
		{"123456789012345678901234567891.5", 0, "123456789012345678901234567892"},
	}
	for _, tt := range tests {
		if got := mustParse(t, tt.in).Round(tt.places).String(); got != tt.want {
			t.Errorf("%s rounded to %d = %s, want %s", tt.in, tt.places, got, tt.want)
		}
	}
}

func TestQuo(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, b, want string }{
		{"1", "3", "0.3333333333333333333333333333333333"},
		{"2", "3", "0.6666666666666666666666666666666667"},
		{"10", "4", "2.5"},
		{"100", "0.5", "200"},
		{"-7", "2", "-3.5"},
		{"0", "5", "0"},
		{"1e40", "1", "1" + strings.Repeat("0", 40)},
		{"1", "1e40", "0." + strings.Repeat("0", 39) + "1"},
	}
	for _, tt := range tests {
		got, err := mustParse(t, tt.a).Quo(mustParse(t, tt.b))
		if err != nil || got.String() != tt.want {
			t.Errorf("%s / %s = %v, %v, want %s", tt.a, tt.b, got, err, tt.want)
		}
	}
	if _, err := mustParse(t, "1").Quo(decimal.Decimal{}); !errors.Is(err, decimal.ErrDivide) {
		t.Errorf("1 / 0: %v", err)
	}
	if _, err := mustParse(t, "1").Rem(decimal.Decimal{}); !errors.Is(err, decimal.ErrDivide) {
		t.Errorf("1 %% 0: %v", err)
	}
}

// number draws decimals whose mantissas cluster around the edge of int64.
func number() *rapid.Generator[decimal.Decimal] {
	return rapid.Custom(func(t *rapid.T) decimal.Decimal {
		scale := rapid.IntRange(0, 25).Draw(t, "scale")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return decimal.New(rapid.Int64().Draw(t, "mant"), scale)
		case 1:
			return decimal.New(rapid.SampledFrom([]int64{0, 1, -1, 10, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1e18}).Draw(t, "edge"), scale)
		}
		return decimal.New(rapid.Int64().Draw(t, "a"), scale).Mul(decimal.New(rapid.Int64().Draw(t, "b"), 0))
	})
}

func rat(d decimal.Decimal) *big.Rat {
	den := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale())), nil)
	return new(big.Rat).SetFrac(d.Mantissa(), den)
}

// TestAgainstRationals holds every operation against math/big's rationals.
func TestAgainstRationals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := number().Draw(t, "a"), number().Draw(t, "b")
		ra, rb := rat(a), rat(b)
		same := func(op string, got decimal.Decimal, want *big.Rat) {
			if rat(got).Cmp(want) != 0 {
				t.Fatalf("%v %s %v = %v, want %v", a, op, b, got, want.FloatString(40))
			}
			if _, _, wide := got.Parts(); wide != nil && wide.IsInt64() {
				t.Fatalf("%v %s %v: mantissa %v kept wide", a, op, b, wide)
			}
		}
		same("+", a.Add(b), new(big.Rat).Add(ra, rb))
		same("-", a.Sub(b), new(big.Rat).Sub(ra, rb))
		same("*", a.Mul(b), new(big.Rat).Mul(ra, rb))
		same("neg", a.Neg(), new(big.Rat).Neg(ra))
		same("abs", a.Abs(), new(big.Rat).Abs(ra))
		same("trim", a.Trim(), ra)
		if got, want := a.Cmp(b), ra.Cmp(rb); got != want {
			t.Fatalf("%v cmp %v = %d, want %d", a, b, got, want)
		}
		if a.Sign() != ra.Sign() {
			t.Fatalf("sign of %v", a)
		}
		back, err := decimal.Parse(a.String())
		if err != nil || back.String() != a.String() {
			t.Fatalf("%v printed and read: %v, %v", a, back, err)
		}
		if v, ok := a.Int64(); ok != (ra.IsInt() && ra.Num().IsInt64()) || ok && ra.Num().Int64() != v {
			t.Fatalf("%v.Int64() = %d, %v", a, v, ok)
		}
		places := rapid.IntRange(0, 26).Draw(t, "places")
		checkNearest(t, a.Round(places), ra, places)
		if b.Sign() == 0 {
			return
		}
		q, err := a.Quo(b)
		if err != nil {
			t.Fatal(err)
		}
		exact := new(big.Rat).Quo(ra, rb)
		// |q - exact| <= half a unit of the 34th digit of exact.
		diff := new(big.Rat).Sub(rat(q), exact)
		diff.Abs(diff).Mul(diff, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(33), nil))).Mul(diff, big.NewRat(2, 1))
		if diff.Cmp(new(big.Rat).Abs(exact)) > 0 {
			t.Fatalf("%v / %v = %v is more than half a unit off", a, b, q)
		}
	})
}

func checkNearest(t *rapid.T, got decimal.Decimal, want *big.Rat, places int) {
	if got.Scale() != places {
		t.Fatalf("scale %d, want %d", got.Scale(), places)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	diff := new(big.Rat).Sub(rat(got), want)
	diff.Abs(diff).Mul(diff, new(big.Rat).SetInt(unit))
	c := diff.Cmp(big.NewRat(1, 2))
	if c > 0 || c == 0 && got.Mantissa().Bit(0) == 1 {
		t.Fatalf("%v is not %v rounded half-even to %d places", got, want.FloatString(30), places)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "-1.50", "1e10", "1E-5", "00", "9e999", "123456789012345678901234567890"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := decimal.Parse(s)
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(s)
		if !ok || rat(d).Cmp(want) != 0 {
			t.Fatalf("Parse(%q) = %v, big.Rat says %v", s, d, want)
		}
	})
}

// TestRoundingModesAtTies: each mode at ties of both signs, small and beyond 64 bits.
func TestRoundingModesAtTies(t *testing.T) {
	values := []string{"0.5", "-0.5", "1.5", "-1.5", "2.5", "-2.5", "2.4", "-2.6", "2.0", "0.01"}
	for mode, want := range map[decimal.Mode]string{
		decimal.HalfEven: "0 0 2 -2 2 -2 2 -3 2 0",
		decimal.HalfUp:   "1 -1 2 -2 3 -3 2 -3 2 0",
		decimal.HalfDown: "0 0 1 -1 2 -2 2 -3 2 0",
		decimal.Up:       "1 -1 2 -2 3 -3 3 -3 2 1",
		decimal.Down:     "0 0 1 -1 2 -2 2 -2 2 0",
	} {
		var got []string
		for _, v := range values {
			d, err := decimal.Parse(v)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, d.RoundBy(0, mode).String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", decimal.Modes[mode], strings.Join(got, " "), want)
		}
	}
	long, err := decimal.Parse("1234567890123456789012345.5")
	if err != nil {
		t.Fatal(err)
	}
	if got := long.RoundBy(0, decimal.HalfUp).String(); got != "1234567890123456789012346" {
		t.Errorf("long: %s", got)
	}
}

// TestShortIsParse: a short number is that which Parse reads in the same characters, and what it
// does not read is longer, or none.
func TestShortIsParse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`-?[0-9]{0,20}(\.[0-9]{0,20})?[e,"]?[0-9]?`).Draw(t, "s")
		d, n := decimal.Short(s)
		if n == 0 {
			if want, err := decimal.Parse(s); err == nil && len(strings.Trim(s, "-")) <= 19 && !strings.Contains(s, "e") && len(strings.ReplaceAll(strings.Trim(s, "-"), ".", "")) <= 18 {
				t.Fatalf("%q: not read, want %s", s, want)
			}
			return
		}
		if want, err := decimal.Parse(s[:n]); err != nil || want != d {
			t.Fatalf("%q: %s of %q, want %s, %v", s, d, s[:n], want, err)
		}
	})
}
