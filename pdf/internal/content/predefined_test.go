package content

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"example.com/quire/pdf/cos"
)

// predefinedNames are those of ISO 32000-2, table 116.
var predefinedNames = []string{
	"GB-EUC-H", "GB-EUC-V", "GBpc-EUC-H", "GBpc-EUC-V", "GBK-EUC-H", "GBK-EUC-V", "GBKp-EUC-H", "GBKp-EUC-V", "GBK2K-H", "GBK2K-V",
	"UniGB-UCS2-H", "UniGB-UCS2-V", "UniGB-UTF16-H", "UniGB-UTF16-V",
	"B5pc-H", "B5pc-V", "HKscs-B5-H", "HKscs-B5-V", "ETen-B5-H", "ETen-B5-V", "ETenms-B5-H", "ETenms-B5-V", "CNS-EUC-H", "CNS-EUC-V",
	"UniCNS-UCS2-H", "UniCNS-UCS2-V", "UniCNS-UTF16-H", "UniCNS-UTF16-V",
	"83pv-RKSJ-H", "90ms-RKSJ-H", "90ms-RKSJ-V", "90msp-RKSJ-H", "90msp-RKSJ-V", "90pv-RKSJ-H", "Add-RKSJ-H", "Add-RKSJ-V",
	"EUC-H", "EUC-V", "Ext-RKSJ-H", "Ext-RKSJ-V", "H", "V",
	"UniJIS-UCS2-H", "UniJIS-UCS2-V", "UniJIS-UCS2-HW-H", "UniJIS-UCS2-HW-V", "UniJIS-UTF16-H", "UniJIS-UTF16-V",
	"KSC-EUC-H", "KSC-EUC-V", "KSCms-UHC-H", "KSCms-UHC-V", "KSCms-UHC-HW-H", "KSCms-UHC-HW-V", "KSCpc-EUC-H",
	"UniKS-UCS2-H", "UniKS-UCS2-V", "UniKS-UTF16-H", "UniKS-UTF16-V", "Identity-H", "Identity-V",
}

