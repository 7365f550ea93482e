package standard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// Finding is a rule of a standard that a file breaks.
type Finding struct {
	Rule    string      // the code, as diagnostics name it
	Clause  string      // of the standard
	Object  cos.Ref     // where; zero: the file as a whole
	Src     *doc.Source // what in the template it was made of; nil: not known
	Message string
}

// mostFindings bounds what a Judge keeps: it needs no more memory for a long file. A clause that
// nothing is found of yet goes before the last finding of one that several are of.
const mostFindings = 20

// Judge checks a file against the standards that it claims. It is given every object, operator and
// closed structure element once, as the writer writes them or as a reader walks a file. It keeps
// none of them, and needs no more memory for a long file. It is for one file and one goroutine.
type Judge struct {
	claims   []ID
	version  cos.Version
	findings []Finding

	catalog, intents bool
	read             bool       // the file is read, not written
	unspoken         bool       // its catalog names no language
	placed           Placed     // the annotation that is judged of a file that is read
	files            bool       // some are attached
	profile          int64      // colour components of the output intent; 0: there is none
	coloured         cos.Ref    // an annotation with a colour of its own
	device           [5]cos.Ref // the first content in the device colour of so many components
	marked           int        // open marked-content sequences
	saved            int        // graphics states within each other
	level            int        // of the heading before
	unlevelled       bool       // there are headings H
	transparent      cos.Ref    // the first page whose transparent content has no colours to be blended in
}

// NewJudge returns the Judge of a file of version v that claims the standards that Set returned.
// Without any, it has no findings.
func NewJudge(claims []ID, v cos.Version) *Judge {
	return &Judge{claims: claims, version: v}
}

// find records a fault against each claimed standard that has a rule of it.
func (j *Judge) find(rule string, c clause, at cos.Ref, src *doc.Source, format string, args ...any) {
	for _, id := range j.claims {
		if s := c.of(id); s != "" {
			j.add(rule, s, at, src, format, args...)
		}
	}
}

func (j *Judge) add(rule, clause string, at cos.Ref, src *doc.Source, format string, args ...any) {
	again := -1 // the last finding of a clause that another is of too
	if len(j.findings) == mostFindings {
		if slices.ContainsFunc(j.findings, func(f Finding) bool { return f.Clause == clause }) {
			return
		}
		for i, f := range j.findings {
			if slices.ContainsFunc(j.findings[:i], func(o Finding) bool { return o.Clause == f.Clause }) {
				again = i
			}
		}
		if again < 0 {
			return
		}
	}
	f := Finding{rule, clause, at, src, fmt.Sprintf(format, args...)}
	switch {
	case slices.Contains(j.findings, f): // what is drawn twice is told once
	case again >= 0:
		j.findings = append(slices.Delete(j.findings, again, again+1), f)
	default:
		j.findings = append(j.findings, f)
	}
}

func name(d cos.Dict, key cos.Name) cos.Name {
	n, _ := cos.As[cos.Name](d.Get(key))
	return n
}

func is(o cos.Object, n cos.Name) bool {
	v, named := cos.As[cos.Name](o)
	return named && v == n
}

func isTrue(o cos.Object) bool { return o == cos.Bool(true) }

// Placed is the position of an annotation of an existing file.
type Placed struct {
	Tagged   bool // in the structure tree, as the parent tree has it (ISO 32000-2, 14.7.5.4),
	Artifact bool // within an element Artifact there
	Outside  bool // its rectangle is outside the crop box of its page
}

// Annotation is Object for the annotation of a file that is read.
func (j *Judge) Annotation(r cos.Ref, d cos.Dict, p Placed) {
	j.placed = p
	j.Object(r, d, nil)
	j.placed = Placed{}
}

