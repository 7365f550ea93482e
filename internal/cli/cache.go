package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"example.com/quire/internal/app"
)

func (p *program) cache() *cobra.Command {
	c := &cobra.Command{
		Use:   "cache",
		Short: "Look into the caches of a running server, and empty them",
		Long: "Look into the caches of the server that runs over the data directory, and empty them. They hold\n" +
			"public documents and which one is a report's latest. Only the server's user may.",
		Args: subcommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var out string
	get := &cobra.Command{
		Use:   "get KEY",
		Short: "Show what is held under a document's content hash or a report's name",
		Long: "Show what is held under the hash of a public document, as in /d/, or the name of a\n" +
			"public report. Nothing is loaded for it. Exit status 1 when nothing is held.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error { return p.cacheGet(c.Context(), a[0], out) },
	}
	get.Flags().StringVarP(&out, "out", "o", "", "write the document that is held to `FILE`")
	c.AddCommand(
		&cobra.Command{
			Use:   "stats",
			Short: "Show what the caches hold and have done",
			Long: "Show hits, misses, entries and bytes of each cache, the bytes it may have, and the bound: how long\n" +
				"ago, at most, what it serves may have been replaced.",
			Args: args(cobra.NoArgs),
			RunE: func(c *cobra.Command, _ []string) error { return p.cacheStats(c.Context()) },
		}, get,
		&cobra.Command{
			Use:   "purge",
			Short: "Empty the caches",
			Long:  "Empty the caches. No document is lost: what is asked for next is read from the data directory.",
			Args:  args(cobra.NoArgs),
			RunE:  func(c *cobra.Command, _ []string) error { return p.cachePurge(c.Context()) },
		},
	)
	return c
}

// control is the way to the server of the configuration.
func (p *program) control() (*app.Control, error) {
	cfg, err := p.load()
	if err != nil {
		return nil, err
	}
	return app.NewControl(cfg.Data), nil
}

func (p *program) cacheStats(ctx context.Context) error {
	server, err := p.control()
	if err != nil {
		return err
	}
	all, err := server.Caches(ctx)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%-18s %10s %10s %8s %12s %12s %8s\n", "cache", "hits", "misses", "entries", "bytes", "of", "bound")
	for _, s := range all {
		bound := "unknown"
		if s.Bound != nil {
			bound = fmt.Sprintf("%.3fs", *s.Bound)
		}
		fmt.Fprintf(&text, "%-18s %10d %10d %8d %12d %12d %8s\n", s.Name, s.Hits, s.Misses, s.Entries, s.Bytes, s.MaxBytes, bound)
	}
	return p.print(all, text.String())
}

func (p *program) cacheGet(ctx context.Context, key, out string) error {
	server, err := p.control()
	if err != nil {
		return err
	}
	e, err := server.Cached(ctx, key)
	if err != nil {
		return fmt.Errorf("cache get %q: %w", key, err)
	}
	if out != "" {
		file, err := server.CachedFile(ctx, key)
		if err != nil {
			return fmt.Errorf("cache get %q: %w", key, err)
		}
		if err := os.WriteFile(out, file, 0o600); err != nil {
			return err
		}
	}
	document := "not held itself"
	if e.Bytes > 0 {
		document = fmt.Sprintf("%s, %d bytes", e.Name, e.Bytes)
	}
	return p.print(e, fmt.Sprintf("%-9s %s\n%-9s %s\n%-9s %s\n", "cache", e.Cache, "content", e.Content, "document", document))
}

func (p *program) cachePurge(ctx context.Context) error {
	server, err := p.control()
	if err != nil {
		return err
	}
	before, err := server.PurgeCaches(ctx)
	if err != nil {
		return err
	}
	purged := struct {
		Entries int64 `json:"entries"`
		Bytes   int64 `json:"bytes"`
	}{}
	for _, s := range before {
		purged.Entries += s.Entries
		purged.Bytes += s.Bytes
	}
	return p.print(purged, fmt.Sprintf("%d entries of %d bytes purged\n", purged.Entries, purged.Bytes))
}
