package clixml_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/quire/psrp/clixml"
)

func decode(t *testing.T, body string) clixml.Value {
	t.Helper()
	var d clixml.Decoder
	v, err := d.Decode([]byte(body))
	if err != nil {
		t.Fatalf("%.200s: %v", body, err)
	}
	return v
}

func encode(t *testing.T, v clixml.Value) string {
	t.Helper()
	var e clixml.Encoder
	b, err := e.AppendValue(nil, v)
	if err != nil {
		t.Fatalf("%v: %v", v, err)
	}
	return string(b)
}

func mustDecimal(s string) clixml.Decimal {
	d, err := clixml.ParseDecimal(s)
	if err != nil {
		panic(err)
	}
	return d
}

func TestEveryPrimitiveAtItsBounds(t *testing.T) {
	for _, tt := range []struct {
		v    clixml.Value
		text string
	}{
		{clixml.Nil(), `<Nil />`},
		{clixml.String(""), `<S></S>`},
		{clixml.String(" a "), `<S> a </S>`},
		{clixml.Char(0).Value(), `<C>0</C>`},
		{clixml.Char(97).Value(), `<C>97</C>`},
		{clixml.Char(65535).Value(), `<C>65535</C>`},
		{clixml.Bool(true), `<B>true</B>`},
		{clixml.Bool(false), `<B>false</B>`},
		{clixml.Uint8(0), `<By>0</By>`},
		{clixml.Uint8(255), `<By>255</By>`},
		{clixml.Int8(-128), `<SB>-128</SB>`},
		{clixml.Int8(127), `<SB>127</SB>`},
		{clixml.Int16(-32768), `<I16>-32768</I16>`},
		{clixml.Int16(32767), `<I16>32767</I16>`},
		{clixml.Uint16(65535), `<U16>65535</U16>`},
		{clixml.Int32(math.MinInt32), `<I32>-2147483648</I32>`},
		{clixml.Int32(math.MaxInt32), `<I32>2147483647</I32>`},
		{clixml.Uint32(math.MaxUint32), `<U32>4294967295</U32>`},
		{clixml.Int64(math.MinInt64), `<I64>-9223372036854775808</I64>`},
		{clixml.Int64(math.MaxInt64), `<I64>9223372036854775807</I64>`},
		{clixml.Uint64(math.MaxUint64), `<U64>18446744073709551615</U64>`},
		{clixml.Uint64(math.MaxInt64 + 1), `<U64>9223372036854775808</U64>`},
		{clixml.Float32(1.5), `<Sg>1.5</Sg>`},
		{clixml.Float32(float32(math.Copysign(0, -1))), `<Sg>-0</Sg>`},
		{clixml.Float32(1.4291504e10), `<Sg>1.4291504E+10</Sg>`},
		{clixml.Float32(math.SmallestNonzeroFloat32), `<Sg>1E-45</Sg>`},
		{clixml.Float32(211533380), `<Sg>211533380</Sg>`},
		{clixml.Float32(5.2442435e9), `<Sg>5.2442435E+09</Sg>`},
		{clixml.Float32(float32(math.NaN())), `<Sg>NaN</Sg>`},
		{clixml.Float32(float32(math.Inf(1))), `<Sg>INF</Sg>`},
		{clixml.Float32(0.1), `<Sg>0.1</Sg>`},
		{clixml.Float64(math.Inf(-1)), `<Db>-INF</Db>`},
		{clixml.Float64(math.NaN()), `<Db>NaN</Db>`},
		{clixml.Float64(5e-324), `<Db>5E-324</Db>`},
		{clixml.Float64(math.MaxFloat64), `<Db>1.7976931348623157E+308</Db>`},
		{clixml.Float64(0), `<Db>0</Db>`},
		{clixml.Float64(0.1), `<Db>0.1</Db>`},
		{clixml.Float64(0.0001), `<Db>0.0001</Db>`},
		{clixml.Float64(0.00001), `<Db>1E-05</Db>`},
		{clixml.Float64(12345678901234567), `<Db>12345678901234568</Db>`},
		{clixml.Float64(1e17), `<Db>1E+17</Db>`},
		{clixml.Float64(1e16), `<Db>10000000000000000</Db>`},
		{clixml.Float64(-123.456), `<Db>-123.456</Db>`},
		{mustDecimal("1.50").Value(), `<D>1.50</D>`},
		{mustDecimal("0").Value(), `<D>0</D>`},
		{mustDecimal("-0.0").Value(), `<D>-0.0</D>`},
		{mustDecimal("79228162514264337593543950335").Value(), `<D>79228162514264337593543950335</D>`},
		{mustDecimal("-79228162514264337593543950335").Value(), `<D>-79228162514264337593543950335</D>`},
		{mustDecimal("0.0000000000000000000000000001").Value(), `<D>0.0000000000000000000000000001</D>`},
		{clixml.Bytes(nil), `<BA />`},
		{clixml.Bytes([]byte{0, 1, 255}), `<BA>AAH/</BA>`},
		{clixml.GUID{0: 0xAB, 15: 1}.Value(), `<G>ab000000-0000-0000-0000-000000000001</G>`},
		{clixml.URI("http://a/?b=1&c").Value(), `<URI>http://a/?b=1&amp;c</URI>`},
		{clixml.NewVersion(1, 2).Value(), `<Version>1.2</Version>`},
		{clixml.Version{1, 2, 3, 2147483647}.Value(), `<Version>1.2.3.2147483647</Version>`},
		{clixml.XMLText("<a/>").Value(), `<XD>&lt;a/&gt;</XD>`},
		{clixml.ScriptBlock("$_").Value(), `<SBK>$_</SBK>`},
		{clixml.DateTime{}.Value(), `<DT>0001-01-01T00:00:00</DT>`},
		{clixml.DateTime{Ticks: 3155378975999999999, Kind: clixml.DateUTC}.Value(), `<DT>9999-12-31T23:59:59.9999999Z</DT>`},
		{clixml.TimeSpan(0).Value(), `<TS>PT0S</TS>`},
		{clixml.TimeSpan(1).Value(), `<TS>PT0.0000001S</TS>`},
		{clixml.NewTimeSpan(10 * time.Second).Value(), `<TS>PT10S</TS>`},
		{clixml.NewTimeSpan(20 * time.Second).Value(), `<TS>PT20S</TS>`},
		{clixml.NewTimeSpan(-90 * time.Second).Value(), `<TS>-PT1M30S</TS>`},
		{clixml.NewTimeSpan(24 * time.Hour).Value(), `<TS>P1D</TS>`},
		{clixml.NewTimeSpan(25*time.Hour + time.Minute).Value(), `<TS>P1DT1H1M</TS>`},
		{clixml.TimeSpan(math.MaxInt64).Value(), `<TS>P10675199DT2H48M5.4775807S</TS>`},
		{clixml.TimeSpan(math.MinInt64).Value(), `<TS>-P10675199DT2H48M5.4775808S</TS>`},
	} {
		if got := encode(t, tt.v); got != tt.text {
			t.Errorf("%v %v is written %s, want %s", tt.v.Kind(), tt.v, got, tt.text)
		}
		if got := decode(t, tt.text); !clixml.Equal(got, tt.v) || got.Kind() != tt.v.Kind() {
			t.Errorf("%s is read as %v %v, want %v", tt.text, got.Kind(), got, tt.v)
		}
	}
}

