package standard

import (
	"fmt"
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

// mostFindings bounds what a Judge keeps: it needs no more memory for a long file.
const mostFindings = 20

// Judge judges a file against the standards that it claims. It is shown every object,
// operator and closed structure element once, as the writer writes them or as a reader
// walks a file, keeps none of them, and needs no more memory for a long file. It is for
// one file and one goroutine.
type Judge struct {
	claims   []ID
	version  cos.Version
	findings []Finding

	catalog, intent, profile bool
	files                    bool    // some are attached
	device                   cos.Ref // the first content in a device colour
	marked                   int     // open marked-content sequences
}

// NewJudge returns the judge of a file of version v that claims what Set returned; without any it
// finds nothing.
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
	if len(j.findings) < mostFindings {
		j.findings = append(j.findings, Finding{rule, clause, at, src, fmt.Sprintf(format, args...)})
	}
}

func name(d cos.Dict, key cos.Name) cos.Name {
	n, _ := d.Get(key).(cos.Name)
	return n
}

func isTrue(o cos.Object) bool { return o == cos.Bool(true) }

// Object judges an indirect object that is no structure element: r is its number, a
// stream is given by its dictionary. src may be nil.
func (j *Judge) Object(r cos.Ref, o cos.Object, src *doc.Source) {
	d, ok := o.(cos.Dict)
	if !ok || len(j.claims) == 0 {
		return
	}
	switch name(d, "Type") {
	case "Catalog":
		j.catalogue(r, d)
	case "Page":
		if d.Get("Annots") != nil && name(d, "Tabs") != "S" {
			j.find("S044", clause{ua1: "7.18.3", ua2: "8.9.3.3"}, r, src, "a page with annotations without Tabs S")
		}
	case "Annot":
		j.annotation(r, d, src)
	case "Filespec":
		if d.Get("EF") != nil {
			j.attached(r, d, src)
		}
	case "EmbeddedFile":
		if name(d, "Subtype") == "" {
			j.find("S049", clause{a2: "6.8", a4: "6.9"}, r, src, "an attached file without its media type")
		}
	case "OutputIntent":
		j.intent = j.intent || name(d, "S") == "GTS_PDFA1" && d.Get("DestOutputProfile") != nil
	case "FontDescriptor":
		if d.Get("FontFile") == nil && d.Get("FontFile2") == nil && d.Get("FontFile3") == nil {
			j.find("S046", clause{a2: "6.2.11.4.1", a4: "6.2.10.4", ua1: "7.21.4.1", ua2: "8.4.5.5"}, r, src, "a font that is not embedded")
		}
	}
	if d.Get("AA") != nil {
		j.find("S045", clause{a2: "6.5.2", a4: "6.6.3"}, r, src, "additional actions")
	}
	j.stream(r, d, src)
	if title, ok := d.Get("Title").(cos.Text); ok && strings.ContainsFunc(string(title), IsPrivate) {
		j.find("S030", clause{ua1: "7.2", ua2: "8.6"}, r, src, "a private use character in the title %q", string(title))
	}
}

// attached judges the specification of an attached file (ISO 19005-3, 6.8; ISO 19005-4, 6.9).
func (j *Judge) attached(r cos.Ref, d cos.Dict, src *doc.Source) {
	j.files = true
	if at := noFiles(j.claims); at != "" {
		j.add("S049", at, r, src, "an attached file")
	}
	for _, key := range [...]cos.Name{"F", "UF", "AFRelationship"} {
		if d.Get(key) == nil {
			j.find("S049", clause{a2: "6.8", a4: "6.9"}, r, src, "an attached file without %s", string(key))
		}
	}
}

