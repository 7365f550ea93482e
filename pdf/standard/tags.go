package standard

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
)

// RoleFault is an error in the mapping of a structure element's type to a standard one (ISO
// 32000-2, 14.7.3).
type RoleFault uint8

// The faults.
const (
	RoleFound          RoleFault = iota // none
	RoleMissing                         // it is not mapped
	RoleCircular                        // it is mapped to itself in the end
	RoleOfStandardType                  // a standard type is mapped to another
	RoleOfItself                        // a standard type is mapped to itself
)

// Role checks the role mapping of a structure element.
func (j *Judge) Role(at cos.Ref, kind cos.Name, fault RoleFault) {
	c := clause{tagged1: "6.8.3.4", tagged: "6.7.3.4", ua1: "7.1", ua2: "8.2.4"}
	switch fault {
	case RoleFound:
	case RoleMissing:
		j.find("S040", c, at, nil, "the type %s is neither a standard one nor mapped to one", string(kind))
	case RoleCircular:
		j.find("S040", c, at, nil, "the type %s is mapped in a circle", string(kind))
	case RoleOfItself: // a circle too, which PDF/A forbids of other types only
		j.find("S040", clause{ua1: c.ua1, ua2: c.ua2}, at, nil, "the standard type %s is mapped to itself", string(kind))
	case RoleOfStandardType:
		c.tagged1 = "" // part 1 does not forbid it
		j.find("S040", c, at, nil, "the standard type %s is mapped to another", string(kind))
	}
}

// Grid is an error in the cells of a table of an existing file.
type Grid struct {
	Irregular string // empty: nothing
	// Crossing reports a cell that extends beyond its row group, which PDF 2.0 does not allow.
	Crossing string
	// Headless says that a cell has no header by Headers and Scope, HeadlessByDefault that it has
	// none either where header cells without a Scope have the one of their place (ISO 32000-2,
	// table 384).
	Headless, HeadlessByDefault bool
}

// Table checks the cells of a table of an existing file.
func (j *Judge) Table(at cos.Ref, g Grid) {
	if g.Irregular != "" {
		j.find("S041", clause{ua1: "7.2", ua2: "8.2.5.26"}, at, nil, "an irregular table: %s", g.Irregular)
	}
	if g.Crossing != "" {
		j.find("S041", clause{ua2: "8.2.5.26"}, at, nil, "an irregular table: %s", g.Crossing)
	}
	if g.Headless {
		j.find("S041", clause{ua1: "7.5"}, at, nil, "a table with a cell without a header (Scope or Headers)")
	}
	if g.HeadlessByDefault {
		j.find("S041", clause{ua2: "8.2.5.26"}, at, nil, "a table with a cell without a header (Scope or Headers)")
	}
}

// Formula checks a formula, which needs a description or a replacement text.
func (j *Judge) Formula(at cos.Ref, described bool) {
	if !described {
		j.find("S028", clause{ua1: "7.7"}, at, nil, "a formula without alternative text")
	}
}

// Note checks an element Note by its ID; again says that another note has the same.
func (j *Judge) Note(at cos.Ref, id string, again bool) {
	j.find("S041", clause{ua2: "8.2.5.14"}, at, nil, "an element Note, in whose place there is FENote")
	switch {
	case id == "":
		j.find("S041", clause{ua1: "7.9"}, at, nil, "a note without ID")
	case again:
		j.find("S041", clause{ua1: "7.9"}, at, nil, "two notes of one ID")
	}
}

// NoteType checks the NoteType of an element FENote.
func (j *Judge) NoteType(at cos.Ref, t cos.Name) {
	if t != "Footnote" && t != "Endnote" && t != "None" {
		j.find("S041", clause{ua2: "8.2.5.14"}, at, nil, "a note of the type %s", string(t))
	}
}

// Citation reports an element FENote that refers to an element that does not refer to it, or vice
// versa.
func (j *Judge) Citation(at cos.Ref) {
	j.find("S041", clause{ua2: "8.2.5.14"}, at, nil, "a note and what refers to it do not refer to each other")
}

