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

	"example.com/quire/pdf/cos"
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
	if _, err := standard.Parse("pdf/x-4"); err == nil || !strings.Contains(err.Error(), "pdf/a-2b, pdf/a-2u, pdf/a-2a, pdf/a-3b, pdf/a-3u, pdf/a-3a, pdf/a-4, pdf/a-4f, pdf/a-4e, pdf/ua-1, pdf/ua-2") {
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
}

// TestStandardsThatExcludeEachOther: of all pairs, those hold together that are of one
// version of PDF and of both families.
func TestStandardsThatExcludeEachOther(t *testing.T) {
	a1, a2, a3, a4, u1, u2 := standard.PDFA1b, standard.PDFA2b, standard.PDFA3b, standard.PDFA4, standard.PDFUA1, standard.PDFUA2
	for _, c := range []struct {
		in, out []standard.ID
		version cos.Version
	}{
		{nil, nil, cos.V20},
		{[]standard.ID{u2, a4, u2}, []standard.ID{a4, u2}, cos.V20},
		{[]standard.ID{u1, a2}, []standard.ID{a2, u1}, cos.V17},
		{[]standard.ID{a3, u1}, []standard.ID{a3, u1}, cos.V17},
		{[]standard.ID{u1}, []standard.ID{u1}, cos.V17},
		{[]standard.ID{a4}, []standard.ID{a4}, cos.V20},
		{[]standard.ID{u1, a1}, []standard.ID{a1, u1}, cos.V14},
	} {
		got, err := standard.Set(c.in...)
		if err != nil || !slices.Equal(got, c.out) || standard.Version(got) != c.version {
			t.Errorf("%v: %v of PDF %s, %v", c.in, got, standard.Version(got), err)
		}
	}
	for pair, why := range map[[2]standard.ID]string{
		{a2, a3}: "one part of PDF/A", {a4, a2}: "one part of PDF/A", {a3, a4}: "one part of PDF/A", {u2, u1}: "one part of PDF/UA",
		{u1, standard.PDFA1a}: "roles", {a1, u2}: "pdf/a-1b is of PDF 1.4", {a1, a2}: "one part of PDF/A",
		{u2, a2}: "pdf/a-2b is of PDF 1.7, pdf/ua-2 of PDF 2.0", {a3, u2}: "pdf/a-3b is of PDF 1.7", {a4, u1}: "pdf/ua-1 of PDF 1.7",
	} {
		if _, err := standard.Set(pair[:]...); !errors.Is(err, standard.ErrConflict) || !strings.Contains(err.Error(), why) {
			t.Errorf("%v: %v, want %s", pair, err, why)
		}
	}
	if _, err := standard.Set(99); err == nil || errors.Is(err, standard.ErrConflict) {
		t.Errorf("an unknown standard: %v", err)
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

// TestXMPNamesEachStandard: an archive of part 2 or 3 describes the schema of PDF/UA-1,
// which it does not know (ISO 19005-2, 6.6.2.3).
func TestXMPNamesEachStandard(t *testing.T) {
	for _, c := range []struct {
		claims    []standard.ID
		want, not string
	}{
		{[]standard.ID{standard.PDFA1b}, "<pdfaid:part>1</pdfaid:part>\n<pdfaid:conformance>B<", "pdfuaid:part"},
		{[]standard.ID{standard.PDFA1a}, "<pdfaid:part>1</pdfaid:part>\n<pdfaid:conformance>A<", "pdfuaid:part"},
		{[]standard.ID{standard.PDFA1b, standard.PDFUA1}, "<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/<", "pdfuaid:rev"},
		{[]standard.ID{standard.PDFA2b}, "<pdfaid:part>2</pdfaid:part>\n<pdfaid:conformance>B<", "pdfuaid:part"},
		{[]standard.ID{standard.PDFA3b}, "<pdfaid:part>3</pdfaid:part>\n<pdfaid:conformance>B<", "pdfaid:rev"},
		{[]standard.ID{standard.PDFA2u}, "<pdfaid:part>2</pdfaid:part>\n<pdfaid:conformance>U<", "pdfaid:rev"},
		{[]standard.ID{standard.PDFA3a}, "<pdfaid:part>3</pdfaid:part>\n<pdfaid:conformance>A<", "pdfaid:rev"},
		{[]standard.ID{standard.PDFA2a, standard.PDFUA1}, "<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/<", "pdfuaid:rev"},
		{[]standard.ID{standard.PDFA4e}, "<pdfaid:rev>2020</pdfaid:rev>\n<pdfaid:conformance>E<", "pdfuaid:part"},
		{[]standard.ID{standard.PDFUA1}, "<pdfuaid:part>1<", "pdfaExtension"},
		{[]standard.ID{standard.PDFA2b, standard.PDFUA1}, "<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/<", "pdfuaid:rev"},
		{[]standard.ID{standard.PDFA4, standard.PDFUA2}, "<pdfuaid:rev>2024<", "pdfaid:conformance"},
		{[]standard.ID{standard.PDFA4f, standard.PDFUA2}, "<pdfaid:rev>2020</pdfaid:rev>\n<pdfaid:conformance>F<", "pdfaExtension"},
	} {
		packet := string(standard.AppendXMP(nil, standard.Metadata{Standards: c.claims}))
		if !strings.Contains(packet, c.want) || strings.Contains(packet, c.not) {
			t.Errorf("%v: want %s and no %s in\n%s", c.claims, c.want, c.not, packet)
		}
		if err := xml.Unmarshal([]byte(packet), new(any)); err != nil {
			t.Errorf("%v: %v", c.claims, err)
		}
	}
}

// TestCheckerOfPDF17: the rules that the standards of PDF 1.7 have of their own, and the
// clauses of those that they share with the later ones.
func TestCheckerOfPDF17(t *testing.T) {
	ua1 := []standard.ID{standard.PDFUA1}
	both := []standard.ID{standard.PDFA2b, standard.PDFUA1}
	src := &doc.Source{Path: "body[1]"}
	named := &doc.Document{Title: "t", Lang: "en"}
	sized := func(w, h doc.Length) *doc.Document {
		return &doc.Document{Title: "t", Lang: "en", Page: doc.Master{Width: w, Height: h}}
	}
	heading := func(c *standard.Checker) diag.List {
		var l diag.List
		for level := 1; level <= 7; level++ {
			l = append(l, c.Elem(&tag.Elem{Type: tag.H, Level: level, Src: src})...)
		}
		return l
	}
	for name, c := range map[string]struct {
		claims []standard.ID
		judge  func(*standard.Checker) diag.List
		want   string
	}{
		"title and language":     {ua1, func(c *standard.Checker) diag.List { return c.Document(&doc.Document{}) }, "S001 ISO 14289-1, 7.1; S002 ISO 14289-1, 7.2"},
		"nothing":                {both, func(c *standard.Checker) diag.List { return c.Document(named) }, ""},
		"level 7":                {ua1, heading, "S021 ISO 14289-1, 7.4.2"},
		"level 7 of 2.0":         {[]standard.ID{standard.PDFUA2}, heading, ""},
		"level 7 of 2b":          {[]standard.ID{standard.PDFA2b}, heading, ""},
		"level skipped":          {both, func(c *standard.Checker) diag.List { return c.Elem(&tag.Elem{Type: tag.H, Level: 2}) }, "S020 ISO 14289-1, 7.4.2"},
		"figure":                 {both, func(c *standard.Checker) diag.List { return c.Elem(&tag.Elem{Type: tag.Figure}) }, "S028 ISO 14289-1, 7.3"},
		"private use":            {ua1, func(c *standard.Checker) diag.List { return c.Text("\uE000", src) }, "S030 ISO 14289-1, 7.2"},
		"private use of level B": {[]standard.ID{standard.PDFA3b}, func(c *standard.Checker) diag.List { return c.Text("\uE000", src) }, ""},
		"private use of level U": {[]standard.ID{standard.PDFA2u}, func(c *standard.Checker) diag.List { return c.Text("\uE000", src) }, ""},
		"private use of level A": {[]standard.ID{standard.PDFA2a}, func(c *standard.Checker) diag.List { return c.Text("\uE000", src) }, "S030 ISO 19005-2, 6.2.11.7.3"},
		"language of level A":    {[]standard.ID{standard.PDFA3a}, func(c *standard.Checker) diag.List { return c.Document(&doc.Document{Lang: "en_US"}) }, "S002 ISO 19005-3, 6.7.4"},
		"no language, level A":   {[]standard.ID{standard.PDFA3a}, func(c *standard.Checker) diag.List { return c.Document(&doc.Document{}) }, ""},
		"language of level U":    {[]standard.ID{standard.PDFA3u}, func(c *standard.Checker) diag.List { return c.Document(&doc.Document{Lang: "en_US"}) }, ""},
		"private use of 4":       {[]standard.ID{standard.PDFA4}, func(c *standard.Checker) diag.List { return c.Text("\uE000", src) }, "S030 ISO 19005-4, 6.2.10.8"},
		"encrypted 3b":           {[]standard.ID{standard.PDFA3b, standard.PDFUA1}, (*standard.Checker).Encryption, "S003 ISO 19005-3, 6.1.3"},
		"encrypted ua1":          {ua1, (*standard.Checker).Encryption, "S003 ISO 32000-1, 7.6.1"},
		"encrypted ua2":          {[]standard.ID{standard.PDFUA2}, (*standard.Checker).Encryption, ""},
		"largest page":           {both, func(c *standard.Checker) diag.List { return c.Document(sized(14_400*doc.Pt, 3*doc.Pt)) }, ""},
		"huge page": {
			[]standard.ID{standard.PDFA2b},
			func(c *standard.Checker) diag.List { return c.Document(sized(14_401*doc.Pt, 14_401*doc.Pt)) },
			"S048 ISO 19005-2, 6.1.13; S048 ISO 19005-2, 6.1.13",
		},
		"tiny page":        {both, func(c *standard.Checker) diag.List { return c.Document(sized(doc.MM(100), 2*doc.Pt)) }, "S048 ISO 19005-2, 6.1.13"},
		"huge page of 2.0": {[]standard.ID{standard.PDFA4}, func(c *standard.Checker) diag.List { return c.Document(sized(20_000*doc.Pt, 20_000*doc.Pt)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range c.judge(standard.NewChecker(c.claims)) {
				got = append(got, d.Code+" "+d.Clause)
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
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
