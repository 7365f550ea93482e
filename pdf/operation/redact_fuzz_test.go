package operation_test

import (
	"errors"
	"fmt"
	"testing"

	"example.com/quire/pdf"
)

// FuzzRedact: content of any bytes is redacted or refused with a typed error.
func FuzzRedact(f *testing.F) {
	f.Add([]byte("BT /F 12 Tf 20 150 Td (a) Tj [(ab)-9(a)] TJ (a) ' 1 2 (a) \" ET 0 0 9 9 re f"), true)
	f.Add([]byte("/Span<</ActualText(a)>>BDC BT /F 1 Tf (b) Tj ET EMC q BI /W 1/H 1/BPC 8/CS/G ID a EI Q Q"), false)
	e, err := pdf.New(pdf.Config{Cache: pdf.CacheLimits{Off: true}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte, box bool) {
		if len(content) > 1<<12 {
			return // longer inputs find nothing more
		}
		b := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
			`<</Type/Page/Contents 4 0 R>>`, fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content))
		values := map[string]string{"text": "a"}
		if box {
			values = map[string]string{"box": "0,0,100,170"}
		}
		_, _, err := run(t, e, "redact", values, b)
		var told *pdf.DiagnosticError
		var limit *pdf.LimitError
		if err != nil && !errors.As(err, &told) && !errors.As(err, &limit) {
			t.Fatal(err)
		}
	})
}
