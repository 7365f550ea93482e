package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf16"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/content"
	"example.com/quire/pdf/internal/diag"
)

// Glyphs of embedded fonts that nothing shows any more tell which characters a document had. All that
// nothing shows go, not only those of what was taken out: in a font with every letter, the missing
// ones would be just those.

// shown are the codes that contents show of a font.
type shown struct {
	font  *content.Font
	codes map[string]bool
}

// fontUse is a font of a draft with all that says of its glyphs.
type fontUse struct {
	ref     cos.Ref
	dict    cos.Dict
	own     cos.Dict // of a composite font, that of its CIDFont; else dict
	ownRef  cos.Ref
	program cos.Ref // zero: not embedded
	key     cos.Name
	shown   shown
}

// dropGlyphs takes out of the fonts what says of glyphs that no content shows: their programs, widths,
// names and meanings. Fonts that fields may be filled in with stay whole, and so do those whose
// programs cannot be cut, which are counted.
func (r *Redaction) dropGlyphs(ctx context.Context, e *Draft) error {
	uses, err := e.shownCodes(ctx)
	if err != nil || uses == nil {
		return err
	}
	whole := e.formFonts()
	for key, u := range uses { // fonts that stand in resources themselves
		if _, indirect := u.font.Object.(cos.Ref); !indirect {
			d := e.dict(u.font.Object)
			_, program, _ := e.programOf(d)
			whole[program.Num] = true
			delete(uses, key)
		}
	}
	var fonts []*fontUse
	e.reach(func(ref cos.Ref, o cos.Object) {
		d, ok := o.(cos.Dict)
		if !ok {
			return
		}
		kind := e.name(d.Get("Subtype"))
		switch kind {
		case "Type0", "Type1", "MMType1", "TrueType", "Type3":
		default:
			return
		}
		f := &fontUse{ref: ref, dict: d, own: d, ownRef: ref}
		if kind == "Type0" {
			list := e.array(d.Get("DescendantFonts"))
			if len(list) != 1 {
				return
			}
			f.own, f.ownRef = e.dict(list[0]), refOf(list[0])
		}
		if u, ok := uses[string(ref.AppendPDF(nil))]; ok {
			f.shown = *u
		}
		f.key, f.program, _ = e.programOf(f.own)
		fonts = append(fonts, f)
	})
	byProgram := map[uint32][]*fontUse{}
	for _, f := range fonts {
		if whole[f.ref.Num] {
			whole[f.program.Num] = true
		}
		if !f.program.IsZero() {
			byProgram[f.program.Num] = append(byProgram[f.program.Num], f)
		}
	}
	for _, f := range fonts {
		if !whole[f.ref.Num] && (f.program.IsZero() || !whole[f.program.Num]) {
			e.forgetCodes(f, fonts)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(byProgram)) {
		if whole[n] {
			r.Removed.WholeFonts++
			continue
		}
		cut, err := e.cutProgram(byProgram[n])
		if err != nil {
			return err
		}
		if cut < 0 {
			r.Removed.WholeFonts++
			continue
		}
		r.Removed.Glyphs += cut
	}
	return nil
}

// programOf returns the font program of a font and the key under which its descriptor has it.
func (e *Draft) programOf(own cos.Dict) (key cos.Name, program cos.Ref, descriptor cos.Dict) {
	descriptor = e.dict(own.Get("FontDescriptor"))
	for _, key := range [...]cos.Name{"FontFile", "FontFile2", "FontFile3"} {
		if ref := refOf(descriptor.Get(key)); !ref.IsZero() {
			return key, ref, descriptor
		}
	}
	return "", cos.Ref{}, descriptor
}

// formFonts are the fonts that fields may be filled in with, by number.
func (e *Draft) formFonts() map[uint32]bool {
	out := map[uint32]bool{}
	form := e.dict(e.catalog().Get("AcroForm"))
	if len(e.array(form.Get("Fields"))) == 0 {
		return out
	}
	for _, f := range e.dict(e.dict(form.Get("DR")).Get("Font")) {
		out[refOf(f.Value).Num] = true
	}
	return out
}

// shownCodes follows every content that the catalog leads to: pages, forms, appearances in any state,
// patterns and glyphs of Type 3. It is nil where one cannot be read: then nobody can say what is shown.
func (e *Draft) shownCodes(ctx context.Context) (map[string]*shown, error) {
	src := &source{e: e}
	in := content.New(src)
	uses := map[string]*shown{}
	note := func(ev *content.Event) error {
		if ev.Kind != content.Show || ev.State.Font == nil || ev.State.Font.Object == nil { // no font is set
			return nil
		}
		key := string(ev.State.Font.Object.AppendPDF(nil))
		u, ok := uses[key]
		if !ok {
			u = &shown{font: ev.State.Font, codes: map[string]bool{}}
			uses[key] = u
		}
		for _, g := range ev.Glyphs {
			u.codes[string(g.Code)] = true
		}
		return nil
	}
	run := func(c content.Content, place string) error { return in.Run(ctx, c, place, note) }
	for i, p := range e.pages {
		for _, c := range src.drawn(p) {
			if err := run(c, content.Place(i+1)); err != nil {
				return nil, err
			}
		}
	}
	var fault error
	e.reach(func(ref cos.Ref, o cos.Object) {
		place := fmt.Sprintf("object %d", ref.Num)
		if d, ok := o.(cos.Dict); ok && e.name(d.Get("Subtype")) == "Type3" {
			for _, p := range e.dict(d.Get("CharProcs")) {
				if fault == nil {
					fault = run(content.Content{Data: src.Data(p.Value), Resources: e.dict(d.Get("Resources")), Matrix: content.Identity}, place)
				}
			}
			return
		}
		s, ok := o.(*stream)
		if !ok || fault != nil {
			return
		}
		resources := e.dict(s.dict.Get("Resources"))
		if resources == nil || e.name(s.dict.Get("Subtype")) == "Image" {
			return
		}
		fault = run(content.Content{Data: src.Data(ref), Resources: resources, Matrix: content.Identity}, place)
	})
	if fault == nil {
		fault = e.err
	}
	if fault != nil || src.broken > 0 || in.Skipped {
		return nil, fault
	}
	return uses, nil
}

// cids returns the CIDs that are shown of the CIDFont of f by all fonts that have it; ok is false where
// they are not known.
func (e *Draft) cids(f *fontUse, all []*fontUse) (set map[uint32]bool, ok bool) {
	set = map[uint32]bool{}
	for _, o := range all {
		if o != f && (o.ownRef.IsZero() || o.ownRef != f.ownRef) {
			continue
		}
		for c := range o.shown.codes {
			cid, ok := o.shown.font.CID([]byte(c))
			if !ok {
				return nil, false
			}
			set[cid] = true
		}
	}
	return set, true
}

// forgetCodes takes widths, names and meanings of codes that are not shown out of a font.
func (e *Draft) forgetCodes(f *fontUse, all []*fontUse) {
	d := f.dict
	if d.Get("ToUnicode") != nil && e.name(d.Get("ToUnicode")) == "" {
		d = with(d, "ToUnicode", e.toUnicode(f.shown))
	}
	if e.name(d.Get("Subtype")) != "Type0" {
		e.set(f.ref, e.forgetSimple(d, f.shown))
		return
	}
	if set, ok := e.cids(f, all); ok && len(f.own) > 0 {
		own := e.forgetCIDs(f.own, set)
		if f.ownRef.IsZero() {
			d = with(d, "DescendantFonts", cos.Array{e.add(own)})
		} else {
			e.set(f.ownRef, own)
		}
	}
	e.set(f.ref, d)
}

// toUnicode returns a map of the codes that are shown, nil where they have no meaning.
func (e *Draft) toUnicode(s shown) cos.Object {
	const perSection = 100 // Adobe Technical Note 5014, 5
	var entries [][2]string
	sizes := map[int]bool{}
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		text, ok := s.font.ToUnicode([]byte(code))
		if !ok {
			continue
		}
		var units []byte
		for _, u := range utf16.Encode([]rune(text)) {
			units = append(units, byte(u>>8), byte(u)) //nolint:gosec // G115: the bytes of a unit
		}
		entries = append(entries, [2]string{code, string(units)})
		sizes[len(code)] = true
	}
	if len(entries) == 0 {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo<</Registry(Adobe)/Ordering(UCS)/Supplement 0>>def\n/CMapName/Adobe-Identity-UCS def\n/CMapType 2 def\n")
	fmt.Fprintf(&b, "%d begincodespacerange\n", len(sizes))
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		fmt.Fprintf(&b, "<%s><%s>\n", zeros(n, "00"), zeros(n, "FF"))
	}
	b.WriteString("endcodespacerange\n")
	for part := range slices.Chunk(entries, perSection) {
		fmt.Fprintf(&b, "%d beginbfchar\n", len(part))
		for _, x := range part {
			fmt.Fprintf(&b, "<%X><%X>\n", x[0], x[1])
		}
		b.WriteString("endbfchar\n")
	}
	b.WriteString("endcmap\nCMapName currentdict/CMap defineresource pop\nend\nend\n")
	return e.add(&stream{data: b.Bytes()})
}

