//go:build !race

package pdf_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf"
	"example.com/quire/pdf/template"
)

// TestBrokenFontsEndInAnErrorOrADocument: whatever stands in the tables of a font that a template
// brings along, there is a document or an error of the font, in time.
func TestBrokenFontsEndInAnErrorOrADocument(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(filepath.Join(serif, "SourceSerif4-Regular.ttf"))
	if err != nil {
		t.Fatal(err)
	}
	const source = "quire: 1\nname: t\nlang: en\ntitle: T\nfonts: {families: {Own: {regular: own.ttf}}}\nstyles: {base: {font: Own}}\n" +
		"body: [{text: \"AVATAR office \\u1EB9\\u0301 \\u0254\\u0303 1/2\"}]\n"
	outcomes := map[string]int{}
	faults := rand.NewChaCha8([32]byte{1})
	random := rand.New(faults) //nolint:gosec // G404: a test wants the same faults every time
	for round := range 150 {
		data, wrong := bytes.Clone(whole), make([]byte, 1<<(round%12))
		_, _ = faults.Read(wrong) // never fails
		for _, b := range wrong {
			data[300+random.IntN(len(data)-300)] ^= b
		}
		e := newEngine(t, pdf.Config{Files: fstest.MapFS{"own.ttf": {Data: data}}})
		p, err := e.Compile(t.Context(), pdf.Source{File: "t.yaml", Text: []byte(source)})
		if err == nil {
			_, err = e.Render(t.Context(), io.Discard, p, template.JSON([]byte(`{}`)), pdf.RenderOptions{})
		}
		if err == nil {
			outcomes["document"]++
			continue
		}
		de, ok := errors.AsType[*pdf.DiagnosticError](err)
		switch {
		case ok && de.Diagnostics[0].Line > 0 && (de.Diagnostics[0].Code != "F406" || errors.Is(err, pdf.ErrFont)):
			outcomes[de.Diagnostics[0].Code]++
		default:
			t.Errorf("round %d: %v, want diagnostics with a place", round, err)
		}
	}
	if t.Log(outcomes); outcomes["document"] == 0 || outcomes["T118"] == 0 || outcomes["F406"] == 0 {
		t.Errorf("outcomes %v: the faults are too few or too many", outcomes)
	}
}
