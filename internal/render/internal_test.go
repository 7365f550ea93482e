package render

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"example.com/quire/internal/record"
	"example.com/quire/pdf"
	"example.com/quire/pdf/template"
)

func TestFilesAreAFileSystem(t *testing.T) {
	f := files{"main.yaml": []byte("main"), "assets/logo.png": []byte("logo"), "assets/fonts/a.ttf": []byte("a"), "empty": nil}
	if err := fstest.TestFS(f, "main.yaml", "assets/logo.png", "assets/fonts/a.ttf", "empty"); err != nil {
		t.Error(err)
	}
}

func TestPlansStayWithinTheirBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newPlans(100)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := record.Hash{rapid.ByteRange(0, 20).Draw(t, "key")}
			if rapid.Bool().Draw(t, "put") {
				p := &template.Plan{}
				before := c.get(key)
				cost := int64(rapid.IntRange(1, 120).Draw(t, "cost"))
				c.put(key, p, cost)
				switch got := c.get(key); {
				case before != nil && got != before:
					t.Fatal("a plan was replaced")
				case before == nil && cost <= 100 && got != p:
					t.Fatal("a plan that fits was not kept")
				case before == nil && cost > 100 && got != nil:
					t.Fatal("a plan that does not fit was kept")
				}
			} else {
				c.get(key)
			}
			sum := int64(0)
			for e := c.used.Front(); e != nil; e = e.Next() {
				sum += e.Value.(*kept).cost
			}
			if sum != c.bytes || sum > 100 || len(c.byKey) != c.used.Len() {
				t.Fatalf("bytes %d, sum %d, %d keys, %d in the list", c.bytes, sum, len(c.byKey), c.used.Len())
			}
		}
	})
}

func TestPlansThatAreUsedStay(t *testing.T) {
	c := newPlans(3)
	hot := record.Hash{99}
	c.put(hot, &template.Plan{}, 1)
	for i := range 50 {
		c.put(record.Hash{byte(i)}, &template.Plan{}, 1)
		if c.get(hot) == nil {
			t.Fatalf("gone after %d others", i+1)
		}
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
				{Code: "D203", File: dataName, Line: 1, Col: 9, DataPath: "a", Message: "bad"},
				{Code: "F401", File: "a.yaml", Line: 2, Col: 3, Path: "body[0]", Message: "no glyph", Page: 4},
			}},
			"template a.yaml:2:3: body[0]: no glyph (page 4) [F401]\ntemplate a: bad [D203]",
		},
		{
			"what layout cannot do for a value", &pdf.DiagnosticError{Omitted: 5, Diagnostics: []pdf.Diagnostic{
				{Code: "F401", File: "a.yaml", Line: 2, Col: 3, Path: "body[0]", DataPath: "b", Message: "no glyph"},
			}},
			"data b: no glyph (used at a.yaml:2:3) [F401]\ndata and 5 more",
		},
	} {
		if got := translate(c.in, nil).Error(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
