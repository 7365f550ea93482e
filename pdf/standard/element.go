package standard

import (
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/tag"
)

// Heading checks the level of a heading of an existing file, in reading order, in which elements do
// not close. The level of a written heading is checked when it is made. Level 0 is that of H.
func (j *Judge) Heading(at cos.Ref, level int) {
	switch {
	case level == 0:
		j.find("S020", clause{ua2: "8.2.5.12"}, at, nil, "a heading H, which has no level")
		if j.level > 0 {
			j.find("S020", clause{ua1: "7.4.4"}, at, nil, "a heading H among those with levels")
		}
		j.unlevelled = true
		return
	case j.unlevelled:
		j.find("S020", clause{ua1: "7.4.4"}, at, nil, "a heading H%d among those without levels", level)
	case level > j.level+1:
		j.find("S020", clause{ua1: "7.4.2"}, at, nil, "a heading of level %d after one of level %d", level, j.level)
	}
	j.level = level
}

// Elem checks a complete structure element. Order and levels of headings are checked elsewhere,
// because elements close in another order than they are read.
func (j *Judge) Elem(e *tag.Elem) {
	if len(j.claims) == 0 {
		return
	}
	cell := e.Type == tag.TD || e.Type == tag.TH && e.Scope != tag.ScopeNone
	if cell && e.Parent != nil && e.Parent.Type == tag.TR && e.Lang == "" && e.Alt == "" {
		return // right in every standard, and most elements are such
	}
	j.elem(e)
}

func (j *Judge) elem(e *tag.Elem) {
	if !j.read && e.Parent != nil && e.Parent.Parent != nil && !written()[e.Parent.Type][e.Type] { // else Nested judges it
		c := tableOfTypes
		if tabular(e.Type) || tabular(e.Parent.Type) { // PDF 1.7 has rules for tables and lists only
			c.ua1 = "7.2"
		}
		j.find("S040", c, e.Ref(), e.Src, "%s within %s", e.Type, e.Parent.Type)
	}
	if e.Lang != "" {
		j.Language(e.Ref(), e.Lang, e.Src)
	}
	switch e.Type {
	case tag.Form:
		elems, content, annotations := e.Holds()
		c := clause{ua1: "7.18.4"}
		if annotations > 1 {
			c.ua2 = "8.10.1"
		}
		if annotations > 1 || !e.Printed && (annotations != 1 || elems+content > 0) {
			j.find("S041", c, e.Ref(), e.Src, "an element Form that does not hold one form field alone")
		}
	case tag.Figure:
		if e.Alt == "" && e.Instead == tag.NothingInstead || e.Instead == tag.EmptyAlt && !slices.Contains(j.claims, PDFUA2) {
			j.find("S028", clause{ua1: "7.3", ua2: "8.2.5.28.2"}, e.Ref(), e.Src, "a figure without alternative text")
		}
	case tag.TR:
		if elems, _, _ := e.Holds(); !j.read && elems == 0 {
			j.find("S041", clause{ua1: "7.5", ua2: "8.2.5.26"}, e.Ref(), e.Src, "a table row without cells")
		}
	case tag.LI:
		if _, content, _ := e.Holds(); content > 0 {
			j.find("S041", clause{ua1: "7.6", ua2: "8.2.5.25"}, e.Ref(), e.Src, "content of a list item outside its Lbl and LBody")
		}
	case tag.TH:
		if !j.read && e.Scope == tag.ScopeNone { // else Table judges it
			j.find("S041", clause{ua1: "7.5", ua2: "8.2.5.26"}, e.Ref(), e.Src, "a header cell without Scope")
		}
	}
	if strings.ContainsFunc(e.Alt, IsPrivate) {
		j.find("S030", clause{ua1: "7.2", ua2: "8.4.3"}, e.Ref(), e.Src, "a private use character in alternative text")
	}
}

// Language checks the value of Lang of an element or of a marked-content sequence.
func (j *Judge) Language(at cos.Ref, lang string, src *doc.Source) {
	rule := langClause
	if lang == "" { // archives take one that is not known
		rule.tagged1, rule.tagged = "", ""
	}
	if !IsLanguage(lang) {
		j.find("S031", rule, at, src, "%q is not a language tag", lang)
	}
}

// Replaced checks the texts that replace an element or a marked-content sequence.
func (j *Judge) Replaced(at cos.Ref, actual, alt string) {
	if strings.ContainsFunc(actual, IsPrivate) {
		j.find("S030", clause{a4: "6.2.10.8", ua2: "8.4.3"}, at, nil, "a private use character in a replacement text")
	}
	if strings.ContainsFunc(alt, IsPrivate) {
		j.find("S030", clause{ua2: "8.4.3"}, at, nil, "a private use character in an alternative text")
	}
}

// tabular reports whether a type is a part of tables, lists or tables of contents.
func tabular(t tag.Type) bool {
	switch t {
	case tag.Table, tag.THead, tag.TBody, tag.TFoot, tag.TR, tag.TH, tag.TD, tag.L, tag.LI, tag.LBody, tag.TOC, tag.TOCI:
		return true
	default:
		return false
	}
}
