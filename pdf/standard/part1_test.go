package standard_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/standard"
)

var timeOfTest = time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 19800))

// TestSRGBProfile2IsTheSameColours: the profile of ICC version 2 has the primaries of that of
// version 4 and its curve as a table, and every tag that version 2 asks for.
func TestSRGBProfile2IsTheSameColours(t *testing.T) {
	old, late := standard.SRGBProfile2(), standard.SRGBProfile()
	if old[8] != 2 || int(binary.BigEndian.Uint32(old)) != len(old) || len(old) > 2800 || string(old[12:24]) != "mntrRGB XYZ " {
		t.Errorf("version %d, %d bytes, %q", old[8], len(old), old[12:24])
	}
	a, b := iccTags(t, old), iccTags(t, late)
	for name, kind := range map[string]string{
		"desc": "desc", "cprt": "text", "wtpt": "XYZ ", "rXYZ": "XYZ ", "gXYZ": "XYZ ", "bXYZ": "XYZ ", "rTRC": "curv", "gTRC": "curv", "bTRC": "curv",
	} {
		if d := a[name]; len(d) < 8 || string(d[:4]) != kind {
			t.Errorf("tag %s is no %s", name, kind)
		}
		if kind == "XYZ " && string(a[name]) != string(b[name]) {
			t.Errorf("tag %s differs", name)
		}
	}
	if d := a["desc"]; string(d[12:12+len(standard.OutputCondition)+1]) != standard.OutputCondition+"\x00" || int(binary.BigEndian.Uint32(d[8:])) != len(standard.OutputCondition)+1 {
		t.Errorf("description is %q", d)
	}
	curve := a["rTRC"]
	n := int(binary.BigEndian.Uint32(curve[8:]))
	if len(curve) != 12+2*n {
		t.Fatalf("%d values in %d bytes", n, len(curve))
	}
	for i := range n {
		x := float64(i) / float64(n-1)
		want := x / 12.92
		if x > 0.04045 {
			want = math.Pow((x+0.055)/1.055, 2.4)
		}
		if got := float64(binary.BigEndian.Uint16(curve[12+2*i:])) / 65535; math.Abs(got-want) > 5e-5 {
			t.Errorf("curve at %d: %v, want %v", i, got, want)
		}
	}
}

