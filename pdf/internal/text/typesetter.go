package text

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/text/hyph"
)

// Part is a shaped piece of text in one face. It is immutable: documents that
// have the text may share it.
type Part struct {
	Face   *font.Face
	Text   string
	Glyphs []Glyph
	Units  int64 // sum of the advances in font units
	// Plain says that every glyph stands for one character, in their order, the one
	// that font.Face.Runes has for it, and that all are below U+E000.
	Plain bool
	// Kerned says that some advance is not the glyph's own.
	Kerned bool
	// RTL says that the clusters of the glyphs fall: their text runs from right to left.
	RTL bool
	// Replaced says that the glyphs are those of other characters than Text: of its capitals.
	Replaced bool
	// Bold and Slanted say that the face is drawn so because its family has no such one.
	Bold, Slanted bool

	word *word // in the cache that it is the one part of; nil: none
}

// Width returns the advance of the part at the given size, scaled once.
func (p *Part) Width(size doc.Length) doc.Length { return Scale(p.Units, size, p.Face) }

// Scale converts font units of f at the given size, rounded half away from zero.
func Scale(units int64, size doc.Length, f *font.Face) doc.Length {
	upem := int64(f.UnitsPerEm())
	v := units * int64(size)
	if v < 0 {
		return -doc.Length((-v + upem/2) / upem)
	}
	u := uint64(upem)                        //nolint:gosec // G115: above 0
	return doc.Length((uint64(v) + u/2) / u) //nolint:gosec // G115: not negative
}

// Query asks for a face.
type Query struct {
	Family         string // empty: the first family of the library
	Weight         int    // 0: 400
	Italic         bool
	TabularFigures bool
	Features       string // as doc.Style has them
}

// Chain is a face with its fallbacks and shaping options. It is immutable and
// safe for concurrent use.
type Chain struct {
	query *Query
	mix   uint64 // hash of query; places entries in the cache, never proves one
	faces *font.Chain
	space []Part // of " "; nil: the font has none
	ascii *ASCII // of the first face; nil: each run is the shaper's
	// bold and slanted say that the first face is drawn so, for the family has no such one.
	bold, slanted bool
}

// Face returns the first face: the one whose metrics set the lines.
func (c *Chain) Face() *font.Face { return c.faces.Primary().Face }

// Match returns the first face and what it lacks of the style asked for.
func (c *Chain) Match() font.Match { return c.faces.Primary() }

// dialect is what, beside the style, the shapes of a text depend on. Texts of simple scripts from
// left to right have the zero one.
type dialect struct {
	complex, rtl bool
	lang         string // of complex texts alone
}

// key is all that the shapes of a word depend on.
type key struct {
	query *Query
	text  string
	dialect
}

// is reports whether k and o are equal.
func (k *key) is(o *key) bool {
	return (k.query == o.query || *k.query == *o.query) && k.complex == o.complex && k.rtl == o.rtl && (!k.complex || k.lang == o.lang) && k.text == o.text
}

// word is what the cache holds: the parts of a text, one per face.
type word struct {
	key
	hash  uint64 // of the key; finds the word, never proves it
	parts []Part
	one   [1]Part // most have one

	hyphenation atomic.Pointer[hyphenation] // the last that was wanted, for a word of one part
}

// Typesetter shapes words through a cache. It is safe for concurrent use.
type Typesetter struct {
	// Synthetic says that bold and italic are made of another face where a family lacks them, and
	// Boxes that a character that no font has is drawn as .notdef. Both are set before the first
	// use.
	Synthetic, Boxes bool

	lib     *font.Library
	shaper  Shaper
	seg     Segmenter
	hyphens *hyph.Library
	lower   map[string]string // families as the library spells them -> in lower case
	chains  sync.Map          // Query -> *Chain
	chained atomic.Int64      // how many were to be kept there
	ascii   sync.Map          // asciiKey -> *ASCII
	seed    maphash.Seed
	words   []atomic.Pointer[word] // a text may stand in either of two slots
	asked   []atomic.Uint32        // hashes of words that were asked for and are not kept

	setters sync.Pool // of *Setter
}

// wordCost is what one slot of the word cache holds on average, in bytes, and
// maxCachedWord the longest text that is kept.
const (
	wordCost      = 512
	maxCachedWord = 64
)

// mostChains bounds the chains that are kept: there are as many as lists of features that templates
// may ask for.
const mostChains = 1024

