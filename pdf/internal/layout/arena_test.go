//go:build !race

package layout

import "testing"

// TestMemoryIsClearedForTheNextDocument: what a document left, in the first block and behind it, is gone,
// and the next one of that size takes no new block.
func TestMemoryIsClearedForTheNextDocument(t *testing.T) {
	var m Memory
	m.Reset()
	for range 3 {
		for range 100 {
			e := m.blocks.elems.one()
			if e.Alt != "" || m.blocks.cells.take(2)[1].w != 0 {
				t.Fatal("memory has what a document left")
			}
			e.Alt = "of a document"
		}
		m.page.Items = append(m.page.Items, Item{Text: &TextItem{}})
		m.pieces = append(m.pieces, m.pieces...)
		m.Reset()
		if items := m.page.Items[:1]; items[0].Text != nil {
			t.Fatal("the page has what a document left")
		}
	}
	if n := len(m.blocks.elems.first); n != 100 {
		t.Errorf("a first block of %d values for documents of 100", n)
	}
	if n := testing.AllocsPerRun(10, func() {
		for range 100 {
			m.blocks.elems.one()
		}
		m.blocks.elems.reset()
	}); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
}
