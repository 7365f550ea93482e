//go:build !race

package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf"
	"example.com/quire/pdf/pdftest"
	"example.com/quire/pdf/template"
)

var update = flag.Bool("update", false, "draw the pages of the samples anew")

// TestSamplesLookAsTheyDid: each sample makes a document without a warning, which veraPDF finds to
// hold its standards, and whose pages look like those that lie beside it.
func TestSamplesLookAsTheyDid(t *testing.T) {
	top := t
	templates, err := filepath.Glob("samples/*/template.yaml")
	if err != nil || len(templates) < 30 {
		t.Fatalf("%d samples, %v", len(templates), err)
	}
	engine, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	claims := map[string]string{} // a folder of files for each flavour of veraPDF
	for _, name := range templates {
		dir := filepath.Dir(name)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, "data.json"))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := engine.Compile(t.Context(), pdf.Source{File: name, Text: source, Files: os.DirFS(dir)})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			at := time.Date(2026, time.January, 31, 18, 30, 0, 0, time.UTC)
			res, err := engine.Render(t.Context(), &out, plan, template.NamedJSON("data.json", data), pdf.RenderOptions{Time: at})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Standards) != 2 || len(res.Warnings) > 0 {
				t.Errorf("claims %v, warnings %v", res.Standards, res.Warnings)
			}
			file := pdftest.Write(t, "f.pdf", out.Bytes())
			if err := pdftest.QPDF(t, file); err != nil {
				t.Error(err)
			}
			pdftest.Golden(t, file, dir, *update)
			for _, id := range res.Standards {
				flavour := strings.NewReplacer("pdf/a-", "", "pdf/ua-", "ua").Replace(id.String())
				if claims[flavour] == "" {
					claims[flavour] = top.TempDir()
				}
				if err := os.WriteFile(filepath.Join(claims[flavour], filepath.Base(dir)+".pdf"), out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	t.Run("veraPDF", func(t *testing.T) {
		for flavour, verdicts := range pdftest.VeraPDF(t, claims) {
			for file, v := range verdicts {
				if !v.Compliant {
					t.Errorf("%s %s: %v", flavour, file, v)
				}
			}
		}
	})
}
