package diag

import (
	"cmp"
	"reflect"
)

// Limits bounds every input and every loop of the engine. A zero field means
// its default; a negative one means 0 is allowed, that is nothing. Sizes are in
// bytes.
type Limits struct {
	TemplateBytes int64 // template text: 1 MiB
	TemplateDepth int64 // nesting of a template: 64
	TemplateNodes int64 // nodes of a template: 20,000

	DataBytes int64 // inline data text: 8 MiB
	DataDepth int64 // nesting of inline data: 64
	DataNodes int64 // values of inline data: 1,000,000

	ExprBytes      int64 // source of one expression: 4 KiB
	ExprNodes      int64 // syntax nodes of one expression: 1,000
	PredicateDepth int64 // nested predicates: 2
	PredicateSteps int64 // predicate steps of one render: 5,000,000
	RangeItems     int64 // items of one range or loop over numbers: 100,000
	ExprMemory     int64 // memory of the expressions of one render: 64 MiB

	Pages       int64 // pages of one document: 5,000; never above 10,000,000
	OutputBytes int64 // size of the file: 512 MiB
	BoxDepth    int64 // nesting of boxes in layout: 64

	ImagePixels int64 // width x height of one image: 50,000,000
	ImageBytes  int64 // encoded size of one image: 32 MiB
	// DecodedBytes is what the images of one document that cannot be read row by row hold
	// decoded: 64 MiB
	DecodedBytes int64
	SVGBytes     int64 // size of one SVG file: 1 MiB
	SVGElements  int64 // elements, texts and style rules of one SVG file: 20,000
	SVGDepth     int64 // nesting of its elements: 64
	SVGUses      int64 // times that one drawing follows a use element: 5,000
	SVGSteps     int64 // elements and path segments drawn and style rules tried in one: 2,000,000
	FontBytes    int64 // size of one font file: 32 MiB
	FontGlyphs   int64 // glyphs of one font: 65,535

	// complete says that the defaults were set: a field that is zero means zero.
	complete bool
}

// maxPages is the hard bound of Limits.Pages.
const maxPages = 10_000_000

// DefaultLimits returns the defaults.
func DefaultLimits() Limits {
	const kib, mib = 1 << 10, 1 << 20
	return Limits{
		TemplateBytes: mib, TemplateDepth: 64, TemplateNodes: 20_000,
		DataBytes: 8 * mib, DataDepth: 64, DataNodes: 1_000_000,
		ExprBytes: 4 * kib, ExprNodes: 1_000, PredicateDepth: 2,
		PredicateSteps: 5_000_000, RangeItems: 100_000, ExprMemory: 64 * mib,
		Pages: 5_000, OutputBytes: 512 * mib, BoxDepth: 64,
		ImagePixels: 50_000_000, ImageBytes: 32 * mib, DecodedBytes: 64 * mib,
		SVGBytes: mib, SVGElements: 20_000, SVGDepth: 64, SVGUses: 5_000, SVGSteps: 2_000_000,
		FontBytes: 32 * mib, FontGlyphs: 65_535,
		complete: true,
	}
}

// WithDefaults returns l with every zero field set to its default and every
// negative one to 0. Limits that come from it stay as they are.
func (l Limits) WithDefaults() Limits {
	if l.complete {
		return l
	}
	to, def := reflect.ValueOf(&l).Elem(), reflect.ValueOf(DefaultLimits())
	for i := range to.NumField() {
		if f := to.Field(i); f.CanSet() {
			f.SetInt(max(cmp.Or(f.Int(), def.Field(i).Int()), 0))
		}
	}
	l.Pages, l.complete = min(l.Pages, maxPages), true
	return l
}

// Lower returns l with the non-zero fields of o in place of its own. A field of
// o above that of l is a *LimitError: one document may not raise what its
// engine allows. l must have its defaults already; o may be nil.
func (l Limits) Lower(o *Limits) (Limits, error) {
	if o == nil {
		return l, nil
	}
	to, want := reflect.ValueOf(&l).Elem(), reflect.ValueOf(*o)
	for i := range to.NumField() {
		f := to.Field(i)
		if !f.CanSet() {
			continue
		}
		switch v := want.Field(i).Int(); {
		case v == 0:
		case v > f.Int():
			return l, &LimitError{Name: to.Type().Field(i).Name, Value: v, Limit: f.Int(), Place: "render options"}
		default:
			f.SetInt(max(v, 0))
		}
	}
	return l, nil
}

// Check returns a *LimitError when value is over limit, and nil otherwise.
func Check(name string, value, limit int64, place string) error {
	if value > limit {
		return &LimitError{Name: name, Value: value, Limit: limit, Place: place}
	}
	return nil
}
