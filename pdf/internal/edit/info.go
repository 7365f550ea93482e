package edit

import (
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/standard"
)

// Info is what a file says of itself.
type Info struct {
	Version     string       `json:"version"` // of PDF
	Size        int64        `json:"size"`
	Revisions   int          `json:"revisions"` // how often the file was written: 1 and once per incremental update
	Title       string       `json:"title,omitempty"`
	Author      string       `json:"author,omitempty"`
	Subject     string       `json:"subject,omitempty"`
	Keywords    string       `json:"keywords,omitempty"`
	Creator     string       `json:"creator,omitempty"`
	Producer    string       `json:"producer,omitempty"`
	Created     string       `json:"created,omitempty"`  // as the file has it: D:20260131183000Z
	Modified    string       `json:"modified,omitempty"` // alike
	Language    string       `json:"language,omitempty"`
	Tagged      bool         `json:"tagged"`
	Claims      []string     `json:"claims"` // standards that the metadata claim, such as pdf/a-2b; nothing is judged
	Encryption  *Encryption  `json:"encryption,omitempty"`
	Bookmarks   int          `json:"bookmarks"`
	Fields      []string     `json:"fields"`     // full names of form fields
	Signatures  []string     `json:"signatures"` // full names of signature fields that are signed; nothing is verified
	Attachments []Attachment `json:"attachments"`
	// Active names what could run when the file is opened or used: JavaScript, Launch, XFA and
	// others. Nothing of it was run.
	Active []string   `json:"active"`
	Pages  []PageInfo `json:"pages"`
}

// Encryption tells how a file is encrypted and what the password that was given allows.
type Encryption struct {
	Method  string   `json:"method"` // of streams: V2 (RC4), AESV2, AESV3 (AES-256), Identity
	Owner   bool     `json:"owner"`  // the password was the owner's, who may do everything
	Allowed []string `json:"allowed"`
}

// Attachment is a file that a document carries.
type Attachment struct {
	Name         string `json:"name"`
	Description  string `json:"description,omitempty"`
	Type         string `json:"type,omitempty"`         // media type
	Relationship string `json:"relationship,omitempty"` // Source, Data, Alternative ... (ISO 32000-2, 7.11.3)
	Size         int64  `json:"size,omitempty"`         // as the file says; 0: it does not
}

// PageInfo is a page and what is on it. Lengths are in points.
type PageInfo struct {
	Page        int         `json:"page"` // from 1
	Label       string      `json:"label,omitempty"`
	MediaBox    [4]float64  `json:"media_box"`          // left, bottom, right, top
	CropBox     *[4]float64 `json:"crop_box,omitempty"` // where it is another
	Rotate      int         `json:"rotate"`             // clockwise: 0, 90, 180 or 270
	Fonts       []string    `json:"fonts"`              // their names in the resources of the page and of what is drawn on it
	Images      int         `json:"images"`             // alike
	Annotations int         `json:"annotations"`
}

// Info reads what the file says of itself. Objects that cannot be read are left out.
func (d *Document) Info(size int64) *Info {
	e := NewDraft(d)
	i := &Info{
		Version: d.version(), Size: size, Revisions: d.Revisions(), Claims: []string{}, Fields: []string{}, Signatures: []string{},
		Attachments: e.attachments(), Active: []string{}, Pages: []PageInfo{},
	}
	info, root := e.dict(e.info), e.catalog()
	for key, to := range map[cos.Name]*string{
		"Title": &i.Title, "Author": &i.Author, "Subject": &i.Subject, "Keywords": &i.Keywords, "Creator": &i.Creator,
		"Producer": &i.Producer, "CreationDate": &i.Created, "ModDate": &i.Modified,
	} {
		*to = e.text(info.Get(key))
	}
	packet := e.data(root.Get("Metadata"))
	if i.Title == "" {
		i.Title = standard.XMPTitle(packet)
	}
	i.Claims = append(i.Claims, standard.XMPClaims(packet)...)
	i.Language = e.text(root.Get("Lang"))
	i.Tagged = e.resolve(e.dict(root.Get("MarkInfo")).Get("Marked")) == cos.Object(cos.Bool(true))
	if d.Key != nil {
		i.Encryption = &Encryption{Method: string(d.Key.Method()), Owner: d.Key.Owner, Allowed: d.Key.Allowed().Names()}
	}
	i.Bookmarks = len(e.outline())
	for _, f := range e.fields() {
		i.Fields = append(i.Fields, f.name)
		if f.kind == "Sig" && e.dict(f.dict.Get("V")) != nil {
			i.Signatures = append(i.Signatures, f.name)
		}
	}
	i.Active = append(i.Active, e.active()...)
	labels := e.labels()
	for n, p := range e.pages {
		page := PageInfo{Page: n + 1, Label: labels.of(n), MediaBox: e.box(p.Dict.Get("MediaBox"), letter), Rotate: int(e.rotation(p.Dict)), Fonts: []string{}}
		if crop := e.box(p.Dict.Get("CropBox"), page.MediaBox); crop != page.MediaBox {
			page.CropBox = &crop
		}
		page.Annotations = len(e.array(p.Dict.Get("Annots")))
		e.uses(p.Dict.Get("Resources"), &page, map[cos.Ref]bool{}, 0)
		slices.Sort(page.Fonts)
		page.Fonts = slices.Compact(page.Fonts)
		i.Pages = append(i.Pages, page)
	}
	return i
}