func zeros(n int, digits string) string {
	return string(bytes.Repeat([]byte(digits), n))
}

// forgetSimple is forgetCodes for the dictionary of a simple font.
func (e *Draft) forgetSimple(d cos.Dict, s shown) cos.Dict {
	used := func(c int) bool { return s.codes[string([]byte{byte(c)})] } //nolint:gosec // G115: below 256
	if widths := e.array(d.Get("Widths")); len(widths) > 0 {
		first := int(min(max(e.integer(d.Get("FirstChar"), 0), 0), 255))
		out := make(cos.Array, 0, len(widths))
		low, high := -1, -1
		for i := range widths {
			if c := first + i; c < 256 && used(c) {
				if low < 0 {
					low = c
				}
				high = c
			}
		}
		if low < 0 { // a font has one width at least
			low, high = first, first
		}
		for c := low; c <= high; c++ {
			if w := widths[c-first]; used(c) {
				out = append(out, w)
			} else {
				out = append(out, cos.Int(0))
			}
		}
		d = with(with(with(d, "Widths", out), "FirstChar", cos.Int(low)), "LastChar", cos.Int(high))
	}
	if enc := e.dict(d.Get("Encoding")); enc.Get("Differences") != nil {
		var out cos.Array
		at, next := 0, -1
		for _, o := range e.array(enc.Get("Differences")) {
			switch v := e.resolve(o).(type) {
			case cos.Int:
				at = int(min(max(v, 0), 256))
			case cos.Name:
				if at < 256 && used(at) {
					if at != next {
						out = append(out, cos.Int(at))
					}
					out = append(out, v)
					next = at + 1
				}
				at++
			}
		}
		if out == nil {
			enc = with(enc, "Differences", nil)
		} else {
			enc = with(enc, "Differences", out)
		}
		d = with(d, "Encoding", enc)
	}
	if procs := e.dict(d.Get("CharProcs")); procs != nil && e.name(d.Get("Subtype")) == "Type3" {
		var out cos.Dict
		for _, p := range procs {
			for c := range s.codes {
				if n, _, _ := s.font.Encoded(c[0]); n == string(p.Key) {
					out = append(out, p)
					break
				}
			}
		}
		d = with(d, "CharProcs", nil)
		d = append(d, cos.E("CharProcs", out))
	}
	return e.forgetNames(d)
}

