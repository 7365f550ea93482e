//go:build !race

package standard_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/standard"
)

// metadata returns what the judge finds in a packet.
func metadata(p []byte) (found []string) {
	j := standard.NewJudge([]standard.ID{standard.PDFA2b}, cos.V17)
	j.File(standard.File{Metadata: p, ID: true})
	for _, f := range j.Finish(cos.Trailer{}) {
		if f.Rule == "S052" {
			found = append(found, f.Message)
		}
	}
	return found
}

// TestMetadataTakeLinearWork: a text in a million pieces, properties without end, and a namespace
// for each of them.
func TestMetadataTakeLinearWork(t *testing.T) {
	var spaces strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&spaces, `<a:b xmlns:a="u:%d"/>`, i)
	}
	for name, p := range map[string][]byte{
		"a text in pieces":     packet("", "<dc:format>"+strings.Repeat("a<!---->", 200_000)+"</dc:format>"),
		"one long list":        packet("", "<dc:subject><rdf:Bag>"+strings.Repeat("<rdf:li/>", 200_000)+"</rdf:Bag></dc:subject>"),
		"many properties":      packet("", strings.Repeat("<dc:format>a</dc:format>", 50_000)),
		"as many namespaces":   packet("", spaces.String()),
		"values within values": packet("", "<dc:format>"+strings.Repeat("<rdf:Description><rdf:value>", 100)+strings.Repeat("</rdf:value></rdf:Description>", 100)+"</dc:format>"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		metadata(p)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20+100*uint64(len(p)) {
			t.Errorf("%s: %d bytes for a packet of %d", name, took, len(p))
		}
	}
}

// TestPropertiesAreFoundWhereverTheyStand: as elements and as attributes, of each Description, and
// none within another property.
func TestPropertiesAreFoundWhereverTheyStand(t *testing.T) {
	const extension = `<e:schemas xmlns:e="http://www.aiim.org/pdfa/ns/extension/" xmlns:s="http://www.aiim.org/pdfa/ns/schema#"><rdf:Bag><rdf:li rdf:parseType="Resource"><s:schema>Own</s:schema><s:namespaceURI>u:own</s:namespaceURI><s:prefix>o</s:prefix></rdf:li></rdf:Bag></e:schemas>`
	second := func(p string) string {
		return `</rdf:Description><rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/">` + p
	}
	for _, x := range []struct {
		name, attributes, properties, want string
	}{
		{"nothing", "", "", ""},
		{"an attribute", ` xmp:Rating="five"`, "", "Rating"},
		{"a sound attribute", ` xmp:Rating="5"`, "", ""},
		{"an element", "", "<xmp:Rating>five</xmp:Rating>", "Rating"},
		{"in pieces", "", "<xmp:Rating>f<!-- -->ive</xmp:Rating>", "Rating"},
		{"sound in pieces", "", "<xmp:Rating>1<!-- -->5</xmp:Rating>", ""},
		{"of another Description", "", second("<xmp:Rating>five</xmp:Rating>"), "Rating"},
		{"a value that another one holds", "", `<dc:type><rdf:Bag><rdf:li rdf:parseType="Resource"><rdf:value>a</rdf:value></rdf:li></rdf:Bag></dc:type>`, ""},
		{"two values", "", `<xmp:Rating rdf:parseType="Resource"><rdf:value>5</rdf:value><rdf:value>6</rdf:value></xmp:Rating>`, "Rating"},
		{"a namespace", "", `<o:a xmlns:o="u:own">b</o:a>`, "u:own"},
		{"one that is described", "", `<o:a xmlns:o="u:own">b</o:a>` + extension, ""},
		{"one within a property", "", `<d:projectRef xmlns:d="http://ns.adobe.com/xmp/1.0/DynamicMedia/"><rdf:Alt><rdf:li><o:a xmlns:o="u:own">b</o:a></rdf:li></rdf:Alt></d:projectRef>`, ""},
		{"not XML", "", "<xmp:Rating>", "not XML"},
		{"too deep", "", strings.Repeat("<xmp:a>", 300) + strings.Repeat("</xmp:a>", 300), "too deeply"},
	} {
		found := metadata(packet(x.attributes, x.properties))
		if x.want == "" && len(found) > 0 || x.want != "" && !strings.Contains(strings.Join(found, "\n"), x.want) {
			t.Errorf("%s: %q, want %q", x.name, found, x.want)
		}
	}
}
