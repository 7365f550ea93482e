package edit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/content"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/standard"
)

// RedactOptions say what is taken out of a document: text that matches, wherever it stands, and
// what lies in boxes.
type RedactOptions struct {
	Text, Regexp string       // as in SearchOptions; at most one of them
	Case         bool         // alike
	Boxes        [][4]float64 // left, bottom, right, top in points, in the coordinates of the page
	Pages        string       // of Boxes, as in ParsePages; empty: all
	Unmarked     bool         // no black box is drawn where something was
	OCR          OCR          // reads text in the pixels of images; nil: it is not searched
}

// Removed counts what was taken out.
type Removed struct {
	Matches     int `json:"matches"`       // of the text
	Pixels      int `json:"pixel_matches"` // of the text as OCR reads it in images
	Characters  int `json:"characters"`    // that pages showed
	Images      int `json:"images"`        // whole ones
	ImageParts  int `json:"image_parts"`   // of images, whose pixels there are black
	Paths       int `json:"paths"`
	Annotations int `json:"annotations"` // with links and form fields
	Strings     int `json:"strings"`     // of bookmarks, metadata, structure elements and others
	Attachments int `json:"attachments"`
	// Unsearched counts images that stay and in whose pixels text is not searched.
	Unsearched int `json:"unsearched_images"`
}

// minus returns what was taken out since.
func (r Removed) minus(o Removed) Removed {
	return Removed{
		Matches: r.Matches - o.Matches, Pixels: r.Pixels - o.Pixels, Characters: r.Characters - o.Characters, Images: r.Images - o.Images, ImageParts: r.ImageParts - o.ImageParts,
		Paths: r.Paths - o.Paths, Annotations: r.Annotations - o.Annotations, Strings: r.Strings - o.Strings, Attachments: r.Attachments - o.Attachments,
	}
}

// RedactedPage is a page from which something was taken.
type RedactedPage struct {
	Page    int          `json:"page"` // from 1
	Removed Removed      `json:"removed"`
	Boxes   [][4]float64 `json:"boxes"` // those asked for and those that cover characters, in points
}

// Proof is what was read of a new file to find that nothing is left.
type Proof struct {
	Pages   int `json:"pages"`
	Objects int `json:"objects"`
	Images  int `json:"images"` // in which OCR read, each time that a page draws them
}

// mostBoxes bounds the boxes of one redaction, on all pages.
const mostBoxes = 100_000

// Redaction is what a document loses.
type Redaction struct {
	Removed Removed
	Pages   []RedactedPage
	Proof   Proof
	Unkept  string               // what of the file went as a whole, and why; empty: nothing
	content *content.Interpreter // whose fonts are known
	re      *regexp.Regexp       // nil: boxes only
	said    []*regexp.Regexp     // what stood in boxes: hidden copies of it go too
	ocr     OCR                  // may be nil
	known   map[[sha256.Size]byte][]PictureWord
	boxes   [][]area // of each page: those asked for and those of OCR first, of which there are asked
	asked   []int
	drawn   [][]area // what is covered with black
	forms   map[formOn]cos.Ref
}

// formOn is a form on a page, in whose place another is drawn.
type formOn struct{ page, form uint32 }

// notProvable is the error of a redaction that could leave something.
func notProvable(place, why string) error {
	return diag.Fail(diag.Diagnostic{
		Code: diag.CodeNotProvable, Path: place, Message: "the redaction cannot be proved: " + why,
		Suggestion: "redact areas by box, delete the page, or make an image of it",
	})
}

