package text_test

import (
	"fmt"
	"testing"

	"example.com/quire/pdf/font/liberation"
	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// TestFeaturesDoNotFillMemory: styles may ask for lists of features without end; few are kept.
func TestFeaturesDoNotFillMemory(t *testing.T) {
	ts := text.NewTypesetter(liberation.New(), &gotext.Shaper{}, &gotext.Segmenter{}, 0)
	const most = 1024
	for i := range most + 100 {
		q := text.Query{Features: fmt.Sprintf("-cv%02d,-ss%02d", i%99, i/99)}
		if c := chain(t, ts, q); c.Face() == nil {
			t.Fatal("no face")
		}
	}
	if n := ts.Chains(); n > most {
		t.Errorf("%d chains are kept", n)
	}
}
