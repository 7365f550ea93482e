package pdf

import (
	"crypto/sha256"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"example.com/quire/pdf/template"
)

// known is a file system that knows the hashes of its files, and counts who asks.
type known struct {
	fstest.MapFS
	asked int
}

func (k *known) Sum(name string) (s [sha256.Size]byte, ok bool) {
	k.asked++
	f := k.MapFS[name]
	if f == nil {
		return s, false
	}
	return sha256.Sum256(f.Data), true
}

func TestPlansStayWithinTheirBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newPlans(100 * planFactor)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := sum{rapid.ByteRange(0, 20).Draw(t, "key")}
			if rapid.Bool().Draw(t, "put") {
				p := &template.Plan{}
				before := c.get(key, nil)
				size := int64(rapid.IntRange(1, 120).Draw(t, "size"))
				c.put(key, p, nil, size)
				switch got := c.get(key, nil); {
				case before != nil && got != before:
					t.Fatal("a plan was replaced")
				case before == nil && size > 100 && got != nil:
					t.Fatal("a plan that does not fit was kept")
				}
			} else {
				c.get(key, nil)
			}
			var all int64
			for _, e := range c.order {
				all += e.cost
			}
			if all != c.bytes || all > c.max || len(c.byKey) != len(c.order) {
				t.Fatalf("bytes %d, sum %d, %d keys, %d in order", c.bytes, all, len(c.byKey), len(c.order))
			}
		}
	})
}

func TestPlansThatAreUsedStay(t *testing.T) {
	c := newPlans(3 * planFactor)
	hot := sum{99}
	c.put(hot, &template.Plan{}, nil, 1)
	for i := range 50 {
		if c.get(hot, nil) == nil {
			t.Fatalf("gone after %d others", i)
		}
		c.put(sum{byte(i)}, &template.Plan{}, nil, 1)
	}
}

// TestPlansOfOneTextWithOtherFilesStandSideBySide: two tenants may have the same template and
// logos of their own; none pushes out the other's plan, and none gets it.
func TestPlansOfOneTextWithOtherFilesStandSideBySide(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("quire: 1\nname: n\nlang: en\ntitle: T\nbody:\n  - {image: logo.png, decorative: true}\n")
	compile := func(fsys *known) *template.Plan {
		t.Helper()
		p, err := e.Compile(t.Context(), Source{File: "n.yaml", Text: text, Files: fsys})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	fsysOf := func(logo string) *known {
		return &known{MapFS: fstest.MapFS{"n.yaml": {Data: text}, "logo.png": {Data: []byte(logo)}}}
	}
	one, two := fsysOf("one"), fsysOf("two")
	first, second := compile(one), compile(two)
	if first == second || compile(one) != first || compile(two) != second {
		t.Error("the plans are mixed up")
	}
	if compile(fsysOf("one")) != first {
		t.Error("the same files elsewhere are another plan")
	}
	one.MapFS["logo.png"].Data = []byte("new")
	if compile(one) == first {
		t.Error("a changed file gives the old plan")
	}
	if one.asked == 0 {
		t.Error("nobody asks for the hashes that are known")
	}
}
