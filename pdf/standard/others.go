package standard

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
)

// What follows are rules that what this module writes never breaks: they are for files of other
// makers.

// Misspelled checks the syntax of a file (ISO 19005-2 and 4, 6.1).
func (j *Judge) Misspelled(m cos.Misspelling) {
	rule := map[cos.Part]clause{
		cos.PartHeader:  {a1: "6.1.2", a2: "6.1.2", a4: "6.1.2"},
		cos.PartEnd:     {a1: "6.1.3", a2: "6.1.3", a4: "6.1.3"},
		cos.PartTable:   {a1: "6.1.4", a2: "6.1.4", a4: "6.1.4"},
		cos.PartString:  {a1: "6.1.6", a2: "6.1.6", a4: "6.1.5"},
		cos.PartStream:  {a1: "6.1.7", a2: "6.1.7.1", a4: "6.1.6.1"},
		cos.PartKeyword: {a1: "6.1.7", a2: "6.1.7.1"},
		cos.PartObject:  {a1: "6.1.8", a2: "6.1.9", a4: "6.1.8"},
	}[m.Part]
	j.find("S043", rule, m.Ref, nil, "%s", m.Message)
}

// Limits of what files of PDF 1.7 have (ISO 19005-2, 6.1.13) and those of PDF 1.4 (19005-1,
// 6.1.12).
const (
	mostNameBytes    = 127
	mostStringBytes  = 32_767
	mostStringBytes1 = 65_535
	mostInks         = 32
	mostInks1        = 8
)

// Value checks the size of a number, a string or a name anywhere in the file.
func (j *Judge) Value(r cos.Ref, o cos.Object) {
	one, two := clause{a1: "6.1.12"}, clause{a2: "6.1.13"}
	both := clause{a1: one.a1, a2: two.a2}
	switch v := o.(type) {
	case cos.Int:
		if v > math.MaxInt32 || v < math.MinInt32 {
			j.find("S056", both, r, nil, "the integer %d", int64(v))
		}
	case cos.Fixed, cos.Decimal:
		x, _ := cos.Float(v)
		size := math.Abs(x)
		if size > mostReal {
			j.find("S056", one, r, nil, "the number %g", x)
		}
		if size > 3.403e38 {
			j.find("S056", two, r, nil, "the number %g", x)
		}
	case cos.Name:
		if len(v) > mostNameBytes {
			j.find("S056", both, r, nil, "a name of %d bytes", len(v))
		}
	case cos.Array:
		if len(v) > 8191 {
			j.find("S056", one, r, nil, "an array of %d elements", len(v))
		}
	case cos.Dict:
		if len(v) > 4095 {
			j.find("S056", one, r, nil, "a dictionary of %d entries", len(v))
		}
	default:
		if b, ok := cos.Bytes(o); ok && len(b) > mostStringBytes {
			if len(b) > mostStringBytes1 {
				j.find("S056", one, r, nil, "a string of %d bytes", len(b))
			}
			j.find("S056", two, r, nil, "a string of %d bytes", len(b))
		}
	}
}

// renderingIntents are those of ISO 32000-1 and 2, table 69.
var renderingIntents = []cos.Name{"AbsoluteColorimetric", "RelativeColorimetric", "Saturation", "Perceptual"}

// Intent checks a rendering intent, where one is named (ISO 19005-2, 6.2.6).
func (j *Judge) Intent(r cos.Ref, o cos.Object) {
	if n, ok := cos.As[cos.Name](o); ok && !slices.Contains(renderingIntents, n) {
		j.find("S045", clause{a1: "6.2.9", a2: "6.2.6"}, r, nil, "the rendering intent %q", string(n))
	}
}

// filtersOfStreams are those of ISO 32000-1, table 6, that archives take, and their names in inline
// images (table 94).
var filtersOfStreams = map[cos.Name]cos.Name{
	"ASCIIHexDecode": "AHx", "ASCII85Decode": "A85", "FlateDecode": "Fl", "RunLengthDecode": "RL", "CCITTFaxDecode": "CCF",
	"JBIG2Decode": "", "DCTDecode": "DCT", "JPXDecode": "",
}

