package operation_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
)

// TestTextIsWhereReadersFindIt: words, places, order and fonts are those that pdftotext tells.
func TestTextIsWhereReadersFindIt(t *testing.T) {
	e := engine(t)
	b := sample(t, e, "Zoë & Söhne")
	pages, err := open(t, e, b, "").Text(t.Context(), pdf.TextOptions{})
	if err != nil || len(pages) != 4 {
		t.Fatal(len(pages), err)
	}
	var words []pdf.TextWord
	var page []int
	for _, p := range pages {
		for _, l := range p.Lines {
			for _, w := range l.Words {
				words, page = append(words, w), append(page, p.Page)
			}
		}
	}
	theirs := pdftest.Boxes(t, pdftest.Write(t, "in.pdf", b))
	if len(theirs) != len(words) || len(words) == 0 {
		t.Fatalf("%d words, pdftotext has %d", len(words), len(theirs))
	}
	for i, w := range theirs {
		box := words[i].Box
		height := pages[0].Box[3]
		if words[i].Text != w.Text || page[i] != w.Page || math.Abs(box[0]-w.XMin) > 0.5 || math.Abs(box[2]-w.XMax) > 0.5 || math.Abs(height-box[3]-w.YMin) > 4 || words[i].Font == "" || words[i].Size < 5 {
			t.Errorf("%+v, pdftotext %+v", words[i], w)
		}
	}
	done, _, err := run(t, e, "text", map[string]string{"pages": "2"}, b)
	if err != nil || done.Text != "Zoë & Söhne Two\nto the first\nto the last\n\f" {
		t.Errorf("%v: %q", err, done.Text)
	}
}

// TestSearchGivesBoxes for each line that a match is on, whatever white space divides its words.
func TestSearchGivesBoxes(t *testing.T) {
	e := engine(t)
	lines := "/Resources<</Font<</F<</Subtype/Type1/BaseFont/Helvetica>>>>>>/Contents 4 0 R"
	b := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`, `<</Type/Page/MediaBox[0 0 300 200]`+lines+`>>`,
		"<</Length 110>>stream\nBT /F 10 Tf 14 TL 20 150 Td (The secret) Tj T* (name is con-) Tj T* (cealed here) Tj ET\nendstream")
	for _, c := range []struct {
		values map[string]string
		want   string
		boxes  int
	}{
		{map[string]string{"text": "secret  NAME"}, "secret name", 2},
		{map[string]string{"text": "concealed"}, "concealed", 2},
		{map[string]string{"regexp": `n\w+e\b`}, "name", 1},
		{map[string]string{"text": "NAME", "case": "true"}, "", 0},
	} {
		o := pdf.SearchOptions{Text: c.values["text"], Regexp: c.values["regexp"], Case: c.values["case"] != ""}
		found, err := open(t, e, b, "").Search(t.Context(), o)
		if err != nil || c.want == "" && len(found) > 0 {
			t.Errorf("%v: %v, %+v", c.values, err, found)
			continue
		}
		if c.want != "" && (len(found) != 1 || found[0].Text != c.want || len(found[0].Boxes) != c.boxes || found[0].Page != 1) {
			t.Errorf("%v: %+v", c.values, found)
		}
		done, _, err := run(t, e, "search", c.values, b)
		if err != nil || strings.Count(done.Text, ": "+c.want+"\n") != c.boxes {
			t.Errorf("%v: %v, %s", c.values, err, done.Text)
		}
	}
	for _, c := range []struct{ text, regexp, want string }{
		{"", "", "one of them"},
		{"a", "b", "one of them"},
		{"", "(", "RE2"},
		{"", "x*", "a character at least"},
		{" ", "", "a word"},
		{strings.Repeat("x", 5000), "", "at most 4096"},
	} {
		_, err := open(t, e, b, "").Search(t.Context(), pdf.SearchOptions{Text: c.text, Regexp: c.regexp})
		var option *pdf.OptionError
		if !errors.As(err, &option) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %v", c.text, c.regexp, err)
		}
	}
}

// TestTextOfDamagedFiles: what cannot be decoded is left out, and what is over a limit is told.
func TestTextOfDamagedFiles(t *testing.T) {
	e := engine(t)
	b := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`,
		`<</Type/Page/MediaBox[0 0 300 200]/Contents[4 0 R 5 0 R 9 0 R]/Resources<</Font<</F<</Subtype/Type1/BaseFont/Courier>>>>>>>>`,
		"<</Length 3/Filter/FlateDecode>>stream\nabc\nendstream", "<</Length 40>>stream\nBT /F 10 Tf 20 150 Td (left over) Tj ET   \nendstream")
	pages, err := open(t, e, b, "").Text(t.Context(), pdf.TextOptions{})
	if err != nil || len(pages) != 1 || len(pages[0].Lines) != 1 || pages[0].Lines[0].Text != "left over" {
		t.Errorf("%v %+v", err, pages)
	}
	d, err := e.Open(t.Context(), bytes.NewReader(b), int64(len(b)), pdf.OpenOptions{Limits: pdf.ReadLimits{StreamBytes: 10}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Text(t.Context(), pdf.TextOptions{}); !errors.Is(err, pdf.ErrLimit) {
		t.Errorf("a stream over its limit: %v", err)
	}
}

// TestSpacesWithoutWidthAreNone: makers draw them only to move what follows, as others do who read
// the words. Who searches for them as the file has them finds them too.
func TestSpacesWithoutWidthAreNone(t *testing.T) {
	e := engine(t)
	b := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`,
		`<</Type/Page/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
		stream("", "BT /F 10 Tf 20 150 Td -2.7 Tw (The)Tj 0 Tw ( )Tj -2.7 Tw (Pr e)Tj (fa ce)Tj -5 Tw ( )Tj 0 Tw (is here) Tj ET"))
	_, out, err := run(t, e, "optimise", nil, b)
	if err != nil {
		t.Fatal(err)
	}
	if got := pdftest.Text(t, pdftest.Write(t, "in.pdf", out[0])); !strings.HasPrefix(got, "The Preface") {
		t.Errorf("pdftotext: %q", got)
	}
	done, _, err := run(t, e, "text", nil, b)
	if err != nil || !strings.HasPrefix(done.Text, "The Preface") {
		t.Errorf("%v: %q", err, done.Text)
	}
	// Drawn from its end, it is one word too.
	backwards := raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`,
		`<</Type/Page/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
		stream("", "BT /F 10 Tf -2.7 Tw 35.64 150 Td (fa ce) Tj -15.64 0 Td (Pr e) Tj ET"))
	for _, text := range []string{"preface", "pr efa ce"} {
		found, err := open(t, e, backwards, "").Search(t.Context(), pdf.SearchOptions{Text: text})
		if err != nil || len(found) != 1 {
			t.Errorf("%s, drawn backwards: %v, %+v", text, err, found)
		}
	}
	for _, text := range []string{"preface", "pr efa ce"} {
		found, err := open(t, e, b, "").Search(t.Context(), pdf.SearchOptions{Text: text})
		if err != nil || len(found) != 1 || len(found[0].Boxes) != 1 {
			t.Errorf("%s: %v, %+v", text, err, found)
		}
		_, out, err := run(t, e, "redact", map[string]string{"text": text}, b)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if left := pdftest.Text(t, pdftest.Write(t, "out.pdf", out[0])); strings.Contains(left, "face") || !strings.Contains(left, "here") {
			t.Errorf("%s: %q is left", text, left)
		}
	}
}

