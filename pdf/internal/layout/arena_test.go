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
			e := m.blocks.elems.One()
			if e.Alt != "" || m.blocks.cells.Take(2)[1].w != 0 {
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
}
