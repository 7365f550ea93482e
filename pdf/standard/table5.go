package standard

import (
	"strings"
	"sync"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/internal/tag"
)

// The rows of ISO/TS 32005:2023, table 5, for files that are written and read. Most elements hold
// none of partsAlone, which are parts of certain others; rows with - hold all others but those that
// are named, and rows with + hold those that are named, with Artifact, NonStruct and Private. What
// is not here holds everything.
const (
	partsAlone = "LBody LI RB RP RT TBody TD TFoot TH THead TOCI TR WP WT"
	withWords  = "Annot BibEntry Em FENote Figure Form Formula Link Note Quote Reference Ruby Span Strong Warichu"
	withText   = "+" + withWords + " Lbl Sub Code"
	annotated  = "+Annot Em Form Link Quote Reference Span Strong Sub"
)

var mayHold = map[cos.Name]string{
	"StructTreeRoot":   "+Document",
	"Annot":            "-Document Index TOC",
	"Art":              "-Art BibEntry Document Em Quote Ruby Span Strong Sub Warichu",
	"Aside":            "-Aside BibEntry Em Quote Ruby Span Strong Sub Title Warichu",
	"BibEntry":         "+" + withWords + " Lbl Sub Div P Part",
	"BlockQuote":       "-Aside BibEntry Em Quote Ruby Span Strong Sub Title Warichu",
	"Caption":          "-Caption Document TOC Title",
	"Code":             "-Document H Hn TOC Title",
	"Document":         "-BibEntry Caption Em Lbl Quote Reference Ruby Span Strong Sub Warichu",
	"DocumentFragment": "-BibEntry Caption Em Lbl Quote Reference Ruby Span Strong Sub Warichu",
	"Em":               withText,
	"FENote":           "-Document H Hn TOC Title",
	"Figure":           "-Document DocumentFragment TOC Title",
	"Form":             "+BibEntry Caption Code Div FENote Figure Formula L Lbl Note Part Reference Table",
	"Formula":          "-Art Document DocumentFragment Sect TOC Title",
	"H":                withText + " Sect",
	"Hn":               withText + " Sect",
	"Index":            "+Annot Caption Div FENote Figure Formula H Hn L Note P Part Reference Sect Table",
	"L":                "+Caption L LI",
	"LBody":            "-Document DocumentFragment Lbl TOC Title",
	"LI":               "+Div LBody Lbl",
	"Lbl":              "+" + withWords + " Sub Code",
	"Link":             "-Document Index TOC",
	"Note":             "-Document H Hn TOC Title",
	"P":                withText + " L Table",
	"Quote":            withText + " Div",
	"RB":               annotated,
	"RP":               annotated,
	"RT":               annotated,
	"Reference":        "-Document Index TOC",
	"Ruby":             "+RB RP RT",
	"Sect":             "-BibEntry Document Em Quote Ruby Span Strong Sub Warichu",
	"Span":             withText,
	"Strong":           withText,
	"Sub":              "+" + withWords + " Lbl Code L",
	"TBody":            "+TR",
	"TD":               "-Aside BlockQuote Caption Document DocumentFragment Part Sub TOC Title",
	"TFoot":            "+TR",
	"TH":               "-Aside BlockQuote Caption Document DocumentFragment Part Sub TOC Title",
	"THead":            "+TR",
	"TOC":              "+Caption Part TOC TOCI",
	"TOCI":             "+Annot Div Lbl P Reference TOC",
	"TR":               "+TD TH",
	"Table":            "+Caption TBody TFoot THead TR",
	"Title":            "-Art BlockQuote Document DocumentFragment H Hn Index Sect Sub TOC Title",
	"WP":               annotated,
	"WT":               annotated,
	"Warichu":          "+WP WT",
}

// The elements that hold some others once at most (same table).
var holdsOnce = map[cos.Name]string{
	"Caption": "Art Artifact Aside BlockQuote Code Figure Form Formula Index L LBody Note TOC Table Title",
	"H":       "Art Artifact Aside BlockQuote Caption Document DocumentFragment Figure Formula LBody Sect TD TH",
	"Sect":    "H Hn",
	"TFoot":   "Table",
	"THead":   "Table",
}

