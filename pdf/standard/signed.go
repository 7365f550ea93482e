package standard

import "example.com/quire/pdf/cos"

// Signature is a digital signature of a file that is read.
type Signature struct {
	// Extent describes what is wrong with the bytes that it covers, Form with its contents; empty:
	// nothing.
	Extent, Form string
	// Digest is a key of one of its signature references that has a digest; empty: none has.
	Digest cos.Name
	// Certified says that the catalog has the permission DocMDP.
	Certified bool
}

// Signature checks a signature (ISO 19005-2, 6.4.3 and 6.1.12). Parts 1 and 4 have no rules for
// these.
func (j *Judge) Signature(r cos.Ref, s Signature) {
	rule := clause{a2: "6.4.3"}
	if s.Extent != "" {
		j.find("S058", rule, r, nil, "a signature that does not cover the whole file: %s", s.Extent)
	}
	if s.Form != "" {
		j.find("S058", rule, r, nil, "a signature whose contents are not as the standard asks: %s", s.Form)
	}
	if s.Certified && s.Digest != "" {
		j.find("S058", clause{a2: "6.1.12"}, r, nil, "a signature reference with %s in a file with the permission DocMDP", string(s.Digest))
	}
}
