//go:build !race

package proto_test

import (
	"testing"

	"example.com/quire/psrp/clixml"
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

func TestFragmentsAndMessagesAreMadeAndReadWithoutAllocation(t *testing.T) {
	body := make([]byte, 1<<10)
	h := proto.MessageHeader{To: proto.ToClient, Type: proto.MessagePipelineOutput, Pipeline: clixml.GUID{1}}
	message := proto.AppendMessage(nil, h, body)
	buf := make([]byte, 0, 1<<17)
	large := make([]byte, 1<<16)
	fragments := proto.AppendFragments(nil, 1, message, 0)
	for name, f := range map[string]func(){
		"a message is made": func() { buf = proto.AppendMessage(buf[:0], h, body) },
		"a message is read": func() {
			if _, got, err := proto.ParseMessage(message); err != nil || len(got) != len(body) {
				t.Fatal(len(got), err)
			}
		},
		"a fragment is made":          func() { buf = proto.AppendFragments(buf[:0], 1, message, 0) },
		"three fragments are made":    func() { buf = proto.AppendFragments(buf[:0], 1, large, 32<<10) },
		"a fragment is read":          func() { _, _, _ = proto.ParseFragment(fragments) },
		"a fragment of 32 KiB is cut": func() { buf = proto.AppendFragments(buf[:0], 1, large[:32<<10], 0) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s with %v allocations", name, n)
		}
	}
}

func TestFourFragmentsAreAssembledInOneAllocation(t *testing.T) {
	b := proto.AppendFragments(nil, 1, make([]byte, 4<<10), 1<<10+proto.FragmentHeaderSize)
	var a proto.Assembler
	assembled := func() {
		a.Add(b)
		if m, ok, err := a.Next(); !ok || err != nil || len(m) != 4<<10 {
			t.Fatal(len(m), ok, err)
		}
		if _, ok, _ := a.Next(); ok {
			t.Fatal("a second message")
		}
	}
	if n := testing.AllocsPerRun(100, assembled); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func TestAFragmentHeaderReservesNothingOfWhatItAnnounces(t *testing.T) {
	header := fragment(proto.Fragment{Object: 1, Start: true, End: true, Blob: make([]byte, 9<<20)})[:proto.FragmentHeaderSize]
	if n := testing.AllocsPerRun(5, func() { _, _ = assemble(&proto.Assembler{}, header) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}
