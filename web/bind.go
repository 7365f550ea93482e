package web

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/textproto"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"example.com/quire/internal/strictjson"
	"example.com/quire/web/internal/bind"
)

// BindJSON reads the body as one JSON value into dst, a pointer. It is strict:
// the media type must be JSON; duplicate and unknown names, invalid UTF-8, lone
// surrogates, too deep or too many values, null where nothing can be nil and
// anything after the value are refused. Names are compared exactly, unlike in
// encoding/json, and a field with a path, query, header or cookie tag is no part
// of the body unless it has a json tag too. The error is BindErrors with pointer,
// line and column of each fault, or ErrBodyTooLarge.
func (c *Context) BindJSON(dst any) error { return c.checked(dst, "body", c.readJSON(dst)) }

// checked is the error of reading a place of the request into dst, and without
// one that of the rules which the values there break.
func (c *Context) checked(dst any, source string, err error) error {
	if err != nil {
		return err
	}
	return c.validate(dst, source)
}

func (c *Context) readJSON(dst any) error {
	c.live()
	v, err := target("body", dst)
	if err != nil {
		return err
	}
	if _, err := c.media(isJSON, "application/json"); err != nil {
		return err
	}
	data, err := c.Body()
	if err != nil {
		return err
	}
	return c.app.decodeJSON(data, v, c.route != nil && c.route.laxJSON)
}

func isForm(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType) // what is no media type is no form either
	return isFormKind(kind)
}

func isFormKind(kind string) bool { return kind == mediaForm || kind == mediaMultipart }

func isJSON(kind string) bool {
	return kind == mediaJSON || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
}

func isXML(kind string) bool {
	return kind == mediaXML || kind == "text/xml" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+xml")
}

// The media types that need no codec.
const (
	mediaJSON = "application/json"
	mediaXML  = "application/xml"
	mediaForm = "application/x-www-form-urlencoded"

	mediaMultipart = "multipart/form-data"
)

// BindXML reads the body as one XML document into dst by the rules of
// encoding/xml. A document type is refused, and with it every entity of its own;
// so are elements deeper than Limits.XMLDepth.
func (c *Context) BindXML(dst any) error { return c.checked(dst, "body", c.readXML(dst)) }

func (c *Context) readXML(dst any) error {
	c.live()
	v, err := target("body", dst)
	if err != nil {
		return err
	}
	if _, err := c.media(isXML, mediaXML); err != nil {
		return err
	}
	data, err := c.Body()
	if err != nil {
		return err
	}
	return bindErrors("body", bind.XML(data, v, c.app.limits.XMLDepth), data)
}

// BindForm fills the fields that have a form tag from a body of type
// application/x-www-form-urlencoded or multipart/form-data. Of the latter, files go into fields
// of type *Upload and []*Upload, and the body is read whole; see Parts for one that is large.
func (c *Context) BindForm(dst any) error { return c.checked(dst, "form", c.readForm(dst)) }

func (c *Context) readForm(dst any) error {
	c.live()
	if _, err := c.media(isFormKind, mediaForm+", "+mediaMultipart); err != nil {
		return err
	}
	from, err := c.formTexts()
	if err != nil {
		return err
	}
	if err := c.bindTexts(dst, "form", from); err != nil || c.form == nil {
		return err
	}
	return c.bindUploads(dst)
}

// Form returns the first value of a key of a form, urlencoded or multipart, "" when
// it is absent or a file.
func (c *Context) Form(key string) (string, error) {
	c.live()
	from, err := c.formTexts()
	if err != nil {
		return "", err
	}
	text, _, _ := from.First(key)
	return text, nil
}

