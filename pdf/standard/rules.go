package standard

import (
	"fmt"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/tag"
)

// The codes of this package:
//
//	S001 the document has no title
//	S002 the document has no language, or one that is no language tag
//	S003 a document is encrypted whose standard does not allow it
//	S004 standards that exclude each other
//	S020 a heading level is skipped
//	S021 a heading level that PDF 1.7 has not
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
//	S048 a page of a size that PDF/A-2 and 3 have not
//	S049 an attached file where the standard takes none, or one without what it asks for
//	S050 no attached file where the standard asks for one
//	S051 a font whose dictionary is not complete
//	S052 metadata that are not XMP as the standard has it
//	S053 a character that its embedded font does not have, or not as wide as the dictionary says
//	S054 an ICC profile that the standard does not take
//	S055 transparency that the standard does not take
//	S056 more than the version of PDF takes that a standard is built on
//	S057 JPEG 2000 data that the standard does not take
//	S058 a signature that does not cover the file, or not with what the standard asks for
//
// Checker checks the document before it is written, so that a finding has a place in the
// template; Judge judges what is written, whatever made it. S040 to S047 are faults of the
// engine, not of a template.

// Checker checks one document against the standards that it claims, as its parts are given in
// reading order. It is not safe for concurrent use.
type Checker struct {
	claims []ID
	level  int // of the heading before
}

// NewChecker returns a checker for the given claims; without any it finds
// nothing wrong.
func NewChecker(claims []ID) *Checker { return &Checker{claims: claims} }

// Tagged reports whether the claims require a structure tree. PDF/A of level B and PDF/A-4 do not
// require one, but a document of record with a claim is always tagged.
func (c *Checker) Tagged() bool { return len(c.claims) > 0 }

func (c *Checker) accessible() bool { return slices.ContainsFunc(c.claims, ID.Accessible) }

// The clauses of the rules that are judged before anything is written.
var (
	titleClause    = clause{ua1: "7.1", ua2: "8.11.1"}
	langClause     = clause{tagged1: "6.8.4", tagged: "6.7.4", ua1: "7.2", ua2: "8.4.4"}
	headingClause  = clause{ua1: "7.4.2", ua2: "8.2.5"}
	altClause      = clause{ua1: "7.3", ua2: "8.2.5.28.2"}
	sizeClause     = clause{a2: "6.1.13"}
	deviceClause   = clause{a1: "6.2.3.3", a2: "6.2.4.3", a4: "6.2.4.3"}
	encryptClause  = clause{a1: "6.1.3", a2: "6.1.3", a4: "6.1.3"}
	meaningClause  = clause{tagged: "6.2.11.7.3", a4: "6.2.10.8", ua1: "7.2", ua2: "8.4.3"}
	readableClause = clause{a4: "6.2.10.8", ua1: "7.2", ua2: "8.6"}
)

// Document checks the size of the pages, title and language.
func (c *Checker) Document(d *doc.Document) diag.List {
	l := append(c.PageSize(d.Page.Width, d.Page.Height), c.attachments(d)...)
	if !c.accessible() {
		if at := langClause.first(c.claims); at != "" && d.Lang != "" && !IsLanguage(d.Lang) {
			l.Add(noLanguage(d.Lang, at))
		}
		return l
	}
	if strings.TrimSpace(d.Title) == "" {
		l.Add(diag.Diagnostic{
			Code: "S001", Path: "title", Message: "the document has no title", Suggestion: "add title:",
			Clause: titleClause.first(c.claims),
		})
	}
	switch {
	case d.Lang == "":
		l.Add(diag.Diagnostic{
			Code: "S002", Path: "lang", Message: "the document has no language", Suggestion: "add lang:",
			Clause: langClause.first(c.claims),
		})
	case !IsLanguage(d.Lang):
		l.Add(noLanguage(d.Lang, langClause.first(c.claims)))
	}
	l = append(l, c.readable(d.Title, diag.Diagnostic{Path: "title"}, &readableClause)...)
	return l
}

func noLanguage(tag, at string) diag.Diagnostic {
	return diag.Diagnostic{Code: "S002", Path: "lang", Message: fmt.Sprintf("%q is not a language tag", tag), Clause: at}
}

// attachments judges whether the document may carry files, and must.
func (c *Checker) attachments(d *doc.Document) diag.List {
	var l diag.List
	switch {
	case archival(c.claims) == PDFA4f && len(d.Attachments) == 0:
		l.Add(diag.Diagnostic{
			Code: "S050", Path: "attach", Message: "pdf/a-4f is for documents that carry files", Suggestion: "claim pdf/a-4, or add attach:",
			Clause: needsFiles,
		})
	case len(d.Attachments) > 0 && noFiles(c.claims) != "":
		suggestion := "claim pdf/a-4f"
		message := " takes no files that are not PDF/A themselves"
		switch id := archival(c.claims); ids[id].part {
		case "1":
			message = " takes no attached files"
			fallthrough
		case "2":
			suggestion = "claim pdf/a-3" + strings.ToLower(ids[id].level)
		}
		l.Add(d.Attachments[0].Src.Place(diag.Diagnostic{
			Code: "S049", Path: "attach", Message: archival(c.claims).String() + message,
			Suggestion: suggestion, Clause: noFiles(c.claims),
		}))
	}
	return l
}

