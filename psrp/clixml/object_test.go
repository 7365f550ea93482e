package clixml_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"example.com/quire/psrp/clixml"
)

func TestReferencesKeepIdentity(t *testing.T) {
	shared := clixml.NewCustomObject(clixml.Property{Name: "A", Value: clixml.Int32(1)})
	self := &clixml.Object{TypeNames: []string{"T"}}
	self.Extended = clixml.Properties{{Name: "Self", Value: self.Value()}}
	a, b := clixml.NewCustomObject(), clixml.NewCustomObject()
	a.Extended.Set("Other", b.Value())
	b.Extended.Set("Other", a.Value())
	list := &clixml.List{}
	holds := &clixml.Object{Base: list.Value()}
	list.Items = []clixml.Value{holds.Value()}
	for name, tt := range map[string]struct {
		v    clixml.Value
		same func(v clixml.Value) (x, y clixml.Value)
	}{
		"one object three times": {clixml.NewList(shared.Value(), shared.Value(), shared.Value()).Value(), func(v clixml.Value) (x, y clixml.Value) {
			l, _ := v.List()
			return l.Items[0], l.Items[2]
		}},
		"self reference": {self.Value(), func(v clixml.Value) (x, y clixml.Value) { y, _ = v.Get("Self"); return v, y }},
		"mutual cycle": {a.Value(), func(v clixml.Value) (x, y clixml.Value) {
			other, _ := v.Get("Other")
			y, _ = other.Get("Other")
			return v, y
		}},
		"a list that holds itself": {holds.Value(), func(v clixml.Value) (x, y clixml.Value) {
			l, _ := v.List()
			return v, l.Items[0]
		}},
	} {
		text := encode(t, tt.v)
		if again := encode(t, tt.v); again != text {
			t.Errorf("%s: written %s, then %s", name, text, again)
		}
		got := decode(t, text)
		x, y := tt.same(got)
		xo, _ := x.Object()
		yo, ok := y.Object()
		if !ok || xo != yo {
			t.Errorf("%s: %s is read as two objects", name, text)
		}
		if again := encode(t, got); again != text {
			t.Errorf("%s: %s is written back as %s", name, text, again)
		}
		if name != "one object three times" {
			if _, err := json.Marshal(got); !errors.Is(err, clixml.ErrCycle) {
				t.Errorf("%s: JSON of a cycle: %v", name, err)
			}
			if s := got.String(); len(s) > 5000 {
				t.Errorf("%s: printed in %d bytes", name, len(s))
			}
		}
	}
}

func TestManySharedObjectsAndTypesKeepTheirReferences(t *testing.T) {
	l := &clixml.List{}
	for i := range 300 {
		o := clixml.NewCustomObject(clixml.Property{Name: "N", Value: clixml.Int(int64(i))})
		o.TypeNames = []string{fmt.Sprintf("T%d", i%40), "System.Object"}
		l.Items = append(l.Items, o.Value(), o.Value())
	}
	text := encode(t, l.Value())
	if n := strings.Count(text, "<TN "); n != 41 {
		t.Errorf("%d lists of type names written, want 40 and the list's own", n)
	}
	if n := strings.Count(text, "<Ref "); n != 300 {
		t.Errorf("%d references, want 300", n)
	}
	if got := decode(t, text); !clixml.Equal(got, got) || encode(t, got) != text {
		t.Error("it is not written back as it was")
	}
}

func TestShapesOfObjects(t *testing.T) {
	for _, body := range []string{
		`<Obj RefId="0" />`,
		`<Obj RefId="0"><TN RefId="0"><T>A</T></TN></Obj>`,
		`<Obj RefId="0"><ToString /><I32>1</I32></Obj>`,
		`<Obj RefId="0"><TN RefId="0"><T>System.IO.DriveType</T><T>System.Enum</T><T>System.ValueType</T><T>System.Object</T></TN><ToString>Fixed</ToString><I32>3</I32></Obj>`,
		`<Obj RefId="0"><S>text</S><MS><I32 N="Note">1</I32></MS></Obj>`,
		`<Obj RefId="0"><Props><S N="A">1</S></Props><MS><S N="A">2</S><S N="a">3</S></MS></Obj>`,
		`<Obj RefId="0"><MS><MS N="Set"><I32 N="X">1</I32><MS N="Inner" /></MS></MS></Obj>`,
		`<Obj RefId="0"><TN RefId="0"><T>A</T></TN><Obj RefId="1"><TNRef RefId="0" /><ToString>x</ToString></Obj><MS><Ref N="R" RefId="1" /></MS></Obj>`,
		`<Obj RefId="0"><LST /></Obj>`, `<Obj RefId="0"><IE><I32>1</I32></IE><Props><I32 N="Count">1</I32></Props></Obj>`,
		`<Obj RefId="0"><QUE><I32>1</I32><I32>2</I32></QUE></Obj>`, `<Obj RefId="0"><STK><I32>2</I32><I32>1</I32></STK></Obj>`,
		`<Obj RefId="0"><DCT><En><I32 N="Key">1</I32><Nil N="Value" /></En><En><G N="Key">ab000000-0000-0000-0000-000000000001</G><S N="Value"></S></En><En><S N="Key">k</S><S N="Value">1</S></En><En><S N="Key">K</S><S N="Value">2</S></En></DCT></Obj>`,
		`<Obj RefId="0"><DCT><En><Obj N="Key" RefId="1"><TN RefId="0"><T>E</T></TN><ToString>a</ToString><I32>1</I32></Obj><Ref N="Value" RefId="1" /></En></DCT></Obj>`,
	} {
		if got := encode(t, decode(t, body)); got != body {
			t.Errorf("%s\nis written back as\n%s", body, got)
		}
	}
}

