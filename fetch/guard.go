// The guard against requests forged into our own network (SSRF).
//
// A name or a URL proves nothing. "http://0x7f.1/" is the loopback to some resolvers,
// "localtest.me" is it to all, and a name may resolve to a public address when it is checked and to
// a private one a moment later, when it is dialed (rebinding). So nothing is judged by its
// spelling. The judge sits in the dialer's control hook: it gets the numeric address of each
// connection that is about to be made, after all parsing and resolving, also of the second try of
// Happy Eyeballs (RFC 8305) and of every redirect's hop.
//
// The built-in list follows the IANA registries of special-purpose addresses for IPv4 and IPv6 (RFC
// 6890 and its updates).

package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"example.com/quire/fetch/internal/call"
)

// Guard decides which addresses may be dialed. The zero value permits public addresses at the ports
// 80 and 443. It must not be changed while it is in use; its methods are safe for concurrent use.
type Guard struct {
	// DenyPrefixes are denied, before anything else is looked at.
	DenyPrefixes []netip.Prefix
	// AllowPrefixes are permitted although the built-in list denies them.
	AllowPrefixes []netip.Prefix
	// AllowPorts replaces 80 and 443.
	AllowPorts []uint16
	// AllowHosts, when set, are the only hosts that may be asked, exact ("api.example") or with
	// what is below (".example"). The client judges them before it resolves, on every hop; the
	// dialer's hook sees addresses only. It narrows: the addresses are judged all the same.
	AllowHosts []string
	// AllowNAT64 permits 64:ff9b::/96 (RFC 6052) when the embedded IPv4 address is permitted.
	AllowNAT64 bool
}

// deniedError is the refusal. Its text does not name the address: whoever reads it may have chosen
// the URL, and would learn what the name resolves to inside. The address is in the event.
type deniedError struct{ what, why string }

func (e *deniedError) Error() string        { return ErrAddressDenied.Error() }
func (e *deniedError) Is(target error) bool { return target == ErrAddressDenied }
func (e *deniedError) Retryable() bool      { return false }
func (e *deniedError) Reason() string       { return "denied" }

// detail is for logs only.
func (e *deniedError) detail() string { return e.what + ": " + e.why }

func prefixes(list ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(list))
	for i, s := range list {
		ps[i] = netip.MustParsePrefix(s)
	}
	return ps
}

