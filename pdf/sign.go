package pdf

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
	"example.com/quire/pdf/internal/diag"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/internal/emit"
	"example.com/quire/pdf/sign"
	"example.com/quire/pdf/standard"
)

// SignRequest says how a file is signed. It belongs to one document: nothing of it is kept.
type SignRequest struct {
	// Identity is the signer. Its key may be external: in a token with a crypto.Signer, or, if
	// there is no key here, with whoever gets the output of PrepareSign.
	Identity *sign.Identity
	// Time is the time of signing, as written in the signature dictionary; zero is an error. Every
	// certificate must be valid then.
	Time time.Time
	// Field is the full name of an existing signature field, or of a new one; empty: a new one,
	// Signature1 and so on.
	Field string
	// Page, from 1, and Rect (left, bottom, right, top in points) are the position of a new field.
	// With a zero Rect it is invisible. 0 is page 1. A document that is signed while it is rendered
	// can use only its own fields to show a signature.
	Page int
	Rect [4]float64
	// Name is the signer, by default the common name of the certificate. Viewers show Reason,
	// Location and Contact. All but Contact are shown in Rect.
	Name, Reason, Location, Contact string
	// Fonts have characters of what is shown that the engine's fonts lack; nil: there are none.
	Fonts *doc.Fonts
	// Certify makes it the author's signature, which says what may be changed later (DocMDP). It
	// must be the first signature.
	Certify Certification
}

// Certification says which changes an author's signature allows (ISO 32000-2, 12.8.2.2).
type Certification = doc.Certification

// The certifications.
const (
	NoCertification    = doc.NoCertification
	CertifyNoChanges   = doc.CertifyNoChanges   // nothing
	CertifyFormFilling = doc.CertifyFormFilling // filling fields and signing
	CertifyAnnotations = doc.CertifyAnnotations // filling fields, signing and notes
)

// Signers has the keys that documents ask for by their names (doc.Signing). It is safe for
// concurrent use.
type Signers interface {
	// Identity returns the signer of a name. An error says that there is none, or that its key
	// cannot be used now.
	Identity(ctx context.Context, name string) (*sign.Identity, error)
}

type (
	// Verdict is the result for one signature.
	Verdict = edit.Verdict
	// Change is a change of a file after it was signed.
	Change = edit.Change
	// Party is the subject of a certificate.
	Party = edit.Party
)

// Sign signs a document as PAdES B-B, or B-T if the identity has a time-stamp authority. The bytes
// of the file are kept and the signature is appended as an update, so existing signatures remain
// valid.
//
// The file keeps its claims. A file that would lose one, by the Judge, is refused, and so are
// encrypted and damaged files, files whose certification does not allow it, and identities that
// cannot sign at the time; all are *OptionError. Nothing is written to w before everything else has
// succeeded.
func (e *Engine) Sign(ctx context.Context, w io.Writer, d *Document, r SignRequest) (*Summary, error) {
	p, draft, s, err := e.prepare(ctx, d, r)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	signature, err := draft.Sign()
	if err != nil {
		return nil, signing(err)
	}
	if err := finish(ctx, w, p, draft, signature); err != nil {
		return nil, err
	}
	return s, nil
}

// PrepareSign is the first half of Sign, for an external key: w gets the file with space for the
// signature, and the Summary says what must be signed. FinishSign is the second half. The Identity
// needs its certificates, but no key.
func (e *Engine) PrepareSign(ctx context.Context, w io.Writer, d *Document, r SignRequest) (*Summary, error) {
	p, draft, s, err := e.prepare(ctx, d, r)
	if err != nil {
		return nil, err
	}
	s.Message, s.Digest = draft.Message(), hex.EncodeToString(draft.Digest())
	_, err = p.WriteTo(w)
	return s, err
}

// FinishSign inserts a signature into a file that PrepareSign wrote. signature is the result of
// signing Summary.Message with the key. A signature that does not verify with the Identity's
// certificates is an error.
func (e *Engine) FinishSign(ctx context.Context, w io.Writer, d *Document, id *sign.Identity, signature []byte) (*Summary, error) {
	if id == nil || len(id.Chain) == 0 {
		return nil, &OptionError{Field: "chain", Got: "no certificate", Want: "those that the file was prepared with"}
	}
	p, err := d.d.Prepared()
	if err != nil {
		return nil, err
	}
	draft, err := begin(p, id)
	if err != nil {
		return nil, err
	}
	if err := finish(ctx, w, p, draft, signature); err != nil {
		return nil, err
	}
	return &Summary{Size: p.Size(), Pages: d.Pages(), Claims: d.Info().Claims, Field: p.Field}, nil
}

func begin(p *edit.Prepared, id *sign.Identity) (*sign.Draft, error) {
	h := id.Hash().New()
	if err := p.Signed(h); err != nil {
		return nil, err
	}
	return id.Begin(h.Sum(nil))
}

