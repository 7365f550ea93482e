package tag_test

import (
	"archive/zip"
	"io"
	"regexp"
	"testing"

	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/pdftest"
)

// every is every type there is: those whose name is known.
func every() (out []tag.Type) {
	for t := tag.P; t <= tag.Form; t++ {
		out = append(out, t)
	}
	return out
}

// TestContainmentIsThatOfTheValidator compares the rows of ISO/TS 32005 with the rules
// of veraPDF, which has one for each pair that is not allowed.
func TestContainmentIsThatOfTheValidator(t *testing.T) {
	jar, err := zip.OpenReader(pdftest.Need(t, "verapdf"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = jar.Close() }()
	f, err := jar.Open("org/verapdf/pdfa/validation/PDFUA-2-ISO32005.xml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	denied := map[string]bool{}
	for _, m := range regexp.MustCompile(`&lt;(\w+)&gt; shall not contain &lt;(\w+)&gt;`).FindAllSubmatch(rules, -1) {
		denied[string(m[1])+" "+string(m[2])] = true
	}
	if len(denied) < 1000 {
		t.Fatalf("the validator has only %d rules of containment", len(denied))
	}
	name := func(t tag.Type) string {
		if t == tag.H {
			return "Hn"
		}
		return t.String()
	}
	for _, parent := range every() {
		for _, kid := range every() {
			pair := name(parent) + " " + name(kid)
			if got := parent.MayHold(kid); got == denied[pair] {
				t.Errorf("%s: allowed %v here, denied %v there", pair, got, denied[pair])
			}
		}
	}
}
