// Command hyphenation packs the hyphenation patterns of hyph-utf8 into the files that
// pdf/internal/text/hyph embeds, and copies the licence in the head of each pattern file beside
// them. A file that is under the LPPL or the GPL alone is refused.
//
//	go run ./hyphenation -from DIR/hyph-utf8/patterns -to ../pdf/internal/text/hyph/data
//
// On Debian the patterns are in texlive-lang-english, -german, -french, -spanish, -italian,
// -portuguese, -polish and -european.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// languages are the files taken: the tag of our file and that of theirs.
var languages = [][2]string{
	{"da", "da"},
	{"de", "de-1996"},
	{"en-gb", "en-gb"},
	{"en-us", "en-us"},
	{"es", "es"},
	{"et", "et"},
	{"eu", "eu"},
	{"fi", "fi"},
	{"fr", "fr"},
	{"hr", "hr"},
	{"it", "it"},
	{"nb", "nb"},
	{"oc", "oc"},
	{"pl", "pl"},
	{"pt", "pt"},
	{"rm", "rm"},
	{"sl", "sl"},
}

func main() {
	from := flag.String("from", "", "`folder` of the patterns, with tex and txt below it")
	to := flag.String("to", "", "`folder` written to")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "hyphenation:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	var licences strings.Builder
	licences.WriteString("The hyphenation patterns in this folder are made of files of hyph-utf8 (hyphenation.org/tex).\nThe heads of those files follow.\n")
	for _, l := range languages {
		head, lines, err := read(from, l[1])
		if err != nil {
			return err
		}
		left, right, err := minima(head)
		if err != nil {
			return fmt.Errorf("%s: %w", l[1], err)
		}
		packed, err := pack(lines, left, right)
		if err != nil {
			return fmt.Errorf("%s: %w", l[1], err)
		}
		if err := os.WriteFile(filepath.Join(to, l[0]+".hyp"), packed, 0o644); err != nil { //nolint:gosec // G306: a file of the repository
			return err //nolint:wrapcheck // it names the file
		}
		fmt.Printf("%-6s %6d patterns %7d bytes\n", l[0], len(lines), len(packed))
		fmt.Fprintf(&licences, "\n==== %s: hyph-%s.tex\n\n%s", l[0]+".hyp", l[1], head)
	}
	return os.WriteFile(filepath.Join(to, "LICENSES.txt"), []byte(licences.String()), 0o644) //nolint:gosec,wrapcheck // as above
}

var permissive = regexp.MustCompile(`(?i)Permission is hereby granted|BSD 3-clause|may be freely distributed|` +
	`[Cc]opying and distribution of this file, with or without modification,|opensource.org/licenses/MIT`)

// read returns the comment at the head of a file and its patterns, exceptions among them.
func read(from, tag string) (head string, patterns []string, err error) {
	tex, err := os.ReadFile(filepath.Join(from, "tex", "hyph-"+tag+".tex"))
	if err != nil {
		return "", nil, err //nolint:wrapcheck // it names the file
	}
	for line := range strings.Lines(string(tex)) {
		if !strings.HasPrefix(line, "%") {
			break
		}
		head += strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(line, "%"), " "), " \r\n") + "\n"
	}
	if !permissive.MatchString(strings.Join(strings.Fields(head), " ")) {
		return "", nil, fmt.Errorf("%s: no permissive licence in its head", tag)
	}
	txt, err := os.ReadFile(filepath.Join(from, "txt", "hyph-"+tag+".pat.txt"))
	if err != nil {
		return "", nil, err //nolint:wrapcheck // it names the file
	}
	patterns = strings.Fields(string(txt))
	// An exception is a pattern of the whole word that outweighs all others.
	if txt, err = os.ReadFile(filepath.Join(from, "txt", "hyph-"+tag+".hyp.txt")); err == nil {
		for word := range strings.FieldsSeq(string(txt)) {
			patterns = append(patterns, exception(word))
		}
	}
	return head, patterns, nil
}

func exception(word string) string {
	var b strings.Builder
	b.WriteByte('.')
	level := 'e' // of a place without a hyphen: even
	for i, r := range word {
		if r == '-' {
			level = 'f'
			continue
		}
		if i > 0 {
			b.WriteRune(level)
			b.WriteByte(0) // the mark that tells a level from a letter
		}
		b.WriteRune(r)
		level = 'e'
	}
	b.WriteByte('.')
	return b.String()
}

