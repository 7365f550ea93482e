package liberation

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestDirectoriesHaveTheChecksumsOfFonts: so no byte of a font changes and its directory does not,
// but for one that is in no table, and is 0.
func TestDirectoriesHaveTheChecksumsOfFonts(t *testing.T) {
	for _, fam := range families() {
		for i, src := range fam.Faces {
			rest := bytes.Clone(src.Data) // what no table has
			dir := directory(src.Data)
			for at := 12; at < len(dir); at += 16 {
				name, want := string(dir[at:at+4]), binary.BigEndian.Uint32(dir[at+4:])
				from, size := binary.BigEndian.Uint32(dir[at+8:]), binary.BigEndian.Uint32(dir[at+12:])
				table := append(bytes.Clone(src.Data[from:from+size]), 0, 0, 0)
				if name == "head" {
					clear(table[8:12]) // the checksum of the whole font
				}
				sum := uint32(0)
				for ; len(table) >= 4; table = table[4:] {
					sum += binary.BigEndian.Uint32(table)
				}
				if sum != want {
					t.Errorf("%s, face %d: table %s has the checksum %08x, the directory %08x", fam.Name, i, name, sum, want)
				}
				clear(rest[from : from+size])
			}
			if clear(rest[:len(dir)]); len(bytes.Trim(rest, "\x00")) > 0 {
				t.Errorf("%s, face %d has bytes in no table", fam.Name, i)
			}
		}
	}
}
