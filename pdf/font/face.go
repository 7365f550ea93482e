package font

import (
	"crypto/sha256"
	"sync"

	"example.com/quire/pdf/internal/diag"
)

// GID is a glyph id; 0 is .notdef, the sign for a missing character.
type GID uint16

// Style selects a face within a family. Weight is the OS/2 scale: 400 regular,
// 700 bold; 0 counts as 400.
type Style struct {
	Weight int
	Italic bool
}

// Bold reports whether the weight counts as bold (600 and above).
func (s Style) Bold() bool { return s.Weight >= 600 }

// Metrics are measures of a face in font units, y upwards.
type Metrics struct {
	UnitsPerEm int

	// Ascent and Descent bound a line of text; Descent is negative. LineGap is
	// the extra space between two lines. All come from hhea, or from the
	// typographic values of OS/2 where the font asks for it.
	Ascent, Descent, LineGap int

	CapHeight, XHeight int
	BBox               [4]int // xMin, yMin, xMax, yMax over all glyphs

	// The Position of a line is its top edge above the baseline, as in post
	// and OS/2.
	UnderlinePosition, UnderlineThickness int
	StrikePosition, StrikeThickness       int

	ItalicAngle int // in 1/1000 degree, counter-clockwise: -12000 leans right
}

// Face is one font. It is immutable and safe for concurrent use.
type Face struct {
	data []byte
	dir  directory

	metrics   Metrics
	style     Style
	family    string
	psName    string
	fsType    uint16
	fixed     bool
	serif     bool
	symbol    bool
	numGlyphs int
	longLoca  bool

	hmtx     []byte
	hMetrics int // entries with an advance of their own
	loca     []byte
	glyf     []byte
	cmap     cmap
	latin    [256]GID // cmap of U+0000 to U+00FF

	kern      []byte   // pairs of the first horizontal subtable, sorted
	kernFirst []uint32 // by left glyph: its first pair; one more as the end

	hash  func() [sha256.Size]byte
	index func() *glyphIndex
}

// Parse reads a TrueType font. It keeps data, which must not change
// afterwards. The checks of tables that only subsetting needs happen there.
// Zero limits are the defaults.
func Parse(data []byte, l diag.Limits) (*Face, error) {
	l = l.WithDefaults()
	dir, err := readDirectory(data, l)
	if err != nil {
		return nil, err
	}
	f := &Face{data: data, dir: dir}
	for _, read := range []func(*Face, diag.Limits) error{
		(*Face).readHead, (*Face).readMaxp, (*Face).readHorizontal, (*Face).readOS2,
		(*Face).readPost, (*Face).readOutlines, (*Face).readNames, (*Face).readCmap, (*Face).readKern,
	} {
		if err := read(f, l); err != nil {
			return nil, err
		}
	}
	f.guessHeights()
	f.hash = sync.OnceValue(func() [sha256.Size]byte { return sha256.Sum256(data) })
	f.index = sync.OnceValue(f.buildIndex)
	return f, nil
}

// Data returns the font file. The caller must not change it.
func (f *Face) Data() []byte { return f.data }

// Hash returns the SHA-256 of the font file.
func (f *Face) Hash() [sha256.Size]byte { return f.hash() }

// PostScriptName returns the name of the face for PDF, such as
// LiberationSans-Bold: printable ASCII without delimiters, never empty.
func (f *Face) PostScriptName() string { return f.psName }

// Family returns the family name the font gives itself; may be empty.
func (f *Face) Family() string { return f.family }

// Style returns weight and slope the font states.
func (f *Face) Style() Style { return f.style }

// Metrics returns the measures of the face.
func (f *Face) Metrics() Metrics { return f.metrics }

// UnitsPerEm returns how many font units make one em, 16 to 16384.
func (f *Face) UnitsPerEm() int { return f.metrics.UnitsPerEm }

// NumGlyphs returns the number of glyphs; ids are below it.
func (f *Face) NumGlyphs() int { return f.numGlyphs }

// FixedPitch reports whether all advances are meant to be equal.
func (f *Face) FixedPitch() bool { return f.fixed }

// GlyphIndex returns the glyph of r, 0 when the font has none.
func (f *Face) GlyphIndex(r rune) GID {
	if uint32(r) < uint32(len(f.latin)) { //nolint:gosec // G115: a negative rune becomes a large one
		return f.latin[r]
	}
	return f.lookup(r)
}

// Advance returns the advance width of g in font units, 0 for an id the font
// does not have.
func (f *Face) Advance(g GID) int {
	i := int(g)
	if i >= f.numGlyphs {
		return 0
	}
	return int(u16(f.hmtx, 4*min(i, f.hMetrics-1)))
}

// bearing returns the left side bearing of g, which must be below NumGlyphs.
func (f *Face) bearing(g GID) uint16 {
	i := int(g)
	if i < f.hMetrics {
		return u16(f.hmtx, 4*i+2)
	}
	return u16(f.hmtx, 4*f.hMetrics+2*(i-f.hMetrics))
}

// Table returns the bytes of a table, nil when the font has none under that
// four-letter tag. The caller must not change them.
func (f *Face) Table(tag string) []byte { return f.dir.get(tag) }
