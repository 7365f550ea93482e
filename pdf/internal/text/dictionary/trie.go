package dictionary

import (
	"encoding/binary"
	"errors"
)

// trie is a set of words in the form of ICU's BytesTrie. It is a row of nodes. The first byte of a
// node says what it is: below firstMatch a branch, below firstValue bytes that must follow one
// another, else a value, which here only says that a word ends, or in a branch how far to jump.
type trie struct {
	nodes []byte
	base  rune // the character that byte 0 stands for
}

const (
	firstMatch = 0x10
	firstValue = 0x20
	// final is the bit of a value behind which nothing comes.
	final = 1
	// mostLinear is how many keys of a branch stand one behind the other; more are halved.
	mostLinear = 5
)

// parse reads a file of ICU's dictionaries, in the order of bytes of ICU4J.
func parse(file []byte) (*trie, error) {
	wrong := errors.New("no dictionary of bytes over one block of characters")
	if len(file) < 2 {
		return nil, wrong
	}
	head := int(binary.BigEndian.Uint16(file))
	if len(file) < head+32 || string(file[12:16]) != "Dict" {
		return nil, wrong
	}
	index := func(i int) int { return int(binary.BigEndian.Uint32(file[head+4*i:])) }
	from, to, kind, transform := index(0), index(3), index(4), index(5)
	if kind&7 != 0 || transform>>24 != 1 || from < 0 || to < from || head+to > len(file) {
		return nil, wrong
	}
	return &trie{nodes: file[head+from : head+to], base: rune(transform & 0xFFFFFF)}, nil
}

// code is the byte that stands for a character of the block or a joiner.
func (t *trie) code(r rune) byte {
	switch r {
	case 0x200D:
		return 0xFF
	case 0x200C:
		return 0xFE
	}
	return byte(r - t.base) //nolint:gosec // G115: a block of less than 254 characters
}

// ends appends the lengths of the words that begin s, in rising order.
func (t *trie) ends(dst []int, s []byte) []int {
	at, match := 0, 0
	for i, c := range s {
		if at, match = t.next(at, match, c); at < 0 {
			break
		}
		if node := t.nodes[at]; match == 0 && node >= firstValue {
			dst = append(dst, i+1)
			if node&final != 0 {
				break
			}
		}
	}
	return dst
}

// next follows a byte from a node, of whose bytes match are still to come. It returns a negative
// place when no word goes on so.
func (t *trie) next(at, match int, c byte) (int, int) {
	if match > 0 {
		return t.same(at, match-1, c)
	}
	node := t.nodes[at]
	at++
	for node >= firstValue {
		if node&final != 0 {
			return -1, 0
		}
		at += valueBytes(node)
		node = t.nodes[at]
		at++
	}
	if node >= firstMatch {
		return t.same(at, int(node-firstMatch), c)
	}
	return t.branch(at, int(node), c), 0
}

func (t *trie) same(at, left int, c byte) (int, int) {
	if t.nodes[at] != c {
		return -1, 0
	}
	return at + 1, left
}

// branch follows a byte from a branch of length+1 keys; 0: the next byte has the length.
func (t *trie) branch(at, length int, c byte) int {
	if length == 0 {
		length = int(t.nodes[at])
		at++
	}
	for length++; length > mostLinear; {
		key := t.nodes[at]
		delta, n := t.delta(at + 1)
		at += 1 + n
		if c < key {
			length >>= 1
			at += delta
		} else {
			length -= length >> 1
		}
	}
	for ; length > 1; length-- {
		key, node := t.nodes[at], t.nodes[at+1]
		n := valueBytes(node)
		if c == key {
			if node&final != 0 {
				return at + 1
			}
			return at + 2 + n + t.value(at+2, node)
		}
		at += 2 + n
	}
	if t.nodes[at] != c {
		return -1
	}
	return at + 1
}

// The first bytes of values and of the distances in halved branches say how many bytes follow.
// Those of values are shifted by the bit that says final.
const (
	value1, value2, value3, value4 = 0x51, 0x6C, 0x7E, 0x7F
	delta1, delta2, delta3, delta4 = 0xC0, 0xF0, 0xFE, 0xFF
)

func following(lead, one, two, three, four int) int {
	switch {
	case lead < one:
		return 0
	case lead < two:
		return 1
	case lead < three:
		return 2
	case lead < four:
		return 3
	}
	return 4
}

func valueBytes(node byte) int { return following(int(node>>1), value1, value2, value3, value4) }

// value is that of a node, whose further bytes stand at at.
func (t *trie) value(at int, node byte) int {
	return t.number(at, int(node>>1), valueBytes(node), firstMatch, value1, value2)
}

// delta is how far a halved branch jumps behind the n bytes that say so.
func (t *trie) delta(at int) (delta, n int) {
	lead := int(t.nodes[at])
	n = following(lead, delta1, delta2, delta3, delta4)
	return t.number(at+1, lead, n, 0, delta1, delta2), 1 + n
}

// number is that of n bytes behind a first one, which has the highest bits of short ones.
func (t *trie) number(at, lead, n, zero, one, two int) int {
	v := 0
	switch n {
	case 0:
		v = lead - zero
	case 1:
		v = lead - one
	case 2:
		v = lead - two
	}
	for _, b := range t.nodes[at : at+n] {
		v = v<<8 | int(b)
	}
	return v
}
