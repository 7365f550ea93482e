package arch_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestPlantedFaultsStandWhereTheyArePlanted holds the lists of the judges against the code: a fault
// whose text is not there once proves nothing, which the judges, being slow, would be late to tell.
func TestPlantedFaultsStandWhereTheyArePlanted(t *testing.T) {
	root := os.DirFS("../..")
	lists, err := fs.Glob(root, "*/testdata/mutants.json")
	if err != nil || len(lists) == 0 {
		t.Fatalf("%d lists, %v", len(lists), err)
	}
	for _, name := range lists {
		b, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		var faults []struct{ Name, File, Old, New string }
		if err := json.Unmarshal(b, &faults); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, f := range faults {
			source, err := fs.ReadFile(root, f.File)
			if err != nil {
				t.Errorf("%s: %q: %v", name, f.Name, err)
				continue
			}
			if n := strings.Count(string(source), f.Old); n != 1 || f.Old == f.New {
				t.Errorf("%s: %q: its text stands %d times in %s, want once: mend the list", name, f.Name, n, f.File)
			}
		}
	}
}
