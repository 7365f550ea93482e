package diag_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/diag"
)

// The form of section 3.1 of the design, codes aligned.
func ExampleDiagnosticError() {
	err := &diag.DiagnosticError{Diagnostics: []diag.Diagnostic{
		{Code: "T104", File: "contract-note.yaml", Line: 49, Col: 90, Path: "body[5].table.rows.cells[3]", Message: `no field "qtty" in trades[]`, Suggestion: `did you mean "qty"?`},
		{Code: "D203", File: "note.json", Line: 1, Col: 8812, DataPath: "trades[17].price", Message: `want decimal, got string "n/a"`},
		{Code: "S028", File: "contract-note.yaml", Line: 57, Col: 6, Path: "body[8].barcode", Message: "no alt text", Suggestion: "add alt: or decorative: true", Clause: "ISO 14289-2, 8.2.5.28.2"},
	}}
	fmt.Println(err)
	// Output:
	// contract-note.yaml:49:90: body[5].table.rows.cells[3]: no field "qtty" in trades[]; did you mean "qty"?        [T104]
	// note.json:1:8812: trades[17].price: want decimal, got string "n/a"                                             [D203]
	// contract-note.yaml:57:6: body[8].barcode: no alt text; add alt: or decorative: true (ISO 14289-2, 8.2.5.28.2)  [S028]
}

func TestDiagnosticString(t *testing.T) {
	for want, d := range map[string]diag.Diagnostic{
		"bad  [T001]":                            {Code: "T001", Message: "bad"},
		"f: bad  [T001]":                         {Code: "T001", File: "f", Message: "bad"},
		"f:3: bad  [T001]":                       {Code: "T001", File: "f", Line: 3, Message: "bad"},
		"a.b: bad (data c[1])  [T001]":           {Code: "T001", Path: "a.b", DataPath: "c[1]", Message: "bad"},
		"f:1:2: p: warning: shrunk; ok?  [L304]": {Code: "L304", File: "f", Line: 1, Col: 2, Path: "p", Message: "shrunk", Suggestion: "ok?", Severity: diag.SeverityWarning},
	} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDiagnosticJSON(t *testing.T) {
	err := &diag.DiagnosticError{Diagnostics: []diag.Diagnostic{{
		Code: "L304", File: "f", Line: 1, Col: 2, Message: "m", Page: 3, Severity: diag.SeverityWarning,
	}}}
	b, e := json.Marshal(err)
	if e != nil {
		t.Fatal(e)
	}
	want := `{"diagnostics":[{"code":"L304","kind":"template","file":"f","line":1,"col":2,"message":"m","page":3,"severity":"warning"}]}`
	if string(b) != want {
		t.Errorf("got %s", b)
	}
	var back struct{ Diagnostics []diag.Diagnostic }
	if e := json.Unmarshal(b, &back); e != nil || back.Diagnostics[0] != err.Diagnostics[0] {
		t.Errorf("%v %+v", e, back)
	}
	if e := json.Unmarshal([]byte(`{"diagnostics":[{"severity":"loud"}]}`), &back); e == nil {
		t.Error("an unknown severity is read")
	}
	if e := json.Unmarshal([]byte(`{"diagnostics":[{"kind":"other"}]}`), &back); e == nil {
		t.Error("an unknown kind is read")
	}
	if b, e := json.Marshal(&diag.DiagnosticError{}); e != nil || string(b) != `{"diagnostics":[]}` {
		t.Errorf("%s %v", b, e)
	}
	if diag.SeverityError.String() != "error" {
		t.Error("severity")
	}
}

func TestUnwrap(t *testing.T) {
	sentinels := map[string]error{
		"T": diag.ErrTemplate, "D": diag.ErrData, "L": diag.ErrLayout, "F": diag.ErrFont, "S": diag.ErrStandard,
		"R": diag.ErrDamaged, "G": diag.ErrSigner, "X": diag.ErrLimit,
	}
	for letter, want := range sentinels {
		err := fmt.Errorf("render: %w", &diag.DiagnosticError{Diagnostics: []diag.Diagnostic{{Code: letter + "101"}, {Code: letter + "102"}, {}, {Code: "?1"}}})
		for other, e := range sentinels {
			if errors.Is(err, e) != (other == letter) {
				t.Errorf("%s101 is %v: %v", letter, e, errors.Is(err, e))
			}
		}
		var de *diag.DiagnosticError
		if !errors.As(err, &de) || !errors.Is(err, want) {
			t.Error(letter)
		}
	}
}

func TestList(t *testing.T) {
	var l diag.List
	l.Add(diag.Diagnostic{Code: "L304", Severity: diag.SeverityWarning})
	if l.Err() != nil {
		t.Error("a warning is an error")
	}
	l.Add(diag.Diagnostic{Code: "L301"})
	if err := l.Err(); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v", err)
	}
}

