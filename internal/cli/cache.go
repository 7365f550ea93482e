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
		Short: "Show and empty the caches of a running server",
		Long: "Show and empty the caches of the server that uses the data directory. The caches hold public\n" +
			"documents, and which document is the latest of a report. Only the user of the server may use\n" +
			"these commands.",
		Args: subcommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var out string
	get := &cobra.Command{
		Use:   "get KEY",
		Short: "Show the cached entry of a public document or report",
		Long: "Show the cached entry of a public document or report. KEY is the hash of the document's bytes,\n" +
			"as in its address under /d/, or the name of the report. Nothing is loaded into the cache.\n" +
			"The exit status is 1 if there is no entry.",
		Args: counted(1, 1, "key"),
		RunE: func(c *cobra.Command, a []string) error { return p.cacheGet(c.Context(), a[0], out) },
	}
	get.Flags().StringVarP(&out, "out", "o", "", "write the cached document to `FILE`")
	c.AddCommand(
		&cobra.Command{
			Use:   "stats",
			Short: "Show the size and use of the caches",
			Long: "Show for each cache its hits, misses, entries and bytes, its maximum size, and the bound: how\n" +
				"long ago, at most, a value that it serves may have been replaced.",
			Args: counted(0, 0, ""),
			RunE: func(c *cobra.Command, _ []string) error { return p.cacheStats(c.Context()) },
		}, get,
		&cobra.Command{
			Use:   "purge",
			Short: "Empty the caches",
			Long:  "Empty the caches. No document is lost: the next request reads from the data directory.",
			Args:  counted(0, 0, ""),
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
	document := "not cached"
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