// Object checks the dictionary of an indirect object, or of a stream, that is not a structure
// element: r is its number. src may be nil.
func (j *Judge) Object(r cos.Ref, d cos.Dict, src *doc.Source) {
	if len(j.claims) == 0 {
		return
	}
	switch name(d, "Type") {
	case "Catalog":
		j.catalogue(r, d)
	case "Page":
		if tabs := name(d, "Tabs"); d.Get("Annots") != nil && tabs != "S" {
			rule := clause{ua1: "7.18.3", ua2: "8.9.3.3"}
			if tabs == "A" || tabs == "W" { // which PDF 2.0 has too
				rule.ua2 = ""
			}
			j.find("S044", rule, r, src, "a page with annotations without Tabs S")
		}
	case "Annot":
		j.annotation(r, d, src)
	case "Filespec":
		if !j.read { // of a file that is read Specification is shown
			j.specification(r, d, true, src)
		}
	case "EmbeddedFile":
		if !j.read {
			j.mediaType(r, name(d, "Subtype"), src)
		}
	case "OutputIntent":
		j.intent(d)
	case "Action":
		j.action(r, d, src)
	case "Font":
		// The 14 standard fonts need no descriptor; they are not embedded either.
		if sub := name(d, "Subtype"); (sub == "Type1" || sub == "TrueType" || sub == "MMType1") && d.Get("FontDescriptor") == nil {
			j.find("S046", fontClause, r, src, "a font that is not embedded")
		}
		j.font(r, d, src)
	case "ExtGState":
		j.state(r, d, src)
		j.seeThrough(r, d, src)
	case "FontDescriptor":
		if d.Get("FontFile") == nil && d.Get("FontFile2") == nil && d.Get("FontFile3") == nil {
			j.find("S046", fontClause, r, src, "a font that is not embedded")
		}
	}
	if d.Get("AA") != nil {
		rule := clause{a1: "6.6.2", a2: "6.5.2", a4: "6.6.3"}
		switch {
		case name(d, "Type") == "Page":
			rule.a1 = ""
		case name(d, "Subtype") == "Widget" || d.Get("FT") != nil:
			rule.a2, rule.a4 = "6.4.1", ""
		case name(d, "Type") != "Catalog": // an annotation that none of these parts takes
			rule.a1, rule.a2 = "", ""
		}
		aa, read := cos.As[cos.Dict](d.Get("AA"))
		if read && !slices.ContainsFunc(aa, func(x cos.Entry) bool { return !triggers4[x.Key] }) {
			rule.a4 = ""
		}
		j.find("S045", rule, r, src, "additional actions")
	}
	j.stream(r, d, src)
	j.keys(r, d, src)
	if title, ok := cos.TextOf(d.Get("Title")); ok && strings.ContainsFunc(title, IsPrivate) {
		j.find("S030", clause{ua1: "7.2", ua2: "8.6"}, r, src, "a private use character in the title %q", title)
	}
}

// font judges the dictionary of a font (ISO 19005-2, 6.2.11, and 4, 6.2.10; ISO 14289-1, 7.21, and
// 2, 8.4.5). FontDescriptor is a reference where a file is written, whose fonts are Type 0.
func (j *Judge) font(r cos.Ref, d cos.Dict, src *doc.Source) {
	sub := name(d, "Subtype")
	descriptor, read := cos.As[cos.Dict](d.Get("FontDescriptor"))
	switch sub {
	case "CIDFontType0":
		j.subset(r, d, descriptor, "CIDSet", src)
	case "CIDFontType2":
		j.subset(r, d, descriptor, "CIDSet", src)
		m := d.Get("CIDToGIDMap")
		if n, named := cos.As[cos.Name](m); (m == nil || named && n != "Identity") && !absent(d.Get("FontDescriptor")) {
			j.find("S051", clause{a1: "6.3.3.2", a2: "6.2.11.3.2", a4: "6.2.10.3.2", ua1: "7.21.3.2", ua2: "8.4.5.3.2"}, r, src, "a font of TrueType outlines without CIDToGIDMap")
		}
	case "Type1", "MMType1", "TrueType":
		if !read {
			return
		}
		first, ok1 := cos.As[cos.Int](d.Get("FirstChar"))
		last, ok2 := cos.As[cos.Int](d.Get("LastChar"))
		widths, _ := cos.As[cos.Array](d.Get("Widths"))
		if !ok1 || !ok2 || int64(len(widths)) != int64(last)-int64(first)+1 {
			j.find("S051", clause{a1: "6.3.2", a2: "6.2.11.2", a4: "6.2.10.2"}, r, src, "a font without a width of each of its characters")
		}
		if sub != "TrueType" {
			j.subset(r, d, descriptor, "CharSet", src)
		}
		if sub == "TrueType" {
			j.encoding(r, d, descriptor, src)
		}
	case "Type0":
		// Glyphs that are numbered by the font alone say nothing (ISO 19005-2, 6.2.11.7.2).
		if e := name(d, "Encoding"); (e == "Identity-H" || e == "Identity-V") && d.Get("ToUnicode") == nil {
			j.find("S051", clause{tagged1: "6.3.8", unicode: "6.2.11.7.2"}, r, src, "a font without ToUnicode")
		}
	case "Type3":
	default:
		j.find("S051", clause{a1: "6.3.2", a2: "6.2.11.2", a4: "6.2.10.2"}, r, src, "a font of the type %q", string(sub))
	}
}

// absent reports whether the descriptor of a font that is read has no program.
func absent(descriptor cos.Object) bool {
	d, read := cos.As[cos.Dict](descriptor)
	return descriptor == nil || read && d.Get("FontFile") == nil && d.Get("FontFile2") == nil && d.Get("FontFile3") == nil
}

