package text

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"example.com/quire/pdf/font"
)

// Glyph is one glyph of a shaped run. Advance is in font units and includes the
// kerning towards the next glyph.
type Glyph struct {
	ID      font.GID
	Advance int32
	// X and Y move the glyph from where the advances put it, in font units, y upwards: the
	// place of a mark.
	X, Y int32
	// Cluster is the byte offset of the text that the glyph stands for; glyphs of
	// one cluster have the same. Clusters come as they are drawn, from left to right; within one
	// the letter comes before its marks.
	Cluster int32
}

// Run is a piece of text for one face.
type Run struct {
	Text string
	Lang string // BCP 47; counts in complex runs alone
	// Complex says that the letters are of a script that joins, reorders or stacks them, and RTL
	// that they run from right to left.
	Complex, RTL bool
	// TabularFigures keeps digits at one width: no kerning beside a digit.
	TabularFigures bool
	Features       string // as doc.Style has them
}

// Shaper turns the text of a run into the glyphs of one face, appended to dst.
// It retains no memory of its arguments and is safe for concurrent use. The face
// covers every character of the run, composed or not.
type Shaper interface {
	Shape(dst []Glyph, f *font.Face, run Run) ([]Glyph, error)
	// Places reports whether f gives each mark of a cluster, a letter with combining marks,
	// its place upon the letter.
	Places(f *font.Face, cluster string) bool
	// Shapes reports whether f has the tables that the script of r needs.
	Shapes(f *font.Face, r rune) bool
	// SideBySide reports whether runs of ASCII in f that ask for no features are drawn as Latin
	// does.
	SideBySide(f *font.Face) bool
	// Features returns the tags of the OpenType features that f has, sorted.
	Features(f *font.Face) []string
}

// Latin shapes scripts whose letters stand side by side: one glyph per
// character by the cmap, advances by hmtx, kerning by the face's pairs. A base
// letter with combining marks becomes its composed character (Unicode NFC) where
// the face has that.
type Latin struct{}

// Shape implements Shaper.
func (Latin) Shape(dst []Glyph, f *font.Face, run Run) ([]Glyph, error) {
	p := pen{dst: dst, face: f, prev: -1, tabular: run.TabularFigures}
	s := run.Text
	for i := 0; i < len(s); {
		n := ClusterLen(s[i:])
		if n == 1 {
			p.put(rune(s[i]), i)
		} else {
			for _, r := range composed(f, s[i:i+n]) {
				p.put(r, i)
			}
		}
		i += n
	}
	return p.dst, nil
}

// Places implements Shaper: a mark has a place where the letter is composed with it.
func (Latin) Places(f *font.Face, cluster string) bool { return !Marks(f, cluster) }

// Shapes implements Shaper: of the scripts that need tables there is none.
func (Latin) Shapes(_ *font.Face, r rune) bool { return !complexRune(r) }

// SideBySide implements Shaper.
func (Latin) SideBySide(*font.Face) bool { return true }

// Features implements Shaper: it applies none.
func (Latin) Features(*font.Face) []string { return nil }

// Marks reports whether s, as f draws it composed, has a combining mark of its own.
func Marks(f *font.Face, s string) bool {
	for i := 0; i < len(s); {
		n := ClusterLen(s[i:])
		if n > 1 && combines(s[i:i+n]) && combines(composed(f, s[i:i+n])) {
			return true
		}
		i += n
	}
	return false
}

// Marked reports whether a cluster has a mark that no character is composed with.
func Marked(cluster string) bool { return combines(cluster) && combines(norm.NFC.String(cluster)) }

// Decompose returns the letter of a cluster and its marks apart (Unicode NFD).
func Decompose(cluster string) string { return norm.NFD.String(cluster) }

// combines reports whether a character behind the first of a cluster draws a mark.
func combines(cluster string) bool {
	_, n := utf8.DecodeRuneInString(cluster)
	for _, r := range cluster[n:] {
		if isMark(r) && !ignorable(r) {
			return true
		}
	}
	return false
}

// pen appends glyphs and remembers what the next one is kerned against.
type pen struct {
	dst       []Glyph
	face      *font.Face
	prev      int // index of the glyph before; -1: none
	prevDigit bool
	tabular   bool
}

func (p *pen) put(r rune, cluster int) {
	if ignorable(r) {
		return
	}
	id := p.face.GlyphIndex(r)
	digit := p.tabular && r >= '0' && r <= '9'
	if p.prev >= 0 && !digit && !p.prevDigit {
		p.dst[p.prev].Advance += int32(p.face.Kern(p.dst[p.prev].ID, id)) //nolint:gosec // G115: kerning values have 16 bits
	}
	p.prev, p.prevDigit = len(p.dst), digit
	//nolint:gosec // G115: advances have 16 bits and a word is no longer than its text, which Limits bound
	p.dst = append(p.dst, Glyph{ID: id, Advance: int32(p.face.Advance(id)), Cluster: int32(cluster)})
}

// ClusterLen returns the length of the first character of s with the combining
// marks behind it.
func ClusterLen(s string) int {
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0xCC) { // below U+0300: no mark
		return 1
	}
	return longCluster(s)
}

func longCluster(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	for n < len(s) {
		if s[n] < 0xCC {
			break
		}
		r, m := utf8.DecodeRuneInString(s[n:])
		if !isMark(r) {
			break
		}
		n += m
	}
	return n
}

// composed returns the form of the cluster that f has glyphs for. A character alone stays what it
// is, where f has it; of a letter with marks the composed form (Unicode NFC) comes first.
func composed(f *font.Face, cluster string) string {
	r, n := utf8.DecodeRuneInString(cluster)
	if n == len(cluster) && f.GlyphIndex(r) != 0 {
		return cluster
	}
	if nfc := norm.NFC.String(cluster); nfc == cluster || f.Covers(nfc) {
		return nfc
	}
	return cluster
}
