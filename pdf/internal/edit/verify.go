package edit

import (
	"cmp"
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/sign"
)

// Verdict tells what a signature proves.
type Verdict struct {
	Field string `json:"field"`
	// Valid says that everything below is as it should be: the signature is intact, all changes
	// since are allowed, and the signer is trusted.
	Valid bool `json:"valid"`
	// Integrity is intact, broken or unknown (an algorithm or a form that is not known).
	Integrity string `json:"integrity"`
	// CoversFile says that nothing was written behind the revision that is signed.
	CoversFile bool `json:"covers_file"`
	Revision   int  `json:"revision,omitempty"` // that is signed, from 1
	// Later is none, allowed, forbidden or unknown: what was done to the file since.
	Later   string   `json:"later"`
	Changes []Change `json:"changes,omitempty"`
	// Trust is trusted, untrusted or expired: what the chain of certificates says by the roots
	// given.
	Trust string `json:"trust"`
	// Reasons say why the verdict is as it is.
	Reasons []string `json:"reasons"`

	Signer    *Party     `json:"signer,omitempty"`
	Algorithm string     `json:"algorithm,omitempty"`
	Level     string     `json:"level,omitempty"`   // B-B, B-T, timestamp, or basic for signatures that are no PAdES
	Claimed   string     `json:"claimed,omitempty"` // when it was made, as its maker says
	Stamped   *time.Time `json:"stamped,omitempty"` // when it was there, as a timestamp proves
	Stamper   *Party     `json:"stamper,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	Location  string     `json:"location,omitempty"`
	// Certifies is what changes the author allows: 1 none, 2 filling and signing, 3 notes too; 0:
	// it is no certification.
	Certifies int `json:"certifies,omitempty"`
}

// Party is who a certificate names.
type Party struct {
	Name   string    `json:"name"`
	Issuer string    `json:"issuer"`
	Serial string    `json:"serial"` // hexadecimal
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
}

func party(c *x509.Certificate) *Party {
	return &Party{Name: c.Subject.String(), Issuer: c.Issuer.String(), Serial: c.SerialNumber.Text(16), From: c.NotBefore, To: c.NotAfter}
}

// Trust says whom to believe, and when.
type Trust struct {
	Roots []*x509.Certificate
	At    time.Time // zero: now
}

// Verify judges the signatures of a file, in the order in which they were made.
func (d *Document) Verify(ctx context.Context, t Trust, o Options) ([]Verdict, error) {
	e := NewDraft(d)
	if t.At.IsZero() {
		t.At = time.Now()
	}
	roots := x509.NewCertPool()
	for _, c := range t.Roots {
		roots.AddCert(c)
	}
	out := []Verdict{}
	for _, s := range e.signatures() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := verifier{e: e, s: &s, t: t, roots: roots, o: o}
		v.v.Field = s.name
		v.run()
		v.v.Valid = v.v.Integrity == "intact" && v.v.Trust == "trusted" && (v.v.Later == "none" || v.v.Later == "allowed") && !v.weak
		out = append(out, v.v)
	}
	return out, e.err
}

type verifier struct {
	e     *Draft
	s     *signed
	t     Trust
	roots *x509.CertPool
	o     Options
	v     Verdict
	weak  bool
}

func (v *verifier) say(format string, a ...any) {
	v.v.Reasons = append(v.v.Reasons, fmt.Sprintf(format, a...))
}

func (v *verifier) run() {
	d := v.s.value
	v.v.Integrity, v.v.Later, v.v.Trust = "broken", "unknown", "untrusted"
	v.v.Claimed, v.v.Reason, v.v.Location = v.e.text(d.Get("M")), v.e.text(d.Get("Reason")), v.e.text(d.Get("Location"))
	v.v.Certifies = v.e.permits(d)
	if v.s.fault != "" {
		v.say("the signature is not valid: %s", v.s.fault)
		return
	}
	var signed *sign.Signed
	var err error
	switch kind := v.e.name(d.Get("SubFilter")); kind {
	case "ETSI.CAdES.detached", "adbe.pkcs7.detached":
		signed, err = v.detached(kind)
	case "ETSI.RFC3161":
		signed, err = v.timestamp()
	default:
		v.v.Integrity = "unknown"
		v.say("signatures of the form %s are not verified", strings.ToValidUTF8(string(kind), "?"))
		return
	}
	if signed != nil {
		v.v.Signer, v.v.Algorithm = party(signed.Signer), signed.Algorithm()
	}
	switch {
	case errors.Is(err, sign.ErrAlgorithm):
		v.v.Integrity = "unknown"
		v.say("the algorithm of the signature is not known")
		return
	case errors.Is(err, sign.ErrDigest):
		v.say("the signed bytes were changed")
		return
	case err != nil:
		v.say("the signature does not verify: %v", err)
		return
	}
	v.v.Integrity = "intact"
	v.say("the signed bytes are unchanged")
	if why := signed.Weak(); why != "" && !v.weak {
		v.weak = true
		v.say("the algorithm is too weak to prove anything: %s", why)
	}
	v.later()
	v.trust(signed)
}

// digest hashes what is signed.
func (v *verifier) digest(h crypto.Hash) ([]byte, error) {
	if h == 0 || !h.Available() {
		return nil, sign.ErrAlgorithm
	}
	f := h.New()
	for _, part := range [2][2]int64{{0, v.s.from}, {v.s.to, v.s.end}} {
		if err := copySection(f, v.e.base.File, part[0], part[1]-part[0]); err != nil {
			return nil, err
		}
	}
	return f.Sum(nil), nil
}

func (v *verifier) detached(kind cos.Name) (*sign.Signed, error) {
	s, err := sign.Parse(v.s.contents)
	if err != nil {
		return nil, err
	}
	if s.Content != nil || !s.OfData() {
		return s, errors.New("it signs its own content, not the file")
	}
	digest, err := v.digest(s.Hash)
	if err == nil {
		err = s.Verify(digest)
	}
	if err != nil {
		return s, err
	}
	v.v.Level = "basic"
	if kind == "ETSI.CAdES.detached" {
		v.v.Level = "B-B"
		if !s.Bound {
			return s, errors.New("it does not name its certificate, as PAdES requires")
		}
	}
	if s.Token != nil {
		h := sign.TokenHash(s.Token)
		sum, err := s.SignatureDigest(h)
		if err != nil {
			return s, fmt.Errorf("its timestamp: %w", err)
		}
		t, err := sign.ParseToken(s.Token, h, sum)
		if err != nil {
			return s, fmt.Errorf("its timestamp: %w", err)
		}
		if why := cmp.Or(t.Weak(), v.chain(t.Signed, t.Time, x509.ExtKeyUsageTimeStamping)); why != "" {
			v.say("its timestamp is not used: %s", why)
			return s, nil
		}
		v.v.Stamped, v.v.Stamper = &t.Time, party(t.Signed.Signer)
		if v.v.Level == "B-B" {
			v.v.Level = "B-T"
		}
	}
	return s, nil
}

// timestamp verifies a timestamp of the document (ISO 32000-2, 12.8.5).
func (v *verifier) timestamp() (*sign.Signed, error) {
	h := sign.TokenHash(v.s.contents)
	digest, err := v.digest(h)
	if err != nil {
		return nil, err
	}
	t, err := sign.ParseToken(v.s.contents, h, digest)
	if err != nil {
		return nil, err
	}
	if why := t.Weak(); why != "" {
		v.weak = true
		v.say("the algorithm is too weak to prove anything: %s", why)
		return t.Signed, nil
	}
	v.v.Level, v.v.Stamped = "timestamp", &t.Time
	return t.Signed, nil
}

// later judges what was written since.
func (v *verifier) later() {
	rest := make([]byte, min(v.e.base.Size-v.s.end, 3))
	if _, err := io.ReadFull(io.NewSectionReader(v.e.base.File, v.s.end, int64(len(rest))), rest); err != nil {
		v.say("the bytes after the signed ones cannot be read")
		return
	}
	old, err := v.e.revision(v.s, v.o)
	if err != nil {
		v.v.Later = "unknown"
		v.say("the signed bytes are not a complete revision of the file: %v", err)
		return
	}
	v.v.Revision = old.base.Revisions()
	v.v.CoversFile = v.s.end == v.e.base.Size || len(rest) < 3 && strings.Trim(string(rest), "\r\n") == ""
	if v.e.base.Repaired() {
		v.v.CoversFile = false
		v.say("the file is damaged, and readers may show different things")
		return
	}
	if v.v.CoversFile {
		v.v.Later = "none"
		v.say("the signature covers the whole file")
		return
	}
	if v.e.base.Revisions() == old.base.Revisions() || !v.e.ends() {
		v.say("the bytes after the signed ones are not a revision of the file, and readers may show different things")
		return
	}
	value, lock := old.dict(old.dict(v.s.ref).Get("V")), old.dict(old.dict(v.s.ref).Get("Lock"))
	d := differ{old: old, now: v.e, level: 3, author: old.certified() > 0 || old.permits(value) > 0, locked: locks(old, value, lock)}
	for _, p := range [...]int64{int64(old.certified()), int64(old.permits(value)), old.integer(lock.Get("P"), 0)} {
		if p >= 1 && p <= 3 {
			d.level = min(d.level, int(p))
		}
	}
	v.v.Changes = d.compare()
	if old.err != nil || v.e.base.Repaired() || old.base.Repaired() {
		v.say("not all objects of the file and of the signed revision can be read")
		return
	}
	v.v.Later = "allowed"
	for _, c := range v.v.Changes {
		if !c.Allowed {
			v.v.Later = "forbidden"
			v.say("revision %d changed %s", c.Revision, c.What)
		}
	}
	if v.v.Later == "allowed" {
		v.say("the file was changed later, which is allowed")
		if d.covers {
			v.say("the added content may cover content that was signed")
		}
	}
}

// ends reports whether the file ends as one does, and nothing but a line end follows.
func (e *Draft) ends() bool { return e.endsAt(e.base.Size) }

// endsAt reports whether a revision ends before end, with nothing but a line end behind it.
func (e *Draft) endsAt(end int64) bool {
	tail := make([]byte, min(end, 7))
	if _, err := io.ReadFull(io.NewSectionReader(e.base.File, end-int64(len(tail)), int64(len(tail))), tail); err != nil {
		return false
	}
	return strings.HasSuffix(strings.TrimRight(string(tail), "\r\n"), "%%EOF")
}

// locks tells which fields a signature locks (12.8.2.4), as the revision says that it signs: by the
// signature itself and by its field (12.7.5.5). One of the two is enough.
func locks(e *Draft, value, lock cos.Dict) func(string) bool {
	list := []cos.Dict{lock}
	for _, r := range e.array(value.Get("Reference")) {
		if d := e.dict(r); e.name(d.Get("TransformMethod")) == "FieldMDP" {
			p := e.dict(d.Get("TransformParams"))
			if p.Get("Action") == nil {
				p = cos.Dict{cos.E("Action", cos.Name("All"))} // which it must have
			}
			list = append(list, p)
		}
	}
	return func(name string) bool {
		return slices.ContainsFunc(list, func(p cos.Dict) bool {
			named := slices.ContainsFunc(e.array(p.Get("Fields")), func(o cos.Object) bool {
				n := e.text(o)
				return n == name || strings.HasPrefix(name, n+".")
			})
			switch e.name(p.Get("Action")) {
			case "Include":
				return named
			case "Exclude":
				return !named
			}
			return p.Get("Action") != nil // all, or one that is not known
		})
	}
}

// trust judges the chain of certificates.
func (v *verifier) trust(s *sign.Signed) {
	at, usage := v.t.At, x509.ExtKeyUsageAny
	if v.v.Stamped != nil {
		at = *v.v.Stamped
	}
	if v.v.Level == "timestamp" {
		usage = x509.ExtKeyUsageTimeStamping
	}
	why := v.chain(s, at, usage)
	switch {
	case why == "":
		v.v.Trust = "trusted"
		v.say("the certificates lead to a trusted root and were valid on %s; revocation is not checked", at.UTC().Format(time.DateOnly))
		return
	case strings.HasPrefix(why, "expired"):
		v.v.Trust = "expired"
	}
	v.say("the signer is not trusted: %s", why)
}

// chain says why a certificate is not to be believed at a time, empty when it is.
func (v *verifier) chain(s *sign.Signed, at time.Time, usage x509.ExtKeyUsage) string {
	if len(v.t.Roots) == 0 {
		return "no trusted roots were given"
	}
	if !sign.MaySign(s.Signer) {
		return "the key usage of the certificate does not allow signatures"
	}
	between := x509.NewCertPool()
	for _, c := range s.Certificates {
		between.AddCert(c)
	}
	_, err := s.Signer.Verify(x509.VerifyOptions{Roots: v.roots, Intermediates: between, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{usage}})
	if err == nil {
		return ""
	}
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err); ok && bad.Reason == x509.Expired {
		return "expired or not yet valid on " + at.UTC().Format(time.DateOnly)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the certificates do not lead to a trusted root"
	}
	return strings.TrimPrefix(err.Error(), "x509: ")
}
