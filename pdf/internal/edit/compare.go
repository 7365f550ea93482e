package edit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
	"example.com/quire/pdf/internal/subsequence"
)

// CompareOptions say what is compared beside what files say.
type CompareOptions struct {
	Raster Raster // draws pages, whose pixels are compared; nil: they are not
	DPI    int    // of the pictures; 0: 72
}

// Comparison tells in what two files differ.
type Comparison struct {
	Equal     bool      `json:"equal"`     // nothing that is compared differs
	Identical bool      `json:"identical"` // the files are the same bytes
	Pixels    bool      `json:"pixels"`    // pixels were compared too
	Files     [2]Digest `json:"files"`
	// Differences are the first 1,000, in the order of the pages; More counts the others.
	Differences []Difference `json:"differences"`
	More        int          `json:"more,omitempty"`
}

// Digest names a file.
type Digest struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Pages  int    `json:"pages"`
}

// Difference is one thing that the second file has otherwise.
type Difference struct {
	// Part is document, pages, text, drawing, resources, annotations, fields, attachments,
	// bookmarks, tags or pixels.
	Part string `json:"part"`
	// Kind is added, removed, changed or moved; unreadable: whether it differs cannot be told.
	Kind string `json:"kind"`
	// Page and OtherPage are those of the first and of the second file, from 1; 0: it is of none.
	Page      int    `json:"page,omitempty"`
	OtherPage int    `json:"other_page,omitempty"`
	Name      string `json:"name,omitempty"`
	Before    string `json:"before,omitempty"`
	After     string `json:"after,omitempty"`
	// Box and OtherBox are where it is on the pages: left, bottom, right, top in points.
	Box      *[4]float64 `json:"box,omitempty"`
	OtherBox *[4]float64 `json:"other_box,omitempty"`
}

const mostDifferences = 1000

// comparing is two files while they are compared.
type comparing struct {
	sides [2]*side
	out   *Comparison
	pairs map[int]int     // pages of the first file, and those of the second in their place
	of    Difference      // the pages that are told of
	told  map[string]bool // fonts, each once
}

// side is one of the files.
type side struct {
	e      *Draft
	reader *textReader
	hashes map[uint32]string // of objects
	pages  map[cos.Ref]int
	labels labelRanges
}

// Compare tells in what two files differ: what they say of themselves, pages, text with its places,
// what is drawn, fonts and images, annotations, values of fields, attachments, bookmarks and tags.
// How files are written is no difference: names and numbers of objects, compression, order. Limits
// are those of reading.
func Compare(ctx context.Context, a, b *Document, o CompareOptions) (*Comparison, error) {
	c := &comparing{out: &Comparison{Differences: []Difference{}}, pairs: map[int]int{}, told: map[string]bool{}}
	for i, d := range [2]*Document{a, b} {
		h := sha256.New()
		if err := copySection(h, d.File, 0, d.Size); err != nil {
			return nil, err
		}
		c.out.Files[i] = Digest{d.Size, hex.EncodeToString(h.Sum(nil)), len(d.Pages)}
		e := NewDraft(d)
		c.sides[i] = &side{e: e, reader: newReader(e, nil), hashes: map[uint32]string{}, pages: e.pageIndex(), labels: e.labels()}
	}
	if c.out.Files[0] == c.out.Files[1] {
		c.out.Identical, c.out.Equal = true, true
		return c.out, nil
	}
	if err := c.compare(ctx, o); err != nil {
		return nil, err
	}
	for _, s := range c.sides {
		if s.e.err != nil {
			return nil, s.e.err
		}
	}
	c.out.Equal = len(c.out.Differences) == 0
	return c.out, nil
}

func (c *comparing) compare(ctx context.Context, o CompareOptions) error {
	var prints [2][]string
	for i, s := range c.sides {
		for n := range s.e.pages {
			p, err := s.look(ctx, n)
			if err != nil {
				return err
			}
			prints[i] = append(prints[i], p.digest())
		}
	}
	c.align(prints)
	// From here on what leads to a page leads to the same one in both files.
	other := c.sides[1]
	for ref, j := range other.pages {
		other.pages[ref] = len(prints[0]) + j
	}
	for i, j := range c.pairs {
		other.pages[cos.Ref{Num: other.e.pages[j].Ref.Num}] = i
	}
	for _, s := range c.sides {
		clear(s.hashes)
	}
	c.document()
	for n := range c.sides[0].e.pages {
		if err := c.page(ctx, n, prints); err != nil {
			return err
		}
	}
	c.of = Difference{}
	c.bookmarks()
	c.tags()
	c.fields()
	c.attachments()
	if o.Raster == nil {
		return nil
	}
	c.out.Pixels = true
	return c.pixels(ctx, o)
}

