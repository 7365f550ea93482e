package convert

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// WantHost describes a valid host.
const WantHost = "a host, alone or with a port, such as assets.example, 192.0.2.1:8443 or [2001:db8::1]"

// HostError is an invalid host of Config.Hosts.
type HostError struct {
	Index  int // in Config.Hosts
	Host   string
	Remedy string // what to write instead; "" if unknown
}

// Error implements error.
func (e *HostError) Error() string {
	text := fmt.Sprintf("want %s, got %.100q", WantHost, e.Host)
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// CheckHost returns a *HostError for an invalid host of Config.Hosts.
func CheckHost(text string) error {
	if _, ok := parseHost(text); !ok {
		return &HostError{Host: text, Remedy: remedy(text)}
	}
	return nil
}

// host is one that pages may read from. Its name is as hostName writes it; port 0 is none.
type host struct {
	name string
	port uint16
}

const mostName = 253 // bytes of a name of DNS, written with its dots (RFC 1035, section 2.3.4)

// parseHost reads a host with or without a port, as an address has it (RFC 3986, section 3.2.2):
// IPv6 in brackets, and names in ASCII, which is what browsers ask for. What has several spellings
// is taken in one.
func parseHost(text string) (h host, ok bool) {
	name, port, ported := strings.Cut(text, ":")
	if rest, ok := strings.CutPrefix(text, "["); ok {
		inside, after, closed := strings.Cut(rest, "]")
		a, err := netip.ParseAddr(inside)
		if port, ported = strings.CutPrefix(after, ":"); err != nil || !closed || a.Is4() || a.Zone() != "" || after != "" && !ported {
			return h, false
		}
		name = inside
	} else if !isName(name) {
		return h, false
	}
	h.name = hostName(name)
	if !ported {
		return h, true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	h.port = uint16(n)
	return h, err == nil && port[0] != '0'
}

// isName reports whether s is a name or an IPv4 address. The underscore is in no name of a host by
// the book, but in some that there are.
func isName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"
	return s != "" && len(s) <= mostName && strings.Trim(s, letters) == "" &&
		s[0] != '.' && s[len(s)-1] != '.' && !strings.Contains(s, "..")
}

// hostName writes a name or an address in the one way by which it is compared.
func hostName(name string) string {
	if a, err := netip.ParseAddr(name); err == nil {
		return a.String()
	}
	return strings.ToLower(name)
}

// remedy says what to write in the place of what is no host, where that can be told.
func remedy(text string) string {
	if a, err := netip.ParseAddr(text); err == nil && a.Is6() && a.Zone() == "" {
		return fmt.Sprintf("write [%s]", a)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r > 0x7f }) {
		return "write the name in ASCII: each part of it that has other letters begins with xn--"
	}
	if strings.HasPrefix(text, "*") || strings.HasPrefix(text, ".") {
		return "name each host"
	}
	if _, rest, ok := strings.Cut(text, "://"); ok {
		if u, err := url.Parse("//" + rest); err == nil && u.Host != text && CheckHost(u.Host) == nil {
			return "write " + u.Host
		}
		return ""
	}
	i := strings.LastIndexByte(text, ':') + 1 // of the port
	if short := text[:i] + strings.TrimLeft(text[i:], "0"); i > 0 && short != text && CheckHost(short) == nil {
		return "write " + short
	}
	return ""
}