// InlineImage checks the dictionary of an inline image, whose keys may be abbreviated (ISO 19005-2,
// 6.1.10 and 6.2.8).
func (j *Judge) InlineImage(page cos.Ref, d cos.Dict) {
	either := func(short, long cos.Name) cos.Object {
		if o := d.Get(short); o != nil {
			return o
		}
		return d.Get(long)
	}
	filters, ok := cos.As[cos.Array](either("F", "Filter"))
	if !ok {
		filters = cos.Array{either("F", "Filter")}
	}
	for _, f := range filters {
		n, ok := cos.As[cos.Name](f)
		if !ok {
			continue
		}
		known := false
		for long, short := range filtersOfStreams {
			known = known || n == long && short != "" || n == short
		}
		if !known {
			rule := clause{a2: "6.1.10", a4: "6.1.9"}
			if n == "LZW" || n == "LZWDecode" {
				rule.a1 = "6.1.10"
			}
			j.find("S045", rule, page, nil, "an inline image with filter %s", string(n))
		}
	}
	if isTrue(either("I", "Interpolate")) {
		j.find("S045", interpolateClause, page, nil, "an inline image with Interpolate")
	}
	j.Intent(page, d.Get("Intent"))
}

var interpolateClause = clause{a1: "6.2.4", a2: "6.2.8", a4: "6.2.7.1"}

// Operator checks an operator that ISO 32000 does not define (ISO 19005-2, 6.2.2).
func (j *Judge) Operator(page cos.Ref, op []byte) {
	j.find("S045", clause{a1: "6.2.10", a2: "6.2.2", a4: "6.2.2"}, page, nil, "the operator %q", op)
}

// Borrowed checks content that uses a resource that is not of its own dictionary (ISO 19005-2 and
// 4, 6.2.2).
func (j *Judge) Borrowed(page cos.Ref, name cos.Name) {
	j.find("S045", clause{a2: "6.2.2", a4: "6.2.2"}, page, nil, "content whose resource %s is not of its own dictionary", string(name))
}

// Undefined checks content that names a missing resource (ISO 19005-4, 6.2.2).
func (j *Judge) Undefined(page cos.Ref, name cos.Name) {
	j.find("S045", clause{a4: "6.2.2"}, page, nil, "content that names the resource %s, which is not there", string(name))
}

// NoResources checks a page with content that neither has nor inherits resources, which ISO
// 32000-2, table 31, requires (ISO 19005-4, 6.2.2).
func (j *Judge) NoResources(page cos.Ref) {
	j.find("S045", clause{a4: "6.2.2"}, page, nil, "a page without Resources")
}

// Overprinted checks colours of an ICC profile of CMYK that are overprinted by components (ISO
// 19005-2 and 4, 6.2.4.2).
func (j *Judge) Overprinted(page cos.Ref) {
	j.find("S045", clause{a2: "6.2.4.2", a4: "6.2.4.2"}, page, nil, "overprint mode 1 with colours of a CMYK profile")
}

// UTF8 checks the name of a font or of a colorant (ISO 19005-2, 6.1.8).
func (j *Judge) UTF8(r cos.Ref, n cos.Name) {
	if !utf8.ValidString(string(n)) {
		j.find("S045", clause{a2: "6.1.8", a4: "6.1.7"}, r, nil, "the name %q, which is not in UTF-8", string(n))
	}
}

// Inks checks a DeviceN colour space with the given number of colorants; untold is one that is
// missing in its Colorants, empty: none (ISO 19005-2, 6.1.13 and 6.2.4.4).
func (j *Judge) Inks(r cos.Ref, n int, untold cos.Name) {
	if n > mostInks1 {
		j.find("S056", clause{a1: "6.1.12"}, r, nil, "a DeviceN colour space of %d colorants", n)
	}
	if n > mostInks {
		j.find("S056", clause{a2: "6.1.13"}, r, nil, "a DeviceN colour space of %d colorants", n)
	}
	if untold != "" {
		j.find("S045", clause{a2: "6.2.4.4", a4: "6.2.4.4"}, r, nil, "a DeviceN colour space whose Colorants do not have %s", string(untold))
	}
}

// Ink checks a colorant with two definitions in one file (ISO 19005-2 and 4, 6.2.4.4).
func (j *Judge) Ink(r cos.Ref, name cos.Name) {
	j.find("S045", clause{a2: "6.2.4.4", a4: "6.2.4.4"}, r, nil, "a Separation %s that is not the same everywhere", string(name))
}

