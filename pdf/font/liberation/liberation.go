// Package liberation is the default font library: the families Liberation Sans, Liberation Serif
// and Liberation Mono in four styles each, and DejaVu Sans in regular and bold, which is also the
// fallback for characters that the others lack. The fonts are part of the program; nothing is read
// from the system. Their licences are in NOTICE.
package liberation

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansbold"
	"github.com/go-fonts/liberation/liberationmonobold"
	"github.com/go-fonts/liberation/liberationmonobolditalic"
	"github.com/go-fonts/liberation/liberationmonoitalic"
	"github.com/go-fonts/liberation/liberationmonoregular"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansbolditalic"
	"github.com/go-fonts/liberation/liberationsansitalic"
	"github.com/go-fonts/liberation/liberationsansregular"
	"github.com/go-fonts/liberation/liberationserifbold"
	"github.com/go-fonts/liberation/liberationserifbolditalic"
	"github.com/go-fonts/liberation/liberationserifitalic"
	"github.com/go-fonts/liberation/liberationserifregular"

	"example.com/quire/pdf/font"
)

// Names of the families.
const (
	Sans   = "Liberation Sans"
	Serif  = "Liberation Serif"
	Mono   = "Liberation Mono"
	DejaVu = "DejaVu Sans"
)

func families() []font.Family {
	four := func(name string, regular, bold, italic, boldItalic []byte) font.Family {
		return font.Family{Name: name, Faces: []font.Source{
			{Style: font.Style{Weight: 400}, Data: regular},
			{Style: font.Style{Weight: 700}, Data: bold},
			{Style: font.Style{Weight: 400, Italic: true}, Data: italic},
			{Style: font.Style{Weight: 700, Italic: true}, Data: boldItalic},
		}}
	}
	return []font.Family{
		four(Sans, liberationsansregular.TTF, liberationsansbold.TTF, liberationsansitalic.TTF, liberationsansbolditalic.TTF),
		four(Serif, liberationserifregular.TTF, liberationserifbold.TTF, liberationserifitalic.TTF, liberationserifbolditalic.TTF),
		four(Mono, liberationmonoregular.TTF, liberationmonobold.TTF, liberationmonoitalic.TTF, liberationmonobolditalic.TTF),
		{Name: DejaVu, Faces: []font.Source{
			{Style: font.Style{Weight: 400}, Data: dejavusans.TTF},
			{Style: font.Style{Weight: 700}, Data: dejavusansbold.TTF},
		}},
	}
}

// New returns the library. Nothing is parsed until a face is asked for; an
// engine makes one library and keeps it.
func New() *font.Library {
	l, err := font.NewLibrary(font.Options{Families: families(), Fallback: []string{DejaVu}})
	if err != nil {
		// Only names and counts written above are checked there.
		panic("liberation: " + err.Error())
	}
	return l
}

// Embedded reports whether data is the memory of one of the embedded fonts.
func Embedded(data []byte) bool {
	if len(data) == 0 {
		return false
	}
	for _, fam := range families() {
		for _, src := range fam.Faces {
			if &src.Data[0] == &data[0] && len(src.Data) == len(data) {
				return true
			}
		}
	}
	return false
}

// Fingerprint returns a hash over the table directories of all embedded fonts, which have the
// checksum of each table. It changes when any of their bytes do, and with it the bytes of
// documents. Reading the fonts themselves would bring 6 MB of them into memory, most of which no
// document needs.
func Fingerprint() [sha256.Size]byte {
	h := sha256.New()
	for _, fam := range families() {
		for _, src := range fam.Faces {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(src.Data))))
			h.Write(directory(src.Data))
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// directory is the table directory at the beginning of a font (ISO/IEC 14496-22, 5.2.1).
func directory(font []byte) []byte {
	const header, entry = 12, 16
	return font[:header+entry*int(binary.BigEndian.Uint16(font[4:]))]
}
