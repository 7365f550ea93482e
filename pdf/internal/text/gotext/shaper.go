package gotext

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	ot "github.com/go-text/typesetting/font"
	opentype "github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"
	"github.com/go-text/typesetting/harfbuzz"
	"github.com/go-text/typesetting/language"

	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/text"
)

// Shaper implements text.Shaper by the port of HarfBuzz in go-text: GSUB, GPOS, ligatures and the
// places of marks. Runs that text.Latin draws alike, without a mark or joiner and in a face whose
// tables say that letters stand side by side, go to it: it is many times as fast. The zero value is
// ready; it is safe for concurrent use.
type Shaper struct {
	// Proven reports that tests hold the pairs of a font's table kern against those of its
	// GPOS; nil: of no font. A font with both goes the fast way only if so.
	Proven func(data []byte) bool

	faces sync.Map // [sha256.Size]byte of the font file -> *face
}

var _ text.Shaper = (*Shaper)(nil)

// face is what is kept of a font: tables that are only read, and shapers for one goroutine each.
type face struct {
	font  *ot.Font // nil: go-text cannot read it
	plain bool     // letters stand side by side: what Latin does is all there is to do
	// But for these characters: joiners, and what is no mark and yet attached or composed like one.
	attached string
	lead     [256]bool // the bytes that they begin with
	pool     sync.Pool
}

// worker shapes for one goroutine at a time.
type worker struct {
	font   *harfbuzz.Font
	buffer *harfbuzz.Buffer
	script language.Script
}

func (s *Shaper) face(f *font.Face) *face {
	key := f.Hash()
	if have, ok := s.faces.Load(key); ok {
		return have.(*face)
	}
	made := s.read(f)
	made.pool.New = func() any {
		return &worker{font: harfbuzz.NewFont(ot.NewFace(made.font)), buffer: harfbuzz.NewBuffer()}
	}
	have, _ := s.faces.LoadOrStore(key, made)
	return have.(*face)
}

// read reads the tables of a font. The library reads some of them without looking where they end:
// a font that is broken there is one that it cannot read.
func (s *Shaper) read(f *font.Face) (made *face) {
	defer func() {
		if recover() != nil {
			made = &face{plain: true}
		}
	}()
	made = &face{plain: true}
	faces, err := opentype.NewLoaders(bytes.NewReader(f.Data()))
	if err != nil || f.Index() >= len(faces) {
		return made
	}
	of, err := ot.NewFont(faces[f.Index()])
	if err != nil {
		return made
	}
	made.font = of
	if made.plain = s.sideBySide(of, f); made.plain && !made.findAttached() {
		return &face{plain: true}
	}
	return made
}

// sideBySide reports whether the tables of a font ask for nothing that text.Latin does not do
// with runs that have no marks: no substitution that is on by default but ccmp, which concerns
// marks, none of tabular figures, and no kerning but that of the table kern.
func (s *Shaper) sideBySide(f *ot.Font, ours *font.Face) bool {
	// locl is on for languages, which runs do not name.
	on := map[string]bool{"liga": true, "clig": true, "calt": true, "rlig": true, "rclt": true, "rvrn": true, "tnum": true}
	for _, feature := range f.GSUB.Features {
		if on[feature.Tag.String()] {
			return false
		}
	}
	for _, feature := range f.GPOS.Features {
		if feature.Tag.String() == "kern" && (s.Proven == nil || !s.Proven(ours.Data())) {
			return false
		}
	}
	return true
}

// Shape implements text.Shaper.
func (s *Shaper) Shape(dst []text.Glyph, f *font.Face, run text.Run) ([]text.Glyph, error) {
	at := s.face(f)
	switch {
	case at.font == nil, at.plain && !run.Complex && !run.RTL && run.Features == "" && !text.Marks(f, run.Text) && !at.attaches(run.Text):
		return text.Latin{}.Shape(dst, f, run)
	}
	return at.guarded(dst, f, run)
}

// guarded shapes by the tables of a font, which lead the library astray where they are broken: that
// is an error of the font, and the worker that met it is let go.
func (f *face) guarded(dst []text.Glyph, ours *font.Face, run text.Run) (out []text.Glyph, err error) {
	defer func() {
		if recover() != nil {
			out, err = dst, &text.ShapeError{Font: ours.PostScriptName(), Text: run.Text}
		}
	}()
	from := len(dst)
	if run.Complex {
		out = f.shapeComplex(dst, run)
	} else {
		out = f.shape(dst, run)
	}
	for i := range out[from:] {
		if int(out[from+i].ID) >= ours.NumGlyphs() {
			return dst, &text.ShapeError{Font: ours.PostScriptName(), Text: run.Text}
		}
	}
	return out, nil
}

