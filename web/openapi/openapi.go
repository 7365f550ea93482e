// Package openapi makes handlers of typed functions and describes them as OpenAPI
// 3.1, from one declaration:
//
//	type getOrder struct {
//		ID   int  `path:"id" doc:"Number of the order" example:"7"`
//		Full bool `query:"full" default:"false"`
//	}
//
//	type orderAnswer struct {
//		ETag string `header:"ETag"`
//		Body order
//	}
//
//	openapi.Handle(app, "GET", "/orders/{id}", func(ctx context.Context, in *getOrder) (*orderAnswer, error) {
//		...
//	}, openapi.Summary("One order"), openapi.Errors(404))
//
//	doc, err := openapi.Document(app, openapi.Info{Title: "Shop", Version: "1.0"})
//
// # In
//
// The first type is a struct. Fields with a path, query, header or cookie tag are
// bound as Context.Bind does, with default tags. The field Body takes the whole
// body: JSON, or what a codec of the App reads; []byte takes bytes of any type; a
// struct with form tags takes forms and multipart/form-data. A Body that is a pointer
// may be absent. The field Raw, of type *web.Context, gets the Context. Any other
// field is an error: nothing would fill it.
//
// # Out
//
// Of the second type, a struct, the field Status, an int, is the status (0 is the
// first of the option Status, else 200), fields with a header tag are fields of the
// answer unless they are zero, and Body is sent as JSON, []byte as it is. Without Body,
// and for nil, the answer is 204. A handler that answers by Raw itself returns nil.
//
// # Tags
//
// The tags doc, example and deprecated:"true" describe a field, and so do the rules
// of its validate tag, by App.Validator. A named struct becomes a component of its
// name.
package openapi

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/web"
)

// Schemer tells the rules of a validate tag as keywords of JSON Schema, and with an
// empty tag the whole schema of a type that it describes. It is asked of App.Validator;
// a *validate.Validator is one.
type Schemer interface {
	Schema(t reflect.Type, tag string) (keywords map[string]any, required bool)
}

// Handle registers a typed handler. It panics with the error of TryHandle: a wrong
// pattern or type is a mistake in the program, found the first time it starts.
func Handle[In, Out any](r web.Registrar, method, pattern string, h func(context.Context, *In) (*Out, error), o ...web.RouteOption) *web.Route {
	route, err := TryHandle(r, method, pattern, h, o...)
	if err != nil {
		panic(err)
	}
	return route
}

// TryHandle registers a typed handler. What is wrong with its types, their tags and
// rules included, is an error now; so is what is wrong with the pattern.
func TryHandle[In, Out any](r web.Registrar, method, pattern string, h func(context.Context, *In) (*Out, error), o ...web.RouteOption) (*web.Route, error) {
	op := &operation{in: reflect.TypeFor[In](), out: reflect.TypeFor[Out]()}
	wrong := func(err error) (*web.Route, error) {
		return nil, fmt.Errorf("openapi: %s %s at %s: %w", method, pattern, caller(), err)
	}
	if h == nil {
		return wrong(fmt.Errorf("no handler"))
	}
	p, err := op.compile(r.App(), method)
	if err != nil {
		return wrong(err)
	}
	route, err := r.TryHandle(method, pattern, adapt(p, h), append(slices.Clip(o), web.Meta(op))...)
	if err != nil {
		return nil, err
	}
	s, err := op.finish(route)
	if err != nil {
		route.Remove()
		return wrong(err)
	}
	p.status, p.produces = s.success(), s.produces
	return route, nil
}

// adapt is the handler that binds, calls h and answers.
func adapt[In, Out any](p *plan, h func(context.Context, *In) (*Out, error)) web.Handler {
	return func(c *web.Context) error {
		in := new(In)
		v := reflect.ValueOf(in).Elem()
		if p.body == bodyNeeded && emptyBody(c.Request()) {
			return web.BindErrors{{Source: "body", Kind: web.BindMissing, Want: "a body"}}
		}
		if p.rawBody {
			data, err := c.Body()
			if err != nil {
				return err
			}
			body := v.FieldByIndex(p.bodyIndex)
			if p.body == bodyMay {
				if len(data) > 0 {
					body.Set(reflect.New(body.Type().Elem()))
					body.Elem().SetBytes(data)
				}
			} else {
				body.SetBytes(data)
			}
		}
		if err := p.bind(c, in); err != nil {
			return err
		}
		if p.raw != nil {
			v.FieldByIndex(p.raw).Set(reflect.ValueOf(c))
		}
		out, err := h(c.Context(), in)
		switch {
		case err != nil:
			return err
		case out != nil:
			return p.answer(c, reflect.ValueOf(out).Elem())
		case c.Answered():
			return nil
		}
		return c.NoContent(http.StatusNoContent)
	}
}

func emptyBody(r *http.Request) bool {
	return r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0
}

// caller is the place outside of this package that registers.
func caller() string {
	for skip := 2; ; skip++ {
		pc, file, line, ok := runtime.Caller(skip)
		if !ok {
			return "unknown:0"
		}
		if f := runtime.FuncForPC(pc); f != nil && strings.HasPrefix(f.Name(), packagePath+".") && !strings.HasSuffix(file, "_test.go") {
			continue
		}
		return filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file) + ":" + strconv.Itoa(line)
	}
}

var packagePath = reflect.TypeFor[Info]().PkgPath()
