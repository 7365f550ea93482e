// Package edit reads and changes existing documents. It combines packages cos and crypt, and knows
// the pages of a file.
package edit

import (
	"bytes"
	"fmt"
	"io"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/crypt"
	"example.com/quire/pdf/internal/diag"
)

// Options say how a file is opened; the zero value opens plain ones, and those whose user
// password is empty.
type Options struct {
	Password string // the user's or the owner's
	Limits   cos.ReadLimits
	Pages    int  // most pages; 0: 5,000
	Strict   bool // refuse what would have to be repaired
}

// Document is a file that is read. It is not safe for concurrent use.
type Document struct {
	*cos.Reader
	Key   *crypt.Key // nil: not encrypted
	Pages []Page
	File  io.ReaderAt
	Size  int64 // of the file, in bytes
	// circular says that the page tree is none (ISO 32000-2, 7.7.3): a node comes again, or the
	// root has one above it. miscounted says that readers may take it for another: a node is
	// missing, is not said to be a page or has another number of pages than it says.
	circular, miscounted bool
	// unsigned is where the contents of a signature begin that is still to come; 0: there is none.
	unsigned int64

	recent recent
}

// Page is a page with what it inherits (ISO 32000-2, 7.7.3.4).
type Page struct {
	Ref  cos.Ref
	Dict cos.Dict // Resources, MediaBox, CropBox and Rotate of its ancestors included
}

// Open reads the structure of the file in r, of size bytes. Its errors are those of
// cos.NewReader and crypt.Open.
func Open(r io.ReaderAt, size int64, o Options) (*Document, error) {
	if m, ok := r.(*bytes.Reader); ok { // see copySection
		own := *m
		r = &own
	}
	d := &Document{File: r, Size: size}
	var err error
	d.Reader, err = cos.NewReader(r, size, cos.ReaderOptions{
		Limits: o.Limits, Strict: o.Strict,
		Unlock: func(encrypt cos.Dict, id []byte) (cos.Decrypter, error) {
			l, err := locked(encrypt, id)
			if err != nil {
				return nil, err
			}
			k, err := crypt.Open(l, o.Password)
			if err != nil {
				return nil, err
			}
			d.Key = k
			return k, nil
		},
	})
	if err != nil {
		return nil, err
	}
	if o.Pages <= 0 {
		o.Pages = int(diag.DefaultLimits().Pages)
	}
	root, err := d.dict(d.Trailer().Get("Root"))
	if err != nil {
		return nil, err
	}
	w := walk{d: d, most: o.Pages, seen: map[cos.Ref]bool{refOf(d.Trailer().Get("Root")): true}}
	if err := w.node(root.Get("Pages"), nil, 1); err != nil {
		return nil, err
	}
	return d, nil
}

// locked is what an encryption dictionary says.
func locked(d cos.Dict, id []byte) (crypt.Locked, error) {
	if f, _ := d.Get("Filter").(cos.Name); f != "Standard" {
		return crypt.Locked{}, &crypt.ConfigError{Field: "Encrypt", Got: fmt.Sprintf("the security handler %q", string(f)), Want: "the standard one"}
	}
	integer := func(d cos.Dict, key cos.Name) int64 {
		v, _ := d.Get(key).(cos.Int)
		return int64(v)
	}
	str := func(key cos.Name) []byte {
		b, _ := cos.Bytes(d.Get(key))
		return b
	}
	word := func(d cos.Dict, key cos.Name) string {
		n, _ := d.Get(key).(cos.Name)
		return string(n)
	}
	l := crypt.Locked{
		V: int(integer(d, "V")), R: int(integer(d, "R")), Length: int(integer(d, "Length")),
		P: int32(integer(d, "P")), //nolint:gosec // G115: the bits are meant, signed or not
		O: str("O"), U: str("U"), OE: str("OE"), UE: str("UE"), ID: id,
		PlainMetadata: d.Get("EncryptMetadata") == cos.Bool(false),
		Strings:       word(d, "StrF"), Streams: word(d, "StmF"), Filters: map[string]crypt.Method{},
	}
	filters, _ := d.Get("CF").(cos.Dict)
	for _, e := range filters {
		f, _ := e.Value.(cos.Dict)
		l.Filters[string(e.Key)] = crypt.Method(word(f, "CFM"))
	}
	return l, nil
}

// walk goes through the page tree.
type walk struct {
	d    *Document
	most int
	seen map[cos.Ref]bool
}

// inherited are the keys of pages that their ancestors may have.
var inherited = [...]cos.Name{"Resources", "MediaBox", "CropBox", "Rotate"}

// node takes a node of the page tree, with what its ancestors leave it. A node that comes again
// is left out, and so is what is none.
func (w *walk) node(o cos.Object, from cos.Dict, depth int) error {
	if err := diag.Check("Depth", int64(depth), 100, "page tree"); err != nil {
		return err
	}
	ref, _ := o.(cos.Ref)
	if !ref.IsZero() {
		if w.seen[ref] {
			w.d.circular = true
			return nil
		}
		w.seen[ref] = true
	}
	d, err := w.d.dict(o)
	if err != nil || d == nil {
		w.d.miscounted = true
		return err
	}
	w.d.circular = w.d.circular || depth == 1 && d.Get("Parent") != nil
	own := from
	for _, key := range inherited {
		if v := d.Get(key); v != nil {
			own = with(own, key, v)
		}
	}
	kids, err := w.d.Resolve(d.Get("Kids"))
	if err != nil {
		return err
	}
	if list, ok := kids.(cos.Array); ok {
		before := len(w.d.Pages)
		for _, kid := range list {
			if err := w.node(kid, own, depth+1); err != nil {
				return err
			}
		}
		count, _ := w.d.Resolve(d.Get("Count")) // what cannot be read is another number
		w.d.miscounted = w.d.miscounted || count != cos.Object(cos.Int(len(w.d.Pages)-before))
		return nil
	}
	switch t, _ := d.Get("Type").(cos.Name); t {
	case "Page":
	case "Pages":
		w.d.miscounted = true // without kids
		return nil
	default:
		w.d.miscounted = true
	}
	for _, e := range own {
		d = with(d, e.Key, e.Value)
	}
	w.d.Pages = append(w.d.Pages, Page{Ref: ref, Dict: d})
	return diag.Check("Pages", int64(len(w.d.Pages)), int64(w.most), "")
}

// version returns the version of PDF that a file is of: that of its header or a later one that the
// catalog names (7.2.2 of ISO 32000-2).
func (d *Document) version() string {
	v := d.Version()
	if root, err := d.dict(d.Trailer().Get("Root")); err == nil {
		if later, ok := root.Get("Version").(cos.Name); ok && string(later) > v && len(later) < 8 {
			v = string(later)
		}
	}
	return v
}

// with returns d with a value under key, nil for none.
func with(d cos.Dict, key cos.Name, v cos.Object) cos.Dict {
	out := make(cos.Dict, 0, len(d)+1)
	for _, e := range d {
		if e.Key != key {
			out = append(out, e)
		}
	}
	if v == nil {
		return out
	}
	return append(out, cos.E(key, v))
}
