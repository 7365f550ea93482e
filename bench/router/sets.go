package router

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

//go:embed github.txt
var githubRoutes string

// github is a public API as it is: 203 routes, some with five segments.
func github() set {
	var routes []line
	for line := range strings.Lines(githubRoutes) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		for _, method := range fields[1:] {
			routes = append(routes, newLine(method, fields[0]))
		}
	}
	return anyOf("github", "Requests over all routes of GitHub's API version 3, each as often, with unique parameter values.", routes)
}

func anyOf(name, text string, routes []line) set {
	return set{name: name, text: text, routes: routes, asks: func(rng *rand.Rand) ask {
		k := rng.IntN(len(routes))
		return fill(rng, k, routes[k])
	}}
}

// static is a site of 157 pages in sections of different depth.
func static() set {
	sections := []string{"", "doc", "doc/articles", "doc/codewalk", "doc/gopher", "doc/play", "pkg", "pkg/net", "src", "blog", "help/start"}
	pages := []string{"index.html", "install.html", "cmd.html", "faq.html", "spec.html", "effective.html", "root.html", "style.css", "security.html", "debug.html", "race.html", "memory.html", "about.html", "contrib.html", "logo.png"}
	var routes []line
	for _, s := range sections {
		for _, p := range pages {
			if len(routes) == 157 {
				break
			}
			routes = append(routes, newLine(http.MethodGet, "/"+strings.TrimPrefix(s+"/"+p, "/")))
		}
	}
	return anyOf("static", "Requests over 157 static routes in eleven sections, each as often.", routes)
}

// single is one route of n parameters beside a static one.
func single(n int) set {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "/{p%d}", i)
	}
	routes := []line{newLine(http.MethodGet, "/x"+b.String()), newLine(http.MethodGet, "/health")}
	return set{
		name: fmt.Sprintf("params-%d", n), text: fmt.Sprintf("Requests for one route of %d parameters with unique values; a static route stands beside it.", n),
		routes: routes,
		asks:   func(rng *rand.Rand) ask { return fill(rng, 0, routes[0]) },
	}
}

// mixed has literals and parameters side by side at two levels.
func mixed() set {
	routes := []line{
		newLine(http.MethodGet, "/u/new"),
		newLine(http.MethodGet, "/u/{id}"),
		newLine(http.MethodGet, "/u/new/draft"),
		newLine(http.MethodGet, "/u/{id}/posts"),
		newLine(http.MethodGet, "/u/{id}/posts/{post}"),
	}
	return set{
		name: "mixed", text: "/u/new beside /u/{id} and what hangs below both; a third of the values begin with the literal.",
		routes: routes,
		asks: func(rng *rand.Rand) ask {
			k := rng.IntN(len(routes))
			a := fill(rng, k, routes[k])
			if len(a.values) > 0 && rng.IntN(3) == 0 {
				old := a.values[0]
				a.values[0] = "new" + old
				a.path = strings.Replace(a.path, old, a.values[0], 1)
			}
			return a
		},
	}
}

// wrongMethod asks with a method that other routes have and this path has not.
func wrongMethod() set {
	routes := []line{
		newLine(http.MethodGet, "/u/{id}"),
		newLine(http.MethodPut, "/u/{id}"),
		newLine(http.MethodPost, "/orders"),
		newLine(http.MethodGet, "/orders/{order}/lines/{line}"),
	}
	return set{
		name: "method-not-allowed", text: "POST to paths that have GET and PUT only; the answer is 405 with Allow.",
		routes: routes,
		asks: func(rng *rand.Rand) ask {
			return ask{method: http.MethodPost, path: "/u/" + value(rng), route: -1}
		},
	}
}
