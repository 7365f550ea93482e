package openapi

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/quire/web"
)

// operation is what a route keeps of its types.
type operation struct {
	in, out   reflect.Type
	described bool // by Describe
	params    []param
	body      *reflect.StructField
	headers   []reflect.StructField
	answer    *reflect.StructField // Body of out
}

// param is a field of In beside the body.
type param struct {
	in, name string
	field    reflect.StructField
}

type bodyKind int

const (
	bodyNone bodyKind = iota
	bodyMay
	bodyNeeded
)

// plan is how a typed handler binds and answers.
type plan struct {
	body      bodyKind
	rawBody   bool // []byte
	bodyIndex []int
	raw       []int // of the field Raw, nil without

	status      int
	produces    []string
	statusIndex []int
	headers     []headerField
	answerIndex []int
	answerBytes bool
}

type headerField struct {
	name  string
	index []int
}

var places = [...]string{"path", "query", "header", "cookie"}

// compile reads the types.
func (op *operation) compile(app *web.App, method string) (*plan, error) {
	if op.in.Kind() != reflect.Struct || op.out.Kind() != reflect.Struct {
		return nil, fmt.Errorf("types %s and %s: both are structs", op.in, op.out)
	}
	if method == "" {
		return nil, errors.New("a typed handler has a method of its own")
	}
	if err := app.CheckBind(op.in); err != nil {
		return nil, err
	}
	p := &plan{}
	for _, sf := range reflect.VisibleFields(op.in) {
		place := placeOf(sf)
		switch {
		case place != "":
			op.params = append(op.params, param{place, sf.Tag.Get(place), sf})
		case sf.Name == "Body" && len(sf.Index) == 1 && sf.Tag.Get("json") == "":
			if method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions || method == "TRACE" {
				return nil, fmt.Errorf("field Body of %s: %s has no body", op.in, method)
			}
			op.body, p.body, p.bodyIndex = &sf, bodyNeeded, sf.Index
			if sf.Type.Kind() == reflect.Pointer {
				p.body = bodyMay
			}
			p.rawBody = isBytes(sf.Type) || sf.Type.Kind() == reflect.Pointer && isBytes(sf.Type.Elem())
		case sf.Type == reflect.TypeFor[*web.Context]() && sf.IsExported():
			p.raw = sf.Index
		case sf.Anonymous:
		default:
			return nil, fmt.Errorf("field %s of %s: nothing fills it; it has no path, query, header or cookie tag and is not in Body", sf.Name, op.in)
		}
	}
	for _, sf := range reflect.VisibleFields(op.out) {
		switch name, isHeader := sf.Tag.Lookup("header"); {
		case sf.Name == "Status" && sf.Type.Kind() == reflect.Int && !isHeader:
			p.statusIndex = sf.Index
		case isHeader && sf.IsExported() && headerType(sf.Type):
			op.headers = append(op.headers, sf)
			p.headers = append(p.headers, headerField{name, sf.Index})
		case sf.Name == "Body" && !isHeader:
			op.answer, p.answerIndex, p.answerBytes = &sf, sf.Index, isBytes(sf.Type)
		case sf.Anonymous:
		default:
			return nil, fmt.Errorf("field %s of %s: it is neither Status, an int, nor Body, and has no header tag that fits its type", sf.Name, op.out)
		}
	}
	slices.SortStableFunc(op.params, func(a, b param) int {
		return slices.Index(places[:], a.in) - slices.Index(places[:], b.in)
	})
	b := &builder{app: app}
	b.operationTypes(op)
	return p, errors.Join(b.errs...)
}

