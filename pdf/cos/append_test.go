package cos_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"example.com/quire/pdf/cos"
)

// TestNumbers is line 5.22 for numbers: shortest, no exponent, no -0.
func TestNumbers(t *testing.T) {
	tests := []struct {
		got  []byte
		want string
	}{
		{cos.AppendInt(nil, 0), "0"},
		{cos.AppendInt(nil, 9), "9"},
		{cos.AppendInt(nil, -9), "-9"},
		{cos.AppendInt(nil, math.MinInt64), "-9223372036854775808"},
		{cos.AppendFixed(nil, 0, 3), "0"},
		{cos.AppendFixed(nil, 512, 3), ".5"},
		{cos.AppendFixed(nil, -512, 3), "-.5"},
		{cos.AppendFixed(nil, 1024, 3), "1"},
		{cos.AppendFixed(nil, 1, 3), ".001"},
		{cos.AppendFixed(nil, 1, 2), "0"},
		{cos.AppendFixed(nil, -1, 2), "0"},
		{cos.AppendFixed(nil, 1, 10), ".0009765625"},
		{cos.AppendFixed(nil, 1023, 2), "1"},
		{cos.AppendFixed(nil, -1023, 2), "-1"},
		{cos.AppendFixed(nil, 1536, 0), "2"},
		{cos.AppendFixed(nil, -1536, 0), "-2"},
		{cos.AppendFixed(nil, 609_446, 3), "595.162"},
		{cos.AppendFixed(nil, math.MaxInt64, 3), "9007199254740991.999"},
		{cos.AppendFixed(nil, math.MinInt64, 18), "-9007199254740992"},
		{cos.AppendFixed(nil, 1024, -4), "1"},
		{cos.AppendFixed(nil, 1024, 400), "1"},
		{cos.AppendRatio(nil, 85, 255, 3), ".333"},
		{cos.AppendRatio(nil, 255, 255, 3), "1"},
		{cos.AppendRatio(nil, 128, 255, 3), ".502"},
		{cos.AppendRatio(nil, 7, 0, 3), "7"},
		{cos.AppendDecimal(nil, 12345, 2), "123.45"},
		{cos.AppendDecimal(nil, -5, 3), "-.005"},
		{cos.AppendDecimal(nil, 1000, 2), "10"},
		{cos.AppendDecimal(nil, 0, 5), "0"},
		{cos.AppendDecimal(nil, math.MinInt64, 18), "-9.223372036854775808"},
	}
	for _, tt := range tests {
		if string(tt.got) != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}

// TestIntegers: every number of up to five digits, and the sign.
func TestIntegers(t *testing.T) {
	for v := range int64(20_000) {
		if got, want := string(cos.AppendInt(nil, v)), strconv.FormatInt(v, 10); got != want {
			t.Fatalf("%s for %s", got, want)
		}
		if got, want := string(cos.AppendInt(nil, -v)), strconv.FormatInt(-v, 10); got != want {
			t.Fatalf("%s for %s", got, want)
		}
	}
}

// TestNumbersAgainstBig compares with exact rational arithmetic.
func TestNumbersAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.Int64().Draw(t, "num")
		den := rapid.Int64Range(1, math.MaxInt64).Draw(t, "den")
		decimals := rapid.IntRange(0, 18).Draw(t, "decimals")
		got := string(cos.AppendRatio(nil, num, den, decimals))
		want := new(big.Rat).SetFrac64(num, den).FloatString(decimals)
		if strings.Contains(want, ".") {
			want = strings.TrimRight(strings.TrimRight(want, "0"), ".")
		}
		want = strings.Replace(want, "0.", ".", 1)
		if !strings.HasPrefix(want, ".") && !strings.HasPrefix(want, "-.") { // "10.5" holds "0." too
			want = new(big.Rat).SetFrac64(num, den).FloatString(decimals)
			if strings.Contains(want, ".") {
				want = strings.TrimRight(strings.TrimRight(want, "0"), ".")
			}
		}
		if want == "" || want == "-0" {
			want = "0"
		}
		if got != want {
			t.Fatalf("%d/%d with %d decimals: got %s, want %s", num, den, decimals, got, want)
		}
	})
}