// needsFiles is where PDF/A-4f asks for attached files.
const needsFiles = "ISO 19005-4, annex A.2"

// noFiles is the clause by which a file with these claims carries no files of any kind; empty: it
// may.
func noFiles(claims []ID) string {
	switch id := archival(claims); {
	case id == 0 || id == PDFA4f || ids[id].part == "3":
		return ""
	case ids[id].part == "1":
		return "ISO 19005-1, 6.1.11"
	case ids[id].part == "2":
		return "ISO 19005-2, 6.8"
	default:
		return "ISO 19005-4, 6.9"
	}
}

// PageSize checks the size of a page; 0 is A4.
func (c *Checker) PageSize(width, height doc.Length) diag.List {
	var l diag.List
	const least, most = 3 * doc.Pt, 14_400 * doc.Pt
	for _, side := range [...]doc.Length{width, height} {
		if side == 0 || side >= least && side <= most {
			continue
		}
		if at := sizeClause.first(c.claims); at != "" {
			l.Add(diag.Diagnostic{
				Code: "S048", Path: "page.size", Message: fmt.Sprintf("a page side of %d pt; want 3 to 14,400", side/doc.Pt),
				Suggestion: "claim pdf/a-4", Clause: at,
			})
		}
	}
	return l
}

// Encryption checks whether the document is encrypted, which archives do not allow, and by a method
// that PDF 1.7 does not have.
func (c *Checker) Encryption() diag.List {
	var l diag.List
	switch {
	case Archival(c.claims):
		l.Add(diag.Diagnostic{
			Code: "S003", Path: "standard", Message: "a PDF/A document is not encrypted", Suggestion: "protect it or claim PDF/A, not both",
			Clause: encryptClause.first(c.claims),
		})
	case Version(c.claims) != cos.V20:
		l.Add(diag.Diagnostic{
			Code: "S003", Path: "standard", Message: "AES-256 is of PDF 2.0, which " + c.claims[0].String() + " is not", Suggestion: "claim pdf/ua-2",
			Clause: "ISO 32000-1, 7.6.1",
		})
	}
	return l
}

// Bookmark checks the title of an outline item.
func (c *Checker) Bookmark(title string, src *doc.Source) diag.List {
	return c.readable(title, src.Place(diag.Diagnostic{}), &readableClause)
}

// CMYK checks an image with uncalibrated CMYK: there is one output intent, and it is sRGB.
func (c *Checker) CMYK(src *doc.Source) diag.List {
	at := deviceClause.first(c.claims)
	if at == "" {
		return nil
	}
	return diag.List{src.Place(diag.Diagnostic{
		Code: "S047", Message: "a CMYK image without a colour profile", Suggestion: "save it with its ICC profile, or as RGB", Clause: at,
	})}
}

// readable judges a string that is read out to people.
func (c *Checker) readable(s string, d diag.Diagnostic, rule *clause) diag.List {
	for _, r := range s {
		if !IsPrivate(r) {
			continue
		}
		if d.Clause = rule.first(c.claims); d.Clause == "" {
			return nil
		}
		d.Code = "S030"
		d.Message = fmt.Sprintf("U+%04X of a private use area in %q has no meaning to a reader", r, s)
		return diag.List{d}
	}
	return nil
}

// Elem checks an element as it is made.
func (c *Checker) Elem(e *tag.Elem) diag.List {
	if len(c.claims) == 0 || e.Lang == "" && e.Type != tag.H && e.Type != tag.Figure {
		return nil // as most
	}
	return c.elem(e)
}

func (c *Checker) elem(e *tag.Elem) diag.List {
	var l diag.List
	if e.Lang != "" && !IsLanguage(e.Lang) {
		l.Add(e.Src.Place(diag.Diagnostic{
			Code: "S031", Message: fmt.Sprintf("%q is not a language tag", e.Lang), Clause: langClause.first(c.claims),
		}))
	}
	if !c.accessible() {
		return l
	}
	switch e.Type {
	case tag.H:
		if e.Level > c.level+1 {
			l.Add(e.Src.Place(diag.Diagnostic{
				Code:       "S020",
				Message:    fmt.Sprintf("heading of level %d after one of level %d", e.Level, c.level),
				Suggestion: fmt.Sprintf("use level: %d", c.level+1),
				Clause:     headingClause.first(c.claims),
			}))
		}
		if e.Level > tag.MostLevels17 && Version(c.claims) != cos.V20 {
			l.Add(e.Src.Place(diag.Diagnostic{
				Code:       "S021",
				Message:    fmt.Sprintf("heading of level %d; PDF 1.7 has 6", e.Level),
				Suggestion: "use level: 6, or claim pdf/ua-2",
				Clause:     headingClause.first(c.claims),
			}))
		}
		c.level = e.Level
	case tag.Figure:
		l = append(l, c.readable(e.Alt, e.Src.Place(diag.Diagnostic{}), &meaningClause)...)
		if e.Alt == "" {
			l.Add(e.Src.Place(diag.Diagnostic{
				Code: "S028", Message: "no alt text", Suggestion: "add alt: or decorative: true",
				Clause: altClause.first(c.claims),
			}))
		}
	}
	return l
}

// Text checks a word of real content.
func (c *Checker) Text(s string, src *doc.Source) diag.List {
	return c.readable(s, src.Place(diag.Diagnostic{}), &meaningClause)
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