// Redact takes out of a draft what the options say: characters, pixels and paths of pages, and the
// copies that files have of text: ActualText and alternative texts, annotations, values of fields,
// bookmarks, metadata. Attachments, scripts, XFA, thumbnails and private data go as a whole. What
// is written from the draft must be held against Proved.
func (e *Draft) Redact(ctx context.Context, o RedactOptions) (*Redaction, error) {
	r := &Redaction{ocr: o.OCR, known: map[[sha256.Size]byte][]PictureWord{}, forms: map[formOn]cos.Ref{}}
	if o.Text != "" || o.Regexp != "" {
		re, err := SearchOptions{Text: o.Text, Regexp: o.Regexp, Case: o.Case}.Pattern()
		if err != nil {
			return nil, err
		}
		r.re = re
	} else if len(o.Boxes) == 0 {
		return nil, &OptionError{Field: "text", Got: "nothing to redact", Want: "text, regexp or box"}
	} else if o.OCR != nil {
		return nil, &OptionError{Field: "ocr", Got: "boxes only", Want: "text or regexp, which OCR is to find"}
	}
	list, err := ParsePages(o.Pages, len(e.pages))
	if err != nil {
		return nil, err
	}
	if list = unique(list); len(list)*len(o.Boxes) > mostBoxes {
		return nil, &diag.LimitError{Name: "Boxes", Value: int64(len(list) * len(o.Boxes)), Limit: mostBoxes}
	}
	e.separate()
	r.boxes = make([][]area, len(e.pages))
	for _, b := range o.Boxes {
		if !(b[0] < b[2] && b[1] < b[3]) {
			return nil, &OptionError{Field: "box", Got: fmt.Sprintf("%g,%g,%g,%g", b[0], b[1], b[2], b[3]), Want: "left,bottom,right,top, the lower numbers first"}
		}
		for _, i := range list {
			r.boxes[i] = append(r.boxes[i], rectArea(b))
		}
	}
	r.drawn = make([][]area, len(e.pages))
	for _, b := range r.boxes {
		r.asked = append(r.asked, len(b))
	}
	if err := r.match(ctx, e); err != nil {
		return nil, err
	}
	if err := r.look(ctx, e); err != nil {
		return nil, err
	}
	e.Void()
	for i := range e.pages {
		before := r.Removed
		if err := r.page(ctx, e, i, !o.Unmarked); err != nil {
			return nil, err
		}
		if gone := r.Removed.minus(before); gone != (Removed{}) || len(r.boxes[i]) > 0 {
			p := RedactedPage{Page: i + 1, Removed: gone, Boxes: [][4]float64{}}
			for _, b := range r.drawn[i] {
				p.Boxes = append(p.Boxes, rounded(b.bounds))
			}
			r.Pages = append(r.Pages, p)
		}
	}
	e.pageTree()
	r.retarget(e)
	e.dropDangling()
	r.hidden(e)
	return r, e.err
}

// match adds the boxes of the text that matches. A page of which not all text can be told is
// refused.
func (r *Redaction) match(ctx context.Context, e *Draft) error {
	reader := newReader(e, nil)
	r.content = reader.in
	for i := range e.pages {
		t, matches, err := r.every(ctx, reader.in, content.Place(i+1), reader.src.drawn(e.pages[i])...)
		if err = cmp.Or(err, e.err); err != nil {
			return err
		}
		switch {
		case reader.src.broken > 0:
			return notProvable(content.Place(i+1), "content that cannot be decoded")
		case reader.in.Skipped:
			return notProvable(content.Place(i+1), "forms that lie too deep or draw themselves")
		case r.re == nil:
			continue
		case t.Unknown > 0:
			return notProvable(content.Place(i+1), strconv.Itoa(t.Unknown)+" characters whose text the file does not give")
		}
		for _, m := range matches {
			r.Removed.Matches++
			r.boxes[i] = append(r.boxes[i], m.areas...)
		}
	}
	return nil
}

// look adds the boxes of the text that matches in the pixels of images.
func (r *Redaction) look(ctx context.Context, e *Draft) error {
	if r.ocr == nil {
		return nil
	}
	reader := newReader(e, nil)
	s := newImageReader(r.ocr, e, r.known)
	for i, p := range e.pages {
		place := content.Place(i + 1)
		boxes, err := s.find(ctx, r.content.Again(), r.re, place, reader.src.drawn(p), func(o *drawnImage, err error) error {
			if anyMeets(r.boxes[i], o.page) {
				return nil // it goes whole
			}
			return unreadable(place, err)
		})
		if err != nil {
			return err
		}
		r.Removed.Pixels += len(boxes)
		r.boxes[i] = slices.Insert(r.boxes[i], r.asked[i], boxes...)
		r.asked[i] += len(boxes)
	}
	return e.err
}

func unreadable(place string, err error) error {
	return notProvable(place, "no text can be read in "+strings.TrimPrefix(err.Error(), "pdf: "))
}

