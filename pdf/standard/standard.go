// Package standard has the archival and accessibility standards that a document may claim: which
// can be combined, and what each requires, by clause. The ledgers (LEDGER-A1.md, LEDGER-A2.md,
// LEDGER-A4.md, LEDGER-UA1.md and LEDGER-UA2.md) list every clause that is met, how, and the test
// that proves it.
package standard

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/quire/pdf/cos"
)

// ID names a standard.
type ID uint8

// The standards. Those of PDF/A come first.
const (
	PDFA1b ID = iota + 1 // ISO 19005-1:2005, level B: it looks the same for ever
	PDFA1a               // level A: and it has a structure tree, and its text is Unicode
	PDFA2b               // ISO 19005-2:2011, level B
	PDFA2u               // level U: and its text is Unicode
	PDFA2a               // level A: and it has a structure tree
	PDFA3b               // ISO 19005-3:2012, level B
	PDFA3u               // level U
	PDFA3a               // level A
	PDFA4                // ISO 19005-4:2020
	PDFA4f               // ISO 19005-4:2020, annex A: with files of any kind
	PDFA4e               // ISO 19005-4:2020, annex B: for engineering
	PDFUA1               // ISO 14289-1:2014
	PDFUA2               // ISO 14289-2:2024
)

// ids says of each standard its name in templates, its number at ISO, the version of
// PDF that it is built on, which is that of the file, and the part and the level of
// conformance that metadata name.
var ids = [...]struct {
	name        string
	iso         string
	version     cos.Version
	part, level string
}{
	PDFA1b: {"pdf/a-1b", "ISO 19005-1", cos.V14, "1", "B"},
	PDFA1a: {"pdf/a-1a", "ISO 19005-1", cos.V14, "1", "A"},
	PDFA2b: {"pdf/a-2b", "ISO 19005-2", cos.V17, "2", "B"},
	PDFA2u: {"pdf/a-2u", "ISO 19005-2", cos.V17, "2", "U"},
	PDFA2a: {"pdf/a-2a", "ISO 19005-2", cos.V17, "2", "A"},
	PDFA3b: {"pdf/a-3b", "ISO 19005-3", cos.V17, "3", "B"},
	PDFA3u: {"pdf/a-3u", "ISO 19005-3", cos.V17, "3", "U"},
	PDFA3a: {"pdf/a-3a", "ISO 19005-3", cos.V17, "3", "A"},
	PDFA4:  {"pdf/a-4", "ISO 19005-4", cos.V20, "4", ""},
	PDFA4f: {"pdf/a-4f", "ISO 19005-4", cos.V20, "4", "F"},
	PDFA4e: {"pdf/a-4e", "ISO 19005-4", cos.V20, "4", "E"},
	PDFUA1: {"pdf/ua-1", "ISO 14289-1", cos.V17, "1", ""},
	PDFUA2: {"pdf/ua-2", "ISO 14289-2", cos.V20, "2", ""},
}

func (id ID) known() bool { return id > 0 && int(id) < len(ids) }

// Archival reports whether id is a part of PDF/A.
func (id ID) Archival() bool { return id.known() && id < PDFUA1 }

// Accessible reports whether id is a part of PDF/UA.
func (id ID) Accessible() bool { return id.known() && id >= PDFUA1 }

// String returns the name that templates use, as in "pdf/a-4".
func (id ID) String() string {
	if id.known() {
		return ids[id].name
	}
	return fmt.Sprintf("standard(%d)", uint8(id))
}

// MarshalText writes the name.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads a name.
func (id *ID) UnmarshalText(b []byte) error {
	v, err := Parse(string(b))
	if err != nil {
		return err
	}
	*id = v
	return nil
}

// Names returns the names of all standards, in the order of their IDs.
func Names() []string {
	var names []string
	for _, s := range ids[1:] {
		names = append(names, s.name)
	}
	return names
}