// TestNamesAndStrings is line 5.22 for names and strings.
func TestNamesAndStrings(t *testing.T) {
	tests := []struct {
		name string
		o    cos.Object
		want string
	}{
		{"plain name", cos.Name("Type"), "/Type"},
		{"escaped name", cos.Name("A#B (c)/é"), "/A#23B#20#28c#29#2F#C3#A9"},
		{"empty name", cos.Name(""), "/"},
		{"string", cos.String("a(b)\\c\n\r\t"), "(a\\(b\\)\\\\c\\n\\r\t)"},
		{"binary string", cos.String("a\x00"), "<6100>"},
		{"high string", cos.String("\xE9"), "<E9>"},
		{"hex", cos.Hex("\x01\xFFa"), "<01FF61>"},
		{"empty hex", cos.Hex(""), "<>"},
		{"ASCII text", cos.Text("a (b)"), "(a \\(b\\))"},
		{"Latin text", cos.Text("Å é"), "<C520E9>"},
		{"soft hyphen is not in PDFDocEncoding", cos.Text("\u00ad"), "<FEFF00AD>"},
		{"euro text", cos.Text("€"), "<FEFF20AC>"},
		{"non-BMP text", cos.Text("\U0001F600"), "<FEFFD83DDE00>"},
		{"invalid UTF-8", cos.Text("\xff"), "<FEFFFFFD>"},
		{"control character", cos.Text("\x01"), "<FEFF0001>"},
		{"booleans", cos.Array{cos.Bool(true), cos.Bool(false), cos.Null{}, nil}, "[true false null null]"},
		{"decimal", cos.Decimal{Mantissa: -125, Scale: 2}, "-1.25"},
		{"fixed", cos.Fixed(-1), "-.001"},
		{"raw", cos.Array{cos.Int(1), cos.Raw("<</A 1>>")}, "[1 <</A 1>>]"},
		{"references", cos.Array{cos.Ref{Num: 12}, cos.Ref{Num: 3, Gen: 2}, cos.Ref{}}, "[12 0 R 3 2 R null]"},
		{"spaces only where needed", cos.Array{cos.Int(1), cos.Name("a"), cos.String("s"), cos.Int(2), cos.Array{}, cos.Int(3)}, "[1/a(s)2[]3]"},
		{"empty name before a number", cos.Array{cos.Name(""), cos.Int(1)}, "[/ 1]"},
		{"fixed key order", cos.Dict{cos.E("Z", cos.Int(1)), cos.E("A", cos.Name("n")), cos.E("M", nil)}, "<</Z 1/A/n>>"},
		{"empty key", cos.Dict{cos.E("", cos.Int(1))}, "<</ 1>>"},
		{"UTC date", cos.Date(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)), "(D:20260102030405Z)"},
		{"date east", cos.Date(time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 5*3600+1800))), "(D:20260102030405+05'30)"},
		{"date west", cos.Date(time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", -3*3600-1800))), "(D:20260102030405-03'30)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.o.AppendPDF([]byte("x"))[1:]); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// unescape reads a literal or hexadecimal string back by 7.3.4.
func unescape(t interface{ Fatalf(string, ...any) }, b []byte) []byte {
	var out []byte
	if b[0] == '<' {
		b = b[1 : len(b)-1]
		if len(b)%2 != 0 {
			t.Fatalf("odd hexadecimal string %q", b)
		}
		for ; len(b) > 0; b = b[2:] {
			n, err := hex.DecodeString(string(b[:2]))
			if err != nil {
				t.Fatalf("hexadecimal string holds %q", b[:2])
			}
			out = append(out, n...)
		}
		return out
	}
	b = b[1 : len(b)-1]
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '(', ')', '\r', '\n':
			t.Fatalf("bare %q in literal string %q", b[i], b)
		case '\\':
			i++
			switch b[i] {
			case 'n':
				out = append(out, '\n')
			case 'r':
				out = append(out, '\r')
			default:
				out = append(out, b[i])
			}
		default:
			out = append(out, b[i])
		}
	}
	return out
}

// textOf reads a text string as ISO 32000-2, 7.9.2.2 says: by its byte order mark,
// otherwise in PDFDocEncoding, whose places above 0x7F are not all Latin-1's.
func textOf(b []byte) string {
	if utf16be, ok := bytes.CutPrefix(b, []byte("\xFE\xFF")); ok {
		units := make([]uint16, len(utf16be)/2)
		for i := range units {
			units[i] = uint16(utf16be[2*i])<<8 | uint16(utf16be[2*i+1])
		}
		return string(utf16.Decode(units))
	}
	if utf8text, ok := bytes.CutPrefix(b, []byte("\xEF\xBB\xBF")); ok {
		return string(utf8text)
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		if runes[i] = rune(c); c >= 0x7F && c <= 0xA0 || c == 0xAD || c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			runes[i] = utf8.RuneError
		}
	}
	return string(runes)
}

