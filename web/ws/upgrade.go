package ws

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // what RFC 6455, section 4.2.2 demands; it protects nothing
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"example.com/quire/internal/httpfield"
	"example.com/quire/web"
)

// Options configure Upgrade. The zero value is the safe one.
type Options struct {
	// Origins are other origins whose pages may connect: exact ones such as https://app.example,
	// and https://*.app.example for every name below. "*" is every site. Default: none but the
	// request's own host. Danger: a listed site acts as the user, with the user's cookies.
	Origins []string
	// Subprotocols that this side speaks, the preferred one first. Conn.Subprotocol tells which
	// was agreed on, "" for none.
	Subprotocols []string
	// Compression takes permessage-deflate where the client offers it. Default: off. Danger: a
	// message that has a secret beside text of an attacker's choice tells of it by its length.
	Compression *Compression
	// ReadLimit is the most bytes of a message, decompressed. A longer one closes the connection
	// with MessageTooBig. Default: 32 KiB.
	ReadLimit int64
	// Ping is how long nothing may come before the peer is asked by a ping. Default: 30 s.
	// Negative: never. Danger: a lost peer is then noticed by writing only.
	Ping time.Duration
	// PongWait is how long the answer may take before the connection is lost. Default: 10 s.
	PongWait time.Duration
	// WriteWait is how long 64 KiB may take to be written. Default: 30 s.
	WriteWait time.Duration
	// CloseWait is how long Close waits for the peer's answer. Default: 5 s.
	CloseWait time.Duration
}

func (o Options) withDefaults() Options {
	o.ReadLimit = cmp.Or(max(o.ReadLimit, 0), 32<<10)
	o.Ping = cmp.Or(o.Ping, 30*time.Second)
	o.PongWait = cmp.Or(max(o.PongWait, 0), 10*time.Second)
	o.WriteWait = cmp.Or(max(o.WriteWait, 0), 30*time.Second)
	o.CloseWait = cmp.Or(max(o.CloseWait, 0), 5*time.Second)
	return o
}

// Upgrade answers a handshake (RFC 6455, section 4.2) by 101 and returns the connection, which
// is closed when the handler returns. The fields that middleware has set go out with the answer.
// What is no handshake is a 426 problem, another site's page a 403 one; return the error.
//
// The route's time budget no longer applies.
func Upgrade(c *web.Context, o Options) (*Conn, error) {
	o = o.withDefaults()
	r := c.Request()
	if err := checkHandshake(r); err != nil {
		return nil, err
	}
	if !originAllowed(r, o.Origins) {
		return nil, web.NewProblem(http.StatusForbidden, "pages of this origin may not connect", fmt.Errorf("websocket: origin %q", r.Header.Get("Origin")))
	}
	protocol := choose(o.Subprotocols, r.Header["Sec-Websocket-Protocol"])
	bits, extension := o.Compression.accept(r.Header["Sec-Websocket-Extensions"])

	header := c.Writer().Header()
	raw, rw, err := http.NewResponseController(c.Writer()).Hijack()
	if err != nil {
		if errors.Is(err, http.ErrNotSupported) {
			return nil, web.NewProblem(http.StatusNotImplemented, "this connection cannot be upgraded", err)
		}
		return nil, fmt.Errorf("websocket: upgrade: %w", err)
	}
	if rw.Writer.Buffered() > 0 {
		_ = raw.Close() // as below
		return nil, errors.New("websocket: upgrade: the answer has begun")
	}
	var early []byte
	if n := rw.Reader.Buffered(); n > 0 {
		// A client may send frames behind the handshake, which the server has read with it.
		early, err = rw.Peek(n)
	}
	if err == nil {
		err = errors.Join(raw.SetDeadline(time.Now().Add(o.WriteWait)), answer(raw, header, r, protocol, extension), raw.SetDeadline(time.Time{}))
	}
	if err != nil {
		_ = raw.Close() // the error says more
		return nil, &CloseError{Code: Abnormal, Err: err}
	}
	conn := newConn(c, raw, early, o)
	conn.protocol, conn.bits = protocol, bits
	conn.start(c)
	return conn, nil
}

