package main

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/internal/remotingtest"
	"example.com/quire/psrp"
	"example.com/quire/psrp/psrptest"
)

// TestPSRunsCommandsOverWSMan has the program run a command by HTTPS with Basic, and refuse what
// would send the password readable.
func TestPSRunsCommandsOverWSMan(t *testing.T) {
	w := remotingtest.NewWSMan(t, psrptest.Dialer(t, &psrp.Server{Registry: remotingtest.Commands()}, psrp.Identity{}))
	w.User, w.Password = "ops", "correct horse"
	s := httptest.NewTLSServer(w)
	t.Cleanup(s.Close)
	dir := t.TempDir()
	ca, secret := filepath.Join(dir, "ca"), filepath.Join(dir, "secret")
	for file, content := range map[string][]byte{
		ca: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), secret: []byte("correct horse\n"),
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := quireProgram(t)
	for _, tt := range []struct {
		name, args string
		code       int
		want       string
	}{
		{"runs", s.URL + " --user ops --basic --ca " + ca + " --password-file " + secret + " --command -- Get-Args text", 0, "text|1|false|"},
		{"unknown authority", s.URL + " --user ops --basic --password-file " + secret + " --command -- Get-Args text", 3, "certificate"},
		{"wrong user", s.URL + " --user other --basic --ca " + ca + " --password-file " + secret + " --command -- Get-Args text", 3, "does not accept the credentials"},
		{"Basic over HTTP", "http://127.0.0.1:1 --user ops --basic --password-file " + secret + " --command -- Get-Args text", 3, "in the clear"},
		{"nobody", s.URL + " --command -- Get-Args text", 2, "--user"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), program, append([]string{"ps"}, strings.Fields(tt.args)...)...) //nolint:gosec // G204: the test itself
			// The exit code says how it ended.
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != tt.code || !strings.Contains(string(out), tt.want) || strings.Contains(string(out), "correct horse") {
				t.Errorf("exit code %d, want %d: %s", code, tt.code, out)
			}
		})
	}
}
