package locale

import (
	"math/rand/v2"
	"testing"

	"example.com/quire/pdf/internal/compile/decimal"
)

// TestShortNumbersAreWrittenAsAllOthers: in every locale, with the separators of numbers and of
// money.
func TestShortNumbersAreWrittenAsAllOthers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // G404: test data
	for i := range tables {
		l := &tables[i]
		for range 2000 {
			d := decimal.New(r.Int64()>>r.IntN(63), r.IntN(20))
			for _, group := range []string{l.group, l.moneyGroup} {
				got, want := string(l.unsigned([]byte("x"), d, group)), string(l.long([]byte("x"), d, group))
				if got != want {
					t.Fatalf("%s: %s is %q, want %q", l.tag, d, got, want)
				}
			}
		}
	}
}