// TestPredefinedCMaps are all there, each with its writing mode and its ranges of codes.
func TestPredefinedCMaps(t *testing.T) {
	if n := len(predefinedMaps()); n != len(predefinedNames) {
		t.Errorf("%d maps, want %d", n, len(predefinedNames))
	}
	for _, name := range predefinedNames {
		m := predefined(name)
		if m == nil || !m.whole() || m.vertical != (name[len(name)-1] == 'V') {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if predefined("UniJIS-UTF32-H") != nil {
		t.Error("a map of another table")
	}
	for _, c := range []struct {
		name, codes string
		cids        []uint32
	}{
		{"90ms-RKSJ-H", "41 889F B1 8141 01", []uint32{264, 1125, 343, 634, 231}}, // the last is not defined
		{"90ms-RKSJ-V", "41 889F 8141", []uint32{264, 1125, 7887}},
		{"H", "3021 3022", []uint32{1125, 1126}},
		{"EUC-H", "41 8EB1 B0A1", []uint32{264, 343, 1125}},
		{"UniGB-UTF16-H", "0041 3042", []uint32{34, 357}},
		{"UniJIS-UTF16-H", "D840DC0B 3042", []uint32{13839, 843}},
		{"CNS-EUC-H", "A4A1 8EA2A1A1", []uint32{333, 5996}},
		{"KSCms-UHC-HW-H", "41 A1A1", []uint32{8127, 101}},
		{"Identity-V", "0041", []uint32{0x41}},
	} {
		m := predefined(c.name)
		s := unhex(t, c.codes)
		for i, want := range c.cids {
			if len(s) == 0 {
				t.Fatalf("%s: no code %d", c.name, i+1)
			}
			at := m.next(s)
			if got := m.cid(at); got != want {
				t.Errorf("%s, %X: %d, want %d", c.name, at.value, got, want)
			}
			s = s[at.n:]
		}
		if len(s) > 0 {
			t.Errorf("%s: %X is left over", c.name, s)
		}
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	var digits []byte
	for _, c := range []byte(s) {
		if c != ' ' {
			digits = append(digits, c)
		}
	}
	b, err := hex.DecodeString(string(digits))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTextAndWidthsOfCIDs: what CIDs of the collections of Adobe stand for is known without
// ToUnicode, by the CMap or by the CIDFont; widths are those of their CIDs.
func TestTextAndWidthsOfCIDs(t *testing.T) {
	font := func(encoding cos.Object, ordering string) cos.Dict {
		return cos.Dict{cos.E("Subtype", cos.Name("Type0")), cos.E("Encoding", encoding), cos.E("DescendantFonts", cos.Array{cos.Dict{
			cos.E("Subtype", cos.Name("CIDFontType0")), cos.E("W", cos.Array{cos.Int(1125), cos.Array{cos.Int(700)}}),
			cos.E("CIDSystemInfo", cos.Dict{cos.E("Registry", cos.String("Adobe")), cos.E("Ordering", cos.String(ordering))}),
		}})}
	}
	f := file{
		1: data{cos.Dict{cos.E("UseCMap", ref(2))}, "1 begincidchar <0041> 1125 endcidchar"},
		2: data{cos.Dict{}, "1 begincodespacerange <0000><FFFF> endcodespacerange 1 begincidchar <0042> 1126 endcidchar"},
		3: data{cos.Dict{}, "/90ms-RKSJ-H usecmap 1 begincidchar <8141> 1125 endcidchar"},
	}
	for name, c := range map[string]struct {
		font      cos.Dict
		code      string
		text      string
		width     float64
		cid       uint32
		meaningOf bool
	}{
		"Identity of Japan":         {font(cos.Name("Identity-H"), "Japan1"), "0465", "亜", 700, 1125, true},
		"Identity of nobody":        {font(cos.Name("Identity-H"), "Identity"), "0465", "\uFFFD", 700, 1125, false},
		"a glyph without character": {font(cos.Name("Identity-H"), "Japan1"), "2A40", "\uFFFD", 1000, 10816, true},
		"predefined":                {font(cos.Name("90ms-RKSJ-H"), "Japan1"), "889F", "亜", 700, 1125, true},
		"in EUC of Taiwan":          {font(cos.Name("CNS-EUC-H"), "CNS1"), "C4A1", "一", 1000, 595, true},
		"of its own":                {font(ref(1), "Japan1"), "0041", "亜", 700, 1125, true},
		"of one that it builds on":  {font(ref(1), "Japan1"), "0042", "唖", 1000, 1126, true},
		"over a predefined one":     {font(ref(3), "Japan1"), "8141", "亜", 700, 1125, true},
		"of a predefined one":       {font(ref(3), "Japan1"), "88A0", "唖", 1000, 1126, true},
	} {
		code := unhex(t, c.code)
		x := readFont(&ofFont{New(f)}, c.font)
		at, g := x.next(code)
		if g.text == "" {
			g.text = "\uFFFD"
		}
		cid, ok := x.CID(code)
		_, _, known := x.Meaning(code)
		if at.n != len(code) || g.text != c.text || x.Width(code) != c.width || cid != c.cid || !ok || known != c.meaningOf {
			t.Errorf("%s: %q of %d bytes, %g wide, CID %d, %t, known %t", name, g.text, at.n, x.Width(code), cid, ok, known)
		}
	}
}

// FuzzUnpack: a packed CMap that is damaged is refused or read.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("\x06Japan1\x00\x00\x01\x02\x00\xff\xff\x03\x00\x01\x00\x00\x00\xff\x01\x02\x00\x00\x00\x00"), uint32(0x41))
	f.Add([]byte("\x06Japan1\x01H\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), uint32(0x3021))
	f.Fuzz(func(_ *testing.T, b []byte, c uint32) {
		m, err := unpack(b, predefinedMaps())
		if err != nil {
			return
		}
		m.cid(code{2, c})
		m.next(binary.BigEndian.AppendUint32(nil, c))
	})
}
