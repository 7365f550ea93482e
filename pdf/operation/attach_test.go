package operation_test

import (
	"bytes"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// TestAttachedFilesComeBack: what is attached is listed, read by poppler, extracted as it was and
// taken away again; a claim that takes files stays, another goes.
func TestAttachedFilesComeBack(t *testing.T) {
	e := engine(t)
	for _, x := range []struct {
		claims []standard.ID
		stays  bool
	}{
		{[]standard.ID{standard.PDFA3b, standard.PDFUA1}, true},
		{[]standard.ID{standard.PDFA4f, standard.PDFUA2}, true},
		{[]standard.ID{standard.PDFA4, standard.PDFUA2}, false},
		{[]standard.ID{standard.PDFA2b}, false},
	} {
		var made bytes.Buffer
		if _, err := e.Build(t.Context(), &made, pdf.RenderOptions{Standards: x.claims}, func(b *doc.Builder) error {
			if b.Title("T").Lang("en").Text("x"); x.claims[0] == standard.PDFA4f {
				b.Attach(doc.Attachment{Name: "first.txt", Type: "text/plain", Data: []byte("first")})
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		done, out, err := with(t, e, "attach", "attachment", []byte("no,what\n"), map[string]string{"name": "Übersicht (1).csv", "relationship": "Data", "description": "A table"}, made.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		s, _ := done.Report.(*pdf.Summary)
		if s == nil || (len(s.Claims) == len(x.claims)) != x.stays || !x.stays && !strings.Contains(done.Text, "an attached file") {
			t.Errorf("%v: %s", x.claims, done.Text)
		}
		f := pdftest.Write(t, "out.pdf", out)
		if err := pdftest.QPDF(t, f); err != nil {
			t.Error(err)
		}
		if got := pdftest.Attachments(t, f)["Übersicht (1).csv"]; got != "no,what\n" {
			t.Errorf("%v: poppler finds %q", x.claims, got)
		}
		list, err := open(t, e, out, "").Attachments()
		if a := list[len(list)-1]; err != nil || a != (pdf.Attachment{Name: "Übersicht (1).csv", Description: "A table", Type: "text/csv", Relationship: "Data", Size: 8}) {
			t.Errorf("%v: %+v, %v", x.claims, list, err)
		}
		if done, _, err := run(t, e, "attachments", nil, out); err != nil || !strings.Contains(done.Text, "Übersicht (1).csv: 8 bytes, text/csv, Data: A table\n") {
			t.Errorf("%v: %+v", err, done)
		}
		if _, back, err := run(t, e, "extract", map[string]string{"name": "Übersicht (1).csv"}, out); err != nil || string(back[0]) != "no,what\n" {
			t.Errorf("extracted %q, %v", back, err)
		}
		if _, _, err := with(t, e, "attach", "attachment", nil, map[string]string{"name": "Übersicht (1).csv"}, out); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("twice: %v", err)
		}
		_, less, err := run(t, e, "detach", map[string]string{"name": "Übersicht (1).csv"}, out)
		if err != nil {
			t.Fatal(err)
		}
		if left := open(t, e, less[0], "").Info().Attachments; len(left) != len(list)-1 || bytes.Contains(less[0], []byte("no,what")) {
			t.Errorf("%v: left %+v", x.claims, left)
		}
		if err := pdftest.QPDF(t, pdftest.Write(t, "less.pdf", less[0])); err != nil {
			t.Error(err)
		}
	}
}

// TestArchivesAreAttachedToArchives: PDF/A-2b and PDF/A-4 keep their claims where what they carry
// is an archive itself.
func TestArchivesAreAttachedToArchives(t *testing.T) {
	e := engine(t)
	archive := func(claim standard.ID) []byte {
		var made bytes.Buffer
		if _, err := e.Build(t.Context(), &made, pdf.RenderOptions{Standards: []standard.ID{claim}}, func(b *doc.Builder) error {
			b.Title("T").Lang("en").Text("x")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return made.Bytes()
	}
	for claim, inner := range map[standard.ID]standard.ID{standard.PDFA2b: standard.PDFA2u, standard.PDFA4: standard.PDFA4} {
		done, _, err := with(t, e, "attach", "attachment", archive(inner), map[string]string{"name": "inner.pdf"}, archive(claim))
		if err != nil {
			t.Fatal(err)
		}
		if s, _ := done.Report.(*pdf.Summary); s == nil || len(s.Claims) != 1 || s.Claims[0] != claim.String() {
			t.Errorf("%s with %s: %s", claim, inner, done.Text)
		}
	}
}

// TestFilesThatCannotBeAttachedOrFound.
func TestFilesThatCannotBeAttachedOrFound(t *testing.T) {
	e := engine(t)
	b := rich("One")
	for name, x := range map[string]struct {
		operation string
		values    map[string]string
		want      string
	}{
		"misspelt":     {"extract", map[string]string{"name": "b.txt"}, `did you mean "a.txt"`},
		"no name":      {"detach", nil, "name: got nothing"},
		"unknown":      {"detach", map[string]string{"name": "nothing like it"}, "want a.txt"},
		"relationship": {"attach", map[string]string{"relationship": "Dta"}, `did you mean "Data"`},
		"name":         {"attach", map[string]string{"name": "a\x00b"}, "name: "},
		"taken":        {"attach", map[string]string{"name": "a.txt"}, "already"},
		"type":         {"attach", map[string]string{"type": strings.Repeat("x", 200)}, "text/csv"},
	} {
		var err error
		if x.operation == "attach" {
			_, _, err = with(t, e, "attach", "attachment", []byte("x"), x.values, b)
		} else {
			_, _, err = run(t, e, x.operation, x.values, b)
		}
		var option *pdf.OptionError
		if !errors.As(err, &option) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	elsewhere := raw(`<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(k)<</F(away.txt)>>]>>>>>>`, `<</Type/Pages/Kids[3 0 R]>>`, `<</Type/Page>>`)
	if _, _, err := run(t, e, "extract", map[string]string{"name": "away.txt"}, elsewhere); err == nil || !strings.Contains(err.Error(), "not in the file") {
		t.Errorf("elsewhere: %v", err)
	}
}

// TestStepsOfAPipe are done in their order, with one writing; a wrong one is named.
func TestStepsOfAPipe(t *testing.T) {
	e := engine(t)
	b := sample(t, e, "Sample")
	steps := `[
		{"delete": {"pages": "r1"}},
		{"stamp": {"with": "in1.pdf", "page": 2, "scale": 0.2, "position": "top-right"}},
		{"number": {"format": "p{page}of{pages}", "start": 5}},
		{"rotate": {"degrees": 90, "pages": "1"}},
		{"metadata": {"title": "Piped"}}
	]`
	done, out, err := with(t, e, "pipe", "steps", []byte(steps), nil, b, sample(t, e, "Other"))
	if err != nil {
		t.Fatal(err)
	}
	i := open(t, e, out, "").Info()
	if len(i.Pages) != 3 || i.Title != "Piped" || i.Pages[0].Rotate != 90 || strings.Join(i.Claims, ", ") != "pdf/a-4, pdf/ua-2" || i.Bookmarks != 3 {
		t.Errorf("%+v\n%s", i, done.Text)
	}
	f := pdftest.Write(t, "out.pdf", out)
	if err := pdftest.QPDF(t, f); err != nil {
		t.Error(err)
	}
	words := pdftest.Words(t, f)
	for _, want := range []string{"p5of7", "p7of7", "Other"} {
		if !slices.Contains(words, want) {
			t.Errorf("no %s in %q", want, words)
		}
	}
	_, four, err := with(t, e, "pipe", "steps", []byte(`[{"nup":{"per-sheet":4}},{"number":{}},{"encrypt":{"owner":"o"}}]`), nil, b)
	if err != nil || open(t, e, four, "").Pages() != 1 || open(t, e, four, "o").Info().Encryption == nil {
		t.Errorf("sheets: %v", err)
	}
	for name, x := range map[string]struct{ steps, want string }{
		"no JSON":        {`[{"rotate"`, "steps: "},
		"none":           {`[]`, "0 steps"},
		"two in one":     {`[{"rotate":{"degrees":90},"number":{}}]`, "steps[0]: got 2 operations"},
		"unknown":        {`[{"number":{}},{"rotat":{}}]`, `steps[1].rotat: got no step`},
		"no step":        {`[{"merge":{}}]`, `steps[0].merge: got no step`},
		"parameter":      {`[{"rotate":{"degrees":90,"page":"1"}}]`, `did you mean "pages"`},
		"missing":        {`[{"rotate":{}}]`, `steps[0].rotate.degrees: got nothing`},
		"kind":           {`[{"rotate":{"degrees":[90]}}]`, `steps[0].rotate.degrees: got null, an array`},
		"value":          {`[{"number":{}},{"rotate":{"degrees":"ninety"}}]`, `steps[1].rotate.degrees: got "ninety"`},
		"of the file":    {`[{"delete":{"pages":"1"}},{"delete":{"pages":"4"}}]`, `steps[1].delete.pages: got "4", want pages of a file that has 3`},
		"of one step":    {`[{"delete":{"pages":"9"}}]`, `steps[0].delete.pages: `},
		"file":           {`[{"overlay":{"with":"in2.pdf"}}]`, `steps[0].overlay.with: got "in2.pdf"`},
		"file not named": {`[{"number":{}}]`, `file: got "in1.pdf", which no step names`},
		"duplicate":      {`[{"number":{"start":1,"start":2}}]`, "steps: "},
		"many":           {`[` + strings.Repeat(`{"number":{}},`, 100) + `{"number":{}}]`, "101 steps"},
	} {
		files := [][]byte{b}
		if strings.HasPrefix(name, "file") {
			files = append(files, b)
		}
		_, _, err := with(t, e, "pipe", "steps", []byte(x.steps), nil, files...)
		var option *pdf.OptionError
		if !errors.As(err, &option) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// extracted is what readers find in a file: poppler as it is laid out, as it is drawn and as it is
// tagged, qpdf in every string and stream, and our own.
func extracted(t *testing.T, b []byte) map[string]string {
	t.Helper()
	file := pdftest.Write(t, "in.pdf", b)
	out := map[string]string{}
	for name, args := range map[string][]string{
		"pdftotext": {"-layout", file, "-"}, "pdftotext in the order of drawing": {"-raw", file, "-"}, "pdfinfo": {"-struct-text", file},
		"qpdf": {"--warning-exit-0", "--qdf", "--object-streams=disable", "--decode-level=all", file, "-"},
	} {
		judge, _, _ := strings.Cut(name, " ")
		said, err := exec.CommandContext(t.Context(), pdftest.Need(t, judge), args...).Output() //nolint:gosec // G204: judges, over files of the test
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = string(said)
	}
	var own strings.Builder
	e := engine(t)
	pages, err := open(t, e, b, "").Text(t.Context(), pdf.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		for _, l := range p.Lines {
			own.WriteString(l.Text + "\n")
		}
	}
	out["own"] = own.String()
	return out
}