// every returns the text of contents and its matches: in what they say and, where ActualText makes
// that another, in what they draw.
func (r *Redaction) every(ctx context.Context, in *content.Interpreter, place string, contents ...content.Content) (*content.Text, []Match, error) {
	said, err := in.Read(ctx, place, content.Rect{}, contents...)
	if err != nil || r.re == nil {
		return said, nil, err
	}
	out := found(said, r.re, true)
	if said.Actual {
		in.Drawn = true
		drawn, err := in.Read(ctx, place, content.Rect{}, contents...)
		if in.Drawn = false; err != nil {
			return nil, nil, err
		}
		for _, m := range found(drawn, r.re, true) {
			if !slices.ContainsFunc(out, func(o Match) bool { return slices.Equal(o.areas, m.areas) }) {
				out = append(out, m)
			}
		}
	}
	if len(out) > mostMatches {
		return nil, nil, &diag.LimitError{Name: "Matches", Value: int64(len(out)), Limit: mostMatches, Place: place}
	}
	return said, out, nil
}

// page takes out what lies in the boxes of a page.
func (r *Redaction) page(ctx context.Context, e *Draft, i int, mark bool) error {
	boxes := r.boxes[i]
	p := e.pages[i]
	for _, key := range [...]cos.Name{"Thumb", "PieceInfo", "Metadata", "AF"} {
		p.Dict = with(p.Dict, key, nil)
	}
	p.Dict = with(p.Dict, "Annots", r.annotations(ctx, e, p, boxes))
	src := &source{e: e}
	x := &eraser{r: r, e: e, page: p.Ref, boxes: boxes, asked: boxes[:r.asked[i]], marks: map[int]bool{}, ids: map[int64]bool{}, place: content.Place(i + 1)}
	c := content.Content{Data: src.pageData(p.Dict), Resources: e.dict(p.Dict.Get("Resources")), Matrix: content.Identity}
	if len(boxes) > 0 { // first what is hit, then what is written: texts of marked content stand before it
		if err := r.content.Again().Run(ctx, c, x.place, x.look); err != nil {
			return err
		}
	}
	x.levels = []*level{{resources: c.Resources, used: map[cos.Name]bool{}, path: -1}}
	if err := r.content.Again().Run(ctx, c, x.place, x.write); err != nil {
		return err
	}
	top := x.levels[0]
	top.close(x)
	drawn := append(slices.Clone(boxes[:r.asked[i]]), x.marked...)
	if o := r.asked[i]; o < len(boxes) && len(x.marked) == 0 { // what matched is not shown as text
		drawn = boxes
	}
	r.drawn[i] = drawn
	out := append([]byte("q\n"), top.out...)
	for range top.depth {
		out = append(out, "Q\n"...)
	}
	out = append(out, "Q\n"...)
	if mark && len(drawn) > 0 {
		out = append(out, "/Artifact BMC q 0 g\n"...)
		for i := range drawn {
			out = drawn[i].appendPath(out)
		}
		out = append(out, "f Q EMC\n"...)
	}
	p.Dict = with(with(p.Dict, "Contents", e.add(&stream{data: out})), "Resources", top.pruned(e))
	e.pages[i].Dict = p.Dict
	e.set(p.Ref, p.Dict)
	for line := range strings.SplitSeq(x.text.String(), "\n") {
		if line = strings.TrimSpace(line); utf8.RuneCountInString(line) >= 4 && r.re == nil {
			re, err := SearchOptions{Text: line[:min(len(line), mostPattern)]}.Pattern()
			if err == nil && len(r.said) < 1000 {
				r.said = append(r.said, re)
			}
		}
	}
	r.elements(e, p.Ref, x.ids)
	return nil
}

func thousandths(v float64) cos.Decimal {
	if v >= 0 {
		return cos.Decimal{Mantissa: int64(v*1000 + 0.5), Scale: 3}
	}
	return cos.Decimal{Mantissa: int64(v*1000 - 0.5), Scale: 3}
}

