// Package hyph finds hyphenation positions with Liang's method ("Word Hy-phen-a-tion by
// Com-put-er", Stanford 1983). Patterns of letters have a level at each position between two
// letters. The highest level of all matching patterns counts, and a hyphen is allowed where it is
// odd. In "hyphenation" hy3ph, he2n, hena4, hen5at, n2at, tio2n and others match:
//
//	.h y3p h e2n5a4t2i o2n.        hy-phen-ation
//
// The patterns are those of hyph-utf8, packed by tools/hyphenation; data/LICENSES.txt has their
// licences.
package hyph

import (
	"embed"
	"errors"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed data/*.hyp
var data embed.FS

// aliases are the languages that share the patterns of another: by the primary subtag, or by it
// and the region.
var aliases = [...][2]string{
	{"en", "en-us"},
	{"en-au", "en-gb"},
	{"en-ie", "en-gb"},
	{"en-in", "en-gb"},
	{"en-nz", "en-gb"},
	{"en-za", "en-gb"},
	{"no", "nb"},
	{"nn", "nb"},
}

// Library has the patterns of all languages, each read when it is first wanted. It is safe for
// concurrent use.
type Library struct {
	languages map[string]func() *Language
}

// New returns a library.
func New() *Library {
	l := &Library{languages: map[string]func() *Language{}}
	files, err := data.ReadDir("data")
	if err != nil {
		panic("hyph: " + err.Error()) // the folder is embedded
	}
	for _, f := range files {
		name := f.Name()
		l.languages[strings.TrimSuffix(name, ".hyp")] = sync.OnceValue(func() *Language {
			b, err := data.ReadFile("data/" + name)
			if err != nil {
				panic("hyph: " + err.Error()) // as above
			}
			lang, err := parse(string(b))
			if err != nil {
				panic("hyph: " + name + ": " + err.Error()) // tests read all of them
			}
			return lang
		})
	}
	for _, a := range aliases {
		l.languages[a[0]] = l.languages[a[1]]
	}
	return l
}

// Language returns the patterns for a tag (BCP 47), those of its region before those of the
// language; nil when there are none.
func (l *Library) Language(tag string) *Language {
	tag = strings.ToLower(tag)
	for tag != "" {
		if f := l.languages[tag]; f != nil {
			return f()
		}
		i := strings.LastIndexByte(tag, '-')
		tag = tag[:max(i, 0)]
	}
	return nil
}

// Language has the patterns of one language. It is immutable.
type Language struct {
	left, right int
	latin       [0x250]uint8   // letter to label, 0: none
	others      map[rune]uint8 // beyond latin
	values      []string       // pairs: letters before the place, level
	trie        string
	root        int
}

var errPatterns = errors.New("no pattern file")

// parse reads what tools/hyphenation wrote.
func parse(b string) (*Language, error) {
	if len(b) < 7 || b[:4] != "HYP1" {
		return nil, errPatterns
	}
	l := &Language{left: int(b[4]), right: int(b[5]), others: map[rune]uint8{}}
	n := int(b[6])
	b = b[7:]
	if len(b) < 2*n+2 {
		return nil, errPatterns
	}
	for i := range n {
		r := rune(b[2*i])<<8 | rune(b[2*i+1])
		if int(r) < len(l.latin) {
			l.latin[r] = uint8(i + 1)
		} else {
			l.others[r] = uint8(i + 1)
		}
	}
	b = b[2*n:]
	count := int(b[0])<<8 | int(b[1])
	b = b[2:]
	l.values = make([]string, count)
	for i := range l.values {
		if b == "" || len(b) < 1+int(b[0]) || b[0]%2 != 0 {
			return nil, errPatterns
		}
		l.values[i] = b[1 : 1+int(b[0])]
		b = b[1+int(b[0]):]
	}
	if len(b) < 3 {
		return nil, errPatterns
	}
	l.root, l.trie = offset(b), b[3:]
	return l, l.check(l.root)
}

func offset(b string) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

// check walks the trie once: every node and value that it names is there, and each points to nodes
// before itself only, so no walk goes in circles.
func (l *Language) check(root int) error {
	seen := make([]bool, len(l.trie))
	todo := []int{root}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at >= len(l.trie) {
			return errPatterns
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		value, children, ok := l.node(at)
		if !ok || value >= len(l.values) {
			return errPatterns
		}
		for ; children != ""; children = children[4:] {
			next := offset(children[1:])
			if next >= at {
				return errPatterns
			}
			todo = append(todo, next)
		}
	}
	return nil
}

// node returns the value of the node at an offset, -1 for none, and its children: a label and an
// offset each.
func (l *Language) node(at int) (value int, children string, ok bool) {
	head := l.trie[at]
	from, value := at+1, -1
	if head&0x80 != 0 {
		if len(l.trie) < at+3 {
			return 0, "", false
		}
		value = int(l.trie[at+1])<<8 | int(l.trie[at+2])
		from += 2
	}
	to := from + 4*int(head&0x7F)
	if to > len(l.trie) {
		return 0, "", false
	}
	return value, l.trie[from:to], true
}

// maxWord is the longest word that is hyphenated, in letters: none is longer but noise.
const maxWord = 64

// Points appends the byte offsets of word at which a hyphen may stand, in rising order. A word has
// letters only; one with others has no points. Upper case counts as lower.
func (l *Language) Points(dst []int, word string) []int {
	var (
		labels [maxWord + 2]uint8 // 0 is the dot at either end
		at     [maxWord + 1]int   // by letter: its offset
		levels [maxWord + 3]uint8 // by letter: of the place before it
	)
	n := 0
	for i, r := range word {
		label := l.label(r)
		if label == 0 || n == maxWord {
			return dst
		}
		at[n] = i //nolint:gosec // G602: n is below maxWord
		n++
		labels[n] = label //nolint:gosec // G602: as above, and labels has two more
	}
	if n < l.left+l.right {
		return dst
	}
	for start := range n + 1 {
		node := l.root
		for i := start; ; i++ {
			value, children, _ := l.node(node)
			if value >= 0 {
				v := l.values[value]
				for k := 0; k < len(v); k += 2 {
					// Place 0 of a pattern is before its first character.
					if p := start + int(v[k]); p < len(levels) && levels[p] < v[k+1] {
						levels[p] = v[k+1]
					}
				}
			}
			if i == n+2 {
				break
			}
			next := -1
			for ; children != ""; children = children[4:] {
				if children[0] == labels[i] {
					next = offset(children[1:])
					break
				}
			}
			if next < 0 {
				break
			}
			node = next
		}
	}
	for i := l.left; i <= n-l.right; i++ {
		if levels[i+1]%2 == 1 {
			dst = append(dst, at[i])
		}
	}
	return dst
}

func (l *Language) label(r rune) uint8 {
	if r >= utf8.RuneSelf || r >= 'A' && r <= 'Z' {
		r = unicode.ToLower(r)
	}
	if int(r) < len(l.latin) {
		return l.latin[r]
	}
	return l.others[r]
}
