package cli

import "github.com/spf13/cobra"

func (p *program) ps() *cobra.Command {
	c := &cobra.Command{
		Use:   "ps",
		Short: "PowerShell remoting",
		Args:  subcommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.psServe())
	return c
}
