// Package dictionary finds line break positions between the words of Thai, Lao, Khmer and Burmese,
// which are written without spaces (class SA of UAX #14), with word lists.
//
// Of all ways to split a sequence of letters into words, it chooses one that leaves the fewest
// letters uncovered, then one with the fewest words, then the one whose first words are longest:
//
//	ภาษาไทยเป็นภาษา     ภาษา|ไทย|เป็น|ภาษา
//
// Text that is in no list, such as names, is not split.
//
// The lists are those of ICU, in ICU's format; data/LICENSES.txt has their licences.
package dictionary

import (
	"embed"
	"slices"
	"sync"
	"unicode/utf8"
)

//go:embed data/*.dict
var data embed.FS

// Library has the lists of all scripts, each read when it is first wanted. The zero value is ready;
// it is safe for concurrent use.
type Library struct {
	lists [len(scripts)]struct {
		once  sync.Once
		words *trie
	}
}

// script is a block of characters that is written without spaces between words.
type script struct {
	name        string
	first, last rune // of its letters and marks
	// within tells whether no word can begin with r behind before, and with after behind r; 0:
	// there is none.
	within func(before, r, after rune) bool
}

var scripts = [...]script{
	{"thai", 0x0E01, 0x0E4E, withinThai},
	{"lao", 0x0E81, 0x0EDF, withinLao},
	{"burmese", 0x1000, 0x109F, withinBurmese},
	{"khmer", 0x1780, 0x17DD, withinKhmer},
}

func (l *Library) words(script int) *trie {
	list := &l.lists[script]
	list.once.Do(func() {
		name := scripts[script].name
		b, err := data.ReadFile("data/" + name + ".dict")
		if err == nil {
			list.words, err = parse(b)
		}
		if err != nil {
			panic("dictionary: " + name + ": " + err.Error()) // the folder is embedded, and tests read all of it
		}
	})
	return list.words
}

// has reports whether r is written without spaces between words: digits, signs and punctuation of
// the block are not.
func (s *script) has(r rune) bool {
	switch {
	case r < s.first || r > s.last:
		return false
	case r == 0x0E3F, r >= 0x0E50 && r < 0x0E81: // baht, Thai digits
		return false
	case r >= 0x0ED0 && r <= 0x0ED9, r >= 0x1040 && r <= 0x104F, r >= 0x1090 && r <= 0x1099: // digits, stops
		return false
	case r >= 0x17D4 && r <= 0x17DB && r != 0x17D7: // stops, riel
		return false
	}
	return true
}

// repeats reports whether r is a sign of repetition or of what is left out, which follows a word.
func repeats(r rune) bool {
	switch r {
	case 0x0E2F, 0x0E46, 0x0EAF, 0x0EC6, 0x17D7:
		return true
	}
	return false
}

// The vowels that stand before the consonant behind which they are said, and what only follows a
// letter.

func withinThai(before, r, _ rune) bool {
	leads := before >= 0x0E40 && before <= 0x0E44
	return leads || r == 0x0E2F || r >= 0x0E30 && r <= 0x0E3A || r >= 0x0E45 && r <= 0x0E4E
}

func withinLao(before, r, _ rune) bool {
	leads := before >= 0x0EC0 && before <= 0x0EC4
	return leads || r == 0x0EAF || r >= 0x0EB0 && r <= 0x0EBD || r >= 0x0EC6 && r <= 0x0ECE
}

// A consonant whose own vowel is taken from it, or that another is stacked below, ends the syllable
// before.
func withinBurmese(before, r, after rune) bool {
	stacks := before == 0x1039
	ends := after == 0x1039 || after == 0x103A
	return stacks || ends || r >= 0x102B && r <= 0x103E || r >= 0x1056 && r <= 0x1059 || r >= 0x105E && r <= 0x1060 ||
		r >= 0x1062 && r <= 0x1064 || r >= 0x1067 && r <= 0x106D || r >= 0x1071 && r <= 0x1074 ||
		r >= 0x1082 && r <= 0x108D || r == 0x108F || r >= 0x109A && r <= 0x109D
}

