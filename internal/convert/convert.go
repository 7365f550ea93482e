// Package convert turns HTML into a PDF or an image as htmlpdf does, with a policy for what pages
// may read: from the hosts that are named, at public addresses, and from nothing else. It is what
// `quire convert` and POST /v1/convert/html and /image have in common.
package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
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

	// Hosts are those that pages may read from: a name or an address for any port that the guard
	// takes, with a port for that one only.
	Hosts []string
	// Allow are prefixes of addresses beyond the public ones.
	Allow []netip.Prefix
	// Unguarded lets named hosts have any address and port. Danger: pages of strangers then reach
	// what only this machine reaches.
	Unguarded bool

	UserAgent string
	Limits    htmlpdf.Limits
}

// Converter converts pages, several at once. Close it.
type Converter struct {
	*htmlpdf.Converter

	hosts  []string
	client *fetch.Client // nil: no host is named
}

// New returns a Converter. The browser is looked for now, and started by the first page.
func New(c Config) (*Converter, error) {
	v := &Converter{hosts: c.Hosts}
	o := htmlpdf.Options{Browser: c.Browser, NoSandbox: c.NoSandbox, Limits: c.Limits, Resources: v}
	var err error
	if v.Converter, err = htmlpdf.New(o); err != nil || len(c.Hosts) == 0 {
		return v, err
	}
	guard := &fetch.Guard{AllowPrefixes: c.Allow, AllowPorts: []uint16{80, 443}}
	for _, h := range c.Hosts {
		port, err := portOf(h)
		if err != nil {
			return nil, err
		}
		if port != 0 {
			guard.AllowPorts = append(guard.AllowPorts, port)
		}
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

// CheckHost tells what is no host as Config.Hosts has them.
func CheckHost(host string) error {
	_, err := portOf(host)
	return err
}

// portOf reads the port of a host, 0 where it has none.
func portOf(host string) (uint16, error) {
	u, err := url.Parse("//" + host)
	if err != nil || u.Host != host || u.Hostname() == "" || strings.HasSuffix(host, ":") || strings.ContainsAny(host, "*, ") {
		return 0, fmt.Errorf("%w, got %.100q", errHost, host)
	}
	p := u.Port()
	if p == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(p, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%w, got %.100q", errHost, host)
	}
	return uint16(n), nil
}

// WantHost says what a host is.
const WantHost = "a host, alone or with a port, such as assets.example or 192.0.2.1:8443"

var errHost = errors.New("want " + WantHost)

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
	return slices.ContainsFunc(v.hosts, func(h string) bool {
		return strings.EqualFold(strings.Trim(h, "[]"), u.Hostname()) || strings.EqualFold(h, net.JoinHostPort(u.Hostname(), port))
	})
}

// RoundTrip answers what pages ask for; it is for htmlpdf.
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

// Refused collects the hosts that a page asked for in vain because they were not named. Its method
// Missed goes into htmlpdf.Source; Hosts is for when the conversion has returned.
type Refused struct {
	mu    sync.Mutex
	hosts []string
}

// mostRefused bounds what a page makes us remember.
const mostRefused = 20

// Missed notes the host of an address that was not to be read from.
func (r *Refused) Missed(address string, reason error) {
	u, err := url.Parse(address)
	if !errors.Is(reason, errRefused) || err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := u.Hostname(); len(r.hosts) < mostRefused && !slices.Contains(r.hosts, h) {
		r.hosts = append(r.hosts, h)
	}
}

// Hosts are those that were noted, each once, sorted; at most 20.
func (r *Refused) Hosts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.hosts))
}
