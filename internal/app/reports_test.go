package app_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"example.com/quire/internal/app"
	"example.com/quire/internal/config"
	"example.com/quire/internal/record"
)

// A report that is not there is told with the nearest name of the same space, never with
// another's.
func TestMissingReport(t *testing.T) {
	c := configure(t, func(c *config.Config) {
		c.Reports = map[string]config.Report{"invoice": {Template: "hello"}, "invoices": {Template: "hello", Space: "other"}}
	})
	a, err := app.New(t.Context(), app.Options{Config: c, Templates: fstest.MapFS{
		"hello.yaml": {Data: []byte(helloTemplate)}, "other/hello.yaml": {Data: []byte(helloTemplate)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, a) })
	if r, err := a.Reports.Report(t.Context(), "other", "invoices"); err != nil || r.Name != "invoices" {
		t.Errorf("the other space's own: %+v, %v", r, err)
	}
	for name, nearest := range map[string]string{"invoic": "invoice", "invoicess": "invoice", "other": ""} {
		_, err := a.Reports.Report(t.Context(), record.Local, name)
		if m, ok := errors.AsType[*record.MissingError](err); !ok || !errors.Is(err, record.ErrNotFound) || m.Nearest != nearest {
			t.Errorf("%s: %v, want %q as the nearest", name, err, nearest)
		}
	}
}
