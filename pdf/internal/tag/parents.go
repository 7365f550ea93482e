package tag

import (
	"bytes"
	"math"
	"slices"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/arena"
)

// parents is what the parent tree (14.7.5.4) will have: of the key of a page the elements of its
// content in the order of their mcid, of the key of an annotation its element.
type parents struct {
	keys int // given out
	// contents are in the order in which they came. A page that comes after later ones, because
	// part of its content waited for the number of pages, begins another list.
	contents  []contents
	page      group         // whose content comes
	elems     *objects      // of the last of contents
	set       int           // contents of the pages before
	annotated arena.Numbers // the key of an annotation and its element, each as the difference
	last      owned         // the last of them
}

// owned is an annotation with its element.
type owned struct{ key, elem int64 }

// contents is a list of contents whose pages have ascending keys.
type contents struct {
	pages arena.Numbers // of each page its key, as the difference, its first mcid here, its runs of elements
	elems objects
	key   int64 // the last one
}

// group is content of a page in a list.
type group struct{ key, first, count, runs int64 }

// none is no key.
const none = math.MaxInt64

func (p *parents) reset() {
	for i := range p.contents {
		c := &p.contents[i]
		c.pages.Reset()
		c.elems.reset()
		c.key = 0
	}
	p.annotated.Reset()
	*p = parents{contents: p.contents[:0], annotated: p.annotated, page: group{key: none}}
}

// key reserves a key.
func (p *parents) key() int {
	p.keys++
	return p.keys - 1
}

// annotate makes e the element of a new key.
func (p *parents) annotate(e *Elem) int {
	key := p.key()
	now := owned{int64(key), int64(e.ref.Num)}
	p.annotated.Add(now.key - p.last.key)
	p.annotated.Add(now.elem - p.last.elem)
	p.last = now
	return key
}

// add makes e the element of content mcid of a page.
func (p *parents) add(key, mcid int, e *Elem) {
	if int64(key) != p.page.key {
		p.turn(int64(key), int64(mcid))
	}
	if int64(mcid) != p.page.first+p.page.count {
		panic(gap)
	}
	p.page.count++
	if !p.elems.follow(e.ref) {
		p.elems.begin(e.ref)
		p.page.runs++
	}
}

const gap = "tag: content of a page is counted without a gap"

// turn goes on to the content of another page.
func (p *parents) turn(key, mcid int64) {
	p.end()
	if n := len(p.contents); n == 0 || key < p.page.key {
		p.contents = slices.Grow(p.contents, 1)[:n+1] // in the memory of a list before
		p.elems = &p.contents[n].elems
	}
	p.page = group{key: key, first: mcid}
}

// end puts the page whose content came into its list.
func (p *parents) end() {
	if p.page.count == 0 {
		return
	}
	c := &p.contents[len(p.contents)-1]
	p.elems.end()
	c.pages.Add(p.page.key - c.key)
	c.pages.Add(p.page.first)
	c.pages.Add(p.page.runs)
	c.key = p.page.key
	p.set += int(p.page.count)
	p.page.count = 0
}

// leafKeys is how many entries a leaf of the parent tree holds.
const leafKeys = 256

// parentTree writes the number tree (7.9.7) in leaves of bounded size.
func (t *Tree) parentTree() (cos.Ref, error) {
	p := &t.parents
	read := p.reader()
	a := t.w.Arena()
	leaves := a.Items((p.keys + leafKeys - 1) / leafKeys)
	for from := 0; from < p.keys; from += leafKeys {
		to := min(from+leafKeys, p.keys)
		const most = len("1234567 0 R ") // of a reference in most files
		b := append(slices.Grow(t.buf[:0], most*(2*(to-from)+p.set*(to-from)/p.keys)), "<</Limits["...)
		b = cos.AppendInt(b, int64(from))
		b = append(b, ' ')
		b = cos.AppendInt(b, int64(to-1))
		b = append(b, "]/Nums["...)
		repeats := t.repeats[:0]
		for k := from; k < to; k++ {
			if k > from {
				b = append(b, ' ')
			}
			b = cos.AppendInt(b, int64(k))
			first, count := len(b), 0
			if b, count = read.appendElements(b, int64(k)); count > 1 {
				// A reference repeats the one before it, as do those behind it.
				n := bytes.IndexByte(b[first:], 'R')
				of := uint32(first + len("["))                                                       //nolint:gosec // G115: within an object
				repeats = append(repeats, cos.Repeat{At: of + uint32(n) + uint32(len(" ")), Of: of}) //nolint:gosec // G115: as above
			}
			if err := t.arrayOf(count); err != nil {
				return cos.Ref{}, err
			}
		}
		t.buf, t.repeats = append(b, "]>>"...), repeats
		ref := t.w.Reserve()
		if err := t.w.PutRaw(ref, t.buf, repeats...); err != nil {
			return ref, err
		}
		leaves = append(leaves, a.Ref(ref))
	}
	ref := t.w.Reserve()
	if len(leaves) == 0 {
		return ref, t.w.Put(ref, cos.Dict{cos.E("Nums", cos.Array{})})
	}
	return ref, t.w.Put(ref, a.Dict(append(a.Entries(1), cos.E("Kids", a.Array(leaves)))))
}

// parentsReader reads what the parent tree will have, by ascending keys.
type parentsReader struct {
	contents  []contentsReader
	annotated arena.NumberReader
	next      owned // its key is none when all were read
}

type contentsReader struct {
	pages arena.NumberReader
	elems objectsReader
	page  group // the next one; its key is none when all were read
}

// reader returns a reader; nothing is added any more.
func (p *parents) reader() *parentsReader {
	p.end()
	r := &parentsReader{contents: make([]contentsReader, len(p.contents)), annotated: p.annotated.Reader()}
	for i := range p.contents {
		c := &p.contents[i]
		r.contents[i] = contentsReader{pages: c.pages.Reader(), elems: c.elems.reader()}
		r.contents[i].turn()
	}
	r.turn()
	return r
}

func (r *parentsReader) turn() {
	if !r.annotated.More() {
		r.next.key = none
		return
	}
	r.next.key += r.annotated.Next()
	r.next.elem += r.annotated.Next()
}

func (r *contentsReader) turn() {
	if !r.pages.More() {
		r.page.key = none
		return
	}
	r.page.key += r.pages.Next()
	r.page.first = r.pages.Next()
	r.page.runs = r.pages.Next()
}

// appendElements appends the elements of a key, and returns how many contents it has.
func (r *parentsReader) appendElements(b []byte, key int64) ([]byte, int) {
	if r.next.key == key {
		b = cos.AppendRef(append(b, ' '), object(r.next.elem))
		r.turn()
		return b, 0
	}
	b = append(b, '[')
	count := 0
	for i := range r.contents {
		c := &r.contents[i]
		if c.page.key != key {
			continue
		}
		if c.page.first != int64(count) {
			panic(gap)
		}
		if count > 0 {
			b = append(b, ' ')
		}
		n := 0
		b, n = c.elems.append(b, c.page.runs)
		count += n
		c.turn()
	}
	return append(b, ']'), count
}
