package middleware

import (
	"net/http"
	"net/netip"
	"strings"

	"example.com/quire/web"
)

// IPFilterOptions configure IPFilter. Entries are addresses or networks in CIDR
// form; an IPv4 address mapped into IPv6 counts as the IPv4 address.
type IPFilterOptions struct {
	// Allow lists who may come. Default: everyone.
	Allow []string
	// Deny lists who may not; it goes before Allow. Default: nobody.
	Deny []string
}

// IPFilter answers 403 to clients by their address, as Context.ClientIP tells it:
// behind a proxy that is only as true as the App's ClientIP policy. A client
// without address, as on a Unix socket, is refused where there is an Allow list.
func IPFilter(o IPFilterOptions) (web.Middleware, error) {
	allow, err := networks("IPFilterOptions.Allow", o.Allow)
	if err != nil {
		return nil, err
	}
	deny, err := networks("IPFilterOptions.Deny", o.Deny)
	if err != nil {
		return nil, err
	}
	if len(allow)+len(deny) == 0 {
		return nil, &web.ConfigError{Field: "IPFilterOptions", Got: "no address", Want: "who may come or who may not"}
	}
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			addr := c.ClientIP().Unmap().WithZone("")
			if within(deny, addr) || len(allow) > 0 && !within(allow, addr) {
				return web.NewProblem(http.StatusForbidden, "this address may not come here", web.ErrForbidden)
			}
			return next(c)
		}
	}, nil
}

func within(nets []netip.Prefix, addr netip.Addr) bool {
	for _, n := range nets {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}

func networks(field string, list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if !strings.Contains(s, "/") {
			var a netip.Addr
			if a, err = netip.ParseAddr(s); err == nil {
				a = a.Unmap().WithZone("")
				p = netip.PrefixFrom(a, a.BitLen())
			}
		} else if err == nil && p.Addr().Is4In6() {
			if p.Bits() < 96 {
				return nil, &web.ConfigError{Field: field, Got: s, Want: "a network within the mapped addresses"}
			}
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		if err != nil {
			return nil, &web.ConfigError{Field: field, Got: s, Want: "an address or a network such as 192.0.2.0/24"}
		}
		out = append(out, p.Masked())
	}
	return out, nil
}
