package standard

import (
	"slices"

	"example.com/quire/pdf/cos"
)

// RoleFault is what is wrong with how the type of a structure element is mapped to a standard one
// (ISO 32000-2, 14.7.3).
type RoleFault uint8

// The faults.
const (
	RoleFound          RoleFault = iota // none
	RoleMissing                         // it is not mapped
	RoleCircular                        // it is mapped to itself in the end
	RoleOfStandardType                  // a standard type is mapped to another
)

// Role judges how the type of a structure element is mapped.
func (j *Judge) Role(at cos.Ref, kind cos.Name, fault RoleFault) {
	c := clause{tagged1: "6.8.3.4", tagged: "6.7.3.4", ua1: "7.1", ua2: "8.2.4"}
	switch fault {
	case RoleFound:
	case RoleMissing:
		j.find("S040", c, at, nil, "the type %s is neither a standard one nor mapped to one", string(kind))
	case RoleCircular:
		j.find("S040", c, at, nil, "the type %s is mapped in a circle", string(kind))
	case RoleOfStandardType:
		c.tagged1 = "" // part 1 does not forbid it
		j.find("S040", c, at, nil, "the standard type %s is mapped to another", string(kind))
	}
}

// Table judges a table that is read: irregular tells what is wrong with its grid, and parts are the
// types of what it is made of.
func (j *Judge) Table(at cos.Ref, irregular string, parts []cos.Name) {
	if irregular != "" {
		j.find("S041", clause{ua1: "7.2", ua2: "8.2.5.26"}, at, nil, "an irregular table: %s", irregular)
	}
	count := map[cos.Name]int{}
	for _, p := range parts {
		count[p]++
	}
	wrong := ""
	switch caption := slices.Index(parts, "Caption"); {
	case count["Caption"] > 1:
		wrong = "more than one Caption"
	case caption > 0 && caption < len(parts)-1:
		wrong = "a Caption that is neither first nor last"
	case count["THead"] > 1:
		wrong = "more than one THead"
	case count["TFoot"] > 1:
		wrong = "more than one TFoot"
	case count["THead"]+count["TFoot"] > 0 && count["TBody"] == 0:
		wrong = "a THead or TFoot and no TBody"
	default:
		return
	}
	j.find("S041", clause{ua1: "7.2"}, at, nil, "a table with %s", wrong)
}

// Formula judges a formula, which is described or has a text in its place.
func (j *Judge) Formula(at cos.Ref, described bool) {
	if !described {
		j.find("S028", clause{ua1: "7.7"}, at, nil, "a formula without alternative text")
	}
}

// Note judges an element Note by its ID; again says that another has the same.
func (j *Judge) Note(at cos.Ref, id string, again bool) {
	j.find("S041", clause{ua2: "8.2.5.14"}, at, nil, "an element Note, in whose place there is FENote")
	switch {
	case id == "":
		j.find("S041", clause{ua1: "7.9"}, at, nil, "a note without ID")
	case again:
		j.find("S041", clause{ua1: "7.9"}, at, nil, "two notes of one ID")
	}
}

// NoteType judges what an element FENote says that it is.
func (j *Judge) NoteType(at cos.Ref, t cos.Name) {
	if t != "Footnote" && t != "Endnote" && t != "None" {
		j.find("S041", clause{ua2: "8.2.5.14"}, at, nil, "a note of the type %s", string(t))
	}
}

// Citation tells of an element FENote that refers to what does not refer to it, or the other way
// round.
func (j *Judge) Citation(at cos.Ref) {
	j.find("S041", clause{ua2: "8.2.5.14"}, at, nil, "a note and what refers to it do not refer to each other")
}
