package validate

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-playground/validator/v10"

	"example.com/quire/internal/strictjson"
	"example.com/quire/web"
)

// maxTold bounds how many broken rules are told at once.
const maxTold = 64

// teller finds the places of what the engine found broken, and what else is broken
// there. It goes over the value as the engine did, so that places come from the
// value and not from the names that the engine makes, which a key of a map could
// imitate.
type teller struct {
	ctx    context.Context //nolint:containedctx // it lives for one call
	v      *Validator
	e      *validator.Validate
	root   reflect.Value
	failed map[string][]validator.FieldError // by the engine's name
	told   []web.FieldError
}

func (v *Validator) tell(ctx context.Context, e *validator.Validate, x reflect.Value, p *plan, failed validator.ValidationErrors) []web.FieldError {
	t := &teller{ctx: ctx, v: v, e: e, root: x, failed: map[string][]validator.FieldError{}}
	for _, f := range failed {
		t.failed[f.Namespace()] = append(t.failed[f.Namespace()], f)
	}
	if x.Kind() == reflect.Struct {
		t.structure(x, reflect.Value{}, nameOf(x.Type()), place{})
	} else {
		t.value(x, x, x, make([]level, p.depth+1), "", place{})
	}
	for _, f := range failed { // what stands in an interface
		if left := t.failed[f.Namespace()]; len(left) > 0 {
			delete(t.failed, f.Namespace())
			t.add(place{}.below(f.Namespace()), f)
		}
	}
	return t.told
}

func nameOf(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	return t.Name() + "."
}

// place is where a value came from.
type place struct {
	source, name string
	pointer      string
}

func (p place) below(token string) place {
	p.pointer += "/" + strictjson.Token(token)
	return p
}

// structure goes over the fields of x. names is the engine's name for x with a dot.
func (t *teller) structure(x, outer reflect.Value, names string, at place) {
	parent := x
	if !x.CanInterface() {
		parent = outer // an embedded struct that is not exported: its fields are also those of the outer one
	}
	for _, f := range t.v.fieldsOf(x.Type(), at == place{}) {
		here := at
		switch {
		case f.source != "":
			here = place{source: f.source, name: f.name}
		case f.token != "":
			here = at.below(f.token)
			here.name = cmp.Or(here.name, f.name)
		}
		t.value(x.FieldByIndex(f.sf.Index), x, parent, f.levels, names+f.sf.Name, here)
	}
}

// value goes over one value and what is in it.
func (t *teller) value(x, outer, parent reflect.Value, levels []level, name string, at place) {
	found := t.failed[name] // those of a map's key are among those of its value
	delete(t.failed, name)
	for _, f := range found {
		t.add(at, f)
		t.rest(x, parent, levels[0].rules, f, at)
	}
	for x.Kind() == reflect.Pointer || x.Kind() == reflect.Interface {
		if x.IsNil() {
			return
		}
		x = x.Elem()
	}
	if len(t.failed) == 0 || t.v.leaf(x.Type()) {
		return
	}
	if len(levels) == 1 {
		if x.Kind() == reflect.Struct && !levels[0].closed {
			t.structure(x, outer, name+".", at)
		}
		return
	}
	switch x.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range x.Len() {
			t.value(x.Index(i), outer, parent, levels[1:], name+"["+strconv.Itoa(i)+"]", at.below(strconv.Itoa(i)))
		}
	case reflect.Map:
		keys := x.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			text := fmt.Sprint(key)
			t.value(x.MapIndex(key), outer, parent, levels[1:], name+"["+text+"]", at.below(text))
		}
	}
}

func ruleIs(text string, f validator.FieldError) bool {
	if text == f.Tag() {
		return true
	}
	name, _, _ := strings.Cut(text, "=")
	return name == f.Tag()
}

// rest tells the other rules that a value breaks, behind the one that the engine
// stopped at.
func (t *teller) rest(x, parent reflect.Value, rules []string, first validator.FieldError, at place) {
	i := slices.IndexFunc(rules, func(r string) bool { return ruleIs(r, first) })
	if i < 0 || strings.HasPrefix(first.Tag(), "required") || !x.CanInterface() || !parent.IsValid() || !parent.CanInterface() {
		return
	}
	deep := x
	for deep.Kind() == reflect.Pointer || deep.Kind() == reflect.Interface {
		if deep.IsNil() {
			return
		}
		deep = deep.Elem()
	}
	if deep.Kind() == reflect.Struct && !t.v.leaf(deep.Type()) {
		return // the engine judges structs by their field only
	}
	for _, text := range rules[i+1:] {
		if isOmit(text) {
			return // the value broke a rule, so what it would be excused from is not known
		}
		other := parent
		if name, _, _ := strings.Cut(text, "="); strings.HasSuffix(name, "csfield") {
			other = t.root
		}
		var failed validator.ValidationErrors
		if err := t.e.VarWithValueCtx(t.ctx, x.Interface(), other.Interface(), text); err != nil {
			if f, ok := err.(validator.ValidationErrors); ok { //nolint:errorlint // what the engine returns is not wrapped
				failed = f
			}
		}
		for _, f := range failed {
			t.add(at, f)
		}
	}
}

