package operation_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// TestActionsOfMergedFilesLeadIntoTheirOwnFile: a destination whose name both files have is meant
// in its file by all that leads to it: links, what follows their actions, and what events start.
func TestActionsOfMergedFilesLeadIntoTheirOwnFile(t *testing.T) {
	e := engine(t)
	linked := func(page int) []byte {
		return raw(
			fmt.Sprintf(`<</Type/Catalog/Pages 2 0 R/Names<</Dests<</Names[(x)[%d 0 R/Fit]]>>>>>>`, page),
			`<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[0 0 200 200]>>`,
			`<</Type/Page/Parent 2 0 R/Annots[5 0 R 6 0 R 7 0 R]>>`,
			`<</Type/Page/Parent 2 0 R/AA<</O<</S/GoTo/D(x)>>/C 8 0 R>>>>`,
			`<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(u)/Next<</S/GoTo/D(x)>>>>>>`,
			`<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(u)/Next[<</S/URI/URI(v)>> 8 0 R]>>>>`,
			`<</Subtype/Screen/Rect[0 0 9 9]/A 8 0 R/AA<</U<</S/GoTo/D(x)>>>>>>`,
			`<</S/GoTo/D(x)/Next<</S/GoTo/D(x)/Next 8 0 R>>>>`, // in a circle
		)
	}
	_, out, err := run(t, e, "merge", nil, linked(3), linked(4))
	if err != nil {
		t.Fatal(err)
	}
	text, code := pdftest.Run(t, "qpdf", "--qdf", "--object-streams=disable", pdftest.Write(t, "merged.pdf", out[0]), "-")
	if code != 0 {
		t.Fatal(text)
	}
	// Each file has five: those of the first stay, those of the second lead to its second page.
	fourth := regexp.MustCompile(`%% Page 4\n(?:%% .*\n)?(\d+) 0 obj`).FindStringSubmatch(text)
	if len(fourth) == 0 {
		t.Fatal("no fourth page")
	}
	byName, direct := strings.Count(text, "/D (x)"), len(regexp.MustCompile(`/D \[\s+`+fourth[1]+` 0 R\s+/Fit`).FindAllString(text, -1))
	if byName != 5 || direct != 5 {
		t.Errorf("%d actions by name, want 5 of the first file; %d to the page of the second, want 5\n%s", byName, direct, text)
	}
}

// TestElementsOfMergedFilesKeepWhatTheyAre: IDs of elements, types and classes that both files have
// mean in each what they meant there; headers of cells are cells of the same table.
func TestElementsOfMergedFilesKeepWhatTheyAre(t *testing.T) {
	e := engine(t)
	tagged := func(name, heading, align string) []byte {
		return raw(
			`<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R>>`,
			`<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 200 200]>>`,
			`<</Type/Page/Parent 2 0 R/StructParents 0/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>`,
			stream("", "BT /F 12 Tf 9 99 Td /P<</MCID 0>>BDC ("+name+"1) Tj EMC 0 -20 Td /P<</MCID 1>>BDC ("+name+"2) Tj EMC 0 -20 Td /P<</MCID 2>>BDC ("+name+"3) Tj EMC ET"),
			`<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`,
			`<</Type/StructTreeRoot/K 7 0 R/ParentTree<</Nums[0[8 0 R 10 0 R 11 0 R]]>>/IDTree<</Names[(h)10 0 R(only`+name+`)11 0 R]>>`+
				`/RoleMap<</Big/`+heading+`/Bigger/Big/Small/P>>/ClassMap<</c<</O/Layout/TextAlign/`+align+`>>/same<</O/Layout/TextAlign/Start>>>>>>`,
			`<</S/Document/P 6 0 R/K[8 0 R 9 0 R<</S/Big/P 7 0 R/K[]>>]>>`,
			`<</S/Bigger/P 7 0 R/Pg 3 0 R/K 0/C[/c 0/same 0]>>`,
			`<</S/Table/P 7 0 R/K 12 0 R>>`,
			`<</S/TH/P 9 0 R/Pg 3 0 R/K 1/ID(h)/C/c/A<</O/Table/Scope/Row>>>>`,
			`<</S/TD/P 9 0 R/Pg 3 0 R/K 2/ID(only`+name+`)/A[<</O/Table/Headers[(h)]>>0]>>`,
			`<</S/TR/P 9 0 R/K[10 0 R 11 0 R]>>`,
		)
	}
	_, out, err := run(t, e, "merge", nil, tagged("a", "H1", "End"), tagged("b", "P", "Center"), tagged("c", "H1", "Center"))
	if err != nil {
		t.Fatal(err)
	}
	file := pdftest.Write(t, "merged.pdf", out[0])
	text, _ := pdftest.Run(t, "pdfinfo", "-struct-text", file)
	text, _, _ = strings.Cut(text, "Syntax") // it wants one element at the root, and objects
	got := strings.Join(strings.Fields(text), " ")
	want := ""
	for _, x := range [...][4]string{{"H1", "/TextAlign /End", "h", "a"}, {"P", "/TextAlign /Center", "h-2", "b"}, {"H1", "/TextAlign /Center", "h-3", "c"}} {
		want += fmt.Sprintf(` Document %[1]s (block) "%[4]s1" Table (block) TR TH <%[3]s>: /Scope /Row %[2]s "%[4]s2" TD <only%[4]s>: /Headers [(%[3]s)] "%[4]s3"`, x[0], x[1], x[2], x[3])
	}
	if got != strings.TrimSpace(want) {
		t.Errorf("the elements are\n%s\nwant\n%s", got, want)
	}
	text, _ = pdftest.Run(t, "qpdf", "--qdf", "--object-streams=disable", file, "-")
	if strings.Count(text, "/S /Big-2\n") != 1 || strings.Count(text, "/S /Big\n") != 2 {
		t.Errorf("an element that is no object of its own has another type\n%s", text)
	}
	if strings.Count(text, "/c-2") != 3 || strings.Count(text, "/c-3") != 3 || strings.Contains(text, "/same-2") {
		t.Errorf("elements have other classes\n%s", text)
	}
}

// TestMergedFootnotesStayAccessible: PDF/UA-1 wants an ID of its own for each note (ISO 14289-1,
// 7.9), and both files have number one.
func TestMergedFootnotesStayAccessible(t *testing.T) {
	e := engine(t)
	var out bytes.Buffer
	if _, err := e.Build(t.Context(), &out, pdf.RenderOptions{Standards: []standard.ID{standard.PDFUA1}}, func(b *doc.Builder) error {
		b.Title("Notes").Lang("en").Heading(1, "Notes").Spans([]doc.Span{{Text: "see below"}, doc.Footnote(doc.Span{Text: "below"})})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	done, files, err := run(t, e, "merge", nil, out.Bytes(), out.Bytes(), out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(open(t, e, files[0], "").Info().Claims, ", "); got != "pdf/ua-1" {
		t.Errorf("the merged file claims %q\n%s", got, done.Text)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "merged.pdf"), files[0], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, v := range pdftest.VeraPDF(t, map[string]string{"ua1": dir})["ua1"] {
		if !v.Compliant {
			t.Error(v)
		}
	}
}
