//go:build judges

package edit_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/standard"
)

// differences are the samples of which our verdict is another than veraPDF's, by flavour and name,
// with the reason.
var differences = map[string]string{}

// mostJudged is the size of the samples that are judged: veraPDF takes minutes over larger ones.
const mostJudged = 40 << 10

// TestCheckAgreesWithVeraPDF: over the samples of other makers and every standard the verdict of
// Check is that of veraPDF, but for the differences that are listed.
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
	for _, key := range slices.Sorted(maps.Keys(differences)) {
		if !seen[key] {
			t.Errorf("%s: no longer a difference", key)
		}
	}
}
