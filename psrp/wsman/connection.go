package wsman

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/psrp/proto"
	"example.com/quire/psrp/wsman/ntlm"
)

const (
	// maxAnswer bounds the body of an answer, whatever its envelope was announced to be.
	maxAnswer = 8 << 20
	// maxIdle is how long a connection may rest and still be used: a host closes one after two
	// minutes, and a request that meets that moment is lost.
	maxIdle = 30 * time.Second
)

// errUnauthorized is the answer 401.
var errUnauthorized = errors.New("the host does not accept the credentials, or not this way to prove them")

// connection carries one request at a time: as many are made as requests run side by side. NTLM
// authenticates connections, so each has its own session.
type connection struct {
	pool      *connections
	transport http.RoundTripper
	close     func()
	dialled   atomic.Int64 // connections that were made; a sealing session is good for the last alone
	owner     int64        // the connection that was authenticated
	session   *ntlm.Session
	used      time.Time
}

// connections are those to one host.
type connections struct {
	endpoint string
	host     string // for SPNs
	secure   bool   // https
	auth     Auth   // nil: the RoundTripper's
	make     func(conn *connection)

	mu   sync.Mutex
	free []*connection
}

func newConnections(c *Config, endpoint, host string, secure bool) *connections {
	p := &connections{endpoint: endpoint, host: host, secure: secure, auth: c.Auth}
	p.make = func(conn *connection) {
		dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
		t := &http.Transport{
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				nc, err := dialer.DialContext(ctx, network, addr)
				if err != nil {
					return nil, &dialError{err}
				}
				conn.dialled.Add(1)
				return nc, nil
			},
			MaxConnsPerHost: 1, DisableCompression: true, TLSHandshakeTimeout: 30 * time.Second, TLSClientConfig: c.tls(),
			TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1: NTLM is of a connection
		}
		conn.transport, conn.close = t, t.CloseIdleConnections
	}
	if c.RoundTripper != nil {
		p.make = func(conn *connection) { conn.transport, conn.close = c.RoundTripper, func() {} }
	}
	return p
}

// dialError is a connection that was not made.
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

func (p *connections) take() *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) > 0 {
		conn := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		if time.Since(conn.used) < maxIdle {
			return conn
		}
		conn.close()
	}
	conn := &connection{pool: p}
	p.make(conn)
	return conn
}

func (p *connections) give(conn *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	conn.used = time.Now()
	p.free = append(p.free, conn)
}

// closeIdle closes what no request uses.
func (p *connections) closeIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.free {
		conn.close()
	}
	p.free = nil
}

// do posts an envelope over a connection of its own and returns the answer's body, opened if it was
// sealed. The status is 2xx or 5xx: what else comes is an error.
func (p *connections) do(ctx context.Context, envelope []byte) ([]byte, error) {
	conn := p.take()
	body, err := conn.do(ctx, envelope)
	if err != nil {
		conn.close()
		return nil, err
	}
	p.give(conn)
	return body, nil
}

// authenticate makes the connection ready, for NTLM and before the first request.
func (p *connections) authenticate(ctx context.Context) error {
	conn := p.take()
	if err := conn.authenticate(ctx); err != nil {
		conn.close()
		return err
	}
	p.give(conn)
	return nil
}

func (conn *connection) do(ctx context.Context, envelope []byte) ([]byte, error) {
	_, isNTLM := conn.pool.auth.(negotiate)
	for again := false; ; again = true {
		if isNTLM && !conn.authenticated() {
			if err := conn.authenticate(ctx); err != nil {
				return nil, err
			}
		}
		session := conn.session
		body, contentType := envelope, plainType
		if session != nil && !conn.pool.secure {
			body, contentType = appendSealed(nil, session, envelope), sealedType
		}
		answer, err := conn.post(ctx, body, contentType, conn.header())
		if err != nil {
			return nil, err
		}
		switch status := answer.status; {
		case status == http.StatusUnauthorized:
			// A connection that was closed meanwhile has been made anew and knows nobody. The host
			// has not looked at the body: once it is asked again.
			if isNTLM && !again && !conn.authenticated() {
				continue
			}
			return nil, errUnauthorized
		case status >= 200 && status < 300, status >= 500:
		default:
			return nil, fmt.Errorf("wsman: HTTP status %d %s", status, http.StatusText(status))
		}
		if !strings.Contains(answer.contentType, "soap+xml") && !strings.HasPrefix(answer.contentType, "multipart/") {
			return nil, fmt.Errorf("wsman: HTTP status %d with %.100q instead of SOAP", answer.status, answer.contentType)
		}
		if session != nil && !conn.pool.secure {
			if !conn.authenticated() {
				return nil, notSealed("the connection was made anew")
			}
			return openSealed(session, answer.contentType, answer.body)
		}
		return answer.body, nil
	}
}