// encoding judges how a TrueType font finds its glyphs: by Unicode, or by itself alone where it
// says that it is symbolic.
func (j *Judge) encoding(r cos.Ref, d, descriptor cos.Dict, src *doc.Source) {
	const symbolic = 4
	flags, _ := cos.As[cos.Int](descriptor.Get("Flags"))
	rule := clause{a1: "6.3.7", a2: "6.2.11.6", a4: "6.2.10.6", ua1: "7.21.6", ua2: "8.4.5.7"}
	base := d.Get("Encoding")
	if e, ok := cos.As[cos.Dict](base); ok {
		base = e.Get("BaseEncoding")
	}
	switch {
	case flags&symbolic != 0:
		if d.Get("Encoding") != nil {
			j.find("S051", rule, r, src, "a symbolic TrueType font with an encoding")
		}
	case !is(base, "MacRomanEncoding") && !is(base, "WinAnsiEncoding"):
		j.find("S051", rule, r, src, "a TrueType font whose encoding is neither MacRomanEncoding nor WinAnsiEncoding")
	}
}

// state judges a graphics state: what a device alone could print has no place in an archive (ISO
// 19005-2 and 4, 6.2.5).
func (j *Judge) state(r cos.Ref, d cos.Dict, src *doc.Source) {
	j.blend(r, d)
	rule := clause{a1: "6.2.8", a2: "6.2.5", a4: "6.2.5"}
	if d.Get("TR") != nil || d.Get("TR2") != nil && !is(d.Get("TR2"), "Default") {
		j.find("S045", rule, r, src, "a transfer function")
	}
	if d.Get("HTP") != nil {
		j.find("S045", clause{a2: "6.2.5"}, r, src, "the key HTP of a graphics state")
	}
	if d.Get("HTO") != nil {
		j.find("S045", clause{a4: "6.2.5"}, r, src, "the key HTO of a graphics state")
	}
}

// version2 is what the catalog may say of the version of a file of PDF 2 (ISO 19005-4, 6.1.12).
var version2 = regexp.MustCompile(`^2\.[0-9]$`)

var fontClause = clause{a1: "6.3.4", a2: "6.2.11.4.1", a4: "6.2.10.4.1", ua1: "7.21.4.1", ua2: "8.4.5.5.1"}

// intent notes the output intent of PDF/A. The profile is a reference to an RGB one where a file is
// written, and the dictionary of its stream where one is read.
func (j *Judge) intent(d cos.Dict) {
	profile := d.Get("DestOutputProfile")
	if name(d, "S") != "GTS_PDFA1" || profile == nil {
		return
	}
	j.profile = 3
	if read, ok := cos.As[cos.Dict](profile); ok {
		n, _ := cos.As[cos.Int](read.Get("N"))
		j.profile = int64(n)
	}
}

// stream judges what a stream dictionary may not say; no other dictionary has these keys
// with these values.
func (j *Judge) stream(r cos.Ref, d cos.Dict, src *doc.Source) {
	filters, ok := cos.As[cos.Array](d.Get("Filter"))
	if !ok {
		filters = cos.Array{d.Get("Filter")}
	}
	for _, f := range filters {
		if is(f, "LZWDecode") || is(f, "Crypt") {
			j.find("S045", clause{a1: "6.1.10", a2: "6.1.7.2", a4: "6.1.6.2"}, r, src, "filter %s", f.AppendPDF(nil)[1:])
		} else if n, ok := cos.As[cos.Name](f); ok && d.Get("Length") != nil {
			if _, known := filtersOfStreams[n]; !known {
				j.find("S045", clause{a2: "6.1.7.2", a4: "6.1.6.2"}, r, src, "filter %s", string(n))
			}
		}
	}
	j.old(r, d, filters, src)
	if name(d, "Subtype") != "Image" {
		return
	}
	for _, key := range [...]cos.Name{"Alternates", "OPI"} {
		if d.Get(key) != nil {
			j.find("S045", clause{a1: "6.2.4", a2: "6.2.8", a4: "6.2.7.1"}, r, src, "an image with %s", string(key))
		}
	}
	if isTrue(d.Get("Interpolate")) {
		j.find("S045", clause{a1: "6.2.4", a2: "6.2.8", a4: "6.2.7.1"}, r, src, "an image with Interpolate")
	}
	switch name(d, "ColorSpace") {
	case "DeviceGray":
		j.inDevice(1, r)
	case "DeviceRGB":
		j.inDevice(3, r)
	case "DeviceCMYK":
		j.inDevice(4, r)
	}
}

func (j *Judge) inDevice(components int, at cos.Ref) {
	if j.device[components].IsZero() {
		j.device[components] = at
	}
}