// Unspoken reports a text without a language, in a file whose catalog has none (ISO 14289-1, 7.2).
func (j *Judge) Unspoken(at cos.Ref, what string) {
	j.find("S002", clause{ua1: "7.2"}, at, nil, "%s in a language that nothing names", what)
}

// tableOfTypes says which elements may hold which, and which may hold content.
var tableOfTypes = clause{ua2: "ISO/TS 32005, 6.2"}

// withoutContent are the types that hold elements alone.
var withoutContent = map[cos.Name]bool{
	"Art": true, "Document": true, "DocumentFragment": true, "Index": true, "L": true, "Sect": true, "TBody": true, "TFoot": true, "THead": true,
	"TOC": true, "TOCI": true, "TR": true, "Table": true,
}

// Root checks the root of the structure tree: it has one element Document of the namespace of PDF
// 2.0. kinds are the standard types of the first two elements.
func (j *Judge) Root(at cos.Ref, kinds []cos.Name, second bool) {
	rule := clause{ua2: "8.2.5.2"}
	switch {
	case len(kinds) != 1 || kinds[0] != "Document":
		j.find("S040", rule, at, nil, "a structure tree that is not of one element Document")
		j.find("S040", tableOfTypes, at, nil, "a structure tree that is not of one element Document")
	case !second:
		j.find("S040", rule, at, nil, "an element Document that is not of the namespace of PDF 2.0")
	}
}

// Destination checks a destination within the file.
func (j *Judge) Destination(at cos.Ref, structured bool) {
	if !structured {
		j.find("S044", clause{ua2: "8.8"}, at, nil, "a destination that is not a structure destination")
	}
}

// Rich checks the text of a markup annotation, whose rich text must say the same as its Contents if
// it has both (ISO 14289-2, 8.9.2.3).
func (j *Judge) Rich(at cos.Ref, rich []byte, contents string) {
	if !sameText(rich, contents) {
		j.find("S044", clause{ua2: "8.9.2.3"}, at, nil, "an annotation whose rich text is not its Contents")
	}
}

// sameText reports whether a rich text, in XML, says what a plain one says.
func sameText(rich []byte, plain string) bool {
	var text strings.Builder
	elements := false
	d := xml.NewDecoder(bytes.NewReader(rich))
	for {
		t, err := d.Token()
		switch t := t.(type) {
		case xml.StartElement:
			elements = true
		case xml.CharData:
			text.Write(t)
		}
		if err == io.EOF { //nolint:errorlint // as Token says
			return elements && slices.Equal(strings.Fields(text.String()), strings.Fields(plain))
		}
		if err != nil {
			return false
		}
	}
}

// Contents checks an item of a table of contents, which refers to its target, directly or by an
// element inside it (ISO 14289-2, 8.2.5.8).
func (j *Judge) Contents(at cos.Ref, refers bool) {
	if !refers {
		j.find("S041", clause{ua2: "8.2.5.8"}, at, nil, "an item of a table of contents that refers to nothing (Ref)")
	}
}

// Orphan reports a structure element without P, which names its parent.
func (j *Judge) Orphan(at cos.Ref) {
	j.find("S040", clause{ua1: "7.1", ua2: "8.2.1"}, at, nil, "a structure element that does not name its parent (P)")
}

// Twice reports a structure element with two parents, of which P names one (ISO 32000-1, 14.7.2,
// and 2, 14.7.2: the elements are a tree).
func (j *Judge) Twice(at cos.Ref) {
	j.find("S040", clause{ua1: "7.1", ua2: "8.2.1"}, at, nil, "a structure element that is in two places of the tree")
}

// Replacement describes a text that replaces content, of a sequence or of elements around it.
type Replacement struct {
	Actual, Alt bool
	Artifact    bool // it is not real content
}

// Private checks a code of text that represents a character of a private use area (ISO 19005-2,
// 6.2.11.7.3; ISO 14289-2, 8.4.3).
func (j *Judge) Private(font cos.Ref, name string, code []byte, r Replacement) {
	var rule clause
	if !r.Actual {
		if rule.tagged = "6.2.11.7.3"; !r.Alt && !r.Artifact {
			rule.ua2 = "8.4.3"
		}
	}
	j.find("S030", rule, font, nil, "the code %X of the font %s, a private use character without another text in its place", code, name)
}
