package cos_test

import (
	"bytes"
	"testing"

	"example.com/quire/pdf/cos"
)

// TestObjectsOfAnArenaPrintAsValues: a file of objects in the writer's memory is the same as one of
// values, which watchers get, also when the memory is used again.
func TestObjectsOfAnArenaPrintAsValues(t *testing.T) {
	put := func(w *cos.Writer, title string) {
		t.Helper()
		a := w.Arena()
		root := w.Reserve()
		inner := append(a.Entries(2), cos.E("N", a.Name("Strange name")), cos.E("U", a.String("a(b")))
		d := append(
			a.Entries(8), cos.E("Type", cos.Name("Catalog")), cos.E("T", a.Text(title)), cos.E("R", a.Ref(root)), cos.E("I", a.Int(70000)),
			cos.E("F", a.Fixed(1536)), cos.E("L", a.List(a.Int(1), a.Ref(root), a.Text("é"), a.Fixed(-512), a.Name("x"), cos.Null{})), cos.E("D", a.Dict(inner)),
		)
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
	put(cos.NewWriter(&watched, cos.Options{Watch: func(_ cos.Ref, o cos.Object) {
		d, ok := o.(cos.Dict)
		if ok && d.Get("T") != nil {
			seen++
			text, isText := d.Get("T").(cos.Text)
			_, isArray := d.Get("L").(cos.Array)
			_, isDict := d.Get("D").(cos.Dict)
			if text != "title" || !isText || !isArray || !isDict || d.Get("I") != cos.Object(cos.Int(70000)) || d.Get("F") != cos.Object(cos.Fixed(1536)) {
				t.Errorf("the watcher sees %#v", d)
			}
		}
	}}), "title")
	if !bytes.Equal(plain.Bytes(), watched.Bytes()) || seen != 1 {
		t.Errorf("%d objects seen; of pointers:\n%q\nof values:\n%q", seen, plain.Bytes(), watched.Bytes())
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
		"array":  func(a *cos.Arena) cos.Object { return a.Array(a.Items(9)[:9]) },
	} {
		w := cos.NewWriter(&bytes.Buffer{}, cos.Options{Limits: cos.Limits{StringBytes: 8, NameBytes: 8, ArrayLen: 8}})
		if err := w.Put(w.Reserve(), make(w.Arena())); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