// stream judges what a stream dictionary may not say; no other dictionary has these keys
// with these values.
func (j *Judge) stream(r cos.Ref, d cos.Dict, src *doc.Source) {
	switch f := name(d, "Filter"); f {
	case "LZWDecode", "Crypt":
		j.find("S045", clause{a2: "6.1.7.2", a4: "6.1.6.2"}, r, src, "filter %s", string(f))
	}
	if name(d, "Subtype") != "Image" {
		return
	}
	for _, key := range [...]cos.Name{"Alternates", "OPI"} {
		if d.Get(key) != nil {
			j.find("S045", clause{a2: "6.2.8", a4: "6.2.7.1"}, r, src, "an image with %s", string(key))
		}
	}
	if isTrue(d.Get("Interpolate")) {
		j.find("S045", clause{a2: "6.2.8", a4: "6.2.7.1"}, r, src, "an image with Interpolate")
	}
	if space := name(d, "ColorSpace"); strings.HasPrefix(string(space), "Device") {
		j.inDevice(r)
		if space == "DeviceCMYK" {
			j.find("S047", clause{a2: "6.2.4.3", a4: "6.2.4.3"}, r, src, "DeviceCMYK under an RGB output intent")
		}
	}
}

func (j *Judge) inDevice(at cos.Ref) {
	if j.device.IsZero() {
		j.device = at
	}
}

func (j *Judge) catalogue(r cos.Ref, d cos.Dict) {
	j.catalog = true
	if d.Get("Metadata") == nil {
		j.find("S043", clause{a2: "6.6.2.1", a4: "6.7.2", ua1: "7.1", ua2: "8.11.1"}, r, nil, "no metadata")
	}
	if d.Get("Version") != nil {
		j.find("S043", clause{a4: "6.1.12"}, r, nil, "a version in the catalog")
	}
	if d.Get("OutputIntents") != nil {
		j.profile = true
	}
	lang, _ := d.Get("Lang").(cos.Text)
	if !IsLanguage(string(lang)) {
		j.find("S002", clause{ua1: "7.2", ua2: "8.4.4"}, r, nil, "%q is no language of the document", string(lang))
	}
	marks, _ := d.Get("MarkInfo").(cos.Dict)
	if !isTrue(marks.Get("Marked")) {
		j.find("S043", clause{ua1: "6.2", ua2: "6.2"}, r, nil, "the file is not marked as tagged")
	}
	if d.Get("StructTreeRoot") == nil {
		j.find("S043", clause{ua1: "7.1", ua2: "8.2.1"}, r, nil, "no structure tree")
	}
	view, _ := d.Get("ViewerPreferences").(cos.Dict)
	if !isTrue(view.Get("DisplayDocTitle")) {
		j.find("S001", clause{ua1: "7.1", ua2: "8.11.2"}, r, nil, "the title is not shown")
	}
}

// annotation judges an annotation (ISO 19005-2 and 4, 6.3; ISO 14289-1, 7.18, and 2, 8.9).
func (j *Judge) annotation(r cos.Ref, d cos.Dict, src *doc.Source) {
	sub := name(d, "Subtype")
	switch sub {
	case "3D", "RichMedia", "Sound", "Screen", "Movie":
		j.find("S044", clause{a2: "6.3.1", a4: "6.3.1"}, r, src, "an annotation of type %s", string(sub))
	}
	const printed, hidden = 4, 1 | 2 | 32 // invisible, hidden, no view
	if f, _ := d.Get("F").(cos.Int); f&printed == 0 || f&hidden != 0 {
		j.find("S044", clause{a2: "6.3.2", a4: "6.3.2"}, r, src, "an annotation that is not printed or not shown")
	}
	if d.Get("StructParent") == nil {
		j.find("S044", clause{ua1: "7.18.1", ua2: "8.9.2"}, r, src, "an annotation outside the structure tree")
	}
	a, _ := d.Get("A").(cos.Dict)
	switch s := name(a, "S"); s {
	case "Launch", "Sound", "Movie", "ResetForm", "ImportData", "Hide", "SetOCGState", "Rendition", "Trans", "GoTo3DView":
		j.find("S045", clause{a2: "6.5.1", a4: "6.6.1"}, r, src, "an action of type %s", string(s))
	case "JavaScript":
		j.find("S045", clause{a2: "6.5.1"}, r, src, "an action of type %s", string(s))
	case "GoTo":
		if a.Get("SD") == nil {
			j.find("S044", clause{ua2: "8.8"}, r, src, "a link within the document without a structure destination")
		}
	}
	if text, _ := d.Get("Contents").(cos.Text); sub == "Link" && text == "" {
		j.find("S044", clause{ua1: "7.18.5", ua2: "8.9.4.2"}, r, src, "a link without Contents")
	}
}

