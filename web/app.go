package web

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/internal/httpfield"
	"example.com/quire/internal/route"
	"example.com/quire/web/internal/bind"
)

// Options configure an App. The zero value is the secure profile.
type Options struct {
	// Logger gets errors and panics. Default: slog.Default().
	Logger *slog.Logger
	// Debug never reuses a Context (as Poison) and reloads templates on each
	// use. Danger: slower; meant for development.
	Debug bool
	// Poison never reuses a Context, and any call on one after its handler
	// returned panics, naming the route and its line. Meant for tests.
	Poison bool
	// ErrorHandler answers errors. Default: Context.AnswerError, a problem (RFC 9457) that
	// shows no internals.
	ErrorHandler func(*Context, error)
	// Problem says what AnswerError tells the client of an error: this is where an application
	// gives its own errors, and those of web itself, types of its own. The errors of web are a
	// *Problem without Type, a *BindError, a *ValidationError or one of the Err values. nil means
	// AsProblem, which is also the default. It may be called beside the handler of the request,
	// when a time budget is spent (context.DeadlineExceeded).
	Problem func(error) *Problem
	// Codecs read and write further media types; one of the types built in takes its
	// place. Default: none.
	Codecs []Codec
	// Validator checks what the binding methods read, such as a *validate.Validator.
	// Default: none; to bind a type with rules is then an error.
	Validator Validator
	// Templates renders Context.HTML. Default: none; HTML is then an error.
	Templates Renderer
	// ClientIP tells whose headers name the client. Default: Direct(), the peer's address and no
	// header. Danger: a policy that trusts too much lets clients choose their address.
	ClientIP ClientIPPolicy
	// Limits bound what a request may cost. Zero fields mean their defaults.
	Limits Limits
	// CrossOrigin refuses state changes from other origins. Default: its zero
	// value, which trusts none. Danger: each trusted origin may act as the user.
	CrossOrigin *http.CrossOriginProtection
	// NoRedirectSlash turns off the redirect between /a and /a/.
	NoRedirectSlash bool
	// NoRedirectClean turns off the redirect to the cleaned path: empty segments
	// then reach a rest as they are. Dot segments never do.
	NoRedirectClean bool
}

// Limits bound a request. Zero means the default, a negative value no limit.
type Limits struct {
	Body       int64 // bytes of a request body; default 1 MiB (413); Budgets.BodyBytes overrides it per route
	Multipart  int64 // bytes of a multipart body, where no Budgets say otherwise; default 32 MiB (413)
	Parts      int   // of a multipart body; default 128 (413)
	File       int64 // bytes of one part; default 16 MiB (413)
	QueryPairs int   // default 256 (400)
	Cookies    int   // cookies looked at by Context.Cookie; default 64
	JSONDepth  int   // default 64 (400)
	JSONNodes  int   // values; default 100,000 (400)
	XMLDepth   int   // default 64 (400)
}

func (l Limits) withDefaults() Limits {
	l.Body = cmp.Or(l.Body, 1<<20)
	l.Multipart = cmp.Or(l.Multipart, 32<<20)
	l.File = cmp.Or(l.File, 16<<20)
	l.Parts = cmp.Or(l.Parts, 128)
	l.QueryPairs = cmp.Or(l.QueryPairs, 256)
	l.Cookies = cmp.Or(l.Cookies, 64)
	l.JSONDepth = cmp.Or(l.JSONDepth, 64)
	l.JSONNodes = cmp.Or(l.JSONNodes, 100_000)
	l.XMLDepth = cmp.Or(l.XMLDepth, 64)
	return l
}

// root is the group that an App embeds without a field of that name.
type root = Group

// App is a set of routes and the answers around them. It is an http.Handler,
// safe for concurrent use; routes may be changed while it serves. It has all
// methods of [Group], for the group of all its routes.
type App struct {
	*root
	opts    Options
	limits  Limits
	log     *slog.Logger
	cross   *http.CrossOriginProtection
	keep    bool // Contexts are reused
	pool    sync.Pool
	ids     sync.Pool
	buffers sync.Pool // *buffer
	plans   bind.Plans
	codecs  []*codec
	offers  []string // what Negotiate offers where nothing else is said
	shaped  sync.Map // reflect.Type to *shape
	ruled   sync.Map // reflect.Type to the error of its rules, or nil
	flights flights

	router atomic.Pointer[router] // nil until the first use: many registrations then cost one build

	mu          sync.Mutex // guards what follows; readers use router
	routes      []*Route
	shapes      map[string]*Route // by host, method and pattern shape
	names       map[string]*Route
	groups      []*Group
	constraints map[string]*route.Constraint
	methods     map[string]route.Methods // methods beyond the known ones
}

