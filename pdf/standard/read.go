package standard

import (
	"bytes"
	"encoding/xml"
	"html"
	"regexp"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
)

// File is what only a file that is read can get wrong: the writer of this module always does it
// right.
type File struct {
	Metadata []byte // the XMP packet of the catalog; nil: none, which is reported for the catalog
	ID       bool   // the trailer has an identifier
	XFA      bool   // the form has an XFA packet,
	Dynamic  bool   // which makes a dynamic form
	Scripts  bool   // the catalog names scripts
	Files    bool   // the catalog names embedded files
	// Unshown says that programs are to make the appearances of form fields.
	Unshown bool
	// Spelling is what archives do not take in how the file is written.
	Spelling []cos.Misspelling
	// Streams says that cross-reference data are in streams, Packed that the packet is compressed.
	Streams, Packed bool
	// Lang says that the catalog names a language; Outline, which is asked for where it does not,
	// that there are bookmarks.
	Lang, Outline bool
	// Info are the texts and dates of the information dictionary by their keys, those that it has.
	Info map[string]string
}

// File checks the values in File. It is called once, for existing files.
func (j *Judge) File(f File) {
	at := cos.Ref{}
	j.read, j.files, j.unspoken = true, f.Files, !f.Lang
	if f.Outline {
		j.Unspoken(at, "bookmarks")
	}
	if f.Files {
		j.find("S049", clause{a1: "6.1.11"}, at, nil, "the catalog names embedded files")
	}
	for _, id := range j.claims {
		if f.Metadata != nil && !id.ClaimedBy(XMPClaims(f.Metadata)) {
			c := clause{a1: "6.7.11", a2: "6.6.4", a4: "6.7.3", ua1: "5", ua2: "5"}
			j.add("S043", c.of(id), at, nil, "the metadata do not claim %s", id)
		}
	}
	if f.Metadata != nil && XMPTitle(f.Metadata) == "" {
		j.find("S001", clause{ua1: "7.1", ua2: "8.11.1"}, at, nil, "the metadata have no title")
	}
	if !f.ID {
		j.find("S043", clause{a1: "6.1.3", a2: "6.1.3", a4: "6.1.3"}, at, nil, "no identifier in the trailer")
	}
	if f.XFA {
		rule := clause{a2: "6.4.2", a4: "6.4.2", ua2: "8.10.1"}
		if f.Dynamic {
			rule.ua1 = "7.15"
		}
		j.find("S045", rule, at, nil, "a form of XFA")
	}
	if f.Unshown {
		j.find("S045", clause{a1: "6.9", a2: "6.4.1", a4: "6.4.1"}, at, nil, "a form whose fields are to be made visible by programs (NeedAppearances)")
	}
	if f.Metadata != nil {
		j.metadata(f.Metadata)
	}
	if f.Streams {
		j.find("S043", clause{a1: "6.1.4"}, at, nil, "cross-reference data in a stream")
	}
	if f.Packed {
		j.find("S052", clause{a1: "6.7.2"}, at, nil, "metadata that are compressed")
	}
	j.synchronous(f)
	for _, m := range f.Spelling {
		j.Misspelled(m)
	}
	if f.Scripts {
		j.find("S045", clause{a1: "6.6.1", a2: "6.5.1"}, at, nil, "scripts of the document")
	}
}

// Damaged reports that an existing file was repaired.
func (j *Judge) Damaged(what string) {
	j.find("S043", clause{a1: "6.1", a2: "6.1", a4: "6.1", ua1: "6.1", ua2: "6.1"}, cos.Ref{}, nil, "the file is damaged: %s", what)
}

// ClaimedBy reports whether one of the names that [XMPClaims] returned is the name of a standard,
// or of a higher level of it: conformance to level A or U includes B.
func (id ID) ClaimedBy(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		claim, err := Parse(name)
		higher := id.Archival() && claim > id && ids[claim].iso == ids[id].iso && ids[id].part != "4"
		return err == nil && (claim == id || higher)
	})
}

// outdated are attributes that the header of a packet may not have.
var outdated = regexp.MustCompile(`\s(?:bytes|encoding)\s*=`)

// metadata judges the XMP packet of the catalog (ISO 19005-2, 6.6.2, and 4, 6.7.2): XML in UTF-8,
// and in parts 2 and 3 of properties that XMP has or that the packet describes itself.
func (j *Judge) metadata(packet []byte) {
	at, rule := cos.Ref{}, clause{a1: "6.7.5", a2: "6.6.2.1", a4: "6.7.2.1"}
	if head, _, ok := bytes.Cut(packet, []byte("?>")); ok && bytes.Contains(head, []byte("<?xpacket")) && outdated.Match(head) {
		j.find("S052", rule, at, nil, "metadata whose packet header has bytes or encoding")
	}
	own := extended{properties: map[xml.Name]valueType{}, structures: map[string]structure{}}
	x := xmpPacket{property: func(p *element) {
		if p.name == (xml.Name{Space: extensions, Local: "schemas"}) {
			own.describe(p)
		}
	}}
	if err := x.read(packet); err != nil {
		rule.a1, rule.ua1, rule.ua2 = "6.7.9", "7.1", "8.11.1"
		j.find("S052", rule, at, nil, "metadata that is not XML in UTF-8: %v", err)
		return
	}
	if own.wrong != "" {
		j.find("S052", clause{a1: "6.7.8", a2: "6.6.2.3.3"}, at, nil, "an extension schema that is not as the standard asks: %s", own.wrong)
	}
	// Properties may stand before what describes them.
	types := clause{a1: "6.7.9", a2: "6.6.2.3.1"}
	told := 0
	x = xmpPacket{property: func(p *element) {
		if j.unspoken && p.byDefault() {
			j.Unspoken(at, "metadata")
		}
		if told == mostFindings {
			return
		}
		want, ok, known := typeOf(p.name)
		if !ok && own.properties[p.name] != "" {
			want, ok = own.properties[p.name], true
		}
		switch {
		case !ok && known && p.name.Space != rdf:
			told++
			j.find("S052", types, at, nil, "metadata with the property %s, which its schema %s does not have", p.name.Local, p.name.Space)
		case ok && !p.is(want, own.structures):
			told++
			j.find("S052", types, at, nil, "metadata whose %s is not %s", p.name.Local, want.words())
		}
	}}
	if err := x.read(packet); err != nil {
		return
	}
	for _, ns := range x.used {
		if schemas()[ns] == nil && !x.described[ns] {
			j.find("S052", types, at, nil, "metadata with properties of %q, which they do not describe", ns)
		}
	}
}

