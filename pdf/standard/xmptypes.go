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
	xmpReal  = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\d*\.?\d+)$`)

	xmpRational = regexp.MustCompile(`^\d+/\d+$`)
)

// Limits of a packet.
const (
	mostDepth    = 256     // of elements
	mostElements = 1 << 14 // of one property; one with more is not judged
	mostSpaces   = 1 << 12 // namespaces of properties
)

// xmpPacket is what one reading of a packet finds.
type xmpPacket struct {
	property  func(*element) // is told of each property of a Description, as its whole tree
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

// resource returns what an element holds as a structure, as kids or as attributes (RDF/XML, 2.11 to
// 2.13); ok is false where it is none.
func (e *element) resource() (fields []*element, ok bool) {
	in := e
	switch {
	case slices.ContainsFunc(e.attrs, func(a xml.Attr) bool { return a.Name == parseType && a.Value == "Resource" }):
	case len(e.kids) == 1 && e.kids[0].name == description:
		in = e.kids[0]
	case len(e.kids) > 0:
		return nil, false
	}
	fields = slices.Clone(in.kids)
	for _, a := range in.attrs {
		if ns := a.Name.Space; ns != rdf && ns != "xmlns" && ns != "" && ns != "http://www.w3.org/XML/1998/namespace" {
			p := &element{name: a.Name}
			p.text.WriteString(a.Value)
			fields = append(fields, p)
		}
	}
	return fields, in != e || len(e.kids) > 0 || len(fields) > 0
}

var parseType = xml.Name{Space: rdf, Local: "parseType"}

// is reports whether a property has a type. One with qualifiers is judged by its rdf:value. What
// own describes are types of the packet itself.
func (e *element) is(want valueType, own map[string]structure) bool {
	kind, of, ok := strings.Cut(string(want), " ")
	if ok && (kind == "bag" || kind == "seq" || kind == "alt") {
		return e.list(map[string]string{"bag": "Bag", "seq": "Seq", "alt": "Alt"}[kind], valueType(of), own)
	}
	switch want {
	case langAlt:
		return e.list("Alt", textValue, own)
	case anyValue:
		return true
	}
	s, ok := structures()[want]
	if !ok {
		s, ok = own[string(want)]
	}
	if ok {
		fields, whole := e.resource()
		for _, f := range fields {
			t, known := s.fields[f.name.Local]
			if !known || f.name.Space != s.space || !f.is(t, own) {
				return false
			}
		}
		return whole
	}
	if fields, _ := e.resource(); len(fields) > 0 {
		v := (&element{kids: fields}).value()
		return v != nil && v.is(want, own)
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
	case realValue:
		return xmpReal.MatchString(text)
	case rationalValue:
		return xmpRational.MatchString(text)
	}
	return true
}

// list reports whether a property is a container of a kind whose items have a type.
func (e *element) list(kind string, of valueType, own map[string]structure) bool {
	if len(e.kids) != 1 || e.kids[0].name != (xml.Name{Space: rdf, Local: kind}) {
		return false
	}
	for _, item := range e.kids[0].kids {
		if item.name != (xml.Name{Space: rdf, Local: "li"}) || !item.is(of, own) {
			return false
		}
	}
	return true
}

// byDefault reports whether a property has a text in a language that it does not name.
func (e *element) byDefault() bool {
	if len(e.kids) != 1 || e.kids[0].name != (xml.Name{Space: rdf, Local: "Alt"}) {
		return false
	}
	return slices.ContainsFunc(e.kids[0].kids, func(item *element) bool {
		return slices.ContainsFunc(item.attrs, func(a xml.Attr) bool { return a.Name.Local == "lang" && a.Value == "x-default" })
	})
}