// forgetNames takes the lists of all glyphs out of a font's descriptor.
func (e *Draft) forgetNames(d cos.Dict) cos.Dict {
	descriptor := e.dict(d.Get("FontDescriptor"))
	if descriptor.Get("CharSet") == nil && descriptor.Get("CIDSet") == nil {
		return d
	}
	descriptor = with(with(descriptor, "CharSet", nil), "CIDSet", nil)
	if ref := refOf(d.Get("FontDescriptor")); !ref.IsZero() {
		e.set(ref, descriptor)
		return d
	}
	return with(d, "FontDescriptor", descriptor)
}

// forgetCIDs is forgetCodes for the dictionary of a CIDFont.
func (e *Draft) forgetCIDs(d cos.Dict, used map[uint32]bool) cos.Dict {
	d = with(d, "W", e.widthsOf(e.array(d.Get("W")), used, 1))
	d = with(d, "W2", e.widthsOf(e.array(d.Get("W2")), used, 3))
	if data := e.data(d.Get("CIDToGIDMap")); data != nil {
		last := uint32(0)
		for cid := range used {
			last = max(last, cid)
		}
		out := bytes.Clone(data[:min(len(data), 2*int(last)+2)])
		for cid := uint32(0); int(2*cid+1) < len(out); cid++ {
			if !used[cid] {
				out[2*cid], out[2*cid+1] = 0, 0
			}
		}
		d = with(d, "CIDToGIDMap", e.add(&stream{data: out}))
	}
	return e.forgetNames(d)
}