// header is the Authorization of each request.
func (conn *connection) header() string {
	switch a := conn.pool.auth.(type) {
	case basic:
		return a.header()
	case certificate:
		return mutual
	}
	return ""
}

func (conn *connection) authenticated() bool {
	return conn.session != nil && conn.owner == conn.dialled.Load()
}

// authenticate has NTLM's three messages pass, with empty bodies.
func (conn *connection) authenticate(ctx context.Context) error {
	n, ok := conn.pool.auth.(negotiate)
	if !ok {
		return nil
	}
	conn.session = nil
	h, err := n.credentials.Begin()
	if err != nil {
		return err
	}
	token := func(b []byte) string { return n.scheme() + " " + base64.StdEncoding.EncodeToString(b) }
	answer, err := conn.post(ctx, nil, plainType, token(h.Negotiate()))
	if err != nil {
		return err
	}
	challenge, err := answer.challenge(n.scheme())
	if err != nil {
		return err
	}
	owner := conn.dialled.Load()
	binding, err := bindingOf(answer.tls)
	if err != nil {
		return err
	}
	message, session, err := h.Authenticate(challenge, "HTTP/"+conn.pool.host, binding)
	if err != nil {
		return err
	}
	if answer, err = conn.post(ctx, nil, plainType, token(message)); err != nil {
		return err
	}
	switch {
	case answer.status == http.StatusUnauthorized:
		return errUnauthorized
	case answer.status < 200 || answer.status >= 300:
		return fmt.Errorf("wsman: authenticate: HTTP status %d %s", answer.status, http.StatusText(answer.status))
	case conn.dialled.Load() != owner:
		return errors.New("wsman: authenticate: the host closed the connection meanwhile")
	}
	conn.session, conn.owner = session, owner
	return nil
}

// answer is what a post gave.
type answer struct {
	status      int
	contentType string
	offers      []string // WWW-Authenticate
	body        []byte
	tls         *tls.ConnectionState
}

// challenge is the token that the host answers with.
func (a *answer) challenge(scheme string) ([]byte, error) {
	if a.status != http.StatusUnauthorized {
		return nil, fmt.Errorf("wsman: authenticate: HTTP status %d %s where a challenge is due", a.status, http.StatusText(a.status))
	}
	for _, offer := range a.offers {
		if name, token, ok := strings.Cut(offer, " "); ok && strings.EqualFold(name, scheme) {
			b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(token))
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ntlm.ErrChallenge, err)
			}
			return b, nil
		}
	}
	return nil, fmt.Errorf("wsman: the host does not offer %s with NTLM, but %.200q", scheme, a.offers)
}

func (conn *connection) post(ctx context.Context, body []byte, contentType, authorization string) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, conn.pool.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept-Encoding", "identity")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := conn.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read to its end, or is given up
	a := &answer{status: resp.StatusCode, contentType: resp.Header.Get("Content-Type"), offers: resp.Header.Values("WWW-Authenticate"), tls: resp.TLS}
	if a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1)); err != nil {
		return nil, err
	}
	if len(a.body) > maxAnswer {
		return nil, fmt.Errorf("wsman: an answer of more than %d bytes: %w", maxAnswer, proto.ErrTooLarge)
	}
	return a, nil
}

// bindingOf is the channel binding tls-server-end-point (RFC 5929 section 4); nil without TLS.
func bindingOf(state *tls.ConnectionState) ([]byte, error) {
	if state == nil {
		return nil, nil
	}
	if len(state.PeerCertificates) == 0 {
		return nil, errors.New("wsman: the host showed no certificate to bind the authentication to")
	}
	c := state.PeerCertificates[0]
	data := []byte("tls-server-end-point:")
	switch c.SignatureAlgorithm {
	case x509.SHA384WithRSA, x509.SHA384WithRSAPSS, x509.ECDSAWithSHA384:
		sum := sha512.Sum384(c.Raw)
		data = append(data, sum[:]...)
	case x509.SHA512WithRSA, x509.SHA512WithRSAPSS, x509.ECDSAWithSHA512:
		sum := sha512.Sum512(c.Raw)
		data = append(data, sum[:]...)
	default: // also MD5 and SHA-1, as the RFC says
		sum := sha256.Sum256(c.Raw)
		data = append(data, sum[:]...)
	}
	return ntlm.ChannelBinding(data), nil
}
