package content

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
)

// file is a Source of objects by number.
type file map[uint32]cos.Object

// data is a stream of a file.
type data struct {
	cos.Dict
	body string
}

func (f file) Resolve(o cos.Object) cos.Object {
	for range 8 {
		r, ok := o.(cos.Ref)
		if !ok {
			return o
		}
		o = f[r.Num]
	}
	return nil
}

func (f file) Dict(o cos.Object) cos.Dict {
	switch v := f.Resolve(o).(type) {
	case cos.Dict:
		return v
	case data:
		return v.Dict
	}
	return nil
}

func (f file) Data(o cos.Object) []byte {
	d, _ := f.Resolve(o).(data)
	return []byte(d.body)
}

func ref(n uint32) cos.Ref { return cos.Ref{Num: n} }

// fonts is a file whose resources have a standard font H, a font D with names, one of Type 0 with
// an embedded CMap C, one with a predefined CMap J, vertical V, and one of Type 3.
func fonts(toUnicode string) (file, cos.Dict) {
	widths := cos.Array{}
	for range 256 {
		widths = append(widths, cos.Int(500))
	}
	descendant := cos.Array{cos.Dict{cos.E("Subtype", cos.Name("CIDFontType2")), cos.E("DW", cos.Int(1000)), cos.E("W", cos.Array{cos.Int(1), cos.Array{cos.Int(400), cos.Int(600)}, cos.Int(3), cos.Int(9), cos.Int(200)})}}
	f := file{
		1: cos.Dict{cos.E("Subtype", cos.Name("Type1")), cos.E("BaseFont", cos.Name("Helvetica"))},
		2: cos.Dict{
			cos.E("Subtype", cos.Name("Type1")), cos.E("BaseFont", cos.Name("ABCDEF+Own")), cos.E("FirstChar", cos.Int(0)), cos.E("Widths", widths),
			cos.E("Encoding", cos.Dict{cos.E("Differences", cos.Array{cos.Int(1), cos.Name("eacute"), cos.Name("f_i"), cos.Name("uni20AC"), cos.Name("u1F600"), cos.Name("afii10017"), cos.Name("g7"), cos.Name("Aogonek")})}),
		},
		3: cos.Dict{cos.E("Subtype", cos.Name("Type0")), cos.E("BaseFont", cos.Name("C")), cos.E("Encoding", cos.Name("Identity-H")), cos.E("DescendantFonts", descendant), cos.E("ToUnicode", ref(4))},
		4: data{body: toUnicode},
		5: cos.Dict{cos.E("Subtype", cos.Name("Type0")), cos.E("BaseFont", cos.Name("J")), cos.E("Encoding", cos.Name("90ms-RKSJ-H")), cos.E("DescendantFonts", descendant)},
		6: cos.Dict{cos.E("Subtype", cos.Name("Type0")), cos.E("BaseFont", cos.Name("V")), cos.E("Encoding", cos.Name("UniJIS-UCS2-V")), cos.E("DescendantFonts", descendant)},
		7: cos.Dict{cos.E("Subtype", cos.Name("Type3")), cos.E("FontMatrix", cos.Array{cos.Decimal{Mantissa: 1, Scale: 2}, cos.Int(0), cos.Int(0), cos.Decimal{Mantissa: 1, Scale: 2}, cos.Int(0), cos.Int(0)}), cos.E("FirstChar", cos.Int(65)), cos.E("Widths", cos.Array{cos.Int(70)}), cos.E("Encoding", cos.Dict{cos.E("Differences", cos.Array{cos.Int(65), cos.Name("Q")})})},
		8: data{cos.Dict{cos.E("Subtype", cos.Name("Form")), cos.E("Matrix", cos.Array{cos.Int(1), cos.Int(0), cos.Int(0), cos.Int(1), cos.Int(100), cos.Int(0)})}, "BT /H 10 Tf 0 50 Td (form) Tj ET /Self Do"},
	}
	return f, cos.Dict{
		cos.E("Font", cos.Dict{cos.E("H", ref(1)), cos.E("D", ref(2)), cos.E("C", ref(3)), cos.E("J", ref(5)), cos.E("V", ref(6)), cos.E("T", ref(7))}),
		cos.E("XObject", cos.Dict{cos.E("Self", ref(8))}),
	}
}

