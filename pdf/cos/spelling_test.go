package cos_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
)

// TestMisspellings: what archives do not take in how a file is written is told with its part and
// object; what they take is not.
func TestMisspellings(t *testing.T) {
	// file is a file of the objects 1 to n, as they stand, with a table.
	file := func(head, xref, tail string, objects ...string) []byte {
		var b bytes.Buffer
		b.WriteString(head)
		var at []int
		for _, o := range objects {
			at = append(at, b.Len()+strings.IndexAny(o, "0123456789"))
			b.WriteString(o)
		}
		start := b.Len()
		fmt.Fprintf(&b, "%s0 %d\n0000000000 65535 f \n", xref, len(at)+1)
		for _, n := range at {
			fmt.Fprintf(&b, "%010d 00000 n \n", n)
		}
		fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF%s", len(at)+1, start, tail)
		return b.Bytes()
	}
	const head, xref = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "xref\n"
	root := "1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
	pages := "2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\n"
	third := func(s string) []byte { return file(head, xref, "\n", root, pages, s) }
	for name, x := range map[string]struct {
		body []byte
		want []cos.Part
	}{
		"sound":                   {third("3 0 obj\n<1234>\nendobj\n"), nil},
		"sound, by two bytes":     {file(strings.ReplaceAll(head, "\n", "\r\n"), "xref\r\n", "\r\n", root, pages), nil},
		"no end of the last line": {file(head, xref, "", root, pages), nil},
		"sound stream":            {third("3 0 obj\n<</Length 3>>\nstream\nabc\nendstream\nendobj\n"), nil},
		"empty stream":            {third("3 0 obj\n<</Length 0>>\nstream\r\n\r\nendstream\nendobj\n"), nil},
		"a version of the future": {file("%PDF-1.9\n%\xe2\xe3\xcf\xd3\n", xref, "\n", root, pages), []cos.Part{cos.PartHeader}},
		"no comment":              {file("%PDF-1.7\n", xref, "\n", root, pages), []cos.Part{cos.PartHeader}},
		"a comment of letters":    {file("%PDF-1.7\n%abcd\n", xref, "\n", root, pages), []cos.Part{cos.PartHeader}},
		"more behind the end":     {file(head, xref, "\n\n", root, pages), []cos.Part{cos.PartEnd}},
		"more behind xref":        {file(head, "xref \n", "\n", root, pages), []cos.Part{cos.PartTable}},
		"an odd string":           {third("3 0 obj\n<123>\nendobj\n"), []cos.Part{cos.PartString}},
		"an odd string within":    {third("3 0 obj\n[<</A[<1>]>>]\nendobj\n"), []cos.Part{cos.PartString}},
		"two spaces":              {third("3  0 obj\nnull\nendobj\n"), []cos.Part{cos.PartObject}},
		"obj with an object":      {third("3 0 obj null\nendobj\n"), []cos.Part{cos.PartObject}},
		"endobj with an object":   {third("3 0 obj\nnull endobj\n"), []cos.Part{cos.PartObject}},
		"endobj with more":        {third("3 0 obj\nnull\nendobj "), []cos.Part{cos.PartObject}},
		"an object in a line":     {file(head, xref, "\n", root, pages+"  ", "3 0 obj\nnull\nendobj\n"), []cos.Part{cos.PartObject}},
		"a long stream":           {third("3 0 obj\n<</Length 2>>\nstream\nabc\nendstream\nendobj\n"), []cos.Part{cos.PartStream}},
		"a length with the line":  {third("3 0 obj\n<</Length 4>>\nstream\nabc\nendstream\nendobj\n"), []cos.Part{cos.PartStream}},
		"no end of a stream":      {third("3 0 obj\n<</Length 3>>\nstream\nabcendstream\nendobj\n"), []cos.Part{cos.PartKeyword}},
		"no line of a stream":     {third("3 0 obj\n<</Length 3>>\nstream\rabc\nendstream\nendobj\n"), []cos.Part{cos.PartKeyword}},
		"endobj with endstream":   {third("3 0 obj\n<</Length 3>>\nstream\nabc\nendstream endobj\n"), []cos.Part{cos.PartObject}},
	} {
		r, err := cos.NewReader(bytes.NewReader(x.body), int64(len(x.body)), cos.ReaderOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []cos.Part
		if err := r.Misspellings(func(m cos.Misspelling) { got = append(got, m.Part) }); err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, x.want)
		}
	}
}