const (
	rdf        = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	extensions = "http://www.aiim.org/pdfa/ns/extension/"
	schema     = "http://www.aiim.org/pdfa/ns/schema#"
)

// property finds a simple property of XMP by its prefix, as element or attribute.
func property(packet []byte, name string) string {
	for {
		_, behind, ok := bytes.Cut(packet, []byte(name))
		if !ok {
			return ""
		}
		if m := xmpValue.FindSubmatch(behind); m != nil {
			return strings.TrimSpace(string(m[1]) + string(m[2]))
		}
		packet = behind
	}
}

// xmpValue is what follows the name of a property.
var xmpValue = regexp.MustCompile(`\A(?:\s*=\s*["']([^"'<]*)["']|\s*>\s*([^<]*?)\s*</)`)

// XMPClaims returns the standards that an XMP packet claims, by names such as pdf/a-2b and
// pdf/ua-1, including standards that this package does not check. It relies on the prefixes pdfaid
// and pdfuaid, which the standards require (ISO 19005-2, 6.6.4). A packet that is not in UTF-8
// claims nothing.
func XMPClaims(packet []byte) (names []string) {
	if !bytes.Contains(packet, []byte("aid:part")) { // what both have
		return nil
	}
	if part := property(packet, "pdfaid:part"); len(part) == 1 {
		names = append(names, "pdf/a-"+part+strings.ToLower(property(packet, "pdfaid:conformance")))
	}
	if part := property(packet, "pdfuaid:part"); len(part) == 1 {
		names = append(names, "pdf/ua-"+part)
	}
	return names
}

// XMPTitle returns dc:title of an XMP packet, empty when it has none.
func XMPTitle(packet []byte) string {
	_, rest, ok := bytes.Cut(packet, []byte("<dc:title"))
	if !ok {
		return property(packet, "dc:title")
	}
	rest, _, _ = bytes.Cut(rest, []byte("</dc:title"))
	if _, item, ok := bytes.Cut(rest, []byte("<rdf:li")); ok {
		_, item, _ = bytes.Cut(item, []byte(">"))
		item, _, _ = bytes.Cut(item, []byte("<"))
		return html.UnescapeString(strings.TrimSpace(string(item)))
	}
	return ""
}

// WithoutClaims returns an XMP packet without some of the claims that [XMPClaims] returns.
func WithoutClaims(packet []byte, claims ...string) []byte {
	for _, claim := range claims {
		names := `pdfaid:(?:part|conformance|rev|amd|corr)`
		if strings.HasPrefix(claim, "pdf/ua") {
			names = `pdfuaid:(?:part|rev|amd|corr)`
		}
		elements := regexp.MustCompile(`<` + names + `(?:\s[^>]*)?>[^<]*</` + names + `>\s*|<` + names + `\s*/>\s*`)
		attributes := regexp.MustCompile(`\s` + names + `\s*=\s*(?:"[^"]*"|'[^']*')`)
		packet = attributes.ReplaceAll(elements.ReplaceAll(packet, nil), nil)
	}
	return packet
}

// SetXMP returns an XMP packet with one property replaced: Title, Author, Subject, Keywords or,
// only to be removed, Thumbnails. An empty value removes it. Everything else in the packet is kept.
// It relies on its prefixes, as [XMPClaims] does.
func SetXMP(packet []byte, key, value string) []byte {
	x := &xmp{}
	var names []string
	switch key {
	case "Title":
		names = []string{"dc:title"}
		x.alt("dc:title", value)
	case "Author":
		names = []string{"dc:creator"}
		x.list("dc:creator", "Seq", value)
	case "Subject":
		names = []string{"dc:description"}
		x.alt("dc:description", value)
	case "Keywords":
		names = []string{"pdf:Keywords", "dc:subject"}
		x.element("pdf:Keywords", value)
	case "Thumbnails":
		names = []string{"xmp:Thumbnails", "xap:Thumbnails"}
	}
	for _, name := range names {
		q := regexp.QuoteMeta(name)
		packet = regexp.MustCompile(`<`+q+`(?:\s[^>]*)?/>\s*`).ReplaceAll(packet, nil)
		packet = regexp.MustCompile(`(?s)<`+q+`(?:\s[^>]*)?>.*?</`+q+`>\s*`).ReplaceAll(packet, nil)
		packet = regexp.MustCompile(`\s`+q+`\s*=\s*(?:"[^"]*"|'[^']*')`).ReplaceAll(packet, nil)
	}
	if len(x.b) == 0 {
		return packet
	}
	// A Description of its own has the prefixes that the others may lack.
	at := bytes.LastIndex(packet, []byte("</rdf:RDF>"))
	if at < 0 {
		return packet
	}
	own := `<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">` + string(x.b) + "</rdf:Description>\n"
	return slices.Concat(packet[:at], []byte(own), packet[at:])
}
