package standard

import (
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
)

// Nested is a structure element of an existing file with its surroundings. Types are standard ones;
// MathML represents all types of that namespace, and an empty one a type that is not mapped. Div,
// Part and NonStruct are transparent: their content also counts as content of their parent (ISO/TS
// 32005, 6.2).
type Nested struct {
	Kind    cos.Name
	In      cos.Name // the type of the parent; StructTreeRoot for the root of the tree
	Kids    []Kid    // in order
	Content bool     // it has content or annotations
	Formula bool     // it is inside a Formula or a type of MathML, at any depth
	// Numbering is ListNumbering of a list.
	Numbering cos.Name
}

// Kid is a child of an element.
type Kid struct {
	Kind     cos.Name
	Labelled bool // it has a Lbl
}

// mathML is the type of all elements of the namespace of MathML.
const mathML = "MathML"

// Nested checks an element by its parent and its children (ISO/TS 32005, table 5; ISO 14289-1, 7.2
// and 7.4.4, and 2, 8.2.5).
func (j *Judge) Nested(at cos.Ref, n Nested) {
	kids := make([]cos.Name, 0, len(n.Kids))
	labels := false
	for _, k := range n.Kids {
		labels = labels || k.Kind == "LI" && k.Labelled
		if k.Kind != "" {
			kids = append(kids, k.Kind)
		}
	}
	j.table5(at, n, kids)
	j.nested1(at, n, kids)
	sequence := func(c clause, wants ...string) {
		have := joined(kids)
		if !slices.Contains(wants, have) {
			j.find("S041", c, at, nil, "an element %s that holds %q, want %s", string(n.Kind), have, strings.Join(wants, " or "))
		}
	}
	switch n.Kind {
	case "Ruby":
		sequence(clause{ua2: "8.2.5.23"}, "RB RT", "RB RP RT RP")
	case "Warichu":
		sequence(clause{ua2: "8.2.5.24"}, "WP WT WP")
	case "L":
		if labels && (n.Numbering == "" || n.Numbering == "None") {
			j.find("S041", clause{ua2: "8.2.5.25"}, at, nil, "a list with labels that does not say how it is numbered (ListNumbering)")
		}
	case "LI":
		if n.Content {
			j.find("S041", clause{ua2: "8.2.5.25"}, at, nil, "content of a list item outside its Lbl and LBody")
		}
	case mathML:
		if !n.Formula {
			j.find("S040", clause{ua2: "8.2.5.29"}, at, nil, "an element of MathML that is in no Formula")
		}
	}
	for i, k := range kids {
		if k == "Caption" && i > 0 && i < len(kids)-1 {
			j.find("S041", clause{ua2: "8.2.5.27"}, at, nil, "a Caption that is neither the first nor the last of its %s", string(n.Kind))
		}
	}
	if count(kids, "H") > 1 {
		j.find("S020", clause{ua1: "7.4.4"}, at, nil, "an element with more than one heading H")
	}
}

func joined(kinds []cos.Name) string {
	var b strings.Builder
	for i, k := range kinds {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(string(k))
	}
	return b.String()
}

func count(kinds []cos.Name, kind cos.Name) (n int) {
	for _, k := range kinds {
		if k == kind {
			n++
		}
	}
	return n
}

// The parts of tables, lists and tables of contents: what they hold, and what holds them (ISO
// 32000-1, tables 333, 336 and 337).
var (
	partsHold = nestingOf(map[cos.Name]string{
		"Table": "TR THead TBody TFoot Caption", "THead": "TR", "TBody": "TR", "TFoot": "TR", "TR": "TH TD",
		"L": "L LI Caption", "LI": "Lbl LBody", "TOC": "TOC TOCI Caption",
	})
	partsIn = nestingOf(map[cos.Name]string{
		"TR": "Table THead TBody TFoot", "THead": "Table", "TBody": "Table", "TFoot": "Table", "TH": "TR", "TD": "TR",
		"LI": "L", "LBody": "LI", "TOCI": "TOC",
	})
)

// nested1 judges the parts of tables, lists and tables of contents by ISO 14289-1, 7.2.
func (j *Judge) nested1(at cos.Ref, n Nested, kids []cos.Name) {
	rule := clause{ua1: "7.2"}
	if within := partsIn[n.Kind]; within != nil && !within[n.In] {
		j.find("S040", rule, at, nil, "%s within %s", string(n.Kind), string(n.In))
	}
	for i, k := range kids {
		if partsHold[n.Kind] != nil && !partsHold[n.Kind][k] {
			j.find("S040", rule, at, nil, "%s within %s", string(k), string(n.Kind))
		}
		if (n.Kind == "L" || n.Kind == "TOC") && k == "Caption" && i > 0 {
			j.find("S041", rule, at, nil, "a Caption that is not the first of its %s", string(n.Kind))
		}
	}
	if n.Kind != "Table" {
		return
	}
	wrong := ""
	switch caption := slices.Index(kids, "Caption"); {
	case count(kids, "Caption") > 1:
		wrong = "more than one Caption"
	case caption > 0 && caption < len(kids)-1:
		wrong = "a Caption that is neither first nor last"
	case count(kids, "THead") > 1:
		wrong = "more than one THead"
	case count(kids, "TFoot") > 1:
		wrong = "more than one TFoot"
	case count(kids, "THead")+count(kids, "TFoot") > 0 && count(kids, "TBody") == 0:
		wrong = "a THead or TFoot and no TBody"
	default:
		return
	}
	j.find("S041", rule, at, nil, "a table with %s", wrong)
}