// formTexts reads a multipart body, or an urlencoded one, which is written as a query is.
func (c *Context) formTexts() (bind.Source, error) {
	if kind, _, _ := mime.ParseMediaType(fieldValue(c.req.Header, "Content-Type")); kind == mediaMultipart {
		f, err := c.wholeForm()
		if err != nil {
			return nil, err
		}
		return partTexts(f.values), nil
	}
	data, err := c.Body()
	if err != nil {
		return nil, err
	}
	text := pairTexts(data)
	if n := c.app.limits.QueryPairs; n > 0 && bytes.Count(data, []byte("&")) >= n {
		return nil, NewProblem(http.StatusBadRequest, fmt.Sprintf("the form has more than %d pairs", n), nil)
	}
	return &text, nil
}

// BindBody reads the body by its Content-Type: JSON, XML, a form, or what a codec
// of Options.Codecs takes. Any other is 415 with the types that are taken.
func (c *Context) BindBody(dst any) error { return c.checked(dst, "body", c.readBody(dst)) }

func (c *Context) readBody(dst any) error {
	c.live()
	taken := []string{mediaJSON, mediaXML, mediaForm, mediaMultipart}
	for _, codec := range c.app.codecs {
		taken = append(taken, codec.types...)
	}
	kind, err := c.media(func(kind string) bool {
		return isJSON(kind) || isXML(kind) || slices.Contains(taken, kind)
	}, strings.Join(taken, ", "))
	if err != nil {
		return err
	}
	if codec := c.app.codec(kind); codec != nil {
		data, err := c.Body()
		if err != nil {
			return err
		}
		if err := codec.Decode(bytes.NewReader(data), dst); err != nil {
			return BindErrors{codecFault(kind, err)}
		}
		return nil
	}
	switch {
	case isJSON(kind):
		return c.readJSON(dst)
	case isXML(kind):
		return c.readXML(dst)
	}
	return c.readForm(dst)
}

// codecFault is the fault of a body that a codec cannot read.
func codecFault(kind string, err error) *BindError {
	f := &BindError{Source: "body", Kind: BindSyntax, Want: "a value of type " + kind, Err: err}
	if placed, ok := errors.AsType[Placed](err); ok {
		var reason string
		f.Line, f.Column, f.Pointer, reason = placed.Place()
		f.Want += ": " + reason
	}
	return f
}

func target(source string, dst any) (reflect.Value, error) {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return v, errors.New("web: bind " + source + ": the target is no pointer")
	}
	return v.Elem(), nil
}

// AllowUnknownFields is a RouteOption: BindJSON skips names that the type does
// not have. Danger: a misspelt field is then silently without effect.
func AllowUnknownFields() RouteOption { return optionFunc(func(r *Route) { r.laxJSON = true }) }

func (a *App) decodeJSON(data []byte, v reflect.Value, lax bool) error {
	faults := a.plans.JSON(data, v, strictjson.Limits{Depth: max(a.limits.JSONDepth, 0), Nodes: max(a.limits.JSONNodes, 0)}, lax)
	return bindErrors("body", faults, data)
}

// bindErrors is nil when there is no fault.
func bindErrors(source string, faults []bind.Fault, text []byte) error {
	if len(faults) == 0 {
		return nil
	}
	all := make(BindErrors, len(faults))
	for i, f := range faults {
		all[i] = &BindError{Source: source, Name: f.Name, Pointer: f.Pointer, Kind: BindKind(f.Kind), Got: f.Got, Want: f.Want, Near: f.Near, Err: f.Err}
		if f.Offset >= 0 {
			all[i].Line, all[i].Column = strictjson.Position(text, f.Offset)
		}
	}
	return all
}

// BindPath fills the fields of a struct that have a path tag with the route's
// parameters. The error is BindErrors.
func (c *Context) BindPath(dst any) error {
	return c.checked(dst, "path", c.bindTexts(dst, "path", c.source("path")))
}

// BindQuery fills the fields that have a query tag. A key that is absent leaves
// its field as it is, or sets the default tag's value; of a repeated key a
// slice takes all values, any other field the first.
func (c *Context) BindQuery(dst any) error {
	return c.checked(dst, "query", c.bindTexts(dst, "query", c.source("query")))
}