const sampleCMap = `begincmap 1 begincodespacerange <0000><FFFF> endcodespacerange
2 beginbfchar <0001> <0041> <0002> <00660069> endbfchar
2 beginbfrange <0003> <0005> <0061> <0006> <0007> [<05D0> <D83DDE00>] endbfrange endcmap`

func textOf(t *testing.T, f file, resources cos.Dict, content string) *Text {
	t.Helper()
	in := New(f)
	out, err := in.Read(t.Context(), "page 1", Rect{}, Content{Data: []byte(content), Resources: resources, Matrix: Identity})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func said(t *Text) string {
	var lines []string
	for _, l := range t.Lines {
		lines = append(lines, l.Text())
	}
	return strings.Join(lines, "|")
}

// TestTextOfEveryKindOfFont is told by encodings, names of glyphs, CMaps and ActualText.
func TestTextOfEveryKindOfFont(t *testing.T) {
	f, resources := fonts(sampleCMap)
	for name, c := range map[string]struct{ content, want string }{
		"standard":       {`BT /H 12 Tf (Hello ) Tj (World) Tj ET`, "Hello World"},
		"kerned":         {`BT /H 12 Tf [(Hel)20(lo)-300(World)] TJ ET`, "Hello World"},
		"names":          {"BT /D 12 Tf (\x01\x02\x03\x04\x05\x07) Tj ET", "éfi€😀АĄ"},
		"unknown name":   {"BT /D 12 Tf (a\x06b) Tj ET", "a\uFFFDb"},
		"CID":            {`BT /C 12 Tf <00010002000300040005> Tj ET`, "Afiabc"},
		"array in range": {`BT /C 12 Tf <0007> Tj ET`, "😀"},
		"Shift-JIS":      {"BT /J 12 Tf (\x93\xfa\x96\x7bA) Tj ET", "日本A"},
		"vertical":       {`BT /V 12 Tf <65E5672C> Tj ET`, "日本"},
		"Type 3":         {`BT /T 12 Tf (A) Tj ET`, "Q"},
		"form":           {`/Self Do`, "form"},
		"next line":      {`BT /H 10 Tf 12 TL 0 100 Td (one) Tj (two) ' 1 0.1 (three) " T* (four) Tj ET`, "one|two|three|four"},
		"invisible":      {`BT 3 Tr /H 10 Tf (seen) Tj ET`, "seen"},
		"ActualText":     {`/Span <</ActualText (real)>> BDC BT /H 10 Tf (fake) Tj ET EMC`, "real"},
		"doubled":        {`BT /H 10 Tf 0 0 Td (Bold) Tj 0.2 0 Td (Bold) Tj ET`, "Bold"},
		"columns":        {`BT /H 10 Tf 0 90 Td (left one here now) Tj 0 -12 Td (left two here now) Tj 0 -12 Td (left three here now) Tj 200 18 Td (right one here now) Tj 0 -12 Td (right two here now) Tj 0 -12 Td (right three here now) Tj ET`, "left one here now|left two here now|left three here now|right one here now|right two here now|right three here now"},
		"row":            {`BT /H 10 Tf 0 90 Td (A) Tj 200 0 Td (B) Tj -200 -12 Td (C) Tj 200 0 Td (D) Tj ET`, "A|B|C|D"},
		"no font":        {`BT (x) Tj ET`, "\uFFFD"},
		"out of order":   {`BT /H 10 Tf 25 0 Td (second) Tj -25 0 Td (first) Tj ET`, "first second"},
		"too many Q":     {`Q Q BT /H 10 Tf (ok) Tj ET EMC`, "ok"},
		"upside down":    {`-1 0 0 -1 100 100 cm BT /H 10 Tf (turned text) Tj ET`, "turned text"},
		"right to left":  {`BT /C 10 Tf <00060006> Tj ET`, "אא"},
	} {
		if got := said(textOf(t, f, resources, c.content)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestIndicesBelongToTheirWords, raised or lowered, before, behind or within them; apart from them
// they are lines of their own.
func TestIndicesBelongToTheirWords(t *testing.T) {
	f, resources := fonts(sampleCMap)
	for name, c := range map[string]struct{ content, want, apart string }{
		"raised":          {`BT /D 10 Tf 20 30 Td (50 m) Tj /D 6 Tf 4 Ts (2) Tj ET`, "50 m2", "50 m|2"},
		"lowered":         {`BT /D 10 Tf 20 30 Td (H) Tj /D 6 Tf -2 Ts (2) Tj /D 10 Tf 0 Ts (O is) Tj ET`, "H2O is", "H O is|2"},
		"before":          {`BT /D 6 Tf 4 Ts 20 30 Td (238) Tj /D 10 Tf 0 Ts (U) Tj ET`, "238U", "238|U"},
		"ordinal":         {`BT /D 10 Tf 20 30 Td (the 1) Tj /D 6 Tf 4 Ts (st) Tj /D 10 Tf 0 Ts ( day) Tj ET`, "the 1st day", "the 1 day|st"},
		"over another":    {`BT /D 10 Tf 20 30 Td (SO) Tj /D 6 Tf -2 Ts (4) Tj -6 0 Td 4 Ts ET BT /D 6 Tf 4 Ts 30 30 Td (2-) Tj ET`, "SO42-", "SO 4|2-"},
		"behind another":  {`BT /D 10 Tf 20 30 Td (SO) Tj /D 6 Tf -2 Ts (4) Tj 4 Ts (2-) Tj ET`, "SO42-", "SO 4|2-"},
		"of an index":     {`BT /D 10 Tf 20 30 Td (2) Tj /D 7 Tf 4 Ts (n) Tj /D 5 Tf 7 Ts (2) Tj ET`, "2n2", "2|n|2"},
		"drawn later":     {`BT /D 10 Tf 20 30 Td (x) Tj 20 0 Td (y) Tj /D 6 Tf -15 4 Td (2) Tj ET`, "x2 y", "x y|2"},
		"turned":          {`0.6 0.8 -0.8 0.6 100 0 cm BT /D 10 Tf 20 30 Td (m) Tj /D 6 Tf 4 Ts (2) Tj ET`, "m2", "m|2"},
		"several words":   {`BT /D 10 Tf 20 30 Td (to 2) Tj /D 6 Tf 4 Ts (P - 1) Tj /D 10 Tf 0 Ts (. A) Tj ET`, "to 2P - 1. A", "to 2 . A|P - 1"},
		"that end in one": {`BT /D 10 Tf 20 30 Td (2) Tj /D 7 Tf 2.4 Ts (P) Tj 4 Ts ( - 1) Tj /D 10 Tf 0 Ts (. A) Tj ET`, "2P - 1. A", "2P . A|- 1"},
		"behind a space":  {`BT /D 10 Tf 20 30 Td (m ) Tj /D 6 Tf 4 Ts (2) Tj ET`, "m|2", ""},
		"far above":       {`BT /D 10 Tf 20 30 Td (m) Tj /D 6 Tf 9 Ts (2) Tj ET`, "2|m", ""},
		"an initial":      {`BT /D 30 Tf 20 30 Td (T) Tj /D 10 Tf 18 Ts (he) Tj ET`, "T|he", ""},
	} {
		got := textOf(t, f, resources, c.content)
		if said(got) != c.want {
			t.Errorf("%s: %q, want %q", name, said(got), c.want)
		}
		if apart := got.Apart; (apart == nil) != (c.apart == "") || apart != nil && said(apart) != c.apart {
			t.Errorf("%s: apart %q, want %q", name, said(apart), c.apart)
		}
	}
}

// TestPlacesOfWords: matrices, spacing, scaling and rise move glyphs as ISO 32000-2, 9.4.4 says.
func TestPlacesOfWords(t *testing.T) {
	f, resources := fonts(sampleCMap)
	for name, c := range map[string]struct {
		content string
		x, end  float64
	}{
		"plain":        {`BT /D 10 Tf 20 30 Td (ab) Tj ET`, 20, 30},
		"spaced":       {`BT /D 10 Tf 0.5 Tc 20 30 Td (ab) Tj ET`, 20, 30.5},
		"scaled":       {`BT /D 10 Tf 50 Tz 20 30 Td (ab) Tj ET`, 20, 25},
		"larger":       {`2 0 0 2 0 0 cm BT /D 10 Tf 20 30 Td (ab) Tj ET`, 40, 60},
		"text matrix":  {`BT /D 1 Tf 10 0 0 10 20 30 Tm (ab) Tj ET`, 20, 30},
		"word spacing": {`BT /D 10 Tf 7 Tw 20 30 Td ( ab) Tj ET`, 32, 42},
		"CID widths":   {`BT /C 10 Tf 20 30 Td <00010002> Tj ET`, 20, 30},
		"Type 3":       {`BT /T 10 Tf 20 30 Td (AA) Tj ET`, 20, 34},
	} {
		w := textOf(t, f, resources, c.content).Order[0]
		b := w.Quad.Bounds()
		if math.Abs(b[0]-c.x) > 1e-6 || math.Abs(b[2]-c.end) > 1e-6 {
			t.Errorf("%s: from %g to %g, want %g to %g", name, b[0], b[2], c.x, c.end)
		}
	}
}

// TestSpacesOverCharactersPartNoWords: a space is one where it is seen.
func TestSpacesOverCharactersPartNoWords(t *testing.T) {
	f, resources := fonts(sampleCMap)
	for content, want := range map[string]string{
		`BT /D 10 Tf 20 30 Td (a) Tj 0 0 Td ( b) Tj ET`:                "ab",
		`BT /D 10 Tf 20 30 Td (a) Tj 5 0 Td ( b) Tj ET`:                "a b",
		`BT /D 10 Tf 20 30 Td (a b) Tj ET`:                             "a b",
		`BT /D 10 Tf 20 30 Td (b) Tj -5 0 Td ( ) Tj -5 0 Td (a) Tj ET`: "b a",
	} {
		var words []string
		for _, w := range textOf(t, f, resources, content).Order {
			words = append(words, w.Text)
		}
		slices.Sort(words)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(words, wanted) {
			t.Errorf("%s: %q, want %q", content, words, wanted)
		}
	}
}

// TestHostileContentIsBounded: operators, states, marks and points of paths end in typed errors,
// and a form that draws itself is followed once.
func TestHostileContentIsBounded(t *testing.T) {
	f, resources := fonts(sampleCMap)
	for name, c := range map[string]struct{ content, limit string }{
		"states":  {strings.Repeat("q ", 2000), "Depth"},
		"marks":   {strings.Repeat("/P BMC ", 2000), "Depth"},
		"points":  {strings.Repeat("0 0 9 9 re\n", 300_000), "PathPoints"},
		"itself":  {"/Self Do", ""},
		"nothing": {"\x00\xff(((<<[", ""},
	} {
		in := New(f)
		in.left = 10_000_000
		err := in.Run(t.Context(), Content{Data: []byte(c.content), Resources: resources, Matrix: Identity}, "page 7", func(*Event) error { return nil })
		var limit *diag.LimitError
		if c.limit == "" && err != nil || c.limit != "" && (!errors.As(err, &limit) || limit.Name != c.limit || limit.Place != "page 7") {
			t.Errorf("%s: %v", name, err)
		}
		if (name == "itself") != in.Skipped {
			t.Errorf("%s: skipped %t", name, in.Skipped)
		}
	}
	in := New(f)
	in.left = 5
	if err := in.Run(t.Context(), Content{Data: []byte("q Q q Q q Q"), Matrix: Identity}, "", func(*Event) error { return nil }); !errors.Is(err, diag.ErrLimit) {
		t.Errorf("operators: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := in.Run(ctx, Content{Matrix: Identity}, "", func(*Event) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// FuzzRead: content and CMaps of any bytes end without a panic, and words lie where numbers are.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`BT /H 12 Tf (Hello) Tj [(a)-200(b)] TJ ET /Self Do`), []byte(sampleCMap))
	f.Add([]byte(`BT /C 12 Tf <00010002> Tj ET BT /V 9 Tf <65E5> Tj ET`), []byte("1 begincidrange <00><ff> 0 endcidrange"))
	f.Add([]byte(`/Span <</ActualText (x)>> BDC BT /J 1 Tf (\223\372) Tj ET EMC BI /W 1 ID x EI`), []byte("beginbfrange <00><ff>["))
	f.Fuzz(func(t *testing.T, content, cmap []byte) {
		if len(content) > 1<<16 || len(cmap) > 1<<16 {
			return // longer inputs find nothing more
		}
		src, resources := fonts(string(cmap))
		in := New(src)
		in.left = 100_000
		out, err := in.Read(t.Context(), "page 1", Rect{}, Content{Data: content, Resources: resources, Matrix: Identity})
		if err != nil {
			if !errors.Is(err, diag.ErrLimit) {
				t.Fatal(err)
			}
			return
		}
		for _, w := range out.Order {
			if s := fmt.Sprint(w.Quad); strings.Contains(s, "NaN") {
				t.Fatalf("%q at %s", w.Text, s)
			}
		}
	})
}
