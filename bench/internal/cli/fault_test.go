package cli_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/quire/bench/internal/cli"
	"example.com/quire/bench/internal/gate"
)

// gateCommand runs a gate command on the real repository, with a build overlay
// that plants a fault; the tree itself is not touched.
func gateCommand(t *testing.T, overlay map[string]string, args ...string) (code int, out string) {
	t.Helper()
	args = append(args, "-program=false", "-instructions=false")
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

// plant copies a source file with text put behind the first match of a pattern,
// and returns an overlay that builds the copy in its place. rewrite replaces the
// match.
func plant(t *testing.T, glob, pattern, text, end string) map[string]string {
	t.Helper()
	return rewrite(t, glob, pattern, func(found string) string { return found + text }, end)
}

func rewrite(t *testing.T, glob, pattern string, change func(string) string, end string) map[string]string {
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
		changed := string(b[:at[0]]) + change(string(b[at[0]:at[1]])) + string(b[at[1]:]) + end
		copied := filepath.Join(t.TempDir(), filepath.Base(f))
		if err := os.WriteFile(copied, []byte(changed), 0o600); err != nil { //nolint:gosec // a file of the test's own folder
			t.Fatal(err)
		}
		return map[string]string{f: copied}
	}
	t.Fatalf("no file of %s matches %s: the fault does not apply any more", glob, pattern)
	return nil
}

// recorded is a baseline of the repository as it stands: the tests show what a
// fault does, and leave it to `make bench-gate` whether the committed one is right.
func recorded(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if code, out := gateCommand(t, nil, "gate-update", "-baseline", dir); code != 0 {
		t.Fatalf("record a baseline: exit %d\n%s", code, out)
	}
	if code, out := gateCommand(t, nil, "gate", "-baseline", dir); code != 0 {
		t.Fatalf("without a fault: exit %d\n%s", code, out)
	}
	return dir
}

func TestGateCatchesOneAllocationMore(t *testing.T) {
	overlay := plant(t, "web/*.go", `(?m)^func \(a \*App\) ServeHTTP\(.*\{\n`, "\tplanted = new([16]byte)\n", "\nvar planted *[16]byte\n")
	code, out := gateCommand(t, overlay, "gate", "-only", "web/static", "-baseline", recorded(t))
	if code != 1 || !strings.Contains(out, "FAIL web/static: allocations per operation") || !strings.Contains(out, "(+1)") {
		t.Errorf("one allocation more in App.ServeHTTP: exit %d\n%s", code, out)
	}
}

func TestGateUpdateOfOneKernelLeavesTheOthers(t *testing.T) {
	dir := recorded(t)
	base, err := gate.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	const one, other = "reference/sha256", "web/static"
	want := base.Kernels[one]
	base.Kernels[one], base.Kernels[other] = gate.Counts{Allocs: 77}, gate.Counts{Allocs: 88}
	if err := base.Save(dir); err != nil {
		t.Fatal(err)
	}
	if code, out := gateCommand(t, nil, "gate-update", "-only", one, "-baseline", dir); code != 0 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	got, err := gate.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got.Kernels[one].Allocs, got.Kernels[other].Allocs; a != want.Allocs || b != 88 {
		t.Errorf("%s has %d allocations, want %d; %s has %d, want 88", one, a, want.Allocs, other, b)
	}
}

// changedByte is an overlay in which the comment behind a document's header holds
// one other byte.
func changedByte(t *testing.T) map[string]string {
	t.Helper()
	return rewrite(t, "pdf/cos/writer.go", `"\\n%(\\x[0-9a-fA-F]{2}){4}\\n"`, func(found string) string {
		return found[:len(found)-4] + "4" + found[len(found)-3:]
	}, "")
}

func TestGateCatchesOneChangedByte(t *testing.T) {
	dir := recorded(t)
	code, out := gateCommand(t, changedByte(t), "gate", "-only", "reference", "-baseline", dir)
	if code != 1 || !strings.Contains(out, "FAIL sample invoice: its bytes changed") || !strings.Contains(out, "raise the engine's number") {
		t.Errorf("one other byte under the same engine: exit %d\n%s", code, out)
	}
	if code, out := gateCommand(t, changedByte(t), "gate-update", "-baseline", dir); code != 1 || !strings.Contains(out, "not recorded") {
		t.Errorf("recording it: exit %d\n%s", code, out)
	}
}

func TestGatePassesARaisedEngineOnceRecorded(t *testing.T) {
	overlay := changedByte(t)
	maps.Copy(overlay, rewrite(t, "pdf/*.go", `(?m)^const engineNumber = [0-9]+`, func(found string) string { return found + "1" }, ""))
	dir := recorded(t)
	code, out := gateCommand(t, overlay, "gate", "-baseline", dir)
	if code != 1 || !strings.Contains(out, "its bytes changed with the engine") || strings.Contains(out, "raise") {
		t.Errorf("a raised engine before it is recorded: exit %d\n%s", code, out)
	}
	if code, out = gateCommand(t, overlay, "gate-update", "-baseline", dir); code != 0 || !strings.Contains(out, "sample invoice: its bytes changed with the engine") {
		t.Errorf("recording it: exit %d\n%s", code, out)
	}
	if code, out = gateCommand(t, overlay, "gate", "-baseline", dir); code != 0 {
		t.Errorf("after recording: exit %d\n%s", code, out)
	}
}
