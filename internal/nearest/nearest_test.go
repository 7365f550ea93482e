package nearest_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/quire/internal/nearest"
)

func TestName(t *testing.T) {
	known := []string{"price-list", "contract-note", "invoice", "qty", "heading", "table", "text", "image", "box", "größe"}
	for got, want := range map[string]string{
		"contract-not": "contract-note", "contarct-note": "contract-note", "invoise": "invoice", "qtty": "qty", "qt": "qty",
		"haeding": "heading", "tabel": "table", "Text": "text", "TXET": "text", "imgae": "image", "bx": "box", "große": "größe", "grße": "größe",
		"price": "", "x": "", "": "", "zzz": "", "completely-other": "", "headingheading": "", "invoice": "invoice",
		strings.Repeat("invoice", 100): "",
	} {
		if is := nearest.Name(got, known); is != want {
			t.Errorf("%q: %q, want %q", got, is, want)
		}
	}
}

// TestOrderDoesNotDecide: of several that are equally near, the first of the
// alphabet is named, so that maps may be asked.
func TestOrderDoesNotDecide(t *testing.T) {
	for _, known := range [][]string{{"host-a", "host-b", "host-c"}, {"host-c", "host-b", "host-a"}, {"host-b", "", "host-a"}} {
		if got := nearest.Name("host-x", known); got != "host-a" {
			t.Errorf("of %q: %q", known, got)
		}
	}
	if got := nearest.Name("text", []string{"next", "test"}); got != "test" {
		t.Errorf("a name with the same first letter is nearer than one earlier in the alphabet: %q", got)
	}
	if got := nearest.Name("Text", []string{"next", "tent"}); got != "tent" {
		t.Errorf("of either case: %q", got)
	}
	if got := nearest.Name("NAME", []string{"NAMF", "name"}); got != "name" {
		t.Errorf("a name that differs in case only is nearer than another letter: %q", got)
	}
}

// TestIsSymmetricInCase: letters of either case are the same, in names that are
// known too.
func TestIsSymmetricInCase(t *testing.T) {
	if got := nearest.Name("conetnt", []string{"Content"}); got != "Content" {
		t.Errorf("%q", got)
	}
}

func FuzzName(f *testing.F) {
	f.Add("qtty", "qty", "price")
	f.Add("", "", "x")
	f.Fuzz(func(t *testing.T, got, a, b string) {
		one, other := nearest.Name(got, []string{a, b}), nearest.Name(got, []string{b, a})
		if one != other {
			t.Fatalf("%q of %q, %q: %q, in the other order %q", got, a, b, one, other)
		}
		if one != "" && !slices.Contains([]string{a, b}, one) {
			t.Fatalf("%q is none of %q, %q", one, a, b)
		}
	})
}