// widthsOf returns the entries of W, or of W2 with its three numbers, for the CIDs that are used.
func (e *Draft) widthsOf(list cos.Array, used map[uint32]bool, numbers int) cos.Object {
	found := map[uint32]cos.Array{}
	for i := 0; i+1 < len(list); {
		first := e.integer(list[i], -1)
		if a, ok := e.resolve(list[i+1]).(cos.Array); ok {
			for j := 0; j+numbers <= len(a); j += numbers {
				if c := first + int64(j/numbers); c >= 0 && c <= 0xFFFF && used[uint32(c)] {
					found[uint32(c)] = a[j : j+numbers]
				}
			}
			i += 2
			continue
		}
		if i+1+numbers >= len(list) {
			break
		}
		last := e.integer(list[i+1], -1)
		for c := range used {
			if int64(c) >= first && int64(c) <= last {
				found[c] = list[i+2 : i+2+numbers]
			}
		}
		i += 2 + numbers
	}
	if len(found) == 0 {
		return nil
	}
	var out cos.Array
	for _, c := range slices.Sorted(maps.Keys(found)) {
		out = append(out, cos.Int(c), slices.Clone(found[c]))
	}
	return out
}

// cutProgram writes a font program without the glyphs that none of its fonts shows, and returns how
// many are gone; below 0 where it cannot be cut.
func (e *Draft) cutProgram(fonts []*fontUse) (cut int, err error) {
	first := fonts[0]
	data := e.data(first.program)
	if e.err != nil {
		return 0, e.err
	}
	p, err := font.ParseEmbedded(data, diag.Limits{})
	if err != nil {
		if errors.As(err, new(*diag.LimitError)) {
			return 0, err
		}
		return -1, nil
	}
	keep := map[font.GID]bool{0: true}
	for _, f := range fonts {
		ids, ok := e.glyphsOf(p, f)
		if !ok {
			return -1, nil
		}
		for _, g := range ids {
			keep[g] = true
		}
	}
	if p.NumGlyphs() == len(keep) {
		return 0, nil
	}
	out, cut, err := p.Without(slices.Sorted(maps.Keys(keep)))
	if err != nil {
		return -1, nil //nolint:nilerr // as above
	}
	var d cos.Dict
	switch composite := fonts[0].shown.font != nil && fonts[0].shown.font.Composite() || e.name(first.dict.Get("Subtype")) == "Type0"; {
	case !p.CFF():
		if d = (cos.Dict{cos.E("Length1", cos.Int(len(out)))}); first.key == "FontFile3" {
			d = cos.Dict{cos.E("Subtype", cos.Name("OpenType"))}
		}
	case composite:
		d = cos.Dict{cos.E("Subtype", cos.Name("CIDFontType0C"))}
	default:
		d = cos.Dict{cos.E("Subtype", cos.Name("Type1C"))}
	}
	e.set(first.program, &stream{dict: d, data: out})
	return cut, nil
}

// glyphsOf returns the glyphs of a program that a font shows; ok is false where that is not known.
func (e *Draft) glyphsOf(p *font.Embedded, f *fontUse) (ids []font.GID, ok bool) {
	if e.name(f.dict.Get("Subtype")) != "Type0" {
		var codes []font.Code
		for c := range f.shown.codes {
			name, text, mac := f.shown.font.Encoded(c[0])
			codes = append(codes, font.Code{Value: c[0], Name: name, Text: text, Mac: mac})
		}
		return p.ByCodes(codes, content.NameText), true
	}
	toGID := e.data(f.own.Get("CIDToGIDMap"))
	for c := range f.shown.codes {
		cid, ok := f.shown.font.CID([]byte(c))
		if !ok {
			return nil, false
		}
		if toGID != nil && !p.CFF() {
			if int(2*cid+1) < len(toGID) {
				ids = append(ids, font.GID(toGID[2*cid])<<8|font.GID(toGID[2*cid+1]))
			}
			continue
		}
		if g, ok := p.ByCID(cid); ok {
			ids = append(ids, g)
		}
	}
	return ids, true
}