// BindHeader fills the fields that have a header tag.
func (c *Context) BindHeader(dst any) error {
	return c.checked(dst, "header", c.bindTexts(dst, "header", c.source("header")))
}

// BindCookie fills the fields that have a cookie tag.
func (c *Context) BindCookie(dst any) error {
	return c.checked(dst, "cookie", c.bindTexts(dst, "cookie", c.source("cookie")))
}

// Sources of texts.
type (
	pathTexts   Context
	pairTexts   string // key=value&key=value, in the escapes of queries
	headerTexts http.Header
	cookieTexts Context
	partTexts   map[string][]string // of a multipart form
)

func (p *pathTexts) First(name string) (string, bool, error) {
	v, ok := (*Context)(p).param(name)
	return v, ok, nil
}

func (p *pathTexts) All(name string) ([]string, error) { return one((*Context)(p).param(name)) }

func (p *pairTexts) First(name string) (string, bool, error) { return queryValue(string(*p), name) }

func (p *pairTexts) All(name string) (all []string, err error) {
	for raw := string(*p); raw != ""; {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		v, ok, err := queryPair(pair, name)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, v)
		}
	}
	return all, nil
}

func (h headerTexts) First(name string) (string, bool, error) {
	return partTexts(h).First(textproto.CanonicalMIMEHeaderKey(name))
}

func (h headerTexts) All(name string) ([]string, error) { return http.Header(h).Values(name), nil }

func (p *cookieTexts) First(name string) (string, bool, error) {
	v, ok := (*Context)(p).cookie(name)
	return v, ok, nil
}

func (p *cookieTexts) All(name string) ([]string, error) { return one((*Context)(p).cookie(name)) }

func (p partTexts) First(name string) (string, bool, error) {
	if all := p[name]; len(all) > 0 {
		return all[0], true, nil
	}
	return "", false, nil
}

func (p partTexts) All(name string) ([]string, error) { return p[name], nil }

func one(v string, ok bool) ([]string, error) {
	if !ok {
		return nil, nil
	}
	return []string{v}, nil
}

func (c *Context) bindTexts(dst any, tag string, from bind.Source) error {
	c.live()
	v, err := target(tag, dst)
	if err != nil {
		return err
	}
	if v.Kind() != reflect.Struct {
		return errors.New("web: bind " + tag + ": the target is not a pointer to a struct")
	}
	fields, err := c.app.plans.Fields(v.Type(), tag)
	if err != nil {
		return fmt.Errorf("web: bind %s: %w", tag, err)
	}
	return fillTexts(v, tag, fields, from)
}

func fillTexts(v reflect.Value, tag string, fields []bind.Field, from bind.Source) error {
	faults, err := bind.Texts(v, fields, from)
	if err != nil {
		return fmt.Errorf("web: bind %s: %w", tag, err)
	}
	return bindErrors(tag, faults, nil)
}

// shape is what Bind knows of a type.
type shape struct {
	places []place
	body   *reflect.StructField // what bodyField says
}

// place is a place of a request, beside its body, that a type has fields for.
type place struct {
	tag    string
	fields []bind.Field
}

// shapeOf returns the shape of a type, made when it is first met. What is wrong with its tags and
// its rules is the error.
func (a *App) shapeOf(t reflect.Type) (*shape, error) {
	if known, ok := a.shaped.Load(t); ok {
		return known.(*shape), nil // only this function stores here
	}
	s := &shape{body: bodyField(t)}
	if t.Kind() == reflect.Struct {
		for _, tag := range bind.Tags() {
			fields, err := a.plans.Fields(t, tag)
			if err != nil {
				return nil, fmt.Errorf("web: bind %s: %w", tag, err)
			}
			if len(fields) > 0 {
				s.places = append(s.places, place{tag, fields})
			}
		}
	}
	if err := a.checkRules(t); err != nil {
		return nil, err
	}
	a.shaped.Store(t, s)
	return s, nil
}