// Halftone checks a halftone; colorant is the colorant for which a halftone of type 5 has it,
// empty: it is used on its own (ISO 19005-2 and 4, 6.2.5).
func (j *Judge) Halftone(r cos.Ref, d cos.Dict, colorant cos.Name) {
	rule := clause{a2: "6.2.5", a4: "6.2.5"}
	if t := d.Get("HalftoneType"); t != cos.Object(cos.Int(1)) && t != cos.Object(cos.Int(5)) {
		j.find("S045", rule, r, nil, "a halftone of another type than 1 and 5")
	}
	if d.Get("HalftoneName") != nil {
		j.find("S045", rule, r, nil, "a halftone with a name")
	}
	transfer := d.Get("TransferFunction") != nil
	switch colorant {
	case "Default":
	case "", "Cyan", "Magenta", "Yellow", "Black":
		if transfer {
			j.find("S045", rule, r, nil, "a halftone with a transfer function")
		}
	default:
		if !transfer {
			j.find("S045", rule, r, nil, "a halftone of %s without a transfer function", string(colorant))
		}
	}
}

// Optional checks the configurations of optional content, the default one first; unordered says
// that one has an Order that omits a group (ISO 19005-2, 6.9, and 4, 6.10).
func (j *Judge) Optional(r cos.Ref, configs []cos.Dict, unordered bool) {
	rule := clause{a2: "6.9", a4: "6.10"}
	seen := map[string]bool{}
	for _, d := range configs {
		name, ok := cos.TextOf(d.Get("Name"))
		named := rule
		named.ua1 = "7.10"
		switch {
		case !ok && d.Get("Name") == nil:
			j.find("S043", named, r, nil, "a configuration of optional content without a name")
		case name == "":
			named.a4 = ""
			j.find("S043", named, r, nil, "a configuration of optional content without a name")
		case seen[name]:
			j.find("S043", rule, r, nil, "two configurations of optional content of the name %q", name)
		}
		seen[name] = true
		if d.Get("AS") != nil {
			j.find("S043", clause{a2: rule.a2, ua1: "7.10", ua2: "8.7"}, r, nil, "optional content that is shown or hidden automatically (AS)")
		}
	}
	if unordered {
		j.find("S043", rule, r, nil, "an Order of optional content that leaves out a group")
	}
}

// keys judges what dictionaries of the catalog, of pages, images and forms may not say.
func (j *Judge) keys(r cos.Ref, d cos.Dict, src *doc.Source) {
	find := func(rule string, c clause, format string, args ...any) { j.find(rule, c, r, src, format, args...) }
	steps := clause{a2: "6.10", a4: "6.11"}
	switch name(d, "Type") {
	case "Catalog":
		if isTrue(d.Get("NeedsRendering")) {
			find("S045", clause{a2: "6.4.2", a4: "6.4.2"}, "a catalog with NeedsRendering")
		}
		if d.Get("Requirements") != nil {
			find("S045", clause{a2: "6.11", a4: "6.12"}, "a catalog with Requirements")
		}
		if names, ok := cos.As[cos.Dict](d.Get("Names")); ok && names.Get("AlternatePresentations") != nil {
			find("S045", steps, "alternate presentations")
		}
		perms, _ := cos.As[cos.Dict](d.Get("Perms"))
		for _, x := range perms {
			if x.Key != "UR3" && x.Key != "DocMDP" {
				find("S045", clause{a2: "6.1.12", a4: "6.1.11"}, "the permission %s", string(x.Key))
			}
		}
	case "Page":
		if d.Get("PresSteps") != nil {
			find("S045", steps, "a page of steps (PresSteps)")
		}
		for _, key := range [...]cos.Name{"MediaBox", "CropBox", "BleedBox", "TrimBox", "ArtBox"} {
			b, ok := cos.As[cos.Array](d.Get(key))
			if ok && len(b) != 4 {
				find("S048", sizeClause, "a %s that is not a rectangle", string(key))
			} else if ok {
				for i := range 2 {
					from, _ := cos.Float(b[i])
					to, ok := cos.Float(b[i+2])
					if size := math.Abs(to - from); ok && (size < 3 || size > 14_400) {
						find("S048", sizeClause, "a %s of %g points", string(key), size)
					}
				}
			}
		}
	case "ExtGState":
		j.Intent(r, d.Get("RI"))
	}
	if d.Get("Length") != nil && (d.Get("F") != nil || d.Get("FFilter") != nil || d.Get("FDecodeParms") != nil) {
		find("S045", clause{a2: "6.1.7.1", a4: "6.1.6.1"}, "a stream outside the file")
	}
	switch name(d, "Subtype") {
	case "Image":
		j.Intent(r, d.Get("Intent"))
		bits, said := cos.As[cos.Int](d.Get("BitsPerComponent"))
		rule := clause{a2: "6.2.8", a4: "6.2.7.1"}
		switch {
		case !said:
		case isTrue(d.Get("ImageMask")):
			if rule.a1 = "6.2.4"; bits != 1 {
				find("S045", rule, "an image mask of %d bits", int64(bits))
			}
		case bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16:
			rule.a1 = "6.2.4"
			find("S045", rule, "an image of %d bits", int64(bits))
		}
	case "Form":
		if d.Get("OPI") != nil {
			find("S045", clause{a2: "6.2.9", a4: "6.2.8.1"}, "a form with OPI")
		}
		if name(d, "Subtype2") == "PS" || d.Get("PS") != nil {
			find("S045", clause{a2: "6.2.9"}, "a form of PostScript")
		}
		if d.Get("Ref") != nil {
			find("S045", clause{a2: "6.2.9", a4: "6.2.8.2", ua1: "7.20"}, "a form of another file")
		}
	case "PS":
		find("S045", clause{a2: "6.2.9"}, "PostScript")
	}
}

