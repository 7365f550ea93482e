package standard_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
	"example.com/quire/pdf/standard"
)

// sound is a file that breaks no rule; change spoils it.
type sound struct {
	version                     cos.Version
	catalog, annot, page, image cos.Dict
	intent                      cos.Object
	elems                       func(add func(*tag.Elem))
	content                     func(op func(name string, args ...cos.Object))
	trailer                     cos.Trailer
}

func soundFile() *sound {
	return &sound{
		catalog: cos.Dict{
			cos.E("Type", cos.Name("Catalog")), cos.E("Lang", cos.Text("en")),
			cos.E("MarkInfo", cos.Dict{cos.E("Marked", cos.Bool(true))}), cos.E("StructTreeRoot", cos.Ref{Num: 3}),
			cos.E("ViewerPreferences", cos.Dict{cos.E("DisplayDocTitle", cos.Bool(true))}),
			cos.E("Metadata", cos.Ref{Num: 4}), cos.E("OutputIntents", cos.Array{cos.Ref{Num: 5}}),
		},
		annot: cos.Dict{
			cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("Link")), cos.E("F", cos.Int(4)),
			cos.E("StructParent", cos.Int(0)), cos.E("Contents", cos.Text("x")),
			cos.E("A", cos.Dict{cos.E("S", cos.Name("GoTo")), cos.E("SD", cos.Array{})}),
		},
		page:   cos.Dict{cos.E("Type", cos.Name("Page")), cos.E("Annots", cos.Array{}), cos.E("Tabs", cos.Name("S"))},
		image:  cos.Dict{cos.E("Subtype", cos.Name("Image")), cos.E("ColorSpace", cos.Name("DeviceRGB")), cos.E("Filter", cos.Name("FlateDecode"))},
		intent: cos.Dict{cos.E("Type", cos.Name("OutputIntent")), cos.E("S", cos.Name("GTS_PDFA1")), cos.E("DestOutputProfile", cos.Ref{Num: 6})},
		elems: func(add func(*tag.Elem)) {
			table := &tag.Elem{Type: tag.Table}
			add(table)
			add(&tag.Elem{Type: tag.Figure, Alt: "a picture"})
		},
		content: func(op func(string, ...cos.Object)) {
			op("BDC", cos.Name("P"))
			op("rg")
			op("Tj")
			op("EMC")
		},
		trailer: cos.Trailer{Root: cos.Ref{Num: 1}},
	}
}

func set(d *cos.Dict, key cos.Name, v cos.Object) {
	for i := range *d {
		if (*d)[i].Key == key {
			(*d)[i].Value = v
			return
		}
	}
	*d = append(*d, cos.E(key, v))
}

// forms are how a dictionary is shown to a judge: as it is, and as a writer's arena holds it.
var forms = map[string]func(cos.Dict) cos.Dict{
	"values": func(d cos.Dict) cos.Dict { return d },
	"arena":  func(d cos.Dict) cos.Dict { return *inArena(d).(*cos.Dict) },
}

func inArena(o cos.Object) cos.Object {
	switch v := o.(type) {
	case cos.Ref:
		return &v
	case cos.Int:
		return &v
	case cos.Fixed:
		return &v
	case cos.Name:
		return &v
	case cos.Text:
		return &v
	case cos.String:
		return &v
	case cos.Array:
		out := make(cos.Array, len(v))
		for i, x := range v {
			out[i] = inArena(x)
		}
		return &out
	case cos.Dict:
		out := make(cos.Dict, len(v))
		for i, x := range v {
			out[i] = cos.E(x.Key, inArena(x.Value))
		}
		return &out
	}
	return o
}

// judge shows a file to a judge of two standards.
func (f *sound) judge(tb testing.TB, claims ...standard.ID) []standard.Finding {
	tb.Helper()
	if claims == nil {
		claims = []standard.ID{standard.PDFA4, standard.PDFUA2}
	}
	found := f.judgeIn(tb, "values", claims)
	if arena := f.judgeIn(tb, "arena", claims); fmt.Sprint(arena) != fmt.Sprint(found) {
		tb.Errorf("found %v of an arena, %v of values", arena, found)
	}
	return found
}