func (j *Judge) catalogue(r cos.Ref, d cos.Dict) {
	j.catalog = true
	if d.Get("Metadata") == nil {
		j.find("S043", clause{a1: "6.7.2", a2: "6.6.2.1", a4: "6.7.2.1", ua1: "7.1", ua2: "8.11.1"}, r, nil, "no metadata")
	}
	if v := d.Get("Version"); v != nil && !version2.MatchString(string(name(d, "Version"))) {
		j.find("S043", clause{a4: "6.1.12"}, r, nil, "the version %s in the catalog", v.AppendPDF(nil))
	}
	if d.Get("OCProperties") != nil {
		j.find("S043", clause{a1: "6.1.13"}, r, nil, "optional content")
	}
	if d.Get("OutputIntents") != nil {
		j.intents = true
	}
	lang, _ := cos.TextOf(d.Get("Lang"))
	if !IsLanguage(lang) {
		rule := clause{ua1: "7.2", ua2: "8.4.4"}
		if j.unspoken && d.Get("Lang") == nil { // each text may name its own
			rule.ua1 = ""
		}
		if lang != "" {
			rule.tagged1, rule.tagged = langClause.tagged1, langClause.tagged
		}
		j.find("S002", rule, r, nil, "%q is not a language of the document", lang)
	}
	marks, _ := cos.As[cos.Dict](d.Get("MarkInfo"))
	if !isTrue(marks.Get("Marked")) {
		j.find("S043", clause{tagged1: "6.8.2.2", tagged: "6.7.2.2", ua1: "6.2", ua2: "6.2"}, r, nil, "the file is not marked as tagged")
	}
	if isTrue(marks.Get("Suspects")) {
		j.find("S043", clause{ua1: "7.1"}, r, nil, "a file whose tags are suspect")
	}
	if d.Get("StructTreeRoot") == nil {
		j.find("S043", clause{tagged1: "6.8.3.3", tagged: "6.7.3.3", ua1: "7.1", ua2: "8.2.1"}, r, nil, "no structure tree")
	}
	view, _ := cos.As[cos.Dict](d.Get("ViewerPreferences"))
	if !isTrue(view.Get("DisplayDocTitle")) {
		j.find("S001", clause{ua1: "7.1", ua2: "8.11.2"}, r, nil, "the title is not shown")
	}
}

// triggers4 are those that additional actions may have (ISO 19005-4, 6.6.3).
var triggers4 = map[cos.Name]bool{"E": true, "X": true, "D": true, "U": true, "Fo": true, "Bl": true}

// kinds judges what annotations of a type need or may not be (ISO 14289-2, 8.9.2; 14289-1, 7.18.2).
func (j *Judge) kinds(r cos.Ref, d cos.Dict, src *doc.Source) {
	const invisible, hidden, noView, toggled = 1, 2, 32, 256
	f, _ := cos.As[cos.Int](d.Get("F"))
	if j.tagged(d) && !j.placed.Artifact && (f&invisible != 0 || f&noView != 0 && f&toggled == 0) {
		j.find("S044", clause{ua2: "8.9.2.2"}, r, src, "an annotation in the structure tree that is not shown")
	}
	_, described := cos.TextOf(d.Get("Contents"))
	find := func(c clause, what string) {
		j.find("S044", c, r, src, "an annotation of type %s%s", string(name(d, "Subtype")), what)
	}
	const without = " without Contents"
	switch name(d, "Subtype") {
	case "Stamp":
		if _, named := cos.As[cos.Name](d.Get("Name")); !described && !named {
			find(clause{ua2: "8.9.2.4.7"}, without+" or Name")
		}
	case "Ink":
		if !described {
			find(clause{ua2: "8.9.2.4.8"}, without)
		}
	case "Screen":
		if !described {
			find(clause{ua2: "8.9.2.4.12"}, without)
		}
	case "3D", "RichMedia":
		if !described {
			find(clause{ua2: "8.9.2.4.19"}, without)
		}
	case "Sound", "Movie":
		find(clause{ua2: "8.9.2.4.11"}, "")
	case "TrapNet":
		c := clause{ua1: "7.18.2", ua2: "8.9.2.4.15"}
		if f&hidden != 0 || j.placed.Outside {
			c.ua1 = ""
		}
		find(c, "")
	}
}

// tagged reports whether an annotation is in the structure tree.
func (j *Judge) tagged(d cos.Dict) bool {
	if j.read {
		return j.placed.Tagged
	}
	return d.Get("StructParent") != nil
}

// emptyRect reports whether an annotation has neither width nor height.
func emptyRect(d cos.Dict) bool {
	b, _ := cos.As[cos.Array](d.Get("Rect"))
	same := func(x, y cos.Object) bool {
		return x != nil && y != nil && string(x.AppendPDF(nil)) == string(y.AppendPDF(nil))
	}
	return len(b) == 4 && same(b[0], b[2]) && same(b[1], b[3])
}

