package router

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"example.com/quire/internal/route"
)

// bare is the look-up of web alone, as small a handler around it as the peers are: what the App
// does for each request beside it is in the rows of the suite web-app.
type bare struct {
	table *route.Table[target]
	pool  sync.Pool
	allow map[route.Methods][]string
}

type target struct {
	names []string
	serve func(http.ResponseWriter, *visit)
}

// visit is what one request needs.
type visit struct {
	target  *target
	path    string
	escaped bool
	match   route.Match[target]
}

func (v *visit) param(name string) string {
	i := slices.Index(v.target.names, name)
	if i < 0 {
		return ""
	}
	value := v.match.Value(v.path, i)
	if v.escaped {
		value = route.DecodeValue(value)
	}
	return value
}

func quireRouter(routes []line, seen *probe) (http.Handler, error) {
	b := &bare{allow: map[route.Methods][]string{}}
	b.pool.New = func() any { return new(visit) }
	entries := make([]route.Entry[target], len(routes))
	for i, r := range routes {
		p, err := route.Parse(r.pattern, route.Builtin)
		if err != nil {
			return nil, fmt.Errorf("pattern %s: %w", r.pattern, err)
		}
		entries[i] = route.Entry[target]{Pattern: p, Method: route.KnownBit(r.method), Route: &target{p.Names, func(w http.ResponseWriter, v *visit) {
			seen.see(i, r.names, v.param)
			w.WriteHeader(http.StatusNoContent)
		}}}
	}
	b.table = route.New(entries)
	return b, nil
}

// ServeHTTP is called by one goroutine: see allow.
func (b *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := b.pool.Get().(*visit) // the pool holds nothing else
	v.match.Reset(route.KnownBit(r.Method))
	v.target, v.path, v.escaped = b.table.Find(r.URL, &v.match)
	switch {
	case v.target != nil:
		v.target.serve(w, v)
	case v.match.Allow != 0:
		w.Header()["Allow"] = b.methods(v.match.Allow)
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	b.pool.Put(v)
}

// methods words a set of methods, each set once.
func (b *bare) methods(set route.Methods) []string {
	if value := b.allow[set]; value != nil {
		return value
	}
	var names []string
	for i, name := range route.Known {
		if set&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	value := []string{strings.Join(names, ", ")}
	b.allow[set] = value
	return value
}