// annotations returns those of a page that stay; fields whose widgets go lose their values.
func (r *Redaction) annotations(ctx context.Context, e *Draft, p Page, boxes []area) cos.Object {
	var left cos.Array
	gone := map[cos.Ref]bool{}
	src := &source{e: e}
	for _, a := range e.array(p.Dict.Get("Annots")) {
		d := e.dict(a)
		rect := content.Rect(e.box(d.Get("Rect"), [4]float64{}))
		hit := e.name(d.Get("Subtype")) == "FileAttachment" || anyMeets(boxes, content.Identity.Quad(rect))
		if r.re != nil && !hit { // its text lies elsewhere than its place says
			if look, ok := src.appearance(d); ok {
				_, m, err := r.every(ctx, r.content.Again(), content.Place(0), look)
				hit = err != nil || len(m) > 0
			}
		}
		if !hit {
			left = append(left, a)
			continue
		}
		r.Removed.Annotations++
		ref := refOf(a)
		gone[ref] = true
		for up, n := a, 0; up != nil && n < mostDepth; n++ { // the field and those above
			f := e.dict(up)
			if ur := refOf(up); !ur.IsZero() && e.name(d.Get("Subtype")) == "Widget" {
				for _, key := range [...]cos.Name{"V", "DV", "RV", "AP", "TU", "Opt"} {
					f = with(f, key, nil)
				}
				e.set(ur, f)
			}
			up = f.Get("Parent")
		}
		if !ref.IsZero() {
			e.set(ref, cos.Null{})
		}
	}
	stay := left[:0]
	for _, a := range left {
		d := e.dict(a)
		if parent := refOf(d.Get("Parent")); e.name(d.Get("Subtype")) == "Popup" && gone[parent] {
			e.set(refOf(a), cos.Null{})
			continue
		}
		stay = append(stay, a)
	}
	if len(stay) == 0 {
		return nil
	}
	return stay
}

// dropDangling takes fields and structure elements away whose annotations are gone.
func (e *Draft) dropDangling() {
	kept, keys := map[uint32]bool{}, map[int64]bool{}
	for _, p := range e.pages {
		kept[p.Ref.Num] = true
		keys[e.integer(p.Dict.Get("StructParents"), -1)] = true
		for _, a := range e.array(p.Dict.Get("Annots")) {
			kept[refOf(a).Num] = true
			keys[e.integer(e.dict(a).Get("StructParent"), -1)] = true
		}
	}
	e.formKeys(keys)
	e.pruneForm(kept)
	e.pruneStructure(kept, keys)
}

// elements takes the texts away that stand for content in place of it, from the structure elements
// whose content was hit.
func (r *Redaction) elements(e *Draft, page cos.Ref, ids map[int64]bool) {
	if len(ids) == 0 {
		return
	}
	seen := map[cos.Ref]bool{}
	var walk func(o cos.Object, pg cos.Ref, depth int) bool
	walk = func(o cos.Object, pg cos.Ref, depth int) bool {
		ref := refOf(o)
		if depth > mostDepth || len(seen) > mostEntries || !ref.IsZero() && seen[ref] {
			return false
		}
		seen[ref] = true
		switch v := e.resolve(o).(type) {
		case cos.Int:
			return pg.Num == page.Num && ids[int64(v)]
		case cos.Array:
			hit := false
			for _, k := range v {
				hit = walk(k, pg, depth+1) || hit
			}
			return hit
		case cos.Dict:
			if own := refOf(v.Get("Pg")); !own.IsZero() {
				pg = own
			}
			if e.name(v.Get("Type")) == "MCR" {
				return pg.Num == page.Num && ids[e.integer(v.Get("MCID"), -1)]
			}
			hit := walk(v.Get("K"), pg, depth+1)
			if hit && !ref.IsZero() {
				d := v
				for _, key := range [...]cos.Name{"ActualText", "Alt", "E"} {
					if d.Get(key) != nil {
						r.Removed.Strings++
						d = with(d, key, nil)
					}
				}
				if e.name(v.Get("S")) == "Figure" { // which must have one
					d = with(d, "Alt", cos.Text("redacted"))
				}
				e.set(ref, d)
			}
			return hit
		}
		return false
	}
	walk(e.dict(e.catalog().Get("StructTreeRoot")).Get("K"), cos.Ref{}, 0)
}

// retarget has the structure elements with content in a form refer to the one that is drawn now.
func (r *Redaction) retarget(e *Draft) {
	if len(r.forms) == 0 {
		return
	}
	seen := map[cos.Ref]bool{}
	var walk func(o cos.Object, page cos.Ref, depth int) cos.Object
	walk = func(o cos.Object, page cos.Ref, depth int) cos.Object {
		ref := refOf(o)
		if depth > mostDepth || len(seen) > mostEntries || !ref.IsZero() && seen[ref] {
			return o
		}
		seen[ref] = true
		switch v := e.resolve(o).(type) {
		case cos.Array:
			out := make(cos.Array, len(v))
			for i := range v {
				out[i] = walk(v[i], page, depth+1)
			}
			return out
		case cos.Dict:
			if pg := refOf(v.Get("Pg")); !pg.IsZero() {
				page = pg
			}
			if now, is := r.forms[formOn{page.Num, refOf(v.Get("Stm")).Num}]; is {
				v = with(v, "Stm", now)
			}
			if k := v.Get("K"); k != nil {
				v = with(v, "K", walk(k, page, depth+1))
			}
			if ref.IsZero() {
				return v
			}
			e.set(ref, v)
		}
		return o
	}
	if root := walk(e.catalog().Get("StructTreeRoot"), cos.Ref{}, 0); root != nil && refOf(root).IsZero() {
		e.change("StructTreeRoot", root)
	}
}