func TestChildrenInAnyOrderAndOddIdentifiers(t *testing.T) {
	want := `<Obj RefId="0"><TN RefId="0"><T>A</T></TN><ToString>x</ToString><I32>1</I32><Props><S N="P"></S></Props><MS><Ref N="M" RefId="0" /></MS></Obj>`
	for _, body := range []string{
		`<Obj RefId="7"><MS><Ref N="M" RefId="7" /></MS><Props><S N="P" /></Props><I32>1</I32><ToString>x</ToString><TN RefId="9"><T>A</T></TN></Obj>`,
		"<Obj RefId='18446744073709551615'>\n <I32>1</I32>\n <TN RefId='3'>\n  <T>A</T>\n </TN> <ToString>x</ToString>\n <MS> <Ref N='M' RefId='18446744073709551615'></Ref> </MS><Props><S N='P'></S></Props></Obj>",
	} {
		if got := encode(t, decode(t, body)); got != want {
			t.Errorf("%s\nis written as\n%s\nwant\n%s", body, got, want)
		}
	}
	// Of a repeated identifier the later one counts.
	v := decode(t, `<Obj RefId="0"><LST><Obj RefId="1"><I32>1</I32></Obj><Obj RefId="1"><I32>2</I32></Obj><Ref RefId="1" /></LST></Obj>`)
	l, _ := v.List()
	if n, _ := l.Items[2].Int(); n != 2 {
		t.Errorf("the reference is to %d", n)
	}
}

func TestDocumentsThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		body string
		at   int64
		err  error
	}{
		{`<Foo />`, 7, clixml.ErrUnknownTag},
		{`<Objs />`, 8, clixml.ErrUnknownTag},
		{`<!DOCTYPE a><S></S>`, 0, clixml.ErrDTD},
		{`<Ref RefId="0" />`, 17, clixml.ErrUnknownRef},
		{`<Obj RefId="0"><TNRef RefId="1" /></Obj>`, 34, clixml.ErrUnknownRef},
		{`<S>&x;</S>`, 3, nil},
		{`<S>&#xD800;</S>`, 3, nil},
		{`<S>&#x110000;</S>`, 3, nil},
		{`<S>&</S>`, 3, nil},
		{`<S><!-- c --></S>`, 3, nil},
		{`<!-- c --><S></S>`, 0, nil},
		{`<?xml version="1.0"?><S></S>`, 0, nil},
		{`<S><?p ?></S>`, 3, nil},
		{`<S><![CDATA[x]]></S>`, 3, nil},
		{`<S>a]]>b</S>`, 6, nil},
		{"<S>\x01</S>", 3, nil},
		{"<S>\xff</S>", 3, nil},
		{`<S>x`, 4, nil},
		{`<S>x</S`, 7, nil},
		{`<S>x</T>`, 6, nil},
		{`<S>x</S><S></S>`, 8, nil},
		{`<S>x</S>y`, 8, nil},
		{`x`, 0, nil},
		{`<S a="1" a="2"></S>`, 9, nil},
		{`<S a=1></S>`, 5, nil},
		{`<S a></S>`, 3, nil},
		{`<S a="<"></S>`, 6, nil},
		{`<S a="&b"></S>`, 6, nil},
		{`<S -a="b"></S>`, 3, nil},
		{`< S></S>`, 1, nil},
		{`<Obj RefId="0"><I32>1</I32><I32>2</I32></Obj>`, 32, nil},
		{`<Obj RefId="0"><MS><I32>1</I32></MS></Obj>`, 24, nil},
		{`<Obj RefId="x"></Obj>`, 15, nil},
		{`<Obj RefId="0">text</Obj>`, 15, nil},
		{`<Obj RefId="0"><DCT><En><S N="Key">a</S></En></DCT></Obj>`, 45, nil},
		{`<Obj RefId="0"><DCT><En><S N="Key">a</S><S N="V">a</S></En></DCT></Obj>`, 49, nil},
		{`<Obj RefId="0"><DCT><En><Nil N="Key" /><S N="Value">a</S></En></DCT></Obj>`, 39, nil},
		{`<Obj RefId="0"><DCT><S></S></DCT></Obj>`, 23, clixml.ErrUnknownTag},
		{`<Obj RefId="0"><TN RefId="0"><S></S></TN></Obj>`, 32, clixml.ErrUnknownTag},
		{`<Obj RefId="0"><MS></Props></Obj>`, 21, nil},
		{`<S><S></S></S>`, 3, clixml.ErrUnknownTag},
		{`<LST />`, 7, clixml.ErrUnknownTag},
		{`<Ref />`, 7, nil},
		{`</S>`, 1, nil},
		{`<Obj RefId="0"><MS><Obj RefId="1"></MS></Obj>`, 34, nil},
		{`<PR><AV></AV></PR>`, 18, clixml.ErrUnknownTag},
		{" ", 1, nil},
	} {
		var d clixml.Decoder
		v, err := d.Decode([]byte(tt.body))
		e, ok := errors.AsType[*clixml.SyntaxError](err)
		if !ok || tt.err != nil && !errors.Is(err, tt.err) {
			t.Errorf("%q is read as %v, %v", tt.body, v, err)
			continue
		}
		if e.Offset != tt.at {
			t.Errorf("%q: offset %d, want %d: %v", tt.body, e.Offset, tt.at, err)
		}
	}
}

