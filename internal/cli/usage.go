package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"example.com/quire/internal/nearest"
)

// subcommand refuses the arguments of a command that has commands of its own and does nothing
// by itself: what stands there was meant as one of them.
func subcommand(c *cobra.Command, a []string) error {
	if len(a) == 0 {
		return nil
	}
	return unknownCommand(c, a[0])
}

func unknownCommand(c *cobra.Command, got string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(names, sub.Name())
		}
	}
	return usageError{fmt.Errorf("unknown command %q of %s; %s", got, c.CommandPath(), hint(c, got, names, "", "commands"))}
}

// wrongFlag says which flag was meant.
func wrongFlag(c *cobra.Command, err error) error {
	got, _ := strings.CutPrefix(err.Error(), "unknown flag: --")
	var names []string
	for line := range strings.Lines(c.Flags().FlagUsages()) {
		for field := range strings.FieldsSeq(line) {
			if name, ok := strings.CutPrefix(field, "--"); ok {
				names = append(names, name)
				break // what follows is the description
			}
		}
	}
	return usageError{fmt.Errorf("%w; %s", err, hint(c, got, names, "--", "flags"))}
}

// hint names what was meant, or says where all there is stands.
func hint(c *cobra.Command, got string, names []string, prefix, what string) string {
	if near := nearest.Name(got, names); near != "" {
		return fmt.Sprintf("did you mean %q?", prefix+near)
	}
	return fmt.Sprintf("`%s --help` lists the %s", c.CommandPath(), what)
}

func (p *program) help() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Describe a command",
		RunE: func(c *cobra.Command, a []string) error {
			about := c.Root()
			for _, name := range a {
				sub, rest, err := about.Find([]string{name})
				if err != nil || len(rest) > 0 || sub == about {
					return unknownCommand(about, name)
				}
				about = sub
			}
			about.InitDefaultHelpFlag() // as with --help
			return about.Help()
		},
	}
}

// shells are those that completion writes a script for.
func shells() map[string]func(root *cobra.Command, w io.Writer) error {
	return map[string]func(*cobra.Command, io.Writer) error{
		"bash":       func(c *cobra.Command, w io.Writer) error { return c.GenBashCompletionV2(w, true) },
		"zsh":        func(c *cobra.Command, w io.Writer) error { return c.GenZshCompletion(w) },
		"fish":       func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) },
		"powershell": func(c *cobra.Command, w io.Writer) error { return c.GenPowerShellCompletionWithDesc(w) },
	}
}

func (p *program) completion() *cobra.Command {
	names := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for a shell",
		Long:  "Print a script that lets a shell complete commands and flags: " + strings.Join(names, ", ") + ".",
		Example: "  source <(quire completion bash)\n" +
			"  quire completion fish > ~/.config/fish/completions/quire.fish",
		ValidArgs: names,
		Args:      counted(1, 1, "shell"),
		RunE: func(c *cobra.Command, a []string) error {
			write, ok := shells()[a[0]]
			if !ok {
				return usageError{fmt.Errorf("no completion for shell %q; want one of %s", a[0], strings.Join(names, ", "))}
			}
			return write(c.Root(), p.Stdout)
		},
	}
}
