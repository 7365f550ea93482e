package bind

import (
	"fmt"
	"reflect"
)

// StrayTag is the error of a struct tag that nothing reads, anywhere in the type.
func StrayTag(t reflect.Type, tag, why string) error {
	return strayTag(t, tag, why, map[reflect.Type]bool{})
}

func strayTag(t reflect.Type, tag, why string, seen map[reflect.Type]bool) error {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return strayTag(t.Elem(), tag, why, seen)
	case reflect.Map:
		if err := strayTag(t.Key(), tag, why, seen); err != nil {
			return err
		}
		return strayTag(t.Elem(), tag, why, seen)
	case reflect.Struct:
		if seen[t] {
			return nil
		}
		seen[t] = true
		for f := range t.Fields() {
			if !f.IsExported() && !f.Anonymous {
				continue
			}
			if text := f.Tag.Get(tag); text != "" && text != "-" {
				return fmt.Errorf("field %s of %s has the tag %s:%q, and %s", f.Name, t, tag, text, why)
			}
			if err := strayTag(f.Type, tag, why, seen); err != nil {
				return err
			}
		}
	}
	return nil
}
