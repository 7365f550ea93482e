package web

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"example.com/quire/web/internal/bind"
)

// Validator checks bound values against the rules of their types; the package
// validate has one for the tags of go-playground/validator. It must be safe for
// concurrent use.
type Validator interface {
	// Check reports what is wrong with the rules of a type: the program's mistake.
	Check(t reflect.Type) error
	// Validate returns every broken rule of v, a pointer to what was bound. Source
	// is path, query, header or cookie for a field of the outermost struct that has
	// such a tag, with its Name, else body, with a Pointer by JSON names and, as
	// Name, the form tag if the field has one.
	Validate(ctx context.Context, v any) []FieldError
}

// ValidationError is a request that could be read but breaks rules (422).
type ValidationError struct{ Fields []FieldError }

func (e *ValidationError) Error() string {
	texts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		texts[i] = f.String()
	}
	return "web: validate: " + strings.Join(texts, "; ")
}

func (e *ValidationError) problem() *Problem {
	p := Invalid(e.Fields...)
	if len(e.Fields) > 1 {
		p.Detail = strconv.Itoa(len(e.Fields)) + " values are not valid"
	}
	p.cause = e
	return p
}

// Validator returns Options.Validator, nil when there is none.
func (a *App) Validator() Validator { return a.opts.Validator }

// checkRules finds what is wrong with the rules of a type, once per type. Rules
// that nothing would check are wrong too.
func (a *App) checkRules(t reflect.Type) error {
	if known, ok := a.ruled.Load(t); ok {
		err, _ := known.(error)
		return err
	}
	err := bind.StrayTag(t, "binding", "the rules are in a validate tag")
	switch {
	case err != nil:
	case a.opts.Validator == nil:
		err = bind.StrayTag(t, "validate", "Options.Validator is not set")
	default:
		err = a.opts.Validator.Check(t)
	}
	if err != nil {
		err = fmt.Errorf("web: rules of %s: %w", t, err)
		a.ruled.Store(t, err)
		return err
	}
	a.ruled.Store(t, nil)
	return nil
}

// validate checks what was bound into dst. source is the place that was bound,
// "" for all of the request.
func (c *Context) validate(dst any, source string) error {
	if err := c.app.checkRules(reflect.TypeOf(dst).Elem()); err != nil {
		return err
	}
	return c.judge(dst, source)
}

// judge is validate for a type whose rules are known to be right.
func (c *Context) judge(dst any, source string) error {
	if c.app.opts.Validator == nil {
		return nil
	}
	all := c.app.opts.Validator.Validate(c.req.Context(), dst)
	if len(all) == 0 {
		return nil
	}
	t := reflect.TypeOf(dst).Elem()
	form := source == "form" || (source == "" || source == "body") && c.body != nil && isForm(fieldValue(c.req.Header, "Content-Type"))
	inBody := source == "" && bodyField(t) != nil
	kept := all[:0]
	for _, f := range all {
		if f.Source == "body" {
			rest, ok := strings.CutPrefix(f.Pointer, "/Body")
			if inBody && ok && (rest == "" || rest[0] == '/') {
				f.Pointer = rest
			}
			if form && f.Name != "" {
				f.Source, f.Pointer = "form", ""
			} else {
				f.Name = ""
			}
		}
		if source == "" || f.Source == source || source == "body" && f.Source == "form" {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return &ValidationError{kept}
}

// bodyField returns the field of a struct that takes the whole body: the one
// named Body, unless a json tag makes it a member of the body.
func bodyField(t reflect.Type) *reflect.StructField {
	if t.Kind() != reflect.Struct {
		return nil
	}
	f, ok := t.FieldByName("Body")
	if !ok || !f.IsExported() || len(f.Index) != 1 {
		return nil
	}
	if _, ok := f.Tag.Lookup("json"); ok {
		return nil
	}
	return &f
}
