package clixml_test

import (
	"bytes"
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"example.com/quire/psrp/clixml"
)

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`<S>a_x000A_</S>`, `<Obj RefId="0"><TN RefId="0"><T>A</T></TN><ToString /><I32>1</I32><Props><S N="A"></S></Props><MS><Ref N="R" RefId="0" /></MS></Obj>`,
		`<Obj RefId="0"><DCT><En><S N="Key">a</S><Obj N="Value" RefId="1"><LST><Db>1E+17</Db></LST></Obj></En></DCT></Obj>`, `<DT>2026-11-21T15:09:28.97+00:00</DT>`, `<TS>-P1DT2H</TS>`, `<D>1.50</D>`,
		`<Version>1.2</Version>`, `<BA>AAH/</BA>`, `<SS>cAB3AA==</SS>`, `<PR><AV></AV><AI>0</AI><Nil /><PI>-1</PI><PC>-1</PC><T></T><SR>-1</SR><SD></SD></PR>`, `<S>&amp;&#x41;_xD83D__xDE00_</S>`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := clixml.Decoder{Limits: clixml.Limits{Nodes: 10_000, Decoded: 1 << 20}}
		v, err := d.Decode(body)
		if err != nil {
			return
		}
		// What was read is written, and read again as the same; and nothing chokes on it.
		var e clixml.Encoder
		out, err := e.AppendValue(nil, v)
		if err != nil {
			t.Fatalf("%q is read but not written: %v", body, err)
		}
		again, err := (&clixml.Decoder{}).Decode(out)
		if err != nil || !clixml.Equal(v, again) {
			t.Fatalf("%q is written %q and read back as %v, %v", body, out, again, err)
		}
		if s := v.String(); !utf8.ValidString(s) && bytes.IndexByte(out, '_') < 0 {
			t.Errorf("%q is printed %q", body, s)
		}
		_, _ = v.MarshalJSON()
		var whatever any
		_ = clixml.Unmarshal(v, &whatever)
	})
}

func FuzzDocument(f *testing.F) {
	f.Add([]byte("#< CLIXML\r\n<Objs Version=\"1.1.0.1\" xmlns=\"" + clixml.Namespace + "\">\n  <S S=\"Error\">x</S>\n</Objs>"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		d := clixml.Decoder{Limits: clixml.Limits{Nodes: 10_000, Decoded: 1 << 20}}
		vs, err := readDocument(&d, doc)
		if err != nil {
			return
		}
		var e clixml.Encoder
		out, err := e.AppendDocument(nil, vs...)
		if err != nil {
			t.Fatalf("%q is read but not written: %v", doc, err)
		}
		if again, err := readDocument(&d, out); err != nil || len(again) != len(vs) {
			t.Fatalf("%q is written %q and read back as %v, %v", doc, out, again, err)
		}
	})
}

// FuzzUnmarshal reads any body into a struct of every kind of field: what fits is written and read
// back as the same, and what does not is an error with its path.
func FuzzUnmarshal(f *testing.F) {
	type inner struct {
		Text string
		Next *inner
	}
	type all struct {
		Bool   bool
		Small  int8
		Large  uint64
		Float  float32
		Char   clixml.Char
		Bytes  []byte
		When   time.Time
		Wait   time.Duration
		ID     clixml.GUID
		Names  []string
		Counts map[string]int
		Inner  *inner
		Any    any
		Raw    clixml.Value
	}
	for _, x := range []all{{}, {Bool: true, Small: -1, Large: 1 << 63, Float: 2.5, Char: 'c', Bytes: []byte{1}, Wait: time.Second, Names: []string{"a"}, Counts: map[string]int{"k": 1}, Inner: &inner{"t", &inner{}}, Any: "x"}} {
		v, err := clixml.Marshal(x)
		if err != nil {
			f.Fatal(err)
		}
		body, err := (&clixml.Encoder{}).AppendValue(nil, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d := clixml.Decoder{Limits: clixml.Limits{Nodes: 10_000, Decoded: 1 << 20}}
		v, err := d.Decode(body)
		if err != nil {
			return
		}
		var x, again all
		if err := clixml.Unmarshal(v, &x); err != nil {
			if _, ok := errors.AsType[*clixml.FieldError](err); !ok {
				t.Errorf("%q: %v (%T)", body, err, err)
			}
			return
		}
		v, err = clixml.Marshal(x)
		if err != nil {
			return // text that is no UTF-8, a time that no DateTime is
		}
		if err := clixml.Unmarshal(v, &again); err != nil {
			t.Errorf("%q is read and not read again: %v", body, err)
		}
	})
}

// FuzzText holds the quick paths of escaping, which look at 8 bytes at a time, to the slow one.
func FuzzText(f *testing.F) {
	f.Add("treble clef\n _x0000_ \U0001D11E")
	f.Add("12345678_x\x7f<&>")
	f.Fuzz(func(t *testing.T, s string) {
		var e clixml.Encoder
		out, err := e.AppendValue(nil, clixml.String(s))
		if err != nil {
			return
		}
		if v, err := (&clixml.Decoder{}).Decode(out); err != nil || !clixml.Equal(v, clixml.String(s)) {
			t.Fatalf("%q is written %q and read back as %v, %v", s, out, v, err)
		}
	})
}