func TestWhatIsNoValueOfItsTypeIsRefused(t *testing.T) {
	for _, body := range []string{
		`<I32></I32>`, `<I32 />`, `<I32>2147483648</I32>`, `<I32>-2147483649</I32>`, `<I32>1,000</I32>`, `<I32>0x10</I32>`, `<I32>1_0</I32>`, `<I32>1.0</I32>`,
		`<By>256</By>`, `<By>-1</By>`, `<By>+1</By>`, `<SB>128</SB>`, `<C>65536</C>`, `<C>a</C>`, `<C>+1</C>`, `<U64>18446744073709551616</U64>`, `<U32>-0</U32>`,
		`<B>True</B>`, `<B>2</B>`, `<B />`, `<Db>1e999</Db>`, `<Db>Infinity</Db>`, `<Db>0x1p4</Db>`, `<Db>1_0</Db>`, `<Sg>1e40</Sg>`, `<Sg></Sg>`,
		`<D>79228162514264337593543950336</D>`, `<D>1e3</D>`, `<D>.</D>`, `<D>0.00000000000000000000000000001</D>`,
		`<DT>2026-13-01T00:00:00</DT>`, `<DT>2026-02-30T00:00:00</DT>`, `<DT>2026-01-01</DT>`, `<DT>2026-01-01T24:00:00</DT>`, `<DT>2026-01-01T00:00:00+15:00</DT>`,
		`<DT>2026-01-01T00:00:00.12345678Z</DT>`, `<DT>2026-01-01T00:00:00z</DT>`, `<DT>0000-01-01T00:00:00</DT>`,
		`<TS>P1Y</TS>`, `<TS>P</TS>`, `<TS>PT</TS>`, `<TS>P1H</TS>`, `<TS>PT1D</TS>`, `<TS>PT1.5M</TS>`, `<TS>PT1S1M</TS>`, `<TS>P10675200D</TS>`, `<TS>1</TS>`, `<TS>P1DT</TS>`,
		`<G>x</G>`, `<G>ab000000-0000-0000-0000-00000000000g</G>`, `<Version>1</Version>`, `<Version>1.2.3.4.5</Version>`, `<Version>1.-2</Version>`, `<Version>1.2147483648</Version>`,
		`<BA>A</BA>`, `<BA>AAA=A</BA>`, `<BA>AA=A</BA>`, `<Nil>x</Nil>`,
	} {
		var d clixml.Decoder
		v, err := d.Decode([]byte(body))
		if e, ok := errors.AsType[*clixml.SyntaxError](err); !ok || e.Reason == "" {
			t.Errorf("%s is read as %v, %v", body, v, err)
		}
	}
}

