//go:build !race

package layout

import "testing"

// TestMemoryIsClearedForTheNextDocument: what a document left, in the first block and behind it, is
// gone, and the next one of that size takes no new block.
func TestMemoryIsClearedForTheNextDocument(t *testing.T) {
	var m Memory
	m.Reset()
	for range 3 {
		m.begin()
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

// TestMemoryOfManyImagesServesTheNextDocument: a document with more images than are kept leaves
// memory that the next ones can be laid out in.
func TestMemoryOfManyImagesServesTheNextDocument(t *testing.T) {
	var m Memory
	m.begin()
	for i := range mostKept + 1 {
		m.images[imageKey{bytes: i}] = ImageItem{}
	}
	m.Reset()
	for range 2 {
		m.begin()
		if m.images == nil || len(m.images) > 0 {
			t.Fatalf("%v: no empty map for the images of a document", m.images)
		}
		m.images[imageKey{bytes: 1}] = ImageItem{}
		m.Reset()
	}
}
