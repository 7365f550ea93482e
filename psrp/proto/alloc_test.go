//go:build !race

package proto_test

import (
	"testing"

	"example.com/quire/psrp/proto"
)

func TestMessageOfOneFragmentIsAView(t *testing.T) {
	b := proto.AppendFragments(nil, 1, make([]byte, 1000), 0)
	var a proto.Assembler
	if n := testing.AllocsPerRun(100, func() {
		a.Add(b)
		m, ok, err := a.Next()
		if !ok || err != nil || &m[0] != &b[proto.FragmentHeaderSize] {
			t.Fatal(ok, err)
		}
		if _, ok, _ := a.Next(); ok {
			t.Fatal("a second message")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAFragmentHeaderReservesNothingOfWhatItAnnounces(t *testing.T) {
	header := fragment(proto.Fragment{Object: 1, Start: true, End: true, Blob: make([]byte, 9<<20)})[:proto.FragmentHeaderSize]
	if n := testing.AllocsPerRun(5, func() { _, _ = assemble(&proto.Assembler{}, header) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}
