package record

import (
	"slices"
	"time"
)

// Options are the choices of a request that change the bytes of its document.
// A field that is not set is left out of their canonical form, so that a new
// option does not change the identity of older documents.
type Options struct {
	// Standards are claimed besides those that the template names, such as
	// pdf/a-4; they form a set.
	Standards []string `json:"standards,omitempty"`
}

// Normal returns the options with every set sorted and without repetition:
// options that mean the same are equal in this form.
func (o Options) Normal() Options {
	return Options{Standards: slices.Compact(slices.Sorted(slices.Values(o.Standards)))}
}

// Document is a made file: where it came from and what its bytes are.
type Document struct {
	Space    Space       `json:"space"`
	ID       Hash        `json:"id"`
	Content  Hash        `json:"content"` // hash of the file's bytes
	Size     int64       `json:"size"`    // bytes
	Pages    int         `json:"pages"`
	Title    string      `json:"title,omitempty"` // the file's own, at most 256 characters of it
	Name     string      `json:"name,omitempty"`  // suggested file name, with .pdf
	Template TemplateRef `json:"template"`
	Snapshot Hash        `json:"snapshot"`
	Options  Options     `json:"options"`
	Signer   string      `json:"signer,omitempty"`
	Engine   string      `json:"engine"` // what rendered it
	Time     time.Time   `json:"time"`   // the snapshot's
	TimeFrom TimeOrigin  `json:"time_from,omitempty"`
	Made     time.Time   `json:"made"`
	Reports  []string    `json:"reports,omitempty"` // under which it is filed, sorted
}

// TimeOrigin is the origin of a document's time.
type TimeOrigin string

// The origins. A time that the request gives says nothing about when the document was made; Made
// does.
const (
	FromClock   TimeOrigin = "clock"   // of the machine that made the document
	FromRequest TimeOrigin = "request" // chosen by the request
)

// Identity is what makes a document the one it is.
type Identity struct {
	Space    Space       `json:"space"`
	Template TemplateRef `json:"template"`
	Snapshot Hash        `json:"snapshot"`
	Options  Options     `json:"options"`
	Signer   string      `json:"signer"` // name of the signer, "" when unsigned
}

// ID returns the hash that identifies the document: that of the canonical JSON
//
//	{"document":1,"options":{...},"signer":"","snapshot":SHA256,"space":"local",
//	 "template":{"hash":SHA256,"name":NAME}}
//
// without white space, so that two different identities never have the same text and anyone can
// compute it with everyday tools.
func (i Identity) ID() (Hash, error) {
	i.Options = i.Options.Normal()
	b, err := marshal(struct {
		Version int `json:"document"`
		Identity
	}{1, i})
	return Sum(b), err
}

// How many documents a page of a list has when a Query does not say, and at most.
const (
	PageDefault = 50
	PageMost    = 500
)

// Query selects documents of a space, newest first.
type Query struct {
	Report string // "": all
	After  string // Page.Next of the page before; "": from the newest
	Limit  int    // at most so many; 0 means PageDefault, more than PageMost means that
}

// Page is a part of a list.
type Page struct {
	Documents []*Document
	Next      string // "": this is the end
}

// Report is a template with its sources and options, for documents that are made repeatedly.
type Report struct {
	Space    Space
	Name     string
	Template string // "": the request brings one
	Sources  []SourceCall
	Options  Options
}
