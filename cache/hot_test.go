package cache

import (
	"fmt"
	"testing"
)

// TestHotListsReads by every way, the most read first; the bytes of a key are not kept.
func TestHotListsReads(t *testing.T) {
	c := open(t, Options[string, string]{})
	if got := c.Hot(10); len(got) != 0 {
		t.Errorf("before all reads: %v", got)
	}
	for i := range 5 {
		set(t, c, fmt.Sprint("k", i), "v")
	}
	b := []byte("k?")
	for i := range 5 {
		for range 2000 * (i + 1) {
			b[1] = byte('0' + i)
			_, _ = PeekBytes(c, b)
			b[1] = '?'
			_, _ = c.Peek(string([]byte{'k', byte('0' + i)}))
			want(t, c, fmt.Sprint("k", i), "v")
			if _, err := c.GetMany(t.Context(), []string{fmt.Sprint("k", i)}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := c.Hot(3)
	if len(got) != 3 || got[0].Key != "k4" || got[1].Key != "k3" || got[2].Key != "k2" {
		t.Errorf("%v", got)
	}
	if n := float64(got[0].Hits) / 40_000; n < 0.8 || n > 1.2 {
		t.Errorf("%v of 40000 reads", got[0])
	}
}

// TestHotForgets what was read long ago.
func TestHotForgets(t *testing.T) {
	var h hotKeys[int]
	for range 1000 {
		h.count(1, same)
	}
	for range 20 {
		h.total = hotSpan - 1
		h.count(2, same)
	}
	h.count(2, same)
	if top := h.top(1); top[0].Key == 1 {
		t.Errorf("%v", h.top(3))
	}
	if n := len(h.top(-1)); n != 0 {
		t.Errorf("%d", n)
	}
}
