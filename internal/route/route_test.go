package route

import (
	"strings"
	"testing"
)

// TestLookupByMethodsOfOnesOwn: beyond the known methods each has a bit that the
// caller gives it, in any order.
func TestLookupByMethodsOfOnesOwn(t *testing.T) {
	p, err := Parse("/x/{id}", Builtin)
	if err != nil {
		t.Fatal(err)
	}
	bits := []Methods{FirstCustom << 2, FirstCustom, FirstCustom << 1}
	entries := make([]Entry[string], len(bits))
	names := []string{"LOCK", "PROPFIND", "REPORT"}
	for i, bit := range bits {
		entries[i] = Entry[string]{p, bit, &names[i]}
	}
	table := New(entries)
	for i, bit := range bits {
		var m Match[string]
		m.Reset(bit)
		if got := table.Lookup("/x/7", &m); got == nil || *got != names[i] || m.Value("/x/7", 0) != "7" {
			t.Errorf("%s: %v", names[i], got)
		}
	}
	var m Match[string]
	m.Reset(Get)
	if got := table.Lookup("/x/7", &m); got != nil || m.Allow != bits[0]|bits[1]|bits[2] || m.Miss == nil {
		t.Errorf("GET: %v, allow %b", got, m.Allow)
	}
}

// TestShared is which methods reach both of two routes.
func TestShared(t *testing.T) {
	for _, tt := range []struct {
		a, b Methods
		want bool
	}{{Get, Get, true}, {Get, Head, true}, {Head, Get, true}, {Get, Post, false}, {0, Post, true}, {Head, Post, false}, {FirstCustom, FirstCustom << 1, false}} {
		if Shared(tt.a, tt.b) != tt.want {
			t.Errorf("%b, %b: %v", tt.a, tt.b, !tt.want)
		}
	}
}

// FuzzParse: a pattern that is taken matches the path that its URL writes, with
// the values put in.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"/", "/a/{id}", "/{id:int}.json", "/{a}/{b...}", "/%2F/{x}%25", "/{$}", "/a/{b}.tar.gz"} {
		f.Add(s, "1", "2")
	}
	f.Fuzz(func(t *testing.T, text, a, b string) {
		p, err := Parse(text, Builtin)
		if err != nil {
			return
		}
		values := map[string]string{}
		for i, n := range p.Names {
			values[n] = []string{a, b}[i%2]
		}
		path, err := p.URL(values)
		if err != nil {
			return
		}
		canonical, _ := decodeAllButSlash(path)
		if why := p.Mismatch(canonical); why != "" {
			t.Fatalf("%q writes %q, which it does not match: %s", text, path, why)
		}
		var m Match[int]
		m.Reset(Get)
		one := 1
		if New([]Entry[int]{{p, Get, &one}}).Lookup(canonical, &m) == nil {
			t.Fatalf("%q writes %q, which is not found", text, path)
		}
		for i, n := range p.Names {
			if got := DecodeValue(m.Value(canonical, i)); n != "" && got != values[n] {
				t.Fatalf("%q: %q came back as %q", text, values[n], got)
			}
		}
		if strings.Contains(path, "//") && !strings.Contains(text, "//") {
			t.Fatalf("%q writes the empty segment of %q", text, path)
		}
	})
}
