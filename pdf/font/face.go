package font

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
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

	// Ascent and Descent bound a line of text; Descent is negative. LineGap is the extra space
	// between two lines. All come from hhea, or from the typographic values of OS/2 if the font
	// requires it.
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
	data  []byte
	index int  // of the face in a collection
	whole bool // the file holds this face alone
	dir   directory

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
	cff       *cff // nil: the outlines are in glyf

	hmtx     []byte
	hMetrics int // entries with an advance of their own
	loca     []byte
	glyf     []byte
	cmap     cmap
	latin    [256]GID // cmap of U+0000 to U+00FF

	kern      []byte   // pairs of the first horizontal subtable, sorted
	kernFirst []uint32 // by left glyph: its first pair; one more as the end

	hash   func() [sha256.Size]byte
	glyphs func() *glyphIndex
}

// Parse reads a font with TrueType or CFF outlines, of a collection the first face. It keeps data,
// which must not change afterwards. The checks of tables that only subsetting needs happen there.
// Zero limits are the defaults.
func Parse(data []byte, l diag.Limits) (*Face, error) { return ParseFace(data, 0, l) }

// ParseFace is [Parse] for face number index, from 0, of a font collection (OpenType, "Font
// Collections"). Any other file has one face.
func ParseFace(data []byte, index int, l diag.Limits) (*Face, error) {
	l = l.WithDefaults()
	offsets, err := faceOffsets(data, l)
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= len(offsets) {
		return nil, &CollectionError{Face: strconv.Itoa(index), Count: len(offsets)}
	}
	dir, err := readDirectory(data, offsets[index])
	if err != nil {
		return nil, err
	}
	f := &Face{data: data, index: index, whole: len(offsets) == 1, dir: dir}
	for _, read := range []func(*Face, diag.Limits) error{
		(*Face).readHead, (*Face).readMaxp, (*Face).readHorizontal, (*Face).readOS2,
		(*Face).readPost, (*Face).readOutlines, (*Face).readNames, (*Face).readCmap, (*Face).readKern,
	} {
		if err := read(f, l); err != nil {
			return nil, err
		}
	}
	f.guessHeights()
	f.hash = sync.OnceValue(func() [sha256.Size]byte {
		sum := sha256.Sum256(data)
		if index == 0 {
			return sum
		}
		return sha256.Sum256(binary.BigEndian.AppendUint32(sum[:], uint32(index))) //nolint:gosec // G115: at most maxFaces
	})
	f.glyphs = sync.OnceValue(f.buildIndex)
	return f, nil
}

// ParseNamed is [Parse] for the face of a collection that has a PostScript name.
func ParseNamed(data []byte, name string, l diag.Limits) (*Face, error) {
	l = l.WithDefaults()
	offsets, err := faceOffsets(data, l)
	if err != nil {
		return nil, err
	}
	e := &CollectionError{Face: name, Count: len(offsets)}
	for i, from := range offsets {
		dir, err := readDirectory(data, from)
		if err != nil {
			return nil, err
		}
		f := &Face{dir: dir}
		if err := f.readNames(l); err != nil {
			return nil, err
		}
		if f.psName == name {
			return ParseFace(data, i, l)
		}
		e.Known = append(e.Known, f.psName)
	}
	return nil, e
}

// Data returns the font file. The caller must not change it.
func (f *Face) Data() []byte { return f.data }

// Index returns which face of the file this is: 0 but in collections.
func (f *Face) Index() int { return f.index }

// Hash returns the SHA-256 of the font file, and for a further face of a collection one of that and
// its index.
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
