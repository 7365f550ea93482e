// Package validate checks bound values by the tags of go-playground/validator/v10:
//
//	app, err := web.New(web.Options{Validator: validator})
//
//	type order struct {
//		Email string   `json:"email" validate:"required,email"`
//		Lines []line   `json:"lines" validate:"min=1,max=100"`
//		Note  *string  `json:"note"  validate:"omitempty,max=200"`
//	}
//
// It differs from that module where the module is silent. A rule that is unknown,
// does not fit its field, or has a parameter that cannot be read is an error when
// the type is first met, which for typed handlers is their registration. Structs
// in slices, arrays and maps are visited without dive. Of a field every broken
// rule is told. A rule required means "not the zero value", on structs too: 0,
// false and "" break it, and a pointer tells them from what is absent.
//
// Danger: the rules file, dir, image, uds_exists, and those that end in _addr, look
// into the file system or ask the resolver for what a client sent.
package validate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-playground/validator/v10"

	"example.com/quire/web"
)

// Option is Rule or Type.
type Option func(*Validator) error

// Validator is a web.Validator. It is safe for concurrent use.
type Validator struct {
	rules map[string]rule
	types map[reflect.Type]custom

	mu    sync.Mutex // serializes what changes dives and engine
	dives map[reflect.Type]map[string]string
	plans sync.Map // reflect.Type of a struct to *plan

	// engine is replaced as a whole when a type needs other tags than it has: it
	// remembers what it read of types, so what it knows must not change under it.
	engine atomic.Pointer[validator.Validate]
}

type rule struct {
	ok     func(v reflect.Value, param string) bool
	schema map[string]any
}

type custom struct {
	value  func(reflect.Value) any
	schema map[string]any
}

// New makes a Validator with the rules of go-playground/validator/v10 and those
// of the options.
func New(o ...Option) (*Validator, error) {
	v := &Validator{rules: map[string]rule{}, types: map[reflect.Type]custom{}, dives: map[reflect.Type]map[string]string{}}
	v.engine.Store(validator.New(validator.WithRequiredStructEnabled()))
	var errs []error
	for _, opt := range o {
		errs = append(errs, opt(v))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	v.engine.Store(v.newEngine())
	return v, nil
}

// Rule adds a rule for tags, as in validate:"sku" or validate:"sku=DE". ok gets the
// field, without pointers, and the parameter; it must be safe for concurrent use and
// is also called once with a sample of each field's type when the type is checked.
// schema are the keywords of JSON Schema that say the same to clients; without them
// OpenAPI names the rule as x-validate.
func Rule(name string, ok func(v reflect.Value, param string) bool, schema map[string]any) Option {
	return func(v *Validator) error {
		wrong := func(want string) error {
			return &web.ConfigError{Field: "validate.Rule", Got: name, Want: want}
		}
		switch {
		case name == "" || strings.ContainsAny(name, ",|= \t\n"):
			return wrong("a name without comma, bar, equals sign and white space")
		case ok == nil:
			return wrong("a function")
		case known(v.engine.Load(), name) || v.rules[name].ok != nil:
			return wrong("a name that no other rule has")
		}
		v.rules[name] = rule{ok, schema}
		return nil
	}
}

// Type says what rules see of a T: value returns a text, number, boolean, time or
// slice in its place. schema describes its JSON form to clients, as a whole.
func Type[T any](value func(T) any, schema map[string]any) Option {
	t := reflect.TypeFor[T]()
	return func(v *Validator) error {
		if _, taken := v.types[t]; value == nil || taken {
			return &web.ConfigError{Field: "validate.Type", Got: t, Want: "a function, and each type once"}
		}
		v.types[t] = custom{func(x reflect.Value) any {
			if given, ok := reflect.TypeAssert[T](x); ok {
				return value(given)
			}
			return nil
		}, schema}
		return nil
	}
}

// known reports whether an engine has a rule, or uses the name for something else.
func known(e *validator.Validate, name string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_ = e.Var("", "omitempty,"+name) // what it says of the value is of no interest
	return true
}

// newEngine makes an engine of the present rules, types and added dives.
func (v *Validator) newEngine() *validator.Validate {
	e := validator.New(validator.WithRequiredStructEnabled())
	for _, name := range slices.Sorted(maps.Keys(v.rules)) {
		ok := v.rules[name].ok
		err := e.RegisterValidation(name, func(f validator.FieldLevel) bool { return ok(f.Field(), f.Param()) })
		if err != nil {
			panic(err) // Rule refused what could fail here
		}
	}
	for t, c := range v.types {
		e.RegisterCustomTypeFunc(c.value, reflect.Zero(t).Interface())
	}
	for t, tags := range v.dives {
		e.RegisterStructValidationMapRules(tags, reflect.Zero(t).Interface())
	}
	return e
}

// Check reads the rules of a type and of all types within it, and reports every
// one that is wrong.
func (v *Validator) Check(t reflect.Type) error {
	_, err := v.planOf(t)
	return err
}

// Validate returns every broken rule of v, a pointer to a value whose type has
// passed Check; of another type the first fault of Check is the one field error.
func (v *Validator) Validate(ctx context.Context, dst any) []web.FieldError {
	x := reflect.ValueOf(dst)
	for x.Kind() == reflect.Pointer && !x.IsNil() {
		x = x.Elem()
	}
	p, err := v.planOf(x.Type())
	if err != nil {
		return []web.FieldError{{Source: "body", Detail: err.Error()}}
	}
	if !p.ruled {
		return nil
	}
	e := v.engine.Load()
	if x.Kind() == reflect.Struct {
		err = e.StructCtx(ctx, x.Addr().Interface())
	} else {
		err = e.VarCtx(ctx, x.Interface(), strings.Join(slices.Repeat([]string{"dive"}, p.depth), ","))
	}
	if err == nil {
		return nil
	}
	var failed validator.ValidationErrors
	if !errors.As(err, &failed) {
		return []web.FieldError{{Source: "body", Detail: fmt.Sprintf("cannot be checked as %s", x.Type())}}
	}
	return v.tell(ctx, e, x, p, failed)
}
