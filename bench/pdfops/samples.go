package pdfops

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// chosen are the samples of the module pdfcpu that are worked on: one or two of each kind of them,
// sound and with text, which no contestant refuses.
var chosen = []string{
	"annotations/HighlightAnnotation.pdf",
	"basic/UserFont_Arabic.pdf",
	"booklet/BookletFromPDF8Up.pdf",
	"bookmarks/bookmarkTree.pdf",
	"create/flow/readAndUpdatePage.pdf",
	"create/primitives/boxesAndMargin.pdf",
	"fonts/user/UnifontUpperMedium_SSP.pdf",
	"form/demo/croatian.pdf",
	"form/multifill/csv/merge/english.pdf",
	"form/multifill/json/merge/person.pdf",
	"grid/GridFromPDF.pdf",
	"images/imageUpdatedByFileName.pdf",
}

// samples reads the chosen samples.
func samples(ctx context.Context, root string) ([][]byte, error) {
	cmd := exec.CommandContext(ctx, golang.Name, "list", "-m", "-f", "{{.Dir}}", pdfcpuModule) //nolint:gosec // fixed arguments
	cmd.Dir = filepath.Join(root, "bench")
	dir, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("samples: %w", err)
	}
	var out [][]byte
	for _, name := range chosen {
		b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg", "samples", filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("samples: %w", err)
		}
		out = append(out, b)
	}
	return out, nil
}
