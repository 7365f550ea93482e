//go:build judges && !race

package edit_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// differences are the samples of which our verdict is another than veraPDF's, by flavour and name,
// with the reason.
var differences = map[string]string{}

// clauseDifferences are the clauses that only we name, or only veraPDF does, of samples that both
// find fault with: in how many verdicts, and why.
var clauseDifferences = map[string]struct {
	ours, theirs int
	why          string
}{
	"ISO 14289-2, 6.1":   {ours: 141, why: "PDF/UA-2 is for files of PDF 2.0, of which veraPDF does not ask the version"},
	"ISO 19005-1, 6.3.5": {ours: 4, why: "CIDSet of part 1 tells which CIDs the program has; veraPDF asks for those that are shown"},
}

// clauseOf returns the clause of a rule of veraPDF, such as "ISO 19005-2:2011 6.2.4.3-2", as Check
// names it.
func clauseOf(rule string) string {
	number, at, _ := strings.Cut(strings.TrimPrefix(rule, "ISO "), " ")
	number, _, _ = strings.Cut(number, ":")
	switch {
	case number == "32005": // whose table 5 stands in 6.2
		return "ISO/TS 32005, 6.2"
	case rule == "ISO 19005-4:2020 6.9-5": // which 6.9 refers to
		return "ISO 19005-4, annex A.2"
	}
	at, _, _ = strings.Cut(at, "-")
	return "ISO " + number + ", " + at
}

// mostJudged is the size of the samples that are judged: veraPDF takes minutes over larger ones.
const mostJudged = 40 << 10

// TestCheckAgreesWithVeraPDF: over the samples of other makers and every standard the verdict of
// Check is that of veraPDF, and both name the same clauses, but for the differences that are
// listed.
func TestCheckAgreesWithVeraPDF(t *testing.T) {
	files := slices.DeleteFunc(samples(t), func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || info.Size() > mostJudged
	})
	dir := t.TempDir()
	for i, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.pdf", i)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	folders := map[string]string{}
	for _, flavour := range flavours {
		folders[flavour] = dir
	}
	all := pdftest.VeraPDF(t, folders)
	verdictsRead, same := 0, 0
	ours, theirs := map[string][]string{}, map[string][]string{} // the verdicts of which one alone names a clause
	for id, flavour := range flavours {
		verdicts := all[flavour]
		agree, conform, unread := 0, 0, 0
		for i, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d, err := edit.Open(bytes.NewReader(b), int64(len(b)), edit.Options{})
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			found, err := d.Check(t.Context(), []standard.ID{id})
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			v := verdicts[fmt.Sprintf("%03d.pdf", i)]
			if v.Unread { // which says nothing of our verdict
				unread++
				continue
			}
			verdictsRead++
			named := map[string]bool{}
			for _, rule := range v.Clauses {
				named[clauseOf(rule)] = true
			}
			known, here := map[string]bool{}, flavour+" "+filepath.Base(file)
			for _, f := range found {
				if !named[f.Clause] && !known[f.Clause] {
					ours[f.Clause] = append(ours[f.Clause], here)
				}
				known[f.Clause] = true
			}
			for clause := range named {
				if !known[clause] {
					theirs[clause] = append(theirs[clause], here)
				}
			}
			if maps.Equal(named, known) {
				same++
			}
			if len(found) == 0 {
				conform++
			}
			if v.Compliant == (len(found) == 0) {
				agree++
				continue
			}
			key := flavour + " " + filepath.Base(file)
			if seen[key] = true; differences[key] == "" {
				t.Errorf("%s: veraPDF %t %q, ours %v", key, v.Compliant, v.Clauses, found)
			}
		}
		t.Logf("%s: %d samples, %d conform, %d verdicts agree, %d listed differences, %d that veraPDF does not read", flavour, len(files), conform, agree, len(files)-agree-unread, unread)
	}
	t.Logf("the same clauses in %d of %d verdicts", same, verdictsRead)
	clauses := maps.Clone(ours)
	maps.Copy(clauses, theirs)
	for clause := range clauseDifferences {
		clauses[clause] = nil
	}
	for _, clause := range slices.Sorted(maps.Keys(clauses)) {
		if want := clauseDifferences[clause]; len(ours[clause]) != want.ours || len(theirs[clause]) != want.theirs {
			t.Errorf("%s: named by us alone in %d verdicts, want %d; by veraPDF alone in %d, want %d: %q %q",
				clause, len(ours[clause]), want.ours, len(theirs[clause]), want.theirs, ours[clause], theirs[clause])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(differences)) {
		if !seen[key] {
			t.Errorf("%s: no longer a difference", key)
		}
	}
}
