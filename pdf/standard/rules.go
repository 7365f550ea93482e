package standard

import (
	"fmt"
	"slices"
	"strings"

	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/tag"
)

// The codes of this package:
//
//	S001 the document has no title
//	S002 the document has no language, or one that is no language tag
//	S003 an archival document is encrypted
//	S020 a heading level is skipped
//	S028 a figure without alternative text
//	S030 a character of a private use area, which has no meaning to a reader
//	S031 a language tag that is none
//	S040 a structure element where its type may not stand
//	S041 a structure element without what its type needs
//	S042 content outside the structure tree that is no artifact
//	S043 the catalog or the file as a whole
//	S044 an annotation
//	S045 an action, a filter or a key that a standard forbids
//	S046 a font that is not embedded
//	S047 a colour without an output intent
//
// Checker judges the document before it is written, so that a finding has a place in the
// template; Judge judges what is written, whatever made it. S040 to S047 are faults of the
// engine, not of a template.

// Checker judges one document against the standards it claims, as its parts
// come by in reading order. It is not safe for concurrent use.
type Checker struct {
	ids   []ID
	level int // of the heading before
}

// NewChecker returns a checker for the given claims; without any it finds
// nothing wrong.
func NewChecker(ids []ID) *Checker { return &Checker{ids: ids} }

// Tagged reports whether the claims ask for a structure tree. PDF/A-4 asks for
// none, but a document of record with a claim is tagged always.
func (c *Checker) Tagged() bool { return len(c.ids) > 0 }

func (c *Checker) claims(id ID) bool { return slices.Contains(c.ids, id) }

// Document judges title and language.
func (c *Checker) Document(d *doc.Document) diag.List {
	var l diag.List
	if !c.claims(PDFUA2) {
		return nil
	}
	if strings.TrimSpace(d.Title) == "" {
		l.Add(diag.Diagnostic{
			Code: "S001", Path: "title", Message: "the document has no title", Suggestion: "add title:",
			Clause: "ISO 14289-2, 8.11.1",
		})
	}
	switch {
	case d.Lang == "":
		l.Add(diag.Diagnostic{
			Code: "S002", Path: "lang", Message: "the document has no language", Suggestion: "add lang:",
			Clause: "ISO 14289-2, 8.4.4",
		})
	case !IsLanguage(d.Lang):
		l.Add(diag.Diagnostic{
			Code: "S002", Path: "lang", Message: fmt.Sprintf("%q is no language tag", d.Lang),
			Clause: "ISO 14289-2, 8.4.4",
		})
	}
	l = append(l, c.readable(d.Title, diag.Diagnostic{Path: "title"}, "8.6")...)
	return l
}

// Encryption judges that the document is encrypted, which an archive could not read for ever.
func (c *Checker) Encryption() diag.List {
	var l diag.List
	if c.claims(PDFA4) {
		l.Add(diag.Diagnostic{
			Code: "S003", Path: "standard", Message: "a PDF/A document is not encrypted", Suggestion: "protect it or claim PDF/A, not both",
			Clause: "ISO 19005-4, 6.1.3",
		})
	}
	return l
}

// Bookmark judges the title of an outline item.
func (c *Checker) Bookmark(title string, src *doc.Source) diag.List {
	return c.readable(title, src.Place(diag.Diagnostic{}), "8.6")
}

// readable judges a string that is read out to people.
func (c *Checker) readable(s string, d diag.Diagnostic, clause string) diag.List {
	if len(c.ids) == 0 {
		return nil
	}
	for _, r := range s {
		if IsPrivate(r) {
			d.Code, d.Clause = "S030", "ISO 14289-2, "+clause
			d.Message = fmt.Sprintf("U+%04X of a private use area in %q has no meaning to a reader", r, s)
			return diag.List{d}
		}
	}
	return nil
}

// Elem judges an element as it is made.
func (c *Checker) Elem(e *tag.Elem) diag.List {
	var l diag.List
	if len(c.ids) == 0 {
		return nil
	}
	if e.Lang != "" && !IsLanguage(e.Lang) {
		l.Add(e.Src.Place(diag.Diagnostic{
			Code: "S031", Message: fmt.Sprintf("%q is no language tag", e.Lang), Clause: "ISO 14289-2, 8.4.4",
		}))
	}
	if !c.claims(PDFUA2) {
		return l
	}
	switch e.Type {
	case tag.H:
		if e.Level > c.level+1 {
			l.Add(e.Src.Place(diag.Diagnostic{
				Code:       "S020",
				Message:    fmt.Sprintf("heading of level %d after one of level %d", e.Level, c.level),
				Suggestion: fmt.Sprintf("use level: %d", c.level+1),
				Clause:     "ISO 14289-2, 8.2.5",
			}))
		}
		c.level = e.Level
	case tag.Figure:
		l = append(l, c.readable(e.Alt, e.Src.Place(diag.Diagnostic{}), "8.4.3")...)
		if e.Alt == "" {
			l.Add(e.Src.Place(diag.Diagnostic{
				Code: "S028", Message: "no alt text", Suggestion: "add alt: or decorative: true",
				Clause: "ISO 14289-2, 8.2.5.28.2",
			}))
		}
	}
	return l
}

// Text judges a word of real content.
func (c *Checker) Text(s string, src *doc.Source) diag.List {
	return c.readable(s, src.Place(diag.Diagnostic{}), "8.4.3")
}

// IsPrivate reports whether r is of a private use area.
func IsPrivate(r rune) bool {
	return r >= 0xE000 && (r <= 0xF8FF || r >= 0xF0000 && r <= 0xFFFFD || r >= 0x100000 && r <= 0x10FFFD)
}

// IsLanguage reports whether s has the form of a language tag (RFC 5646, 2.1):
// a language of 2 to 8 letters, or x or i, then subtags of 1 to 8 letters and
// digits.
func IsLanguage(s string) bool {
	for i, sub := range strings.Split(s, "-") {
		if len(sub) == 0 || len(sub) > 8 {
			return false
		}
		for _, c := range []byte(sub) {
			letter := c|0x20 >= 'a' && c|0x20 <= 'z'
			if !letter && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
		if i == 0 && len(sub) == 1 && sub != "x" && sub != "i" {
			return false
		}
	}
	return true
}