func FuzzStrings(f *testing.F) {
	f.Add([]byte("\u00FE\u00FFab"))
	f.Add([]byte("\u00EF\u00BB\u00BFab"))
	f.Add([]byte("caf\u00E9 \u20AC \U0001F600"))
	f.Add([]byte("plain"))
	f.Add([]byte("a(b\\c)\r\n"))
	f.Add([]byte{0, 255, '(', 13})
	f.Fuzz(func(t *testing.T, s []byte) {
		for _, enc := range [][]byte{cos.AppendString(nil, s), cos.AppendLiteral(nil, s), cos.AppendHex(nil, s)} {
			if got := unescape(t, enc); !bytes.Equal(got, s) {
				t.Errorf("%q reads back as %q", s, got)
			}
		}
		if utf8.Valid(s) {
			if got := textOf(unescape(t, cos.AppendText(nil, string(s)))); got != string(s) {
				t.Errorf("text %q reads back as %q", s, got)
			}
		}
		for _, c := range cos.AppendName(nil, string(s))[1:] {
			if c < '!' || c > '~' || bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 {
				t.Fatalf("name of %q holds %q", s, c)
			}
		}
	})
}

func TestDictGet(t *testing.T) {
	d := cos.Dict{cos.E("A", cos.Int(1))}
	if d.Get("A") != cos.Int(1) || d.Get("B") != nil {
		t.Error("Get finds the wrong thing")
	}
}

func TestObjectErrorNames(t *testing.T) {
	e := &cos.ObjectError{Ref: cos.Ref{Num: 12}, Reason: "already written"}
	if e.Error() != "cos: write object 12: already written" {
		t.Error(e.Error())
	}
}

func BenchmarkAppendFixed(b *testing.B) {
	buf := make([]byte, 0, 64)
	v := int64(1)
	for b.Loop() {
		buf = cos.AppendFixed(buf[:0], v*7919%1_000_000, 3)
		v++
	}
}

func TestFloatIsTheNearestToWhatTheFileSays(t *testing.T) {
	for _, c := range []struct {
		o    cos.Object
		want float64
		ok   bool
	}{
		{cos.Int(-3), -3, true},
		{cos.Fixed(1536), 1.5, true},
		{cos.Decimal{Mantissa: 42520, Scale: 3}, 42.52, true},
		{cos.Decimal{Mantissa: 53691, Scale: 3}, 53.691, true},
		{cos.Decimal{Mantissa: -1, Scale: 18}, -1e-18, true},
		{cos.Name("3"), 0, false},
		{nil, 0, false},
	} {
		if got, ok := cos.Float(c.o); got != c.want || ok != c.ok {
			t.Errorf("%v: %v, %v; want %v, %v", c.o, got, ok, c.want, c.ok)
		}
	}
}

func TestPutHexIsAsEncodingHex(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, src := range [][]byte{nil, {0xab}, every[:4], every[151:158], every} {
		want := hex.EncodeToString(src)
		dst := bytes.Repeat([]byte{'.'}, 2*len(src)+9)
		if cos.PutHex(dst, src); string(dst) != want+"........." {
			t.Errorf("%x: got %s, want %s", src, dst, want)
		}
	}
}
