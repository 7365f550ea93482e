package standard_test

import (
	"archive/zip"
	"io"
	"regexp"
	"slices"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// TestNestingIsThatOfTheValidator compares where elements may stand, of files that are read and of
// those that are written, with the rules of veraPDF, which has one for each pair of ISO/TS 32005,
// table 5, that is not allowed.
func TestNestingIsThatOfTheValidator(t *testing.T) {
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
	denied, types := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`&lt;(\w+)&gt; shall not contain &lt;(\w+)&gt;`).FindAllSubmatch(rules, -1) {
		denied[string(m[1])+" "+string(m[2])] = true
		types[string(m[1])], types[string(m[2])] = true, true
	}
	if len(denied) < 1000 {
		t.Fatalf("the validator has only %d rules of containment", len(denied))
	}
	level := func(kind string) cos.Name {
		if kind == "Hn" {
			return "H2"
		}
		return cos.Name(kind)
	}
	for in := range types {
		for kind := range types {
			j := standard.NewJudge([]standard.ID{standard.PDFUA2}, cos.V20)
			j.Nested(cos.Ref{Num: 1}, standard.Nested{Kind: level(kind), In: level(in), Kids: rightKids[kind]})
			if found := j.Finish(cos.Trailer{}); (len(found) > 1) != denied[in+" "+kind] { // there is no catalog
				t.Errorf("%s within %s: %v, denied there %t", kind, in, found, denied[in+" "+kind])
			}
		}
	}
	named := func(t tag.Type) string {
		if t == tag.H {
			return "Hn"
		}
		return t.String()
	}
	for in := range tag.NumTypes {
		if !types[named(in)] && in != tag.Div && in != tag.Part { // which hold everything
			t.Errorf("the validator has no rule of %s", in)
		}
		for kind := range tag.NumTypes {
			j := standard.NewJudge([]standard.ID{standard.PDFUA2}, cos.V20)
			j.Elem(&tag.Elem{Type: kind, Parent: &tag.Elem{Type: in, Parent: &tag.Elem{}}})
			pair := named(in) + " " + named(kind)
			found := slices.ContainsFunc(j.Finish(cos.Trailer{}), func(f standard.Finding) bool { return f.Rule == "S040" })
			if found != denied[pair] {
				t.Errorf("%s within %s, written: found %t, denied there %t", kind, in, found, denied[pair])
			}
		}
	}
}

// rightKids are those of the elements that must have some.
var rightKids = map[string][]standard.Kid{
	"Ruby":    {{Kind: "RB"}, {Kind: "RT"}},
	"Warichu": {{Kind: "WP"}, {Kind: "WT"}, {Kind: "WP"}},
}
