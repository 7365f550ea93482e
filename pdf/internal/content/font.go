package content

import (
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/unicode/norm"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
)

// Font is a font of a file as far as text needs it: what its codes mean and how wide its glyphs
// are.
type Font struct {
	Object          cos.Object // as resources name it: a reference, or the dictionary itself
	Name            string     // PostScript name, without a subset tag
	Ascent, Descent float64
	Type3           bool
	Procs           cos.Dict // of Type 3: the content of each glyph

	composite, vertical bool
	unicode             *cmap              // ToUnicode; nil: none
	derived             bool               // it is that of the font program instead
	dingbats            bool               // the codes are those of ZapfDingbats
	codes               *cmap              // encoding of a composite font; nil: Identity, or as decode says
	characters          map[uint32]rune    // of the CIDs of a collection of Adobe; nil: of none
	decode              encoding.Encoding  // a predefined CMap by the character set of its codes
	direct              bool               // a predefined CMap whose codes are UTF-16
	mapped              bool               // the CIDs of all codes are known: Identity, or codes has them
	names               [256]string        // glyphs of a simple font
	texts               [256]string        // what they stand for
	widths              map[uint32]float64 // by CID or code, in text space for a size of 1
	others              map[uint32]float64 // what W says of a CID before it says another width
	missing             float64
	tops                map[uint32][2]float64 // vertical: advance, and where the line stands
	topMissing          float64               // the advance of others
	matrix              Matrix
	known               map[code]glyph // what codes are, as far as they were asked for
	plain               *Font          // see counted
}

// glyph is what a code of a font means.
type glyph struct {
	text  string
	known bool // what it stands for
	width float64
	rise  float64 // vertical: advance downwards, below 0
	vx    float64
	space bool // the code that word spacing is for
}

// mostKnown bounds the codes of one font that are remembered.
const mostKnown = 1 << 16

// substitutes are what the standard 14 fonts are measured by: fonts of the same widths.
var substitutes = sync.OnceValue(liberation.New)

// readFont reads a font dictionary. What it lacks is taken as readers of PDF take it.
func readFont(src *ofFont, d cos.Dict) *Font {
	f := &Font{widths: map[uint32]float64{}, known: map[code]glyph{}, matrix: Matrix{0.001, 0, 0, 0.001, 0, 0}}
	f.Name = untagged(string(name(src, d.Get("BaseFont"))))
	if data := src.Data(d.Get("ToUnicode")); data != nil {
		f.unicode = readCMap(data)
	}
	own := d
	if name(src, d.Get("Subtype")) == "Type0" {
		f.composite = true
		if list := array(src, d.Get("DescendantFonts")); len(list) > 0 {
			own = dict(src, list[0])
		}
		src.in.left -= f.readComposite(src, d, own)
	} else {
		f.Type3 = name(src, d.Get("Subtype")) == "Type3"
		f.readSimple(src, d)
	}
	descriptor := dict(src, own.Get("FontDescriptor"))
	f.Ascent, f.Descent = number(src, descriptor.Get("Ascent"), 0)/1000, number(src, descriptor.Get("Descent"), 0)/1000
	if f.Descent > 0 {
		f.Descent = -f.Descent
	}
	if f.Ascent <= 0 || f.Ascent > 1.05 {
		f.Ascent = 0.95
	}
	if f.Descent == 0 || f.Descent < -0.4 {
		f.Descent = -0.35
	}
	if f.Type3 {
		box := array(src, d.Get("FontBBox"))
		f.Ascent, f.Descent = 0.8, -0.2
		if len(box) == 4 {
			low, high := number(src, box[1], 0)*f.matrix[3], number(src, box[3], 0)*f.matrix[3]
			if low > high {
				low, high = high, low
			}
			if low < high && high-low < 100 {
				f.Ascent, f.Descent = high, low
			}
		}
	}
	return f
}

