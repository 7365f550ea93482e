package edit

import (
	"bytes"
	"io"
	"math/rand/v2"
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

// whole copies all streams at once.
type whole struct{ sink }

func (w whole) CopyStreamFrom(ref cos.Ref, dict cos.Dict, data io.Reader, _ int64) error {
	b, err := io.ReadAll(data)
	if err != nil {
		return err
	}
	return w.CopyStream(ref, dict, b)
}

// TestLongStreamsAreCopiedAlike: in pieces as at once, into a file and into an update.
func TestLongStreamsAreCopiedAlike(t *testing.T) {
	var file bytes.Buffer
	w := cos.NewWriter(&file, cos.Options{})
	root, pages, page := w.Reserve(), w.Reserve(), w.Reserve()
	random := rand.NewChaCha8([32]byte{1})
	var list cos.Array
	for _, n := range []int{0, 100, longStream - 1, longStream, longStream + 1, 200 << 10, 256 << 10, 300 << 10, 1<<20 + 5} {
		data := make([]byte, n)
		_, _ = random.Read(data)
		for _, dict := range []cos.Dict{
			{cos.E("To", page)},
			{cos.E("Filter", cos.Array{cos.Name("Crypt"), cos.Name("DCTDecode")}), cos.E("DecodeParms", cos.Array{cos.Null{}, cos.Null{}})},
		} {
			ref := w.Reserve()
			if err := w.CopyStream(ref, dict, data); err != nil {
				t.Fatal(err)
			}
			list = append(list, ref)
		}
	}
	_ = w.Put(page, cos.Dict{cos.E("Type", cos.Name("Page")), cos.E("Parent", pages), cos.E("Streams", list)})
	_ = w.Put(pages, cos.Dict{cos.E("Type", cos.Name("Pages")), cos.E("Kids", cos.Array{page}), cos.E("Count", cos.Int(1))})
	_ = w.Put(root, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Pages", pages)})
	if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
		t.Fatal(err)
	}
	d, err := Open(bytes.NewReader(file.Bytes()), int64(file.Len()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	copyTo := func(s sink) cos.Ref {
		e := NewDraft(d)
		c := copier{e: e, to: map[uint32]cos.Ref{}, w: s}
		root := c.ref(e.root)
		for i := 0; i < len(c.queue); i++ {
			if err := c.copy(c.queue[i]); err != nil {
				t.Fatal(err)
			}
		}
		return root
	}
	written := func(in func(sink) sink) []byte {
		var out bytes.Buffer
		w := cos.NewWriter(&out, cos.Options{})
		if _, err := w.Close(cos.Trailer{Root: copyTo(in(w))}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	updated := func(in func(sink) sink) []byte {
		u, err := cos.NewUpdate(d.Reader, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := u.Close(copyTo(in(u)), cos.Ref{})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, write := range map[string]func(func(sink) sink) []byte{"file": written, "update": updated} {
		got, want := write(func(s sink) sink { return s }), write(func(s sink) sink { return whole{s} })
		if !bytes.Equal(got, want) || len(got) < file.Len()-10<<10 {
			t.Errorf("%s: %d bytes, want %d of %d", name, len(got), len(want), file.Len())
		}
		if bytes.Contains(got, []byte("/Crypt")) {
			t.Errorf("%s: a filter is left that there is no more", name)
		}
	}
}
