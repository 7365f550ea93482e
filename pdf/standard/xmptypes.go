package standard

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// valueType is the type of a property of XMP (XMP Specification, September 2005, part 4).
type valueType string

// Types; a list is told from what it holds by the word before it.
const (
	textValue    valueType = "a text"
	dateValue    valueType = "a date"
	boolValue    valueType = "True or False"
	integerValue valueType = "a whole number"
	altText      valueType = "texts by language (rdf:Alt)"
	bagOfText    valueType = "a list (rdf:Bag) of texts"
	seqOfText    valueType = "an ordered list (rdf:Seq) of texts"
	seqOfDates   valueType = "an ordered list (rdf:Seq) of dates"
)

const (
	dublinCore = "http://purl.org/dc/elements/1.1/"
	xmpBasic   = "http://ns.adobe.com/xap/1.0/"
	xmpRights  = "http://ns.adobe.com/xap/1.0/rights/"
	xmpMedia   = "http://ns.adobe.com/xap/1.0/mm/"
	adobePDF   = "http://ns.adobe.com/pdf/1.3/"
	pdfaID     = "http://www.aiim.org/pdfa/ns/id/"
)

// propertyTypes are those of the properties that documents have (ISO 19005-2, 6.6.2.3.1: what XMP
// has is used as XMP says). Structures are not judged.
var propertyTypes = map[xml.Name]valueType{
	{Space: dublinCore, Local: "contributor"}: bagOfText,
	{Space: dublinCore, Local: "coverage"}:    textValue,
	{Space: dublinCore, Local: "creator"}:     seqOfText,
	{Space: dublinCore, Local: "date"}:        seqOfDates,
	{Space: dublinCore, Local: "description"}: altText,
	{Space: dublinCore, Local: "format"}:      textValue,
	{Space: dublinCore, Local: "identifier"}:  textValue,
	{Space: dublinCore, Local: "language"}:    bagOfText,
	{Space: dublinCore, Local: "publisher"}:   bagOfText,
	{Space: dublinCore, Local: "relation"}:    bagOfText,
	{Space: dublinCore, Local: "rights"}:      altText,
	{Space: dublinCore, Local: "source"}:      textValue,
	{Space: dublinCore, Local: "subject"}:     bagOfText,
	{Space: dublinCore, Local: "title"}:       altText,
	{Space: dublinCore, Local: "type"}:        bagOfText,

	{Space: xmpBasic, Local: "BaseURL"}:      textValue,
	{Space: xmpBasic, Local: "CreateDate"}:   dateValue,
	{Space: xmpBasic, Local: "CreatorTool"}:  textValue,
	{Space: xmpBasic, Local: "Identifier"}:   bagOfText,
	{Space: xmpBasic, Local: "Label"}:        textValue,
	{Space: xmpBasic, Local: "MetadataDate"}: dateValue,
	{Space: xmpBasic, Local: "ModifyDate"}:   dateValue,
	{Space: xmpBasic, Local: "Nickname"}:     textValue,
	{Space: xmpBasic, Local: "Rating"}:       integerValue,

	{Space: xmpRights, Local: "Certificate"}:  textValue,
	{Space: xmpRights, Local: "Marked"}:       boolValue,
	{Space: xmpRights, Local: "Owner"}:        bagOfText,
	{Space: xmpRights, Local: "UsageTerms"}:   altText,
	{Space: xmpRights, Local: "WebStatement"}: textValue,

	{Space: xmpMedia, Local: "DocumentID"}:     textValue,
	{Space: xmpMedia, Local: "InstanceID"}:     textValue,
	{Space: xmpMedia, Local: "RenditionClass"}: textValue,
	{Space: xmpMedia, Local: "VersionID"}:      textValue,

	{Space: adobePDF, Local: "Keywords"}:   textValue,
	{Space: adobePDF, Local: "PDFVersion"}: textValue,
	{Space: adobePDF, Local: "Producer"}:   textValue,

	{Space: pdfaID, Local: "part"}:        integerValue,
	{Space: pdfaID, Local: "conformance"}: textValue,
}

// element is one of XML, with its text.
type element struct {
	name  xml.Name
	attrs []xml.Attr
	kids  []*element
	text  strings.Builder
}

var (
	xmpDate  = regexp.MustCompile(`^\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?$`)
	xmpWhole = regexp.MustCompile(`^[+-]?\d+$`)
)

// Limits of a packet.
const (
	mostDepth    = 256     // of elements
	mostElements = 1 << 14 // of one property; one with more is not judged
	mostSpaces   = 1 << 12 // namespaces of properties
)