// untagged takes the tag of a subset off a name (9.9.2).
func untagged(name string) string {
	if len(name) > 7 && name[6] == '+' && strings.ToUpper(name[:6]) == name[:6] {
		name = name[7:]
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

func (f *Font) readSimple(src Source, d cos.Dict) {
	descriptor := dict(src, d.Get("FontDescriptor"))
	flags := int(number(src, descriptor.Get("Flags"), 0))
	symbolic := flags&4 != 0
	base := "StandardEncoding"
	standard := ""
	for _, s := range [...]string{"Symbol", "ZapfDingbats"} {
		if f.Name == s || strings.HasPrefix(f.Name, s+",") {
			base, standard = s, s
		}
	}
	kind := name(src, d.Get("Subtype"))
	if kind == "TrueType" && standard == "" {
		base = "WinAnsiEncoding"
	}
	enc := d.Get("Encoding")
	explicit := false
	if n := name(src, enc); n != "" {
		if _, ok := encodingOf(string(n)); ok && standard == "" {
			base, explicit = string(n), true
		}
	}
	differences := cos.Array(nil)
	if e := dict(src, enc); e != nil {
		if n := name(src, e.Get("BaseEncoding")); n != "" {
			if _, ok := encodingOf(string(n)); ok {
				base, explicit = string(n), true
			}
		}
		differences = array(src, e.Get("Differences"))
	}
	f.dingbats = base == "ZapfDingbats"
	e, _ := encodingOf(base)
	for c, r := range e {
		if r != 0 {
			f.texts[c] = string(r)
		}
	}
	if !explicit && kind != "TrueType" {
		if program := src.Data(descriptor.Get("FontFile")); program != nil {
			for c, n := range fontEncodingOf(string(program)) {
				f.setName(c, n)
			}
		}
	}
	if kind == "TrueType" && symbolic && !explicit && differences == nil && f.unicode == nil {
		f.readProgram(src.Data(descriptor.Get("FontFile2")))
	}
	at := 0
	for _, o := range differences {
		switch v := src.Resolve(o).(type) {
		case cos.Int:
			at = int(min(max(v, 0), 256))
		case cos.Name:
			if at < 256 {
				f.setName(byte(at), string(v))
				at++
			}
		}
	}
	if f.Type3 {
		f.Procs = dict(src, d.Get("CharProcs"))
		if m := array(src, d.Get("FontMatrix")); len(m) == 6 {
			for i := range m {
				f.matrix[i] = number(src, m[i], 0)
			}
		}
	}
	f.missing = number(src, descriptor.Get("MissingWidth"), 0) / 1000
	first := int(number(src, d.Get("FirstChar"), 0))
	widths := array(src, d.Get("Widths"))
	for i, w := range widths {
		if c := first + i; c >= 0 && c < 256 {
			f.widths[uint32(c)] = number(src, w, 0) * f.matrix[0]
		}
	}
	if widths == nil && !f.Type3 {
		f.measure()
	}
}

// setName gives a code of a simple font its glyph.
func (f *Font) setName(c byte, n string) {
	f.names[c] = n
	f.texts[c], _ = nameText(n)
	if n == ".notdef" {
		f.texts[c] = ""
	}
}

// readProgram takes the meaning of codes from the character map of a TrueType font that stands for
// itself: codes are its characters, or those at U+F000.
func (f *Font) readProgram(program []byte) {
	face, err := font.Parse(program, fontLimits)
	if err != nil {
		return // the base encoding remains
	}
	for c := range 256 {
		if g := face.GlyphIndex(rune(c)); g != 0 {
			if r, ok := face.Rune(g); ok && (r < 0xE000 || r > 0xF8FF) {
				f.texts[c] = string(r)
			}
		}
	}
}

// measure takes widths from a font of the same widths as the standard one that is named.
func (f *Font) measure() {
	if f.Name == "ZapfDingbats" || f.Name == "Symbol" {
		for c := range uint32(256) {
			f.widths[c] = 0.6
		}
		return
	}
	family, low := liberation.Sans, strings.ToLower(f.Name)
	switch {
	case strings.Contains(low, "cour") || strings.Contains(low, "mono"):
		family = liberation.Mono
	case strings.Contains(low, "times") || strings.Contains(low, "serif") && !strings.Contains(low, "sans") || strings.Contains(low, "roman"):
		family = liberation.Serif
	}
	style := font.Style{Weight: 400, Italic: strings.Contains(low, "italic") || strings.Contains(low, "oblique")}
	if strings.Contains(low, "bold") {
		style.Weight = 700
	}
	chain, err := substitutes().Chain(family, style)
	if err != nil {
		return
	}
	face, err := chain.Pick("a")
	if err != nil {
		return
	}
	for c := range f.texts {
		r, _ := utf8.DecodeRuneInString(f.texts[c])
		if g := face.GlyphIndex(r); g != 0 && f.texts[c] != "" {
			f.widths[uint32(c)] = float64(face.Advance(g)) / float64(face.UnitsPerEm())
		}
	}
}

// readComposite returns how many widths it has read.
func (f *Font) readComposite(src Source, d, own cos.Dict) (widths int) {
	switch enc := src.Resolve(d.Get("Encoding")).(type) {
	case cos.Name:
		f.predefined(string(enc))
		f.mapped = enc == "Identity-H" || enc == "Identity-V" || f.codes != nil
	default:
		if data := src.Data(d.Get("Encoding")); data != nil {
			f.codes = readCMap(data)
			e := dict(src, d.Get("Encoding"))
			if f.codes.base == nil {
				if n := name(src, e.Get("UseCMap")); n != "" {
					f.codes.buildOn(string(n))
				} else if base := src.Data(e.Get("UseCMap")); base != nil {
					f.codes.base = readCMap(base)
				}
			}
			f.mapped = f.codes.whole()
			if number(src, e.Get("WMode"), 0) == 1 {
				f.codes.vertical = true
			}
			f.vertical = f.codes.vertical
			if n := name(src, e.Get("UseCMap")); strings.HasPrefix(string(n), "Identity") && len(f.codes.cids) == 0 {
				f.codes = nil
			}
		}
	}
	f.characters = charactersOf(src, own, f.codes)
	f.missing = number(src, own.Get("DW"), 1000) / 1000
	list := array(src, own.Get("W"))
	left := mostMapped
	for i := 0; i+1 < len(list) && left > 0; {
		first := int64(number(src, list[i], -1))
		if a, ok := src.Resolve(list[i+1]).(cos.Array); ok {
			for j, w := range a[:min(len(a), left)] {
				if c := first + int64(j); c >= 0 && c <= 0xFFFF {
					f.setWidth(uint32(c), number(src, w, 0)/1000)
				}
			}
			left -= len(a)
			i += 2
			continue
		}
		if i+2 >= len(list) {
			break
		}
		last, w := int64(number(src, list[i+1], -1)), number(src, list[i+2], 0)/1000
		for c := max(first, 0); c <= min(last, 0xFFFF) && left > 0; c++ {
			left--
			f.setWidth(uint32(c), w) //nolint:gosec // G115: bounded above
		}
		i += 3
	}
	f.topMissing = -1
	if a := array(src, own.Get("DW2")); len(a) == 2 {
		f.topMissing = number(src, a[1], -1000) / 1000
	}
	widths = mostMapped - left
	if f.vertical {
		widths += f.readTops(src, array(src, own.Get("W2")))
	}
	if f.unicode == nil && f.decode == nil && !f.direct && f.codes == nil {
		if program := src.Data(dict(src, own.Get("FontDescriptor")).Get("FontFile2")); program != nil {
			f.readGlyphs(program, src.Data(own.Get("CIDToGIDMap")))
		}
	}
	return widths
}

// setWidth gives a CID its width. Of one that W has twice both are known: readers differ.
func (f *Font) setWidth(cid uint32, w float64) {
	if was, twice := f.widths[cid]; twice && was != w {
		if f.others == nil {
			f.others = map[uint32]float64{}
		}
		f.others[cid] = was
	}
	f.widths[cid] = w
}

// readTops reads the metrics of vertical writing (9.7.4.3).
func (f *Font) readTops(src Source, list cos.Array) (read int) {
	f.tops = map[uint32][2]float64{}
	left := mostMapped
	for i := 0; i+1 < len(list) && left > 0; {
		first := int64(number(src, list[i], -1))
		if a, ok := src.Resolve(list[i+1]).(cos.Array); ok {
			for j := 0; j+2 < min(len(a), left); j += 3 {
				if c := first + int64(j/3); c >= 0 && c <= 0xFFFF {
					f.tops[uint32(c)] = [2]float64{number(src, a[j], 0) / 1000, number(src, a[j+1], 0) / 1000}
				}
			}
			left -= len(a)
			i += 2
			continue
		}
		if i+4 >= len(list) {
			break
		}
		v := [2]float64{number(src, list[i+2], 0) / 1000, number(src, list[i+3], 0) / 1000}
		for c := max(first, 0); c <= min(int64(number(src, list[i+1], -1)), 0xFFFF) && left > 0; c++ {
			left--
			f.tops[uint32(c)] = v //nolint:gosec // G115: bounded above
		}
		i += 5
	}
	return mostMapped - left
}

// readGlyphs gives the CIDs of a font without ToUnicode the characters that its program has for
// their glyphs.
func (f *Font) readGlyphs(program, toGID []byte) {
	face, err := font.Parse(program, fontLimits)
	if err != nil {
		return // they stay unknown
	}
	f.unicode, f.derived = &cmap{chars: map[code]string{}}, true
	for cid := range uint32(face.NumGlyphs()) { //nolint:gosec // G115: below 65,536
		g := cid
		if toGID != nil {
			if int(2*cid+1) >= len(toGID) {
				break
			}
			g = uint32(toGID[2*cid])<<8 | uint32(toGID[2*cid+1])
		}
		if r, ok := face.Rune(font.GID(g)); ok && g != 0 {
			f.unicode.chars[code{2, cid}] = string(r)
		}
	}
}

// charactersOf returns what the CIDs of a font stand for: by the character collection of its
// CIDFont, or of a predefined CMap.
func charactersOf(src Source, own cos.Dict, codes *cmap) map[uint32]rune {
	text := func(o cos.Object) string {
		s, _ := cos.TextOf(src.Resolve(o))
		return s
	}
	info := dict(src, own.Get("CIDSystemInfo"))
	ordering := ""
	if text(info.Get("Registry")) == "Adobe" {
		ordering = text(info.Get("Ordering"))
	}
	if codes != nil && codes.ordering != "" {
		ordering = codes.ordering
	}
	if of := characters()[ordering]; of != nil {
		return of()
	}
	return nil
}

// predefined takes a predefined CMap by its name (9.7.5.2): what its codes stand for is told by the
// character set in it, or by their CIDs. Of other maps that are known by their names CIDs are not:
// widths are then those of full and half width.
func (f *Font) predefined(n string) {
	f.vertical = strings.HasSuffix(n, "-V") || n == "V"
	if !strings.HasPrefix(n, "Identity-") {
		f.codes = predefined(n)
	}
	for _, x := range []struct {
		part string
		enc  encoding.Encoding
	}{
		{"RKSJ", japanese.ShiftJIS},
		{"EUC-H", nil},
		{"EUC-V", nil},
		{"GBK2K", simplifiedchinese.GB18030},
		{"GBK", simplifiedchinese.GBK},
		{"GBpc", simplifiedchinese.GBK},
		{"B5", traditionalchinese.Big5},
		{"HKscs", traditionalchinese.Big5},
		{"KSC", korean.EUCKR},
	} {
		if !strings.Contains(n, x.part) || strings.HasPrefix(n, "Uni") {
			continue
		}
		f.decode = x.enc
		if x.enc == nil {
			switch {
			case strings.HasPrefix(n, "GB"):
				f.decode = simplifiedchinese.GBK
			case strings.HasPrefix(n, "KSC"):
				f.decode = korean.EUCKR
			case strings.HasPrefix(n, "EUC"):
				f.decode = japanese.EUCJP
			}
		}
		return
	}
	f.direct = strings.HasPrefix(n, "Uni") && (strings.Contains(n, "UCS2") || strings.Contains(n, "UTF16"))
}

// next cuts the first code off a string that is shown and tells what it means.
func (f *Font) next(s []byte) (code, glyph) {
	var c code
	switch {
	case !f.composite:
		c = code{1, uint32(s[0])}
	case f.codes != nil:
		c = f.codes.next(s)
	case f.decode != nil && (s[0] < 0x80 || f.decode == japanese.ShiftJIS && s[0] >= 0xA0 && s[0] < 0xE0):
		c = code{1, uint32(s[0])}
	case f.direct && len(s) >= 4 && utf16.IsSurrogate(rune(s[0])<<8|rune(s[1])):
		c = codeOf(string(s[:4]))
	default:
		c = codeOf(string(s[:min(2, len(s))]))
	}
	g, ok := f.known[c]
	if !ok {
		g = f.meaning(c, s[:c.n])
		if len(f.known) < mostKnown {
			f.known[c] = g
		}
	}
	return c, g
}

func (f *Font) meaning(c code, b []byte) glyph {
	g := glyph{space: c == code{1, ' '}}
	cid := c.value
	if f.codes != nil {
		cid = f.codes.cid(c)
	}
	w, ok := f.widths[cid]
	switch {
	case f.codes == nil && (f.decode != nil || f.direct):
		if w = f.missing; c.n == 1 || f.direct && c.value < 0x100 {
			w = 0.5
		}
	case !ok:
		w = f.missing
	}
	g.width = w
	if f.vertical {
		g.rise, g.vx = f.topMissing, w/2
		if t, ok := f.tops[cid]; ok {
			g.rise, g.vx = t[0], t[1]
		}
	}
	if f.unicode != nil {
		if g.text, g.known = f.unicode.text(c); g.known {
			g.text = clean(g.text)
			if g.text != "" || f.composite {
				return g
			}
		}
	}
	switch {
	case !f.composite:
		g.text = f.texts[c.value]
		g.known = g.text != "" || f.names[c.value] == ".notdef"
	case f.direct:
		g.text, g.known = utf16Text(string(b)), true
	case f.decode != nil:
		if s, err := f.decode.NewDecoder().Bytes(b); err == nil {
			g.text, g.known = string(s), true
		}
	}
	if r, ok := f.characters[cid]; ok && !g.known {
		g.text, g.known = string(r), true
	}
	g.text = clean(g.text)
	return g
}

// ligatures are the letters of characters that stand for several.
var ligatures = strings.NewReplacer("\uFB00", "ff", "\uFB01", "fi", "\uFB02", "fl", "\uFB03", "ffi", "\uFB04", "ffl", "\uFB05", "st", "\uFB06", "st", "\x00", "", "\uFEFF", "")

func clean(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7F }) < 0 {
		return s
	}
	s = ligatures.Replace(strings.ToValidUTF8(s, "\uFFFD"))
	if strings.IndexFunc(s, isForm) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isForm(r) { // what is a mark by itself has a space as its base
			b.WriteString(strings.TrimPrefix(norm.NFKC.String(string(r)), " "))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isForm reports whether a character is a letter of Hebrew or Arabic in one of its forms, which
// text is not written with.
func isForm(r rune) bool { return r >= 0xFB1D && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC }
