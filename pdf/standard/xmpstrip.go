package standard

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// StripXMP returns an XMP packet in UTF-8 without the properties, descriptions of schemas, comments
// and attributes that have a text. What standards define is no text: their namespaces, the
// identification of PDF/A and PDF/UA, the tags of languages. A property also goes where only its
// namespace, which its maker chose, has the text. The packet is the same where nothing has it; it
// is an error where the text cannot be taken out so, or where the packet is not XML.
func StripXMP(packet []byte, has func(string) bool) ([]byte, error) {
	x, err := readTexts(packet)
	if err != nil {
		return nil, err
	}
	cuts := x.cuts(has)
	if len(cuts) == 0 {
		if has(x.all()) {
			return nil, errors.New("a text that stands in several properties")
		}
		return packet, nil
	}
	slices.SortFunc(cuts, func(a, b span) int { return a.from - b.from })
	var left []byte
	at := 0
	for _, c := range cuts {
		if c.from > at {
			left = append(left, packet[at:c.from]...)
		}
		at = max(at, c.to)
	}
	left = append(left, packet[at:]...)
	if x, err = readTexts(left); err != nil {
		return nil, err
	}
	if len(x.cuts(has)) > 0 || has(x.all()) {
		return nil, errors.New("a text that stands in several places")
	}
	return left, nil
}

// span is a part of a packet.
type span struct{ from, to int }

// xmpPart is a part of a packet that can go by itself.
type xmpPart struct {
	span
	text   string
	spaces []namespace // namespaces of what it has
}

// namespace is one with its prefix.
type namespace struct{ prefix, uri string }

// xmpTexts are what a packet says.
type xmpTexts struct {
	parts     []xmpPart
	described map[string]string // what extension schemas say, by their namespaces
}

