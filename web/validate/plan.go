package validate

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"
)

// plan is what is known of a type that was asked for: a struct, or a container of them.
type plan struct {
	ruled bool // some rule is within
	depth int  // of the containers around the structs
}

// field is a field of a struct with its rules.
type field struct {
	sf     reflect.StructField
	source string // path, query, header, cookie; "" is the body
	name   string // there, or of the form tag
	token  string // of a JSON Pointer; "" where the struct is embedded
	levels []level
}

// level are the rules of a field, or of its elements after each dive.
type level struct {
	rules  []string // omitempty, omitnil and omitzero among them: they stop those behind them
	keys   []string // of the keys of the map, told at the level of its elements
	closed bool     // structonly or nostructlevel: the struct's own fields are not visited
}

// planOf returns the plan of a type, made when it is first met.
func (v *Validator) planOf(t reflect.Type) (*plan, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if p, ok := v.plans.Load(t); ok {
		done, _ := p.(*plan)
		return done, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	p := &plan{}
	inner := t
	for ; !v.leaf(inner) && (inner.Kind() == reflect.Slice || inner.Kind() == reflect.Array || inner.Kind() == reflect.Map || inner.Kind() == reflect.Pointer); inner = inner.Elem() {
		if inner.Kind() != reflect.Pointer {
			p.depth++
		}
	}
	w := &walk{v: v, seen: map[reflect.Type]bool{}, dives: map[reflect.Type]map[string]string{}}
	w.visit(inner)
	if err := errors.Join(w.errs...); err != nil {
		return nil, err
	}
	p.ruled = w.ruled
	if len(w.dives) > 0 {
		maps.Copy(v.dives, w.dives)
		v.engine.Store(v.newEngine())
	}
	v.plans.Store(t, p)
	return p, nil
}

// leaf reports whether a type has no fields of its own to visit.
func (v *Validator) leaf(t reflect.Type) bool {
	_, own := v.types[t]
	return own || t.Kind() == reflect.Struct && t.ConvertibleTo(reflect.TypeFor[time.Time]())
}

// walk reads the types within a type.
type walk struct {
	v     *Validator
	seen  map[reflect.Type]bool
	dives map[reflect.Type]map[string]string
	ruled bool
	errs  []error
}

func (w *walk) visit(t reflect.Type) {
	for k := t.Kind(); !w.v.leaf(t) && (k == reflect.Pointer || k == reflect.Slice || k == reflect.Array || k == reflect.Map); k = t.Kind() {
		if k == reflect.Map {
			w.visit(t.Key())
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || w.v.leaf(t) || w.seen[t] {
		return
	}
	w.seen[t] = true
	for sf := range t.Fields() {
		tag := sf.Tag.Get("validate")
		if tag == "-" {
			continue
		}
		if !sf.IsExported() && !sf.Anonymous {
			if tag != "" {
				w.fail(t, sf, tag, "the field is not exported")
			}
			continue
		}
		if tag != "" {
			w.ruled = true
		}
		levels, reason := split(tag)
		if reason != "" {
			w.fail(t, sf, tag, reason)
			continue
		}
		w.check(t, sf, sf.Type, levels)
		w.visit(sf.Type)
		if more := w.v.implied(sf.Type, levels); more > 0 && w.v.dives[t][sf.Name] == "" {
			if w.dives[t] == nil {
				w.dives[t] = map[string]string{}
			}
			w.dives[t][sf.Name] = strings.TrimPrefix(tag+strings.Repeat(",dive", more), ",")
		}
	}
}

func (w *walk) fail(t reflect.Type, sf reflect.StructField, rule, reason string) {
	w.errs = append(w.errs, fmt.Errorf("field %s of %s: rule %q: %s", sf.Name, t, rule, reason))
}

// implied is how many more dives lead to the structs in a field.
func (v *Validator) implied(t reflect.Type, levels []level) int {
	last := levels[len(levels)-1]
	if last.closed {
		return 0
	}
	depth := 0
	for ; !v.leaf(t); t = t.Elem() {
		switch t.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map:
			depth++
			continue
		case reflect.Pointer:
			continue
		case reflect.Struct:
			return max(depth-(len(levels)-1), 0)
		}
		return 0
	}
	return 0
}

// fieldsOf returns the fields of a struct that the engine visits, with their rules.
func (v *Validator) fieldsOf(t reflect.Type, outermost bool) []field {
	var all []field
	for sf := range t.Fields() {
		tag := sf.Tag.Get("validate")
		if tag == "-" || !sf.IsExported() && !sf.Anonymous {
			continue
		}
		levels, _ := split(tag) // checked before
		for range v.implied(sf.Type, levels) {
			levels = append(levels, level{})
		}
		f := field{sf: sf, levels: levels}
		text, tagged := sf.Tag.Lookup("json")
		f.token, _, _ = strings.Cut(text, ",")
		if f.token == "-" || f.token == "" && !sf.Anonymous {
			f.token = sf.Name
		}
		f.name = sf.Tag.Get("form")
		for _, place := range [...]string{"path", "query", "header", "cookie"} {
			if name, ok := sf.Tag.Lookup(place); ok && outermost && !tagged {
				f.source, f.name = place, name
				break
			}
		}
		all = append(all, f)
	}
	return all
}

// split reads a tag.
func split(tag string) (levels []level, reason string) {
	levels = []level{{}}
	if tag == "" {
		return levels, ""
	}
	inKeys := false
	parts := strings.Split(tag, ",")
	for i, part := range parts {
		at := &levels[len(levels)-1]
		switch part {
		case "":
			return nil, "an empty rule"
		case "dive":
			levels = append(levels, level{})
		case "keys":
			if i == 0 || parts[i-1] != "dive" {
				return nil, "keys comes right after dive"
			}
			inKeys = true
		case "endkeys":
			if !inKeys {
				return nil, "endkeys without keys"
			}
			inKeys = false
		case "structonly", "nostructlevel":
			at.closed = true
		default:
			if inKeys {
				at.keys = append(at.keys, part)
			} else {
				at.rules = append(at.rules, part)
			}
		}
	}
	if inKeys {
		return nil, "keys without endkeys"
	}
	return levels, ""
}
