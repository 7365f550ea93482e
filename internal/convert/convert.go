// Package convert converts HTML to a PDF or an image with htmlpdf, under a policy for what pages
// may read: the configured hosts, at public addresses, and nothing else. `quire convert` and the
// routes POST /v1/convert/html and /image use it.
package convert

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"example.com/quire/fetch"
	"example.com/quire/pdf/htmlpdf"
)

// errRefused is the reason for which a page does not get what is at a host that was not named.
var errRefused = errors.New("the host is not among those that may be read from")

// Config says what to convert with. The zero value finds the browser itself and reads from nowhere.
type Config struct {
	Browser   string // as htmlpdf.Options
	NoSandbox bool   //

	// Hosts are those that pages may read from, as WantHost says: a host alone at the ports 80 and
	// 443, a host with a port at that port alone.
	Hosts []string
	// Allow are prefixes of addresses beyond the public ones.
	Allow []netip.Prefix
	// Unguarded lets named hosts have any address, and those without a port any port. Danger: pages
	// of strangers then reach what only this machine reaches.
	Unguarded bool

	UserAgent string
	Limits    htmlpdf.Limits
}

// Converter converts pages, several at once. Close it.
type Converter struct {
	*htmlpdf.Converter

	hosts   []host
	anyPort bool          // of hosts without one
	client  *fetch.Client // nil: no host is named
}

// New returns a Converter. The browser is looked up now, and started by the first page. An invalid
// host is a *HostError.
func New(c Config) (*Converter, error) {
	v := &Converter{anyPort: c.Unguarded}
	guard := &fetch.Guard{AllowPrefixes: c.Allow, AllowPorts: []uint16{80, 443}}
	for i, text := range c.Hosts {
		h, ok := parseHost(text)
		if !ok {
			return nil, &HostError{Index: i, Host: text, Remedy: remedy(text)}
		}
		v.hosts = append(v.hosts, h)
		if h.port != 0 { // of this host: which has which is judged by reads
			guard.AllowPorts = append(guard.AllowPorts, h.port)
		}
	}
	o := htmlpdf.Options{Browser: c.Browser, NoSandbox: c.NoSandbox, Limits: c.Limits, Resources: v}
	var err error
	if v.Converter, err = htmlpdf.New(o); err != nil || len(c.Hosts) == 0 {
		return v, err
	}
	if c.Unguarded {
		guard = nil
	}
	v.client, err = fetch.New(fetch.Config{
		UserAgent: cmp.Or(c.UserAgent, "Quire"), Total: c.Limits.Time, MaxRedirects: -1, // the browser follows, and asks anew
		Transport: fetch.TransportConfig{Guard: guard},
	})
	return v, err
}

// Reads reports whether pages may read from an address.
func (v *Converter) Reads(address string) bool {
	u, err := url.Parse(address)
	return err == nil && v.reads(u)
}

func (v *Converter) reads(u *url.URL) bool {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return false
	}
	name := hostName(u.Hostname())
	return slices.ContainsFunc(v.hosts, func(h host) bool {
		if h.port == 0 {
			return h.name == name && (v.anyPort || n == 80 || n == 443)
		}
		return h.name == name && uint64(h.port) == n
	})
}

// RoundTrip answers the requests of pages; it is for htmlpdf.
func (v *Converter) RoundTrip(r *http.Request) (*http.Response, error) {
	if !v.reads(r.URL) {
		return nil, errRefused
	}
	return v.client.Transport().RoundTrip(r)
}

// Close ends the browser and the connections.
func (v *Converter) Close(ctx context.Context) error {
	err := v.Converter.Close()
	if v.client == nil {
		return err
	}
	return errors.Join(err, v.client.Close(ctx))
}

// Refused collects the hosts that a page requested and that are not configured. Its method Missed
// is for htmlpdf.Source; Hosts is for use after the conversion has returned.
type Refused struct {
	mu    sync.Mutex
	hosts []string
	bytes int // of hosts
}

// What a page makes us remember, and answers tell in a header field, has bounds.
const (
	mostRefused      = 20
	mostRefusedBytes = 3 << 10
)

// Missed notes the host of an address that was not to be read from. What is longer than a name can
// be is nothing that anybody could allow.
func (r *Refused) Missed(address string, reason error) {
	u, err := url.Parse(address)
	if !errors.Is(reason, errRefused) || err != nil {
		return
	}
	h := u.Hostname()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(h) > mostName || len(r.hosts) == mostRefused || r.bytes+len(h) > mostRefusedBytes || slices.Contains(r.hosts, h) {
		return
	}
	r.hosts, r.bytes = append(r.hosts, h), r.bytes+len(h)
}

// Hosts are those that were noted, each once, sorted; at most 20.
func (r *Refused) Hosts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.hosts))
}