func TestNestingOfAnySizeEndsAtTheLimit(t *testing.T) {
	for _, size := range []int{10 << 10, 1 << 20, 10 << 20} {
		for _, unit := range []string{`<Obj>`, `<Obj><LST>`, `<Obj N="a"><MS><MS N="a">`, `<Obj RefId="0"><Props><Obj N="a">`} {
			body := strings.Repeat(unit, size/len(unit))
			var d clixml.Decoder
			_, err := d.Decode([]byte(body))
			e, ok := errors.AsType[*clixml.SyntaxError](err)
			if !errors.Is(err, clixml.ErrTooDeep) && !errors.Is(err, clixml.ErrUnknownTag) || !ok {
				t.Errorf("%d bytes of %s: %v", size, unit, err)
			}
			if unit == `<Obj>` && (!errors.Is(err, clixml.ErrTooDeep) || e.Offset != 51*5) {
				t.Errorf("%d bytes of %s end with %v", size, unit, err)
			}
		}
	}
	v := clixml.Int32(1)
	for range 51 {
		v = (&clixml.Object{Base: v}).Value()
	}
	var e clixml.Encoder
	if _, err := e.AppendValue(nil, v); !errors.Is(err, clixml.ErrTooDeep) {
		t.Errorf("51 objects are written: %v", err)
	}
	o, _ := v.Object()
	if _, err := e.AppendValue(nil, o.Base); err != nil {
		t.Errorf("50 objects: %v", err)
	}
}