// TestJudgeOfPart1: what part 1 of PDF/A forbids and later parts allow.
func TestJudgeOfPart1(t *testing.T) {
	name := func(s string) cos.Name { return cos.Name(s) }
	kind := func(s string, more ...cos.Entry) cos.Dict { return append(cos.Dict{cos.E("Type", name(s))}, more...) }
	sub := func(s string, more ...cos.Entry) cos.Dict {
		return append(cos.Dict{cos.E("Subtype", name(s))}, more...)
	}
	half := cos.Decimal{Mantissa: 5, Scale: 1}
	for what, c := range map[string]struct {
		object cos.Dict
		want   string // clause
	}{
		"opacity":               {kind("ExtGState", cos.E("ca", half)), "6.4"},
		"full opacity":          {kind("ExtGState", cos.E("ca", cos.Int(1)), cos.E("BM", name("Normal")), cos.E("SMask", name("None"))), ""},
		"blend mode":            {kind("ExtGState", cos.E("BM", name("Multiply"))), "6.4"},
		"soft mask":             {kind("ExtGState", cos.E("SMask", cos.Dict{})), "6.4"},
		"transfer function":     {kind("ExtGState", cos.E("TR2", name("Identity"))), "6.2.8"},
		"group":                 {sub("Form", cos.E("Group", cos.Dict{cos.E("S", name("Transparency"))})), "6.4"},
		"image mask":            {sub("Image", cos.E("SMask", cos.Ref{Num: 9})), "6.4"},
		"16 bits":               {sub("Image", cos.E("BitsPerComponent", cos.Int(16))), "6.2.4"},
		"JPEG 2000":             {sub("Image", cos.E("Filter", name("JPXDecode"))), "6.1.10"},
		"LZW":                   {cos.Dict{cos.E("Filter", cos.Array{name("LZWDecode")})}, "6.1.10"},
		"data elsewhere":        {cos.Dict{cos.E("Length", cos.Int(0)), cos.E("FFilter", name("FlateDecode"))}, "6.1.7"},
		"form of another file":  {sub("Form", cos.E("Ref", cos.Dict{})), "6.2.6"},
		"form of PostScript":    {sub("Form", cos.E("Subtype2", name("PS"))), "6.2.5"},
		"form with OPI":         {sub("Form", cos.E("OPI", cos.Dict{})), "6.2.4"},
		"PostScript":            {sub("PS"), "6.2.7"},
		"annotation of PDF 1.5": {kind("Annot", cos.E("Subtype", name("Caret")), cos.E("F", cos.Int(4))), "6.5.2"},
		"pale annotation":       {kind("Annot", cos.E("Subtype", name("Text")), cos.E("F", cos.Int(4)), cos.E("CA", half)), "6.5.3"},
		"coloured annotation":   {kind("Annot", cos.E("Subtype", name("Text")), cos.E("F", cos.Int(4)), cos.E("C", cos.Array{})), "6.5.3"},
		"field without looks":   {kind("Annot", cos.E("Subtype", name("Widget")), cos.E("F", cos.Int(4))), "6.9"},
		"another page":          {kind("Action", cos.E("S", name("Named")), cos.E("N", name("NextPage"))), ""},
		"print":                 {kind("Action", cos.E("S", name("Named")), cos.E("N", name("Print"))), "6.6.1"},
		"form of a data base":   {kind("Action", cos.E("S", name("ImportData"))), "6.6.1"},
		"attached file":         {kind("Filespec", cos.E("EF", cos.Dict{}), cos.E("F", cos.Text("a")), cos.E("UF", cos.Text("a")), cos.E("AFRelationship", name("Data"))), "6.1.11"},
	} {
		for name, form := range forms {
			j := standard.NewJudge([]standard.ID{standard.PDFA1b}, cos.V14)
			j.Object(cos.Ref{Num: 1}, form(kind("Catalog", cos.E("Metadata", cos.Ref{Num: 2}))), nil)
			j.Object(cos.Ref{Num: 3}, form(c.object), nil)
			var got []string
			for _, f := range j.Finish(cos.Trailer{Root: cos.Ref{Num: 1}}) {
				got = append(got, strings.TrimPrefix(f.Clause, "ISO 19005-1, "))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, %s: found %q, want %q", what, name, s, c.want)
			}
		}
	}
	j := standard.NewJudge([]standard.ID{standard.PDFA1b}, cos.V14)
	for range 29 {
		j.Content(cos.Ref{Num: 1}, []byte("q"), nil)
	}
	j.Profile(cos.Ref{Num: 2}, standard.SRGBProfile(), 3, true)
	j.Profile(cos.Ref{Num: 2}, standard.SRGBProfile2(), 3, true)
	j.Unlisted(cos.Ref{Num: 3}, "ABCDEF+X", "CIDSet", "the CID 7")
	if f := j.Finish(cos.Trailer{}); len(f) != 4 || f[0].Rule != "S056" || f[1].Clause != "ISO 19005-1, 6.2.2" || f[2].Clause != "ISO 19005-1, 6.3.5" {
		t.Errorf("found %v", f)
	}
}

// TestInformationDictionaryOfPart1: the metadata say what it says (ISO 19005-1, 6.7.3).
func TestInformationDictionaryOfPart1(t *testing.T) {
	packet := standard.AppendXMP(nil, standard.Metadata{
		Title: "A & B", Author: "Ada", Subject: "s", Keywords: []string{"x", "y"}, Producer: "p", Time: timeOfTest, Standards: []standard.ID{standard.PDFA1b},
	})
	for key, c := range map[string]struct{ same, other string }{
		"Title": {"A & B", "A"}, "Author": {"Ada", "Ada, Eve"}, "Subject": {"s", ""}, "Keywords": {"x, y", "x"}, "Producer": {"p", "q"},
		"CreationDate": {"D:20260102030405+05'30'", "D:20260102030405Z"}, "ModDate": {"D:20260101213405Z", "D:2026"}, "Creator": {"", "c"},
	} {
		judge := func(value string) []standard.Finding {
			j := standard.NewJudge([]standard.ID{standard.PDFA1b}, cos.V14)
			j.Object(cos.Ref{Num: 1}, cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Metadata", cos.Ref{Num: 2})}, nil)
			j.File(standard.File{Metadata: packet, ID: true, Info: map[string]string{key: value}})
			return j.Finish(cos.Trailer{Root: cos.Ref{Num: 1}})
		}
		if f := judge(c.same); key != "Creator" && len(f) > 0 {
			t.Errorf("%s: %v", key, f)
		}
		if f := judge(c.other); len(f) != 1 || f[0].Clause != "ISO 19005-1, 6.7.3" || f[0].Rule != "S052" {
			t.Errorf("another %s: %v", key, f)
		}
	}
}
