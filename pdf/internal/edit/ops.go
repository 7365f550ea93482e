package edit

import (
	"fmt"
	"math"
	"strconv"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/standard"
)

// MayChange returns the error of changing a file that was opened with its user's password: what
// such a reader may do is not told apart here.
func (d *Document) MayChange() error {
	if d.Key == nil || d.Key.Owner {
		return nil
	}
	return diag.Fail(diag.Diagnostic{
		Code: diag.CodePassword, Message: "the file was opened with the password of its user, who may not change it",
		Suggestion: "give the password of its owner",
	})
}

// setPage puts a value under a key of a page; nil takes it away.
func (e *Draft) setPage(i int, key cos.Name, v cos.Object) {
	e.separate()
	p := &e.pages[i]
	e.set(p.Ref, with(e.dict(p.Ref), key, v))
	p.Dict = with(p.Dict, key, v)
}

// separate gives every page an object of its own, which those of some damaged files have not.
func (e *Draft) separate() {
	some := false
	for i, p := range e.pages {
		if p.Ref.IsZero() {
			e.pages[i].Ref = e.add(p.Dict)
			some = true
		}
	}
	if some {
		e.pageTree()
	}
}

// Rotate turns pages clockwise, by a multiple of 90 degrees beside what they are turned by.
func (e *Draft) Rotate(pages []int, degrees int) error {
	if degrees%90 != 0 {
		return &OptionError{Field: "degrees", Got: strconv.Itoa(degrees), Want: "a multiple of 90"}
	}
	for _, i := range unique(pages) {
		e.setPage(i, "Rotate", cos.Int((e.rotation(e.pages[i].Dict)+int64(degrees%360)+360)%360))
	}
	return nil
}

// Crop sets what is shown of pages: left, bottom, right and top in points, in the coordinates of
// the page. What lies outside stays in the file.
func (e *Draft) Crop(pages []int, box [4]float64) error {
	for _, i := range unique(pages) {
		media := e.box(e.pages[i].Dict.Get("MediaBox"), letter)
		b := [4]float64{max(box[0], media[0]), max(box[1], media[1]), min(box[2], media[2]), min(box[3], media[3])}
		for i := range b {
			b[i] = math.Round(b[i] * 1000)
		}
		// Said so that NaN is none, nor what a Decimal cannot hold.
		if !(b[0] < b[2] && b[1] < b[3] && max(-b[0], -b[1], b[2], b[3]) < 1<<53) {
			order := ""
			if box[0] >= box[2] || box[1] >= box[3] {
				order = ", the left before the right and the bottom below the top,"
			}
			return &OptionError{
				Field: "box", Got: fmt.Sprintf("%g,%g,%g,%g", box[0], box[1], box[2], box[3]),
				Want: fmt.Sprintf("left,bottom,right,top%s within those of page %d: %g,%g,%g,%g", order, i+1, media[0], media[1], media[2], media[3]),
			}
		}
		var a cos.Array
		for _, v := range b {
			a = append(a, cos.Decimal{Mantissa: int64(v), Scale: 3})
		}
		e.setPage(i, "CropBox", a)
	}
	return nil
}

func unique(pages []int) (out []int) {
	seen := map[int]bool{}
	for _, p := range pages {
		if !seen[p] {
			out = append(out, p)
		}
		seen[p] = true
	}
	return out
}

// WithoutAttachments takes the attached files away.
func (e *Draft) WithoutAttachments() {
	e.setNames("EmbeddedFiles", nil)
	e.change("AF", nil)
}

// Metadata are the entries of the information dictionary that SetMetadata changes; nil leaves one
// as it is, an empty text takes it away.
type Metadata struct{ Title, Author, Subject, Keywords *string }

// SetMetadata changes the entries in the information dictionary and in the XMP packet.
func (e *Draft) SetMetadata(m Metadata) {
	info := e.dict(e.info)
	packet := e.data(e.catalog().Get("Metadata"))
	for _, x := range []struct {
		key   cos.Name
		value *string
	}{{"Title", m.Title}, {"Author", m.Author}, {"Subject", m.Subject}, {"Keywords", m.Keywords}} {
		if x.value == nil {
			continue
		}
		var v cos.Object
		if *x.value != "" {
			v = cos.Text(*x.value)
		}
		info = with(info, x.key, v)
		if packet != nil {
			packet = standard.SetXMP(packet, string(x.key), *x.value)
		}
	}
	if !e.info.IsZero() {
		e.set(e.info, info)
	} else if packet == nil && len(info) > 0 { // a file of PDF/A-4 has the packet alone
		e.info = e.add(info)
	}
	if packet != nil {
		e.setPacket(packet)
	}
}

func (e *Draft) setPacket(packet []byte) {
	e.change("Metadata", e.add(&stream{dict: cos.Dict{cos.E("Type", cos.Name("Metadata")), cos.E("Subtype", cos.Name("XML"))}, data: packet}))
}

// Claims returns the standards that the draft claims.
func (e *Draft) Claims() []string { return standard.XMPClaims(e.data(e.catalog().Get("Metadata"))) }

// DropClaims takes some of the claims back.
func (e *Draft) DropClaims(claims ...string) {
	e.setPacket(standard.WithoutClaims(e.data(e.catalog().Get("Metadata")), claims...))
}

// Void takes the values of signatures away and returns the names of their fields.
func (e *Draft) Void() []string {
	e.voidSignatures()
	return e.void
}

// Lost says what of the document is not written, but for signatures.
func (e *Draft) Lost() []string { return e.lost }

// Chapters returns the places of the pages where bookmarks of the first level lead, rising.
func (e *Draft) Chapters() (out []int) {
	for _, x := range e.outline() {
		if x.level == 0 && x.page >= 0 && (len(out) == 0 || x.page > out[len(out)-1]) {
			out = append(out, x.page)
		}
	}
	return out
}