// Parse returns the standard with the given name.
func Parse(name string) (ID, error) {
	for id := range ids {
		if id > 0 && ids[id].name == name {
			return ID(id), nil
		}
	}
	return 0, fmt.Errorf("standard %q: unknown; there are %s", name, strings.Join(Names(), ", "))
}

// ErrConflict is what errors.Is finds when standards cannot be met by one file.
var ErrConflict = errors.New("the standards exclude each other")

// Set returns the given standards sorted, each once. Two that no file can claim together
// are an error that wraps ErrConflict and says why: a file has one version of PDF, and its
// metadata name one part of PDF/A and one of PDF/UA.
func Set(claims ...ID) ([]ID, error) {
	out := slices.Clone(claims)
	slices.Sort(out)
	out = slices.Compact(out)
	for i, id := range out {
		if !id.known() {
			return nil, fmt.Errorf("%s: unknown; there are %s", id, strings.Join(Names(), ", "))
		}
		for _, before := range out[:i] {
			if why := conflict(before, id); why != "" {
				return nil, fmt.Errorf("%s and %s: %s: %w", before, id, why, ErrConflict)
			}
		}
	}
	return out, nil
}

func conflict(a, b ID) string {
	switch {
	case a.Archival() && b.Archival():
		return "a file names one part of PDF/A"
	case a.Accessible() && b.Accessible():
		return "a file names one part of PDF/UA"
	case a == PDFA1a && b == PDFUA1:
		return "the parts of tables have other roles in each"
	case a == PDFA1b && b == PDFUA1: // which takes every version of PDF 1
	case ids[a].version != ids[b].version:
		return fmt.Sprintf("%s is of PDF %s, %s of PDF %s", a, ids[a].version, b, ids[b].version)
	}
	return ""
}

// Version returns the version of PDF that a file has which claims what Set returned: 2.0
// without a claim.
func Version(claims []ID) cos.Version {
	if len(claims) == 0 {
		return cos.V20
	}
	return ids[claims[0]].version // part 1 of PDF/A, of PDF 1.4, comes before PDF/UA-1
}

// archival returns the part of PDF/A among claims, 0 for none.
func archival(claims []ID) ID {
	if i := slices.IndexFunc(claims, ID.Archival); i >= 0 {
		return claims[i]
	}
	return 0
}

// first1 reports whether claims are of part 1 of PDF/A: of PDF 1.4, without transparency.
func first1(claims []ID) bool { return ids[archival(claims)].part == "1" }

// Archival reports whether one of claims is a part of PDF/A, which requires an output intent.
func Archival(claims []ID) bool { return archival(claims) != 0 }

// clause is where standards state a rule; an empty one is no rule of that standard, and
// one that begins with ISO is of a standard that this one refers to. Parts 2 and 3 of ISO
// 19005 number their clauses alike; a2 is of all their levels, unicode of U and A, and tagged
// of A alone; a3 is of part 3 alone. Of part 1, a1 is of both levels and tagged1 of A alone.
type clause struct{ a1, tagged1, a2, a3, unicode, tagged, a4, ua1, ua2 string }

func (c *clause) of(id ID) string {
	s := ""
	switch {
	case id == PDFUA1:
		s = c.ua1
	case id == PDFUA2:
		s = c.ua2
	case !id.known():
	case ids[id].part == "1":
		if s = c.a1; s == "" && id == PDFA1a {
			s = c.tagged1
		}
	case ids[id].part == "4":
		s = c.a4
	default:
		if s = c.a2; s == "" && ids[id].part == "3" {
			s = c.a3
		}
		if level := ids[id].level; s == "" && level != "B" {
			if s = c.unicode; s == "" && level == "A" {
				s = c.tagged
			}
		}
	}
	if s == "" || strings.HasPrefix(s, "ISO") {
		return s
	}
	return ids[id].iso + ", " + s
}

// first returns the clause of the last of claims that has the rule: that of PDF/UA goes
// before that of PDF/A.
func (c *clause) first(claims []ID) string {
	for _, id := range slices.Backward(claims) {
		if s := c.of(id); s != "" {
			return s
		}
	}
	return ""
}
