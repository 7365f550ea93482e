package cos

import (
	"cmp"
	"math"
	"strings"
	"time"

	"example.com/quire/pdf/internal/diag"
)

// Limits bounds what a [Writer] writes; exceeding one is a [diag.LimitError] with the field's name.
// Lengths of strings and names are those of the values, before escaping. Zero fields mean the
// default in parentheses. If there are several, the first applies to V20, the second to V17, as
// PDF/A-2 requires (ISO 19005-2, 6.1.13), and the third to earlier versions, as PDF/A-1 requires
// (ISO 19005-1, 6.1.12; PDF Reference, third edition, appendix C).
type Limits struct {
	OutputBytes int64 // size of the file (512 MiB)
	Objects     int   // object numbers (2^31-1; 8,388,607; 8,388,607)
	StringBytes int   // one string (1 MiB; 32,767; 65,535)
	NameBytes   int   // one name (127)
	ArrayLen    int   // elements of one array (none; none; 8,191)
	DictLen     int   // entries of one dictionary (none; none; 4,095)
	Depth       int   // nesting of arrays and dictionaries (100)
	Real        int64 // size of a Fixed or Decimal (none; none; 32,767)
}

func (l Limits) withDefaults(v Version) Limits {
	def := Limits{
		OutputBytes: diag.DefaultLimits().OutputBytes,
		Objects:     math.MaxInt32, StringBytes: 1 << 20, NameBytes: 127,
		ArrayLen: math.MaxInt, DictLen: math.MaxInt, Depth: 100, Real: math.MaxInt64,
	}
	switch v {
	case V20:
	case V17:
		def.Objects, def.StringBytes = 8_388_607, 32_767
	default:
		def.Objects, def.StringBytes, def.ArrayLen, def.DictLen, def.Real = 8_388_607, 65_535, 8_191, 4_095, 32_767
	}
	return Limits{
		OutputBytes: cmp.Or(max(l.OutputBytes, 0), def.OutputBytes),
		Objects:     cmp.Or(max(l.Objects, 0), def.Objects),
		StringBytes: cmp.Or(max(l.StringBytes, 0), def.StringBytes),
		NameBytes:   cmp.Or(max(l.NameBytes, 0), def.NameBytes),
		ArrayLen:    cmp.Or(max(l.ArrayLen, 0), def.ArrayLen),
		DictLen:     cmp.Or(max(l.DictLen, 0), def.DictLen),
		Depth:       cmp.Or(max(l.Depth, 0), def.Depth),
		Real:        cmp.Or(max(l.Real, 0), def.Real),
	}
}

// checker walks one object before it is encoded. Only the types of this
// package are looked into; others vouch for themselves.
type checker struct {
	l   *Limits
	ref Ref
}

func (c checker) limit(name string, value, limit int) error {
	if value <= limit {
		return nil
	}
	return c.exceeded(name, int64(value), int64(limit))
}

func (c checker) exceeded(name string, value, limit int64) error {
	return limitError(name, value, limit, "object "+string(AppendInt(nil, int64(c.ref.Num))))
}

func (c checker) real(size int64) error {
	if size <= c.l.Real && size >= -c.l.Real {
		return nil
	}
	return c.exceeded("Real", size, c.l.Real)
}

func (c checker) invalid(reason string) error { return &ObjectError{Ref: c.ref, Reason: reason} }

func (c checker) object(o Object, depth int) error {
	switch v := o.(type) {
	case nil:
		return c.invalid("no value")
	case Name:
		return c.name(v)
	case *Name:
		return c.name(*v)
	case String:
		return c.limit("StringBytes", len(v), c.l.StringBytes)
	case *String:
		return c.limit("StringBytes", len(*v), c.l.StringBytes)
	case Hex:
		return c.limit("StringBytes", len(v), c.l.StringBytes)
	case Text:
		return c.limit("StringBytes", textLen(string(v)), c.l.StringBytes)
	case *Text:
		return c.limit("StringBytes", textLen(string(*v)), c.l.StringBytes)
	case Date:
		if year := time.Time(v).Year(); year < 0 || year > 9999 {
			return c.invalid("date outside the years 0 to 9999")
		}
	case *Decimal:
		return c.object(*v, depth)
	case Decimal:
		if v.Scale < 0 || v.Scale > maxDecimals {
			return c.invalid("decimal scale outside 0 to 18")
		}
		size := v.Mantissa
		for range v.Scale {
			size /= 10
		}
		return c.real(size)
	case Fixed:
		return c.real(int64(v) / 1024)
	case *Fixed:
		return c.real(int64(*v) / 1024)
	case Array:
		return c.array(v, depth)
	case *Array:
		return c.array(*v, depth)
	case Dict:
		return c.dict(v, depth)
	case *Dict:
		return c.dict(*v, depth)
	}
	return nil
}

func (c checker) name(n Name) error {
	if strings.IndexByte(string(n), 0) >= 0 {
		return c.invalid("name with a NUL byte") // 7.3.5: no form exists
	}
	return c.limit("NameBytes", len(n), c.l.NameBytes)
}

func (c checker) array(a Array, depth int) error {
	if err := c.limit("Depth", depth, c.l.Depth); err != nil {
		return err
	}
	if err := c.limit("ArrayLen", len(a), c.l.ArrayLen); err != nil {
		return err
	}
	for _, o := range a {
		if o == nil {
			continue // prints as null
		}
		if err := c.object(o, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// fewKeys is up to where comparing every pair of keys is cheaper than a map.
const fewKeys = 24

func (c checker) dict(d Dict, depth int) error {
	if err := c.limit("Depth", depth, c.l.Depth); err != nil {
		return err
	}
	if err := c.limit("DictLen", len(d), c.l.DictLen); err != nil {
		return err
	}
	var seen map[Name]bool
	if len(d) > fewKeys {
		seen = make(map[Name]bool, len(d))
	}
	marks := uint64(0) // of the keys before: where a bit is not set, none of them is equal
	for i := range d {
		e := &d[i]
		if err := c.name(e.Key); err != nil {
			return err
		}
		if m := mark(e.Key); marks&m == 0 && seen == nil {
			marks |= m
		} else if repeated(d[:i], e.Key, seen) {
			return c.invalid("key " + string(e.Key) + " comes twice")
		}
		if e.Value == nil {
			continue // left out
		}
		if err := c.object(e.Value, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// mark is one of 64 bits, equal for equal names.
func mark(n Name) uint64 {
	if n == "" {
		return 1
	}
	return 1 << ((uint(n[0]) + uint(n[len(n)-1])<<2 + uint(len(n))<<4) & 63)
}

func repeated(before Dict, key Name, seen map[Name]bool) bool {
	if seen != nil {
		twice := seen[key]
		seen[key] = true
		return twice
	}
	for i := range before {
		if before[i].Key == key {
			return true
		}
	}
	return false
}

// textLen is the length of the string [AppendText] makes of s.
func textLen(s string) int {
	units, doc := 0, true
	for _, r := range s {
		units++
		if r > 0xFFFF {
			units++
		}
		doc = doc && isDocLatin(r)
	}
	if doc {
		return units
	}
	return 2 + 2*units
}

func limitError(name string, value, limit int64, place string) error {
	return &diag.LimitError{Name: name, Value: value, Limit: limit, Place: place}
}
