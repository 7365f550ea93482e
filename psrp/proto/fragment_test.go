package proto_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

func guid(s string) clixml.GUID {
	g, err := clixml.ParseGUID(s)
	if err != nil {
		panic(err)
	}
	return g
}

// A worked example: the output "hi" of a pipeline, from value to base64.
func TestWorkedExampleOfAMessage(t *testing.T) {
	const want = "AAAAAAAAAAEAAAAAAAAAAAMAAAA0AQAAAAQQBAAzIhEAVUR3ZoiZqrvM3e7/zN3u/6q7iJl3ZlVEMyIRAO+7vzxTPmhpPC9TPg=="
	body, err := proto.AppendBody(nil, &clixml.Encoder{}, &proto.PipelineOutput{Value: clixml.String("hi")}, clixml.NewVersion(2, 4))
	if err != nil {
		t.Fatal(err)
	}
	h := proto.MessageHeader{
		To: proto.ToClient, Type: proto.MessagePipelineOutput,
		Pool: guid("00112233-4455-6677-8899-aabbccddeeff"), Pipeline: guid("ffeeddcc-bbaa-9988-7766-554433221100"),
	}
	b := proto.AppendFragments(nil, 1, proto.AppendMessage(nil, h, body), 0)
	if got := base64.StdEncoding.EncodeToString(b); got != want {
		t.Fatalf("written %s, want %s", got, want)
	}
	f, rest, err := proto.ParseFragment(b)
	if err != nil || len(rest) != 0 || f.Object != 1 || f.ID != 0 || !f.Start || !f.End {
		t.Fatalf("fragment %+v, %v", f, err)
	}
	got, gotBody, err := proto.ParseMessage(f.Blob)
	if err != nil || got != h || !bytes.Equal(gotBody, body) {
		t.Errorf("message %+v, %v", got, err)
	}
}

// assemble gives payloads to an assembler and returns the messages.
func assemble(a *proto.Assembler, payloads ...[]byte) (all [][]byte, err error) {
	for _, p := range payloads {
		// A payload may be reused once Next has said that there is no more.
		p = slices.Clone(p)
		a.Add(p)
		for {
			m, ok, err := a.Next()
			if err != nil {
				return all, err
			}
			if !ok {
				break
			}
			all = append(all, bytes.Clone(m))
		}
		clear(p)
	}
	return all, nil
}

func TestEveryCutYieldsTheSameMessages(t *testing.T) {
	message := []byte(strings.Repeat("0123456789", 10))
	b := proto.AppendFragments(nil, 7, message, proto.FragmentHeaderSize+40) // three fragments
	b = proto.AppendFragments(b, 9, []byte("second"), 0)
	for i := range b {
		for j := i; j <= len(b); j += 7 {
			got, err := assemble(&proto.Assembler{}, b[:i], b[i:j], b[j:])
			if err != nil || len(got) != 2 || !bytes.Equal(got[0], message) || string(got[1]) != "second" {
				t.Fatalf("cut at %d and %d: %q, %v", i, j, got, err)
			}
		}
	}
}

func TestInterleavedMessagesInAnyPayloads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want [][]byte
		var queues [][]byte // of fragments, in order within each
		var fragments [][][]byte
		for i := range rapid.IntRange(1, 5).Draw(t, "messages") {
			m := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "message")
			want = append(want, m)
			b := proto.AppendFragments(nil, uint64(100-i), m, rapid.IntRange(22, 100).Draw(t, "size"))
			var parts [][]byte
			for len(b) > 0 {
				_, rest, err := proto.ParseFragment(b)
				if err != nil {
					t.Fatal(err)
				}
				parts = append(parts, b[:len(b)-len(rest)])
				b = rest
			}
			fragments = append(fragments, parts)
		}
		for {
			var left []int
			for i, f := range fragments {
				if len(f) > 0 {
					left = append(left, i)
				}
			}
			if len(left) == 0 {
				break
			}
			i := rapid.SampledFrom(left).Draw(t, "next")
			queues = append(queues, fragments[i][0])
			fragments[i] = fragments[i][1:]
		}
		stream := bytes.Join(queues, nil)
		var payloads [][]byte
		for len(stream) > 0 {
			n := rapid.IntRange(1, len(stream)).Draw(t, "payload")
			payloads = append(payloads, stream[:n])
			stream = stream[n:]
		}
		budget := int64(1 << 20)
		a := &proto.Assembler{Limits: proto.AssemblerLimits{Budget: &budget}}
		got, err := assemble(a, payloads...)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d messages of %d, %v", len(got), len(want), err)
		}
		for _, m := range want {
			if !slices.ContainsFunc(got, func(g []byte) bool { return bytes.Equal(g, m) }) {
				t.Fatalf("%q is lost", m)
			}
		}
		if a.Release(); budget != 1<<20 {
			t.Fatalf("the budget is %d bytes short", 1<<20-budget)
		}
	})
}

func fragment(f proto.Fragment) []byte { return proto.AppendFragment(nil, f) }

