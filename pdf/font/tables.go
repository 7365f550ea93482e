package font

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"example.com/quire/pdf/internal/diag"
)

const headMagic = 0x5F0F3CF5

func (f *Face) readHead(diag.Limits) error {
	t, err := f.dir.need("head", 54)
	if err != nil {
		return err
	}
	if u32(t, 12) != headMagic {
		return &FormatError{Table: "head", Reason: "wrong magic number"}
	}
	upem := int(u16(t, 18))
	if upem < 16 || upem > 16384 {
		return &FormatError{Table: "head", Reason: fmt.Sprintf("%d units per em", upem)}
	}
	f.metrics.UnitsPerEm = upem
	f.metrics.BBox = [4]int{i16(t, 36), i16(t, 38), i16(t, 40), i16(t, 42)}
	mac := u16(t, 44)
	f.style = Style{Weight: 400, Italic: mac&2 != 0}
	if mac&1 != 0 {
		f.style.Weight = 700
	}
	switch u16(t, 50) {
	case 0:
	case 1:
		f.longLoca = true
	default:
		return &FormatError{Table: "head", Reason: "unknown form of loca"}
	}
	return nil
}

func (f *Face) readMaxp(l diag.Limits) error {
	size := 32 // version 1.0, the one for glyf outlines
	if f.dir.get("glyf") == nil {
		size = 6 // version 0.5
	}
	t, err := f.dir.need("maxp", size)
	if err != nil {
		return err
	}
	f.numGlyphs = int(u16(t, 4))
	if f.numGlyphs == 0 {
		return &FormatError{Table: "maxp", Reason: "no glyphs"}
	}
	return diag.Check("FontGlyphs", int64(f.numGlyphs), l.FontGlyphs, "font file")
}

func (f *Face) readHorizontal(diag.Limits) error {
	t, err := f.dir.need("hhea", 36)
	if err != nil {
		return err
	}
	m := &f.metrics
	m.Ascent, m.Descent, m.LineGap = i16(t, 4), i16(t, 6), i16(t, 8)
	f.hMetrics = int(u16(t, 34))
	if f.hMetrics == 0 || f.hMetrics > f.numGlyphs {
		return &FormatError{Table: "hhea", Reason: fmt.Sprintf("%d metrics for %d glyphs", f.hMetrics, f.numGlyphs)}
	}
	f.hmtx, err = f.dir.need("hmtx", 4*f.hMetrics+2*(f.numGlyphs-f.hMetrics))
	return err
}

// readOS2 reads the table OS/2, which a font program taken from a PDF may lack.
func (f *Face) readOS2(diag.Limits) error {
	t := f.dir.get("OS/2")
	if t == nil {
		return nil
	}
	if len(t) < 68 { // up to usLastCharIndex, the shortest form in the field
		return &FormatError{Table: "OS/2", Reason: "cut off"}
	}
	m := &f.metrics
	if w := int(u16(t, 4)); w >= 1 && w <= 1000 {
		f.style.Weight = w
	}
	f.fsType = u16(t, 8)
	m.StrikeThickness, m.StrikePosition = i16(t, 26), i16(t, 28)
	// sFamilyClass 1 to 5 and 7 are the serif classes.
	class := t[30]
	f.serif = class >= 1 && class <= 5 || class == 7
	selection := u16(t, 62)
	const italic, oblique, useTypo = 1 << 0, 1 << 9, 1 << 7
	f.style.Italic = selection&(italic|oblique) != 0
	if len(t) < 78 {
		return nil
	}
	ascent, descent, gap := i16(t, 68), i16(t, 70), i16(t, 72)
	if selection&useTypo != 0 || m.Ascent == 0 && m.Descent == 0 {
		m.Ascent, m.Descent, m.LineGap = ascent, descent, gap
	}
	if u16(t, 0) >= 2 && len(t) >= 90 {
		m.XHeight, m.CapHeight = i16(t, 86), i16(t, 88)
	}
	return nil
}

