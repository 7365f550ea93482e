package compile

import (
	"example.com/quire/internal/strictyaml"
	"example.com/quire/pdf/doc"
)

// signing is what a template says of the signature.
type signing struct {
	out                             doc.Signing
	name, reason, location, contact *plainText
}

// signing reads `sign:`. The key has a name there, and nothing else: a template carries none.
func (c *compiler) signing(n *strictyaml.Node) {
	if n == nil {
		return
	}
	o, ok := c.object(n, "sign", "a signing")
	if !ok {
		return
	}
	s := &signing{out: doc.Signing{Src: c.source(n, "sign")}}
	literal := func(n *strictyaml.Node, path string) string {
		word, _ := c.word(n, path)
		return word
	}
	mustHave(o, "signer", &s.out.Signer, literal)
	mayHave(o, "field", &s.out.Field, literal)
	mayHave(o, "name", &s.name, c.plain)
	mayHave(o, "reason", &s.reason, c.plain)
	mayHave(o, "location", &s.location, c.plain)
	mayHave(o, "contact", &s.contact, c.plain)
	if v := o.get("level"); v != nil {
		s.out.Level = doc.LevelBB + oneOf[doc.SignatureLevel](c, "B-B", "B-T")(v, o.at("level"))
	}
	if v := o.get("certify"); v != nil {
		s.out.Certify = doc.CertifyNoChanges + oneOf[doc.Certification](c, "none", "fill", "annotate")(v, o.at("certify"))
	}
	o.done()
	c.plan.signing = s
}

// signatureLines reads a list of lines by their names.
func (c *compiler) signatureLines(n *strictyaml.Node, path string) []doc.SignatureLine {
	if n.Kind != strictyaml.Sequence {
		c.bad(n, path, codeWrong, "", "want a list, got %s", n.Kind)
	}
	lines := []doc.SignatureLine{}
	for i, v := range n.Items {
		lines = append(lines, oneOf[doc.SignatureLine](c, "name", "time", "reason", "location")(v, index(path, i)))
	}
	return lines
}

// Signer returns the name of the signer that the template asks for; empty: none.
func (p *Plan) Signer() string {
	if p.signing == nil {
		return ""
	}
	return p.signing.out.Signer
}

// signing fills in the texts.
func (r *render) signing(s *signing) (*doc.Signing, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // no signature is no error
	}
	out := s.out
	for _, t := range [...]struct {
		from *plainText
		to   *string
	}{{s.name, &out.Name}, {s.reason, &out.Reason}, {s.location, &out.Location}, {s.contact, &out.Contact}} {
		if t.from == nil {
			continue
		}
		var err error
		if *t.to, err = r.plain(t.from); err != nil {
			return nil, err
		}
	}
	return &out, nil
}
