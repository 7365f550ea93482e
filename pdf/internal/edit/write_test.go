package edit

import (
	"testing"

	"example.com/quire/pdf/cos"
)

// numbers reserves object numbers from 100 on.
type numbers struct {
	sink
	last uint32
}

func (n *numbers) Reserve() cos.Ref {
	n.last++
	return cos.Ref{Num: 99 + n.last}
}

func TestObjectsAreCopiedWhereTheyChange(t *testing.T) {
	ref := func(n uint32) cos.Ref { return cos.Ref{Num: n} }
	e := &Draft{over: map[uint32]cos.Object{7: cos.Null{}}}
	for name, x := range map[string]struct {
		in   cos.Object
		want string
	}{
		"names and numbers":        {cos.Dict{cos.E("A", cos.Name("B")), cos.E("C", cos.Array{cos.Int(1000), cos.String("s")})}, "<</A/B/C[1000(s)]>>"},
		"nothing":                  {nil, "null"},
		"a reference":              {ref(3), "100 0 R"},
		"one to nothing":           {ref(0), "null"},
		"one to what is gone":      {ref(7), "null"},
		"in an array":              {cos.Array{cos.Int(1), ref(3), nil, cos.Array{}}, "[1 100 0 R null[]]"},
		"in a dictionary":          {cos.Dict{cos.E("A", cos.Int(1)), cos.E("B", ref(3)), cos.E("C", cos.Int(2))}, "<</A 1/B 100 0 R/C 2>>"},
		"far below":                {cos.Array{cos.Dict{cos.E("A", cos.Array{ref(3)})}}, "[<</A[100 0 R]>>]"},
		"no value":                 {cos.Dict{cos.E("A", cos.Int(1)), cos.E("B", nil), cos.E("C", cos.Name("D"))}, "<</A 1/C/D>>"},
		"a name that has a zero":   {cos.Name("a\x00b"), "/ab"},
		"a key that has a zero":    {cos.Dict{cos.E("a\x00", ref(3)), cos.E("B", cos.Int(1))}, "<</B 1>>"},
		"two references, one more": {cos.Array{ref(3), ref(4), ref(3)}, "[100 0 R 101 0 R 100 0 R]"},
	} {
		before := cos.Array{x.in}.AppendPDF(nil)
		c := &copier{e: e, w: &numbers{}, to: map[uint32]cos.Ref{}}
		if got := string(c.object(x.in).AppendPDF(nil)); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
		if after := (cos.Array{x.in}).AppendPDF(nil); string(after) != string(before) {
			t.Errorf("%s: the object itself was changed, to %s", name, after)
		}
	}
}
