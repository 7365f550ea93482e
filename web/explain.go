package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/quire/internal/route"
)

// Explanation tells how a request would be routed.
type Explanation struct {
	Method, Host, Path string
	Status             int    // of an automatic answer; 0 when a route answers
	Location           string // of an automatic redirect
	Allow              string // of 405 and an automatic OPTIONS
	Route              *RouteInfo
	Candidates         []Candidate // every route, the chosen one first, then those that match the path
}

// Candidate is one route and why it was chosen or not.
type Candidate struct {
	Route   RouteInfo
	Won     bool
	Matched bool // host and path match
	Reason  string
}

// String writes the explanation for people.
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s%s: ", e.Method, e.Host, e.Path)
	switch {
	case e.Route != nil:
		fmt.Fprintf(&b, "%s %s%s (%s)\n", cmp.Or(e.Route.Method, "any"), e.Route.Host, e.Route.Pattern, e.Route.Source)
	case e.Location != "":
		fmt.Fprintf(&b, "%d to %s\n", e.Status, e.Location)
	case e.Allow != "":
		fmt.Fprintf(&b, "%d, Allow: %s\n", e.Status, e.Allow)
	default:
		fmt.Fprintf(&b, "%d\n", e.Status)
	}
	for _, c := range e.Candidates {
		mark := "-"
		if c.Won {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %s %s%s (%s): %s\n", mark, cmp.Or(c.Route.Method, "any"), c.Route.Host, c.Route.Pattern, c.Route.Source, c.Reason)
	}
	return b.String()
}

// Explain tells how the App would route a request. target is a path, or a URL
// with host.
func (a *App) Explain(method, target string) Explanation {
	u, err := url.Parse(target)
	if err != nil {
		return Explanation{Method: method, Path: target, Status: http.StatusBadRequest}
	}
	r := &http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	c := new(Context)
	c.init(a, headerOnly{}, r)
	a.route(c)
	e := Explanation{Method: method, Host: r.Host, Path: u.EscapedPath()}
	if e.Allow = c.res.w.Header().Get("Allow"); c.route == nil {
		e.Status = map[autoKind]int{
			autoNotFound: http.StatusNotFound, autoMethod: http.StatusMethodNotAllowed,
			autoOptions: http.StatusNoContent, autoRedirect: http.StatusTemporaryRedirect,
		}[c.auto]
		e.Location = c.location
	} else {
		info := c.route.Info()
		e.Route = &info
	}
	path, _ := route.Canonical(u)
	for _, o := range a.current().routes {
		e.Candidates = append(e.Candidates, explainRoute(o, c.route, method, hostName(r.Host), path))
	}
	slices.SortStableFunc(e.Candidates, func(x, y Candidate) int {
		return cmp.Or(boolCompare(y.Won, x.Won), boolCompare(y.Matched, x.Matched))
	})
	return e
}

func boolCompare(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// headerOnly is a writer for a request that is routed and not answered.
type headerOnly http.Header

func (h headerOnly) Header() http.Header         { return http.Header(h) }
func (h headerOnly) Write(p []byte) (int, error) { return len(p), nil }
func (h headerOnly) WriteHeader(int)             {}

func explainRoute(r, won *Route, method, host, path string) Candidate {
	c := Candidate{Route: r.Info()}
	if r.host != "" && r.host != host {
		c.Reason = "the host differs"
		return c
	}
	if why := r.pattern.Mismatch(path); why != "" {
		c.Reason = why
		return c
	}
	c.Matched = true
	head := method == http.MethodHead && r.method == http.MethodGet
	switch {
	case r == won:
		c.Won, c.Reason = true, "the most specific match"
	case r.method != "" && r.method != method && !head:
		c.Reason = "takes " + r.method + " only"
	case won == nil:
		c.Reason = "matches, but a redirect comes first"
	case r.host == "" && won.host != "":
		c.Reason = "a route with the host comes first"
	default:
		c.Reason = r.pattern.Weaker(won.pattern)
	}
	return c
}

// Routes lists the routes by host, pattern and method.
func (a *App) Routes() []RouteInfo {
	routes := a.current().routes
	out := make([]RouteInfo, len(routes))
	for i, r := range routes {
		out[i] = r.Info()
	}
	slices.SortFunc(out, func(x, y RouteInfo) int {
		return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.Pattern, y.Pattern), cmp.Compare(x.Method, y.Method))
	})
	return out
}

// Tree prints the routes as a tree of segments, the same for the same routes
// whatever the order of registration.
func (a *App) Tree() string {
	type branch struct {
		text string
		kids []*branch
		says []string
	}
	root := &branch{}
	for _, r := range a.current().routes {
		at := root
		steps := []string{cmp.Or(r.host, "*")}
		for _, s := range r.pattern.Segs {
			steps = append(steps, "/"+s.String())
		}
		for _, step := range steps {
			k := slices.IndexFunc(at.kids, func(b *branch) bool { return b.text == step })
			if k < 0 {
				k = len(at.kids)
				at.kids = append(at.kids, &branch{text: step})
			}
			at = at.kids[k]
		}
		says := cmp.Or(r.method, "any")
		if r.name != "" {
			says += " (" + r.name + ")"
		}
		at.says = append(at.says, says)
	}
	var b strings.Builder
	var write func(at *branch, depth int)
	write = func(at *branch, depth int) {
		slices.Sort(at.says)
		slices.SortFunc(at.kids, func(x, y *branch) int { return cmp.Compare(x.text, y.text) })
		if depth >= 0 {
			b.WriteString(strings.Repeat("  ", depth) + at.text)
			if len(at.says) > 0 {
				b.WriteString("  " + strings.Join(at.says, ", "))
			}
			b.WriteByte('\n')
		}
		for _, kid := range at.kids {
			write(kid, depth+1)
		}
	}
	write(root, -1)
	return b.String()
}

// URL returns the path of a named route, with //host before it when the route
// has one. kv are names and values of its parameters in turn; values are written
// by fmt.Sprint, checked against the constraint and escaped, so that the route
// takes what URL returns.
func (a *App) URL(name string, kv ...any) (string, error) {
	r := a.current().names[name]
	fail := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("web: URL of %q: "+format, append([]any{name}, args...)...)
	}
	if r == nil {
		return fail("no such route")
	}
	if len(kv)%2 != 0 {
		return fail("a name without value")
	}
	values := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		key := fmt.Sprint(kv[i])
		if !slices.Contains(r.pattern.Names, key) || key == "" {
			return fail("no parameter %q", key)
		}
		values[key] = fmt.Sprint(kv[i+1])
	}
	path, err := r.pattern.URL(values)
	if err != nil {
		return fail("%w", err)
	}
	if r.host != "" {
		return "//" + r.host + path, nil
	}
	return path, nil
}
