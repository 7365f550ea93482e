package content

import (
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// simpleEncoding is what the codes of a simple font mean (ISO 32000-2, Annex D); 0: nothing.
type simpleEncoding [256]rune

// encodingOf returns a base encoding by its name in PDF, or those of the two standard fonts of
// symbols; ok is false for another name.
func encodingOf(name string) (e *simpleEncoding, ok bool) {
	e, ok = encodings()[name]
	return e, ok
}

var encodings = sync.OnceValue(func() map[string]*simpleEncoding {
	standard, win, mac, symbol, dingbats := &simpleEncoding{}, &simpleEncoding{}, &simpleEncoding{}, &simpleEncoding{}, &simpleEncoding{}
	for c := range 256 {
		win[c], mac[c] = charmap.Windows1252.DecodeByte(byte(c)), charmap.Macintosh.DecodeByte(byte(c))
	}
	for c := ' '; c < 0x7F; c++ {
		standard[c] = c
	}
	for c := range ' ' {
		win[c], mac[c] = 0, 0
	}
	standard['\''], standard['`'] = '’', '‘'
	win[0x7F], win[0x81], win[0x8D], win[0x8F], win[0x90], win[0x9D] = '•', '•', '•', '•', '•', '•'
	win[0xA0], win[0xAD], mac[0xCA] = ' ', '-', ' '
	mac[0xDB] = '¤'
	row := func(e *simpleEncoding, from int, text string) {
		for _, r := range text {
			if r != '\u00A0' {
				e[from] = r
			}
			from++
		}
	}
	row(standard, 0xA1, "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\u00A0–†‡·\u00A0¶•‚„”»…‰\u00A0¿\u00A0`´ˆ˜¯˘˙¨\u00A0˚¸\u00A0˝˛ˇ—")
	row(standard, 0xE1, "Æ\u00A0ª\u00A0\u00A0\u00A0\u00A0ŁØŒº\u00A0\u00A0\u00A0\u00A0\u00A0æ\u00A0\u00A0\u00A0ı\u00A0\u00A0łøœß")
	row(symbol, 0x20, " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼")
	row(symbol, 0xA0, "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\u00A0〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭")
	for c := rune(0x21); c < 0x7F; c++ {
		dingbats[c] = 0x2700 + c - 0x20
	}
	for c := rune(0xA1); c < 0xFF; c++ {
		switch {
		case c < 0xA8:
			dingbats[c] = 0x2761 + c - 0xA1
		case c >= 0xAC && c < 0xB6:
			dingbats[c] = 0x2460 + c - 0xAC
		case c >= 0xB6 && c < 0xD5:
			dingbats[c] = 0x2776 + c - 0xB6
		case c >= 0xD8 && c != 0xF0:
			dingbats[c] = 0x2798 + c - 0xD8
		}
	}
	row(dingbats, 0xA8, "♣♦♥♠")
	row(dingbats, 0xD5, "→↔↕")
	dingbats[' '] = ' '
	for c, r := range map[int]rune{0x25: '☎', 0x2A: '☛', 0x2B: '☞', 0x48: '★', 0x6C: '●', 0x6E: '■', 0x73: '▲', 0x74: '▼', 0x75: '◆', 0x77: '◗'} {
		dingbats[c] = r
	}
	return map[string]*simpleEncoding{
		"StandardEncoding": standard, "WinAnsiEncoding": win, "MacRomanEncoding": mac, "Symbol": symbol, "ZapfDingbats": dingbats,
	}
})

// glyphNames are names of glyphs, each with its character behind it, beside those that are letters
// with an accent behind them.
const glyphNames = `exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( parenright ) asterisk * plus + comma ,
hyphen - minus − period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal =
greater > question ? at @ bracketleft [ backslash \ bracketright ] asciicircum ^ underscore _ grave ` + "`" + ` braceleft { bar | braceright }
asciitilde ~ exclamdown ¡ cent ¢ sterling £ fraction ⁄ yen ¥ florin ƒ section § currency ¤ quotedblleft “ guillemotleft « guilsinglleft ‹
guilsinglright › fi fi fl fl ff ff ffi ffi ffl ffl endash – dagger † daggerdbl ‡ periodcentered · middot · paragraph ¶ bullet •
quotesinglbase ‚ quotedblbase „ quotedblright ” guillemotright » ellipsis … perthousand ‰ questiondown ¿ acute ´ circumflex ˆ tilde ˜ macron ¯
breve ˘ dotaccent ˙ dieresis ¨ ring ˚ cedilla ¸ hungarumlaut ˝ ogonek ˛ caron ˇ emdash — AE Æ ordfeminine ª Lslash Ł Oslash Ø OE Œ
ordmasculine º ae æ dotlessi ı dotlessj ȷ lslash ł oslash ø oe œ germandbls ß quoteleft ‘ quoteright ’ quotereversed ‛ onesuperior ¹ twosuperior ²
threesuperior ³ onequarter ¼ onehalf ½ threequarters ¾ brokenbar ¦ copyright © registered ® trademark ™ degree ° plusminus ± mu µ multiply ×
divide ÷ logicalnot ¬ Eth Ð eth ð Thorn Þ thorn þ Dcroat Đ dcroat đ Hbar Ħ hbar ħ Tbar Ŧ tbar ŧ Eng Ŋ eng ŋ kgreenlandic ĸ longs ſ Euro €
Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ
Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ
omicron ο pi π rho ρ sigma σ sigma1 ς tau τ upsilon υ phi φ chi χ psi ψ omega ω theta1 ϑ phi1 ϕ omega1 ϖ Upsilon1 ϒ
infinity ∞ partialdiff ∂ summation ∑ product ∏ integral ∫ radical √ approxequal ≈ notequal ≠ lessequal ≤ greaterequal ≥ lozenge ◊
universal ∀ existential ∃ suchthat ∋ asteriskmath ∗ congruent ≅ therefore ∴ perpendicular ⊥ similar ∼ minute ′ second ″ club ♣ diamond ♦
heart ♥ spade ♠ arrowboth ↔ arrowleft ← arrowup ↑ arrowright → arrowdown ↓ proportional ∝ equivalence ≡ carriagereturn ↵ aleph ℵ Ifraktur ℑ
Rfraktur ℜ weierstrass ℘ circlemultiply ⊗ circleplus ⊕ emptyset ∅ intersection ∩ union ∪ propersuperset ⊃ reflexsuperset ⊇ notsubset ⊄
propersubset ⊂ reflexsubset ⊆ element ∈ notelement ∉ angle ∠ gradient ∇ dotmath ⋅ logicaland ∧ logicalor ∨ arrowdblboth ⇔ arrowdblleft ⇐
arrowdblup ⇑ arrowdblright ⇒ arrowdbldown ⇓ angleleft 〈 angleright 〉 checkmark ✓ square □ filledbox ■ circle ○ H18533 ■ triagup ▲ triagdn ▼
figuredash ‒ horizontalbar ― afii00208 ― estimated ℮ numero № afii61352 № oneeighth ⅛ threeeighths ⅜ fiveeighths ⅝ seveneighths ⅞
zerosuperior ⁰ foursuperior ⁴ fivesuperior ⁵ sixsuperior ⁶ sevensuperior ⁷ eightsuperior ⁸ ninesuperior ⁹ zerooldstyle 0 oneoldstyle 1
twooldstyle 2 threeoldstyle 3 fouroldstyle 4 fiveoldstyle 5 sixoldstyle 6 sevenoldstyle 7 eightoldstyle 8 nineoldstyle 9 arrowvertex ⏐
arrowhorizex ⎯ Lcommaaccent Ļ nonmarkingreturn ↵ asteriskcentered ∗ openbullet ◦ dotlessjcaron ǰ bar1 |`

// accents are what stands behind the letter in names such as eacute.
var accents = []struct{ name, mark string }{
	{"circumflex", "\u0302"},
	{"hungarumlaut", "\u030B"},
	{"commaaccent", "\u0327"},
	{"dotaccent", "\u0307"},
	{"dieresis", "\u0308"},
	{"cedilla", "\u0327"},
	{"macron", "\u0304"},
	{"ogonek", "\u0328"},
	{"acute", "\u0301"},
	{"grave", "\u0300"},
	{"tilde", "\u0303"},
	{"caron", "\u030C"},
	{"breve", "\u0306"},
	{"ring", "\u030A"},
	{"tonos", "\u0301"},
}

var named = sync.OnceValue(func() map[string]string {
	out := map[string]string{"space": " ", "nbspace": " ", "nonbreakingspace": " ", "sfthyphen": "\u00AD", "softhyphen": "\u00AD", ".notdef": ""}
	f := strings.Fields(glyphNames)
	for i := 0; i+1 < len(f); i += 2 {
		out[f[i]] = f[i+1]
	}
	return out
})

// nameText returns what a glyph stands for by its name, as the conventions for glyph names say; ok
// is false where the name does not tell.
func nameText(name string) (text string, ok bool) {
	if i := strings.IndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	if strings.Contains(name, "_") {
		for part := range strings.SplitSeq(name, "_") {
			s, known := nameText(part)
			if !known || part == "" {
				return "", false
			}
			text += s
		}
		return text, true
	}
	if s, known := named()[name]; known {
		return s, true
	}
	if len(name) == 1 && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z') {
		return name, true
	}
	if hex, uni := strings.CutPrefix(name, "uni"); uni && len(hex) >= 4 && len(hex)%4 == 0 {
		for ; hex != ""; hex = hex[4:] {
			v, err := strconv.ParseUint(hex[:4], 16, 16)
			if err != nil || v >= 0xD800 && v < 0xE000 {
				return "", false
			}
			text += string(rune(v))
		}
		return text, true
	}
	if hex, u := strings.CutPrefix(name, "u"); u && len(hex) >= 4 && len(hex) <= 6 {
		if v, err := strconv.ParseUint(hex, 16, 32); err == nil && v <= 0x10FFFF && (v < 0xD800 || v >= 0xE000) {
			return string(rune(v)), true
		}
	}
	if num, afii := strings.CutPrefix(name, "afii100"); afii && len(num) == 2 {
		if n, err := strconv.Atoi(num); err == nil { // Cyrillic in the order of its letters
			switch {
			case n >= 17 && n <= 22:
				return string(rune(0x410 + n - 17)), true
			case n == 23:
				return "Ё", true
			case n >= 24 && n <= 49:
				return string(rune(0x416 + n - 24)), true
			case n >= 65 && n <= 70:
				return string(rune(0x430 + n - 65)), true
			case n == 71:
				return "ё", true
			case n >= 72 && n <= 97:
				return string(rune(0x436 + n - 72)), true
			}
		}
	}
	for _, a := range accents {
		base, has := strings.CutSuffix(name, a.name)
		if !has || base == "" {
			continue
		}
		letter, known := named()[base]
		if len(base) == 1 {
			letter, known = base, true
		}
		if base == "dotlessi" {
			letter = "i"
		}
		if known {
			return norm.NFC.String(letter + a.mark), true
		}
	}
	return "", false
}

// fontEncodingOf reads the encoding in the clear part of a Type 1 font program; nil: it is the
// standard one, or none can be told.
func fontEncodingOf(program string) map[byte]string {
	_, rest, ok := strings.Cut(program[:min(len(program), 64<<10)], "/Encoding")
	if !ok {
		return nil
	}
	if i := strings.Index(rest, "eexec"); i >= 0 {
		rest = rest[:i]
	}
	out := map[byte]string{}
	f := strings.Fields(strings.ReplaceAll(rest, "/", " /"))
	for i := 0; i+3 < len(f) && len(out) < 256; i++ {
		if f[i] == "def" || f[i] == "readonly" {
			break
		}
		if f[i] != "dup" || f[i+3] != "put" || !strings.HasPrefix(f[i+2], "/") {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimPrefix(f[i+1], "8#"), base8(f[i+1]), 8); err == nil {
			out[byte(n)] = f[i+2][1:]
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func base8(s string) int {
	if strings.HasPrefix(s, "8#") {
		return 8
	}
	return 10
}
