package render

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"example.com/quire/pdf"
)

func TestFilesAreAFileSystem(t *testing.T) {
	f := files{"main.yaml": []byte("main"), "assets/logo.png": []byte("logo"), "assets/fonts/a.ttf": []byte("a"), "empty": nil}
	if err := fstest.TestFS(f, "main.yaml", "assets/logo.png", "assets/fonts/a.ttf", "empty"); err != nil {
		t.Error(err)
	}
}

func TestTranslate(t *testing.T) {
	plain := errors.New("plain")
	for _, c := range []struct {
		name string
		in   error
		want string
	}{
		{"nothing of the engine", plain, "plain"},
		{"context", context.Canceled, "context canceled"},
		{"limit", fmt.Errorf("x: %w", &pdf.LimitError{Name: "Pages", Value: 6, Limit: 5, Place: "a.yaml:1:2"}), "limit Pages: at most 5, got 6 at a.yaml:1:2"},
		{"warnings alone", &pdf.DiagnosticError{Diagnostics: []pdf.Diagnostic{{Severity: pdf.SeverityWarning, Code: "L310", Message: "w"}}}, "warning: w  [L310]"},
		{
			"both kinds", &pdf.DiagnosticError{Diagnostics: []pdf.Diagnostic{
				{Code: "D203", Kind: pdf.KindData, File: dataName, Line: 1, Col: 9, DataPath: "a", Message: "bad"},
				{Code: "F401", File: "a.yaml", Line: 2, Col: 3, Path: "body[0]", Message: "no glyph", Page: 4},
			}},
			"template a.yaml:2:3: body[0]: no glyph (page 4) [F401]\ntemplate a: bad [D203]",
		},
		{
			"what layout cannot do for a value", &pdf.DiagnosticError{Omitted: 5, Diagnostics: []pdf.Diagnostic{
				{Code: "F401", Kind: pdf.KindData, File: "a.yaml", Line: 2, Col: 3, Path: "body[0]", DataPath: "b", Message: "no glyph"},
			}},
			"data b: no glyph (used at a.yaml:2:3) [F401]\ndata and 5 more",
		},
	} {
		if got := translate(c.in).Error(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
