package compile_test

import (
	"testing"

	"example.com/quire/pdf/internal/compile"
)

// TestRunningContentWithoutDataHasAnIdentity: it is that of all documents of a plan, and of none of
// another. What data could change has none.
func TestRunningContentWithoutDataHasAnIdentity(t *testing.T) {
	const row = "{row: {widths: [1fr, auto], cells: [{text: A broker, style: s}, {text: 'Page ${page()} of ${pages()}'}]}}"
	for footer, want := range map[string]bool{
		"{all: [" + row + "]}":                                               true,
		"{first: [], other: [{text: '**A** broker'}]}":                       true,
		"{all: [{text: '${x}'}]}":                                            false,
		"{first: [{text: A}], all: [{text: '${x}'}]}":                        false,
		"{all: [{row: {cells: [{text: '${x}'}]}}]}":                          false,
		"{all: [{text: '[A](https://broker.example)'}]}":                     false,
		"{all: [{text: '[A](https://a.example/${x})'}]}":                     false,
		"{all: [{text: '${section(1)}'}]}":                                   false,
		"{all: [{text: A, if: \"x == 'a'\"}]}":                               false,
		"{all: [{rule: {thickness: 1pt}}]}":                                  false,
		"{all: [{text: A, color: \"${x == 'a' ? '#ff0000' : '#0000ff'}\"}]}": false,
	} {
		p := source(t, "{x: string}", "styles: {s: {size: 8pt}}\nfooter: "+footer+"\nbody: [{text: B}]\n")
		var of [2]bool
		var seen [2]any
		for i, data := range []string{`{"x": "a"}`, `{"x": "b"}`} {
			d, err := p.Build(t.Context(), compile.JSON([]byte(data)), compile.BuildOptions{})
			if err != nil {
				t.Fatalf("%s: %v", footer, err)
			}
			of[i], seen[i] = d.Footer.Identity != nil, d.Footer.Identity
			if d.Header.Identity != nil {
				t.Errorf("%s: a header that is not there has an identity", footer)
			}
		}
		if of != [2]bool{want, want} || want && seen[0] != seen[1] {
			t.Errorf("%s: identities %v, want %t", footer, of, want)
		}
		if other := source(t, "{x: string}", "styles: {s: {size: 8pt}}\nfooter: "+footer+"\nbody: [{text: B}]\n"); want {
			d, err := other.Build(t.Context(), compile.JSON([]byte(`{"x": "a"}`)), compile.BuildOptions{})
			if err != nil || d.Footer.Identity == seen[0] {
				t.Errorf("%s: two plans share an identity, %v", footer, err)
			}
		}
	}
}