func TestLimitsHold(t *testing.T) {
	list := `<Obj RefId="0"><LST>` + strings.Repeat(`<I32>1</I32>`, 2000) + `</LST></Obj>`
	for name, d := range map[string]clixml.Decoder{
		"bytes": {Limits: clixml.Limits{Bytes: 1000}}, "nodes": {Limits: clixml.Limits{Nodes: 1000}}, "decoded": {Limits: clixml.Limits{Decoded: 5000}},
	} {
		if _, err := d.Decode([]byte(list)); !errors.Is(err, clixml.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var d clixml.Decoder
	if _, err := d.Decode([]byte(`<Obj RefId="0"><TN RefId="0">` + strings.Repeat("<T>a</T>", 129) + `</TN></Obj>`)); !errors.Is(err, clixml.ErrTooLarge) {
		t.Errorf("129 type names: %v", err)
	}
	if _, err := d.Decode([]byte(`<Obj RefId="0"><TN RefId="0"><T>` + strings.Repeat("a", 16<<10+1) + `</T></TN></Obj>`)); !errors.Is(err, clixml.ErrTooLarge) {
		t.Errorf("a long type name: %v", err)
	}
	if v, err := d.Decode([]byte(list)); err != nil {
		t.Errorf("after errors: %v, %v", v, err)
	}
}

func TestLookUpIsExactFirstThenWithoutCase(t *testing.T) {
	v := decode(t, `<Obj RefId="0"><Props><I32 N="name">1</I32><I32 N="Only">2</I32></Props><MS><I32 N="NAME">3</I32><I32 N="Name">4</I32></MS></Obj>`)
	for name, want := range map[string]int64{"Name": 4, "NAME": 3, "nAME": 3, "name": 3, "only": 2} {
		x, _ := v.Get(name)
		if n, ok := x.Int(); !ok || n != want {
			t.Errorf("Get(%q) is %v, want %d", name, x, want)
		}
	}
	if _, ok := v.Get("other"); ok {
		t.Error("there is another")
	}
	var p clixml.Properties
	p.Set("a", clixml.Int32(1))
	p.Set("b", clixml.Int32(2))
	p.Set("a", clixml.Int32(3))
	if n, _ := p[0].Value.Int(); len(p) != 2 || n != 3 {
		t.Errorf("properties %v", p)
	}
}

func TestStandAloneDocuments(t *testing.T) {
	text := "#< CLIXML\r\n<Objs Version=\"1.1.0.1\" xmlns=\"" + clixml.Namespace + "\"><S S=\"Error\">e_x000D__x000A_</S><Obj S=\"progress\" RefId=\"0\"><TN RefId=\"0\"><T>System.Management.Automation.PSCustomObject</T><T>System.Object</T></TN>" +
		"<MS><I64 N=\"SourceId\">1</I64><PR N=\"Record\"><AV>a</AV><AI>0</AI><Nil /><PI>-1</PI><PC>-1</PC><T>Completed</T><SR>-1</SR><SD> </SD></PR></MS></Obj></Objs>" +
		"#< CLIXML\n<?xml version=\"1.0\"?>\n<Objs Version=\"1.1.0.1\" xmlns=\"" + clixml.Namespace + "\" />"
	var d clixml.Decoder
	vs, err := readDocument(&d, []byte(text))
	if err != nil || len(vs) != 2 || vs[0].Stream != "error" || vs[1].Stream != "progress" {
		t.Fatalf("%v, %v", vs, err)
	}
	r, _ := vs[1].Value.Get("Record")
	p, ok := r.Progress()
	if !ok || p.Activity != "a" || !p.NilOperation || p.Type != "Completed" || p.StatusDescription != " " || p.PercentComplete != -1 {
		t.Errorf("progress %+v", p)
	}
	var e clixml.Encoder
	out, err := e.AppendDocument(nil, vs...)
	if err != nil {
		t.Fatal(err)
	}
	again, err := readDocument(&d, out)
	if err != nil || len(again) != 2 || !clixml.Equal(again[1].Value, vs[1].Value) || again[0].Stream != "error" {
		t.Errorf("%s\nis read back as %v, %v", out, again, err)
	}
	for _, bad := range []string{"<S></S>", "<Objs Version=\"2.0\" xmlns=\"" + clixml.Namespace + "\" />", "<Objs />", "<Objs Version=\"1.1.0.1\" xmlns=\"x\" />", "#< CLIXML\ntext", text[:200]} {
		if vs, err := readDocument(&d, []byte(bad)); err == nil {
			t.Errorf("%s is read as %v", bad, vs)
		}
	}
	d.Limits.Bytes = 100
	if _, err := readDocument(&d, []byte(text)); !errors.Is(err, clixml.ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	const canary = "hunter2-canary"
	s := clixml.NewSecureString(canary)
	c := clixml.Credential{User: "u", Password: s}
	o := clixml.NewCustomObject(clixml.Property{Name: "P", Value: s.Value()}, clixml.Property{Name: "C", Value: c.Value()})
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "s", s, "v", o.Value(), "c", c)
	j, err := json.Marshal(map[string]any{"s": s, "v": o.Value(), "c": c})
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%v %+v %#v %s %q %x %v %v", s, s, s, s, s, s, o.Value(), c) + s.String() + string(j) + log.String()
	var e clixml.Encoder
	_, err = e.AppendValue(nil, o.Value())
	if !errors.Is(err, clixml.ErrNoCipher) {
		t.Errorf("written without a key: %v", err)
	}
	if shown += err.Error(); strings.Contains(shown, canary) || strings.Contains(shown, "68756e74") {
		t.Errorf("shown in %s", shown)
	}
	if text, ok := s.Reveal(); !ok || text != canary {
		t.Errorf("revealed %q", text)
	}
	s.Destroy()
	if text, ok := s.Reveal(); ok || text != "" {
		t.Errorf("revealed %q after Destroy", text)
	}
}

func TestSealedSecureStringIsWrittenBackUnchanged(t *testing.T) {
	const body = `<SS>S334a8QlmSodVmrjeFWBOw==</SS>`
	v := decode(t, body)
	s, _ := v.SecureString()
	if text, ok := s.Reveal(); ok {
		t.Errorf("revealed %q without a key", text)
	}
	if got := encode(t, v); got != body {
		t.Errorf("written back as %s", got)
	}
}