// predefinedCMaps are those of ISO 32000-1, table 118, by what they are for, with the number of the
// last supplement of the character collection that they have CIDs of by table 119.
var predefinedCMaps = sync.OnceValue(func() map[string]CIDSystem {
	m := map[string]CIDSystem{}
	for _, x := range []struct {
		ordering   string
		supplement int64
		names      string
	}{
		{"GB1", 0, "GB-EUC-H GB-EUC-V GBpc-EUC-H GBpc-EUC-V"},
		{"GB1", 2, "GBK-EUC-H GBK-EUC-V GBKp-EUC-H GBKp-EUC-V"},
		{"GB1", 4, "GBK2K-H GBK2K-V UniGB-UCS2-H UniGB-UCS2-V UniGB-UTF16-H UniGB-UTF16-V"},
		{"CNS1", 0, "B5pc-H B5pc-V ETen-B5-H ETen-B5-V ETenms-B5-H ETenms-B5-V CNS-EUC-H CNS-EUC-V"},
		{"CNS1", 3, "HKscs-B5-H HKscs-B5-V UniCNS-UCS2-H UniCNS-UCS2-V"},
		{"CNS1", 4, "UniCNS-UTF16-H UniCNS-UTF16-V"},
		{"Japan1", 1, "83pv-RKSJ-H 90pv-RKSJ-H Add-RKSJ-H Add-RKSJ-V EUC-H EUC-V H V"},
		{"Japan1", 2, "90ms-RKSJ-H 90ms-RKSJ-V 90msp-RKSJ-H 90msp-RKSJ-V Ext-RKSJ-H Ext-RKSJ-V"},
		{"Japan1", 4, "UniJIS-UCS2-H UniJIS-UCS2-V UniJIS-UCS2-HW-H UniJIS-UCS2-HW-V"},
		{"Japan1", 5, "UniJIS-UTF16-H UniJIS-UTF16-V"},
		{"Korea1", 0, "KSC-EUC-H KSC-EUC-V KSCpc-EUC-H"},
		{"Korea1", 1, "KSCms-UHC-H KSCms-UHC-V KSCms-UHC-HW-H KSCms-UHC-HW-V UniKS-UCS2-H UniKS-UCS2-V"},
		{"Korea1", 2, "UniKS-UTF16-H UniKS-UTF16-V"},
	} {
		for n := range strings.FieldsSeq(x.names) {
			m[n] = CIDSystem{Registry: "Adobe", Ordering: x.ordering, Supplement: x.supplement}
		}
	}
	return m
})

// collections2 are the character collections of the predefined CMaps in PDF 2.0 (ISO 32000-2, table
// 117), by the ordering that they had before.
var collections2 = map[string]CIDSystem{
	"GB1": {"Adobe", "GB1", 5}, "CNS1": {"Adobe", "CNS1", 7}, "Japan1": {"Adobe", "Japan1", 7}, "Korea1": {"Adobe", "KR", 9},
}

// CIDSystem is a character collection (ISO 32000-1, 9.7.3). A Supplement below 0 is none.
type CIDSystem struct {
	Registry, Ordering string
	Supplement         int64
}