func TestFragmentsThatBreakTheRules(t *testing.T) {
	whole := fragment(proto.Fragment{Object: 1, Start: true, End: true, Blob: []byte("x")})
	alter := func(at int, b byte) []byte { c := slices.Clone(whole); c[at] = b; return c }
	first := fragment(proto.Fragment{Object: 1, Start: true, Blob: []byte("x")})
	for name, tt := range map[string]struct {
		b        []byte
		tooLarge bool
	}{
		"object 0": {alter(7, 0), false}, "reserved flag": {alter(16, 0x43), false}, "start not at 0": {alter(15, 1), false}, "0 without start": {alter(16, 2), false},
		"blob over the limit": {alter(17, 0xFF), true}, "begins twice": {slices.Concat(first, first), false},
		"gap":    {slices.Concat(first, fragment(proto.Fragment{Object: 1, ID: 2, End: true, Blob: []byte("x")})), false},
		"repeat": {slices.Concat(first, fragment(proto.Fragment{Object: 1, ID: 1, Blob: []byte("x")}), fragment(proto.Fragment{Object: 1, ID: 1, Blob: []byte("x")})), false},
	} {
		_, err := assemble(&proto.Assembler{}, tt.b)
		e, ok := errors.AsType[*proto.RemoteProtocolError](err)
		if !ok || e.Stage != "fragment" || errors.Is(err, proto.ErrTooLarge) != tt.tooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestContinuationWithoutStartIsDroppedAndCounted(t *testing.T) {
	a := &proto.Assembler{}
	got, err := assemble(a, fragment(proto.Fragment{Object: 5, ID: 3, Blob: []byte("x")}), fragment(proto.Fragment{Object: 5, ID: 4, End: true, Blob: []byte("x")}),
		fragment(proto.Fragment{Object: 2, Start: true, End: true, Blob: []byte("y")}))
	if err != nil || len(got) != 1 || string(got[0]) != "y" || a.Dropped != 2 {
		t.Errorf("%q, %d dropped, %v", got, a.Dropped, err)
	}
}

func TestReassemblyIsBounded(t *testing.T) {
	many := &proto.Assembler{}
	for i := range 9 {
		_, err := assemble(many, fragment(proto.Fragment{Object: uint64(i + 1), Start: true, Blob: []byte("x")}))
		if (i == 8) != errors.Is(err, proto.ErrTooLarge) {
			t.Errorf("object %d: %v", i+1, err)
		}
	}
	large := &proto.Assembler{Limits: proto.AssemblerLimits{Message: 100}}
	_, err := assemble(large, proto.AppendFragments(nil, 1, make([]byte, 101), 60))
	if !errors.Is(err, proto.ErrTooLarge) {
		t.Errorf("a message over the limit: %v", err)
	}
	budget := int64(1000)
	shared := &proto.Assembler{Limits: proto.AssemblerLimits{Budget: &budget}}
	_, err = assemble(shared, fragment(proto.Fragment{Object: 1, Start: true, Blob: make([]byte, 2000)}))
	if !errors.Is(err, proto.ErrTooLarge) {
		t.Errorf("over the session's budget: %v", err)
	}
}

func TestMessageHeadersThatBreakTheRules(t *testing.T) {
	id := guid("00112233-4455-6677-8899-aabbccddeeff")
	for name, tt := range map[string]struct {
		h    proto.MessageHeader
		want string
	}{
		"unknown type":         {proto.MessageHeader{Type: 0x00010003}, "psrp: message at byte 4: unknown message type 0x00010003"},
		"from the wrong side":  {proto.MessageHeader{To: proto.ToClient, Type: proto.MessageCreatePipeline, Pipeline: id}, "psrp: message CREATE_PIPELINE at byte 0: not a message to client"},
		"pipeline without one": {proto.MessageHeader{To: proto.ToClient, Type: proto.MessagePipelineOutput}, "psrp: message PIPELINE_OUTPUT at byte 24: pipeline 00000000-0000-0000-0000-000000000000"},
		"pool with a pipeline": {proto.MessageHeader{To: proto.ToClient, Type: proto.MessageRunspacePoolState, Pipeline: id}, "psrp: message RUNSPACEPOOL_STATE at byte 24: pipeline " + id.String()},
	} {
		_, _, err := proto.ParseMessage(proto.AppendMessage(nil, tt.h, nil))
		if _, ok := errors.AsType[*proto.RemoteProtocolError](err); !ok || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	if _, _, err := proto.ParseMessage(make([]byte, 39)); err == nil {
		t.Error("39 bytes are a message")
	}
	if _, _, err := proto.ParseMessage(make([]byte, 40)); err == nil {
		t.Error("destination 0 is a message")
	}
}

func FuzzAssembler(f *testing.F) {
	f.Add(proto.AppendFragments(proto.AppendFragments(nil, 1, make([]byte, 100), 50), 2, []byte("x"), 0), 10)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		cut = min(max(cut, 0), len(b))
		limits := proto.AssemblerLimits{Message: 1 << 16}
		whole, err1 := assemble(&proto.Assembler{Limits: limits}, b)
		parts, err2 := assemble(&proto.Assembler{Limits: limits}, b[:cut], b[cut:])
		if (err1 == nil) != (err2 == nil) || !slices.EqualFunc(whole, parts, bytes.Equal) {
			t.Errorf("whole: %q, %v; cut at %d: %q, %v", whole, err1, cut, parts, err2)
		}
	})
}

// The memory of a message is used again for the next payload's, not for the next of the same one.
func TestMessagesOfOnePayloadStayUntilTheNextPayload(t *testing.T) {
	var a proto.Assembler
	for round := range byte(3) {
		var payload []byte
		var want [][]byte
		for i := range byte(3) {
			m := bytes.Repeat([]byte{10*round + i}, 100+int(i))
			want = append(want, m)
			payload = proto.AppendFragments(payload, uint64(10*round+i+1), m, 40)
		}
		a.Add(payload)
		var got [][]byte
		for {
			m, ok, err := a.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, m)
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("round %d: %v, want %v", round, got, want)
		}
	}
}
