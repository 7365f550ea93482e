//go:build !race

package exprlang_test

import (
	"testing"

	"example.com/quire/pdf/internal/compile/exprlang"
)

func TestPathsAndFormatsAllocateNothing(t *testing.T) {
	s := sample(t)
	p, _ := exprlang.Compile("name", s, options)
	m := machine(s)
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := p.Append(m, buf); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("a plain path takes %v allocations", n)
	}
	if p, _ = exprlang.Compile("price | money('INR')", s, withLocale("en-IN")); p == nil {
		t.Fatal("no program")
	}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := p.Append(m, buf); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("a format takes %v allocations", n)
	}
}
