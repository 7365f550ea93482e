// Package standard knows the archival and accessibility standards that a
// document may claim: which go together, what each asks of the document, and
// at which clause. LEDGER-A4.md and LEDGER-UA2.md list every clause that is met,
// how, and the test that shows it.
package standard

import (
	"fmt"
	"slices"
	"strings"
)

// ID names a standard.
type ID uint8

// The standards.
const (
	PDFA4  ID = iota + 1 // ISO 19005-4:2020
	PDFUA2               // ISO 14289-2:2024
)

var names = [...]string{PDFA4: "pdf/a-4", PDFUA2: "pdf/ua-2"}

// String returns the name that templates use, as in "pdf/a-4".
func (id ID) String() string {
	if int(id) < len(names) && names[id] != "" {
		return names[id]
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
func Names() []string { return slices.Clone(names[1:]) }

// Parse returns the standard with the given name.
func Parse(name string) (ID, error) {
	for i, n := range names {
		if n != "" && n == name {
			return ID(i), nil
		}
	}
	return 0, fmt.Errorf("standard %q: unknown; there are %s", name, strings.Join(Names(), ", "))
}

// Set returns the given standards sorted, each once. Every pair of those there
// are can be met by one file: both are of PDF 2.0.
func Set(ids ...ID) []ID {
	out := slices.Clone(ids)
	slices.Sort(out)
	return slices.Compact(out)
}