// add tells one broken rule.
func (t *teller) add(at place, broken validator.FieldError) {
	if len(t.told) == maxTold {
		return
	}
	rule, limit := broken.Tag(), broken.Param()
	if strings.Contains(rule, "|") {
		limit = ""
	}
	f := web.FieldError{Source: at.source, Name: at.name, Pointer: at.pointer, Rule: rule, Limit: limit, Detail: detail(rule, limit, broken.Kind())}
	if f.Source == "" {
		f.Source = "body"
	} else if f.Pointer != "" { // one of several values
		f.Detail = "value " + f.Pointer[1:] + ": " + f.Detail
		f.Pointer = ""
	}
	t.told = append(t.told, f)
}

// detail says in words what a value of a kind should be.
func detail(rule, limit string, kind reflect.Kind) string {
	unit := ""
	switch kind {
	case reflect.Pointer, reflect.Interface, reflect.Invalid:
		return "missing"
	case reflect.String:
		unit = " characters"
	case reflect.Slice, reflect.Array, reflect.Map:
		unit = " entries"
	}
	switch rule {
	case "required":
		return "missing or empty"
	case "min", "gte":
		return "must be at least " + limit + unit
	case "max", "lte":
		return "must be at most " + limit + unit
	case "gt":
		return "must be more than " + limit + unit
	case "lt":
		return "must be less than " + limit + unit
	case "len":
		if unit == "" {
			return "must be " + limit
		}
		return "must be exactly " + limit + unit
	case "eq":
		return "must be " + limit
	case "ne":
		return "must not be " + limit
	case "oneof", "oneofci":
		return "must be one of " + strings.Join(words(limit), ", ")
	case "noneof", "noneofci":
		return "must be none of " + strings.Join(words(limit), ", ")
	case "unique":
		return "must have no value twice"
	case "datetime":
		return "must be a time of the form " + limit
	case "startswith":
		return "must begin with " + limit
	case "endswith":
		return "must end with " + limit
	case "contains":
		return "must contain " + limit
	}
	if what := textual[rule]; what != "" {
		return "must be " + what
	}
	if strings.HasPrefix(rule, "required_") {
		return "missing: the rule is " + rule + "=" + limit
	}
	if limit != "" {
		rule += "=" + limit
	}
	return "does not keep the rule " + rule
}

// textual are the rules for texts that have a name in words.
var textual = map[string]string{
	"email": "an e-mail address", "url": "a URL", "http_url": "an http or https URL", "https_url": "an https URL", "uri": "a URI",
	"uuid": "a UUID", "uuid3": "a UUID of version 3", "uuid4": "a UUID of version 4", "uuid5": "a UUID of version 5", "uuid7": "a UUID of version 7",
	"ulid": "a ULID", "ip": "an IP address", "ipv4": "an IPv4 address", "ipv6": "an IPv6 address", "cidr": "a network in CIDR form", "mac": "a MAC address",
	"hostname": "a host name", "hostname_rfc1123": "a host name", "fqdn": "a host name with its domain", "e164": "a telephone number such as +4930123456",
	"alpha": "letters A to Z only", "alphanum": "letters A to Z and digits only", "ascii": "ASCII only", "lowercase": "in lower case", "uppercase": "in upper case",
	"hexadecimal": "a hexadecimal number", "hexcolor": "a colour such as #a0b1c2", "base64": "base64", "base64url": "base64url", "json": "JSON", "jwt": "a JSON Web Token",
	"semver": "a semantic version", "datetime": "a time", "timezone": "a time zone", "iso4217": "a currency code", "iso3166_1_alpha2": "a country code of two letters",
	"bcp47_language_tag": "a language tag", "credit_card": "a card number", "isbn": "an ISBN", "startswith": "a text", "endswith": "a text",
}