// What elements hold only where they group others: without content and without elements of lines.
var holdsAsGroup = map[cos.Name]string{
	"Annot":     "Aside BlockQuote Caption DocumentFragment Form H Hn L P Part Reference Table Title",
	"Caption":   "DocumentFragment",
	"Code":      "DocumentFragment",
	"FENote":    "Caption DocumentFragment",
	"Figure":    "Sub",
	"Form":      "Code Figure Formula L Part Reference Table",
	"Link":      "Aside BlockQuote Caption DocumentFragment Form H Hn L P Part Table Title",
	"Note":      "DocumentFragment",
	"Quote":     "Div",
	"Reference": "Aside BlockQuote Caption DocumentFragment Form H Hn L P Part Table Title",
}

// The elements of lines (ISO 32000-2, 14.8.4.7).
const ofLines = "Span Em Strong Sub Ruby RB RP RT Warichu WT WP"

// nesting is a table of types by types.
type nesting map[cos.Name]map[cos.Name]bool

func nestingOf(rows map[cos.Name]string) nesting {
	out := nesting{}
	for kind, row := range rows {
		out[kind] = typesOf(row)
	}
	return out
}

func typesOf(list string) map[cos.Name]bool {
	out := map[cos.Name]bool{}
	for t := range strings.FieldsSeq(list) {
		out[cos.Name(t)] = true
	}
	return out
}

var (
	heldOnce    = sync.OnceValue(func() nesting { return nestingOf(holdsOnce) })
	heldByGroup = sync.OnceValue(func() nesting { return nestingOf(holdsAsGroup) })
	lines       = sync.OnceValue(func() map[cos.Name]bool { return typesOf(ofLines) })
	alone       = sync.OnceValue(func() map[cos.Name]bool { return typesOf(partsAlone) })
	rows5       = sync.OnceValue(func() nesting {
		rows := map[cos.Name]string{}
		for kind, row := range mayHold {
			rows[kind] = row[1:]
		}
		return nestingOf(rows)
	})
)

// holds reports whether table 5 lets an element of one type stand in one of another.
func holds(in, kind cos.Name) bool {
	row := mayHold[in]
	switch {
	case row == "" || kind == "" || kind == mathML:
		return true
	case row[0] == '-':
		return !alone()[kind] && !rows5()[in][kind]
	case kind == "NonStruct" || kind == "Private":
		return in != "StructTreeRoot"
	case kind == "Artifact":
		return in != "StructTreeRoot" && in != "Ruby" && in != "Warichu"
	default:
		return rows5()[in][kind]
	}
}

// pairs is what holds says of the types that are written: of that of the row, whether an element
// of it may hold one of that of the column.
type pairs [tag.NumTypes][tag.NumTypes]bool

var written = sync.OnceValue(func() *pairs {
	named := func(t tag.Type) cos.Name {
		if t == tag.H { // which has a level
			return "Hn"
		}
		return cos.Name(t.String())
	}
	out := new(pairs)
	for in := range tag.NumTypes {
		for kind := range tag.NumTypes {
			out[in][kind] = holds(named(in), named(kind))
		}
	}
	return out
})

// numbered returns a type as table 5 names it: that of headings of all levels is Hn.
func numbered(kind cos.Name) cos.Name {
	if len(kind) > 1 && kind[0] == 'H' && kind[1] >= '1' && kind[1] <= '9' {
		return "Hn"
	}
	return kind
}

// table5 judges an element by ISO/TS 32005, table 5.
func (j *Judge) table5(at cos.Ref, n Nested, kids []cos.Name) {
	in, kind := numbered(n.In), numbered(n.Kind)
	if !holds(in, kind) {
		j.find("S040", tableOfTypes, at, nil, "%s within %s", string(n.Kind), string(n.In))
	}
	if n.Content && withoutContent[kind] {
		j.find("S041", tableOfTypes, at, nil, "content in an element %s", string(kind))
	}
	grouping := !n.Content
	for _, k := range kids {
		grouping = grouping && !lines()[k]
	}
	group := heldByGroup()[kind]
	for _, k := range kids {
		switch of := numbered(k); {
		case group[of] && !grouping:
			j.find("S040", tableOfTypes, at, nil, "%s within %s next to text", string(k), string(kind))
		case (heldOnce()[k][kind] || k == "Caption" && group[k]) && count(kids, k) > 1:
			j.find("S040", tableOfTypes, at, nil, "more than one %s within %s", string(k), string(kind))
			return
		}
	}
}
