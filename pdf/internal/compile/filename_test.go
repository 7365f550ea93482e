package compile

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFileNamesAreSafeOnEverySystem(t *testing.T) {
	for in, want := range map[string]string{
		"Auszug-12-2026-01-31.pdf": "Auszug-12-2026-01-31.pdf",
		"Auszug 12":                "Auszug 12.pdf",
		"a/b\\c:d*e?f\"g<h>i|j":    "a-b-c-d-e-f-g-h-i-j.pdf",
		"../../etc/hosts":          "-..-etc-hosts.pdf",
		"a\x00b\nc\u202egpj.exe":   "ab cgpj.exe.pdf",
		" . x . ":                  "x.pdf",
		"NOTE.PDF":                 "NOTE.pdf",
		"Bill  of\t7":              "Bill of 7.pdf",
		"con":                      "_con.pdf",
		"Com1.x.pdf":               "_Com1.x.pdf",
		"COM10":                    "COM10.pdf",
		"...":                      "",
		"":                         "",
		".pdf":                     "",
	} {
		if got := fileName(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	long := fileName(strings.Repeat("é", 300))
	if len(long) > maxFileName || !utf8.ValidString(long) || !strings.HasSuffix(long, "é.pdf") {
		t.Errorf("a long name has %d bytes: %q", len(long), long)
	}
}

func TestNamesOfAttachedFilesKeepTheirEnding(t *testing.T) {
	for in, want := range map[string]string{
		"orders.csv": "orders.csv", "../../a.xml": "-..-a.xml", "a/b.tar.gz": "a-b.tar.gz", "con.txt": "_con.txt", "README": "README",
		" x .pdf ": "x.pdf", "...": "", ".csv": "csv", strings.Repeat("n", 300) + ".csv": strings.Repeat("n", 196) + ".csv",
	} {
		if got := safeName(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
