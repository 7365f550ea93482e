package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/bench/internal/cli"
)

// gateOn runs the gate of the real repository over some kernels, with a build
// overlay that plants a fault; the tree itself is not touched.
func gateOn(t *testing.T, only string, overlay map[string]string) (code int, out string) {
	t.Helper()
	args := []string{"gate", "-only", only, "-program=false", "-instructions=false"}
	if overlay != nil {
		b, err := json.Marshal(map[string]any{"Replace": overlay})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "overlay.json")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-overlay", file)
	}
	var o, e bytes.Buffer
	a := &cli.App{Out: &o, Err: &e, Dir: "."}
	a.Self.Name, a.Self.Title, a.Self.About, a.Self.NotShown = "self", "s", "a", []string{"x"}
	code = a.Main(t.Context(), args)
	return code, o.String() + e.String()
}

// plant copies a source file with text put behind the only match of a pattern,
// and returns an overlay that builds the copy in its place.
func plant(t *testing.T, glob, pattern, text, end string) map[string]string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, glob))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		at := re.FindIndex(b)
		if at == nil {
			continue
		}
		changed := string(b[:at[1]]) + text + string(b[at[1]:]) + end
		copied := filepath.Join(t.TempDir(), filepath.Base(f))
		if err := os.WriteFile(copied, []byte(changed), 0o600); err != nil { //nolint:gosec // a file of the test's own folder
			t.Fatal(err)
		}
		return map[string]string{f: copied}
	}
	t.Fatalf("no file of %s matches %s: the fault does not apply any more", glob, pattern)
	return nil
}

func TestGateCatchesOneAllocationMore(t *testing.T) {
	if code, out := gateOn(t, "web/static", nil); code != 0 {
		t.Fatalf("without a fault: exit %d\n%s", code, out)
	}
	overlay := plant(t, "web/*.go", `(?m)^func \(a \*App\) ServeHTTP\(.*\{\n`, "\tplanted = new([16]byte)\n", "\nvar planted *[16]byte\n")
	code, out := gateOn(t, "web/static", overlay)
	if code != 1 || !strings.Contains(out, "FAIL web/static: allocations per operation") || !strings.Contains(out, "(+1)") {
		t.Errorf("one allocation more in App.ServeHTTP: exit %d\n%s", code, out)
	}
}