// Content judges an operator of a page or of a form drawn on one, in the order of the
// stream. The operands that it looks at are those of BDC and BMC.
func (j *Judge) Content(page cos.Ref, op []byte, args []cos.Object) {
	switch string(op) {
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
	case "g", "G", "rg", "RG":
		j.inDevice(page)
	case "k", "K":
		j.inDevice(page)
		j.find("S047", clause{a2: "6.2.4.3", a4: "6.2.4.3"}, page, nil, "DeviceCMYK under an RGB output intent")
	}
}

// Elem judges a structure element that is complete. Order and levels of headings are
// judged when they are made: elements close in another order than they are read.
func (j *Judge) Elem(e *tag.Elem) {
	if len(j.claims) == 0 {
		return
	}
	if e.Parent != nil && e.Parent.Parent != nil && !e.Parent.Type.MayHold(e.Type) {
		j.find("S040", clause{ua1: "7.2", ua2: "ISO/TS 32005, 6.2"}, e.Ref(), e.Src, "%s within %s", e.Type, e.Parent.Type)
	}
	if e.Lang != "" && !IsLanguage(e.Lang) {
		j.find("S031", clause{ua1: "7.2", ua2: "8.4.4"}, e.Ref(), e.Src, "%q is no language tag", e.Lang)
	}
	elems, content, _ := e.Holds()
	switch e.Type {
	case tag.Figure:
		if e.Alt == "" {
			j.find("S028", clause{ua1: "7.3", ua2: "8.2.5.28.2"}, e.Ref(), e.Src, "a figure without alternative text")
		}
	case tag.TR:
		if elems == 0 {
			j.find("S041", clause{ua1: "7.5", ua2: "8.2.5.26"}, e.Ref(), e.Src, "a table row without cells")
		}
	case tag.LI:
		if content > 0 {
			j.find("S041", clause{ua1: "7.6", ua2: "8.2.5.25"}, e.Ref(), e.Src, "content of a list item outside its Lbl and LBody")
		}
	case tag.TH:
		if e.Scope == tag.ScopeNone {
			j.find("S041", clause{ua1: "7.5", ua2: "8.2.5.26"}, e.Ref(), e.Src, "a header cell without Scope")
		}
	}
	if strings.ContainsFunc(e.Alt, IsPrivate) {
		j.find("S030", clause{ua1: "7.2", ua2: "8.4.3"}, e.Ref(), e.Src, "a private use character in alternative text")
	}
}

// Finish judges the file as a whole and returns what was found, the first 20.
func (j *Judge) Finish(t cos.Trailer) []Finding {
	if len(j.claims) == 0 {
		return nil
	}
	if j.version != Version(j.claims) {
		j.find("S043", clause{a2: "6.1.2", a4: "6.1.2", ua1: "6.1", ua2: "6.1"}, cos.Ref{}, nil, "PDF %s", j.version)
	}
	if !j.catalog {
		j.add("S043", "ISO 32000-2, 7.7.2", t.Root, nil, "no catalog")
	}
	if t.More.Get("Encrypt") != nil {
		j.find("S043", clause{a2: "6.1.3", a4: "6.1.3"}, cos.Ref{}, nil, "an encrypted file")
	}
	if !t.Info.IsZero() {
		j.find("S043", clause{a4: "6.1.3"}, t.Info, nil, "an information dictionary")
	}
	if archival(j.claims) == PDFA4f && !j.files {
		j.add("S050", needsFiles, cos.Ref{}, nil, "no attached file")
	}
	if !j.device.IsZero() && (!j.intent || !j.profile) {
		j.find("S047", clause{a2: "6.2.4.3", a4: "6.2.4.3"}, j.device, nil, "device colours without an output intent")
	}
	if j.marked != 0 {
		j.find("S042", clause{ua1: "7.1", ua2: "8.2.2"}, cos.Ref{}, nil, "marked-content sequences that are not closed")
	}
	return j.findings
}