func withinKhmer(before, r, _ rune) bool {
	stacks := before == 0x17D2
	return stacks || r >= 0x17B4 && r <= 0x17D3 || r == 0x17D7 || r == 0x17DD
}

// Breaks appends the places in s, byte offsets in rising order, where a word of these scripts ends
// and the next begins. Where another script, a space or punctuation comes, UAX #14 knows.
func (l *Library) Breaks(dst []int, s string) []int {
	var p parter
	for i := 0; i < len(s); {
		if s[i] != 0xE0 && s[i] != 0xE1 { // no character of the four blocks begins so
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		of := slices.IndexFunc(scripts[:], func(c script) bool { return c.has(r) })
		if of < 0 {
			i += n
			continue
		}
		end := i + n
		for end < len(s) {
			r, n := utf8.DecodeRuneInString(s[end:])
			if !scripts[of].has(r) && r != 0x200C && r != 0x200D { // joiners are a part of words
				break
			}
			end += n
		}
		dst = p.part(dst, &scripts[of], l.words(of), s[i:end], i)
		i = end
	}
	return dst
}

// parter parts one stretch after the other, and keeps its memory between them.
type parter struct {
	at    []int  // where each letter begins
	codes []byte // the letters, for the list
	may   []bool // a word may begin here
	tail  []bool // a sign that belongs to the word before it, which need not have it in the list
	best  []way  // from each letter on
	ends  []int
}

// way is how a stretch is parted best from a letter on.
type way struct {
	left, words int  // letters left over, and words
	next        int  // where the first word ends
	known       bool // it is in the list
}

// longestStretch bounds what is parted at once. A longer one is parted in pieces: no text is
// without a space or a stop so long.
const longestStretch = 4096

func (p *parter) part(dst []int, of *script, words *trie, s string, from int) []int {
	for s != "" {
		p.at, p.codes, p.may, p.tail = p.at[:0], p.codes[:0], p.may[:0], p.tail[:0]
		end, before := len(s), rune(0)
		for i, r := range s {
			after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			may := i == 0 || !of.within(before, r, after)
			if len(p.at) >= longestStretch && may {
				end = i
				break
			}
			p.at, p.codes = append(p.at, i), append(p.codes, words.code(r))
			p.may, p.tail = append(p.may, may), append(p.tail, repeats(r))
			before = r
		}
		dst = p.ways(dst, words, from)
		if end < len(s) {
			dst = append(dst, from+end)
		}
		s, from = s[end:], from+end
	}
	return dst
}

// ways finds the best way from the end on, and appends where its words begin.
func (p *parter) ways(dst []int, t *trie, from int) []int {
	n := len(p.codes)
	p.best = append(p.best[:0], make([]way, n+1)...)
	for i := n - 1; i >= 0; i-- {
		if !p.may[i] {
			continue
		}
		next := i + 1
		for next < n && !p.may[next] {
			next++
		}
		b := p.best[next]
		p.best[i] = way{left: b.left + next - i, words: b.words, next: next}
		p.ends = t.ends(p.ends[:0], p.codes[i:])
		for _, length := range p.ends {
			next := i + length
			for next < n && p.tail[next] {
				next++
			}
			if next < n && !p.may[next] {
				continue
			}
			b, best := p.best[next], &p.best[i]
			if w := (way{b.left, b.words + 1, next, true}); w.left < best.left || w.left == best.left && w.words <= best.words {
				*best = w
			}
		}
	}
	known := false
	for i := 0; i < n; {
		w := p.best[i]
		if i > 0 && (w.known || known) { // else both are left over
			dst = append(dst, from+p.at[i])
		}
		i, known = w.next, w.known
	}
	return dst
}
