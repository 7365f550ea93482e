package cos_test

import (
	"bytes"
	"testing"

	"example.com/quire/pdf/cos"
)

// TestObjectsOfAnArenaPrintAsValues: a file of objects in the writer's memory is that of their
// values, also when the memory is used again, and watchers find the values.
func TestObjectsOfAnArenaPrintAsValues(t *testing.T) {
	put := func(w *cos.Writer, title string) {
		t.Helper()
		a := w.Arena()
		root := w.Reserve()
		inner := append(a.Entries(2), cos.E("N", a.Name("Strange name")), cos.E("U", a.String("a(b")))
		d := append(
			a.Entries(8), cos.E("Type", cos.Name("Catalog")), cos.E("T", a.Text(title)), cos.E("R", a.Ref(root)), cos.E("I", a.Int(70000)),
			cos.E("F", a.Fixed(1536)), cos.E("L", a.List(a.Int(1), a.Ref(root), a.Text("é"), a.Fixed(-512), a.Decimal(-439, 3), a.Name("x"), cos.Null{})), cos.E("D", a.Dict(inner)),
		)
		values := cos.Dict{
			cos.E("Type", cos.Name("Catalog")), cos.E("T", cos.Text(title)), cos.E("R", root), cos.E("I", cos.Int(70000)),
			cos.E("F", cos.Fixed(1536)), cos.E("L", cos.Array{cos.Int(1), root, cos.Text("é"), cos.Fixed(-512), cos.Decimal{Mantissa: -439, Scale: 3}, cos.Name("x"), cos.Null{}}),
			cos.E("D", cos.Dict{cos.E("N", cos.Name("Strange name")), cos.E("U", cos.String("a(b"))}),
		}
		if got, want := d.AppendPDF(nil), values.AppendPDF(nil); !bytes.Equal(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		if err := w.Put(root, a.Dict(d)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(cos.Trailer{Root: root}); err != nil {
			t.Fatal(err)
		}
	}
	var plain, watched bytes.Buffer
	w := cos.NewWriter(&bytes.Buffer{}, cos.Options{})
	put(w, "another document with a long title")
	w.Reset(&plain, cos.Options{})
	put(w, "title")
	seen := 0
	put(cos.NewWriter(&watched, cos.Options{Watch: func(_ cos.Ref, d cos.Dict) {
		if d.Get("T") == nil {
			return
		}
		seen++
		text, _ := cos.As[cos.Text](d.Get("T"))
		again, _ := cos.TextOf(d.Get("T"))
		list, _ := cos.As[cos.Array](d.Get("L"))
		inner, _ := cos.As[cos.Dict](d.Get("D"))
		n, _ := cos.As[cos.Int](d.Get("I"))
		whole, _ := cos.Float(d.Get("I"))
		length, _ := cos.Float(d.Get("F"))
		part, _ := cos.Float(list[4])
		name, _ := cos.As[cos.Name](inner.Get("N"))
		bytes, _ := cos.Bytes(inner.Get("U"))
		kind, _ := cos.As[cos.Name](d.Get("Type"))
		_, isText := cos.As[cos.Text](d.Get("I"))
		_, isNone := cos.As[cos.Text](d.Get("X"))
		if text != "title" || again != "title" || len(list) != 7 || part != -.439 || n != 70000 || whole != 70000 || length != 1.5 ||
			name != "Strange name" || string(bytes) != "a(b" || kind != "Catalog" || isText || isNone {
			t.Errorf("the watcher sees %#v", d)
		}
	}}), "title")
	if !bytes.Equal(plain.Bytes(), watched.Bytes()) || seen != 1 {
		t.Errorf("%d objects seen; in used memory:\n%q\nin new memory:\n%q", seen, plain.Bytes(), watched.Bytes())
	}
	if bytes.Contains(plain.Bytes(), []byte("another")) {
		t.Error("a file has what the one before left")
	}
}

// TestLimitsHoldInAnArena: what is too long is refused wherever it lies.
func TestLimitsHoldInAnArena(t *testing.T) {
	for name, make := range map[string]func(*cos.Arena) cos.Object{
		"text":   func(a *cos.Arena) cos.Object { return a.Text("123456789") },
		"string": func(a *cos.Arena) cos.Object { return a.List(a.String("123456789")) },
		"name":   func(a *cos.Arena) cos.Object { return a.Dict(append(a.Entries(1), cos.E("K", a.Name("123456789")))) },
		"real":   func(a *cos.Arena) cos.Object { return a.Decimal(1, 19) },
		"array":  func(a *cos.Arena) cos.Object { return a.Array(a.Items(9)[:9]) },
	} {
		w := cos.NewWriter(&bytes.Buffer{}, cos.Options{Limits: cos.Limits{StringBytes: 8, NameBytes: 8, ArrayLen: 8}})
		if err := w.Put(w.Reserve(), make(w.Arena())); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