func TestReaderTakesWhatPowerShellTakes(t *testing.T) {
	for body, want := range map[string]clixml.Value{
		`<I32> 5 </I32>`: clixml.Int32(5), `<I32>+5</I32>`: clixml.Int32(5), `<I32>&#53;</I32>`: clixml.Int32(5), `<B>1</B>`: clixml.Bool(true), `<B> false </B>`: clixml.Bool(false),
		`<Db>1E3</Db>`: clixml.Float64(1000), `<Db>.5</Db>`: clixml.Float64(.5), `<Version> 1.2 </Version>`: clixml.NewVersion(1, 2).Value(), `<Version>+1.2</Version>`: clixml.NewVersion(1, 2).Value(),
		`<G>{AB000000-0000-0000-0000-000000000001}</G>`: clixml.GUID{0: 0xAB, 15: 1}.Value(), `<G>ab000000000000000000000000000001</G>`: clixml.GUID{0: 0xAB, 15: 1}.Value(),
		`<S/>`: clixml.String(""), `<S />`: clixml.String(""), `<S></S >`: clixml.String(""), `<Nil></Nil>`: clixml.Nil(), `<BA> AA H/ </BA>`: clixml.Bytes([]byte{0, 1, 255}),
		"\xEF\xBB\xBF<S>x</S>": clixml.String("x"), " <S>x</S>\n": clixml.String("x"), "": clixml.Nil(), "\xEF\xBB\xBF": clixml.Nil(), `<S N='n'>x</S>`: clixml.String("x"),
	} {
		if got := decode(t, body); !clixml.Equal(got, want) || got.Kind() != want.Kind() {
			t.Errorf("%q is read as %v %v", body, got.Kind(), got)
		}
	}
}