// SideBySide implements text.Shaper.
func (s *Shaper) SideBySide(f *font.Face) bool {
	at := s.face(f)
	return at.font == nil || at.plain && !slices.Contains(at.lead[:utf8.RuneSelf], true)
}

// findAttached fills f.attached, of characters that text.Marks does not tell from letters. It
// reports false of a font with more characters than there are: groups of a broken cmap go on for
// thousands of millions.
func (f *face) findAttached() bool {
	list, parts := []rune("\u200C\u200D"), composedOf(f.font)
	n := 0
	for it := f.font.Cmap.Iter(); it.Next(); n++ {
		r, g := it.Char()
		if n > unicode.MaxRune || r < 0 || r > unicode.MaxRune {
			return false
		}
		id := tables.GlyphID(g) //nolint:gosec // G115: 16-bit ids
		if !unicode.Is(unicode.M, r) && (parts[id] || isAttached(f.font, id)) {
			list = append(list, r)
		}
	}
	f.attached = string(list)
	for _, r := range f.attached {
		f.lead[string(r)[0]] = true
	}
	return true
}

func (f *face) attaches(s string) bool {
	for i := range len(s) {
		if f.lead[s[i]] {
			return strings.ContainsAny(s, f.attached)
		}
	}
	return false
}

// composedOf returns the glyphs that the feature ccmp makes one glyph of with those before them:
// marks, and the letters of tone, whose contours are drawn as one.
func composedOf(f *ot.Font) map[tables.GlyphID]bool {
	out := map[tables.GlyphID]bool{}
	for _, feature := range f.GSUB.Features {
		if feature.Tag.String() != "ccmp" {
			continue
		}
		for _, i := range feature.LookupListIndices {
			if int(i) >= len(f.GSUB.Lookups) {
				continue
			}
			for _, sub := range f.GSUB.Lookups[i].Subtables {
				ligatures, _ := sub.(tables.LigatureSubs)
				for _, set := range ligatures.LigatureSets {
					for _, l := range set.Ligatures {
						for _, g := range l.ComponentGlyphIDs {
							out[g] = true
						}
					}
				}
			}
		}
	}
	return out
}

// isAttached reports whether some lookup has an anchor for a mark g.
func isAttached(f *ot.Font, g tables.GlyphID) bool {
	for i := range f.GPOS.Lookups {
		for _, sub := range f.GPOS.Lookups[i].Subtables {
			switch sub.(type) {
			case tables.MarkBasePos, tables.MarkLigPos, tables.MarkMarkPos:
				if _, ok := sub.Cov().Index(g); ok {
					return true
				}
			}
		}
	}
	return false
}

// shapeComplex leaves composing and the choice of forms to the tables.
func (f *face) shapeComplex(dst []text.Glyph, run text.Run) []text.Glyph {
	w := f.pool.Get().(*worker)
	w.begin()
	w.script = language.Common
	for i, r := range run.Text {
		w.buffer.AddRune(r, i)
		if s := language.LookupScript(r); w.script == language.Common && s != language.Common && s != language.Inherited {
			w.script = s
		}
	}
	w.shape(run)
	dst = w.glyphs(dst, run)
	f.give(w)
	return dst
}

// give keeps a worker for the next run. One that a panic left, of a font whose tables are broken,
// is not given, nor is one that a long run made large.
func (f *face) give(w *worker) {
	if cap(w.buffer.Info) <= mostKept {
		f.pool.Put(w)
	}
}

// mostKept is how many glyphs, or characters, what is kept has memory for.
const mostKept = 4096

func (f *face) shape(dst []text.Glyph, run text.Run) []text.Glyph {
	w := f.pool.Get().(*worker)
	w.begin()
	for i := 0; i < len(run.Text); {
		n := text.ClusterLen(run.Text[i:])
		cluster := run.Text[i : i+n]
		w.add(cluster, i, text.Marked(cluster) && !f.places(cluster, false))
		i += n
	}
	w.shape(run)
	dst = w.glyphs(dst, run)
	f.give(w)
	return dst
}

