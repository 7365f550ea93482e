package operation_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
)

// twoPages is a file with what is compared: text in two colours, a path, an image, a note, a field,
// a bookmark, a tag, an attachment and a title. Each change replaces one string by another.
func twoPages(changes ...string) []byte {
	stream := func(dict, data string) string {
		return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
	}
	replace := strings.NewReplacer(changes...)
	objects := []string{
		`<</Type/Catalog/Pages 2 0 R/Outlines 9 0 R/AcroForm<</Fields[8 0 R]>>/Names<</EmbeddedFiles<</Names[(a.txt)15 0 R]>>>>/StructTreeRoot 12 0 R/MarkInfo<</Marked true>>/ViewerPreferences<</DisplayDocTitle true>>>>`,
		`<</Type/Pages/Kids[3 0 R 14 0 R]/Count 2/MediaBox[0 0 300 200]/Resources<</Font<</F 11 0 R>>/XObject<</I 6 0 R>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents 4 0 R/Annots[7 0 R 8 0 R]>>`,
		"BT /F 12 Tf 20 150 Td (The total is 12.00) Tj 1 0 0 rg 0 -20 Td (in red) Tj ET 0 0 1 RG 10 10 50 50 re S q 40 0 0 40 200 20 cm /I Do Q",
		`<</Type/Page/Parent 2 0 R>>`,
		"<</Type/XObject/Subtype/Image/Width 2/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray>>\xff\x00",
		`<</Type/Annot/Subtype/Text/Rect[250 120 270 140]/Contents(a note)>>`,
		`<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(Ada)/Rect[200 100 280 120]>>`,
		`<</First 10 0 R/Last 10 0 R/Count 1>>`,
		`<</Title(Begin)/Parent 9 0 R/Dest[3 0 R/Fit]>>`,
		`<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`,
		`<</Type/StructTreeRoot/K 13 0 R>>`,
		`<</S/P/P 12 0 R/Pg 3 0 R/Alt(words)>>`,
		`<</Type/Page/Parent 2 0 R/Contents 16 0 R>>`,
		`<</Type/Filespec/F(a.txt)/EF<</F 17 0 R>>>>`,
		"BT /F 12 Tf 20 150 Td (second page) Tj ET",
		"<</Type/EmbeddedFile>>attached",
		`<</Title(Report)>>`,
	}
	s := "%PDF-1.7\n"
	for i, o := range objects {
		o = replace.Replace(o)
		switch dict, data, is := strings.Cut(o, ">>"); i {
		case 3, 15:
			o = stream("", o)
		case 5, 16:
			if is {
				o = stream(strings.TrimPrefix(dict, "<<"), data)
			}
		}
		s += fmt.Sprintf("%d 0 obj %s endobj\n", i+1, o)
	}
	return []byte(s + "trailer<</Root 1 0 R/Info 18 0 R>>")
}

// compared compares two files.
func compared(t *testing.T, values map[string]string, a, b []byte) (*pdf.Comparison, string) {
	t.Helper()
	done, _, err := run(t, engine(t), "compare", values, a, b)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := done.Report.(*pdf.Comparison)
	if !ok || r.Equal == done.Failed || r.Equal != (len(r.Differences) == 0) {
		t.Fatalf("%+v", done)
	}
	return r, done.Text
}