func TestDateTimesOfFourKindsStayApart(t *testing.T) {
	seen := map[clixml.DateTime]string{}
	for _, text := range []string{
		"2026-11-21T15:09:28", "2026-11-21T15:09:28Z", "2026-11-21T15:09:28+00:00", "2026-11-21T15:09:28-05:30", "2026-11-21T15:09:28.00516+00:00", "2026-11-21T15:09:28.9702422+00:00",
	} {
		v := decode(t, "<DT>"+text+"</DT>")
		d, ok := v.DateTime()
		if other, dup := seen[d]; dup || !ok {
			t.Errorf("%s and %s are the same", text, other)
		}
		seen[d] = text
		if got := encode(t, v); got != "<DT>"+text+"</DT>" {
			t.Errorf("%s is written back as %s", text, got)
		}
	}
	d, err := clixml.ParseDateTime("2026-11-21T15:09:28-05:30")
	if err != nil || !d.Time(nil).Equal(time.Date(2026, 11, 21, 20, 39, 28, 0, time.UTC)) {
		t.Errorf("the instant is %v, %v", d.Time(nil), err)
	}
}

func TestTimesConvertExactlyOrNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sec := rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds")
		nano := rapid.Int64Range(0, 9999999).Draw(t, "ticks") * 100
		want := time.Unix(sec, nano).UTC()
		d, err := clixml.NewDateTime(want)
		if err != nil || !d.Time(nil).Equal(want) {
			t.Fatalf("%v becomes %v, %v", want, d.Time(nil), err)
		}
		again, err := clixml.ParseDateTime(d.String())
		if err != nil || again != d {
			t.Fatalf("%v is read back as %v, %v", d, again, err)
		}
		ts := clixml.TimeSpan(rapid.Int64().Draw(t, "span"))
		if got, err := clixml.ParseTimeSpan(ts.String()); err != nil || got != ts {
			t.Fatalf("%d is written %s and read back as %d, %v", ts, ts, got, err)
		}
	})
	if _, err := clixml.NewDateTime(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil {
		t.Error("the year 10000 is a DateTime")
	}
	if d, ok := clixml.TimeSpan(math.MaxInt64).Duration(); ok {
		t.Errorf("29,000 years are %v", d)
	}
}

func TestFloatsReadBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, g := rapid.Float64().Draw(t, "double"), rapid.Float32().Draw(t, "single")
		var e clixml.Encoder
		var d clixml.Decoder
		for _, v := range []clixml.Value{clixml.Float64(f), clixml.Float32(g)} {
			b, err := e.AppendValue(nil, v)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := d.Decode(b); err != nil || !clixml.Equal(got, v) {
				t.Fatalf("%s is read back as %v, %v", b, got, err)
			}
		}
	})
}

