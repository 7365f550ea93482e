//go:build judges && !race

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

const unused = "the rule is of all that the file has; veraPDF looks at what content uses"

// otherwise are the files of which veraPDF names another clause than the standard has, or none,
// with the reason.
var otherwise = map[string]struct{ clause, why string }{
	"element without its parent":                         {"", "ISO 32000-2, table 355, requires P; veraPDF takes an absent one for one that is there"},
	"element whose parent is none":                       {"", "the same: a reference to no object is none"},
	"element of part 1 without its parent":               {"", "the same of ISO 32000-1, table 323"},
	"a width after another":                              {"", "ISO 32000 has W give a CID one width; of two veraPDF takes one of them"},
	"object of another generation":                       {"6.6.2.1", "veraPDF takes it for absent, as here the metadata, and does not name the damage"},
	"links to two places outside":                        {"", "ISO 14289-2 is of all links; veraPDF looks at those to structure elements alone"},
	"signature with a picture":                           {"", "the rule is there, but veraPDF does not look at what appearances hold"},
	"output intent of another type in 1B":                {"", "ISO 32000-2, table 401 has Type be OutputIntent where it is there; veraPDF does not ask"},
	"transfer function that nothing is drawn with in 1B": {"", unused},
	"font of a subtype that there is not in 1B":          {"", "ISO 32000-2, table 108 has the subtypes; veraPDF passes over others"},
	"output intent of another type in 2B":                {"", "ISO 32000-2, table 401 has Type be OutputIntent where it is there; veraPDF does not ask"},
	"transfer function that nothing is drawn with in 2B": {"", unused},
	"font of a subtype that there is not in 2B":          {"", "ISO 32000-2, table 108 has the subtypes; veraPDF passes over others"},
	"output intent of another type in 3B":                {"", "ISO 32000-2, table 401 has Type be OutputIntent where it is there; veraPDF does not ask"},
	"transfer function that nothing is drawn with in 3B": {"", unused},
	"font of a subtype that there is not in 3B":          {"", "ISO 32000-2, table 108 has the subtypes; veraPDF passes over others"},
	"output intent of another type in 4":                 {"", "ISO 32000-2, table 401 has Type be OutputIntent where it is there; veraPDF does not ask"},
	"transfer function that nothing is drawn with in 4":  {"", unused},
	"font of a subtype that there is not in 4":           {"6.2.2", "ISO 32000-2, table 108 has the subtypes; veraPDF passes over others"},
	"font without a Supplement in 2B":                    {"", "ISO 32000-2, table 114 requires it; veraPDF takes an absent one for one that is less"},
	"font whose encoding is a string in 2B":              {"", "ISO 32000-2, table 112 has a name; veraPDF takes a string for one"},
	"inks that nothing is drawn in in 2B":                {"", unused},
	"font without a Supplement in 3B":                    {"", "ISO 32000-2, table 114 requires it; veraPDF takes an absent one for one that is less"},
	"font whose encoding is a string in 3B":              {"", "ISO 32000-2, table 112 has a name; veraPDF takes a string for one"},
	"inks that nothing is drawn in in 3B":                {"", unused},
	"font without a Supplement in 4":                     {"", "ISO 32000-2, table 114 requires it; veraPDF takes an absent one for one that is less"},
	"font whose encoding is a string in 4":               {"", "ISO 32000-2, table 112 has a name; veraPDF takes a string for one"},
	"inks that nothing is drawn in in 4":                 {"", unused},
	"an element in two places of part 1":                 {"", "the elements are a tree (ISO 32000-2, 14.7.2), and P names one of the places; veraPDF does not ask"},
	"an element in two places of part 2":                 {"", "the elements are a tree (ISO 32000-2, 14.7.2), and P names one of the places; veraPDF does not ask"},
	"ua2 whose description there is not":                 {"", "an object that there is not is null, and an entry of null none (ISO 32000-2, 7.3.9 and 7.3.10); veraPDF goes by the key"},
	"annotation of a fraction":                           {"", "StructParent is an integer; veraPDF cuts off the fraction"},
	"annotation outside a crop box that is none":         {"", "an array of less than four numbers is no rectangle; veraPDF takes it for an empty one"},
	"private use character of an artifact":               {"8.4.3", "the rule is of real content, which an artifact is not (ISO 32000-2, 14.8.2.2)"},
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