// TestComparisonTellsEveryDifference: one thing is changed, and it alone is told, with its place
// and in both directions.
func TestComparisonTellsEveryDifference(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to string
		want     []string // lines, in their order
	}{
		"text":             {"12.00", "13.00", []string{"page 1: text changed: 12.00 -> 13.00 at "}},
		"text goes":        {"in red", "in", []string{"page 1: text removed: red at "}},
		"text moves":       {"0 -20 Td", "0 -30 Td", []string{"page 1: text moved: in red at "}},
		"text grows":       {"/F 12 Tf 20 150 Td (second", "/F 14 Tf 20 150 Td (second", []string{"page 2: text changed: second page: Helvetica 12 -> Helvetica 14 at "}},
		"font":             {"BaseFont/Helvetica", "BaseFont/Courier", []string{"page 1: text changed: The total is 12.00 in red: Helvetica 12 -> Courier 12", "page 1: resources added: font Courier", "page 1: resources removed: font Helvetica", "page 2: text changed: second page: Helvetica 12", "page 2: resources added: font Courier", "page 2: resources removed: font Helvetica"}},
		"colour of text":   {"1 0 0 rg", "0 1 0 rg", []string{"page 1: text changed: colour, mode or clip of the text"}},
		"hidden text":      {"(second", "3 Tr (second", []string{"page 2: text changed: colour, mode or clip of the text"}},
		"path":             {"10 10 50 50 re", "10 10 50 60 re", []string{"page 1: drawing changed: 1 path -> 1 path at 10,10,60,60 -> 10,10,60,70"}},
		"path goes":        {"10 10 50 50 re S", "", []string{"page 1: drawing removed: 1 path at 10,10,60,60"}},
		"colour of a path": {"0 0 1 RG", "0 0 1 RG 2 w", []string{"page 1: drawing changed: 1 path -> 1 path at 10,10,60,60"}},
		"image":            {"\xff\x00", "\xff\x01", []string{"page 1: drawing changed: 1 image -> 1 image at 200,20,240,60"}},
		"note":             {"(a note)", "(another note)", []string{"page 1: annotations changed: Text: a note -> another note at 250,120,270,140"}},
		"note goes":        {"/Annots[7 0 R 8 0 R]", "/Annots[8 0 R]", []string{"page 1: annotations removed: Text: a note at "}},
		"field":            {"/V(Ada)", "/V(Bob)", []string{`fields changed: name: "Ada" -> "Bob"`}},
		"bookmark":         {"(Begin)", "(Start)", []string{"bookmarks removed: Begin", "bookmarks added: Start"}},
		"bookmark leads":   {"/Dest[3 0 R/Fit]", "/Dest[14 0 R/Fit]", []string{"bookmarks changed: Begin: page 1 -> page 2"}},
		"tag":              {"/S/P/P", "/S/H1/P", []string{`tags removed: P Alt="words"`, `tags added: H1 Alt="words"`}},
		"attachment":       {"attached", "attaches", []string{"attachments changed: a.txt: 8 bytes, sha256:"}},
		"title":            {"(Report)", "(Other)", []string{"document changed: title: Report -> Other"}},
		"preferences":      {"/DisplayDocTitle true", "/DisplayDocTitle false", []string{"document changed: ViewerPreferences: "}},
		"script":           {"/MarkInfo", "/OpenAction<</S/JavaScript/JS(x)>>/MarkInfo", []string{"document added: active content: JavaScript", "document added: OpenAction: "}},
		"size":             {"/Contents 16 0 R", "/Contents 16 0 R/CropBox[0 0 100 100]", []string{"page 2: added: CropBox: [0 0 100 100]"}},
		"turned":           {"/Contents 16 0 R", "/Contents 16 0 R/Rotate 90", []string{"page 2: added: Rotate: 90"}},
		"page goes":        {"/Kids[3 0 R 14 0 R]", "/Kids[3 0 R]", []string{"page 2 of the first: removed"}},
		"page comes":       {"/Kids[3 0 R 14 0 R]", "/Kids[5 0 R 3 0 R 14 0 R]", []string{"page 1 of the second: added"}},
	} {
		r, text := compared(t, nil, twoPages(), twoPages(c.from, c.to))
		lines := strings.Split(strings.TrimSpace(text), "\n")
		lines = lines[:len(lines)-1]
		if len(lines) < len(c.want) || len(lines) > len(c.want)+1 || len(r.Differences) == 0 {
			t.Errorf("%s: %s", name, text)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("%s: %q, want %q", name, lines[i], want)
			}
		}
		back, _ := compared(t, nil, twoPages(c.from, c.to), twoPages())
		if len(back.Differences) != len(r.Differences) {
			t.Errorf("%s: %d differences, and back %d", name, len(r.Differences), len(back.Differences))
		}
	}
}

