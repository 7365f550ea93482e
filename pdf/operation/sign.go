package operation

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"example.com/quire/internal/nearest"
	"example.com/quire/pdf"
	"example.com/quire/pdf/sign"
)

// upload reads a small file that is a parameter; nil where there is none.
func (c *call) upload(name string) ([]byte, error) { return c.uploadOf(name, MostUploadBytes) }

// uploadOf reads one of so many bytes at most.
func (c *call) uploadOf(name string, most int64) ([]byte, error) {
	f, ok := c.in.Uploads[name]
	if !ok {
		return nil, nil
	}
	return read(name, f, most)
}

// read reads a file that is a parameter.
func read(name string, f File, most int64) ([]byte, error) {
	if f.Size > most {
		return nil, &pdf.OptionError{Field: name, Got: "a file of " + strconv.FormatInt(f.Size, 10) + " bytes", Want: "at most " + strconv.FormatInt(most, 10)}
	}
	return io.ReadAll(io.NewSectionReader(f.Data, 0, f.Size))
}

// identityOption names the parameter that an error of an identity is of.
func identityOption(name string, err error) error {
	if e, ok := errors.AsType[*sign.IdentityError](err); ok {
		return &pdf.OptionError{Field: name, Got: e.Got, Want: e.Want}
	}
	return err
}

// request reads how a file is signed.
func (c *call) request(id *sign.Identity) (r pdf.SignRequest, err error) {
	v := c.in.Values
	r = pdf.SignRequest{
		Identity: id, Time: c.in.Time, Field: v["field"], Name: v["name"], Reason: v["reason"], Location: v["location"], Contact: v["contact"],
	}
	if id.PSS, err = c.on("pss"); err != nil {
		return r, err
	}
	if r.Page, err = c.number("page", 1); err != nil {
		return r, err
	}
	if r.Page < 1 {
		return r, &pdf.OptionError{Field: "page", Got: v["page"], Want: "1 or more"}
	}
	if v["box"] != "" {
		if r.Rect, err = boxOf(v["box"]); err != nil {
			return r, err
		}
	}
	if r.Fonts, err = c.fonts(); err != nil {
		return r, err
	}
	levels := []string{"none", "fill", "annotate"}
	if s := v["certify"]; s != "" {
		for i, level := range levels {
			if s == level {
				r.Certify = pdf.Certification(i + 1)
			}
		}
		if r.Certify == pdf.NoCertification {
			return r, &pdf.OptionError{Field: "certify", Got: strconv.Quote(s), Want: strings.Join(levels, ", "), Nearest: nearest.Name(s, levels)}
		}
	}
	return r, nil
}

func signFile(c *call) error {
	if c.in.Identity == nil {
		return &pdf.OptionError{Field: "key", Got: "a key", Want: "none: there are no keys here"}
	}
	known, err := c.in.Identity(c.in.Values["key"], c.in.Values["key-password"])
	if err != nil {
		return identityOption("key", err)
	}
	id := new(*known) // others may sign by it now, in their ways
	if s := c.in.Values["tsa"]; s != "" {
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return &pdf.OptionError{Field: "tsa", Got: strconv.Quote(s), Want: "an address of http or https"}
		}
		if c.in.HTTP == nil {
			return &pdf.OptionError{Field: "tsa", Got: "an address", Want: "none: no authority may be asked from here"}
		}
		id.TSA = &sign.TSA{URL: s, HTTP: c.in.HTTP}
	}
	r, err := c.request(id)
	if err != nil {
		return err
	}
	return c.rewrite(func(w io.Writer, d *pdf.Document) (*pdf.Summary, error) { return c.e.Sign(c.ctx, w, d, r) })
}

// certificates reads those of a key that is elsewhere.
func (c *call) certificates() (*sign.Identity, error) {
	b, err := c.upload("chain")
	if err != nil {
		return nil, err
	}
	certs, err := sign.ParseCertificates(b)
	return &sign.Identity{Chain: certs}, identityOption("chain", err)
}