// glyphs appends what was shaped.
func (w *worker) glyphs(dst []text.Glyph, run text.Run) []text.Glyph {
	from := len(dst)
	for i := range w.buffer.Info {
		g, p := &w.buffer.Info[i], &w.buffer.Pos[i]
		dst = append(dst, text.Glyph{
			ID: font.GID(g.Glyph), Cluster: int32(g.Cluster), //nolint:gosec // G115: glyphs of a font with 16-bit ids; the offset of a word
			Advance: p.XAdvance, X: p.XOffset, Y: p.YOffset,
		})
	}
	if run.RTL {
		lettersFirst(dst[from:])
	}
	return dst
}

// lettersFirst turns the clusters of a run from right to left around, in which marks come before
// the letter that they stand on.
func lettersFirst(glyphs []text.Glyph) {
	for i := 0; i < len(glyphs); {
		j := i + 1
		for j < len(glyphs) && glyphs[j].Cluster == glyphs[i].Cluster {
			j++
		}
		letter := glyphs[j-1].Advance
		if !slices.ContainsFunc(glyphs[i:j-1], func(g text.Glyph) bool { return g.Advance != 0 }) {
			slices.Reverse(glyphs[i:j])
			for k := i + 1; k < j; k++ {
				glyphs[k].X -= letter
			}
		}
		i = j
	}
}

func (w *worker) begin() {
	w.buffer.Clear()
	w.buffer.Flags = harfbuzz.RemoveDefaultIgnorables
	w.script = language.Latin
}

// add appends a cluster that begins at byte offset at. The letter and its marks are composed as
// far as there is a character for it. Apart, none is composed: a combining grapheme joiner
// behind the letter, which draws nothing, keeps the marks with the anchors of the bare letter.
func (w *worker) add(cluster string, at int, apart bool) {
	if apart {
		for i, r := range text.Decompose(cluster) {
			w.buffer.AddRune(r, at)
			if i == 0 {
				w.buffer.AddRune(joiner, at)
			}
		}
		return
	}
	for i, r := range cluster {
		if ignored(r) {
			continue
		}
		w.buffer.AddRune(r, at+i)
		if s := language.LookupScript(r); s != language.Common && s != language.Inherited {
			w.script = s
		}
	}
}

const joiner = '\u034F'

// shape shapes what was added; clusters are byte offsets.
func (w *worker) shape(run text.Run) {
	b := w.buffer
	b.Props.Direction, b.Props.Script = harfbuzz.LeftToRight, w.script
	if run.RTL {
		b.Props.Direction = harfbuzz.RightToLeft
	}
	b.Props.Language = language.NewLanguage(run.Lang)
	var features []harfbuzz.Feature
	if run.TabularFigures {
		features = append(features, harfbuzz.Feature{Tag: opentype.MustNewTag("tnum"), Value: 1, End: harfbuzz.FeatureGlobalEnd})
		for i, r := range run.Text {
			if unicode.IsDigit(r) { // digits keep one width
				features = append(features, harfbuzz.Feature{Tag: opentype.MustNewTag("kern"), Start: max(i-1, 0), End: i + 1})
			}
		}
	}
	if run.Features != "" {
		features = append(features, featuresOf(run.Features)...)
	}
	b.Shape(w.font, features)
}

// featuresOf reads features as doc.Style has them.
func featuresOf(list string) []harfbuzz.Feature {
	var out []harfbuzz.Feature
	for s := range strings.SplitSeq(list, ",") {
		f := harfbuzz.Feature{Value: 1, End: harfbuzz.FeatureGlobalEnd}
		s, off := strings.CutPrefix(s, "-")
		tag, value, chosen := strings.Cut(s, "=")
		if off {
			f.Value = 0
		} else if n, err := strconv.ParseUint(value, 10, 8); chosen && err == nil {
			f.Value = uint32(n)
		}
		if len(tag) == 4 {
			f.Tag = opentype.NewTag(tag[0], tag[1], tag[2], tag[3])
			out = append(out, f)
		}
	}
	return out
}