// checkHandshake looks at what section 4.2.1 demands of the request.
func checkHandshake(r *http.Request) error {
	refuse := func(status int, detail string) *web.Problem {
		p := web.NewProblem(status, detail, nil)
		p.Header = http.Header{}
		return p
	}
	if r.Method != http.MethodGet || !r.ProtoAtLeast(1, 1) || r.ProtoMajor != 1 ||
		!httpfield.HasToken(r.Header["Connection"], "upgrade") || !httpfield.HasToken(r.Header["Upgrade"], "websocket") {
		p := refuse(http.StatusUpgradeRequired, "this is a WebSocket address")
		if r.ProtoMajor == 1 { // HTTP/2 has neither field
			p.Header.Set("Upgrade", "websocket")
			p.Header.Set("Connection", "Upgrade")
		}
		return p
	}
	if v := r.Header["Sec-Websocket-Version"]; len(v) != 1 || v[0] != "13" {
		p := refuse(http.StatusUpgradeRequired, "only version 13 of WebSocket is spoken here")
		p.Header.Set("Sec-WebSocket-Version", "13")
		p.Header.Set("Upgrade", "websocket")
		p.Header.Set("Connection", "Upgrade")
		return p
	}
	keys := r.Header["Sec-Websocket-Key"]
	if len(keys) != 1 {
		return refuse(http.StatusBadRequest, "Sec-WebSocket-Key is needed once")
	}
	if b, err := base64.StdEncoding.Strict().DecodeString(keys[0]); err != nil || len(b) != 16 {
		return refuse(http.StatusBadRequest, "Sec-WebSocket-Key is not 16 bytes in base64")
	}
	if r.ContentLength != 0 {
		return refuse(http.StatusBadRequest, "a handshake has no body")
	}
	return nil
}

// originAllowed judges the page that connects. A client that is no browser sends no Origin.
func originAllowed(r *http.Request, allowed []string) bool {
	origins := r.Header["Origin"]
	if len(origins) == 0 {
		return true
	}
	if len(origins) != 1 {
		return false
	}
	origin := strings.ToLower(origins[0])
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return slices.Contains(allowed, "*") // "null", of a sandboxed page, is nobody's
	}
	// The scheme is not compared: behind a proxy that ends TLS it is not known here.
	if strings.EqualFold(u.Host, r.Host) {
		return true
	}
	for _, a := range allowed {
		a = strings.ToLower(a)
		if a == "*" || a == origin {
			return true
		}
		if scheme, name, ok := strings.Cut(a, "://*."); ok && u.Scheme == scheme && strings.HasSuffix(u.Host, "."+name) {
			return true
		}
	}
	return false
}

// choose returns the first of ours that the client offers.
func choose(ours, offered []string) string {
	for _, p := range ours {
		for o := range httpfield.Members(offered) {
			if o == p {
				return p
			}
		}
	}
	return ""
}

// answer writes the 101.
func answer(conn net.Conn, h http.Header, r *http.Request, protocol, extension string) error {
	h = h.Clone()
	if h == nil {
		h = http.Header{}
	}
	for _, k := range []string{"Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Etag", "Last-Modified"} {
		h.Del(k) // an answer without body
	}
	h.Set("Upgrade", "websocket")
	h.Set("Connection", "Upgrade")
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // as at the import
	h.Set("Sec-WebSocket-Accept", base64.StdEncoding.EncodeToString(sum[:]))
	if protocol != "" {
		h.Set("Sec-WebSocket-Protocol", protocol)
	}
	if extension != "" {
		h.Set("Sec-WebSocket-Extensions", extension)
	}
	var b strings.Builder
	b.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	if err := h.Write(&b); err != nil {
		return err
	}
	b.WriteString("\r\n")
	_, err := conn.Write([]byte(b.String()))
	return err
}
