package cli_test

import (
	"strings"
	"testing"
)

// The manual page is roff: what is to be seen as it stands is escaped, examples keep their
// lines, and every command has its own section.
func TestMan(t *testing.T) {
	r := (call{}).run(t.Context(), "man")
	if r.code != 0 || r.err != "" {
		t.Fatalf("exit status %d %s", r.code, r.err)
	}
	for _, want := range []string{
		`.TH "QUIRE" "1" "" "quire test" "Quire"`,
		`quire \- documents of record: collect, freeze, render, serve, prove`,
		".SS \"quire serve\"\n",
		".SS \"quire template check TEMPLATE...\"\n",
		".TP\n.B \"\\-\\-config FILE\"\n",
		".B \"\\-d, \\-\\-data FILE\"\n",
		"loopback HOST:PORT to listen on (default \"127.0.0.1:8080\")\n",
		".nf\n  source <(quire completion bash)\n",
		"  quire completion fish > \\(ti/.config/fish/completions/quire.fish\n.fi\n",
		".SH \"EXIT STATUS\"\n.TP\n.B \"0\"\ndone; verify: identical\n",
		".B \"QUIRE_DATA\"\n",
		".B \"\\&.quire\\-demo/\"\n",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(r.out, "\\-\\-help") || strings.Contains(r.out, "[flags]") {
		t.Error("what every command has is not worth a line")
	}
	if r := (call{}).run(t.Context(), "man", "render"); r.code != 2 {
		t.Errorf("with an argument: exit status %d", r.code)
	}
}