// TestHowFilesAreWrittenIsNoDifference: other numbers of objects, compression, object streams and
// revisions; the same bytes are told as such.
func TestHowFilesAreWrittenIsNoDifference(t *testing.T) {
	t.Parallel()
	e := engine(t)
	for name, b := range map[string][]byte{"ours": sample(t, e, "Sample"), "rich": rich("One"), "two": twoPages()} {
		_, same, err := run(t, e, "optimise", nil, b)
		if err != nil {
			t.Fatal(err)
		}
		_, ordered, err := run(t, e, "rotate", map[string]string{"degrees": "360"}, b)
		if err != nil {
			t.Fatal(err)
		}
		in, to := pdftest.Write(t, "in.pdf", b), pdftest.Write(t, "out.pdf", nil)
		if out, err := exec.CommandContext(t.Context(), pdftest.Need(t, "qpdf"), "--warning-exit-0", "--no-warn", "--stream-data=uncompress", "--object-streams=disable", "--linearize", in, to).CombinedOutput(); err != nil { //nolint:gosec // G204: a judge, over files of the test
			t.Fatalf("%v: %s", err, out)
		}
		for how, other := range map[string][]byte{"optimised": same[0], "written anew": ordered[0], "by qpdf": pdftest.Read(t, to)} {
			r, text := compared(t, nil, b, other)
			r.Differences = slices.DeleteFunc(r.Differences, func(d pdf.Difference) bool {
				return d.Name == "version of PDF" || d.Name == "producer" || d.Name == "modified" || d.Name == "Perms" || d.Part == "fields" // that signatures are void is a difference
			})
			if len(r.Differences) > 0 {
				t.Errorf("%s, %s: %s", name, how, text)
			}
		}
		if r, text := compared(t, nil, b, b); !r.Identical || !strings.Contains(text, "the same bytes") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestPagesAreHeldAgainstThoseThatAreAlike: pages that come and go are told, and nothing of the
// others.
func TestPagesAreHeldAgainstThoseThatAreAlike(t *testing.T) {
	t.Parallel()
	e := engine(t)
	b := sample(t, e, "Sample")
	_, without, err := run(t, e, "delete", map[string]string{"pages": "2"}, b)
	if err != nil {
		t.Fatal(err)
	}
	r, text := compared(t, nil, b, without[0])
	for _, d := range r.Differences {
		if d.Part == "text" || d.Part == "drawing" || d.Part == "pages" && d.Page != 2 {
			t.Errorf("%+v", d)
		}
	}
	if !strings.Contains(text, "page 2 of the first: removed\n") || !strings.Contains(text, "bookmarks removed: Two\n") {
		t.Error(text)
	}
}

// TestPixelsAreComparedByPoppler, page by page; without pdftoppm they are refused, naming it.
func TestPixelsAreComparedByPoppler(t *testing.T) {
	pdftest.Need(t, "pdftoppm")
	a, b := twoPages(), twoPages("0 0 1 RG", "0 1 0 RG", "(Report)", "(Other)")
	r, text := compared(t, map[string]string{"pixels": "true"}, a, b)
	if !r.Pixels || !strings.Contains(text, "page 1: pixels changed: ") || strings.Contains(text, "page 2: pixels") {
		t.Error(text)
	}
	for _, d := range r.Differences {
		if d.Part == "pixels" && (d.Box == nil || d.Box[0] < 8 || d.Box[0] > 11 || d.Box[3] < 59 || d.Box[3] > 62) {
			t.Errorf("%+v", d)
		}
	}
	if r, text = compared(t, map[string]string{"pixels": "true", "dpi": "36"}, a, twoPages("(Report)", "(Other)")); len(r.Differences) != 1 {
		t.Error(text)
	}
	large := twoPages("/MediaBox[0 0 300 200]", "/MediaBox[0 0 14000 14000]")
	var limit *pdf.LimitError
	if _, _, err := run(t, engine(t), "compare", map[string]string{"pixels": "true"}, a, large); !errors.As(err, &limit) || limit.Name != "Pixels" {
		t.Errorf("large pages: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	_, _, err := run(t, engine(t), "compare", map[string]string{"pixels": "true"}, a, b)
	if !errors.Is(err, pdf.ErrTool) || !strings.Contains(err.Error(), "pdftoppm") || !strings.Contains(err.Error(), "poppler-utils") {
		t.Errorf("without pdftoppm: %v", err)
	}
}

// TestComparisonsThatCannotBe are wrong options and damaged files.
func TestComparisonsThatCannotBe(t *testing.T) {
	t.Parallel()
	e := engine(t)
	a := twoPages()
	for name, c := range map[string]struct {
		values map[string]string
		files  [][]byte
		want   string
	}{
		"one file":       {nil, [][]byte{a}, "got 1 file, want 2"},
		"dpi alone":      {map[string]string{"dpi": "72"}, [][]byte{a, a}, "without pixels"},
		"dpi":            {map[string]string{"dpi": "7000", "pixels": "true"}, [][]byte{a, twoPages("12", "13")}, "18 to 600"},
		"not a PDF":      {nil, [][]byte{a, []byte("no PDF")}, "R001"},
		"content's form": {map[string]string{"pixels": "perhaps"}, [][]byte{a, a}, "true or false"},
	} {
		if c.values["pixels"] == "true" {
			pdftest.Need(t, "pdftoppm")
		}
		if _, _, err := run(t, e, "compare", c.values, c.files...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Content that cannot be decoded may show anything: it is never equal.
	bad := bytes.Replace(twoPages(), []byte("<</Length 41>>stream\nBT"), []byte("<</Length 41/Filter/FlateDecode>>stream\nBT"), 1)
	if r, text := compared(t, nil, twoPages(), bad); r.Equal || !strings.Contains(text, "page 2: drawing unreadable") {
		t.Error(text)
	}
}

// FuzzCompare: files of any content are compared or refused with a typed error, and a file is equal
// to itself written anew.
func FuzzCompare(f *testing.F) {
	f.Add([]byte("BT /F 12 Tf 20 150 Td (a) Tj [(ab)-9(a)] TJ ET 0 0 9 9 re f"), []byte("q 1 0 0 1 2 2 cm /I Do Q /P sh W n"))
	f.Add([]byte("/Span<</ActualText(a)>>BDC BT /F 1 Tf (b) Tj ET EMC q"), []byte("BI /W 1/H 1/BPC 8/CS/G ID a EI Q Q /G gs /C cs 1 scn"))
	e, err := pdf.New(pdf.Config{Cache: pdf.CacheLimits{Off: true}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a)+len(b) > 1<<12 {
			return // longer than what finds more
		}
		made := func(content []byte) []byte {
			return raw(`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
				`<</Type/Page/Contents 4 0 R>>`, fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content))
		}
		for _, other := range [][]byte{b, append(bytes.Clone(a), ' ')} {
			done, _, err := run(t, e, "compare", nil, made(a), made(other))
			var told *pdf.DiagnosticError
			var limit *pdf.LimitError
			if err != nil && !errors.As(err, &told) && !errors.As(err, &limit) || err == nil && done.Text == "" {
				t.Fatal(err)
			}
		}
	})
}
