package font_test

import (
	"encoding/binary"
	"maps"
	"slices"
	"testing"
)

// tables reads the directory of an sfnt file without any of the code under
// test.
func tables(tb testing.TB, data []byte) map[string][]byte {
	tb.Helper()
	out := map[string][]byte{}
	n := int(binary.BigEndian.Uint16(data[4:]))
	for i := range n {
		r := data[12+16*i:]
		at, size := binary.BigEndian.Uint32(r[8:]), binary.BigEndian.Uint32(r[12:])
		out[string(r[:4])] = data[at : at+size]
	}
	return out
}

// build writes tables as an sfnt file.
func build(all map[string][]byte) []byte {
	tags := slices.Sorted(maps.Keys(all))
	out := binary.BigEndian.AppendUint32(nil, 0x00010000)
	out = binary.BigEndian.AppendUint16(out, uint16(len(tags))) //nolint:gosec // G115: a handful
	out = append(out, make([]byte, 6+16*len(tags))...)
	for i, tag := range tags {
		for len(out)%4 != 0 {
			out = append(out, 0)
		}
		r := out[12+16*i:]
		copy(r, tag)
		binary.BigEndian.PutUint32(r[8:], uint32(len(out)))       //nolint:gosec // G115: small files
		binary.BigEndian.PutUint32(r[12:], uint32(len(all[tag]))) //nolint:gosec // G115: as above
		out = append(out, all[tag]...)
	}
	return out
}

// edit returns the font with one table changed by f, which gets a copy; a nil
// result removes the table.
func edit(tb testing.TB, data []byte, tag string, f func([]byte) []byte) []byte {
	tb.Helper()
	all := tables(tb, data)
	changed := f(slices.Clone(all[tag]))
	if changed == nil {
		delete(all, tag)
	} else {
		all[tag] = changed
	}
	return build(all)
}
