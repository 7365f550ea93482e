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

// otherwise are the files of which veraPDF names another clause than the standard has, or none,
// with the reason.
var otherwise = map[string]struct{ clause, why string }{
	"element without its parent":           {"", "ISO 32000-2, table 355, requires P; veraPDF takes an absent one for one that is there"},
	"element of part 1 without its parent": {"", "the same of ISO 32000-1, table 323"},
	"a width after another":                {"", "ISO 32000 has W give a CID one width; of two veraPDF takes one of them"},
	"object of another generation":         {"6.6.2.1", "veraPDF takes it for absent, as here the metadata, and does not name the damage"},
	"links to two places outside":          {"", "ISO 14289-2 is of all links; veraPDF looks at those to structure elements alone"},
	"signature with a picture":             {"", "the rule is there, but veraPDF does not look at what appearances hold"},
	"private use character of an artifact": {"8.4.3", "the rule is of real content, which an artifact is not (ISO 32000-2, 14.8.2.2)"},
}

// TestCheckFindsWhatVeraPDFFindsOfFilesSignaturesAndCMaps: of the files of
// TestCheckFindsEachRuleOfFilesThatIsBroken and of those of documents, signatures and CMaps veraPDF
// names the same clauses, but for those that are listed.
func TestCheckFindsWhatVeraPDFFindsOfFilesSignaturesAndCMaps(t *testing.T) {
	all := fileRules(t)
	maps.Copy(all, signatureRules(t))
	maps.Copy(all, cmapRules(t))
	maps.Copy(all, contentRules(t))
	maps.Copy(all, documentRules(t))
	maps.Copy(all, accessRules(t))
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
				_, at, _ := strings.Cut(clauseOf(c), ", ")
				theirs = append(theirs, at)
			}
			want := x.clause
			if other, ok := otherwise[name]; ok {
				want = other.clause
			}
			if v.Unread || !names(theirs, want) {
				t.Errorf("%s, %s, %q: veraPDF %q %q, unread %t", flavour, name, x.clause, v.Clauses, v.Messages, v.Unread)
				continue
			}
			agree++
		}
	}
	t.Logf("check and veraPDF name the same clause for %d of %d files, %d listed differences", agree-len(otherwise), len(all), len(otherwise))
}