// annotation judges an annotation (ISO 19005-2 and 4, 6.3; ISO 14289-1, 7.18, and 2, 8.9).
func (j *Judge) annotation(r cos.Ref, d cos.Dict, src *doc.Source) {
	sub := name(d, "Subtype")
	switch sub {
	case "Text", "Link", "FreeText", "Line", "Square", "Circle", "Highlight", "Underline", "Squiggly", "StrikeOut", "Stamp", "Ink",
		"Popup", "PrinterMark", "TrapNet", "Widget": // those of PDF 1.4 that stay as they are
	default:
		j.find("S044", clause{a1: "6.5.2"}, r, src, "an annotation of type %s", string(sub))
	}
	switch sub {
	case "Polygon", "PolyLine", "Caret", "Watermark", "Redact":
	case "FileAttachment":
		if a := archival(j.claims); a == PDFA4 {
			j.find("S044", clause{a4: "6.3.1"}, r, src, "an annotation of type %s", string(sub))
		}
	case "Projection":
		j.find("S044", clause{a2: "6.3.1"}, r, src, "an annotation of type %s", string(sub))
	case "Text", "Link", "FreeText", "Line", "Square", "Circle", "Highlight", "Underline", "Squiggly", "StrikeOut", "Stamp", "Ink",
		"Popup", "PrinterMark", "TrapNet", "Widget":
	case "3D", "RichMedia", "Sound", "Screen", "Movie":
		rule := clause{a2: "6.3.1", a4: "6.3.1"}
		if archival(j.claims) == PDFA4e && (sub == "3D" || sub == "RichMedia") {
			rule.a4 = "" // annex B is there for these
		}
		j.find("S044", rule, r, src, "an annotation of type %s", string(sub))
	default:
		j.find("S044", clause{a2: "6.3.1", a4: "6.3.1"}, r, src, "an annotation of type %s", string(sub))
	}
	const printed, hidden, toggled = 4, 1 | 2 | 32, 256 // invisible, hidden, no view; toggle no view
	f, _ := cos.As[cos.Int](d.Get("F"))
	if f&toggled != 0 {
		j.find("S044", clause{a2: "6.3.2", a4: "6.3.2"}, r, src, "an annotation that is shown or not as the pointer is over it")
	}
	if f&printed == 0 || f&hidden != 0 {
		rule := clause{a1: "6.5.3", a2: "6.3.2", a4: "6.3.2"}
		if sub == "Popup" && d.Get("F") == nil { // which need not have flags
			rule.a2, rule.a4 = "", ""
		}
		j.find("S044", rule, r, src, "an annotation that is not printed or not shown")
	}
	if a := d.Get("CA"); a != nil && !isOne(a) {
		j.find("S044", clause{a1: "6.5.3"}, r, src, "an annotation that lets through what is behind it")
	}
	if d.Get("C") != nil || d.Get("IC") != nil {
		j.coloured = r
	}
	j.appearance(r, d, src)
	tagged, nothing := j.tagged(d), sub == "Widget" && emptyRect(d)
	unseen := f&2 != 0 || j.placed.Outside
	switch {
	case !tagged:
		outside := clause{ua1: "7.18.1", ua2: "8.9.2"}
		switch sub {
		case "Widget":
			outside.ua1 = "7.18.4"
		case "Link":
			outside.ua1 = "7.18.5"
		}
		if unseen || sub == "PrinterMark" {
			outside.ua1 = ""
		}
		if nothing || j.read { // it is an artifact then (ISO 14289-2, 8.9.2.1)
			outside.ua2 = ""
		}
		j.find("S044", outside, r, src, "an annotation outside the structure tree")
		if text, _ := cos.TextOf(d.Get("Contents")); text == "" && sub != "Widget" && !unseen {
			j.find("S044", clause{ua1: "7.18.1"}, r, src, "an annotation without a description")
		}
	case nothing && !j.placed.Artifact:
		j.find("S044", clause{ua2: "8.9.2.4.13"}, r, src, "a widget that shows nothing and is not an artifact")
	}
	if a, ok := cos.As[cos.Dict](d.Get("A")); ok {
		j.action(r, a, src)
	}
	j.kinds(r, d, src)
	if text, _ := cos.TextOf(d.Get("Contents")); sub == "Link" && text == "" {
		rule := clause{ua1: "7.18.5", ua2: "8.9.4.2"}
		if j.read { // part 2 does not ask for it
			rule.ua2 = ""
		}
		if unseen {
			rule.ua1 = ""
		}
		j.find("S044", rule, r, src, "a link without Contents")
	}
}

// appearance judges what an annotation shows (ISO 19005-2 and 4, 6.3.3 and 6.4.1). N is a
// dictionary where it has states, which those of buttons have, and only those; of a button whose
// field is another object FT is not known where a file is written.
func (j *Judge) appearance(r cos.Ref, d cos.Dict, src *doc.Source) {
	rule := clause{a1: "6.5.3", a2: "6.3.3", a4: "6.3.3"}
	sub := name(d, "Subtype")
	ap, _ := cos.As[cos.Dict](d.Get("AP"))
	switch {
	case ap == nil && first1(j.claims):
		if sub == "Widget" {
			j.find("S044", clause{a1: "6.9"}, r, src, "a form field without an appearance")
		}
	case ap == nil && sub != "Popup" && sub != "Link" && !emptyRect(d):
		j.find("S044", rule, r, src, "an annotation without an appearance")
	case ap != nil && (len(ap) != 1 || ap.Get("N") == nil):
		j.find("S044", rule, r, src, "an annotation with another appearance than its normal one")
	case ap != nil:
		_, states := cos.As[cos.Dict](ap.Get("N"))
		if field := d.Get("FT"); is(field, "Btn") != states && (field != nil || sub != "Widget") {
			j.find("S044", rule, r, src, "an appearance with states that is not of a button, or one of a button without them")
		}
	}
	if sub == "Widget" && d.Get("A") != nil {
		j.find("S044", clause{a1: "6.6.1", a2: "6.4.1", a4: "6.4.1"}, r, src, "a form field that starts an action")
	}
}

