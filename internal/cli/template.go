package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"example.com/quire/internal/app"
	"example.com/quire/internal/record"
	"example.com/quire/pdf/template"
)

func (p *program) template() *cobra.Command {
	c := &cobra.Command{
		Use:   "template",
		Short: "Check templates, and print their JSON Schema",
		Args:  subcommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:   "check TEMPLATE...",
		Short: "Check templates without data",
		Long: "Check templates without data: compile them, lay out what they contain, and report every error\n" +
			"that does not depend on the data, with file, line, column and what was expected. Warnings go to\n" +
			"standard error too. The exit status is 2 if anything is wrong.",
		Example: "  quire template check invoice.yaml\n  quire template check templates/*/template.yaml --json",
		Args:    counted(1, math.MaxInt, "template"),
		RunE: func(c *cobra.Command, a []string) error {
			preview, err := app.NewPreview(nil)
			if err != nil {
				return err
			}
			type checked struct {
				Template string           `json:"template"`
				Name     string           `json:"name"`
				SHA256   string           `json:"sha256"`
				Files    int              `json:"files"`
				Warnings []record.Problem `json:"warnings,omitempty"`
			}
			var all []checked
			var text strings.Builder
			var first error
			for _, file := range a {
				folder := folderOf(file)
				t, err := preview.Load(c.Context(), file)
				var warnings []record.Problem
				if err == nil {
					warnings, err = preview.Check(c.Context(), t)
				}
				folder.problems(warnings, "")
				if err != nil {
					err = folder.errors(err, "")
					if len(a) > 1 {
						p.report(err)
					}
					if first == nil {
						first = err
					}
					continue
				}
				ref := t.Ref()
				all = append(all, checked{Template: file, Name: ref.Name, SHA256: ref.Hash.String(), Files: len(t.Files), Warnings: warnings})
				if !p.json {
					for _, w := range warnings {
						_, _ = fmt.Fprintln(p.Stderr, w)
					}
				}
				_, _ = fmt.Fprintf(&text, "%s: ok, sha256 %s\n", file, ref.Hash)
			}
			if len(all) > 0 {
				if err := p.print(all, text.String()); err != nil {
					return err
				}
			}
			if len(a) > 1 && first != nil {
				p.code = exitCode(first)
				return nil
			}
			return first
		},
	})
	c.AddCommand(&cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of templates, for editors",
		Long: "Print the JSON Schema (draft 2020-12) of the template language. With it, an editor completes\n" +
			"keys and marks unknown ones. All other errors are found by template check.",
		Example: "  quire template schema > template.schema.json",
		Args:    counted(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			schema, err := template.LanguageSchema()
			if err != nil {
				return err
			}
			return p.print(json.RawMessage(schema), string(schema)+"\n")
		},
	})
	return c
}
