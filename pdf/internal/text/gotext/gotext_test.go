package gotext_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/text"
	"example.com/quire/pdf/internal/text/gotext"
)

// unicodeTests opens a test file of the Unicode Character Database that the
// module go-text/typesetting brings along.
func unicodeTests(t *testing.T, name string) *os.File {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/go-text/typesetting").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	f, err := os.Open(filepath.Join(strings.TrimSpace(string(out)), "segmenter", "test", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// cases yields the texts of a Unicode test file with the byte offsets of the
// divisions (÷) in and at the end of them.
func cases(t *testing.T, name string, test func(line int, s string, want []int)) {
	t.Helper()
	sc := bufio.NewScanner(unicodeTests(t, name))
	sc.Buffer(nil, 1<<20)
	n := 0
	for line := 1; sc.Scan(); line++ {
		body, _, _ := strings.Cut(sc.Text(), "#")
		var b strings.Builder
		var want []int
		for f := range strings.FieldsSeq(body) {
			switch f {
			case "÷":
				if b.Len() > 0 {
					want = append(want, b.Len())
				}
			case "×":
			default:
				v, err := strconv.ParseUint(f, 16, 32)
				if err != nil {
					t.Fatal(err)
				}
				if v >= 0xD800 && v < 0xE000 {
					b.Reset() // a surrogate has no UTF-8
					want = nil
					continue
				}
				b.WriteRune(rune(v)) //nolint:gosec // G115: a code point
			}
		}
		if b.Len() > 0 {
			n++
			test(line, b.String(), want)
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if n < 500 {
		t.Errorf("only %d cases in %s", n, name)
	}
}

// TestLineBreaks runs the conformance test of UAX #14.
func TestLineBreaks(t *testing.T) {
	seg := &gotext.Segmenter{}
	cases(t, "LineBreakTest.txt", func(line int, s string, want []int) {
		var got []int
		for _, b := range seg.Breaks(nil, s) {
			got = append(got, b.Pos)
		}
		got = append(got, len(s))
		if !equal(got, want) {
			t.Errorf("line %d: %q: got %v, want %v", line, s, got, want)
		}
	})
}

// TestGraphemes runs the conformance test of UAX #29.
func TestGraphemes(t *testing.T) {
	seg := &gotext.Segmenter{}
	cases(t, "GraphemeBreakTest.txt", func(line int, s string, want []int) {
		if got := seg.Graphemes(nil, s); !equal(got, want) {
			t.Errorf("line %d: %q: got %v, want %v", line, s, got, want)
		}
	})
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestWordsWithoutSpaces: breaks between words stand among those of UAX #14, each once.
func TestWordsWithoutSpaces(t *testing.T) {
	got := (&gotext.Segmenter{}).Breaks(nil, "a ภาษาไทย b-c ภาษา")
	want := []int{2, 14, 24, 26, 28}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i].Pos != want[i] || got[i].Mandatory {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestMandatory(t *testing.T) {
	got := (&gotext.Segmenter{}).Breaks(nil, "a b\nc")
	want := []text.Break{{Pos: 2}, {Pos: 4, Mandatory: true}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNothing(t *testing.T) {
	seg := &gotext.Segmenter{}
	if seg.Breaks(nil, "") != nil || seg.Graphemes(nil, "") != nil {
		t.Error("an empty text has boundaries")
	}
	if got := seg.Graphemes(nil, "\xFF"); len(got) != 1 || got[0] != 1 {
		t.Errorf("invalid UTF-8: %v", got)
	}
}
