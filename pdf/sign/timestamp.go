package sign

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net/http"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// Doer sends a request, as *http.Client and fetch.Client do. It is for the caller to bound time,
// redirects and where it may lead.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// TSA is the HTTP client of a time-stamp authority (RFC 3161, 3.4).
type TSA struct {
	URL  string
	HTTP Doer
	// Most is how long a token may be, for which signatures keep room; 0: 8 KiB.
	Most int
}

// MostBytes implements Timestamper.
func (t *TSA) MostBytes() int {
	if t.Most > 0 {
		return t.Most
	}
	return 8 << 10
}

// Timestamp implements Timestamper. Each request has its own nonce, which the token must contain.
func (t *TSA) Timestamp(ctx context.Context, hash crypto.Hash, digest []byte) ([]byte, error) {
	nonce, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 63))
	if err != nil {
		return nil, err
	}
	body := element(
		cbasn1.SEQUENCE, derVersion1,
		element(cbasn1.SEQUENCE, newAlgorithm(oidOf(hash), derNull...).der, element(cbasn1.OCTET_STRING, digest)), // MessageImprint
		derOf(nonce), derTrue, // the certificate comes along
	)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/timestamp-query")
	req.Header.Set("Accept", "application/timestamp-reply")
	resp, err := t.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // only read from
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind != "application/timestamp-reply" {
		return nil, fmt.Errorf("the authority answers %s with %q", resp.Status, kind)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, int64(t.MostBytes())+1024))
	if err != nil {
		return nil, err
	}
	token, err := readReply(answer)
	if err != nil {
		return nil, err
	}
	if len(token) > t.MostBytes() {
		return nil, fmt.Errorf("a token of more than %d bytes", t.MostBytes())
	}
	got, err := ParseToken(token, hash, digest)
	if err != nil {
		return nil, err
	}
	if got.nonce == nil || got.nonce.Cmp(nonce) != 0 {
		return nil, malformed("a token without the nonce of its request")
	}
	return token, nil
}

// readReply returns the token of a TimeStampResp (RFC 3161, 2.4.2).
func readReply(b []byte) ([]byte, error) {
	in := cryptobyte.String(b)
	var resp, status cryptobyte.String
	var code int
	if !in.ReadASN1(&resp, cbasn1.SEQUENCE) || !in.Empty() || !resp.ReadASN1(&status, cbasn1.SEQUENCE) || !status.ReadASN1Integer(&code) {
		return nil, malformed("reply")
	}
	if code > 1 {
		return nil, fmt.Errorf("the authority refuses with status %d", code)
	}
	var token cryptobyte.String
	if !resp.ReadASN1Element(&token, cbasn1.SEQUENCE) || !resp.Empty() {
		return nil, malformed("reply without a token")
	}
	return token, nil
}

// Token is a time-stamp token with a valid signature.
type Token struct {
	Time   time.Time
	Signed *Signed // the authority; its certificate is not verified
	hash   crypto.Hash
	nonce  *big.Int
}

// Weak says why the algorithms, including the digest that is stamped, are too weak to prove
// anything; empty if they are strong enough.
func (t *Token) Weak() string {
	if t.hash == crypto.SHA1 {
		return "SHA-1"
	}
	return t.Signed.Weak()
}

// ParseToken reads a time-stamp token (RFC 3161, 2.4.2) for a digest and verifies its signature.
// With hash 0 the digest is not compared; TokenHash returns its hash function.
func ParseToken(raw []byte, hash crypto.Hash, digest []byte) (*Token, error) {
	s, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	if !s.contentType.Equal(oidTSTInfo) || s.Content == nil {
		return nil, malformed("a token without its content")
	}
	if s.Hash == 0 {
		return nil, ErrAlgorithm
	}
	if err := s.Verify(sumOf(s.Hash, s.Content)); err != nil {
		return nil, err
	}
	if !s.Bound {
		return nil, malformed("a token that does not name its certificate")
	}
	if !stamps(s.Signer) {
		return nil, malformed("the certificate of the token is not for timestamps alone")
	}
	h, imprint, t, err := readInfo(s.Content)
	if err != nil {
		return nil, err
	}
	if h != hash || !bytes.Equal(imprint, digest) {
		return nil, malformed("a token for something else")
	}
	t.Signed, t.hash = s, h
	return t, nil
}

// TokenHash returns the hash function of a token's content, or 0 if it has none.
func TokenHash(raw []byte) crypto.Hash {
	s, err := Parse(raw)
	if err != nil || s.Content == nil {
		return 0
	}
	h, _, _, err := readInfo(s.Content)
	if err != nil {
		return 0
	}
	return h
}

// stamps reports whether a certificate is for timestamps, as RFC 3161, 2.3 demands: critically so,
// and for nothing else.
func stamps(c *x509.Certificate) bool {
	return len(c.ExtKeyUsage) == 1 && c.ExtKeyUsage[0] == x509.ExtKeyUsageTimeStamping && len(c.UnknownExtKeyUsage) == 0
}

// readInfo reads a TSTInfo.
func readInfo(b []byte) (hash crypto.Hash, imprint []byte, t *Token, err error) {
	in := cryptobyte.String(b)
	var info, message, alg, digest cryptobyte.String
	var version int
	var policy, oid asn1.ObjectIdentifier
	serial := new(big.Int)
	t = &Token{}
	if !in.ReadASN1(&info, cbasn1.SEQUENCE) || !in.Empty() || !info.ReadASN1Integer(&version) || version != 1 || !info.ReadASN1ObjectIdentifier(&policy) ||
		!info.ReadASN1(&message, cbasn1.SEQUENCE) || !message.ReadASN1(&alg, cbasn1.SEQUENCE) || !alg.ReadASN1ObjectIdentifier(&oid) ||
		!message.ReadASN1(&digest, cbasn1.OCTET_STRING) || !info.ReadASN1Integer(serial) {
		return 0, nil, nil, malformed("timestamp")
	}
	var ok bool
	if t.Time, ok = readStamp(&info); !ok || !info.SkipOptionalASN1(cbasn1.SEQUENCE) || !info.SkipOptionalASN1(cbasn1.BOOLEAN) {
		return 0, nil, nil, malformed("timestamp")
	}
	if info.PeekASN1Tag(cbasn1.INTEGER) {
		t.nonce = new(big.Int)
		if !info.ReadASN1Integer(t.nonce) {
			return 0, nil, nil, malformed("timestamp")
		}
	}
	return hashOf(oid), digest, t, nil
}

// readStamp reads a GeneralizedTime that may have a fraction of a second (RFC 3161, 2.4.2).
func readStamp(in *cryptobyte.String) (time.Time, bool) {
	var s cryptobyte.String
	if !in.ReadASN1(&s, cbasn1.GeneralizedTime) {
		return time.Time{}, false
	}
	t, err := time.Parse("20060102150405.999999999Z", string(s))
	return t, err == nil
}
