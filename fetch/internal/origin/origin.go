// Package origin names the origins of requests (RFC 6454, section 4), keeps state per origin within
// a bound, and redacts addresses for errors and logs.
package origin

import (
	"fmt"
	"net/url"
	"strings"
)

// Key is an origin: comparable, so that state is found without building a string.
// Letter case, a default port and a final dot of the name do not make a difference.
type Key struct {
	TLS  bool
	Host string // lower case, with the port unless it is the scheme's own
}

// Of returns the origin of u. For an address in usual form it allocates nothing.
func Of(u *url.URL) Key {
	k := Key{TLS: u.Scheme == "https" || u.Scheme != "http" && strings.EqualFold(u.Scheme, "https")}
	if usual(u.Host) {
		k.Host = u.Host
		return k
	}
	host, port := u.Host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.IndexByte(host[i:], ']') < 0 {
		host, port = host[:i], host[i+1:]
	}
	if len(host) > 1 && host[len(host)-1] == '.' {
		host = host[:len(host)-1]
	}
	if port == "" || (k.TLS && port == "443") || (!k.TLS && port == "80") {
		k.Host = strings.ToLower(host)
		return k
	}
	if len(host)+1+len(port) == len(u.Host) {
		k.Host = strings.ToLower(u.Host)
		return k
	}
	k.Host = strings.ToLower(host) + ":" + port
	return k
}

// usual tells whether a host is in the form of a key: a name in lower case, or an IPv4 address,
// without a port.
func usual(host string) bool {
	for i := range len(host) {
		if !inNames[host[i]] {
			return false
		}
	}
	return host == "" || host[len(host)-1] != '.'
}

// inNames are the bytes of names and of IPv4 addresses.
var inNames = func() (set [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyz0123456789-_.") {
		set[c] = true
	}
	return set
}()

// String returns the origin as scheme and authority.
func (k Key) String() string {
	if k.TLS {
		return "https://" + k.Host
	}
	return "http://" + k.Host
}

// Redact returns u without userinfo, values of the query, and fragment. Names of the query stay,
// but a member without "=" may be a value by itself and is hidden. What is longer than a text
// should be is cut.
func Redact(u *url.URL) string {
	if u == nil {
		return ""
	}
	c := *u
	c.User, c.Fragment, c.RawFragment = nil, "", ""
	if c.RawQuery != "" {
		c.RawQuery = redactQuery(c.RawQuery)
	}
	if c.Opaque != "" {
		c.Opaque = "_"
	}
	return Cut(c.String())
}

// maxText is how many bytes of what a server wrote, or of an address, an error or a log may quote.
const maxText = 1 << 10

// Cut bounds a text that others have written: what is beyond 1,024 bytes is left out, and said to
// be.
func Cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:maxText], ""), len(text))
}

func redactQuery(q string) string {
	var b strings.Builder
	for i, part := range strings.FieldsFunc(q, func(r rune) bool { return r == '&' || r == ';' }) {
		if i > 0 {
			b.WriteByte('&')
		}
		if name, _, ok := strings.Cut(part, "="); ok {
			b.WriteString(name)
			b.WriteByte('=')
		}
		b.WriteByte('_')
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// Scrub hides in text, which is an error's, what Redact hides in u: errors from below may quote the
// address they failed on. It is for Cut to bound what comes of it: a secret that was cut in two
// would no longer be found.
func Scrub(text string, u *url.URL) string {
	if u == nil {
		return text
	}
	if u.User != nil {
		text = hide(text, u.User.String()+"@", "")
		text = hide(text, u.User.Username()+":***@", "") // as net/url prints it
		text = hide(text, u.User.String(), "_")
		if p, ok := u.User.Password(); ok {
			text = hide(text, p, "_")
		}
	}
	if u.Fragment != "" {
		text = hide(text, "#"+u.EscapedFragment(), "")
		text = hide(text, "#"+u.Fragment, "")
	}
	if u.RawQuery == "" {
		return text
	}
	text = hide(text, u.RawQuery, redactQuery(u.RawQuery))
	for part := range strings.FieldsFuncSeq(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		v := part
		if _, after, ok := strings.Cut(part, "="); ok {
			v = after
		}
		if len(v) <= 3 { // shorter ones hide nothing and would mangle the text
			continue
		}
		text = hide(text, v, "_")
		if plain, err := url.QueryUnescape(v); err == nil {
			text = hide(text, plain, "_")
		}
	}
	return text
}

func hide(text, secret, by string) string {
	if secret == "" || secret == "@" {
		return text
	}
	return strings.ReplaceAll(text, secret, by)
}
