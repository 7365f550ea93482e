package standard_test

import (
	"bytes"
	"strings"
	"testing"

	"example.com/quire/pdf/standard"
)

// packet has what is given within its Description.
func packet(attributes, properties string) []byte {
	return []byte(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"` + attributes +
		`><pdfaid:part>2</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>` + properties + `</rdf:Description></rdf:RDF></x:xmpmeta>`)
}

// word reports whether a text has the word that the tests take out.
func word(s string) bool { return strings.Contains(strings.ToLower(s), "secret") }

// TestTextIsTakenOutOfMetadata with the property, the description of a schema, the attribute or the
// comment that has it, and with nothing else; what standards define stays.
func TestTextIsTakenOutOfMetadata(t *testing.T) {
	const own = ` xmlns:own="http://own/"`
	describes := func(description string) string {
		return `<pdfaExtension:schemas xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"><rdf:Bag><rdf:li rdf:parseType="Resource">` +
			`<pdfaSchema:schema>` + description + `</pdfaSchema:schema><pdfaSchema:namespaceURI>http://own/</pdfaSchema:namespaceURI><pdfaSchema:prefix>own</pdfaSchema:prefix></rdf:li><!--kept--></rdf:Bag></pdfaExtension:schemas>`
	}
	const none = `<pdfaExtension:schemas xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"><rdf:Bag><!--kept--></rdf:Bag></pdfaExtension:schemas>`
	for _, c := range []struct{ attributes, properties, leftAttributes, leftProperties string }{
		{"", "<dc:format>a</dc:format>", "", "<dc:format>a</dc:format>"},
		{"", "<dc:format>a secret</dc:format><dc:source>a</dc:source>", "", "<dc:source>a</dc:source>"},
		{"", "<dc:format>a &#115;ec<![CDATA[re]]>t</dc:format>", "", ""},
		{"", "<dc:format>a sec<!-- -->ret</dc:format>", "", ""},
		{"", "<dc:subject><rdf:Bag><rdf:li>a</rdf:li><rdf:li>secret</rdf:li></rdf:Bag></dc:subject>", "", ""},
		{"", `<dc:source rdf:resource="http://secret/"/>`, "", ""},
		{"", `<dc:title><rdf:Alt><rdf:li xml:lang="en-secret">a</rdf:li></rdf:Alt></dc:title>`, "", ""},
		{` xmp:Label="secret" xmp:Nickname="a"`, "", ` xmp:Nickname="a"`, ""},
		{` xmp:Label='the &#x73;ecret'`, "", "", ""},
		{"", "a<!-- secret --><?secret a?>b", "", "ab"},
		{own, "<own:name>a</own:name><own:secret>a</own:secret>", own, "<own:name>a</own:name>"},
		{own + ` own:secret="a"`, "", own, ""},
		{` xmlns:secret="http://own/"`, "<secret:name>a</secret:name><dc:source>a</dc:source>", "", "<dc:source>a</dc:source>"},
		{` xmlns:own="http://secret/" own:name="a"`, "<dc:source own:q='a'>a</dc:source>", "", ""},
		{own, describes("kept") + "<own:name>a</own:name>", own, describes("kept") + "<own:name>a</own:name>"},
		{own, describes("secret") + "<own:name>a</own:name><dc:source>a</dc:source>", own, none + "<dc:source>a</dc:source>"},
		{"", "<pdfaid:rev>secret</pdfaid:rev><pdfaid:rev>2020</pdfaid:rev>", "", "<pdfaid:rev>2020</pdfaid:rev>"},
	} {
		got, err := standard.StripXMP(packet(c.attributes, c.properties), word)
		if want := packet(c.leftAttributes, c.leftProperties); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s>%s: %v\n%s", c.attributes, c.properties, err, got)
		}
	}
	for name, p := range map[string][]byte{
		"an identifier": []byte(strings.Replace(string(packet("", "")), `about=""`, `about="uuid:secret"`, 1)),
		"a tool":        []byte(strings.Replace(string(packet("", "")), `<x:xmpmeta`, `<x:xmpmeta x:xmptk="Secret 5.0"`, 1)),
	} {
		if got, err := standard.StripXMP(p, word); err != nil || !bytes.Equal(got, packet("", "")) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	for name, p := range map[string][]byte{
		"no XML":          []byte("<a"),
		"tags that cross": []byte("<a><b></a></b>"),
		"no end":          packet("", "<dc:source>"),
		"an entity":       append([]byte(`<!DOCTYPE a [<!ENTITY e "secret">]>`), packet("", "<dc:source>&e;</dc:source>")...),
		"no namespace":    packet("", "<own:name>a</own:name>"),
		"all":             []byte(`<rdf:secret xmlns:rdf="http://secret/"/>`),
		"too deep":        packet("", strings.Repeat("<dc:a>", 300)+strings.Repeat("</dc:a>", 300)),
		"another code":    append([]byte(`<?xml version="1.0" encoding="UTF-16"?>`), packet("", "")...),
	} {
		if got, err := standard.StripXMP(p, word); err == nil && !bytes.Equal(got, p[:0]) {
			t.Errorf("%s: %s", name, got)
		}
	}
	several := packet("", "<dc:source>se</dc:source><dc:format>cret</dc:format>")
	if _, err := standard.StripXMP(several, func(s string) bool { return strings.Contains(strings.Join(strings.Fields(s), ""), "secret") }); err == nil {
		t.Error("a text in several properties")
	}
}

// FuzzStripXMP: what is left has the text no more, and is left as it is when it is read again.
func FuzzStripXMP(f *testing.F) {
	for _, p := range []string{"<dc:format>a secret</dc:format>", `<!--secret--><dc:source rdf:resource="secret"/>`, `<a:b xmlns:a="secret" a:c='secret'/>`} {
		f.Add(packet(` xmp:Label="secret"`, p))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		left, err := standard.StripXMP(p, word)
		if err != nil {
			return
		}
		if again, err := standard.StripXMP(left, word); err != nil || !bytes.Equal(again, left) {
			t.Fatalf("%v\n%s\n%s", err, left, again)
		}
		if len(left) > len(p) || len(left) == len(p) && !bytes.Equal(left, p) {
			t.Fatalf("longer: %s", left)
		}
	})
}