// Composite is a Type 0 font as a file has it.
type Composite struct {
	CMap         string // its name
	Embedded     bool
	Of, Font     CIDSystem // of an embedded CMap and of the CIDFont
	Uses         string    // the name of the CMap that an embedded one builds on; empty: none
	Inner        bool      // which is embedded too
	Mode, Stated int64     // the writing mode by the file of the CMap and by its dictionary
	Largest      uint32    // the largest CID
}

// Composite checks how the codes of a composite font are mapped to CIDs (ISO 19005-2, 6.2.11.3).
func (j *Judge) Composite(r cos.Ref, c Composite) {
	identity := c.CMap == "Identity-H" || c.CMap == "Identity-V"
	of, known := c.Of, c.Embedded
	if !c.Embedded {
		if of, known = predefinedCMaps()[c.CMap]; known && Version(j.claims) == cos.V20 {
			of = collections2[of.Ordering]
		}
	}
	maps := clause{a1: "6.3.3.3", a2: "6.2.11.3.3", a4: "6.2.10.3.3", ua1: "7.21.3.3", ua2: "8.4.5.4"}
	switch {
	case identity || c.Embedded:
	case !known:
		j.find("S051", maps, r, nil, "a font whose CMap %s is not embedded", c.CMap)
	default:
		j.find("S051", clause{a1: maps.a1}, r, nil, "a font whose CMap %s is not embedded", c.CMap)
	}
	if !identity && known {
		rule := clause{a1: "6.3.3.1", a2: "6.2.11.3.1", a4: "6.2.10.3.1", ua1: "7.21.3.1", ua2: "8.4.5.3.1"}
		system := func(s CIDSystem) string { return fmt.Sprintf("%s-%s-%d", s.Registry, s.Ordering, s.Supplement) }
		switch {
		case c.Font.Ordering == "" || c.Font.Registry != of.Registry || c.Font.Ordering != of.Ordering:
			j.find("S051", rule, r, nil, "a font of %s with a CMap of %s", system(c.Font), system(of))
		case c.Font.Supplement < 0 || of.Supplement < c.Font.Supplement:
			rule.a1 = ""
			j.find("S051", rule, r, nil, "a font of %s with a CMap of %s", system(c.Font), system(of))
		}
	}
	if !c.Embedded {
		return
	}
	if c.Mode != c.Stated {
		j.find("S051", maps, r, nil, "a CMap of writing mode %d, whose dictionary says %d", c.Mode, c.Stated)
	}
	if c.Uses != "" && !strings.HasPrefix(c.Uses, "Identity-") {
		rule := clause{}
		if !c.Inner { // part 1 has all of them embedded
			rule.a1 = maps.a1
		}
		if _, ok := predefinedCMaps()[c.Uses]; !ok {
			rule.a2, rule.a4, rule.ua1, rule.ua2 = maps.a2, maps.a4, maps.ua1, maps.ua2
		}
		j.find("S051", rule, r, nil, "a CMap that builds on %s", c.Uses)
	}
	if c.Largest > math.MaxUint16 {
		j.find("S056", clause{a1: "6.1.12", a2: "6.1.13"}, r, nil, "a CMap with the CID %d", c.Largest)
	}
}

// ShownFont is a font that pages show, as its dictionary and its program say.
type ShownFont struct {
	Dict      cos.Dict // with Type, Subtype and BaseFont resolved
	Subtype   cos.Name // of the stream of the program; empty: none
	Symbolic  bool
	Encoded   bool // Differences names glyphs
	Unknown   bool // one of them is not in the Adobe Glyph List
	Maps      int  // subtables of cmap of a TrueType program; below 0: it is none, or is not read
	Symbol    bool // there is a subtable of platform 3 and encoding 0,
	Unicode   bool // one of 3 and 1,
	Macintosh bool // one of 1 and 0
	Simple    bool // a simple font of TrueType
	// Seen says that some of its text is shown, Absent that it has no program.
	Seen, Absent bool
}

