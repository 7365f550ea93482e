package store

import (
	"errors"
	"path/filepath"
	"testing"

	"example.com/quire/internal/record"
)

func TestFilesThatCannotBeUsedAreUnavailable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "quire.db")
	if err := makeFile(file); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, file, mode string }{
		{"read-only", file, "ro"},
		{"no directory", filepath.Join(file+"-none", "quire.db"), "rwc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, err := connect(tt.file, tt.mode)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() }) // nothing was written
			_, err = db.ExecContext(t.Context(), "CREATE TABLE one (a TEXT)")
			if err := known(err); !errors.Is(err, record.ErrUnavailable) {
				t.Errorf("%v", err)
			}
		})
	}
}
