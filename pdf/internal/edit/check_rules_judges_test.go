//go:build judges

package edit_test

import (
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
	found, verdicts, agree := checked(t, files), pdftest.VeraPDF(t, "2b", dir), 0
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