func finish(ctx context.Context, w io.Writer, p *edit.Prepared, draft *sign.Draft, signature []byte) error {
	cms, err := draft.Finish(ctx, signature)
	if err != nil {
		return signing(err)
	}
	if err := p.Fill(cms); err != nil {
		return err
	}
	_, err = p.WriteTo(w)
	return err
}

// signing tells an error of a key, a certificate or a time-stamp authority.
func signing(err error) error {
	if e, ok := errors.AsType[*sign.IdentityError](err); ok {
		return &OptionError{Field: "key", Got: e.Got, Want: e.Want}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return diag.Fail(Diagnostic{Code: diag.CodeSigner, Message: strings.TrimPrefix(err.Error(), "sign: "), Suggestion: "see to the key or the time-stamp authority; nothing was written"})
}

// prepare makes the update with room for the signature, and what is to be signed.
func (e *Engine) prepare(ctx context.Context, d *Document, r SignRequest) (*edit.Prepared, *sign.Draft, *Summary, error) {
	fail := func(err error) (*edit.Prepared, *sign.Draft, *Summary, error) { return nil, nil, nil, err }
	if err := d.d.MayUpdate(); err != nil {
		return fail(err)
	}
	room, err := e.checked(&r)
	if err != nil {
		return fail(err)
	}
	draft := edit.NewAddition(d.d)
	look, err := e.look(ctx, draft, r)
	if err != nil {
		return fail(err)
	}
	s := r.signature()
	s.Room, s.Look = room, look
	p, err := draft.Sign(ctx, s, e.deflater, e.limits.OutputBytes)
	if err != nil {
		return fail(told(err))
	}
	sum := &Summary{Size: p.Size(), Pages: d.Pages(), Claims: append([]string{}, draft.Claims()...), Field: p.Field}
	if err := e.mayClaim(ctx, d, p, sum); err != nil {
		return fail(err)
	}
	begun, err := begin(p, r.Identity)
	return p, begun, sum, err
}

// checked returns how many bytes a signature may have, and gives the request its name.
func (e *Engine) checked(r *SignRequest) (room int, err error) {
	switch {
	case r.Identity == nil:
		return 0, &OptionError{Field: "key", Got: "none", Want: "a key with its certificate"}
	case r.Time.IsZero():
		return 0, &OptionError{Field: "time", Got: "none", Want: "when the signature is made"}
	case r.Certify > CertifyAnnotations:
		return 0, &OptionError{Field: "certify", Got: "an unknown value", Want: "one of the constants"}
	}
	if err := r.Identity.CheckKey(r.Time); err != nil {
		return 0, signing(err)
	}
	if room, err = e.chains.check(r.Identity); err != nil {
		return 0, signing(err)
	}
	if r.Name == "" {
		r.Name = r.Identity.Chain[0].Subject.CommonName
	}
	return room, nil
}

func (r *SignRequest) signature() edit.Signature {
	return edit.Signature{
		Field: r.Field, Page: max(r.Page, 1) - 1, Rect: r.Rect, Name: r.Name, Reason: r.Reason, Location: r.Location, Contact: r.Contact,
		Time: r.Time, Certify: int(r.Certify),
	}
}

// shown are the lines of a visible signature.
func (r *SignRequest) shown() *doc.SignatureLines {
	return &doc.SignatureLines{
		doc.LineName: r.Name, doc.LineTime: r.Time.Format("2006-01-02 15:04:05 Z07:00"), doc.LineReason: r.Reason, doc.LineLocation: r.Location,
	}
}

// chains are certificate chains that hold, with the most bytes that a signature may have, by the
// bytes of all that both depend on, so that those of a signer are verified once and not with each
// document. It is safe for concurrent use; the zero value is empty.
type chains struct {
	mu    sync.Mutex
	known map[string]int
	bytes int // of what known goes by
}

// mostChains is how many bytes of chains are kept, some thousand chains.
const mostChains = 4 << 20

// check returns an error where the chain of an identity does not hold, else the most bytes of its
// signatures.
func (c *chains) check(id *sign.Identity) (room int, err error) {
	how := make([]byte, 9, 2<<10) // as it is hashed
	if id.PSS {
		how[0] |= 1
	}
	if id.TSA != nil {
		how[0] |= 2
		binary.BigEndian.PutUint64(how[1:], uint64(id.TSA.MostBytes())) //nolint:gosec // G115: any number
	}
	for _, cert := range id.Chain {
		how = append(how, cert.Raw...) // DER says itself how long it is
	}
	c.mu.Lock()
	room, holds := c.known[string(how)]
	c.mu.Unlock()
	if holds {
		return room, nil
	}
	if err := id.CheckChain(); err != nil {
		return 0, err
	}
	if room, err = id.MostBytes(); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(how) > mostChains {
		return room, nil
	}
	if c.bytes += len(how); c.bytes > mostChains || c.known == nil {
		c.known, c.bytes = map[string]int{}, len(how)
	}
	c.known[string(how)] = room
	return room, nil
}

// asked returns what a document asks for, with the key, or the certificates of a signature that
// there is already.
func asked(ctx context.Context, s *doc.Signing, o *RenderOptions) (*SignRequest, error) {
	wrong := func(suggestion, format string, a ...any) error {
		return diag.Fail(s.Src.Place(Diagnostic{
			Code: diag.CodeSigner, Message: fmt.Sprintf(format, a...), Suggestion: suggestion,
		}))
	}
	var id *sign.Identity
	var err error
	switch {
	case o.Signature != nil:
		made, err := sign.Parse(o.Signature)
		if err != nil {
			return nil, signing(err)
		}
		if made.Token != nil {
			return nil, wrong("", "the signature that was kept is of level B-T, which cannot be written again")
		}
		id = made.Identity()
	case o.Signers == nil:
		return nil, wrong("", "the document is to be signed by %q, and there are no signers", s.Signer)
	default:
		id, err = o.Signers.Identity(ctx, s.Signer)
	}
	switch {
	case err != nil:
		return nil, wrong("", "the document is to be signed by %q: %v", s.Signer, err)
	case o.Time.IsZero():
		return nil, wrong("render it with a time", "the document is to be signed, and has no time")
	case id == nil:
		return nil, wrong("", "the document is to be signed by %q, which is no signer", s.Signer)
	case s.Level == doc.LevelBT && id.TSA == nil:
		return nil, wrong("write level: B-B", "the signer %q has no time-stamp authority, which level B-T needs", s.Signer)
	case s.Level == doc.LevelBB && id.TSA != nil:
		without := *id
		without.TSA = nil
		id = &without
	}
	if fault, ok := errors.AsType[*sign.IdentityError](id.CheckKey(o.Time)); ok {
		return nil, wrong("sign with "+fault.Want, "the signer %q has %s", s.Signer, fault.Got)
	}
	return &SignRequest{
		Identity: id, Field: s.Field, Name: s.Name, Reason: s.Reason, Location: s.Location, Contact: s.Contact, Certify: s.Certify,
	}, nil
}

// whileRendering says how a document is signed as it is written; ctx is that of the rendering.
// made gets the signature.
func (e *Engine) whileRendering(ctx context.Context, r SignRequest, o *RenderOptions, made *[]byte) (*emit.Signature, error) {
	if r.Time.IsZero() {
		r.Time = o.Time
	}
	switch {
	case o.Protect != nil:
		return nil, &OptionError{Field: "protect", Got: "a document that is signed", Want: "one of both: encrypted files are not signed"}
	case r.Rect != [4]float64{} || r.Page > 1:
		return nil, &OptionError{Field: "box", Got: "a place on a page", Want: "a signature field of the document, by its name"}
	case r.Identity != nil && r.Identity.Key == nil && o.Signature == nil:
		return nil, &OptionError{Field: "key", Got: "none", Want: "a key, or PrepareSign for one that is elsewhere"}
	}
	room, err := e.checked(&r)
	if err != nil {
		return nil, err
	}
	s, kept := r.signature(), o.Signature
	return &emit.Signature{
		Field: r.Field, Dict: s.Dict(), Certify: r.Certify != NoCertification, Shown: r.shown(),
		By: &cos.Signature{Hash: r.Identity.Hash(), Room: room, Sign: func(digest []byte) (cms []byte, err error) {
			if cms = kept; cms != nil {
				err = stillValid(cms, digest)
			} else {
				cms, err = signedBy(ctx, r.Identity, digest)
			}
			if err != nil {
				return nil, signing(err)
			}
			*made = cms
			return cms, nil
		}},
	}, nil
}

// signedBy signs a digest.
func signedBy(ctx context.Context, id *sign.Identity, digest []byte) ([]byte, error) {
	draft, err := id.Begin(digest)
	if err != nil {
		return nil, err
	}
	signature, err := draft.Sign()
	if err != nil {
		return nil, err
	}
	return draft.Finish(ctx, signature)
}

// stillValid returns an error where a signature is not one of these bytes.
func stillValid(cms, digest []byte) error {
	s, err := sign.Parse(cms)
	if err != nil {
		return err
	}
	return s.Verify(digest)
}

// mayClaim judges what a file claims once it is signed. A claim cannot be taken back without
// touching what earlier signatures cover: one that the file held and would no longer hold is an
// error.
func (e *Engine) mayClaim(ctx context.Context, d *Document, p *edit.Prepared, s *Summary) error {
	var ids []standard.ID
	for _, name := range s.Claims {
		if id, err := standard.Parse(name); err == nil {
			ids = append(ids, id)
		}
	}
	ids, err := standard.Set(ids...)
	if err != nil || len(ids) == 0 {
		return nil //nolint:nilerr // claims that exclude each other were not made here
	}
	after, err := p.Reopen(edit.Options{Pages: int(e.limits.Pages), Limits: ReadLimits{FileBytes: max(p.Size(), 64<<20)}})
	if err != nil {
		return told(err)
	}
	found, err := after.Check(ctx, ids)
	if err != nil || len(found) == 0 {
		return told(err)
	}
	before, err := d.d.Check(ctx, ids)
	if err != nil {
		return told(err)
	}
	why := found[0].Message + " (" + found[0].Clause + ")"
	if len(before) == 0 {
		return &OptionError{Field: "file", Got: "a claim of " + strings.Join(s.Claims, " and ") + " that would no longer hold: " + why, Want: "a file that holds it signed as well"}
	}
	s.Warnings = append(s.Warnings, "the claim of "+strings.Join(s.Claims, " and ")+" did not hold before: "+why)
	return nil
}

// look sets what a visible signature shows: a page of the size of its place.
func (e *Engine) look(ctx context.Context, draft *edit.Draft, r SignRequest) (*edit.Document, error) {
	width, height := draft.WidgetSize(r.Field, r.Rect)
	if math.IsNaN(width) || math.IsNaN(height) || width <= 0 || height <= 0 || width > 14400 || height > 14400 {
		return nil, nil //nolint:nilnil // nothing to see, or a place that Sign refuses
	}
	lines := r.shown().Shown(nil)
	set := func(size float64) (*edit.Document, error) { // nil: the lines do not fit
		b := doc.NewBuilder().Fonts(r.Fonts)
		b.Page(doc.Master{Width: doc.Points(width), Height: doc.Points(height), Margins: doc.Same(doc.Points(lookMargin)), VAlign: doc.VAlignMiddle})
		b.Style(&doc.Style{Family: e.fonts.Families()[0], Size: doc.Points(size), Leading: doc.Points(size * lookLeading)})
		for _, s := range lines {
			b.Text(s)
		}
		var out bytes.Buffer
		res, err := e.emit(ctx, &out, b.Document(), emit.Options{Limits: e.limits, Listed: draft.Part1()})
		switch {
		case err == nil && res.Pages == 1:
			return edit.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), edit.Options{})
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, ErrFont):
			if e, ok := errors.AsType[*DiagnosticError](err); ok {
				return nil, textFault("box", e.Diagnostics[0], "")
			}
			return nil, err
		case err != nil && !errors.Is(err, ErrLayout):
			return nil, err
		}
		return nil, nil //nolint:nilnil // not at this size
	}
	// The largest letters with which everything fits: what does not fit at one size does not at a
	// larger one. The first that is tried is the largest at which lines that are not broken fit.
	most := (height - 2*lookMargin) / (lookLeading * float64(max(filled(lines), 1)))
	fits, from, to := (*edit.Document)(nil), 0, lookSizes-1 // those between are not known, to is the largest
	for to > 0 && lookSize(to) > most+0.01 {
		to--
	}
	for try := to; from <= to; try = (from + to + 1) / 2 {
		look, err := set(lookSize(try))
		switch {
		case err != nil:
			return nil, err
		case look != nil:
			fits, from = look, try+1
		default:
			to = try - 1
		}
	}
	if fits == nil {
		return nil, &OptionError{Field: "box", Got: "a place too small for the name, the time and the reason", Want: "a larger one, or none"}
	}
	return fits, nil
}