// The vector that the makers of psrpcore publish, and others of recorded traffic.
func TestEscapesAreThoseOfPowerShell(t *testing.T) {
	const loneHigh = "\xED\xA0\xBC" // U+D83C as WTF-8
	for text, want := range map[string]string{
		"treble clef\n _x0000_ _X0000_ \U0001D11E café " + loneHigh + " _x001G_": "treble clef_x000A_ _x005F_x0000_ _x005F_X0000_ _xD834__xDD1E_ café _xD83C_ _x005F_x001G_",
		"\t\r\n": "_x0009__x000D__x000A_", "\U0001F600": "_xD83D__xDE00_", "\u0085\u009f\u00a0\u2028": "_x0085__x009F_\u00a0\u2028", "\x7f\x00": "_x007F__x0000_",
		"__x_": "__x005F_x_", "_": "_", "a_b": "a_b", `<&>"'`: `&lt;&amp;&gt;"'`, "\ufffe\uffff": "&#xFFFE;&#xFFFF;", "a_x0041_": "a_x005F_x0041_", "_X": "_x005F_X",
		strings.Repeat("plain text ", 20) + "\x01" + strings.Repeat("é", 9): strings.Repeat("plain text ", 20) + "_x0001_" + strings.Repeat("é", 9),
	} {
		if got := encode(t, clixml.String(text)); got != "<S>"+want+"</S>" {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
		got, _ := decode(t, "<S>"+want+"</S>").Text()
		if got != text {
			t.Errorf("%s is read as %q, want %q", want, got, text)
		}
		o := &clixml.Object{TypeNames: []string{text}, ToString: text, Extended: clixml.Properties{{Name: text, Value: clixml.Nil()}}}
		if got := decode(t, encode(t, o.Value())); !clixml.Equal(got, o.Value()) {
			t.Errorf("%q in names is read back as %v", text, got)
		}
	}
	for body, want := range map[string]string{
		"_x0041_": "A", "_X004a_": "J", "_x0001F600_": "\U0001F600", "_x41_": "_x41_", "_x001G_": "_x001G_", "\U0001F600": "\U0001F600", "a\r\nb\rc": "a\nb\nc",
		"&#95;x0041_": "A", "_x00&#52;1_": "A", "&#x1F600;": "\U0001F600", "&apos;&quot;": `'"`, "_xDD1E__xD834_": "\xED\xB4\x9E\xED\xA0\xB4", "_x00110000_": "_x00110000_",
		"&#13;": "\r", "]] >": "]] >",
	} {
		if got, _ := decode(t, "<S>"+body+"</S>").Text(); got != want {
			t.Errorf("%s is read as %q, want %q", body, got, want)
		}
	}
}

func TestTextSurvivesWhateverItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				b.WriteString(rapid.StringN(0, 20, -1).Draw(t, "text"))
			case 1:
				b.WriteString(rapid.SampledFrom([]string{"_", "_x", "_x0", "_x0041_", "_X", "&", "<", ">", "]]>", `"`, "\r\n", "\uFFFE"}).Draw(t, "odd"))
			case 2:
				b.WriteString("\xED\xA0\x80 ") // a lone high surrogate
			default:
				b.WriteByte(rapid.ByteRange(0, 127).Draw(t, "byte"))
			}
		}
		text := b.String()
		var e clixml.Encoder
		var d clixml.Decoder
		o := (&clixml.Object{ToString: text, HasToString: true, Base: clixml.String(text), Extended: clixml.Properties{{Name: "x" + text, Value: clixml.Nil()}}}).Value()
		out, err := e.AppendValue(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.Decode(out); err != nil || !clixml.Equal(got, o) {
			t.Fatalf("%q: %s: %v, %v", text, out, got, err)
		}
	})
}

func TestLoneSurrogateIsRefusedWhenAsked(t *testing.T) {
	d := clixml.Decoder{RejectLoneSurrogates: true}
	for _, body := range []string{"<S>_xD83C_</S>", "<S>_xDD1E_</S>", "<S>_xD83C_x</S>", "<S>_xD83C__xD83C__xDD1E_</S>"} {
		if v, err := d.Decode([]byte(body)); err == nil {
			t.Errorf("%s is read as %q", body, v)
		}
	}
	if v, err := d.Decode([]byte("<S>_xD834__xDD1E_</S>")); err != nil || v.String() != "\U0001D11E" {
		t.Errorf("a pair is read as %q, %v", v, err)
	}
}

func TestTextThatIsNotUTF8IsNotWritten(t *testing.T) {
	var e clixml.Encoder
	for _, s := range []string{"\xff", "a\xc3", "\xED\xA0"} {
		if b, err := e.AppendValue(nil, clixml.String(s)); !errors.Is(err, clixml.ErrInvalidText) {
			t.Errorf("%q is written %s, %v", s, b, err)
		}
	}
}