// xmpPacket is what one reading of a packet finds.
type xmpPacket struct {
	property  func(*element) // is told of each property of a Description
	used      []string       // the namespaces of properties, each once
	seen      map[string]bool
	described map[string]bool

	open []*element // those that the packet is in, the outermost first
	in   int        // how many of open are above the property; 0: in none
	kept int        // elements of the property
}

var (
	description  = xml.Name{Space: rdf, Local: "Description"}
	namespaceURI = xml.Name{Space: schema, Local: "namespaceURI"}
)

// read reads a packet. Of its elements those of one property are in memory.
func (x *xmpPacket) read(packet []byte) error {
	if !utf8.Valid(packet) {
		return errors.New("not in UTF-8")
	}
	x.seen, x.described = map[string]bool{}, map[string]bool{}
	d := xml.NewDecoder(bytes.NewReader(packet))
	for {
		t, err := d.Token()
		if err == io.EOF { //nolint:errorlint // as Token says
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if len(x.open) == mostDepth {
				return errors.New("nested too deeply")
			}
			x.start(t)
		case xml.EndElement:
			x.end()
		case xml.CharData:
			if n := len(x.open); n > 0 && (x.in > 0 || x.open[n-1].name == namespaceURI) {
				x.open[n-1].text.Write(t)
			}
		}
	}
}

func (x *xmpPacket) use(ns string) {
	if ns != "" && ns != rdf && ns != "xmlns" && ns != "http://www.w3.org/XML/1998/namespace" && !x.seen[ns] && len(x.used) < mostSpaces {
		x.used, x.seen[ns] = append(x.used, ns), true
	}
}

func (x *xmpPacket) start(t xml.StartElement) {
	e := &element{name: t.Name, attrs: t.Attr}
	n := len(x.open)
	switch {
	case x.in > 0:
		if x.kept++; x.kept <= mostElements {
			above := x.open[n-1]
			above.kids = append(above.kids, e)
		}
	case n > 0 && x.open[n-1].name == description: // a property
		x.in, x.kept = n, 0
		if !slices.ContainsFunc(x.open, func(e *element) bool {
			return e.name.Space != rdf && e.name.Local != "xmpmeta" && e.name.Local != "xapmeta"
		}) {
			x.use(t.Name.Space)
		}
	case t.Name == description:
		for _, a := range t.Attr {
			if n <= 2 {
				x.use(a.Name.Space)
			}
			p := &element{name: a.Name}
			p.text.WriteString(a.Value)
			x.property(p)
		}
	}
	x.open = append(x.open, e)
}

func (x *xmpPacket) end() {
	n := len(x.open) - 1
	e := x.open[n]
	x.open = x.open[:n]
	if e.name == namespaceURI {
		x.described[strings.TrimSpace(e.text.String())] = true
	}
	if x.in == n && n > 0 {
		if x.in = 0; x.kept <= mostElements {
			x.property(e)
		}
	}
}

// value returns the rdf:value of a property with qualifiers; nil: it has none, or several.
func (e *element) value() (found *element) {
	for _, k := range e.kids {
		if k.name == (xml.Name{Space: rdf, Local: "value"}) {
			if found != nil {
				return nil
			}
			found = k
		}
	}
	return found
}

// is reports whether a property has a type. One with qualifiers is judged by its rdf:value.
func (e *element) is(want valueType) bool {
	switch want {
	case altText:
		return e.list("Alt", textValue)
	case bagOfText:
		return e.list("Bag", textValue)
	case seqOfText:
		return e.list("Seq", textValue)
	case seqOfDates:
		return e.list("Seq", dateValue)
	}
	for _, a := range e.attrs {
		if a.Name == (xml.Name{Space: rdf, Local: "parseType"}) && a.Value == "Resource" {
			v := e.value()
			return v != nil && v.is(want)
		}
	}
	if len(e.kids) == 1 && e.kids[0].name == description {
		if v := e.kids[0].value(); v != nil {
			return v.is(want)
		}
	}
	if len(e.kids) > 0 {
		return false
	}
	text := strings.TrimSpace(e.text.String())
	switch want {
	case dateValue:
		return xmpDate.MatchString(text)
	case boolValue:
		return text == "True" || text == "False"
	case integerValue:
		return xmpWhole.MatchString(text)
	}
	return true
}

// list reports whether a property is a container of a kind whose items have a type.
func (e *element) list(kind string, of valueType) bool {
	if len(e.kids) != 1 || e.kids[0].name != (xml.Name{Space: rdf, Local: kind}) {
		return false
	}
	for _, item := range e.kids[0].kids {
		if item.name != (xml.Name{Space: rdf, Local: "li"}) || !item.is(of) {
			return false
		}
	}
	return true
}