// finish checks what only the registered route tells.
func (op *operation) finish(route *web.Route) (settings, error) {
	info := route.Info()
	s := gather(info.Meta)
	names := paramNames(info.Pattern)
	for _, p := range op.params {
		if p.in == "path" && !slices.Contains(names, p.name) {
			return s, fmt.Errorf("field %s of %s: the pattern has no {%s}", p.field.Name, op.in, p.name)
		}
	}
	for _, code := range s.statuses {
		if code < 200 || code > 399 {
			return s, fmt.Errorf("option Status(%d): success is 200 to 399", code)
		}
	}
	for _, code := range s.errors {
		if code < 400 || code > 599 {
			return s, fmt.Errorf("option Errors(%d): errors are 400 to 599", code)
		}
	}
	return s, nil
}

func gather(meta []any) settings {
	var s settings
	for _, m := range meta {
		if f, ok := m.(setting); ok {
			f(&s)
		}
	}
	return s
}

// paramNames are the names of a pattern's parameters.
func paramNames(pattern string) []string {
	var names []string
	for rest := pattern; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			return names
		}
		inside, behind, _ := strings.Cut(after, "}")
		name, _, _ := strings.Cut(strings.TrimSuffix(inside, "..."), ":")
		if name != "$" && name != "" {
			names = append(names, name)
		}
		rest = behind
	}
}

func placeOf(sf reflect.StructField) string {
	for _, place := range places {
		if _, ok := sf.Tag.Lookup(place); ok {
			return place
		}
	}
	return ""
}

// pointed is what a pointer leads to, t itself where it is none.
func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

func headerType(t reflect.Type) bool {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	k := t.Kind()
	return k == reflect.String || k == reflect.Bool || k >= reflect.Int && k <= reflect.Float64 || t == reflect.TypeFor[time.Time]() ||
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// bind fills in from the request.
func (p *plan) bind(c *web.Context, in any) error {
	if !p.rawBody {
		return c.Bind(in)
	}
	var all web.BindErrors
	for _, part := range []func(any) error{c.BindPath, c.BindQuery, c.BindHeader, c.BindCookie} {
		err := part(in)
		if faults, ok := errors.AsType[web.BindErrors](err); ok {
			all = append(all, faults...)
		} else if err != nil {
			return err
		}
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

// answer sends what out says.
func (p *plan) answer(c *web.Context, out reflect.Value) error {
	for _, h := range p.headers {
		v := out.FieldByIndex(h.index)
		if v.IsZero() {
			continue
		}
		if v.Kind() == reflect.Slice {
			c.Writer().Header().Del(h.name)
			for i := range v.Len() {
				values := c.Writer().Header()[http.CanonicalHeaderKey(h.name)]
				if err := c.SetHeader(h.name, headerText(v.Index(i))); err != nil { // which refuses control characters
					return err
				}
				key := http.CanonicalHeaderKey(h.name)
				c.Writer().Header()[key] = append(slices.Clip(values), c.Writer().Header()[key]...)
			}
			continue
		}
		if err := c.SetHeader(h.name, headerText(v)); err != nil {
			return err
		}
	}
	status := p.status
	if p.statusIndex != nil {
		if given := int(out.FieldByIndex(p.statusIndex).Int()); given != 0 {
			status = given
		}
	}
	if p.answerIndex == nil {
		status = cmp.Or(status, http.StatusNoContent)
		return c.NoContent(status)
	}
	status = cmp.Or(status, http.StatusOK)
	if status == http.StatusNoContent || status == http.StatusNotModified {
		return c.NoContent(status)
	}
	body := out.FieldByIndex(p.answerIndex)
	if p.answerBytes {
		kind := c.Writer().Header().Get("Content-Type")
		if kind == "" {
			kind = "application/octet-stream"
			if len(p.produces) > 0 {
				kind = p.produces[0]
			}
		}
		return c.Blob(status, kind, body.Bytes())
	}
	return c.JSON(status, body.Addr().Interface())
}

func headerText(v reflect.Value) string {
	if t, ok := reflect.TypeAssert[time.Time](v); ok {
		return t.UTC().Format(http.TimeFormat)
	}
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](v); ok {
		text, err := m.MarshalText()
		if err == nil {
			return string(text)
		}
	}
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	}
	return fmt.Sprint(v)
}