// all is what stands in the parts.
func (x *xmpTexts) all() string {
	var b strings.Builder
	for _, p := range x.parts {
		b.WriteString(p.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// cuts returns the parts that have a text.
func (x *xmpTexts) cuts(has func(string) bool) (cuts []span) {
	known := map[namespace]bool{}
	tainted := func(s namespace) bool {
		is, ok := known[s]
		if !ok {
			is = has(s.words()) || !definedSpaces()[s.uri] && has(x.described[s.uri])
			known[s] = is
		}
		return is
	}
	for _, p := range x.parts {
		if has(p.text) || slices.ContainsFunc(p.spaces, tainted) {
			cuts = append(cuts, p.span)
		}
	}
	return cuts
}

// words is what a namespace says that its maker chose.
func (s namespace) words() (w string) {
	if !definedSpaces()[s.uri] {
		w = s.uri
	}
	if len(s.prefix) > 3 && !definedPrefixes[s.prefix] {
		w += " " + s.prefix
	}
	return w
}

const (
	pdfuaID    = "http://www.aiim.org/pdfua/ns/id/"
	customInfo = "http://ns.adobe.com/pdfx/1.3/" // of Acrobat, for entries whose names users choose
	ofMetadata = "adobe:ns:meta/"
	mostInXMP  = 1 << 16 // elements of a packet
	xmlNames   = "http://www.w3.org/XML/1998/namespace"
)

// definedSpaces are the namespaces of XMP and of what describes it.
var definedSpaces = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{
		rdf: true, xmlNames: true, ofMetadata: true, "http://ns.adobe.com/iX/1.0/": true, customInfo: true, pdfuaID: true,
		schema: true, ofProperty: true, ofType: true, ofField: true,
	}
	for ns := range schemas() {
		m[ns] = true
	}
	for _, s := range structures() {
		m[s.space] = true
	}
	return m
})

// definedPrefixes are the usual prefixes of four characters and more.
var definedPrefixes = map[string]bool{
	"xmpMM": true, "xmpRights": true, "xmpTPg": true, "xmpBJ": true, "xmpG": true, "xmpGImg": true, "xmpDM": true, "xapMM": true, "xapRights": true, "xapTPg": true,
	"xapBJ": true, "xapG": true, "xapGImg": true, "stRef": true, "stEvt": true, "stVer": true, "stJob": true, "stDim": true, "stFnt": true, "pdfx": true, "photoshop": true, "tiff": true,
	"exif": true, "xmlns": true, "pdfaid": true, "pdfuaid": true, "pdfaExtension": true, "pdfaSchema": true, "pdfaProperty": true, "pdfaType": true, "pdfaField": true,
}

// Values that standards define.
var (
	identification = map[string]*regexp.Regexp{
		"part": regexp.MustCompile(`^[1-4]$`), "conformance": regexp.MustCompile(`^[ABEFU]$`),
		"rev": regexp.MustCompile(`^20\d\d$`), "amd": regexp.MustCompile(`^20\d\d$`), "corr": regexp.MustCompile(`^20\d\d$`),
	}
	definedWords = map[string]bool{ // of extension schemas, those for pdfuaid:part as several makers write them
		"internal": true, "external": true, "part": true, "amd": true, "corr": true, "rev": true, "pdfuaid": true,
		"PDF/UA identification": true, "Part of ISO 14289": true,
		"PDF/UA Universal Accessibility Schema": true, "Indicates, which part of ISO 14289 standard is followed": true,
	}
	// packetEnds is what begins and ends every packet (ISO 16684-1, 7.3.2).
	packetEnds  = regexp.MustCompile(`^\s*(begin=["']\x{FEFF}?["']\s+id=["']W5M0MpCehiHzreSzNTczkc9d["']|end=["'][rw]["'])\s*$`)
	languageTag = regexp.MustCompile(`^(x-default|[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|\d{3}))?)$`)
)

// IsLanguageTag reports whether a text is a tag of a language, perhaps with a script and a region
// (BCP 47), or x-default.
func IsLanguageTag(s string) bool { return languageTag.MatchString(s) }

// xmpNode is an element of a packet.
type xmpNode struct {
	namespace
	span
	local string
	above *xmpNode
	own   map[string]string // the namespaces that it declares, by their prefixes
	attrs []xmpAttr
	kids  []*xmpNode
	text  strings.Builder
}

// xmpAttr is an attribute; its span includes the white space before it.
type xmpAttr struct {
	namespace
	span
	local, value string
	inside       span // the value, without its quotes
}

func (n *xmpNode) is(uri, local string) bool { return n.uri == uri && n.local == local }

// resolve returns the namespace of a prefix.
func (n *xmpNode) resolve(prefix string) (string, bool) {
	if prefix == "xml" {
		return xmlNames, true
	}
	for ; n != nil; n = n.above {
		if uri, ok := n.own[prefix]; ok {
			return uri, true
		}
	}
	return "", prefix == ""
}

// readTexts reads a packet.
func readTexts(packet []byte) (*xmpTexts, error) {
	x := &xmpTexts{described: map[string]string{}}
	d := xml.NewDecoder(strings.NewReader(string(packet)))
	top := &xmpNode{}
	at, depth, count := top, 0, 0
	for {
		from := int(d.InputOffset())
		t, err := d.RawToken()
		if err == io.EOF { //nolint:errorlint // as RawToken says
			break
		}
		if err != nil {
			return nil, err
		}
		here := span{from, int(d.InputOffset())}
		switch t := t.(type) {
		case xml.StartElement:
			if depth, count = depth+1, count+1; depth > mostDepth || count > mostInXMP {
				return nil, errors.New("too many elements")
			}
			n := &xmpNode{above: at, span: here}
			if err := n.start(t, packet[here.from:here.to]); err != nil {
				return nil, err
			}
			at.kids = append(at.kids, n)
			at.text.WriteByte(' ')
			at = n
		case xml.EndElement:
			if at == top || t.Name.Space != at.prefix || t.Name.Local != at.local {
				return nil, errors.New("elements that do not nest")
			}
			at.to, depth = here.to, depth-1
			at = at.above
		case xml.CharData:
			at.text.Write(t)
		case xml.Comment:
			x.parts = append(x.parts, xmpPart{span: here, text: string(t)})
		case xml.ProcInst:
			text := string(t.Inst)
			if t.Target != "xpacket" || !packetEnds.MatchString(text) {
				x.parts = append(x.parts, xmpPart{span: here, text: t.Target + " " + text})
			}
		default:
			return nil, errors.New("a declaration of a document type")
		}
	}
	if at != top {
		return nil, errors.New("elements that do not end")
	}
	x.outside(top)
	return x, nil
}

// xmpAttribute is an attribute in a tag, with the white space before it.
var xmpAttribute = regexp.MustCompile(`\s+([^\s=<>"'/]+)\s*=\s*("[^"]*"|'[^']*')`)

// start reads a start tag.
func (n *xmpNode) start(t xml.StartElement, tag []byte) error {
	places := xmpAttribute.FindAllSubmatchIndex(tag, -1)
	if len(places) != len(t.Attr) {
		return errors.New("a tag that cannot be read")
	}
	n.prefix, n.local = t.Name.Space, t.Name.Local
	for i, a := range t.Attr {
		m := places[i]
		n.attrs = append(n.attrs, xmpAttr{
			namespace: namespace{prefix: a.Name.Space}, local: a.Name.Local, value: a.Value,
			span: span{n.from + m[0], n.from + m[1]}, inside: span{n.from + m[4] + 1, n.from + m[5] - 1},
		})
		if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
			if n.own == nil {
				n.own = map[string]string{}
			}
			prefix := a.Name.Local
			if a.Name.Space == "" {
				prefix = ""
			}
			n.own[prefix] = a.Value
		}
	}
	var ok bool
	if n.uri, ok = n.resolve(n.prefix); !ok {
		return errors.New("a prefix without a namespace")
	}
	for i := range n.attrs {
		a := &n.attrs[i]
		if a.prefix == "" || a.prefix == "xmlns" {
			continue
		}
		if a.uri, ok = n.resolve(a.prefix); !ok {
			return errors.New("a prefix without a namespace")
		}
	}
	return nil
}

