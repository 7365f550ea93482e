package standard

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Metadata has the values of the XMP packet of a document.
type Metadata struct {
	Title      string
	Lang       string
	Author     string
	Subject    string
	Keywords   []string
	Producer   string
	Time       time.Time // zero: the packet has no dates
	DocumentID string    // xmpMM:DocumentID; empty: none
	Standards  []ID
}

// AppendXMP appends the packet (ISO 16684-1). It is written uncompressed, so that a claim and a
// document's identifier are found without a PDF reader.
func AppendXMP(dst []byte, m Metadata) []byte {
	x := &xmp{b: dst}
	x.raw("<?xpacket begin=\"\uFEFF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n")
	x.raw("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n")
	x.raw("<rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\"" +
		" xmlns:xmpMM=\"http://ns.adobe.com/xap/1.0/mm/\" xmlns:pdf=\"http://ns.adobe.com/pdf/1.3/\"" +
		" xmlns:pdfaid=\"http://www.aiim.org/pdfa/ns/id/\" xmlns:pdfuaid=\"http://www.aiim.org/pdfua/ns/id/\">\n")
	x.raw("<dc:format>application/pdf</dc:format>\n")
	x.alt("dc:title", m.Title)
	x.list("dc:creator", "Seq", m.Author)
	x.alt("dc:description", m.Subject)
	x.list("dc:subject", "Bag", m.Keywords...)
	x.list("dc:language", "Bag", m.Lang)
	x.element("pdf:Keywords", strings.Join(m.Keywords, ", "))
	x.element("pdf:Producer", m.Producer)
	if !m.Time.IsZero() {
		for _, name := range [...]string{"xmp:CreateDate", "xmp:ModifyDate", "xmp:MetadataDate"} {
			x.raw("<", name, ">")
			x.b = m.Time.AppendFormat(x.b, "2006-01-02T15:04:05Z07:00")
			x.raw("</", name, ">\n")
		}
	}
	x.element("xmpMM:DocumentID", m.DocumentID)
	for _, id := range m.Standards {
		switch {
		case id.Archival():
			// ISO 19005-1, 6.7.11, and 2, 6.6.4: part and level of conformance; ISO 19005-4, 6.7.3:
			// part, revision, and a level for files of annex A or B alone.
			x.element("pdfaid:part", ids[id].part)
			if ids[id].part == "4" {
				x.element("pdfaid:rev", "2020")
			}
			x.element("pdfaid:conformance", ids[id].level)
		case id == PDFUA1:
			// ISO 14289-1, clause 5.
			x.element("pdfuaid:part", "1")
			if Archival(m.Standards) {
				x.raw(accessibleSchema)
			}
		case id == PDFUA2:
			// ISO 14289-2, clause 5.
			x.element("pdfuaid:part", "2")
			x.element("pdfuaid:rev", "2024")
		}
	}
	x.raw("</rdf:Description>\n</rdf:RDF></x:xmpmeta>\n<?xpacket end=\"w\"?>")
	return x.b
}

// accessibleSchema describes the property pdfuaid:part, which the schemas that PDF/A-1, 2
// and 3 know have not (ISO 19005-2, 6.6.2.3).
const accessibleSchema = `<pdfaExtension:schemas xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"` +
	` xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">` +
	`<rdf:Bag><rdf:li rdf:parseType="Resource">` +
	`<pdfaSchema:schema>PDF/UA identification</pdfaSchema:schema>` +
	`<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>` +
	`<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>` +
	`<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">` +
	`<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>` +
	`<pdfaProperty:category>internal</pdfaProperty:category>` +
	`<pdfaProperty:description>Part of ISO 14289</pdfaProperty:description>` +
	`</rdf:li></rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas>` + "\n"

type xmp struct{ b []byte }

func (x *xmp) raw(s ...string) {
	for _, s := range s {
		x.b = append(x.b, s...)
	}
}

// element writes a simple property, none for an empty value.
func (x *xmp) element(name, value string) {
	if value == "" {
		return
	}
	x.raw("<", name, ">")
	x.text(value)
	x.raw("</", name, ">\n")
}

// alt writes a language alternative.
func (x *xmp) alt(name, value string) {
	if value == "" {
		return
	}
	x.raw("<", name, "><rdf:Alt><rdf:li xml:lang=\"x-default\">")
	x.text(value)
	x.raw("</rdf:li></rdf:Alt></", name, ">\n")
}

// list writes an array.
func (x *xmp) list(name, kind string, values ...string) {
	open := false
	for _, v := range values {
		if v == "" {
			continue
		}
		if !open {
			open = true
			x.raw("<", name, "><rdf:", kind, ">")
		}
		x.raw("<rdf:li>")
		x.text(v)
		x.raw("</rdf:li>")
	}
	if open {
		x.raw("</rdf:", kind, "></", name, ">\n")
	}
}

// text writes character data. What XML 1.0, 2.2 has no character for becomes
// U+FFFD.
func (x *xmp) text(s string) {
	for _, r := range s {
		switch {
		case r == '&':
			x.raw("&amp;")
		case r == '<':
			x.raw("&lt;")
		case r == '>':
			x.raw("&gt;")
		case r == '\t', r == '\n', r == '\r':
			x.raw(" ")
		case r < 0x20, r == 0xFFFE, r == 0xFFFF:
			x.raw("\uFFFD")
		default:
			x.b = utf8.AppendRune(x.b, r)
		}
	}
}