// tell notes a difference.
func (c *comparing) tell(d Difference) {
	if len(c.out.Differences) == mostDifferences {
		c.out.More++
		return
	}
	if d.Page == 0 && d.OtherPage == 0 {
		d.Page, d.OtherPage = c.of.Page, c.of.OtherPage
	}
	c.out.Differences = append(c.out.Differences, d)
}

// value tells of a value that may be of one file only; empty is none.
func (c *comparing) value(part, name, before, after string) {
	if before == after {
		return
	}
	kind := "changed"
	switch {
	case before == "":
		kind = "added"
	case after == "":
		kind = "removed"
	}
	c.tell(Difference{Part: part, Kind: kind, Name: name, Before: before, After: after})
}

// align finds which pages stand in the place of each other: those that are alike, and between these
// one after the other.
func (c *comparing) align(prints [2][]string) {
	i, j := 0, 0
	for _, p := range append(subsequence.Common(prints[0], prints[1]), [2]int{len(prints[0]), len(prints[1])}) {
		for ; i < p[0] && j < p[1]; i, j = i+1, j+1 {
			c.pairs[i] = j
		}
		if p[0] < len(prints[0]) {
			c.pairs[p[0]] = p[1]
		}
		i, j = p[0]+1, p[1]+1
	}
	taken := map[int]bool{}
	for _, j := range c.pairs {
		taken[j] = true
	}
	for i := range prints[0] {
		if _, ok := c.pairs[i]; !ok {
			c.tell(Difference{Part: "pages", Kind: "removed", Page: i + 1})
		}
	}
	for j := range prints[1] {
		if !taken[j] {
			c.tell(Difference{Part: "pages", Kind: "added", OtherPage: j + 1})
		}
	}
}

// own are the keys of the catalog that are compared by themselves, or say how the file is written.
var own = map[cos.Name]bool{
	"Type": true, "Pages": true, "Version": true, "Extensions": true, "Metadata": true, "Outlines": true, "StructTreeRoot": true, "AcroForm": true, "Names": true,
	"Lang": true, "MarkInfo": true, "PageLabels": true, "AF": true, "PieceInfo": true,
}

// document compares what the files say of themselves.
func (c *comparing) document() {
	var list [2][]string
	var packets [2]string
	names := []string{
		"version of PDF", "title", "author", "subject", "keywords", "creator", "producer", "created", "modified", "language", "tagged", "claims", "encryption",
		"what may be done", "active content",
	}
	for i, s := range c.sides {
		f := s.e.base.Info(s.e.base.Size)
		method, allowed := "", ""
		if f.Encryption != nil {
			method, allowed = f.Encryption.Method, strings.Join(f.Encryption.Allowed, ", ")
		}
		tagged := ""
		if f.Tagged {
			tagged = "yes"
		}
		list[i] = []string{
			f.Version, f.Title, f.Author, f.Subject, f.Keywords, f.Creator, f.Producer, f.Created, f.Modified, f.Language, tagged, strings.Join(f.Claims, ", "), method,
			allowed, strings.Join(f.Active, ", "),
		}
		packets[i] = string(s.e.data(s.e.catalog().Get("Metadata")))
	}
	before := len(c.out.Differences)
	for i, name := range names {
		c.value("document", name, list[0][i], list[1][i])
	}
	if len(c.out.Differences) == before && packets[0] != packets[1] {
		c.tell(Difference{Part: "document", Kind: "changed", Name: "XMP metadata"})
	}
	var roots [2]cos.Dict
	for i, s := range c.sides {
		root := s.e.catalog()
		for _, x := range s.e.dict(root.Get("Names")) { // trees of names, as if they stood in the catalog
			if x.Key != "EmbeddedFiles" {
				root = with(root, "Names "+x.Key, x.Value)
			}
		}
		roots[i] = with(root, "layers", root.Get("OCProperties"))
	}
	c.keys("document", roots, own, "OCProperties")
}

