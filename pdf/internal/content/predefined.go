package content

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"unicode/utf16"
)

// The predefined CMaps (ISO 32000-2, table 116) as tools/cmaps packs them, one behind the other:
// the name and the body, each behind its length. A body has the ordering of its character
// collection, the name of the map that it builds on, the writing mode, the codespace ranges, and
// then ranges of CIDs and of undefined characters: how many there are of codes of 1 to 4 bytes, how
// far each begins behind the one before, how many codes it has beyond the first, and by how much
// its CID is another than the one that would follow.
//
//go:embed data/cmaps.gz
var cmapsData []byte

// identity is Identity-H and Identity-V, but for their writing mode.
func identity(vertical bool) *cmap {
	all := codeRange{n: 2, high: 0xFFFF}
	return &cmap{spaces: []codeRange{all}, cids: []codeRange{all}, vertical: vertical, mode: vertical}
}

// predefinedMaps are the predefined CMaps by their names, each unpacked when it is first asked for.
var predefinedMaps = sync.OnceValue(func() map[string]func() *cmap {
	maps := map[string]func() *cmap{
		"Identity-H": sync.OnceValue(func() *cmap { return identity(false) }),
		"Identity-V": sync.OnceValue(func() *cmap { return identity(true) }),
	}
	z, err := gzip.NewReader(bytes.NewReader(cmapsData))
	if err != nil {
		panic("content: predefined CMaps: " + err.Error()) // they are embedded
	}
	all, err := io.ReadAll(z)
	if err != nil {
		panic("content: predefined CMaps: " + err.Error())
	}
	for p := (packed{rest: all}); len(p.rest) > 0; {
		name := string(p.bytes(int(p.byte())))
		body := p.bytes(int(p.number()))
		if p.short {
			panic("content: predefined CMaps: " + errShort.Error())
		}
		maps[name] = sync.OnceValue(func() *cmap {
			m, err := unpack(body, maps)
			if err != nil {
				panic("content: " + name + ": " + err.Error()) // a test unpacks all
			}
			return m
		})
	}
	return maps
})

// predefined returns a predefined CMap, nil for a name that is none of one.
func predefined(name string) *cmap {
	if m := predefinedMaps()[name]; m != nil {
		return m()
	}
	return nil
}

var errShort = errors.New("the packed CMap ends too early")

// unpack reads one packed CMap, which may build on one of others.
func unpack(body []byte, others map[string]func() *cmap) (*cmap, error) {
	p := packed{rest: body}
	m := &cmap{ordering: string(p.bytes(int(p.byte()))), uses: string(p.bytes(int(p.byte())))}
	m.vertical = p.byte() == 1
	m.mode = m.vertical
	for n := p.count(); n > 0; n-- {
		m.spaces = append(m.spaces, codeRange{n: int(p.number()), low: p.number(), high: p.number()})
	}
	m.cids = p.ranges()
	m.undefined = p.ranges()
	if p.short || len(p.rest) > 0 {
		return nil, errShort
	}
	if m.uses != "" {
		base := others[m.uses]
		if base == nil {
			return nil, errors.New("it builds on " + m.uses + ", which is not there")
		}
		m.base = base()
	}
	return m, nil
}

// packed reads packed CMaps; short says that they ended before all was read.
type packed struct {
	rest  []byte
	short bool
}

func (p *packed) bytes(n int) []byte {
	if n > len(p.rest) {
		p.short, n = true, 0
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func (p *packed) byte() byte {
	if b := p.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// number reads a number of up to 32 bits.
func (p *packed) number() uint32 {
	v, n := binary.Uvarint(p.rest)
	if n <= 0 || v > 1<<32-1 {
		p.short, p.rest = true, nil
		return 0
	}
	p.rest = p.rest[n:]
	return uint32(v)
}

// count reads how many entries follow, each of which takes a byte or more.
func (p *packed) count() int {
	n := int(p.number())
	if n > len(p.rest) {
		p.short, n = true, 0
	}
	return n
}

// ranges reads ranges of codes.
func (p *packed) ranges() []codeRange {
	var all []codeRange
	for n := 1; n <= 4; n++ {
		for range p.count() {
			all = append(all, codeRange{n: n})
		}
	}
	gaps, sizes := make([]uint32, len(all)), make([]uint32, len(all))
	for i := range all {
		gaps[i] = p.number()
	}
	for i := range all {
		sizes[i] = p.number()
	}
	next, cid := uint32(0), uint32(0)
	for i := range all {
		r := &all[i]
		if i > 0 && all[i-1].n != r.n {
			next, cid = 0, 0
		}
		change, n := binary.Varint(p.rest)
		if n <= 0 {
			p.short = true
			return nil
		}
		p.rest = p.rest[n:]
		r.low = next + gaps[i]
		r.high = r.low + sizes[i]
		r.to = uint32(int64(cid) + change) //nolint:gosec // G115: of 16 bits
		next, cid = r.high+1, r.to+sizes[i]+1
	}
	return all
}

// characters are what CIDs of the collections of Adobe stand for, by their ordering: what the CMaps
// of Unicode say the other way round (ISO 32000-2, 9.10.2).
var characters = sync.OnceValue(func() map[string]func() map[uint32]rune {
	all := map[string]func() map[uint32]rune{}
	for _, name := range [...]string{"UniGB-UTF16-H", "UniCNS-UTF16-H", "UniJIS-UTF16-H", "UniKS-UTF16-H"} {
		all[predefined(name).ordering] = sync.OnceValue(func() map[uint32]rune {
			of := map[uint32]rune{}
			for _, r := range predefined(name).cids {
				for v := r.low; v <= r.high; v++ {
					c := rune(v)
					if r.n == 4 {
						c = utf16.DecodeRune(rune(v>>16), rune(v&0xFFFF))
					}
					// Of several that look alike radicals and what is there for compatibility come
					// last.
					if was, ok := of[r.to+v-r.low]; !ok || compatible(was) && !compatible(c) {
						of[r.to+v-r.low] = c
					}
				}
			}
			return of
		})
	}
	return all
})

// compatible reports whether a character is one that another one stands for as well.
func compatible(r rune) bool {
	return r == 0xA0 || r == 0xAD || r >= 0x2E80 && r <= 0x2FDF || r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F || r >= 0xE000 && r <= 0xF8FF
}
