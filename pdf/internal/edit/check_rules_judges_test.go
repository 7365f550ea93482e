//go:build judges && !race

package edit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/pdf/pdftest"
)

// TestCheckFindsWhatVeraPDFFinds: of the files of TestCheckFindsEachRuleThatIsBroken veraPDF names
// the same clauses.
func TestCheckFindsWhatVeraPDFFinds(t *testing.T) {
	dir := t.TempDir()
	all, files := rules(t), map[string][]byte{}
	for name, x := range all {
		files[name] = x.is.bytes(t)
		if err := os.WriteFile(filepath.Join(dir, name+".pdf"), files[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, verdicts, agree := checked(t, files), pdftest.VeraPDF(t, map[string]string{"2b": dir})["2b"], 0
	for name, x := range all {
		v := verdicts[name+".pdf"]
		var theirs []string
		for _, c := range v.Clauses {
			theirs = append(theirs, c[strings.LastIndexByte(c, ' ')+1:])
		}
		if v.Unread || !names(theirs, x.clause) || !names(found[name], x.clause) {
			t.Errorf("%s, %s: ours %q, veraPDF %q, unread %t", name, x.clause, found[name], theirs, v.Unread)
			continue
		}
		agree++
	}
	t.Logf("check and veraPDF name the same clause for %d of %d files", agree, len(all))
}

// TestCheckFindsWhatVeraPDFFindsOfTags: of the files of TestCheckFindsEachRuleOfTagsThatIsBroken
// veraPDF names the same clauses.
func TestCheckFindsWhatVeraPDFFindsOfTags(t *testing.T) {
	agree, of := 0, 0
	for part, flavour := range map[int]string{1: "ua1", 2: "ua2"} {
		dir, all := t.TempDir(), tagRules(part)
		for name, x := range all {
			if err := os.WriteFile(filepath.Join(dir, name+".pdf"), x.is.bytes(t), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		verdicts := pdftest.VeraPDF(t, map[string]string{flavour: dir})[flavour]
		for name, x := range all {
			v := verdicts[name+".pdf"]
			var theirs []string
			for _, c := range v.Clauses {
				theirs = append(theirs, strings.TrimPrefix(clauseOf(c), fmt.Sprintf("ISO 14289-%d, ", part)))
			}
			if of++; v.Unread || !names(theirs, x.clause) {
				t.Errorf("%s, %s, %q: veraPDF %q %q, unread %t", flavour, name, x.clause, v.Clauses, v.Messages, v.Unread)
				continue
			}
			agree++
		}
	}
	t.Logf("check and veraPDF name the same clause of tags for %d of %d files", agree, of)
}
