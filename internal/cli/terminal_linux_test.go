package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"example.com/quire/internal/remotingtest"
)

// terminal opens a pseudo terminal: what is written to the second file is read from the first.
func terminal(t *testing.T) (outer, inner *os.File) {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = outer.Close() })
	if err := unix.IoctlSetPointerInt(int(outer.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(outer.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	inner, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inner.Close() })
	return outer, inner
}

// TestColour: errors are red on a terminal, unless NO_COLOR is set (no-color.org); elsewhere
// nothing is coloured.
func TestColour(t *testing.T) {
	outer, inner := terminal(t)
	read := func() string {
		b := make([]byte, 4096)
		n, err := outer.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	if r := (call{stderr: inner}).run(t.Context(), "rendr"); r.code != 2 {
		t.Fatalf("exit status %d", r.code)
	}
	if got := read(); !strings.HasPrefix(got, "\x1b[31mquire: unknown command") || !strings.Contains(got, "\x1b[0m") {
		t.Errorf("on a terminal: %q", got)
	}
	(call{stderr: inner, env: map[string]string{"NO_COLOR": ""}}).run(t.Context(), "rendr")
	if got := read(); !strings.HasPrefix(got, "quire: unknown command") {
		t.Errorf("with NO_COLOR: %q", got)
	}
	if r := (call{}).run(t.Context(), "rendr"); strings.Contains(r.err, "\x1b") {
		t.Errorf("elsewhere: %q", r.err)
	}
}

// TestNoPDFOnATerminal: it would show nothing and may change the terminal's state.
func TestNoPDFOnATerminal(t *testing.T) {
	_, inner := terminal(t)
	file := filepath.Join(t.TempDir(), "hello.yaml")
	if err := os.WriteFile(file, []byte("quire: 1\nname: hello\ntitle: Hello\nlang: en\nbody: [{text: Hello}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := (call{stdout: inner}).run(t.Context(), "render", file, "-o", "-"); r.code != 2 || !strings.Contains(r.err, "is a terminal") {
		t.Errorf("exit status %d: %s", r.code, r.err)
	}
	if r := (call{}).run(t.Context(), "render", file, "-o", "-"); r.code != 0 || !strings.HasPrefix(r.out, "%PDF-2.0") {
		t.Errorf("elsewhere: exit status %d, %.20q", r.code, r.out)
	}
}

// TestStreamsOnATerminal has a script write to all seven streams, over OpenSSH and in a child
// process: each record shows once and in its place. Progress is one line that changes: it shows
// while the pipeline runs and is gone when the next line comes.
func TestStreamsOnATerminal(t *testing.T) {
	sshd := remotingtest.NewSSHD(t)
	for name, host := range map[string][]string{
		"ssh":           {"-i", sshd.Key, "--known-hosts", sshd.KnownHosts, sshd.User + "@" + sshd.Addr},
		"child process": {"stdio:" + sshd.Command()},
	} {
		t.Run(name, func(t *testing.T) {
			outer, inner := terminal(t)
			if err := unix.IoctlSetWinsize(int(inner.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
				t.Fatal(err)
			}
			r := (call{stderr: inner, stdout: inner}).run(t.Context(), slices.Concat([]string{"ps"}, host, []string{"--", "streams"})...)
			if r.code != 0 {
				t.Fatalf("exit status %d", r.code)
			}
			b := make([]byte, 4096)
			n, err := outer.Read(b)
			for err == nil && !strings.HasSuffix(string(b[:n]), "2\r\n") {
				var more int
				more, err = outer.Read(b[n:])
				n += more
			}
			const want = "1\r\n\x1b[91mERROR: e [Id]\x1b[0m\r\n\x1b[93mWARNING: w\x1b[0m\r\n\x1b[93mVERBOSE: v\x1b[0m\r\n\x1b[93mDEBUG: d\x1b[0m\r\na: s\r\x1b[KINFORMATION: i\r\n2\r\n"
			if got := string(b[:n]); got != want || err != nil {
				t.Errorf("the terminal shows %q, %v, want %q", got, err, want)
			}
			if r := (call{}).run(t.Context(), slices.Concat([]string{"ps"}, host, []string{"--", "types"})...); r.code != 0 {
				t.Errorf("exit status %d of a pipeline that completed: %s", r.code, r.err)
			}
			r = (call{}).run(t.Context(), slices.Concat([]string{"ps"}, host, []string{"--", "fail"})...)
			if r.code != 1 || !strings.Contains(r.err, "as asked [Failure]") {
				t.Errorf("exit status %d, want 1 of a pipeline that failed, with its error: %q", r.code, r.err)
			}
		})
	}
}

// TestTemplatesOfPipesAndLinks: a template can be what a shell gives in place of a file, and a link
// to a file elsewhere. What it names lies in the current folder, or in that of the link.
func TestTemplatesOfPipesAndLinks(t *testing.T) {
	const imports = "quire: 1\nname: n\nlang: en\ntitle: T\nimport: [more.yaml]\nbody: [{use: hello}]\n"
	put(t, map[string]string{
		"elsewhere/linked.yaml": imports,
		"folder/more.yaml":      "quire: 1\ncomponents: {hello: {do: [{text: Hello}]}}\n",
	})
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("folder")
	if err := os.Symlink(filepath.Join(dir, "elsewhere", "linked.yaml"), "link.yaml"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo("fifo.yaml", 0o600); err != nil {
		t.Fatal(err)
	}
	piped := func(text string) string {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		if _, err := w.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("/dev/fd/%d", r.Fd())
	}
	go func() { _ = os.WriteFile("fifo.yaml", []byte(imports), 0o600) }()
	for _, template := range []string{"link.yaml", piped(imports), "fifo.yaml"} {
		if r := (call{}).run(t.Context(), "template", "check", template); r.code != 0 {
			t.Errorf("%s: exit status %d: %s", template, r.code, r.err)
		}
	}
	if r := (call{}).run(t.Context(), "render", piped(imports), "-o", "out.pdf"); r.code != 0 {
		t.Errorf("exit status %d: %s", r.code, r.err)
	}
	if r := (call{}).run(t.Context(), "template", "check", piped(imports+"bdoy: []\n")); r.code != 2 || !strings.HasPrefix(r.err, "quire: /dev/fd/") && !strings.HasPrefix(r.err, "/dev/fd/") {
		t.Errorf("exit status %d: %s", r.code, r.err)
	}
}
