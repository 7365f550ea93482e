package exprlang

import (
	"encoding/hex"
	"strings"
)

// Color returns the colour that s writes, #rgb, #rrggbb or none, as a value of the type color.
func Color(s string) (Value, bool) {
	if s == "none" {
		return Text(s), true
	}
	h, ok := strings.CutPrefix(s, "#")
	if len(h) == 3 {
		h = string([]byte{h[0], h[0], h[1], h[1], h[2], h[2]})
	}
	if _, err := hex.DecodeString(h); !ok || len(h) != 6 || err != nil {
		return Null, false
	}
	return Text("#" + strings.ToLower(h)), true
}

// joinColors is join, and literal texts that write colours are colours beside one.
func joinColors(a, b *expr) *Type {
	switch {
	case a.typ.Kind == ColorKind && b.writesColors():
		return join(a.typ, typeColor)
	case b.typ.Kind == ColorKind && a.writesColors():
		return join(typeColor, b.typ)
	}
	return join(a.typ, b.typ)
}

func (e *expr) writesColors() bool {
	if e.open() || e.typ.Kind != StringKind {
		return false
	}
	for _, l := range e.leaves {
		if _, ok := Color(l.Value.str); !ok {
			return false
		}
	}
	return true
}
