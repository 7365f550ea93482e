//go:build !race

package operation_test

import (
	"strings"
	"testing"
)

// TestNamesThatAllFieldsShare are told apart in one pass.
func TestNamesThatAllFieldsShare(t *testing.T) {
	b := raw(`<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[`+strings.Repeat("<</T(a)/FT/Tx>>", 20_000)+`]>>>>`, `<</Type/Pages/Kids[3 0 R]>>`, `<</Type/Page>>`)
	e := engine(t)
	_, out, err := run(t, e, "merge", nil, b, b)
	if err != nil || len(open(t, e, out[0], "").Info().Fields) != 40_000 {
		t.Error(err)
	}
}
