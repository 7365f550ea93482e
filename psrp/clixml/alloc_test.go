//go:build !race

package clixml_test

import (
	"fmt"
	"testing"

	"example.com/quire/psrp/clixml"
)

func TestAppendValueAllocatesNothing(t *testing.T) {
	o := clixml.NewCustomObject()
	for i := range 10 {
		o.Extended.Set(fmt.Sprintf("Property%d", i), clixml.String("some text of a usual length"))
	}
	l := clixml.NewList(o.Value(), o.Value(), clixml.Int32(1), clixml.Float64(2.5)).Value()
	var e clixml.Encoder
	buf := make([]byte, 0, 1<<16)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := e.AppendValue(buf, l); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDecodingASmallObjectAllocatesLittle(t *testing.T) {
	body := []byte(`<Obj RefId="0"><TN RefId="0"><T>System.Management.Automation.PSCustomObject</T><T>System.Object</T></TN><MS><S N="Name">value</S></MS></Obj>`)
	var d clixml.Decoder
	if n := testing.AllocsPerRun(100, func() {
		if _, err := d.Decode(body); err != nil {
			t.Fatal(err)
		}
	}); n > 8 {
		t.Errorf("%v allocations, want at most 8", n)
	} else {
		t.Logf("%v allocations", n)
	}
}

func TestMarshallingAStructAllocatesTwice(t *testing.T) {
	type ten struct{ A, B, C, D, E, F, G, H, I, J int }
	x := &ten{}
	if _, err := clixml.Marshal(x); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = clixml.Marshal(x) }); n > 2 {
		t.Errorf("%v allocations, want 2: the object and its properties", n)
	}
}
