// Package pdftest is the test kit of the document engine: it runs external judges on files (qpdf,
// poppler's tools, veraPDF) and returns their findings as values. Production code never imports
// it.
//
// A judge that is not installed skips the test with the command that installs it; with
// REQUIRE_JUDGES=1 the test fails instead.
package pdftest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The judges and how to install them.
var installs = map[string]string{
	"qpdf":       "apt-get install qpdf",
	"pdftotext":  "apt-get install poppler-utils",
	"pdffonts":   "apt-get install poppler-utils",
	"pdfinfo":    "apt-get install poppler-utils",
	"pdfimages":  "apt-get install poppler-utils",
	"pdftoppm":   "apt-get install poppler-utils",
	"pdftocairo": "apt-get install poppler-utils",
	"pdfsig":     "apt-get install poppler-utils",
	"mutool":     "apt-get install mupdf-tools",
	"openssl":    "apt-get install openssl",
	"pyhanko":    "make tools",
	"pdfium":     "make tools",
	"java":       "apt-get install default-jre-headless",
	"verapdf":    "make tools",
	"pdfminer":   "make tools",
	"zbarimg":    "apt-get install zbar-tools",
	"zxing":      "make tools",
	"node":       "apt-get install nodejs",
	"resvg":      "make tools",
	"tesseract":  "apt-get install tesseract-ocr",
}

// Need skips the test if a judge is missing, or fails it with REQUIRE_JUDGES=1, and returns its
// path.
func Need(tb testing.TB, judge string) string {
	tb.Helper()
	path, err := find(judge)
	if err == nil {
		return path
	}
	if os.Getenv("REQUIRE_JUDGES") == "1" {
		tb.Fatalf("missing judge: %s: %s", judge, installs[judge])
	}
	tb.Skipf("missing judge: %s: %s", judge, installs[judge])
	return ""
}

// veraJar is where `make tools` puts veraPDF, below the repository's root.
const veraJar = ".tools/cli-1.30.2.jar"

// zxingPython is the Python that has zxing-cpp, put there by `make tools` too.
const zxingPython = ".tools/pdf/bin/python"

func find(judge string) (string, error) {
	file := ""
	switch judge {
	case "verapdf":
		if _, err := exec.LookPath("java"); err != nil {
			return "", err
		}
		file = veraJar
	case "zxing":
		file = zxingPython
	case "pyhanko":
		file = ".tools/pyhanko/bin/pyhanko"
	case "pdfminer", "pdfium":
		file = extractorsPython
	case "resvg":
		file = resvgModules
	default:
		return exec.LookPath(judge)
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	file = filepath.Join(root, filepath.FromSlash(file))
	if _, err := os.Stat(file); err != nil {
		return "", err
	}
	return file, nil
}

// Root returns the root of the repository: the nearest folder above with a
// go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("pdftest: find repository: no go.mod above the working directory")
		}
		dir = up
	}
}

// run runs a judge and returns what it printed. The exit status is the caller's
// to judge.
func run(tb testing.TB, judge string, args ...string) (stdout, stderr string, code int) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), Need(tb, judge), args...) //nolint:gosec // G204: a fixed list of judges, with files of the test
	return output(tb, cmd)
}

// Run runs a judge and returns its output and exit status.
func Run(tb testing.TB, judge string, args ...string) (out string, code int) {
	tb.Helper()
	stdout, stderr, code := run(tb, judge, args...)
	return stdout + stderr, code
}

func output(tb testing.TB, cmd *exec.Cmd) (stdout, stderr string, code int) {
	tb.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		tb.Fatalf("run %s: %v", cmd.Path, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Write puts a document into a temporary folder and returns its path.
func Write(tb testing.TB, name string, body []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, body, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// QPDF returns what qpdf finds wrong with the structure of a file, nil when it
// finds nothing. A warning counts.
func QPDF(tb testing.TB, file string) error {
	tb.Helper()
	out, errs, code := run(tb, "qpdf", "--check", file)
	if code != 0 {
		return fmt.Errorf("qpdf --check %s: exit %d: %s%s", filepath.Base(file), code, out, errs)
	}
	return nil
}

// Read returns the bytes of a file.
func Read(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