// Font checks a font that pages show (ISO 19005-2, 6.2.11.2 and 6.2.11.6).
func (j *Judge) Font(r cos.Ref, f ShownFont) {
	dictionary := clause{a1: "6.3.2", a2: "6.2.11.2", a4: "6.2.10.2"}
	sub := name(f.Dict, "Subtype")
	if name(f.Dict, "Type") != "Font" {
		j.find("S051", dictionary, r, nil, "a font whose dictionary has no Type Font")
	}
	if sub != "Type3" && name(f.Dict, "BaseFont") == "" {
		j.find("S051", dictionary, r, nil, "a font without BaseFont")
	}
	j.UTF8(r, name(f.Dict, "BaseFont"))
	if f.Seen && f.Absent && sub != "Type3" {
		j.find("S046", fontClause, r, nil, "a font that is not embedded")
	}
	switch f.Subtype {
	case "", "Type1C", "CIDFontType0C":
	case "OpenType":
		j.find("S051", clause{a1: dictionary.a1}, r, nil, "a font program of the type OpenType")
	default:
		j.find("S051", dictionary, r, nil, "a font program of the type %q", string(f.Subtype))
	}
	if !f.Simple {
		return
	}
	rule := clause{a2: "6.2.11.6", a4: "6.2.10.6", ua1: "7.21.6", ua2: "8.4.5.7"}
	if f.Encoded && !f.Symbolic {
		j.find("S051", clause{a1: "6.3.7"}, r, nil, "a TrueType font that renames glyphs (Differences)")
		if f.Unknown || f.Maps >= 0 && !f.Unicode {
			j.find("S051", rule, r, nil, "a TrueType font that renames glyphs to what Unicode does not have")
		}
	}
	old, late := clause{a2: rule.a2, ua1: rule.ua1}, clause{a4: rule.a4, ua2: rule.ua2}
	switch {
	case f.Maps < 0:
	case f.Symbolic:
		if f.Maps != 1 {
			j.find("S051", clause{a1: "6.3.7"}, r, nil, "a symbolic TrueType font with %d character maps", f.Maps)
			if !f.Symbol {
				j.find("S051", old, r, nil, "a symbolic TrueType font with %d character maps, none of them of symbols", f.Maps)
			}
		}
		if !f.Symbol && !f.Macintosh {
			j.find("S051", late, r, nil, "a symbolic TrueType font without a character map of symbols or of the Macintosh")
		}
	default:
		if f.Maps == 0 || f.Maps == 1 && f.Symbol {
			j.find("S051", old, r, nil, "a TrueType font without a character map")
		}
		if !f.Unicode && !f.Macintosh {
			j.find("S051", late, r, nil, "a TrueType font without a character map of Unicode or of the Macintosh")
		}
	}
}

// Meaning checks the text of a font's code: text is its value in ToUnicode, if mapped (ISO 19005-2,
// 6.2.11.7; ISO 14289-1, 7.21.7, and 2, 8.4.5.8).
func (j *Judge) Meaning(font cos.Ref, name string, code []byte, text string, mapped, known bool) {
	if !mapped && !known {
		j.find("S051", unmappedClause, font, nil,
			"the code %X of the font %s does not say which character it is", code, name)
	}
	if mapped && strings.ContainsAny(text, "\x00\uFEFF\uFFFE") {
		j.find("S051", clause{unicode: "6.2.11.7.2", a4: "6.2.10.7", ua1: "7.21.7", ua2: "8.4.5.8"}, font, nil,
			"the code %X of the font %s maps to U+0000, U+FEFF or U+FFFE", code, name)
	}
}

var unmappedClause = clause{tagged1: "6.3.8", unicode: "6.2.11.7.2", ua1: "7.21.7", ua2: "8.4.5.8"}

// Miscounted checks a font whose codes have no text except in a ToUnicode with lists of another
// length than stated, which does not count (ISO 32000-2, 9.10.3; Adobe Technical Note 5014, 3.4).
func (j *Judge) Miscounted(font cos.Ref, name string) {
	j.find("S051", unmappedClause, font, nil,
		"the ToUnicode of the font %s has a list with another number of entries than it says", name)
}

// ProfilesDiffer checks output intents with different profiles (ISO 19005-2 and 4, 6.2.3).
func (j *Judge) ProfilesDiffer(r cos.Ref) {
	j.find("S054", clause{a1: "6.2.2", a2: "6.2.3", a4: "6.2.3"}, r, nil, "output intents with different profiles")
}

// ProfileElsewhere checks an output intent whose profile is in another file, for PDF/X or another
// standard (ISO 19005-2 and 4, 6.2.3).
func (j *Judge) ProfileElsewhere(r cos.Ref, x bool) {
	rule := clause{a4: "6.2.3"}
	if x {
		rule.a2 = "6.2.3"
	}
	j.find("S054", rule, r, nil, "an output intent whose profile is in another file")
}