// router is one immutable state of the App's routes.
type router struct {
	plain   *route.Table[Route]
	hosts   map[string]*route.Table[Route]
	routes  []*Route // in order of registration
	names   map[string]*Route
	methods map[string]route.Methods
	groups  []*answers // most specific first; the App's own, which covers all, is last
	answers map[*Group]*answers
	spelled []string // method names by bit
	allows  [64]atomic.Pointer[allowEntry]
}

// allowEntry caches the Allow value of one set of methods.
type allowEntry struct {
	set   route.Methods
	value []string
}

// New makes an App.
func New(o Options) (*App, error) {
	a := &App{
		opts: o, limits: o.Limits.withDefaults(), log: o.Logger, cross: o.CrossOrigin,
		keep:   !o.Debug && !o.Poison,
		shapes: map[string]*Route{}, names: map[string]*Route{},
		constraints: map[string]*route.Constraint{}, methods: map[string]route.Methods{},
	}
	a.log = cmp.Or(a.log, slog.Default())
	if a.cross == nil {
		a.cross = http.NewCrossOriginProtection()
	}
	if o.ClientIP.err != nil {
		return nil, o.ClientIP.err
	}
	if t, ok := o.Templates.(*Templates); ok && o.Debug {
		t.reload.Store(true)
	}
	a.flights.epoch = time.Now()
	a.plans.File = reflect.TypeFor[*Upload]()
	a.offers = []string{mediaJSON, mediaXML}
	for i, c := range o.Codecs {
		known := newCodec(c)
		if len(known.types) == 0 {
			return nil, &ConfigError{Field: fmt.Sprintf("Options.Codecs[%d]", i), Got: "no media type", Want: "at least one"}
		}
		a.codecs = append(a.codecs, known)
		a.offers = append(a.offers, known.types[0])
	}
	a.root = &Group{app: a}
	a.groups = []*Group{a.root}
	a.pool.New = func() any { return new(Context) }
	a.ids.New = newIDLots
	a.buffers.New = newBuffer
	return a, nil
}

// Constraint adds a named test for parameters, to be used as {name:constraint}
// by routes registered later. ok gets the decoded text, runs on every look-up
// that comes that far and must be safe for concurrent use. Two custom
// constraints, or a custom and a built-in one, are taken to overlap.
func (a *App) Constraint(name string, ok func(string) bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !route.ValidName(name):
		return fmt.Errorf("web: constraint %q: a name is a Go identifier", name)
	case ok == nil:
		return fmt.Errorf("web: constraint %q: no function", name)
	case route.Builtin(name) != nil || a.constraints[name] != nil:
		return fmt.Errorf("web: constraint %q: the name is taken", name)
	}
	a.constraints[name] = route.Custom(name, ok)
	return nil
}

func (a *App) constraintNamed(name string) *route.Constraint {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.constraintLocked(name)
}

func (a *App) constraintLocked(name string) *route.Constraint {
	if c := route.Builtin(name); c != nil {
		return c
	}
	return a.constraints[name]
}

func (a *App) addGroup(g *Group) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.groups = append(a.groups, g)
	a.publish()
}

// change runs f, which alters routes or groups, and publishes the outcome.
func (a *App) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	a.publish()
}

// publish builds the router anew if one is in use. Callers hold mu.
func (a *App) publish() {
	if a.router.Load() != nil {
		a.router.Store(a.build())
	}
}

