package validate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-playground/validator/v10"
)

// check tries every rule of a field on a sample of its type: the engine panics on
// a rule that is unknown, does not fit the kind, or whose parameter it cannot read.
func (w *walk) check(parent reflect.Type, sf reflect.StructField, t reflect.Type, levels []level) {
	for i, l := range levels {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if i > 0 {
			if k := t.Kind(); k != reflect.Slice && k != reflect.Array && k != reflect.Map {
				w.fail(parent, sf, "dive", "it is for slices, arrays and maps")
				return
			}
			if len(l.keys) > 0 && t.Kind() != reflect.Map {
				w.fail(parent, sf, "keys", "it is for maps")
				return
			}
			for _, text := range l.keys {
				w.try(parent, sf, t.Key(), text)
			}
			for t = t.Elem(); t.Kind() == reflect.Pointer; {
				t = t.Elem()
			}
		}
		for _, text := range l.rules {
			w.try(parent, sf, t, text)
		}
	}
}

func (w *walk) try(parent reflect.Type, sf reflect.StructField, t reflect.Type, text string) {
	if isOmit(text) {
		return
	}
	for one := range strings.SplitSeq(text, "|") {
		name, param, _ := strings.Cut(one, "=")
		if missing := absentField(parent, name, param); missing != "" {
			w.fail(parent, sf, one, "there is no field "+missing)
			continue
		}
		if textual[name] != "" && !w.v.takesText(t) {
			w.fail(parent, sf, one, "it is for texts, not for "+t.String())
			continue
		}
		if reason := w.v.panics(t, parent, one); reason != "" {
			w.fail(parent, sf, one, reason)
		}
	}
}

// panics tries one rule. It uses an engine of no fixed tags, for it may not learn
// of types that are still being read.
func (v *Validator) panics(t, parent reflect.Type, text string) (reason string) {
	defer func() {
		if p := recover(); p != nil {
			reason = fmt.Sprint(p)
			if strings.HasPrefix(reason, "Undefined validation function") {
				reason = "no rule of this name"
			}
		}
	}()
	e := v.engine.Load()
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Struct && !v.leaf(t) {
		_ = e.Var("", "omitempty,"+text) // only the name can be judged
		return ""
	}
	sample := v.sample(t).Interface()
	if err := e.VarWithValue(sample, v.zero(parent), text); err != nil {
		if wrong, ok := err.(*validator.InvalidValidationError); ok { //nolint:errorlint // what the engine returns is not wrapped
			return wrong.Error()
		}
	}
	return ""
}

func (v *Validator) zero(t reflect.Type) any { return reflect.Zero(t).Interface() }

// sample is a value of a type that is not its zero value, where that is easily had.
func (v *Validator) sample(t reflect.Type) reflect.Value {
	x := reflect.New(t).Elem()
	if _, own := v.types[t]; own {
		return x
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		x.SetString("1")
	case k == reflect.Bool:
		x.SetBool(true)
	case x.CanInt():
		x.SetInt(1)
	case x.CanUint():
		x.SetUint(1)
	case x.CanFloat():
		x.SetFloat(1)
	case k == reflect.Slice:
		x.Set(reflect.MakeSlice(t, 1, 1))
	case k == reflect.Map:
		x.Set(reflect.MakeMap(t))
		x.SetMapIndex(reflect.Zero(t.Key()), reflect.Zero(t.Elem()))
	case k == reflect.Pointer:
		x.Set(reflect.New(t.Elem()))
	case v.leaf(t) && reflect.TypeFor[time.Time]().ConvertibleTo(t):
		x.Set(reflect.ValueOf(time.Unix(1, 0)).Convert(t))
	}
	return x
}

// takesText reports whether rules for texts can hold of a type.
func (v *Validator) takesText(t reflect.Type) bool {
	_, own := v.types[t]
	k := t.Kind()
	return own || k == reflect.String || k == reflect.Interface || k == reflect.Slice && t.Elem().Kind() == reflect.Uint8 ||
		t.Implements(reflect.TypeFor[fmt.Stringer]())
}

func isOmit(text string) bool {
	return text == "omitempty" || text == "omitnil" || text == "omitzero"
}

// absentField returns the first field that a rule names and the struct has not.
func absentField(t reflect.Type, rule, param string) string {
	var names []string
	switch rule {
	case "eqfield", "nefield", "gtfield", "gtefield", "ltfield", "ltefield", "fieldcontains", "fieldexcludes", "postcode_iso3166_alpha2_field":
		names = []string{param}
	case "required_with", "required_with_all", "required_without", "required_without_all",
		"excluded_with", "excluded_with_all", "excluded_without", "excluded_without_all":
		names = strings.Fields(param)
	case "required_if", "required_unless", "excluded_if", "excluded_unless", "skip_unless":
		for i, word := range words(param) {
			if i%2 == 0 {
				names = append(names, word)
			}
		}
	default:
		return ""
	}
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		if !hasField(t, strings.Split(name, ".")) {
			return fmt.Sprintf("%q", name)
		}
	}
	return ""
}

func hasField(t reflect.Type, path []string) bool {
	for _, name := range path {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || strings.Contains(name, "[") {
			return true // not to be judged
		}
		sf, ok := t.FieldByName(name)
		if !ok {
			return false
		}
		t = sf.Type
	}
	return true
}

// words splits a parameter at spaces that are not within single quotes.
func words(param string) []string {
	var all []string
	for param = strings.TrimLeft(param, " "); param != ""; param = strings.TrimLeft(param, " ") {
		if rest, ok := strings.CutPrefix(param, "'"); ok {
			if word, behind, closed := strings.Cut(rest, "'"); closed {
				all, param = append(all, word), behind
				continue
			}
		}
		word, behind, _ := strings.Cut(param, " ")
		all, param = append(all, word), behind
	}
	return slices.Clip(all)
}
