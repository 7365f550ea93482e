package standard

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
)

// What follows are the rules of ISO 19005-1 alone: it is built on PDF 1.4, has no transparency, and
// its metadata say what the information dictionary says.

var (
	opaqueClause  = clause{a1: "6.4"}
	profileClause = clause{a1: "6.2.3.2"}
	savedClause   = clause{a1: "6.1.12", a2: "6.1.13"}
)

// Opaque reports whether the claims take no transparency.
func (c *Checker) Opaque() bool { return first1(c.claims) }

// Transparency checks a transparent object.
func (c *Checker) Transparency(what string, src *doc.Source, remedy string) diag.List {
	if !c.Opaque() {
		return nil
	}
	return diag.List{src.Place(diag.Diagnostic{
		Code: "S055", Message: what + ", which " + archival(c.claims).String() + " does not take", Suggestion: remedy,
		Clause: opaqueClause.first(c.claims),
	})}
}

// Profile checks the version of the ICC profile of an image.
func (c *Checker) Profile(version byte, src *doc.Source) diag.List {
	if version <= 2 || !c.Opaque() {
		return nil
	}
	return diag.List{src.Place(diag.Diagnostic{
		Code: "S054", Message: "an image with an ICC profile of version " + strconv.Itoa(int(version)) + "; " + archival(c.claims).String() + " takes those of version 2",
		Suggestion: "save it with a profile of version 2, or claim pdf/a-2b", Clause: profileClause.first(c.claims),
	})}
}

// mostSaved is how many graphics states may be saved within each other (PDF Reference, third
// edition, annex C).
const mostSaved = 28

// mostReal is the largest real number of PDF 1.4.
const mostReal = 32_767

// Content checks the content of a drawing: the depth of saved graphics states, and for PDF 1.4 the
// size of numbers.
func (c *Checker) Content(code []byte, src *doc.Source) diag.List {
	at := savedClause.first(c.claims)
	if at == "" {
		return nil
	}
	instead := "claim pdf/a-4"
	if c.Opaque() {
		instead = "claim pdf/a-2b"
	}
	saved, deepest, large := 0, 0, false
	err := cos.Operators(code, func(op []byte, args []cos.Object) error {
		switch string(op) {
		case "q":
			saved++
			deepest = max(deepest, saved)
		case "Q":
			saved--
		}
		for _, a := range args {
			large = large || isLarge(a)
		}
		return nil
	})
	var l diag.List
	add := func(message string) {
		l.Add(src.Place(diag.Diagnostic{Code: "S056", Message: message, Suggestion: instead, Clause: at}))
	}
	if err != nil || deepest > mostSaved {
		add("a drawing nested more than " + strconv.Itoa(mostSaved) + " graphics states deep")
	}
	if large && c.Opaque() {
		add("a number beyond " + strconv.Itoa(mostReal))
	}
	return l
}

func isLarge(o cos.Object) bool {
	v, ok := numberOf(o)
	if _, whole := cos.As[cos.Int](o); whole {
		return ok && (v > 1<<31-1 || v < -1<<31)
	}
	return ok && (v > mostReal || v < -mostReal)
}

// numberOf returns the value of a number.
func numberOf(o cos.Object) (float64, bool) {
	if o == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(o.AppendPDF(nil)), 64)
	return v, err == nil
}

func isOne(o cos.Object) bool {
	v, ok := numberOf(o)
	return ok && v > 0.999999 && v < 1.000001
}

// seeThrough judges a graphics state that lets through what is behind.
func (j *Judge) seeThrough(r cos.Ref, d cos.Dict, src *doc.Source) {
	if !first1(j.claims) {
		return
	}
	for _, key := range [...]cos.Name{"ca", "CA"} {
		if a := d.Get(key); a != nil && !isOne(a) {
			j.find("S055", opaqueClause, r, src, "an opacity other than 1")
		}
	}
	if m := d.Get("SMask"); m != nil && !is(m, "None") {
		j.find("S055", opaqueClause, r, src, "a soft mask")
	}
	if m := d.Get("BM"); m != nil && !is(m, "Normal") && !is(m, "Compatible") {
		j.find("S055", opaqueClause, r, src, "a blend mode")
	}
}

// SeeThrough records a page with transparent content.
func (j *Judge) SeeThrough(page cos.Ref) {
	j.find("S055", opaqueClause, page, nil, "a page with transparency")
}