// TestTextIsFoundAsItLooks: characters that nobody sees divide no word, and those that look alike
// are found for each other, also to be redacted.
func TestTextIsFoundAsItLooks(t *testing.T) {
	e := engine(t)
	b := raw(`<</Type/Catalog/Pages 2 0 R/Outlines 7 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`,
		`<</Type/Page/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>`,
		stream("", "BT /F 10 Tf 20 150 Td (The Zanz{ibar of O|Brien, 77}88) Tj ET"),
		`<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>`,
		stream("", "begincmap 1 begincodespacerange<00><ff>endcodespacerange 1 beginbfrange<20><7a><0020>endbfrange 3 beginbfchar<7b><200b><7c><2019><7d><2011>endbfchar endcmap"),
		`<</First 8 0 R/Last 8 0 R/Count 1>>`, `<</Parent 7 0 R/Title<feff005a0061006e007a00ad0069006200610072>>>`)
	for text, left := range map[string]string{"zanzibar": "The of O\u2019Brien, 77\u201188", "O'Brien": "The Zanz\u200bibar of , 77\u201188", "77-88": "The Zanz\u200bibar of O\u2019Brien,"} {
		found, err := open(t, e, b, "").Search(t.Context(), pdf.SearchOptions{Text: text})
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %+v", text, err, found)
		}
		_, out, err := run(t, e, "redact", map[string]string{"text": text}, b)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		file := pdftest.Write(t, "out.pdf", out[0])
		if got := strings.Join(strings.Fields(pdftest.Text(t, file)), " "); got != left {
			t.Errorf("%s: %+q is left, want %+q", text, got, left)
		}
		if qdf, _ := pdftest.Run(t, "qpdf", "--qdf", file, "-"); text == "zanzibar" && strings.Contains(strings.ToLower(qdf), "005a0061006e007a") {
			t.Error("the bookmark has it")
		}
	}
}
