package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"example.com/quire/internal/app"
)

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the program, the engine and Go",
		Args:  counted(0, 0, ""),
		RunE:  func(*cobra.Command, []string) error { return p.printVersion() },
	}
}

func (p *program) printVersion() error {
	preview, err := app.NewPreview(nil)
	if err != nil {
		return err
	}
	v := struct {
		Version  string `json:"version"`
		Engine   string `json:"engine"`
		Go       string `json:"go"`
		Platform string `json:"platform"`
	}{p.Version, preview.Engine, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	return p.print(v, fmt.Sprintf("quire %s\nengine %s\n%s %s\n", v.Version, v.Engine, v.Go, v.Platform))
}
