package edit

import "example.com/quire/pdf/cos"

// recent holds small objects that were read last, each in the place of its number: a draft asks for
// the same ones again and again, and would have them parsed each time. Nobody changes what a draft
// gives.
type recent [512]struct {
	ref cos.Ref
	is  cos.Object
}

// What an object may have to be kept: values, and bytes of its strings and names.
const (
	recentValues = 64
	recentBytes  = 1 << 10
)

// object is Reader.Object for an object that may have been read before.
func (d *Document) object(r cos.Ref) (cos.Object, error) {
	slot := &d.recent[r.Num%uint32(len(d.recent))]
	if slot.is != nil && slot.ref == r {
		return slot.is, nil
	}
	o, err := d.Object(r)
	if err == nil && small(o) {
		slot.ref, slot.is = r, o
	}
	return o, err
}

// dict is Reader.Dict for an object that may have been read before.
func (d *Document) dict(o cos.Object) (cos.Dict, error) {
	if r, ok := o.(cos.Ref); ok {
		var err error
		if o, err = d.object(r); err != nil {
			return nil, err
		}
	}
	return d.Dict(o)
}

// small reports whether an object may be kept.
func small(o cos.Object) bool {
	values, bytes := recentValues, recentBytes
	var fits func(o cos.Object) bool
	fits = func(o cos.Object) bool {
		if values--; values < 0 {
			return false
		}
		switch v := o.(type) {
		case cos.Name:
			bytes -= len(v)
		case cos.String:
			bytes -= len(v)
		case cos.Hex:
			bytes -= len(v)
		case cos.Array:
			for _, x := range v {
				if !fits(x) {
					return false
				}
			}
		case cos.Dict:
			for _, x := range v {
				if bytes -= len(x.Key); !fits(x.Value) {
					return false
				}
			}
		case *cos.Stream:
			return fits(v.Dict)
		}
		return bytes >= 0
	}
	return fits(o)
}
