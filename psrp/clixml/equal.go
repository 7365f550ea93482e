package clixml

import (
	"slices"
	"unsafe"
)

// Equal reports whether two values would be written alike: same kinds, texts, type names,
// properties in the same order, and references at the same places. SecureStrings are equal when
// their texts are. NaN equals NaN.
func Equal(a, b Value) bool {
	c := comparer{pairs: map[[2]unsafe.Pointer]bool{}}
	return c.values(a, b)
}

type comparer struct{ pairs map[[2]unsafe.Pointer]bool }

func (c comparer) values(a, b Value) bool {
	if a.kind <= KindNil && b.kind <= KindNil {
		return true
	}
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case KindString, KindXML, KindScriptBlock, KindURI:
		return a.text() == b.text()
	case KindBytes:
		return slices.Equal(a.bytes(), b.bytes())
	case KindGUID:
		return *(*GUID)(a.ptr) == *(*GUID)(b.ptr)
	case KindVersion:
		return *(*Version)(a.ptr) == *(*Version)(b.ptr)
	case KindDecimal:
		return *(*Decimal)(a.ptr) == *(*Decimal)(b.ptr)
	case KindProgress:
		return *(*Progress)(a.ptr) == *(*Progress)(b.ptr)
	case KindSecureString:
		return equalSecrets((*SecureString)(a.ptr), (*SecureString)(b.ptr))
	case KindFloat32:
		x, _ := a.Float32()
		y, _ := b.Float32()
		return a.num == b.num || x != x && y != y
	case KindFloat64:
		x, _ := a.Float64()
		y, _ := b.Float64()
		return a.num == b.num || x != x && y != y
	case KindDateTime:
		return a.num == b.num && a.aux == b.aux && a.off == b.off
	case KindObject, KindList, KindDict, KindMemberSet:
		pair := [2]unsafe.Pointer{a.ptr, b.ptr}
		if c.pairs[pair] {
			return true
		}
		c.pairs[pair] = true
		return c.structures(a, b)
	}
	return a.num == b.num
}

func (c comparer) structures(a, b Value) bool {
	switch a.kind {
	case KindObject:
		x, y := a.object(), b.object()
		return slices.Equal(x.TypeNames, y.TypeNames) && x.ToString == y.ToString &&
			(x.HasToString || x.ToString != "") == (y.HasToString || y.ToString != "") &&
			(x.Base.kind == KindNone) == (y.Base.kind == KindNone) && c.values(x.Base, y.Base) &&
			c.properties(x.Adapted, y.Adapted) && c.properties(x.Extended, y.Extended)
	case KindList:
		x, y := a.list(), b.list()
		return x.Kind == y.Kind && slices.EqualFunc(x.Items, y.Items, c.values)
	case KindDict:
		return slices.EqualFunc(a.dict().Entries, b.dict().Entries, func(x, y Entry) bool {
			return c.values(x.Key, y.Key) && c.values(x.Value, y.Value)
		})
	default:
		return c.properties(a.memberSet().Members, b.memberSet().Members)
	}
}

func (c comparer) properties(x, y Properties) bool {
	return slices.EqualFunc(x, y, func(p, q Property) bool {
		return p.Name == q.Name && c.values(p.Value, q.Value)
	})
}

func equalSecrets(a, b *SecureString) bool {
	if a == b {
		return true
	}
	// Each is copied under its own lock, so that two comparisons cannot wait for one another.
	at, as := a.contents()
	bt, bs := b.contents()
	return slices.Equal(at, bt) && slices.Equal(as, bs)
}

func (s *SecureString) contents() (text, sealed []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.utf16), slices.Clone(s.sealed)
}