// Features implements text.Shaper.
func (s *Shaper) Features(f *font.Face) []string {
	at := s.face(f)
	if at.font == nil {
		return nil
	}
	var tags []string
	for _, feature := range at.font.GSUB.Features {
		tags = append(tags, feature.Tag.String())
	}
	for _, feature := range at.font.GPOS.Features {
		tags = append(tags, feature.Tag.String())
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// ignored reports the characters that draw nothing and that shaping needs not see.
func ignored(r rune) bool {
	return r == 0xAD || r == 0x200B || r == 0x200E || r >= 0x2060 && r <= 0x2064 || r >= 0x206A && r <= 0x206F || r == 0xFEFF
}

// Shapes implements text.Shaper: the font has substitutions (OpenType, GSUB) for the script, if
// the script needs them.
func (s *Shaper) Shapes(f *font.Face, r rune) bool {
	at := s.face(f)
	if at.font == nil {
		return false
	}
	tags, needs := tagsOf[language.LookupScript(r)]
	return !needs || slices.ContainsFunc(at.font.GSUB.Scripts, func(have ot.Script) bool {
		return strings.Contains(tags, have.Tag.String())
	})
}

// tagsOf are the scripts that cannot be read without substitutions, for they join or stack their
// letters, with the tags of their tables.
var tagsOf = map[language.Script]string{
	language.Arabic: "arab", language.Syriac: "syrc", language.Nko: "nko ", language.Mongolian: "mong", language.Phags_Pa: "phag",
	language.Mandaic: "mand", language.Adlam: "adlm", language.Hanifi_Rohingya: "rohg",
	language.Devanagari: "deva dev2 dev3", language.Bengali: "beng bng2 bng3", language.Gurmukhi: "guru gur2 gur3",
	language.Gujarati: "gujr gjr2 gjr3", language.Oriya: "orya ory2 ory3", language.Tamil: "taml tml2 tml3",
	language.Telugu: "telu tel2 tel3", language.Kannada: "knda knd2 knd3", language.Malayalam: "mlym mlm2 mlm3",
	language.Sinhala: "sinh", language.Khmer: "khmr", language.Myanmar: "mymr mym2", language.Tibetan: "tibt",
	language.Javanese: "java", language.Balinese: "bali", language.Sundanese: "sund", language.Tai_Tham: "lana", language.Cham: "cham",
	language.Meetei_Mayek: "mtei", language.Limbu: "limb", language.Lepcha: "lepc", language.Newa: "newa", language.Tirhuta: "tirh",
	language.Grantha: "gran", language.Chakma: "cakm", language.Sharada: "shrd", language.Brahmi: "brah",
}

// Places implements text.Shaper: a mark has its place when it is composed with the letter, or
// attached to it or to a mark before it (OpenType, GPOS lookup types 4 and 6).
func (s *Shaper) Places(f *font.Face, cluster string) bool {
	at := s.face(f)
	return at.font != nil && (at.places(cluster, false) || at.places(cluster, true))
}

func (f *face) places(cluster string, apart bool) bool {
	w := f.pool.Get().(*worker)
	w.begin()
	w.add(cluster, 0, apart)
	w.shape(text.Run{})
	all := f.attachesAll(w.buffer.Info)
	f.give(w)
	return all
}

// attachesAll reports whether each glyph but the first is attached to one before it.
func (f *face) attachesAll(infos []harfbuzz.GlyphInfo) bool {
	for i := 1; i < len(infos); i++ {
		attached := false
		for k := range i {
			attached = attached || attaches(f.font, tables.GlyphID(infos[k].Glyph), tables.GlyphID(infos[i].Glyph)) //nolint:gosec // G115: 16-bit ids
		}
		if !attached {
			return false
		}
	}
	return true
}

// attaches reports whether some lookup has anchors for mark upon base.
func attaches(f *ot.Font, base, mark tables.GlyphID) bool {
	for i := range f.GPOS.Lookups {
		for _, sub := range f.GPOS.Lookups[i].Subtables {
			var marks tables.MarkArray
			var bases tables.Coverage
			var anchors tables.AnchorMatrix
			switch t := sub.(type) {
			case tables.MarkBasePos:
				marks, bases, anchors = t.MarkArray, t.BaseCoverage, t.BaseArray.Anchors()
			case tables.MarkMarkPos:
				marks, bases, anchors = t.Mark1Array, t.Mark2Coverage, t.Mark2Array.Anchors()
			default:
				continue
			}
			m, ok := sub.Cov().Index(mark)
			b, on := bases.Index(base)
			if ok && on && m < len(marks.MarkRecords) && b < anchors.Len() &&
				anchors.Anchor(b, int(marks.MarkRecords[m].MarkClass)) != nil {
				return true
			}
		}
	}
	return false
}
