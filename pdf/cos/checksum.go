package cos

import (
	"encoding/binary"
	"hash"
	"hash/crc32"
)

// checksum is the SHA-256 of the checksums of a file, CRC-32 and CRC-32C of each block: a tenth of
// the work of the SHA-256 of its bytes. What it gives does not depend on how the bytes are cut into
// writes. It tells files apart, but not those that somebody made to be taken for one another.
type checksum struct {
	hash.Hash           // of the checksums of the blocks before
	sums      [2]uint32 // of the block
	n         int       // how much of the block is there
}

const checksumBlock = 32 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Write implements hash.Hash.
func (c *checksum) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := min(len(rest), checksumBlock-c.n)
		c.sums[0] = crc32.Update(c.sums[0], crc32.IEEETable, rest[:n])
		c.sums[1] = crc32.Update(c.sums[1], castagnoli, rest[:n])
		if c.n += n; c.n == checksumBlock {
			c.close()
		}
		rest = rest[n:]
	}
	return len(b), nil
}

// close ends a block.
func (c *checksum) close() {
	var sums [12]byte
	binary.BigEndian.PutUint32(sums[0:], c.sums[0])
	binary.BigEndian.PutUint32(sums[4:], c.sums[1])
	binary.BigEndian.PutUint32(sums[8:], uint32(c.n)) //nolint:gosec // G115: at most a block
	c.Hash.Write(sums[:])
	c.sums, c.n = [2]uint32{}, 0
}

// Sum implements hash.Hash, but ends the block: nothing is to be written behind it.
func (c *checksum) Sum(b []byte) []byte {
	c.close()
	return c.Hash.Sum(b)
}
