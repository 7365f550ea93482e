package font_test

import (
	"fmt"

	"example.com/quire/pdf/font"
	"example.com/quire/pdf/font/liberation"
)

// A price in rupees: the sign comes from the fallback font.
func Example() {
	lib := liberation.New()
	chain, err := lib.Chain(liberation.Sans, font.Style{Weight: 700})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, cluster := range []string{"₹", "5"} {
		face, err := chain.Pick(cluster)
		if err != nil {
			fmt.Println(err)
			return
		}
		g := face.GlyphIndex([]rune(cluster)[0])
		fmt.Println(cluster, face.PostScriptName(), face.Advance(g), "of", face.UnitsPerEm())
	}
	// Output:
	// ₹ DejaVuSans-Bold 1425 of 2048
	// 5 LiberationSans-Bold 1139 of 2048
}

// A document collects what it draws and asks the engine's cache for the subset.
func ExampleCache() {
	cache := font.NewCache(16<<20, nil)
	match, err := liberation.New().Match(liberation.Sans, font.Style{})
	if err != nil {
		fmt.Println(err)
		return
	}
	subsetFor := func(text string) *font.Subset {
		use := font.NewUse(match.Face)
		for _, r := range text {
			use.AddRune(match.Face.GlyphIndex(r), r)
		}
		s, err := cache.Subset(use, false)
		if err != nil {
			fmt.Println(err)
		}
		return s
	}
	a, b := subsetFor("Maria Meyer"), subsetFor("John Smith")
	fmt.Println(a == b, a.Name[6:])
	// Output: true +LiberationSans
}