// markup are the markup annotations (ISO 32000-2, table 171).
var markup = typesOf("Text FreeText Line Square Circle Polygon PolyLine Highlight Underline Squiggly StrikeOut Caret Stamp Ink FileAttachment Redact Projection Sound")

// Enclosure is an annotation in the structure tree.
type Enclosure struct {
	Annotation cos.Ref
	Dict       cos.Dict // of the annotation, with TU of its field
	In         cos.Name // the standard type of the element that it is the object of,
	Alt        string   // and its alternative text
	Labelled   bool     // the element has other kids, such as a Lbl
	Described  bool     // which it has, though it may be empty
	Fieldless  bool     // it is a widget of no field
	Placed     Placed   // of a file that is read
	Src        *doc.Source
}

// Enclosed checks the element of an annotation (ISO 14289-1, 7.18, and 2, 8.2.5.20, 8.9 and 8.10).
func (j *Judge) Enclosed(e Enclosure) {
	const hidden = 2
	sub := name(e.Dict, "Subtype")
	flags, _ := cos.As[cos.Int](e.Dict.Get("F"))
	contents, _ := cos.TextOf(e.Dict.Get("Contents"))
	label, _ := cos.TextOf(e.Dict.Get("TU"))
	find := func(c clause, format string, args ...any) {
		if flags&hidden != 0 || e.Placed.Outside {
			c.ua1 = ""
		}
		if e.Placed.Artifact {
			c.ua2 = ""
		}
		j.find("S044", c, e.Annotation, e.Src, format, args...)
	}
	switch sub {
	case "Widget":
		labelled := clause{ua2: "8.10.2.3"}
		if e.Fieldless {
			labelled.ua2 = ""
		}
		if e.In != "Form" {
			rule := clause{ua1: "7.18.4", ua2: "8.10.1"}
			if e.Fieldless {
				rule.ua2 = ""
			}
			find(rule, "a form field in an element %s", string(e.In))
		}
		if label == "" && e.Alt == "" {
			find(clause{ua1: "7.18.1"}, "a form field that does not say what it is for")
		}
		if e.Dict.Get("Contents") == nil && !e.Labelled {
			find(labelled, "a form field without a label")
		}
		if e.Dict.Get("Contents") == nil && e.Dict.Get("AA") != nil {
			find(labelled, "a form field with additional actions and without Contents")
		}
	case "Link":
		c := clause{ua1: "7.18.5", ua2: "8.2.5.20"}
		if e.In == "Reference" {
			c.ua2 = ""
		}
		if e.In != "Link" {
			find(c, "a link in an element %s", string(e.In))
		}
		if contents == "" && e.Alt == "" {
			find(clause{ua1: "7.18.1"}, "a link without a description")
		}
	case "Popup":
		find(clause{ua2: "8.9.2.4.9"}, "a popup in the structure tree")
	case "PrinterMark":
		find(clause{ua1: "7.18.8", ua2: "8.9.2.4.14"}, "a printer's mark in the structure tree")
	default:
		if e.In != "Annot" {
			rule := clause{ua1: "7.18.1"}
			switch {
			case sub == "Watermark":
				rule.ua2 = "8.9.2.4.16"
			case markup[sub]:
				rule.ua2 = "8.9.2.3"
			}
			find(rule, "an annotation in an element %s", string(e.In))
		}
		if contents == "" && e.Alt == "" {
			find(clause{ua1: "7.18.1"}, "an annotation without a description")
		}
	}
	if e.Dict.Get("Contents") != nil && (e.Alt != "" || e.Described) && e.Alt != contents {
		find(clause{ua2: "8.9.4.2"}, "an annotation whose Contents is not the alternative text of its element")
	}
}

