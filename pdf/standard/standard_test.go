package standard_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/standard"
)

func TestNames(t *testing.T) {
	for _, n := range standard.Names() {
		id, err := standard.Parse(n)
		if err != nil || id.String() != n {
			t.Errorf("%s: %v, %v", n, id, err)
		}
	}
	if _, err := standard.Parse("pdf/x-4"); err == nil || !strings.Contains(err.Error(), "pdf/a-4, pdf/ua-2") {
		t.Errorf("got %v", err)
	}
	if _, err := standard.Parse(""); err == nil {
		t.Error("no name is a standard")
	}
	if s := standard.ID(99).String(); s != "standard(99)" {
		t.Error(s)
	}
	b, err := json.Marshal([]standard.ID{standard.PDFA4})
	var back []standard.ID
	if err != nil || json.Unmarshal(b, &back) != nil || back[0] != standard.PDFA4 {
		t.Errorf("%s %v", b, err)
	}
	if json.Unmarshal([]byte(`["pdf/a-9"]`), &back) == nil {
		t.Error("an unknown name is read")
	}
	if got := standard.Set(standard.PDFUA2, standard.PDFA4, standard.PDFUA2); !slices.Equal(got, []standard.ID{standard.PDFA4, standard.PDFUA2}) {
		t.Errorf("got %v", got)
	}
}

// TestXMP reads the packet back as XML: any text comes out as it went in.
func TestXMP(t *testing.T) {
	const odd = "<&>\"' ₹ \U0001F600"
	packet := string(standard.AppendXMP(nil, standard.Metadata{
		Title: odd, Lang: "en-IN", Author: odd, Subject: odd, Keywords: []string{"a", "", odd}, Producer: "p",
		Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 19800)), DocumentID: odd,
		Standards: []standard.ID{standard.PDFA4, standard.PDFUA2},
	}))
	d := xml.NewDecoder(strings.NewReader(packet))
	found := 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := tok.(xml.CharData); ok && string(c) == odd {
			found++
		}
	}
	if found != 5 {
		t.Errorf("the text comes %d times, want 5", found)
	}
	for _, want := range []string{
		"<?xpacket begin=\"\uFEFF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>", "<xmp:ModifyDate>2026-01-02T03:04:05+05:30<",
		"<pdfaid:part>4<", "<pdfaid:rev>2020<", "<pdfuaid:part>2<", "<pdfuaid:rev>2024<", "<dc:language><rdf:Bag><rdf:li>en-IN<",
	} {
		if !strings.Contains(packet, want) {
			t.Errorf("no %s", want)
		}
	}
	empty := string(standard.AppendXMP(nil, standard.Metadata{Title: "a\x00\tb\uFFFE"}))
	if !strings.Contains(empty, "a\uFFFD b\uFFFD") {
		t.Error("characters that XML has not")
	}
	for _, not := range []string{"Date", "pdfaid:part", "pdfuaid:part", "dc:creator", "DocumentID"} {
		if strings.Contains(empty, "<"+not) || strings.Contains(empty, not+">") {
			t.Errorf("%s without a value", not)
		}
	}
}

func codes(l diag.List) (out []string) {
	for _, d := range l {
		out = append(out, d.Code)
	}
	return out
}

func TestChecker(t *testing.T) {
	both := []standard.ID{standard.PDFA4, standard.PDFUA2}
	src := &doc.Source{File: "f", Line: 2, Col: 3, Path: "body[1]"}
	c := standard.NewChecker(both)
	if got := codes(c.Document(&doc.Document{})); !slices.Equal(got, []string{"S001", "S002"}) {
		t.Errorf("got %v", got)
	}
	if got := codes(c.Document(&doc.Document{Title: "t", Lang: "e n"})); !slices.Equal(got, []string{"S002"}) {
		t.Errorf("got %v", got)
	}
	if got := c.Document(&doc.Document{Title: "t", Lang: "en"}); got.Err() != nil {
		t.Errorf("got %v", got)
	}
	for i, e := range []struct {
		elem tag.Elem
		want string
	}{
		{tag.Elem{Type: tag.H, Level: 1}, ""},
		{tag.Elem{Type: tag.H, Level: 3, Src: src}, "S020"},
		{tag.Elem{Type: tag.H, Level: 2}, ""},
		{tag.Elem{Type: tag.Figure, Src: src}, "S028"},
		{tag.Elem{Type: tag.Figure, Alt: "a"}, ""},
		{tag.Elem{Type: tag.Span, Lang: "-", Src: src}, "S031"},
	} {
		l := c.Elem(&e.elem)
		if got := strings.Join(codes(l), " "); got != e.want {
			t.Errorf("%d: got %q, want %q", i, got, e.want)
		}
		if len(l) > 0 && (l[0].Line != 2 || l[0].Path != "body[1]" || l[0].Clause == "") {
			t.Errorf("%d: %+v", i, l[0])
		}
	}
	if got := codes(c.Bookmark("a\uE000", src)); !slices.Equal(got, []string{"S030"}) {
		t.Errorf("got %v", got)
	}
	if got := codes(c.Elem(&tag.Elem{Type: tag.Figure, Alt: "\uE000", Src: src})); !slices.Equal(got, []string{"S030"}) {
		t.Errorf("got %v", got)
	}
	if got := codes(c.Document(&doc.Document{Title: "\uE000", Lang: "en"})); !slices.Equal(got, []string{"S030"}) {
		t.Errorf("got %v", got)
	}
	if got := codes(c.Text("a\uE000", src)); !slices.Equal(got, []string{"S030"}) {
		t.Errorf("got %v", got)
	}
	if c.Text("plain", src) != nil || !c.Tagged() {
		t.Error("plain text")
	}
	none := standard.NewChecker(nil)
	if none.Tagged() || none.Document(&doc.Document{}) != nil || none.Elem(&tag.Elem{Type: tag.Figure}) != nil || none.Text("\uE000", nil) != nil {
		t.Error("without a claim something is wrong")
	}
	archive := standard.NewChecker([]standard.ID{standard.PDFA4})
	if archive.Document(&doc.Document{}) != nil || archive.Elem(&tag.Elem{Type: tag.Figure}) != nil {
		t.Error("PDF/A-4 alone asks for no alternative text")
	}
}

func TestIsLanguage(t *testing.T) {
	for s, want := range map[string]bool{
		"en": true, "en-IN": true, "zh-Hant-TW": true, "x-private": true, "i-klingon": true, "de-1996": true,
		"": false, "e": false, "en_US": false, "en-": false, "1n": false, "en-toolongtag": false, "en US": false,
	} {
		if got := standard.IsLanguage(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestIsPrivate(t *testing.T) {
	for r, want := range map[rune]bool{'a': false, 0xDFFF: false, 0xE000: true, 0xF8FF: true, 0xF900: false, 0xF0000: true, 0x10FFFD: true} {
		if standard.IsPrivate(r) != want {
			t.Errorf("%U", r)
		}
	}
}