// Read only.
var (
	denied4 = prefixes(
		"0.0.0.0/8",       // this network (RFC 791)
		"10.0.0.0/8",      // private (RFC 1918)
		"100.64.0.0/10",   // shared, carrier-grade NAT (RFC 6598)
		"127.0.0.0/8",     // loopback (RFC 1122)
		"169.254.0.0/16",  // link-local, cloud metadata (RFC 3927)
		"172.16.0.0/12",   // private (RFC 1918)
		"192.0.0.0/24",    // protocol assignments (RFC 6890)
		"192.0.2.0/24",    // documentation (RFC 5737)
		"192.31.196.0/24", // AS112 (RFC 7535)
		"192.52.193.0/24", // AMT (RFC 7450)
		"192.88.99.0/24",  // 6to4 relay, deprecated (RFC 7526)
		"192.168.0.0/16",  // private (RFC 1918)
		"192.175.48.0/24", // AS112 (RFC 7534)
		"198.18.0.0/15",   // benchmarking (RFC 2544)
		"198.51.100.0/24", // documentation (RFC 5737)
		"203.0.113.0/24",  // documentation (RFC 5737)
		"224.0.0.0/4",     // multicast (RFC 5771)
		"240.0.0.0/4",     // reserved, broadcast (RFC 1112)
	)
	global6 = netip.MustParsePrefix("2000::/3") // what is assigned for global unicast (RFC 4291)
	denied6 = prefixes(
		"2001::/23",         // protocol assignments, Teredo among them (RFC 2928, RFC 4380)
		"2001:db8::/32",     // documentation (RFC 3849)
		"2002::/16",         // 6to4 (RFC 3056): holds an IPv4 address
		"2620:4f:8000::/48", // AS112 (RFC 7534)
		"3fff::/20",         // documentation (RFC 9637)
	)
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

// Check judges one address and port; the error is ErrAddressDenied.
func (g *Guard) Check(ap netip.AddrPort) error {
	if !ap.IsValid() {
		return &deniedError{"no address", "not a numeric address"}
	}
	if !g.port(ap.Port()) {
		return &deniedError{ap.String(), "port not allowed"}
	}
	if why := g.judge(ap.Addr()); why != "" {
		return &deniedError{ap.String(), why}
	}
	return nil
}

func (g *Guard) port(p uint16) bool {
	if len(g.AllowPorts) == 0 {
		return p == 80 || p == 443
	}
	return slices.Contains(g.AllowPorts, p)
}

// judge returns why a is denied, or nothing.
func (g *Guard) judge(a netip.Addr) string {
	if a.Zone() != "" {
		return "zone"
	}
	a = a.Unmap()
	if within(g.DenyPrefixes, a) {
		return "denied by configuration"
	}
	embedded, isNAT64 := fromNAT64(a)
	if isNAT64 && within(g.DenyPrefixes, embedded) {
		return "denied by configuration"
	}
	switch {
	case within(g.AllowPrefixes, a):
		return ""
	case isNAT64 && g.AllowNAT64:
		return g.judge(embedded)
	case a.Is4() && within(denied4, a), a.Is6() && (!global6.Contains(a) || within(denied6, a)):
		return "not a public address"
	}
	return ""
}

func fromNAT64(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() || !nat64.Contains(a) {
		return netip.Addr{}, false
	}
	b := a.As16()
	return netip.AddrFrom4([4]byte(b[12:])), true
}

func within(ps []netip.Prefix, a netip.Addr) bool {
	for _, p := range ps {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// CheckHost judges the host of a URL by AllowHosts; without any every host passes, and its
// addresses are judged when dialed.
func (g *Guard) CheckHost(host string) error {
	if len(g.AllowHosts) == 0 {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.HasPrefix(name, ".") {
		name = "" // no name at all
	}
	for _, allowed := range g.AllowHosts {
		allowed = strings.ToLower(allowed)
		if name == allowed || strings.HasPrefix(allowed, ".") && strings.HasSuffix(name, allowed) && len(name) > len(allowed) {
			return nil
		}
	}
	return &deniedError{host, "host not allowed"}
}

// ControlContext is for net.Dialer.ControlContext: it refuses the addresses that Check refuses, and
// every network but TCP.
func (g *Guard) ControlContext(_ context.Context, network, address string, _ syscall.RawConn) error {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return &deniedError{network, "not TCP"}
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return &deniedError{address, "not a numeric address"}
	}
	return g.Check(ap)
}

// dial is the guarded dialer's function. The dialer wraps a refusal in an error that names the
// address; it is taken out again.
func (g *Guard) dial(d *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			if denied := deniedIn(err); denied != nil {
				return nil, denied
			}
			return nil, err
		}
		return conn, nil
	}
}

func (g *Guard) validate(c *call.Check) {
	for _, l := range []struct {
		field string
		list  []netip.Prefix
	}{{"Transport.Guard.AllowPrefixes", g.AllowPrefixes}, {"Transport.Guard.DenyPrefixes", g.DenyPrefixes}} {
		for _, p := range l.list {
			if !p.IsValid() || p.Addr().Is4In6() {
				c.Fail(l.field, p, "valid prefixes; IPv4 ones in IPv4 form")
			}
		}
	}
	for _, p := range g.AllowPorts {
		if p == 0 {
			c.Fail("Transport.Guard.AllowPorts", p, "ports from 1 to 65535")
		}
	}
	for _, h := range g.AllowHosts {
		if _, err := netip.ParseAddr(h); err == nil {
			continue
		}
		if h == "" || h == "." || strings.ContainsAny(h, "/:@ *[]") {
			c.Fail("Transport.Guard.AllowHosts", fmt.Sprintf("%q", h), `host names such as "api.example", ".example" for all below, or addresses without brackets`)
		}
	}
}
