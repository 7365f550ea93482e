package font

import (
	"strconv"
	"unicode/utf16"
)

// mapping is a glyph with its text in UTF-16.
type mapping struct {
	gid  GID
	text []uint16
}

const cmapHead = `/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo<</Registry(Adobe)/Ordering(UCS)/Supplement 0>>def
/CMapName/Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000><FFFF>
endcodespacerange
`

const cmapTail = `endcmap
CMapName currentdict/CMap defineresource pop
end
end
`

// perSection is the highest number of entries between begin and end
// (Adobe Technical Note 5014, 5).
const perSection = 100

// toUnicode makes the ToUnicode CMap (ISO 32000-2, 9.10.3) for ids in ascending
// order. It holds the texts the document gave and for all others the character
// of the font's own map, so it serves every document with that glyph set.
func (u *Use) toUnicode(ids []GID) []byte {
	chars, ranges := u.mappings(ids)
	out := append(make([]byte, 0, 4096), cmapHead...)
	out = section(out, "bfchar", len(chars), func(b []byte, i int) []byte {
		b = appendCode(b, uint16(chars[i].gid))
		return appendUTF16(b, chars[i].text)
	})
	out = section(out, "bfrange", len(ranges), func(b []byte, i int) []byte {
		r := ranges[i]
		b = appendCode(b, uint16(r[0].gid))
		b = appendCode(b, uint16(r[len(r)-1].gid))
		return appendUTF16(b, r[0].text)
	})
	return append(out, cmapTail...)
}

// mappings splits the texts of glyphs into single ones and ranges. In a range
// glyph and text both count up by one, and only in their last bytes.
func (u *Use) mappings(ids []GID) (chars []mapping, ranges [][]mapping) {
	all := make([]mapping, 0, len(ids))
	for _, g := range ids {
		if text := u.text(g); len(text) > 0 {
			all = append(all, mapping{gid: g, text: text})
		}
	}
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && follows(all[i+n-1], all[i+n]) {
			n++
		}
		if n > 1 {
			ranges = append(ranges, all[i:i+n])
		} else {
			chars = append(chars, all[i])
		}
		i += n
	}
	return chars, ranges
}

// text returns what g stands for, nil for nothing.
func (u *Use) text(g GID) []uint16 {
	if t, ok := u.texts[g]; ok {
		return utf16.Encode([]rune(t))
	}
	if r := u.index.runes[g]; r >= 0 && g != 0 {
		return utf16.AppendRune(nil, r)
	}
	return nil
}

func follows(a, b mapping) bool {
	return len(a.text) == 1 && len(b.text) == 1 &&
		b.gid == a.gid+1 && b.gid&0xFF != 0 &&
		b.text[0] == a.text[0]+1 && b.text[0]&0xFF != 0
}

func section(out []byte, operator string, n int, entry func([]byte, int) []byte) []byte {
	for from := 0; from < n; from += perSection {
		to := min(from+perSection, n)
		out = strconv.AppendInt(out, int64(to-from), 10)
		out = append(out, " begin"...)
		out = append(out, operator...)
		out = append(out, '\n')
		for i := from; i < to; i++ {
			out = append(entry(out, i), '\n')
		}
		out = append(out, "end"...)
		out = append(out, operator...)
		out = append(out, '\n')
	}
	return out
}

func appendCode(b []byte, code uint16) []byte { return appendUTF16(b, []uint16{code}) }

func appendUTF16(b []byte, text []uint16) []byte {
	const digits = "0123456789ABCDEF"
	b = append(b, '<')
	for _, v := range text {
		b = append(b, digits[v>>12], digits[v>>8&15], digits[v>>4&15], digits[v&15])
	}
	return append(b, '>')
}
