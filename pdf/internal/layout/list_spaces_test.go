package layout_test

import (
	"testing"

	"example.com/quire/pdf/doc"
)

// TestItemsKeepTheSpacesOfTheirBlocks: a heading that begins an item, and a text that states its
// spaces, stay as far from the items around as they ask for.
func TestItemsKeepTheSpacesOfTheirBlocks(t *testing.T) {
	pt := doc.Pt
	wide := &doc.Style{Size: 10 * pt, Leading: 12 * pt, SpaceBefore: 20 * pt, SpaceAfter: 30 * pt}
	item := func(text string, s *doc.Style) doc.ListItem {
		return doc.ListItem{Nodes: []doc.Node{&doc.Text{Block: doc.Block{Style: s}, Spans: spans(text)}}}
	}
	gaps := func(middle *doc.Style) (above, below doc.Length) {
		d := tenLines()
		d.Page.Height = 400 * pt
		d.Body = doc.Nodes(&doc.List{Items: []doc.ListItem{item("one", nil), item("two", middle), item("three", nil)}})
		r, _, err := run(t, d, true)
		if err != nil {
			t.Fatal(err)
		}
		one, two, three := r.find(t, "one"), r.find(t, "two"), r.find(t, "three")
		return two.y - one.y, three.y - two.y
	}
	a, b := gaps(&doc.Style{Size: 10 * pt, Leading: 12 * pt})
	if above, below := gaps(wide); above != a-2*pt+20*pt || below != b-2*pt+30*pt {
		t.Errorf("%v above and %v below, without spaces %v and %v", above, below, a, b)
	}
}
