package standard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
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

// triggers4 are those that additional actions may have (ISO 19005-4, 6.6.3).
var triggers4 = map[cos.Name]bool{"E": true, "X": true, "D": true, "U": true, "Fo": true, "Bl": true}

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