// action judges an action (ISO 19005-2, 6.5.1, and 4, 6.6.1; ISO 14289-2, 8.8).
func (j *Judge) action(r cos.Ref, a cos.Dict, src *doc.Source) {
	switch s := name(a, "S"); s {
	default:
		j.find("S045", clause{a1: "6.6.1", a2: "6.5.1", a4: "6.6.1"}, r, src, "an action of type %s", string(s))
	case "GoToE":
		j.find("S045", clause{a1: "6.6.1"}, r, src, "an action of type %s", string(s))
	case "RichMediaExecute", "GoToDp":
		j.find("S045", clause{a1: "6.6.1", a2: "6.5.1"}, r, src, "an action of type %s", string(s))
	case "Launch", "Sound", "Movie", "ResetForm", "ImportData", "Hide", "SetOCGState", "Rendition", "Trans", "GoTo3DView":
		rule := clause{a1: "6.6.1", a2: "6.5.1", a4: "6.6.1"}
		if archival(j.claims) == PDFA4e && s == "GoTo3DView" {
			rule.a4 = ""
		}
		j.find("S045", rule, r, src, "an action of type %s", string(s))
	case "JavaScript":
		j.find("S045", clause{a1: "6.6.1", a2: "6.5.1"}, r, src, "an action of type %s", string(s))
	case "Named":
		switch name(a, "N") {
		case "NextPage", "PrevPage", "FirstPage", "LastPage":
		default:
			j.find("S045", clause{a1: "6.6.1", a2: "6.5.1", a4: "6.6.1"}, r, src, "an action named %q", string(name(a, "N")))
		}
	case "GoToR", "Thread", "URI", "SubmitForm":
	case "GoTo":
		if a.Get("SD") == nil {
			j.find("S044", clause{ua2: "8.8"}, r, src, "a link within the document without a structure destination")
		}
	}
}

// Content checks an operator of a page or of a form drawn on one, in the order of the stream. It
// uses the operands of BDC and BMC.
func (j *Judge) Content(page cos.Ref, op []byte, args []cos.Object) {
	switch string(op) {
	case "q":
		if j.saved++; j.saved > mostSaved {
			j.find("S056", savedClause, page, nil, "more than %d graphics states saved within each other", mostSaved)
		}
	case "Q":
		j.saved = max(j.saved-1, 0)
	case "BDC", "BMC":
		j.marked++
		if len(args) == 0 {
			j.find("S042", clause{ua1: "7.1", ua2: "8.2.2"}, page, nil, "a marked-content sequence without a tag")
		}
	case "EMC":
		j.marked--
	case "Tj", "TJ", "'", "\"", "S", "s", "f", "F", "f*", "B", "B*", "b", "b*", "sh", "Do", "EI":
		if j.marked == 0 {
			j.find("S042", clause{ua1: "7.1", ua2: "8.2.2"}, page, nil, "content that is neither an artifact nor in the structure tree (%s)", string(op))
		}
	case "g", "G":
		j.inDevice(1, page)
	case "rg", "RG":
		j.inDevice(3, page)
	case "k", "K":
		j.inDevice(4, page)
	}
}

// Heading checks the level of a heading of an existing file, in reading order, in which elements do
// not close. The level of a written heading is checked when it is made. Level 0 is that of H.
func (j *Judge) Heading(at cos.Ref, level int) {
	switch {
	case level == 0:
		j.find("S020", clause{ua2: "8.2.5.12"}, at, nil, "a heading H, which has no level")
		if j.level > 0 {
			j.find("S020", clause{ua1: "7.4.4"}, at, nil, "a heading H among those with levels")
		}
		j.unlevelled = true
		return
	case j.unlevelled:
		j.find("S020", clause{ua1: "7.4.4"}, at, nil, "a heading H%d among those without levels", level)
	case level > j.level+1:
		j.find("S020", clause{ua1: "7.4.2"}, at, nil, "a heading of level %d after one of level %d", level, j.level)
	}
	j.level = level
}

// Elem checks a complete structure element. Order and levels of headings are checked elsewhere,
// because elements close in another order than they are read.
func (j *Judge) Elem(e *tag.Elem) {
	if len(j.claims) == 0 {
		return
	}
	cell := e.Type == tag.TD || e.Type == tag.TH && e.Scope != tag.ScopeNone
	if cell && e.Parent != nil && e.Parent.Type == tag.TR && e.Lang == "" && e.Alt == "" {
		return // right in every standard, and most elements are such
	}
	j.elem(e)
}

func (j *Judge) elem(e *tag.Elem) {
	if !j.read && e.Parent != nil && e.Parent.Parent != nil && !written()[e.Parent.Type][e.Type] { // else Nested judges it
		c := tableOfTypes
		if tabular(e.Type) || tabular(e.Parent.Type) { // PDF 1.7 has rules for tables and lists only
			c.ua1 = "7.2"
		}
		j.find("S040", c, e.Ref(), e.Src, "%s within %s", e.Type, e.Parent.Type)
	}
	if e.Lang != "" {
		j.Language(e.Ref(), e.Lang, e.Src)
	}
	switch e.Type {
	case tag.Form:
		elems, content, annotations := e.Holds()
		c := clause{ua1: "7.18.4"}
		if annotations > 1 {
			c.ua2 = "8.10.1"
		}
		if annotations > 1 || !e.Printed && (annotations != 1 || elems+content > 0) {
			j.find("S041", c, e.Ref(), e.Src, "an element Form that does not hold one form field alone")
		}
	case tag.Figure:
		if e.Alt == "" && e.Instead == tag.NothingInstead || e.Instead == tag.EmptyAlt && !slices.Contains(j.claims, PDFUA2) {
			j.find("S028", clause{ua1: "7.3", ua2: "8.2.5.28.2"}, e.Ref(), e.Src, "a figure without alternative text")
		}
	case tag.TR:
		if elems, _, _ := e.Holds(); !j.read && elems == 0 {
			j.find("S041", clause{ua1: "7.5", ua2: "8.2.5.26"}, e.Ref(), e.Src, "a table row without cells")
		}
	case tag.LI:
		if _, content, _ := e.Holds(); content > 0 {
			j.find("S041", clause{ua1: "7.6", ua2: "8.2.5.25"}, e.Ref(), e.Src, "content of a list item outside its Lbl and LBody")
		}
	case tag.TH:
		if !j.read && e.Scope == tag.ScopeNone { // else Table judges it
			j.find("S041", clause{ua1: "7.5", ua2: "8.2.5.26"}, e.Ref(), e.Src, "a header cell without Scope")
		}
	}
	if strings.ContainsFunc(e.Alt, IsPrivate) {
		j.find("S030", clause{ua1: "7.2", ua2: "8.4.3"}, e.Ref(), e.Src, "a private use character in alternative text")
	}
}

