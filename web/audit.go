package web

import (
	"fmt"
	"os"
	"reflect"
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
	for _, l := range []struct {
		name     string
		got, def int64
	}{
		{"Body", a.limits.Body, std.Body},
		{"QueryPairs", int64(a.limits.QueryPairs), int64(std.QueryPairs)},
		{"Cookies", int64(a.limits.Cookies), int64(std.Cookies)},
		{"JSONDepth", int64(a.limits.JSONDepth), int64(std.JSONDepth)},
		{"JSONNodes", int64(a.limits.JSONNodes), int64(std.JSONNodes)},
	} {
		switch {
		case l.got < 0:
			say("Limits."+l.name, "no limit: one request may cost any amount")
		case l.got > l.def:
			say("Limits."+l.name, "%d in place of %d", l.got, l.def)
		}
	}
	for _, r := range a.current().routes {
		where := r.label() + " (" + r.source + ")"
		switch n := r.budgets.BodyBytes; {
		case n < 0:
			say(where, "no limit for bodies")
		case n > std.Body:
			say(where, "bodies of %d bytes in place of %d", n, std.Body)
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
