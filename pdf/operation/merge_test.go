package operation_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/pdf/pdftest"
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