// NewTypesetter returns a typesetter over the faces of lib. About cacheBytes are
// spent on shaped words; 0 turns the cache off.
func NewTypesetter(lib *font.Library, sh Shaper, seg Segmenter, cacheBytes int64) *Typesetter {
	t := &Typesetter{lib: lib, shaper: sh, seg: seg, hyphens: hyph.New(), seed: maphash.MakeSeed(), lower: map[string]string{}}
	for _, name := range lib.Families() {
		t.lower[name] = strings.ToLower(name)
	}
	if slots := cacheBytes / wordCost; slots >= 2 {
		n := 2
		for int64(n)*2 <= slots {
			n *= 2
		}
		t.words, t.asked = make([]atomic.Pointer[word], n), make([]atomic.Uint32, n)
	}
	return t
}

// Chain returns the faces for q. The error is a *font.FamilyError for a family
// that the library does not have.
func (t *Typesetter) Chain(q Query) (*Chain, error) {
	if q.Weight == 0 {
		q.Weight = 400
	}
	// Families are found without regard to case; one key for all spellings keeps
	// the map as small as the library.
	wanted := q.Family
	if lower, ok := t.lower[wanted]; ok {
		q.Family = lower
	} else {
		q.Family = strings.ToLower(wanted)
	}
	if c, ok := t.chains.Load(q); ok {
		return c.(*Chain), nil
	}
	family := wanted
	if family == "" {
		if all := t.lib.Families(); len(all) > 0 {
			family = all[0]
		}
	}
	faces, err := t.lib.Chain(family, font.Style{Weight: q.Weight, Italic: q.Italic})
	if err != nil {
		return nil, err
	}
	if err := t.featured(q, faces.Primary().Face); err != nil {
		return nil, err
	}
	own := q // so that a chain that is known takes no memory
	own.Features = strings.Clone(q.Features)
	c := &Chain{query: &own, mix: maphash.Comparable(t.seed, own), faces: faces}
	if m := c.Match(); t.Synthetic {
		c.bold, c.slanted = m.NoBold, m.NoItalic
	}
	if q.Features == "" {
		c.ascii = t.asciiOf(c.Face(), q.TabularFigures)
	}
	if c.space, _, err = t.shapeNew(nil, nil, c, " ", dialect{}); err != nil {
		c.space = nil // a text with a space will say what is missing
	}
	if t.chained.Add(1) <= mostChains {
		t.chains.Store(own, c)
	}
	return c, nil
}

// shape returns the parts of a word of a text, or of a space, from the cache. The library of a
// typesetter never changes, so the key is the whole input.
//
// A word gets in when it is asked for the second time: most names and symbols of a document never
// come again, and each would cost memory and push out one that does. For the first time ok is
// false, and the caller shapes it in memory of its own.
func (t *Typesetter) shape(c *Chain, k *key) (parts []Part, ok bool, err error) {
	h := maphash.String(t.seed, k.text) ^ c.mix
	if k.complex || k.rtl {
		h ^= maphash.Comparable(t.seed, k.dialect)
	}
	mask := uint64(len(t.words) - 1) //nolint:gosec // G115: not empty
	w := t.words[h&mask].Load()
	if w == nil || w.hash != h {
		w = t.words[h>>32&mask].Load()
	}
	if w != nil && w.hash == h && w.is(k) {
		return w.parts, true, nil
	}
	return t.admit(h, c, k)
}

// admit is shape for a text that the cache does not hold and whose hash is h.
func (t *Typesetter) admit(h uint64, c *Chain, k *key) (parts []Part, ok bool, err error) {
	mask := uint64(len(t.words) - 1) //nolint:gosec // G115: not empty
	if mark := uint32(h>>32) | 1; t.asked[h&mask].Swap(mark) != mark {
		return nil, false, nil
	}
	// The entry must not hold on to the data text that the word was cut from.
	w := &word{key: *k, hash: h}
	w.text, w.lang = strings.Clone(k.text), strings.Clone(k.lang)
	if w.parts, _, err = t.shapeNew(w.one[:0], make([]Glyph, 0, len(w.text)), c, w.text, w.dialect); err != nil {
		return nil, false, err
	}
	if len(w.parts) == 1 {
		w.parts[0].word = w
	}
	slot, other := &t.words[h&mask], &t.words[h>>32&mask]
	if slot.Load() != nil && (other.Load() == nil || h>>63 == 1) {
		slot = other
	}
	slot.Store(w)
	return w.parts, true, nil
}

// caches reports whether a word of n bytes is kept. Words with figures are not:
// few of them come again, and each would push out one that does.
func (t *Typesetter) caches(n int, figures bool) bool {
	return len(t.words) > 0 && n <= maxCachedWord && !figures
}