// outside takes in an element that is not part of a property, and what it has.
func (x *xmpTexts) outside(n *xmpNode) {
	property := n.is(rdf, "Description")
	for i := range n.attrs {
		a := &n.attrs[i]
		p := xmpPart{span: a.span, spaces: []namespace{a.namespace}, text: a.words()}
		if a.uri == rdf && a.local == "about" {
			p.span = a.inside // each Description has one
		}
		x.parts = append(x.parts, p)
	}
	if text := strings.TrimSpace(n.text.String()); text != "" && n.above != nil {
		x.parts = append(x.parts, xmpPart{span: n.span, text: text})
	}
	for _, k := range n.kids {
		switch {
		case !property:
			x.outside(k)
		case k.is(extensions, "schemas"):
			x.schemas(k)
		default:
			x.inside(k)
		}
	}
}

// inside takes in a property, or a description of a schema.
func (x *xmpTexts) inside(n *xmpNode) string {
	p := xmpPart{span: n.span}
	seen := map[namespace]bool{}
	use := func(s namespace) {
		if !seen[s] {
			seen[s] = true
			p.spaces = append(p.spaces, s)
		}
	}
	var b strings.Builder
	var walk func(n *xmpNode)
	walk = func(n *xmpNode) {
		use(n.namespace)
		b.WriteString(" " + nameOf(n.uri, n.local))
		for i := range n.attrs {
			use(n.attrs[i].namespace)
			b.WriteString(" " + n.attrs[i].words())
		}
		if text := strings.TrimSpace(n.text.String()); !n.defines(text) {
			b.WriteString(" " + text)
		}
		for _, k := range n.kids {
			walk(k)
		}
	}
	walk(n)
	p.text = b.String()
	x.parts = append(x.parts, p)
	return p.text
}

// schemas takes in the descriptions of schemas (ISO 19005-2, 6.6.2.3.3), each by itself.
func (x *xmpTexts) schemas(n *xmpNode) {
	for _, list := range n.kids {
		for _, li := range list.kids {
			text := x.inside(li)
			var find func(n *xmpNode)
			find = func(n *xmpNode) {
				if n.is(schema, "namespaceURI") {
					x.described[strings.TrimSpace(n.text.String())] += text
				}
				for _, k := range n.kids {
					find(k)
				}
			}
			find(li)
		}
	}
}

// nameOf returns the name of an element or an attribute where its maker chose it.
func nameOf(uri, local string) string {
	_, ok, known := typeOf(xml.Name{Space: uri, Local: local})
	if len(local) > 3 && (known && !ok || !definedSpaces()[uri] || uri == customInfo) {
		return local
	}
	return ""
}

// defines reports whether a text is one that standards define for an element.
func (n *xmpNode) defines(text string) bool {
	switch n.uri {
	case pdfaID, pdfuaID:
		return identifies(n.local, text)
	case schema, ofProperty, ofType, ofField:
		_, structured := structures()[valueType(text)]
		return definedWords[text] || n.local == "namespaceURI" && definedSpaces()[text] || n.local == "prefix" && definedPrefixes[text] ||
			n.local == "valueType" && (structured || simpleTypes[declared(text)])
	}
	return false
}

func identifies(local, value string) bool {
	re := identification[local]
	return re != nil && re.MatchString(value)
}

// words is what an attribute says that its maker chose.
func (a *xmpAttr) words() string {
	as := xmpNode{namespace: a.namespace, local: a.local}
	switch {
	case a.prefix == "xmlns" || a.prefix == "" && a.local == "xmlns":
		return namespace{prefix: a.local, uri: a.value}.words()
	case a.uri == xmlNames && a.local == "lang" && IsLanguageTag(a.value),
		a.uri == rdf && a.local == "parseType" && slices.Contains([]string{"Resource", "Literal", "Collection"}, a.value),
		as.defines(a.value):
		return ""
	}
	return nameOf(a.uri, a.local) + " " + a.value
}