// current returns the router. Readers never lock, save for the first one.
func (a *App) current() *router {
	if rt := a.router.Load(); rt != nil {
		return rt
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if rt := a.router.Load(); rt != nil {
		return rt
	}
	rt := a.build()
	a.router.Store(rt)
	return rt
}

func (a *App) add(g *Group, method, path string, h Handler, o []RouteOption) (*Route, error) {
	source := callerSource()
	refuse := func(reason string) (*Route, error) {
		return nil, &PatternError{Method: method, Pattern: g.prefix + path, Source: source, Reason: reason}
	}
	if h == nil {
		return refuse("no handler")
	}
	if method != "" && !httpfield.IsToken(method) {
		return refuse(fmt.Sprintf("the method %q is not a token of RFC 9110, section 5.6.2", method))
	}
	if up := strings.ToUpper(method); up != method && route.KnownBit(up) != 0 {
		return refuse(fmt.Sprintf("the method %q is not %s: methods are case-sensitive", method, up))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	p, err := route.Parse(g.prefix+path, a.constraintLocked)
	if err != nil {
		return refuse(err.Error())
	}
	r := &Route{app: a, group: g, method: method, host: g.host, pattern: p, names: p.Names, source: source}
	for _, opt := range o {
		opt.option(r)
	}
	if r.bit, err = a.methodBit(method); err != nil {
		return refuse(err.Error())
	}
	if err := a.conflict(r); err != nil {
		return nil, err
	}
	if r.name != "" {
		if other := a.names[r.name]; other != nil {
			return refuse(fmt.Sprintf("the name %q is taken by %s of %s", r.name, other.label(), other.source))
		}
		a.names[r.name] = r
	}
	r.wrap = g.stack()
	if mw := r.budgets.middleware(); mw != nil {
		r.wrap = append(r.wrap, mw)
	}
	r.Replace(h)
	a.shapes[r.shape()] = r
	a.routes = append(a.routes, r)
	for up := g; up != nil; up = up.parent {
		up.used.CompareAndSwap(nil, r)
	}
	a.publish()
	return r, nil
}

func (r *Route) shape() string { return r.host + " " + r.method + " " + r.pattern.Key() }

func (a *App) remove(r *Route) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.removed {
		return
	}
	r.removed = true
	a.routes = slices.DeleteFunc(slices.Clone(a.routes), func(o *Route) bool { return o == r })
	delete(a.shapes, r.shape())
	if r.name != "" {
		delete(a.names, r.name)
	}
	a.publish()
}

// methodBit returns the bit of a method, giving out a new one when needed.
func (a *App) methodBit(method string) (route.Methods, error) {
	if method == "" {
		return 0, nil
	}
	if bit := route.KnownBit(method); bit != 0 {
		return bit, nil
	}
	if bit := a.methods[method]; bit != 0 {
		return bit, nil
	}
	bit := route.FirstCustom << len(a.methods)
	if bit == 0 {
		return 0, fmt.Errorf("too many methods beyond the standard ones")
	}
	a.methods[method] = bit
	return bit, nil
}

// build makes a router of the present state. Callers hold mu.
func (a *App) build() *router {
	rt := &router{
		hosts: map[string]*route.Table[Route]{}, routes: slices.Clone(a.routes),
		names: maps.Clone(a.names), methods: maps.Clone(a.methods), answers: map[*Group]*answers{},
		spelled: make([]string, 32),
	}
	copy(rt.spelled, route.Known)
	for name, bit := range a.methods {
		for i := range rt.spelled {
			if bit == 1<<i {
				rt.spelled[i] = name
			}
		}
	}
	byHost := map[string][]route.Entry[Route]{}
	for _, r := range a.routes {
		byHost[r.host] = append(byHost[r.host], route.Entry[Route]{Pattern: r.pattern, Method: r.bit, Route: r})
	}
	rt.plain = route.New(byHost[""])
	for host, routes := range byHost {
		if host != "" {
			rt.hosts[host] = route.New(routes)
		}
	}
	for _, g := range a.groups { // parents come before their children
		an := rt.answers[g.parent]
		if an == nil || len(g.mw) > 0 || g.notFound != nil || g.noMethod != nil {
			an = g.answers(an)
			rt.groups = append(rt.groups, an)
		}
		rt.answers[g] = an
	}
	slices.SortStableFunc(rt.groups, func(x, y *answers) int {
		if (x.host != "") != (y.host != "") {
			if x.host != "" {
				return -1
			}
			return 1
		}
		return cmp.Or(len(y.segs)-len(x.segs), route.Compare(x.segs, y.segs))
	})
	return rt
}

func (rt *router) bit(method string) route.Methods {
	if bit := route.KnownBit(method); bit != 0 {
		return bit
	}
	return rt.methods[method]
}

// allow returns the Allow value for a set of methods: sorted, with OPTIONS.
// The slice is shared and must not be changed.
func (rt *router) allow(set route.Methods) []string {
	set |= route.Options
	slot := &rt.allows[(uint32(set)*2654435761)>>26]
	if e := slot.Load(); e != nil && e.set == set {
		return e.value
	}
	var names []string
	for i, name := range rt.spelled {
		if set&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	e := &allowEntry{set, []string{strings.Join(names, ", ")}}
	slot.Store(e)
	return e.value
}

// ServeHTTP answers a request.
func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.serve(w, r, nil)
}

// serve runs h, or what the router finds when h is nil.
func (a *App) serve(w http.ResponseWriter, r *http.Request, h Handler) {
	c := a.acquire(w, r)
	defer a.finish(c)
	a.prepare(c)
	routed := h == nil
	if routed {
		h = a.route(c)
	}
	// A safe request without query, as most are, has nothing that admit looks at.
	if c.m.Bit&(route.Get|route.Head|route.Options) == 0 || r.URL.RawQuery != "" {
		if err := a.admit(c); err != nil {
			h = a.refuse(c, routed, err)
		}
	}
	if r.Body != nil {
		c.limitBody()
	}
	if a.flights.on.Load() {
		a.flights.add(c)
	}
	if err := h(c); err != nil {
		c.Error(err)
	}
}

// prepare sets what every answer carries: a request id, and nosniff, because a
// browser that guesses types turns a text into a script.
func (a *App) prepare(c *Context) {
	header := c.res.w.Header()
	c.res.opened = len(header) > 0
	header["X-Content-Type-Options"] = valueNosniff
	if len(a.opts.ClientIP.trusted) > 0 && c.FromProxy() {
		if id := c.req.Header.Get(headerRequestID); ValidRequestID(id) {
			c.SetRequestID(id)
			return
		}
	}
	id := c.nextID()
	c.id = id[0]
	header[headerRequestID] = id
}

// admit refuses what no handler should see.
func (a *App) admit(c *Context) error {
	if n := a.limits.QueryPairs; n > 0 && c.req.URL.RawQuery != "" && strings.Count(c.req.URL.RawQuery, "&") >= n {
		return NewProblem(http.StatusBadRequest, fmt.Sprintf("the query has more than %d pairs", n), nil)
	}
	// What Check looks at, without its cost for the requests that have none of it.
	if h := c.req.Header; len(h["Sec-Fetch-Site"]) == 0 && len(h["Origin"]) == 0 {
		return nil
	}
	if err := a.cross.Check(c.req); err != nil {
		return NewProblem(http.StatusForbidden, "a state change from another origin is refused", err)
	}
	return nil
}

// refuse answers with err under the middleware of the group that the request is for, so that
// what was refused stands in its access log like everything else.
func (a *App) refuse(c *Context, routed bool, err error) Handler {
	if !routed {
		return func(*Context) error { return err }
	}
	c.refusal = err
	return c.automatic(a.current(), c.route, autoRefused, 0)
}

// finish ends a request: it recovers a panic, commits an empty answer, aborts a
// broken one and takes the Context back.
func (a *App) finish(c *Context) {
	p := recover()
	c.endStream()
	if p != nil {
		c.recovered(p)
	}
	if !c.abort && !c.res.hijacked {
		c.res.end()
	}
	if c.flight.listed {
		a.flights.remove(c)
	}
	if c.form != nil {
		c.form.close()
	}
	if c.body != nil {
		c.body.release()
	}
	abort := c.abort
	if a.keep && p == nil {
		c.clear()
		a.pool.Put(c)
	} else {
		c.returned.Store(true)
	}
	if abort {
		panic(http.ErrAbortHandler)
	}
}

func (a *App) acquire(w http.ResponseWriter, r *http.Request) *Context {
	var c *Context
	if a.keep {
		c = a.pool.Get().(*Context) // the pool holds nothing else
	} else {
		c = new(Context)
	}
	c.init(a, w, r)
	return c
}

// slowAnswer is the time a writer of whole answers gets per chunk.
const slowAnswer = 30 * time.Second