// shapeNew appends the parts of s to parts and their glyphs to glyphs.
func (t *Typesetter) shapeNew(parts []Part, glyphs []Glyph, c *Chain, s string, d dialect) ([]Part, []Glyph, error) {
	if d.complex || d.rtl {
		return t.shapeComplex(parts, glyphs, c, s, d)
	}
	if c.ascii != nil && s != "" {
		all, p, ok := c.ascii.shape(glyphs, c.Face(), s)
		if ok {
			p.Bold, p.Slanted = c.bold, c.slanted
			return append(parts, p), all, nil
		}
	}
	start, face := 0, (*font.Face)(nil)
	flush := func(end int) error {
		if face == nil || end == start {
			return nil
		}
		from := len(glyphs)
		text := s[start:end]
		var err error
		if glyphs, err = t.shaper.Shape(glyphs, face, Run{Text: text, TabularFigures: c.query.TabularFigures, Features: c.query.Features}); err != nil {
			return err
		}
		parts = append(parts, c.newPart(face, text, glyphs[from:len(glyphs):len(glyphs)]))
		start = end
		return nil
	}
	primary := c.Face()
	for i := 0; i < len(s); {
		n := ClusterLen(s[i:])
		f := primary
		if n > 1 || f.GlyphIndex(rune(s[i])) == 0 {
			var err error
			if f, err = t.pick(c, s, s[i:i+n]); err != nil {
				return parts, glyphs, err
			}
		}
		if f != face {
			if err := flush(i); err != nil {
				return parts, glyphs, err
			}
			face = f
		}
		i += n
	}
	err := flush(len(s))
	return parts, glyphs, err
}

// featured checks that a font has the features that are to be on.
func (t *Typesetter) featured(q Query, f *font.Face) error {
	if q.Features == "" {
		return nil
	}
	known := t.shaper.Features(f)
	for feature := range strings.SplitSeq(q.Features, ",") {
		tag, _, _ := strings.Cut(feature, "=")
		if _, found := slices.BinarySearch(known, tag); !found && !strings.HasPrefix(tag, "-") {
			return &FeatureError{Font: f.PostScriptName(), Tag: tag, Known: known}
		}
	}
	return nil
}

// newPart is newPart for a face of a chain, which is drawn as the chain asks where it is not so
// itself.
func (c *Chain) newPart(f *font.Face, s string, glyphs []Glyph) Part {
	p := newPart(f, s, glyphs)
	if f == c.Face() {
		p.Bold, p.Slanted = c.bold, c.slanted
	}
	return p
}

// newPart sums up glyphs.
func newPart(f *font.Face, s string, glyphs []Glyph) Part {
	p := Part{Face: f, Text: s, Glyphs: glyphs}
	runes, i := f.Runes(), 0
	for _, r := range s {
		if i >= len(glyphs) || r >= 0xE000 || int(glyphs[i].ID) >= len(runes) || runes[glyphs[i].ID] != r {
			i = -1
			break
		}
		i++
	}
	p.Plain = i == len(glyphs)
	for i := range glyphs {
		adv := glyphs[i].Advance
		p.Units += int64(adv)
		p.Plain = p.Plain && glyphs[i].X|glyphs[i].Y == 0
		p.Kerned = p.Kerned || int(adv) != f.Advance(glyphs[i].ID)
	}
	return p
}

// shapeComplex is shapeNew for a text of one direction in which a script joins, reorders or stacks
// its letters, or that runs from right to left. Each script is a run of its own.
func (t *Typesetter) shapeComplex(parts []Part, glyphs []Glyph, c *Chain, s string, d dialect) ([]Part, []Glyph, error) {
	var face *font.Face
	start, script := 0, (*unicode.RangeTable)(nil)
	flush := func(end int) error {
		if end == start {
			return nil
		}
		from := len(glyphs)
		var err error
		glyphs, err = t.shaper.Shape(glyphs, face, Run{
			Text: s[start:end], Lang: d.lang, TabularFigures: c.query.TabularFigures, Features: c.query.Features, Complex: script != nil, RTL: d.rtl,
		})
		if err != nil {
			return err
		}
		for i := range glyphs[from:] {
			if g := &glyphs[from+i]; g.ID == 0 && !t.Boxes { // a form that shaping asks for
				r, _ := utf8.DecodeRuneInString(s[start+int(g.Cluster):])
				return &MissingGlyphError{Rune: r, Text: s, Fonts: []string{face.PostScriptName()}}
			}
		}
		p := c.newPart(face, s[start:end], glyphs[from:len(glyphs):len(glyphs)])
		p.RTL, p.Plain = d.rtl, p.Plain && !d.rtl
		parts = append(parts, p)
		start = end
		return nil
	}
	for i := 0; i < len(s); {
		n := ClusterLen(s[i:])
		cluster := s[i : i+n]
		r, _ := utf8.DecodeRuneInString(cluster)
		f, of := face, script
		switch {
		case ignorable(r) && n == utf8.RuneLen(r) && face != nil: // stays with its neighbours
		case complexRune(r):
			if of = scriptOf(r); of == nil {
				of = script
			}
			var err error
			if f, err = c.shaping(s, cluster, r, t.shaper.Shapes); err != nil && t.boxed(err) {
				f, err = c.Face(), nil
			}
			if err != nil {
				return parts, glyphs, err
			}
		case face == nil || !unicode.In(r, unicode.Common, unicode.Inherited) || face.GlyphIndex(r) == 0:
			of = nil
			var err error
			if f, err = t.pick(c, s, cluster); err != nil {
				return parts, glyphs, err
			}
		}
		if f != face || of != script {
			if err := flush(i); err != nil {
				return parts, glyphs, err
			}
			face, script = f, of
		}
		i += n
	}
	err := flush(len(s))
	return parts, glyphs, err
}

