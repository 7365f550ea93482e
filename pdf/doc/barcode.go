package doc

// Symbology is a kind of barcode.
type Symbology string

// The symbologies. Those of the second group are linear: one row of bars.
const (
	QR         Symbology = "qr"         // ISO/IEC 18004; any text, as UTF-8
	SwissQR    Symbology = "swiss-qr"   // a QR code with the Swiss cross; see [SwissBill]
	DataMatrix Symbology = "datamatrix" // ISO/IEC 16022, ECC 200; Latin-1
	GS1Matrix  Symbology = "gs1-datamatrix"
	Aztec      Symbology = "aztec"  // ISO/IEC 24778; Latin-1
	PDF417     Symbology = "pdf417" // ISO/IEC 15438; ASCII

	Code128     Symbology = "code128" // ISO/IEC 15417; ASCII, 80 characters
	GS1128      Symbology = "gs1-128" // elements as in "(01)09501101530003(17)271231"
	Code39      Symbology = "code39"  // ISO/IEC 16388; capitals, digits and "-. $/+%"
	Code93      Symbology = "code93"  // ASCII
	Codabar     Symbology = "codabar" // digits and "-$:/.+" between two of A to D
	Interleaved Symbology = "itf"     // ISO/IEC 16390, interleaved 2 of 5; an even number of digits
	EAN13       Symbology = "ean13"   // ISO/IEC 15420; 12 digits, or 13 with the check digit
	EAN8        Symbology = "ean8"    // 7 digits, or 8 with the check digit
	UPCA        Symbology = "upca"    // 11 digits, or 12 with the check digit
)

// Symbologies returns all kinds of barcodes.
func Symbologies() []Symbology {
	return []Symbology{
		QR, SwissQR, DataMatrix, GS1Matrix, Aztec, PDF417,
		Code128, GS1128, Code39, Code93, Codabar, Interleaved, EAN13, EAN8, UPCA,
	}
}

// Linear reports whether the symbols are one row of bars.
func (s Symbology) Linear() bool {
	switch s {
	case Code128, GS1128, Code39, Code93, Codabar, Interleaved, EAN13, EAN8, UPCA:
		return true
	}
	return false
}

// Switch is a choice that may be left to the default.
type Switch uint8

// The choices.
const (
	SwitchDefault Switch = iota
	SwitchOn
	SwitchOff
)

// Barcode is a machine-readable symbol, drawn as rectangles with the quiet zone of its standard. If
// the symbology requires a check digit and the value has none, it is added. A check digit in the
// value must be right.
type Barcode struct {
	Block
	Symbology  Symbology
	Value      string
	From       Origin // for diagnostics
	Alt        string // alternative text; required unless Decorative
	Decorative bool   // an artifact: carries no meaning
	// Module is the width of the narrowest bar. Size is the width of the symbol without its quiet
	// zone and takes precedence over Module. Without both, a module is 0.5 mm, 0.33 mm for EAN and
	// UPC, and a Swiss QR code is 46 mm wide. A symbol is never scaled down to fit.
	Module, Size Length
	// Height is the height of the bars of a linear symbol; 0: 15 mm, 22.85 mm for EAN-13 and UPC-A
	// and 18.23 mm for EAN-8, scaled with their module.
	Height Length
	// Correction is the level of error correction of QR codes: L, M (the default), Q or H.
	Correction string
	// Readable says whether the value is printed below a linear symbol; the default is that it is.
	Readable Switch
}