func TestKindIsOfTheCodeOrOfThePlaceInTheData(t *testing.T) {
	for want, d := range map[string]diag.Diagnostic{
		"template": {Code: "T104"}, "data": {Code: "D203"}, "limit": {Code: "X307", DataPath: "a"},
	} {
		err := diag.Fail(d)
		if got := err.Diagnostics[0].Kind; got.String() != want {
			t.Errorf("%s: %v, want %s", d.Code, got, want)
		}
		var back diag.Diagnostic
		if b, e := json.Marshal(err.Diagnostics[0]); e != nil || json.Unmarshal(b, &back) != nil || back != err.Diagnostics[0] {
			t.Errorf("%s: %v comes back as %v", d.Code, err.Diagnostics[0], back)
		}
	}
	if d := diag.Fail(diag.Diagnostic{Code: "F401", DataPath: "a"}).Diagnostics[0]; d.Kind != diag.KindData {
		t.Errorf("a glyph that a value needs: %v", d.Kind)
	}
}

func TestLimits(t *testing.T) {
	l := diag.Limits{Pages: 7, DataBytes: -1}.WithDefaults()
	if l.Pages != 7 || l.DataBytes != 0 || l.TemplateBytes != 1<<20 {
		t.Errorf("%+v", l)
	}
	if l := (diag.Limits{Pages: 1 << 40}).WithDefaults(); l.Pages != 10_000_000 {
		t.Errorf("%d pages", l.Pages)
	}
	if again := l.WithDefaults(); again != l {
		t.Errorf("limits that have their defaults become %+v", again)
	}
	if (diag.Limits{}).WithDefaults() != diag.DefaultLimits() {
		t.Error("the zero limits are not the defaults")
	}
	lower, err := l.Lower(&diag.Limits{Pages: 3, ImageBytes: -1})
	if err != nil || lower.Pages != 3 || lower.ImageBytes != 0 || lower.FontBytes != l.FontBytes {
		t.Errorf("%+v, %v", lower, err)
	}
	if same, err := l.Lower(nil); err != nil || same != l {
		t.Errorf("%v", err)
	}
	_, err = l.Lower(&diag.Limits{Pages: 8})
	var le *diag.LimitError
	if !errors.As(err, &le) || le.Name != "Pages" || le.Value != 8 || le.Limit != 7 || !errors.Is(err, diag.ErrLimit) {
		t.Errorf("got %v", err)
	}
	if diag.Check("Pages", 7, 7, "") != nil {
		t.Error("at the limit is not over it")
	}
	if err := diag.Check("Pages", 8, 7, "f:1"); err == nil || err.Error() != "limit Pages: 8 is over 7 at f:1" {
		t.Errorf("got %v", err)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":                               `""`,
		"a\nb":                           `"a\nb"`,
		strings.Repeat("é", 64):          `"` + strings.Repeat("é", 64) + `"`,
		strings.Repeat("é", 64) + "more": `"` + strings.Repeat("é", 64) + "…" + `"`,
	} {
		if got := diag.Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}