// source is where the texts of a place come from.
func (c *Context) source(tag string) bind.Source {
	switch tag {
	case "path":
		return (*pathTexts)(c)
	case "query":
		return (*pairTexts)(&c.req.URL.RawQuery)
	case "header":
		return headerTexts(c.req.Header)
	}
	return (*cookieTexts)(c)
}

// Bind fills a struct from the whole request: fields with a path, query, header
// or cookie tag, then the body, when there is one. The body goes into the field
// Body if the struct has one without a json tag, else into its other fields. The
// faults of all places come together in BindErrors. What could be read is then
// checked against the rules of its type by Options.Validator, as it is by every
// other method that binds; the error tells every broken rule and is a
// *ValidationError (422).
func (c *Context) Bind(dst any) error {
	c.live()
	v, err := target("request", dst)
	if err != nil {
		return err
	}
	s, err := c.app.shapeOf(v.Type())
	if err != nil {
		return err
	}
	var all BindErrors
	for i := range s.places {
		p := &s.places[i]
		if err := gather(&all, fillTexts(v, p.tag, p.fields, c.source(p.tag))); err != nil {
			return err
		}
	}
	if c.body != nil {
		body := dst
		if s.body != nil {
			body = v.FieldByIndex(s.body.Index).Addr().Interface()
		}
		if err := gather(&all, c.readBody(body)); err != nil {
			return err
		}
	}
	if all != nil {
		return all
	}
	return c.judge(dst, "")
}

// gather adds the faults of err to all and returns an error that is none.
func gather(all *BindErrors, err error) error {
	if err == nil {
		return nil
	}
	if faults, ok := errors.AsType[BindErrors](err); ok {
		*all = append(*all, faults...)
		return nil
	}
	return err
}

// CheckBind reports what is wrong with the tags of a type that Bind and its like
// are to fill, rules without Options.Validator or unknown to it among them: the
// program's mistake, best found at registration. Bind finds it at its first use (500).
func (a *App) CheckBind(t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return a.checkRules(t)
	}
	for _, tag := range append(bind.Tags(), "form") {
		if _, err := a.plans.Fields(t, tag); err != nil {
			return fmt.Errorf("web: bind %s: %w", tag, err)
		}
	}
	return a.checkRules(t)
}

// Param returns a parameter of the route as a T: a text, number, boolean,
// time.Duration or whatever reads text. The error is a *BindError (400).
func Param[T any](c *Context, name string) (T, error) {
	text, ok := c.param(name)
	return textValue[T]("path", name, text, ok)
}

// Query returns the first value of a query key as a T. A key that is absent is
// a *BindError (400), like one that is no T.
func Query[T any](c *Context, name string) (T, error) {
	c.live()
	text, ok, err := queryValue(c.req.URL.RawQuery, name)
	if err != nil {
		var zero T
		return zero, &BindError{Source: "query", Name: name, Kind: BindSyntax, Want: "valid percent escapes", Err: err}
	}
	return textValue[T]("query", name, text, ok)
}

func textValue[T any](source, name, text string, ok bool) (v T, err error) {
	if !ok {
		return v, &BindError{Source: source, Name: name, Kind: BindMissing, Want: "a value"}
	}
	switch p := any(&v).(type) { // the most frequent types, without reflection
	case *string:
		*p = text
		return v, nil
	case *int:
		if n, err := strconv.Atoi(text); err == nil {
			*p = n
			return v, nil
		}
	}
	return reflectedValue[T](source, name, text)
}

func reflectedValue[T any](source, name, text string) (v T, err error) {
	if f := bind.Value(&v, name, text); f != nil {
		return v, &BindError{Source: source, Name: name, Kind: BindKind(f.Kind), Got: f.Got, Want: f.Want, Err: f.Err}
	}
	return v, nil
}
