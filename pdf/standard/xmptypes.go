package standard

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"

	"example.com/quire/pdf/cos"
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

// propertyTypes are those of the properties that documents have. Structures are not judged.
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

// metadataTypes judges the types of properties (ISO 19005-2, 6.6.2.3.1): what XMP has is used as XMP
// says.
func (j *Judge) metadataTypes(packet []byte) {
	root, err := parseXML(packet)
	if err != nil {
		return // which is told already
	}
	rule := clause{a2: "6.6.2.3.1"}
	for _, d := range root.find(xml.Name{Space: rdf, Local: "Description"}) {
		for _, a := range d.attrs {
			want, known := propertyTypes[a.Name]
			if known && !(&element{text: a.Value}).is(want) {
				j.find("S052", rule, cos.Ref{}, nil, "metadata whose %s is not %s", a.Name.Local, want)
			}
		}
		for _, p := range d.kids {
			want, known := propertyTypes[p.name]
			if known && !p.is(want) {
				j.find("S052", rule, cos.Ref{}, nil, "metadata whose %s is not %s", p.name.Local, want)
			}
		}
	}
}

// element is one of XML, with its text.
type element struct {
	name  xml.Name
	attrs []xml.Attr
	kids  []*element
	text  string
}

var (
	errDeep  = errors.New("nested too deeply")
	xmpDate  = regexp.MustCompile(`^\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?$`)
	xmpWhole = regexp.MustCompile(`^[+-]?\d+$`)
)

// parseXML reads a packet as elements, nested 256 deep at most.
func parseXML(packet []byte) (*element, error) {
	root := &element{}
	open := []*element{root}
	d := xml.NewDecoder(bytes.NewReader(packet))
	for {
		t, err := d.Token()
		if err == io.EOF { //nolint:errorlint // as Token says
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		top := open[len(open)-1]
		switch t := t.(type) {
		case xml.StartElement:
			e := &element{name: t.Name, attrs: t.Copy().Attr}
			top.kids = append(top.kids, e)
			if open = append(open, e); len(open) > 256 {
				return nil, errDeep
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.text += string(t)
		}
	}
}

// find returns the outermost elements of a name.
func (e *element) find(name xml.Name) (out []*element) {
	for _, k := range e.kids {
		if k.name == name {
			out = append(out, k)
			continue
		}
		out = append(out, k.find(name)...)
	}
	return out
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
	value := xml.Name{Space: rdf, Local: "value"}
	for _, a := range e.attrs {
		if a.Name == (xml.Name{Space: rdf, Local: "parseType"}) && a.Value == "Resource" {
			if v := e.find(value); len(v) == 1 {
				return v[0].is(want)
			}
			return false
		}
	}
	if len(e.kids) == 1 && e.kids[0].name == (xml.Name{Space: rdf, Local: "Description"}) {
		if v := e.kids[0].find(value); len(v) == 1 {
			return v[0].is(want)
		}
	}
	if len(e.kids) > 0 {
		return false
	}
	text := strings.TrimSpace(e.text)
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
