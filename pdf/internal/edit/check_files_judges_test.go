//go:build judges

package edit_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// flavours are the names of the standards by which veraPDF knows them.
var flavours = map[standard.ID]string{
	standard.PDFA1b: "1b", standard.PDFA1a: "1a", standard.PDFA2b: "2b", standard.PDFA2u: "2u", standard.PDFA2a: "2a",
	standard.PDFA3b: "3b", standard.PDFA3u: "3u", standard.PDFA3a: "3a", standard.PDFA4: "4", standard.PDFA4f: "4f", standard.PDFA4e: "4e",
	standard.PDFUA1: "ua1", standard.PDFUA2: "ua2",
}

// TestCheckFindsWhatVeraPDFFindsOfFilesSignaturesAndCMaps: of the files of
// TestCheckFindsEachRuleOfFilesThatIsBroken and of those of signatures and of CMaps veraPDF names
// the same clauses.
func TestCheckFindsWhatVeraPDFFindsOfFilesSignaturesAndCMaps(t *testing.T) {
	all := fileRules(t)
	maps.Copy(all, signatureRules(t))
	maps.Copy(all, cmapRules(t))
	maps.Copy(all, contentRules(t))
	agree := 0
	for id, flavour := range flavours {
		dir, of := t.TempDir(), map[string]judged{}
		for name, x := range all {
			if x.id == id {
				of[name] = x
				if err := os.WriteFile(filepath.Join(dir, name+".pdf"), x.file, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(of) == 0 {
			continue
		}
		verdicts := pdftest.VeraPDF(t, map[string]string{flavour: dir})[flavour]
		for name, x := range of {
			v := verdicts[name+".pdf"]
			var theirs []string
			for _, c := range v.Clauses {
				theirs = append(theirs, c[strings.LastIndexByte(c, ' ')+1:])
			}
			want := x.clause
			if want == "annex A.2" { // which veraPDF calls by what refers to it
				want = "6.9"
			}
			if v.Unread || !names(theirs, want) {
				t.Errorf("%s, %s, %q: veraPDF %q %q, unread %t", flavour, name, x.clause, v.Clauses, v.Messages, v.Unread)
				continue
			}
			agree++
		}
	}
	t.Logf("check and veraPDF name the same clause for %d of %d files", agree, len(all))
}