var (
	reLeft  = regexp.MustCompile(`(?s)typesetting:\s+left:\s*(\d+)`)
	reRight = regexp.MustCompile(`(?s)typesetting:\s+left:\s*\d+\s+right:\s*(\d+)`)
)

// minima are the fewest letters before and behind a hyphen. Fewer than two and three are never
// set, whatever the patterns allow.
func minima(head string) (left, right int, err error) {
	l, r := reLeft.FindStringSubmatch(head), reRight.FindStringSubmatch(head)
	if l == nil || r == nil {
		return 2, 3, nil
	}
	if left, err = strconv.Atoi(l[1]); err != nil {
		return 0, 0, err //nolint:wrapcheck // digits
	}
	if right, err = strconv.Atoi(r[1]); err != nil {
		return 0, 0, err //nolint:wrapcheck // digits
	}
	return max(left, 2), max(right, 3), nil
}

// node is one of the trie.
type node struct {
	next  map[rune]*node
	value string // of pairs: letters before the place, level
}

// parse splits a pattern into its letters and levels.
func parse(p string) (letters []rune, value string) {
	runes := []rune(p)
	var levels []byte
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case i+1 < len(runes) && runes[i+1] == 0:
			levels = append(levels, low(len(letters)), low(int(r-'e'))+10)
			i++
		case r >= '0' && r <= '9':
			levels = append(levels, low(len(letters)), low(int(r-'0')))
		default:
			letters = append(letters, unicode.ToLower(r))
		}
	}
	return letters, string(levels)
}

// pack writes a file: "HYP1", the minima, the alphabet, the values, and a trie whose equal tails
// are one.
func pack(patterns []string, left, right int) ([]byte, error) {
	root := &node{next: map[rune]*node{}}
	alphabet := map[rune]byte{'.': 0}
	var runes []rune
	for _, p := range patterns {
		letters, value := parse(p)
		at := root
		for _, r := range letters {
			if r != '.' && !slices.Contains(runes, r) {
				runes = append(runes, r)
			}
			if at.next[r] == nil {
				at.next[r] = &node{next: map[rune]*node{}}
			}
			at = at.next[r]
		}
		at.value = value
	}
	slices.Sort(runes)
	if len(runes) > 126 { // with the dot, what the head of a node counts
		return nil, fmt.Errorf("%d letters", len(runes))
	}
	out := append([]byte("HYP1"), low(left), low(right), low(len(runes)))
	for i, r := range runes {
		alphabet[r] = low(i + 1)
		out = append(out, low(int(r>>8)), low(int(r))) // of the basic plane
	}
	w := &writer{alphabet: alphabet, seen: map[string]int{}, values: map[string]int{}}
	at := w.put(root)
	out = append(out, low(len(w.order)>>8), low(len(w.order)))
	for _, v := range w.order {
		out = append(append(out, low(len(v))), v...)
	}
	out = append(out, low(at>>16), low(at>>8), low(at))
	return append(out, w.b...), nil
}

// writer writes nodes behind those that they point at.
type writer struct {
	alphabet map[rune]byte
	seen     map[string]int
	values   map[string]int
	order    []string
	b        []byte
}

func (w *writer) put(n *node) int {
	var b []byte
	head := low(len(n.next))
	if n.value != "" {
		head |= 0x80
	}
	b = append(b, head)
	if n.value != "" {
		v, ok := w.values[n.value]
		if !ok {
			v = len(w.order)
			w.values[n.value] = v
			w.order = append(w.order, n.value)
		}
		b = append(b, low(v>>8), low(v))
	}
	for _, r := range slices.SortedFunc(maps.Keys(n.next), func(a, b rune) int { return int(w.alphabet[a]) - int(w.alphabet[b]) }) {
		at := w.put(n.next[r])
		b = append(b, w.alphabet[r], low(at>>16), low(at>>8), low(at))
	}
	if at, ok := w.seen[string(b)]; ok {
		return at
	}
	at := len(w.b)
	w.seen[string(b)] = at
	w.b = append(w.b, b...)
	return at
}

func low(v int) byte { return byte(v & 0xFF) }