// hidden takes away what holds copies of text beside the pages.
func (r *Redaction) hidden(e *Draft) {
	r.Removed.Attachments = len(e.attachments())
	e.WithoutAttachments()
	for _, key := range [...]cos.Name{"PieceInfo", "SpiderInfo", "Collection", "AA", "Threads"} {
		e.change(key, nil)
	}
	names := e.dict(e.catalog().Get("Names"))
	for _, key := range [...]cos.Name{"JavaScript", "AlternatePresentations", "Renditions", "Templates", "URLS", "IDS"} {
		names = with(names, key, nil)
	}
	e.change("Names", nil)
	if len(names) > 0 {
		e.change("Names", e.add(names))
	}
	if a := e.dict(e.catalog().Get("OpenAction")); a != nil && e.name(a.Get("S")) != "GoTo" {
		e.change("OpenAction", nil)
	}
	if form := e.dict(e.catalog().Get("AcroForm")); form.Get("XFA") != nil {
		e.change("AcroForm", e.add(with(form, "XFA", nil)))
	}
	r.info(e)
	r.sweep(e)
	r.metadata(e)
}

// info takes entries out of the information dictionary of which a part would say nothing, such as
// half a date.
func (r *Redaction) info(e *Draft) {
	info := e.dict(e.info)
	for _, key := range [...]cos.Name{"Producer", "Creator", "CreationDate", "ModDate"} {
		if s := e.text(info.Get(key)); s != "" && r.in(s) {
			r.Removed.Strings++
			info = with(info, key, nil)
			e.set(e.info, info)
		}
	}
}

// metadata takes text out of the XMP packet of the document: the properties that have it. The whole
// packet goes where it cannot be read.
func (r *Redaction) metadata(e *Draft) {
	before := e.data(e.catalog().Get("Metadata"))
	if before == nil {
		return
	}
	packet := standard.SetXMP(xmlText(before), "Thumbnails", "") // pictures of pages
	stripped, err := standard.StripXMP(packet, r.in)
	for _, x := range [...]struct{ key, property string }{
		{"Title", "dc:title"}, {"Author", "dc:creator"}, {"Subject", "dc:description"}, {"Keywords", "pdf:Keywords"},
	} { // what is left of them is in the information dictionary, of the title, which must be, here too
		if err != nil || !bytes.Contains(packet, []byte(x.property)) || bytes.Contains(stripped, []byte(x.property)) {
			continue
		}
		value := e.text(e.dict(e.info).Get(cos.Name(x.key)))
		if x.key == "Title" {
			value = strings.TrimSpace(r.without(standard.XMPTitle(packet)))
		}
		stripped = standard.SetXMP(stripped, x.key, value)
	}
	switch {
	case err != nil:
		r.Removed.Strings++
		r.Unkept = "the metadata were removed: " + err.Error()
		e.change("Metadata", nil)
	case len(stripped) != len(before):
		r.Removed.Strings++
		e.setPacket(stripped)
	}
}

// xmlText returns XML in UTF-8, which may be in UTF-16 (ISO 16684-1, 7.1).
func xmlText(b []byte) []byte {
	if len(b) < 2 || b[0] != 0 && b[1] != 0 && !bytes.HasPrefix(b, []byte("\xff\xfe")) && !bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return b
	}
	if b[0] == 0xff || b[1] == 0 { // the lower byte first
		b = bytes.Clone(b)
		for i := 1; i < len(b); i += 2 {
			b[i-1], b[i] = b[i], b[i-1]
		}
	}
	return []byte(utf16Text(bytes.TrimPrefix(b, []byte("\xfe\xff"))))
}

// in reports whether text has what must not be, also where characters that nobody sees divide it.
func (r *Redaction) in(s string) bool {
	return r.matches(s) || strings.ContainsFunc(s, content.Ignorable) && r.matches(content.Visible(s))
}

func (r *Redaction) matches(s string) bool {
	if r.re != nil && r.re.MatchString(s) {
		return true
	}
	return slices.ContainsFunc(r.said, func(re *regexp.Regexp) bool { return re.MatchString(s) })
}

