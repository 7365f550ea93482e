package edit

import (
	"bytes"
	"fmt"
	"io"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/sign"
	"example.com/quire/pdf/standard"
)

// signatures shows the signatures of the fields, each once (ISO 32000-2, 12.8).
func (c *checker) signatures() error {
	certified := c.e.resolve(c.e.dict(c.e.catalog().Get("Perms")).Get("DocMDP")) != nil
	seen := map[uint32]bool{}
	for _, f := range c.e.fields() {
		if f.kind != "Sig" {
			continue
		}
		o := f.dict.Get("V")
		r, d := refOf(o), c.e.dict(o)
		if d == nil || !r.IsZero() && seen[r.Num] {
			continue
		}
		if seen[r.Num] = true; r.IsZero() {
			r = f.ref
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		s := signed{field: f, value: d}
		shown := standard.Signature{Certified: certified, Extent: c.e.extent(&s)}
		if c.left -= 1 + len(s.contents)/bytesOfOperator; c.left < 0 {
			return c.tooMuch(r)
		}
		if shown.Extent == "" && !c.e.endsRevision(s.end) {
			shown.Extent = "its byte range ends elsewhere than a revision of the file"
		}
		form, err := sign.FormOf(s.contents)
		switch {
		case c.e.base.unsigned > 0 && s.from == c.e.base.unsigned: // it has none yet
		case err != nil:
			shown.Form = err.Error()
		case form.Signers != 1:
			shown.Form = fmt.Sprintf("%d signers, want one", form.Signers)
		case !form.Certified:
			shown.Form = "the certificate of the signer is not there"
		}
		refs := c.e.array(d.Get("Reference"))
		c.left -= len(refs)
		for _, o := range refs {
			ref := c.e.dict(o)
			for _, key := range [...]cos.Name{"DigestLocation", "DigestMethod", "DigestValue"} {
				if ref.Get(key) != nil {
					shown.Digest = key
				}
			}
		}
		c.j.Signature(r, shown)
	}
	return nil
}

// endsRevision reports whether what is signed up to end is a whole revision: nothing of the file
// follows, not even a line end, or another revision does.
func (e *Draft) endsRevision(end int64) bool {
	rest := make([]byte, min(e.base.Size-end, 3))
	if _, err := io.ReadFull(io.NewSectionReader(e.base.File, end, int64(len(rest))), rest); err != nil {
		return false
	}
	return e.endsAt(end) && (len(rest) == 0 || len(rest) == 3 || len(bytes.Trim(rest, "\r\n")) > 0)
}
