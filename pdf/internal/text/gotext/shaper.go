package gotext

import (
	"bytes"
	"sync"
	"unicode"

	ot "github.com/go-text/typesetting/font"
	opentype "github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"
	"github.com/go-text/typesetting/harfbuzz"
	"github.com/go-text/typesetting/language"

	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/text"
)

// Shaper implements text.Shaper by the port of HarfBuzz in go-text: GSUB, GPOS, ligatures and
// the places of marks. Runs that text.Latin draws alike, without a mark and in a face whose
// tables say that letters stand side by side, go to it: it is many times as fast. The zero
// value is ready; it is safe for concurrent use.
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
	pool  sync.Pool
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
	made := &face{plain: true}
	if ld, err := opentype.NewLoader(bytes.NewReader(f.Data())); err == nil {
		if made.font, err = ot.NewFont(ld); err == nil {
			made.plain = s.sideBySide(made.font, f)
		} else {
			made.font = nil
		}
	}
	made.pool.New = func() any {
		return &worker{font: harfbuzz.NewFont(ot.NewFace(made.font)), buffer: harfbuzz.NewBuffer()}
	}
	have, _ := s.faces.LoadOrStore(key, made)
	return have.(*face)
}

// sideBySide reports whether the tables of a font ask for nothing that text.Latin does not do
// with runs that have no marks: no substitution that is on by default but ccmp, which concerns
// marks, and no kerning but that of the table kern.
func (s *Shaper) sideBySide(f *ot.Font, ours *font.Face) bool {
	// locl is on for languages, which runs do not name.
	on := map[string]bool{"liga": true, "clig": true, "calt": true, "rlig": true, "rclt": true, "rvrn": true}
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
	if at.font == nil || at.plain && !text.Marks(f, run.Text) {
		return text.Latin{}.Shape(dst, f, run)
	}
	return at.shape(dst, run), nil
}

func (f *face) shape(dst []text.Glyph, run text.Run) []text.Glyph {
	w := f.pool.Get().(*worker)
	defer f.pool.Put(w)
	w.begin()
	for i := 0; i < len(run.Text); {
		n := text.ClusterLen(run.Text[i:])
		cluster := run.Text[i : i+n]
		w.add(cluster, i, text.Marked(cluster) && !f.places(cluster, false))
		i += n
	}
	w.shape(run)
	for i := range w.buffer.Info {
		g, p := &w.buffer.Info[i], &w.buffer.Pos[i]
		dst = append(dst, text.Glyph{
			ID: font.GID(g.Glyph), Cluster: int32(g.Cluster), //nolint:gosec // G115: glyphs of a font with 16-bit ids; the offset of a word
			Advance: p.XAdvance, X: p.XOffset, Y: p.YOffset,
		})
	}
	return dst
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
	b.Shape(w.font, features)
}

// ignored reports the characters that draw nothing and that shaping needs not see.
func ignored(r rune) bool { return r == 0xAD || r == 0x200B || r == 0x2060 || r == 0xFEFF }

// Places implements text.Shaper: a mark has its place when it is composed with the letter, or
// attached to it or to a mark before it (OpenType, GPOS lookup types 4 and 6).
func (s *Shaper) Places(f *font.Face, cluster string) bool {
	at := s.face(f)
	return at.font != nil && (at.places(cluster, false) || at.places(cluster, true))
}

func (f *face) places(cluster string, apart bool) bool {
	w := f.pool.Get().(*worker)
	defer f.pool.Put(w)
	w.begin()
	w.add(cluster, 0, apart)
	w.shape(text.Run{})
	infos := w.buffer.Info
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
