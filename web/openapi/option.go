package openapi

import (
	"encoding/json"
	"net/http"
	"reflect"

	"example.com/quire/web"
)

// setting is what the options below attach to a route.
type setting func(*settings)

type settings struct {
	id, summary, description string
	tags                     []string
	statuses                 []int
	errors                   []int
	security                 []requirement
	public                   bool
	deprecated, hidden       bool
	produces, consumes       []string
	requests, responses      []example
	form                     []Part
}

type requirement struct {
	name   string
	scopes []string
}

// example is a body as JSON, written when the route is made: what is changed later is not in it.
type example struct {
	name string
	text json.RawMessage
	err  error // it has no JSON form
}

func exampleOf(name string, body any) example {
	text, err := marshal(body)
	return example{name, text, err}
}

func (s *settings) success() int {
	if len(s.statuses) > 0 {
		return s.statuses[0]
	}
	return 0
}

// Summary says in a few words what an operation does.
func Summary(text string) web.RouteOption { return option(func(s *settings) { s.summary = text }) }

// Description says more than Summary; it may be CommonMark.
func Description(text string) web.RouteOption {
	return option(func(s *settings) { s.description = text })
}

// ID is the operationId, which must be unique. Default: the route's name, else one
// made of method and path.
func ID(id string) web.RouteOption { return option(func(s *settings) { s.id = id }) }

// Tags put an operation into groups.
func Tags(names ...string) web.RouteOption {
	return option(func(s *settings) { s.tags = append(s.tags, names...) })
}

// Status names the statuses of success; the first is that of an Out whose Status is 0.
func Status(codes ...int) web.RouteOption {
	return option(func(s *settings) { s.statuses = append(s.statuses, codes...) })
}

// Errors names statuses of problems that the handler answers, beside those that
// binding, rules, budgets and security bring with them.
func Errors(codes ...int) web.RouteOption {
	return option(func(s *settings) { s.errors = append(s.errors, codes...) })
}

// Security names a scheme of Info.Security that an operation needs, in place of
// Info.Default. Several are alternatives. It describes; a middleware enforces.
func Security(scheme string, scopes ...string) web.RouteOption {
	return option(func(s *settings) { s.security = append(s.security, requirement{scheme, scopes}) })
}

// Public says that an operation needs none of the schemes.
func Public() web.RouteOption { return option(func(s *settings) { s.public = true }) }

// Deprecated says that an operation should no longer be used.
func Deprecated() web.RouteOption { return option(func(s *settings) { s.deprecated = true }) }

// Hidden leaves an operation out of the description.
func Hidden() web.RouteOption { return option(func(s *settings) { s.hidden = true }) }

// Produces names the media types of the answer's body. Default: application/json,
// or application/octet-stream for []byte.
func Produces(mediaTypes ...string) web.RouteOption {
	return option(func(s *settings) { s.produces = append(s.produces, mediaTypes...) })
}

// Consumes names the media types of the request's body. Default: what the binding takes.
func Consumes(mediaTypes ...string) web.RouteOption {
	return option(func(s *settings) { s.consumes = append(s.consumes, mediaTypes...) })
}

// Part is a part of multipart/form-data.
type Part struct {
	Name, Doc string
	Type      string   // of JSON Schema, such as integer; "": string
	Choices   []string // all that its value can be; nil: any of its type
	File      bool     // it is a file, which has no type
	Many      bool     // it may come several times
	Required  bool
}

// Form describes the parts of multipart/form-data, for a handler that reads them by itself and
// whose Body is []byte. An example of such a body is an object of its parts.
func Form(parts ...Part) web.RouteOption {
	return option(func(s *settings) { s.form = append(s.form, parts...) })
}

// RequestExample shows a body of a request, encoded as JSON by this call.
func RequestExample(name string, body any) web.RouteOption {
	shown := exampleOf(name, body)
	return option(func(s *settings) { s.requests = append(s.requests, shown) })
}

// ResponseExample shows a body of an answer of success, encoded as JSON by this call.
func ResponseExample(name string, body any) web.RouteOption {
	shown := exampleOf(name, body)
	return option(func(s *settings) { s.responses = append(s.responses, shown) })
}

// Describe describes a route whose handler binds and answers by itself: In and Out
// are read as those of Handle, but nothing is done by them. Out may be struct{}.
func Describe[In, Out any]() web.RouteOption {
	return web.Meta(&operation{in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](), described: true})
}

func option(f setting) web.RouteOption { return web.Meta(f) }

// problems are the statuses of errors that an operation can answer, in any case.
func (s *settings) problems(extra ...int) []int {
	seen := map[int]bool{}
	var all []int
	for _, code := range append(extra, s.errors...) {
		if !seen[code] && code >= http.StatusBadRequest {
			seen[code] = true
			all = append(all, code)
		}
	}
	return all
}
