package font

import (
	"encoding/binary"
	"fmt"

	"example.com/quire/pdf/internal/diag"
)

// Kinds of files by their first four bytes (OpenType, "Organization of an
// OpenType Font").
const (
	kindTrueType   = 0x00010000
	kindTrueApple  = 0x74727565 // "true"
	kindCFF        = 0x4F54544F // "OTTO"
	kindCollection = 0x74746366 // "ttcf"
	kindWOFF       = 0x774F4646 // "wOFF"
	kindWOFF2      = 0x774F4632 // "wOF2"
)

// maxTables is far above the some 60 tags in existence.
const maxTables = 256

type table struct {
	tag  string
	data []byte
}

// directory is the table directory of a file, in file order.
type directory []table

func (d directory) get(tag string) []byte {
	for i := range d {
		if d[i].tag == tag {
			return d[i].data
		}
	}
	return nil
}

// need returns the table and refuses one shorter than size.
func (d directory) need(tag string, size int) ([]byte, error) {
	t := d.get(tag)
	if t == nil {
		return nil, &FormatError{Table: tag, Reason: "missing"}
	}
	if len(t) < size {
		return nil, &FormatError{Table: tag, Reason: fmt.Sprintf("%d bytes, want at least %d", len(t), size)}
	}
	return t, nil
}

// maxFaces is far above what collections hold.
const maxFaces = 256

// faceOffsets returns where the table directories of a file stand: one, or those of the faces of a
// collection.
func faceOffsets(data []byte, l diag.Limits) ([]int, error) {
	if err := diag.Check("FontBytes", int64(len(data)), l.FontBytes, "font file"); err != nil {
		return nil, err //nolint:wrapcheck // a LimitError says all
	}
	if len(data) < 12 {
		return nil, &FormatError{Reason: "shorter than its header"}
	}
	if u32(data, 0) != kindCollection {
		return []int{0}, nil
	}
	n := u32(data, 8)
	if n == 0 || n > maxFaces || len(data) < 12+4*int(n) {
		return nil, &FormatError{Reason: fmt.Sprintf("a collection of %d faces", n)}
	}
	offsets := make([]int, n)
	for i := range offsets {
		offsets[i] = int(u32(data, 12+4*i))
	}
	return offsets, nil
}

// readDirectory reads the table directory at an offset of data, which is a whole file.
func readDirectory(data []byte, from int) (directory, error) {
	if len(data) < from+12 {
		return nil, &FormatError{Reason: "shorter than its header"}
	}
	at := data[from:]
	switch kind := u32(at, 0); kind {
	case kindTrueType, kindTrueApple, kindCFF:
	case kindWOFF, kindWOFF2:
		return nil, &UnsupportedError{Kind: "WOFF"}
	default:
		return nil, &FormatError{Reason: fmt.Sprintf("neither TrueType nor OpenType: it begins with 0x%08X", kind)}
	}
	n := int(u16(at, 4))
	if n == 0 || n > maxTables {
		return nil, &FormatError{Reason: fmt.Sprintf("%d tables", n)}
	}
	if len(at) < 12+16*n {
		return nil, &FormatError{Reason: "table directory cut off"}
	}
	dir := make(directory, 0, n)
	for i := range n {
		entry := at[12+16*i:]
		tag := string(entry[:4])
		offset, length := uint64(u32(entry, 8)), uint64(u32(entry, 12))
		if offset+length > uint64(len(data)) {
			return nil, &FormatError{Table: tag, Reason: "lies outside the file"}
		}
		if dir.get(tag) != nil {
			return nil, &FormatError{Table: tag, Reason: "comes twice"}
		}
		dir = append(dir, table{tag: tag, data: data[offset : offset+length : offset+length]})
	}
	return dir, nil
}

func u16(b []byte, at int) uint16 { return binary.BigEndian.Uint16(b[at:]) }

func u32(b []byte, at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }

func i16(b []byte, at int) int { return int(int16(u16(b, at))) } //nolint:gosec // G115: the field is signed