// shaping returns the first face that has the cluster, of a script that needs tables, with them.
func (c *Chain) shaping(s, cluster string, r rune, shapes func(*font.Face, rune) bool) (*font.Face, error) {
	f, err := c.faces.PickIf(cluster, func(f *font.Face) bool { return shapes(f, r) })
	if err != nil {
		return nil, missing(s, err)
	}
	if f == nil {
		return nil, &ScriptError{Rune: r, Script: scriptName(r), Text: s}
	}
	return f, nil
}

// missing words the error of a font chain. One of a font that cannot be read stays as it is.
func missing(s string, err error) error {
	m, ok := errors.AsType[*font.MissingError](err)
	if !ok {
		return err
	}
	return &MissingGlyphError{Rune: m.Rune, Text: s, Fonts: m.Tried, Err: err}
}

// pick is that of the chain. A character that no face has may be a box of the first one.
func (t *Typesetter) pick(c *Chain, s, cluster string) (*font.Face, error) {
	f, err := c.pick(s, cluster, t.shaper.Places)
	if err != nil && t.boxed(err) {
		return c.Face(), nil
	}
	return f, err
}

// boxed reports whether err is about a character that is drawn as a box.
func (t *Typesetter) boxed(err error) bool {
	if !t.Boxes {
		return false
	}
	_, missing := errors.AsType[*MissingGlyphError](err)
	return missing
}

// pick returns the first face that has the cluster, composed or as it is. With marks that
// no character is composed with, it is the first that gives them their places.
func (c *Chain) pick(s, cluster string, places func(*font.Face, string) bool) (*font.Face, error) {
	if nfc := norm.NFC.String(cluster); nfc != cluster && !combines(nfc) {
		if f, err := c.faces.Pick(nfc); err == nil {
			return f, nil
		}
	}
	marked := combines(cluster)
	f, err := c.faces.PickIf(cluster, func(f *font.Face) bool { return !marked || places(f, cluster) })
	if marked && err == nil && f == nil {
		return nil, &MarkError{Cluster: cluster, Text: s}
	}
	if err != nil {
		return nil, missing(s, err)
	}
	return f, nil
}

// MissingGlyphError says that no face has a glyph for a character (F401).
type MissingGlyphError struct {
	Rune  rune
	Text  string   // the word it stands in
	Fonts []string // the faces that were tried
	Err   error
}

// Error names code point, text and faces.
func (e *MissingGlyphError) Error() string {
	return fmt.Sprintf("no glyph for U+%04X in %s; tried %s", e.Rune, diag.Quote(e.Text), strings.Join(e.Fonts, ", "))
}

// Unwrap returns the error of the font chain.
func (e *MissingGlyphError) Unwrap() error { return e.Err }

// FeatureError says that a font has no feature of that tag (F405).
type FeatureError struct {
	Font, Tag string
	Known     []string // those that it has
}

// Error names font and feature.
func (e *FeatureError) Error() string { return fmt.Sprintf("font %s has no feature %q", e.Font, e.Tag) }

// MarkError says that no face that has the characters gives a mark its place (F404).
type MarkError struct {
	Cluster string // the letter with its marks
	Text    string // the word it stands in
}

// Error names the cluster and the text.
func (e *MarkError) Error() string {
	return fmt.Sprintf("no font places the marks of %+q in %s", e.Cluster, diag.Quote(e.Text))
}

// ShapeError says that the tables of a font lead nowhere (F406).
type ShapeError struct {
	Font, Text string
}

// Error names the font and the text.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("font %s is broken: its tables lead nowhere for %s", e.Font, diag.Quote(e.Text))
}

// ScriptError says that no face that has a character has the tables that its script needs (F402).
type ScriptError struct {
	Rune   rune
	Script string // Unicode script name
	Text   string // the word it stands in
}

// Error names the script and the text.
func (e *ScriptError) Error() string {
	return fmt.Sprintf("no font shapes %s text: U+%04X in %s", e.Script, e.Rune, diag.Quote(e.Text))
}
