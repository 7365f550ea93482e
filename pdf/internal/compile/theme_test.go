package compile_test

import (
	"strings"
	"testing"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/compile"
)

// TestThemeLiesBelowTheStyles: each key of a style that the template leaves open is the theme's;
// a template whose styles have a base has no theme unless it asks for one.
func TestThemeLiesBelowTheStyles(t *testing.T) {
	const none = doc.Length(0)
	pt := func(n doc.Length) doc.Length { return n * doc.Pt }
	for _, tt := range []struct {
		name, keys string
		themed     bool
		h1, h2     doc.Length // sizes
		color      doc.Color  // of h1
	}{
		{"no styles", "", true, pt(20), pt(14), doc.RGB(0x1b, 0x2a, 0x41)},
		{"one key of a heading", "styles: {h1: {color: '#7a1f1f'}}", true, pt(20), pt(14), doc.RGB(0x7a, 0x1f, 0x1f)},
		{"extends another", "styles: {h1: {extends: h2}}", true, pt(14), pt(14), doc.RGB(0x1b, 0x2a, 0x41)},
		{"none", "theme: none", false, none, none, 0},
		{"none with styles", "theme: none\nstyles: {h1: {size: 30pt}}", false, none, none, 0},
		{"base of its own", "styles: {base: {size: 12pt}}", false, none, none, 0},
		{"base over the theme", "theme: default\nstyles: {base: {size: 12pt}}", true, pt(24), pt(168) / 10, doc.RGB(0x1b, 0x2a, 0x41)},
		{"colour of the page", "theme: default\nstyles: {base: {color: '#222266'}}", true, pt(20), pt(14), doc.RGB(0x22, 0x22, 0x66)},
		{"file", "theme: brand.yaml", true, pt(20), pt(14), doc.RGB(0x7a, 0x1f, 0x1f)},
		{"styles over a file", "theme: brand.yaml\nstyles: {h1: {size: 30pt}}", true, pt(30), pt(14), doc.RGB(0x7a, 0x1f, 0x1f)},
		{"file without the default", "theme: plain.yaml", false, none, none, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := "quire: 1\nname: x\nlang: en\ntitle: T\n" + tt.keys + "\nbody: [{text: a}]\n"
			p, err := compile.Compile(t.Context(), []byte(src), compile.Options{File: "x.yaml", Files: assets})
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.Build(t.Context(), compile.JSON([]byte("{}")), compile.BuildOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if (d.Theme != nil) != tt.themed {
				t.Fatalf("themed: %v, want %v", d.Theme != nil, tt.themed)
			}
			margin := doc.MM(20)
			if tt.themed {
				margin = doc.MM(25)
				h1, h2 := d.Theme.Headings[0], d.Theme.Headings[1]
				if h1.Size != tt.h1 || h2.Size != tt.h2 || h1.Color != tt.color || h1.Weight != 700 {
					t.Errorf("h1 %v of %v in %06x, h2 %v", h1.Size, h1.Weight, h1.Color, h2.Size)
				}
				num := doc.Style{Align: doc.AlignRight, Size: pt(8)}
				if head := d.Theme.TableHead(num); head.Align != doc.AlignRight || head.Weight != 700 || head.Size != pt(72)/10 {
					t.Errorf("the head of a column: %+v", head)
				}
			}
			if d.Page.Margins.Left != margin {
				t.Errorf("margin %v", d.Page.Margins.Left)
			}
		})
	}
}

// TestThemeFilesBringComponents: a component of a theme's file is used by name, and what is wrong
// in it while it renders is told at its place in that file.
func TestThemeFilesBringComponents(t *testing.T) {
	src := "quire: 1\nname: x\nlang: en\ntitle: T\ntheme: brand.yaml\nbody: [{use: seal, with: {who: Ada}}]\n"
	p, err := compile.Compile(t.Context(), []byte(src), compile.Options{File: "x.yaml", Files: assets})
	if err != nil {
		t.Fatal(err)
	}
	if files := p.Files(); len(files) != 1 || files[0] != "brand.yaml" {
		t.Errorf("files %q", files)
	}
	d, err := p.Build(t.Context(), compile.JSON([]byte("{}")), compile.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := dump(t, d)
	if err != nil || !strings.Contains(text, `text "Sealed by Ada" @8:11 components.seal.do[0].text {`) {
		t.Errorf("%v\n%s", err, text)
	}
	for n, err := range d.Body {
		if err != nil {
			t.Fatal(err)
		}
		if at := n.Common().Src; at.File != "brand.yaml" {
			t.Errorf("the component is said to be in %s", at.File)
		}
	}
}