// says reports whether a string that is the value of a key has it.
func (r *Redaction) says(s string, key cos.Name) bool {
	return r.in(s) && !r.defined(s, key) || key == "URI" && r.in(unescaped(s))
}

// escaped is an octet of an address (RFC 3986, 2.1).
var escaped = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// unescaped returns an address as people read it.
func unescaped(s string) string {
	return escaped.ReplaceAllStringFunc(strings.ReplaceAll(s, "+", " "), func(x string) string {
		b, _ := hex.DecodeString(x[1:]) // two digits are one octet
		return string(b)
	})
}

// without returns text without it.
func (r *Redaction) without(s string) string {
	for range 8 { // what is left may match anew
		if !r.in(s) {
			return s
		}
		if !r.matches(s) {
			s = content.Visible(s)
		}
		if r.re != nil {
			s = r.re.ReplaceAllString(s, "")
		}
		for _, re := range r.said {
			s = re.ReplaceAllString(s, "")
		}
	}
	return ""
}

// sweep takes text out of every string that the catalog leads to, and private data out of every
// dictionary.
func (r *Redaction) sweep(e *Draft) {
	packet := refOf(e.catalog().Get("Metadata")) // which is kept
	var change func(o cos.Object, key cos.Name) (cos.Object, bool)
	change = func(o cos.Object, key cos.Name) (cos.Object, bool) {
		switch v := o.(type) {
		case cos.String, cos.Hex, cos.Text:
			if s, ok := cos.TextOf(v); ok && r.says(s, key) {
				r.Removed.Strings++
				if key == "URI" && !r.in(s) {
					s = unescaped(s)
				}
				return cos.Text(r.without(s)), true
			}
		case cos.Array:
			var out cos.Array
			for i := range v {
				if x, ok := change(v[i], keyIn(v, i, key)); ok {
					if out == nil {
						out = slices.Clone(v)
					}
					out[i] = x
				}
			}
			if out != nil {
				return out, true
			}
		case cos.Dict:
			var out cos.Dict
			for _, key := range [...]cos.Name{"PieceInfo", "AF", "RichMediaContent", "EF", "Metadata"} {
				if x := v.Get(key); x != nil && (key != "Metadata" || packet.IsZero() || refOf(x) != packet) {
					v = with(v, key, nil)
					out = v
				}
			}
			for i := range v {
				if x, ok := change(v[i].Value, v[i].Key); ok {
					if out == nil {
						out = slices.Clone(v)
						v = out
					}
					out[i].Value = x
				}
			}
			if out != nil {
				return out, true
			}
		case *stream:
			if x, ok := change(v.dict, key); ok {
				s := *v
				s.dict, _ = x.(cos.Dict)
				return &s, true
			}
		}
		return o, false
	}
	e.reach(func(ref cos.Ref, key cos.Name, o cos.Object) {
		if x, ok := change(o, key); ok {
			e.set(ref, x)
		}
	})
	if names := e.dict(e.catalog().Get("Names")); names.Get("Dests") != nil { // in the order of their new names
		e.setNames("Dests", e.names(names.Get("Dests")))
	}
}

// reach calls f with each object that the catalog or the information dictionary leads to, once, and
// with the key under which it is found first. What f changes is followed as it is then.
func (e *Draft) reach(f func(cos.Ref, cos.Name, cos.Object)) {
	type found struct {
		ref cos.Ref
		key cos.Name
	}
	seen := map[uint32]bool{}
	var queue []found
	var walk func(o cos.Object, key cos.Name)
	walk = func(o cos.Object, key cos.Name) {
		switch v := o.(type) {
		case cos.Ref:
			if !v.IsZero() && !seen[v.Num] {
				seen[v.Num] = true
				queue = append(queue, found{v, key})
			}
		case cos.Array:
			for i, x := range v {
				walk(x, keyIn(v, i, key))
			}
		case cos.Dict:
			for _, x := range v {
				walk(x.Value, x.Key)
			}
		case *stream:
			walk(v.dict, key)
		}
	}
	walk(e.root, "")
	walk(e.info, "")
	for i := 0; i < len(queue); i++ {
		x := queue[i]
		o := e.object(x.ref)
		f(x.ref, x.key, o)
		if now, is := e.over[x.ref.Num]; is {
			o = now
		}
		walk(o, x.key)
	}
}
