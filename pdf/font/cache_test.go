package font_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	quire "example.com/quire/pdf/font"
)

// counting counts subsets made: each compresses twice.
func counting(n *atomic.Int64) quire.Deflate {
	return func(dst, src []byte) ([]byte, error) {
		n.Add(1)
		return append(dst, src...), nil
	}
}

func TestCache(t *testing.T) {
	var calls atomic.Int64
	c := quire.NewCache(64<<20, counting(&calls))
	f := parse(t, embedded[0].data)
	get := func(u *quire.Use, exact bool) *quire.Subset {
		t.Helper()
		s, err := c.Subset(u, exact)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := get(draw(t, f, "Meyer"), false)
	if b := get(draw(t, f, "Smith"), false); a != b {
		t.Error("two names of one block do not share the subset")
	}
	// The same font read a second time is the same font: keys are content.
	if b := get(draw(t, parse(t, bytes.Clone(embedded[0].data)), "Jones"), false); a != b {
		t.Error("the key depends on where the font lies")
	}
	if calls.Load() != 3 { // of the program, the widths and the characters
		t.Errorf("%d compressions for one subset", calls.Load())
	}
	others := map[string]*quire.Subset{
		"another block": get(draw(t, f, "Müller"), false),
		"exact":         get(draw(t, f, "Meyer"), true),
		"exact, other":  get(draw(t, f, "Smith"), true),
		"another face":  get(draw(t, parse(t, embedded[1].data), "Meyer"), false),
	}
	lig := draw(t, f, "Meyer")
	lig.Add(f.GlyphIndex(0xFB01), "fi")
	others["a ligature"] = get(lig, true)
	other := draw(t, f, "Meyer")
	other.Add(f.GlyphIndex(0xFB01), "ﬁ")
	others["another text"] = get(other, true)
	seen := map[*quire.Subset]string{a: "the first"}
	for name, s := range others {
		if prev, ok := seen[s]; ok {
			t.Errorf("%s shares the subset of %s", name, prev)
		}
		seen[s] = name
	}
	if c.Bytes() <= 0 {
		t.Error("nothing is accounted for")
	}
	off := draw(t, f, "Meyer")
	for _, none := range []*quire.Cache{nil, quire.NewCache(0, nil)} {
		x, err := none.Subset(off, false)
		if err != nil {
			t.Fatal(err)
		}
		y, err := none.Subset(off, false)
		if err != nil || x == y || !bytes.Equal(x.Program, y.Program) || none.Bytes() != 0 {
			t.Errorf("a cache that is off keeps something: %v", err)
		}
	}
}

// TestCacheKeepsNoDocument: a Use that grows after the call does not change
// what is cached.
func TestCacheKeepsNoDocument(t *testing.T) {
	c := quire.NewCache(64<<20, nil)
	f := parse(t, embedded[0].data)
	u := draw(t, f, "a")
	first, err := c.Subset(u, true)
	if err != nil {
		t.Fatal(err)
	}
	u.AddRune(f.GlyphIndex('b'), 'b')
	u.Add(f.GlyphIndex(0xFB01), "fi")
	again, err := c.Subset(draw(t, f, "a"), true)
	if err != nil || again != first {
		t.Errorf("the entry changed: %v", err)
	}
}

func TestCacheBound(t *testing.T) {
	var calls atomic.Int64
	const bound = 60_000
	c := quire.NewCache(bound, counting(&calls))
	f := parse(t, embedded[0].data)
	hot := func() {
		t.Helper()
		if _, err := c.Subset(draw(t, f, "hot"), true); err != nil {
			t.Fatal(err)
		}
	}
	hot()
	for i := range 60 {
		text := fmt.Sprintf("%c%c", 'A'+i%26, 'a'+i/26)
		if _, err := c.Subset(draw(t, f, text), true); err != nil {
			t.Fatal(err)
		}
		hot()
		if c.Bytes() > bound {
			t.Fatalf("%d bytes are kept", c.Bytes())
		}
	}
	if c.Bytes() < bound/2 {
		t.Errorf("only %d bytes are kept", c.Bytes())
	}
	if n := calls.Load(); n > 2*66 {
		t.Errorf("a subset in steady use was made anew: %d compressions", n)
	}
	small := quire.NewCache(10, counting(&calls))
	if s, err := small.Subset(draw(t, f, "x"), true); err != nil || s == nil || small.Bytes() != 0 {
		t.Errorf("a subset above the bound: %v, %d bytes kept", err, small.Bytes())
	}
}

// TestCacheErrors: a failure is not kept.
func TestCacheErrors(t *testing.T) {
	cause := errors.New("no memory")
	var broken atomic.Bool
	broken.Store(true)
	c := quire.NewCache(1<<20, func(dst, src []byte) ([]byte, error) {
		if broken.Load() {
			return nil, cause
		}
		return append(dst, src...), nil
	})
	u := draw(t, parse(t, embedded[0].data), "x")
	if _, err := c.Subset(u, true); !errors.Is(err, cause) {
		t.Fatalf("error is %v", err)
	}
	broken.Store(false)
	if _, err := c.Subset(u, true); err != nil {
		t.Errorf("the failure was kept: %v", err)
	}
}

// TestCacheConcurrent: one subset is made once, whoever asks, and faces serve
// all goroutines.
func TestCacheConcurrent(t *testing.T) {
	var calls atomic.Int64
	c := quire.NewCache(1<<20, counting(&calls))
	f := parse(t, embedded[0].data)
	texts := []string{"Alice", "Bob", "Müller"}
	var wg sync.WaitGroup
	got := make([]*quire.Subset, 30)
	for i := range got {
		wg.Go(func() {
			u := quire.NewUse(f)
			for _, r := range texts[i%3] {
				u.AddRune(f.GlyphIndex(r), r)
			}
			s, err := c.Subset(u, false)
			if err != nil {
				t.Error(err)
			}
			got[i] = s
		})
	}
	wg.Wait()
	for i, s := range got {
		if want := got[i%3]; s != want {
			t.Errorf("call %d got another subset", i)
		}
	}
	if calls.Load() != 6 {
		t.Errorf("%d compressions for two subsets", calls.Load())
	}
}
