package standard

import (
	"encoding/binary"
	"fmt"

	"example.com/quire/pdf/cos"
)

// What follows judges parts of files of other makers; what this module writes has them right.

// Profile checks an ICC profile by its header (ICC.1, 7.2): that of an output intent (ISO 19005-2
// and 4, 6.2.3), or of a colour space (6.2.4.2). n is how many components the PDF says that it has.
func (j *Judge) Profile(r cos.Ref, data []byte, n int64, intent bool) {
	rule := clause{a1: "6.2.3.2", a2: "6.2.4.2", a4: "6.2.4.2"}
	what, classes := "a colour space", []string{"scnr", "mntr", "prtr", "spac"}
	spaces := map[string]int64{"GRAY": 1, "RGB ": 3, "CMYK": 4, "Lab ": 3}
	if intent {
		rule = clause{a1: "6.2.2", a2: "6.2.3", a4: "6.2.3"}
		what, classes = "an output intent", classes[1:3]
		delete(spaces, "Lab ")
	}
	if len(data) < 128 || string(data[36:40]) != "acsp" || binary.BigEndian.Uint32(data) > uint32(min(len(data), 1<<31-1)) {
		j.find("S054", rule, r, nil, "%s whose profile is not an ICC profile", what)
		return
	}
	if data[8] > 2 { // PDF 1.4 knows ICC.1:1998-09
		j.find("S054", clause{a1: rule.a1}, r, nil, "%s whose profile is of version %d of ICC; want 2", what, data[8])
	}
	if data[8] > 4 {
		rule := rule
		rule.a1 = ""

		j.find("S054", rule, r, nil, "%s whose profile is of version %d of ICC; want 2 to 4", what, data[8])
	}
	known := false
	for _, c := range classes {
		known = known || string(data[12:16]) == c
	}
	if !known {
		j.find("S054", rule, r, nil, "%s whose profile is of the class %q", what, data[12:16])
	}
	components, ok := spaces[string(data[16:20])]
	switch {
	case !ok:
		j.find("S054", rule, r, nil, "%s whose profile is of %q", what, data[16:20])
	case n != components:
		j.find("S054", rule, r, nil, "%s of %d components whose profile has %d", what, n, components)
	}
}

// blendModes are those of ISO 32000-1 and 2, 11.3.5.
var blendModes = map[cos.Name]bool{
	"Normal": true, "Compatible": true, "Multiply": true, "Screen": true, "Overlay": true, "Darken": true, "Lighten": true, "ColorDodge": true,
	"ColorBurn": true, "HardLight": true, "SoftLight": true, "Difference": true, "Exclusion": true, "Hue": true, "Saturation": true,
	"Color": true, "Luminosity": true,
}

// blend judges the blend mode of a graphics state (ISO 19005-2, 6.2.10, and 4, 6.2.9).
func (j *Judge) blend(r cos.Ref, d cos.Dict) {
	judge := func(o cos.Object) {
		if n, ok := cos.As[cos.Name](o); ok && !blendModes[n] {
			j.find("S055", transparencyClause, r, nil, "the blend mode %q", string(n))
		}
	}
	mode := d.Get("BM")
	judge(mode)
	if list, ok := cos.As[cos.Array](mode); ok {
		for _, m := range list {
			judge(m)
		}
	}
}

var transparencyClause = clause{a2: "6.2.10", a4: "6.2.9"}

// Transparency notes a page with transparent content whose group does not say in which colours it
// is blended: an output intent must say it then (ISO 19005-2, 6.2.10, and 4, 6.2.9).
func (j *Judge) Transparency(page cos.Ref) {
	if j.transparent.IsZero() {
		j.transparent = page
	}
}

// ShownGlyph is a character of an embedded font as a page shows it.
type ShownGlyph struct {
	Font    cos.Ref
	Name    string  // of the font
	Code    []byte  // in the string that is shown
	Missing bool    // the program has no glyph for it
	NotDef  bool    // it is the .notdef glyph; with Missing: because its code has no CID
	Width   float64 // in 1/1000 em, as the font's dictionary says
	Program float64 // and by its program; below 0: unknown
}

// Glyph checks a character (ISO 19005-2, 6.2.11, and 4, 6.2.10; ISO 14289-1, 7.21, and 2, 8.4.5).
func (j *Judge) Glyph(g ShownGlyph) {
	at := fmt.Sprintf("the code %X of the font %s", g.Code, g.Name)
	switch {
	case g.NotDef:
		if g.Missing {
			j.find("S053", clause{a1: "6.3.5"}, g.Font, nil, "%s has no CID", at)
		}
		j.find("S053", clause{a2: "6.2.11.8", a4: "6.2.10.9", ua1: "7.21.8", ua2: "8.4.5.9"}, g.Font, nil, "%s shows .notdef", at)
	case g.Missing:
		j.find("S053", clause{a1: "6.3.5", a2: fontClause.a2, a4: fontClause.a4, ua1: fontClause.ua1, ua2: fontClause.ua2}, g.Font, nil, "%s has no glyph in the embedded program", at)
	case g.Program >= 0 && (g.Width-g.Program > 1 || g.Program-g.Width > 1):
		j.find("S053", clause{a1: "6.3.6", a2: "6.2.11.5", a4: "6.2.10.5", ua1: "7.21.5", ua2: "8.4.5.6"}, g.Font, nil,
			"%s is %.0f wide in the dictionary and %.0f in the program", at, g.Width, g.Program)
	}
}

// Program checks a font program that cannot be read.
func (j *Judge) Program(font cos.Ref, name string, err error) {
	j.find("S053", fontClause, font, nil, "the program of the font %s: %v", name, err)
}
