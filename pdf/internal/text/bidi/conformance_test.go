//go:build !race

package bidi_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf/internal/text/bidi"
)

// unicodeTests opens a test file of the Unicode Character Database that the module
// go-text/typesetting brings along.
func unicodeTests(t *testing.T, name string) *bufio.Scanner {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/go-text/typesetting").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	f, err := os.Open(filepath.Join(strings.TrimSpace(string(out)), "bidi", "test", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	return sc
}

// wanted reads levels of a test file, -1 for the x of a character without one.
func wanted(t *testing.T, fields []string) []int {
	t.Helper()
	var out []int
	for _, f := range fields {
		n := -1
		if f != "x" {
			var err error
			if n, err = strconv.Atoi(f); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, n)
	}
	return out
}

// compare holds levels and order of s against those of a test file.
func compare(p *bidi.Paragraph, s string, base bidi.Base, levels, order []int) error {
	at, got := 0, p.Levels(s, base)
	var kept []bidi.Level
	var index []int
	for i, r := range []rune(s) {
		if levels[i] >= 0 {
			if int(got[at]) != levels[i] {
				return fmt.Errorf("%+q at base %d: levels %v, want %v", s, base, got, levels)
			}
			kept, index = append(kept, got[at]), append(index, i)
		}
		at += len(string(r))
	}
	visual := bidi.Order(nil, kept)
	for i := range visual {
		visual[i] = index[visual[i]]
	}
	if !slices.Equal(visual, order) {
		return fmt.Errorf("%+q at base %d: order %v, want %v", s, base, visual, order)
	}
	return nil
}

// TestBidiCharacters runs BidiCharacterTest.txt, the conformance test of UAX #9 by characters.
func TestBidiCharacters(t *testing.T) {
	t.Parallel()
	sc := unicodeTests(t, "BidiCharacterTest.txt")
	var p bidi.Paragraph
	n := 0
	for line := 1; sc.Scan(); line++ {
		f := strings.Split(sc.Text(), ";")
		if len(f) != 5 || strings.HasPrefix(f[0], "#") {
			continue
		}
		var s strings.Builder
		for code := range strings.FieldsSeq(f[0]) {
			v, err := strconv.ParseUint(code, 16, 21)
			if err != nil {
				t.Fatal(err)
			}
			s.WriteRune(rune(v))
		}
		base := map[string]bidi.Base{"0": bidi.LeftToRight, "1": bidi.RightToLeft, "2": bidi.Auto}[f[1]]
		if err := compare(&p, s.String(), base, wanted(t, strings.Fields(f[3])), wanted(t, strings.Fields(f[4]))); err != nil {
			t.Fatalf("line %d: %v", line, err)
		}
		n++
	}
	if n < 90_000 {
		t.Errorf("only %d cases", n)
	}
}

// TestBidiClasses runs BidiTest.txt, which has all sequences of up to four classes.
func TestBidiClasses(t *testing.T) {
	t.Parallel()
	// A character of each class.
	of := map[string]string{
		"L": "a", "R": "\u05D0", "AL": "\u0627", "EN": "1", "AN": "\u0661", "ES": "+", "ET": "$", "CS": ",", "NSM": "\u0300",
		"BN": "\u00AD", "B": "\u2029", "S": "\t", "WS": " ", "ON": "!", "LRE": "\u202A", "RLE": "\u202B", "LRO": "\u202D",
		"RLO": "\u202E", "PDF": "\u202C", "LRI": "\u2066", "RLI": "\u2067", "FSI": "\u2068", "PDI": "\u2069",
	}
	sc := unicodeTests(t, "BidiTest.txt")
	var p bidi.Paragraph
	var levels, order []int
	n := 0
	for line := 1; sc.Scan(); line++ {
		text, _, _ := strings.Cut(sc.Text(), "#")
		if rest, ok := strings.CutPrefix(text, "@Levels:"); ok {
			levels = wanted(t, strings.Fields(rest))
			continue
		}
		if rest, ok := strings.CutPrefix(text, "@Reorder:"); ok {
			order = wanted(t, strings.Fields(rest))
			continue
		}
		classes, set, ok := strings.Cut(text, ";")
		if !ok {
			continue
		}
		bits, err := strconv.Atoi(strings.TrimSpace(set))
		if err != nil {
			t.Fatal(err)
		}
		var s strings.Builder
		for c := range strings.FieldsSeq(classes) {
			s.WriteString(of[c])
		}
		for bit, base := range []bidi.Base{bidi.Auto, bidi.LeftToRight, bidi.RightToLeft} {
			if bits&(1<<bit) != 0 {
				if err := compare(&p, s.String(), base, levels, order); err != nil {
					t.Fatalf("line %d: %v", line, err)
				}
				n++
			}
		}
	}
	if n < 700_000 {
		t.Errorf("only %d cases", n)
	}
}
