package psrp_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"example.com/quire/internal/remotingtest"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/internal/conformance"
)

// TestPSRPCoreReadsAndWritesOurValues sends random values through the codec of others: our body,
// its reading, its body, our reading. lxml reads each body of ours, too.
//
// Left out is what psrpcore cannot say: the width of a Single (a Python float), NaN and infinities,
// an Int64 that fits 32 bits, time in ticks rather than microseconds, spans of whole tens of
// seconds, zones of times, and texts with U+FFFE or U+FFFF, which XML has not.
func TestPSRPCoreReadsAndWritesOurValues(t *testing.T) {
	const n = 5000
	values := valuesOf(0)
	var in bytes.Buffer
	sent := make([]clixml.Value, n)
	var e clixml.Encoder
	for i := range sent {
		sent[i] = values.Example(i)
		body, err := e.AppendValue(nil, sent[i])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&in, base64.StdEncoding.EncodeToString(body))
	}
	cmd := exec.CommandContext(t.Context(), remotingtest.Python(t), remotingtest.CodecScript(t)) //nolint:gosec // G204: the judge's interpreter
	cmd.Stdin = &in
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("psrpcore: %v\n%s", err, stderr.String())
	}
	agree, faults := 0, 0
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for i := 0; lines.Scan() && i < n; i++ {
		body, err := base64.StdEncoding.DecodeString(lines.Text())
		var back clixml.Value
		if err == nil {
			back, err = (&clixml.Decoder{}).Decode(body)
		}
		if err == nil && conformance.Alike(sent[i], back) {
			agree++
			continue
		}
		if faults++; faults <= 5 {
			ours, _ := e.AppendValue(nil, sent[i])
			t.Errorf("value %d: sent\n%s\ncame back as %v\n%s\n%.300s", i, ours, err, body, lines.Text())
		}
	}
	t.Logf("psrpcore: %d of %d values agree", agree, n)
	if agree != n {
		t.Errorf("%d of %d values agree", agree, n)
	}
}

// valuesOf generates values that are nested at most thrice.
func valuesOf(depth int) *rapid.Generator[clixml.Value] {
	text := rapid.StringOfN(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("_x0041<>&\"'\t\r\n\x00\x1f é\U0001F600"))), 0, 30, -1).
		Filter(func(s string) bool { return utf8.ValidString(s) && !strings.ContainsAny(s, "\ufffe\uffff") })
	is := func(f func(*rapid.T) clixml.Value) *rapid.Generator[clixml.Value] { return rapid.Custom(f) }
	all := []*rapid.Generator[clixml.Value]{
		is(func(t *rapid.T) clixml.Value { return clixml.String(text.Draw(t, "text")) }),
		is(func(t *rapid.T) clixml.Value { return clixml.Bool(rapid.Bool().Draw(t, "bool")) }),
		is(func(t *rapid.T) clixml.Value {
			return clixml.Char(rapid.Uint16Range(1, 0xd7ff).Draw(t, "char")).Value()
		}),
		is(func(t *rapid.T) clixml.Value { return clixml.Int8(rapid.Int8().Draw(t, "int8")) }),
		is(func(t *rapid.T) clixml.Value { return clixml.Int16(rapid.Int16().Draw(t, "int16")) }),
		is(func(t *rapid.T) clixml.Value { return clixml.Int32(rapid.Int32().Draw(t, "int32")) }),
		is(func(t *rapid.T) clixml.Value {
			return clixml.Int64(rapid.Int64Range(math.MaxInt32+1, math.MaxInt64).Draw(t, "int64"))
		}),
		is(func(t *rapid.T) clixml.Value { return clixml.Uint8(rapid.Uint8().Draw(t, "uint8")) }),
		is(func(t *rapid.T) clixml.Value { return clixml.Uint16(rapid.Uint16().Draw(t, "uint16")) }),
		is(func(t *rapid.T) clixml.Value { return clixml.Uint32(rapid.Uint32().Draw(t, "uint32")) }),
		is(func(t *rapid.T) clixml.Value { return clixml.Uint64(rapid.Uint64().Draw(t, "uint64")) }),
		is(func(t *rapid.T) clixml.Value { return clixml.Float64(rapid.Float64().Draw(t, "float64")) }),
		is(func(t *rapid.T) clixml.Value {
			return clixml.Bytes(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes"))
		}),
		is(func(t *rapid.T) clixml.Value {
			d, err := clixml.NewDecimal(rapid.Int64().Draw(t, "coefficient"), rapid.Uint8Range(0, 6).Draw(t, "scale"))
			if err != nil {
				t.Fatal(err)
			}
			return d.Value()
		}),
		is(func(t *rapid.T) clixml.Value {
			return clixml.GUID([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "guid"))).Value()
		}),
		is(func(t *rapid.T) clixml.Value {
			return clixml.NewVersion(rapid.Int32Range(0, 99).Draw(t, "major"), rapid.Int32Range(0, 99).Draw(t, "minor")).Value()
		}),
		is(func(t *rapid.T) clixml.Value {
			seconds := rapid.Int64Range(0, 1<<30).Filter(func(n int64) bool { return n%10 != 0 }).Draw(t, "seconds")
			return clixml.TimeSpan(seconds*10_000_000 + rapid.Int64Range(0, 999_999).Draw(t, "microseconds")*10).Value()
		}),
		is(func(t *rapid.T) clixml.Value { return clixml.ScriptBlock(text.Draw(t, "script")).Value() }),
		is(func(*rapid.T) clixml.Value { return clixml.Nil() }),
	}
	if depth < 3 {
		inner := valuesOf(depth + 1)
		all = append(all, is(func(t *rapid.T) clixml.Value {
			return (&clixml.Object{TypeNames: clixml.ArrayListTypes(), Base: clixml.NewList(rapid.SliceOfN(inner, 0, 5).Draw(t, "items")...).Value()}).Value()
		}), is(func(t *rapid.T) clixml.Value {
			d := &clixml.Dict{}
			for i, v := range rapid.SliceOfN(inner, 0, 5).Draw(t, "entries") {
				d.Set(fmt.Sprint("Key", i, text.Draw(t, "key")), v)
			}
			return (&clixml.Object{TypeNames: clixml.HashtableTypes(), Base: d.Value()}).Value()
		}), is(func(t *rapid.T) clixml.Value {
			o := clixml.NewCustomObject()
			for i, v := range rapid.SliceOfN(inner, 0, 5).Draw(t, "properties") {
				o.Extended.Set(fmt.Sprint("Property", i), v)
			}
			return o.Value()
		}))
	}
	return rapid.OneOf(all...)
}