// old judges what PDF 1.4 has not, in a dictionary that may be that of a stream.
func (j *Judge) old(r cos.Ref, d cos.Dict, filters cos.Array, src *doc.Source) {
	if !first1(j.claims) {
		return
	}
	if g, ok := cos.As[cos.Dict](d.Get("Group")); ok && name(g, "S") == "Transparency" {
		j.find("S055", opaqueClause, r, src, "a transparency group")
	}
	for _, f := range filters {
		if is(f, "JPXDecode") {
			j.find("S045", clause{a1: "6.1.10"}, r, src, "filter JPXDecode")
		}
	}
	if d.Get("Length") != nil && (d.Get("F") != nil || d.Get("FFilter") != nil || d.Get("FDecodeParms") != nil) {
		j.find("S045", clause{a1: "6.1.7"}, r, src, "a stream outside the file")
	}
	switch name(d, "Subtype") {
	case "Image":
		if m := d.Get("SMask"); m != nil && !is(m, "None") {
			j.find("S055", opaqueClause, r, src, "an image with a soft mask")
		}
		if bits, ok := cos.As[cos.Int](d.Get("BitsPerComponent")); ok && bits > 8 {
			j.find("S045", clause{a1: "6.2.4"}, r, src, "an image of %d bits", bits)
		}
	case "Form":
		if d.Get("Ref") != nil {
			j.find("S045", clause{a1: "6.2.6"}, r, src, "a form of another file")
		}
		if name(d, "Subtype2") == "PS" || d.Get("PS") != nil {
			j.find("S045", clause{a1: "6.2.5"}, r, src, "a form of PostScript")
		}
		if d.Get("OPI") != nil {
			j.find("S045", clause{a1: "6.2.4"}, r, src, "a form with OPI")
		}
	case "PS":
		j.find("S045", clause{a1: "6.2.7"}, r, src, "PostScript")
	}
}

var subsetName = regexp.MustCompile(`^[A-Z]{6}\+`)

// subset judges that the descriptor of a subset lists what is in it. descriptor is nil where a file
// is written, which always does.
func (j *Judge) subset(r cos.Ref, d, descriptor cos.Dict, key cos.Name, src *doc.Source) {
	if descriptor != nil && descriptor.Get(key) == nil && subsetName.MatchString(string(name(d, "BaseFont"))) {
		j.find("S051", clause{a1: "6.3.5"}, r, src, "a subset of a font without %s", string(key))
	}
}

// Unlisted checks a font subset whose CIDSet or CharSet, as key says, omits a glyph of its program
// or has a glyph that is not in it.
func (j *Judge) Unlisted(font cos.Ref, base string, key cos.Name, glyph string) {
	j.find("S051", clause{a1: "6.3.5", a2: "6.2.11.4.2", ua1: "7.21.4.2"}, font, nil, "the %s of the font %s is wrong about %s", string(key), base, glyph)
}

// synchronous judges that the metadata say what the information dictionary says (6.7.3).
func (j *Judge) synchronous(f File) {
	if !first1(j.claims) || len(f.Info) == 0 {
		return
	}
	said := map[string][]string{}
	x := xmpPacket{property: func(p *element) { said[p.name.Space+p.name.Local] = p.values() }}
	if x.read(f.Metadata) != nil {
		return // which is told elsewhere
	}
	for _, key := range [...]struct{ key, property string }{
		{"Title", dublinCore + "title"},
		{"Author", dublinCore + "creator"},
		{"Subject", dublinCore + "description"},
		{"Keywords", adobePDF + "Keywords"},
		{"Creator", xmpBasic + "CreatorTool"},
		{"Producer", adobePDF + "Producer"},
		{"CreationDate", xmpBasic + "CreateDate"},
		{"ModDate", xmpBasic + "ModifyDate"},
	} {
		info, ok := f.Info[key.key]
		if !ok {
			continue
		}
		values := said[key.property]
		switch {
		case len(values) == 0, key.key == "Author" && len(values) != 1:
		case strings.HasSuffix(key.key, "Date"):
			if sameTime(info, values[0]) {
				continue
			}
		case strings.TrimRight(info, "\x00") == values[0]:
			continue
		}
		j.find("S052", clause{a1: "6.7.3"}, cos.Ref{}, nil, "metadata that do not say the %s of the information dictionary, %q", key.key, info)
	}
}

// values are the texts of a property: its own, or those of the items of a list, of texts by
// language that of no language first.
func (e *element) values() (all []string) {
	if len(e.kids) != 1 {
		return []string{e.text.String()}
	}
	for _, item := range e.kids[0].kids {
		text := item.text.String()
		for _, a := range item.attrs {
			if a.Name.Local == "lang" && a.Value == "x-default" {
				return []string{text}
			}
		}
		all = append(all, text)
	}
	return all
}

// sameTime reports whether a date of PDF (7.9.4) and one of XMP are one moment, as far as both say
// it.
func sameTime(info, xmp string) bool {
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, s)
	}
	parse := func(s string) (time.Time, bool) {
		for _, layout := range [...]string{
			"20060102150405Z0700", "20060102150405Z07", "20060102150405", "200601021504Z0700", "200601021504", "20060102", "200601", "2006",
		} {
			if t, err := time.Parse(layout, s); err == nil {
				return t, true
			}
		}
		return time.Time{}, false
	}
	plain := func(s string) string {
		s = strings.NewReplacer("'", "", ":", "", "D", "").Replace(s)
		head, zone := s, ""
		if i := strings.IndexAny(s, "Z+"); i >= 0 {
			head, zone = s[:i], s[i:]
		} else if i := strings.LastIndexByte(s, '-'); i > 8 && strings.ContainsRune(s[:i], 'T') || i == 14 {
			head, zone = s[:i], s[i:]
		}
		if strings.HasPrefix(zone, "Z") {
			zone = "Z"
		}
		return digits(strings.SplitN(head, ".", 2)[0]) + zone
	}
	a, ok1 := parse(plain(info))
	b, ok2 := parse(plain(xmp))
	return ok1 && ok2 && a.Equal(b)
}