var sourceOfTest = &doc.Source{Path: "body[0]"}

func (f *sound) judgeIn(tb testing.TB, form string, claims []standard.ID) []standard.Finding {
	tb.Helper()
	j := standard.NewJudge(claims, f.version)
	intent, _ := f.intent.(cos.Dict)
	for i, d := range []cos.Dict{f.page, f.annot, f.image, intent} {
		j.Object(cos.Ref{Num: uint32(i + 10)}, forms[form](d), sourceOfTest)
	}
	f.content(func(name string, args ...cos.Object) { j.Content(cos.Ref{Num: 10}, []byte(name), args) })
	tree := tag.NewTree(cos.NewWriter(&bytes.Buffer{}, cos.Options{}))
	tree.Closed = j.Elem
	f.elems(func(e *tag.Elem) {
		if err := tree.Add(e); err != nil {
			tb.Fatal(err)
		}
	})
	if _, err := tree.Close(); err != nil {
		tb.Fatal(err)
	}
	j.Object(cos.Ref{Num: 1}, forms[form](f.catalog), nil)
	return j.Finish(f.trailer)
}

// TestJudgeFindsEachRuleThatIsBroken spoils a sound file in one place at a time.
func TestJudgeFindsEachRuleThatIsBroken(t *testing.T) {
	if found := soundFile().judge(t); len(found) > 0 {
		t.Fatalf("a sound file: %+v", found)
	}
	src := &doc.Source{Path: "body[7]"}
	within := func(parent tag.Type, kid tag.Elem) func(*sound) {
		return func(f *sound) {
			f.elems = func(add func(*tag.Elem)) {
				p := &tag.Elem{Type: parent, Alt: "x", Scope: tag.ScopeRow}
				add(p)
				k := kid
				k.Parent, k.Src = p, src
				add(&k)
			}
		}
	}
	ops := func(names ...string) func(*sound) {
		return func(f *sound) {
			f.content = func(op func(string, ...cos.Object)) {
				for _, n := range names {
					op(n)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		spoil  func(*sound)
		rule   string
		clause string
	}{
		"no language":            {func(f *sound) { set(&f.catalog, "Lang", nil) }, "S002", "14289-2, 8.4.4"},
		"not marked":             {func(f *sound) { set(&f.catalog, "MarkInfo", nil) }, "S043", "14289-2, 6.2"},
		"no structure tree":      {func(f *sound) { set(&f.catalog, "StructTreeRoot", nil) }, "S043", "14289-2, 8.2.1"},
		"title not shown":        {func(f *sound) { set(&f.catalog, "ViewerPreferences", nil) }, "S001", "14289-2, 8.11.2"},
		"no metadata":            {func(f *sound) { set(&f.catalog, "Metadata", nil) }, "S043", "19005-4, 6.7.2"},
		"version in catalog":     {func(f *sound) { set(&f.catalog, "Version", cos.Name("1.7")) }, "S043", "19005-4, 6.1.12"},
		"no catalog":             {func(f *sound) { f.catalog = nil }, "S043", "32000-2, 7.7.2"},
		"old version":            {func(f *sound) { f.version = cos.V17 }, "S043", "19005-4, 6.1.2"},
		"encrypted":              {func(f *sound) { f.trailer.More = cos.Dict{cos.E("Encrypt", cos.Ref{Num: 9})} }, "S043", "19005-4, 6.1.3"},
		"information dictionary": {func(f *sound) { f.trailer.Info = cos.Ref{Num: 9} }, "S043", "19005-4, 6.1.3"},
		"no output intent":       {func(f *sound) { f.intent = cos.Null{} }, "S047", "19005-4, 6.2.4.3"},
		"intent not in catalog":  {func(f *sound) { set(&f.catalog, "OutputIntents", nil) }, "S047", "19005-4, 6.2.4.3"},
		"CMYK image":             {func(f *sound) { set(&f.image, "ColorSpace", cos.Name("DeviceCMYK")) }, "S047", "19005-4, 6.2.4.3"},
		"CMYK operator":          {ops("k"), "S047", "19005-4, 6.2.4.3"},
		"LZW":                    {func(f *sound) { set(&f.image, "Filter", cos.Name("LZWDecode")) }, "S045", "19005-4, 6.1.6.2"},
		"alternates":             {func(f *sound) { set(&f.image, "Alternates", cos.Array{}) }, "S045", "19005-4, 6.2.7.1"},
		"interpolate":            {func(f *sound) { set(&f.image, "Interpolate", cos.Bool(true)) }, "S045", "19005-4, 6.2.7.1"},
		"additional actions":     {func(f *sound) { set(&f.page, "AA", cos.Dict{cos.E("O", cos.Dict{})}) }, "S045", "19005-4, 6.6.3"},
		"tab order":              {func(f *sound) { set(&f.page, "Tabs", nil) }, "S044", "14289-2, 8.9.3.3"},
		"annotation not printed": {func(f *sound) { set(&f.annot, "F", cos.Int(0)) }, "S044", "19005-4, 6.3.2"},
		"annotation hidden":      {func(f *sound) { set(&f.annot, "F", cos.Int(6)) }, "S044", "19005-4, 6.3.2"},
		"sound":                  {func(f *sound) { set(&f.annot, "Subtype", cos.Name("Sound")) }, "S044", "19005-4, 6.3.1"},
		"annotation outside":     {func(f *sound) { set(&f.annot, "StructParent", nil) }, "S044", "14289-2, 8.9.2"},
		"link without contents":  {func(f *sound) { set(&f.annot, "Contents", nil) }, "S044", "14289-2, 8.9.4.2"},
		"launch":                 {func(f *sound) { set(&f.annot, "A", cos.Dict{cos.E("S", cos.Name("Launch"))}) }, "S045", "19005-4, 6.6.1"},
		"ordinary destination":   {func(f *sound) { set(&f.annot, "A", cos.Dict{cos.E("S", cos.Name("GoTo"))}) }, "S044", "14289-2, 8.8"},
		"private use title":      {func(f *sound) { set(&f.page, "Title", cos.Text("\uE000")) }, "S030", "14289-2, 8.6"},
		"font outside":           {func(f *sound) { f.intent = cos.Dict{cos.E("Type", cos.Name("FontDescriptor"))} }, "S046", "19005-4, 6.2.10.4.1"},
		"attached file":          {func(f *sound) { f.intent = fileSpec() }, "S049", "19005-4, 6.9"},
		"text outside the tree":  {ops("Tj"), "S042", "14289-2, 8.2.2"},
		"sequence without a tag": {ops("BDC", "EMC"), "S042", "14289-2, 8.2.2"},
		"sequence not closed":    {ops("BMC"), "S042", "14289-2, 8.2.2"},
		"paragraph in a row":     {within(tag.TR, tag.Elem{Type: tag.P}), "S040", "32005"},
		"row without cells":      {within(tag.TBody, tag.Elem{Type: tag.TR}), "S041", "14289-2, 8.2.5.26"},
		"header cell of nothing": {within(tag.TR, tag.Elem{Type: tag.TH}), "S041", "14289-2, 8.2.5.26"},
		"figure without alt":     {within(tag.Div, tag.Elem{Type: tag.Figure}), "S028", "14289-2, 8.2.5.28.2"},
		"private use alt":        {within(tag.Div, tag.Elem{Type: tag.Figure, Alt: "\uE000"}), "S030", "14289-2, 8.4.3"},
		"language of an element": {within(tag.Div, tag.Elem{Type: tag.P, Lang: "e n"}), "S031", "14289-2, 8.4.4"},
		"content beside the label": {func(f *sound) {
			f.elems = func(add func(*tag.Elem)) {
				l := &tag.Elem{Type: tag.L}
				add(l)
				li := &tag.Elem{Type: tag.LI, Parent: l, Src: src}
				add(li)
				li.AddContent(cos.Ref{Num: 10}, 0)
			}
		}, "S041", "14289-2, 8.2.5.25"},
	} {
		t.Run(name, func(t *testing.T) {
			f := soundFile()
			c.spoil(f)
			var all []string
			for _, x := range f.judge(t) {
				all = append(all, fmt.Sprintf("%s %s: %s", x.Rule, x.Clause, x.Message))
				if x.Rule == c.rule && strings.Contains(x.Clause, c.clause) {
					if x.Src != nil && x.Src.Path == "" {
						t.Error("no place")
					}
					return
				}
			}
			t.Errorf("want %s of %s, found %q", c.rule, c.clause, all)
		})
	}
}

// TestJudgeOfPDF17 spoils a file that claims PDF/A-2b and PDF/UA-1, or A-3b: the rules of
// PDF 2.0 do not bind it, and its own are found.
func TestJudgeOfPDF17(t *testing.T) {
	old := func(f *sound) { f.version = cos.V17 }
	for name, c := range map[string]struct {
		spoil func(*sound)
		want  string // finding; empty: none
	}{
		"sound":                  {old, ""},
		"new version":            {func(f *sound) { f.version = cos.V20 }, "S043 ISO 19005-2, 6.1.2; S043 ISO 14289-1, 6.1"},
		"ordinary destination":   {func(f *sound) { set(&f.annot, "A", cos.Dict{cos.E("S", cos.Name("GoTo"))}) }, ""},
		"information dictionary": {func(f *sound) { f.trailer.Info = cos.Ref{Num: 9} }, ""},
		"script":                 {func(f *sound) { set(&f.annot, "A", cos.Dict{cos.E("S", cos.Name("JavaScript"))}) }, "S045 ISO 19005-2, 6.5.1"},
		"LZW":                    {func(f *sound) { set(&f.image, "Filter", cos.Name("LZWDecode")) }, "S045 ISO 19005-2, 6.1.7.2"},
		"font outside": {
			func(f *sound) { set(&f.page, "Type", cos.Name("FontDescriptor")) }, "S046 ISO 19005-2, 6.2.11.4.1; S046 ISO 14289-1, 7.21.4.1",
		},
		"tab order":     {func(f *sound) { set(&f.page, "Tabs", nil) }, "S044 ISO 14289-1, 7.18.3"},
		"no metadata":   {func(f *sound) { set(&f.catalog, "Metadata", nil) }, "S043 ISO 19005-2, 6.6.2.1; S043 ISO 14289-1, 7.1"},
		"outside text":  {func(f *sound) { f.content = func(op func(string, ...cos.Object)) { op("Tj") } }, "S042 ISO 14289-1, 7.1"},
		"figure":        {func(f *sound) { f.elems = func(add func(*tag.Elem)) { add(&tag.Elem{Type: tag.Figure}) } }, "S028 ISO 14289-1, 7.3"},
		"no annotation": {func(f *sound) { set(&f.annot, "Contents", nil) }, "S044 ISO 14289-1, 7.18.5"},
	} {
		t.Run(name, func(t *testing.T) {
			f := soundFile()
			old(f)
			c.spoil(f)
			var got []string
			for _, x := range f.judge(t, standard.PDFA2b, standard.PDFUA1) {
				got = append(got, x.Rule+" "+x.Clause)
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("found %q, want %q", s, c.want)
			}
		})
	}
}

func fileSpec() cos.Dict {
	return cos.Dict{cos.E("Type", cos.Name("Filespec")), cos.E("EF", cos.Dict{})}
}

// TestJudgeOfAttachedFiles: part 3 and level F of part 4 take files of any kind, described; level F
// asks for one.
func TestJudgeOfAttachedFiles(t *testing.T) {
	whole := append(fileSpec(), cos.E("F", cos.Text("a")), cos.E("UF", cos.Text("a")), cos.E("AFRelationship", cos.Name("Data")))
	for _, c := range []struct {
		claim   standard.ID
		version cos.Version
		object  cos.Dict
		want    int
	}{
		{standard.PDFA3b, cos.V17, whole, 0},
		{standard.PDFA3b, cos.V17, fileSpec(), 3},
		{standard.PDFA2b, cos.V17, whole, 1},
		{standard.PDFA4f, cos.V20, whole, 0},
		{standard.PDFA4f, cos.V20, cos.Dict{}, 1},
		{standard.PDFA4f, cos.V20, cos.Dict{cos.E("Type", cos.Name("EmbeddedFile"))}, 2},
		{standard.PDFA4, cos.V20, whole, 1},
	} {
		for name, form := range forms {
			j := standard.NewJudge([]standard.ID{c.claim}, c.version)
			j.Object(cos.Ref{Num: 1}, form(cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Metadata", cos.Ref{Num: 3})}), nil)
			j.Object(cos.Ref{Num: 2}, form(c.object), nil)
			if found := j.Finish(cos.Trailer{}); len(found) != c.want {
				t.Errorf("%s, %v, %s: %+v", c.claim, c.object, name, found)
			}
		}
	}
}

// TestJudgeOfLevels: level U of parts 2 and 3 asks for Unicode, level A for a structure tree too,
// and PDF/A-4e takes what moves in three dimensions.
func TestJudgeOfLevels(t *testing.T) {
	bare := cos.Dict{cos.E("Type", cos.Name("Catalog")), cos.E("Metadata", cos.Ref{Num: 3})}
	mute := cos.Dict{cos.E("Type", cos.Name("Font")), cos.E("Subtype", cos.Name("Type0")), cos.E("Encoding", cos.Name("Identity-H"))}
	solid := cos.Dict{
		cos.E("Type", cos.Name("Annot")), cos.E("Subtype", cos.Name("3D")), cos.E("F", cos.Int(4)), cos.E("AP", cos.Dict{cos.E("N", cos.Ref{Num: 5})}),
		cos.E("Rect", cos.Array{cos.Int(0), cos.Int(0), cos.Int(9), cos.Int(9)}), cos.E("A", cos.Dict{cos.E("S", cos.Name("GoTo3DView"))}),
	}
	for _, c := range []struct {
		claim  standard.ID
		object cos.Dict
		want   string
	}{
		{standard.PDFA2b, mute, ""},
		{standard.PDFA2u, mute, "S051 ISO 19005-2, 6.2.11.7.2"},
		{standard.PDFA3a, mute, "S051 ISO 19005-3, 6.2.11.7.2; S043 ISO 19005-3, 6.7.2.2; S043 ISO 19005-3, 6.7.3.3"},
		{standard.PDFA2u, bare, ""},
		{standard.PDFA2a, bare, "S043 ISO 19005-2, 6.7.2.2; S043 ISO 19005-2, 6.7.3.3"},
		{standard.PDFA4, solid, "S044 ISO 19005-4, 6.3.1; S045 ISO 19005-4, 6.6.1"},
		{standard.PDFA4e, solid, ""},
	} {
		for name, form := range forms {
			j := standard.NewJudge([]standard.ID{c.claim}, standard.Version([]standard.ID{c.claim}))
			j.Object(cos.Ref{Num: 2}, form(c.object), nil)
			if c.object.Get("Type") != cos.Object(cos.Name("Catalog")) {
				j.Object(cos.Ref{Num: 1}, form(bare), nil)
			}
			var got []string
			for _, f := range j.Finish(cos.Trailer{}) {
				got = append(got, f.Rule+" "+f.Clause)
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("%s, %v, %s: got %q, want %q", c.claim, c.object, name, s, c.want)
			}
		}
	}
}

// TestJudgeWithoutClaimsFindsNothing: the same faults are none where nothing is claimed.
func TestJudgeWithoutClaimsFindsNothing(t *testing.T) {
	j := standard.NewJudge(nil, cos.V17)
	j.Object(cos.Ref{Num: 1}, cos.Dict{cos.E("Type", cos.Name("Annot"))}, nil)
	j.Content(cos.Ref{Num: 1}, []byte("Tj"), nil)
	j.Elem(&tag.Elem{Type: tag.Figure})
	if found := j.Finish(cos.Trailer{}); found != nil {
		t.Errorf("found %+v", found)
	}
}
