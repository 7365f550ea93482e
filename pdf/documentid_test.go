package pdf_test

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/pdf"
)

func TestDocumentIDsAreFoundInXMPPacketsAlone(t *testing.T) {
	a, b := strings.Repeat("0123456789abcdef", 4), strings.Repeat("fedcba9876543210", 4)
	packet := func(s string) string {
		return `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>` + s + `<?xpacket end="w"?>`
	}
	long := strings.Repeat("x", 64<<10)
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"element":            {packet("<xmpMM:DocumentID>" + a + "</xmpMM:DocumentID>"), []string{a}},
		"element, prefix":    {packet("<xmpMM:DocumentID>uuid:" + a + "</xmpMM:DocumentID>"), []string{"uuid:" + a}},
		"element, two names": {packet("<xmpMM:DocumentID>urn:quire:" + a + "</xmpMM:DocumentID>"), []string{"urn:quire:" + a}},
		"element, space":     {packet("<xmpMM:DocumentID >\n " + a + "\n</xmpMM:DocumentID>"), []string{a}},
		"attribute":          {packet("<rdf:Description xmpMM:DocumentID=\"uuid:" + a + "\">"), []string{"uuid:" + a}},
		"attribute, quote":   {packet("<rdf:Description\n\txmpMM:DocumentID = '" + a + "'>"), []string{a}},
		"two packets":        {packet("<xmpMM:DocumentID>"+a+"<") + packet("<xmpMM:DocumentID>"+b+"<"), []string{a, b}},
		"twice":              {packet("<xmpMM:DocumentID>" + a + "<  <xmpMM:DocumentID>" + a + "<"), []string{a}},
		"far into the file":  {long + packet(long+"<xmpMM:DocumentID>"+a+"<"+long) + long, []string{a}},
		"no end":             {packet("")[:40] + "<xmpMM:DocumentID>" + a + "<", []string{a}},
		"outside a packet":   {"<xmpMM:DocumentID>" + a + "</xmpMM:DocumentID>", nil},
		"behind a packet":    {packet("") + "<xmpMM:DocumentID>" + a + "</xmpMM:DocumentID>", nil},
		"a word":             {packet("the xmpMM:DocumentID>" + a + "<"), nil},
		"another property":   {packet("<xmpMM:DocumentIDs>" + a + "<"), nil},
		"no quote":           {packet(" xmpMM:DocumentID=" + a + " "), nil},
		"open quote":         {packet(" xmpMM:DocumentID=\"" + a), nil},
		"open element":       {packet("")[:40] + "<xmpMM:DocumentID>" + a, nil},
		"nothing behind":     {packet("")[:40] + " xmpMM:DocumentID=", nil},
		"any text":           {packet("<xmpMM:DocumentID>doc-42<"), []string{"doc-42"}},
		"no text":            {packet("<xmpMM:DocumentID> <"), nil},
		"too far":            {packet("<xmpMM:DocumentID>" + strings.Repeat(" ", 600) + a + "<"), nil},
		"empty":              {"", nil},
	} {
		for _, size := range []int{1, 7, 1 << 20} { // pieces in which the file comes
			got, err := pdf.DocumentIDs(pieces{strings.NewReader(c.in), size})
			if err != nil || strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
			}
		}
	}
	// An id on the border of what is read at once is found wherever it lies.
	for shift := range 700 {
		in := strings.Repeat("y", 64<<10-600+shift) + packet("<xmpMM:DocumentID>"+a+"</xmpMM:DocumentID>")
		if ids, err := pdf.DocumentIDs(strings.NewReader(in)); err != nil || len(ids) != 1 {
			t.Fatalf("shift %d: %v, %v", shift, ids, err)
		}
	}
	var many strings.Builder
	for i := range 40 {
		many.WriteString(packet("<xmpMM:DocumentID>" + strconv.Itoa(i) + "<"))
	}
	if ids, err := pdf.DocumentIDs(strings.NewReader(many.String())); err != nil || len(ids) != 16 {
		t.Errorf("%d ids, %v, want 16", len(ids), err)
	}
}

// pieces gives a few bytes at a time.
type pieces struct {
	r    io.Reader
	size int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.size)]) }

func FuzzDocumentIDs(f *testing.F) {
	h := strings.Repeat("0123456789abcdef", 4)
	f.Add([]byte(`<?xpacket begin="" ?><xmpMM:DocumentID>uuid:` + h + `</xmpMM:DocumentID><?xpacket end="w"?>`))
	f.Add([]byte(`<?xpacket begin= xmpMM:DocumentID='` + h + `'`))
	f.Fuzz(func(t *testing.T, b []byte) {
		ids, err := pdf.DocumentIDs(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if !bytes.Contains(b, []byte(id)) {
				t.Fatalf("%q does not stand in the file", id)
			}
		}
	})
}
