//go:build !race

package edit_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/standard"
)

// TestFilesAndSignaturesTakeLinearWork: twice as many files that are carried, and twice as many
// fields with a signature, take about twice the allocations.
func TestFilesAndSignaturesTakeLinearWork(t *testing.T) {
	der := cmsOf(t)
	of := func(claim string, id standard.ID, n int) float64 {
		a := archiveOf(claim)
		var names, fields strings.Builder
		a.objects = []string{stream("/Type/EmbeddedFile/Subtype/text#2Fplain", []byte("text"))}
		for i := range n {
			fmt.Fprintf(&names, "(%06d)%d 0 R", i, 11+2*i)
			fmt.Fprintf(&fields, "<</FT/Sig/T(s%d)/V %d 0 R>>", i, 12+2*i)
			a.objects = append(a.objects,
				fmt.Sprintf("<</Type/Filespec/F(a)/UF(a)/AFRelationship/Data/EF<</F 10 0 R>>/N %d>>", i),
				fmt.Sprintf("<</Type/Sig/Contents<%x>/ByteRange[0 1 %d 9]>>", der, 3+2*len(der)))
		}
		a.catalog = "/Names<</EmbeddedFiles<</Names[" + names.String() + "]>>>>/AcroForm<</Fields[" + fields.String() + "]>>"
		b := a.bytes(t)
		return testing.AllocsPerRun(1, func() {
			d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
			if err == nil {
				_, err = d.Check(t.Context(), []standard.ID{id})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	for claim, id := range map[string]standard.ID{"2B": standard.PDFA2b, "3B": standard.PDFA3b} {
		if one, two := of(claim, id, 500), of(claim, id, 1_000); two > 2.2*one {
			t.Errorf("%s: %.0f allocations of 500 and %.0f of 1,000", claim, one, two)
		}
	}
}