// The looks of signatures: letters from 3 to 12 points by steps of a half.
const (
	lookSizes   = 19
	lookMargin  = 2.0
	lookLeading = 1.2
)

func lookSize(i int) float64 { return 3 + float64(i)/2 }

// filled returns how many lines have something to see.
func filled(lines []string) (n int) {
	for _, s := range lines {
		if strings.TrimSpace(s) != "" {
			n++
		}
	}
	return n
}

// VerifyOptions say which certificates to trust.
type VerifyOptions struct {
	// Roots are the trusted root certificates. Without any, no signer is trusted: the roots of the
	// system are for servers, not for documents.
	Roots []*x509.Certificate
	At    time.Time // validation time without a timestamp; zero: now
}

// Verify verifies the signatures of a document, in the order in which they were made: whether the
// signed bytes are unchanged, what was changed in the file since and whether that is allowed, and
// who signed. Revocation is not checked. A file without signatures gives an empty list. Errors are
// those of Open.
func (e *Engine) Verify(ctx context.Context, d *Document, o VerifyOptions) ([]Verdict, error) {
	list, err := d.d.Verify(ctx, edit.Trust{Roots: o.Roots, At: o.At}, edit.Options{Pages: int(e.limits.Pages), Limits: d.limits})
	return list, told(err)
}
