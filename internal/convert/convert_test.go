package convert

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/quire/fetch"
	"example.com/quire/pdf/htmlpdf"
)

// converter makes one whose browser nobody starts.
func converter(t *testing.T, c Config) *Converter {
	t.Helper()
	c.Browser = filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(c.Browser, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // G306: a program
		t.Fatal(err)
	}
	v, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return v
}

// TestAHostIsReadAtItsOwnPortsOnly: a host alone stands for the ports 80 and 443, one with a port
// for that port; a port of one is none of another.
func TestAHostIsReadAtItsOwnPortsOnly(t *testing.T) {
	t.Parallel()
	hosts := []string{"Assets.example", "files.example:8443", "192.0.2.1", "[2001:DB8:0::1]:81"}
	for address, want := range map[string][2]bool{ // guarded, unguarded
		"https://assets.example/a.css":      {true, true},
		"http://ASSETS.example:80/":         {true, true},
		"http://assets.example:443/":        {true, true},
		"https://assets.example:8443/":      {false, true},
		"http://assets.example:81/":         {false, true},
		"http://assets.example:0/":          {false, true},
		"https://files.example:8443/x":      {true, true},
		"https://files.example/x":           {false, false},
		"http://192.0.2.1/":                 {true, true},
		"http://192.0.2.1:81/":              {false, true},
		"http://[2001:db8::1]:81/":          {true, true},
		"http://[2001:db8::1]/":             {false, false},
		"https://sub.assets.example/":       {false, false},
		"https://assets.example.evil.test/": {false, false},
		"ftp://assets.example/":             {false, false},
		"file:///etc/passwd":                {false, false},
	} {
		for i, unguarded := range []bool{false, true} {
			v := converter(t, Config{Hosts: hosts, Unguarded: unguarded})
			if got := v.Reads(address); got != want[i] {
				t.Errorf("%s, unguarded %t: %t", address, unguarded, got)
			}
		}
	}
}

// TestAPortOfOneHostIsNotOpenAtAnother: not even where the guard has to let the port pass.
func TestAPortOfOneHostIsNotOpenAtAnother(t *testing.T) {
	t.Parallel()
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	u, err := url.Parse(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	v := converter(t, Config{Hosts: []string{"127.0.0.1", "files.example:" + u.Port()}, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, other.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := v.RoundTrip(r)
	if err == nil {
		_ = res.Body.Close() // it should not be there
	}
	if !errors.Is(err, errRefused) || asked {
		t.Errorf("%v, asked %t", err, asked)
	}
	// What is named is judged by its address all the same.
	v = converter(t, Config{Hosts: []string{"127.0.0.1:" + u.Port()}})
	if res, err = v.RoundTrip(r); err == nil {
		_ = res.Body.Close() // it should not be there
	}
	if !errors.Is(err, fetch.ErrAddressDenied) || asked {
		t.Errorf("%v, asked %t", err, asked)
	}
}

// TestWhatIsNoHostIsToldWithItsPlaceAndARemedy: hosts have one spelling, which is that of
// addresses.
func TestWhatIsNoHostIsToldWithItsPlaceAndARemedy(t *testing.T) {
	t.Parallel()
	for text, remedy := range map[string]string{
		"":                              "",
		":80":                           "",
		"assets.example:":               "",
		"assets.example:0":              "",
		"assets.example:080":            "write assets.example:80",
		"assets.example:65536":          "",
		"assets.example:-1":             "",
		"assets.example:80:80":          "",
		"2001:db8::1":                   "write [2001:db8::1]",
		"::1":                           "write [::1]",
		"[::1":                          "",
		"[::1]80":                       "",
		"[::1]:":                        "",
		"[::1]:080":                     "write [::1]:80",
		"[fe80::1%eth0]":                "",
		"[127.0.0.1]":                   "",
		"bücher.example":                "write the name in ASCII: each part of it that has other letters begins with xn--",
		"assets.example/x":              "",
		"https://assets.example/x":      "write assets.example",
		"https://me@assets.example:81/": "write assets.example:81",
		"me@assets.example":             "",
		"*.example":                     "name each host",
		".example":                      "name each host",
		"a..example":                    "",
		"assets.example.":               "",
		"a b":                           "",
		"a%41.example":                  "",
		strings.Repeat("a", 254):        "",
	} {
		var wrong *HostError
		err := CheckHost(text)
		if !errors.As(err, &wrong) || wrong.Host != text || wrong.Remedy != remedy || !strings.Contains(err.Error(), WantHost) || !strings.Contains(err.Error(), remedy) {
			t.Errorf("%q: %v, remedy %+v", text, err, wrong)
		}
		if _, err := New(Config{Hosts: []string{"assets.example", text}}); !errors.As(err, &wrong) || wrong.Index != 1 || wrong.Host != text {
			t.Errorf("New with %q: %v", text, err)
		}
	}
	for _, text := range []string{"assets.example", "a_b.example:8443", "192.0.2.1", "192.0.2.1:1", "[::1]", "[2001:db8::1]:65535", "xn--bcher-kva.example"} {
		if err := CheckHost(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRefusedHostsAreBounded: by their number, by their bytes, and by what a name can be.
func TestRefusedHostsAreBounded(t *testing.T) {
	t.Parallel()
	var r Refused
	r.Missed("https://"+strings.Repeat("a", 254)+"/", errRefused)
	r.Missed("https://reached.example/", htmlpdf.ErrBrowser)
	if got := r.Hosts(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	for i := range 30 {
		r.Missed(fmt.Sprintf("https://h%02d.example/", i), errRefused)
		r.Missed(fmt.Sprintf("https://h%02d.example/again", i), errRefused)
	}
	if got := r.Hosts(); len(got) != 20 || !slices.IsSorted(got) || got[0] != "h00.example" || got[19] != "h19.example" {
		t.Errorf("%q", got)
	}
	var long Refused
	for i := range 20 {
		long.Missed(fmt.Sprintf("https://%s%02d/", strings.Repeat("a", 250), i), errRefused)
	}
	if got := long.Hosts(); len(got) != 12 {
		t.Errorf("%d long hosts", len(got))
	}
}