// letter is the size of a page that names none.
var letter = [4]float64{0, 0, 612, 792}

// box reads a rectangle (7.9.5), its corners in order; def where it is none.
func (e *Draft) box(o cos.Object, def [4]float64) [4]float64 {
	a := e.array(o)
	if len(a) < 4 {
		return def
	}
	var b [4]float64
	for i := range b {
		b[i] = number(e.resolve(a[i]), 0)
	}
	if b[0] > b[2] {
		b[0], b[2] = b[2], b[0]
	}
	if b[1] > b[3] {
		b[1], b[3] = b[3], b[1]
	}
	if b[0] == b[2] || b[1] == b[3] {
		return def
	}
	return b
}

// rotation returns the rotation of a page, 0 to 270.
func (e *Draft) rotation(page cos.Dict) int64 {
	return (e.integer(page.Get("Rotate"), 0)%360 + 360) % 360 / 90 * 90
}

// uses adds the fonts and images of resources, and of the forms among them.
func (e *Draft) uses(resources cos.Object, p *PageInfo, seen map[cos.Ref]bool, depth int) {
	d := e.dict(resources)
	if depth > 8 {
		return
	}
	for _, f := range e.dict(d.Get("Font")) {
		if n := e.name(e.dict(f.Value).Get("BaseFont")); n != "" {
			p.Fonts = append(p.Fonts, strings.ToValidUTF8(string(n), "\uFFFD"))
		}
	}
	for _, x := range e.dict(d.Get("XObject")) {
		if r := refOf(x.Value); !r.IsZero() {
			if seen[r] {
				continue
			}
			seen[r] = true
		}
		form := e.dict(x.Value)
		switch e.name(form.Get("Subtype")) {
		case "Image":
			p.Images++
		case "Form":
			e.uses(form.Get("Resources"), p, seen, depth+1)
		}
	}
}

// active names what could run.
func (e *Draft) active() []string {
	found := map[string]bool{}
	root := e.catalog()
	if len(e.names(e.dict(root.Get("Names")).Get("JavaScript"))) > 0 {
		found["JavaScript"] = true
	}
	if e.dict(root.Get("AcroForm")).Get("XFA") != nil {
		found["XFA"] = true
	}
	action := func(o cos.Object) {
		for range 16 {
			d := e.dict(o)
			if d == nil {
				return
			}
			switch s := e.name(d.Get("S")); s {
			case "JavaScript", "Launch", "ImportData", "SubmitForm", "Rendition", "RichMediaExecute":
				found[string(s)] = true
			}
			if o = d.Get("Next"); o == nil {
				return
			}
		}
	}
	actions := func(d cos.Dict) {
		action(d.Get("A"))
		for _, a := range e.dict(d.Get("AA")) {
			action(a.Value)
		}
	}
	action(root.Get("OpenAction"))
	actions(root)
	for _, p := range e.pages {
		actions(p.Dict)
		for _, a := range e.array(p.Dict.Get("Annots")) {
			d := e.dict(a)
			actions(d)
			switch s := e.name(d.Get("Subtype")); s {
			case "RichMedia", "Movie", "Sound", "Screen", "3D":
				found[string(s)] = true
			}
		}
	}
	for _, f := range e.fields() {
		actions(f.dict)
	}
	var out []string
	for s := range found {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}