// Language checks the value of Lang of an element or of a marked-content sequence.
func (j *Judge) Language(at cos.Ref, lang string, src *doc.Source) {
	rule := langClause
	if lang == "" { // archives take one that is not known
		rule.tagged1, rule.tagged = "", ""
	}
	if !IsLanguage(lang) {
		j.find("S031", rule, at, src, "%q is not a language tag", lang)
	}
}

// Replaced checks the texts that replace an element or a marked-content sequence.
func (j *Judge) Replaced(at cos.Ref, actual, alt string) {
	if strings.ContainsFunc(actual, IsPrivate) {
		j.find("S030", clause{a4: "6.2.10.8", ua2: "8.4.3"}, at, nil, "a private use character in a replacement text")
	}
	if strings.ContainsFunc(alt, IsPrivate) {
		j.find("S030", clause{ua2: "8.4.3"}, at, nil, "a private use character in an alternative text")
	}
}

// tabular reports whether a type is a part of tables, lists or tables of contents.
func tabular(t tag.Type) bool {
	switch t {
	case tag.Table, tag.THead, tag.TBody, tag.TFoot, tag.TR, tag.TH, tag.TD, tag.L, tag.LI, tag.LBody, tag.TOC, tag.TOCI:
		return true
	default:
		return false
	}
}

// Finish checks the file as a whole and returns the findings, each once, at most 20: the first of
// each of as many clauses as possible.
func (j *Judge) Finish(t cos.Trailer) []Finding {
	if len(j.claims) == 0 {
		return nil
	}
	if (j.version == cos.V20) != (Version(j.claims) == cos.V20) { // those of PDF 1 take any version of it
		rule := clause{a1: "6.1.2", a2: "6.1.2", a4: "6.1.2", ua1: "6.1", ua2: "6.1"}
		if j.read { // part 1 does not say which it is
			rule.a1 = ""
		}
		j.find("S043", rule, cos.Ref{}, nil, "PDF %s", j.version)
	}
	if !j.catalog {
		j.add("S043", "ISO 32000-2, 7.7.2", t.Root, nil, "no catalog")
	}
	if e := t.More.Get("Encrypt"); e != nil {
		if d, read := cos.As[cos.Dict](e); read {
			j.encryption(d)
		}
		j.find("S043", clause{a1: "6.1.3", a2: "6.1.3", a4: "6.1.3"}, cos.Ref{}, nil, "an encrypted file")
	}
	if !t.Info.IsZero() {
		j.find("S043", clause{a4: "6.1.3"}, t.Info, nil, "an information dictionary")
	}
	if archival(j.claims) == PDFA4f && !j.files {
		j.add("S050", needsFiles, cos.Ref{}, nil, "no attached file")
	}
	j.colours()
	if j.marked != 0 {
		j.find("S042", clause{ua1: "7.1", ua2: "8.2.2"}, cos.Ref{}, nil, "marked-content sequences that are not closed")
	}
	return j.findings
}

// colours judges device colours by the output intent: one of as many components must define them;
// shades of grey are within all (ISO 19005-2 and 4, 6.2.4.3).
func (j *Judge) colours() {
	if !j.transparent.IsZero() && (j.profile == 0 || !j.intents) {
		j.find("S055", transparencyClause, j.transparent, nil, "a page with transparency without an output intent, whose group has no colour space")
	}
	if !j.coloured.IsZero() && (j.profile != 3 || !j.intents) {
		j.find("S044", clause{a1: "6.5.3"}, j.coloured, nil, "an annotation with a colour, without an output intent of RGB")
	}
	rule := deviceClause
	for n, at := range j.device {
		switch {
		case at.IsZero():
		case j.profile == 0 || !j.intents:
			j.find("S047", rule, at, nil, "device colours without an output intent")
			return
		case n > 1 && int64(n) != j.profile:
			j.find("S047", rule, at, nil, "%s under an output intent of %d components", map[int]string{3: "DeviceRGB", 4: "DeviceCMYK"}[n], j.profile)
		}
	}
}
