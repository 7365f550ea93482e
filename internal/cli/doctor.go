package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/quire/internal/app"
	"example.com/quire/internal/config"
	"example.com/quire/internal/record"
)

// finding is what doctor found about one thing.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

func (p *program) doctor() *cobra.Command {
	var deep bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, storage, templates and the engine",
		Long: "Check the configuration, data directory, state, audit log, engine and templates, and whether a\n" +
			"server is running. For each fault the command says what to do. The exit status is 1 if\n" +
			"anything is wrong.",
		Args: counted(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			all := p.examine(c.Context(), deep)
			var text strings.Builder
			for _, f := range all {
				mark := "ok  "
				if !f.OK {
					mark, p.code = "FAIL", 1
				}
				_, _ = fmt.Fprintf(&text, "%s  %-13s  %s\n", mark, f.Check, strings.ReplaceAll(f.Detail, "\n", "\n"+strings.Repeat(" ", 21)))
				if f.Remedy != "" {
					_, _ = fmt.Fprintf(&text, "      %-13s  -> %s\n", "", f.Remedy)
				}
			}
			return p.print(all, text.String())
		},
	}
	c.Flags().BoolVar(&deep, "deep", false, "also read every stored byte of all documents, and name the damaged and missing files")
	return c
}

func (p *program) examine(ctx context.Context, deep bool) []finding {
	var all []finding
	add := func(check string, err error, good, remedy string) bool {
		f := finding{Check: check, OK: err == nil, Detail: good}
		if err != nil {
			f.Detail, f.Remedy = err.Error(), remedy
		}
		all = append(all, f)
		return err == nil
	}
	cfg, err := p.load()
	err = app.Check(ctx, app.Options{Config: cfg}, err)
	where := "defaults; no configuration file"
	if err == nil && cfg.File != "" {
		where = cfg.File
	}
	if !add("configuration", err, where, "correct the file; every key is described in docs/configuration.md") {
		return all
	}
	add("data", writable(cfg.Data), cfg.Data+" can be written", "make the directory writable for this user, or name another one by --data-dir")
	p.examineState(ctx, cfg, deep, add)
	preview, err := app.NewPreview(nil)
	if !add("engine", err, "", "") {
		return all
	}
	all[len(all)-1].Detail = preview.Engine
	n, err := preview.CheckTemplates(ctx, cfg)
	add("templates", err, fmt.Sprintf("%d in %s, all compile", n, cfg.Templates), "run `quire template check` for details")
	return all
}

// examineState reads the documents' state, if there is any yet.
func (p *program) examineState(ctx context.Context, cfg *config.Config, deep bool, add func(string, error, string, string) bool) {
	archive, err := app.OpenArchive(ctx, cfg.Data, false)
	if errors.Is(err, app.ErrNoData) {
		add("state", nil, "no documents yet", "")
		return
	}
	if !add("state", err, "can be read", "restore the data directory from a backup") {
		return
	}
	_, err = archive.Library.List(ctx, record.Local, record.Query{Limit: 1})
	head, auditErr := archive.Library.VerifyAudit(ctx)
	err = errors.Join(err, auditErr)
	lines := "lines"
	if head.Lines == 1 {
		lines = "line"
	}
	add("audit log", err, fmt.Sprintf("%d %s, the hash chain is intact", head.Lines, lines), "something other than Quire changed the state: compare it with a backup")
	if deep {
		n, err := readAll(ctx, archive)
		add("stored bytes", err, fmt.Sprintf("%d documents, all bytes are intact", n), "run `quire verify --all --restore` to restore files")
	}
	if err := archive.Close(); err != nil {
		add("state", err, "", "")
	}
	if url := app.Running(ctx, cfg.Data); url != "" {
		add("server", ready(ctx, url), "ready at "+url, "see the server's log")
	} else {
		add("server", nil, "not running, or not reachable from here", "")
	}
}

// readAll reads every stored byte of all documents. Its error lists what is not whole.
func readAll(ctx context.Context, archive *app.Archive) (documents int, err error) {
	var damaged []error
	for d, err := range archive.Library.All(ctx) {
		if err != nil {
			return documents, err
		}
		documents++
		found, err := archive.Inspect(ctx, d)
		if err != nil {
			return documents, fmt.Errorf("document %s: %w", d.ID, err)
		}
		for _, f := range found {
			damaged = append(damaged, fmt.Errorf("document %s of space %s: %s", d.ID, d.Space, f))
		}
	}
	return documents, errors.Join(damaged...)
}

// ready asks a running server whether it takes requests.
func ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, res.Status)
	}
	return nil
}

// writable makes and removes a file below dir, or below the nearest parent that exists.
func writable(dir string) error {
	for {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	f, err := os.CreateTemp(dir, ".quire-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