func (f *Face) readPost(diag.Limits) error {
	t := f.dir.get("post")
	if t == nil {
		return nil
	}
	if len(t) < 32 {
		return &FormatError{Table: "post", Reason: "cut off"}
	}
	m := &f.metrics
	m.ItalicAngle = int(int64(int32(u32(t, 4))) * 1000 / 65536) //nolint:gosec // G115: a signed 16.16 number
	m.UnderlinePosition, m.UnderlineThickness = i16(t, 8), i16(t, 10)
	f.fixed = u32(t, 12) != 0
	return nil
}

// guessHeights fills what a font does not state with the usual proportions, so
// that no caller meets a zero thickness.
func (f *Face) guessHeights() {
	m := &f.metrics
	em := m.UnitsPerEm
	fill := func(p *int, value int) {
		if *p == 0 {
			*p = value
		}
	}
	if m.Ascent == 0 && m.Descent == 0 {
		m.Ascent, m.Descent = em*4/5, -em/5
	}
	if m.Descent > 0 { // a common mistake of old fonts
		m.Descent = -m.Descent
	}
	fill(&m.CapHeight, f.top('H'))
	fill(&m.CapHeight, em*7/10)
	fill(&m.XHeight, f.top('x'))
	fill(&m.XHeight, em/2)
	fill(&m.UnderlineThickness, em/20)
	fill(&m.UnderlinePosition, -em/10)
	fill(&m.StrikeThickness, m.UnderlineThickness)
	fill(&m.StrikePosition, m.XHeight/2+m.StrikeThickness/2)
}

// top returns the upper edge of the TrueType outline of r, 0 when there is none.
func (f *Face) top(r rune) int {
	g := f.GlyphIndex(r)
	if g == 0 || f.cff != nil {
		return 0
	}
	b, err := f.outline(g)
	if err != nil || len(b) < 10 {
		return 0 // the error comes back when the glyph is used
	}
	return max(i16(b, 8), 0)
}

// Name ids of the table name.
const (
	nameFamily      = 1
	namePostScript  = 6
	nameTypoFamily  = 16
	maxPSNameLength = 63 // OpenType, name id 6
)

func (f *Face) readNames(diag.Limits) error {
	t := f.dir.get("name")
	if t == nil {
		f.psName = psName("", "")
		return nil
	}
	if len(t) < 6 {
		return &FormatError{Table: "name", Reason: "cut off"}
	}
	count, store := int(u16(t, 2)), int(u16(t, 4))
	if len(t) < 6+12*count || store > len(t) {
		return &FormatError{Table: "name", Reason: "records lie outside"}
	}
	found := map[uint16]string{}
	for i := range count {
		r := t[6+12*i:]
		id := u16(r, 6)
		if id != nameFamily && id != namePostScript && id != nameTypoFamily || found[id] != "" {
			continue
		}
		length, at := int(u16(r, 8)), store+int(u16(r, 10))
		if at+length > len(t) {
			return &FormatError{Table: "name", Reason: "a string lies outside"}
		}
		found[id] = decodeName(u16(r, 0), u16(r, 4), t[at:at+length])
	}
	f.family = found[nameTypoFamily]
	if f.family == "" {
		f.family = found[nameFamily]
	}
	f.psName = psName(found[namePostScript], f.family)
	return nil
}

// decodeName decodes the names of the Unicode and Windows platforms in English
// or no language, and those of the Macintosh platform as far as they are ASCII.
func decodeName(platform, language uint16, b []byte) string {
	const unicodePlatform, macintosh, windows, english = 0, 1, 3, 0x0409
	switch {
	case platform == macintosh && language == 0:
		for _, c := range b {
			if c > '~' {
				return ""
			}
		}
		return string(b)
	case platform == unicodePlatform, platform == windows && language == english:
		units := make([]uint16, len(b)/2)
		for i := range units {
			units[i] = u16(b, 2*i)
		}
		return string(utf16.Decode(units))
	}
	return ""
}

// psName makes a legal PostScript name of what the font offers.
func psName(name, family string) string {
	if name == "" {
		name = family
	}
	clean := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || strings.ContainsRune("()<>[]{}/%#", r) {
			return -1
		}
		return r
	}, name)
	if clean == "" {
		return "Font"
	}
	return clean[:min(len(clean), maxPSNameLength)]
}