// keys compares the values of dictionaries, but for some.
func (c *comparing) keys(part string, d [2]cos.Dict, but map[cos.Name]bool, more ...cos.Name) {
	var names []string
	for _, x := range append(slices.Clone(d[0]), d[1]...) {
		if !but[x.Key] && !slices.Contains(more, x.Key) {
			names = append(names, string(x.Key))
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		var v, hashes [2]string
		for i, s := range c.sides {
			if o := d[i].Get(cos.Name(name)); o != nil {
				v[i], hashes[i] = s.shown(o), s.hash(o)
			}
		}
		if hashes[0] == hashes[1] {
			continue
		}
		c.value(part, strings.ToValidUTF8(name, "?"), v[0], v[1])
	}
}

// shown is a value as it is told: itself where it is short and holds no references, else a digest.
func (s *side) shown(o cos.Object) string {
	o = s.e.resolve(o)
	plain := true
	references(o, func(cos.Ref) { plain = false })
	if b, ok := cos.Bytes(o); ok {
		if t, ok := cos.TextOf(o); ok && len(t) <= 100 {
			return strconv.Quote(t)
		}
		return hex.EncodeToString(b[:min(len(b), 50)])
	}
	if plain && o != nil {
		if b := o.AppendPDF(nil); len(b) <= 100 {
			return strings.ToValidUTF8(string(b), "?")
		}
	}
	return "sha256:" + s.hash(o)[:16]
}

// hash is the same for objects that mean the same, in whichever file they stand.
func (s *side) hash(o cos.Object) string {
	h := sha256.New()
	s.write(h, o, 0)
	return hex.EncodeToString(h.Sum(nil))
}

// unlike are the keys of dictionaries that lead up or elsewhere, or say how data are encoded.
var unlike = map[cos.Name]bool{
	"Parent": true, "P": true, "Pg": true, "StructParent": true, "StructParents": true, "Length": true, "Filter": true, "DecodeParms": true, "DL": true, "Popup": true, "IRT": true,
}

func (s *side) write(h hash.Hash, o cos.Object, depth int) {
	put := func(format string, a ...any) { _, _ = fmt.Fprintf(h, format, a...) } // a hash takes everything
	if depth > mostDepth {
		put("deep;")
		return
	}
	switch v := o.(type) {
	case nil, cos.Null:
		put("null;")
	case cos.Ref:
		if n, ok := s.pages[cos.Ref{Num: v.Num}]; ok {
			put("page %d;", n)
			return
		}
		known, ok := s.hashes[v.Num]
		if !ok {
			s.hashes[v.Num] = "within itself"
			part := sha256.New()
			s.write(part, s.e.object(v), depth+1)
			known = hex.EncodeToString(part.Sum(nil))
			s.hashes[v.Num] = known
		}
		put("%s;", known)
	case cos.Int, cos.Fixed, cos.Decimal:
		put("%.4f;", number(o, 0))
	case cos.Array:
		put("[%d ", len(v))
		for _, x := range v {
			s.write(h, x, depth+1)
		}
	case cos.Dict:
		s.writeDict(h, v, depth)
	case *stream:
		s.writeDict(h, v.dict, depth)
		data := v.data
		if v.in != nil {
			var rest []cos.Name
			var err error
			if data, rest, err = v.from.Decode(v.in); err != nil && s.e.err == nil {
				s.e.err = err
			}
			put("%v ", rest)
		}
		put("%x;", sha256.Sum256(data))
	default:
		if b, ok := cos.Bytes(o); ok {
			put("(%d %s;", len(b), b)
			return
		}
		_, _ = h.Write(append(o.AppendPDF(nil), ';'))
	}
}

func (s *side) writeDict(h hash.Hash, d cos.Dict, depth int) {
	d = slices.DeleteFunc(slices.Clone(d), func(x cos.Entry) bool { return unlike[x.Key] })
	slices.SortStableFunc(d, func(a, b cos.Entry) int { return strings.Compare(string(a.Key), string(b.Key)) })
	_, _ = fmt.Fprintf(h, "<%d ", len(d))
	for _, x := range d {
		_, _ = h.Write(append(x.Key.AppendPDF(nil), ' '))
		if x.Key == "Type" && depth > 0 { // may be left out
			continue
		}
		s.write(h, x.Value, depth+1)
	}
}

// properties are the entries of a page, from 0, but for those that say what others say too.
func (s *side) properties(n int) cos.Dict {
	d := s.e.pages[n].Dict
	if s.e.rotation(d) == 0 {
		d = with(d, "Rotate", nil)
	}
	if media := s.e.box(d.Get("MediaBox"), letter); s.e.box(d.Get("CropBox"), media) == media {
		d = with(d, "CropBox", nil)
	}
	return d
}

// page compares a page of the first file with the one in its place.
func (c *comparing) page(ctx context.Context, n int, prints [2][]string) error {
	m, ok := c.pairs[n]
	if !ok {
		return nil
	}
	c.of = Difference{Page: n + 1, OtherPage: m + 1}
	a, b := c.sides[0], c.sides[1]
	c.keys("pages", [2]cos.Dict{a.properties(n), b.properties(m)}, map[cos.Name]bool{
		"Type": true, "Parent": true, "Contents": true, "Resources": true, "Annots": true, "StructParents": true, "Thumb": true, "Metadata": true, "PieceInfo": true,
		"LastModified": true, "B": true, "AF": true,
	})
	c.value("pages", "label", a.labels.of(n), b.labels.of(m))
	c.notes(a.notes(n), b.notes(m))
	if prints[0][n] == prints[1][m] {
		return nil
	}
	var p [2]*pagePrint
	for i, k := range [2]int{n, m} {
		var err error
		if p[i], err = c.sides[i].look(ctx, k); err != nil {
			return err
		}
	}
	if p[0].unreadable || p[1].unreadable {
		c.tell(Difference{Part: "drawing", Kind: "unreadable", Name: "content that cannot be decoded"})
	}
	c.words(p[0].words, p[1].words)
	if p[0].text == p[1].text && p[0].styled != p[1].styled {
		c.tell(Difference{Part: "text", Kind: "changed", Name: "colour, mode or clip of the text"})
	}
	c.drawings(p[0].marks, p[1].marks)
	c.fonts(p[0].fonts, p[1].fonts)
	return nil
}

// runs calls differ with the stretches of two lists that have nothing in common, and same with
// those that have, each next to each other.
func (*comparing) runs(pairs [][2]int, a, b int, differ func(i, j [2]int), same func([][2]int)) {
	i, j := 0, 0
	for len(pairs) > 0 {
		p := pairs[0]
		if p[0] > i || p[1] > j {
			differ([2]int{i, p[0]}, [2]int{j, p[1]})
		}
		n := 1
		for n < len(pairs) && pairs[n][0] == p[0]+n && pairs[n][1] == p[1]+n {
			n++
		}
		if same != nil {
			same(pairs[:n])
		}
		i, j, pairs = p[0]+n, p[1]+n, pairs[n:]
	}
	if a > i || b > j {
		differ([2]int{i, a}, [2]int{j, b})
	}
}

func kindOf(before, after string) string {
	switch {
	case before == "":
		return "added"
	case after == "":
		return "removed"
	}
	return "changed"
}

// mapped compares what has a name.
func (c *comparing) mapped(part string, a, b map[string]string) {
	var names []string
	for _, m := range [2]map[string]string{a, b} {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		before, was := a[name]
		after, is := b[name]
		switch {
		case !was:
			c.tell(Difference{Part: part, Kind: "added", Name: name, After: after})
		case !is:
			c.tell(Difference{Part: part, Kind: "removed", Name: name, Before: before})
		case before != after:
			c.tell(Difference{Part: part, Kind: "changed", Name: name, Before: before, After: after})
		}
	}
}

// bookmarks compares the outlines: their titles, and the pages they lead to.
func (c *comparing) bookmarks() {
	var items [2][]item
	var lines [2][]string
	for i, s := range c.sides {
		items[i] = s.e.outline()
		for _, x := range items[i] {
			lines[i] = append(lines[i], strings.Repeat("  ", x.level)+s.e.text(x.dict.Get("Title")))
		}
	}
	pairs := subsequence.Common(lines[0], lines[1])
	c.lines("bookmarks", pairs, lines)
	for _, p := range pairs {
		from, to := items[0][p[0]].page, items[1][p[1]].page
		at, ok := c.pairs[from]
		if from < 0 && to < 0 || ok && at == to {
			continue
		}
		page := func(n int) string {
			if n < 0 {
				return "no page"
			}
			return content.Place(n + 1)
		}
		c.tell(Difference{Part: "bookmarks", Kind: "changed", Name: strings.TrimSpace(lines[0][p[0]]), Before: page(from), After: page(to)})
	}
}

// lines tells of lines that one of two lists has not.
func (c *comparing) lines(part string, pairs [][2]int, lines [2][]string) {
	c.runs(pairs, len(lines[0]), len(lines[1]), func(i, j [2]int) {
		for _, s := range lines[0][i[0]:i[1]] {
			c.tell(Difference{Part: part, Kind: "removed", Before: strings.TrimSpace(s)})
		}
		for _, s := range lines[1][j[0]:j[1]] {
			c.tell(Difference{Part: part, Kind: "added", After: strings.TrimSpace(s)})
		}
	}, nil)
}

// tags compares the structure trees: the elements in their order, with their depth and what they
// say.
func (c *comparing) tags() {
	var lines [2][]string
	for i, s := range c.sides {
		lines[i] = s.tags()
	}
	c.lines("tags", subsequence.Common(lines[0], lines[1]), lines)
}

func (s *side) tags() (out []string) {
	seen := map[cos.Ref]bool{}
	var walk func(o cos.Object, depth int)
	walk = func(o cos.Object, depth int) {
		if r := refOf(o); !r.IsZero() {
			if seen[r] {
				return
			}
			seen[r] = true
		}
		if depth > mostDepth || len(out) >= mostEntries {
			return
		}
		switch v := s.e.resolve(o).(type) {
		case cos.Array:
			for _, k := range v {
				walk(k, depth)
			}
		case cos.Dict:
			kind := s.e.name(v.Get("S"))
			if kind == "" {
				return // content, or the object of an annotation
			}
			var line strings.Builder
			line.WriteString(strings.Repeat("  ", depth) + strings.ToValidUTF8(string(kind), "?"))
			for _, key := range [...]cos.Name{"T", "Alt", "ActualText", "E", "Lang"} {
				if o := v.Get(key); o != nil {
					_, _ = fmt.Fprintf(&line, " %s=%q", key, s.e.text(o))
				}
			}
			if a := v.Get("A"); a != nil {
				line.WriteString(" attributes=" + s.hash(a)[:8])
			}
			out = append(out, line.String())
			walk(v.Get("K"), depth+1)
		}
	}
	walk(s.e.dict(s.e.catalog().Get("StructTreeRoot")).Get("K"), 0)
	return out
}

// fields compares the values of form fields, and which signatures there are.
func (c *comparing) fields() {
	var values [2]map[string]string
	for i, s := range c.sides {
		values[i] = map[string]string{}
		for _, f := range s.e.fields() {
			v := "empty"
			o := s.inherited(f.dict, "V")
			switch t := s.e.resolve(o).(type) {
			case nil:
			case cos.Name:
				v = strings.ToValidUTF8(string(t), "?")
			case cos.Dict:
				contents, _ := cos.Bytes(s.e.resolve(t.Get("Contents")))
				sum := sha256.Sum256(bytes.TrimRight(contents, "\x00"))
				v = "signed, sha256:" + hex.EncodeToString(sum[:8])
			case cos.Array:
				var list []string
				for _, x := range t {
					list = append(list, strconv.Quote(s.e.text(x)))
				}
				v = strings.Join(list, ", ")
			default:
				if text, ok := cos.TextOf(t); ok {
					v = strconv.Quote(text)
				} else if st, ok := t.(*stream); ok {
					v = s.shown(st)
				}
			}
			values[i][f.name] = v
		}
	}
	c.mapped("fields", values[0], values[1])
}

// inherited is a value of a field, or of those above it.
func (s *side) inherited(d cos.Dict, key cos.Name) cos.Object {
	for range mostDepth {
		if o := d.Get(key); o != nil {
			return o
		}
		if d = s.e.dict(d.Get("Parent")); d == nil {
			break
		}
	}
	return nil
}

// attachments compares embedded files by their names and bytes.
func (c *comparing) attachments() {
	var files [2]map[string]string
	for i, s := range c.sides {
		found := map[string][]byte{} // many may have one name
		for _, x := range s.e.names(s.e.dict(s.e.catalog().Get("Names")).Get("EmbeddedFiles")) {
			a := s.e.attachment(x)
			b := s.e.data(s.e.embedded(s.e.dict(x.value)))
			sum := sha256.Sum256(b)
			said := fmt.Appendf(found[a.Name], "%d bytes, sha256:%s", len(b), hex.EncodeToString(sum[:8]))
			for _, s := range []string{a.Type, a.Relationship, a.Description} {
				if s != "" {
					said = append(said, ", "+strings.ToValidUTF8(s, "?")...)
				}
			}
			found[a.Name] = said
		}
		files[i] = make(map[string]string, len(found))
		for name, said := range found {
			files[i][name] = string(said)
		}
	}
	c.mapped("attachments", files[0], files[1])
}
