package pdf_test

import (
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf"
)

// TestLinksAndOutline: links lead to structure elements and say where.
func TestLinksAndOutline(t *testing.T) {
	e := newEngine(t, pdf.Config{})
	body, _ := render(t, e, pdf.RenderOptions{Standards: compliant}, note("X", 1))
	plain := unpack(t, body)
	for _, want := range []string{
		"/URI(https://example.com/terms)", "/URI(https://example.com/x?y=1&z=%C3%BC)", "/Title(Trades)",
		"/SD[", "/S/Aside", "/Tabs/S", "/Lang(en-IN)", "/DisplayDocTitle true", "http://iso.org/pdf2/ssn",
		"/Scope/Column", "/Scope/Row", "/Type/OBJR",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("no %s in the file", want)
		}
	}
	// One Document, no H, no Note; every Link annotation belongs to an element.
	if n := strings.Count(plain, "/S/Document/"); n != 1 {
		t.Errorf("%d Document elements", n)
	}
	if regexp.MustCompile(`/S/(H|Note)[/ ]`).MatchString(plain) {
		t.Error("an H or Note element")
	}
	if a, b := strings.Count(plain, "/Subtype/Link"), strings.Count(plain, "/StructParent "); a != b || a < 4 {
		t.Errorf("%d links, %d with an element", a, b)
	}
	untagged, _ := render(t, e, pdf.RenderOptions{}, note("X", 1))
	if s := unpack(t, untagged); strings.Contains(s, "/SD[") || strings.Contains(s, "StructTreeRoot") || strings.Contains(s, "BDC") {
		t.Error("a plain document has structure")
	}
}
