package cli

import (
	"cmp"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func (p *program) man() *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the manual page",
		Long:  "Print the manual page quire(1): every command, flag, exit status, file and variable.",
		Example: "  quire man | man -l -\n" +
			"  quire man > /usr/local/share/man/man1/quire.1",
		Args: counted(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			m := &manual{}
			m.write(c.Root(), p.Version)
			_, err := io.WriteString(p.Stdout, m.String())
			return err
		},
	}
}

// entry is a term of the manual with what it means.
type entry struct{ term, meaning string }

func exitStatuses() []entry {
	return []entry{
		{"0", "done; verify: identical"},
		{"1", "it failed; verify: the file differs; doctor: something is wrong"},
		{"2", "the request was wrong: usage, configuration, template or data, a file that does not exist; verify: nothing was compared, whatever the reason"},
		{"3", "verify: intact, made by another engine; ps: the host could not be reached or refused access"},
		{"4", "verify: the document is not known here"},
	}
}

func files() []entry {
	return []entry{
		{"quire.yaml", "the configuration, if it exists"},
		{"quire-data/", "the data directory: state.db with the documents, receipts and the audit log; blobs/ with the files, named by their SHA-256; lock; and address while a server runs"},
		{"templates/", "the templates: NAME/template.yaml or NAME.yaml"},
		{demoDir + "/", "the data directory of the demo"},
	}
}

func environment() []entry {
	return []entry{
		{"QUIRE_CONFIG", "the configuration file; --config overrides it"},
		{"QUIRE_DATA", "the data directory; --data-dir overrides it"},
		{"QUIRE_LISTEN", "the address to listen on, HOST:PORT"},
		{"QUIRE_TEMPLATES", "the directory of the templates"},
		{"QUIRE_PUBLIC_URL", "the address by which clients reach the server"},
		{"QUIRE_LOG_FORMAT", "log format: text or json"},
		{"QUIRE_LOG_LEVEL", "log level: debug, info, warn or error"},
		{"NO_COLOR", "if set, no colours on a terminal"},
	}
}

// manual writes a page with the macros of man(7).
type manual struct{ strings.Builder }

// roff escapes a line: a backslash and a minus are to appear as they are, and a line that begins
// with a dot or an apostrophe is text.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "'", `\(aq`, "§", `\(sc`).Replace(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}

// macro writes a request with arguments, each of which may hold spaces and quotes.
func (m *manual) macro(name string, arguments ...string) {
	m.WriteString("." + name)
	for _, a := range arguments {
		m.WriteString(` "` + strings.ReplaceAll(roff(a), `"`, `\(dq`) + `"`)
	}
	m.WriteByte('\n')
}

// text writes paragraphs. One whose first line is indented keeps its lines.
func (m *manual) text(s string) {
	for i, paragraph := range strings.Split(strings.Trim(s, "\n"), "\n\n") {
		if i > 0 {
			m.macro("PP")
		}
		lines := strings.Split(paragraph, "\n")
		as := strings.HasPrefix(lines[0], "  ")
		if as {
			m.macro("nf")
		}
		for _, line := range lines {
			m.WriteString(roff(line) + "\n")
		}
		if as {
			m.macro("fi")
		}
	}
}

func (m *manual) entries(title string, all []entry) {
	m.macro("SH", title)
	for _, e := range all {
		m.macro("TP")
		m.macro("B", e.term)
		m.text(e.meaning)
	}
}

// flags writes flags as cobra lists them: one a line, the flag and, after two spaces or more, what
// it means.
func (m *manual) flags(usages string) {
	for line := range strings.Lines(usages) {
		flag, meaning, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if flag == "-h, --help" { // every command has it; cobra adds it to the one that runs
			continue
		}
		m.macro("TP")
		m.macro("B", flag)
		m.text(strings.TrimSpace(meaning))
	}
}

// command writes a command with those below it. A command that does nothing by itself, and so takes
// no arguments, is its children.
func (m *manual) command(c *cobra.Command) {
	if !c.HasSubCommands() || strings.Contains(c.Use, " ") {
		m.macro("SS", strings.Replace(c.UseLine(), " [flags]", "", 1))
		about := cmp.Or(c.Long, c.Short+".")
		m.text(about)
		if c.Example != "" {
			m.macro("PP")
			m.text(c.Example)
		}
		m.flags(c.LocalNonPersistentFlags().FlagUsages())
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			m.command(sub)
		}
	}
}

func (m *manual) write(root *cobra.Command, version string) {
	m.macro("TH", "QUIRE", "1", "", "quire "+version, "Quire")
	m.macro("SH", "NAME")
	m.text("quire - " + strings.ToLower(root.Short[:1]) + root.Short[1:])
	m.macro("SH", "SYNOPSIS")
	m.text("quire COMMAND [ARGUMENTS] [FLAGS]")
	m.macro("SH", "DESCRIPTION")
	about, _, _ := strings.Cut(root.Long, "\n\nExit status")
	m.text(about)
	m.macro("SH", "OPTIONS")
	m.flags(root.LocalFlags().FlagUsages())
	m.macro("SH", "COMMANDS")
	for _, c := range root.Commands() {
		if !c.Hidden {
			m.command(c)
		}
	}
	m.entries("EXIT STATUS", exitStatuses())
	m.entries("ENVIRONMENT", environment())
	m.entries("FILES", files())
}
