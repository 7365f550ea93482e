package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"example.com/quire/internal/httpfield"
)

// ClientIPPolicy tells whose word names the client's address. The zero value is
// Direct. A policy is made by Direct, TrustedProxies or TrustedHeader; what is
// wrong with their arguments New reports.
//
// A header names the client only as far as the peers that wrote it are known.
// Trusting X-Forwarded-For, X-Real-IP or Forwarded from anybody lets each client
// choose its address, and with it its rate limit, its place in the log and its
// way past an address filter.
type ClientIPPolicy struct {
	header  string
	list    bool // the header lists a chain; else it holds one address
	trusted []netip.Prefix
	err     error
}

// Direct takes the address of the peer and reads no header. It is right when
// clients connect straight to the server, and harmless everywhere.
func Direct() ClientIPPolicy { return ClientIPPolicy{} }

// TrustedProxies reads X-Forwarded-For or Forwarded (RFC 7239) when the peer is
// in one of the networks, and takes the right-most address that is not. What
// stands left of it may be the client's invention. Danger: a network that holds
// clients lets them choose their address. The other header is not read.
func TrustedProxies(header string, cidrs ...string) ClientIPPolicy {
	p := trusting(header, cidrs)
	p.list = true
	if p.err == nil && p.header != "X-Forwarded-For" && p.header != "Forwarded" {
		p.refuse(header, "X-Forwarded-For or Forwarded, which TrustedProxies reads")
	}
	return p
}

// TrustedHeader reads a header with one address, such as X-Real-IP, when the
// peer is in one of the networks. Danger: the proxies must overwrite the header,
// not pass on the client's.
func TrustedHeader(name string, cidrs ...string) ClientIPPolicy {
	return trusting(name, cidrs)
}

func (p *ClientIPPolicy) refuse(got, want string) {
	p.err = &ConfigError{Field: "Options.ClientIP", Got: got, Want: want}
}

func trusting(header string, cidrs []string) ClientIPPolicy {
	p := ClientIPPolicy{header: http.CanonicalHeaderKey(header)}
	if !httpfield.IsToken(header) {
		p.refuse(header, "a field name")
		return p
	}
	if len(cidrs) == 0 {
		p.refuse("no network", "the networks of the trusted proxies")
		return p
	}
	for _, s := range cidrs {
		prefix, err := parseNetwork(s)
		if err != nil {
			p.refuse(s, err.Error())
			return p
		}
		p.trusted = append(p.trusted, prefix)
	}
	return p
}

// parseNetwork reads a CIDR or one address. IPv4-mapped ones become IPv4.
func parseNetwork(s string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(s); err == nil {
		addr = addr.Unmap().WithZone("")
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("network %q: %w", s, err)
	}
	if prefix.Addr().Is4In6() {
		if prefix.Bits() < 96 {
			return netip.Prefix{}, fmt.Errorf("network %q: wider than the IPv4-mapped range", s)
		}
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	return prefix.Masked(), nil
}

func (p *ClientIPPolicy) trusts(a netip.Addr) bool {
	for _, n := range p.trusted {
		if n.Contains(a) {
			return true
		}
	}
	return false
}

func peerAddr(r *http.Request) netip.Addr {
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	a, err := netip.ParseAddr(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // a Unix socket
	}
	return a.Unmap().WithZone("")
}

func (p *ClientIPPolicy) client(r *http.Request) netip.Addr {
	peer := peerAddr(r)
	if len(p.trusted) == 0 || !p.trusts(peer) {
		return peer
	}
	lines := r.Header[p.header]
	if !p.list {
		if len(lines) != 1 { // repeated: one of them is not the proxy's
			return peer
		}
		if a, ok := parseNode(strings.TrimSpace(lines[0])); ok {
			return a
		}
		return peer
	}
	last := peer
	for _, line := range slices.Backward(lines) {
		for rest := line; rest != ""; {
			var item string
			if j := strings.LastIndexByte(rest, ','); j >= 0 {
				rest, item = rest[:j], rest[j+1:]
			} else {
				rest, item = "", rest
			}
			if p.header == "Forwarded" {
				item = forwardedFor(item)
			}
			a, ok := parseNode(strings.TrimSpace(item))
			if !ok {
				return last // garbage ends the walk: nothing left of it can be believed
			}
			if !p.trusts(a) {
				return a
			}
			last = a
		}
	}
	return last
}

// forwardedFor returns the for parameter of one element (RFC 7239, section 4).
// A comma inside a quoted string splits it; the pieces then are no address,
// which ends the walk on the safe side.
func forwardedFor(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		k, v, _ := strings.Cut(pair, "=")
		if strings.EqualFold(strings.TrimSpace(k), "for") {
			return strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return ""
}

// parseNode reads an address with or without port, IPv6 with or without brackets.
func parseNode(s string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.Unmap().WithZone(""), true
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		if a, err := netip.ParseAddr(s[1 : len(s)-1]); err == nil {
			return a.Unmap().WithZone(""), true
		}
	}
	return netip.Addr{}, false
}
