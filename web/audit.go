package web

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"os"
	"reflect"
	"time"
)

// Finding is a setting that is looser than the default.
type Finding struct {
	Setting string
	Danger  string
}

// Audit lists every setting looser than the default with its danger. For
// Options{} and routes without budgets it is empty.
func (a *App) Audit() []Finding {
	var out []Finding
	say := func(setting, format string, args ...any) {
		out = append(out, Finding{setting, fmt.Sprintf(format, args...)})
	}
	o := a.opts
	if o.Debug {
		say("Options.Debug", "meant for development: templates are read at every use")
	}
	if o.Problem != nil {
		say("Options.Problem", "what it tells clients of an error is no longer known to hide internals")
	}
	if o.ErrorHandler != nil {
		say("Options.ErrorHandler", "what it answers is no longer known to hide internals")
	}
	if o.CrossOrigin != nil {
		say("Options.CrossOrigin", "origins trusted there may change state in the user's name")
	}
	if o.NoRedirectClean {
		say("Options.NoRedirectClean", "paths with empty segments reach handlers")
	}
	for _, n := range o.ClientIP.trusted {
		say("Options.ClientIP", "whoever is in %s chooses the client's address by %s", n, o.ClientIP.header)
	}
	std := Limits{}.withDefaults()
	bounds(say, "Limits.", []bound{
		{"Body", a.limits.Body, std.Body},
		{"Multipart", a.limits.Multipart, std.Multipart},
		{"Parts", int64(a.limits.Parts), int64(std.Parts)},
		{"File", a.limits.File, std.File},
		{"QueryPairs", int64(a.limits.QueryPairs), int64(std.QueryPairs)},
		{"Cookies", int64(a.limits.Cookies), int64(std.Cookies)},
		{"JSONDepth", int64(a.limits.JSONDepth), int64(std.JSONDepth)},
		{"JSONNodes", int64(a.limits.JSONNodes), int64(std.JSONNodes)},
		{"XMLDepth", int64(a.limits.XMLDepth), int64(std.XMLDepth)},
	})
	for _, r := range a.current().routes {
		where := r.label() + " (" + r.source + ")"
		switch n := r.budgets.BodyBytes; {
		case n < 0:
			say(where, "no limit for bodies")
		case n > std.Body:
			say(where, "bodies of %d bytes in place of %d", n, std.Body)
		}
		if r.decompress {
			say(where, "bodies are unpacked: a client pays less for one than the server")
		}
		if r.laxJSON {
			say(where, "unknown fields of a body are skipped")
		}
		if r.static != nil && r.static.o.List {
			say(where, "directories are listed")
		}
		if r.static != nil && reflect.TypeOf(r.static.fsys) == reflect.TypeOf(os.DirFS(".")) {
			say(where, "os.DirFS follows symbolic links out of the directory; os.Root does not")
		}
	}
	return out
}

// bound is a setting that limits, negative for none.
type bound struct {
	name     string
	got, def int64
}

func bounds(say func(setting, format string, args ...any), prefix string, all []bound) {
	for _, l := range all {
		switch {
		case l.got < 0:
			say(prefix+l.name, "no limit: one request may cost any amount")
		case l.got > l.def:
			say(prefix+l.name, "%d in place of %d", l.got, l.def)
		}
	}
}

// Audit lists every setting of the server that is looser than its default with its danger, and
// those of its App. For a Server with nothing but an App of Options{} it is empty. It is for
// before the first call of Run.
func (s *Server) Audit() []Finding {
	var out []Finding
	say := func(setting, format string, args ...any) {
		out = append(out, Finding{"Server." + setting, fmt.Sprintf(format, args...)})
	}
	if s.App != nil {
		out = s.App.Audit()
	}
	if !loopback(s.Addr) {
		how := "; plain HTTP unless RunTLS is called: whoever is in between reads and changes it"
		if s.TLS != nil {
			how = ""
		}
		say("Addr", "%s is reached from other machines%s", s.Addr, how)
	}
	if s.H2C {
		say("H2C", "HTTP/2 without TLS: only behind a proxy that is known")
	}
	if s.Lane != nil {
		say("Lane", "its answers pass by all middleware: nothing private may be in it")
	}
	if c := s.TLS; c != nil {
		if c.MinVersion != 0 && c.MinVersion < tls.VersionTLS12 {
			say("TLS.MinVersion", "%s is broken", tls.VersionName(c.MinVersion))
		}
		for _, id := range c.CipherSuites {
			for _, weak := range tls.InsecureCipherSuites() {
				if weak.ID == id {
					say("TLS.CipherSuites", "%s is insecure", weak.Name)
				}
			}
		}
		if c.KeyLogWriter != nil {
			say("TLS.KeyLogWriter", "whoever reads it reads all connections")
		}
	}
	for _, t := range []struct {
		name     string
		got, def time.Duration
	}{
		{"ReadHeaderTimeout", s.ReadHeaderTimeout, readHeaderTimeout},
		{"ReadTimeout", s.ReadTimeout, readTimeout},
		{"WriteTimeout", s.WriteTimeout, writeTimeout},
		{"IdleTimeout", s.IdleTimeout, idleTimeout},
	} {
		switch {
		case t.got < 0:
			say(t.name, "no time limit: slow clients hold connections for ever")
		case t.got > t.def:
			say(t.name, "%s in place of %s: slow clients hold connections longer", t.got, t.def)
		}
	}
	bounds(say, "", []bound{
		{"MaxHeaderBytes", int64(s.MaxHeaderBytes), maxHeaderBytes},
		{"MaxConnections", int64(s.MaxConnections), maxConnections},
		{"MaxStreams", int64(s.MaxStreams), maxStreams},
	})
	return out
}

// loopback tells whether only this machine reaches an address. The default is such a one.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	ip, err := netip.ParseAddr(host)
	return addr == "" || host == "localhost" || err == nil && ip.IsLoopback()
}