func prepareSign(c *call) error {
	id, err := c.certificates()
	if err != nil {
		return err
	}
	r, err := c.request(id)
	if err != nil {
		return err
	}
	return c.rewrite(func(w io.Writer, d *pdf.Document) (*pdf.Summary, error) { return c.e.PrepareSign(c.ctx, w, d, r) })
}

func finishSign(c *call) error {
	id, err := c.certificates()
	if err != nil {
		return err
	}
	if id.PSS, err = c.on("pss"); err != nil {
		return err
	}
	signature, err := c.upload("signature")
	if err != nil {
		return err
	}
	return c.rewrite(func(w io.Writer, d *pdf.Document) (*pdf.Summary, error) {
		return c.e.FinishSign(c.ctx, w, d, id, signature)
	})
}

// Verified is the report of verify.
type Verified struct {
	// Valid says that there are signatures, and that all are.
	Valid      bool             `json:"valid"`
	Signatures []pdf.Verdict    `json:"signatures"`
	Warnings   []pdf.Diagnostic `json:"warnings,omitempty"`
}

func verify(c *call) error {
	o := pdf.VerifyOptions{At: c.in.Time}
	trust, err := c.upload("trust")
	if err != nil {
		return err
	}
	if trust != nil {
		if o.Roots, err = sign.ParseCertificates(trust); err != nil {
			return identityOption("trust", err)
		}
	}
	if s := c.in.Values["at"]; s != "" {
		if o.At, err = time.Parse(time.RFC3339, s); err != nil {
			return &pdf.OptionError{Field: "at", Got: strconv.Quote(s), Want: "a time as in 2026-03-01T12:00:00Z"}
		}
	}
	d, err := c.open(0)
	if err != nil {
		return err
	}
	list, err := c.e.Verify(c.ctx, d, o)
	if err != nil {
		return named(c.in.Files[0].Name, err)
	}
	r := Verified{Valid: len(list) > 0, Signatures: list, Warnings: d.Warnings()}
	var b strings.Builder
	for _, v := range list {
		r.Valid = r.Valid && v.Valid
		b.WriteString(told(v))
	}
	if len(list) == 0 {
		b.WriteString("no signatures\n")
	}
	c.out.Report, c.out.Text, c.out.Failed = r, b.String()+warned(d), !r.Valid
	return nil
}

// readable is a date of PDF (ISO 32000-2, 7.9.4) as people read it; what is none stays as it is.
func readable(date string) string {
	t, err := time.Parse("D:20060102150405Z0700", strings.ReplaceAll(date, "'", ""))
	if err != nil {
		return date
	}
	return t.Format(time.RFC3339)
}

// told is a verdict for people.
func told(v pdf.Verdict) string {
	var b strings.Builder
	verdict := "NOT VALID"
	switch {
	case v.Valid:
		verdict = "valid"
	case v.Integrity == "intact" && (v.Later == "none" || v.Later == "allowed") && v.Trust == "untrusted":
		verdict = "intact, signer NOT TRUSTED"
	}
	fmt.Fprintf(&b, "%s: %s\n", v.Field, verdict)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", name, value)
		}
	}
	if v.Signer != nil {
		line("signer", v.Signer.Name)
		line("issuer", v.Signer.Issuer)
	}
	line("algorithm", v.Algorithm)
	line("level", v.Level)
	line("claimed", readable(v.Claimed))
	if v.Stamped != nil {
		line("stamped", v.Stamped.UTC().Format(time.RFC3339))
	}
	line("reason", v.Reason)
	line("integrity", v.Integrity)
	line("later", v.Later)
	line("trust", v.Trust)
	for _, s := range v.Reasons {
		line("-", s)
	}
	for _, ch := range v.Changes {
		allowed := "allowed"
		if !ch.Allowed {
			allowed = "NOT ALLOWED"
		}
		line("change", fmt.Sprintf("revision %d, object %d: %s: %s", ch.Revision, ch.Object, ch.What, allowed))
	}
	return b.String()
}
