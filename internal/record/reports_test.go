package record_test

import (
	"errors"
	"testing"

	"example.com/quire/internal/record"
)

// A report that is not there is told with the nearest name of the same space, never with
// another's.
func TestMissingReport(t *testing.T) {
	all := record.NamedReports{
		"invoice":  {Name: "invoice", Space: record.Local},
		"invoices": {Name: "invoices", Space: "other"},
	}
	for name, nearest := range map[string]string{"invoic": "invoice", "invoicess": "invoice", "other": ""} {
		_, err := all.Report(t.Context(), record.Local, name)
		if m, ok := errors.AsType[*record.MissingError](err); !ok || !errors.Is(err, record.ErrNotFound) || m.Nearest != nearest {
			t.Errorf("%s: %v, want %q as the nearest", name, err, nearest)
		}
	}
}
